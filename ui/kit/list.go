package kit

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/mail/view"
)

// List shows rows of any number while holding only those around the cursor. It
// reads windows through Fetch, keeps the cursor on the same row when rows come
// and go, and holds marks. A short list gives its rows with SetRows instead.
//
// Key and Paint are required; Fetch and At go together.
type List[R any, K comparable] struct {
	// Key is a row's identity: selection and marks follow it.
	Key func(R) K
	// At is a row's position in the order of the list, newest first.
	At func(R) view.Cursor
	// Fetch reads a window; see [view.ListQuery] for from, back and limit.
	Fetch func(ctx context.Context, from view.Cursor, back bool, limit int) (rows []R, total int, err error)
	// Paint draws a row as Height lines of exactly w cells.
	Paint func(r R, s RowState, w int) []string
	// Height is the number of lines a row takes; 0 is 1.
	Height int

	rows      []R
	cur, top  int
	base      int // rows before rows[0], as far as known
	total     int // -1 when unknown
	newestEnd bool
	oldestEnd bool
	visible   int // rows of the last View
	owed      int // moves beyond what is held

	load    Load[window[R]]
	loading loadKind
	again   bool // something changed while a window was being read
	err     *mail.Error
	loaded  bool

	marks map[K]bool
	gone  map[K]goneState
}

// RowState is how a row is drawn.
type RowState struct {
	Selected bool // the cursor is on it
	Focused  bool // and the list has the focus
	Marked   bool
}

// Base is the style that lies under the whole row.
func (s RowState) Base(t *Theme) Style {
	switch {
	case s.Selected && s.Focused:
		return t.Select
	case s.Selected:
		return t.Rest
	}
	return Style{}
}

// Rows returns what is held, for a test or a lookup. It must not be changed.
func (l *List[R, K]) Rows() []R { return l.rows }

// Len is how many rows are held.
func (l *List[R, K]) Len() int { return len(l.rows) }

// Total is how many rows the list has, -1 when unknown.
func (l *List[R, K]) Total() int { return l.total }

// Position is the cursor's place counted from one, 0 in an empty list.
func (l *List[R, K]) Position() int {
	if len(l.rows) == 0 {
		return 0
	}
	return l.base + l.cur + 1
}

// Loaded reports whether rows were read at least once.
func (l *List[R, K]) Loaded() bool { return l.loaded }

// Err is why the newest read failed, nil when it did not.
func (l *List[R, K]) Err() *mail.Error { return l.err }

// Current is the row under the cursor.
func (l *List[R, K]) Current() (row R, ok bool) {
	if l.cur < len(l.rows) {
		return l.rows[l.cur], true
	}
	return row, false
}

// Next is the row delta rows from the cursor, if it is held.
func (l *List[R, K]) Next(delta int) (row R, ok bool) {
	if i := l.cur + delta; i >= 0 && i < len(l.rows) {
		return l.rows[i], true
	}
	return row, false
}

// Select puts the cursor on a row that is held.
func (l *List[R, K]) Select(key K) bool {
	for i, r := range l.rows {
		if l.Key(r) == key {
			l.cur = i
			l.settle()
			return true
		}
	}
	return false
}

// SetRows gives all rows of a short list. The cursor stays on its row, or on
// the one that took its place.
func (l *List[R, K]) SetRows(rows []R) {
	l.merge(rows, true, true)
	l.base, l.total, l.loaded, l.err = 0, len(l.rows), true, nil
}

// Marked lists the marked rows' keys, whether they are held or not.
func (l *List[R, K]) Marked() []K {
	keys := make([]K, 0, len(l.marks))
	for k := range l.marks {
		keys = append(keys, k)
	}
	return keys
}

// Targets lists what an action is about: the marked rows, else the current one.
func (l *List[R, K]) Targets() []K {
	if len(l.marks) > 0 {
		return l.Marked()
	}
	if r, ok := l.Current(); ok {
		return []K{l.Key(r)}
	}
	return nil
}

// ToggleMark marks or unmarks the current row and moves on.
func (l *List[R, K]) ToggleMark() tea.Cmd {
	r, ok := l.Current()
	if !ok {
		return nil
	}
	if l.marks == nil {
		l.marks = map[K]bool{}
	}
	if k := l.Key(r); l.marks[k] {
		delete(l.marks, k)
	} else {
		l.marks[k] = true
	}
	return l.Move(1)
}

// ClearMarks unmarks everything and reports whether anything was marked.
func (l *List[R, K]) ClearMarks() bool {
	had := len(l.marks) > 0
	l.marks = nil
	return had
}

// Change edits held rows in place, for a flag that is shown before the engine
// has answered. The next read shows what is stored.
func (l *List[R, K]) Change(keys []K, edit func(*R)) {
	want := map[K]bool{}
	for _, k := range keys {
		want[k] = true
	}
	for i := range l.rows {
		if want[l.Key(l.rows[i])] {
			edit(&l.rows[i])
		}
	}
}

// Move moves the cursor by delta rows; beyond what is held it goes on as soon as
// the rows are there.
func (l *List[R, K]) Move(delta int) tea.Cmd {
	if len(l.rows) == 0 {
		return nil
	}
	l.owed = 0
	to := l.cur + delta
	switch {
	case to >= len(l.rows):
		if !l.oldestEnd {
			l.owed = to - len(l.rows) + 1
		}
		to = len(l.rows) - 1
	case to < 0:
		if !l.newestEnd {
			l.owed = to
		}
		to = 0
	}
	l.cur = to
	l.settle()
	return l.prefetch()
}

// Page moves by a number of half screens.
func (l *List[R, K]) Page(halves int) tea.Cmd {
	return l.Move(halves * max(1, l.visible/2))
}

// Scroll moves the window by delta rows and takes the cursor along only when it
// would leave the screen.
func (l *List[R, K]) Scroll(delta int) tea.Cmd {
	if len(l.rows) == 0 {
		return nil
	}
	l.top = clamp(l.top+delta, 0, max(0, len(l.rows)-l.visible))
	m := l.margin()
	lo, hi := l.top, l.top+max(1, l.visible)-1
	if l.top > 0 {
		lo += m
	}
	if hi < len(l.rows)-1 {
		hi -= m
	}
	l.cur = clamp(clamp(l.cur, lo, max(lo, hi)), 0, len(l.rows)-1)
	return l.prefetch()
}

// Click puts the cursor on the row at line y of the view. again is true when it
// was there already.
func (l *List[R, K]) Click(y int) (hit, again bool, cmd tea.Cmd) {
	i := l.top + y/l.height()
	if y < 0 || i >= len(l.rows) || i >= l.top+l.visible {
		return false, false, nil
	}
	again = i == l.cur
	l.cur = i
	return true, again, l.prefetch()
}

// Lines draws the rows that fit into h lines.
func (l *List[R, K]) Lines(w, h int, focused bool) []string {
	if visible := h / l.height(); visible != l.visible {
		l.visible = visible
		l.settle()
	}
	lines := make([]string, 0, h)
	for i := l.top; i < len(l.rows) && i < l.top+l.visible; i++ {
		r := l.rows[i]
		s := RowState{Selected: i == l.cur, Focused: focused, Marked: len(l.marks) > 0 && l.marks[l.Key(r)]}
		lines = append(lines, l.Paint(r, s, w)...)
	}
	return lines
}

func (l *List[R, K]) height() int { return max(1, l.Height) }

// margin is how many rows stay visible around the cursor.
func (l *List[R, K]) margin() int { return clamp((l.visible-1)/4, 0, 2) }

// settle brings the window to the cursor.
func (l *List[R, K]) settle() {
	l.cur = clamp(l.cur, 0, max(0, len(l.rows)-1))
	v, m := max(1, l.visible), l.margin()
	l.top = clamp(l.top, l.cur-v+1+m, l.cur-m)
	l.top = clamp(l.top, 0, max(0, len(l.rows)-v))
}

func clamp(n, lo, hi int) int { return max(lo, min(n, hi)) }

// WheelStep is how many rows or lines one turn of the mouse wheel moves.
func WheelStep(msg tea.MouseWheelMsg) int {
	switch msg.Button {
	case tea.MouseWheelUp:
		return -3
	case tea.MouseWheelDown:
		return 3
	}
	return 0
}
