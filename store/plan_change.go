package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"skrzynka/mail"
)

// AddPlan stores a plan on a sent attempt, or on one or a draft that will be
// sent (then it is unsent and no step has a time). Steps carry their delays,
// and the first one its time when the plan is active. Contacts that had
// answered or were away before are active again: a person writes to them anew;
// a suppressed one refuses the plan, and so does an answer that is already here.
func (s *Store) AddPlan(ctx context.Context, p mail.Plan) (mail.Plan, error) {
	p.ID = mail.NewID()
	err := s.write(ctx, func(t *tx) error {
		account, err := t.accountID(p.Account)
		if err != nil {
			return err
		}
		if p.AttemptID != "" {
			if err := t.plannable(account, &p); err != nil {
				return err
			}
		}
		_, err = t.exec(`INSERT INTO plan (id, account_id, attempt_id, draft_id, state, created_at, updated_at) VALUES (?,?,?,?,?,?,?)`,
			p.ID, account, orNull(p.AttemptID), orNull(p.DraftID), p.State, t.now, t.now)
		if isUnique(err) {
			return conflict("There is a follow-up plan for this message already.")
		}
		if err != nil {
			return err
		}
		for i, st := range p.Steps {
			if _, err := t.exec(`INSERT INTO step (id, plan_id, position, days, working, extra, body, state, due_at, updated_at) VALUES (?,?,?,?,?,?,?,'waiting',?,?)`,
				mail.NewID(), p.ID, i, st.Delay.Days, st.Delay.Working, st.Delay.Time.Milliseconds(), st.Body, ms(st.DueAt), t.now); err != nil {
				return err
			}
		}
		l := line{account: account, action: "plan.made", subject: "plan:" + p.ID, to: string(p.State), why: count(len(p.Steps), "step")}
		if p.AttemptID != "" {
			l.related = []string{"attempt:" + p.AttemptID}
		}
		t.changed("plans", p.Account, p.ID)
		if err := t.audit(l); err != nil {
			return err
		}
		return t.bumpEpoch()
	})
	if err != nil {
		return mail.Plan{}, err
	}
	return s.Plan(ctx, p.ID)
}

// plannable checks the attempt a plan is to hang on, and readies its contacts.
func (t *tx) plannable(account int64, p *mail.Plan) error {
	var n int
	if ok, err := t.row(`SELECT 1 FROM attempt WHERE id = ? AND account_id = ?`, []any{p.AttemptID, account}, &n); err != nil || !ok {
		if err == nil {
			err = notFound("There is no attempt %s.", p.AttemptID)
		}
		return err
	}
	var from string
	answered, err := t.row(`SELECT e.from_addr FROM event_attempt x JOIN event e ON e.id = x.event_id
		WHERE x.attempt_id = ? AND e.class = 'human_reply' LIMIT 1`, []any{p.AttemptID}, &from)
	if err != nil {
		return err
	}
	if answered {
		return mail.Errorf(mail.CodeConflict, "Follow up your own next message instead.", "This message was answered already, by %+q.", from)
	}
	keys, err := all(t.ctx, t, scanOne[string], `SELECT address FROM attempt_recipient WHERE attempt_id = ? ORDER BY address`, p.AttemptID)
	if err != nil {
		return err
	}
	for _, key := range keys {
		c, err := t.contact(account, key)
		if err != nil {
			return err
		}
		switch {
		case c.state.Blocked():
			return &mail.Error{Code: mail.CodePolicyRefused, Text: fmt.Sprintf("%s is %s: nothing is sent to it by itself.", key, c.state),
				Hint: "Allow the contact first; its timeline says why it is " + string(c.state) + "."}
		case c.state == mail.ContactReplied:
			if _, err := t.setContact(&c, mail.ContactActive, time.Time{}, cause{why: "a person follows them up anew", related: []string{"plan:" + p.ID}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// changePlan runs do on a plan that must be in one of the states.
func (s *Store) changePlan(ctx context.Context, id, what string, from []mail.PlanState, do func(*tx, *plan) error) error {
	return s.write(ctx, func(t *tx) error {
		p, err := t.plan(id)
		if err != nil {
			return err
		}
		if !slices.Contains(from, p.state) {
			return conflict("The follow-up plan cannot be %s: it is %s.", what, p.state)
		}
		if err := do(t, &p); err != nil {
			return err
		}
		return t.bumpEpoch()
	})
}

var openPlan = []mail.PlanState{mail.PlanUnsent, mail.PlanActive, mail.PlanPaused, mail.PlanHeld}

// CancelPlan ends a plan by a person's decision.
func (s *Store) CancelPlan(ctx context.Context, id, why string) error {
	if why == "" {
		why = "cancelled by a person"
	}
	return s.changePlan(ctx, id, "cancelled", openPlan, func(t *tx, p *plan) error {
		_, err := t.stopPlan(p, mail.PlanCancelled, cause{why: why})
		return err
	})
}

// HoldPlan keeps a plan until a person lets it go.
func (s *Store) HoldPlan(ctx context.Context, id, why string) error {
	return s.changePlan(ctx, id, "held", openPlan, func(t *tx, p *plan) error {
		if p.state == mail.PlanHeld && p.why == why {
			return nil
		}
		return t.setPlan(p, mail.PlanHeld, time.Time{}, cause{why: why})
	})
}

// PausePlan keeps a plan until a time.
func (s *Store) PausePlan(ctx context.Context, id, why string, until time.Time) error {
	if until.IsZero() {
		return invalid("A pause needs a time.")
	}
	return s.changePlan(ctx, id, "paused", []mail.PlanState{mail.PlanActive, mail.PlanPaused, mail.PlanHeld}, func(t *tx, p *plan) error {
		return t.setPlan(p, mail.PlanPaused, until, cause{why: why})
	})
}

// ResumePlan lets a paused or held plan go on: its next step is due at a time,
// or when it was, if that is later. A plan whose message was not sent yet waits
// for that again; one without a step left is done.
func (s *Store) ResumePlan(ctx context.Context, id, why string, due time.Time) error {
	return s.changePlan(ctx, id, "resumed", []mail.PlanState{mail.PlanPaused, mail.PlanHeld}, func(t *tx, p *plan) error {
		return t.goOn(p, due, cause{why: why})
	})
}

func (t *tx) goOn(p *plan, due time.Time, c cause) error {
	steps, err := t.steps(p.id)
	if err != nil {
		return err
	}
	var sent bool
	if _, err := t.row(`SELECT EXISTS (SELECT 1 FROM attempt WHERE id = ? AND (status = 'sent' OR (status = 'uncertain' AND (accepted_late = 1 OR resolution = 'confirmed_sent'))))`,
		[]any{p.attempt}, &sent); err != nil {
		return err
	}
	if !sent {
		return t.setPlan(p, mail.PlanUnsent, time.Time{}, c)
	}
	for i := range steps {
		st := &steps[i]
		if st.State != mail.FollowWaiting {
			continue
		}
		if st.DueAt.IsZero() || st.DueAt.Before(due) {
			st.DueAt = due
		}
		if st.DueAt.IsZero() { // it never had a time: ActivatePlan gives it one
			return t.setPlan(p, mail.PlanUnsent, time.Time{}, c)
		}
		if err := t.moveStep(st, mail.FollowWaiting, ""); err != nil {
			return err
		}
		return t.setPlan(p, mail.PlanActive, time.Time{}, c)
	}
	return t.setPlan(p, mail.PlanDone, time.Time{}, c)
}

// ActivatePlan starts a plan whose message has been accepted: its first step
// is due at a time. attempt is the one of the lineage that was accepted.
func (s *Store) ActivatePlan(ctx context.Context, id, attempt string, due time.Time) error {
	return s.changePlan(ctx, id, "started", []mail.PlanState{mail.PlanUnsent}, func(t *tx, p *plan) error {
		if p.attempt != attempt {
			if _, err := t.exec(`UPDATE plan SET attempt_id = ? WHERE id = ?`, attempt, id); err != nil {
				return err
			}
			p.attempt = attempt
		}
		view := mail.Plan{ID: p.id, AttemptID: attempt}
		if err := t.plannable(p.account, &view); err != nil {
			return t.setPlan(p, mail.PlanHeld, time.Time{}, cause{why: mail.AsError(err).Text})
		}
		return t.goOn(p, due, cause{why: "its message was accepted"})
	})
}

// EditStep changes a step that waits. A zero due leaves its time.
func (s *Store) EditStep(ctx context.Context, id string, delay mail.Delay, body string, due time.Time) error {
	return s.write(ctx, func(t *tx) error {
		st, err := t.step(id)
		if err != nil {
			return err
		}
		p, err := t.plan(st.PlanID)
		if err != nil {
			return err
		}
		var begun bool
		if _, err := t.row(`SELECT EXISTS (SELECT 1 FROM attempt WHERE idempotency_key = ? AND key_released = 0)`, []any{mail.FollowUpPrefix + id}, &begun); err != nil {
			return err
		}
		if st.State != mail.FollowWaiting || !p.state.Open() || begun {
			return conflict("Step %d can no longer be changed.", st.Position+1)
		}
		if !due.IsZero() {
			st.DueAt = due
		}
		if err := t.moveStep(&st, mail.FollowWaiting, ""); err != nil {
			return err
		}
		if _, err := t.exec(`UPDATE step SET days = ?, working = ?, extra = ?, body = ? WHERE id = ?`, delay.Days, delay.Working, delay.Time.Milliseconds(), body, id); err != nil {
			return err
		}
		// The version grows, so that a process that has claimed anything reads again.
		if _, err := t.exec(`UPDATE plan SET version = version + 1, updated_at = ? WHERE id = ?`, t.now, p.id); err != nil {
			return err
		}
		return t.audit(line{account: p.account, action: "step.edited", subject: "plan:" + p.id, why: fmt.Sprintf("step %d", st.Position+1), related: []string{"attempt:" + p.attempt}})
	})
}
