package loopback

import (
	"bufio"
	"bytes"
	"io"
	"mime"
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-message/textproto"
)

// matches reports whether one message fits the criteria (RFC 3501 section
// 6.4.4). Texts are compared as substrings without regard to ASCII case; body
// texts against the bytes as they are, without decoding. The store's lock is held.
func (e *session) matches(c chosen, k *imap.SearchCriteria) bool {
	m := c.msg
	for _, set := range k.SeqNum {
		if s, ok := e.static(set).(imap.SeqSet); !ok || !s.Contains(c.seq) {
			return false
		}
	}
	for _, set := range k.UID {
		if s, ok := e.static(set).(imap.UIDSet); !ok || !s.Contains(m.uid) {
			return false
		}
	}
	missing := func(f imap.Flag) bool { return !m.has(f) }
	if slices.ContainsFunc(k.Flag, missing) || slices.ContainsFunc(k.NotFlag, m.has) {
		return false
	}
	if size := int64(len(m.raw)); k.Larger != 0 && size <= k.Larger || k.Smaller != 0 && size >= k.Smaller {
		return false
	}
	if !withinDays(m.date, k.Since, k.Before) || !e.matchesHeader(m, k) {
		return false
	}
	for _, text := range k.Text {
		if !containsFold(m.raw, text) {
			return false
		}
	}
	_, body := split(m.raw)
	for _, text := range k.Body {
		if !containsFold(body, text) {
			return false
		}
	}
	for i := range k.Not {
		if e.matches(c, &k.Not[i]) {
			return false
		}
	}
	for i := range k.Or {
		if !e.matches(c, &k.Or[i][0]) && !e.matches(c, &k.Or[i][1]) {
			return false
		}
	}
	return true
}

func (e *session) matchesHeader(m *message, k *imap.SearchCriteria) bool {
	head, _ := split(m.raw)
	for _, want := range k.Header {
		found := slices.ContainsFunc(fields(head), func(f []byte) bool {
			return strings.EqualFold(fieldName(f), want.Key) && containsFold(f[len(fieldName(f)):], want.Value)
		})
		if !found {
			found = slices.ContainsFunc(fields(head), func(f []byte) bool {
				return strings.EqualFold(fieldName(f), want.Key) && containsFold([]byte(decodeWords(fieldValue(f))), want.Value)
			})
		}
		if !found {
			return false
		}
	}
	if k.SentSince.IsZero() && k.SentBefore.IsZero() {
		return true
	}
	for _, f := range fields(head) {
		if strings.EqualFold(fieldName(f), "Date") {
			t, err := mail.ParseDate(fieldValue(f))
			return err == nil && withinDays(t, k.SentSince, k.SentBefore)
		}
	}
	return false
}

func withinDays(t, since, before time.Time) bool {
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	return (since.IsZero() || !day.Before(since)) && (before.IsZero() || day.Before(before))
}

func containsFold(b []byte, text string) bool {
	return bytes.Contains(bytes.ToLower(b), bytes.ToLower([]byte(text)))
}

// split cuts a message after the empty line that ends its header.
func split(raw []byte) (head, body []byte) {
	if bytes.HasPrefix(raw, []byte("\r\n")) {
		return raw[:2], raw[2:]
	}
	if i := bytes.Index(raw, []byte("\r\n\r\n")); i >= 0 {
		return raw[:i+4], raw[i+4:]
	}
	return raw, nil
}

// fields cuts a header into its fields, each with its continuation lines and
// line ends. Lines that are no field stand alone.
func fields(head []byte) [][]byte {
	var list [][]byte
	start, pos := 0, 0
	for line := range bytes.Lines(head) {
		if line[0] != ' ' && line[0] != '\t' && pos > start {
			list = append(list, head[start:pos])
			start = pos
		}
		pos += len(line)
	}
	if pos > start {
		list = append(list, head[start:pos])
	}
	return list
}

func fieldName(f []byte) string {
	name, _, found := bytes.Cut(f, []byte(":"))
	if !found {
		return ""
	}
	return strings.TrimSpace(string(name))
}

func fieldValue(f []byte) string {
	_, v, _ := bytes.Cut(f, []byte(":"))
	return strings.TrimSpace(strings.ReplaceAll(string(v), "\r\n", ""))
}

func decodeWords(s string) string {
	if d, err := new(mime.WordDecoder).DecodeHeader(s); err == nil {
		return d
	}
	return s
}

// writeMessage writes the items of one FETCH response.
func writeMessage(w *imapserver.FetchResponseWriter, m *message, flags []imap.Flag, o *imap.FetchOptions) error {
	w.WriteUID(m.uid)
	if o.Flags {
		w.WriteFlags(flags)
	}
	if o.InternalDate {
		w.WriteInternalDate(m.date)
	}
	if o.RFC822Size {
		w.WriteRFC822Size(int64(len(m.raw)))
	}
	if o.Envelope {
		head, _ := textproto.ReadHeader(bufio.NewReader(bytes.NewReader(m.raw)))
		w.WriteEnvelope(imapserver.ExtractEnvelope(head))
	}
	if o.BodyStructure != nil {
		w.WriteBodyStructure(imapserver.ExtractBodyStructure(bytes.NewReader(m.raw)))
	}
	for _, item := range o.BodySection {
		b := section(m.raw, item)
		if err := writeLiteral(w.WriteBodySection(item, int64(len(b))), b); err != nil {
			return err
		}
	}
	return w.Close()
}

func writeLiteral(w io.WriteCloser, b []byte) error {
	_, err := w.Write(b)
	if closeErr := w.Close(); err == nil {
		err = closeErr
	}
	return err
}

// section returns one body section. The whole message, its header and its text
// are the very bytes, never parsed and written again.
func section(raw []byte, item *imap.FetchItemBodySection) []byte {
	head, body := split(raw)
	var b []byte
	switch {
	case len(item.Part) > 0:
		return imapserver.ExtractBodySection(bytes.NewReader(raw), item)
	case item.Specifier == imap.PartSpecifierText:
		b = body
	case item.Specifier == imap.PartSpecifierHeader && len(item.HeaderFields)+len(item.HeaderFieldsNot) > 0:
		named := func(names []string, f []byte) bool {
			return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, fieldName(f)) })
		}
		for _, f := range fields(head) {
			if len(item.HeaderFields) > 0 && named(item.HeaderFields, f) ||
				len(item.HeaderFieldsNot) > 0 && !named(item.HeaderFieldsNot, f) && len(bytes.TrimSpace(f)) > 0 {
				b = append(b, f...)
			}
		}
		b = append(b, "\r\n"...)
	case item.Specifier == imap.PartSpecifierHeader:
		b = head
	default:
		b = raw
	}
	if p := item.Partial; p != nil {
		start := min(max(p.Offset, 0), int64(len(b)))
		b = b[start:min(start+max(p.Size, 0), int64(len(b)))]
	}
	return b
}
