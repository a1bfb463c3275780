package inbound

import (
	"strings"

	"skrzynka/mail"
	"skrzynka/mail/parse"
)

// copyTitles introduce a copy of the returned message in a plain text report,
// lower case; rules and dashes around them are ignored.
var copyTitles = []string{
	"below this line is a copy", "this is a copy of", "original message", "returned message", "unsent message", "message header follow", "message headers follow", "message text follows", "the header of the original message", "headers of the original message", "original mail info", "undelivered message", "copy of the message", "the original message", "mensaje original", "start of the message", "message header:", "content of the message", "your original message", "included is a copy", "returned mail follows", "a copy of your", "here is a copy", "the first ", "forwarded message", "your message reads", "message begins", "headers from",
}

// beforeCopy returns a report's own words: the text up to a copy of the
// returned message, by its title or its first header lines.
func beforeCopy(text string) string {
	pos, fields, first := 0, 0, 0
	for rest := text; rest != ""; {
		line := rest
		if i := strings.IndexByte(rest, '\n'); i >= 0 {
			line, rest = rest[:i], rest[i+1:]
		} else {
			rest = ""
		}
		if pos > 0 && isCopyTitle(line) {
			return text[:pos]
		}
		// Three header lines in a row are a header.
		switch {
		case isHeaderLine(line):
			if fields == 0 {
				first = pos
			}
			if fields++; fields >= 3 && first > 0 {
				return text[:first]
			}
		case fields > 0 && line != "" && (line[0] == ' ' || line[0] == '\t'):
		default:
			fields = 0
		}
		pos += len(line) + 1
	}
	return text
}

func isCopyTitle(line string) bool {
	t := strings.ToLower(strings.Trim(line, "-=*_| \t>"))
	if len(t) < 10 || len(t) > 100 {
		return false
	}
	ruled := strings.HasPrefix(strings.TrimSpace(line), "--") || strings.HasPrefix(strings.TrimSpace(line), "==") || strings.HasPrefix(line, "|--") || strings.HasPrefix(line, "**")
	for _, w := range copyTitles {
		if strings.HasPrefix(t, w) && (ruled || strings.HasSuffix(t, ":") || strings.HasSuffix(t, "follow") || strings.HasSuffix(t, "follows") || strings.HasSuffix(t, "follows.") || strings.HasSuffix(t, "follow.") || strings.HasSuffix(t, "following.")) {
			return true
		}
	}
	return false
}

var headerNames = []string{"received:", "return-path:", "from:", "to:", "date:", "subject:", "message-id:", "mime-version:", "content-type:", "delivered-to:", "x-mailer:", "reply-to:", "content-transfer-encoding:", "dkim-signature:"}

func isHeaderLine(line string) bool {
	line = strings.TrimLeft(line, "> \t")
	if len(line) < 4 {
		return false
	}
	l := strings.ToLower(clip(line, 30))
	for _, n := range headerNames {
		if strings.HasPrefix(l, n) {
			return true
		}
	}
	return false
}

// textRecipients reads the recipients of a report from X-Failed-Recipients and
// from its text, each with the words that follow its address.
func textRecipients(f *facts) []BounceRecipient {
	f.readText()
	own := map[string]bool{}
	for _, a := range f.in.OwnAddresses {
		own[mail.AddressKey(a)] = true
	}
	head := beforeCopy(f.text)
	if blocks := embeddedStatus(head); len(blocks) > 0 {
		return blocks
	}
	var out []BounceRecipient
	index := map[string]int{}
	add := func(addr string) int {
		k := mail.AddressKey(addr)
		if i, ok := index[k]; ok {
			return i
		}
		if own[k] || len(out) >= maxReported {
			return -1
		}
		index[k] = len(out)
		out = append(out, BounceRecipient{Address: addr})
		return len(out) - 1
	}
	for _, v := range f.h.All("X-Failed-Recipients") {
		for _, a := range parse.Addresses(v) {
			add(a.Addr)
		}
	}
	current, preamble := -1, ""
	for line := range strings.Lines(clip(head, 8<<10)) {
		line = strings.TrimSpace(line)
		if addr := leadingAddress(line); addr != "" {
			if i := add(addr); i >= 0 {
				current = i
			}
		}
		if current < 0 {
			if len(preamble) < 600 {
				preamble += " " + line
			}
			continue
		}
		if d := &out[current].Diagnostic; len(*d) < 1500 {
			*d = strings.TrimSpace(*d + " " + line)
		}
	}
	if len(out) == 0 {
		out = addressesAnywhere(f, head, add, &out)
	}
	for i := range out {
		b := &out[i]
		if enhancedCode(b.Diagnostic) == "" && replyCode(b.Diagnostic) == 0 && firstOf(goneWords, spokenWords(b.Diagnostic)) == "" && i == 0 {
			b.Diagnostic = strings.TrimSpace(preamble + " " + b.Diagnostic)
		}
		if len(out) == 1 && len(b.Diagnostic) < 12 {
			b.Diagnostic = strings.TrimSpace(clip(strings.Join(strings.Fields(f.h.Subject+" "+head), " "), 1500))
		}
		b.Status = enhancedCode(b.Diagnostic)
		b.Code = replyCode(b.Diagnostic)
	}
	return out
}

// addressesAnywhere takes the first address within the sentences of a report
// that has none at the start of a line.
func addressesAnywhere(f *facts, head string, add func(string) int, out *[]BounceRecipient) []BounceRecipient {
	for w := range strings.FieldsSeq(clip(head, 8<<10)) {
		if a := bareAddress(w); a != "" && !strings.EqualFold(a, f.sender) {
			if i := add(a); i >= 0 {
				(*out)[i].Diagnostic = clip(strings.Join(strings.Fields(head), " "), 1500)
				return *out
			}
		}
	}
	return *out
}

// embeddedStatus reads delivery-status fields that stand in a text, as Amazon
// WorkMail and others write them.
func embeddedStatus(text string) []BounceRecipient {
	lower := strings.ToLower(text)
	if !strings.Contains(lower, "final-recipient:") {
		return nil
	}
	for _, first := range []string{"reporting-mta:", "action:", "final-recipient:", "original-recipient:"} {
		if i := strings.Index(lower, "\n"+first); i >= 0 {
			if len(lower) != len(text) {
				return nil
			}
			return deliveryStatus([]byte(text[i+1:]))
		}
	}
	return nil
}

// leadingAddress returns the address a line begins with or consists of:
// "<a@b>: reason", "a@b", "To: <a@b>", "User a@b".
func leadingAddress(line string) string {
	l := line
	for _, p := range []string{"To:", "to:", "Recipient:", "Recipient address:", "Failed recipient:", "RCPT TO:", ">>> RCPT To:", "Could not be delivered to:", "*", "-", "User", "SMTP:"} {
		if rest, ok := strings.CutPrefix(l, p); ok {
			l = strings.TrimSpace(rest)
			break
		}
	}
	w := l
	if i := strings.IndexAny(l, " \t"); i >= 0 {
		w = l[:i]
	}
	return bareAddress(w)
}

// bareAddress returns the address a word is, without what surrounds it.
func bareAddress(w string) string {
	w = strings.TrimRight(strings.TrimLeft(w, "<\"'([*«„"), ">\"'):;,.]*»”|")
	if i := strings.IndexByte(w, '>'); i > 0 {
		w = w[:i]
	}
	if i := strings.Index(w, "\""); i > 0 {
		w = w[:i]
	}
	if r, ok := strings.CutPrefix(strings.ToLower(w), "mailto:"); ok {
		w = w[len(w)-len(r):]
	}
	at := strings.LastIndexByte(w, '@')
	if at <= 0 || at == len(w)-1 || len(w) > 320 || strings.ContainsAny(w, "<>()[],;:\\\"/") {
		return ""
	}
	if d := w[at+1:]; !strings.Contains(d, ".") || strings.HasPrefix(d, ".") {
		return ""
	}
	return w
}

// aboutAddress returns the lines of a report around the first mention of an
// address, for a block that gives no diagnostic.
func aboutAddress(text, addr string) string {
	if addr == "" {
		return ""
	}
	head := beforeCopy(text)
	i := strings.Index(head, addr)
	if i < 0 {
		return ""
	}
	about := clip(head[i:], 600)
	for _, end := range []string{"\n\n", "\n--", "\n__", "\n**", "\n=="} {
		about, _, _ = strings.Cut(about, end)
	}
	return strings.Join(strings.Fields(about), " ")
}
