package inbox

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/mirror"
	"skrzynka/mail/view"
)

// Options are what a Syncer is made of.
type Options struct {
	Account    *mail.Account
	Store      Store
	Dial       func(ctx context.Context) (*mirror.Session, error)
	Clock      mail.Clock
	Poll       time.Duration // how often everything is looked at
	OnProgress func(view.SyncProgress)
	// OnRefused hears of an action of a person that the server refused and
	// that was therefore undone.
	OnRefused func(e mail.JournalEntry, why *mail.Error)
	ResumeAt  func(back time.Time) time.Time // see Recorder
}

// Recorder records the account's inbound events.
func (s *Syncer) Recorder() *Recorder {
	return &Recorder{Account: s.Account, Store: s.store, ResumeAt: s.ResumeAt}
}

// Syncer keeps one account up to date. One pass runs at a time.
type Syncer struct {
	Options
	store Store
	clock mail.Clock

	passing sync.Mutex
	wake    chan struct{}
	fetch   chan struct{} // somebody waits for a body

	mu      sync.Mutex
	want    []int64 // messages somebody opened whose bodies are not here
	running bool    // Run is: sessions may be kept
	parked  *mirror.Session
	since   time.Time // when it was parked, by the wall clock
}

// New returns a Syncer; nothing runs until Run or Pass.
func New(o Options) *Syncer {
	return &Syncer{Options: o, store: o.Store, clock: o.Clock, wake: make(chan struct{}, 1), fetch: make(chan struct{}, 1)}
}

func (s *Syncer) dial(ctx context.Context) (*mirror.Session, error) { return s.Dial(ctx) }

// Nudge asks Run for a pass now.
func (s *Syncer) Nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// parkTime is how long a session is kept for the next pass. It is short, so
// that a connection that died unseen is rarely tried.
const parkTime = 90 * time.Second

func (s *Syncer) keepSession(open *mirror.Session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running {
		return false
	}
	s.parked, s.since = open, time.Now().Round(0) // wall clock: a machine that slept made it old
	return true
}

// takeSession returns the session kept from the last pass, or nil.
func (s *Syncer) takeSession() *mirror.Session {
	s.mu.Lock()
	open, since := s.parked, s.since
	s.parked = nil
	s.mu.Unlock()
	if open == nil {
		return nil
	}
	if d := time.Since(since); open.Err() != nil || d < 0 || d > parkTime {
		open.Close()
		return nil
	}
	return open
}

// The pause after a failed pass: doubled each time, with jitter, so that many
// clients do not come back at once.
const (
	firstPause = 2 * time.Second
	maxPause   = 5 * time.Minute
)

// Run passes over the account until ctx ends: when the server tells of a
// change (IDLE), when a person asks or did something, and at every poll.
func (s *Syncer) Run(ctx context.Context) {
	s.mu.Lock()
	s.running = true
	s.mu.Unlock()
	var beside sync.WaitGroup
	beside.Go(func() { s.idle(ctx) })
	beside.Go(func() { s.courier(ctx) })
	defer func() {
		s.mu.Lock()
		s.running = false
		s.mu.Unlock()
		if open := s.takeSession(); open != nil {
			open.Close()
		}
		beside.Wait()
	}()
	pause := firstPause
	for ctx.Err() == nil {
		report := s.Pass(ctx, "")
		if !report.OK {
			if progressed(report) {
				pause = firstPause
			}
			s.sleep(ctx, pause+rand.N(pause/2))
			pause = min(2*pause, maxPause)
			continue
		}
		pause = firstPause
		s.progress("idle", "", 0, 0)
		s.sleep(ctx, s.Poll)
	}
}

// progressed reports whether a pass that failed brought anything: then it is
// the connection that is poor, and trying again soon is worth it.
func progressed(r view.AccountSync) bool {
	for _, f := range r.Folders {
		if f.New > 0 || f.Changed > 0 {
			return true
		}
	}
	return false
}

// sleep waits for d, a nudge or the end.
func (s *Syncer) sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.wake:
	case <-ctx.Done():
	}
}

// idle keeps a connection in the watched folder and asks for a pass whenever
// the server tells of a change. A server without IDLE is polled; a connection
// that went away is made again, with a growing pause.
func (s *Syncer) idle(ctx context.Context) {
	pause := firstPause
	for ctx.Err() == nil {
		session, err := s.Dial(ctx)
		if err == nil {
			started := s.clock.Now()
			err = session.Idle(ctx, s.watched(), func(mirror.Push) { s.Nudge() })
			session.Close()
			if errors.Is(err, mirror.ErrNoIdle) {
				return
			}
			if s.clock.Now().Sub(started) > maxPause {
				pause = firstPause
			}
		}
		t := time.NewTimer(pause + rand.N(pause/2))
		select {
		case <-t.C:
		case <-ctx.Done():
		}
		t.Stop()
		pause = min(2*pause, maxPause)
	}
}

// watched is the folder followed by IDLE.
func (s *Syncer) watched() string {
	for _, w := range s.Account.Watch {
		if !strings.EqualFold(w, "inbox") {
			return w
		}
	}
	return "INBOX"
}
