package ui

import (
	tea "charm.land/bubbletea/v2"

	"skrzynka/ui/kit"
	"skrzynka/ui/screen/mailbox"
)

// deepest is how many pages may lie on one another; the oldest but the first
// are let go beyond that.
const deepest = 16

func (a *App) navigate(n kit.Navigate) tea.Cmd {
	if n.Back {
		if n.Closing != nil && n.Closing != a.top() {
			return nil
		}
		return a.back()
	}
	return a.open(n.Page, n.Replace)
}

// open shows a page: on top of the current one, or in its place.
func (a *App) open(p kit.Page, replace bool) tea.Cmd {
	if p.Kind == kit.KindMail && len(a.stack) > 0 && a.stack[0].page.Kind == kit.KindMail {
		return a.home(p)
	}
	if len(a.stack) > 0 && a.stack[len(a.stack)-1].page == p && !replace {
		return nil
	}
	make := pages[p.Kind]
	if make == nil {
		return kit.Say(kit.Warn, "There is no page for "+kit.Clean(string(p.Kind))+".")
	}
	var cmds []tea.Cmd
	if len(a.stack) > 0 {
		a.top().Focus(false)
		if replace {
			cmds = append(cmds, a.leave(a.pop()))
		}
	}
	if len(a.stack) >= deepest {
		cmds = append(cmds, a.leave(a.stack[1].screen))
		a.stack = append(a.stack[:1], a.stack[2:]...)
	}
	s := make(a.env, a.engine, p)
	a.stack = append(a.stack, entry{p, s})
	s.Focus(true)
	return tea.Batch(append(cmds, s.Init())...)
}

// home goes back to the first page and shows a folder there.
func (a *App) home(p kit.Page) tea.Cmd {
	cmd := a.unwind()
	m, ok := a.top().(*mailbox.Model)
	if !ok {
		return cmd
	}
	if id := p.Number(); id != 0 {
		return tea.Batch(cmd, m.Folder(id))
	}
	scope, name := mailbox.Inbox()
	return tea.Batch(cmd, m.Go(scope, name))
}

// unwind closes every page above the first.
func (a *App) unwind() tea.Cmd {
	var cmds []tea.Cmd
	for len(a.stack) > 1 {
		cmds = append(cmds, a.back())
	}
	return tea.Batch(cmds...)
}

// back closes the top page; the first one stays.
func (a *App) back() tea.Cmd {
	if len(a.stack) < 2 {
		return nil
	}
	cmd := a.leave(a.pop())
	a.top().Focus(true)
	return cmd
}

func (a *App) pop() kit.Screen {
	s := a.top()
	a.stack = a.stack[:len(a.stack)-1]
	return s
}

func (a *App) leave(s kit.Screen) tea.Cmd {
	s.Focus(false)
	if l, ok := s.(kit.Leaver); ok {
		return l.Leave()
	}
	return nil
}
