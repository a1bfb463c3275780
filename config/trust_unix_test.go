//go:build unix

package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"skrzynka/mail"
)

func TestJudgeTrust(t *testing.T) {
	rows := []struct {
		name            string
		mode            fs.FileMode
		owner, user     int
		commands        bool
		refused, warned int
	}{
		{"own, private", 0o600, 1000, 1000, true, 0, 0},
		{"own, readable", 0o644, 1000, 1000, true, 0, 0},
		{"own, group may write", 0o664, 1000, 1000, true, 0, 1},
		{"own, everyone may write", 0o666, 1000, 1000, false, 1, 0},
		{"of the system", 0o444, 0, 1000, true, 0, 0},
		{"of another user", 0o644, 1001, 1000, false, 1, 0},
		{"of a user, read by root", 0o644, 1000, 0, false, 0, 1},
		{"of a user, its programs run by root", 0o644, 1000, 0, true, 1, 0},
	}
	for _, r := range rows {
		refused, warned := judgeTrust(r.mode, r.owner, r.user, r.commands)
		if len(refused) != r.refused || len(warned) != r.warned {
			t.Errorf("%s: refused %v, warned %v", r.name, refused, warned)
		}
	}
}

func TestWritableFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte("[ui]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); !errors.Is(err, mail.ErrCode(mail.CodeConfigInvalid)) {
		t.Errorf("got %v", err)
	}
	if err := os.Chmod(path, 0o660); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(path); err != nil || len(c.Warnings) != 1 {
		t.Errorf("got %+v, %v", c, err)
	}
}
