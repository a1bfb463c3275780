package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"skrzynka/mail"
)

// A migration is migrations/NNNN_name.sql; its number is the user_version it
// leads to. Once released it is never changed.
//
//go:embed migrations/*.sql
var migrations embed.FS

// steps returns the migrations in order; steps()[i] leads to version i+1.
func steps() []string {
	names, err := migrations.ReadDir("migrations")
	if err != nil {
		return nil
	}
	out := make([]string, len(names))
	for i, n := range names {
		b, err := migrations.ReadFile("migrations/" + n.Name())
		if err != nil {
			return nil
		}
		out[i] = string(b)
	}
	return out
}

func latest() int { return len(steps()) }

// migrate brings the database of w up to version to, one transaction a step.
// Before the first step of a database that holds anything a copy of it is left
// beside it.
func migrate(ctx context.Context, w *sql.DB, dir string, to int) error {
	have, err := userVersion(ctx, w)
	if err != nil {
		return fail(err)
	}
	if have > latest() {
		return mail.Errorf(mail.CodeStore, "Install the newer version again, or use another state folder.",
			"The database was written by a newer version of this program (schema %d; this one knows %d).", have, latest())
	}
	if have > 0 && have < to {
		if err := backup(ctx, w, filepath.Join(dir, fmt.Sprintf("skrzynka-schema%d-%s.db", have, time.Now().UTC().Format("20060102T150405")))); err != nil {
			return err
		}
	}
	for v := have; v < to; v++ {
		if err := step(ctx, w, v); err != nil {
			return fail(err)
		}
	}
	return nil
}

func userVersion(ctx context.Context, q interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}) (v int, err error) {
	err = q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	return v, err
}

// step applies the migration that follows version v, unless another process
// has done so in the meantime.
func step(ctx context.Context, w *sql.DB, v int) error {
	tx, err := w.BeginTx(ctx, nil) // IMMEDIATE
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	now, err := userVersion(ctx, tx)
	if err != nil || now > v {
		return err
	}
	if _, err := tx.ExecContext(ctx, steps()[v]); err != nil {
		return fmt.Errorf("schema %d: %w", v+1, err)
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", v+1)); err != nil {
		return err
	}
	return tx.Commit()
}

// backup writes a consistent copy of the database to path, mode 0600.
func backup(ctx context.Context, w *sql.DB, path string) error {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return dirError(path, err)
	}
	if err := prepareFile(path); err != nil { // VACUUM INTO takes an empty file
		return err
	}
	_, err := w.ExecContext(ctx, "VACUUM INTO ?", path)
	return fail(err)
}
