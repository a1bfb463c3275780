package store

import (
	"context"
	"database/sql"
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"skrzynka/mail"
)

// fail turns a database error into what a person is told. An *mail.Error and
// nil pass as they are.
func fail(err error) error {
	if err == nil {
		return nil
	}
	var known *mail.Error
	if errors.As(err, &known) {
		return err
	}
	e := &mail.Error{Code: mail.CodeStore, Err: err}
	var se *sqlite.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e.Text, e.Retryable = "The database was not asked in time.", true
	case errors.Is(err, sql.ErrConnDone), errors.Is(err, sql.ErrTxDone):
		e.Text = "The database is closed."
	case errors.Is(err, sql.ErrNoRows):
		e.Code, e.Text = mail.CodeNotFound, "There is no such entry."
	case errors.As(err, &se):
		describe(e, se.Code()&0xff)
	default:
		e.Text = "The database does not answer: " + err.Error() + "."
	}
	return e
}

func describe(e *mail.Error, code int) {
	switch code {
	case sqlite3.SQLITE_FULL:
		e.Code, e.Retryable = mail.CodeDiskFull, true
		e.Text, e.Hint = "The disk is full: nothing more can be stored.", "Free some space and try again."
	case sqlite3.SQLITE_IOERR:
		e.Text, e.Hint, e.Retryable = "The database could not be read or written.", "Check the disk, then try again.", true
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		e.Text, e.Hint = "The database may not be written to.", "Check that the state folder belongs to you and is not on a read-only disk."
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		e.Text, e.Hint, e.Retryable = "Another process keeps the database busy.", "Try again in a moment.", true
	case sqlite3.SQLITE_CANTOPEN:
		e.Text, e.Hint = "The database cannot be opened.", "Check that the state folder exists and belongs to you."
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		e.Text, e.Hint = "The database is damaged.", "Put it back from a backup; mail is read again from the server."
	case sqlite3.SQLITE_INTERRUPT:
		e.Text, e.Retryable = "The database was not asked in time.", true
	case sqlite3.SQLITE_CONSTRAINT:
		e.Code, e.Text = mail.CodeConflict, "The database refused a change that does not fit what it holds."
	case sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_NOMEM:
		e.Text = "That is larger than the database can hold."
	default:
		e.Text = "The database does not answer."
	}
}

// conflict is the answer to a compare-and-set that found another state.
func conflict(format string, args ...any) error {
	return mail.Errorf(mail.CodeConflict, "Look at its present state.", format, args...)
}

func notFound(format string, args ...any) error {
	return mail.Errorf(mail.CodeNotFound, "", format, args...)
}

func invalid(format string, args ...any) error {
	return mail.Errorf(mail.CodeInvalid, "", format, args...)
}

// isUnique reports whether err is a violated UNIQUE or PRIMARY KEY.
func isUnique(err error) bool {
	var se *sqlite.Error
	return errors.As(err, &se) && (se.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || se.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}
