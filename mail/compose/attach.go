package compose

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"mime"
	"net/http"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"skrzynka/mail"
)

// Attach freezes content as an attachment. An empty typ is found from the
// name, else from the content (RFC 2046).
func Attach(name, typ string, content []byte) mail.Attachment {
	if typ == "" {
		typ = mime.TypeByExtension(strings.ToLower(filepath.Ext(name)))
	}
	if typ == "" {
		typ = http.DetectContentType(content)
	}
	sum := sha256.Sum256(content)
	return mail.Attachment{Content: content, AttachmentRef: mail.AttachmentRef{
		Name: name, Type: typ, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}}
}

// attachmentPart writes one part with its header. Everything goes as base64,
// except a message that is 7-bit already, which must not (RFC 2046 section
// 5.2.1); one that is not is sent as a plain file.
func attachmentPart(a mail.Attachment) ([]byte, error) {
	if err := checkValue("file name of an attachment", a.Name); err != nil {
		return nil, err
	}
	typ, charset := contentType(a.Type)
	encoding, content := "base64", []byte(nil)
	if typ == "message/rfc822" {
		if SevenBit(a.Content) {
			encoding, content = "7bit", a.Content
		} else {
			typ = "application/octet-stream"
		}
	}
	if encoding == "base64" {
		content = wrapBase64(a.Content)
	}
	var h header
	if charset != "" {
		h.add("Content-Type", typ+";", "charset="+charset)
	} else {
		h.add("Content-Type", typ)
	}
	h.add("Content-Transfer-Encoding", encoding)
	if name := fileName(a.Name); name == "" {
		h.add("Content-Disposition", "attachment")
	} else {
		h.add("Content-Disposition", append([]string{"attachment;"}, fileNameParams(name)...)...)
	}
	return append([]byte(h.String()+"\r\n"), content...), nil
}

// contentType keeps a well-formed type and its charset. Composite types cannot
// be base64 (RFC 2045 section 6.4) and become plain files, except a message.
func contentType(s string) (typ, charset string) {
	const file = "application/octet-stream"
	typ, params, err := mime.ParseMediaType(s)
	if err != nil || strings.Count(typ, "/") != 1 || !printable(typ) || len(typ) > 120 {
		return file, ""
	}
	if strings.HasPrefix(typ, "multipart/") || strings.HasPrefix(typ, "message/") && typ != "message/rfc822" {
		return file, ""
	}
	if c := params["charset"]; c != "" && len(c) <= 40 && strings.Trim(strings.ToLower(c), "abcdefghijklmnopqrstuvwxyz0123456789-_.") == "" {
		charset = c
	}
	return typ, charset
}

// fileName drops folders and control characters.
func fileName(s string) string {
	if i := strings.LastIndexAny(s, `/\`); i >= 0 {
		s = s[i+1:]
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r <= 0x9f {
			return '_'
		}
		return r
	}, s))
}

// fileNameParams writes filename for a plain short name, else an ASCII
// stand-in and filename* in pieces (RFC 2231 sections 3 and 4).
func fileNameParams(name string) []string {
	plain := len(name) <= 60
	var ascii strings.Builder
	for _, r := range name {
		if r > 0x7e || r == '"' || r == '\\' {
			plain = false
			r = '_'
		}
		if ascii.Len() < 60 {
			ascii.WriteRune(r)
		}
	}
	if plain {
		return []string{`filename="` + name + `"`}
	}
	out := []string{`filename="` + strings.TrimSpace(ascii.String()) + `";`}
	var pieces []string
	piece := "utf-8''"
	for _, r := range name {
		enc := ""
		for _, b := range []byte(string(r)) {
			enc += percent(b)
		}
		if len(piece)+len(enc) > 54 {
			pieces = append(pieces, piece)
			piece = ""
		}
		piece += enc
	}
	pieces = append(pieces, piece)
	if len(pieces) == 1 {
		return append(out, "filename*="+pieces[0])
	}
	for i, p := range pieces {
		end := ";"
		if i == len(pieces)-1 {
			end = ""
		}
		out = append(out, fmt.Sprintf("filename*%d*=%s%s", i, p, end))
	}
	return out
}

// percent encodes an octet that is not an attribute-char of RFC 2231.
func percent(b byte) string {
	if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte("-._", b) >= 0 {
		return string(rune(b))
	}
	return fmt.Sprintf("%%%02X", b)
}

// SevenBit reports whether b can be sent as it is: ASCII without NUL, lines of
// at most 998 octets ended by CRLF, the last one too, no other CR or LF.
func SevenBit(b []byte) bool {
	line := 0
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '\r':
			if i+1 == len(b) || b[i+1] != '\n' {
				return false
			}
			i++
			line = 0
			continue
		case c == '\n' || c == 0 || c >= utf8.RuneSelf:
			return false
		}
		if line++; line > hardLine {
			return false
		}
	}
	return line == 0 && len(b) > 0
}
