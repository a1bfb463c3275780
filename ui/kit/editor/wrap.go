package editor

import (
	"strings"
	"unicode/utf8"

	"skrzynka/mail/safe"
	"skrzynka/ui/kit"
)

const tabStop = 8

// cell is how a character is shown at a column: what is written, and how many
// cells that takes. What a terminal must not be given is shown as a mark, so
// that whoever writes sees that it is there.
func cell(c string, col int) (string, int) {
	if len(c) == 1 && c[0] < utf8.RuneSelf {
		switch {
		case c[0] == '\t':
			n := tabStop - col%tabStop
			return kit.Spaces(n), n
		case c[0] >= 0x20 && c[0] < 0x7f:
			return c, 1
		}
		return "\ufffd", 1
	}
	shown := safe.Line(c).String()
	if shown == "" {
		return "\ufffd", 1
	}
	n := kit.Width(shown)
	if n == 0 {
		return "\ufffd", 1
	}
	return shown, n
}

// simple reports whether every byte of s is one visible cell.
func simple(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// wrap returns where the rows of at most w cells begin. Rows break after
// spaces, beside wide characters, and where they must. Spaces at a break hang
// over the edge and take no room.
func wrap(s string, w int) []int {
	rows := []int{0}
	if len(s) <= w && simple(s) {
		return rows
	}
	if simple(s) {
		return wrapSimple(s, w)
	}
	start, col, brk := 0, 0, 0 // brk: the newest place in this row where it may end
	for i := 0; i < len(s); {
		c := first(s[i:])
		_, n := cell(c, col)
		if n > 1 && c != "\t" && i > start {
			brk = i
		}
		for c != " " && col+n > w && i > start {
			if brk <= start {
				brk = i
			}
			rows = append(rows, brk)
			start = brk
			col = columns(s[start:i])
			_, n = cell(c, col)
		}
		col += n
		i += len(c)
		if c == " " || c == "\t" || n > 1 {
			brk = i
		}
	}
	return rows
}

// wrapSimple is wrap for text of which every byte is one cell.
func wrapSimple(s string, w int) []int {
	rows := []int{0}
	for start := 0; len(s)-start > w; {
		at := start + w
		if i := strings.LastIndexByte(s[start:at+1], ' '); i >= 0 {
			at = start + i + 1
			for at < len(s) && s[at] == ' ' {
				at++
			}
		}
		if at >= len(s) {
			break
		}
		rows = append(rows, at)
		start = at
	}
	return rows
}

// columns is how many cells s takes from the start of a row.
func columns(s string) int {
	if simple(s) {
		return len(s)
	}
	col := 0
	for s != "" {
		c := first(s)
		_, n := cell(c, col)
		col += n
		s = s[len(c):]
	}
	return col
}

// show is s as it is written into at most w cells from the start of a row.
func show(s string, w int) string {
	if simple(s) {
		return s[:min(len(s), w)]
	}
	var b strings.Builder
	for col := 0; s != ""; {
		c := first(s)
		text, n := cell(c, col)
		if col += n; col > w {
			break
		}
		b.WriteString(text)
		s = s[len(c):]
	}
	return b.String()
}

// offset is the place in s that lies nearest to a column, and not after it.
func offset(s string, col int) int {
	if simple(s) {
		return min(len(s), max(0, col))
	}
	at, x := 0, 0
	for at < len(s) {
		c := first(s[at:])
		_, n := cell(c, x)
		if x+n > col {
			break
		}
		x += n
		at += len(c)
	}
	return at
}
