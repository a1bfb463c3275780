package kit

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"skrzynka/mail/safe"
)

// Clean makes our own text (a draft, an error, a body that was sent) ready for
// one row: what a person pasted may hold anything.
func Clean(s string) string { return safe.Line(s).String() }

// CleanBlock is Clean for text of several lines.
func CleanBlock(s string) []string {
	var out []string
	for _, line := range safe.Block(s).Lines() {
		out = append(out, line.String())
	}
	return out
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// Width is how many cells one line takes; escape sequences take none.
func Width(s string) int {
	if ascii(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// Clip shortens one line to at most w cells and marks a cut with "…".
func Clip(s string, w int) string {
	c, _ := clip(s, w)
	return c
}

// cellBytes is more than any cell of cleaned text holds. A line longer than its
// room in cells times this is cut before it is measured: a subject of a mebibyte
// costs no more than a short one.
const cellBytes = 64

// clip is Clip with the width of what it returns.
func clip(s string, w int) (string, int) {
	if w <= 0 {
		return "", 0
	}
	if limit := (w + 1) * cellBytes; len(s) > limit && strings.IndexByte(s[:limit], 0x1b) < 0 {
		for !utf8.RuneStart(s[limit]) {
			limit--
		}
		s = s[:limit]
	}
	n := Width(s)
	if n <= w {
		return s, n
	}
	s = ansi.Truncate(s, w, "…")
	return s, Width(s)
}

// Fit makes one line exactly w cells: clipped, or filled with spaces.
func Fit(s string, w int) string {
	c, n := clip(s, w)
	return c + Spaces(w-n)
}

// FitRight is Fit with the text at the right edge.
func FitRight(s string, w int) string {
	c, n := clip(s, w)
	return Spaces(w-n) + c
}

const blank = "                                                                                                                                "

// Spaces returns n spaces.
func Spaces(n int) string {
	switch {
	case n <= 0:
		return ""
	case n <= len(blank):
		return blank[:n]
	}
	return strings.Repeat(" ", n)
}

// Spread puts left and right at the ends of one line of w cells. Where both do
// not fit, the left one is clipped, then the right one.
func Spread(left, right string, w int) string {
	if right == "" {
		return Fit(left, w)
	}
	right = Clip(right, w)
	rw := Width(right)
	if room := w - rw - 1; room > 0 {
		return Fit(left, room) + " " + right
	}
	return FitRight(right, w)
}

// Wrap breaks one line of plain text at spaces into lines of at most w cells; a
// word longer than that is broken where it must be. It returns at least one line.
func Wrap(s string, w int) []string {
	if w < 1 {
		w = 1
	}
	if Width(s) <= w && strings.IndexByte(s, '\n') < 0 {
		return []string{s}
	}
	return strings.Split(ansi.Wrap(s, w, ""), "\n")
}

// Frame makes exactly h lines of exactly w cells: longer lines are cut, short
// ones filled, missing ones added. Every View passes through it.
func Frame(lines []string, w, h int) string {
	if w <= 0 || h <= 0 {
		return ""
	}
	var b strings.Builder
	b.Grow(h * (w + 16))
	for i := range h {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i < len(lines) {
			// A line end inside would push the footer off the screen.
			line, _, _ := strings.Cut(lines[i], "\n")
			b.WriteString(Fit(line, w))
		} else {
			b.WriteString(Spaces(w))
		}
	}
	return b.String()
}

// Columns sets blocks of the same height side by side, with sep between them on
// every line. Blocks come from [Frame], so that every line is full.
func Columns(sep string, blocks ...string) string {
	if len(blocks) == 1 {
		return blocks[0]
	}
	split := make([][]string, len(blocks))
	rows := 0
	for i, block := range blocks {
		split[i] = strings.Split(block, "\n")
		rows = max(rows, len(split[i]))
	}
	var b strings.Builder
	for row := range rows {
		if row > 0 {
			b.WriteByte('\n')
		}
		for i := range split {
			if i > 0 {
				b.WriteString(sep)
			}
			if row < len(split[i]) {
				b.WriteString(split[i][row])
			}
		}
	}
	return b.String()
}

// Overlay lays box over base with its top left corner at (x, y). Both may be
// styled; base keeps its size.
func Overlay(base, box string, x, y int) string {
	lines := strings.Split(base, "\n")
	for i, over := range strings.Split(box, "\n") {
		row := y + i
		if row < 0 || row >= len(lines) {
			continue
		}
		w := Width(lines[row])
		over = Clip(over, w-x)
		ow := Width(over)
		left := ansi.Truncate(lines[row], x, "")
		left += "\x1b[m" + Spaces(x-Width(left))
		right := ""
		if x+ow < w {
			room := w - x - ow
			right = ansi.TruncateLeft(lines[row], x+ow, "")
			if Width(right) > room { // the cut went through a wide character
				right = ansi.TruncateLeft(lines[row], x+ow+1, "")
			}
			right = Spaces(room-Width(right)) + right
		}
		lines[row] = left + over + "\x1b[m" + right
	}
	return strings.Join(lines, "\n")
}
