package engine

import (
	"strings"
	"testing"
)

// Every line that is shown is one line, whatever kind of line end a sender used.
func TestShownLinesAreSingle(t *testing.T) {
	lines := presentLines("one\n\nNEL\u0085LS\u2028PS\u2029CR\rend\n> quoted\u0085on\n")
	var got []string
	for _, l := range lines {
		got = append(got, strings.Repeat(">", l.Depth)+l.Text.String())
	}
	if want := "one||NEL|LS|PS|CR|end|>quoted|>on"; strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", got, want)
	}
}
