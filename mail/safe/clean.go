package safe

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many combining marks and joiners one cell keeps.
const maxMarks = 8

// maxSequence bounds, in bytes, how far a well-formed escape sequence is looked
// for. A longer one is not dropped whole; its introducer is still made visible.
const maxSequence = 512

// tabStop is the width of a tab in Block; beyond tabLimit columns a tab counts
// as one space, so that a line of tabs does not grow eightfold.
const (
	tabStop  = 8
	tabLimit = 160
)

type mode int

const (
	lineMode mode = iota
	blockMode
	nameMode
)

// Line cleans s for one row of the screen: every run of tabs and line ends is
// one space. It is total and idempotent, and does not allocate when s is
// already clean ASCII.
func Line(s string) Text {
	if plain(s, false) {
		return Text{s}
	}
	return Text{clean(s, lineMode)}
}

// Block cleans s and keeps its lines: every kind of line end (CR LF, CR, NEL,
// LS, PS) is one LF, and tabs become spaces up to the next multiple of eight
// columns. It is total and idempotent.
func Block(s string) Text {
	if plain(s, true) {
		return Text{s}
	}
	return Text{clean(s, blockMode)}
}

// Name cleans a field by which a person is recognised (a display name, an
// address, a file name): as Line does, and every character that cannot be seen
// is removed, joiners between ordinary letters and variation selectors too;
// white space is collapsed and trimmed.
func Name(s string) Text {
	if plain(s, false) && !strings.Contains(s, "  ") && strings.TrimSpace(s) == s {
		return Text{s}
	}
	return Text{strings.Join(strings.Fields(clean(s, nameMode)), " ")}
}

// plain reports whether s is printable ASCII, with LF where lf is set.
func plain(s string, lf bool) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < 0x20 || c > 0x7e) && (c != '\n' || !lf) {
			return false
		}
	}
	return true
}

type cleaner struct {
	out   []byte
	mode  mode
	marks int  // marks and joiners kept since the last base
	last  rune // last rune written, 0 at the start of a line
	gap   bool // the last thing written stands for a run of line ends or tabs
	from  int  // where in out the columns of the current line were last counted
	col   int  // columns up to from
}

func clean(s string, m mode) string {
	c := &cleaner{mode: m, out: make([]byte, 0, len(s)+16)}
	for i := 0; i < len(s); {
		b := s[i]
		if b >= 0x20 && b < 0x7f {
			c.base(rune(b))
			i++
			continue
		}
		if b == 0x1b {
			if n := sequence(s[i:]); n > 0 {
				i += n
				continue
			}
		}
		if b == '\r' && i+1 < len(s) && s[i+1] == '\n' {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		c.rune(r)
	}
	return string(c.out)
}

// rune writes what r becomes.
func (c *cleaner) rune(r rune) {
	switch kind := classify(r); kind {
	case keep:
		c.base(r)
	case lineEnd:
		c.newline()
	case tab:
		c.tab()
	case space:
		c.base(' ')
	case replace:
		c.base(utf8.RuneError)
	case picture:
		if r == 0x7f {
			c.base(0x2421)
		} else {
			c.base(0x2400 + r)
		}
	case mark:
		c.mark(r)
	case selector:
		if c.mode != nameMode && c.last != 0 && c.last != ' ' && c.last != r {
			c.mark(r)
		}
	case joiner:
		if c.joins(r) {
			c.mark(r)
		}
	case drop:
	}
}

// base writes a character that takes a cell of its own.
func (c *cleaner) base(r rune) {
	if c.last != zwj || !pictographic(r) {
		c.marks = 0
	}
	c.write(r)
}

func (c *cleaner) write(r rune) {
	c.gap = false
	c.last = r
	c.out = utf8.AppendRune(c.out, r)
}

// mark writes a character that changes the cell before it. At the start of a
// line it would change what the screen drew there, so it gets a base.
func (c *cleaner) mark(r rune) {
	if c.last == 0 || c.gap || c.mode == nameMode && unicode.IsSpace(c.last) {
		c.marks = 0
		c.write(0x25cc)
	}
	if c.marks >= maxMarks {
		return
	}
	c.marks++
	c.write(r)
}

// joins reports whether a joiner after the last rune means something that can
// be seen: between pictures, and in scripts whose letters join.
func (c *cleaner) joins(r rune) bool {
	if c.last == zwj || c.last == zwnj {
		return false
	}
	if r == zwj && (pictographic(c.last) || c.last == 0xfe0f) {
		return true
	}
	return joiningScript(c.last)
}

func (c *cleaner) newline() {
	if c.mode != blockMode {
		if !c.gap {
			c.base(' ')
			c.gap = true
		}
		return
	}
	c.marks, c.last, c.gap, c.col = 0, 0, false, 0
	c.out = append(c.out, '\n')
	c.from = len(c.out)
}

func (c *cleaner) tab() {
	if c.mode != blockMode {
		c.newline()
		return
	}
	c.col += width(string(c.out[c.from:]))
	c.from = len(c.out)
	n := tabStop - c.col%tabStop
	if c.col >= tabLimit {
		n = 1
	}
	for ; n > 0; n-- {
		c.base(' ')
	}
}

// sequence returns the length of the complete control sequence or control
// string of ECMA-48 at the start of s, which begins with ESC, or 0. It only
// keeps litter off the screen: whatever it misses is still cleaned character
// by character. A sequence never spans a line end.
func sequence(s string) int {
	if len(s) > maxSequence {
		s = s[:maxSequence]
	}
	if len(s) < 2 {
		return 0
	}
	switch b := s[1]; {
	case b == '[':
		for i := 2; i < len(s); i++ {
			switch c := s[i]; {
			case c >= 0x40 && c <= 0x7e:
				return i + 1
			case c < 0x20 || c > 0x3f:
				return 0
			}
		}
	case b == ']' || b == 'P' || b == '_' || b == '^' || b == 'X':
		for i := 2; i < len(s); i++ {
			switch c := s[i]; {
			case c == 0x07 && b == ']':
				return i + 1
			case c == 0x1b && i+1 < len(s) && s[i+1] == '\\':
				return i + 2
			case c == '\n' || c == '\r':
				return 0
			}
		}
	case b >= 0x20 && b <= 0x2f:
		if len(s) > 2 && s[2] >= 0x30 && s[2] <= 0x7e {
			return 3
		}
	case b == '\\' || b == 'c' || b == '7' || b == '8' || b == '=' || b == '>':
		return 2
	}
	return 0
}
