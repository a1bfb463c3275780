package store

import (
	"time"

	"skrzynka/mail"
)

const stepColumns = `SELECT s.id, s.plan_id, s.position, s.days, s.working, s.extra, s.body, s.state, s.due_at, s.note, s.owner,
	coalesce(s.attempt_id,''), s.tries, s.updated_at FROM step s `

func scanStep(r scanner) (s mail.FollowStep, err error) {
	var extra, due, updated int64
	err = r.Scan(&s.ID, &s.PlanID, &s.Position, &s.Delay.Days, &s.Delay.Working, &extra, &s.Body, &s.State, &due, &s.Note, &s.Owner,
		&s.AttemptID, &s.Tries, &updated)
	s.Delay.Time, s.DueAt, s.UpdatedAt = time.Duration(extra)*time.Millisecond, at(due), at(updated)
	return s, err
}

// steps lists the steps of a plan in order.
func (t *tx) steps(plan string) ([]mail.FollowStep, error) {
	return all(t.ctx, t, scanStep, stepColumns+`WHERE s.plan_id = ? ORDER BY s.position`, plan)
}

func (t *tx) step(id string) (mail.FollowStep, error) {
	found, err := all(t.ctx, t, scanStep, stepColumns+`WHERE s.id = ?`, id)
	if err == nil && len(found) == 0 {
		err = notFound("There is no follow-up step %s.", id)
	}
	if err != nil {
		return mail.FollowStep{}, err
	}
	return found[0], nil
}

// moveStep moves a step by comparing its old state; note says why.
func (t *tx) moveStep(s *mail.FollowStep, to mail.FollowState, note string) error {
	owner := s.Owner
	if to != mail.FollowClaimed && to != mail.FollowSending {
		owner = ""
	}
	n, err := t.exec(`UPDATE step SET state = ?, note = ?, owner = ?, attempt_id = ?, tries = ?, due_at = ?, updated_at = ? WHERE id = ? AND state = ?`,
		to, note, owner, orNull(s.AttemptID), s.Tries, ms(s.DueAt), t.now, s.ID, s.State)
	if err != nil {
		return err
	}
	if n == 0 {
		return conflict("The follow-up step %s was changed at the same moment.", s.ID)
	}
	s.State, s.Note, s.Owner = to, note, owner
	t.changed("plans", "", s.PlanID)
	return nil
}
