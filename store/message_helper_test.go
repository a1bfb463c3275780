package store

import (
	"testing"
)

// addMessage stores one message in a folder INBOX of account "me".
func addMessage(t testing.TB, s *Store, messageID string) int64 {
	t.Helper()
	_, err := s.w.Exec("/* test */ " + `INSERT OR IGNORE INTO folder (account_id, name, kind, uid_validity) VALUES (1,'INBOX','inbox',1)`)
	must(t, err)
	res, err := s.w.Exec("/* test */ "+`INSERT INTO message (account_id, folder_id, uid_validity, uid, internal_date, date, size, message_id, header_digest)
		VALUES (1, (SELECT id FROM folder WHERE name='INBOX'), 1, (SELECT coalesce(max(uid),0)+1 FROM message), 1, 1, 1, ?, x'00')`, messageID)
	must(t, err)
	id, err := res.LastInsertId()
	must(t, err)
	return id
}
