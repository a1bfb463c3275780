package inbound

import (
	"strings"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/parse"
)

// maxScan bounds how much of a text the rules read: templates and absence
// notes say what they are near their beginning.
const maxScan = 12 << 10

// facts are observations several rules share, made once per message.
type facts struct {
	in Input
	m  *parse.Msg
	h  *parse.Headers

	sender string // the single address of From, else ""
	local  string // its local part in lower case
	name   string // its display name in lower case

	subject  string // folded
	bare     string // folded, without reply and forward prefixes
	stripped bool   // bare lost such a prefix

	nullReturn bool
	ids        Mentioned
	named      []string // of ids, those that are ours
	answers    bool     // In-Reply-To or References names one of ours

	textRead   bool
	text       string // Msg.Text, at most maxScan bytes
	lower      string // text in lower case
	authored   string // text without quotes and what follows an original-message line
	lang       string
	langRead   bool
	prefixRead bool
	prefix     *subjectPrefix
}

func newFacts(in Input) *facts {
	f := &facts{in: in, m: in.Msg, h: in.Header}
	if in.Msg != nil {
		f.h = &in.Msg.Headers
	}
	if f.h == nil {
		f.h = &parse.Headers{}
	}
	if len(f.h.From) == 1 {
		f.sender = f.h.From[0].Addr
		f.name = strings.ToLower(f.h.From[0].Name)
	}
	f.local = strings.ToLower(f.sender)
	if i := strings.LastIndexByte(f.local, '@'); i >= 0 {
		f.local = f.local[:i]
	}
	f.subject = fold(f.h.Subject)
	f.bare, f.stripped = stripReply(f.subject)
	for _, v := range f.h.All("Return-Path") {
		f.nullReturn = f.nullReturn || strings.ReplaceAll(strings.TrimSpace(v), " ", "") == "<>"
	}
	f.ids = mentions(f.m, f.h)
	f.correlate()
	return f
}

// correlate finds which of the Message-IDs named are ours.
func (f *facts) correlate() {
	ours := map[string]bool{}
	for _, a := range f.in.Correlated {
		for _, id := range a.MessageIDs {
			ours[id] = true
		}
	}
	mine := func(id string) bool { return ours[id] || f.in.Ours != nil && f.in.Ours(id) }
	for i, id := range f.ids.MessageIDs {
		if mine(id) {
			f.named = append(f.named, id)
			f.answers = f.answers || i < f.ids.answers
		}
	}
}

// ours reports whether a Message-ID is one of ours.
func (f *facts) ours(id string) bool {
	if id == "" {
		return false
	}
	for _, a := range f.in.Correlated {
		for _, own := range a.MessageIDs {
			if own == id {
				return true
			}
		}
	}
	return f.in.Ours != nil && f.in.Ours(id)
}

// get returns a header field's first word in lower case, without parameters
// and comments.
func (f *facts) get(name string) string {
	v := strings.ToLower(strings.TrimSpace(f.h.Get(name)))
	if i := strings.IndexAny(v, ";( \t"); i >= 0 {
		v = v[:i]
	}
	return strings.TrimSpace(v)
}

func (f *facts) readText() {
	if f.textRead {
		return
	}
	f.textRead = true
	if f.m == nil {
		return
	}
	f.text = clip(f.m.Text, maxScan)
	f.lower = strings.ToLower(f.text)
	f.authored = authored(f.text)
}

// within reports whether the mail arrived at most d after one of our attempts
// to its sender, or after one it answers.
func (f *facts) within(d time.Duration) bool {
	for _, list := range [][]Attempt{f.in.Recent, f.in.Correlated} {
		for _, a := range list {
			if a.SentAt.IsZero() || f.in.Arrived.IsZero() || !hasRecipient(a, f.sender) {
				continue
			}
			if age := f.in.Arrived.Sub(a.SentAt); age >= -time.Minute && age <= d {
				return true
			}
		}
	}
	return false
}

// ourSubject reports whether the subject without its reply prefixes is one we
// wrote ourselves: what it begins with is then no mark of an automatic answer.
func (f *facts) ourSubject() bool {
	for _, list := range [][]Attempt{f.in.Correlated, f.in.Recent} {
		for _, a := range list {
			if a.Subject == "" {
				continue
			}
			if bare, _ := stripReply(fold(a.Subject)); bare == f.bare {
				return true
			}
		}
	}
	return false
}

func hasRecipient(a Attempt, addr string) bool {
	if addr == "" {
		return false
	}
	key := mail.AddressKey(addr)
	for _, r := range a.Recipients {
		if mail.AddressKey(r) == key {
			return true
		}
	}
	return false
}

// authored returns the lines of a text its sender wrote: what comes before the
// first line that introduces the original message, without quoted lines.
func authored(text string) string {
	var b strings.Builder
	for _, l := range parse.Lines(text) {
		if l.Depth > 0 {
			continue
		}
		t := strings.TrimSpace(l.Text)
		if introducesOriginal(t) {
			break
		}
		b.WriteString(l.Text)
		b.WriteByte('\n')
	}
	return b.String()
}

// introducesOriginal recognises the lines mail programs write above a copied
// message: a ruled title, or the start of its header.
func introducesOriginal(line string) bool {
	if len(line) > 200 || line == "" {
		return false
	}
	if strings.HasPrefix(line, "---") || strings.HasPrefix(line, "___") || strings.HasPrefix(line, "***") {
		l := strings.ToLower(line)
		for _, w := range []string{"original", "forwarded", "oryginal", "ursprüngliche", "weitergeleitet", "mensaje", "messaggio", "message", "oorspronkelijk"} {
			if strings.Contains(l, w) {
				return true
			}
		}
		return len(line) >= 32 && strings.Trim(line, "_") == ""
	}
	if line[len(line)-1] == ':' {
		l := strings.ToLower(line)
		for _, w := range []string{"wrote:", "schrieb:", "a écrit", "napisał", "escribió:", "ha scritto:", "schreef:", "skrev:", "kirjoitti:", "napsal", "escreveu:"} {
			if strings.Contains(l, w) {
				return true
			}
		}
	}
	return false
}

// clip cuts s to at most n bytes, between characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}

// quoteLine returns the line of text around byte i, trimmed, as evidence.
func quoteLine(text string, i int) string {
	start := strings.LastIndexByte(text[:i], '\n') + 1
	end := len(text)
	if j := strings.IndexByte(text[i:], '\n'); j >= 0 {
		end = i + j
	}
	return strings.TrimSpace(text[start:end])
}
