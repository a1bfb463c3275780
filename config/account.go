package config

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"unicode"

	"skrzynka/mail"
	"skrzynka/mail/safe"
)

// The ports that mean TLS from the first byte (RFC 8314) and those for STARTTLS.
const (
	portIMAPS, portIMAP             = 993, 143
	portSubmissions, portSubmission = 465, 587
)

// readAccount reads [accounts.NAME] with its sub-tables.
func readAccount(name string, r *reader, dir string) (mail.Account, []Problem) {
	var warnings []Problem
	a := mail.Account{Name: name}
	if why := badName(name); why != "" {
		r.problem("", why, "write a short name of letters, digits, - and _, such as [accounts.personal]")
	}
	a.DisplayName = r.text("name", "")
	a.Email = r.address("email", true)
	a.Aliases = readAliases(r, a.Email)

	imap := r.sub("imap")
	a.IMAP = readServer(imap, dir, a.Email, mail.Server{Port: portIMAPS, Security: mail.SecurityTLS}, portIMAP, &warnings)
	imap.done()
	smtp := r.sub("smtp")
	a.SMTP = readServer(smtp, dir, a.IMAP.Username, mail.Server{Port: portSubmission, Security: mail.SecuritySTARTTLS}, portSubmissions, &warnings)
	a.SMTPPartial = smtp.flag("partial", false)
	smtp.done()

	readAuth(r.sub("auth"), &a)
	readFolders(r.sub("folders"), &a)
	a.SentCopy = readSentCopy(r.sub("sent_copy"))
	a.Policy = readPolicy(r.sub("policy"))
	a.FollowUp = readFollowUp(r.sub("follow_up"))
	r.done()
	return a, warnings
}

// badName says why name cannot be an account's, or "".
func badName(name string) string {
	if name == "" || len(name) > 64 {
		return "the account's name is empty or longer than 64 bytes"
	}
	for _, c := range name {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("-_.@+", c) {
			return "the account's name has a space or another character that is hard to type"
		}
	}
	if name[0] == '-' {
		return "the account's name begins like an option"
	}
	return ""
}

// address reads an address that can stand in an SMTP envelope.
func (r *reader) address(key string, required bool) string {
	if !r.has(key) {
		r.known[key] = true
		if required {
			r.problem(key, "it is missing", `write the account's address, such as "you@example.org"`)
		}
		return ""
	}
	before := len(*r.problems)
	s := r.text(key, "")
	if len(*r.problems) == before {
		r.checkAddress(key, s)
	}
	return s
}

func (r *reader) checkAddress(key, s string) {
	if _, err := mail.EnvelopeAddress(s); err != nil {
		r.problem(key, quote(s)+" is not an address that can send: "+why(err), `write it as "you@example.org", in ASCII before the @`)
	}
}

// why takes the middle out of an envelope address' sentence: the part after
// the colon says what is wrong.
func why(err error) string {
	s := mail.AsError(err).Text
	if i := strings.LastIndex(s, ": "); i >= 0 {
		s = s[i+2:]
	}
	return safe.Line(strings.TrimSuffix(s, ".")).String()
}

func readAliases(r *reader, email string) []string {
	aliases := r.texts("aliases", nil)
	seen := map[string]bool{mail.AddressKey(email): email != ""}
	out := make([]string, 0, len(aliases))
	for _, alias := range aliases {
		r.checkAddress("aliases", alias)
		if k := mail.AddressKey(alias); seen[k] {
			r.problem("aliases", quote(alias)+" is there already", "write every address once, and the account's own not at all")
		} else {
			seen[k] = true
			out = append(out, alias)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// readServer reads a host with its port and security. Where only one of the
// two is written, the other follows from it: otherPort is the port of the
// security that is not the default.
func readServer(r *reader, dir, username string, def mail.Server, otherPort int, warnings *[]Problem) mail.Server {
	s := def
	s.Host = r.host()
	other := mail.SecuritySTARTTLS
	if def.Security == other {
		other = mail.SecurityTLS
	}
	s.Port = r.integer("port", 0, 1, 65535, "a port")
	if s.Port == otherPort {
		s.Security = other
	}
	s.Security = choice(r, "security", s.Security, mail.SecurityTLS, mail.SecuritySTARTTLS)
	if s.Port == 0 {
		s.Port = def.Port
		if s.Security == other {
			s.Port = otherPort
		}
	}
	if tlsPort := s.Port == portIMAPS || s.Port == portSubmissions; tlsPort && s.Security != mail.SecurityTLS {
		*warnings = append(*warnings, Problem{r.name("security"), fmt.Sprintf("port %d normally speaks TLS from the first byte", s.Port), `write security = "tls"`})
	} else if plain := s.Port == portIMAP || s.Port == portSubmission; plain && s.Security != mail.SecuritySTARTTLS {
		*warnings = append(*warnings, Problem{r.name("security"), fmt.Sprintf("port %d normally needs STARTTLS", s.Port), `write security = "starttls"`})
	}
	s.Username = r.text("username", username)
	if s.Username == "" {
		s.Username = username
	}
	s.CAFile = filePath(r.text("ca_file", ""), dir)
	if w := checkCA(r.name("ca_file"), s.CAFile); w != nil {
		*warnings = append(*warnings, *w)
	}
	return s
}

// host reads a required host name or IP address.
func (r *reader) host() string {
	const key = "host"
	if !r.has(key) {
		r.known[key] = true
		r.problem(key, "it is missing", `write the server's name, such as "mail.example.org"`)
		return ""
	}
	before := len(*r.problems)
	s := r.text(key, "")
	if len(*r.problems) > before {
		return ""
	}
	if ip := net.ParseIP(strings.Trim(s, "[]")); ip != nil {
		return ip.String()
	}
	if h, p, err := net.SplitHostPort(s); err == nil {
		if _, err := strconv.Atoi(p); err == nil {
			r.problem(key, quote(s)+" has the port in it", "write host = "+quote(h)+" and port = "+p)
			return ""
		}
	}
	d, err := mail.ASCIIDomain(s)
	if err != nil {
		r.problem(key, quote(s)+" is not a host name", `write only the server's name, such as "mail.example.org"`)
		return ""
	}
	return d
}

func readAuth(r *reader, a *mail.Account) {
	a.Auth = choice(r, "method", mail.AuthPassword, mail.AuthPassword, mail.AuthOAuth2)
	a.PasswordCommand = r.texts("password_command", nil)
	if len(a.PasswordCommand) == 0 {
		a.PasswordCommand = nil
	} else if a.PasswordCommand[0] == "" {
		r.problem("password_command", "its first item, the program, is empty", `write the program and its arguments: ["pass", "show", "mail"]`)
	}
	given := r.has("oauth2")
	o := r.sub("oauth2")
	a.OAuth2.Provider = choice(o, "provider", "", "google", "microsoft")
	a.OAuth2.ClientID = o.text("client_id", "")
	a.OAuth2.ClientSecret = o.text("client_secret", "")
	o.done()
	r.done()
	if a.Auth == mail.AuthOAuth2 && a.PasswordCommand != nil {
		r.problem("password_command", `it has no effect while method is "oauth2"`, `write method = "password", or remove the key`)
	}
	switch {
	case a.Auth == mail.AuthPassword && given:
		r.problem("oauth2", `it has no effect while method is "password"`, `write method = "oauth2", or remove the table`)
	case a.Auth == mail.AuthOAuth2:
		if !o.has("provider") {
			o.problem("provider", "it is missing", `write "google" or "microsoft"`)
		}
		if a.OAuth2.ClientID == "" {
			o.problem("client_id", "it is missing", "write the id of a client registered with the provider, as a desktop application")
		}
	}
}

// readFolders reads the roles of folders, by their full names.
func readFolders(r *reader, a *mail.Account) {
	a.FolderKinds = map[string]mail.FolderKind{}
	a.FolderDescriptions = map[string]string{}
	for _, name := range sortedKeys(r.table) {
		f := r.sub(name)
		kind := f.text("kind", "")
		if _, isText := f.table["kind"].(string); isText {
			k, err := mail.ParseFolderKind(kind)
			if err != nil || k == mail.FolderNone {
				f.problem("kind", quote(kind)+" is not a kind of folder",
					`write "inbox", "sent", "drafts", "archive", "junk", "trash" or "all"`)
			} else {
				a.FolderKinds[name] = k
			}
		}
		if d := f.text("description", ""); d != "" {
			a.FolderDescriptions[name] = d
		}
		f.done()
	}
}

func readSentCopy(r *reader) mail.SentCopyPolicy {
	defer r.done()
	return mail.SentCopyPolicy{
		Enabled:      r.flag("enabled", true),
		OnFailure:    choice(r, "on_failure", mail.OnFailureWarn, mail.OnFailureWarn, mail.OnFailureFail),
		Folder:       r.text("folder", ""),
		ProviderKeep: choice(r, "provider_keeps", "auto", "auto", "yes", "no"),
	}
}

func readPolicy(r *reader) mail.SendPolicy {
	defer r.done()
	return mail.SendPolicy{
		Allow:         r.patterns("allow"),
		Deny:          r.patterns("deny"),
		MaxRecipients: r.integer("max_recipients", 100, 1, maxLimit, "a number"),
		MaxPerMinute:  r.integer("max_per_minute", 30, 1, maxLimit, "a number"),
		Confirm: choice(r, "confirm", mail.ConfirmNever,
			mail.ConfirmNever, mail.ConfirmFirstContact, mail.ConfirmExternal, mail.ConfirmAlways),
	}
}

// patterns reads a list of addresses, domains and "*." domains.
func (r *reader) patterns(key string) []string {
	items := r.texts(key, nil)
	if len(items) == 0 {
		return nil
	}
	for _, s := range items {
		domain, fix := strings.TrimPrefix(s, "*."), `write an address, a domain, or "*." and a domain`
		if i := strings.LastIndexByte(s, '@'); i > 0 {
			r.checkAddress(key, s)
			continue
		} else if i == 0 {
			fix = "write the domain without the @: " + quote(s[1:])
		}
		if _, err := mail.ASCIIDomain(domain); err != nil || strings.HasSuffix(domain, ".") {
			r.problem(key, quote(s)+" is neither an address nor a domain", fix)
		}
	}
	return items
}
