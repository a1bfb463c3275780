package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"skrzynka/mail"
)

// Owner is one opened Store's identity in the database. It is alive for as
// long as the operating system holds the lock on its file, which it gives back
// by itself when the process ends, however it ends: no clock is involved.
type Owner struct {
	id   string
	lock *flock.Flock
}

// ID is what claimed rows carry.
func (o *Owner) ID() string { return o.id }

// Close gives the identity up. Rows that still carry it are then recovered by
// other processes.
func (o *Owner) Close() error {
	_ = os.Remove(o.lock.Path()) // before unlocking; on Windows it stays until it is looked at
	if err := o.lock.Close(); err != nil {
		return mail.Errorf(mail.CodeStore, "", "The process lock cannot be released: %w.", err)
	}
	return nil
}

func newOwner(dir string) (*Owner, error) {
	run := filepath.Join(dir, "run")
	if err := prepareDir(run); err != nil {
		return nil, err
	}
	for range 10 {
		o := &Owner{id: mail.NewID()}
		path := lockPath(dir, o.id)
		o.lock = flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
		ok, err := o.lock.TryLock()
		if err != nil {
			return nil, mail.Errorf(mail.CodeStore, "Keep the state folder on a local disk that supports file locks.",
				"The process lock cannot be taken: %w.", err)
		}
		// Somebody tidying up may have removed the file between its making and
		// its locking: then the lock is on a file that nobody can see.
		if ok && stillThere(o.lock, path) {
			return o, nil
		}
		_ = o.lock.Close()
	}
	return nil, mail.Errorf(mail.CodeStore, "Try again.", "The process lock cannot be taken.")
}

func lockPath(dir, id string) string { return filepath.Join(dir, "run", id+".lock") }

func stillThere(l *flock.Flock, path string) bool {
	held, err := l.Stat()
	if err != nil {
		return false
	}
	seen, err := os.Stat(path)
	return err == nil && os.SameFile(held, seen)
}

// OwnerAlive reports whether the process that claimed under id still lives.
// The file of a dead one is removed. When the lock cannot be asked for, the
// answer is true: a row is left alone rather than recovered wrongly.
func (s *Store) OwnerAlive(id string) bool {
	if s.owner != nil && id == s.owner.id {
		return true
	}
	return lockHeld(s.dir, id)
}

func lockHeld(dir, id string) bool {
	if !isID(id) {
		return false
	}
	path := lockPath(dir, id)
	l := flock.New(path, flock.SetFlag(os.O_RDWR)) // not made when missing
	ok, err := l.TryLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false
	case err != nil || !ok:
		_ = l.Close()
		return true
	}
	_ = os.Remove(path)
	_ = l.Close()
	_ = os.Remove(path) // where an open file cannot be removed
	return false
}

// tidyOwners removes what dead processes left: lock files, and instance files
// that were prepared and not published.
func tidyOwners(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, "instance-*.tmp")) // the pattern is valid
	for _, path := range left {
		id := strings.TrimPrefix(filepath.Base(path), "instance-")
		if len(id) < 36 || !lockHeld(dir, id[:36]) {
			_ = os.Remove(path)
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, "run"))
	if err != nil {
		return
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".lock"); ok {
			lockHeld(dir, id)
		}
	}
}

// isID accepts what mail.NewID makes, so that a stored id never names a path.
func isID(id string) bool {
	if len(id) != 36 {
		return false
	}
	for _, c := range id {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c == '-') {
			return false
		}
	}
	return true
}
