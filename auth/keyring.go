package auth

import (
	"context"
	"errors"
	"time"

	"github.com/zalando/go-keyring"

	"skrzynka/mail"
)

// Service is the name our entries carry in the operating system's keyring.
const Service = "skrzynka"

// How long a keyring may take. A locked Secret Service opens a dialogue and
// waits for it without an end; storing may rightly ask a person to unlock.
const (
	ringGetLimit = 5 * time.Second
	ringSetLimit = 15 * time.Second
)

// ringMaxSecret is the longest secret every platform takes: Windows allows
// 2,560 bytes of UTF-16 in one entry.
const ringMaxSecret = 1200

// ErrNoEntry is what a Ring returns for a user it has nothing for.
var ErrNoEntry = errors.New("no such entry")

// Ring is a keyring. Its calls may block; Keyring puts a limit on them.
type Ring interface {
	Get(service, user string) (string, error)
	Set(service, user, secret string) error
	Delete(service, user string) error
}

// Keyring is the source that reads from a Ring, one entry per account name.
type Keyring struct {
	ring     Ring
	getLimit time.Duration
	setLimit time.Duration
	busy     chan struct{} // holds one token: a stuck call is not joined by others
}

// NewKeyring puts time limits on ring's calls.
func NewKeyring(ring Ring) *Keyring {
	return &Keyring{ring: ring, getLimit: ringGetLimit, setLimit: ringSetLimit, busy: make(chan struct{}, 1)}
}

// Secret reads the entry of acct.
func (k *Keyring) Secret(ctx context.Context, acct *mail.Account) (Secret, error) {
	var v string
	err := k.call(ctx, k.getLimit, func() (err error) { v, err = k.ring.Get(Service, acct.Name); return })
	if errors.Is(err, ErrNoEntry) {
		return Secret{}, unavailable("Store it with: skrzynka account login "+acct.Name+".",
			"The keyring has no password for account %q.", acct.Name)
	}
	if err != nil {
		return Secret{}, ringError(err)
	}
	return NewSecret(v), nil
}

// Store writes the entry of acct, replacing an older one.
func (k *Keyring) Store(ctx context.Context, acct *mail.Account, s Secret) error {
	switch {
	case s.Empty():
		return unavailable("Enter a password.", "An empty password is not stored.")
	case len(s.v) > ringMaxSecret:
		return unavailable("Use password_command for it.", "The password is longer than the %d bytes a keyring entry can hold.", ringMaxSecret)
	}
	return ringError(k.call(ctx, k.setLimit, func() error { return k.ring.Set(Service, acct.Name, s.Reveal()) }))
}

// Forget removes the entry of acct. That there is none is not an error.
func (k *Keyring) Forget(ctx context.Context, acct *mail.Account) error {
	err := k.call(ctx, k.setLimit, func() error { return k.ring.Delete(Service, acct.Name) })
	if errors.Is(err, ErrNoEntry) {
		return nil
	}
	return ringError(err)
}

// call runs f in a goroutine of its own, since f takes no context, and gives
// up after limit. An abandoned f keeps the token until it ends.
func (k *Keyring) call(ctx context.Context, limit time.Duration, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case k.busy <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	done := make(chan error, 1)
	go func() {
		defer func() { <-k.busy }()
		done <- f()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ringError says in our own words what a keyring's error means: a library's
// text is not shown, since it comes from another program.
func ringError(err error) error {
	var known *mail.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		e := unavailable("Unlock it (a window may be waiting for your answer), or set password_command for the account.",
			"The keyring did not answer in time.")
		e.Retryable = true
		return e
	}
	return &mail.Error{Code: mail.CodeCredentials, Text: "The keyring cannot be used: it is locked or not running.",
		Hint: "Unlock it or start one (GNOME Keyring, KWallet, KeePassXC), or set password_command for the account.", Err: err}
}

// OSRing is the operating system's keyring. getenv looks up the process's
// environment; only package config reads it itself.
func OSRing(getenv func(string) string) Ring { return osRing{getenv} }

type osRing struct{ getenv func(string) string }

func (r osRing) Get(service, user string) (string, error) {
	if err := ringReady(r.getenv); err != nil {
		return "", err
	}
	v, err := keyring.Get(service, user)
	return v, noEntry(err)
}

func (r osRing) Set(service, user, secret string) error {
	if err := ringReady(r.getenv); err != nil {
		return err
	}
	return keyring.Set(service, user, secret)
}

func (r osRing) Delete(service, user string) error {
	if err := ringReady(r.getenv); err != nil {
		return err
	}
	return noEntry(keyring.Delete(service, user))
}

func noEntry(err error) error {
	if errors.Is(err, keyring.ErrNotFound) {
		return ErrNoEntry
	}
	return err
}
