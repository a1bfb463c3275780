package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"skrzynka/mail"
)

// header is the text a new file begins with: the defaults, as comments.
const header = `# Skrzynka's configuration. A key that is not known, a wrong type or a value
# out of range is refused, so a slip cannot go unnoticed. Passwords are not
# kept here: they are in the keyring, or come from auth.password_command.

# default_account = "personal"   # else the first account of this file

# [outbox]
# resend_unsubmitted = "auto"    # auto | ask
# undo_window = "10s"            # 0s to 5m
# retry_record_days = 30

# [sync]
# watch = ["inbox"]              # folder kinds or names followed at once; the rest is polled
# poll_interval = "5m"           # 15s to 24h

# [ui]
# theme = "auto"                 # auto | dark | light | a file
# ascii = false
# editor = ""                    # default: $VISUAL, $EDITOR, else the built-in composer

# [keys]                         # action = "key"
`

// tomlString writes s as a TOML basic string.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\n':
			b.WriteString(`\n`)
		case r < 0x20 || r >= 0x7f && r < 0xa0:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func tomlStrings(items []string) string {
	out := make([]string, len(items))
	for i, s := range items {
		out[i] = tomlString(s)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// block collects one table; a table without lines is not written.
type block struct {
	head  string
	lines []string
}

func (b *block) set(key, value string) { b.lines = append(b.lines, key+" = "+value) }

// text sets a key to a text unless it is the default.
func (b *block) text(key, value, def string) {
	if value != def {
		b.set(key, tomlString(value))
	}
}

// render writes [accounts.NAME] and its sub-tables: what is needed, and what
// differs from the defaults.
func render(a mail.Account) string {
	name := "accounts." + keyText(a.Name)
	top := &block{head: name}
	top.text("name", a.DisplayName, "")
	top.set("email", tomlString(a.Email))
	if len(a.Aliases) > 0 {
		top.set("aliases", tomlStrings(a.Aliases))
	}
	blocks := []*block{top, renderServer(name+".imap", a.IMAP, a.Email)}
	smtp := renderServer(name+".smtp", a.SMTP, or(a.IMAP.Username, a.Email))
	if a.SMTPPartial {
		smtp.set("partial", "true")
	}
	blocks = append(blocks, smtp)
	blocks = append(blocks, renderAuth(name, a)...)
	for _, folder := range folderNames(a) {
		f := &block{head: name + ".folders." + keyText(folder)}
		f.text("kind", string(a.FolderKinds[folder]), "")
		f.text("description", a.FolderDescriptions[folder], "")
		blocks = append(blocks, f)
	}
	blocks = append(blocks, renderPolicies(name, a)...)

	var out strings.Builder
	for _, b := range blocks {
		if len(b.lines) == 0 {
			continue
		}
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		out.WriteString("[" + b.head + "]\n" + strings.Join(b.lines, "\n") + "\n")
	}
	return out.String()
}

func folderNames(a mail.Account) []string {
	names := map[string]bool{}
	for n := range a.FolderKinds {
		names[n] = true
	}
	for n := range a.FolderDescriptions {
		names[n] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func renderServer(head string, s mail.Server, username string) *block {
	b := &block{head: head}
	b.set("host", tomlString(s.Host))
	if s.Port != 0 {
		b.set("port", fmt.Sprint(s.Port))
	}
	b.text("security", string(s.Security), "")
	if s.Username != "" {
		b.text("username", s.Username, username)
	}
	b.text("ca_file", s.CAFile, "")
	return b
}

func renderAuth(name string, a mail.Account) []*block {
	auth := &block{head: name + ".auth"}
	if a.Auth == mail.AuthOAuth2 {
		auth.set("method", `"oauth2"`)
	}
	if len(a.PasswordCommand) > 0 {
		auth.set("password_command", tomlStrings(a.PasswordCommand))
	}
	o := &block{head: name + ".auth.oauth2"}
	o.text("provider", a.OAuth2.Provider, "")
	o.text("client_id", a.OAuth2.ClientID, "")
	o.text("client_secret", a.OAuth2.ClientSecret, "")
	return []*block{auth, o}
}

// renderPolicies writes the sent copy and the send policy. A zero value means
// that the caller has not decided, so it is left to the defaults.
func renderPolicies(name string, a mail.Account) []*block {
	c := &block{head: name + ".sent_copy"}
	if a.SentCopy != (mail.SentCopyPolicy{}) {
		if !a.SentCopy.Enabled {
			c.set("enabled", "false")
		}
		c.text("on_failure", or(string(a.SentCopy.OnFailure), "warn"), "warn")
		c.text("folder", a.SentCopy.Folder, "")
		c.text("provider_keeps", or(a.SentCopy.ProviderKeep, "auto"), "auto")
	}
	p := &block{head: name + ".policy"}
	if len(a.Policy.Allow) > 0 {
		p.set("allow", tomlStrings(a.Policy.Allow))
	}
	if len(a.Policy.Deny) > 0 {
		p.set("deny", tomlStrings(a.Policy.Deny))
	}
	if n := a.Policy.MaxRecipients; n != 0 && n != 100 {
		p.set("max_recipients", fmt.Sprint(n))
	}
	if n := a.Policy.MaxPerMinute; n != 0 && n != 30 {
		p.set("max_per_minute", fmt.Sprint(n))
	}
	p.text("confirm", or(string(a.Policy.Confirm), "never"), "never")
	return []*block{c, p}
}
