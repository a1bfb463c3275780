package loopback

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"net/smtp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
	"github.com/emersion/go-sasl"

	"skrzynka/mail"
)

func TestTLSIsTrustedThroughTheAuthorityOnly(t *testing.T) {
	s := start(t, quick())
	for _, name := range []string{"localhost", "127.0.0.1"} {
		for _, addr := range []string{s.IMAPAddr, s.SMTPSAddr} {
			cfg := trust(s)
			cfg.ServerName = name
			c, err := tls.Dial("tcp", addr, cfg)
			if err != nil {
				t.Fatalf("%s as %s: %v", addr, name, err)
			}
			cert := c.ConnectionState().PeerCertificates[0]
			if left := time.Until(cert.NotAfter); left < 360*24*time.Hour || left > 367*24*time.Hour {
				t.Errorf("the certificate is valid for %v more", left)
			}
			_ = c.Close()
		}
	}
	if c, err := tls.Dial("tcp", s.IMAPAddr, &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "localhost"}); err == nil {
		_ = c.Close()
		t.Error("trusted without the authority")
	}
	other := start(t, quick())
	if c, err := tls.Dial("tcp", s.IMAPAddr, trust(other)); err == nil {
		_ = c.Close()
		t.Error("trusted through another run's authority")
	}
}

func TestWriteCAAndAccount(t *testing.T) {
	s := start(t, quick())
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := s.WriteCA(path); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, s.CAPEM) {
		t.Errorf("the file differs: %v", err)
	}
	a := s.Account()
	if a.Email != "ada@example.org" || a.IMAP.CAFile != path || a.SMTP.CAFile != path || a.IMAP.Port == 0 || a.SMTP.Port == 0 ||
		a.IMAP.Security != mail.SecurityTLS || a.SMTP.Security != mail.SecuritySTARTTLS || !a.Owns(DemoAlias) {
		t.Errorf("account %+v", a)
	}
	if err := s.WriteCA(filepath.Join(path, "no", "folder")); err == nil {
		t.Error("no error for a path that cannot be written")
	}
}

func TestSubmissionAnnouncesAndDemands(t *testing.T) {
	s := start(t, quick())
	c, err := smtp.Dial(s.SMTPAddr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if ok, _ := c.Extension("AUTH"); ok {
		t.Error("AUTH is offered without TLS")
	}
	say(t, c, "MAIL FROM:<ada@example.org>", 530)
	if err := c.StartTLS(trust(s)); err != nil {
		t.Fatal(err)
	}
	for ext, want := range map[string]string{"SIZE": "26214400", "ENHANCEDSTATUSCODES": "", "PIPELINING": "", "8BITMIME": "", "AUTH": "PLAIN LOGIN"} {
		if ok, got := c.Extension(ext); !ok || got != want {
			t.Errorf("%s is %v %q, want %q", ext, ok, got, want)
		}
	}
	say(t, c, "MAIL FROM:<ada@example.org>", 530)
	say(t, c, "AUTH PLAIN "+base64.StdEncoding.EncodeToString([]byte("\x00ada@example.org\x00wrong")), 535)
	say(t, c, "AUTH LOGIN", 334)
	say(t, c, base64.StdEncoding.EncodeToString([]byte(s.Username)), 334)
	say(t, c, base64.StdEncoding.EncodeToString([]byte(s.Password)), 235)
	say(t, c, "MAIL FROM:<ada@example.org> SIZE=99999999", 552)
	say(t, c, "MAIL FROM:<ada@example.org>", 250)
}

func TestLoginIsRefused(t *testing.T) {
	s := start(t, quick())
	conn, err := tls.Dial("tcp", s.IMAPAddr, trust(s))
	if err != nil {
		t.Fatal(err)
	}
	c := imapclient.New(conn, nil)
	defer conn.Close()
	if err := c.Login(s.Username, "wrong").Wait(); err == nil {
		t.Error("logged in with a wrong password")
	}
	s.SetFaults(func(f *Faults) { f.RefuseLogin = true })
	if err := c.Authenticate(sasl.NewPlainClient("", s.Username, s.Password)); err == nil {
		t.Error("logged in although every login is refused")
	}
	s.SetFaults(func(f *Faults) { f.RefuseLogin = false })
	if err := c.Authenticate(sasl.NewPlainClient("", s.Username, s.Password)); err != nil {
		t.Error(err)
	}
}

func TestIMAPStartTLS(t *testing.T) {
	s := start(t, quick())
	c, err := imapclient.DialStartTLS(s.IMAPStartTLSAddr, &imapclient.Options{TLSConfig: trust(s)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Login(s.Username, s.Password).Wait(); err != nil {
		t.Error(err)
	}
}

func TestServersGoAwayAndComeBack(t *testing.T) {
	s := start(t, quick())
	imapC, smtpC := login(t, s, nil), submit(t, s)
	s.StopIMAP()
	s.StopSMTP()
	if err := imapC.Noop().Wait(); err == nil {
		t.Error("the IMAP connection was not cut")
	}
	if _, _, err := converse(smtpC, "NOOP"); err == nil {
		t.Error("the SMTP connection was not cut")
	}
	for _, addr := range []string{s.IMAPAddr, s.SMTPAddr, s.SMTPSAddr} {
		if c, err := tls.Dial("tcp", addr, trust(s)); err == nil {
			_ = c.Close()
			t.Errorf("%s still answers", addr)
		}
	}
	if err := s.StartIMAP(); err != nil {
		t.Fatal(err)
	}
	if err := s.StartSMTP(); err != nil {
		t.Fatal(err)
	}
	if n := selectFolder(t, login(t, s, nil), "INBOX").NumMessages; int(n) != len(s.Folder("INBOX")) {
		t.Errorf("INBOX has %d messages after the restart", n)
	}
	if code, _ := send(t, s, "ok@a.example"); code != 250 {
		t.Errorf("answered %d after the restart", code)
	}
	if i, m := s.Connections(); i != 2 || m != 2 {
		t.Errorf("%d and %d connections were counted, want 2 and 2", i, m)
	}
	s.Close()
	eventually(t, "no open connections", func() bool { i, m := s.OpenConnections(); return i == 0 && m == 0 })
	s.Close()
}

func TestSaveCopies(t *testing.T) {
	o := quick()
	o.Faults.SaveCopies = true
	s := start(t, o)
	n := len(s.Folder("Sent"))
	send(t, s, "ok@a.example")
	here := newIn(s, "Sent", n)
	if len(here) != 1 || string(here[0].Raw) != content || strings.Join(here[0].Flags, " ") != string(imap.FlagSeen) {
		t.Errorf("in Sent: %+v", here)
	}
}

func TestLatency(t *testing.T) {
	o := quick()
	o.Faults.Latency = 5 * time.Millisecond
	s := start(t, o)
	c := login(t, s, nil)
	began := time.Now()
	if err := c.Noop().Wait(); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d < o.Faults.Latency {
		t.Errorf("NOOP took %v, want at least %v", d, o.Faults.Latency)
	}
}
