//go:build unix

package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"skrzynka/mail"
)

func TestPermissions(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	s := openAt(t, filepath.Join(t.TempDir(), "state"), newClock())
	must(t, s.SyncAccounts(context.Background(), []mail.Account{{Name: "me"}}))
	must(t, s.Emergency("x"))
	a := openAttempt(t, s, outbound("k", "b"))
	must(t, s.ClaimAttempt(context.Background(), a.ID, s.Owner()))
	must(t, filepath.Walk(s.Dir(), func(path string, fi os.FileInfo, err error) error {
		want := os.FileMode(0o600)
		if fi.IsDir() {
			want = 0o700
		}
		if fi.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", filepath.Base(path), fi.Mode().Perm(), want)
		}
		return err
	}))
}

func TestStateFolderIsChecked(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(dir string) error
		ok   bool
	}{
		{"missing: made", func(string) error { return nil }, true},
		{"readable for all: tightened", func(d string) error { return os.Mkdir(d, 0o755) }, true},
		{"writable for all: refused", func(d string) error { return errors.Join(os.Mkdir(d, 0o700), os.Chmod(d, 0o777)) }, false},
		{"a file: refused", func(d string) error { return os.WriteFile(d, nil, 0o600) }, false},
		{"database is a link: refused", func(d string) error {
			return errors.Join(os.Mkdir(d, 0o700), os.Symlink("/dev/null", filepath.Join(d, DatabaseName)))
		}, false},
		{"database is no database: refused", func(d string) error {
			return errors.Join(os.Mkdir(d, 0o700), os.WriteFile(filepath.Join(d, DatabaseName), []byte(strings.Repeat("no database ", 100)), 0o600))
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			must(t, c.make(dir))
			s, err := Open(context.Background(), dir, Options{})
			if !c.ok {
				wantCode(t, err, mail.CodeStore)
				return
			}
			must(t, err)
			defer s.Close() //nolint:errcheck // not what is tested
			if fi, err := os.Stat(dir); err != nil || fi.Mode().Perm() != 0o700 {
				t.Errorf("mode %v", fi.Mode())
			}
		})
	}
}
