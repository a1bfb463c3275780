package auth

import (
	"context"

	"skrzynka/mail"
)

// Source finds an account's secret: the password, or for OAuth2 an access
// token that is valid now. Errors are *mail.Error with
// CREDENTIALS_UNAVAILABLE, or the context's.
type Source interface {
	Secret(ctx context.Context, acct *mail.Account) (Secret, error)
}

// Credentials are what one server is told.
type Credentials struct {
	Username  string
	Secret    Secret
	Mechanism string // a SASL mechanism to insist on; "": the best one for Token
	Token     bool   // Secret is an OAuth2 access token, not a password

	refused func()
}

// Refused is called when a server did not accept the credentials, so that a
// token is not given out a second time. It does nothing for a password.
func (c Credentials) Refused() {
	if c.refused != nil {
		c.refused()
	}
}

// Invalidator is a Source that gives the same secret out several times, until
// it hears that a server did not accept it.
type Invalidator interface {
	Invalidate(acct *mail.Account, refused Secret)
}

// Resolve asks src for the secret of acct and pairs it with the user name that
// server is configured with, by default the account's address.
func Resolve(ctx context.Context, src Source, acct *mail.Account, server mail.Server) (Credentials, error) {
	s, err := src.Secret(ctx, acct)
	if err != nil {
		return Credentials{}, err
	}
	user := server.Username
	if user == "" {
		user = acct.Email
	}
	c := Credentials{Username: user, Secret: s, Token: acct.Auth == mail.AuthOAuth2}
	if inv, ok := src.(Invalidator); ok {
		c.refused = func() { inv.Invalidate(acct, s) }
	}
	return c, nil
}

// Sources picks a source by account: its password_command where it has one,
// else the one registered for its method.
type Sources struct {
	Command  Source
	ByMethod map[mail.AuthMethod]Source
}

// NewSource returns the usual choice for accounts with a password: the
// account's password_command, else the keyring. Another method is added by
// setting Sources.ByMethod.
func NewSource(ring Ring) *Sources {
	return &Sources{Command: Command{}, ByMethod: map[mail.AuthMethod]Source{mail.AuthPassword: NewKeyring(ring)}}
}

// Secret asks the source that fits acct.
func (s *Sources) Secret(ctx context.Context, acct *mail.Account) (Secret, error) {
	if acct.Auth == mail.AuthPassword && len(acct.PasswordCommand) > 0 && s.Command != nil {
		return s.Command.Secret(ctx, acct)
	}
	if src := s.ByMethod[acct.Auth]; src != nil {
		return src.Secret(ctx, acct)
	}
	return Secret{}, unavailable("Use an app password, or another account.",
		"There is no way to get credentials for account %q, whose method is %q.", acct.Name, string(acct.Auth))
}

// Invalidate passes on what a server refused to the source it came from.
func (s *Sources) Invalidate(acct *mail.Account, refused Secret) {
	if inv, ok := s.ByMethod[acct.Auth].(Invalidator); ok {
		inv.Invalidate(acct, refused)
	}
}

// Static holds secrets by account name, for the demo and for tests.
type Static map[string]Secret

// Secret looks up acct.Name.
func (s Static) Secret(_ context.Context, acct *mail.Account) (Secret, error) {
	if v, ok := s[acct.Name]; ok {
		return v, nil
	}
	return Secret{}, unavailable("", "No password is known for account %q.", acct.Name)
}

func unavailable(hint, format string, args ...any) *mail.Error {
	return mail.Errorf(mail.CodeCredentials, hint, format, args...)
}
