package parse

import (
	"fmt"
	"strings"
)

// Part is one leaf of a message's MIME tree (RFC 2045, RFC 2046), or a
// message/rfc822 part, which is also taken apart.
type Part struct {
	Path        string // place in the tree as IMAP numbers it: "1", "2.1"
	Type        string // media type in lower case
	Params      Params // parameters of Content-Type
	Charset     string // as declared, "" when not
	Encoding    string // transfer encoding in lower case, "" when not stated
	Disposition string // "attachment", "inline" or ""
	Name        string // file name, decoded, as the sender wrote it: see Filename
	Size        int    // bytes of the decoded content
	ContentID   string // without its angle brackets
	Inline      bool   // meant to be seen within the text
	Container   string // media type of the multipart around it, "" at the top
	Within      int    // index of the message/rfc822 part around it, -1 at the top
	Damaged     bool   // the transfer encoding is broken

	Fields []Field // the part's own header fields; the message's for a single part

	src   []byte // the encoded content
	group int    // index of the multipart around it
}

// newPart describes a part from its header fields.
func newPart(fields []Field, fallback string) Part {
	p := Part{Fields: fields, Within: -1, group: -1}
	for _, f := range fields {
		if len(f.Name) < 10 || f.Name[0]|0x20 != 'c' {
			continue
		}
		switch {
		case strings.EqualFold(f.Name, "Content-Type"):
			if p.Type == "" {
				p.Type, p.Params = MediaType(f.Value)
			}
		case strings.EqualFold(f.Name, "Content-Transfer-Encoding"):
			if p.Encoding == "" {
				p.Encoding = toUTF8(encodingName(f.Value))
			}
		case strings.EqualFold(f.Name, "Content-Disposition"):
			if p.Disposition == "" {
				p.readDisposition(f.Value)
			}
		case strings.EqualFold(f.Name, "Content-ID"):
			if p.ContentID == "" {
				p.ContentID = toUTF8(strings.Trim(f.Value, "<> \t"))
			}
		}
	}
	if p.Type == "" {
		p.Type = fallback
	}
	if p.Name == "" {
		p.Name = p.Params.Get("name")
	}
	p.Charset = p.Params.Get("charset")
	return p
}

func (p *Part) readDisposition(v string) {
	head, rest, found := strings.Cut(v, ";")
	if strings.IndexByte(head, '=') >= 0 {
		head, rest, found = "attachment", v, true
	}
	p.Disposition = keyword(strings.TrimSpace(head))
	if p.Disposition != "inline" {
		p.Disposition = "attachment" // RFC 2183 section 2.8
	}
	if found {
		params := readParams(rest)
		if p.Name = params.Get("filename"); p.Name == "" {
			p.Name = params.Get("name")
		}
	}
}

func (p *Part) isText() bool { return p.Type == "text/plain" || p.Type == "text/html" }

// Content returns the decoded content of part i, as much as could be decoded.
// It may share memory with the message. An index out of range gives nil.
func (m *Msg) Content(i int) []byte {
	if i < 0 || i >= len(m.Parts) {
		return nil
	}
	b, _ := decodeTransfer(m.Parts[i].src, m.Parts[i].Encoding)
	return b
}

// PartText returns the content of part i as text in UTF-8 with LF line ends,
// HTML as its source, at most MaxText bytes.
func (m *Msg) PartText(i int) string {
	if i < 0 || i >= len(m.Parts) {
		return ""
	}
	s, _ := m.decoded(&m.Parts[i], MaxText)
	return s
}

// decoded returns a part's text, at most limit bytes of it, and whether it was cut.
func (m *Msg) decoded(p *Part, limit int) (string, bool) {
	src := p.src
	cut := false
	if most := 4*limit + 4096; len(src) > most {
		src, cut = src[:most], true
	}
	b, _ := decodeTransfer(src, p.Encoding)
	charset := p.Charset
	if charset == "" && p.Type == "text/html" {
		charset = metaCharset(b)
	}
	s := newlines(Decode(b, charset))
	if len(s) > limit {
		s, cut = clip(s, limit), true
	}
	return s, cut
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

func newlines(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.ReplaceAll(s, "\r", "\n")
}

// metaCharset finds the charset an HTML document states near its beginning, or
// its byte order mark.
func metaCharset(b []byte) string {
	if len(b) > 2 && (b[0] == 0xff && b[1] == 0xfe || b[0] == 0xfe && b[1] == 0xff) {
		return "utf-16"
	}
	head := strings.ToLower(string(b[:min(len(b), 2048)]))
	i := strings.Index(head, "charset=")
	if i < 0 {
		return ""
	}
	v := strings.TrimLeft(head[i+8:], `"' `)
	if j := strings.IndexAny(v, "\"'>; /\r\n"); j >= 0 {
		v = v[:j]
	}
	if strings.HasPrefix(v, "utf-16") {
		return "utf-8" // it could not have been read
	}
	return v
}

// describe names a part for a sentence.
func (p *Part) describe() string {
	if p.Name != "" {
		return fmt.Sprintf("part %s (%s)", p.Path, clip(p.Name, 80))
	}
	return "part " + p.Path
}
