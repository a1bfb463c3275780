package loopback

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"strings"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

func (s *Servers) newSMTPServer() *smtp.Server {
	srv := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &submission{s: s, conn: c}, nil
	}))
	srv.Domain = "localhost"
	srv.TLSConfig = s.tls
	srv.MaxMessageBytes = MaxMessageBytes
	srv.MaxRecipients = 100
	srv.ReadTimeout = 5 * time.Minute
	srv.WriteTimeout = time.Minute
	srv.ErrorLog = log.New(io.Discard, "", 0)
	return srv
}

// A submission serves one SMTP connection (RFC 6409).
type submission struct {
	s      *Servers
	conn   *smtp.Conn
	authed bool
	from   string
	rcpts  []string
}

var _ smtp.AuthSession = (*submission)(nil)

func (b *submission) Reset()        { b.from, b.rcpts = "", nil }
func (b *submission) Logout() error { return nil }

func (b *submission) AuthMechanisms() []string { return []string{sasl.Plain, sasl.Login} }

func (b *submission) Auth(mech string) (sasl.Server, error) {
	check := func(user, password string) error {
		if !b.s.checkLogin(user, password) {
			return smtp.ErrAuthFailed
		}
		b.authed = true
		return nil
	}
	switch mech {
	case sasl.Plain:
		return sasl.NewPlainServer(func(_, user, password string) error { return check(user, password) }), nil
	case sasl.Login:
		return &loginServer{check: check}, nil
	}
	return nil, smtp.ErrAuthUnknownMechanism
}

// loginServer is the server's side of AUTH LOGIN: two prompts, two answers.
type loginServer struct {
	check func(user, password string) error
	step  int
	user  string
}

// Next takes the client's answer to the last prompt.
func (l *loginServer) Next(response []byte) (challenge []byte, done bool, err error) {
	if l.step == 0 && response == nil {
		l.step = 1
		return []byte("Username:"), false, nil
	}
	if l.step < 2 {
		l.user, l.step = string(response), 2
		return []byte("Password:"), false, nil
	}
	return nil, true, l.check(l.user, string(response))
}

func (b *submission) Mail(from string, _ *smtp.MailOptions) error {
	if !b.authed {
		return reply(530, 5, 7, 0, "Log in first")
	}
	b.from = from
	return nil
}

func (b *submission) Rcpt(to string, _ *smtp.RcptOptions) error {
	rule := ruleFor(to)
	if rule.rcpt == nil || rule.Local == "greylist" && b.s.greylistGivesIn(to) {
		b.rcpts = append(b.rcpts, to)
		return nil
	}
	if w := wireOf(b.conn.Conn()); rule.hangUp && w != nil {
		w.hangUp.Store(true)
	}
	return rule.rcpt
}

// greylistGivesIn counts one try, and reports whether there were enough.
func (s *Servers) greylistGivesIn(to string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := strings.ToLower(to)
	if s.opts.GreylistPasses > 0 && s.greyed[key] >= s.opts.GreylistPasses {
		return true
	}
	s.greyed[key]++
	return false
}

var errHungUp = errors.New("hung up")

// Data reads the content and does what the recipients' rules say; of several
// the harshest wins. The record of acceptance and the delivery into our own
// folders come before the reply.
func (b *submission) Data(r io.Reader) error {
	end := endAccept
	for _, to := range b.rcpts {
		end = max(end, ruleFor(to).end)
	}
	if end == endVanish {
		_, _ = io.ReadFull(r, make([]byte, 1)) // the client is past the 354 and in the content
		wireOf(b.conn.Conn()).reset()
		return errHungUp
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if end == endRefuse {
		return reply(554, 5, 7, 1, "The message was read and is refused as spam")
	}
	a := accept(rand.Text()[:12], b.from, b.rcpts, raw, b.s.opts.Now())
	b.s.log.add(a)
	b.s.afterAccept(a)
	switch end {
	case endDrop:
		_ = wireOf(b.conn.Conn()).Close()
		return errHungUp
	case endSlow:
		b.s.wait(b.s.opts.SlowReply)
	}
	return reply(250, 2, 0, 0, "Ok: queued as "+a.QueueID)
}

// afterAccept does what a provider does with mail it has taken: the copy in
// Sent, if it is one that keeps them; delivery, where the account itself is a
// recipient; and what the recipients' rules send back.
func (s *Servers) afterAccept(a Accepted) {
	if s.faults().SaveCopies {
		s.put("Sent", a.Raw, imap.FlagSeen)
	}
	delivered := false
	for _, to := range a.Rcpts {
		if s.isOurs(to) && !delivered {
			delivered = true
			trace := fmt.Sprintf("Return-Path: <%s>\r\nDelivered-To: %s\r\nReceived: from localhost (127.0.0.1) by localhost with ESMTPSA\r\n\tid %s; %s\r\n",
				a.From, to, a.QueueID, a.At.Format(time.RFC1123Z))
			s.put("INBOX", append([]byte(trace), a.Raw...))
		}
		if rule := ruleFor(to); rule.answer != nil && s.isOurs(a.From) {
			s.serve(func() { rule.answer(s, a, to) })
		}
	}
}

// isOurs reports whether addr is the account's address or its alias, with or
// without a +tag.
func (s *Servers) isOurs(addr string) bool {
	i := strings.LastIndexByte(addr, '@')
	if i < 0 {
		return false
	}
	local, _, _ := strings.Cut(addr[:i], "+")
	bare := local + addr[i:]
	return strings.EqualFold(bare, s.Email) || strings.EqualFold(bare, DemoAlias)
}
