package mirror

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"

	"skrzynka/auth"
	"skrzynka/mail"
)

const testUser, testPassword = "ada@example.org", "correct horse"

// certificate returns a server certificate for name and the PEM that trusts it.
func certificate(t testing.TB, name string) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	if ip := net.ParseIP(name); ip != nil {
		tmpl.IPAddresses = []net.IP{ip}
	} else {
		tmpl.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func options(addr net.Addr, roots []byte, security mail.Security) Options {
	return Options{
		Server: mail.Server{Host: "127.0.0.1", Port: addr.(*net.TCPAddr).Port, Security: security},
		Roots:  roots,
		Creds: func(context.Context) (auth.Credentials, error) {
			return auth.Credentials{Username: testUser, Secret: auth.NewSecret(testPassword)}, nil
		},
		Timeouts: Timeouts{Dial: 20 * time.Second, Progress: 20 * time.Second, Item: 20 * time.Second},
	}
}

// memory is an in-process IMAP server with one user.
type memory struct {
	user *imapmemserver.User
	opts Options
}

// caps without CONDSTORE, which this server does not have.
func allCaps() imap.CapSet {
	set := imap.CapSet{}
	for _, c := range []imap.Cap{imap.CapIMAP4rev1, imap.CapUIDPlus, imap.CapMove, imap.CapESearch, imap.CapListExtended, imap.CapListStatus, imap.CapIdle} {
		set[c] = struct{}{}
	}
	return set
}

func startMemory(t testing.TB, caps imap.CapSet, security mail.Security) *memory {
	t.Helper()
	cert, roots := certificate(t, "127.0.0.1")
	cfg := &tls.Config{Certificates: []tls.Certificate{cert}}
	store := imapmemserver.New()
	user := imapmemserver.NewUser(testUser, testPassword)
	for _, name := range []string{"INBOX", "Sent", "Entwürfe & Co"} {
		if err := user.Create(name, nil); err != nil {
			t.Fatal(err)
		}
	}
	store.AddUser(user)
	server := imapserver.New(&imapserver.Options{Caps: caps, TLSConfig: cfg, Logger: log.New(io.Discard, "", 0),
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			return store.NewSession(), nil, nil
		}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr()
	if security == mail.SecurityTLS {
		l = tls.NewListener(l, cfg)
	}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return &memory{user: user, opts: options(addr, roots, security)}
}

// deliver puts a message into folder, as a mail server would.
func (m *memory) deliver(t testing.TB, folder, message string, flags ...imap.Flag) {
	t.Helper()
	_, err := m.user.Append(folder, literalString{strings.NewReader(message)}, &imap.AppendOptions{Flags: flags, Time: time.Unix(1_700_000_000, 0)})
	if err != nil {
		t.Fatal(err)
	}
}

type literalString struct{ *strings.Reader }

func (l literalString) Size() int64 { return int64(l.Len()) }

func dial(t testing.TB, o Options) *Session {
	t.Helper()
	s, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func message(id, body string) string {
	return "From: Grace <grace@example.net>\r\nMessage-ID: <" + id + ">\r\nSubject: " + id + "\r\n\r\n" + body + "\r\n"
}

// script is a server that says what a test wants. Each connection runs play.
type script struct {
	t     testing.TB
	opts  Options
	mu    sync.Mutex
	seen  []string // command lines of all connections
	notes []string
}

// peer is the server's end of one connection.
type peer struct {
	*script
	net.Conn
	r *bufio.Reader
}

// startScript serves play on every connection: under TLS from the start, or in
// the clear first where security is starttls.
func startScript(t testing.TB, security mail.Security, play func(*peer)) *script {
	t.Helper()
	cert, roots := certificate(t, "127.0.0.1")
	cfg := &tls.Config{Certificates: []tls.Certificate{cert}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &script{t: t, opts: options(l.Addr(), roots, security)}
	var running sync.WaitGroup
	var conns sync.Map
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Store(c, true)
			running.Go(func() {
				defer c.Close()
				p := &peer{script: s, Conn: c}
				if security == mail.SecurityTLS {
					p.Conn = tls.Server(c, cfg)
				}
				p.r = bufio.NewReader(p.Conn)
				play(p)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		conns.Range(func(c, _ any) bool { _ = c.(net.Conn).Close(); return true })
		running.Wait()
	})
	return s
}

// say writes lines; CRLF is added to each.
func (p *peer) say(lines ...string) {
	_, _ = io.WriteString(p.Conn, strings.Join(lines, "\r\n")+"\r\n")
}

// note keeps a line for the test, heard returns those kept.
func (s *script) note(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, line)
}

func (s *script) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.notes...)
}

// raw writes text as it is.
func (p *peer) raw(text string) { _, _ = io.WriteString(p.Conn, text) }

// hear reads one command line and returns its tag and the rest, "" at the end.
func (p *peer) hear() (tag, command string) {
	line, err := p.r.ReadString('\n')
	if err != nil {
		return "", ""
	}
	line = strings.TrimRight(line, "\r\n")
	p.mu.Lock()
	p.seen = append(p.seen, line)
	p.mu.Unlock()
	tag, command, _ = strings.Cut(line, " ")
	return tag, command
}

// commands lists the commands heard so far, without tags.
func (s *script) commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, line := range s.seen {
		_, c, _ := strings.Cut(line, " ")
		out = append(out, c)
	}
	return out
}

const scriptCaps = "IMAP4rev1 SASL-IR AUTH=PLAIN UIDPLUS ESEARCH LITERAL+"

// welcome greets, takes the login and answers the usual commands by itself.
// answer gets each other command; it returns false to hang up.
func (p *peer) welcome(answer func(tag, command string) bool) {
	p.say("* OK [CAPABILITY " + scriptCaps + "] hello")
	p.serve(answer)
}

func (p *peer) serve(answer func(tag, command string) bool) {
	for {
		tag, command := p.hear()
		word, _, _ := strings.Cut(command, " ")
		switch {
		case tag == "":
			return
		case word == "CAPABILITY":
			p.say("* CAPABILITY "+scriptCaps, tag+" OK done")
		case word == "AUTHENTICATE":
			p.say(tag + " OK [CAPABILITY " + scriptCaps + "] in")
		case answer(tag, command):
		case word == "SELECT" || word == "EXAMINE":
			p.say("* 3 EXISTS", "* OK [UIDVALIDITY 7] ok", "* OK [UIDNEXT 10] ok", tag+" OK [READ-WRITE] open")
		case word == "STATUS":
			p.say(fmt.Sprintf("* STATUS %s (MESSAGES 3 UIDNEXT 10 UIDVALIDITY 7 UNSEEN 0)", strings.Fields(command)[1]), tag+" OK done")
		default:
			p.say(tag + " OK done")
		}
	}
}

// fetched collects what a fetch hands over, by UID.
type fetched map[uint32]Fetched

func (f fetched) add(m Fetched) error { f[m.UID] = m; return nil }

func lines(b []byte) string { return string(bytes.ReplaceAll(b, []byte("\r\n"), []byte("|"))) }
