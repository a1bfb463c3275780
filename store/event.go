package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"skrzynka/mail"
)

// InboundDue lists whole messages whose event is not recorded yet, oldest
// first.
func (s *Store) InboundDue(ctx context.Context, account string, limit int) ([]mail.StoredMessage, error) {
	return all(ctx, s.r, scanMessage, `SELECT `+messageColumns+`WHERE m.id IN (SELECT d.message_id FROM inbound_due d
		JOIN account x ON x.id = d.account_id WHERE x.name = ? ORDER BY d.message_id LIMIT ?) ORDER BY m.id`, account, limit)
}

// RecordHistory records mail that reached the server a day or more before the
// account was known here, and names no Message-ID of ours: it is observed, not
// classified, and has no effect. watched are the folders whose mail makes
// events; that of others is passed over. It returns how many messages it took.
func (s *Store) RecordHistory(ctx context.Context, account string, watched []int64, limit int) (n int, err error) {
	const old = `SELECT d.message_id FROM account c JOIN inbound_due d ON d.account_id = c.id JOIN message m ON m.id = d.message_id
		WHERE c.name = ? AND m.internal_date < c.created_at - 86400000 AND NOT EXISTS (
			SELECT 1 FROM message_ref r JOIN attempt_message_id o ON o.message_id = r.ref WHERE r.message_id = m.id) LIMIT ?`
	ids, err := all(ctx, s.r, scanOne[int64], old, account, limit)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	err = s.write(ctx, func(t *tx) error {
		list := toJSON(ids)
		if _, err := t.exec(`INSERT OR IGNORE INTO event (account_id, folder, uid_validity, uid, message_id, rfc_message_id, in_reply_to, refs,
			from_name, from_addr, from_key, subject, received, size, header_digest, evidence, at)
			SELECT m.account_id, f.name, m.uid_validity, m.uid, m.id, m.message_id, m.in_reply_to, '', m.from_name, m.from_addr, lower(m.from_addr),
				m.subject, m.internal_date, m.size, m.header_digest, x'', ?1
			FROM message m JOIN folder f ON f.id = m.folder_id
			WHERE m.id IN (SELECT d.message_id FROM json_each(?2) v JOIN inbound_due d ON d.message_id = v.value) AND m.folder_id IN (SELECT value FROM json_each(?3))`,
			t.now, list, toJSON(watched)); err != nil {
			return err
		}
		_, err := t.exec(`DELETE FROM inbound_due WHERE message_id IN (SELECT value FROM json_each(?))`, list)
		return err
	})
	return len(ids), err
}

// ClassifyHistory keeps what mail older than the account is taken to be. It has
// no effect, whatever the decision says, and does nothing where a class is kept.
func (s *Store) ClassifyHistory(ctx context.Context, id int64, d mail.Decision) error {
	return s.write(ctx, func(t *tx) error {
		n, err := t.exec(`UPDATE event SET class = ? WHERE id = ? AND class = ''`, d.Class, id)
		if err != nil || n == 0 {
			return err
		}
		_, err = t.exec(`INSERT INTO classification (event_id, class, actor, rule_set, note, detail, at) VALUES (?,?,?,?,?,?,?)`,
			id, d.Class, t.actor, d.RuleSet, "older than the account here: without effect", string(d.Detail), t.now)
		return err
	})
}

// arrival is what RecordInbound reads of the stored message.
type arrival struct {
	id, account             int64
	name, folder            string
	kind                    mail.FolderKind
	validity, uid, size     int64
	mid, reply, refs        string
	fromName, from, subject string
	received                int64
	digest                  []byte
}

func (t *tx) arrival(id int64) (a arrival, ok bool, err error) {
	a.id = id
	ok, err = t.row(`SELECT m.account_id, c.name, f.name, f.kind, m.uid_validity, m.uid, m.size, m.message_id, m.in_reply_to, m.refs,
			m.from_name, m.from_addr, m.subject, m.internal_date, m.header_digest
		FROM message m JOIN folder f ON f.id = m.folder_id JOIN account c ON c.id = m.account_id WHERE m.id = ?`, []any{id},
		&a.account, &a.name, &a.folder, &a.kind, &a.validity, &a.uid, &a.size, &a.mid, &a.reply, &a.refs, &a.fromName, &a.from, &a.subject, &a.received, &a.digest)
	return a, ok, err
}

// RecordInbound records, in one transaction, that a stored message arrived:
// the event under its unique key, its class, the attempts it is about, what
// follows (each effect once), the cancellations and the audit lines. decide is
// pure and is given what the store knows at that moment.
//
// A message whose event is there already, by whomever, gives that event's
// outcome with Replayed. The same mail in another place (another folder, or
// after a renumbering that could not be matched) is noted on its event, with
// Again; nothing else follows from it.
func (s *Store) RecordInbound(ctx context.Context, in mail.Arrival, decide func(mail.Around) mail.Decision) (got mail.Recorded, err error) {
	err = s.write(ctx, func(t *tx) error {
		got, err = t.recordInbound(in, decide)
		return err
	})
	return got, err
}

// RecordInbounds is RecordInbound for several messages in one transaction:
// all of them, or with an error none. A message that is gone is passed over.
func (s *Store) RecordInbounds(ctx context.Context, list []mail.Arrival, decide func(i int, a mail.Around) mail.Decision) error {
	return s.write(ctx, func(t *tx) error {
		for i := range list {
			_, err := t.recordInbound(list[i], func(a mail.Around) mail.Decision { return decide(i, a) })
			if err != nil && !errors.Is(err, mail.ErrCode(mail.CodeNotFound)) {
				return err
			}
		}
		return nil
	})
}

func (t *tx) recordInbound(in mail.Arrival, decide func(mail.Around) mail.Decision) (got mail.Recorded, err error) {
	a, ok, err := t.arrival(in.MessageID)
	if err == nil && !ok {
		err = notFound("There is no message %d.", in.MessageID)
	}
	if err != nil {
		return got, err
	}
	if _, err := t.exec(`DELETE FROM inbound_due WHERE message_id = ?`, a.id); err != nil {
		return got, err
	}
	if got, ok, err = t.known(&a); err != nil || ok {
		return got, err
	}
	around, err := t.around(&a, in)
	if err != nil {
		return got, err
	}
	t.point("stored")
	d := decide(around)
	if d.Skip {
		return mail.Recorded{}, nil
	}
	t.point("classified")
	return t.recordEvent(&a, in, around, d)
}

// point is where tests stop the process.
func (t *tx) point(name string) {
	if t.s.failpoint != nil {
		t.s.failpoint(name)
	}
}

// known finds the event of a message that was recorded before.
func (t *tx) known(a *arrival) (got mail.Recorded, ok bool, err error) {
	const what = `SELECT e.id, e.class, e.outcome FROM event e WHERE `
	into := []any{&got.EventID, &got.Class, &got.Outcome}
	got.Replayed = true
	if ok, err = t.row(what+`e.message_id = ?`, []any{a.id}, into...); err != nil || ok {
		return got, ok, err
	}
	key := []any{a.account, a.folder, a.validity, a.uid}
	if ok, err = t.row(what+`e.account_id = ? AND e.folder = ? AND e.uid_validity = ? AND e.uid = ?`, key, into...); err != nil || ok {
		return got, ok, err
	}
	if ok, err = t.row(what+`e.id = (SELECT event_id FROM event_place WHERE account_id = ? AND folder = ? AND uid_validity = ? AND uid = ?)`, key, into...); err != nil || ok {
		return got, ok, err
	}
	// The same mail in another place: Message-ID, size and every header field
	// are the same. A second delivery has other traces and is another event.
	got.Replayed, got.Again = false, true
	ok, err = t.row(what+`e.account_id = ? AND e.rfc_message_id = ? AND e.size = ? AND e.header_digest = ? ORDER BY e.id LIMIT 1`,
		[]any{a.account, a.mid, a.size, a.digest}, into...)
	if err != nil || !ok {
		return mail.Recorded{}, false, err
	}
	if _, err := t.exec(`INSERT INTO event_place (account_id, folder, uid_validity, uid, event_id, at) VALUES (?,?,?,?,?,?)`,
		a.account, a.folder, a.validity, a.uid, got.EventID, t.now); err != nil {
		return got, false, err
	}
	if _, err := t.exec(`UPDATE event SET message_id = ? WHERE id = ? AND message_id IS NULL`, a.id, got.EventID); err != nil {
		return got, false, err
	}
	return got, true, t.audit(line{account: a.account, action: "event.seen_again", subject: eventSubject(got.EventID),
		why: fmt.Sprintf("the same mail in %q: recorded before, nothing follows", a.folder), related: []string{messageSubject(a.id)}})
}

func eventSubject(id int64) string { return "event:" + itoa(id) }

// around reads what a classification needs.
func (t *tx) around(a *arrival, in mail.Arrival) (mail.Around, error) {
	out := mail.Around{Ours: map[string]bool{}, Received: at(a.received), Folder: a.kind}
	var ids []string
	for _, name := range append(in.Names[:len(in.Names):len(in.Names)], in.OwnID) {
		if name == "" {
			continue
		}
		found, err := all(t.ctx, t, scanOne[string], `SELECT attempt_id FROM attempt_message_id WHERE message_id = ? ORDER BY attempt_id`, name)
		if err != nil {
			return out, err
		}
		if len(found) > 0 {
			out.Ours[name] = true
		}
		if name != in.OwnID {
			ids = append(ids, found...)
		}
	}
	var err error
	if out.Named, err = t.eventAttempts(ids); err != nil || in.Sender == "" {
		return out, err
	}
	key := mail.AddressKey(in.Sender)
	recent, err := all(t.ctx, t, scanOne[string], `SELECT a.id FROM attempt_recipient r JOIN attempt a ON a.id = r.attempt_id
		WHERE r.address = ? AND a.account_id = ? AND a.created_at >= ? ORDER BY a.created_at DESC LIMIT 50`, key, a.account, a.received-14*24*time.Hour.Milliseconds())
	if err != nil {
		return out, err
	}
	if out.Recent, err = t.eventAttempts(recent); err != nil {
		return out, err
	}
	plans, err := t.plansTo(a.account, key, "", out.Received)
	out.Followed = len(plans) > 0
	return out, err
}

// eventAttempts reads attempts, each once.
func (t *tx) eventAttempts(ids []string) ([]mail.EventAttempt, error) {
	var out []mail.EventAttempt
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		e := mail.EventAttempt{ID: id}
		var to string
		var sent int64
		ok, err := t.row(`SELECT subject, status, coalesce(sent_at, handover_at, created_at), recipients FROM attempt WHERE id = ?`, []any{id}, &e.Subject, &e.Status, &sent, &to)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, notFound("There is no attempt %s.", id)
		}
		e.SentAt = at(sent)
		var p people
		if err := fromJSON(to, &p); err != nil {
			return nil, err
		}
		for _, list := range [][]mail.Address{p.To, p.Cc, p.Bcc} {
			for _, a := range list {
				e.Recipients = append(e.Recipients, a.Addr)
			}
		}
		if e.MessageIDs, err = all(t.ctx, t, scanOne[string], `SELECT message_id FROM attempt_message_id WHERE attempt_id = ? ORDER BY message_id`, id); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func (t *tx) recordEvent(a *arrival, in mail.Arrival, around mail.Around, d mail.Decision) (mail.Recorded, error) {
	res, err := t.ExecContext(t.ctx, `INSERT INTO event (account_id, folder, uid_validity, uid, message_id, rfc_message_id, in_reply_to, refs,
		from_name, from_addr, from_key, subject, received, size, header_digest, evidence, at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		a.account, a.folder, a.validity, a.uid, a.id, a.mid, a.reply, a.refs, a.fromName, a.from, mail.AddressKey(a.from), a.subject, a.received, a.size,
		a.digest, in.Evidence, t.now)
	if err != nil {
		return mail.Recorded{}, err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return mail.Recorded{}, err
	}
	ap := &applying{t: t, event: id, message: a.id, account: a.account, from: a.from, subject: a.subject, received: at(a.received), evidence: in.Evidence, around: around}
	if err := ap.classify(d); err != nil {
		return mail.Recorded{}, err
	}
	t.changed("messages", a.name, itoa(a.id))
	return mail.Recorded{EventID: id, Class: d.Class, Outcome: ap.outcome()}, nil
}

func joinDone(list []string) string { return strings.Join(list, "; ") }
