package guard

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// Kind is what happened to a connection.
type Kind string

// The kinds.
const (
	KindNone        Kind = ""
	KindTimeout     Kind = "timeout"
	KindLost        Kind = "lost"        // EOF, reset, broken pipe, closed
	KindOversized   Kind = "oversized"   // the peer sent more than its budget
	KindCancelled   Kind = "cancelled"   // the context ended
	KindUnreachable Kind = "unreachable" // name lookup failed, refused, no route
)

// Error is a failed operation on a guarded connection. It satisfies net.Error.
type Error struct {
	Op   string // "dial", "read" or "write"
	Kind Kind
	Err  error // may be nil
}

// Error says what failed.
func (e *Error) Error() string {
	s := e.Op + ": " + string(e.Kind)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether the operation ran out of time.
func (e *Error) Timeout() bool { return e.Kind == KindTimeout }

// Temporary is what crypto/tls asks to know whether a read may be tried again
// on the same connection; after a time-out it may.
func (e *Error) Temporary() bool { return e.Kind == KindTimeout }

// KindOf says what err, which may wrap an *Error, means. io.EOF and unknown
// errors of the network are KindLost; any other error is KindNone.
func KindOf(err error) Kind {
	var e *Error
	var ne net.Error
	switch {
	case err == nil:
		return KindNone
	case errors.As(err, &e):
		return e.Kind
	case errors.Is(err, context.Canceled):
		return KindCancelled
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return KindTimeout
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, io.ErrClosedPipe), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return KindLost
	case errors.As(err, &ne):
		if ne.Timeout() {
			return KindTimeout
		}
		return KindLost
	}
	return KindNone
}

// wrap types err. io.EOF passes as it is: readers compare it with ==.
func wrap(ctx context.Context, op string, err error) error {
	if err == nil {
		return nil
	}
	if ctx != nil && ctx.Err() != nil {
		return &Error{Op: op, Kind: KindCancelled, Err: ctx.Err()}
	}
	if err == io.EOF {
		return err
	}
	kind := KindOf(err)
	if kind == KindNone {
		kind = KindLost
	}
	return &Error{Op: op, Kind: kind, Err: err}
}

func dialError(ctx context.Context, err error) error {
	var ne net.Error
	switch {
	case ctx.Err() != nil:
		return &Error{Op: "dial", Kind: KindCancelled, Err: ctx.Err()}
	case errors.As(err, &ne) && ne.Timeout():
		return &Error{Op: "dial", Kind: KindTimeout, Err: err}
	}
	return &Error{Op: "dial", Kind: KindUnreachable, Err: err}
}
