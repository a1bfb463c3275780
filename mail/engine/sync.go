package engine

import (
	"context"
	"sync"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/follow"
	"skrzynka/mail/inbox"
	"skrzynka/mail/mirror"
	"skrzynka/mail/view"
)

// syncer holds one inbox.Syncer an account.
type syncer struct {
	e  *Engine
	mu sync.Mutex
	by map[string]*inbox.Syncer
}

func newSyncer(e *Engine) *syncer { return &syncer{e: e, by: map[string]*inbox.Syncer{}} }

func (s *syncer) of(acct *mail.Account) *inbox.Syncer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by[acct.Name] == nil {
		s.by[acct.Name] = inbox.New(inbox.Options{Account: acct, Store: s.e.Store, Clock: s.e.Clock, Poll: s.e.PollInterval,
			Dial:     func(ctx context.Context) (*mirror.Session, error) { return s.e.dialMirror(ctx, acct) },
			ResumeAt: func(back time.Time) time.Time { return follow.ResumeAt(back, acct.FollowUp, s.e.zone()) },
			OnProgress: func(p view.SyncProgress) {
				s.e.publish(view.Change{Topic: view.TopicSync, Account: acct.Name, Progress: &p})
			}})
	}
	return s.by[acct.Name]
}

// start runs every account's loop until ctx ends.
func (s *syncer) start(ctx context.Context) {
	for i := range s.e.Accounts {
		acct := &s.e.Accounts[i]
		if acct.IMAP.Host == "" {
			continue
		}
		one := s.of(acct)
		s.e.running.Go(func() { one.Run(ctx) })
	}
}

// nudge asks the loops for a pass now; "" asks all.
func (s *syncer) nudge(account string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, one := range s.by {
		if account == "" || account == name {
			one.Nudge()
		}
	}
}

func (s *syncer) wantBody(account string, id int64) {
	s.mu.Lock()
	one := s.by[account]
	s.mu.Unlock()
	if one != nil {
		one.WantBody(id)
	}
}

// SyncNow asks the background loops for a pass.
func (e *Engine) SyncNow() { e.sync.nudge("") }

// Sync does one pass over an account ("": all) or one folder of it and waits
// for it. What was stored stays whatever ends it.
func (e *Engine) Sync(ctx context.Context, account, folder string) (view.SyncReport, error) {
	out := view.SyncReport{Accounts: []view.AccountSync{}}
	if account != "" {
		acct, err := e.account(account)
		if err != nil {
			return out, err
		}
		out.Accounts = append(out.Accounts, e.sync.of(acct).Pass(ctx, folder))
		return out, nil
	}
	for i := range e.Accounts {
		out.Accounts = append(out.Accounts, e.sync.of(&e.Accounts[i]).Pass(ctx, folder))
	}
	return out, nil
}
