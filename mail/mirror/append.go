package mirror

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/emersion/go-imap/v2"

	"skrzynka/mail"
	"skrzynka/mail/guard"
)

// AppendOutcome is what is known of an APPEND that did not succeed.
type AppendOutcome string

// The three ways. Only after AppendLost can the copy be there.
const (
	AppendRefused  AppendOutcome = "refused"   // the server said NO or BAD
	AppendNotBegun AppendOutcome = "not_begun" // the message's last byte was never written
	AppendLost     AppendOutcome = "lost"      // all of it went out, no answer came
)

// AppendError says how an APPEND ended. Err is the *mail.Error to show.
type AppendError struct {
	Outcome AppendOutcome
	Code    string // the response code of a refusal, "TRYCREATE"
	Err     error
}

// Error returns the sentence.
func (e *AppendError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *AppendError) Unwrap() error { return e.Err }

// AppendResult is where the message went, and the folder's state before: a
// copy whose outcome was lost is at a UID not below Before.UIDNext.
type AppendResult struct {
	Before      Mailbox
	UIDValidity uint32 // 0 without UIDPLUS: the UID is found by search
	UID         uint32
}

// appendPiece is how much of the message is written at once: each piece must
// get through within the progress time.
const appendPiece = 64 << 10

// answerGrace is how long a refusal may take to be read when writing failed.
const answerGrace = time.Second

// Append stores message in folder with flags, and date as its INTERNALDATE
// when not zero. It first asks for the folder's UIDVALIDITY and UIDNEXT; then
// begun is called with them, and must make durable that APPEND may have begun:
// its error stops everything. The literal always waits for the server's
// go-ahead, and until its last byte is written nothing was stored (RFC 9051
// section 6.3.12). Every error is an *AppendError; once begun was called, the
// session is dead after it.
func (s *Session) Append(ctx context.Context, folder string, message []byte, flags []string, date time.Time, begun func(before Mailbox) error) (AppendResult, error) {
	var out AppendResult
	outcome, tried := AppendNotBegun, false
	err := s.run(ctx, "storing the copy", smallBudget, func() (err error) {
		if err := appendable(folder, message, flags, s.caps.AppendLimit); err != nil {
			return err
		}
		if out.Before, err = s.status(folder); err != nil {
			return err
		}
		s.w.pause()
		err = begun(out.Before)
		s.w.resume()
		if err != nil {
			return callerError{err}
		}
		tried = true
		out.UIDValidity, out.UID, outcome, err = s.append(folder, message, flags, date)
		return err
	})
	if err == nil {
		return out, nil
	}
	if outcome == AppendNotBegun && Refused(err) {
		outcome = AppendRefused // STATUS was
	}
	if tried {
		s.Close()
	}
	return out, &AppendError{Outcome: outcome, Code: ResponseCode(err), Err: err}
}

func appendable(folder string, message []byte, flags []string, limit int64) error {
	bad := func(format string, args ...any) error {
		return mail.Errorf(mail.CodeIMAPRejected, "The message itself is not affected.", format, args...)
	}
	switch {
	case folder == "":
		return bad("A folder needs a name.")
	case len(message) == 0:
		return bad("There is nothing to store.")
	case limit > 0 && int64(len(message)) > limit:
		return bad("The server stores messages up to %d bytes; this one has %d.", limit, len(message))
	case !validFlags(flags):
		return bad("A flag has a character that is not allowed.")
	}
	return nil
}

// append gives the command itself. Its outcome is judged by what the server
// said, and where it said nothing by whether the last byte can have gone out.
func (s *Session) append(folder string, message []byte, flags []string, date time.Time) (validity, uid uint32, outcome AppendOutcome, err error) {
	cmd := s.client.Append(folder, int64(len(message)), &imap.AppendOptions{Flags: imapFlags(flags), Time: date})
	start := s.w.written()
	var failed error
	for rest := message; len(rest) > 0 && failed == nil; {
		n := min(appendPiece, len(rest))
		if _, failed = cmd.Write(rest[:n]); failed == nil {
			rest = rest[n:]
			s.w.item()
		}
	}
	var data *imap.AppendData
	sent := false
	if failed == nil {
		failed = cmd.Close() // writes what is still buffered, and the end of the line
		sent = s.w.written()-start >= int64(len(message))
		s.w.item()
		data, err = cmd.Wait()
	} else {
		// Only an answer that is here already can still explain it. Then the
		// socket is cut before the library could write anything more.
		sent = s.w.written()-start >= int64(len(message))
		cut := time.AfterFunc(answerGrace, func() { _ = s.w.Close() })
		data, err = cmd.Wait()
		cut.Stop()
		_ = s.w.Close()
		_ = cmd.Close()
	}
	switch {
	case err == nil && failed == nil:
		return data.UIDValidity, uint32(data.UID), "", nil
	case Refused(err):
		return 0, 0, AppendRefused, err
	case sent:
		outcome = AppendLost
	default:
		outcome = AppendNotBegun
	}
	if err == nil { // an OK before the message was out: the two are out of step
		err = garbled("an answer before the message was sent")
	}
	if broken := s.w.broken(); errors.Is(err, ErrDecode) && broken != nil && guard.KindOf(broken) != guard.KindNone {
		err = fmt.Errorf("%w (%w)", err, broken)
	}
	return 0, 0, outcome, err
}

// imapFlags converts flags for the library.
func imapFlags(flags []string) []imap.Flag {
	out := make([]imap.Flag, 0, len(flags))
	for _, f := range flags {
		out = append(out, imap.Flag(f))
	}
	return out
}

// validFlags reports whether the library will encode flags instead of hanging up.
func validFlags(flags []string) bool {
	for _, f := range flags {
		name := f
		if len(name) > 0 && name[0] == '\\' {
			name = name[1:]
		}
		if !visibleASCII(name) {
			return false
		}
		for _, c := range name {
			switch c {
			case '(', ')', '{', '%', '*', '"', '\\', ']':
				return false
			}
		}
	}
	return true
}
