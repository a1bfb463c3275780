package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"skrzynka/mail"
)

// tx is one write transaction with what belongs to its fact: the time, who
// does it, and what to announce when it is committed.
type tx struct {
	*sql.Tx
	ctx     context.Context
	s       *Store
	now     int64
	actor   mail.Actor
	changes map[change]bool
	epoch   *instance // set by bumpEpoch: published after the commit
	stmts   map[string]*sql.Stmt
	fresh   []string // statements that are not kept yet
}

type change struct{ topic, account, id string }

// Notify adds a callback that is told after each commit of this Store what
// has changed: a topic ("folders", "messages", "attempts", "drafts", "audit",
// "accounts"), an account name or "", an id or "". It runs on the writer's
// goroutine and must not block or write to the store.
func (s *Store) Notify(f func(topic, account, id string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers = append(s.watchers, f)
}

// write runs do in one BEGIN IMMEDIATE transaction. An error rolls it back.
func (s *Store) write(ctx context.Context, do func(*tx) error) error {
	raw, err := s.w.BeginTx(ctx, nil)
	if err != nil {
		return fail(err)
	}
	t := &tx{Tx: raw, ctx: ctx, s: s, now: ms(s.clock.Now()), actor: s.actor, changes: map[change]bool{}}
	if a := mail.ActorFrom(ctx); a != "" {
		t.actor = a
	}
	if err := do(t); err != nil {
		_ = raw.Rollback()
		return fail(err)
	}
	if t.epoch != nil {
		// Anything that can fail about the file does so before the commit.
		if err := s.prepareInstance(*t.epoch); err != nil {
			_ = raw.Rollback()
			return err
		}
	}
	if err := raw.Commit(); err != nil {
		_ = raw.Rollback()
		if t.epoch != nil {
			_ = os.Remove(s.instanceTemp(*t.epoch))
		}
		return fail(err)
	}
	if t.epoch != nil {
		s.publishInstance(*t.epoch)
	}
	s.kept.add(s.w, t.fresh)
	s.announce(t.changes)
	return nil
}

func (s *Store) announce(changes map[change]bool) {
	if len(changes) == 0 {
		return
	}
	s.mu.Lock()
	watchers := s.watchers[:len(s.watchers):len(s.watchers)]
	s.mu.Unlock()
	for c := range changes {
		for _, f := range watchers {
			f(c.topic, c.account, c.id)
		}
	}
}

func (t *tx) changed(topic, account, id string) { t.changes[change{topic, account, id}] = true }

// exec runs one statement and returns how many rows it touched.
func (t *tx) exec(query string, args ...any) (int64, error) {
	stmt, err := t.stmt(query)
	if err != nil {
		return 0, err
	}
	res, err := stmt.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// stmt prepares a statement once a transaction: to read a statement costs more
// than to run one that finds its row by an index. The transaction's end closes it.
func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if s := t.stmts[query]; s != nil {
		return s, nil
	}
	var s *sql.Stmt
	if kept := t.s.kept.get(query); kept != nil {
		s = t.StmtContext(t.ctx, kept)
	} else {
		var err error
		if s, err = t.PrepareContext(t.ctx, query); err != nil {
			return nil, err
		}
		t.fresh = append(t.fresh, query)
	}
	if t.stmts == nil {
		t.stmts = map[string]*sql.Stmt{}
	}
	t.stmts[query] = s
	return s, nil
}

// row reads one row; ok is false when there is none.
func (t *tx) row(query string, args []any, into ...any) (ok bool, err error) {
	stmt, err := t.stmt(query)
	if err != nil {
		return false, err
	}
	return scanRow(stmt.QueryRowContext(t.ctx, args...), into...)
}

func scanRow(r *sql.Row, into ...any) (bool, error) {
	switch err := r.Scan(into...); err {
	case nil:
		return true, nil
	case sql.ErrNoRows:
		return false, nil
	default:
		return false, err
	}
}

// all reads every row of a query through scan.
func all[T any](ctx context.Context, q querier, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fail(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	out := []T{}
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, fail(err)
		}
		out = append(out, v)
	}
	return out, fail(rows.Err())
}

type querier interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

type scanner interface{ Scan(...any) error }

func scanOne[T any](r scanner) (v T, err error) {
	err = r.Scan(&v)
	return v, err
}

// ms and at convert between time and storage; the zero time is 0.
func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// orNull stores zero values as NULL.
func orNull[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

func toJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		// Only values of our own types come here; none of them can fail.
		return "null"
	}
	return string(b)
}

func fromJSON(s string, v any) error {
	if s == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(s), v); err != nil {
		return fmt.Errorf("stored JSON: %w", err)
	}
	return nil
}
