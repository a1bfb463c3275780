package kit

import (
	"fmt"
	"slices"
	"strings"
)

// ThemeOptions is what a theme is made from. Palette replaces single colours
// by role (see [Roles]); unknown roles are refused by [CheckPalette].
type ThemeOptions struct {
	Dark    bool
	NoColor bool
	Basic   bool // sixteen colours, whose shades nobody knows: the cursor's row is reversed
	ASCII   bool
	Palette map[string]string
}

// Theme holds every style and glyph a screen may use. Nothing is told by
// colour alone: each coloured thing also has a word, a glyph or a position.
type Theme struct {
	ThemeOptions

	Text   Style // the terminal's own foreground
	Strong Style // headings, unread
	Dim    Style // secondary text
	Faint  Style // rules, hints, placeholders
	Accent Style // the focused thing
	Key    Style // a key in footer, help and palette
	Good   Style
	Warn   Style
	Bad    Style
	Info   Style
	Link   Style
	Match  Style

	Bar    Style // header and footer background
	Select Style // the cursor's row in the focused pane
	Rest   Style // the cursor's row in a pane without focus
	Quotes [3]Style

	Glyph Glyphs
}

// Glyphs are the single-cell marks and lines of the interface.
type Glyphs struct {
	Pending, Sending, Sent, Failed, Uncertain  string
	Unread, Flag, Attach, Answered, Mark       string
	Review, Waiting, Sync, Offline             string
	Horizontal, Vertical                       string
	TopLeft, TopRight, BottomLeft, BottomRight string
	Gutter, Full, Empty                        string
	Pointer, Dot, Fold                         string
}

var unicodeGlyphs = Glyphs{
	Pending: "○", Sending: "◐", Sent: "✓", Failed: "✗", Uncertain: "?",
	Unread: "●", Flag: "★", Attach: "▤", Answered: "←", Mark: "◆",
	Review: "●", Waiting: "○", Sync: "↻", Offline: "⊘",
	Horizontal: "─", Vertical: "│",
	TopLeft: "╭", TopRight: "╮", BottomLeft: "╰", BottomRight: "╯",
	Gutter: "│", Full: "━", Empty: "─",
	Pointer: "›", Dot: "·", Fold: "▸",
}

var asciiGlyphs = Glyphs{
	Pending: "o", Sending: ">", Sent: "v", Failed: "x", Uncertain: "?",
	Unread: "N", Flag: "*", Attach: "@", Answered: "<", Mark: "+",
	Review: "!", Waiting: "o", Sync: "~", Offline: "-",
	Horizontal: "-", Vertical: "|",
	TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+",
	Gutter: "|", Full: "=", Empty: "-",
	Pointer: ">", Dot: "-", Fold: "+",
}

type palette map[string]string

var darkPalette = palette{
	"dim": "#a0a8b7", "faint": "#6f7787", "accent": "#82aaff", "good": "#8fd18b", "warn": "#e6b35a",
	"bad": "#ff8088", "info": "#7fd1d6", "link": "#7cb7ff", "key": "#c9b1ff",
	"bar": "#26292f", "select": "#3a4150", "rest": "#32363e",
	"quote1": "#85b8d6", "quote2": "#b8a5dd", "quote3": "#93bf9f",
}

var lightPalette = palette{
	"dim": "#565f6d", "faint": "#7d8593", "accent": "#1f5fbf", "good": "#1e7b34", "warn": "#855600",
	"bad": "#b3202c", "info": "#0b6a71", "link": "#1a5fb4", "key": "#6b3fa0",
	"bar": "#e4e4e4", "select": "#cbdefb", "rest": "#e4e4e4",
	"quote1": "#2b6a8f", "quote2": "#6a4fa3", "quote3": "#3f7050",
}

// Roles lists the names a palette may give a colour to.
func Roles() []string {
	names := make([]string, 0, len(darkPalette))
	for name := range darkPalette {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// CheckPalette refuses an unknown role or a colour that is not "#rrggbb".
func CheckPalette(p map[string]string) error {
	for name, hex := range p {
		if _, ok := darkPalette[name]; !ok {
			return fmt.Errorf("the theme has no colour %q: use one of %s", name, strings.Join(Roles(), ", "))
		}
		if _, _, _, err := parseHex(hex); err != nil {
			return fmt.Errorf("the theme's colour %q: %w", name, err)
		}
	}
	return nil
}

// NewTheme makes a theme. With NoColor it uses bold, faint, underline and
// reverse only, and reads the same.
func NewTheme(o ThemeOptions) *Theme {
	t := &Theme{ThemeOptions: o, Glyph: unicodeGlyphs, Strong: attr("1")}
	if o.ASCII {
		t.Glyph = asciiGlyphs
	}
	if o.NoColor || o.Basic {
		t.Faint, t.Dim = attr("2"), Style{}
		t.Accent, t.Key, t.Match = attr("1"), attr("1"), attr("4")
		t.Bad, t.Warn = attr("1"), attr("1")
		t.Link = attr("4")
		t.Select, t.Rest, t.Bar = attr(reverse), attr("4"), attr(reverse)
		t.Quotes = [3]Style{attr("2"), attr("2"), attr("2")}
		if !o.NoColor {
			t.Good, t.Warn, t.Bad, t.Info = attr("32"), attr("33"), attr("1", "31"), attr("36")
			t.Key, t.Accent, t.Link = attr("35"), attr("1", "34"), attr("4", "34")
			t.Quotes = [3]Style{attr("36"), attr("35"), attr("32")}
		}
		return t
	}
	colours := darkPalette
	if !o.Dark {
		colours = lightPalette
	}
	pick := func(layer int, role string) string {
		if hex, ok := o.Palette[role]; ok {
			if c := colour(layer, hex); c != "" {
				return c
			}
		}
		return colour(layer, colours[role])
	}
	fg := func(role string, more ...string) Style { return attr(append(more, pick(38, role))...) }
	t.Dim, t.Faint = fg("dim"), fg("faint")
	t.Accent, t.Key = fg("accent", "1"), fg("key")
	t.Good, t.Warn, t.Bad, t.Info = fg("good"), fg("warn"), fg("bad", "1"), fg("info")
	t.Link, t.Match = fg("link", "4"), fg("accent", "1", "4")
	t.Bar, t.Select, t.Rest = attr(pick(48, "bar")), attr(pick(48, "select")), attr(pick(48, "rest"))
	t.Quotes = [3]Style{fg("quote1"), fg("quote2"), fg("quote3")}
	return t
}

// Quote returns the style of a line at a quote depth of one or more.
func (t *Theme) Quote(depth int) Style {
	if depth < 1 {
		return t.Text
	}
	return t.Quotes[(depth-1)%len(t.Quotes)]
}
