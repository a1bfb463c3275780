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
}

// Syncer keeps one account up to date. One pass runs at a time.
type Syncer struct {
	Options
	store Store
	clock mail.Clock

	passing sync.Mutex
	mu      sync.Mutex
	want    []int64 // messages somebody opened whose bodies are not here
	wake    chan struct{}
}

// New returns a Syncer; nothing runs until Run or Pass.
func New(o Options) *Syncer {
	return &Syncer{Options: o, store: o.Store, clock: o.Clock, wake: make(chan struct{}, 1)}
}

func (s *Syncer) dial(ctx context.Context) (*mirror.Session, error) { return s.Dial(ctx) }

// Nudge asks Run for a pass now.
func (s *Syncer) Nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// WantBody asks for the body of a message before all others.
func (s *Syncer) WantBody(id int64) {
	s.mu.Lock()
	s.want = append(s.want, id)
	s.mu.Unlock()
	s.Nudge()
}

// wanted reads the bodies somebody is waiting for.
func (p *pass) wanted(ctx context.Context) error {
	p.mu.Lock()
	ids := p.want
	p.want = nil
	p.mu.Unlock()
	for _, id := range ids {
		m, err := p.store.Message(ctx, id)
		if err != nil || m.HasBody || m.UID.Validity == 0 {
			continue // it is here by now, gone, or on its way to another folder
		}
		f := &folderPass{pass: p, row: mail.Folder{ID: m.FolderID, Name: m.Folder}, box: mirror.Mailbox{UIDValidity: m.UID.Validity}}
		if err := f.fetchBodies(ctx, []mail.Bodyless{{ID: id, UID: m.UID.UID, Size: m.Size}}); err != nil && !mirror.Refused(err) {
			return err
		}
	}
	return nil
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
	var idle sync.WaitGroup
	idle.Go(func() { s.idle(ctx) })
	defer idle.Wait()
	pause := firstPause
	for ctx.Err() == nil {
		report := s.Pass(ctx, "")
		if !report.OK {
			s.sleep(ctx, pause+rand.N(pause/2))
			pause = min(2*pause, maxPause)
			continue
		}
		pause = firstPause
		s.progress("idle", "", 0, 0)
		s.sleep(ctx, s.Poll)
	}
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
