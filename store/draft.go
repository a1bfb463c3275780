package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"skrzynka/mail"
)

// people is how recipients are stored.
type people struct {
	To  []mail.Address `json:"to,omitempty"`
	Cc  []mail.Address `json:"cc,omitempty"`
	Bcc []mail.Address `json:"bcc,omitempty"`
}

// SaveDraft writes a draft and returns it as it is stored: a new one when
// d.ID is 0, with its attachments, and with a fresh idempotency key when it has
// none. An existing one keeps its account, kind, key, attachments and schedule;
// its attachments are returned as they were given, since reading them back at
// every pause of typing would cost what they weigh.
func (s *Store) SaveDraft(ctx context.Context, d mail.Draft) (mail.Draft, error) {
	fresh := d.ID == 0
	err := s.write(ctx, func(t *tx) error {
		to := toJSON(people{d.To, d.Cc, d.Bcc})
		refs := strings.Join(d.References, " ")
		if d.ID != 0 {
			n, err := t.exec(`UPDATE draft SET from_name = ?, from_addr = ?, recipients = ?, subject = ?, body = ?,
				in_reply_to = ?, refs = ?, updated_at = ? WHERE id = ?`,
				d.From.Name, d.From.Addr, to, d.Subject, d.Body, d.InReplyTo, refs, t.now, d.ID)
			if err == nil && n == 0 {
				err = notFound("There is no draft %d: it was sent or discarded.", d.ID)
			}
			t.changed("drafts", d.Account, strconv.FormatInt(d.ID, 10))
			return err
		}
		account, err := t.accountID(d.Account)
		if err != nil {
			return err
		}
		if d.IdempotencyKey == "" {
			d.IdempotencyKey = mail.NewID()
		}
		res, err := t.ExecContext(ctx, `INSERT INTO draft (account_id, kind, message_id, forward, retry_of, from_name, from_addr,
			recipients, subject, body, in_reply_to, refs, idempotency_key, created_at, updated_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
			account, d.Kind, orNull(d.MessageID), d.Forward, orNull(d.RetryOf), d.From.Name, d.From.Addr,
			to, d.Subject, d.Body, d.InReplyTo, refs, d.IdempotencyKey, t.now, t.now)
		if err != nil {
			return err
		}
		if d.ID, err = res.LastInsertId(); err != nil {
			return err
		}
		for i, a := range d.Attachments {
			if err := t.attach("draft_id", d.ID, i, a); err != nil {
				return err
			}
		}
		id := strconv.FormatInt(d.ID, 10)
		t.changed("drafts", d.Account, id)
		l := line{account: account, action: "draft.made", subject: "draft:" + id}
		if d.MessageID != 0 {
			l.related = append(l.related, messageSubject(d.MessageID))
		}
		if d.RetryOf != "" {
			l.related = append(l.related, "attempt:"+d.RetryOf)
		}
		return t.audit(l)
	})
	if err != nil {
		return mail.Draft{}, err
	}
	if fresh {
		return s.Draft(ctx, d.ID)
	}
	got, err := s.draftRow(ctx, d.ID)
	got.Attachments = d.Attachments
	return got, err
}

const draftColumns = `d.id, c.name, d.kind, coalesce(d.message_id,0), d.forward, coalesce(d.retry_of,''), d.from_name, d.from_addr,
	d.recipients, d.subject, d.body, d.in_reply_to, d.refs, coalesce(d.send_at,0), d.send_owner, d.idempotency_key, d.created_at, d.updated_at
	FROM draft d JOIN account c ON c.id = d.account_id`

func scanDraft(r scanner) (d mail.Draft, err error) {
	var to, refs string
	var sendAt, created, updated int64
	if err = r.Scan(&d.ID, &d.Account, &d.Kind, &d.MessageID, &d.Forward, &d.RetryOf, &d.From.Name, &d.From.Addr,
		&to, &d.Subject, &d.Body, &d.InReplyTo, &refs, &sendAt, &d.SendOwner, &d.IdempotencyKey, &created, &updated); err != nil {
		return d, err
	}
	var p people
	if err = fromJSON(to, &p); err != nil {
		return d, err
	}
	d.To, d.Cc, d.Bcc = p.To, p.Cc, p.Bcc
	d.References = strings.Fields(refs)
	d.SendAt, d.CreatedAt, d.UpdatedAt = at(sendAt), at(created), at(updated)
	return d, nil
}

// Draft returns one draft with its attachments and their content.
func (s *Store) Draft(ctx context.Context, id int64) (mail.Draft, error) {
	d, err := s.draftRow(ctx, id)
	if err != nil {
		return mail.Draft{}, err
	}
	d.Attachments, err = all(ctx, s.r, scanAttachment, attachmentQuery+`draft_id = ? ORDER BY position`, id)
	return d, err
}

func (s *Store) draftRow(ctx context.Context, id int64) (mail.Draft, error) {
	found, err := all(ctx, s.r, scanDraft, `SELECT `+draftColumns+` WHERE d.id = ?`, id)
	if err != nil {
		return mail.Draft{}, err
	}
	if len(found) == 0 {
		return mail.Draft{}, notFound("There is no draft %d: it was sent or discarded.", id)
	}
	return found[0], nil
}

// Drafts lists all drafts without attachments, the last changed first.
func (s *Store) Drafts(ctx context.Context) ([]mail.Draft, error) {
	return all(ctx, s.r, scanDraft, `SELECT `+draftColumns+` ORDER BY d.updated_at DESC, d.id DESC`)
}

// DueDrafts lists the scheduled drafts whose time has come, without
// attachments, the earliest first.
func (s *Store) DueDrafts(ctx context.Context, now time.Time) ([]mail.Draft, error) {
	return all(ctx, s.r, scanDraft, `SELECT `+draftColumns+` WHERE d.send_at IS NOT NULL AND d.send_at <= ? ORDER BY d.send_at, d.id`, ms(now))
}

// ScheduledDrafts lists the scheduled drafts, the earliest first.
func (s *Store) ScheduledDrafts(ctx context.Context) ([]mail.Draft, error) {
	return all(ctx, s.r, scanDraft, `SELECT `+draftColumns+` WHERE d.send_at IS NOT NULL ORDER BY d.send_at, d.id`)
}

// DeleteDraft discards a draft.
func (s *Store) DeleteDraft(ctx context.Context, id int64) error {
	return s.write(ctx, func(t *tx) error {
		var account int64
		ok, err := t.row(`DELETE FROM draft WHERE id = ? RETURNING account_id`, []any{id}, &account)
		if err != nil {
			return err
		}
		if !ok {
			return notFound("There is no draft %d: it was sent or discarded.", id)
		}
		t.changed("drafts", "", strconv.FormatInt(id, 10))
		return t.audit(line{account: account, action: "draft.discarded", subject: "draft:" + strconv.FormatInt(id, 10)})
	})
}

// ScheduleDraft sets when a draft is sent and which process asked for it; the
// zero time takes it off the schedule.
func (s *Store) ScheduleDraft(ctx context.Context, id int64, when time.Time, owner string) error {
	return s.write(ctx, func(t *tx) error {
		if when.IsZero() {
			owner = ""
		}
		var account int64
		ok, err := t.row(`UPDATE draft SET send_at = ?, send_owner = ?, updated_at = ? WHERE id = ? RETURNING account_id`,
			[]any{orNull(ms(when)), owner, t.now, id}, &account)
		if err != nil {
			return err
		}
		if !ok {
			return notFound("There is no draft %d: it was sent or discarded.", id)
		}
		t.changed("drafts", "", strconv.FormatInt(id, 10))
		l := line{account: account, action: "draft.unscheduled", subject: "draft:" + strconv.FormatInt(id, 10)}
		if !when.IsZero() {
			l.action, l.to = "draft.scheduled", when.UTC().Format(time.RFC3339)
		}
		return t.audit(l)
	})
}

// AttachToDraft freezes a file with a draft; its size and digest are computed
// here. It returns the draft.
func (s *Store) AttachToDraft(ctx context.Context, id int64, a mail.Attachment) (mail.Draft, error) {
	err := s.write(ctx, func(t *tx) error {
		var next int
		ok, err := t.row(`UPDATE draft SET updated_at = ?1 WHERE id = ?2
			RETURNING (SELECT coalesce(max(position)+1, 0) FROM attachment WHERE draft_id = ?2)`, []any{t.now, id}, &next)
		if err != nil {
			return err
		}
		if !ok {
			return notFound("There is no draft %d: it was sent or discarded.", id)
		}
		t.changed("drafts", "", strconv.FormatInt(id, 10))
		return t.attach("draft_id", id, next, a)
	})
	if err != nil {
		return mail.Draft{}, err
	}
	return s.Draft(ctx, id)
}

// DetachFromDraft removes the attachment at an index of Draft.Attachments.
func (s *Store) DetachFromDraft(ctx context.Context, id int64, index int) (mail.Draft, error) {
	err := s.write(ctx, func(t *tx) error {
		n, err := t.exec(`DELETE FROM attachment WHERE id = (
			SELECT id FROM attachment WHERE draft_id = ? ORDER BY position LIMIT 1 OFFSET ?)`, id, max(index, 0))
		if err != nil {
			return err
		}
		if n == 0 || index < 0 {
			return notFound("Draft %d has no attachment %d.", id, index+1)
		}
		t.changed("drafts", "", strconv.FormatInt(id, 10))
		_, err = t.exec(`UPDATE draft SET updated_at = ? WHERE id = ?`, t.now, id)
		return err
	})
	if err != nil {
		return mail.Draft{}, err
	}
	return s.Draft(ctx, id)
}

// attach stores a file with the draft or attempt that column names.
func (t *tx) attach(column string, of any, position int, a mail.Attachment) error {
	sum := sha256.Sum256(a.Content)
	if a.Content == nil {
		a.Content = []byte{}
	}
	_, err := t.exec(`INSERT INTO attachment (`+column+`, position, name, type, size, sha256, content) VALUES (?,?,?,?,?,?,?)`,
		of, position, a.Name, a.Type, len(a.Content), hex.EncodeToString(sum[:]), a.Content)
	return err
}

const attachmentQuery = `SELECT name, type, size, sha256, content FROM attachment WHERE `

func scanAttachment(r scanner) (a mail.Attachment, err error) {
	err = r.Scan(&a.Name, &a.Type, &a.Size, &a.SHA256, &a.Content)
	return a, err
}

func messageSubject(id int64) string { return "message:" + strconv.FormatInt(id, 10) }
