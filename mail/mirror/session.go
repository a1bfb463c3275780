package mirror

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"

	"skrzynka/mail"
	"skrzynka/mail/guard"
)

// What a server may send between two results, beyond which it is cut off.
const (
	smallBudget = 1 << 20  // an answer of a few lines
	midBudget   = 16 << 20 // folders; other clients' changes between two messages
	listBudget  = 64 << 20 // lists of UIDs: some million messages
)

// Session is one logged-in connection. Its methods may be called from several
// goroutines; they run one after the other. When a call's context ends while
// the call runs, the connection is cut and the session is dead, since nobody
// can know how far the server got: dial anew. The same holds after every error
// that is not the server's plain refusal (see [Refused]) or one of this
// package's own checks; [Session.Err] tells.
type Session struct {
	w      *wire
	client *imapclient.Client
	server string
	limits Timeouts
	caps   Caps
	onPush func(Push)
	pushes chan Push
	turn   chan struct{} // holds a token while a command runs
	watch  func() stopwatch
	tick   time.Duration // how often Idle looks at the clock

	selected atomic.Pointer[selection]

	mu   sync.Mutex
	dead *mail.Error

	sizes sizes // guarded by turn
}

// selection is the folder the connection has open. It only saves commands: no
// call acts on it without naming its folder.
type selection struct {
	name string
	box  Mailbox
}

// sizes remembers RFC822.SIZE of one folder, so that bodies need not ask again.
type sizes struct {
	folder   string
	validity uint32
	of       map[uint32]int64
}

// maxSizes bounds the memory of sizes.
const maxSizes = 200_000

func (z *sizes) put(folder string, validity, uid uint32, size int64) {
	if z.folder != folder || z.validity != validity || len(z.of) >= maxSizes {
		*z = sizes{folder: folder, validity: validity, of: map[uint32]int64{}}
	}
	z.of[uid] = size
}

func (z *sizes) get(folder string, validity, uid uint32) (int64, bool) {
	if z.folder != folder || z.validity != validity {
		return 0, false
	}
	n, ok := z.of[uid]
	return n, ok
}

// Caps returns what the server offers this login.
func (s *Session) Caps() Caps { return s.caps }

// Server is the host name the session was dialled to.
func (s *Session) Server() string { return s.server }

// Err returns nil while the session can be used, else why it cannot.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead != nil {
		return s.dead
	}
	if err := s.w.broken(); err != nil {
		return lost(s.server, "waiting", err, s.w.bye())
	}
	return nil
}

// Close cuts the connection. It never waits, and a running call returns.
func (s *Session) Close() {
	s.kill(&mail.Error{Code: mail.CodeIMAPUnavailable, Text: "The connection to " + s.server + " was closed.", Retryable: true, Err: ErrDead})
}

func (s *Session) kill(why *mail.Error) {
	s.mu.Lock()
	if s.dead == nil {
		s.dead = why
	}
	s.mu.Unlock()
	_ = s.w.Close()
}

// run takes the session's turn and runs one exchange under ctx. what is the
// exchange in words ("reading folders"), budget the bytes it may be answered
// with between two results.
func (s *Session) run(ctx context.Context, what string, budget int64, f func() error) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return lost(s.server, what, &guard.Error{Op: "wait", Kind: guard.KindCancelled, Err: ctx.Err()}, "")
	}
	defer func() { <-s.turn }()
	if err := s.Err(); err != nil {
		return dead(err)
	}
	if err := ctx.Err(); err != nil {
		return lost(s.server, what, &guard.Error{Op: "wait", Kind: guard.KindCancelled, Err: err}, "")
	}
	s.w.g.Bind(ctx)
	s.w.begin(budget)
	s.tame()
	err := f()
	s.w.pause()
	if !s.w.release(ctx) {
		s.kill(lost(s.server, what, &guard.Error{Op: "wait", Kind: guard.KindCancelled, Err: ctx.Err()}, ""))
	}
	s.drainPushes(s.onPush)
	return s.settle(ctx, what, err)
}

// dead marks a session's end as ErrDead for a call that came after it.
func dead(err error) error {
	e := *mail.AsError(err)
	e.Err = errors.Join(ErrDead, e.Err)
	return &e
}

// callerError is an error of the caller's own function, passed back as it is.
type callerError struct{ err error }

func (e callerError) Error() string { return e.err.Error() }

// settle sorts what an exchange ended with, and ends the session unless the
// error leaves the two sides in step.
func (s *Session) settle(ctx context.Context, what string, err error) error {
	var own *mail.Error
	var no *imap.Error
	var theirs callerError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &theirs):
		s.Close()
		return theirs.err
	case errors.As(err, &own):
		return err
	case errors.As(err, &no):
		return refusal(what, no)
	case ctx.Err() != nil:
		err = &guard.Error{Op: "wait", Kind: guard.KindCancelled, Err: ctx.Err()}
	}
	return s.fail(what, err)
}

// fail ends the session for err, which came from the library. What the
// connection itself saw is preferred: the library's errors are text.
func (s *Session) fail(what string, err error) error {
	s.mu.Lock()
	ended := s.dead
	s.mu.Unlock()
	var out *mail.Error
	switch broken := s.w.broken(); {
	case ended != nil:
		return dead(ended)
	case guard.KindOf(err) == guard.KindCancelled:
		out = lost(s.server, what, err, "")
	case errors.Is(err, ErrDecode):
		out = lost(s.server, what, err, "")
	case broken != nil:
		out = lost(s.server, what, broken, s.w.bye())
	default:
		out = lost(s.server, what, fmt.Errorf("%w: %w", ErrDecode, err), "")
	}
	s.kill(out)
	return out
}

// garbled is an answer that is not what was asked for.
func garbled(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDecode}, args...)...)
}

// handler turns what the server tells unasked into pushes. It runs on the
// library's reading goroutine and must neither block nor give a command.
func (s *Session) handler() *imapclient.UnilateralDataHandler {
	return &imapclient.UnilateralDataHandler{
		Expunge: func(n uint32) { s.push(PushExpunge, n) },
		Mailbox: func(d *imapclient.UnilateralDataMailbox) {
			if d.NumMessages != nil {
				s.push(PushExists, *d.NumMessages)
			}
		},
		Fetch: func(m *imapclient.FetchMessageData) {
			for m.Next() != nil { // drains literals too
			}
			s.push(PushFlags, 0)
		},
	}
}

// push keeps a hint for later. When nobody took the last 64, one more says
// nothing new.
func (s *Session) push(kind PushKind, n uint32) {
	sel := s.selected.Load()
	if sel == nil {
		return
	}
	select {
	case s.pushes <- Push{Folder: sel.name, Kind: kind, N: n}:
	default:
	}
}

func (s *Session) drainPushes(to func(Push)) {
	for {
		select {
		case p := <-s.pushes:
			if to != nil {
				to(p)
			}
		default:
			return
		}
	}
}

// Select opens folder and returns its state now. readOnly opens it with
// EXAMINE, under which nothing in it changes.
func (s *Session) Select(ctx context.Context, folder string, readOnly bool) (Mailbox, error) {
	var box Mailbox
	err := s.run(ctx, "opening the folder", smallBudget, func() (err error) {
		box, err = s.open(folder, readOnly, true)
		return err
	})
	return box, err
}

// open makes folder the one the connection has open. fresh asks the server
// even where it is.
func (s *Session) open(folder string, readOnly, fresh bool) (Mailbox, error) {
	if folder == "" {
		return Mailbox{}, mail.Errorf(mail.CodeInvalid, "Name a folder.", "A folder needs a name.")
	}
	if sel := s.selected.Load(); !fresh && sel != nil && sel.name == folder && (readOnly || !sel.box.ReadOnly) {
		return sel.box, nil
	}
	s.selected.Store(nil)
	data, err := s.client.Select(folder, &imap.SelectOptions{ReadOnly: readOnly, CondStore: s.caps.CondStore}).Wait()
	if err != nil {
		return Mailbox{}, err
	}
	box := Mailbox{UIDValidity: data.UIDValidity, UIDNext: uint32(data.UIDNext), Messages: int(data.NumMessages),
		HighestModSeq: data.HighestModSeq, ReadOnly: readOnly}
	for _, f := range data.PermanentFlags {
		box.PermanentFlags = append(box.PermanentFlags, string(f))
	}
	s.selected.Store(&selection{name: folder, box: box})
	s.w.item()
	return box, nil
}

// openAt is open for a caller that relies on a UIDVALIDITY; 0 relies on none.
func (s *Session) openAt(folder string, validity uint32, readOnly bool) (Mailbox, error) {
	box, err := s.open(folder, readOnly, false)
	if err == nil && validity != 0 && box.UIDValidity != validity {
		return box, &mail.Error{Code: mail.CodeConflict, Err: ErrUIDValidityChanged, Retryable: true,
			Text: "The server has renumbered the folder since it was last read.", Hint: "It is read again by itself."}
	}
	return box, err
}

// Noop asks for nothing but a sign of life; what changed arrives as pushes.
func (s *Session) Noop(ctx context.Context) error {
	return s.run(ctx, "checking the connection", smallBudget, func() error { return s.client.Noop().Wait() })
}

// Create makes a folder.
func (s *Session) Create(ctx context.Context, folder string) error {
	return s.run(ctx, "creating the folder", smallBudget, func() error { return s.client.Create(folder, nil).Wait() })
}
