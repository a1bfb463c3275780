package mirror

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"

	"skrzynka/auth"
	"skrzynka/mail"
	"skrzynka/mail/guard"
)

// loginBudget bounds what a server may send up to the end of the login.
const loginBudget = 1 << 20

// Options say where and how to connect.
type Options struct {
	Server mail.Server
	// Roots are additional trusted roots, PEM. When nil, Server.CAFile is read.
	Roots []byte
	// Creds is asked once TLS stands, and never before.
	Creds    func(context.Context) (auth.Credentials, error)
	Timeouts Timeouts
	// OnPush, when set, hears after a command what the server told unasked
	// while it ran.
	OnPush func(Push)
}

// Dial connects, agrees on TLS, logs in and reads the capabilities anew. ctx
// bounds all of it, but not the session's life. Errors are *mail.Error:
// IMAP_UNAVAILABLE (retryable), IMAP_TLS_FAILED, IMAP_AUTH_FAILED,
// CREDENTIALS_UNAVAILABLE, CONFIG_INVALID. Nothing secret is sent outside TLS
// that was verified.
func Dial(ctx context.Context, o Options) (*Session, error) {
	o.Timeouts = o.Timeouts.withDefaults()
	server := o.Server.Host
	roots := o.Roots
	if roots == nil {
		var err error
		if roots, err = auth.LoadRoots(o.Server.CAFile); err != nil {
			return nil, err
		}
	}
	cfg, err := auth.TLSConfig(o.Server, roots)
	if err != nil {
		return nil, err
	}
	g, err := guard.Dial(ctx, o.Server.Host, o.Server.Port, o.Timeouts.Dial)
	if err != nil {
		return nil, lost(server, "connecting", err, "")
	}
	s, err := establish(ctx, g, cfg, o)
	if err != nil {
		_ = g.Close()
		return nil, err
	}
	return s, nil
}

// establish turns an open connection into a session that is logged in.
func establish(ctx context.Context, g *guard.Conn, cfg *tls.Config, o Options) (*Session, error) {
	server := o.Server.Host
	g.SetTimeouts(o.Timeouts.Progress, o.Timeouts.Progress)
	var greeting []byte
	switch o.Server.Security {
	case mail.SecurityTLS:
	case mail.SecuritySTARTTLS:
		if err := agreeOnTLS(g, server); err != nil {
			return nil, err
		}
		// The server does not greet again; the library waits for it.
		greeting = []byte("* OK TLS stands\r\n")
	default:
		return nil, mail.Errorf(mail.CodeConfigInvalid, "Use tls or starttls.", "The security of %s is not set.", server)
	}

	g.Budget(loginBudget)
	g.Until(time.Now().Add(o.Timeouts.Dial))
	tc := tls.Client(g, cfg)
	if err := tc.HandshakeContext(ctx); err != nil {
		return nil, handshakeError(ctx, server, err)
	}
	s := newSession(newWire(tc, g, o.Timeouts), o, greeting)
	s.w.begin(loginBudget)
	if err := s.login(ctx, o); err != nil {
		s.Close()
		return nil, err
	}
	s.w.pause()
	if !s.w.release(ctx) {
		return nil, lost(server, "connecting", &guard.Error{Op: "dial", Kind: guard.KindCancelled, Err: ctx.Err()}, "")
	}
	return s, nil
}

func newSession(w *wire, o Options, greeting []byte) *Session {
	s := &Session{w: w, server: o.Server.Host, limits: o.Timeouts, onPush: o.OnPush,
		turn: make(chan struct{}, 1), pushes: make(chan Push, 64), watch: startWatch, tick: 10 * time.Second}
	w.pre = greeting
	s.client = imapclient.New(w, &imapclient.Options{UnilateralDataHandler: s.handler()})
	return s
}

// login reads the greeting, proves the account and takes stock.
func (s *Session) login(ctx context.Context, o Options) error {
	if err := s.client.WaitGreeting(); err != nil {
		// The library tells of a BYE or only of the end, whichever it sees first.
		if Refused(err) || s.w.bye() != "" {
			return lost(s.server, "greeting", guardLost, s.w.bye())
		}
		return s.fail("greeting", err)
	}
	switch s.client.State() {
	case imap.ConnStateAuthenticated:
		return mail.Errorf(mail.CodeIMAPAuth, "Check host and port of this account.",
			"%s claims that the login is done although nobody logged in.", s.server)
	case imap.ConnStateNotAuthenticated:
	default: // it broke right behind the greeting
		return s.fail("greeting", io.ErrUnexpectedEOF)
	}
	if err := s.readCaps(); err != nil {
		return err
	}
	s.w.pause() // a keyring may take its time
	creds, err := o.Creds(ctx)
	s.w.resume()
	if err != nil {
		return noCreds(err)
	}
	if err := s.authenticate(creds); err != nil {
		return err
	}
	// The library drops the old capabilities a moment after it told of the
	// login; when this is answered, it has.
	if err := s.client.Noop().Wait(); err != nil && !Refused(err) {
		return s.fail("logging in", err)
	}
	return s.readCaps()
}

func noCreds(err error) error {
	var e *mail.Error
	if errors.As(err, &e) {
		return e
	}
	return &mail.Error{Code: mail.CodeCredentials, Text: "There are no credentials for this account.", Retryable: true,
		Hint: "Unlock the keyring, or check the account's password_command.", Err: err}
}

func (s *Session) authenticate(creds auth.Credentials) error {
	var err error
	client, none := auth.Mechanism(creds, s.client.Caps().AuthMechanisms())
	switch {
	case none == nil:
		err = s.client.Authenticate(client)
	case creds.Token || creds.Mechanism != "" || s.caps.LoginOff:
		return mail.Errorf(mail.CodeIMAPAuth, "Check the authentication method of this account.",
			"%s offers no way to log in that this account can use.", s.server)
	case strings.ContainsRune(creds.Username+creds.Secret.Reveal(), 0):
		return mail.Errorf(mail.CodeIMAPAuth, "Correct the user name or password.", "The user name or password has a NUL in it.")
	default:
		err = s.client.Login(creds.Username, creds.Secret.Reveal()).Wait()
	}
	if err == nil {
		return nil
	}
	var no *imap.Error
	if !errors.As(err, &no) {
		return s.fail("logging in", err)
	}
	said := no.Text
	if secret := creds.Secret.Reveal(); secret != "" && strings.Contains(said, secret) {
		said = ""
	}
	if no.Code == imap.ResponseCodeUnavailable || no.Code == imap.ResponseCodeServerBug || no.Code == imap.ResponseCodeInUse {
		return lost(s.server, "logging in", guardLost, said)
	}
	creds.Refused()
	return &mail.Error{Code: mail.CodeIMAPAuth, Text: fmt.Sprintf("%s did not accept the login%s.", s.server, words(said)),
		Hint: "Check user name and password; many providers want an app password here."}
}

// readCaps takes the capabilities in force now. The library asks for them
// wherever the server did not tell by itself; only what came through TLS is
// ever seen.
func (s *Session) readCaps() error {
	set := s.client.Caps()
	if set == nil {
		return s.fail("asking what it can do", errors.New("no capabilities"))
	}
	c := Caps{
		Idle:       set.Has(imap.CapIdle),
		CondStore:  set.Has(imap.CapCondStore),
		UIDPlus:    set.Has(imap.CapUIDPlus),
		Move:       set.Has(imap.CapMove),
		ESearch:    set.Has(imap.CapESearch),
		SpecialUse: set.Has(imap.CapSpecialUse),
		ListStatus: set.Has(imap.CapListStatus),
		LoginOff:   set.Has(imap.CapLoginDisabled),
	}
	if limit, ok := set.AppendLimit(); ok && limit != nil {
		c.AppendLimit = int64(*limit)
	}
	for name := range set {
		c.All = append(c.All, string(name))
	}
	slices.Sort(c.All)
	s.caps = c
	s.tame()
	return nil
}

// tame takes from the library's view what would change how it writes. It runs
// where no command of the library's own can be under way. Without
// LITERAL+ and LITERAL- every literal waits for the server's go-ahead, so that
// an APPEND that was refused has provably not begun. IMAP4rev2 holds only after
// ENABLE, which is not sent; until then names are modified UTF-7. MOVE is noted
// where it came with IMAP4rev2: without it the library expunges on its own.
func (s *Session) tame() {
	set := s.client.Caps()
	if set == nil {
		return
	}
	if s.caps.Move {
		set[imap.CapMove] = struct{}{}
	}
	delete(set, imap.CapLiteralPlus)
	delete(set, imap.CapLiteralMinus)
	if _, ok := set[imap.CapIMAP4rev1]; ok {
		delete(set, imap.CapIMAP4rev2)
	}
}

var _ net.Conn = (*wire)(nil)
