package ui

import (
	"slices"

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
	if n.Order != 0 {
		if n.Order < a.opened {
			return nil // a later key's page is there already
		}
		a.opened = n.Order
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
		cmds = append(cmds, a.leave(a.stack[1]))
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

func (a *App) pop() entry {
	e := a.stack[len(a.stack)-1]
	a.stack = a.stack[:len(a.stack)-1]
	return e
}

// unkept is a page that was left and could not keep what it had to keep.
type unkept struct {
	entry entry
	why   kit.Notice
}

// leave lets a page that is no longer shown keep what it has to keep.
func (a *App) leave(e entry) tea.Cmd {
	e.screen.Focus(false)
	l, ok := e.screen.(kit.Leaver)
	if !ok {
		return nil
	}
	keep := l.Leave()
	if keep == nil {
		return nil
	}
	return func() tea.Msg {
		msg := keep()
		if n, ok := msg.(kit.Notice); ok && n.Level == kit.Bad {
			return unkept{e, n}
		}
		return msg
	}
}

// unkept brings the page back, with everything that is on it, and asks.
func (a *App) unkept(u unkept) tea.Cmd {
	if top := a.top(); top != nil {
		top.Focus(false)
	}
	a.stack = append(a.stack, u.entry)
	u.entry.screen.Focus(true)
	return a.loss(u.why, "Leave", func() tea.Cmd {
		i := slices.IndexFunc(a.stack, func(e entry) bool { return e.screen == u.entry.screen })
		if i < 1 {
			return nil
		}
		a.stack = slices.Delete(a.stack, i, i+1)
		u.entry.screen.Focus(false)
		a.top().Focus(true)
		return nil
	})
}

// loss asks before anything that could not be stored is given up.
func (a *App) loss(why kit.Notice, leave string, run func() tea.Cmd) tea.Cmd {
	return kit.Show(&kit.Confirm{Env: a.env, Title: "This is not stored", Text: []string{why.Text, why.Hint}, Choices: []kit.Choice{
		{Key: "s", Label: "Stay: it is all still here"},
		{Key: "l", Label: leave + ": what is not stored is lost", Danger: true, Run: run},
	}})
}
