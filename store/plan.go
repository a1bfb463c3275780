package store

import (
	"context"
	"strings"
	"time"

	"skrzynka/mail"
)

// plan is a row of the plan table inside a transaction.
type plan struct {
	id      string
	account int64
	name    string // of the account
	attempt string
	state   mail.PlanState
	why     string
	resume  int64
	version int64
}

const planRow = `SELECT p.id, p.account_id, c.name, coalesce(p.attempt_id,''), p.state, p.why, p.resume_at, p.version
	FROM plan p JOIN account c ON c.id = p.account_id `

func scanPlanRow(r scanner) (p plan, err error) {
	err = r.Scan(&p.id, &p.account, &p.name, &p.attempt, &p.state, &p.why, &p.resume, &p.version)
	return p, err
}

func (t *tx) plan(id string) (plan, error) {
	found, err := all(t.ctx, t, scanPlanRow, planRow+`WHERE p.id = ?`, id)
	if err == nil && len(found) == 0 {
		err = notFound("There is no follow-up plan %s.", id)
	}
	if err != nil {
		return plan{}, err
	}
	return found[0], nil
}

// plansOf lists the open plans an attempt belongs to: the one that hangs on it,
// and the one it is a step of.
func (t *tx) plansOf(attempt string) ([]plan, error) {
	return all(t.ctx, t, scanPlanRow, planRow+`WHERE p.id IN (SELECT id FROM plan WHERE attempt_id = ?1 UNION SELECT plan_id FROM step WHERE attempt_id = ?1)
		AND p.state IN ('unsent','active','paused','held') ORDER BY p.created_at, p.id`, attempt)
}

// skew is how far a mail server's clock may be behind ours.
const skew = time.Minute

// plansTo lists the open plans of an account that write to an address, without
// the ones of the named attempts (separated by spaces). With a time, only those
// whose message was out by then: mail that is older says nothing about it.
func (t *tx) plansTo(account int64, address, except string, by time.Time) ([]plan, error) {
	until := int64(1) << 62
	if !by.IsZero() {
		until = ms(by.Add(skew))
	}
	found, err := all(t.ctx, t, scanPlanRow, planRow+`JOIN attempt a ON a.id = p.attempt_id
		WHERE p.account_id = ? AND p.state IN ('unsent','active','paused','held') AND coalesce(a.sent_at, a.created_at) <= ?
		AND p.attempt_id IN (SELECT attempt_id FROM attempt_recipient WHERE address = ?) ORDER BY p.created_at, p.id`, account, until, mail.AddressKey(address))
	if err != nil || except == "" {
		return found, err
	}
	out := found[:0]
	for _, p := range found {
		mine, err := t.planIsOf(p.id, strings.Fields(except))
		if err != nil {
			return nil, err
		}
		if !mine {
			out = append(out, p)
		}
	}
	return out, nil
}

func (t *tx) planIsOf(id string, attempts []string) (bool, error) {
	for _, a := range attempts {
		var n int
		ok, err := t.row(`SELECT 1 WHERE ?1 IN (SELECT id FROM plan WHERE attempt_id = ?2 UNION SELECT plan_id FROM step WHERE attempt_id = ?2)`, []any{id, a}, &n)
		if err != nil || ok {
			return ok, err
		}
	}
	return false, nil
}

// setPlan moves a plan by comparing its version, and writes the audit line.
func (t *tx) setPlan(p *plan, to mail.PlanState, resume time.Time, c cause) error {
	n, err := t.exec(`UPDATE plan SET before = CASE WHEN state = ?1 THEN before ELSE state END, state = ?1, why = ?2, event_id = ?3, resume_at = ?4,
			version = version + 1, updated_at = ?5 WHERE id = ?6 AND version = ?7`,
		to, c.why, orNull(c.event), ms(resume), t.now, p.id, p.version)
	if err != nil {
		return err
	}
	if n == 0 {
		return conflict("The follow-up plan %s was changed at the same moment.", p.id)
	}
	l := line{account: p.account, action: "plan." + string(to), subject: "plan:" + p.id, why: c.why, from: string(p.state), to: string(to),
		related: append([]string{"attempt:" + p.attempt}, c.related...)}
	if p.attempt == "" {
		l.related = c.related
	}
	if !resume.IsZero() {
		l.to += " until " + resume.UTC().Format(time.RFC3339)
	}
	p.state, p.why, p.resume, p.version = to, c.why, ms(resume), p.version+1
	t.changed("plans", p.name, p.id)
	return t.audit(l)
}

// stopPlan ends an open plan: every step that is not under way is cancelled. A
// step whose attempt is being sent already cannot be called back; the audit
// says so. It returns what was done, in words.
func (t *tx) stopPlan(p *plan, to mail.PlanState, c cause) (string, error) {
	steps, err := t.steps(p.id)
	if err != nil {
		return "", err
	}
	cancelled, late := 0, false
	for i := range steps {
		switch st := &steps[i]; st.State {
		case mail.FollowWaiting, mail.FollowClaimed:
			if err := t.moveStep(st, mail.FollowCancelled, c.why); err != nil {
				return "", err
			}
			if err := t.cancelPending(p.account, st.ID, c.why); err != nil {
				return "", err
			}
			cancelled++
		case mail.FollowSending:
			late = true
			if err := t.audit(line{account: p.account, action: "step.too_late", subject: "plan:" + p.id, related: append([]string{"attempt:" + st.AttemptID}, c.related...),
				why: "it was being sent already: " + c.why}); err != nil {
				return "", err
			}
		}
	}
	if err := t.setPlan(p, to, time.Time{}, c); err != nil {
		return "", err
	}
	done := "stopped a follow-up plan, " + count(cancelled, "step") + " cancelled"
	if late {
		done += ", one was on its way already"
	}
	return done, nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return itoa(int64(n)) + " " + what + "s"
}

// cancelPending ends a step's attempt that was recorded and not yet claimed:
// nothing of it was sent, and nothing will be.
func (t *tx) cancelPending(account int64, step, why string) error {
	var id string
	ok, err := t.row(`SELECT id FROM attempt WHERE idempotency_key = ? AND key_released = 0 AND status = 'pending'`, []any{mail.FollowUpPrefix + step}, &id)
	if err != nil || !ok {
		return err
	}
	if _, err := t.exec(`UPDATE attempt SET status = 'sending', held = '', updated_at = ? WHERE id = ?`, t.now, id); err != nil {
		return err
	}
	if _, err := t.exec(`UPDATE attempt SET status = 'failed', error_code = ?, error_text = ?, key_released = 1, updated_at = ? WHERE id = ?`,
		mail.CodeCancelled, "The follow-up was cancelled before it was sent: "+why, t.now, id); err != nil {
		return err
	}
	t.changed("attempts", "", id)
	return t.audit(line{account: account, action: "attempt.settled", subject: "attempt:" + id, why: why, from: string(mail.StatusPending), to: string(mail.StatusFailed)})
}

const planColumns = `SELECT p.id, c.name, coalesce(p.attempt_id,''), coalesce(p.draft_id,0), p.state, p.why, coalesce(p.event_id,0), p.resume_at, p.version,
	coalesce(a.subject, d.subject, ''), coalesce(a.recipients, d.recipients, '{}'), p.created_at, p.updated_at
	FROM plan p JOIN account c ON c.id = p.account_id LEFT JOIN attempt a ON a.id = p.attempt_id LEFT JOIN draft d ON d.id = p.draft_id `

func scanPlan(r scanner) (p mail.Plan, err error) {
	var to string
	var resume, created, updated int64
	if err = r.Scan(&p.ID, &p.Account, &p.AttemptID, &p.DraftID, &p.State, &p.Why, &p.EventID, &resume, &p.Version,
		&p.Subject, &to, &created, &updated); err != nil {
		return p, err
	}
	var all people
	if err = fromJSON(to, &all); err != nil {
		return p, err
	}
	p.Recipients = append(append(append(p.Recipients, all.To...), all.Cc...), all.Bcc...)
	p.ResumeAt, p.CreatedAt, p.UpdatedAt = at(resume), at(created), at(updated)
	return p, nil
}

// Plan returns one follow-up plan with its steps.
func (s *Store) Plan(ctx context.Context, id string) (mail.Plan, error) {
	found, err := s.plans(ctx, `WHERE p.id = ?`, id)
	if err == nil && len(found) == 0 {
		err = notFound("There is no follow-up plan %s.", id)
	}
	if err != nil {
		return mail.Plan{}, err
	}
	return found[0], nil
}

// Plans lists follow-up plans with their steps, the last changed first.
func (s *Store) Plans(ctx context.Context, f mail.PlanFilter) ([]mail.Plan, error) {
	where, args := []string{"1"}, []any{}
	if f.Account != "" {
		where, args = append(where, `c.name = ?`), append(args, f.Account)
	}
	if f.Attempt != "" {
		where, args = append(where, `p.id IN (SELECT id FROM plan WHERE attempt_id = ? UNION SELECT plan_id FROM step WHERE attempt_id = ?)`), append(args, f.Attempt, f.Attempt)
	}
	if f.Open {
		where = append(where, `p.state IN ('unsent','active','paused','held')`)
	}
	limit := f.Limit
	if limit <= 0 {
		limit = 200
	}
	return s.plans(ctx, `WHERE `+strings.Join(where, " AND ")+` ORDER BY p.updated_at DESC, p.id LIMIT ?`, append(args, limit)...)
}

func (s *Store) plans(ctx context.Context, where string, args ...any) ([]mail.Plan, error) {
	found, err := all(ctx, s.r, scanPlan, planColumns+where, args...)
	if err != nil {
		return nil, err
	}
	for i := range found {
		if found[i].Steps, err = all(ctx, s.r, scanStep, stepColumns+`WHERE s.plan_id = ? ORDER BY s.position`, found[i].ID); err != nil {
			return nil, err
		}
	}
	return found, nil
}
