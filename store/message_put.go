package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"strings"

	"skrzynka/mail"
)

// MaxBatch is how many messages one transaction of PutHeaders takes.
const MaxBatch = 500

// maxRefs bounds how many Message-IDs of one message are kept for lookups.
const maxRefs = 50

// PutHeaders stores messages of a folder that has this UIDVALIDITY, at most
// MaxBatch at once, and returns the ids of those that are new here.
//
// A message that is stored already has its flags taken over. One that is the
// same mail as a row without a valid place takes over that row, its id and its
// history: a row of an older UIDVALIDITY, one moved here whose new UID was not
// known, or one kept after it vanished. The same mail means the same
// Message-ID, size and header. A UID that a person has moved away, which the
// server does not know yet, is left out.
func (s *Store) PutHeaders(ctx context.Context, folderID int64, validity uint32, list []mail.NewMessage) (fresh []int64, err error) {
	if len(list) > MaxBatch {
		return nil, invalid("More than %d messages in one batch.", MaxBatch)
	}
	for i := range list { // outside of the transaction: it takes time
		if b := list[i].Body; b != nil {
			if err := s.PackBody(b); err != nil {
				return nil, err
			}
		}
	}
	err = s.write(ctx, func(t *tx) error {
		f, err := t.folder(folderID, validity)
		if err != nil {
			return err
		}
		p, err := t.newPut(f)
		if err != nil {
			return err
		}
		defer p.close()
		for i := range list {
			id, err := p.message(&list[i])
			if err != nil {
				return err
			}
			if id != 0 {
				fresh = append(fresh, id)
			}
		}
		t.changed("messages", f.Account, "")
		t.changed("folders", f.Account, "")
		return nil
	})
	return fresh, err
}

// put is one batch into one folder.
type put struct {
	t        *tx
	f        mail.Folder
	account  int64
	insert   *sql.Stmt
	ref      *sql.Stmt
	find     *sql.Stmt
	bodies   *bodies
	homeless bool // there are rows that may have to be matched
	moved    bool // there are open moves out of the folder
	poisoned bool
}

func (t *tx) newPut(f mail.Folder) (*put, error) {
	p := &put{t: t, f: f, bodies: t.newBodies()}
	// The usual folder has nothing to match: then each row costs one insert.
	_, err := t.row(`SELECT account_id,
			EXISTS (SELECT 1 FROM message WHERE folder_id = ?1 AND uid_validity < ?2) OR
			EXISTS (SELECT 1 FROM message WHERE folder_id = ?1 AND uid_validity > ?2) OR
			EXISTS (SELECT 1 FROM message INDEXED BY message_vanished WHERE account_id = f.account_id AND vanished_at IS NOT NULL),
			EXISTS (SELECT 1 FROM journal WHERE from_folder = ?1 AND action = 'move' AND state IN ('waiting','begun')),
			EXISTS (SELECT 1 FROM poison WHERE folder_id = ?1)
		FROM folder f WHERE id = ?1`, []any{f.ID, f.UIDValidity}, &p.account, &p.homeless, &p.moved, &p.poisoned)
	if err != nil {
		return nil, err
	}
	if p.find, err = t.PrepareContext(t.ctx, `SELECT id, vanished_at IS NOT NULL FROM message WHERE folder_id = ? AND uid_validity = ? AND uid = ?`); err == nil {
		p.ref, err = t.PrepareContext(t.ctx, `INSERT OR IGNORE INTO message_ref (ref, message_id, how) VALUES (?,?,?)`)
	}
	if err == nil {
		p.insert, err = t.PrepareContext(t.ctx, `INSERT INTO message (account_id, folder_id, uid_validity, uid, mod_seq,
			seen, flagged, answered, draft, deleted, keywords, internal_date, date, size, message_id, in_reply_to, refs,
			from_name, from_addr, to_text, subject, snippet, attachments, header_digest, header, body_id)
			VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`)
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *put) close() {
	p.bodies.close()
	for _, s := range []*sql.Stmt{p.find, p.ref, p.insert} {
		if s != nil {
			_ = s.Close()
		}
	}
}

// message stores one message and returns its id if it is new, else 0.
func (p *put) message(m *mail.NewMessage) (int64, error) {
	t, place := p.t, mail.UID{Validity: p.f.UIDValidity, UID: m.UID}
	if p.poisoned {
		if _, err := t.exec(`DELETE FROM poison WHERE folder_id = ? AND uid_validity = ? AND uid = ?`, p.f.ID, place.Validity, place.UID); err != nil {
			return 0, err
		}
	}
	var id int64
	var back bool
	ok, err := scanRow(p.find.QueryRowContext(t.ctx, p.f.ID, place.Validity, place.UID), &id, &back)
	if err != nil {
		return 0, err
	}
	digest := headerDigest(m.Header)
	if !ok && p.moved {
		if gone, err := p.movedAway(m, digest[:], place); err != nil || gone {
			return 0, err
		}
	}
	if !ok && p.homeless {
		if id, err = p.sameMail(m, digest[:]); err != nil {
			return 0, err
		}
		ok, back = id != 0, id != 0
	}
	if back {
		if err := t.place(id, p.f.ID, place); err != nil {
			return 0, err
		}
	}
	if ok {
		if err := t.setFlags(id, mail.FlagState{ModSeq: m.ModSeq, Flags: m.Flags}); err != nil {
			return 0, err
		}
		return 0, p.addBody(id, m.Body)
	}
	return p.add(m, digest[:])
}

// headerDigest is over a header without the line ends that close it: what
// servers make of a message without a body differs there.
func headerDigest(header []byte) [32]byte { return sha256.Sum256(bytes.TrimRight(header, "\r\n")) }

// addBody gives a message that is stored already its body, if it has none.
func (p *put) addBody(id int64, b *mail.NewBody) error {
	if b == nil {
		return nil
	}
	var has bool
	if _, err := p.t.row(`SELECT body_id IS NOT NULL FROM message WHERE id = ?`, []any{id}, &has); err != nil || has {
		return err
	}
	b.ID = id
	return p.bodies.put(b)
}

func (p *put) add(m *mail.NewMessage, digest []byte) (int64, error) {
	s, f := &m.Summary, &m.Flags
	date := s.Date
	if date.IsZero() {
		date = m.InternalDate
	}
	header, body := any(m.Header), any(nil)
	if m.Body != nil {
		id, err := p.bodies.store(m.Body)
		if err != nil {
			return 0, err
		}
		header, body, s = nil, id, &m.Body.Summary
	}
	res, err := p.insert.ExecContext(p.t.ctx, p.account, p.f.ID, p.f.UIDValidity, m.UID, int64(m.ModSeq),
		f.Seen, f.Flagged, f.Answered, f.Draft, f.Deleted, keywords(f.Keywords), ms(m.InternalDate), ms(date), m.Size,
		s.RFCMessageID, s.InReplyTo, strings.Join(s.References, " "), s.From.Name, s.From.Addr, s.To, s.Subject, s.Snippet, s.Attachments,
		digest, header, body)
	if err != nil {
		return 0, err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return 0, err
	}
	if m.Body != nil {
		m.Body.ID = id
		return id, p.bodies.refs(m.Body)
	}
	return id, putRefs(p.t.ctx, p.ref, id, s)
}

// putRefs keeps the Message-IDs a message answers. The first and the last of a
// very long list are the ones that matter.
func putRefs(ctx context.Context, stmt *sql.Stmt, id int64, s *mail.Summary) error {
	refs := s.References
	if len(refs) > maxRefs {
		refs = append(refs[:1:1], refs[len(refs)-maxRefs+1:]...)
	}
	for _, r := range append(refs[:len(refs):len(refs)], s.InReplyTo) {
		if r == "" {
			continue
		}
		if _, err := stmt.ExecContext(ctx, r, id, "answer"); err != nil {
			return err
		}
	}
	return nil
}

const sameMail = ` m.message_id = ?1 AND m.size = ?2 AND m.header_digest = ?3 AND m.account_id = ?4 `

// byIdentity is where the index of a mail's identity starts.
func byIdentity(messageID string) string {
	if messageID == "" {
		return "FROM message m INDEXED BY message_noid"
	}
	return "FROM message m INDEXED BY message_mid"
}

// identityTerm repeats a partial index's condition, which the planner wants to see.
func identityTerm(messageID string) string {
	if messageID == "" {
		return " AND m.message_id = '' "
	}
	return " AND m.message_id <> '' "
}

// sameMail finds the row without a valid place that m is, one of this folder first.
func (p *put) sameMail(m *mail.NewMessage, digest []byte) (id int64, err error) {
	mid := m.Summary.RFCMessageID
	_, err = p.t.row(`SELECT m.id `+byIdentity(mid)+` WHERE`+sameMail+identityTerm(mid)+`
			AND ((m.folder_id = ?5 AND m.uid_validity <> ?6) OR m.vanished_at IS NOT NULL)
		ORDER BY m.vanished_at IS NOT NULL, m.folder_id <> ?5, m.id LIMIT 1`,
		[]any{mid, m.Size, digest, p.account, p.f.ID, p.f.UIDValidity}, &id)
	return id, err
}

// movedAway reports whether a person has moved m out of this folder and the
// server does not know it yet. After a renumbering the journal learns the new UID.
func (p *put) movedAway(m *mail.NewMessage, digest []byte, place mail.UID) (bool, error) {
	var n int64
	ok, err := p.t.row(`SELECT id FROM journal WHERE from_folder = ? AND from_validity = ? AND from_uid = ?
		AND action = 'move' AND state IN ('waiting','begun')`, []any{p.f.ID, place.Validity, place.UID}, &n)
	if err != nil || ok {
		return ok, err
	}
	mid := m.Summary.RFCMessageID
	var id int64
	var from mail.UID
	ok, err = p.t.row(`SELECT m.id, j.from_validity, j.from_uid `+byIdentity(mid)+` JOIN journal j ON j.message_id = m.id
			WHERE`+sameMail+identityTerm(mid)+` AND j.from_folder = ?5 AND j.from_validity <> ?6 AND j.action = 'move' AND j.state IN ('waiting','begun')
		ORDER BY j.id LIMIT 1`, []any{mid, m.Size, digest, p.account, p.f.ID, p.f.UIDValidity}, &id, &from.Validity, &from.UID)
	if err != nil || !ok {
		return false, err
	}
	return true, p.t.relocate(id, p.f.ID, from, p.f.ID, place)
}

// place gives a row its place on the server, and tells the journal.
func (t *tx) place(id, folder int64, to mail.UID) error {
	var oldFolder, oldValidity, oldUID int64
	if _, err := t.row(`SELECT folder_id, uid_validity, uid FROM message WHERE id = ?`, []any{id}, &oldFolder, &oldValidity, &oldUID); err != nil {
		return err
	}
	if _, err := t.exec(`UPDATE message SET folder_id = ?, uid_validity = ?, uid = ?, vanished_at = NULL WHERE id = ?`,
		folder, to.Validity, to.UID, id); err != nil {
		return err
	}
	_, err := t.exec(`UPDATE journal SET from_folder = ?, from_validity = ?, from_uid = ?
		WHERE message_id = ? AND from_folder = ? AND from_validity = ? AND from_uid = ? AND state IN ('waiting','begun')`,
		folder, to.Validity, to.UID, id, oldFolder, oldValidity, oldUID)
	return err
}

// relocate changes the place on the server that open journal rows of a message rely on.
func (t *tx) relocate(id, folder int64, from mail.UID, toFolder int64, to mail.UID) error {
	_, err := t.exec(`UPDATE journal SET from_folder = ?, from_validity = ?, from_uid = ?
		WHERE message_id = ? AND from_folder = ? AND from_validity = ? AND from_uid = ? AND state IN ('waiting','begun')`,
		toFolder, to.Validity, to.UID, id, folder, from.Validity, from.UID)
	return err
}

// setFlags takes over the server's flags, except those a person has changed
// and the server does not know of yet.
func (t *tx) setFlags(id int64, f mail.FlagState) error {
	const open = `EXISTS (SELECT 1 FROM journal j WHERE j.message_id = message.id AND j.action = 'flag' AND j.state IN ('waiting','begun') AND j.flag = `
	_, err := t.exec(`UPDATE message SET
			seen     = CASE WHEN `+open+`'seen')     THEN seen     ELSE ?1 END,
			flagged  = CASE WHEN `+open+`'flagged')  THEN flagged  ELSE ?2 END,
			answered = CASE WHEN `+open+`'answered') THEN answered ELSE ?3 END,
			draft = ?4, deleted = ?5, keywords = ?6, mod_seq = ?7 WHERE id = ?8`,
		f.Flags.Seen, f.Flags.Flagged, f.Flags.Answered, f.Flags.Draft, f.Flags.Deleted, keywords(f.Flags.Keywords), int64(f.ModSeq), id)
	return err
}

// ApplyFlags takes over flags of messages that are stored, and returns how
// many rows it found. A flag with an open journal row keeps its local value.
func (s *Store) ApplyFlags(ctx context.Context, folderID int64, validity uint32, list []mail.FlagState) (n int, err error) {
	err = s.write(ctx, func(t *tx) error {
		f, err := t.folder(folderID, validity)
		if err != nil {
			return err
		}
		for _, st := range list {
			var id int64
			ok, err := t.row(`SELECT id FROM message WHERE folder_id = ? AND uid_validity = ? AND uid = ? AND vanished_at IS NULL
				AND (seen, flagged, answered, draft, deleted, keywords, mod_seq) <> (?,?,?,?,?,?,?)`,
				[]any{folderID, validity, st.UID, st.Flags.Seen, st.Flags.Flagged, st.Flags.Answered, st.Flags.Draft, st.Flags.Deleted,
					keywords(st.Flags.Keywords), int64(st.ModSeq)}, &id)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if err := t.setFlags(id, st); err != nil {
				return err
			}
			n++
		}
		if n > 0 {
			t.changed("messages", f.Account, "")
			t.changed("folders", f.Account, "")
		}
		return nil
	})
	return n, err
}
