package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	_ "modernc.org/sqlite" // the driver

	"skrzynka/mail"
)

// DatabaseName is the database's file name in the state directory.
const DatabaseName = "skrzynka.db"

const (
	readers     = 4
	busyTimeout = 5000 // milliseconds
)

// driverName is changed by tests to see every statement.
var driverName = "sqlite"

// Options are what a Store needs besides its directory.
type Options struct {
	Clock mail.Clock // nil is the system clock
	Actor mail.Actor // who writes, unless the context says otherwise (mail.WithActor); "" is a person
}

// Store is one open state directory. It is safe for concurrent use.
type Store struct {
	dir      string
	clock    mail.Clock
	actor    mail.Actor
	w, r     *sql.DB // one writer connection; several readers
	kept     kept    // statements of the writer
	keptRead kept    // and of the readers
	owner    *Owner
	restored bool

	// failpoint is called at named points of a transaction; only tests set it.
	failpoint func(point string)

	sidecar sync.Mutex // the instance file, within this process

	mu       sync.Mutex
	watchers []func(topic, account, id string)
}

// Open opens the state directory dir, making it and its database when they are
// not there, brings the schema up to date, takes an owner lock, and looks
// whether the database was put back from a backup (see [Store.Restored]).
// Errors are *mail.Error.
func Open(ctx context.Context, dir string, o Options) (_ *Store, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, mail.Errorf(mail.CodeStore, "", "The state folder cannot be found: %w.", err)
	}
	s := &Store{dir: dir, clock: o.Clock, actor: o.Actor}
	if s.clock == nil {
		s.clock = mail.SystemClock{}
	}
	if s.actor == "" {
		s.actor = mail.ActorPerson
	}
	path := filepath.Join(dir, DatabaseName)
	if err := prepareDir(dir); err != nil {
		return nil, err
	}
	if err := prepareFile(path); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = s.Close()
		}
	}()
	// One process at a time: turning on WAL does not wait for others by itself.
	opening := flock.New(filepath.Join(dir, "open.lock"), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	if _, err := opening.TryLockContext(ctx, 5*time.Millisecond); err != nil {
		if errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) {
			return nil, dirError(dir, err)
		}
		return nil, mail.Errorf(mail.CodeStore, "Keep the state folder on a local disk that supports file locks.",
			"The state folder cannot be locked: %w.", err)
	}
	defer opening.Close() //nolint:errcheck // closing is all there is to do
	if s.w, err = sql.Open(driverName, dsn(path, false)); err != nil {
		return nil, fail(err)
	}
	s.w.SetMaxOpenConns(1)
	s.w.SetMaxIdleConns(1)
	if s.r, err = sql.Open(driverName, dsn(path, true)); err != nil {
		return nil, fail(err)
	}
	s.r.SetMaxOpenConns(readers)
	s.r.SetMaxIdleConns(readers)
	if err := migrate(ctx, s.w, dir, latest()); err != nil {
		return nil, err
	}
	if err := s.assertPragmas(ctx); err != nil {
		return nil, err
	}
	if s.owner, err = newOwner(dir); err != nil {
		return nil, err
	}
	tidyOwners(dir)
	if err := s.openEpoch(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Close releases the owner lock and the connections.
func (s *Store) Close() error {
	var first error
	for _, db := range []*sql.DB{s.r, s.w} {
		if db != nil {
			if err := db.Close(); err != nil && first == nil {
				first = fail(err)
			}
		}
	}
	// Last: as long as this process can write, it counts as alive.
	if s.owner != nil {
		if err := s.owner.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Dir is the state directory.
func (s *Store) Dir() string { return s.dir }

// Owner is the identity under which this Store claims attempts.
func (s *Store) Owner() string { return s.owner.ID() }

// Restored reports whether Open found that the database had been put back from
// a backup. Everything that would have been sent then waits for a person.
func (s *Store) Restored() bool { return s.restored }

// dsn names the database for the driver. What would end the path or be decoded
// in it is escaped: unescaped, SQLite silently opens another file.
func dsn(path string, readOnly bool) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // a Windows drive
	}
	q := []string{
		fmt.Sprintf("_busy_timeout=%d", busyTimeout), "_journal_mode=WAL", "_synchronous=FULL",
		"_foreign_keys=1", "_dqs=0", "_error_rc=1", "_time_format=sqlite",
		// fullfsync: on macOS a plain fsync does not reach the disk.
		"_pragma=fullfsync(1)", "_pragma=checkpoint_fullfsync(1)",
		"_pragma=trusted_schema(0)", "_pragma=cell_size_check(1)", "_pragma=journal_size_limit(67108864)",
		// Statement journals stay in memory, and a batch's pages in the cache.
		"_pragma=page_size(8192)", "_pragma=wal_autocheckpoint(4000)", "_pragma=temp_store(2)", "_pragma=cache_size(-8000)",
	}
	if readOnly {
		q = append(q, "_txlock=deferred", "_query_only=1")
	} else {
		q = append(q, "_txlock=immediate")
	}
	return "file://" + (&url.URL{Path: p}).EscapedPath() + "?" + strings.Join(q, "&")
}

// pragmas are what every connection must answer.
var pragmas = []struct{ name, want string }{
	{"journal_mode", "wal"}, {"synchronous", "2"}, {"foreign_keys", "1"},
	{"busy_timeout", fmt.Sprint(busyTimeout)}, {"trusted_schema", "0"}, {"cell_size_check", "1"},
}

// assertPragmas opens every connection of both pools at once and asks each.
// The settings are in the DSN, so that connections opened later have them too.
func (s *Store) assertPragmas(ctx context.Context) error {
	return eachConn(ctx, s.w, s.r, func(c *sql.Conn, readOnly bool) error {
		for _, p := range pragmas {
			var got string
			if err := c.QueryRowContext(ctx, "PRAGMA "+p.name).Scan(&got); err != nil {
				return fail(err)
			}
			if got != p.want {
				return mail.Errorf(mail.CodeStore, "Keep the state folder on a local disk.",
					"The database cannot be used safely: %s is %q and must be %q.", p.name, got, p.want)
			}
		}
		return nil
	})
}

func eachConn(ctx context.Context, w, r *sql.DB, do func(c *sql.Conn, readOnly bool) error) error {
	conns := make([]*sql.Conn, 0, readers+1)
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	for i := range readers + 1 {
		db := r
		if i == 0 {
			db = w
		}
		c, err := db.Conn(ctx)
		if err != nil {
			return fail(err)
		}
		conns = append(conns, c)
		if err := do(c, i > 0); err != nil {
			return err
		}
	}
	return nil
}
