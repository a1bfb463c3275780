package inbox

import (
	"strings"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/mirror"
	"skrzynka/mail/parse"
)

// snippetLength is how many characters of a text a list row keeps.
const snippetLength = 160

// newMessage makes a row of what FETCH gave: UID, flags, dates, size, header.
func newMessage(f mirror.Fetched) mail.NewMessage {
	h := parse.Header(f.Header)
	return mail.NewMessage{UID: f.UID, ModSeq: f.ModSeq, Flags: flags(f.Flags), InternalDate: f.InternalDate,
		Size: f.Size, Header: f.Header, Summary: summary(&h, f.InternalDate)}
}

// newWhole makes a row with its body of a whole message, or of the beginning of
// a large one a row without.
func newWhole(f mirror.Fetched) mail.NewMessage {
	if f.Body == nil || f.Truncated {
		if f.Header == nil {
			f.Header = headerOf(f.Body)
		}
		return newMessage(f)
	}
	m := parse.Message(f.Body)
	body := bodyOf(0, f.Body, m)
	out := mail.NewMessage{UID: f.UID, ModSeq: f.ModSeq, Flags: flags(f.Flags), InternalDate: f.InternalDate,
		Size: f.Size, Header: headerOf(f.Body), Summary: body.Summary, Body: &body}
	out.Summary.Date = ListDate(m.Date, m.DateOK, f.InternalDate)
	return out
}

// newBody parses a whole message for its row, whose date its header has set.
func newBody(id int64, f mirror.Fetched) mail.NewBody {
	return bodyOf(id, f.Body, parse.Message(f.Body))
}

func bodyOf(id int64, raw []byte, m *parse.Msg) mail.NewBody {
	b := mail.NewBody{ID: id, Raw: raw, Summary: summary(&m.Headers, time.Time{})}
	b.Summary.Date = time.Time{}
	b.Summary.Snippet = parse.Snippet(m.Text, snippetLength)
	for _, i := range m.Attachments {
		if !m.Parts[i].Inline {
			b.Summary.Attachments++
		}
	}
	if m.ContentType == "multipart/report" {
		b.Reports = reported(m)
	}
	return b
}

// reported lists the Message-IDs a report (RFC 3464, RFC 8098) speaks of: those
// of the messages, or header blocks, it returns.
func reported(m *parse.Msg) []string {
	var out []string
	for i, p := range m.Parts {
		if p.Within < 0 && (p.Type == "message/rfc822" || p.Type == "text/rfc822-headers" || p.Type == "text/rfc822" || p.Type == "message/disposition-notification") {
			h := parse.Header(m.Content(i))
			if h.MessageID != "" {
				out = append(out, h.MessageID)
			}
			out = append(out, parse.MessageIDs(h.Get("Original-Message-ID"))...)
		}
	}
	return out
}

func summary(h *parse.Headers, internal time.Time) mail.Summary {
	s := mail.Summary{RFCMessageID: h.MessageID, References: h.References, Subject: h.Subject, Date: ListDate(h.Date, h.DateOK, internal)}
	if len(h.InReplyTo) > 0 {
		s.InReplyTo = h.InReplyTo[0]
	}
	from := h.From
	if len(from) == 0 {
		from = h.Sender
	}
	if len(from) > 0 {
		s.From = from[0]
	}
	var to []string
	for i, a := range append(h.To[:len(h.To):len(h.To)], h.Cc...) {
		if i == 10 {
			to = append(to, "…")
			break
		}
		if a.Name != "" {
			to = append(to, a.Name)
		} else {
			to = append(to, a.Addr)
		}
	}
	s.To = strings.Join(to, ", ")
	return s
}

// ListDate is what a list is ordered by: the Date field, or the day the server
// received the message (INTERNALDATE) when the field is missing, cannot be
// read, or is more than a day away from it: a forged date must not pin a
// message to the top or bury it.
func ListDate(date time.Time, ok bool, internal time.Time) time.Time {
	if internal.IsZero() {
		return date
	}
	if !ok || date.Sub(internal).Abs() > 24*time.Hour {
		return internal
	}
	return date
}

func flags(list []string) mail.Flags {
	var f mail.Flags
	for _, s := range list {
		switch strings.ToLower(s) {
		case `\seen`:
			f.Seen = true
		case `\flagged`:
			f.Flagged = true
		case `\answered`:
			f.Answered = true
		case `\draft`:
			f.Draft = true
		case `\deleted`:
			f.Deleted = true
		case `\recent`:
		default:
			f.Keywords = append(f.Keywords, s)
		}
	}
	return f
}

func flagStates(list []mirror.Fetched) []mail.FlagState {
	out := make([]mail.FlagState, len(list))
	for i, f := range list {
		out[i] = mail.FlagState{UID: f.UID, ModSeq: f.ModSeq, Flags: flags(f.Flags)}
	}
	return out
}
