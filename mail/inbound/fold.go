package inbound

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// fold gives the form in which words are compared: compatibility-decomposed,
// lower case, without diacritics, white space runs as one space. Its input is
// cut to what a subject or a word can be.
func fold(s string) string {
	const most = 2000
	s = clip(s, most)
	ascii := true
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			ascii = false
			break
		}
	}
	if !ascii {
		s = norm.NFKD.String(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r) || r == '\u00a0':
			space = b.Len() > 0
			continue
		case r > 127 && (unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Cf, r)):
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		switch r {
		case 'ł', 'Ł':
			r = 'l'
		case 'ø', 'Ø':
			r = 'o'
		case 'đ', 'Đ', 'ð':
			r = 'd'
		case 'ı', 'İ':
			r = 'i'
		case 'æ', 'Æ':
			b.WriteString("ae")
			continue
		case 'œ', 'Œ':
			b.WriteString("oe")
			continue
		case 'ß', 'ẞ':
			b.WriteString("ss")
			continue
		case '’', '‘', 'ʼ', '´':
			r = '\''
		case '–', '—', '‐', '‑', '−':
			r = '-'
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// replyPrefixes are what mail programs put before a subject they answer or
// forward, folded.
var replyPrefixes = []string{"re", "aw", "odp", "sv", "rv", "tr", "fwd", "fw", "wg", "vs", "antw", "ynt", "res", "rif", "r", "i", "enc", "pd", "doorst", "vl", "回复", "答复", "回覆", "转发", "轉寄", "отв", "ha"}

// stripReply removes reply and forward prefixes, a counter included ("Re[2]:"),
// from a folded subject.
func stripReply(s string) (bare string, stripped bool) {
	for range 10 {
		i := strings.IndexAny(s, ":：")
		if i <= 0 || i > 20 {
			break
		}
		word := strings.TrimSpace(s[:i])
		if j := strings.IndexAny(word, "[(^"); j > 0 {
			word = strings.TrimSpace(word[:j])
		}
		if !contains(replyPrefixes, word) {
			break
		}
		s = strings.TrimLeft(s[i:], ":： ")
		stripped = true
	}
	return s, stripped
}
