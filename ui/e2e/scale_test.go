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
func filled(b *testing.B, n int) quiet {
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
				for i := 0; b.Loop(); i++ {
					if i%900 == 899 {
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
