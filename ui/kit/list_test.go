package kit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail/view"
)

// source is a keyset source over numbers: row n is at position n, newest first.
type source struct {
	ids   []int64 // descending
	calls int
	fail  error
}

func numbers(n int) *source {
	s := &source{ids: make([]int64, n)}
	for i := range s.ids {
		s.ids[i] = int64(n - i)
	}
	return s
}

func (s *source) fetch(_ context.Context, from view.Cursor, back bool, limit int) ([]int64, int, error) {
	s.calls++
	if s.fail != nil {
		return nil, 0, s.fail
	}
	// at is the first row that is not newer than from.
	at, _ := slices.BinarySearchFunc(s.ids, from.ID, func(e, t int64) int { return int(t - e) })
	zero := from == view.Cursor{}
	var lo, hi int
	switch {
	case back && zero:
		lo, hi = max(0, len(s.ids)-limit), len(s.ids)
	case back:
		lo, hi = max(0, at-limit), at
	case zero:
		lo, hi = 0, min(limit, len(s.ids))
	default:
		if at < len(s.ids) && s.ids[at] == from.ID {
			at++
		}
		lo, hi = at, min(at+limit, len(s.ids))
	}
	return slices.Clone(s.ids[lo:hi]), len(s.ids), nil
}

func newList(s *source) *List[int64, int64] {
	return &List[int64, int64]{
		Key:   func(r int64) int64 { return r },
		At:    func(r int64) view.Cursor { return view.Cursor{ID: r} },
		Fetch: s.fetch,
		Paint: func(r int64, st RowState, w int) []string {
			mark := " "
			if st.Selected {
				mark = ">"
			}
			return []string{Fit(fmt.Sprintf("%s%d", mark, r), w)}
		},
	}
}

func pump[R any, K comparable](t testing.TB, l *List[R, K], cmd tea.Cmd) {
	t.Helper()
	for n := 0; cmd != nil; n++ {
		if n > 100000 {
			t.Fatal("the list does not settle")
		}
		var taken bool
		if taken, cmd = l.Update(cmd()); !taken {
			t.Fatal("the list did not take its own result")
		}
	}
}

func started(t testing.TB, s *source) *List[int64, int64] {
	l := newList(s)
	pump(t, l, l.Reset())
	l.Lines(20, 10, true)
	return l
}

func at(t *testing.T, l *List[int64, int64], want int64) {
	t.Helper()
	if got, _ := l.Current(); got != want {
		t.Errorf("the cursor is on %d, want %d", got, want)
	}
	line := l.cur - l.top
	if line < 0 || line >= max(1, l.visible) {
		t.Errorf("the cursor is on line %d of %d", line, l.visible)
	}
}

func TestListMovesThroughEverything(t *testing.T) {
	l := started(t, numbers(1000))
	for range 999 {
		pump(t, l, l.Move(1))
		l.Lines(20, 10, true)
	}
	at(t, l, 1)
	if l.Position() != 1000 || l.Len() > l.hold()+l.chunk() {
		t.Errorf("position %d, rows held %d", l.Position(), l.Len())
	}
	for range 999 {
		pump(t, l, l.Move(-1))
	}
	at(t, l, 1000)
	if l.Position() != 1 {
		t.Errorf("position %d, want 1", l.Position())
	}
}

func TestListOwesMovesBeyondItsWindow(t *testing.T) {
	l := started(t, numbers(1000))
	pump(t, l, l.Move(500))
	at(t, l, 500)
	pump(t, l, l.Move(-500))
	at(t, l, 1000)
}

func TestListBurstWhileReading(t *testing.T) {
	l := started(t, numbers(1000))
	var first tea.Cmd
	for range 100 { // no result is delivered in between
		if cmd := l.Move(1); cmd != nil {
			if first != nil {
				t.Fatal("a second read was begun while one was under way")
			}
			first = cmd
		}
	}
	pump(t, l, first)
	if got := l.Position(); got < 60 {
		t.Errorf("position %d after 100 moves", got)
	}
}

func TestListEnds(t *testing.T) {
	l := started(t, numbers(1000))
	pump(t, l, l.Bottom())
	at(t, l, 1)
	if l.Position() != 1000 {
		t.Errorf("position %d", l.Position())
	}
	pump(t, l, l.Top())
	at(t, l, 1000)
}

func TestListKeepsItsRow(t *testing.T) {
	for _, tc := range []struct {
		name  string
		start int
		edit  func(s *source)
		want  int64
	}{
		{"new rows above", 50, func(s *source) { s.ids = append([]int64{1002, 1001}, s.ids...) }, 950},
		{"rows gone above", 50, func(s *source) { s.ids = s.ids[10:] }, 950},
		{"its own row gone: the next older", 50, func(s *source) { s.ids = slices.Delete(s.ids, 50, 51) }, 949},
		{"it and the next gone", 50, func(s *source) { s.ids = slices.Delete(s.ids, 50, 52) }, 948},
		{"far down", 700, func(s *source) { s.ids = append([]int64{1001}, s.ids...) }, 300},
		{"the last one gone", 999, func(s *source) { s.ids = s.ids[:999] }, 2},
		{"all gone", 5, func(s *source) { s.ids = nil }, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := numbers(1000)
			l := started(t, s)
			pump(t, l, l.Move(tc.start))
			line := l.cur - l.top
			tc.edit(s)
			pump(t, l, l.Reload())
			if len(s.ids) > 0 {
				at(t, l, tc.want)
				if now := l.cur - l.top; now != line && tc.start != 999 {
					t.Errorf("the row jumped from line %d to %d", line, now)
				}
			} else if l.Len() != 0 {
				t.Errorf("%d rows held of an empty list", l.Len())
			}
			want := slices.Index(s.ids, tc.want) + 1
			if l.Position() != want {
				t.Errorf("position %d, want %d", l.Position(), want)
			}
		})
	}
}

func TestListAtTopShowsWhatArrives(t *testing.T) {
	s := numbers(100)
	l := started(t, s)
	s.ids = append([]int64{101}, s.ids...)
	pump(t, l, l.Reload())
	at(t, l, 100)
	if l.top != 0 {
		t.Error("the new row is above the screen")
	}
}

func TestListHidesUntilItIsTrue(t *testing.T) {
	s := numbers(100)
	l := started(t, s)
	stale := l.Reload() // reads the rows before the action
	pump(t, l, l.Hide([]int64{100, 99}))
	at(t, l, 98)
	pump(t, l, stale)
	at(t, l, 98)
	if l.Len() > 98 || slices.Contains(l.Rows(), 100) {
		t.Error("a stale read brought a hidden row back")
	}
	s.ids = s.ids[2:]
	pump(t, l, l.Settled([]int64{100, 99}))
	if len(l.gone) != 0 {
		t.Errorf("still hidden: %v", l.gone)
	}
	s.ids = append([]int64{100}, s.ids...) // an undo
	pump(t, l, l.Reload())
	if l.Rows()[0] != 100 {
		t.Error("the undone row is not back")
	}
}

func TestListUnhide(t *testing.T) {
	l := started(t, numbers(100))
	pump(t, l, l.Hide([]int64{100}))
	pump(t, l, l.Unhide([]int64{100}))
	if l.Rows()[0] != 100 {
		t.Error("the row of a failed action is not back")
	}
	at(t, l, 99)
}

func TestListJoinsReloads(t *testing.T) {
	s := numbers(1000)
	l := started(t, s)
	s.calls = 0
	cmd := l.Reload()
	for range 50 {
		if c := l.Reload(); c != nil {
			t.Fatal("a second read was begun")
		}
	}
	pump(t, l, cmd)
	if s.calls > 4 {
		t.Errorf("51 changes cost %d queries", s.calls)
	}
}

func TestListError(t *testing.T) {
	s := numbers(100)
	l := started(t, s)
	s.fail = errors.New("disk on fire")
	pump(t, l, l.Reload())
	if l.Err() == nil || l.Len() == 0 {
		t.Errorf("err %v, rows %d: what was read stays beside the error", l.Err(), l.Len())
	}
	s.fail = nil
	pump(t, l, l.Reload())
	if l.Err() != nil {
		t.Errorf("the error stayed: %v", l.Err())
	}
}

func TestListMarksAndMouse(t *testing.T) {
	l := started(t, numbers(100))
	pump(t, l, l.ToggleMark())
	pump(t, l, l.Move(1))
	pump(t, l, l.ToggleMark())
	got := l.Targets()
	slices.Sort(got)
	if !slices.Equal(got, []int64{98, 100}) {
		t.Errorf("targets %v", got)
	}
	if !l.ClearMarks() || l.ClearMarks() {
		t.Error("ClearMarks")
	}
	if hit, again, _ := l.Click(4); !hit || again {
		t.Error("the first click selects")
	}
	at(t, l, 96)
	if _, again, _ := l.Click(4); !again {
		t.Error("the second click opens")
	}
	if hit, _, _ := l.Click(99); hit {
		t.Error("a click below the rows hits nothing")
	}
	pump(t, l, l.Scroll(30))
	if r, _ := l.Current(); r > 70 {
		t.Errorf("the wheel left the cursor on %d, outside the screen", r)
	}
}

func TestShortList(t *testing.T) {
	l := &List[string, string]{Key: func(s string) string { return s },
		Paint: func(s string, _ RowState, w int) []string { return []string{Fit(s, w)} }}
	l.SetRows([]string{"a", "b", "c"})
	l.Lines(5, 2, true)
	l.Move(1)
	l.SetRows([]string{"x", "a", "c"})
	if r, _ := l.Current(); r != "c" {
		t.Errorf("the cursor is on %q", r)
	}
	l.SetRows(nil)
	if l.Move(1) != nil || l.Bottom() != nil || l.Top() != nil || l.Position() != 0 {
		t.Error("an empty list")
	}
}

func BenchmarkListKey(b *testing.B) {
	for _, n := range []int{1000, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l := started(b, numbers(n))
			dir := 1
			for b.Loop() {
				if l.Position() == l.Total() {
					dir = -1
				} else if l.Position() == 1 {
					dir = 1
				}
				pump(b, l, l.Move(dir))
				_ = Frame(l.Lines(80, 40, true), 80, 40)
			}
		})
	}
}
