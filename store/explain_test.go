package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"

	"modernc.org/sqlite"
)

// Every statement the tests of this package make the store run is remembered,
// and afterwards SQLite is asked how it would run it: none may walk through
// messages, attempts, the journal or the audit log to find its rows.

var seen sync.Map // statement -> number of its arguments

func TestMain(m *testing.M) {
	sql.Register("sqlite-recorded", recorder{&sqlite.Driver{}})
	driverName = "sqlite-recorded"
	code := m.Run()
	if code == 0 && childArgs() == nil {
		if bad := scans(); len(bad) > 0 {
			fmt.Println("FAIL: statements that scan:\n" + strings.Join(bad, "\n"))
			code = 1
		}
	}
	os.Exit(code)
}

// mayScan are the indexes that hold just the rows that wait for something, or
// that are read in order up to a limit.
var mayScan = map[string]bool{
	"attempt_copy": true, "attempt_retry": true, "attempt_open": true, "attempt_record": true, "attempt_list": true, "message_unthreaded": true,
}

var (
	scanLine = regexp.MustCompile(`^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?`)
	// These find an account's whole history: they are for removing it.
	wide = regexp.MustCompile(`USING (?:COVERING )?INDEX (message|journal|audit|draft)_account\b`)
	// The aliases every statement of this package uses for its large tables.
	large = map[string]bool{"message": true, "m": true, "attempt": true, "a": true, "n": true, "x": true, "journal": true, "j": true, "body": true, "message_ref": true, "event": true, "e": true, "classification": true, "effect": true}
)

// scans lists the remembered statements whose plan walks through a large table.
func scans() (bad []string) {
	dir, err := os.MkdirTemp("", "explain")
	if err != nil {
		return []string{err.Error()}
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	s, err := Open(context.Background(), dir, Options{})
	if err != nil {
		return []string{err.Error()}
	}
	defer s.Close() //nolint:errcheck // a temporary database
	seen.Range(func(k, args any) bool {
		q := k.(string)
		head := strings.ToUpper(strings.Fields(q)[0])
		if head != "SELECT" && head != "UPDATE" && head != "DELETE" && head != "INSERT" && head != "WITH" {
			return true
		}
		rows, err := s.r.Query("EXPLAIN QUERY PLAN "+q, make([]any, args.(int))...)
		if err != nil {
			bad = append(bad, q+"\n\t"+err.Error())
			return true
		}
		defer rows.Close() //nolint:errcheck // only read
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				bad = append(bad, err.Error())
			}
			if m := scanLine.FindStringSubmatch(detail); m != nil && large[m[1]] && !mayScan[m[2]] || wide.MatchString(detail) && !strings.HasPrefix(q, "DELETE FROM account") {
				bad = append(bad, strings.Join(strings.Fields(q), " ")+"\n\t"+detail)
			}
		}
		return true
	})
	sort.Strings(bad)
	return bad
}

type recorder struct{ driver.Driver }

func (r recorder) Open(name string) (driver.Conn, error) {
	c, err := r.Driver.Open(name)
	if err != nil {
		return nil, err
	}
	return recorded{c}, nil
}

type recorded struct{ driver.Conn }

func remember(q string, args int) {
	if !strings.HasPrefix(q, "/* test */") && !strings.HasPrefix(q, "EXPLAIN") && strings.TrimSpace(q) != "" {
		seen.LoadOrStore(q, args)
	}
}

var numbered = regexp.MustCompile(`\?(\d+)`)

// arguments counts the parameters of a statement.
func arguments(q string) int {
	n := 0
	for _, m := range numbered.FindAllStringSubmatch(q, -1) {
		v, _ := strconv.Atoi(m[1])
		n = max(n, v)
	}
	if n > 0 {
		return n
	}
	return strings.Count(q, "?")
}

func (c recorded) PrepareContext(ctx context.Context, q string) (driver.Stmt, error) {
	remember(q, arguments(q))
	return c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, q)
}

func (c recorded) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	remember(q, len(args))
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, q, args)
}

func (c recorded) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	remember(q, len(args))
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, q, args)
}

func (c recorded) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
}
