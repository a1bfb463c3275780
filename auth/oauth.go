package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/oauth2"

	"skrzynka/mail"
)

// oauthTurnLimit bounds the wait for another process that renews the same
// account's token.
const oauthTurnLimit = time.Minute

// OAuth2 is the source of access tokens. Refresh tokens are in the keyring,
// access tokens only in this process's memory. It is safe for concurrent use.
type OAuth2 struct {
	ring       *Keyring
	locks      string
	clock      mail.Clock
	providers  map[string]provider
	transport  http.RoundTripper
	loginLimit time.Duration

	mu     sync.Mutex
	grants map[string]*grant
}

// grant is what is known of one account's sign-in.
type grant struct {
	turn chan struct{} // held by who renews the token

	mu     sync.Mutex // guards what is below
	access Secret
	until  time.Time
	// unsaved is a rotated refresh token that the keyring would not take, and
	// the one it came from. The access token is not given out until it is kept.
	unsaved, from Secret
}

// NewOAuth2 keeps refresh tokens in ring. locks is the folder, made when it is
// missing, whose lock files keep two processes from renewing one account's
// token at the same time: a token that was exchanged twice is revoked by some
// services.
func NewOAuth2(ring *Keyring, locks string) *OAuth2 {
	return &OAuth2{ring: ring, locks: locks, clock: mail.SystemClock{}, providers: providers, transport: oauthTransport(nil),
		loginLimit: loginLimit, grants: map[string]*grant{}}
}

func (o *OAuth2) grant(account string) *grant {
	o.mu.Lock()
	defer o.mu.Unlock()
	g := o.grants[account]
	if g == nil {
		g = &grant{turn: make(chan struct{}, 1)}
		o.grants[account] = g
	}
	return g
}

// now has no monotonic reading, which stands still while a machine sleeps.
func (o *OAuth2) now() time.Time { return o.clock.Now().Round(0) }

// Secret returns an access token of acct that is valid for at least a minute,
// and renews it when there is none. Errors are CREDENTIALS_UNAVAILABLE,
// retryable when the service or the keyring cannot be reached, or the context's.
// A renewal that was begun is ended and its result kept even when ctx ends.
func (o *OAuth2) Secret(ctx context.Context, acct *mail.Account) (Secret, error) {
	g := o.grant(acct.Name)
	if s, ok := g.current(o.now()); ok {
		return s, nil
	}
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		return Secret{}, ctx.Err()
	}
	if s, ok := g.current(o.now()); ok { // somebody else was at it meanwhile
		<-g.turn
		return s, nil
	}
	type result struct {
		s   Secret
		err error
	}
	own := *acct
	done := make(chan result, 1)
	go func() {
		defer func() { <-g.turn }()
		s, err := o.renew(context.WithoutCancel(ctx), &own, g)
		done <- result{s, err}
	}()
	select {
	case r := <-done:
		return r.s, r.err
	case <-ctx.Done():
		return Secret{}, ctx.Err()
	}
}

// Invalidate says that a server did not accept the access token refused: it is
// not given out again.
func (o *OAuth2) Invalidate(acct *mail.Account, refused Secret) {
	g := o.grant(acct.Name)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.access == refused {
		g.access = Secret{}
	}
}

// Forget removes the refresh token of acct from the keyring. That there is
// none is not an error.
func (o *OAuth2) Forget(ctx context.Context, acct *mail.Account) error {
	o.grant(acct.Name).set(Secret{}, time.Time{})
	return o.ring.forgetToken(ctx, acct)
}

// renew exchanges the refresh token for an access token, one process at a time.
// A refresh token that the service has replaced is in the keyring before the
// access token is given out: dying in between loses nothing.
func (o *OAuth2) renew(ctx context.Context, acct *mail.Account, g *grant) (Secret, error) {
	p, cfg, err := o.registration(acct)
	if err != nil {
		return Secret{}, err
	}
	unlock, err := o.lock(ctx, acct)
	if err != nil {
		return Secret{}, err
	}
	defer unlock()
	refresh, err := o.ring.loadToken(ctx, acct)
	if err != nil {
		return Secret{}, err
	}
	if next, ok := g.leftOver(refresh); ok {
		if err := o.ring.storeToken(ctx, acct, next); err != nil {
			return Secret{}, notKept(err)
		}
		g.kept()
		if s, ok := g.current(o.now()); ok {
			return s, nil
		}
		refresh = next
	}
	t, err := cfg.TokenSource(o.withClient(ctx), &oauth2.Token{RefreshToken: refresh.Reveal()}).Token()
	if err != nil {
		return Secret{}, explain(ctx, acct, p, err, refresh.Reveal(), cfg.ClientSecret)
	}
	got, err := inspect(acct, p, t)
	if err != nil {
		return Secret{}, err
	}
	if got.refresh != refresh {
		g.hold(refresh, got, o.now())
		if err := o.ring.storeToken(ctx, acct, got.refresh); err != nil {
			return Secret{}, notKept(err)
		}
		g.kept()
	} else {
		g.set(got.access, o.now().Add(got.life))
	}
	return got.access, nil
}

// notKept makes a keyring's error one that is worth trying again: the token is
// still in memory.
func notKept(err error) error {
	e := *mail.AsError(err)
	e.Retryable = true
	return &e
}

// current returns the access token when it can be given out.
func (g *grant) current(now time.Time) (Secret, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	ok := !g.access.Empty() && g.unsaved.Empty() && now.Before(g.until.Add(-oauthMargin))
	return g.access, ok
}

func (g *grant) set(access Secret, until time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.access, g.until, g.unsaved, g.from = access, until, Secret{}, Secret{}
}

// hold notes what replaced the refresh token from, until it is kept.
func (g *grant) hold(from Secret, got granted, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.access, g.until, g.unsaved, g.from = got.access, now.Add(got.life), got.refresh, from
}

// leftOver returns a refresh token that could not be kept last time, if it
// replaces stored. Another sign-in since then makes it worthless.
func (g *grant) leftOver(stored Secret) (Secret, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.unsaved.Empty() && g.from != stored {
		g.access, g.unsaved, g.from = Secret{}, Secret{}, Secret{}
	}
	return g.unsaved, !g.unsaved.Empty()
}

func (g *grant) kept() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.unsaved, g.from = Secret{}, Secret{}
}

// lock keeps other processes from touching the refresh token of acct. The file
// is never removed: who waits for it would wait for a file that nobody sees.
func (o *OAuth2) lock(ctx context.Context, acct *mail.Account) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, oauthTurnLimit)
	defer cancel()
	sum := sha256.Sum256([]byte(acct.Name))
	path := filepath.Join(o.locks, "oauth2-"+hex.EncodeToString(sum[:8])+".lock")
	if err := os.MkdirAll(o.locks, 0o700); err != nil {
		return nil, lockError(acct)
	}
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	if ok, err := l.TryLockContext(ctx, 20*time.Millisecond); err != nil || !ok {
		_ = l.Close()
		if ctx.Err() != nil {
			return nil, passing("Another program is renewing the sign-in of account %q and does not end.", acct.Name)
		}
		return nil, lockError(acct)
	}
	return func() { _ = l.Close() }, nil
}

func lockError(acct *mail.Account) error {
	e := passing("The sign-in of account %q cannot be locked against other processes.", acct.Name)
	e.Hint = "Keep the state folder on a local disk that supports file locks."
	return e
}
