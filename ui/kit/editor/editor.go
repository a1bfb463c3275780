// Package editor is a text of many lines being edited: whole characters as a
// person sees them, rows wrapped at the width of the pane without a line end of
// their own, undo. A key costs what it touches: a text of a hundred thousand
// lines is edited like one of ten.
package editor

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"skrzynka/ui/kit"
)

// Editor is the text and the cursor in it. Make one with New.
type Editor struct {
	buf  buffer
	cur  pos
	goal int // the column that moves up and down keep to, -1 for the cursor's
	hist history

	w, h   int
	top    pos // the first visible row begins here
	cx, cy int // where View put the cursor
	// Version counts changes of the text.
	Version uint64
}

// New returns an editor of a text with the cursor before its first letter.
func New(text string) *Editor {
	return &Editor{buf: newBuffer(Clean(text)), goal: -1, w: 72, h: 20}
}

// Value is the text, lines ended by LF.
func (e *Editor) Value() string { return e.buf.String() }

// Words and Chars count what is not quoted.
func (e *Editor) Words() int { return e.buf.words }

// Chars counts characters as a person sees them, line ends left out.
func (e *Editor) Chars() int { return e.buf.chars }

// AtTop reports whether the cursor is in the first row of the text.
func (e *Editor) AtTop() bool {
	return e.cur.line == 0 && e.rowOf(e.cur) == 0
}

// Position is the cursor's line, counted from one, and how many there are.
func (e *Editor) Position() (line, lines int) { return e.cur.line + 1, len(e.buf.lines) }

// Insert puts text, cleaned, at the cursor: one change for undo.
func (e *Editor) Insert(text string) bool {
	return e.change(e.cur, e.cur, Clean(text), false)
}

// Replace puts another text in place of the whole one, as one change that undo
// takes back.
func (e *Editor) Replace(text string) bool {
	text = Clean(text)
	if text == e.Value() {
		return false
	}
	e.change(pos{}, e.buf.last(), text, false)
	e.moved(pos{})
	return true
}

// change replaces what lies between two places and puts the cursor behind it.
func (e *Editor) change(from, to pos, text string, typed bool) bool {
	if from == to && text == "" {
		return false
	}
	c := edit{from: from, del: e.buf.between(from, to), ins: text, before: e.cur, typed: typed}
	c.after = e.buf.snap(e.buf.replace(from, to, text))
	e.hist.record(c)
	e.moved(c.after)
	return true
}

// moved puts the cursor somewhere after the text changed.
func (e *Editor) moved(p pos) {
	e.Version++
	e.cur, e.goal = p, -1
	e.fitTop()
}

func (e *Editor) fitTop() {
	e.top.line = min(e.top.line, len(e.buf.lines)-1)
	e.top = e.rowStart(pos{e.top.line, min(e.top.at, len(e.buf.lines[e.top.line].s))})
}

// Update takes a key or a paste. changed tells whether the text is another one
// now, used whether the message meant anything here.
func (e *Editor) Update(msg tea.Msg) (changed, used bool) {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		return e.Insert(msg.Content), true
	case tea.KeyPressMsg:
		return e.key(msg)
	}
	return false, false
}

func (e *Editor) key(msg tea.KeyPressMsg) (changed, used bool) {
	name := msg.String()
	if to, ok := e.motion(name); ok {
		if name != "up" && name != "down" && name != "pgup" && name != "pgdown" {
			e.goal = -1
		}
		e.cur = to
		return false, true
	}
	b := &e.buf
	switch name {
	case "enter", "ctrl+m", "shift+enter":
		return e.change(e.cur, e.cur, "\n", true), true
	case "tab":
		return e.change(e.cur, e.cur, "\t", true), true
	case "backspace", "ctrl+h", "shift+backspace":
		return e.change(b.prev(e.cur), e.cur, "", true), true
	case "delete", "ctrl+d":
		return e.change(e.cur, b.next(e.cur), "", true), true
	case "ctrl+w", "alt+backspace", "ctrl+backspace":
		return e.change(b.word(e.cur, false), e.cur, "", true), true
	case "alt+d", "ctrl+delete", "alt+delete":
		return e.change(e.cur, b.word(e.cur, true), "", true), true
	case "ctrl+u":
		return e.change(pos{e.cur.line, 0}, e.cur, "", true), true
	case "ctrl+k":
		end := pos{e.cur.line, len(b.lines[e.cur.line].s)}
		if end == e.cur {
			end = b.next(e.cur)
		}
		return e.change(e.cur, end, "", true), true
	case "ctrl+z":
		return e.Undo(), true
	case "ctrl+y", "ctrl+shift+z":
		return e.Redo(), true
	}
	if msg.Text == "" || msg.Mod&^tea.ModShift != 0 {
		return false, false
	}
	return e.change(e.cur, e.cur, Clean(msg.Text), true), true
}

// motion is where a key moves the cursor to.
func (e *Editor) motion(key string) (pos, bool) {
	b, cur := &e.buf, e.cur
	switch key {
	case "left", "ctrl+b":
		return b.prev(cur), true
	case "right", "ctrl+f":
		return b.next(cur), true
	case "up":
		return e.vertical(-1), true
	case "down":
		return e.vertical(1), true
	case "pgup":
		return e.vertical(-max(1, e.h-1)), true
	case "pgdown":
		return e.vertical(max(1, e.h-1)), true
	case "home":
		return e.rowStart(cur), true
	case "end":
		return e.rowEnd(cur), true
	case "ctrl+a":
		return pos{cur.line, 0}, true
	case "ctrl+home", "alt+<":
		return pos{}, true
	case "ctrl+end", "alt+>":
		return b.last(), true
	case "ctrl+left", "alt+left", "alt+b":
		return b.word(cur, false), true
	case "ctrl+right", "alt+right", "alt+f":
		return b.word(cur, true), true
	}
	return cur, false
}

// Click puts the cursor at a cell of the last View.
func (e *Editor) Click(x, y int) {
	e.goal = -1
	p, moved := e.down(e.top, max(0, y))
	if moved < y {
		e.cur = e.buf.last()
		return
	}
	e.cur = e.inRow(p, x)
}

// Scroll moves the text under the window and keeps the cursor visible.
func (e *Editor) Scroll(rows int) {
	if rows < 0 {
		e.top, _ = e.up(e.top, -rows)
		if bottom, n := e.down(e.top, e.h-1); n == e.h-1 && e.rowStart(bottom).before(e.rowStart(e.cur)) {
			e.cur = e.inRow(bottom, e.goal)
		}
		return
	}
	e.top, _ = e.down(e.top, rows)
	if e.cur.before(e.top) {
		e.cur = e.top
	}
}

// rows are the starts of a line's rows at the current width.
func (e *Editor) rows(i int) []int {
	l := &e.buf.lines[i]
	if w := max(1, e.w-1); l.w != w {
		l.rows, l.w = wrap(l.s, w), w
	}
	return l.rows
}

// rowOf is the index of the row a place is in.
func (e *Editor) rowOf(p pos) int {
	i, found := slices.BinarySearch(e.rows(p.line), p.at)
	if found {
		return i
	}
	return i - 1
}

func (e *Editor) rowStart(p pos) pos { return pos{p.line, e.rows(p.line)[e.rowOf(p)]} }

// rowEnd is the last place of a row that is shown in it.
func (e *Editor) rowEnd(p pos) pos {
	rows, i := e.rows(p.line), e.rowOf(p)
	if i+1 == len(rows) {
		return pos{p.line, len(e.buf.lines[p.line].s)}
	}
	return e.buf.prev(pos{p.line, rows[i+1]})
}

// inRow is the place at a column of the row that begins at p.
func (e *Editor) inRow(p pos, col int) pos {
	end := e.rowEnd(p)
	s := e.buf.lines[p.line].s
	return pos{p.line, min(end.at, p.at+offset(s[p.at:], max(0, col)))}
}

// down moves a row's start by up to n rows and says by how many it was.
func (e *Editor) down(p pos, n int) (pos, int) {
	i := e.rowOf(p)
	for k := 0; k < n; k++ {
		switch rows := e.rows(p.line); {
		case i+1 < len(rows):
			i++
		case p.line+1 < len(e.buf.lines):
			p.line, i = p.line+1, 0
		default:
			return pos{p.line, rows[i]}, k
		}
	}
	return pos{p.line, e.rows(p.line)[i]}, n
}

// up is down the other way.
func (e *Editor) up(p pos, n int) (pos, int) {
	i := e.rowOf(p)
	for k := 0; k < n; k++ {
		switch {
		case i > 0:
			i--
		case p.line > 0:
			p.line--
			i = len(e.rows(p.line)) - 1
		default:
			return pos{p.line, 0}, k
		}
	}
	return pos{p.line, e.rows(p.line)[i]}, n
}

// vertical moves by rows and keeps to the column the move began in.
func (e *Editor) vertical(n int) pos {
	start := e.rowStart(e.cur)
	if e.goal < 0 {
		e.goal = columns(e.buf.lines[e.cur.line].s[start.at:e.cur.at])
	}
	walk, edge := e.down, e.buf.last()
	if n < 0 {
		walk, edge, n = e.up, pos{}, -n
	}
	to, moved := walk(start, n)
	if moved == 0 {
		return edge
	}
	return e.inRow(to, e.goal)
}

// View draws h rows of w cells with the cursor among them.
func (e *Editor) View(t *kit.Theme, w, h int) []string {
	w, h = max(1, w), max(1, h)
	e.w, e.h = w, h
	e.fitTop()
	e.follow()
	out := make([]string, 0, h)
	p := e.top
	for i, row := p.line, e.rowOf(p); i < len(e.buf.lines) && len(out) < h; i, row = i+1, 0 {
		style := e.style(t, i)
		s, rows := e.buf.lines[i].s, e.rows(i)
		for ; row < len(rows) && len(out) < h; row++ {
			end := len(s)
			if row+1 < len(rows) {
				end = rows[row+1]
			}
			if i == e.cur.line && e.rowOf(e.cur) == row {
				e.cx, e.cy = min(columns(s[rows[row]:e.cur.at]), w-1), len(out)
			}
			out = append(out, style.Paint(show(s[rows[row]:end], w)))
		}
	}
	return out
}

// follow scrolls as little as brings the cursor into the window.
func (e *Editor) follow() {
	row := e.rowStart(e.cur)
	if row.before(e.top) {
		e.top = row
		return
	}
	if highest, _ := e.up(row, e.h-1); e.top.before(highest) {
		e.top = highest
	}
}

// Cursor is the cell of the cursor in the last View.
func (e *Editor) Cursor() (x, y int) { return e.cx, e.cy }

// style dims what was quoted, and the line that says who wrote it.
func (e *Editor) style(t *kit.Theme, i int) kit.Style {
	if d := depth(e.buf.lines[i].s); d > 0 {
		return t.Quote(d)
	}
	s := e.buf.lines[i].s
	if len(s) > 1 && s[len(s)-1] == ':' && i+1 < len(e.buf.lines) && depth(e.buf.lines[i+1].s) > 0 {
		return t.Dim
	}
	return kit.Style{}
}

// depth is how often a line is quoted.
func depth(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '>':
			n++
		case s[i] != ' ' || n == 0:
			return n
		}
	}
	return n
}
