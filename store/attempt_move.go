package store

import (
	"context"
	"strconv"
	"time"

	"skrzynka/mail"
)

// moved is what the statements of this file return of the row they changed.
type moved struct {
	account int64
	name    string
	message int64
	status  mail.DeliveryStatus
	key     string
}

const movedColumns = ` RETURNING account_id, (SELECT name FROM account WHERE id = account_id), coalesce(message_id,0), status, idempotency_key`

// move runs one UPDATE … RETURNING of an attempt. No row is a CONFLICT that
// names the present state, or NOT_FOUND.
func (t *tx) move(id, what, query string, args ...any) (m moved, err error) {
	ok, err := t.row(query+movedColumns, args, &m.account, &m.name, &m.message, &m.status, &m.key)
	if err != nil {
		return m, err
	}
	if !ok {
		var status, held, owner string
		ok, err := t.row(`SELECT status, held, owner FROM attempt WHERE id = ?`, []any{id}, &status, &held, &owner)
		if err != nil {
			return m, err
		}
		if !ok {
			return m, notFound("There is no attempt %s.", id)
		}
		if held != "" {
			status += ", held: " + held
		}
		e := mail.Errorf(mail.CodeConflict, "Look at its present state.", "Attempt %s cannot be %s: it is %s.", id, what, status)
		e.Details = map[string]any{"status": status, "owner": owner}
		return m, e
	}
	t.changed("attempts", m.name, id)
	if m.message != 0 {
		t.changed("messages", m.name, strconv.FormatInt(m.message, 10))
	}
	return m, nil
}

func (t *tx) auditAttempt(id string, m moved, action, why string, from, to string) error {
	l := line{account: m.account, action: action, subject: "attempt:" + id, why: why, from: from, to: to}
	if m.message != 0 {
		l.related = []string{messageSubject(m.message)}
	}
	return t.audit(l)
}

// ClaimAttempt moves a pending attempt of owner to sending, before credentials
// are asked for or a socket is opened. One that is held, or was claimed
// already, is a CONFLICT.
func (s *Store) ClaimAttempt(ctx context.Context, id, owner string) error {
	return s.write(ctx, func(t *tx) error {
		m, err := t.move(id, "claimed", `UPDATE attempt SET status = 'sending', updated_at = ?
			WHERE id = ? AND status = 'pending' AND held = '' AND owner = ?`, t.now, id, owner)
		if err != nil {
			return err
		}
		if err := t.claimFollowUp(id, m.key, owner); err != nil {
			return err
		}
		if err := t.bumpEpoch(); err != nil {
			return err
		}
		return t.auditAttempt(id, m, "attempt.claimed", "", string(mail.StatusPending), string(mail.StatusSending))
	})
}

// AdoptPending gives a pending attempt whose owner is dead to owner. When the
// owner lives it is a CONFLICT.
func (s *Store) AdoptPending(ctx context.Context, id, owner string) error {
	return s.write(ctx, func(t *tx) error {
		var old string
		ok, err := t.row(`SELECT owner FROM attempt WHERE id = ?`, []any{id}, &old)
		if err != nil {
			return err
		}
		if ok && old != owner && s.OwnerAlive(old) {
			return conflict("Attempt %s belongs to another process that is still running.", id)
		}
		m, err := t.move(id, "taken over", `UPDATE attempt SET owner = ?, updated_at = ? WHERE id = ? AND status = 'pending' AND owner = ?`,
			owner, t.now, id, old)
		if err != nil || old == owner {
			return err
		}
		return t.auditAttempt(id, m, "attempt.adopted", "the process that recorded it has ended", "", "")
	})
}

// MarkHandover commits the handover mark of an attempt owner is sending: the
// whole body is flushed, the first byte of the terminator is not written yet.
// The mark is set once; any error means that the terminator must not be written.
func (s *Store) MarkHandover(ctx context.Context, id, owner string, ev mail.Evidence) error {
	return s.write(ctx, func(t *tx) error {
		ev.MarkDurable = true
		m, err := t.move(id, "handed over", `UPDATE attempt SET handover_at = ?, evidence = ?, updated_at = ?
			WHERE id = ? AND status = 'sending' AND owner = ? AND handover_at IS NULL`, t.now, toJSON(ev), t.now, id, owner)
		if err != nil {
			return err
		}
		return t.auditAttempt(id, m, "attempt.handover", "", "", "")
	})
}

// SettleAttempt writes the terminal state of an attempt that owner was
// sending. For recovery owner is the dead process's id as it was read; a row of
// a living one other than this Store's is a CONFLICT. It is not stopped by ctx
// once begun. A sent attempt then waits for its copy.
func (s *Store) SettleAttempt(ctx context.Context, id, owner string, st mail.Settled) error {
	if !st.Status.Terminal() || (st.Status == mail.StatusSent) == st.SentAt.IsZero() {
		return mail.Errorf(mail.CodeInternal, "", "Attempt %s cannot be settled as %q.", id, st.Status)
	}
	if owner != s.Owner() && s.OwnerAlive(owner) {
		return conflict("Attempt %s belongs to another process that is still running.", id)
	}
	return s.write(context.WithoutCancel(ctx), func(t *tx) error {
		m, err := t.move(id, "settled", `UPDATE attempt SET status = ?1, error_code = ?2, error_text = ?3, retryable = ?4,
				key_released = (?5 AND kind = 'outbound' AND ?1 = 'failed'), evidence = ?6,
				accepted_late = ?7, provider_id = ?8, other_ids = ?9, sent_at = ?10, next_try_at = ?11,
				auto_tries = max(auto_tries, ?12), updated_at = ?13,
				copy_status = CASE WHEN ?16 <> '' THEN 'skipped' ELSE copy_status END, copy_error_text = CASE WHEN ?16 <> '' THEN ?16 ELSE copy_error_text END
			WHERE id = ?14 AND status = 'sending' AND owner = ?15`,
			st.Status, orNull(st.Code), orNull(st.Text), st.Retryable, st.ReleaseKey, toJSON(st.Evidence),
			st.Evidence.AcceptedLate, orNull(st.ProviderID), toJSON(nonNil(st.OtherIDs)), orNull(ms(st.SentAt)), orNull(ms(st.NextTryAt)),
			st.AutoTries, t.now, id, owner, st.SkipCopy)
		if err != nil {
			return err
		}
		if st.SkipCopy != "" {
			if err := t.auditAttempt(id, m, "copy.settled", st.SkipCopy, string(mail.CopyPending), string(mail.CopySkipped)); err != nil {
				return err
			}
		}
		// No epoch: a copy of the database that is older than this, and newer
		// than the claim, holds the row as sending, which nobody sends again.
		return t.auditAttempt(id, m, "attempt.settled", string(st.Code), string(mail.StatusSending), string(st.Status))
	})
}

func nonNil[T any](v []T) []T {
	if v == nil {
		return []T{}
	}
	return v
}

// ResolveAttempt records, once, what a person decided about an uncertain
// attempt. The status stays.
func (s *Store) ResolveAttempt(ctx context.Context, id string, r mail.Resolution) error {
	if _, err := mail.ParseResolution(string(r)); err != nil {
		return invalid("%w", err)
	}
	return s.write(ctx, func(t *tx) error {
		m, err := t.move(id, "resolved (again)", `UPDATE attempt SET resolution = ?, resolved_at = ?, updated_at = ?
			WHERE id = ? AND status = 'uncertain' AND resolution IS NULL`, r, t.now, t.now, id)
		if err != nil {
			return err
		}
		return t.auditAttempt(id, m, "attempt.resolved", "", "", string(r))
	})
}

// AddFinding keeps what a probe, an answer or a bounce showed about an attempt
// that has ended. accepted says that it proves acceptance. The same text is
// kept once.
func (s *Store) AddFinding(ctx context.Context, id, text string, accepted bool) error {
	return s.write(ctx, func(t *tx) error { return t.addFinding(id, text, accepted) })
}

func (t *tx) addFinding(id, text string, accepted bool) error {
	m, err := t.move(id, "given a finding", `UPDATE attempt SET
			findings = CASE WHEN EXISTS (SELECT 1 FROM json_each(findings) WHERE value = ?1) THEN findings ELSE json_insert(findings, '$[#]', ?1) END,
			accepted_late = max(accepted_late, ?2 AND status = 'uncertain'), updated_at = ?3
		WHERE id = ?4 AND status IN ('sent','failed','uncertain')`, text, accepted, t.now, id)
	if err != nil {
		return err
	}
	return t.auditAttempt(id, m, "attempt.finding", text, "", "")
}

// MarkBounced records that a bounce which names this attempt and one of its
// recipients has arrived.
func (s *Store) MarkBounced(ctx context.Context, id, why string) error {
	return s.write(ctx, func(t *tx) error { return t.markBounced(id, why) })
}

func (t *tx) markBounced(id, why string) error {
	m, err := t.move(id, "marked as bounced", `UPDATE attempt SET bounced = 1, updated_at = ?
		WHERE id = ? AND status IN ('sent','uncertain')`, t.now, id)
	if err != nil {
		return err
	}
	return t.auditAttempt(id, m, "attempt.bounced", why, "", "")
}

// HoldAttempt keeps a pending attempt from being sent until a person lets it
// go; why is shown.
func (s *Store) HoldAttempt(ctx context.Context, id, why string) error {
	if why == "" {
		return invalid("A hold needs a reason.")
	}
	return s.write(ctx, func(t *tx) error {
		m, err := t.move(id, "held", `UPDATE attempt SET held = ?, updated_at = ? WHERE id = ? AND status = 'pending' AND held = ''`, why, t.now, id)
		if err != nil {
			return err
		}
		return t.auditAttempt(id, m, "attempt.held", why, "", "")
	})
}

// ReleaseHold lets a held attempt go; owner will send it.
func (s *Store) ReleaseHold(ctx context.Context, id, owner string) error {
	return s.write(ctx, func(t *tx) error {
		m, err := t.move(id, "let go", `UPDATE attempt SET held = '', owner = ?, updated_at = ? WHERE id = ? AND status = 'pending' AND held <> ''`, owner, t.now, id)
		if err != nil {
			return err
		}
		return t.auditAttempt(id, m, "attempt.released", "", "", "")
	})
}

// StopRetry ends the automatic tries of a failed attempt; a person may still
// send it again.
func (s *Store) StopRetry(ctx context.Context, id string) error {
	return s.write(ctx, func(t *tx) error {
		m, err := t.move(id, "taken off the outbox", `UPDATE attempt SET next_try_at = NULL, updated_at = ? WHERE id = ? AND next_try_at IS NOT NULL`, t.now, id)
		if err != nil {
			return err
		}
		return t.auditAttempt(id, m, "attempt.retry_stopped", "", "", "")
	})
}

// ExpireRecords drops the bytes of ended outbound attempts made before a time
// and gives their keys back; it returns how many. An uncertain one that nobody
// has decided about keeps both.
func (s *Store) ExpireRecords(ctx context.Context, before time.Time) (int, error) {
	var n int
	err := s.write(ctx, func(t *tx) error {
		ids, err := all(ctx, t, scanOne[string], `UPDATE attempt SET bytes = NULL, key_released = 1
			WHERE kind = 'outbound' AND bytes IS NOT NULL AND created_at < ?
			AND (status IN ('sent','failed') OR (status = 'uncertain' AND resolution IS NOT NULL)) RETURNING id`, ms(before))
		if err != nil {
			return err
		}
		for _, id := range ids {
			if _, err := t.exec(`DELETE FROM attachment WHERE attempt_id = ?`, id); err != nil {
				return err
			}
			t.changed("attempts", "", id)
		}
		n = len(ids)
		return nil
	})
	return n, err
}
