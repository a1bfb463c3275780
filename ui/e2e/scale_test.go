package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"skrzynka/auth"
	"skrzynka/mail"
	"skrzynka/mail/engine"
	"skrzynka/mail/view"
	"skrzynka/store"
	"skrzynka/ui"
	"skrzynka/ui/kit/kittest"
)

// quiet is the real engine without its changes: the synchronous driver must
// not wait for one.
type quiet struct{ *engine.Engine }

func (quiet) Subscribe(int) (<-chan view.Change, func()) { return nil, func() {} }

// filled returns the real engine over a real store with n messages in INBOX.
func filled(b testing.TB, n int) quiet {
	b.Helper()
	ctx := context.Background()
	acct := mail.Account{Name: "big", Email: "ada@example.org", IMAP: mail.Server{Host: "imap.invalid", Port: 993}}
	st, err := store.Open(ctx, b.TempDir(), store.Options{})
	check := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	check(err)
	b.Cleanup(func() { _ = st.Close() })
	check(st.SyncAccounts(ctx, []mail.Account{acct}))
	check(st.PutFolders(ctx, acct.Name, []mail.Folder{{Account: acct.Name, Name: "INBOX", Kind: mail.FolderInbox, Selectable: true}}))
	folder, err := st.FolderByName(ctx, acct.Name, "INBOX")
	check(err)
	check(st.ReRead(ctx, folder.ID, 1))
	start := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for from := 1; from <= n; from += store.MaxBatch {
		var batch []mail.NewMessage
		for uid := from; uid < from+store.MaxBatch && uid <= n; uid++ {
			head := fmt.Sprintf("From: Sender %d <s%d@example.net>\r\nSubject: Message %d\r\nMessage-ID: <%d@example.net>\r\n\r\n", uid%97, uid%97, uid, uid)
			at := start.Add(time.Duration(uid) * time.Minute)
			batch = append(batch, mail.NewMessage{UID: uint32(uid), InternalDate: at, Size: 2000, Header: []byte(head),
				Summary: mail.Summary{RFCMessageID: fmt.Sprintf("<%d@example.net>", uid), From: mail.Address{Name: fmt.Sprintf("Sender %d", uid%97), Addr: fmt.Sprintf("s%d@example.net", uid%97)},
					To: "Ada", Subject: fmt.Sprintf("Message %d", uid), Date: at}})
		}
		_, err := st.PutHeaders(ctx, folder.ID, 1, batch)
		check(err)
	}
	return quiet{engine.New(engine.Options{Store: st, Owner: st.Owner(), Accounts: []mail.Account{acct}, DefaultAccount: acct.Name,
		PollInterval: time.Hour, Credentials: auth.Static{}})}
}

// BenchmarkScale measures the real model over the real store: the first full
// frame, a step, a page and opening a message, at 1,000 and 100,000 messages.
// A key must not cost more than twice as much at the larger size.
func BenchmarkScale(b *testing.B) {
	for _, n := range []int{1000, 100000} {
		e := filled(b, n)
		show := func() *kittest.Driver {
			var timers kittest.Timers
			app, err := ui.New(ui.Deps{Engine: e, After: timers.After})
			if err != nil {
				b.Fatal(err)
			}
			return kittest.New(b, app, &timers, 120, 40)
		}
		b.Run(fmt.Sprintf("first frame/%d", n), func(b *testing.B) {
			for b.Loop() {
				_ = show().Styled()
			}
		})
		d := show()
		for _, keys := range [][]string{{"j"}, {"pgdown"}, {"enter", "esc"}} {
			b.Run(fmt.Sprintf("%s/%d", keys[0], n), func(b *testing.B) {
				back := 900 // keys until the smaller mailbox would end
				if keys[0] == "pgdown" {
					back = 20
				}
				for i := 0; b.Loop(); i++ {
					if i%back == back-1 {
						d.Send(kittest.Key("home"))
					}
					for _, k := range keys {
						d.Send(kittest.Key(k))
						_ = d.Styled()
					}
				}
			})
		}
	}
}

// counted counts what the screens ask of the engine.
type counted struct {
	quiet
	windows, rows, opened, folders int
}

func (c *counted) Messages(ctx context.Context, q view.ListQuery) (view.Page, error) {
	p, err := c.quiet.Messages(ctx, q)
	c.windows, c.rows = c.windows+1, c.rows+len(p.Rows)
	return p, err
}

func (c *counted) Message(ctx context.Context, id int64) (view.Message, error) {
	c.opened++
	return c.quiet.Message(ctx, id)
}

func (c *counted) Folders(ctx context.Context, account string) ([]view.Folder, error) {
	c.folders++
	return c.quiet.Folders(ctx, account)
}

// A key reads as many windows and rows at twenty thousand messages as at a
// thousand: nothing that is asked grows with the mailbox. That no statement
// walks through a table is asserted in package store.
func TestKeysReadTheSameAtEverySize(t *testing.T) {
	keys := []string{"j", "j", "pgdown", "pgdown", "ctrl+d", "k", "pgup", "enter", "esc", "x", "G", "k", "pgup", "home", "j"}
	var small []string
	for _, n := range []int{1000, 20000} {
		e := &counted{quiet: filled(t, n)}
		var timers kittest.Timers
		app, err := ui.New(ui.Deps{Engine: e, After: timers.After})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		note := func(what string) {
			got = append(got, fmt.Sprintf("%s: %d windows, %d rows, %d messages, %d folder lists", what, e.windows, e.rows, e.opened, e.folders))
			if e.rows > 400 {
				t.Errorf("%s read %d rows", what, e.rows)
			}
			e.windows, e.rows, e.opened, e.folders = 0, 0, 0, 0
		}
		d := kittest.New(t, app, &timers, 120, 40)
		note("first frame")
		for _, k := range keys {
			d.Send(kittest.Key(k))
			d.Frame()
			note(k)
		}
		if small == nil {
			small = got
			continue
		}
		for i := range got {
			if got[i] != small[i] {
				t.Errorf("%d messages: %s; 1000 messages: %s", n, got[i], small[i])
			}
		}
	}
}
