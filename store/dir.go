package store

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"skrzynka/mail"
)

// prepareDir makes dir with mode 0700, or checks the one that is there: a
// folder of ours that nobody else may write to. Read permission for others is
// taken away.
func prepareDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return dirError(dir, err)
	}
	fi, err := os.Stat(dir)
	if err != nil {
		return dirError(dir, err)
	}
	refuse := func(why string) error {
		return mail.Errorf(mail.CodeStore, "Choose a folder of your own, or correct its owner and mode (0700).",
			"The state folder %q cannot be used: %s.", dir, why)
	}
	switch {
	case !fi.IsDir():
		return refuse("it is not a folder")
	case !ownedByUs(fi):
		return refuse("it belongs to another user")
	case loose(fi, 0o022):
		return refuse("other users may write to it")
	case loose(fi, 0o077):
		if err := os.Chmod(dir, 0o700); err != nil {
			return dirError(dir, err)
		}
	}
	return nil
}

// prepareFile makes path as an empty file with mode 0600 before SQLite would
// make it readable for all, or checks the one that is there. The WAL takes its
// mode from it.
func prepareFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return dirError(path, err)
	}
	fi, err := os.Lstat(path)
	if err != nil {
		return dirError(path, err)
	}
	switch {
	case !fi.Mode().IsRegular():
		return mail.Errorf(mail.CodeStore, "Move it away.", "%q is not a regular file.", path)
	case !ownedByUs(fi):
		return mail.Errorf(mail.CodeStore, "Correct its owner.", "%q belongs to another user.", path)
	case loose(fi, 0o077):
		if err := os.Chmod(path, 0o600); err != nil {
			return dirError(path, err)
		}
	}
	return nil
}

func dirError(path string, err error) error {
	if why := errors.Unwrap(err); why != nil {
		err = why // without the path, which is named already
	}
	if errors.Is(err, syscall.ENOSPC) {
		return mail.Errorf(mail.CodeDiskFull, "Free some space and try again.", "%q cannot be written: the disk is full.", path)
	}
	return mail.Errorf(mail.CodeStore, "Check that the folder exists and may be written to.",
		"%q cannot be used: %w.", path, err)
}
