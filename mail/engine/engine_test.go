package engine_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skrzynka/auth"
	"skrzynka/mail"
	"skrzynka/mail/engine"
	"skrzynka/mail/loopback"
	"skrzynka/mail/submit"
	"skrzynka/mail/view"
	"skrzynka/store"
)

// world is a provider on loopback, a store and an engine on it.
type world struct {
	t       *testing.T
	servers *loopback.Servers
	store   *store.Store
	*engine.Engine
	dir string
}

func newWorld(t *testing.T, o loopback.Options, change func(*mail.Account)) *world {
	t.Helper()
	if o.SlowReply == 0 {
		o.SlowReply = time.Millisecond
	}
	o.BounceAfter, o.AutoReplyAfter, o.HumanAfter = time.Millisecond, time.Millisecond, time.Millisecond
	servers, err := loopback.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(servers.Close)
	if err := servers.WriteCA(filepath.Join(t.TempDir(), "ca.pem")); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, servers: servers, dir: t.TempDir()}
	w.open(change)
	return w
}

// open opens the store and an engine over it, as a process that starts does.
func (w *world) open(change func(*mail.Account)) {
	w.t.Helper()
	acct := w.servers.Account()
	if change != nil {
		change(&acct)
	}
	st, err := store.Open(context.Background(), w.dir, store.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := st.SyncAccounts(context.Background(), []mail.Account{acct}); err != nil {
		w.t.Fatal(err)
	}
	w.store = st
	w.Engine = engine.New(engine.Options{Store: st, Owner: st.Owner(), Accounts: []mail.Account{acct}, DefaultAccount: acct.Name,
		Outbox: mail.OutboxPolicy{ResendUnsubmitted: "ask", RetryRecordDays: 30}, PollInterval: time.Hour,
		Credentials: auth.Static{acct.Name: auth.NewSecret(w.servers.Password)},
		Timeouts:    submit.Timeouts{Reply: 10 * time.Second, Quit: 100 * time.Millisecond}})
	w.t.Cleanup(func() {
		w.StopSends()
		w.Wait()
		st.Close()
	})
}

func (w *world) sync() view.SyncReport {
	w.t.Helper()
	r, err := w.Sync(context.Background(), "", "")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, a := range r.Accounts {
		if !a.OK {
			w.t.Fatalf("sync of %s: %v", a.Account, a.Error)
		}
	}
	return r
}

// from finds the inbox's message from an address.
func (w *world) from(local string) view.MessageRow {
	w.t.Helper()
	page, err := w.Messages(context.Background(), view.ListQuery{Scope: view.Scope{Kind: mail.FolderInbox}, Limit: 200})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range page.Rows {
		if strings.HasPrefix(r.FromAddr.String(), local+"@") {
			return r
		}
	}
	w.t.Fatalf("no message from %s@ among %d", local, len(page.Rows))
	return view.MessageRow{}
}

func TestAnswerEveryMagicSender(t *testing.T) {
	w := newWorld(t, loopback.Options{}, nil)
	w.sync()
	rows := []struct {
		local  string
		status mail.DeliveryStatus
		code   mail.Code
		taken  int
	}{
		{"ok", mail.StatusSent, "", 1},
		{"reject", mail.StatusFailed, mail.CodeSMTPRejected, 0},
		{"greylist", mail.StatusFailed, mail.CodeSMTPRejected, 0},
		{"refuse", mail.StatusFailed, mail.CodeSMTPRejected, 0},
		{"busy", mail.StatusFailed, mail.CodeSMTPUnavailable, 0},
		{"drop", mail.StatusUncertain, mail.CodeSMTPUncertain, 1},
		{"vanish", mail.StatusFailed, mail.CodeSMTPInterrupted, 0},
		{"slow", mail.StatusSent, "", 1},
		{"bounce", mail.StatusSent, "", 1},
		{"ooo", mail.StatusSent, "", 1},
		{"human", mail.StatusSent, "", 1},
	}
	for _, r := range rows {
		t.Run(r.local, func(t *testing.T) {
			msg := w.from(r.local)
			a, err := w.Reply(context.Background(), view.ReplyRequest{MessageID: msg.ID, Body: "Hello from a test.\n"})
			if err != nil {
				t.Fatal(err)
			}
			code := mail.Code("")
			if a.ErrorCode != nil {
				code = *a.ErrorCode
			}
			if a.Status != r.status || code != r.code {
				t.Errorf("got %s %s (%s), want %s %s", a.Status, code, a.Says, r.status, r.code)
			}
			if n := len(w.servers.AcceptedByID(a.RFCMessageID)); n != r.taken {
				t.Errorf("the server holds %d, want %d", n, r.taken)
			}
			row := w.from(r.local)
			if row.ID == msg.ID && (row.Badge == nil || row.Badge.Status != r.status) {
				t.Errorf("the list shows %+v", row.Badge)
			}
			if row.ID == msg.ID && row.Answered != (r.status == mail.StatusSent) {
				t.Errorf("answered is %t", row.Answered)
			}
			if r.status == mail.StatusSent && a.SentCopy.Status != mail.CopySaved {
				t.Errorf("the sent copy is %s: %v", a.SentCopy.Status, a.SentCopy.ErrorMessage)
			}
		})
	}
}

func TestSyncIsIdempotent(t *testing.T) {
	w := newWorld(t, loopback.Options{}, nil)
	w.sync()
	first, err := w.Messages(context.Background(), view.ListQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range w.sync().Accounts[0].Folders {
		if f.New != 0 || f.Changed != 0 || f.Vanished != 0 {
			t.Errorf("a second pass changed %s: %+v", f.Name, f)
		}
	}
	again, err := w.Messages(context.Background(), view.ListQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Rows) != 80 || len(again.Rows) != len(first.Rows) {
		t.Errorf("%d rows, then %d", len(first.Rows), len(again.Rows))
	}
	for _, r := range again.Rows {
		if !r.HasBody {
			t.Errorf("message %d in %s has no body", r.ID, r.Folder)
		}
		if _, err := w.Message(context.Background(), r.ID); err != nil {
			t.Errorf("message %d cannot be opened: %v", r.ID, err)
		}
	}
}
