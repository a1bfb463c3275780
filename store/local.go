package store

import (
	"context"

	"skrzynka/mail"
)

// LocalFolder says what is stored of a folder, as a pass needs it. What is
// counted is the few rows that are not as they should be; the rest is the
// folder's own counter.
func (s *Store) LocalFolder(ctx context.Context, folderID int64) (l mail.LocalFolder, err error) {
	if l.Folder, err = s.FolderByID(ctx, folderID); err != nil {
		return l, err
	}
	_, err = scanRow(s.r.QueryRowContext(ctx, `SELECT
		coalesce((SELECT max(uid) FROM message WHERE folder_id = ?1 AND uid_validity = ?2), 0),
		(SELECT total FROM folder WHERE id = ?1) -
			(SELECT count(*) FROM message WHERE folder_id = ?1 AND uid_validity < ?2 AND vanished_at IS NULL) -
			(SELECT count(*) FROM message WHERE folder_id = ?1 AND uid_validity > ?2 AND vanished_at IS NULL) +
			(SELECT count(*) FROM poison p WHERE p.folder_id = ?1 AND p.uid_validity = ?2 AND NOT EXISTS
				(SELECT 1 FROM message m WHERE m.folder_id = ?1 AND m.uid_validity = ?2 AND m.uid = p.uid)),
		(SELECT count(*) FROM message WHERE folder_id = ?1 AND body_id IS NULL AND vanished_at IS NULL),
		EXISTS (SELECT 1 FROM message WHERE folder_id = ?1 AND uid_validity > 0 AND uid_validity < ?2) OR
			EXISTS (SELECT 1 FROM message WHERE folder_id = ?1 AND uid_validity > ?2)`,
		folderID, l.UIDValidity), &l.LastUID, &l.Count, &l.Bodyless, &l.ReRead)
	return l, fail(err)
}
