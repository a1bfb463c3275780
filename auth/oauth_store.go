package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"skrzynka/mail"
)

// The services under which refresh tokens are kept: the entry that counts, and
// the parts of a token that is longer than one entry can hold.
const (
	serviceOAuth2 = Service + "-oauth2"
	servicePart   = Service + "-oauth2-part"
)

// maxParts bounds how many entries one token may fill.
const maxParts = 16

// errDamaged means that the parts of a token do not belong together.
var errDamaged = errors.New("the stored token is not whole")

// The entry that counts is one of
//
//	1 TOKEN
//	2 SLOT PARTS DIGEST
//
// In the second form the token is in the entries USER/SLOT/0 and following, and
// DIGEST is the start of its SHA-256. There are two slots: a token is written
// into the free one before the entry that counts is set, so that whoever is
// interrupted leaves the old token or the new one and never a mixture.
func readLong(r Ring, user string) (string, error) {
	head, err := r.Get(serviceOAuth2, user)
	if err != nil {
		return "", err
	}
	if v, ok := strings.CutPrefix(head, "1 "); ok && v != "" {
		return v, nil
	}
	slot, parts, digest, ok := parseHead(head)
	if !ok {
		return "", errDamaged
	}
	var b strings.Builder
	for i := range parts {
		v, err := r.Get(servicePart, partName(user, slot, i))
		if errors.Is(err, ErrNoEntry) {
			return "", errDamaged
		}
		if err != nil {
			return "", err
		}
		b.WriteString(v)
	}
	if digestOf(b.String()) != digest {
		return "", errDamaged
	}
	return b.String(), nil
}

func writeLong(r Ring, user, v string) error {
	old, err := r.Get(serviceOAuth2, user)
	if err != nil && !errors.Is(err, ErrNoEntry) {
		return err
	}
	used, _, _, _ := parseHead(old)
	head := "1 " + v
	if len(head) > ringMaxSecret {
		slot := "a"
		if used == "a" {
			slot = "b"
		}
		parts := (len(v) + ringMaxSecret - 1) / ringMaxSecret
		for i := range parts {
			part := v[i*ringMaxSecret : min((i+1)*ringMaxSecret, len(v))]
			if err := r.Set(servicePart, partName(user, slot, i), part); err != nil {
				return err
			}
		}
		head = fmt.Sprintf("2 %s %d %s", slot, parts, digestOf(v))
	}
	if err := r.Set(serviceOAuth2, user, head); err != nil {
		return err
	}
	// The new token counts from here on; what is left of an old one is only litter.
	if used != "" {
		_ = deleteParts(r, user, used)
	}
	return nil
}

// forgetLong removes the entry that counts and both slots, as much as it can.
func forgetLong(r Ring, user string) error {
	err := r.Delete(serviceOAuth2, user)
	if errors.Is(err, ErrNoEntry) {
		err = nil
	}
	return errors.Join(err, deleteParts(r, user, "a"), deleteParts(r, user, "b"))
}

func deleteParts(r Ring, user, slot string) error {
	for i := range maxParts {
		err := r.Delete(servicePart, partName(user, slot, i))
		if errors.Is(err, ErrNoEntry) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func parseHead(head string) (slot string, parts int, digest string, ok bool) {
	f := strings.Split(head, " ")
	if len(f) != 4 || f[0] != "2" || f[1] != "a" && f[1] != "b" {
		return "", 0, "", false
	}
	n, err := strconv.Atoi(f[2])
	if err != nil || n < 1 || n > maxParts {
		return "", 0, "", false
	}
	return f[1], n, f[3], true
}

func partName(user, slot string, i int) string { return user + "/" + slot + "/" + strconv.Itoa(i) }

func digestOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// loadToken reads the refresh token of acct.
func (k *Keyring) loadToken(ctx context.Context, acct *mail.Account) (Secret, error) {
	var v string
	err := k.call(ctx, k.getLimit, func() (err error) { v, err = readLong(k.ring, acct.Name); return })
	switch {
	case errors.Is(err, ErrNoEntry):
		return Secret{}, unavailable("Sign in: skrzynka account login "+acct.Name, "Nobody is signed in to account %q.", acct.Name)
	case errors.Is(err, errDamaged):
		return Secret{}, unavailable(signInAgain(acct), "The stored sign-in of account %q is damaged.", acct.Name)
	case err != nil:
		return Secret{}, tokenRingError(err)
	}
	return NewSecret(v), nil
}

// tokenRingError is ringError without the advice that only a password can take.
func tokenRingError(err error) error {
	err = ringError(err)
	var e *mail.Error
	if !errors.As(err, &e) {
		return err
	}
	own := *e
	own.Hint = strings.Replace(own.Hint, ", or set password_command for the account", "", 1)
	return &own
}

// storeToken keeps the refresh token of acct, over several entries when it is
// longer than the smallest platform allows for one.
func (k *Keyring) storeToken(ctx context.Context, acct *mail.Account, s Secret) error {
	if len(s.v) > maxParts*ringMaxSecret {
		return unavailable("", "The refresh token is longer than a keyring can hold.")
	}
	return tokenRingError(k.call(ctx, k.setLimit, func() error { return writeLong(k.ring, acct.Name, s.Reveal()) }))
}

// forgetToken removes the refresh token of acct. That there is none is not an
// error.
func (k *Keyring) forgetToken(ctx context.Context, acct *mail.Account) error {
	return tokenRingError(k.call(ctx, k.setLimit, func() error { return forgetLong(k.ring, acct.Name) }))
}
