package kit

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail/view"
)

type loadKind int

const (
	loadNone loadKind = iota
	loadNewest
	loadOldest
	loadOlder
	loadNewer
	loadAround
)

type window[R any] struct {
	rows                 []R
	total                int
	newestEnd, oldestEnd bool
}

type goneState int

const (
	goneHidden   goneState = iota // its action has not been answered
	goneSettled                   // answered: the next read that starts shows the truth
	goneClearing                  // that read is under way
)

// chunk is how many rows one read asks for, hold how many are kept at most.
func (l *List[R, K]) chunk() int { return max(60, 2*l.visible) }
func (l *List[R, K]) hold() int  { return max(240, 8*l.visible) }

// Top moves to the newest row, Bottom to the oldest; what is shown stays until
// the other end has been read.
func (l *List[R, K]) Top() tea.Cmd {
	l.owed = 0
	if l.newestEnd || l.Fetch == nil {
		l.cur, l.top = 0, 0
		return l.prefetch()
	}
	return l.start(loadNewest)
}

// Bottom moves to the oldest row.
func (l *List[R, K]) Bottom() tea.Cmd {
	l.owed = 0
	if l.oldestEnd || l.Fetch == nil {
		l.cur = max(0, len(l.rows)-1)
		l.settle()
		return l.prefetch()
	}
	return l.start(loadOldest)
}

// Reset empties the list and reads it from its newest end.
func (l *List[R, K]) Reset() tea.Cmd {
	l.rows, l.cur, l.top, l.base, l.total, l.owed = nil, 0, 0, 0, 0, 0
	l.newestEnd, l.oldestEnd, l.loaded, l.err = false, false, false, nil
	l.marks, l.gone, l.again = nil, nil, false
	return l.start(loadNewest)
}

// Reload reads what is held again. Calls made while a read is under way are
// joined into one read after it, so that a storm of changes costs two.
func (l *List[R, K]) Reload() tea.Cmd {
	switch {
	case l.Fetch == nil:
		return nil
	case l.load.Running && l.loading != loadOlder && l.loading != loadNewer:
		l.again = true
		return nil
	case len(l.rows) == 0:
		return l.start(loadNewest)
	}
	return l.start(loadAround)
}

// Hide takes rows out at once, because an action on them was asked for. Settled
// follows when the action succeeded, Unhide when it did not.
func (l *List[R, K]) Hide(keys []K) tea.Cmd {
	if l.gone == nil {
		l.gone = map[K]goneState{}
	}
	for _, k := range keys {
		l.gone[k] = goneHidden
		delete(l.marks, k)
	}
	before := len(l.rows)
	l.merge(l.rows, l.newestEnd, l.oldestEnd)
	if l.total > 0 {
		l.total = max(0, l.total-(before-len(l.rows)))
	}
	return l.prefetch()
}

// Settled says that the action behind Hide is committed.
func (l *List[R, K]) Settled(keys []K) tea.Cmd {
	for _, k := range keys {
		if _, ok := l.gone[k]; ok {
			l.gone[k] = goneSettled
		}
	}
	return l.Reload()
}

// Unhide brings rows back whose action failed.
func (l *List[R, K]) Unhide(keys []K) tea.Cmd {
	for _, k := range keys {
		delete(l.gone, k)
	}
	return l.Reload()
}

// Update takes the list's own results; taken is true when msg was one.
func (l *List[R, K]) Update(msg tea.Msg) (taken bool, cmd tea.Cmd) {
	if !l.load.Take(msg) {
		return false, nil
	}
	kind := l.loading
	l.loading = loadNone
	if l.err = l.load.Err; l.err != nil {
		if errors.Is(l.err, context.Canceled) {
			l.err = nil
		}
		l.again, l.owed = false, 0
		return true, nil
	}
	w := l.load.Value
	l.load.Value = window[R]{}
	grown := 0
	if l.loaded && l.total >= 0 && w.total >= 0 {
		grown = w.total - l.total
	}
	l.loaded, l.total = true, w.total
	l.take(kind, w)
	if kind == loadAround && !l.newestEnd && !l.oldestEnd {
		// Mail arrives at the newest end, which is not held: the place is
		// counted on as if all of it had.
		l.base = max(0, l.base+grown)
	}
	if l.again {
		l.again = false
		return true, l.start(loadAround)
	}
	if owed := l.owed; owed != 0 {
		return true, l.Move(owed)
	}
	return true, l.prefetch()
}

func (l *List[R, K]) take(kind loadKind, w window[R]) {
	switch kind {
	case loadNewest:
		l.cur, l.top, l.base = 0, 0, 0
		l.clearGone()
		l.rows, l.newestEnd, l.oldestEnd = l.present(w.rows), true, w.oldestEnd
	case loadOldest:
		l.clearGone()
		l.rows, l.newestEnd, l.oldestEnd = l.present(w.rows), w.newestEnd, true
		l.cur = max(0, len(l.rows)-1)
		l.base = max(0, w.total-len(l.rows))
		l.settle()
	case loadOlder:
		l.rows, l.oldestEnd = append(l.rows, l.present(w.rows)...), w.oldestEnd
		if cut := min(len(l.rows)-l.hold(), l.top-2*l.visible); cut > 0 {
			l.rows = append([]R(nil), l.rows[cut:]...)
			l.cur, l.top, l.base, l.newestEnd = l.cur-cut, l.top-cut, l.base+cut, false
		}
	case loadNewer:
		add := l.present(w.rows)
		l.rows = append(append(make([]R, 0, len(add)+len(l.rows)), add...), l.rows...)
		l.cur, l.top, l.base, l.newestEnd = l.cur+len(add), l.top+len(add), max(0, l.base-len(add)), w.newestEnd
		if keep := max(l.hold(), l.top+3*l.visible); len(l.rows) > keep {
			l.rows, l.oldestEnd = l.rows[:keep:keep], false
		}
	case loadAround:
		l.clearGone()
		l.merge(w.rows, w.newestEnd, w.oldestEnd)
	}
	switch {
	case l.newestEnd:
		l.base = 0
	case l.oldestEnd && l.total >= 0:
		l.base = max(0, l.total-len(l.rows))
	}
}

// merge replaces the rows and keeps the cursor on its row; where that one is
// gone, on the next older one that stayed, else on the last. The row under the
// cursor keeps its line on the screen, except that a list standing at its very
// top shows what arrives there.
func (l *List[R, K]) merge(rows []R, newestEnd, oldestEnd bool) {
	old, line, atTop := l.rows, l.cur-l.top, l.top == 0 && l.newestEnd
	rows = l.present(rows)
	index := make(map[K]int, len(rows))
	for i, r := range rows {
		index[l.Key(r)] = i
	}
	at, found := 0, false
	for i := l.cur; i < len(old) && !found; i++ {
		at, found = lookup(index, l.Key(old[i]))
	}
	if !found && len(old) > 0 {
		at = len(rows) - 1
	}
	l.base = max(0, l.base+l.cur-at)
	l.rows, l.newestEnd, l.oldestEnd = rows, newestEnd, oldestEnd
	l.cur = clamp(at, 0, max(0, len(rows)-1))
	l.top = max(0, l.cur-line)
	if atTop && l.cur < max(1, l.visible-l.margin()) {
		l.top = 0
	}
	l.settle()
}

func lookup[K comparable](m map[K]int, k K) (int, bool) { i, ok := m[k]; return i, ok }

// present drops hidden rows.
func (l *List[R, K]) present(rows []R) []R {
	if len(l.gone) == 0 {
		return rows
	}
	out := make([]R, 0, len(rows))
	for _, r := range rows {
		if _, hidden := l.gone[l.Key(r)]; !hidden {
			out = append(out, r)
		}
	}
	return out
}

func (l *List[R, K]) clearGone() {
	for k, s := range l.gone {
		if s == goneClearing {
			delete(l.gone, k)
		}
	}
}

// prefetch reads on when the cursor or a move comes near an end of what is held.
func (l *List[R, K]) prefetch() tea.Cmd {
	if l.Fetch == nil || l.load.Running || !l.loaded {
		return nil
	}
	near := max(20, l.visible)
	switch {
	case len(l.rows) == 0:
		if !l.newestEnd || !l.oldestEnd {
			return l.start(loadNewest)
		}
	case !l.oldestEnd && len(l.rows)-l.cur <= near:
		return l.start(loadOlder)
	case !l.newestEnd && l.cur < near:
		return l.start(loadNewer)
	}
	return nil
}

// start begins a read. It captures what it needs: the command runs off the loop.
func (l *List[R, K]) start(kind loadKind) tea.Cmd {
	if l.Fetch == nil {
		return nil
	}
	l.loading = kind
	fetch, n := l.Fetch, l.chunk()
	if kind == loadNewest || kind == loadOldest || kind == loadAround {
		for k, s := range l.gone {
			if s == goneSettled {
				l.gone[k] = goneClearing
			}
		}
	}
	switch kind {
	case loadAround:
		at := l.At(l.rows[l.cur])
		above, below := l.cur+max(20, l.visible), max(len(l.rows)-l.cur, l.chunk())
		return l.load.Start(func(ctx context.Context) (window[R], error) {
			return readAround(ctx, fetch, at, above, below)
		})
	case loadOlder, loadNewer:
		from, back := l.At(l.rows[len(l.rows)-1]), false
		if kind == loadNewer {
			from, back = l.At(l.rows[0]), true
		}
		return l.load.Start(func(ctx context.Context) (window[R], error) {
			rows, total, err := fetch(ctx, from, back, n)
			end := len(rows) < n
			return window[R]{rows, total, back && end, !back && end}, err
		})
	}
	back := kind == loadOldest
	return l.load.Start(func(ctx context.Context) (window[R], error) {
		rows, total, err := fetch(ctx, view.Cursor{}, back, n)
		end := len(rows) < n
		return window[R]{rows, total, !back || end, back || end}, err
	})
}

// readAround reads above rows newer than a position and below rows from it on,
// whether the row at that position still exists or not.
func readAround[R any](ctx context.Context, fetch func(context.Context, view.Cursor, bool, int) ([]R, int, error),
	at view.Cursor, above, below int) (window[R], error) {
	newer, _, err := fetch(ctx, at, true, above)
	if err != nil {
		return window[R]{}, err
	}
	rows, total, err := fetch(ctx, view.Cursor{Date: at.Date, ID: at.ID + 1}, false, below)
	if err != nil {
		return window[R]{}, err
	}
	all := append(append(make([]R, 0, len(newer)+len(rows)), newer...), rows...)
	return window[R]{all, total, len(newer) < above, len(rows) < below}, nil
}

// Moves are the keys every list has.
func (l *List[R, K]) Moves() []Action {
	move := func(id, title string, run func() tea.Cmd, keys ...string) Action {
		return Action{ID: "list." + id, Keys: keys, Title: title, Group: "Move", Hidden: true, Run: run}
	}
	return []Action{
		move("down", "Next row", func() tea.Cmd { return l.Move(1) }, "j", "down"),
		move("up", "Row before", func() tea.Cmd { return l.Move(-1) }, "k", "up"),
		move("top", "First row", l.Top, "g g", "home"),
		move("bottom", "Last row", l.Bottom, "G", "end"),
		move("half-down", "Half a screen down", func() tea.Cmd { return l.Page(1) }, "ctrl+d"),
		move("half-up", "Half a screen up", func() tea.Cmd { return l.Page(-1) }, "ctrl+u"),
		move("page-down", "A screen down", func() tea.Cmd { return l.Page(2) }, "pgdown"),
		move("page-up", "A screen up", func() tea.Cmd { return l.Page(-2) }, "pgup"),
	}
}
