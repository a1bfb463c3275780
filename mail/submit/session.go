package submit

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"skrzynka/auth"
	"skrzynka/mail"
	"skrzynka/mail/guard"
)

// heloName is what EHLO carries: a literal, since the machine's name is nobody's
// business and may hold anything.
const heloName = "[127.0.0.1]"

// rawBudget bounds the bytes on the wire for one reply or handshake, TLS
// records and certificates included; the reply's own bounds are tighter.
const rawBudget = 1 << 20

const maxExtensions = 64

// Session is an authenticated connection that can submit several messages, one
// after the other. It is used by one goroutine at a time.
type Session struct {
	conn     *guard.Conn // the socket
	rw       net.Conn    // what is read and written: conn, or TLS on it
	r        *replyReader
	timeouts Timeouts
	clock    mail.Clock
	server   string
	tls      string // version, "" before TLS stands
	ext      map[string]string
	dead     bool
}

// Open connects, secures and authenticates. Of req the message is not used. A
// nil Session comes with evidence of why; with a Session the evidence holds the
// steps so far.
func Open(ctx context.Context, req Request, rec Recorder) (*Session, mail.Evidence) {
	clock := clockOf(req.Clock)
	s := &Session{timeouts: req.Timeouts.withDefaults(), clock: clock, server: address(req.Server)}
	t := newTransaction(rec, clock, s.server)
	if s.open(ctx, req, t) && s.conn.Detach() {
		return s, t.ev
	}
	if t.ev.Fault == mail.FaultNone {
		t.stop(mail.FaultCancelled, "stopped before the message was handed over")
	}
	if s.conn != nil {
		if t.ev.Fault == mail.FaultRefused && t.ev.Reply.Code != 421 {
			go s.Close()
		} else {
			s.cut()
		}
	}
	return nil, t.ev
}

func address(s mail.Server) string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

func (s *Session) open(ctx context.Context, req Request, t *transaction) bool {
	t.begin(mail.StepCredentials)
	var creds auth.Credentials
	if req.Creds != nil {
		var err error
		if creds, err = req.Creds(ctx); err != nil {
			if ctx.Err() != nil {
				return t.stop(mail.FaultCancelled, "stopped while waiting for the credentials")
			}
			fault := mail.FaultLocal
			if own := new(mail.Error); errors.As(err, &own) && own.Retryable {
				fault = mail.FaultTimeout // a token cannot be renewed while offline
			}
			return t.stop(fault, ownWords(err, "the credentials could not be read"))
		}
	}
	cfg, err := tlsConfig(req)
	if err != nil {
		t.begin(tlsStep(req.Server))
		return t.stop(mail.FaultTLS, ownWords(err, "the additional root certificate cannot be used"))
	}
	t.begin(mail.StepDial)
	if s.conn, err = guard.Dial(ctx, req.Server.Host, req.Server.Port, s.timeouts.Dial); err != nil {
		t.fail(err)
		if t.ev.Fault == mail.FaultTimeout {
			t.ev.Detail = "no connection within the time limit"
		}
		return false
	}
	s.use(s.conn)
	if req.Server.Security != mail.SecuritySTARTTLS {
		t.begin(mail.StepTLS)
		if !s.handshake(ctx, t, cfg) {
			return false
		}
	}
	t.begin(mail.StepGreeting)
	s.limit(s.timeouts.Command)
	if _, ok := s.answer(t, 2); !ok {
		return false
	}
	if !s.ehlo(t) {
		return false
	}
	if s.tls == "" && !s.starttls(ctx, t, cfg) {
		return false
	}
	if req.Creds == nil {
		return true
	}
	return s.authenticate(t, creds)
}

func tlsConfig(req Request) (*tls.Config, error) {
	ca := req.CA
	if ca == nil {
		var err error
		if ca, err = auth.LoadRoots(req.Server.CAFile); err != nil {
			return nil, err
		}
	}
	return auth.TLSConfig(req.Server, ca)
}

func tlsStep(s mail.Server) mail.Step {
	if s.Security == mail.SecuritySTARTTLS {
		return mail.StepSTARTTLS
	}
	return mail.StepTLS
}

func (s *Session) use(c net.Conn) { s.rw, s.r = c, newReplyReader(c) }

// limit bounds everything up to and including the next reply.
func (s *Session) limit(d time.Duration) {
	s.conn.SetTimeouts(d, d)
	s.conn.Until(time.Now().Add(d))
	s.conn.Budget(rawBudget)
}

func (s *Session) handshake(ctx context.Context, t *transaction, cfg *tls.Config) bool {
	s.limit(s.timeouts.TLS)
	c := tls.Client(s.conn, cfg)
	if err := c.HandshakeContext(ctx); err != nil {
		var alert *net.OpError // crypto/tls wraps alerts like errors of the network
		if errors.As(err, &alert) && (alert.Op == "remote error" || alert.Op == "local error") {
			return t.stop(mail.FaultTLS, tlsDetail(err))
		}
		if kind := guard.KindOf(err); kind != guard.KindNone {
			t.fail(err)
			if t.ev.Fault == mail.FaultOversized {
				t.ev.Fault = mail.FaultTLS
			}
			return false
		}
		return t.stop(mail.FaultTLS, tlsDetail(err))
	}
	s.tls = tls.VersionName(c.ConnectionState().Version)
	t.ev.TLS = s.tls
	s.use(c)
	return true
}

// tlsDetail says in our own words why a handshake failed: the library's text
// may quote the certificate.
func tlsDetail(err error) string {
	var name x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &name):
		return "the server's certificate is for another name"
	case errors.As(err, &unknown):
		return "the server's certificate is not signed by an authority this machine trusts; ca_file can add one"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the server's certificate is not valid now: it has expired, or the clock of this machine is wrong"
	case errors.As(err, &record):
		return "the server does not speak TLS on this port"
	}
	return "the TLS handshake failed"
}

func (s *Session) ehlo(t *transaction) bool {
	t.begin(mail.StepEHLO)
	r, ok := s.command(t, "EHLO "+heloName, s.timeouts.Command, 2)
	if !ok {
		return false
	}
	s.ext = map[string]string{}
	lines := strings.Split(r.Text, "\n")
	for i, line := range lines[1:] {
		if i == maxExtensions {
			break
		}
		name, value, _ := strings.Cut(strings.Replace(line, "=", " ", 1), " ")
		name = strings.ToUpper(name)
		if name == "AUTH" { // also in its old form, "AUTH=", on a line of its own
			value = s.ext[name] + " " + value
		}
		s.ext[name] = strings.TrimSpace(value)
	}
	return true
}

func (s *Session) starttls(ctx context.Context, t *transaction, cfg *tls.Config) bool {
	t.begin(mail.StepSTARTTLS)
	if _, ok := s.ext["STARTTLS"]; !ok {
		return t.stop(mail.FaultTLS, "the server does not offer STARTTLS")
	}
	if _, ok := s.command(t, "STARTTLS", s.timeouts.Command, 2); !ok {
		return false
	}
	if s.r.b.Buffered() > 0 {
		return t.stop(mail.FaultTLS, "plain text followed the answer to STARTTLS: somebody may be in between")
	}
	if !s.handshake(ctx, t, cfg) {
		return false
	}
	s.ext = nil // nothing said before TLS counts
	return s.ehlo(t)
}

// command sends one line and reads its reply, which must be of class want.
func (s *Session) command(t *transaction, line string, wait time.Duration, want int) (mail.Reply, bool) {
	if s.r.b.Buffered() > 0 {
		return mail.Reply{}, t.stop(mail.FaultGarbage, "the server answered what was not asked")
	}
	s.limit(wait)
	if _, err := s.rw.Write([]byte(line + "\r\n")); err != nil {
		t.fail(err)
		s.premature(t)
		return mail.Reply{}, false
	}
	return s.answer(t, want)
}

// answer reads one reply, which must be of class want. A complete 4xx or 5xx is
// FaultRefused, any other code FaultGarbage.
func (s *Session) answer(t *transaction, want int) (mail.Reply, bool) {
	r, err := s.r.reply(false)
	if err != nil {
		t.fail(err)
		return r, false
	}
	t.note(r)
	switch class := r.Class(); {
	case class == want:
		return r, true
	case class == 4 || class == 5:
		t.ev.Reply = r
		return r, t.stop(mail.FaultRefused, "")
	}
	t.ev.Reply = r
	return r, t.stop(mail.FaultGarbage, "the server answered with a code that means nothing here")
}

// pending reports whether the server has sent something that is not read yet.
// The error says that it hung up.
func (s *Session) pending() (bool, error) {
	if s.r.b.Buffered() > 0 {
		return true, nil
	}
	wait := s.timeouts.Poll
	if silent, known := s.conn.Silent(); known && silent {
		// Nothing is in the socket. What TLS has read ahead is still looked at,
		// but there is nothing to wait for.
		wait = time.Nanosecond
	}
	s.limit(wait)
	_, err := s.r.b.Peek(1)
	if err == nil {
		return true, nil
	}
	if guard.KindOf(err) == guard.KindTimeout {
		return false, nil
	}
	return false, err
}

// Usable reports whether another message can be tried: the connection stands
// and the server has not said goodbye meanwhile.
func (s *Session) Usable() bool {
	if s.dead {
		return false
	}
	if pending, err := s.pending(); pending || err != nil {
		s.cut()
	}
	return !s.dead
}

// cut drops the connection as it is. Nothing more is written, no TLS alert
// either.
func (s *Session) cut() {
	s.dead = true
	_ = s.conn.Close()
}

// Close says QUIT, where that is still possible, and drops the connection. It
// takes no longer than Timeouts.Quit; whatever the server answers means nothing.
func (s *Session) Close() {
	if !s.dead {
		s.limit(s.timeouts.Quit)
		if _, err := s.rw.Write([]byte("QUIT\r\n")); err == nil {
			_, _ = s.r.reply(false)
		}
	}
	s.cut()
}

// ownWords is the sentence of an error of ours, or else instead.
func ownWords(err error, instead string) string {
	var e *mail.Error
	if errors.As(err, &e) {
		return e.Error()
	}
	return instead
}
