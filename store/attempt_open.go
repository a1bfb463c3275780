package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"strconv"
	"time"

	"skrzynka/mail"
)

// OpenAttempt records a request to send as pending, before anything else
// happens, and deletes the draft it was made from (draftID, 0 for none) in the
// same commit; the draft's attachments stay with the attempt. Without a draft a.Files
// are stored with it. a.Bytes is what DATA will carry. An empty ID or Owner is filled in.
//
// The idempotency key decides (see the key table): the same key and payload
// return the existing attempt and replayed true; another payload is
// IDEMPOTENCY_KEY_REUSED. A released or expired key makes a new attempt.
//
// With RetryOf the older attempt is marked: an undecided uncertain one as
// resent, a failed one as no longer waiting. AutoTries > 0 says that nobody
// asked for this retry; it is a CONFLICT unless the older one still waits for
// it, so that of two processes only one tries again.
func (s *Store) OpenAttempt(ctx context.Context, a mail.Attempt, draftID int64) (_ mail.Attempt, replayed bool, err error) {
	if a.ID == "" {
		a.ID = mail.NewID()
	}
	if a.Owner == "" {
		a.Owner = s.Owner()
	}
	if len(a.Bytes) == 0 || len(a.PayloadDigest) == 0 || a.IdempotencyKey == "" {
		return a, false, mail.Errorf(mail.CodeInternal, "", "An attempt needs a key, a payload digest and its bytes.")
	}
	id := a.ID
	err = s.write(ctx, func(t *tx) error {
		old, err := t.keyHolder(a.IdempotencyKey)
		if err != nil {
			return err
		}
		switch {
		case old == nil || old.expired:
		case !bytes.Equal(old.payload, a.PayloadDigest):
			return mail.Errorf(mail.CodeKeyReused, "Use another key for another message.",
				"The idempotency key %+q was used for a message with other content or recipients.", a.IdempotencyKey)
		case old.released:
			if a.RetryOf == "" && !old.retried {
				a.RetryOf = old.id
			}
		default:
			id, replayed = old.id, true
			return t.dropDraft(draftID, a.IdempotencyKey)
		}
		return t.insertAttempt(&a, draftID)
	})
	if err != nil {
		return mail.Attempt{}, false, err
	}
	got, err := s.Attempt(ctx, id)
	return got, replayed, err
}

type keyHolder struct {
	id                string
	payload           []byte
	released, expired bool
	retried           bool
}

// keyHolder finds the attempt that decides about a key: the one that holds it,
// else the last that gave it back.
func (t *tx) keyHolder(key string) (*keyHolder, error) {
	var k keyHolder
	var bare bool
	ok, err := t.row(`SELECT id, payload_digest, key_released, bytes IS NULL,
			EXISTS (SELECT 1 FROM attempt x WHERE x.retry_of = attempt.id) FROM attempt WHERE idempotency_key = ?
		ORDER BY key_released, created_at DESC, rowid DESC LIMIT 1`, []any{key}, &k.id, &k.payload, &k.released, &bare, &k.retried)
	if err != nil || !ok {
		return nil, err
	}
	k.expired = k.released && bare
	return &k, nil
}

// dropDraft deletes the draft of a repeated send, if it is the same send.
func (t *tx) dropDraft(id int64, key string) error {
	if id == 0 {
		return nil
	}
	n, err := t.exec(`DELETE FROM draft WHERE id = ? AND idempotency_key = ?`, id, key)
	if n > 0 {
		t.changed("drafts", "", strconv.FormatInt(id, 10))
	}
	return err
}

func (t *tx) insertAttempt(a *mail.Attempt, draftID int64) error {
	account, err := t.accountID(a.Account)
	if err != nil {
		return err
	}
	if a.Kind == mail.KindReply {
		var n int
		ok, err := t.row(`SELECT 1 FROM message WHERE id = ? AND account_id = ?`, []any{a.MessageID, account}, &n)
		if err != nil {
			return err
		}
		if !ok {
			return mail.Errorf(mail.CodeReplyMessageInvalid, "Choose a stored message of this account.", "There is no message %d to answer.", a.MessageID)
		}
	}
	if a.RetryOf != "" {
		if err := t.supersede(a); err != nil {
			return err
		}
	}
	if err := t.underLimit(account, a); err != nil {
		return err
	}
	if a.Attachments == nil {
		a.Attachments = []mail.AttachmentRef{}
	}
	sum := sha256.Sum256(a.Bytes)
	_, err = t.exec(`INSERT INTO attempt (id, account_id, kind, message_id, idempotency_key, payload_digest, from_name, from_addr,
		recipients, subject, body, attachments, status, owner, held, rfc_message_id, evidence, bytes, bytes_digest, retry_of, auto_tries,
		created_at, updated_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,'pending',?,?,?,'{}',?,?,?,?,?,?)`,
		a.ID, account, a.Kind, orNull(a.MessageID), a.IdempotencyKey, a.PayloadDigest, a.From.Name, a.From.Addr,
		toJSON(people{a.To, a.Cc, a.Bcc}), a.Subject, a.Body, toJSON(a.Attachments), a.Owner, a.Held, a.RFCMessageID,
		a.Bytes, sum[:], orNull(a.RetryOf), a.AutoTries, t.now, t.now)
	if isUnique(err) {
		return &mail.Error{Code: mail.CodeKeyConflict, Retryable: true, Err: err,
			Text: "The idempotency key was taken by another process at the same moment.", Hint: "Try again."}
	}
	if err != nil {
		return err
	}
	for _, r := range a.Recipients() {
		if _, err := t.exec(`INSERT OR IGNORE INTO attempt_recipient (address, attempt_id) VALUES (?,?)`, r.Key(), a.ID); err != nil {
			return err
		}
	}
	l := line{account: account, action: "attempt.opened", subject: "attempt:" + a.ID, to: string(mail.StatusPending)}
	if a.MessageID != 0 {
		l.related = append(l.related, messageSubject(a.MessageID))
		t.changed("messages", a.Account, strconv.FormatInt(a.MessageID, 10))
	}
	if a.RetryOf != "" {
		l.related = append(l.related, "attempt:"+a.RetryOf)
	}
	if draftID != 0 {
		if _, err := t.exec(`UPDATE attachment SET draft_id = NULL, attempt_id = ? WHERE draft_id = ?`, a.ID, draftID); err != nil {
			return err
		}
		n, err := t.exec(`DELETE FROM draft WHERE id = ?`, draftID)
		if err != nil {
			return err
		}
		if n == 0 {
			return conflict("The draft %d was sent or discarded in the meantime; nothing was stored.", draftID)
		}
		l.related = append(l.related, "draft:"+strconv.FormatInt(draftID, 10))
		t.changed("drafts", a.Account, strconv.FormatInt(draftID, 10))
	}
	for i, f := range a.Files {
		if err := t.attach("attempt_id", a.ID, i, f); err != nil {
			return err
		}
	}
	t.changed("attempts", a.Account, a.ID)
	return t.audit(l)
}

// underLimit holds policy.max_per_minute where no other process can come
// between the count and the insert.
func (t *tx) underLimit(account int64, a *mail.Attempt) error {
	if a.MaxPerMinute <= 0 {
		return nil
	}
	var n int
	if _, err := t.row(`SELECT count(*) FROM attempt WHERE account_id = ? AND created_at > ?`,
		[]any{account, t.now - time.Minute.Milliseconds()}, &n); err != nil {
		return err
	}
	if n < a.MaxPerMinute {
		return nil
	}
	return &mail.Error{Code: mail.CodeRateLimited, Retryable: true,
		Text: "Account " + a.Account + " has reached policy.max_per_minute = " + strconv.Itoa(a.MaxPerMinute) + ".",
		Hint: "Try again in a minute; nothing was stored."}
}

// supersede marks the attempt that a retries.
func (t *tx) supersede(a *mail.Attempt) error {
	var status mail.DeliveryStatus
	var account int64
	var waits, decided, retried bool
	ok, err := t.row(`SELECT status, account_id, next_try_at IS NOT NULL, resolution IS NOT NULL,
			EXISTS (SELECT 1 FROM attempt x WHERE x.retry_of = attempt.id) FROM attempt WHERE id = ?`,
		[]any{a.RetryOf}, &status, &account, &waits, &decided, &retried)
	if err != nil {
		return err
	}
	if !ok {
		return notFound("There is no attempt %s to try again.", a.RetryOf)
	}
	if retried {
		// A lineage is a chain: two presses of one key, or two processes, are one
		// resend.
		return conflict("Attempt %s was already sent again; the newest of its chain is the one to look at.", a.RetryOf)
	}
	if a.AutoTries > 0 && !waits {
		return conflict("Attempt %s no longer waits to be tried again.", a.RetryOf)
	}
	if status == mail.StatusPending || status == mail.StatusSending {
		return conflict("Attempt %s is %s: it cannot be tried again before it has ended.", a.RetryOf, status)
	}
	if waits {
		if _, err := t.exec(`UPDATE attempt SET next_try_at = NULL, updated_at = ? WHERE id = ?`, t.now, a.RetryOf); err != nil {
			return err
		}
	}
	if status == mail.StatusUncertain && !decided {
		if _, err := t.exec(`UPDATE attempt SET resolution = ?, resolved_at = ?, updated_at = ? WHERE id = ?`,
			mail.ResolutionResent, t.now, t.now, a.RetryOf); err != nil {
			return err
		}
		if err := t.audit(line{account: account, action: "attempt.resolved", subject: "attempt:" + a.RetryOf,
			to: string(mail.ResolutionResent), related: []string{"attempt:" + a.ID}}); err != nil {
			return err
		}
	}
	t.changed("attempts", a.Account, a.RetryOf)
	return nil
}
