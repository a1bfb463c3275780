package loopback

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/smtp"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
)

const patience = 20 * time.Second // for what must happen; never waited out by a passing test

// quick are the options of tests: nothing is awaited in real time.
func quick() Options {
	return Options{SlowReply: time.Millisecond, BounceAfter: time.Millisecond, AutoReplyAfter: time.Millisecond, HumanAfter: time.Millisecond}
}

func start(t *testing.T, o Options) *Servers {
	t.Helper()
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// trust is TLS that knows the servers' authority and no other.
func trust(s *Servers) *tls.Config {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(s.CAPEM)
	return &tls.Config{RootCAs: pool, ServerName: "localhost"}
}

// submit opens a submission connection over TLS and logs in.
func submit(t *testing.T, s *Servers) *smtp.Client {
	t.Helper()
	conn, err := tls.Dial("tcp", s.SMTPSAddr, trust(s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	c, err := smtp.NewClient(conn, "localhost")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Auth(smtp.PlainAuth("", s.Username, s.Password, "localhost")); err != nil {
		t.Fatal(err)
	}
	return c
}

// converse sends one line and returns the reply's code and text, or an error
// when there is no reply.
func converse(c *smtp.Client, line string) (int, string, error) {
	id, err := c.Text.Cmd("%s", line)
	if err != nil {
		return 0, "", err
	}
	c.Text.StartResponse(id)
	defer c.Text.EndResponse(id)
	return c.Text.ReadResponse(0)
}

// say is converse for a reply that must be there and begin with want.
func say(t *testing.T, c *smtp.Client, line string, want int) string {
	t.Helper()
	code, text, err := converse(c, line)
	if err != nil || code != want {
		t.Fatalf("%.40q was answered %d %q, %v; want %d", line, code, text, err, want)
	}
	return text
}

const content = "From: Ada Example <ada@example.org>\r\nTo: <x@demo.example>\r\nSubject: A question\r\n" +
	"Message-ID: <q1@example.org>\r\nDate: Mon, 30 Nov 2026 10:00:00 +0000\r\n\r\nHow are you?\r\n.a line with a dot\r\n"

// stuffed is content as it goes over the wire, without the terminator.
var stuffed = strings.ReplaceAll(content, "\r\n.", "\r\n..")

// send submits content to the recipients and returns the final reply.
func send(t *testing.T, s *Servers, rcpts ...string) (int, string) {
	t.Helper()
	c := submit(t, s)
	say(t, c, "MAIL FROM:<ada@example.org>", 250)
	for _, r := range rcpts {
		say(t, c, "RCPT TO:<"+r+">", 250)
	}
	say(t, c, "DATA", 354)
	code, text, err := converse(c, stuffed+".")
	if err != nil {
		t.Fatal(err)
	}
	return code, text
}

// login opens an IMAP connection over TLS and logs in.
func login(t *testing.T, s *Servers, o *imapclient.Options) *imapclient.Client {
	t.Helper()
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: patience}, "tcp", s.IMAPAddr, trust(s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	c := imapclient.New(conn, o)
	if err := c.Login(s.Username, s.Password).Wait(); err != nil {
		t.Fatal(err)
	}
	return c
}

func selectFolder(t *testing.T, c *imapclient.Client, name string) *imap.SelectData {
	t.Helper()
	data, err := c.Select(name, nil).Wait()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// eventually polls cond, without a fixed wait, until it holds.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("it did not come to pass: %s", what)
		}
	}
}

// newIn returns what arrived in a folder after the first n messages.
func newIn(s *Servers, folder string, n int) []Stored {
	all := s.Folder(folder)
	return all[min(n, len(all)):]
}
