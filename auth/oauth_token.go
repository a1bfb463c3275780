package auth

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"skrzynka/mail"
	"skrzynka/mail/safe"
)

const (
	// oauthMargin is how long before its end a token is no longer used.
	oauthMargin = time.Minute
	// oauthShort is the life of a token whose answer does not say how long it
	// is, oauthLong the longest that is believed.
	oauthShort = 10 * time.Minute
	oauthLong  = 24 * time.Hour
	// oauthMaxToken is the longest token: SMTP takes no more in one line
	// (RFC 4954 section 4).
	oauthMaxToken = 8 << 10
)

// granted is a token response that was found in order.
type granted struct {
	access, refresh Secret
	life            time.Duration
}

// inspect refuses a token response that is not what was asked for: another kind
// of token, less than all scopes, or a value that cannot be a token. The
// service may leave the scopes out when all were granted (RFC 6749 section 5.1).
func inspect(acct *mail.Account, p provider, t *oauth2.Token) (granted, error) {
	if !strings.EqualFold(t.TokenType, "bearer") {
		return granted{}, unavailable("Check provider and client_id of the account.",
			"%s gave a token of another kind than was asked for.", p.name)
	}
	if !tokenShaped(t.AccessToken) || !tokenShaped(t.RefreshToken) {
		return granted{}, unavailable(signInAgain(acct), "%s gave no token that can be used and renewed.", p.name)
	}
	if raw := t.Extra("scope"); raw != nil {
		scope, _ := raw.(string)
		if missing := p.missing(scope); len(missing) > 0 && (scope != "" || raw != "") {
			return granted{}, unavailable("Sign in again and leave every permission ticked: skrzynka account login "+acct.Name,
				"%s did not grant all that is needed; missing: %s.", p.name, strings.Join(missing, " "))
		}
	}
	g := granted{access: NewSecret(t.AccessToken), refresh: NewSecret(t.RefreshToken), life: oauthShort}
	if t.ExpiresIn > 0 {
		g.life = min(time.Duration(t.ExpiresIn)*time.Second, oauthLong)
	}
	return g, nil
}

// tokenShaped reports whether s is made of the characters that tokens are made
// of (RFC 6749 appendix A.12), and so ends no line and no field.
func tokenShaped(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != "" && len(s) <= oauthMaxToken
}

// rightPerson refuses a sign-in as somebody else. Only some answers say who
// signed in; they come from the service itself over TLS, so that the signature
// need not be looked at (OpenID Connect Core section 3.1.3.7).
func rightPerson(acct *mail.Account, p provider, t *oauth2.Token) error {
	id, _ := t.Extra("id_token").(string)
	parts := strings.Split(id, ".")
	if len(parts) != 3 {
		return nil
	}
	var who struct {
		Email string `json:"email"`
		Name  string `json:"preferred_username"`
	}
	b, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(b, &who) != nil || who.Email == "" && who.Name == "" {
		return nil
	}
	for _, w := range []string{who.Email, who.Name} {
		if w != "" && (acct.Owns(w) || strings.EqualFold(w, acct.IMAP.Username) || strings.EqualFold(w, acct.SMTP.Username)) {
			return nil
		}
	}
	other := who.Email
	if other == "" {
		other = who.Name
	}
	return unavailable("Sign in with the account's own address, or set username in its imap table to this one.",
		"%s signed in %s, but account %q is %s.", p.name, safe.Line(other).Clip(100), acct.Name, acct.Email)
}
