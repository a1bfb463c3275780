package store

import (
	"context"
	"maps"
	"slices"

	"skrzynka/mail"
)

// entry is one journal row as it is stored.
type entry struct {
	id, account, message int64
	name                 string // of the account
	batch, action, flag  string
	on                   bool
	from                 int64
	fromValidity         uint32
	fromUID              int64
	to                   int64
	state                string
}

const entryColumns = `j.id, j.account_id, j.message_id, c.name, j.batch, j.action, j.flag, j.on_off, coalesce(j.from_folder,0), j.from_validity, j.from_uid,
	coalesce(j.to_folder,0), j.state FROM journal j JOIN account c ON c.id = j.account_id `

func scanEntry(r scanner) (e entry, err error) {
	err = r.Scan(&e.id, &e.account, &e.message, &e.name, &e.batch, &e.action, &e.flag, &e.on, &e.from, &e.fromValidity, &e.fromUID, &e.to, &e.state)
	return e, err
}

func (t *tx) journal(where string, args ...any) ([]entry, error) {
	return all(t.ctx, t, scanEntry, `SELECT `+entryColumns+where, args...)
}

// flagColumn maps a flag to its column; no other word reaches a statement.
func flagColumn(f mail.FlagName) (string, error) {
	switch f {
	case mail.FlagSeen, mail.FlagFlagged, mail.FlagAnswered:
		return string(f), nil
	}
	return "", invalid("%q is not a flag that can be set.", f)
}

// SetFlag sets or unsets a flag of messages, at once here and in the journal
// for the server. Messages that have it so already are left out. The batch is
// what UndoBatch takes; it is "" when nothing changed.
func (s *Store) SetFlag(ctx context.Context, ids []int64, flag mail.FlagName, on bool) (batch string, err error) {
	col, err := flagColumn(flag)
	if err != nil {
		return "", err
	}
	b := mail.NewID()
	err = s.write(ctx, func(t *tx) error {
		for _, id := range ids {
			n, err := t.setFlag(b, id, col, on)
			if err != nil {
				return err
			}
			if n {
				batch = b
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return batch, nil
}

func (t *tx) setFlag(batch string, id int64, col string, on bool) (bool, error) {
	var account, folder, validity, uid int64
	var name string
	ok, err := t.row(`UPDATE message SET `+col+` = ?1 WHERE id = ?2 AND `+col+` <> ?1 AND vanished_at IS NULL
		RETURNING account_id, folder_id, uid_validity, uid, (SELECT name FROM account WHERE id = account_id)`, []any{on, id},
		&account, &folder, &validity, &uid, &name)
	if err != nil || !ok {
		return false, err
	}
	t.touched(name, id)
	_, err = t.exec(`INSERT INTO journal (account_id, batch, message_id, action, flag, on_off, from_folder, from_validity, from_uid, created_at, updated_at)
		VALUES (?,?,?,'flag',?,?,?,?,?,?,?)`, account, batch, id, col, on, folder, validity, uid, t.now, t.now)
	return true, err
}

// touched announces a changed message; of very many only that there are some.
func (t *tx) touched(account string, id int64) {
	if len(t.changes) < 100 {
		t.changed("messages", account, itoa(id))
	} else {
		t.changed("messages", account, "")
	}
	t.changed("folders", account, "")
}

// MoveMessages moves messages to another folder of their account, at once here
// and in the journal for the server. Until the server says so their place
// there is unknown. Messages that are there already are left out.
func (s *Store) MoveMessages(ctx context.Context, ids []int64, toFolder int64) (batch string, err error) {
	b := mail.NewID()
	err = s.write(ctx, func(t *tx) error {
		for _, id := range ids {
			moved, err := t.moveMessage(b, id, toFolder)
			if err != nil {
				return err
			}
			if moved {
				batch = b
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return batch, nil
}

func (t *tx) moveMessage(batch string, id, to int64) (bool, error) {
	var account, folder, validity, uid int64
	var name string
	ok, err := t.row(`SELECT m.account_id, m.folder_id, m.uid_validity, m.uid, c.name FROM message m JOIN account c ON c.id = m.account_id
		WHERE m.id = ? AND m.vanished_at IS NULL`, []any{id}, &account, &folder, &validity, &uid, &name)
	if err != nil || !ok || folder == to {
		return false, err
	}
	var fits bool
	if ok, err = t.row(`SELECT selectable AND account_id = ? FROM folder WHERE id = ?`, []any{account, to}, &fits); err != nil {
		return false, err
	}
	if !ok || !fits {
		return false, invalid("A message can only be moved to another folder of its own account.")
	}
	if _, err := t.exec(`INSERT INTO journal (account_id, batch, message_id, action, from_folder, from_validity, from_uid, to_folder, created_at, updated_at)
		VALUES (?,?,?,'move',?,?,?,?,?,?)`, account, batch, id, folder, validity, uid, to, t.now, t.now); err != nil {
		return false, err
	}
	t.touched(name, id)
	return true, t.homeless(id, to)
}

// homeless puts a message into a folder without a place on the server.
func (t *tx) homeless(id, folder int64) error {
	_, err := t.exec(`UPDATE message SET folder_id = ?, uid_validity = 0, uid = id, mod_seq = 0 WHERE id = ?`, folder, id)
	return err
}

// OpenJournal lists what the server has still to be told of an account, in the
// order it was done. What relies on a place that is not known yet (a move not
// confirmed, a folder renumbered and not read again) comes later.
func (s *Store) OpenJournal(ctx context.Context, account string) ([]mail.JournalEntry, error) {
	id, err := s.AccountID(ctx, account)
	if err != nil {
		return nil, err
	}
	return all(ctx, s.r, func(r scanner) (e mail.JournalEntry, err error) {
		var created int64
		e.Account = account
		e.Folder.Account, e.ToFolder.Account = account, account
		err = r.Scan(&e.ID, &e.Batch, &e.MessageID, &e.Action, &e.Flag, &e.On, &e.UID.Validity, &e.UID.UID, &e.Begun, &e.Tries, &created,
			&e.Folder.ID, &e.Folder.Name, &e.Folder.Kind, &e.Folder.UIDValidity, &e.ToFolder.ID, &e.ToFolder.Name, &e.ToFolder.Kind, &e.ToFolder.UIDValidity)
		e.CreatedAt = at(created)
		return e, err
	}, `SELECT j.id, j.batch, j.message_id, j.action, j.flag, j.on_off, j.from_validity, j.from_uid, j.state = 'begun', j.tries, j.created_at,
			f.id, f.name, f.kind, f.uid_validity, coalesce(d.id,0), coalesce(d.name,''), coalesce(d.kind,''), coalesce(d.uid_validity,0)
		FROM journal j INDEXED BY journal_open JOIN folder f ON f.id = j.from_folder LEFT JOIN folder d ON d.id = j.to_folder
		WHERE j.account_id = ? AND j.state IN ('waiting','begun') AND j.from_validity <> 0 AND j.from_validity = f.uid_validity ORDER BY j.id`, id)
}

// open reads one journal row that has not ended, else it is a CONFLICT.
func (t *tx) open(id int64) (entry, error) {
	found, err := t.journal(`WHERE j.id = ? AND j.state IN ('waiting','begun')`, id)
	if err != nil {
		return entry{}, err
	}
	if len(found) == 0 {
		return entry{}, conflict("That action was undone, or has ended.")
	}
	return found[0], nil
}

func (t *tx) endJournal(e entry, state, why string) error {
	_, err := t.exec(`UPDATE journal SET state = ?, error = ?, updated_at = ? WHERE id = ?`, state, why, t.now, e.id)
	return err
}

// JournalBegun commits that the server is about to be told. An action that was
// undone is a CONFLICT and must not be done.
func (s *Store) JournalBegun(ctx context.Context, id int64) error {
	begun, err := s.JournalBegin(ctx, []int64{id})
	if err == nil && len(begun) == 0 {
		return conflict("That action was undone, or has ended.")
	}
	return err
}

// JournalBegin is JournalBegun for many in one transaction. It returns those
// that are to be done, in their order; the others were undone meanwhile.
func (s *Store) JournalBegin(ctx context.Context, ids []int64) (begun []int64, err error) {
	err = s.write(ctx, func(t *tx) error {
		for _, id := range ids {
			n, err := t.exec(`UPDATE journal SET state = 'begun', tries = tries + 1, updated_at = ? WHERE id = ? AND state IN ('waiting','begun')`, t.now, id)
			if err != nil {
				return err
			}
			if n > 0 {
				begun = append(begun, id)
			}
		}
		return nil
	})
	return begun, err
}

// JournalDone records that the server has done it. For a move place is where
// the message is now (COPYUID, RFC 4315); the zero place says that the server
// did not tell: the next pass over that folder finds it.
func (s *Store) JournalDone(ctx context.Context, id int64, place mail.UID) error {
	return s.JournalEnd(ctx, map[int64]mail.UID{id: place})
}

// JournalEnd is JournalDone for many in one transaction.
func (s *Store) JournalEnd(ctx context.Context, places map[int64]mail.UID) error {
	return s.write(ctx, func(t *tx) error {
		for _, id := range slices.Sorted(maps.Keys(places)) {
			if err := t.journalDone(id, places[id]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *tx) journalDone(id int64, place mail.UID) error {
	e, err := t.open(id)
	if err != nil {
		return err
	}
	if err := t.endJournal(e, "done", ""); err != nil {
		return err
	}
	if e.action != string(mail.JournalMove) || place.Validity == 0 || place.UID == 0 {
		return nil
	}
	t.touched(e.name, e.message)
	if err := t.relocate(e.message, e.to, mail.UID{UID: uint32(e.message)}, e.to, place); err != nil {
		return err
	}
	// Still where the move put it? Then it gets its place, unless a pass has
	// just stored the same mail there as new: that row makes room.
	if _, err := t.exec(`DELETE FROM message AS m WHERE m.folder_id = ? AND m.uid_validity = ? AND m.uid = ? AND m.id <> ? AND NOT `+referenced,
		e.to, place.Validity, place.UID, e.message); err != nil {
		return err
	}
	_, err = t.exec(`UPDATE OR IGNORE message SET uid_validity = ?, uid = ? WHERE id = ? AND folder_id = ? AND uid_validity = 0`,
		place.Validity, place.UID, e.message, e.to)
	return err
}

// JournalFailed records that the server refused, and undoes that one action
// here; what was done to the message since stays.
func (s *Store) JournalFailed(ctx context.Context, id int64, why string) error {
	return s.write(ctx, func(t *tx) error {
		e, err := t.open(id)
		if err != nil {
			return err
		}
		if err := t.endJournal(e, "failed", why); err != nil {
			return err
		}
		if err := t.revert(e); err != nil {
			return err
		}
		return t.audit(line{account: e.account, action: "message." + e.action + "_failed", subject: messageSubject(e.message), why: why})
	})
}

// UndoBatch takes back one action of a person. What the server has not been
// told is forgotten; for the rest the opposite is put into the journal.
func (s *Store) UndoBatch(ctx context.Context, batch string) error {
	return s.write(ctx, func(t *tx) error {
		rows, err := t.journal(`WHERE j.batch = ? ORDER BY j.id DESC`, batch)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return notFound("There is nothing to undo.")
		}
		opposite := mail.NewID()
		for _, e := range rows {
			switch {
			case e.state == "waiting":
				if err = t.endJournal(e, "undone", ""); err == nil {
					err = t.revert(e)
				}
			case e.state == "failed" || e.state == "undone":
			case e.action == string(mail.JournalFlag):
				_, err = t.setFlag(opposite, e.message, e.flag, !e.on)
			default:
				_, err = t.moveMessage(opposite, e.message, e.from)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// revert undoes locally what one journal row did, and nothing that was done
// after it.
func (t *tx) revert(e entry) error {
	t.touched(e.name, e.message)
	if e.action == string(mail.JournalFlag) {
		col, err := flagColumn(mail.FlagName(e.flag))
		if err != nil {
			return err
		}
		_, err = t.exec(`UPDATE message SET `+col+` = ?1 WHERE id = ?2 AND NOT EXISTS (SELECT 1 FROM journal j
			WHERE j.message_id = ?2 AND j.action = 'flag' AND j.flag = ?3 AND j.id > ?4 AND j.state IN ('waiting','begun','done'))`,
			!e.on, e.message, e.flag, e.id)
		return err
	}
	// Later actions believed the message to be where this one put it: on the
	// server it is still where it was.
	from := mail.UID{Validity: e.fromValidity, UID: uint32(e.fromUID)}
	if err := t.relocate(e.message, e.to, mail.UID{UID: uint32(e.message)}, e.from, from); err != nil {
		return err
	}
	// A later move to where it still is has nothing left to do.
	if _, err := t.exec(`UPDATE journal SET state = 'done', updated_at = ? WHERE message_id = ? AND action = 'move'
		AND state IN ('waiting','begun') AND from_folder = to_folder`, t.now, e.message); err != nil {
		return err
	}
	_, err := t.exec(`UPDATE OR IGNORE message SET folder_id = ?1, uid_validity = ?2, uid = ?3
		WHERE id = ?4 AND uid_validity = 0 AND folder_id IN (?5, ?1) AND EXISTS (SELECT 1 FROM folder WHERE id = ?1)
		AND NOT EXISTS (SELECT 1 FROM journal j WHERE j.message_id = ?4 AND j.action = 'move' AND j.id > ?6 AND j.state IN ('waiting','begun'))`,
		e.from, e.fromValidity, e.fromUID, e.message, e.to, e.id)
	return err
}
