package ui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail/view"
	"skrzynka/ui/kit"
)

// notice is what the foot of the screen says for a while.
type notice struct {
	kit.Notice
	on  bool
	gen int
}

type expired struct{ gen int }

// counting is a second less of a notice that counts down.
type counting struct{ gen int }

const noticeTime = 5 * time.Second

// show replaces the notice. One that counts down stays until its time; the rest
// goes by itself, but for an error, and an error and an answer to a key go with
// the next key.
func (a *App) show(n kit.Notice) tea.Cmd {
	a.notice.Notice, a.notice.on = n, true
	a.notice.gen++
	if n.Undone.Kind != "" {
		a.undone = n
	}
	switch {
	case n.Level == kit.Bad:
		return nil
	case !n.Until.IsZero():
		return a.countDown(counting{a.notice.gen})
	}
	return a.env.After(noticeTime, expired{a.notice.gen})
}

// countDown draws the notice anew every second and takes it away in the end.
func (a *App) countDown(c counting) tea.Cmd {
	if c.gen != a.notice.gen {
		return nil
	}
	if !a.env.Now().Before(a.notice.Until) {
		a.notice.on = false
		return nil
	}
	return a.env.After(time.Second, c)
}

// text is what the notice says now.
func (n *notice) text(now time.Time) string {
	text := kit.Clean(n.Text)
	if left := n.Until.Sub(now); left > 0 && !n.Until.IsZero() {
		text += fmt.Sprintf(" in %d s", (left+time.Second-1)/time.Second)
	}
	return text
}

// reopen is the page of the send that undo has just taken back.
func (a *App) reopen(what string) tea.Cmd {
	page := a.undone.Undone
	a.undone = kit.Notice{}
	if what != view.UndoneSend || page.Kind == "" {
		return nil
	}
	return kit.Open(page)
}

func (n *notice) expire(e expired) {
	if e.gen == n.gen {
		n.on = false
	}
}

// key takes away what has been seen: an error, and what a key was answered with.
func (n *notice) key() {
	if n.Level == kit.Bad || n.Level == kit.Info && n.Until.IsZero() {
		n.on = false
	}
}

func (n *notice) cell(t *kit.Theme) (glyph string, style kit.Style) {
	if !n.Until.IsZero() { // it has not happened yet: no mark of success
		return t.Glyph.Waiting, t.Info
	}
	switch n.Level {
	case kit.Bad:
		return t.Glyph.Failed, t.Bad
	case kit.Warn:
		return "!", t.Warn
	case kit.Good:
		return t.Glyph.Sent, t.Good
	}
	return t.Glyph.Dot, t.Info
}

// prompt is the search line at the foot of the screen.
type prompt struct {
	input kit.Input
	from  kit.Page // searching again from a result replaces it
}

func (a *App) search() tea.Cmd {
	p := &prompt{}
	p.input.Placeholder = "words, from: to: subject: is:unread has:attachment before: in: status:uncertain"
	if n := len(a.stack); n > 0 && a.stack[n-1].page.Kind == kit.KindSearch {
		p.from = a.stack[n-1].page
		p.input.Set(p.from.ID)
	}
	a.prompt = p
	return nil
}

func (a *App) promptKey(msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "esc", "ctrl+c":
		a.prompt = nil
	case "enter":
		p := a.prompt
		a.prompt = nil
		query := p.input.Value()
		if query == "" {
			return nil
		}
		page := kit.Page{Kind: kit.KindSearch, ID: query}
		if p.from.Kind != "" {
			return kit.Replace(page)
		}
		return kit.Open(page)
	case "backspace":
		if p := a.prompt; p.input.Empty() {
			a.prompt = nil
			return nil
		}
		a.prompt.input.Update(msg)
	default:
		a.prompt.input.Update(msg)
	}
	return nil
}
