package store

import (
	"cmp"
	"context"
	"slices"

	"skrzynka/mail"
)

// IndexDue lists bodies that are not in the full-text index yet, by id above
// after, at most limit of them and, beside the first, at most maxBytes in all.
func (s *Store) IndexDue(ctx context.Context, after int64, limit, maxBytes int) ([]mail.IndexDue, error) {
	rows, err := s.r.QueryContext(ctx, `SELECT b.id, b.encoding, b.bytes FROM index_due d JOIN body b ON b.id = d.body_id WHERE d.body_id > ? ORDER BY d.body_id LIMIT ?`, after, limit)
	if err != nil {
		return nil, fail(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	out := []mail.IndexDue{}
	for total := 0; rows.Next(); {
		var d mail.IndexDue
		var encoding string
		var b []byte
		if err := rows.Scan(&d.BodyID, &encoding, &b); err != nil {
			return nil, fail(err)
		}
		if d.Raw, err = unpack(encoding, b); err != nil {
			d.Raw = nil // damaged: it is found by nothing, and asked for no more
		}
		out = append(out, d)
		if total += len(d.Raw); total > maxBytes {
			break
		}
	}
	return out, fail(rows.Err())
}

// IndexBacklog counts bodies that are not in the index yet, up to limit.
func (s *Store) IndexBacklog(ctx context.Context, limit int) (n int, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM index_due LIMIT ?)`, limit).Scan(&n)
	return n, fail(err)
}

// PutIndex adds bodies to the full-text index in one transaction. One that is
// gone by now, or in the index already, is passed over.
func (s *Store) PutIndex(ctx context.Context, list []mail.IndexText) error {
	return s.write(ctx, func(t *tx) error {
		type doc struct {
			id   int64
			text *mail.IndexText
		}
		var docs []doc
		for i := range list {
			id, err := t.indexID(list[i].BodyID)
			if err != nil {
				return err
			}
			if id != 0 {
				docs = append(docs, doc{id, &list[i]})
			}
			if _, err := t.exec(`DELETE FROM index_due WHERE body_id = ?`, list[i].BodyID); err != nil {
				return err
			}
		}
		// In ascending order: out of it, the index writes itself out at each row.
		slices.SortFunc(docs, func(a, b doc) int { return cmp.Compare(a.id, b.id) })
		put, err := t.PrepareContext(t.ctx, `INSERT INTO search (rowid, subject, sender, recipients, body, files) VALUES (?,?,?,?,?,?)`)
		if err != nil {
			return err
		}
		defer put.Close() //nolint:errcheck // nothing depends on it
		for _, d := range docs {
			if _, err := put.ExecContext(t.ctx, d.id, d.text.Subject, d.text.Sender, d.text.Recipients, d.text.Body, d.text.Files); err != nil {
				return err
			}
		}
		if len(docs) > 0 {
			t.changed("search", "", "")
		}
		return nil
	})
}

// indexID makes the row of a body in the index and returns its id, 0 when
// there is nothing to do.
func (t *tx) indexID(body int64) (int64, error) {
	var date int64
	ok, err := t.row(`SELECT max(m.date) FROM message m WHERE m.body_id = ?1
		AND NOT EXISTS (SELECT 1 FROM indexed WHERE body_id = ?1) HAVING count(*) > 0`, []any{body}, &date)
	if err != nil || !ok {
		return 0, err
	}
	for base := docBase(date); ; base += docsAMinute {
		var id int64
		if _, err := t.row(`SELECT coalesce(max(id) + 1, ?1) FROM indexed WHERE id >= ?1 AND id < ?2`, []any{base, base + docsAMinute}, &id); err != nil {
			return 0, err
		}
		if id == base+docsAMinute {
			continue // a full minute: the next one is near enough
		}
		_, err := t.exec(`INSERT INTO indexed (id, body_id) VALUES (?,?)`, id, body)
		return id, err
	}
}

// docsAMinute is how many ids of the index a minute has.
const docsAMinute = 64

// docBase is the first id of the index for a date in milliseconds.
func docBase(ms int64) int64 { return max(ms/60_000, 1) * docsAMinute }

// tidyIndexes takes what a removed account left out of the full-text index and
// the conversations. Deleting a row leaves its words in the index until they
// are merged; here nothing may stay.
func (t *tx) tidyIndexes() error {
	var left bool
	if _, err := t.row(`SELECT EXISTS (SELECT 1 FROM indexed)`, nil, &left); err != nil {
		return err
	}
	command := "delete-all"
	if left {
		command = "optimize"
	}
	if _, err := t.exec(`INSERT INTO search (search) VALUES (?)`, command); err != nil {
		return err
	}
	_, err := t.exec(`DELETE FROM thread_key WHERE NOT EXISTS (SELECT 1 FROM message m INDEXED BY message_thread
		WHERE m.thread_id = thread_key.thread_id AND m.thread_id <> 0)`)
	return err
}
