package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"skrzynka/auth"
	"skrzynka/mail"
	"skrzynka/mail/delivery"
	"skrzynka/mail/mirror"
	"skrzynka/mail/safe"
	"skrzynka/mail/submit"
	"skrzynka/mail/view"
)

// RemoveAccount removes an account's mail, drafts and attempts with all their
// evidence from the store. Nothing on the server changes.
func (e *Engine) RemoveAccount(ctx context.Context, name string) error {
	return e.Store.RemoveAccount(ctx, name)
}

// TestAccount tries both sides of a configured account and says precisely what
// works. It sends nothing and changes nothing.
func (e *Engine) TestAccount(ctx context.Context, name string) ([]view.Check, error) {
	acct, err := e.account(name)
	if err != nil {
		return nil, err
	}
	return e.Try(ctx, acct, e.Credentials), nil
}

// Try is TestAccount for an account that need not be configured yet.
func (e *Engine) Try(ctx context.Context, acct *mail.Account, src auth.Source) []view.Check {
	if _, err := src.Secret(ctx, acct); err != nil {
		return []view.Check{failedCheck("credentials", err)}
	}
	return []view.Check{{Name: "credentials", OK: true, Found: safe.Line("found")}, tryIMAP(ctx, acct, src), e.trySMTP(ctx, acct, src)}
}

func tryIMAP(ctx context.Context, acct *mail.Account, src auth.Source) view.Check {
	s, err := mirror.Dial(ctx, mirror.Options{Server: acct.IMAP,
		Creds: func(ctx context.Context) (auth.Credentials, error) { return auth.Resolve(ctx, src, acct, acct.IMAP) }})
	if err != nil {
		return failedCheck("imap", err)
	}
	defer s.Close()
	folders, err := s.Folders(ctx)
	if err != nil {
		return failedCheck("imap", err)
	}
	return view.Check{Name: "imap", OK: true, Found: safe.Line(fmt.Sprintf("%s: signed in, %d folders", acct.IMAP.Host, len(folders)))}
}

// trySMTP goes as far as a submission would before MAIL. What stopped it is
// judged and said like the outcome of an attempt.
func (e *Engine) trySMTP(ctx context.Context, acct *mail.Account, src auth.Source) view.Check {
	s, ev := submit.Open(ctx, e.request(acct, src), nobody{})
	if s != nil {
		s.Close()
		return view.Check{Name: "smtp", OK: true, Found: safe.Line(fmt.Sprintf("%s: signed in over %s", acct.SMTP.Host, ev.TLS))}
	}
	a := mail.Attempt{Kind: mail.KindOutbound, Evidence: ev}
	v := delivery.Judge(a.Kind, ev)
	a.Status, a.ErrorCode, a.Retryable = v.Status, v.Code, v.Retryable
	says := strings.TrimPrefix(delivery.Says(&a), "Not sent: ")
	return failedCheck("smtp", &mail.Error{Code: v.Code, Text: says, Hint: strings.Replace(delivery.Advice(&a), ", then resend", "", 1), Retryable: v.Retryable})
}

// nobody records nothing: a test hands nothing over.
type nobody struct{}

func (nobody) Reached(mail.StepMark) {}
func (nobody) Handover(context.Context, mail.Evidence) error {
	return errors.New("a test hands nothing over")
}

func failedCheck(name string, err error) view.Check {
	e := mail.AsError(err)
	return view.Check{Name: name, Found: safe.Line(e.Text), Fix: e.Hint, Error: e}
}
