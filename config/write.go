package config

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"skrzynka/mail"
	"skrzynka/mail/safe"
)

// WriteNew creates the file at path with the defaults as comments and the given
// accounts. It fails with CONFLICT when the file is there already: what a
// person wrote is never overwritten.
func WriteNew(path string, accounts ...mail.Account) error {
	text := header
	for _, a := range accounts {
		text += "\n" + render(a)
	}
	if err := check(path, []byte(text)); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return notWritten(path, err)
	}
	tmp, err := writeTemp(path, []byte(text), 0o600)
	if err != nil {
		return notWritten(path, err)
	}
	defer os.Remove(tmp)
	// A link fails where a rename would replace a file somebody else has just
	// made. Some file systems have no links; there the check is not atomic.
	err = os.Link(tmp, path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		if _, e := os.Lstat(path); errors.Is(e, fs.ErrNotExist) {
			err = os.Rename(tmp, path)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return &mail.Error{Code: mail.CodeConflict, Text: "There is a configuration at " + safe.Line(path).String() + " already.",
			Hint: "Add the account to it, or name another file with --config."}
	}
	if err != nil {
		return notWritten(path, err)
	}
	syncDir(filepath.Dir(path))
	return nil
}

// AppendAccount adds [accounts.NAME] at the end of the file and leaves what is
// there byte for byte; a file that is not there yet is created. It fails with
// CONFLICT when the name is taken, and with CONFIG_INVALID when the file was
// not valid before, or the account would not be.
func AppendAccount(path string, a mail.Account) error {
	old, info, err := read(path)
	if errors.Is(err, mail.ErrCode(mail.CodeConfigMissing)) {
		return WriteNew(path, a)
	}
	if err != nil {
		return err
	}
	c, problems := Loader{}.parse(path, old)
	if len(problems) > 0 {
		return invalid(path, problems)
	}
	for _, have := range c.Accounts {
		if have.Name == a.Name {
			return mail.Errorf(mail.CodeConflict, "Choose another name, or edit "+safe.Line(path).String()+".", "There is an account %q already.", a.Name)
		}
	}
	text := bytes.Clone(old)
	if n := len(text); n > 0 && text[n-1] != '\n' {
		text = append(text, '\n')
	}
	if len(text) > 0 {
		text = append(text, '\n')
	}
	text = append(text, render(a)...)
	if err := check(path, text); err != nil {
		return err
	}
	return replace(path, old, text, info.Mode().Perm())
}

// check refuses to write a text that could not be read again.
func check(path string, text []byte) error {
	if _, problems := (Loader{}).parse(path, text); len(problems) > 0 {
		return invalid(path, problems)
	}
	return nil
}

// replace puts text in the place of old in one step, unless the file has
// changed since old was read. A symbolic link stays one.
func replace(path string, old, text []byte, mode fs.FileMode) error {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return notWritten(path, err)
	}
	tmp, err := writeTemp(target, text, mode)
	if err != nil {
		return notWritten(path, err)
	}
	defer os.Remove(tmp)
	if now, err := os.ReadFile(target); err != nil || !bytes.Equal(now, old) {
		return &mail.Error{Code: mail.CodeConflict, Retryable: true,
			Text: "The configuration " + safe.Line(path).String() + " was changed by someone else meanwhile.", Hint: "Run the command again."}
	}
	if err := os.Rename(tmp, target); err != nil {
		return notWritten(path, err)
	}
	syncDir(filepath.Dir(target))
	return nil
}

// writeTemp writes a synced file beside path and returns its name.
func writeTemp(path string, text []byte, mode fs.FileMode) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".config-*.toml")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// syncDir makes a rename durable. Systems that cannot sync a folder make it
// durable in their own time.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

func notWritten(path string, err error) error {
	return &mail.Error{Code: mail.CodeConfigInvalid, Err: err,
		Text: "The configuration " + safe.Line(path).String() + " cannot be written: " + reason(err) + ".",
		Hint: "Check the folder's permissions and the free space."}
}
