package auth

import (
	"errors"
	"strconv"
	"strings"

	"github.com/emersion/go-sasl"
)

// ErrNoMechanism means that the server offers no mechanism these credentials
// can be used with.
var ErrNoMechanism = errors.New("the server offers no authentication mechanism that fits")

// The mechanism names, in the order of preference for tokens and passwords.
const (
	mechBearer = "OAUTHBEARER"
	mechX      = "XOAUTH2"
	mechPlain  = "PLAIN"
	mechLogin  = "LOGIN"
)

// Mechanism picks the SASL client for creds among the mechanisms a server
// offers (any case): OAUTHBEARER (RFC 7628) or XOAUTH2 for a token, PLAIN
// (RFC 4616) or LOGIN for a password. All four send the secret as it is, so
// the client must only be used on a connection that runs over TLS.
func Mechanism(creds Credentials, offered []string) (sasl.Client, error) {
	want := []string{mechPlain, mechLogin}
	if creds.Token {
		want = []string{mechBearer, mechX}
	}
	if creds.Mechanism != "" {
		want = []string{strings.ToUpper(creds.Mechanism)}
	}
	for _, w := range want {
		for _, o := range offered {
			if strings.EqualFold(o, w) {
				if c := client(w, creds); c != nil {
					return c, nil
				}
			}
		}
	}
	return nil, ErrNoMechanism
}

func client(mech string, c Credentials) sasl.Client {
	switch mech {
	case mechPlain:
		return sasl.NewPlainClient("", c.Username, c.Secret.Reveal())
	case mechLogin:
		return &loginClient{answers: []string{c.Username, c.Secret.Reveal()}}
	case mechX:
		return &tokenClient{mech: mechX, first: "user=" + c.Username + "\x01auth=Bearer " + c.Secret.Reveal() + "\x01\x01"}
	case mechBearer:
		// "=" and "," are written as =3D and =2C in a GS2 name (RFC 5801).
		name := strings.NewReplacer("=", "=3D", ",", "=2C").Replace(c.Username)
		return &tokenClient{mech: mechBearer, first: "n,a=" + name + ",\x01auth=Bearer " + c.Secret.Reveal() + "\x01\x01", dummy: "\x01"}
	}
	return nil
}

// loginClient answers the two questions of LOGIN in their order, whatever they
// are worded like: servers write "Username:", "User Name" and worse.
type loginClient struct{ answers []string }

func (l *loginClient) Start() (string, []byte, error) { return mechLogin, nil, nil }

func (l *loginClient) Next([]byte) ([]byte, error) {
	if len(l.answers) == 0 {
		return nil, sasl.ErrUnexpectedServerChallenge
	}
	a := l.answers[0]
	l.answers = l.answers[1:]
	return []byte(a), nil
}

// tokenClient sends a token at once. A challenge after it carries the reason
// of a refusal, and must be answered before the server says no.
type tokenClient struct {
	mech, first, dummy string
	challenged         bool
}

func (t *tokenClient) Start() (string, []byte, error) { return t.mech, []byte(t.first), nil }

func (t *tokenClient) Next([]byte) ([]byte, error) {
	if t.challenged {
		return nil, sasl.ErrUnexpectedServerChallenge
	}
	t.challenged = true
	return []byte(t.dummy), nil
}

// String keeps credentials out of a client printed by mistake.
func (t *tokenClient) String() string { return t.mech + " client" }

// GoString is String.
func (t *tokenClient) GoString() string { return t.String() }

// String keeps credentials out of a client printed by mistake.
func (l *loginClient) String() string {
	return "LOGIN client, " + strconv.Itoa(len(l.answers)) + " left"
}

// GoString is String.
func (l *loginClient) GoString() string { return l.String() }
