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

	indexing sync.Mutex
	index    chan struct{} // there may be something to index
}

func newSyncer(e *Engine) *syncer {
	s := &syncer{e: e, by: map[string]*inbox.Syncer{}, index: make(chan struct{}, 1)}
	e.Store.Notify(func(topic, _, _ string) {
		if topic == string(view.TopicMessages) {
			select {
			case s.index <- struct{}{}:
			default:
			}
		}
	})
	return s
}

// Pauses of the index loop: mail that comes in is waited for a moment, so that
// one transaction takes more of it; other processes are looked after.
const (
	indexSoon  = 300 * time.Millisecond
	indexPause = time.Minute
)

// indexLoop keeps the full-text index and the conversations up to date.
func (s *syncer) indexLoop(ctx context.Context) {
	for ctx.Err() == nil {
		// A failure (a full disk, a locked database) is tried again later.
		_ = s.indexNow(ctx, false)
		select {
		case <-ctx.Done():
		case <-time.After(indexPause):
		case <-s.index:
			select {
			case <-ctx.Done():
			case <-time.After(indexSoon):
			}
		}
	}
}

func (s *syncer) indexNow(ctx context.Context, bulk bool) error {
	s.indexing.Lock()
	defer s.indexing.Unlock()
	return inbox.Index(ctx, s.e.Store, bulk)
}

func (s *syncer) of(acct *mail.Account) *inbox.Syncer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by[acct.Name] == nil {
		s.by[acct.Name] = inbox.New(inbox.Options{Account: acct, Store: s.e.Store, Clock: s.e.Clock, Poll: s.e.PollInterval,
			Dial:     func(ctx context.Context) (*mirror.Session, error) { return s.e.dialMirror(ctx, acct) },
			ResumeAt: func(back time.Time) time.Time { return follow.ResumeAt(back, acct.FollowUp, s.e.zone()) },
			OnRefused: func(j mail.JournalEntry, why *mail.Error) {
				s.e.publish(view.Change{Topic: view.TopicMessages, Account: acct.Name, ID: itoa(int(j.MessageID)), Err: undone(j, why)})
			},
			OnProgress: func(p view.SyncProgress) {
				s.e.publish(view.Change{Topic: view.TopicSync, Account: acct.Name, Progress: &p})
			}})
	}
	return s.by[acct.Name]
}

// undone says that an action was taken back because the server refused it.
func undone(j mail.JournalEntry, why *mail.Error) *mail.Error {
	e := *why
	what := "Moving a message"
	if j.Action == mail.JournalFlag {
		what = "Changing a flag"
	}
	e.Text = what + " was undone. " + why.Text
	return &e
}

// start runs every account's loop until ctx ends.
func (s *syncer) start(ctx context.Context) {
	s.e.running.Go(func() { s.indexLoop(ctx) })
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
// for it, and for what came to be in the index. What was stored stays whatever
// ends it.
func (e *Engine) Sync(ctx context.Context, account, folder string) (view.SyncReport, error) {
	out := view.SyncReport{Accounts: []view.AccountSync{}}
	if account != "" {
		acct, err := e.account(account)
		if err != nil {
			return out, err
		}
		out.Accounts = append(out.Accounts, e.sync.of(acct).Pass(ctx, folder))
		return out, e.sync.indexNow(ctx, true)
	}
	for i := range e.Accounts {
		out.Accounts = append(out.Accounts, e.sync.of(&e.Accounts[i]).Pass(ctx, folder))
	}
	return out, e.sync.indexNow(ctx, true)
}
