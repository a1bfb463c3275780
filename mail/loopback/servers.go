package loopback

import (
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-smtp"

	"skrzynka/mail"
)

// Who owns the mailbox, and how to log in.
const (
	DemoName     = "Ada Example"
	DemoEmail    = "ada@example.org"
	DemoAlias    = "ada@alias.example"
	DemoPassword = "demo-password"
)

// MaxMessageBytes is the SIZE that the submission server announces (RFC 1870).
const MaxMessageBytes = 25 << 20

// Options says how the servers behave. The zero value is the demo.
type Options struct {
	Now func() time.Time // the clock of dates in messages; nil is the machine's

	Empty       bool   // folders without the sample messages
	UIDValidity uint32 // of the first folder, the next has one more; 0 takes the clock's seconds

	SlowReply      time.Duration // slow@ answers after this; 0 is 20 s
	BounceAfter    time.Duration // from acceptance to bounce@'s report; 0 is 4 s
	AutoReplyAfter time.Duration // to ooo@'s automatic reply; 0 is 5 s
	HumanAfter     time.Duration // to human@'s answer; 0 is 6 s
	GreylistPasses int           // greylist@ gives in after so many refusals; 0 is never

	Faults Faults // at the start; see Servers.SetFaults
}

// Faults are the ways in which a provider differs from a plain one, or fails.
type Faults struct {
	Latency         time.Duration // added before everything a server writes
	SaveCopies      bool          // accepted mail appears in Sent by itself, as Gmail does it
	HideSpecialUse  bool          // LIST shows no SPECIAL-USE attribute (RFC 6154)
	RefuseAppend    bool          // APPEND is answered NO
	DropAfterAppend bool          // APPEND stores the message and hangs up without an answer
	RefuseLogin     bool          // every login fails, on both servers
}

// Servers is a running provider. Addresses are host:port on 127.0.0.1.
type Servers struct {
	IMAPAddr         string // TLS from the first byte
	IMAPStartTLSAddr string
	SMTPAddr         string // STARTTLS
	SMTPSAddr        string // TLS from the first byte

	CAPEM    []byte // the authority that signed the servers' certificate
	Username string
	Password string
	Email    string

	opts  Options
	store *store
	log   acceptLog
	tls   *tls.Config

	imapTLS, imapPlain, smtpTLS, smtpPlain port
	imapCount, smtpCount                   counter

	mu      sync.Mutex
	caFile  string
	fault   Faults
	imapSrv *imapserver.Server
	smtpSrv []*smtp.Server
	closed  bool
	greyed  map[string]int // refusals so far by greylisted recipient

	done chan struct{}
	wg   sync.WaitGroup
}

// Start makes the mailbox and a fresh certificate and listens on four free
// ports. Close ends it.
func Start(o Options) (*Servers, error) {
	o = o.withDefaults()
	s := &Servers{Username: DemoEmail, Password: DemoPassword, Email: DemoEmail,
		opts: o, fault: o.Faults, greyed: map[string]int{}, done: make(chan struct{})}
	for p, c := range map[*port]*counter{&s.imapTLS: &s.imapCount, &s.imapPlain: &s.imapCount,
		&s.smtpTLS: &s.smtpCount, &s.smtpPlain: &s.smtpCount} {
		p.s, p.counted = s, c
	}
	var err error
	if s.CAPEM, s.tls, err = newCertificates(); err != nil {
		return nil, err
	}
	if s.store, err = newSampleStore(o); err != nil {
		return nil, err
	}
	if err = s.StartIMAP(); err == nil {
		err = s.StartSMTP()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	s.IMAPAddr, s.IMAPStartTLSAddr = s.imapTLS.addr, s.imapPlain.addr
	s.SMTPAddr, s.SMTPSAddr = s.smtpPlain.addr, s.smtpTLS.addr
	return s, nil
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.UIDValidity == 0 {
		o.UIDValidity = uint32(o.Now().Unix())
	}
	for d, def := range map[*time.Duration]time.Duration{&o.SlowReply: 20 * time.Second, &o.BounceAfter: 4 * time.Second,
		&o.AutoReplyAfter: 5 * time.Second, &o.HumanAfter: 6 * time.Second} {
		if *d == 0 {
			*d = def
		}
	}
	return o
}

// Close ends both servers and everything that was still to happen. It may be
// called more than once.
func (s *Servers) Close() {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	if !first {
		return
	}
	close(s.done)
	s.StopSMTP()
	s.StopIMAP()
	s.wg.Wait()
}

// StartIMAP opens the IMAP ports again after StopIMAP, with the same mailbox.
func (s *Servers) StartIMAP() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.imapSrv != nil {
		return nil
	}
	lnTLS, err := s.imapTLS.listen()
	if err != nil {
		return fmt.Errorf("listen for IMAP: %w", err)
	}
	lnPlain, err := s.imapPlain.listen()
	if err != nil {
		s.imapTLS.close()
		return fmt.Errorf("listen for IMAP: %w", err)
	}
	srv := s.newIMAPServer()
	s.imapSrv = srv
	s.serve(func() { _ = srv.Serve(tls.NewListener(lnTLS, s.tls)) })
	s.serve(func() { _ = srv.Serve(lnPlain) })
	return nil
}

// StopIMAP closes the IMAP ports and cuts their connections.
func (s *Servers) StopIMAP() {
	s.mu.Lock()
	srv := s.imapSrv
	s.imapSrv = nil
	s.mu.Unlock()
	s.imapTLS.close()
	s.imapPlain.close()
	if srv != nil {
		_ = srv.Close()
	}
}

// StartSMTP opens the submission ports again after StopSMTP.
func (s *Servers) StartSMTP() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.smtpSrv != nil {
		return nil
	}
	lnTLS, err := s.smtpTLS.listen()
	if err != nil {
		return fmt.Errorf("listen for SMTP: %w", err)
	}
	lnPlain, err := s.smtpPlain.listen()
	if err != nil {
		s.smtpTLS.close()
		return fmt.Errorf("listen for SMTP: %w", err)
	}
	implicit, starttls := s.newSMTPServer(), s.newSMTPServer()
	s.smtpSrv = []*smtp.Server{implicit, starttls}
	s.serve(func() { _ = implicit.Serve(tls.NewListener(lnTLS, s.tls)) })
	s.serve(func() { _ = starttls.Serve(lnPlain) })
	return nil
}

// StopSMTP closes the submission ports and cuts their connections.
func (s *Servers) StopSMTP() {
	s.mu.Lock()
	srvs := s.smtpSrv
	s.smtpSrv = nil
	s.mu.Unlock()
	s.smtpTLS.close()
	s.smtpPlain.close()
	for _, srv := range srvs {
		_ = srv.Close()
	}
}

func (s *Servers) serve(f func()) {
	s.wg.Add(1)
	go func() { defer s.wg.Done(); f() }()
}

// SetFaults changes the faults of the running servers.
func (s *Servers) SetFaults(change func(*Faults)) {
	s.mu.Lock()
	change(&s.fault)
	s.mu.Unlock()
}

func (s *Servers) faults() Faults {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}

// Connections returns how many connections each server has accepted since the
// start.
func (s *Servers) Connections() (imap, smtp int) {
	return int(s.imapCount.total.Load()), int(s.smtpCount.total.Load())
}

// OpenConnections returns how many connections each server has now.
func (s *Servers) OpenConnections() (imap, smtp int) {
	return int(s.imapCount.open.Load()), int(s.smtpCount.open.Load())
}

// Account describes the mailbox as a configuration would: IMAP over TLS,
// submission by STARTTLS, a password. CAFile is the path last given to WriteCA.
func (s *Servers) Account() mail.Account {
	s.mu.Lock()
	ca := s.caFile
	s.mu.Unlock()
	return mail.Account{
		Name: "demo", DisplayName: DemoName, Email: s.Email, Aliases: []string{DemoAlias},
		IMAP:        server(s.IMAPAddr, mail.SecurityTLS, s.Username, ca),
		SMTP:        server(s.SMTPAddr, mail.SecuritySTARTTLS, s.Username, ca),
		Auth:        mail.AuthPassword,
		FolderKinds: map[string]mail.FolderKind{},
		SentCopy:    mail.SentCopyPolicy{Enabled: true, OnFailure: mail.OnFailureWarn, ProviderKeep: "auto"},
		Policy:      mail.SendPolicy{MaxRecipients: 100, MaxPerMinute: 30, Confirm: mail.ConfirmNever},
		Watch:       []string{string(mail.FolderInbox)},
	}
}

func server(addr string, sec mail.Security, user, ca string) mail.Server {
	host, portText, _ := net.SplitHostPort(addr)
	n, _ := strconv.Atoi(portText)
	return mail.Server{Host: host, Port: n, Security: sec, Username: user, CAFile: ca}
}
