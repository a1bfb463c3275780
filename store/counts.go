package store

import (
	"context"

	"skrzynka/mail/view"
)

// Counts returns what needs a person. Every number comes from an index of
// exactly the rows it counts.
func (s *Store) Counts(ctx context.Context) (c view.Counts, err error) {
	const untried = ` AND a.resolution IS NULL AND NOT EXISTS (SELECT 1 FROM attempt n WHERE n.retry_of = a.id)`
	err = s.r.QueryRowContext(ctx, `SELECT
		(SELECT count(*) FROM attempt a WHERE a.status = 'failed' AND a.next_try_at IS NULL`+untried+`),
		(SELECT count(*) FROM attempt a WHERE a.status = 'uncertain'`+untried+`),
		(SELECT count(*) FROM attempt a WHERE a.status = 'pending')
			+ (SELECT count(*) FROM attempt a WHERE a.next_try_at IS NOT NULL)
			+ (SELECT count(*) FROM draft WHERE send_at IS NOT NULL),
		(SELECT count(*) FROM draft),
		(SELECT count(*) FROM review WHERE state = 'open')`).Scan(&c.Failed, &c.Uncertain, &c.Waiting, &c.Drafts, &c.Review)
	return c, fail(err)
}

// DataVersion changes when another process has written to the database; this
// Store's own writes do not change it, they are announced (see Notify).
func (s *Store) DataVersion(ctx context.Context) (v int64, err error) {
	err = s.w.QueryRowContext(ctx, `PRAGMA data_version`).Scan(&v)
	return v, fail(err)
}
