package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/follow"
	"skrzynka/mail/outbox"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

// followLease is the lock of the one process that sends follow-ups.
const followLease = "followups"

// How long a step or an account is left alone after it was found not ready,
// and how often the database learns that somebody looks.
const (
	lookAgain  = 30 * time.Second
	markEvery  = time.Minute
	resendWait = time.Minute
)

// runner sends due follow-ups, one at a time, for one process.
type runner struct {
	e       *Engine
	mu      sync.Mutex
	later   map[string]time.Time // by step or account: not before
	last    time.Time            // the turn before, by any process
	marked  time.Time
	release func()
}

func newRunner(e *Engine) *runner { return &runner{e: e, later: map[string]time.Time{}} }

// followLoop takes the lease, or watches for it to become free, and looks at
// the due steps every tick.
func (e *Engine) followLoop(ctx context.Context) {
	ctx = mail.WithActor(ctx, mail.ActorWorker)
	defer e.follow.giveUp()
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		if ok, _ := e.follow.hold(); ok {
			_, _ = e.follow.turn(ctx, false) // what fails now is looked at in the next turn
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// hold reports whether this process is the one that sends follow-ups; taken
// says that it became so just now.
func (r *runner) hold() (ok, taken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.release != nil {
		return true, false
	}
	release, ok, err := r.e.Store.Lease(followLease)
	if err != nil || !ok {
		return false, false
	}
	r.release = release
	return true, true
}

func (r *runner) giveUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.release != nil {
		r.release()
		r.release = nil
	}
}

// RunFollowUps looks at the due steps once and sends what may be sent; it
// syncs first, as the gate asks. approved answers the question that more than
// twenty steps at once raise after a pause. While another process does this
// work it is a CONFLICT.
func (e *Engine) RunFollowUps(ctx context.Context, approved bool) (view.FollowUpRun, error) {
	ok, taken := e.follow.hold()
	if !ok {
		return view.FollowUpRun{}, &mail.Error{Code: mail.CodeConflict, Retryable: true, Text: "Another process sends follow-ups right now.",
			Hint: "The interface or the worker that runs does it by itself."}
	}
	if taken {
		defer e.follow.giveUp()
	}
	return e.follow.turn(mail.WithActor(ctx, mail.ActorWorker), approved)
}

// turn is one look at everything that is due.
func (r *runner) turn(ctx context.Context, approved bool) (view.FollowUpRun, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := view.FollowUpRun{Steps: []view.FollowUpResult{}}
	if err := r.recover(ctx); err != nil {
		return out, err
	}
	if err := r.start(ctx); err != nil {
		return out, err
	}
	if err := r.wake(ctx); err != nil {
		return out, err
	}
	now := r.e.Clock.Now()
	due, err := r.e.Store.DueSteps(ctx, now)
	if err != nil {
		return out, err
	}
	var active []mail.DueStep
	for _, d := range due {
		if d.Plan == mail.PlanActive {
			active = append(active, d)
		}
	}
	last, err := r.mark(ctx, now)
	if err != nil {
		return out, err
	}
	if follow.CatchUp(len(active), last, now) && !approved {
		why := fmt.Sprintf("%d follow-ups came due at once after a pause: look at them and let them go", len(active))
		for _, d := range active {
			if err := r.e.Store.HoldPlan(ctx, d.PlanID, why); err != nil {
				return out, err
			}
			out.Steps = append(out.Steps, result(&d, "held", why))
		}
		return out, nil
	}
	for i := range active {
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		if res, looked := r.one(ctx, &active[i]); looked {
			out.Steps = append(out.Steps, res)
		}
	}
	return out, nil
}

// mark remembers that somebody looked, and returns when that was last so.
func (r *runner) mark(ctx context.Context, now time.Time) (last time.Time, err error) {
	last = r.last
	if last.IsZero() || now.Sub(r.marked) >= markEvery || now.Before(r.marked) {
		stored, err := r.e.Store.LastTurn(ctx)
		if err != nil {
			return last, err
		}
		if last.IsZero() {
			last = stored
		}
		r.marked = now
	}
	r.last = now
	return last, nil
}

func result(d *mail.DueStep, what, note string) view.FollowUpResult {
	return view.FollowUpResult{PlanID: d.PlanID, StepID: d.ID, Result: what, Note: safe.Line(note)}
}

// one takes one due step as far as it can go. looked is false when it was
// looked at a moment ago and nothing can have changed.
func (r *runner) one(ctx context.Context, d *mail.DueStep) (view.FollowUpResult, bool) {
	now := r.e.Clock.Now()
	if now.Before(r.later[d.ID]) {
		return view.FollowUpResult{}, false
	}
	wait := func(note string) (view.FollowUpResult, bool) {
		r.later[d.ID] = now.Add(lookAgain)
		_ = r.e.Store.NoteStep(ctx, d.ID, note)
		return result(d, "waiting", note), true
	}
	if why := r.freshen(ctx, d); why != "" {
		return wait(why)
	}
	// The pass may have brought the answer.
	if err := r.e.Store.ClaimStep(ctx, d.ID, r.e.Owner); err != nil {
		if gate(err) == "ended" {
			return r.ended(ctx, d, err)
		}
		return wait(mail.AsError(err).Text)
	}
	return r.send(ctx, d)
}

func gate(err error) string {
	s, _ := mail.AsError(err).Details["gate"].(string)
	return s
}

// ended is a step whose contact must not be written to while its plan is still
// active: a person looks.
func (r *runner) ended(ctx context.Context, d *mail.DueStep, why error) (view.FollowUpResult, bool) {
	text := mail.AsError(why).Text
	if err := r.e.Store.HoldPlan(ctx, d.PlanID, text); err != nil && !errors.Is(err, mail.ErrCode(mail.CodeConflict)) {
		text = mail.AsError(err).Text
	}
	return result(d, "held", text), true
}

// freshen makes sure that the watched folders were read since the step became
// due, and says why that cannot be.
func (r *runner) freshen(ctx context.Context, d *mail.DueStep) string {
	if r.isFresh(ctx, d) {
		return ""
	}
	acct, err := r.e.account(d.Account)
	if err != nil {
		return "the account " + d.Account + " is not configured any more"
	}
	if now := r.e.Clock.Now(); now.Before(r.later["account "+acct.Name]) {
		return "the mail server could not be read: held until it can"
	}
	if acct.IMAP.Host == "" {
		return "the account has no IMAP server to look for answers on"
	}
	report := r.e.sync.of(acct).Pass(ctx, "")
	if r.isFresh(ctx, d) {
		return ""
	}
	r.later["account "+acct.Name] = r.e.Clock.Now().Add(lookAgain)
	if report.Error != nil {
		return "the mail server could not be read, held until it can: " + report.Error.Text
	}
	return "the watched folders could not be read to their end"
}

// isFresh is the same question the last look asks, so that it is rarely
// answered no there.
func (r *runner) isFresh(ctx context.Context, d *mail.DueStep) bool {
	started, err := r.e.Store.Fresh(ctx, d.Account)
	now := r.e.Clock.Now()
	return err == nil && !started.Before(d.DueAt.Truncate(time.Millisecond)) && now.Sub(started) < 4*time.Minute && !started.After(now)
}

// send records the attempt of a claimed step and delivers it. The last look is
// taken in the commit that claims the attempt.
func (r *runner) send(ctx context.Context, d *mail.DueStep) (view.FollowUpResult, bool) {
	e := r.e
	release := func(note string, due time.Time, failed bool) (view.FollowUpResult, bool) {
		_ = e.Store.DropFollowUp(ctx, d.ID, note)
		_ = e.Store.ReleaseStep(ctx, d.ID, note, due, failed) // a step that was cancelled meanwhile stays so
		return result(d, "waiting", note), true
	}
	p, err := e.Store.Plan(ctx, d.PlanID)
	if err != nil {
		return release(mail.AsError(err).Text, time.Time{}, false)
	}
	draft, err := e.followDraft(ctx, &p, &d.FollowStep)
	if err != nil {
		return release(mail.AsError(err).Text, time.Time{}, false)
	}
	// A person confirmed the plan; whom it may still write to, the gate decides.
	a, _, err := e.outbox.Enqueue(ctx, outbox.Request{Draft: draft, Key: mail.FollowUpPrefix + d.ID, Confirmed: true})
	switch {
	case errors.Is(err, mail.ErrCode(mail.CodeRateLimited)), err != nil && mail.AsError(err).Retryable:
		return release(mail.AsError(err).Text, e.Clock.Now().Add(resendWait), false)
	case err != nil:
		why := mail.AsError(err).Text
		_ = e.Store.SettleStep(ctx, d.ID, mail.FollowFailed, why, time.Time{})
		return result(d, "failed", why), true
	}
	if a.Status == mail.StatusPending {
		if a.Owner != e.Owner {
			err = e.Store.AdoptPending(ctx, a.ID, e.Owner)
		}
		if err == nil {
			a, err = e.deliverStep(ctx, a.ID)
		}
		if err != nil {
			return release(mail.AsError(err).Text, time.Time{}, false)
		}
	}
	return r.settle(ctx, d, &p, &a)
}

// deliverStep delivers without automatic tries: a follow-up that is tried again
// passes its gate again.
func (e *Engine) deliverStep(ctx context.Context, id string) (mail.Attempt, error) {
	e.mu.Lock()
	e.inFlight[id] = true
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		delete(e.inFlight, id)
		e.mu.Unlock()
	}()
	return e.outbox.Deliver(mail.WithActor(e.sends, mail.ActorFrom(ctx)), id, false)
}

// settle records how a step's attempt ended.
func (r *runner) settle(ctx context.Context, d *mail.DueStep, p *mail.Plan, a *mail.Attempt) (view.FollowUpResult, bool) {
	e := r.e
	res := result(d, a.Status.String(), a.ErrorText)
	res.AttemptID = strOrNil(a.ID)
	var err error
	switch a.Status {
	case mail.StatusSent:
		err = e.Store.SettleStep(ctx, d.ID, mail.FollowSent, "", r.next(p, d.Position, a.SentAt))
	case mail.StatusUncertain:
		err = e.Store.SettleStep(ctx, d.ID, mail.FollowUncertain, a.ErrorText, time.Time{})
	case mail.StatusFailed:
		if wait, ok := follow.Backoff(d.Tries); ok && a.KeyReleased && a.Retryable {
			res.Result = "waiting"
			err = e.Store.ReleaseStep(ctx, d.ID, "not submitted, tried again: "+a.ErrorText, e.Clock.Now().Add(wait), true)
		} else {
			err = e.Store.SettleStep(ctx, d.ID, mail.FollowFailed, a.ErrorText, time.Time{})
		}
	}
	if err != nil && !errors.Is(err, mail.ErrCode(mail.CodeConflict)) {
		res.Note = safe.Line(mail.AsError(err).Text) // the next turn settles it from the attempt
	}
	return res, true
}

func (r *runner) next(p *mail.Plan, position int, sent time.Time) time.Time {
	for _, st := range p.Steps {
		if st.Position == position+1 {
			return r.e.due(p.Account, sent, st.Delay)
		}
	}
	return time.Time{}
}

// recover goes on where a process ended between claiming a step and recording
// how its attempt ended. It runs before anything is in flight here.
func (r *runner) recover(ctx context.Context) error {
	busy, err := r.e.Store.BusySteps(ctx)
	if err != nil {
		return err
	}
	for i := range busy {
		st := &busy[i]
		if st.Owner != r.e.Owner && r.e.Store.OwnerAlive(st.Owner) {
			continue
		}
		if err := r.recoverStep(ctx, st); err != nil && !errors.Is(err, mail.ErrCode(mail.CodeConflict)) {
			return err
		}
	}
	// An attempt that was recorded while its step was cancelled.
	pending, err := r.e.Store.PendingAttempts(ctx)
	if err != nil {
		return err
	}
	for i := range pending {
		a := &pending[i]
		if step, ok := strings.CutPrefix(a.IdempotencyKey, mail.FollowUpPrefix); ok && (a.Owner == r.e.Owner || !r.e.Store.OwnerAlive(a.Owner)) {
			if err := r.e.Store.DropFollowUp(ctx, step, "the process that was to send it has ended"); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *runner) recoverStep(ctx context.Context, st *mail.FollowStep) error {
	if st.State == mail.FollowClaimed {
		if err := r.e.Store.DropFollowUp(ctx, st.ID, "the process that was to send it has ended"); err != nil {
			return err
		}
		return r.e.Store.ReleaseStep(ctx, st.ID, "", time.Time{}, false)
	}
	a, err := r.e.Store.Attempt(ctx, st.AttemptID)
	if err != nil {
		return err
	}
	if !a.Status.Terminal() {
		return nil // the outbox recovers it first
	}
	p, err := r.e.Store.Plan(ctx, st.PlanID)
	if err != nil {
		return err
	}
	r.settle(ctx, &mail.DueStep{FollowStep: *st, Account: p.Account, Plan: p.State}, &p, &a)
	return nil
}

// start gives plans their first date once their message was accepted.
func (r *runner) start(ctx context.Context) error {
	plans, err := r.e.Store.PlansIn(ctx, mail.PlanUnsent)
	if err != nil {
		return err
	}
	for i := range plans {
		p := &plans[i]
		if p.AttemptID == "" {
			continue
		}
		a, err := r.e.Store.Attempt(ctx, p.AttemptID)
		if err != nil {
			return err
		}
		id, sent, ok := r.e.acceptedAt(ctx, &a)
		if !ok {
			continue
		}
		due := time.Time{}
		if st := p.Next(); st != nil {
			due = r.e.due(p.Account, sent, st.Delay)
		}
		if err := r.e.Store.ActivatePlan(ctx, p.ID, id, due); err != nil && !errors.Is(err, mail.ErrCode(mail.CodeConflict)) {
			return err
		}
	}
	return nil
}

// wake resumes what was paused until now.
func (r *runner) wake(ctx context.Context) error {
	if err := r.e.Store.WakeContacts(ctx); err != nil {
		return err
	}
	plans, err := r.e.Store.PlansIn(ctx, mail.PlanPaused)
	if err != nil {
		return err
	}
	for i := range plans {
		if p := &plans[i]; !p.ResumeAt.After(r.e.Clock.Now()) {
			if err := r.e.resumePlan(ctx, p.ID, "the pause is over"); err != nil && !errors.Is(err, mail.ErrCode(mail.CodeConflict)) {
				return err
			}
		}
	}
	return nil
}
