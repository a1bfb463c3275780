package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail/view"
	"skrzynka/ui/kit"
)

// View implements tea.Model: header, page, footer, and dialogs over them.
func (a *App) View() tea.View {
	defer a.report()
	content, cursor := a.frame()
	if a.env.Theme.ASCII {
		content = asciiChrome.Replace(content)
	}
	v := tea.NewView(content)
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	v.WindowTitle = a.windowTitle()
	v.Cursor = cursor
	return v
}

// asciiChrome replaces the few marks of our own that are no glyphs.
var asciiChrome = strings.NewReplacer("…", "~", "·", "-", "↑", "^", "↓", "v", "←", "<", "→", ">")

// windowTitle has only our own words and numbers in it.
func (a *App) windowTitle() string {
	c := a.counts.Value
	switch {
	case c.Failed > 0:
		return fmt.Sprintf("Skrzynka: %d failed", c.Failed)
	case c.Uncertain > 0:
		return fmt.Sprintf("Skrzynka: %d uncertain", c.Uncertain)
	}
	return "Skrzynka"
}

func (a *App) frame() (string, *tea.Cursor) {
	w, h := a.w, a.h
	if w <= 0 || h <= 0 || len(a.stack) == 0 {
		return "", nil
	}
	header, footer := 1, 1
	if h < 4 {
		header, footer = 0, 0
	}
	a.area = rect{0, header, w, h - header - footer}
	parts := make([]string, 0, 3)
	body := a.top().View(a.area.w, a.area.h)
	if header > 0 {
		parts = append(parts, a.header(w))
	}
	parts = append(parts, body)
	cursor := a.pageCursor()
	if footer > 0 {
		line, at := a.footer(w)
		parts = append(parts, line)
		if at >= 0 {
			cursor = tea.NewCursor(at, h-1)
		}
	}
	frame := strings.Join(parts, "\n")
	if a.notice.on && a.prompt == nil && a.keys.Pending() == "" {
		frame = a.overlayNotice(frame, w, h)
	}
	for i := range a.dialogs {
		frame, cursor = a.overlayDialog(frame, i, w, h)
	}
	return frame, cursor
}

func (a *App) pageCursor() *tea.Cursor {
	p, ok := a.top().(kit.Pointer)
	if !ok {
		return nil
	}
	c := p.Cursor()
	if c == nil || c.X < 0 || c.Y < 0 || c.X >= a.area.w || c.Y >= a.area.h {
		return nil
	}
	moved := *c
	moved.Y += a.area.y
	return &moved
}

// overlayDialog lays a dialog into the middle, a little above it.
func (a *App) overlayDialog(frame string, i, w, h int) (string, *tea.Cursor) {
	room := rect{w: max(1, w-4), h: max(1, h-2)}
	if w < 40 || h < 12 {
		room = rect{w: w, h: h}
	}
	box := a.dialogs[i].dialog.View(room.w, room.h)
	bw, bh := 0, 0
	for _, l := range strings.Split(box, "\n") {
		bw, bh = max(bw, kit.Width(l)), bh+1
	}
	x, y := max(0, (w-bw)/2), max(0, (h-bh)/3)
	a.dialogs[i].area = rect{x, y, bw, bh}
	frame = kit.Overlay(frame, box, x, y)
	c := a.dialogs[i].dialog.Cursor()
	if c == nil {
		return frame, nil
	}
	moved := *c
	moved.X, moved.Y = min(moved.X+x, w-1), min(moved.Y+y, h-1)
	return frame, &moved
}

// header says where one is, on the left, and what needs a person, how far the
// list goes and how the sync stands, on the right.
func (a *App) header(w int) string {
	t := a.env.Theme
	top := a.top()
	var left []kit.Cell
	if note := a.deps.DemoNote; note != "" && w >= 40 {
		if len(note) > w/3 { // what comes after the comma can be read in a wider window
			note, _, _ = strings.Cut(note, ",")
		}
		left = append(left, kit.Cell{Text: " " + kit.Clean(note) + " ", Style: t.Warn.On(t.Select)})
	}
	left = append(left, kit.Cell{Text: " "}, kit.Cell{Text: kit.Clean(top.Title()), Style: t.Strong})
	used := 0
	for _, c := range left {
		used += c.Width()
	}
	room := w - min(used, max(w/3, 16)) - 1
	var right []kit.Cell
	width := 0
	add := func(c kit.Cell) bool {
		if n := c.Width(); n > 0 && width+n+2 <= room {
			right = append(right, kit.Cell{Text: "  "}, c)
			width += n + 2
			return true
		}
		return c.Text == ""
	}
	for _, c := range a.needs() {
		add(c)
	}
	if s, ok := top.(kit.Stater); ok && s.State() != "" {
		add(kit.Cell{Text: s.State(), Style: t.Dim})
	}
	if long, short := a.syncState(); !add(long) {
		add(short)
	}
	lw := max(0, w-width-1)
	line := kit.Row(t.Bar, lw, left...)
	if used > lw {
		line = kit.Row(t.Bar, lw, clipCells(left, lw)...)
	}
	return line + kit.Row(t.Bar, w-lw, right...)
}

// clipCells shortens the last cell so that all fit.
func clipCells(cells []kit.Cell, w int) []kit.Cell {
	out := slices.Clone(cells)
	for i := range out {
		out[i].Text = kit.Clip(out[i].Text, w)
		w -= out[i].Width()
	}
	return out
}

// needs are the counts that need a person, the most urgent first.
func (a *App) needs() []kit.Cell {
	t, c := a.env.Theme, a.counts.Value
	var out []kit.Cell
	add := func(n int, glyph, word string, style kit.Style) {
		if n > 0 {
			out = append(out, kit.Cell{Text: fmt.Sprintf("%s %s %s", glyph, kit.Number(n), word), Style: style})
		}
	}
	add(c.Failed, t.Glyph.Failed, "failed", t.Bad)
	add(c.Uncertain, t.Glyph.Uncertain, "uncertain", t.Warn)
	add(c.Review, t.Glyph.Review, "review", t.Info)
	return out
}

// syncState is the one account that has most to say, in a long and a short
// form: work first, then that there is no connection, else nothing.
func (a *App) syncState() (long, short kit.Cell) {
	t := a.env.Theme
	names := make([]string, 0, len(a.progress))
	for name := range a.progress {
		names = append(names, name)
	}
	slices.Sort(names)
	var offline, working *view.SyncProgress
	for _, name := range names {
		p := a.progress[name]
		switch p.Phase {
		case "offline":
			offline = cmp.Or(offline, &p)
		case "", "idle":
		default:
			working = cmp.Or(working, &p)
		}
	}
	dim := func(format string, args ...any) kit.Cell {
		return kit.Cell{Text: t.Glyph.Sync + " " + fmt.Sprintf(format, args...), Style: t.Dim}
	}
	switch {
	case working != nil && working.Total > 0:
		return dim("%s %s/%s", kit.Clip(working.Folder.String(), 16), kit.Number(working.Done), kit.Number(working.Total)),
			dim("%d%%", min(100, 100*working.Done/working.Total))
	case working != nil && working.Phase == "connecting":
		return dim("connecting"), dim("…")
	case working != nil:
		return dim("syncing"), dim("…")
	case offline != nil:
		word := t.Glyph.Offline + " offline"
		short = kit.Cell{Text: word, Style: t.Warn}
		if len(names) > 1 {
			return kit.Cell{Text: word + ": " + kit.Clip(kit.Clean(offline.Account), 12), Style: t.Warn}, short
		}
		return short, short
	}
	return kit.Cell{}, kit.Cell{}
}

// footer is the prompt, the rest of a key sequence, or the most useful keys.
func (a *App) footer(w int) (line string, cursor int) {
	t := a.env.Theme
	if a.prompt != nil {
		text, x := a.prompt.input.View(t, max(1, w-2))
		return kit.Fit(t.Accent.Paint("/")+text, w), min(x+1, w-1)
	}
	levels := a.levels()
	if p := a.keys.Pending(); p != "" {
		cells := []kit.Cell{{Text: " " + kit.KeyLabel(p) + " ", Style: t.Accent}}
		for _, act := range a.keys.Continuations(a.env.Keys, levels...) {
			for _, k := range a.env.Keys.Of(act) {
				if rest, ok := strings.CutPrefix(k, p+" "); ok {
					cells = append(cells, hint(t, rest, cmp.Or(act.Short, strings.ToLower(act.Title)), act)...)
				}
			}
		}
		return kit.Row(kit.Style{}, w, cells...), -1
	}
	return a.hints(levels, w), -1
}

func hint(t *kit.Theme, key, word string, act kit.Action) []kit.Cell {
	style := t.Dim
	if ok, _ := act.Can(); !ok {
		style = t.Faint
	}
	return []kit.Cell{{Text: " "}, {Text: key, Style: t.Key}, {Text: " " + word + " ", Style: style}}
}

// hints are whole or left out, and the way to all the others is always the
// last: help, or where "?" is a character to be written, the palette.
func (a *App) hints(levels [][]kit.Action, w int) string {
	t := a.env.Theme
	var ranked []kit.Action
	typing := a.typing()
	all := "app.help"
	if typing {
		all = "app.palette"
	}
	last := hint(t, "?", "help", kit.Action{})
	for _, level := range levels {
		for _, act := range level {
			switch label := a.label(act, typing); {
			case act.ID == all:
				last = hint(t, label, act.Short, act)
			case act.Rank > 0 && label != "":
				ranked = append(ranked, act)
			}
		}
	}
	slices.SortStableFunc(ranked, func(x, y kit.Action) int { return x.Rank - y.Rank })
	room := w - width(last)
	var cells []kit.Cell
	for _, act := range ranked {
		h := hint(t, a.label(act, typing), act.Short, act)
		if n := width(h); n <= room {
			cells, room = append(cells, h...), room-n
		}
	}
	return kit.Row(kit.Style{}, w, append(cells, last...)...)
}

// typing reports whether the page is taking text.
func (a *App) typing() bool {
	t, ok := a.top().(kit.Typist)
	return ok && t.Typing()
}

// label is the key an action can be run by now, "" when there is none.
func (a *App) label(act kit.Action, typing bool) string {
	for _, key := range a.env.Keys.Of(act) {
		if !typing || utf8.RuneCountInString(key) > 1 && !strings.Contains(key, " ") {
			return kit.KeyLabel(key)
		}
	}
	return ""
}

func width(cells []kit.Cell) int {
	n := 0
	for _, c := range cells {
		n += c.Width()
	}
	return n
}

// overlayNotice writes the notice over the footer, and over up to two lines
// above it when it is long; nothing moves for it.
func (a *App) overlayNotice(frame string, w, h int) string {
	t := a.env.Theme
	glyph, style := a.notice.cell(t)
	text := a.notice.text(a.env.Now())
	if a.notice.Hint != "" {
		text += "  " + kit.Clean(a.notice.Hint)
	}
	lines := kit.Wrap(text, max(4, w-4))
	most := min(3, h-1)
	if a.notice.Level != kit.Bad { // on a small screen the page matters more
		most = min(3, h/6)
	}
	if most = max(1, most); len(lines) > most {
		lines = lines[:most]
		lines[most-1] = kit.Clip(lines[most-1], max(1, w-6)) + "…"
	}
	for i, l := range lines {
		lead := "   "
		if i == 0 {
			lead = " " + glyph + " "
		}
		lines[i] = kit.Row(t.Bar, w, kit.Cell{Text: lead, Style: style}, kit.Cell{Text: l, Style: t.Text})
	}
	return kit.Overlay(frame, strings.Join(lines, "\n"), 0, h-len(lines))
}
