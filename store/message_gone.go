package store

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"skrzynka/mail"
)

// referenced is the condition under which a message (m) is kept when it is
// gone from the server.
const referenced = `(EXISTS (SELECT 1 FROM attempt a WHERE a.message_id = m.id) OR EXISTS (SELECT 1 FROM draft d WHERE d.message_id = m.id))`

// drop removes the messages (m) a condition names; the referenced ones stay as vanished.
func (t *tx) drop(where string, args ...any) error {
	if _, err := t.exec(`UPDATE message AS m SET vanished_at = `+itoa(t.now)+` WHERE `+where+` AND m.vanished_at IS NULL AND `+referenced, args...); err != nil {
		return err
	}
	_, err := t.exec(`DELETE FROM message AS m WHERE `+where+` AND NOT `+referenced, args...)
	return err
}

// Vanish takes over that messages are gone from the server, and returns how
// many were there. Those that an attempt or a draft refers to are kept, out of
// all lists.
func (s *Store) Vanish(ctx context.Context, folderID int64, validity uint32, uids []uint32) (n int, err error) {
	err = s.write(ctx, func(t *tx) error {
		f, err := t.folder(folderID, validity)
		if err != nil {
			return err
		}
		for _, uid := range uids {
			var id int64
			ok, err := t.row(`SELECT id FROM message WHERE folder_id = ? AND uid_validity = ? AND uid = ? AND vanished_at IS NULL`,
				[]any{folderID, validity, uid}, &id)
			if err != nil {
				return err
			}
			if ok {
				n++
				if err := t.drop(`m.id = ?`, id); err != nil {
					return err
				}
			}
			if _, err := t.exec(`DELETE FROM poison WHERE folder_id = ? AND uid_validity = ? AND uid = ?`, folderID, validity, uid); err != nil {
				return err
			}
		}
		if n > 0 {
			t.changed("messages", f.Account, "")
			t.changed("folders", f.Account, "")
		}
		return nil
	})
	return n, err
}

// ReRead says that a folder has a new UIDVALIDITY (also its first one). Its
// messages stay as they are until PutHeaders finds them under their new UIDs;
// FinishReRead drops the rest. It can be repeated and interrupted at any point:
// what is still to be matched is exactly what has another UIDVALIDITY.
func (s *Store) ReRead(ctx context.Context, folderID int64, validity uint32) error {
	if validity == 0 {
		return invalid("A UIDVALIDITY is not zero.")
	}
	return s.write(ctx, func(t *tx) error {
		var account int64
		var old uint32
		var name string
		ok, err := t.row(`SELECT account_id, uid_validity, (SELECT name FROM account WHERE id = account_id) FROM folder WHERE id = ?`,
			[]any{folderID}, &account, &old, &name)
		if err != nil {
			return err
		}
		if !ok {
			return notFound("There is no such folder.")
		}
		if old == validity {
			return nil
		}
		if _, err := t.exec(`UPDATE folder SET uid_validity = ?, uid_next = 0, mod_seq = 0, synced_at = 0 WHERE id = ?`, validity, folderID); err != nil {
			return err
		}
		if _, err := t.exec(`DELETE FROM poison WHERE folder_id = ?`, folderID); err != nil {
			return err
		}
		t.changed("folders", name, "")
		if old == 0 {
			return nil
		}
		return t.audit(line{account: account, action: "folder.renumbered", subject: "folder:" + itoa(folderID),
			why: "the server gave the folder a new UIDVALIDITY", from: itoa(int64(old)), to: itoa(int64(validity))})
	})
}

// FinishReRead ends a complete pass over a folder that began at a time: rows
// that did not turn up under the present UIDVALIDITY are gone. Those whose move
// here is not confirmed, or was confirmed after the pass had begun, stay. It
// returns how many it dropped, and costs nothing when there are none.
func (s *Store) FinishReRead(ctx context.Context, folderID int64, validity uint32, begun time.Time) (n int, err error) {
	err = s.write(ctx, func(t *tx) error {
		f, err := t.folder(folderID, validity)
		if err != nil {
			return err
		}
		// Moves out of here of mail that did not turn up again: there is nothing to move.
		lost, err := t.journal(`WHERE j.from_folder = ? AND j.from_validity <> ? AND j.from_validity <> 0 AND j.state IN ('waiting','begun')
			AND j.action = 'move' AND j.updated_at < ? ORDER BY j.id DESC`, folderID, validity, ms(begun))
		if err != nil {
			return err
		}
		for _, e := range lost {
			if err := t.endJournal(e, "failed", "the message is gone from the server"); err != nil {
				return err
			}
			if err := t.revert(e); err != nil {
				return err
			}
		}
		const left = `SELECT m.id FROM message m WHERE m.folder_id = ?1 AND m.vanished_at IS NULL AND m.uid_validity `
		const settled = ` AND NOT EXISTS (SELECT 1 FROM journal j WHERE j.message_id = m.id AND j.action = 'move'
			AND (j.state IN ('waiting','begun') OR (j.state = 'done' AND j.updated_at >= ?3)))`
		ids, err := all(ctx, t, scanOne[int64], left+`< ?2`+settled+` UNION ALL `+left+`> ?2`+settled, folderID, validity, ms(begun))
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := t.drop(`m.id = ?`, id); err != nil {
				return err
			}
		}
		if n = len(ids); n > 0 {
			t.changed("messages", f.Account, "")
			t.changed("folders", f.Account, "")
		}
		return nil
	})
	return n, err
}

// UIDs lists, ascending, what is accounted for of a folder: the messages
// stored under this UIDVALIDITY, and those a person has moved away without the
// server knowing yet.
func (s *Store) UIDs(ctx context.Context, folderID int64, validity uint32) ([]uint32, error) {
	// As one string: a row each costs ten times the reading.
	var list string
	if err := s.r.QueryRowContext(ctx, `SELECT coalesce(group_concat(uid, ' '), '') FROM (
		SELECT uid FROM message WHERE folder_id = ?1 AND uid_validity = ?2 AND vanished_at IS NULL
		UNION ALL SELECT from_uid FROM journal WHERE from_folder = ?1 AND from_validity = ?2 AND action = 'move' AND state IN ('waiting','begun'))`,
		folderID, validity).Scan(&list); err != nil {
		return nil, fail(err)
	}
	uids := make([]uint32, 0, len(list)/6)
	for word := range strings.FieldsSeq(list) {
		n, err := strconv.ParseUint(word, 10, 32)
		if err != nil {
			return nil, fail(err)
		}
		uids = append(uids, uint32(n))
	}
	slices.Sort(uids)
	return slices.Compact(uids), nil
}

// AddPoison notes that a message could not be read, and counts how often.
func (s *Store) AddPoison(ctx context.Context, folderID int64, at mail.UID, reason string) error {
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(`INSERT INTO poison (folder_id, uid_validity, uid, reason, at) VALUES (?,?,?,?,?)
			ON CONFLICT DO UPDATE SET reason = excluded.reason, tries = tries + 1, at = excluded.at`,
			folderID, at.Validity, at.UID, reason, t.now)
		return err
	})
}

// Poison lists the messages of a folder that could not be read, ascending.
func (s *Store) Poison(ctx context.Context, folderID int64, validity uint32) ([]mail.Poison, error) {
	return all(ctx, s.r, func(r scanner) (p mail.Poison, err error) {
		var when int64
		err = r.Scan(&p.UID, &p.Reason, &p.Tries, &when)
		p.At = at(when)
		return p, err
	}, `SELECT uid, reason, tries, at FROM poison WHERE folder_id = ? AND uid_validity = ? ORDER BY uid`, folderID, validity)
}
