package store

import (
	"context"
	"strings"

	"skrzynka/mail"
)

// line is one audit entry being written; Account is an id, 0 for none.
type line struct {
	account  int64
	action   string
	subject  string
	why      string
	from, to string
	related  []string
}

// audit writes one line in this transaction.
func (t *tx) audit(l line) error {
	res, err := t.ExecContext(t.ctx, `INSERT INTO audit (at, actor, account_id, action, subject, why, from_state, to_state)
		VALUES (?,?,?,?,?,?,?,?)`, t.now, t.actor, orNull(l.account), l.action, l.subject, l.why, l.from, l.to)
	if err != nil {
		return err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return err
	}
	for _, r := range l.related {
		if r == "" || r == l.subject {
			continue
		}
		if _, err := t.exec(`INSERT OR IGNORE INTO audit_related (audit_id, subject) VALUES (?,?)`, id, r); err != nil {
			return err
		}
	}
	t.changed("audit", "", l.subject)
	return nil
}

// AppendAudit writes one line of history: Action, Subject, and as far as given
// Account, Why, From, To, Related and Actor. Its time is now.
func (s *Store) AppendAudit(ctx context.Context, e mail.AuditEntry) error {
	if e.Actor != "" {
		ctx = mail.WithActor(ctx, e.Actor)
	}
	return s.write(ctx, func(t *tx) error {
		var account int64
		if e.Account != "" {
			var err error
			if account, err = t.accountID(e.Account); err != nil {
				return err
			}
		}
		return t.audit(line{account: account, action: e.Action, subject: e.Subject, why: e.Why, from: e.From, to: e.To, related: e.Related})
	})
}

const auditColumns = `u.id, u.at, u.actor, coalesce(c.name,''), u.action, u.subject, u.why, u.from_state, u.to_state,
	coalesce(CASE substr(u.subject, 1, instr(u.subject, ':'))
		WHEN 'attempt:' THEN (SELECT x.subject FROM attempt x WHERE x.id = substr(u.subject, 9))
		WHEN 'message:' THEN (SELECT x.subject FROM message x WHERE x.id = CAST(substr(u.subject, 9) AS INTEGER))
		WHEN 'draft:' THEN (SELECT x.subject FROM draft x WHERE x.id = CAST(substr(u.subject, 7) AS INTEGER)) END, ''),
	(SELECT group_concat(r.subject, char(10)) FROM audit_related r WHERE r.audit_id = u.id)
	FROM audit u LEFT JOIN account c ON c.id = u.account_id`

// Audit returns lines of history, newest first: those whose subject is given
// or related to it, or with subject "" all of them. Limit 0 is 500.
func (s *Store) Audit(ctx context.Context, subject string, limit int) ([]mail.AuditEntry, error) {
	if limit <= 0 {
		limit = 500
	}
	if subject == "" {
		return all(ctx, s.r, scanAudit, `SELECT `+auditColumns+` ORDER BY u.id DESC LIMIT ?`, limit)
	}
	return all(ctx, s.r, scanAudit, `SELECT `+auditColumns+` WHERE u.id IN (
			SELECT id FROM audit WHERE subject = ?1
			UNION SELECT audit_id FROM audit_related WHERE subject = ?1)
		ORDER BY u.id DESC LIMIT ?2`, subject, limit)
}

func scanAudit(r scanner) (e mail.AuditEntry, err error) {
	var when int64
	var related *string
	if err = r.Scan(&e.ID, &when, &e.Actor, &e.Account, &e.Action, &e.Subject, &e.Why, &e.From, &e.To, &e.About, &related); err != nil {
		return e, err
	}
	e.At = at(when)
	if related != nil {
		e.Related = strings.Split(*related, "\n")
	}
	return e, nil
}
