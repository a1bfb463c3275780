package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skrzynka/auth"
	"skrzynka/mail"
	"skrzynka/mail/loopback"
	"skrzynka/mail/submit/smtptest"
)

// Trying an account says precisely what works; its SMTP side is judged like the
// outcome of an attempt.
func TestTryAccount(t *testing.T) {
	w := newWorld(t, loopback.Options{Empty: true}, nil)
	at := func(step mail.Step, reply string) smtptest.Script {
		return smtptest.Script{At: map[mail.Step]smtptest.Action{step: smtptest.Reply(reply)}}
	}
	rows := []struct {
		name   string
		script smtptest.Script
		change func(*mail.Account)
		code   mail.Code
	}{
		{"everything works", smtptest.Script{}, nil, ""},
		{"wrong password", at(mail.StepAuth, "535 5.7.8 bad"), nil, mail.CodeSMTPAuth},
		{"closing at sign-in", at(mail.StepAuth, "421 4.3.2 bye"), nil, mail.CodeSMTPUnavailable},
		{"certificate not trusted", smtptest.Script{}, func(a *mail.Account) { a.SMTP.CAFile = "" }, mail.CodeSMTPTLS},
		{"hostile greeting", at(mail.StepGreeting, "554 go away\x1b]52;c;x\x07"), nil, mail.CodeSMTPUnavailable},
		{"no such host", smtptest.Script{}, func(a *mail.Account) { a.SMTP.Host = "host.invalid" }, mail.CodeSMTPUnavailable},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			p := smtptest.Start(t, r.script)
			acct := w.servers.Account()
			acct.SMTP = p.Server()
			acct.SMTP.CAFile = filepath.Join(t.TempDir(), "ca.pem")
			if err := os.WriteFile(acct.SMTP.CAFile, p.CA, 0o600); err != nil {
				t.Fatal(err)
			}
			if r.change != nil {
				r.change(&acct)
			}
			checks := w.Try(context.Background(), &acct, auth.Static{acct.Name: auth.NewSecret(w.servers.Password)})
			if len(checks) != 3 || !checks[0].OK || !checks[1].OK {
				t.Fatalf("credentials and IMAP: %+v", checks)
			}
			smtp := checks[2]
			if r.code == "" {
				if !smtp.OK || !strings.Contains(smtp.Found.String(), "TLS 1.3") {
					t.Errorf("got %+v", smtp)
				}
				return
			}
			if smtp.OK || smtp.Error == nil || smtp.Error.Code != r.code || smtp.Fix == "" || strings.Contains(smtp.Found.String(), "\x1b") {
				t.Errorf("got %+v (%v), want %s", smtp, smtp.Error, r.code)
			}
		})
	}
	checks := w.Try(context.Background(), &mail.Account{Name: "unknown"}, auth.Static{})
	if len(checks) != 1 || checks[0].OK || checks[0].Error.Code != mail.CodeCredentials {
		t.Errorf("without credentials: %+v", checks)
	}
}
