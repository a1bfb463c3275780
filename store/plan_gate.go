package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"skrzynka/mail"
)

// FreshFor is how old the last complete pass over the watched folders may be
// when a follow-up is submitted.
const FreshFor = 5 * time.Minute

// Why the gate kept a follow-up back; Details["gate"] of the CONFLICT.
const (
	GateEnded = "ended" // the plan or the contact says no
	GateDoubt = "doubt" // something changed since the claim: look again
	GateStale = "stale" // the watched folders were not read since it became due
	GateAway  = "away"  // a recipient is away
)

func gated(gate, format string, args ...any) error {
	e := mail.Errorf(mail.CodeConflict, "The timeline says what happened.", format, args...)
	e.Details = map[string]any{"gate": gate}
	return e
}

// SetFresh records a pass over an account that read every watched folder to
// its end, its bodies and events too. Only a later start replaces it.
func (s *Store) SetFresh(ctx context.Context, account string, started time.Time) error {
	return s.write(ctx, func(t *tx) error {
		id, err := t.accountID(account)
		if err != nil {
			return err
		}
		_, err = t.exec(`INSERT INTO fresh (account_id, started_at, ended_at) VALUES (?,?,?) ON CONFLICT (account_id) DO UPDATE
			SET started_at = excluded.started_at, ended_at = excluded.ended_at WHERE excluded.started_at >= started_at`, id, ms(started), t.now)
		return err
	})
}

// Fresh returns when the last complete pass over an account's watched folders
// began; zero when there was none.
func (s *Store) Fresh(ctx context.Context, account string) (time.Time, error) {
	var started int64
	_, err := scanRow(s.r.QueryRowContext(ctx, `SELECT f.started_at FROM fresh f JOIN account c ON c.id = f.account_id WHERE c.name = ?`, account), &started)
	return at(started), fail(err)
}

// ClaimStep takes a waiting step whose time has come for owner, and remembers
// the versions of everything that decides about it. Of two callers one wins,
// the other gets a CONFLICT.
func (s *Store) ClaimStep(ctx context.Context, id, owner string) error {
	return s.write(ctx, func(t *tx) error {
		st, err := t.step(id)
		if err != nil {
			return err
		}
		p, err := t.plan(st.PlanID)
		if err != nil {
			return err
		}
		if err := t.eligible(&p, &st); err != nil {
			return err
		}
		if st.State != mail.FollowWaiting {
			return gated(GateDoubt, "The follow-up step is %s.", st.State)
		}
		st.Owner = owner
		if err := t.moveStep(&st, mail.FollowClaimed, ""); err != nil {
			return err
		}
		token, err := t.token(&p)
		if err != nil {
			return err
		}
		_, err = t.exec(`UPDATE step SET token = ? WHERE id = ?`, token, id)
		if err == nil {
			err = t.bumpEpoch()
		}
		return err
	})
}

// eligible reads plan, step and contacts and says why the step must not be
// sent, or nil.
func (t *tx) eligible(p *plan, st *mail.FollowStep) error {
	switch {
	case p.state != mail.PlanActive && !p.state.Open():
		return gated(GateEnded, "The follow-up plan is %s: %s.", p.state, strings.TrimSuffix(p.why, "."))
	case p.state != mail.PlanActive:
		return gated(GateAway, "The follow-up plan is %s: %s.", p.state, strings.TrimSuffix(p.why, "."))
	case st.DueAt.IsZero() || ms(st.DueAt) > t.now:
		return gated(GateDoubt, "The follow-up step is not due yet.")
	}
	contacts, err := t.recipientsOf(p)
	if err != nil {
		return err
	}
	for _, c := range contacts {
		switch {
		case c.state == mail.ContactReplied || c.state.Blocked():
			return gated(GateEnded, "%s is %s.", c.address, c.state)
		case c.state == mail.ContactPaused && c.until > t.now:
			return gated(GateAway, "%s is away until %s.", c.address, at(c.until).Format(time.DateOnly))
		}
	}
	return nil
}

// recipientsOf lists the contacts a plan writes to.
func (t *tx) recipientsOf(p *plan) ([]contact, error) {
	return all(t.ctx, t, func(r scanner) (c contact, err error) {
		err = r.Scan(&c.id, &c.account, &c.address, &c.state, &c.until, &c.version)
		return c, err
	}, `SELECT k.id, k.account_id, k.address, k.state, k.paused_until, k.version FROM attempt_recipient r
		JOIN contact k ON k.account_id = ? AND k.address = r.address WHERE r.attempt_id = ? ORDER BY k.address`, p.account, p.attempt)
}

// token is one string that differs as soon as anything that decides about the
// plan was changed.
func (t *tx) token(p *plan) (string, error) {
	contacts, err := t.recipientsOf(p)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "plan=%d", p.version)
	for _, c := range contacts {
		fmt.Fprintf(&b, " %d=%d", c.id, c.version)
	}
	return b.String(), nil
}

// claimFollowUp is the last look before a follow-up's attempt goes from pending
// to sending, in that commit: whichever of this and a recorded answer commits
// first wins, and the other reads it. An attempt that is no follow-up passes.
func (t *tx) claimFollowUp(id, key, owner string) error {
	stepID, ok := strings.CutPrefix(key, mail.FollowUpPrefix)
	if !ok {
		return nil
	}
	st, err := t.step(stepID)
	if err != nil {
		return err
	}
	p, err := t.plan(st.PlanID)
	if err != nil {
		return err
	}
	if err := t.eligible(&p, &st); err != nil {
		return err
	}
	var was string
	var started int64
	if _, err := t.row(`SELECT s.token, coalesce(f.started_at, 0) FROM step s LEFT JOIN fresh f ON f.account_id = ? WHERE s.id = ?`,
		[]any{p.account, st.ID}, &was, &started); err != nil {
		return err
	}
	now, err := t.token(&p)
	if err != nil {
		return err
	}
	switch {
	case st.State != mail.FollowClaimed || st.Owner != owner:
		return gated(GateDoubt, "The follow-up step is %s and not claimed by this process.", st.State)
	case was != now:
		return gated(GateDoubt, "The plan or a contact changed while the follow-up was being prepared.")
	case started < ms(st.DueAt) || t.now-started > FreshFor.Milliseconds() || started > t.now:
		return gated(GateStale, "The watched folders were not read since the follow-up became due, or more than five minutes ago.")
	}
	st.AttemptID = id
	if err := t.moveStep(&st, mail.FollowSending, ""); err != nil {
		return err
	}
	return t.audit(line{account: p.account, action: "step.sending", subject: "plan:" + p.id, why: fmt.Sprintf("step %d, nobody answered", st.Position+1),
		related: []string{"attempt:" + id, "attempt:" + p.attempt}})
}
