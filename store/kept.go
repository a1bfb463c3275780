package store

import (
	"context"
	"database/sql"
	"sync"
)

// kept holds prepared statements of one pool: SQLite takes longer to read most
// of ours than to run them. Only so many are kept, since some texts are built.
type kept struct {
	mu    sync.Mutex
	seen  map[string]bool // once
	stmts map[string]*sql.Stmt
}

const maxKept = 256

func (k *kept) get(query string) *sql.Stmt {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stmts[query]
}

// add keeps the statements that are used for the second time. It asks for a
// connection of db, so no transaction may be open on its last one, and it does
// not hold the lock meanwhile: who has that connection may be waiting for it. A
// statement that cannot be prepared is left out: its next use says why.
func (k *kept) add(db *sql.DB, queries []string) {
	for _, q := range queries {
		if !k.wants(q) {
			continue
		}
		if s, err := db.PrepareContext(context.Background(), q); err == nil {
			k.keep(q, s)
		}
	}
}

// wants reports whether a statement has been used before and is not kept.
func (k *kept) wants(query string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.stmts[query] != nil || len(k.seen) >= maxKept && !k.seen[query]:
		return false
	case k.seen == nil:
		k.seen, k.stmts = map[string]bool{}, map[string]*sql.Stmt{}
	}
	again := k.seen[query]
	k.seen[query] = true
	return again
}

func (k *kept) keep(query string, s *sql.Stmt) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stmts[query] != nil {
		_ = s.Close() // two came at once
		return
	}
	k.stmts[query] = s
}

// pool is a db whose statements are kept.
type pool struct {
	*sql.DB
	k *kept
}

// QueryContext runs a query that is kept from its second use on.
func (p pool) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if s := p.k.get(query); s != nil {
		return s.QueryContext(ctx, args...)
	}
	p.k.add(p.DB, []string{query})
	return p.DB.QueryContext(ctx, query, args...)
}
