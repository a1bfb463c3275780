package kit

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Dialog is a box over the page; while it is shown it gets all keys. Update
// returns done to close it, in the same step, so that no second key press can
// reach a dialog that was answered. esc closes it before Update is asked.
type Dialog interface {
	Update(msg tea.Msg) (cmd tea.Cmd, done bool)
	// View draws the box, at most w by h cells; see [Box].
	View(w, h int) string
	// Cursor is the terminal's cursor in the box's coordinates, or nil.
	Cursor() *tea.Cursor
}

// ShowDialog asks the app to show a dialog.
type ShowDialog struct{ Dialog Dialog }

// Show puts a dialog over the page.
func Show(d Dialog) tea.Cmd { return Send(ShowDialog{d}) }

// Box draws a frame with a title around lines. The content is w-4 cells wide;
// foot, if given, is set into the lower edge.
func Box(t *Theme, title, foot string, lines []string, w, h int) string {
	if w < 6 || h < 3 {
		return Frame(lines, max(w, 0), max(h, 0))
	}
	g := t.Glyph
	edge := func(left, right, text string, style Style) string {
		text = Clip(text, w-6)
		fill := w - 3 - Width(text)
		if text != "" {
			text = " " + text + " "
			fill -= 2
		}
		return t.Faint.Paint(left+g.Horizontal) + style.Paint(text) + t.Faint.Paint(strings.Repeat(g.Horizontal, max(0, fill))+right)
	}
	lines = lines[:min(len(lines), h-2)]
	out := make([]string, 0, len(lines)+2)
	out = append(out, edge(g.TopLeft, g.TopRight, title, t.Strong))
	side := t.Faint.Paint(g.Vertical)
	for _, l := range lines {
		out = append(out, side+" "+Fit(l, w-4)+" "+side)
	}
	out = append(out, edge(g.BottomLeft, g.BottomRight, foot, t.Faint))
	return strings.Join(out, "\n")
}

// Choice is one answer of a Confirm. A dangerous one is marked and should not
// come first.
type Choice struct {
	Key    string // one character
	Label  string
	Detail string // what follows from it
	Danger bool
	Run    func() tea.Cmd
}

// Confirm asks one question. The first choice is the one enter takes, esc takes
// none.
type Confirm struct {
	Env     *Env
	Title   string
	Text    []string // paragraphs; cleaned when drawn
	Choices []Choice
	at      int
}

// Update implements Dialog.
func (c *Confirm) Update(msg tea.Msg) (tea.Cmd, bool) {
	key, ok := msg.(tea.KeyPressMsg)
	if !ok || len(c.Choices) == 0 {
		return nil, ok && len(c.Choices) == 0
	}
	for _, ch := range c.Choices {
		if key.String() == ch.Key {
			return run(ch.Run), true
		}
	}
	switch key.String() {
	case "up", "left", "k", "shift+tab":
		c.at = (c.at + len(c.Choices) - 1) % len(c.Choices)
	case "down", "right", "j", "tab":
		c.at = (c.at + 1) % len(c.Choices)
	case "enter":
		return run(c.Choices[c.at].Run), true
	}
	return nil, false
}

func run(f func() tea.Cmd) tea.Cmd {
	if f == nil {
		return nil
	}
	return f()
}

// View implements Dialog.
func (c *Confirm) View(w, h int) string {
	t := c.Env.Theme
	w = min(w, 72)
	in := max(1, w-4)
	var lines []string
	for i, p := range c.Text {
		if i > 0 {
			lines = append(lines, "")
		}
		for _, l := range CleanBlock(p) {
			lines = append(lines, Wrap(l, in)...)
		}
	}
	if len(lines) > 0 {
		lines = append(lines, "")
	}
	var answers []string
	for i, ch := range c.Choices {
		label := t.Text
		if ch.Danger {
			label = t.Bad
		}
		base, mark := Style{}, "  "
		if i == c.at {
			base, mark = t.Select, t.Glyph.Pointer+" "
		}
		answers = append(answers, Row(base, in, Cell{mark, t.Accent}, Cell{Fit(ch.Key, 3), t.Key}, Cell{ch.Label, label}))
		for _, l := range Wrap(Clean(ch.Detail), max(1, in-5)) {
			if ch.Detail != "" {
				answers = append(answers, "     "+t.Dim.Paint(l))
			}
		}
	}
	// On a small screen the answers stay visible and the text is cut.
	if room := max(0, h-2-len(answers)); len(lines) > room {
		lines = lines[:room]
	}
	return Box(t, c.Title, "esc cancel", append(lines, answers...), w, h)
}

// Cursor implements Dialog.
func (c *Confirm) Cursor() *tea.Cursor { return nil }

// Ask is a dialog with one line of text; enter hands it to Run.
type Ask struct {
	Env   *Env
	Title string
	Text  string
	Foot  string
	Input Input
	Run   func(value string) tea.Cmd
	x, y  int
}

// Update implements Dialog.
func (a *Ask) Update(msg tea.Msg) (tea.Cmd, bool) {
	if key, ok := msg.(tea.KeyPressMsg); ok && key.String() == "enter" {
		return a.Run(a.Input.Value()), true
	}
	a.Input.Update(msg)
	return nil, false
}

// View implements Dialog.
func (a *Ask) View(w, h int) string {
	w = min(w, 72)
	var lines []string
	if a.Text != "" {
		lines = Wrap(Clean(a.Text), max(1, w-4))
	}
	line, x := a.Input.View(a.Env.Theme, max(1, w-4))
	a.x, a.y = x+2, len(lines)+1
	foot := a.Foot
	if foot == "" {
		foot = "enter ok  esc cancel"
	}
	return Box(a.Env.Theme, a.Title, foot, append(lines, line), w, h)
}

// Cursor implements Dialog.
func (a *Ask) Cursor() *tea.Cursor { return tea.NewCursor(a.x, a.y) }
