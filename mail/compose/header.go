package compose

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"skrzynka/mail"
)

const (
	softLine = 76  // octets of a line we aim at; 78 is RFC 5322's advice
	hardLine = 998 // octets of a line no server may refuse (RFC 5322 section 2.1.1)
	wordMax  = 75  // octets of one encoded-word (RFC 2047 section 2)
)

// header collects folded header fields. Every value goes through it, so this
// is the only place from which a CR or LF could get into a header.
type header struct{ strings.Builder }

// add writes "name: tokens" and folds between tokens, which must be printable
// ASCII without spaces of their own that matter.
func (h *header) add(name string, tokens ...string) {
	h.WriteString(name + ":")
	col := len(name) + 1
	for i, t := range tokens {
		if i > 0 && col+1+len(t) > softLine {
			h.WriteString("\r\n")
			col = 0
		}
		h.WriteString(" " + t)
		col += 1 + len(t)
	}
	h.WriteString("\r\n")
}

// checkValue refuses what must not be in a header value in any encoding: other
// programs decode before they look. field is our own word for it.
func checkValue(field, v string) error {
	for _, r := range v {
		switch r {
		case '\r', '\n', 0, '\u2028', '\u2029':
			return mail.Errorf(mail.CodeReplyMessageInvalid, "Remove the line break from it.",
				"The %s has a line break or a NUL character in it.", field)
		}
	}
	if !utf8.ValidString(v) {
		return mail.Errorf(mail.CodeReplyMessageInvalid, "Write it in UTF-8.", "The %s is not valid UTF-8.", field)
	}
	return nil
}

// unstructured splits v into tokens for add: its words when it is plain ASCII
// that survives folding, else encoded-words (RFC 2047). first is how much of
// the first line the field's name takes.
func unstructured(v string, first int) []string {
	if v == "" {
		return nil
	}
	if words := strings.Split(v, " "); plainWords(words) {
		return words
	}
	return encodedWords(v, first)
}

// plainWords reports whether words can be written as they are: printable
// ASCII, single spaces, short enough to fold, and nothing that would be decoded.
func plainWords(words []string) bool {
	for _, w := range words {
		if w == "" || len(w) > softLine-len("Subject: ") || strings.Contains(w, "=?") || !printable(w) {
			return false
		}
	}
	return true
}

// printable reports whether s is ASCII without space and control characters.
func printable(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// encodedWords writes v as UTF-8 encoded-words, cut between characters, in
// whichever of B and Q is shorter for the whole of v. Spaces between adjacent
// encoded-words are not part of the text, so add may fold there. first is what
// the first line has taken already.
func encodedWords(v string, first int) []string {
	asB := base64.StdEncoding.EncodedLen(len(v)) < len(qEncode(v))
	cost := func(s string) int {
		if asB {
			return base64.StdEncoding.EncodedLen(len(s))
		}
		return len(qEncode(s))
	}
	const around = len("=?utf-8?q?") + len("?=")
	room := min(wordMax, softLine-first-1) - around
	var out []string
	flush := func(s string) {
		if asB {
			out = append(out, "=?utf-8?b?"+base64.StdEncoding.EncodeToString([]byte(s))+"?=")
		} else {
			out = append(out, "=?utf-8?q?"+qEncode(s)+"?=")
		}
		room = wordMax - around
	}
	start := 0
	for i, r := range v {
		if i > start && cost(v[start:i+utf8.RuneLen(r)]) > room {
			flush(v[start:i])
			start = i
		}
	}
	flush(v[start:])
	return out
}

// qEncode is the Q encoding of s in the set that is safe in a phrase too (RFC
// 2047 section 5, rule 3).
func qEncode(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("!*+-/", c) >= 0:
			b.WriteByte(c)
		case c == ' ':
			b.WriteByte('_')
		default:
			fmt.Fprintf(&b, "=%02X", c)
		}
	}
	return b.String()
}

// addressTokens writes a list for a To-like field. The addresses are in their
// envelope form already.
func addressTokens(list []mail.Address, first int) []string {
	var out []string
	for i, a := range list {
		name := phrase(a.Name, first)
		first = 0
		end := ""
		if i < len(list)-1 {
			end = ","
		}
		if len(name) == 0 {
			out = append(out, a.Addr+end)
			continue
		}
		out = append(append(out, name...), "<"+a.Addr+">"+end)
	}
	return out
}

// phrase writes a display name: atoms, one quoted-string, or encoded-words.
func phrase(name string, first int) []string {
	name = strings.TrimSpace(name)
	if name == "" {
		return nil
	}
	words := strings.Split(name, " ")
	atoms := plainWords(words)
	for _, w := range words {
		atoms = atoms && !strings.ContainsAny(w, `()<>[]:;@\,."`)
	}
	if atoms {
		return words
	}
	ascii := !strings.Contains(name, "=?") && len(name) <= 60
	for i := 0; i < len(name); i++ {
		ascii = ascii && name[i] >= ' ' && name[i] < 0x7f
	}
	if ascii {
		return []string{`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`}
	}
	return encodedWords(name, first)
}

// validMsgID reports whether id is "<left@right>" in printable ASCII and short
// enough for one line: the part of RFC 5322 section 3.6.4 that keeps a field
// intact, with no opinion on what is between the brackets.
func validMsgID(id string) bool {
	return len(id) > 2 && len(id) <= 900 && id[0] == '<' && id[len(id)-1] == '>' &&
		printable(id) && !strings.ContainsAny(id[1:len(id)-1], "<>")
}
