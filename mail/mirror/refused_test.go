package mirror

import (
	"context"
	"testing"

	"skrzynka/auth"
	"skrzynka/mail"
)

// cachedToken gives one token out until it hears that it was refused.
type cachedToken struct{ refused int }

func (c *cachedToken) Secret(context.Context, *mail.Account) (auth.Secret, error) {
	return auth.NewSecret("tok"), nil
}

func (c *cachedToken) Invalidate(*mail.Account, auth.Secret) { c.refused++ }

// A token that the server refuses is not given out again; a server that is
// away for a moment says nothing about it.
func TestRefusedTokenIsReported(t *testing.T) {
	for _, tc := range []struct {
		name, answer string
		want         int
	}{
		{"refused", "NO [AUTHENTICATIONFAILED] invalid credentials", 1},
		{"unavailable for now", "NO [UNAVAILABLE] database down", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv := startScript(t, mail.SecurityTLS, func(p *peer) {
				p.say("* OK [CAPABILITY IMAP4rev1 AUTH=XOAUTH2 SASL-IR] hi")
				tag, _ := p.hear()
				p.say(tag + " " + tc.answer)
				p.hold()
			})
			src, acct := &cachedToken{}, &mail.Account{Name: "personal", Email: "u@example.org", Auth: mail.AuthOAuth2}
			srv.opts.Creds = func(ctx context.Context) (auth.Credentials, error) { return auth.Resolve(ctx, src, acct, acct.IMAP) }
			if _, err := Dial(t.Context(), srv.opts); err == nil {
				t.Fatal("it logged in")
			}
			if src.refused != tc.want {
				t.Errorf("reported %d times, want %d", src.refused, tc.want)
			}
		})
	}
}
