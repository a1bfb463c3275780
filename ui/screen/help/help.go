// Package help shows every key of the screen it was asked on.
package help

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"skrzynka/ui/kit"
)

// New makes the dialog for the levels of actions that are live, the most
// specific first.
func New(env *kit.Env, levels ...[]kit.Action) kit.Dialog {
	d := &dialog{env: env}
	taken := map[string]bool{}
	for _, level := range levels {
		for _, a := range level {
			d.add(a, taken)
		}
	}
	return d
}

type group struct {
	name    string
	entries []entry
}

type entry struct {
	keys, title string
	off         string
}

type dialog struct {
	env    *kit.Env
	groups []group
	scroll kit.Scroll
}

// add lists an action under its group, with the keys nothing above it took.
func (d *dialog) add(a kit.Action, taken map[string]bool) {
	label := ""
	for _, k := range d.env.Keys.Of(a) {
		if taken[k] {
			continue
		}
		taken[k] = true
		if label != "" {
			label += " "
		}
		label += kit.KeyLabel(k)
	}
	if label == "" {
		return
	}
	_, why := a.Can()
	i := slices.IndexFunc(d.groups, func(g group) bool { return g.name == a.Group })
	if i < 0 {
		d.groups = append(d.groups, group{name: a.Group})
		i = len(d.groups) - 1
	}
	d.groups[i].entries = append(d.groups[i].entries, entry{label, a.Title, why})
}

// Update implements kit.Dialog.
func (d *dialog) Update(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		d.scroll.Move(kit.WheelStep(msg))
	case tea.KeyPressMsg:
		switch msg.String() {
		case "j", "down":
			d.scroll.Move(1)
		case "k", "up":
			d.scroll.Move(-1)
		case "space", "pgdown", "ctrl+d":
			d.scroll.Page(2)
		case "b", "pgup", "ctrl+u":
			d.scroll.Page(-2)
		case "q", "?", "enter":
			return nil, true
		}
	}
	return nil, false
}

// column is the width of a column where there are two; a single one is as wide
// as its longest row needs.
const column = 44

// View implements kit.Dialog.
func (d *dialog) View(w, h int) string {
	n := 1
	if w-4 >= 2*column+2 {
		n = 2
	}
	need := n*column + 2*(n-1)
	if n == 1 {
		need = max(column, d.longest())
	}
	w = min(w, need+4)
	cols := d.columns(n, (w-4-2*(n-1))/n)
	rows := 0
	for _, c := range cols {
		rows = max(rows, len(c))
	}
	from, to := d.scroll.Window(rows, max(1, h-2))
	lines := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		line := ""
		for c, col := range cols {
			if c > 0 {
				line += "  "
			}
			if i < len(col) {
				line += kit.Fit(col[i], (w-4-2*(n-1))/n)
			} else {
				line += kit.Spaces((w - 4 - 2*(n-1)) / n)
			}
		}
		lines = append(lines, line)
	}
	foot := "esc close"
	if state := d.scroll.State(); state != "" {
		foot = "j k scroll  " + foot + "  " + state
	}
	return kit.Box(d.env.Theme, "Keys", foot, lines, w, h)
}

// label is the width of the keys' part of a column.
func label(w int) int {
	if w > column {
		return 14
	}
	return max(8, min(12, w/3))
}

func (e entry) text() string {
	if e.off != "" {
		return e.title + " (" + e.off + ")"
	}
	return e.title
}

// longest is the widest row, with the keys at their full width.
func (d *dialog) longest() int {
	n := 0
	for _, g := range d.groups {
		for _, e := range g.entries {
			n = max(n, label(100)+kit.Width(e.text()))
		}
	}
	return n
}

// columns spreads the groups over n columns of about the same length.
func (d *dialog) columns(n, w int) [][]string {
	t := d.env.Theme
	total := 0
	for _, g := range d.groups {
		total += len(g.entries) + 2
	}
	cols := make([][]string, n)
	at := 0
	for _, g := range d.groups {
		if at < n-1 && len(cols[at]) > 0 && len(cols[at])+len(g.entries)/2 > total/n {
			at++
		}
		if len(cols[at]) > 0 {
			cols[at] = append(cols[at], "")
		}
		cols[at] = append(cols[at], t.Strong.Paint(g.name))
		for _, e := range g.entries {
			style := kit.Style{}
			if e.off != "" {
				style = t.Faint
			}
			for i, line := range kit.Wrap(e.text(), max(1, w-label(w))) {
				keys := ""
				if i == 0 {
					keys = e.keys
				}
				cols[at] = append(cols[at], kit.Row(kit.Style{}, w, kit.Cell{Text: kit.Fit(keys, label(w)-1) + " ", Style: t.Key}, kit.Cell{Text: line, Style: style}))
			}
		}
	}
	return cols
}

// Cursor implements kit.Dialog.
func (d *dialog) Cursor() *tea.Cursor { return nil }
