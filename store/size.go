package store

import "context"

// AccountSize counts what is stored of an account, for its page: messages from
// the folders' counters, attempts from an index.
func (s *Store) AccountSize(ctx context.Context, name string) (messages, attempts int, err error) {
	_, err = scanRow(s.r.QueryRowContext(ctx, `SELECT
		coalesce((SELECT sum(total) FROM folder WHERE account_id = a.id), 0),
		(SELECT count(*) FROM attempt WHERE account_id = a.id) FROM account a WHERE a.name = ?`, name), &messages, &attempts)
	return messages, attempts, fail(err)
}
