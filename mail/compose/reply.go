package compose

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"skrzynka/mail"
)

// Original is the message that is answered or forwarded. All of it is from
// outside and untrusted.
type Original struct {
	ID         int64 // the stored message
	From       []mail.Address
	ReplyTo    []mail.Address
	To, Cc     []mail.Address
	Subject    string
	MessageID  string // with or without angle brackets, "" when it has none
	References []string
	InReplyTo  string
	Date       time.Time // in the zone it is to be shown in
	Text       string
}

// Reply drafts an answer to orig: from the account's address or the alias that
// orig was sent to, to Reply-To or else From. An answer to mail of our own goes
// to whom that went. With all, the other recipients follow, our own addresses
// left out. MESSAGE_REPLY_TARGET_INVALID means that nobody to answer is left.
func Reply(acct *mail.Account, orig Original, all bool) (mail.Draft, error) {
	d := mail.Draft{
		Account: acct.Name, Kind: mail.KindReply, MessageID: orig.ID, From: identity(acct, orig),
		Subject: ReplySubject(orig.Subject), Body: "\n\n" + Quote(orig),
	}
	seen := map[string]bool{}
	d.To = usable(orig.ReplyTo, seen, nil)
	if len(d.To) == 0 {
		from := usable(orig.From, seen, nil)
		if len(from) > 0 && acct.Owns(from[0].Addr) {
			if to := usable(orig.To, map[string]bool{}, acct); len(to) > 0 {
				from, seen = to, map[string]bool{}
				for _, a := range to {
					seen[a.Key()] = true
				}
			}
		}
		d.To = from
	}
	if len(d.To) == 0 {
		return mail.Draft{}, mail.Errorf(mail.CodeReplyTargetInvalid, "Write a new message to the address you know.",
			"The message names no address that can be answered.")
	}
	if all {
		d.To = append(d.To, usable(orig.To, seen, acct)...)
		d.Cc = usable(orig.Cc, seen, acct)
	}
	answered := bracket(orig.MessageID)
	if answered != "" {
		d.InReplyTo = answered
		d.References = references(orig, answered)
	}
	return d, nil
}

// Forward drafts an inline forward of orig. Its attachments are the caller's
// to add.
func Forward(acct *mail.Account, orig Original) mail.Draft {
	var b strings.Builder
	b.WriteString("\n\n---------- Forwarded message ----------\n")
	line := func(name, v string) {
		if v != "" {
			b.WriteString(name + ": " + v + "\n")
		}
	}
	line("From", people(orig.From))
	if !orig.Date.IsZero() {
		line("Date", orig.Date.Format("Mon, 2 Jan 2006 15:04:05 -0700"))
	}
	line("Subject", oneLine(orig.Subject))
	line("To", people(orig.To))
	line("Cc", people(orig.Cc))
	b.WriteString("\n" + cleanText(orig.Text) + "\n")
	return mail.Draft{
		Account: acct.Name, Kind: mail.KindOutbound, MessageID: orig.ID, Forward: true, From: identity(acct, orig),
		Subject: ForwardSubject(orig.Subject), Body: b.String(),
	}
}

// Quote is the text of orig as an answer repeats it: a line that says who wrote
// it and when, then each line after "> ", the signature left out.
func Quote(orig Original) string {
	var b strings.Builder
	if who := people(orig.From); who != "" {
		if !orig.Date.IsZero() {
			b.WriteString("On " + orig.Date.Format("2 Jan 2006 at 15:04") + ", ")
		}
		b.WriteString(who + " wrote:\n")
	}
	for _, line := range strings.Split(NormalizeBody(withoutSignature(cleanText(orig.Text))), "\n") {
		line = strings.TrimRight(line, " ")
		switch {
		case line == "", strings.HasPrefix(line, ">"):
			b.WriteString(">" + line + "\n")
		default:
			b.WriteString("> " + line + "\n")
		}
	}
	return b.String()
}

// withoutSignature cuts at the last line that is "-- " (RFC 3676 section 4.3).
func withoutSignature(s string) string {
	if strings.HasPrefix(s, "-- \n") {
		return ""
	}
	if i := strings.LastIndex(s, "\n-- \n"); i >= 0 {
		return s[:i]
	}
	return s
}

// identity is whom the answer comes from: the address of ours that orig was
// sent to, else the account's own.
func identity(acct *mail.Account, orig Original) mail.Address {
	for _, a := range append(slices.Clone(orig.To), orig.Cc...) {
		if a.Key() == mail.AddressKey(acct.Email) {
			break
		}
		for _, alias := range acct.Aliases {
			if a.Key() == mail.AddressKey(alias) {
				return mail.Address{Name: acct.DisplayName, Addr: alias}
			}
		}
	}
	return acct.From()
}

// usable keeps the addresses that mail can be sent to, each once, and when acct
// is given those that are not its own. seen is read and extended.
func usable(list []mail.Address, seen map[string]bool, acct *mail.Account) []mail.Address {
	var out []mail.Address
	for _, a := range list {
		if _, err := mail.EnvelopeAddress(a.Addr); err != nil || seen[a.Key()] || acct != nil && acct.Owns(a.Addr) {
			continue
		}
		seen[a.Key()] = true
		out = append(out, mail.Address{Name: oneLine(a.Name), Addr: a.Addr})
	}
	return out
}

const (
	keepReferences  = 20            // of the newest ones, besides the first
	referencesField = hardLine - 40 // octets of the whole field, name and folding included
)

// references is what the answer's References says: those of orig, or else its
// single In-Reply-To, then answered (RFC 5322 section 3.6.4). Repeats and what
// is no identifier are left out. When it gets too long the oldest after the
// first go, since the first names the thread.
func references(orig Original, answered string) []string {
	old := orig.References
	if len(old) == 0 && orig.InReplyTo != "" {
		old = []string{orig.InReplyTo}
	}
	seen := map[string]bool{answered: true}
	var out []string
	for _, id := range old {
		if id = bracket(id); id != "" && !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	out = append(out, answered)
	if n := len(out); n > keepReferences+1 {
		out = append(out[:1:1], out[n-keepReferences:]...)
	}
	for length(out) > referencesField && len(out) > 1 {
		if len(out) == 2 {
			return out[1:]
		}
		out = slices.Delete(out, 1, 2)
	}
	return out
}

func length(ids []string) int {
	n := len("References:")
	for _, id := range ids {
		n += len(id) + 3
	}
	return n
}

// bracket gives id its angle brackets, or "" when it is no identifier.
func bracket(id string) string {
	id = strings.TrimSpace(id)
	if id != "" && !strings.HasPrefix(id, "<") {
		id = "<" + id + ">"
	}
	if !validMsgID(id) {
		return ""
	}
	return id
}

// people writes addresses for a reader, on one line.
func people(list []mail.Address) string {
	var out []string
	for _, a := range list {
		out = append(out, mail.Address{Name: oneLine(a.Name), Addr: oneLine(a.Addr)}.String())
	}
	return strings.Join(out, ", ")
}

// cleanText makes a text from outside fit to be part of our own: LF endings,
// no control characters but tab.
func cleanText(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
}
