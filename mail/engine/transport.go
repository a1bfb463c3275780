package engine

import (
	"context"
	"sync"
	"time"

	"skrzynka/auth"
	"skrzynka/mail"
	"skrzynka/mail/submit"
)

// How many messages of one account are submitted at once, and how long a
// connection is kept for the next one.
const (
	lanesPerAccount = 3
	keepIdle        = 10 * time.Second
)

// transport runs the outbox's transactions over package submit. A connection
// that ended well is kept for a while: a burst signs in once. Each transaction
// has its own full evidence and its own marks all the same.
type transport struct {
	e  *Engine
	mu sync.Mutex
	by map[string]*lanes
}

// lanes are one account's connections. A slow server holds up one lane only.
type lanes struct {
	slots chan struct{}
	mu    sync.Mutex
	kept  []*submit.Session
}

func newTransport(e *Engine) *transport { return &transport{e: e, by: map[string]*lanes{}} }

func (t *transport) of(account string) *lanes {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by[account] == nil {
		t.by[account] = &lanes{slots: make(chan struct{}, lanesPerAccount)}
	}
	return t.by[account]
}

// Turn waits for a free lane of the account.
func (t *transport) Turn(ctx context.Context, acct *mail.Account) (func(), error) {
	l := t.of(acct.Name)
	select {
	case l.slots <- struct{}{}:
		return sync.OnceFunc(func() { <-l.slots }), nil
	case <-ctx.Done():
		return nil, &mail.Error{Code: mail.CodeCancelled, Retryable: true, Err: ctx.Err(),
			Text: "It was stopped before the send began.", Hint: "It stays pending and goes out with the next start."}
	}
}

// Send runs one SMTP transaction, on a kept connection where there is one. The
// caller has a lane.
func (t *transport) Send(ctx context.Context, acct *mail.Account, from string, to []string, msg []byte, rec submit.Recorder) mail.Evidence {
	l := t.of(acct.Name)
	r := t.e.request(acct, t.e.Credentials)
	r.From, r.To, r.Bytes, r.Partial = from, to, msg, acct.SMTPPartial
	var before []mail.StepMark
	if s := l.take(); s != nil {
		ev := s.Send(ctx, r.Message(), rec)
		l.giveBack(s, ev)
		if !stale(ev) {
			return ev
		}
		// The server had closed the kept connection. MAIL was not answered, so
		// nothing was begun: the same transaction is run on a fresh one.
		before = ev.Steps
		before[len(before)-1].Note = "the kept connection was gone; dialled anew"
	}
	s, ev := submit.Open(ctx, r, rec)
	if s != nil {
		steps := ev.Steps
		ev = s.Send(ctx, r.Message(), rec)
		ev.Steps = append(steps, ev.Steps...)
		l.giveBack(s, ev)
	} else {
		ev.Recipients, ev.Partial = len(to), r.Partial
	}
	ev.Steps = append(before, ev.Steps...)
	return ev
}

// stale reports whether a kept connection turned out to be closed, or about to
// be, when the next transaction was begun on it.
func stale(ev mail.Evidence) bool {
	return ev.LastStep == mail.StepMail && (ev.Fault == mail.FaultLost || ev.Fault == mail.FaultRefused && ev.Reply.Code == 421)
}

func (l *lanes) take() *submit.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.kept); n > 0 {
		s := l.kept[n-1]
		l.kept = l.kept[:n-1]
		return s
	}
	return nil
}

// giveBack keeps a connection whose transaction was accepted until it has been
// idle for too long. After any other end it is looked at first, aside: what the
// evidence says is to be committed now. One that the server closes meanwhile is
// found out by the next transaction, before anything is begun on it.
func (l *lanes) giveBack(s *submit.Session, ev mail.Evidence) {
	keep := func() {
		l.mu.Lock()
		l.kept = append(l.kept, s)
		l.mu.Unlock()
		time.AfterFunc(keepIdle, func() {
			if l.remove(s) {
				s.Close()
			}
		})
	}
	if ev.Fault == mail.FaultNone {
		keep()
		return
	}
	go func() {
		if s.Usable() {
			keep()
		} else {
			s.Close()
		}
	}()
}

func (l *lanes) remove(s *submit.Session) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, k := range l.kept {
		if k == s {
			l.kept = append(l.kept[:i], l.kept[i+1:]...)
			return true
		}
	}
	return false
}

// close says QUIT on every kept connection.
func (t *transport) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.by {
		for s := l.take(); s != nil; s = l.take() {
			s.Close()
		}
	}
}

// request says where an account submits and how it signs in.
func (e *Engine) request(acct *mail.Account, src auth.Source) submit.Request {
	return submit.Request{Server: acct.SMTP, Clock: e.Clock, Timeouts: e.Timeouts,
		Creds: func(ctx context.Context) (auth.Credentials, error) { return auth.Resolve(ctx, src, acct, acct.SMTP) }}
}
