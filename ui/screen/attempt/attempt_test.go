package attempt

import (
	"strings"
	"testing"

	"skrzynka/mail"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/uitest"
)

func of(id string) func(env *kit.Env, e *uitest.Engine) kit.Screen {
	return func(env *kit.Env, e *uitest.Engine) kit.Screen { return New(env, e, id) }
}

func TestFrames(t *testing.T) {
	for _, id := range []string{"refused", "lost", "accepted"} {
		uitest.Frames(t, "attempt-"+id, of(id), "")
	}
}

func TestEvidence(t *testing.T) {
	for _, c := range []struct {
		id    string
		shows []string
	}{
		{"refused", []string{"failed", "550 5.1.1 no such user here", "recipients", "nobody@example.com", "SMTP_REJECTED", "here is what we spoke about."}},
		{"lost", []string{"uncertain", "it may have been accepted", "handed over", "the connection was lost"}},
		{"died", []string{"It died before the message was handed over: resending is safe."}},
		{"accepted", []string{"Accepted by smtp.example.org:587.", "may be there: the answer was lost", "C looks whether it is there", "this one", "[ opens it"}},
		{"bounced", []string{"then bounced", "5.2.2 mailbox full", "Sent, UID 41"}},
		{"waiting", []string{"tries again in 38 s, 2 of 5"}},
	} {
		t.Run(c.id, func(t *testing.T) { uitest.Open(t, 100, 70, of(c.id)).Shows(t, c.shows...) })
	}
}

func TestKeys(t *testing.T) {
	for _, c := range []struct{ name, id, keys, did, went, notice string }{
		{"resend twice is one resend", "refused", "r r", "resend refused new=false confirmed=false", "", "Resend with a new key: it was already sent again: open the later attempt"},
		{"cancel", "waiting", "c", "cancel waiting", "", "It is not tried again by itself."},
		{"inspect the copy", "accepted", "C", "copy accepted", "", "The sent copy is unknown."},
		{"the copy is saved", "bounced", "C", "", "", "Sent copy: look for it, or save it again: nothing is to be done about its sent copy"},
		{"earlier", "accepted", "[", "", "attempt first", ""},
		{"later", "first", "]", "", "attempt accepted", ""},
		{"no earlier", "first", "[", "", "", "Earlier attempt of the chain: this is the first of the chain"},
		{"review", "lost", "v", "", "uncertain lost", ""},
		{"timeline", "lost", "L", "", "audit attempt:lost", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := uitest.Open(t, 80, 24, of(c.id))
			p.Keys(c.keys)
			if p.Did() != c.did || p.Pages() != c.went || p.Host.Notice().Text != c.notice {
				t.Errorf("did %q, went %q, notice %q\nwant %q, %q, %q", p.Did(), p.Pages(), p.Host.Notice().Text, c.did, c.went, c.notice)
			}
		})
	}
}

func TestAHeldOneAsksBeforeItGoes(t *testing.T) {
	held := func(e *uitest.Engine) {
		e.Out[1].Status, e.Out[1].Held = mail.StatusPending, "restored"
		e.Out[1].Badge = view.Badge{Status: mail.StatusPending}
		e.Out[1].Says = safe.Line("Held: the database was restored from a backup, so this may have been sent already.")
	}
	p := uitest.Open(t, 80, 24, of("refused"), held)
	p.Keys("H enter")
	if p.Did() != "" {
		t.Errorf("enter alone let it go: %s", p.Did())
	}
	p.Keys("H y")
	if p.Did() != "release refused" {
		t.Errorf("did %q", p.Did())
	}
}

func TestItIsLive(t *testing.T) {
	p := uitest.Open(t, 80, 24, of("refused"))
	p.Engine.Out[1].Says = safe.Line("Something new is known.")
	p.Send(view.Change{Topic: view.TopicAttempts, ID: "refused"})
	p.Shows(t, "Something new is known.")
}

func TestHostileTextIsNotObeyed(t *testing.T) {
	p := uitest.Open(t, 100, 60, of("refused"), func(e *uitest.Engine) {
		e.Out[1].Body = "a\x1b[2Jb\u202ec\x07\r\nd"
		e.Out[1].Subject = "s\x1b]0;x\x07t\nu"
		e.Out[1].To = []string{"x\x1b[1m@example.org"}
	})
	styled := p.Styled()
	for _, bad := range []string{"\x1b[2J", "\u202e", "\x07", "\x1b]0"} {
		if strings.Contains(styled, bad) {
			t.Errorf("the frame holds %q", bad)
		}
	}
}

func TestUnknown(t *testing.T) {
	uitest.Open(t, 80, 24, of("none")).Shows(t, "There is no attempt none.")
}
