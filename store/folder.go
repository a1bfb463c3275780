package store

import (
	"context"
	"strings"
	"time"

	"skrzynka/mail"
)

const folderColumns = `f.id, c.name, f.name, f.delimiter, f.kind, f.special_use, f.selectable, f.uid_validity, f.uid_next,
	f.mod_seq, f.total, f.unread, f.synced_at FROM folder f JOIN account c ON c.id = f.account_id`

func scanFolder(r scanner) (f mail.Folder, err error) {
	var synced int64
	err = r.Scan(&f.ID, &f.Account, &f.Name, &f.Delimiter, &f.Kind, &f.SpecialUse, &f.Selectable, &f.UIDValidity, &f.UIDNext,
		&f.ModSeq, &f.Total, &f.Unread, &synced)
	f.SyncedAt = at(synced)
	return f, err
}

// Folders lists the folders of an account, or of all ("") by account and name.
func (s *Store) Folders(ctx context.Context, account string) ([]mail.Folder, error) {
	if account == "" {
		return all(ctx, s.r, scanFolder, `SELECT `+folderColumns+` ORDER BY c.name, f.name`)
	}
	return all(ctx, s.r, scanFolder, `SELECT `+folderColumns+` WHERE c.name = ? ORDER BY f.name`, account)
}

// FolderByName returns a folder by its full name.
func (s *Store) FolderByName(ctx context.Context, account, name string) (mail.Folder, error) {
	return s.oneFolder(ctx, `WHERE c.name = ? AND f.name = ?`, account, name)
}

// FolderByID returns a folder.
func (s *Store) FolderByID(ctx context.Context, id int64) (mail.Folder, error) {
	return s.oneFolder(ctx, `WHERE f.id = ?`, id)
}

func (s *Store) oneFolder(ctx context.Context, where string, args ...any) (mail.Folder, error) {
	f, err := all(ctx, s.r, scanFolder, `SELECT `+folderColumns+" "+where, args...)
	if err != nil {
		return mail.Folder{}, err
	}
	if len(f) == 0 {
		return mail.Folder{}, notFound("There is no such folder.")
	}
	return f[0], nil
}

// PutFolders takes over the server's list of an account's folders. Of each
// folder Name, Delimiter, Kind, SpecialUse and Selectable are stored; what is
// known of its content stays (see ReRead, SetFolderState). A folder that went
// away while exactly one with the same UIDVALIDITY and UIDNEXT came was
// renamed. What is gone is deleted with its messages, except those an attempt
// or a draft refers to: these stay, vanished, in a folder that cannot be selected.
func (s *Store) PutFolders(ctx context.Context, account string, list []mail.Folder) error {
	if len(list) == 0 {
		return invalid("A server has at least the folder INBOX; an empty list of folders is not taken over.")
	}
	return s.write(ctx, func(t *tx) error {
		id, err := t.accountID(account)
		if err != nil {
			return err
		}
		have, err := all(ctx, t, scanFolder, `SELECT `+folderColumns+` WHERE f.account_id = ?`, id)
		if err != nil {
			return err
		}
		old := map[string]mail.Folder{}
		for _, f := range have {
			old[f.Name] = f
		}
		var fresh []mail.Folder
		for _, f := range list {
			if o, ok := old[f.Name]; ok {
				delete(old, f.Name)
				if err := t.updateFolder(o, f); err != nil {
					return err
				}
				continue
			}
			fresh = append(fresh, f)
		}
		for _, f := range fresh {
			if o, ok := renamed(f, fresh, old); ok {
				delete(old, o.Name)
				if err := t.updateFolder(o, f); err != nil {
					return err
				}
				continue
			}
			if _, err := t.exec(`INSERT INTO folder (account_id, name, delimiter, kind, special_use, selectable) VALUES (?,?,?,?,?,?)`,
				id, f.Name, f.Delimiter, f.Kind, f.SpecialUse, f.Selectable); err != nil {
				return err
			}
			t.changed("folders", account, "")
		}
		for _, o := range old {
			if err := t.folderGone(o); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *tx) updateFolder(o, f mail.Folder) error {
	if o.Name == f.Name && o.Delimiter == f.Delimiter && o.Kind == f.Kind && o.SpecialUse == f.SpecialUse && o.Selectable == f.Selectable {
		return nil
	}
	t.changed("folders", o.Account, "")
	_, err := t.exec(`UPDATE folder SET name = ?, delimiter = ?, kind = ?, special_use = ?, selectable = ? WHERE id = ?`,
		f.Name, f.Delimiter, f.Kind, f.SpecialUse, f.Selectable, o.ID)
	return err
}

// renamed finds the one vanished folder that f is the new name of. Both sides
// must be unambiguous, and the folder must have been read before.
func renamed(f mail.Folder, fresh []mail.Folder, gone map[string]mail.Folder) (found mail.Folder, ok bool) {
	same := func(g mail.Folder) bool { return g.UIDValidity == f.UIDValidity && g.UIDNext == f.UIDNext }
	if f.UIDValidity == 0 || f.UIDNext < 2 {
		return found, false
	}
	n := 0
	for _, g := range fresh {
		if same(g) {
			n++
		}
	}
	m := 0
	for _, g := range gone {
		if same(g) {
			found, m = g, m+1
		}
	}
	return found, n == 1 && m == 1
}

func (t *tx) folderGone(f mail.Folder) error {
	if !f.Selectable && f.Total == 0 && f.UIDValidity == 0 {
		var n int
		kept, err := t.row(`SELECT 1 FROM message WHERE folder_id = ? LIMIT 1`, []any{f.ID}, &n)
		if err != nil || kept {
			return err
		}
	}
	// Messages that were moved here and not confirmed are still in their old place.
	open, err := t.journal(`WHERE j.to_folder = ? AND j.action = 'move' AND j.state IN ('waiting','begun') ORDER BY j.id DESC`, f.ID)
	if err != nil {
		return err
	}
	for _, e := range open {
		if err := t.endJournal(e, "failed", "the folder it was moved to is gone"); err != nil {
			return err
		}
		if err := t.revert(e); err != nil {
			return err
		}
	}
	if err := t.drop(`m.folder_id = ?`, f.ID); err != nil {
		return err
	}
	t.changed("folders", f.Account, "")
	t.changed("messages", f.Account, "")
	n, err := t.exec(`DELETE FROM folder WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM message WHERE folder_id = ?1)`, f.ID)
	if err != nil || n > 0 {
		return err
	}
	_, err = t.exec(`UPDATE folder SET selectable = 0, kind = '', special_use = '', uid_validity = 0, uid_next = 0, mod_seq = 0 WHERE id = ?`, f.ID)
	return err
}

// SetFolderState records how far a pass has come, after the rows it stands for
// are stored. A zero syncedAt leaves the time of the last complete pass. When
// UIDVALIDITY has changed meanwhile it is a CONFLICT.
func (s *Store) SetFolderState(ctx context.Context, folderID int64, validity, uidNext uint32, modSeq uint64, syncedAt time.Time) error {
	return s.write(ctx, func(t *tx) error {
		var account string
		ok, err := t.row(`UPDATE folder SET uid_next = ?1, mod_seq = ?2, synced_at = CASE WHEN ?3 = 0 THEN synced_at ELSE ?3 END
			WHERE id = ?4 AND uid_validity = ?5 RETURNING (SELECT name FROM account WHERE id = account_id)`,
			[]any{uidNext, int64(modSeq), ms(syncedAt), folderID, validity}, &account)
		if err != nil {
			return err
		}
		if !ok {
			return conflict("The folder was renumbered or removed in the meantime.")
		}
		t.changed("folders", account, "")
		return nil
	})
}

// folder reads one folder inside the transaction and checks UIDVALIDITY.
func (t *tx) folder(id int64, validity uint32) (f mail.Folder, err error) {
	found, err := all(t.ctx, t, scanFolder, `SELECT `+folderColumns+` WHERE f.id = ?`, id)
	if err != nil {
		return f, err
	}
	if len(found) == 0 {
		return f, notFound("There is no such folder.")
	}
	if found[0].UIDValidity != validity {
		return f, conflict("The folder was renumbered in the meantime.")
	}
	return found[0], nil
}

func keywords(k []string) string { return strings.Join(k, " ") }
