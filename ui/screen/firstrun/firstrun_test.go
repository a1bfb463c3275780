package firstrun

import (
	"context"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/kit/kittest"
	"skrzynka/ui/uitest"
)

// fake is a Setup that writes down what it was asked.
type fake struct {
	calls   []string
	checks  []view.Check
	saveErr error
}

func (f *fake) Guess(email string) (imap, smtp mail.Server, note string, ok bool) {
	if !strings.HasSuffix(email, "@example.org") {
		return imap, smtp, "", false
	}
	return mail.Server{Host: "imap.example.org", Port: 993, Security: mail.SecurityTLS},
		mail.Server{Host: "smtp.example.org", Port: 465, Security: mail.SecurityTLS}, "This provider wants an app password.", true
}

func (f *fake) note(what string, a mail.Account, password string) {
	f.calls = append(f.calls, fmt.Sprintf("%s %s %s %s:%d:%s %s:%d:%s %s", what, a.Name, a.Email, a.IMAP.Host, a.IMAP.Port, a.IMAP.Security,
		a.SMTP.Host, a.SMTP.Port, a.SMTP.Security, password))
}

func (f *fake) Test(_ context.Context, a mail.Account, password string) []view.Check {
	f.note("test", a, password)
	return f.checks
}

func (f *fake) Save(_ context.Context, a mail.Account, password string) error {
	f.note("save", a, password)
	return f.saveErr
}

func (f *fake) Demo() tea.Cmd {
	return func() tea.Msg { f.calls = append(f.calls, "demo"); return nil }
}

var good = []view.Check{{Name: "IMAP sign in", OK: true}, {Name: "SMTP sign in", OK: true}}
var bad = []view.Check{{Name: "IMAP sign in", OK: true}, {Name: "SMTP sign in", Found: safe.Line("535 wrong password"), Fix: "Check the password."}}

func open(t *testing.T, w, h int, add bool) (*uitest.Page, *fake) {
	t.Helper()
	f := &fake{checks: good}
	return uitest.Open(t, w, h, func(env *kit.Env, _ *uitest.Engine) kit.Screen { return New(env, f, add) }), f
}

func fill(p *uitest.Page) {
	p.Type("Ada")
	p.Keys("tab")
	p.Type("ada@example.org")
	p.Keys("tab")
	p.Type("secret")
}

const filled = " personal ada@example.org imap.example.org:993:tls smtp.example.org:465:tls secret"

func TestFrames(t *testing.T) {
	for size, wh := range map[string][2]int{"80x24": {80, 24}, "120x40": {120, 40}, "20x5": {20, 5}} {
		p, f := open(t, wh[0], wh[1], false)
		kittest.Golden(t, "firstrun-"+size, p.Frame())
		f.checks = bad
		p.Keys("j enter")
		fill(p)
		kittest.Golden(t, "firstrun-form-"+size, p.Frame())
		p.Keys("ctrl+s")
		kittest.Golden(t, "firstrun-failed-"+size, p.Frame())
	}
}

func TestDemo(t *testing.T) {
	p, f := open(t, 80, 24, false)
	p.Keys("enter")
	if strings.Join(f.calls, ";") != "demo" {
		t.Errorf("calls %q", f.calls)
	}
}

func TestATestedAccountIsSaved(t *testing.T) {
	p, f := open(t, 80, 30, true)
	fill(p)
	p.Shows(t, "******")
	if strings.Contains(p.Frame(), "secret") {
		t.Fatal("the password is shown")
	}
	p.Keys("ctrl+s")
	if got := strings.Join(f.calls, ";"); got != "test"+filled+";save"+filled {
		t.Errorf("calls %q", got)
	}
	if p.Host.Notice().Text != "Account personal added." {
		t.Errorf("notice %+v", p.Host.Notice())
	}
	p.Shows(t, "This provider wants an app password.")
}

func TestAFailedTestIsNotSavedSilently(t *testing.T) {
	p, f := open(t, 80, 30, true)
	f.checks = bad
	fill(p)
	p.Keys("ctrl+s")
	p.Shows(t, "✗ SMTP sign in: 535 wrong password", "Check the password.", "Correct what failed")
	p.Keys("ctrl+s enter")
	if got := strings.Join(f.calls, ";"); got != "test"+filled {
		t.Errorf("calls %q", got)
	}
	p.Keys("ctrl+s y")
	if got := strings.Join(f.calls, ";"); got != "test"+filled+";save"+filled {
		t.Errorf("calls %q", got)
	}
}

func TestWhatWasChangedIsTestedAgain(t *testing.T) {
	p, f := open(t, 80, 30, true)
	f.checks = bad
	fill(p)
	p.Keys("ctrl+t")
	p.Type("2")
	p.Shows(t, "Changed since the test")
	f.checks = good
	p.Keys("ctrl+s")
	if want := "test" + filled + ";test" + filled + "2;save" + filled + "2"; strings.Join(f.calls, ";") != want {
		t.Errorf("calls %q", f.calls)
	}
}

func TestWhatCannotBeRightIsSaidInPlace(t *testing.T) {
	p, f := open(t, 80, 30, true)
	p.Keys("tab")
	p.Type("ada")
	p.Keys("ctrl+s")
	p.Shows(t, "write an address such as ada@example.org", "the password is needed")
	if len(f.calls) != 0 {
		t.Errorf("calls %q", f.calls)
	}
}

func TestASaveThatFailsIsSaid(t *testing.T) {
	p, f := open(t, 80, 30, true)
	f.saveErr = &mail.Error{Code: mail.CodeCredentials, Text: "The keyring is locked.", Hint: "Unlock it, or set password_command."}
	fill(p)
	p.Keys("ctrl+s")
	p.Shows(t, "The keyring is locked.", "Unlock it")
}

func TestAnUnknownProviderIsSaid(t *testing.T) {
	p, _ := open(t, 80, 30, true)
	p.Keys("tab")
	p.Type("ada@nowhere.example")
	p.Keys("tab")
	p.Shows(t, "The provider is not known here")
}

func TestBack(t *testing.T) {
	p, _ := open(t, 80, 24, false)
	p.Keys("a esc")
	p.Shows(t, "Look at the demo")
	p, _ = open(t, 80, 24, true)
	p.Keys("esc")
	if !p.Host.Closed {
		t.Error("the page is not closed")
	}
}
