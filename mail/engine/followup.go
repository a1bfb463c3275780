package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/compose"
	"skrzynka/mail/follow"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

// AddFollowUp makes a plan: what is sent after a message unless somebody
// answers it. The message is a sent attempt, one that is still to be accepted,
// or a draft; the plan starts when it is accepted.
func (e *Engine) AddFollowUp(ctx context.Context, r view.FollowUpRequest) (view.Plan, error) {
	p := mail.Plan{AttemptID: r.AttemptID, DraftID: r.DraftID, State: mail.PlanUnsent}
	for i, st := range r.Steps {
		d, err := follow.ParseDelay(st.After)
		if err != nil {
			return view.Plan{}, mail.Errorf(mail.CodeInvalid, "Nothing was stored.", "Step %d: %w.", i+1, err)
		}
		p.Steps = append(p.Steps, mail.FollowStep{Delay: d, Body: st.Body})
	}
	if err := follow.Check(p.Steps); err != nil {
		return view.Plan{}, err
	}
	if r.DraftID != 0 {
		d, err := e.Store.Draft(ctx, r.DraftID)
		if err != nil {
			return view.Plan{}, err
		}
		p.Account = d.Account
	} else {
		a, err := e.Store.Attempt(ctx, r.AttemptID)
		if err != nil {
			return view.Plan{}, err
		}
		p.Account = a.Account
		if a.Status == mail.StatusFailed && a.RetriedBy == "" {
			return view.Plan{}, &mail.Error{Code: mail.CodeInvalid, Text: "This message was not sent, so nobody can answer it.", Hint: "Send it first; nothing was stored."}
		}
		if id, sent, ok := e.acceptedAt(ctx, &a); ok {
			p.AttemptID, p.State = id, mail.PlanActive
			p.Steps[0].DueAt = e.due(p.Account, sent, p.Steps[0].Delay)
		}
	}
	got, err := e.Store.AddPlan(ctx, p)
	if err != nil {
		return view.Plan{}, err
	}
	return e.presentPlan(got), nil
}

// acceptedAt follows a lineage to the attempt that was accepted.
func (e *Engine) acceptedAt(ctx context.Context, a *mail.Attempt) (id string, at time.Time, ok bool) {
	for range 50 {
		switch {
		case a.Status == mail.StatusSent:
			return a.ID, a.SentAt, true
		case a.Status == mail.StatusUncertain && (a.Evidence.AcceptedLate || a.Resolution == mail.ResolutionSent):
			if at = a.HandoverAt; at.IsZero() {
				at = a.UpdatedAt
			}
			return a.ID, at, true
		case a.RetriedBy == "":
			return "", time.Time{}, false
		}
		next, err := e.Store.Attempt(ctx, a.RetriedBy)
		if err != nil {
			return "", time.Time{}, false
		}
		a = &next
	}
	return "", time.Time{}, false
}

func (e *Engine) followPolicy(account string) mail.FollowUpPolicy {
	if acct, err := e.account(account); err == nil {
		return acct.FollowUp
	}
	return mail.FollowUpPolicy{}
}

func (e *Engine) due(account string, after time.Time, d mail.Delay) time.Time {
	return follow.Due(after, d, e.followPolicy(account), e.zone())
}

func (e *Engine) zone() *time.Location {
	if e.Zone != nil {
		return e.Zone
	}
	return time.Local
}

// FollowUps lists plans, the last changed first.
func (e *Engine) FollowUps(ctx context.Context, f mail.PlanFilter) ([]view.Plan, error) {
	list, err := e.Store.Plans(ctx, f)
	if err != nil {
		return nil, err
	}
	out := make([]view.Plan, 0, len(list))
	for _, p := range list {
		out = append(out, e.presentPlan(p))
	}
	return out, nil
}

// FollowUp returns one plan.
func (e *Engine) FollowUp(ctx context.Context, id string) (view.Plan, error) {
	p, err := e.Store.Plan(ctx, id)
	if err != nil {
		return view.Plan{}, err
	}
	return e.presentPlan(p), nil
}

func (e *Engine) changeFollowUp(ctx context.Context, id string, do func() error) (view.Plan, error) {
	if err := do(); err != nil {
		return view.Plan{}, err
	}
	return e.FollowUp(ctx, id)
}

// CancelFollowUp ends a plan.
func (e *Engine) CancelFollowUp(ctx context.Context, id, why string) (view.Plan, error) {
	return e.changeFollowUp(ctx, id, func() error { return e.Store.CancelPlan(ctx, id, why) })
}

// PauseFollowUp keeps a plan until a time; the zero time until a person says so.
func (e *Engine) PauseFollowUp(ctx context.Context, id string, until time.Time) (view.Plan, error) {
	return e.changeFollowUp(ctx, id, func() error {
		if until.IsZero() {
			return e.Store.HoldPlan(ctx, id, "held by a person")
		}
		return e.Store.PausePlan(ctx, id, "paused by a person", until)
	})
}

// ResumeFollowUp lets a held or paused plan go on.
func (e *Engine) ResumeFollowUp(ctx context.Context, id string) (view.Plan, error) {
	return e.changeFollowUp(ctx, id, func() error { return e.resumePlan(ctx, id, "resumed by a person") })
}

func (e *Engine) resumePlan(ctx context.Context, id, why string) error {
	p, err := e.Store.Plan(ctx, id)
	if err != nil {
		return err
	}
	due := time.Time{}
	if st := p.Next(); st != nil {
		due = st.DueAt
		if due.IsZero() && st.Position > 0 {
			due = e.Clock.Now() // the step before it did not end as sent
		}
		if !due.IsZero() && due.Before(e.Clock.Now()) {
			due = follow.Within(e.Clock.Now(), e.followPolicy(p.Account), e.zone())
		}
	}
	return e.Store.ResumePlan(ctx, id, why, due)
}

// EditFollowUp changes a step that waits; after "" keeps its delay and time.
func (e *Engine) EditFollowUp(ctx context.Context, plan string, step int, after, body string) (view.Plan, error) {
	p, err := e.Store.Plan(ctx, plan)
	if err != nil {
		return view.Plan{}, err
	}
	if step < 0 || step >= len(p.Steps) {
		return view.Plan{}, notFound("step", step+1)
	}
	st := p.Steps[step]
	due := time.Time{}
	if body != "" {
		st.Body = body
	}
	if after != "" {
		d, err := follow.ParseDelay(after)
		if err != nil {
			return view.Plan{}, mail.Errorf(mail.CodeInvalid, "Nothing was changed.", "%w.", err)
		}
		if !st.DueAt.IsZero() {
			due = e.due(p.Account, e.before(ctx, &p, step), d)
		}
		st.Delay = d
	}
	if err := follow.Check([]mail.FollowStep{st}); err != nil {
		return view.Plan{}, err
	}
	return e.changeFollowUp(ctx, plan, func() error { return e.Store.EditStep(ctx, st.ID, st.Delay, st.Body, due) })
}

// before is when the message before a step was sent.
func (e *Engine) before(ctx context.Context, p *mail.Plan, step int) time.Time {
	id := p.AttemptID
	if step > 0 && p.Steps[step-1].AttemptID != "" {
		id = p.Steps[step-1].AttemptID
	}
	if a, err := e.Store.Attempt(ctx, id); err == nil {
		if _, at, ok := e.acceptedAt(ctx, &a); ok {
			return at
		}
	}
	return e.Clock.Now()
}

// followDraft is the message of a step: an answer in the thread of the message
// it follows, to the same people.
func (e *Engine) followDraft(ctx context.Context, p *mail.Plan, st *mail.FollowStep) (mail.Draft, error) {
	orig, err := e.Store.Attempt(ctx, p.AttemptID)
	if err != nil {
		return mail.Draft{}, err
	}
	d := mail.Draft{Account: orig.Account, Kind: mail.KindOutbound, From: orig.From, To: orig.To, Cc: orig.Cc, Bcc: orig.Bcc,
		Subject: compose.ReplySubject(orig.Subject), Body: st.Body, InReplyTo: orig.RFCMessageID}
	if old, err := e.outbox.RetryDraft(ctx, orig.ID); err == nil { // its bytes may have expired
		d.References = append(d.References, old.References...)
	}
	d.References = append(d.References, orig.RFCMessageID)
	for _, s := range p.Steps {
		if s.State != mail.FollowSent || s.AttemptID == "" {
			continue
		}
		a, err := e.Store.Attempt(ctx, s.AttemptID)
		if err != nil {
			return mail.Draft{}, err
		}
		d.InReplyTo = a.RFCMessageID
		d.References = append(d.References, a.RFCMessageID)
	}
	return d, nil
}

func (e *Engine) presentPlan(p mail.Plan) view.Plan {
	v := view.Plan{ID: p.ID, Account: p.Account, AttemptID: strOrNil(p.AttemptID), DraftID: p.DraftID, State: p.State, Why: safe.Line(p.Why),
		EventID: p.EventID, ResumeAt: timeOrNil(p.ResumeAt), Subject: p.Subject, To: addrs(p.Recipients), Steps: []view.PlanStep{},
		CreatedAt: p.CreatedAt.UTC(), UpdatedAt: p.UpdatedAt.UTC()}
	for _, s := range p.Steps {
		v.Steps = append(v.Steps, view.PlanStep{ID: s.ID, Delay: follow.Words(s.Delay), Body: s.Body, State: s.State, DueAt: timeOrNil(s.DueAt),
			Note: safe.Line(s.Note), AttemptID: strOrNil(s.AttemptID), Tries: s.Tries})
	}
	v.Says = safe.Line(e.planSays(&p))
	return v
}

// planSays is one sentence: what happens next, or why nothing does.
func (e *Engine) planSays(p *mail.Plan) string {
	why := strings.TrimSuffix(p.Why, ".")
	next := p.Next()
	switch p.State {
	case mail.PlanUnsent:
		return "It starts when the message has been accepted."
	case mail.PlanPaused:
		return "Paused until " + p.ResumeAt.In(e.zone()).Format("Mon 2 Jan 2006 15:04") + ": " + why + "."
	case mail.PlanHeld:
		return "Held for you: " + why + "."
	case mail.PlanStopped:
		return "Stopped: " + why + "."
	case mail.PlanCancelled:
		return "Cancelled: " + why + "."
	case mail.PlanDone:
		return "Every step was sent."
	}
	switch {
	case next == nil:
		return "Nothing is left to send."
	case next.State != mail.FollowWaiting:
		return fmt.Sprintf("Step %d is being sent.", next.Position+1)
	case next.Note != "":
		return fmt.Sprintf("Step %d waits: %s.", next.Position+1, strings.TrimSuffix(next.Note, "."))
	}
	return fmt.Sprintf("Step %d goes out %s unless somebody answers.", next.Position+1, next.DueAt.In(e.zone()).Format("Mon 2 Jan 2006 15:04"))
}
