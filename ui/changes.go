package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail/view"
)

// changed is what arrived from the engine since the last time it was asked.
type changed []view.Change

// flush ends a pause during which changes were collected.
type flush struct{}

// pause is how long changes are collected after some were handed on: the first
// of a storm is shown at once, the rest a few times a second.
const pause = 100 * time.Millisecond

// wait takes the next changes, and all that are there already.
func (a *App) wait() tea.Cmd {
	ch := a.changes
	if ch == nil {
		return nil
	}
	return func() tea.Msg {
		c, ok := <-ch
		if !ok {
			return nil
		}
		got := changed{c}
		for len(got) < 256 {
			select {
			case c, ok := <-ch:
				if !ok {
					return got
				}
				got = append(got, c)
			default:
				return got
			}
		}
		return got
	}
}

func (a *App) change(got changed) tea.Cmd {
	for _, c := range got {
		if c.Progress != nil {
			a.progress[c.Progress.Account] = *c.Progress
			continue
		}
		if before, ok := a.waiting[c.Topic]; ok {
			if before.ID != c.ID {
				c.ID = ""
			}
			if before.Account != c.Account {
				c.Account = ""
			}
		}
		a.waiting[c.Topic] = c
	}
	if a.throttle {
		return nil
	}
	return a.flush()
}

func (a *App) flush() tea.Cmd {
	if len(a.waiting) == 0 {
		a.throttle = false
		return nil
	}
	a.throttle = true
	var cmds []tea.Cmd
	for topic, c := range a.waiting {
		delete(a.waiting, topic)
		switch topic {
		case view.TopicAttempts, view.TopicDrafts, view.TopicReview, view.TopicPlans:
			cmds = append(cmds, a.readCounts(), a.lookAtLast())
		}
		cmds = append(cmds, a.broadcast(c))
	}
	return tea.Batch(append(cmds, a.env.After(pause, flush{}))...)
}
