package outbox_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"skrzynka/auth"
	"skrzynka/mail"
	"skrzynka/mail/engine"
	"skrzynka/mail/submit"
	"skrzynka/mail/submit/smtptest"
	"skrzynka/mail/view"
	"skrzynka/store"
)

const password = "correct horse"

// patient limits nothing that a busy machine could miss.
func patient() submit.Timeouts {
	const d = 30 * time.Second
	return submit.Timeouts{Dial: d, TLS: d, Command: d, Data: d, BodyWrite: d, Reply: d, Quit: 100 * time.Millisecond, Premature: d}
}

// setup says what a world is made of; zero fields take what most tests want.
type setup struct {
	dir      string // "": a fresh state folder
	accounts []mail.Account
	timeouts submit.Timeouts
	clock    mail.Clock
	outbox   mail.OutboxPolicy
	wrap     func(*store.Store) engine.Store // decorates the store
}

// world is one process: a state folder, its store and an engine on it.
type world struct {
	testing.TB
	*engine.Engine
	st     *store.Store
	dir    string
	closed bool
}

func start(t testing.TB, s setup) *world {
	t.Helper()
	if s.dir == "" {
		s.dir = t.TempDir()
	}
	w, err := open(s)
	if err != nil {
		t.Fatal(err)
	}
	w.TB = t
	t.Cleanup(w.close)
	return w
}

func open(s setup) (*world, error) {
	st, err := store.Open(context.Background(), s.dir, store.Options{Clock: s.clock})
	if err != nil {
		return nil, err
	}
	if err := st.SyncAccounts(context.Background(), s.accounts); err != nil {
		return nil, err
	}
	if s.timeouts == (submit.Timeouts{}) {
		s.timeouts = patient()
	}
	if s.outbox == (mail.OutboxPolicy{}) {
		s.outbox = mail.OutboxPolicy{ResendUnsubmitted: "ask", RetryRecordDays: 30}
	}
	return &world{Engine: s.engine(st), st: st, dir: s.dir}, nil
}

func (s setup) engine(st *store.Store) *engine.Engine {
	secrets := auth.Static{}
	for _, a := range s.accounts {
		secrets[a.Name] = auth.NewSecret(password)
	}
	o := engine.Options{Store: st, Owner: st.Owner(), Accounts: s.accounts, DefaultAccount: s.accounts[0].Name, Outbox: s.outbox,
		PollInterval: time.Hour, Credentials: secrets, Clock: s.clock, Timeouts: s.timeouts}
	if s.wrap != nil {
		o.Store = s.wrap(st)
	}
	return engine.New(o)
}

// with returns a second engine over w's store, with other time limits.
func (w *world) with(accounts []mail.Account, limits submit.Timeouts) *world {
	s := setup{accounts: accounts, timeouts: limits, outbox: mail.OutboxPolicy{ResendUnsubmitted: "ask", RetryRecordDays: 30}}
	return &world{TB: w.TB, Engine: s.engine(w.st), st: w.st, dir: w.dir}
}

// close ends the process in an orderly way.
func (w *world) close() {
	if !w.closed {
		w.closed = true
		w.StopSends()
		w.Wait()
		_ = w.st.Close()
	}
}

// account describes an account named name that submits to p and has no IMAP
// side.
func account(t testing.TB, name string, p *smtptest.Peer) mail.Account {
	t.Helper()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, p.CA, 0o600); err != nil {
		t.Fatal(err)
	}
	a := mail.Account{Name: name, DisplayName: "Ada", Email: "ada@example.org", Aliases: []string{"ada@alias.example"}, SMTP: p.Server(),
		Auth: mail.AuthPassword, SentCopy: mail.SentCopyPolicy{ProviderKeep: "auto", OnFailure: mail.OnFailureWarn}}
	a.SMTP.CAFile = ca
	return a
}

// letter is a message to bob under a key.
func letter(key string) view.SendRequest {
	return view.SendRequest{To: to("bob@example.net"), Subject: "Hello", Body: "A line.\n.dot\n", Key: key}
}

func to(addrs ...string) []mail.Address {
	out := make([]mail.Address, len(addrs))
	for i, a := range addrs {
		out[i] = mail.Address{Addr: a}
	}
	return out
}

// incoming stores a message from addr, to be answered, and returns its id.
func (w *world) incoming(account, addr string) int64 {
	w.Helper()
	ctx := context.Background()
	must(w, w.st.PutFolders(ctx, account, []mail.Folder{{Account: account, Name: "INBOX", Kind: mail.FolderInbox, Selectable: true}}))
	f := must1(w.st.FolderByName(ctx, account, "INBOX"))(w)
	if f.UIDValidity == 0 {
		must(w, w.st.ReRead(ctx, f.ID, 7))
	}
	header := "From: " + addr + "\r\nTo: ada@example.org\r\nSubject: A question\r\nMessage-ID: " + mail.NewMessageID(addr) + "\r\nDate: Mon, 02 Mar 2026 10:00:00 +0000\r\n\r\n"
	page := must1(w.Messages(ctx, view.ListQuery{Limit: 500}))(w)
	ids := must1(w.st.PutHeaders(ctx, f.ID, 7, []mail.NewMessage{{UID: uint32(len(page.Rows) + 1), Header: []byte(header), Size: int64(len(header)),
		InternalDate: time.Now(), Summary: mail.Summary{From: mail.Address{Addr: addr}, Subject: "A question", Date: time.Now()}}}))(w)
	return ids[0]
}

// rows lists all attempts, oldest first.
func (w *world) rows() []mail.Attempt {
	w.Helper()
	list := must1(w.st.ListAttempts(context.Background(), view.AttemptFilter{Limit: 100000}))(w)
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

func (w *world) row(id string) mail.Attempt {
	w.Helper()
	return must1(w.st.Attempt(context.Background(), id))(w)
}

// taken lists the messages a peer got whole, as they were before dot-stuffing.
func taken(p *smtptest.Peer) [][]byte {
	var out [][]byte
	for _, r := range p.Received() {
		if r.Terminated {
			out = append(out, unstuff(r.Data))
		}
	}
	return out
}

func unstuff(b []byte) []byte {
	b = bytes.TrimPrefix(b, []byte("."))
	return bytes.ReplaceAll(b, []byte("\r\n.."), []byte("\r\n."))
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func messageID(b []byte) string {
	for _, line := range strings.Split(string(b), "\r\n") {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(name, "Message-ID") {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// testClock moves only when it is told to.
type testClock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *testClock { return &testClock{t: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *testClock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
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

func wantCode(t testing.TB, err error, code mail.Code) *mail.Error {
	t.Helper()
	if !errors.Is(err, mail.ErrCode(code)) {
		t.Fatalf("got error %v, want %s", err, code)
	}
	return mail.AsError(err)
}

func codeOf(a view.Attempt) mail.Code {
	if a.ErrorCode == nil {
		return ""
	}
	return *a.ErrorCode
}

func containsAll(b []byte, parts ...string) bool {
	for _, p := range parts {
		if !bytes.Contains(b, []byte(p)) {
			return false
		}
	}
	return true
}
