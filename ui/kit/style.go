package kit

import (
	"fmt"
	"strconv"
	"strings"
)

// Style is a set of SGR attributes. The zero Style paints text as it is. Styles
// are joined with [Style.On]; they are never nested, since a reset ends all.
type Style struct{ sgr string }

// Paint writes text, which holds no escape sequences, in the style.
func (s Style) Paint(text string) string {
	if s.sgr == "" || text == "" {
		return text
	}
	return "\x1b[" + s.sgr + "m" + text + "\x1b[m"
}

// On returns s painted over base: the attributes of both, s's colour winning.
func (s Style) On(base Style) Style {
	switch {
	case base.sgr == "":
		return s
	case s.sgr == "":
		return base
	case base.sgr == reverse && strings.Contains(s.sgr, "3"):
		return base // a reversed row shows a text colour as a block behind the text
	}
	return Style{base.sgr + ";" + s.sgr}
}

const reverse = "7"

// Plain reports whether the style changes nothing.
func (s Style) Plain() bool { return s.sgr == "" }

func attr(codes ...string) Style { return Style{strings.Join(codes, ";")} }

// colour turns "#rrggbb" into the SGR parameters of a 24-bit colour; the
// program lowers it to what the terminal can show. layer is 38 (text) or 48.
func colour(layer int, hex string) string {
	r, g, b, err := parseHex(hex)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d;2;%d;%d;%d", layer, r, g, b)
}

func parseHex(hex string) (r, g, b uint8, err error) {
	if len(hex) == 7 && hex[0] == '#' {
		if v, perr := strconv.ParseUint(hex[1:], 16, 32); perr == nil {
			return uint8(v >> 16), uint8(v >> 8), uint8(v), nil
		}
	}
	return 0, 0, 0, fmt.Errorf("%q is not a colour: write it as \"#rrggbb\"", hex)
}
