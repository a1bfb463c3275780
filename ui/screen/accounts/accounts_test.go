package accounts

import (
	"testing"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/uitest"
)

func page(env *kit.Env, e *uitest.Engine) kit.Screen { return New(env, e) }

func TestFrames(t *testing.T) { uitest.Frames(t, "accounts", page, "t") }

func TestTheTestSaysWhatFailedAndWhatToDo(t *testing.T) {
	p := uitest.Open(t, 80, 24, page)
	p.Keys("t")
	p.Shows(t, "✓ IMAP connect: imap.example.org:993, TLS 1.3", "✗ SMTP sign in: 535 5.7.8 authentication failed", "this provider wants an app password")
	if p.Did() != "test home" {
		t.Errorf("did %q", p.Did())
	}
	p.Engine.Fail = &mail.Error{Code: mail.CodeConfigInvalid, Text: "The account is gone.", Hint: "Read the configuration again."}
	p.Keys("j t")
	p.Shows(t, "The account is gone.", "Read the configuration again.")
}

func TestStates(t *testing.T) {
	p := uitest.Open(t, 80, 24, page)
	for phase, want := range map[string]string{"idle": "up to date", "offline": "offline", "headers": "headers"} {
		p.Send(view.Change{Topic: view.TopicSync, Progress: &view.SyncProgress{Account: "home", Phase: phase}})
		p.Shows(t, want)
	}
	p.Send(view.Change{Topic: view.TopicSync, Progress: &view.SyncProgress{Account: "work", Error: "the sign-in was refused"}})
	p.Shows(t, "the sign-in was refused")
}

func TestAddOpensTheForm(t *testing.T) {
	p := uitest.Open(t, 80, 24, page, func(e *uitest.Engine) { e.Accts = nil })
	p.Shows(t, "No account is configured.")
	p.Keys("a")
	if p.Pages() != "firstrun add" {
		t.Errorf("went %q", p.Pages())
	}
}
