package kit

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
)

// Scroll is the position in lines that were wrapped once; only the visible ones
// are joined. The zero Scroll stands at the top.
type Scroll struct{ top, n, h int }

// Window gives the lines from and to that fit into h, of n in all.
func (s *Scroll) Window(n, h int) (from, to int) {
	s.n, s.h = n, max(1, h)
	s.top = clamp(s.top, 0, max(0, n-s.h))
	return s.top, min(n, s.top+s.h)
}

// Move scrolls by lines and reports whether that changed anything.
func (s *Scroll) Move(delta int) bool {
	was := s.top
	s.top = clamp(s.top+delta, 0, max(0, s.n-s.h))
	return s.top != was
}

// Page scrolls by half screens; a whole one keeps a line of the one before.
func (s *Scroll) Page(halves int) bool {
	step := max(1, s.h/2)
	if halves%2 == 0 {
		step = max(1, (s.h-1)/2)
	}
	return s.Move(halves * step)
}

// Reset goes to the first line.
func (s *Scroll) Reset() { s.top = 0 }

// AtEnd reports whether the last line is visible.
func (s *Scroll) AtEnd() bool { return s.top+s.h >= s.n }

// State is how far one has read, "" when everything is visible.
func (s *Scroll) State() string {
	switch {
	case s.n <= s.h:
		return ""
	case s.top == 0:
		return "top"
	case s.AtEnd():
		return "end"
	}
	return fmt.Sprintf("%d%%", 100*s.top/max(1, s.n-s.h))
}

// Moves are the keys of a page of text.
func (s *Scroll) Moves() []Action {
	move := func(id, title string, f func(), keys ...string) Action {
		return Action{ID: "text." + id, Keys: keys, Title: title, Group: "Move", Hidden: true,
			Run: func() tea.Cmd { f(); return nil }}
	}
	return []Action{
		move("down", "Line down", func() { s.Move(1) }, "j", "down"),
		move("up", "Line up", func() { s.Move(-1) }, "k", "up"),
		move("page-down", "A screen down", func() { s.Page(2) }, "space", "pgdown"),
		move("page-up", "A screen up", func() { s.Page(-2) }, "b", "pgup"),
		move("half-down", "Half a screen down", func() { s.Page(1) }, "ctrl+d"),
		move("half-up", "Half a screen up", func() { s.Page(-1) }, "ctrl+u"),
		move("top", "To the top", func() { s.Reset() }, "g g", "home"),
		move("bottom", "To the end", func() { s.Move(s.n) }, "G", "end"),
	}
}
