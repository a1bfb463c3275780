package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gofrs/flock"

	"skrzynka/mail"
)

// DueSteps lists the waiting steps of open plans whose time has come, the
// earliest first; those of plans that are not active too, so that it can be
// said why they wait.
func (s *Store) DueSteps(ctx context.Context, now time.Time) ([]mail.DueStep, error) {
	return all(ctx, s.r, func(r scanner) (d mail.DueStep, err error) {
		var due int64
		err = r.Scan(&d.ID, &d.PlanID, &d.Position, &d.Body, &due, &d.Note, &d.Tries, &d.Account, &d.Plan)
		d.DueAt, d.State = at(due), mail.FollowWaiting
		return d, err
	}, `SELECT s.id, s.plan_id, s.position, s.body, s.due_at, s.note, s.tries, c.name, p.state
		FROM step s JOIN plan p ON p.id = s.plan_id JOIN account c ON c.id = p.account_id
		WHERE s.state = 'waiting' AND s.due_at > 0 AND s.due_at <= ? AND p.state IN ('active','paused','held') ORDER BY s.due_at, s.id`, ms(now))
}

// BusySteps lists the steps that a process has claimed or is sending.
func (s *Store) BusySteps(ctx context.Context) ([]mail.FollowStep, error) {
	return all(ctx, s.r, scanStep, stepColumns+`WHERE s.state IN ('claimed','sending') ORDER BY s.updated_at`)
}

// PlansIn lists the plans in one of the open states, oldest first.
func (s *Store) PlansIn(ctx context.Context, state mail.PlanState) ([]mail.Plan, error) {
	return s.plans(ctx, `WHERE p.id IN (SELECT id FROM plan WHERE state = ? AND state IN ('unsent','active','paused','held')) ORDER BY p.created_at, p.id`, state)
}

// NoteStep says why a step waits although it is due. It is no event: only a
// new note is written, and nothing of it is audited.
func (s *Store) NoteStep(ctx context.Context, id, note string) error {
	return s.write(ctx, func(t *tx) error {
		n, err := t.exec(`UPDATE step SET note = ? WHERE id = ? AND state = 'waiting' AND note <> ?`, note, id, note)
		if n > 0 {
			t.changed("plans", "", "")
		}
		return err
	})
}

// ReleaseStep gives a claimed step back: it waits again, until a time, and note
// says why. failed counts it as a try.
func (s *Store) ReleaseStep(ctx context.Context, id, note string, due time.Time, failed bool) error {
	return s.write(ctx, func(t *tx) error {
		st, err := t.step(id)
		if err != nil {
			return err
		}
		if st.State != mail.FollowClaimed && st.State != mail.FollowSending {
			return conflict("The follow-up step is %s.", st.State)
		}
		if failed {
			st.Tries++
		}
		if !due.IsZero() {
			st.DueAt = due
		}
		return t.moveStep(&st, mail.FollowWaiting, note)
	})
}

// SettleStep records how a step's attempt ended. A sent one gives the step
// after it its time; any other end holds the plan.
func (s *Store) SettleStep(ctx context.Context, id string, to mail.FollowState, why string, next time.Time) error {
	return s.write(context.WithoutCancel(ctx), func(t *tx) error {
		st, err := t.step(id)
		if err != nil {
			return err
		}
		p, err := t.plan(st.PlanID)
		if err != nil {
			return err
		}
		from := st.State
		if from != mail.FollowClaimed && from != mail.FollowSending {
			return conflict("The follow-up step is %s.", from)
		}
		if err := t.moveStep(&st, to, why); err != nil {
			return err
		}
		if err := t.audit(line{account: p.account, action: "step." + string(to), subject: "plan:" + p.id, why: why, from: string(from), to: string(to),
			related: []string{"attempt:" + st.AttemptID, "attempt:" + p.attempt}}); err != nil {
			return err
		}
		switch {
		case !p.state.Open():
			return nil
		case to == mail.FollowSent:
			return t.advance(&p, next)
		}
		return t.setPlan(&p, mail.PlanHeld, time.Time{}, cause{why: fmt.Sprintf("step %d ended %s: %s", st.Position+1, to, why)})
	})
}

// advance gives the next waiting step its time; without one an active plan is done.
func (t *tx) advance(p *plan, next time.Time) error {
	steps, err := t.steps(p.id)
	if err != nil {
		return err
	}
	for i := range steps {
		if st := &steps[i]; st.State == mail.FollowWaiting {
			st.DueAt = next
			return t.moveStep(st, mail.FollowWaiting, "")
		}
	}
	return t.setPlan(p, mail.PlanDone, time.Time{}, cause{why: "every step was sent, nobody answered"})
}

// WakeContacts makes contacts active again whose day of return has come.
func (s *Store) WakeContacts(ctx context.Context) error {
	var n int
	ok, err := scanRow(s.r.QueryRowContext(ctx, `SELECT 1 FROM contact WHERE state = 'paused' AND paused_until <= ? LIMIT 1`, ms(s.clock.Now())), &n)
	if err != nil || !ok {
		return fail(err)
	}
	return s.write(ctx, func(t *tx) error {
		due, err := all(ctx, t, func(r scanner) (c contact, err error) {
			err = r.Scan(&c.id, &c.account, &c.address, &c.state, &c.until, &c.version)
			return c, err
		}, `SELECT id, account_id, address, state, paused_until, version FROM contact WHERE state = 'paused' AND paused_until <= ?`, t.now)
		if err != nil {
			return err
		}
		for i := range due {
			if _, err := t.setContact(&due[i], mail.ContactActive, time.Time{}, cause{why: "the day of return has come"}); err != nil {
				return err
			}
		}
		return nil
	})
}

// LastTurn returns when follow-ups were last looked at, by any process, and
// sets it to now.
func (s *Store) LastTurn(ctx context.Context) (last time.Time, err error) {
	err = s.write(ctx, func(t *tx) error {
		var old int64
		if _, err := t.row(`SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'followup_turn'`, nil, &old); err != nil {
			return err
		}
		last = at(old)
		_, err := t.exec(`INSERT INTO meta (key, value) VALUES ('followup_turn', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, strconv.FormatInt(t.now, 10))
		return err
	})
	return last, err
}

// Lease takes a lock that one process at a time can hold, for as long as it
// lives or until release: no clock is involved. ok is false while another has it.
func (s *Store) Lease(name string) (release func(), ok bool, err error) {
	path := filepath.Join(s.dir, "run", name+".lease")
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	ok, err = l.TryLock()
	if err != nil {
		return nil, false, mail.Errorf(mail.CodeStore, "Keep the state folder on a local disk that supports file locks.", "The lock %s cannot be taken: %w.", name, err)
	}
	if !ok {
		_ = l.Close()
		return nil, false, nil
	}
	return func() { _ = l.Close() }, true, nil
}

// DropFollowUp ends the attempt of a step that was recorded and not claimed:
// nothing of it was sent, and the key is free again. None is no error.
func (s *Store) DropFollowUp(ctx context.Context, step, why string) error {
	return s.write(ctx, func(t *tx) error {
		var account int64
		ok, err := t.row(`SELECT p.account_id FROM step s JOIN plan p ON p.id = s.plan_id WHERE s.id = ?`, []any{step}, &account)
		if err != nil || !ok {
			return err
		}
		return t.cancelPending(account, step, why)
	})
}
