package submit

import (
	"context"
	"testing"

	"skrzynka/auth"
	"skrzynka/mail"
	"skrzynka/mail/submit/smtptest"
)

// cached gives one token out until it hears that it was refused.
type cached struct{ refused []auth.Secret }

func (c *cached) Secret(context.Context, *mail.Account) (auth.Secret, error) {
	return auth.NewSecret("tok"), nil
}

func (c *cached) Invalidate(_ *mail.Account, s auth.Secret) { c.refused = append(c.refused, s) }

// A token that the server refuses for good is not given out again; trouble of
// the server's own says nothing about it.
func TestRefusedTokenIsReported(t *testing.T) {
	for name, tc := range map[string]struct {
		reply string
		want  int
	}{
		"accepted":     {"", 0},
		"535":          {"535 5.7.8 Bad credentials", 1},
		"454":          {"454 4.7.0 Temporary failure", 0},
		"unreadable":   {"999 what", 0},
		"over the end": {"421 4.3.2 Closing", 0},
	} {
		script := smtptest.Script{Auth: []string{"XOAUTH2"}}
		if tc.reply != "" {
			script.At = map[mail.Step]smtptest.Action{mail.StepAuth: smtptest.Reply(tc.reply)}
		}
		src, req := &cached{}, request(smtptest.Start(t, script))
		acct := &mail.Account{Name: "personal", Email: "ada@example.org", Auth: mail.AuthOAuth2}
		req.Creds = func(ctx context.Context) (auth.Credentials, error) { return auth.Resolve(ctx, src, acct, acct.SMTP) }
		if s, _ := Open(t.Context(), req, &recorder{}); s != nil {
			s.Close()
		}
		if len(src.refused) != tc.want || tc.want == 1 && src.refused[0] != auth.NewSecret("tok") {
			t.Errorf("%s: reported %d times, want %d", name, len(src.refused), tc.want)
		}
	}
}
