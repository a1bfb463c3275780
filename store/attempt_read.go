package store

import (
	"context"
	"strings"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/view"
)

// retriedBy is one lookup in the index of lineage.
const attemptColumns = `a.id, a.kind, c.name, coalesce(a.message_id,0), a.idempotency_key, a.key_released, a.payload_digest,
	a.from_name, a.from_addr, a.recipients, a.subject, a.body, a.attachments, a.status, a.owner, a.held, coalesce(a.handover_at,0),
	a.rfc_message_id, a.other_ids, coalesce(a.provider_id,''), coalesce(a.error_code,''), coalesce(a.error_text,''), a.retryable,
	a.evidence, a.findings, a.accepted_late, a.bounced,
	a.copy_status, a.copy_folder, a.copy_validity, a.copy_uid, a.copy_uid_next, a.copy_owner, coalesce(a.copy_begun_at,0),
	a.copy_error_code, a.copy_error_text, coalesce(a.retry_of,''), a.auto_tries, coalesce(a.next_try_at,0),
	coalesce(a.resolution,''), coalesce(a.resolved_at,0), a.created_at, a.updated_at, coalesce(a.sent_at,0),
	coalesce((SELECT n.id FROM attempt n WHERE n.retry_of = a.id ORDER BY n.created_at DESC LIMIT 1),'')`

const attemptFrom = ` FROM attempt a JOIN account c ON c.id = a.account_id `

func scanAttempt(r scanner) (a mail.Attempt, err error) {
	var to, files, others, evidence, findings string
	var late bool
	var handover, begun, next, resolved, created, updated, sent int64
	if err = r.Scan(&a.ID, &a.Kind, &a.Account, &a.MessageID, &a.IdempotencyKey, &a.KeyReleased, &a.PayloadDigest,
		&a.From.Name, &a.From.Addr, &to, &a.Subject, &a.Body, &files, &a.Status, &a.Owner, &a.Held, &handover,
		&a.RFCMessageID, &others, &a.ProviderID, &a.ErrorCode, &a.ErrorText, &a.Retryable,
		&evidence, &findings, &late, &a.Bounced,
		&a.Copy.Status, &a.Copy.Folder, &a.Copy.UIDValidity, &a.Copy.UID, &a.Copy.UIDNext, &a.Copy.Owner, &begun,
		&a.Copy.ErrorCode, &a.Copy.ErrorText, &a.RetryOf, &a.AutoTries, &next,
		&a.Resolution, &resolved, &created, &updated, &sent, &a.RetriedBy); err != nil {
		return a, err
	}
	var p people
	for _, f := range []struct {
		from string
		into any
	}{{to, &p}, {files, &a.Attachments}, {others, &a.OtherIDs}, {evidence, &a.Evidence}, {findings, &a.Findings}} {
		if err = fromJSON(f.from, f.into); err != nil {
			return a, err
		}
	}
	a.To, a.Cc, a.Bcc = p.To, p.Cc, p.Bcc
	a.Evidence.AcceptedLate = late
	a.HandoverAt, a.Copy.BegunAt, a.NextTryAt, a.ResolvedAt = at(handover), at(begun), at(next), at(resolved)
	a.CreatedAt, a.UpdatedAt, a.SentAt = at(created), at(updated), at(sent)
	return a, nil
}

func (s *Store) attempts(ctx context.Context, where string, args ...any) ([]mail.Attempt, error) {
	return all(ctx, pool{s.r, &s.keptRead}, scanAttempt, `SELECT `+attemptColumns+attemptFrom+where, args...)
}

func (s *Store) oneAttempt(ctx context.Context, what, where string, args ...any) (mail.Attempt, error) {
	found, err := s.attempts(ctx, where, args...)
	if err != nil {
		return mail.Attempt{}, err
	}
	if len(found) == 0 {
		return mail.Attempt{}, notFound("There is no attempt %s.", what)
	}
	return found[0], nil
}

// Attempt returns one attempt, without its bytes.
func (s *Store) Attempt(ctx context.Context, id string) (mail.Attempt, error) {
	return s.oneAttempt(ctx, id, `WHERE a.id = ?`, id)
}

// AttemptByKey returns the attempt that holds an idempotency key, else the
// last one that gave it back (KeyReleased is then set).
func (s *Store) AttemptByKey(ctx context.Context, key string) (mail.Attempt, error) {
	return s.oneAttempt(ctx, "with that key", `WHERE a.idempotency_key = ? ORDER BY a.key_released, a.created_at DESC LIMIT 1`, key)
}

// AttemptsByMessageID returns the attempts that were sent with a Message-ID
// (brackets included), newest first: several after a resend of the same bytes.
func (s *Store) AttemptsByMessageID(ctx context.Context, rfcMessageID string) ([]mail.Attempt, error) {
	return s.attempts(ctx, `WHERE a.rfc_message_id = ? ORDER BY a.created_at DESC`, rfcMessageID)
}

// AttemptBytes returns exactly what DATA carries or carried. They are
// NOT_FOUND when the record has expired.
func (s *Store) AttemptBytes(ctx context.Context, id string) ([]byte, error) {
	var b []byte
	ok, err := scanRow(s.r.QueryRowContext(ctx, `SELECT bytes FROM attempt WHERE id = ?`, id), &b)
	if err != nil {
		return nil, fail(err)
	}
	if !ok {
		return nil, notFound("There is no attempt %s.", id)
	}
	if b == nil {
		return nil, notFound("The bytes of attempt %s are no longer kept.", id)
	}
	return b, nil
}

// AttemptAttachments returns the files that came with an attempt's draft.
func (s *Store) AttemptAttachments(ctx context.Context, id string) ([]mail.Attachment, error) {
	return all(ctx, s.r, scanAttachment, attachmentQuery+`attempt_id = ? ORDER BY position`, id)
}

// SendingAttempts lists the attempts in sending, whoever owns them.
func (s *Store) SendingAttempts(ctx context.Context) ([]mail.Attempt, error) {
	return s.attempts(ctx, `WHERE a.status = 'sending' ORDER BY a.created_at`)
}

// PendingAttempts lists the attempts in pending, the held ones too, oldest first.
func (s *Store) PendingAttempts(ctx context.Context) ([]mail.Attempt, error) {
	return s.attempts(ctx, `WHERE a.status = 'pending' ORDER BY a.created_at`)
}

// DueRetries lists the failed attempts whose next automatic try has come.
func (s *Store) DueRetries(ctx context.Context, now time.Time) ([]mail.Attempt, error) {
	return s.attempts(ctx, `WHERE a.next_try_at IS NOT NULL AND a.next_try_at <= ? ORDER BY a.next_try_at`, ms(now))
}

// ListAttempts lists attempts, newest first.
func (s *Store) ListAttempts(ctx context.Context, f view.AttemptFilter) ([]mail.Attempt, error) {
	where, args := []string{}, []any{}
	and := func(cond string, arg ...any) { where, args = append(where, cond), append(args, arg...) }
	if f.Message != 0 {
		and(`a.message_id = ?`, f.Message)
	}
	if f.Account != "" {
		id, err := s.AccountID(ctx, f.Account)
		if err != nil {
			return nil, err
		}
		and(`a.account_id = ?`, id)
	}
	if f.Status != "" {
		and(`a.status = ?`, f.Status)
	}
	if f.Open {
		and(`a.status IN ('failed','uncertain') AND a.resolution IS NULL AND NOT EXISTS (SELECT 1 FROM attempt n WHERE n.retry_of = a.id)`)
	}
	if !f.Before.IsZero() {
		and(`a.created_at < ?`, ms(f.Before))
	}
	q := ""
	if len(where) > 0 {
		q = "WHERE " + strings.Join(where, " AND ")
	}
	limit := f.Limit
	if limit <= 0 {
		limit = 200
	}
	return s.attempts(ctx, q+` ORDER BY a.created_at DESC, a.rowid DESC LIMIT ?`, append(args, limit)...)
}

// Chain returns the attempts of one lineage, oldest first: the first one that
// was tried, and everything that was tried again from it.
func (s *Store) Chain(ctx context.Context, id string) ([]mail.Attempt, error) {
	found, err := s.attempts(ctx, `WHERE a.id IN (
		WITH RECURSIVE
			up(id, retry_of) AS (
				SELECT id, retry_of FROM attempt WHERE id = ?
				UNION SELECT p.id, p.retry_of FROM up JOIN attempt p ON p.id = up.retry_of),
			down(id) AS (
				SELECT id FROM up WHERE retry_of IS NULL
				UNION SELECT n.id FROM down JOIN attempt n ON n.retry_of = down.id)
		SELECT id FROM down) ORDER BY a.created_at, a.rowid`, id)
	if err == nil && len(found) == 0 {
		err = notFound("There is no attempt %s.", id)
	}
	return found, err
}

// CountAttemptsSince counts an account's attempts made after a time, in all
// processes: what the rate limit is measured by.
func (s *Store) CountAttemptsSince(ctx context.Context, account string, since time.Time) (n int, err error) {
	id, err := s.AccountID(ctx, account)
	if err != nil {
		return 0, err
	}
	err = s.r.QueryRowContext(ctx, `SELECT count(*) FROM attempt WHERE account_id = ? AND created_at > ?`, id, ms(since)).Scan(&n)
	return n, fail(err)
}

// WroteTo reports whether an account has an attempt to an address that was, or
// may have been, accepted.
func (s *Store) WroteTo(ctx context.Context, account, address string) (yes bool, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM attempt_recipient r JOIN attempt a ON a.id = r.attempt_id
		JOIN account c ON c.id = a.account_id
		WHERE r.address = ? AND c.name = ? AND a.status IN ('sent','uncertain'))`, mail.AddressKey(address), account).Scan(&yes)
	return yes, fail(err)
}
