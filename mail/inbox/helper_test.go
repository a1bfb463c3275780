package inbox_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"

	"skrzynka/auth"
	"skrzynka/mail"
	"skrzynka/mail/inbox"
	"skrzynka/mail/mirror"
	"skrzynka/mail/view"
	"skrzynka/store"
)

const user, password = "ada@example.org", "correct horse"

// server is an IMAP server inside the test. Its session can be changed by hooks.
type server struct {
	t     testing.TB
	user  *imapmemserver.User
	addr  string
	roots []byte
	// fetching is called before each FETCH is answered.
	fetching atomic.Pointer[func(folder string) error]
	// changing is called before each MOVE and STORE.
	changing atomic.Pointer[func(set imap.NumSet) error]
	// lie changes what STATUS, alone or in LIST, says.
	lie atomic.Pointer[func(*imap.StatusData)]
}

func startServer(t testing.TB) *server {
	t.Helper()
	cert, roots := certificate(t)
	s := &server{t: t, user: imapmemserver.NewUser(user, password), roots: roots}
	memory := imapmemserver.New()
	memory.AddUser(s.user)
	cfg := &tls.Config{Certificates: []tls.Certificate{cert}}
	caps := imap.CapSet{}
	for _, c := range []imap.Cap{imap.CapIMAP4rev1, imap.CapUIDPlus, imap.CapMove, imap.CapESearch, imap.CapListExtended, imap.CapListStatus, imap.CapIdle} {
		caps[c] = struct{}{}
	}
	srv := imapserver.New(&imapserver.Options{Caps: caps, TLSConfig: cfg, Logger: log.New(io.Discard, "", 0),
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			return &session{Session: memory.NewSession(), s: s}, nil, nil
		}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = l.Addr().String()
	go func() { _ = srv.Serve(tls.NewListener(l, cfg)) }()
	t.Cleanup(func() { _ = srv.Close() })
	s.create("INBOX")
	return s
}

type session struct {
	imapserver.Session
	s        *server
	selected string
}

func (e *session) Select(name string, o *imap.SelectOptions) (*imap.SelectData, error) {
	e.selected = name
	return e.Session.Select(name, o)
}

func (e *session) Fetch(w *imapserver.FetchWriter, set imap.NumSet, o *imap.FetchOptions) error {
	if f := e.s.fetching.Load(); f != nil {
		if err := (*f)(e.selected); err != nil {
			return err
		}
	}
	return e.Session.Fetch(w, set, o)
}

func (e *session) Status(name string, o *imap.StatusOptions) (*imap.StatusData, error) {
	d, err := e.Session.Status(name, o)
	if f := e.s.lie.Load(); f != nil && err == nil {
		(*f)(d)
	}
	return d, err
}

func (e *session) change(set imap.NumSet) error {
	if f := e.s.changing.Load(); f != nil {
		return (*f)(set)
	}
	return nil
}

func (e *session) Store(w *imapserver.FetchWriter, set imap.NumSet, flags *imap.StoreFlags, o *imap.StoreOptions) error {
	if err := e.change(set); err != nil {
		return err
	}
	return e.Session.Store(w, set, flags, o)
}

func (e *session) Move(w *imapserver.MoveWriter, set imap.NumSet, dest string) error {
	if err := e.change(set); err != nil {
		return err
	}
	return e.Session.(imapserver.SessionMove).Move(w, set, dest)
}

func (s *server) create(folder string) {
	s.t.Helper()
	if err := s.user.Create(folder, nil); err != nil {
		s.t.Fatal(err)
	}
}

type literal struct{ *strings.Reader }

func (l literal) Size() int64 { return int64(l.Len()) }

func (s *server) deliver(folder string, from, to int, size int) {
	s.t.Helper()
	for i := from; i <= to; i++ {
		text := letter(fmt.Sprintf("%s-%d@example.net", strings.ToLower(folder), i), strings.Repeat("0123456789 abcdef\r\n", 1+size/19))
		if _, err := s.user.Append(folder, literal{strings.NewReader(text)}, &imap.AppendOptions{Time: time.Unix(1_700_000_000+int64(i)*60, 0)}); err != nil {
			s.t.Fatal(err)
		}
	}
}

func letter(id, body string) string {
	return "From: Grace <grace@example.net>\r\nTo: ada@example.org\r\nMessage-ID: <" + id + ">\r\nSubject: About " + id + "\r\n\r\n" + body
}

func certificate(t testing.TB) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// proxy passes bytes on, and cuts every connection once the server has sent
// limit bytes in all; a limit under 0 is none.
type proxy struct {
	addr  string
	limit atomic.Int64
	sent  atomic.Int64
}

func startProxy(t testing.TB, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{addr: l.Addr().String()}
	p.limit.Store(-1)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.pass(c, to)
		}
	}()
	return p
}

func (p *proxy) pass(c net.Conn, to string) {
	defer c.Close()
	s, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer s.Close()
	go func() {
		_, _ = io.Copy(s, c)
		_ = s.Close()
	}()
	buf := make([]byte, 4096)
	for {
		n, err := s.Read(buf)
		sent := p.sent.Add(int64(n))
		if limit := p.limit.Load(); limit >= 0 && sent > limit {
			_, _ = c.Write(buf[:max(0, n-int(sent-limit))])
			return
		}
		if _, werr := c.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}

// client is an account's syncer over a store of its own.
type client struct {
	*inbox.Syncer
	store *store.Store
	dir   string

	mu      sync.Mutex
	refused []string // what OnRefused was told
}

func newClient(t testing.TB, addr string, roots []byte, dir string) *client {
	t.Helper()
	c, err := openClient(addr, roots, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.store.Close() })
	return c
}

func openClient(addr string, roots []byte, dir string) (*client, error) {
	ctx := context.Background()
	host, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, err
	}
	acct := &mail.Account{Name: "me", Email: user, IMAP: mail.Server{Host: "127.0.0.1", Port: host.Port, Security: mail.SecurityTLS}}
	st, err := store.Open(ctx, dir, store.Options{})
	if err != nil {
		return nil, err
	}
	if err := st.SyncAccounts(ctx, []mail.Account{*acct}); err != nil {
		return nil, err
	}
	o := mirror.Options{Server: acct.IMAP, Roots: roots, Creds: func(context.Context) (auth.Credentials, error) {
		return auth.Credentials{Username: user, Secret: auth.NewSecret(password)}, nil
	}}
	c := &client{store: st, dir: dir}
	c.Syncer = inbox.New(inbox.Options{Account: acct, Store: st, Clock: mail.SystemClock{}, Poll: time.Hour,
		Dial: func(ctx context.Context) (*mirror.Session, error) { return mirror.Dial(ctx, o) },
		OnRefused: func(e mail.JournalEntry, why *mail.Error) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.refused = append(c.refused, fmt.Sprintf("%s of UID %d: %s", e.Action, e.UID.UID, why.Code))
		}})
	return c, nil
}

// mustPass runs a pass that has to succeed.
func (c *client) mustPass(t testing.TB) view.AccountSync {
	t.Helper()
	r := c.Pass(context.Background(), "")
	if !r.OK || r.Error != nil {
		t.Fatalf("the pass failed: %v", r.Error)
	}
	return r
}

// picture is everything that matters of what is stored, as text.
func (c *client) picture(t testing.TB) string {
	t.Helper()
	ctx := context.Background()
	folders, err := c.store.Folders(ctx, "me")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range folders {
		fmt.Fprintf(&b, "%s %s %d %d %d total %d unread %d\n", f.Name, f.Kind, f.UIDValidity, f.UIDNext, f.ModSeq, f.Total, f.Unread)
		page, err := c.store.ListMessages(ctx, view.ListQuery{Scope: view.Scope{FolderID: f.ID}, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Rows {
			m, err := c.store.Message(ctx, r.ID)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := c.store.RawMessage(ctx, r.ID)
			if err != nil {
				t.Fatal(err)
			}
			m.ID, m.FolderID = 0, 0
			fmt.Fprintf(&b, "  %x %+v\n", sha256.Sum256(raw), m)
		}
	}
	return b.String()
}

var once sync.Once
var template string

// freshDir is a state folder whose database is made already, which is quicker
// than making one.
func freshDir(t testing.TB) string {
	t.Helper()
	once.Do(func() {
		dir, err := os.MkdirTemp("", "inbox-template")
		if err != nil {
			t.Fatal(err)
		}
		st, err := store.Open(context.Background(), dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		template = filepath.Join(dir, store.DatabaseName)
	})
	dir := t.TempDir()
	b, err := os.ReadFile(template)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, store.DatabaseName), b, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
