package store

import (
	"context"

	"skrzynka/mail"
)

// CopyBegun commits that the APPEND of a sent copy begins, before its literal:
// into folder, whose UIDVALIDITY and UIDNEXT are given so that the copy can be
// looked for. Of two processes one gets a CONFLICT and must not append.
func (s *Store) CopyBegun(ctx context.Context, id, owner, folder string, validity, uidNext uint32) error {
	return s.write(ctx, func(t *tx) error {
		m, err := t.move(id, "copied", `UPDATE attempt SET copy_status = 'pending', copy_owner = ?, copy_begun_at = ?, copy_folder = ?,
				copy_validity = ?, copy_uid = 0, copy_uid_next = ?, copy_error_code = '', copy_error_text = '', updated_at = ?
			WHERE id = ? AND status = 'sent' AND copy_status IN ('pending','failed','skipped') AND copy_begun_at IS NULL`,
			owner, t.now, folder, validity, uidNext, t.now, id)
		if err != nil {
			return err
		}
		return t.auditAttempt(id, m, "copy.begun", "", "", "")
	})
}

// CopySettled writes the outcome of a sent copy. It applies to one that owner
// has begun (for recovery: the dead process that had), to one that nobody has
// begun, and to an unknown one that was looked for; else it is a CONFLICT. The
// delivery status is never touched.
func (s *Store) CopySettled(ctx context.Context, id, owner string, c mail.CopySettled) error {
	if _, err := mail.ParseCopyStatus(string(c.Status)); err != nil || c.Status == mail.CopyPending {
		return mail.Errorf(mail.CodeInternal, "", "A sent copy cannot be settled as %q.", c.Status)
	}
	return s.write(context.WithoutCancel(ctx), func(t *tx) error {
		var old string
		if _, err := t.row(`SELECT copy_status FROM attempt WHERE id = ?`, []any{id}, &old); err != nil {
			return err
		}
		// Failed and skipped can be begun anew; saved and unknown cannot.
		m, err := t.move(id, "given another copy", `UPDATE attempt SET copy_status = ?1, copy_owner = '',
				copy_begun_at = CASE WHEN ?1 IN ('failed','skipped') THEN NULL ELSE copy_begun_at END,
				copy_folder = CASE WHEN ?2 <> '' THEN ?2 ELSE copy_folder END,
				copy_validity = CASE WHEN ?3 <> 0 THEN ?3 ELSE copy_validity END,
				copy_uid = ?4, copy_error_code = ?5, copy_error_text = ?6, updated_at = ?7
			WHERE id = ?8 AND status = 'sent' AND (
				copy_status = 'unknown'
				OR (copy_status = 'pending' AND copy_begun_at IS NOT NULL AND copy_owner = ?9)
				OR (copy_status IN ('pending','failed','skipped') AND copy_begun_at IS NULL))`,
			c.Status, c.Folder, c.UIDValidity, c.UID, c.Code, c.Text, t.now, id, owner)
		if err != nil {
			return err
		}
		return t.auditAttempt(id, m, "copy.settled", c.Text, old, string(c.Status))
	})
}

// CopiesOpen lists the sent attempts whose copy is pending, oldest first. One
// with Copy.BegunAt set belongs to Copy.Owner.
func (s *Store) CopiesOpen(ctx context.Context) ([]mail.Attempt, error) {
	return s.attempts(ctx, `WHERE a.status = 'sent' AND a.copy_status = 'pending' ORDER BY a.created_at`)
}
