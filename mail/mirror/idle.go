package mirror

import (
	"context"
	"fmt"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/guard"
)

// doneLimit bounds the wait for the answer to DONE.
const doneLimit = 10 * time.Second

// maxDrift is how far wall clock and monotonic clock may run apart before the
// machine must have slept, or the clock been set.
const maxDrift = 30 * time.Second

// stopwatch returns the time since it was started by both clocks.
type stopwatch func() (wall, mono time.Duration)

func startWatch() stopwatch {
	start := time.Now()
	return func() (time.Duration, time.Duration) {
		now := time.Now()
		return now.Round(0).Sub(start.Round(0)), now.Sub(start)
	}
}

// slept reports whether the two clocks disagree. The monotonic one stands
// still while the machine sleeps.
func slept(wall, mono time.Duration) bool { return (wall - mono).Abs() > maxDrift }

// Idle waits in folder for the server to tell of changes (RFC 2177) and hands
// each to onPush, on this goroutine. It ends with nil when ctx ends; the
// session can then be used on, unless ctx ended while IDLE was being set up
// (see [Session.Err]). IDLE is renewed every 25 minutes. While it runs
// no other call of the session does: they wait.
//
// Errors: ErrNoIdle where the server has no IDLE; ErrResumed when the machine
// slept meanwhile, since a connection that looks alive then often is not; else
// the session's loss. What changed before Idle opened the folder is not told,
// so when it had to open it the first push is PushExists with the count.
func (s *Session) Idle(ctx context.Context, folder string, onPush func(Push)) error {
	if !s.caps.Idle {
		return &mail.Error{Code: mail.CodeUnsupported, Err: ErrNoIdle, Text: s.server + " cannot tell of new mail by itself.",
			Hint: "The folder is looked at from time to time instead."}
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	defer func() { <-s.turn }()
	if err := s.Err(); err != nil {
		return dead(err)
	}
	if ctx.Err() != nil {
		return nil
	}
	s.w.g.Bind(ctx)
	s.w.begin(smallBudget)
	s.tame()
	known := s.selected.Load()
	box, err := s.open(folder, true, false)
	s.w.pause()
	if !s.w.release(ctx) {
		_ = s.settle(ctx, "waiting for mail", ctx.Err())
		return nil
	}
	if err != nil {
		return s.settle(ctx, "waiting for mail", err)
	}
	if known == nil || known.name != folder {
		onPush(Push{Folder: folder, Kind: PushExists, N: uint32(box.Messages)})
	}
	for {
		again, err := s.idleTurn(ctx, onPush)
		if err != nil || !again {
			return err
		}
	}
}

// idleTurn runs one IDLE command to its end. again asks for the next.
func (s *Session) idleTurn(ctx context.Context, onPush func(Push)) (again bool, err error) {
	const what = "waiting for mail"
	s.w.g.Bind(ctx)
	s.w.begin(midBudget)
	cmd, err := s.client.Idle()
	s.w.pause()
	if !s.w.release(ctx) {
		_ = s.settle(ctx, what, ctx.Err())
		return false, nil
	}
	if err != nil {
		return false, s.settle(ctx, what, err)
	}
	done := func() error {
		s.w.begin(midBudget)
		s.w.g.Until(time.Now().Add(min(doneLimit, s.limits.Progress)))
		err := cmd.Close()
		if e := cmd.Wait(); err == nil {
			err = e
		}
		s.w.pause()
		if err != nil {
			return s.settle(context.WithoutCancel(ctx), what, err)
		}
		return nil
	}
	renew := time.NewTimer(s.limits.IdleTurn)
	defer renew.Stop()
	look := time.NewTicker(s.tick)
	defer look.Stop()
	watch := s.watch()
	for {
		select {
		case <-ctx.Done():
			return false, done()
		case p := <-s.pushes:
			onPush(p)
		case <-renew.C:
			return true, done()
		case <-look.C:
			if slept(watch()) {
				out := &mail.Error{Code: mail.CodeIMAPUnavailable, Retryable: true, Err: fmt.Errorf("%w: %w", ErrResumed, errSlept),
					Text: "The connection to " + s.server + " was given up after the machine had slept.", Hint: "It is made anew by itself."}
				s.kill(out)
				_ = cmd.Close()
				return false, out
			}
		case <-s.client.Closed():
			out := s.fail(what, errIdleLost) // before DONE fails too and hides the reason
			_ = cmd.Close()
			return false, out
		}
	}
}

var (
	errSlept    = fmt.Errorf("wall and monotonic clock differ by more than %v", maxDrift)
	errIdleLost = &guard.Error{Op: "read", Kind: guard.KindLost}
)
