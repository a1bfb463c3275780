package editor

import (
	"strings"
	"unicode/utf8"
)

// Clean makes pasted text fit to be written: every kind of line end is one LF,
// tabs stay, terminal sequences, other control characters of both sets and
// broken UTF-8 go. Letters, marks and emoji of every script stay as they are.
func Clean(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\r':
			b.WriteByte('\n')
			if strings.HasPrefix(s[i:], "\r\n") {
				n = 2
			}
		case r == '\n', r == '\t':
			b.WriteByte(s[i])
		case r == 0x85, r == 0x2028, r == 0x2029:
			b.WriteByte('\n')
		case r == 0x1b:
			n = sequence(s[i:])
		case r == utf8.RuneError && n == 1, r < 0x20, r >= 0x7f && r < 0xa0:
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// sequence is the length of the control sequence (ECMA-48, CSI) that s begins
// with. Of any other escape only the ESC itself goes: one that is never closed
// must not swallow the text behind it.
func sequence(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 1
	}
	for i := 2; i < len(s) && i < 64; i++ {
		switch c := s[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1
		case c < 0x20 || c > 0x3f:
			return 1
		}
	}
	return 1
}
