package inbound

import (
	"slices"
	"strings"

	"skrzynka/mail/parse"
)

// Mentioned is what a message names, for looking up the attempts it may be
// about before it is classified. Everything in it is an unproven claim.
type Mentioned struct {
	MessageIDs []string // with angle brackets, each once
	Addresses  []string // the sender, and the recipients a report names

	answers int // so many of MessageIDs come from In-Reply-To and References
}

// Limits on what one message may make us look up.
const (
	maxMentions  = 200
	maxReported  = 200
	maxReturned  = 10
	maxTextField = 2000
)

// Mentions lists the Message-IDs and addresses a message names: those it
// answers, and those of a returned message, whether attached (message/rfc822,
// text/rfc822-headers, text/rfc822) or copied into the text.
func Mentions(m *parse.Msg) Mentioned {
	if m == nil {
		return Mentioned{}
	}
	out := mentions(m, &m.Headers)
	add := func(a string) {
		if a != "" && len(out.Addresses) < maxMentions && !slices.Contains(out.Addresses, a) {
			out.Addresses = append(out.Addresses, a)
		}
	}
	for _, a := range m.From {
		add(a.Addr)
	}
	in := Input{Msg: m}
	for _, r := range Classify(in).Recipients {
		add(r.Address)
		add(r.OrigAddress)
	}
	return out
}

func mentions(m *parse.Msg, h *parse.Headers) Mentioned {
	var out Mentioned
	seen := map[string]bool{}
	add := func(ids ...string) {
		for _, id := range ids {
			if len(out.MessageIDs) >= maxMentions {
				return
			}
			if !seen[id] && len(id) > 4 {
				seen[id] = true
				out.MessageIDs = append(out.MessageIDs, id)
			}
		}
	}
	add(h.InReplyTo...)
	for i := len(h.References) - 1; i >= 0; i-- { // the newest first
		add(h.References[i])
	}
	out.answers = len(out.MessageIDs)
	if m == nil {
		return out
	}
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Within < 0 && isDisposition(p.Type) {
			h := parse.Header(clipBytes(m.Content(i), parse.MaxHeader))
			add(parse.MessageIDs(h.Get("Original-Message-ID"))...)
		}
	}
	for _, ret := range returned(m) {
		add(ret.MessageID)
		add(parse.MessageIDs(ret.Get("Resent-Message-ID"))...)
	}
	if mayReturnText(m) {
		add(idsInText(m.Text)...)
	}
	return out
}

// returned reads the header of each message that is returned as a part.
func returned(m *parse.Msg) []parse.Headers {
	var out []parse.Headers
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Within >= 0 || len(out) >= maxReturned {
			continue
		}
		switch p.Type {
		case "message/rfc822", "message/global", "message/partial", "text/rfc822-headers", "message/rfc822-headers",
			"text/rfc822-header", "text/rfc822", "message/global-headers":
			out = append(out, parse.Header(clipBytes(m.Content(i), parse.MaxHeader)))
		}
	}
	return out
}

// mayReturnText reports whether a text may hold a copy of a returned message's
// header.
func mayReturnText(m *parse.Msg) bool {
	head := clip(m.Text, 64<<10)
	return strings.Contains(head, "essage-") || strings.Contains(head, "ESSAGE-")
}

// idsInText finds header lines Message-ID in a plain text, quoted or not.
func idsInText(text string) []string {
	var ids []string
	text = clip(text, 64<<10)
	lines := 0
	for rest := text; rest != "" && lines < maxTextField && len(ids) < 20; lines++ {
		line := rest
		if i := strings.IndexByte(rest, '\n'); i >= 0 {
			line, rest = rest[:i], rest[i+1:]
		} else {
			rest = ""
		}
		line = strings.TrimLeft(line, "> \t|")
		if len(line) < 11 || !strings.EqualFold(line[:11], "message-id:") {
			continue
		}
		v := strings.TrimSpace(line[11:])
		if v == "" { // folded
			v, _, _ = strings.Cut(rest, "\n")
		}
		if strings.IndexByte(v, '<') >= 0 {
			ids = append(ids, parse.MessageIDs(clip(v, maxTextField))...)
		}
	}
	return ids
}

func clipBytes(b []byte, n int) []byte { return b[:min(len(b), n)] }
