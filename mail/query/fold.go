package query

import (
	"bytes"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxToken is the longest run of letters and digits that is indexed, in bytes.
// What is longer is no word: the lines of encoded files, keys, tracking links.
const maxToken = 64

// letters that have no decomposition but one sees as a plain one with a stroke
// or a ligature.
var strokes = map[rune]string{
	'ł': "l", 'đ': "d", 'ø': "o", 'ħ': "h", 'ŧ': "t", 'ı': "i", 'ß': "ss", 'æ': "ae", 'œ': "oe", 'ð': "d", 'þ': "th", 'ŋ': "n", 'ĸ': "k",
	'ƀ': "b", 'ɨ': "i", 'ɉ': "j", 'ɍ': "r", 'ʉ': "u", 'ƶ': "z", 'ᵽ': "p", 'ς': "σ",
}

// folded holds the folding of the runes up to the end of Latin Extended-B, the
// spacing modifiers, Greek and Cyrillic: those of most of the world's alphabetic mail.
var folded = sync.OnceValue(func() *[0x530]string {
	var t [0x530]string
	for r := rune(utf8.RuneSelf); int(r) < len(t); r++ {
		t[r] = foldRune(r)
	}
	return &t
})

// Fold returns s as words separated by spaces, in the form they are indexed
// in: letters in lower case (ASCII ones as they are, which the index folds),
// without accents and strokes; runs of Chinese, Japanese and Korean
// characters as overlapping pairs and the last one alone. Runs of over 64 bytes
// are left out.
func Fold(s string) string {
	b := make([]byte, 0, len(s)+len(s)/8)
	table := folded()
	start := 0 // of the present word in b
	end := func() {
		switch {
		case len(b) == start:
			return
		case len(b)-start > maxToken:
			b = b[:start]
		default:
			b = append(b, ' ')
		}
		start = len(b)
	}
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			j := i
			for j < len(s) && wordByte(s[j]) {
				j++
			}
			if j == i {
				end()
				i++
				continue
			}
			b = append(b, s[i:min(j, i+maxToken+1)]...)
			i = j
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if ideograph(r) {
			end()
			b, n = pairs(b, s[i:])
			i += n
			start = len(b)
			continue
		}
		i += n
		var f string
		if int(r) < len(table) {
			f = table[r]
		} else {
			f = foldRune(r)
		}
		if f == " " {
			end()
			continue
		}
		b = append(b, f...)
	}
	end()
	return string(bytes.TrimRight(b, " "))
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// foldRune folds one rune that is not ASCII: to letters, to nothing (an accent),
// or to a space (what separates words).
func foldRune(r rune) string {
	if unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Cf, r) {
		return "" // accents; soft hyphens and joiners inside words
	}
	if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) {
		return " "
	}
	var b strings.Builder
	for _, d := range norm.NFKD.String(string(unicode.ToLower(r))) {
		switch l, ok := strokes[d]; {
		case ok:
			b.WriteString(l)
		case unicode.Is(unicode.Mn, d):
		case unicode.IsLetter(d) || unicode.IsNumber(d) || unicode.IsMark(d):
			b.WriteRune(unicode.ToLower(d))
		}
	}
	if b.Len() == 0 {
		return " "
	}
	return b.String()
}

// ideograph reports whether r belongs to a script that writes words without
// spaces, or (Hangul) whose words are rarely looked for as a whole.
func ideograph(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// pairs appends the run of ideographs at the start of s, and returns its length.
func pairs(b []byte, s string) (out []byte, n int) {
	var last string
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if !ideograph(r) && (r != 'ー' || last == "") {
			break
		}
		if last != "" {
			b = append(append(append(b, last...), s[n:n+size]...), ' ')
		}
		last = s[n : n+size]
		n += size
	}
	return append(append(b, last...), ' '), n
}
