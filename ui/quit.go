package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/screen/outgoing"
)

// soon is how far ahead a send still belongs to this sitting: the longest undo
// window. What was scheduled for later is left to the next start, or the worker.
const soon = 5 * time.Minute

// ending are the sends that would be left behind.
type ending struct{ sends []view.Draft }

// lastSends is what is left of the sends one waits for, or why one cannot wait.
type lastSends struct {
	left   []view.Draft
	stored bool // an attempt waits for its connection; from there on the program itself waits
	err    error
}

// quit ends the program. Messages whose undo window is still open are asked
// about: without the program nobody sends them.
func (a *App) quit() tea.Cmd { return a.closed(func() tea.Msg { return ending{a.comingSends()} }) }

// end ends the program, whatever is still to go out.
func (a *App) end() tea.Cmd { return a.closed(tea.Quit) }

// unclosed says why the program did not end.
type unclosed struct{ why kit.Notice }

// closed runs then once every page has kept what it had to keep. Where that
// fails, the program stays and asks.
func (a *App) closed(then func() tea.Msg) tea.Cmd {
	var leaves []tea.Cmd
	for _, e := range a.stack {
		if l, ok := e.screen.(kit.Leaver); ok {
			leaves = append(leaves, l.Leave())
		}
	}
	return func() tea.Msg {
		for _, leave := range leaves {
			if leave == nil {
				continue
			}
			if n, ok := leave().(kit.Notice); ok && n.Level == kit.Bad {
				return unclosed{n}
			}
		}
		return then()
	}
}

// comingSends are the drafts that go out soon; a store that cannot be read is
// no reason to stay.
func (a *App) comingSends() []view.Draft {
	drafts, err := a.engine.Drafts(context.Background())
	if err != nil {
		return nil
	}
	until := a.env.Now().Add(soon)
	return slices.DeleteFunc(drafts, func(d view.Draft) bool { return d.SendAt.IsZero() || d.SendAt.After(until) })
}

func (a *App) ending(e ending) tea.Cmd {
	if len(e.sends) == 0 {
		return tea.Quit
	}
	title, it := "A message has not gone out yet", "it goes"
	if len(e.sends) > 1 {
		title, it = fmt.Sprintf("%d messages have not gone out yet", len(e.sends)), "they go"
	}
	var text string
	for i, d := range e.sends {
		if i == 3 && len(e.sends) > 4 {
			text += fmt.Sprintf("and %d more\n", len(e.sends)-i)
			break
		}
		text += cmp.Or(d.Subject.String(), "(no subject)") + ", to " + d.To.String() + ", " + outgoing.In(d.SendAt.Sub(a.env.Now())) + "\n"
	}
	return kit.Show(&kit.Confirm{Env: a.env, Title: title, Text: []string{text}, Choices: []kit.Choice{
		{Key: "s", Label: "Send now, then quit", Run: func() tea.Cmd { return a.sendAndQuit(e.sends) }},
		{Key: "q", Label: "Quit", Detail: "stored: " + it + " out when Skrzynka, or its worker, runs again", Run: a.end},
		{Key: "n", Label: "Stay"},
	}})
}

// sendAndQuit closes the undo windows, and ends the program once the outbox has
// taken every message.
func (a *App) sendAndQuit(sends []view.Draft) tea.Cmd {
	a.leaving = nil
	for _, d := range sends {
		a.leaving = append(a.leaving, d.ID)
	}
	now, look := a.env.Now(), a.lookAtLast()
	return tea.Batch(kit.Say(kit.Info, "Sending, then quitting"), func() tea.Msg {
		for _, d := range sends {
			err := a.engine.ScheduleSend(context.Background(), d.ID, now, true)
			if err != nil && !errors.Is(err, mail.ErrCode(mail.CodeNotFound)) { // not found: it went while one was asked
				return lastSends{err: err}
			}
		}
		return look()
	})
}

// lookAtLast looks again whether the outbox has taken what is sent last.
func (a *App) lookAtLast() tea.Cmd {
	if a.leaving == nil {
		return nil
	}
	ids := a.leaving
	return func() tea.Msg {
		ctx := context.Background()
		drafts, err := a.engine.Drafts(ctx)
		if err != nil {
			return lastSends{err: err}
		}
		l := lastSends{left: slices.DeleteFunc(drafts, func(d view.Draft) bool { return !slices.Contains(ids, d.ID) })}
		stored, err := a.engine.Attempts(ctx, view.AttemptFilter{Status: mail.StatusPending})
		l.err = err
		l.stored = slices.ContainsFunc(stored, func(p view.Attempt) bool { return p.Held == "" })
		return l
	}
}

func (a *App) lastSends(l lastSends) tea.Cmd {
	refused := slices.ContainsFunc(l.left, func(d view.Draft) bool { return d.SendAt.IsZero() })
	switch {
	case a.leaving == nil:
		return nil
	case l.err != nil:
		a.leaving = nil
		return kit.Fail(l.err)
	case refused: // what refused it says so itself
		a.leaving = nil
		return nil
	case len(l.left) == 0 && !l.stored:
		return tea.Quit
	}
	return nil
}
