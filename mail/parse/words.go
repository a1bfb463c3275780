package parse

import (
	"strings"
	"unicode/utf8"
)

// DecodeText decodes the encoded words of RFC 2047 in an unstructured field or
// a phrase, and makes the rest valid UTF-8. It is tolerant: words may touch
// other text, be longer than 75 characters, hold spaces, lack their end, or
// split a character between two of them. A value longer than MaxFieldDecode is
// cut there and not decoded.
func DecodeText(s string) string {
	if len(s) > MaxFieldDecode {
		return toUTF8(s[:MaxFieldDecode])
	}
	i := strings.Index(s, "=?")
	if i < 0 {
		return toUTF8(s)
	}
	var d wordDecoder
	d.out.Grow(len(s))
	for i >= 0 {
		w, n := encodedWord(s[i:])
		if n == 0 {
			j := strings.Index(s[i+2:], "=?")
			if j < 0 {
				break
			}
			d.plain(s[:i+2+j])
			s, i = s[i+2+j:], 0
			continue
		}
		if i > 0 && (len(d.charset) == 0 || strings.Trim(s[:i], " \t") != "") {
			d.plain(s[:i])
		}
		d.word(w)
		s = s[i+n:]
		i = strings.Index(s, "=?")
	}
	d.plain(s)
	return d.out.String()
}

// word is one encoded word taken apart.
type word struct {
	charset string
	q       bool
	text    string
}

// encodedWord takes apart the encoded word at the start of s, which begins
// with "=?", and returns its length, or 0.
func encodedWord(s string) (word, int) {
	rest := s[2:]
	i := strings.IndexByte(rest, '?')
	if i <= 0 || i > 60 || len(rest) < i+3 || rest[i+2] != '?' {
		return word{}, 0
	}
	w := word{charset: rest[:i]}
	if strings.ContainsAny(w.charset, " \t=") {
		return word{}, 0
	}
	switch rest[i+1] {
	case 'q', 'Q':
		w.q = true
	case 'b', 'B':
	default:
		return word{}, 0
	}
	if j := strings.IndexByte(w.charset, '*'); j >= 0 {
		w.charset = w.charset[:j] // RFC 2231 section 5: the language
	}
	text := rest[i+3:]
	at := 2 + i + 3
	end := strings.Index(text, "?=")
	// "=?utf-8?q?=41?=": the first "?=" must not be the start of "=41".
	for end >= 0 && w.q && end == 0 && len(text) > 3 && isHex(text[2]) && isHex(text[3]) {
		j := strings.Index(text[1:], "?=")
		if j < 0 {
			break
		}
		end = j + 1
	}
	if end < 0 {
		if next := strings.Index(text, "=?"); next >= 0 {
			return word{}, 0
		}
		w.text = strings.TrimSuffix(text, "?")
		if strings.ContainsAny(w.text, " \t") {
			return word{}, 0
		}
		return w, at + len(text)
	}
	w.text = text[:end]
	return w, at + end + 2
}

// wordDecoder gathers neighbouring words of one charset before it converts
// them, since senders split multi-byte characters between words.
type wordDecoder struct {
	out     strings.Builder
	charset string
	bytes   []byte
}

func (d *wordDecoder) word(w word) {
	if !strings.EqualFold(w.charset, d.charset) {
		d.flush()
		d.charset = w.charset
	}
	if w.q {
		d.bytes = appendQ(d.bytes, w.text)
	} else {
		b, _ := decodeBase64([]byte(w.text))
		d.bytes = append(d.bytes, b...)
	}
}

func (d *wordDecoder) plain(s string) {
	d.flush()
	d.out.WriteString(toUTF8(s))
}

func (d *wordDecoder) flush() {
	if d.charset != "" {
		d.out.WriteString(Decode(d.bytes, d.charset))
	}
	d.charset, d.bytes = "", d.bytes[:0]
}

// appendQ decodes the Q encoding of RFC 2047 section 4.2.
func appendQ(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '_':
			dst = append(dst, ' ')
		case c == '=' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			dst = append(dst, unhex(s[i+1])<<4|unhex(s[i+2]))
			i += 2
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func unhex(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	}
	return c - '0'
}

// toUTF8 makes raw header bytes valid UTF-8: as they are when they are valid,
// as ISO-2022-JP when they shift into it, else as Windows-1252.
func toUTF8(s string) string {
	if ascii(s) {
		if strings.Contains(s, "\x1b$") {
			return Decode([]byte(s), "iso-2022-jp")
		}
		return s
	}
	if utf8.ValidString(s) {
		return s
	}
	return Decode([]byte(s), "")
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
