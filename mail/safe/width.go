package safe

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Width returns how many cells t takes; of a block, its widest line.
func (t Text) Width() int {
	w := 0
	for line := range strings.SplitSeq(t.s, "\n") {
		w = max(w, width(line))
	}
	return w
}

func width(s string) int {
	if plain(s, false) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// Clip shortens one line to at most n cells; what was cut off is shown as "…".
func (t Text) Clip(n int) Text {
	if n <= 0 {
		return Text{}
	}
	if len(t.s) <= n && plain(t.s, false) || width(t.s) <= n {
		return t
	}
	return Text{ansi.Truncate(t.s, n, "…")}
}

// Fit makes one line exactly n cells wide: clipped, or filled with spaces.
func (t Text) Fit(n int) Text {
	c := t.Clip(n)
	if w := width(c.s); w < n {
		return Text{c.s + strings.Repeat(" ", n-w)}
	}
	return c
}

// Lines splits a block at its line ends; a final line end adds no empty line.
func (t Text) Lines() []Text {
	if t.s == "" {
		return nil
	}
	parts := strings.Split(strings.TrimSuffix(t.s, "\n"), "\n")
	lines := make([]Text, len(parts))
	for i, p := range parts {
		lines[i] = Text{p}
	}
	return lines
}

// Join puts texts together with a separator, which is cleaned as [Block] does.
func Join(texts []Text, sep string) Text {
	parts := make([]string, len(texts))
	for i, t := range texts {
		parts[i] = t.s
	}
	// Parts are clean, but a joiner at an end could meet the next part's start.
	return Block(strings.Join(parts, sep))
}
