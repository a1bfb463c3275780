package safe

import "testing"

func TestLineQuick(t *testing.T) {
	for in, want := range map[string]string{"a\tb\r\nc": "a b c", "x\x1b[31my": "xy", "ą": "ą"} {
		if got := Line(in).String(); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
}
