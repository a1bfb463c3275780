package editor

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// pos is a place in the text: a line, and a byte offset in it that lies between
// two characters.
type pos struct{ line, at int }

func (p pos) before(q pos) bool { return p.line < q.line || p.line == q.line && p.at < q.at }

// line is one line of the text, its end left out, with what was worked out of it.
type line struct {
	s            string
	words, chars int
	w            int   // the width rows were made for, 0 for none
	rows         []int // where each row of the wrapped line begins; the first is 0
}

// buffer is the text as lines; it always has at least one.
type buffer struct {
	lines        []line
	words, chars int // of what is not quoted
}

func newBuffer(text string) buffer {
	b := buffer{lines: make([]line, 1)}
	b.replace(pos{}, pos{}, text)
	return b
}

func (b *buffer) String() string {
	n := len(b.lines) - 1
	for i := range b.lines {
		n += len(b.lines[i].s)
	}
	var out strings.Builder
	out.Grow(n)
	for i := range b.lines {
		if i > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(b.lines[i].s)
	}
	return out.String()
}

// between returns the text from one place to another.
func (b *buffer) between(from, to pos) string {
	if from.line == to.line {
		return b.lines[from.line].s[from.at:to.at]
	}
	parts := []string{b.lines[from.line].s[from.at:]}
	for i := from.line + 1; i < to.line; i++ {
		parts = append(parts, b.lines[i].s)
	}
	return strings.Join(append(parts, b.lines[to.line].s[:to.at]), "\n")
}

// replace puts text in place of what lies between two places and returns where
// it ends. It costs what it touches, not what there is.
func (b *buffer) replace(from, to pos, text string) pos {
	head, tail := b.lines[from.line].s[:from.at], b.lines[to.line].s[to.at:]
	for i := from.line; i <= to.line; i++ {
		b.words -= b.lines[i].words
		b.chars -= b.lines[i].chars
	}
	parts := strings.Split(text, "\n")
	last := len(parts) - 1
	end := pos{from.line + last, len(parts[last])}
	if last == 0 {
		end.at += from.at
	}
	parts[0] = head + parts[0]
	parts[last] += tail
	fresh := make([]line, len(parts))
	for i, p := range parts {
		fresh[i] = count(p)
		b.words += fresh[i].words
		b.chars += fresh[i].chars
	}
	if len(fresh) == to.line-from.line+1 {
		copy(b.lines[from.line:], fresh)
	} else {
		b.lines = slices.Replace(b.lines, from.line, to.line+1, fresh...)
	}
	return end
}

// count counts a line's words and characters; a quoted line has none of our own.
func count(s string) line {
	l := line{s: s}
	if strings.HasPrefix(s, ">") {
		return l
	}
	l.words = len(strings.Fields(s))
	if isASCII(s) {
		l.chars = len(s)
	} else {
		l.chars = uniseg.GraphemeClusterCount(s)
	}
	return l
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// next is the place after the character at p; at a line's end, the next line.
func (b *buffer) next(p pos) pos {
	s := b.lines[p.line].s
	if p.at >= len(s) {
		if p.line+1 < len(b.lines) {
			return pos{p.line + 1, 0}
		}
		return p
	}
	return pos{p.line, p.at + len(first(s[p.at:]))}
}

// prev is the place before the character that ends at p.
func (b *buffer) prev(p pos) pos {
	if p.at == 0 {
		if p.line == 0 {
			return p
		}
		return pos{p.line - 1, len(b.lines[p.line-1].s)}
	}
	s := b.lines[p.line].s[:p.at]
	from := anchor(s, p.at-1)
	for {
		n := len(first(s[from:]))
		if from+n >= len(s) {
			return pos{p.line, from}
		}
		from += n
	}
}

// snap moves a place that lies inside a character to that character's end.
func (b *buffer) snap(p pos) pos {
	s := b.lines[p.line].s
	if p.at <= 0 || p.at >= len(s) || s[p.at] < utf8.RuneSelf && s[p.at-1] < utf8.RuneSelf {
		return p
	}
	for from := anchor(s, p.at); from < len(s); {
		if from += len(first(s[from:])); from >= p.at {
			return pos{p.line, from}
		}
	}
	return p
}

// anchor is a place at or before at where a character certainly begins: between
// two letters of ASCII one always does.
func anchor(s string, at int) int {
	for i := min(at, len(s)-1); i > 0; i-- {
		if s[i] < utf8.RuneSelf && s[i-1] < utf8.RuneSelf {
			return i
		}
	}
	return 0
}

// first is the first character of s, as a person sees characters.
func first(s string) string {
	if len(s) == 1 || s[0] < utf8.RuneSelf && s[1] < utf8.RuneSelf {
		return s[:1]
	}
	c, _, _, _ := uniseg.FirstGraphemeClusterInString(s, -1)
	return c
}

// word is where the word before p begins, or the one after it ends.
func (b *buffer) word(p pos, forward bool) pos {
	step, look := b.prev, func(p pos) (rune, bool) {
		r, n := utf8.DecodeLastRuneInString(b.lines[p.line].s[:p.at])
		return r, n > 0
	}
	if forward {
		step, look = b.next, func(p pos) (rune, bool) {
			r, n := utf8.DecodeRuneInString(b.lines[p.line].s[p.at:])
			return r, n > 0
		}
	}
	letters := false
	for {
		r, ok := look(p)
		inWord := ok && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_' || r == '\'')
		if letters && !inWord {
			return p
		}
		letters = letters || inWord
		q := step(p)
		if q == p {
			return p
		}
		p = q
	}
}

// last is the end of the text.
func (b *buffer) last() pos {
	n := len(b.lines) - 1
	return pos{n, len(b.lines[n].s)}
}
