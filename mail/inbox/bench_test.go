package inbox_test

import (
	"context"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"skrzynka/auth"
	"skrzynka/mail"
	"skrzynka/mail/inbox"
	"skrzynka/mail/mirror"
	"skrzynka/mail/view"
	"skrzynka/store"
)

// BenchmarkMailbox measures a whole mailbox on a real server, step by step:
//
//	SKRZYNKA_BENCH_IMAP=localhost:993 SKRZYNKA_BENCH_CA=ca.pem SKRZYNKA_BENCH_USER=test SKRZYNKA_BENCH_PASSWORD=secret \
//		go test ./mail/inbox -run - -bench Mailbox -benchtime 1x
func BenchmarkMailbox(b *testing.B) {
	host, port, err := net.SplitHostPort(os.Getenv("SKRZYNKA_BENCH_IMAP"))
	if err != nil {
		b.Skip("SKRZYNKA_BENCH_IMAP does not name a server")
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	acct := &mail.Account{Name: "me", Email: "me@example.org", IMAP: mail.Server{Host: host, Port: n, Security: mail.SecurityTLS, CAFile: os.Getenv("SKRZYNKA_BENCH_CA")}}
	st, err := store.Open(ctx, b.TempDir(), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	if err := st.SyncAccounts(ctx, []mail.Account{*acct}); err != nil {
		b.Fatal(err)
	}
	o := mirror.Options{Server: acct.IMAP, Creds: func(context.Context) (auth.Credentials, error) {
		return auth.Credentials{Username: os.Getenv("SKRZYNKA_BENCH_USER"), Secret: auth.NewSecret(os.Getenv("SKRZYNKA_BENCH_PASSWORD"))}, nil
	}}
	var first time.Time
	start := time.Now()
	s := inbox.New(inbox.Options{Account: acct, Store: st, Clock: mail.SystemClock{}, Poll: time.Hour,
		Dial: func(ctx context.Context) (*mirror.Session, error) { return mirror.Dial(ctx, o) },
		OnProgress: func(p view.SyncProgress) {
			if p.Phase == "bodies" && first.IsZero() {
				first = time.Now()
			}
		}})
	pass := func(name string) {
		b.Run(name, func(b *testing.B) {
			begun := time.Now()
			if r := s.Pass(ctx, ""); !r.OK {
				b.Fatal(r.Error)
			}
			b.ReportMetric(float64(time.Since(begun).Milliseconds()), "ms")
			if name == "first" {
				b.ReportMetric(float64(first.Sub(start).Milliseconds()), "ms-to-a-list")
			}
		})
	}
	pass("first")
	pass("nothing-new")
	messages, _, err := st.AccountSize(ctx, acct.Name)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("index", func(b *testing.B) {
		begun := time.Now()
		if err := inbox.Index(ctx, st, true); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(messages)/time.Since(begun).Seconds(), "messages/s")
	})
	for name, q := range map[string]view.Scope{"list": {Kind: mail.FolderInbox}, "threads": {Kind: mail.FolderInbox, Threads: true}, "search-common": {Query: "the "},
		"search-from": {Query: "from:anna "}, "search-subject": {Query: "subject:re "}, "search-nothing": {Query: "xyzzyq "}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := st.ListMessages(ctx, view.ListQuery{Scope: q, Limit: 50}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
