package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"testing"
	"time"

	"skrzynka/mail"
)

// clock is a test's time: it moves only when it is told to.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func openAt(t testing.TB, dir string, c mail.Clock) *Store {
	t.Helper()
	s, err := Open(context.Background(), dir, Options{Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// open gives a Store with one account "me".
func open(t testing.TB) (*Store, *clock) {
	t.Helper()
	c := newClock()
	s := openAt(t, t.TempDir(), c)
	must(t, s.SyncAccounts(context.Background(), []mail.Account{{Name: "me", Email: "me@example.org"}}))
	return s, c
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must1[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		must(t, err)
		return v
	}
}

func wantCode(t testing.TB, err error, code mail.Code) {
	t.Helper()
	if !errors.Is(err, mail.ErrCode(code)) {
		t.Fatalf("got error %v, want %s", err, code)
	}
}

func outbound(key, body string) mail.Attempt {
	sum := sha256.Sum256([]byte("outbound me " + body))
	return mail.Attempt{
		Kind: mail.KindOutbound, Account: "me", IdempotencyKey: key, PayloadDigest: sum[:],
		From: mail.Address{Addr: "me@example.org"}, To: []mail.Address{{Name: "Ada", Addr: "Ada@Example.org"}},
		Subject: "Hello", Body: body, RFCMessageID: mail.NewMessageID("me@example.org"), Bytes: []byte("Subject: Hello\r\n\r\n" + body),
	}
}

func openAttempt(t testing.TB, s *Store, a mail.Attempt) mail.Attempt {
	t.Helper()
	got, replayed, err := s.OpenAttempt(context.Background(), a, 0)
	must(t, err)
	if replayed {
		t.Fatalf("attempt with key %q was replayed", a.IdempotencyKey)
	}
	return got
}

// settle takes an attempt from pending to an end.
func settle(t testing.TB, s *Store, id string, st mail.Settled) {
	t.Helper()
	ctx := context.Background()
	must(t, s.ClaimAttempt(ctx, id, s.Owner()))
	if st.Status == mail.StatusSent && st.SentAt.IsZero() {
		st.SentAt = s.clock.Now()
	}
	must(t, s.SettleAttempt(ctx, id, s.Owner(), st))
}

func scalar[T any](t testing.TB, s *Store, query string, args ...any) T {
	t.Helper()
	var v T
	must(t, s.r.QueryRow("/* test */ "+query, args...).Scan(&v))
	return v
}
