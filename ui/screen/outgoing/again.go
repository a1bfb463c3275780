// Package outgoing holds what the pages about attempts share: sending again,
// rows of attempts, and the evidence of one.
package outgoing

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
)

// Engine is what sending again calls.
type Engine interface {
	Resend(ctx context.Context, id string, o view.ResendOptions) (view.Attempt, error)
	EditResend(ctx context.Context, id string) (mail.Draft, error)
}

// Again sends an attempt again, under a new key. Target is the attempt the keys
// are about; Done, which may be nil, is told when a new attempt was made.
type Again struct {
	Env    *kit.Env
	Engine Engine
	Target func() (view.Attempt, bool)
	Done   func(old string) tea.Cmd

	busy   map[string]bool
	last   string // sent again at lastAt: a second press that meant it must not hit the next row
	lastAt time.Time
	edit   kit.Load[mail.Draft]
}

// pressPause is how long after a resend the key is not taken for another row.
const pressPause = time.Second

// resent is how sending again went.
type resent struct {
	again *Again
	old   view.Attempt
	opts  view.ResendOptions
	fresh view.Attempt
	err   error
}

// Moved says that the person chose a row: the next press is about that one.
func (g *Again) Moved() { g.last = "" }

// CanResend says whether an attempt can be sent again, or why not.
func CanResend(a view.Attempt) (bool, string) {
	switch {
	case a.RetriedBy != nil:
		return false, "it was already sent again: open the later attempt"
	case a.Status == mail.StatusSent:
		return false, "it was accepted: sending it again would deliver it twice"
	case a.Status != mail.StatusFailed && a.Status != mail.StatusUncertain:
		return false, "it is still on its way"
	case a.Badge.Proven || a.Evidence.AcceptedLate:
		return false, "it was proven accepted later"
	case a.Resolution != nil && *a.Resolution == mail.ResolutionSent:
		return false, "you confirmed that it was sent"
	}
	return true, ""
}

func (g *Again) can() (bool, string) {
	a, ok := g.Target()
	switch {
	case !ok:
		return false, "no attempt is selected"
	case g.busy[a.ID]:
		return false, "it is being sent again"
	case g.last != "" && g.last != a.ID && g.Env.Now().Sub(g.lastAt) < pressPause:
		return false, "one was sent again just now: wait a second, or move"
	}
	return CanResend(a)
}

// Actions are the keys every page about attempts has.
func (g *Again) Actions() []kit.Action {
	one := func() (bool, string) {
		_, ok := g.Target()
		return ok, "no attempt is selected"
	}
	return []kit.Action{
		{ID: "attempt.resend", Keys: []string{"r"}, Title: "Resend with a new key", Short: "resend", Group: "Attempt", Rank: 10, Enabled: g.can, Run: g.Resend},
		{ID: "attempt.edit", Keys: []string{"E"}, Title: "Edit and resend", Short: "edit", Group: "Attempt", Rank: 11, Enabled: g.can, Run: g.editResend},
		{ID: "attempt.followup", Keys: []string{"F"}, Title: "Follow it up unless it is answered", Short: "follow up", Group: "Attempt", Rank: 13, Enabled: g.canFollow, Run: func() tea.Cmd {
			a, _ := g.Target()
			return kit.Open(kit.Page{Kind: kit.KindFollowUp, ID: "attempt:" + a.ID})
		}},
		{ID: "attempt.timeline", Keys: []string{"L"}, Title: "Timeline: everything that happened to it", Short: "timeline", Group: "Attempt", Rank: 14, Enabled: one, Run: func() tea.Cmd {
			a, _ := g.Target()
			return kit.Open(kit.Page{Kind: kit.KindAudit, ID: "attempt:" + a.ID})
		}},
	}
}

// canFollow says whether somebody may still answer the attempt.
func (g *Again) canFollow() (bool, string) {
	a, ok := g.Target()
	switch {
	case !ok:
		return false, "no attempt is selected"
	case a.Badge.Bounced:
		return false, "it bounced"
	case a.Status == mail.StatusFailed:
		return false, "it was not sent, so nobody can answer it"
	}
	return true, ""
}

// Resend sends a failed attempt again at once, and asks before an uncertain one.
func (g *Again) Resend() tea.Cmd {
	a, ok := g.Target()
	if !ok {
		return nil
	}
	if a.Status != mail.StatusUncertain {
		return g.send(a, view.ResendOptions{})
	}
	safe := a.Evidence.NotHandedOver
	risk := "It may have been accepted already: then it is delivered twice. Under the same Message-ID most systems show the two as one."
	if safe {
		risk = "It died before the message was handed over: resending is safe."
	}
	return kit.Show(&kit.Confirm{Env: g.Env, Title: "Resend this uncertain message?",
		Text: []string{Subject(a) + ", to " + Recipients(a), a.Says.String(), risk},
		Choices: []kit.Choice{
			{Key: "s", Label: "Send the same message again", Detail: "the same bytes and Message-ID, under a new key", Run: func() tea.Cmd { return g.send(a, view.ResendOptions{}) }},
			{Key: "n", Label: "Send it as a new message", Detail: "with a new Message-ID: if the first one arrived, both are seen", Danger: !safe,
				Run: func() tea.Cmd { return g.send(a, view.ResendOptions{NewMessage: true}) }},
		}})
}

func (g *Again) send(a view.Attempt, o view.ResendOptions) tea.Cmd {
	if g.busy == nil {
		g.busy = map[string]bool{}
	}
	g.busy[a.ID] = true
	engine := g.Engine
	return func() tea.Msg {
		fresh, err := engine.Resend(context.Background(), a.ID, o)
		return resent{again: g, old: a, opts: o, fresh: fresh, err: err}
	}
}

func (g *Again) editResend() tea.Cmd {
	a, ok := g.Target()
	if !ok {
		return nil
	}
	return g.edit.Start(func(ctx context.Context) (mail.Draft, error) { return g.Engine.EditResend(ctx, a.ID) })
}

// Bulk sends the failed ones of a list again, one after another. Uncertain ones
// are left out: each needs a decision of its own.
func (g *Again) Bulk(list []view.Attempt) tea.Cmd {
	engine := g.Engine
	return func() tea.Msg {
		done, left, refused := 0, 0, 0
		var why error
		for _, a := range list {
			if a.Status == mail.StatusUncertain {
				left++
				continue
			}
			if ok, _ := CanResend(a); !ok {
				refused++
				continue
			}
			if _, err := engine.Resend(context.Background(), a.ID, view.ResendOptions{}); err != nil {
				refused++
				why = err
				continue
			}
			done++
		}
		n := kit.Notice{Level: kit.Good, Text: count(done, "message") + " sent again, each under a new key."}
		if left > 0 {
			n.Text += fmt.Sprintf(" %d uncertain left out.", left)
			n.Hint = "g u decides them one by one"
		}
		if refused > 0 {
			n.Level = kit.Warn
			n.Text += fmt.Sprintf(" %d could not be.", refused)
			if why != nil {
				n.Hint = mail.AsError(why).Error()
			}
		}
		return n
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return kit.Number(n) + " " + what + "s"
}

// Update takes the results of Again's own commands.
func (g *Again) Update(msg tea.Msg) (taken bool, cmd tea.Cmd) {
	if g.edit.Take(msg) {
		if g.edit.Err != nil {
			return true, kit.Fail(g.edit.Err)
		}
		return true, kit.Open(kit.MessagePage(kit.KindCompose, g.edit.Value.ID))
	}
	r, ok := msg.(resent)
	if !ok || r.again != g {
		return false, nil
	}
	delete(g.busy, r.old.ID)
	switch {
	case errors.Is(r.err, mail.ErrCode(mail.CodeConfirmationRequired)):
		e := mail.AsError(r.err)
		r.opts.Confirmed = true
		return true, kit.Show(&kit.Confirm{Env: g.Env, Title: "Send this?", Text: []string{e.Text, e.Hint}, Choices: []kit.Choice{
			{Key: "y", Label: "Send it again", Run: func() tea.Cmd { return g.send(r.old, r.opts) }},
			{Key: "n", Label: "Do not send"},
		}})
	case r.err != nil:
		return true, kit.Fail(r.err)
	}
	g.last, g.lastAt = r.old.ID, g.Env.Now()
	what := "the same message"
	if r.opts.NewMessage {
		what = "a new message"
	}
	cmd = kit.Send(kit.Notice{Level: kit.Good, Text: "Sent again as " + what + ", under the new key " + kit.Clip(kit.Clean(r.fresh.IdempotencyKey), 13) + ".", Hint: "g o shows how it goes"})
	if g.Done != nil {
		cmd = tea.Batch(cmd, g.Done(r.old.ID))
	}
	return true, cmd
}
