package uncertain

import (
	"strings"
	"testing"

	"skrzynka/mail"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/uitest"
)

func page(env *kit.Env, e *uitest.Engine) kit.Screen { return New(env, e, "") }

func TestFrames(t *testing.T) { uitest.Frames(t, "uncertain", page, "p") }

func TestKeys(t *testing.T) {
	for _, c := range []struct{ name, keys, did, went, notice, shows string }{
		{"the first is shown", "", "", "", "", "Re: Offer"},
		{"next", "j", "", "", "", "Minutes"},
		{"and back", "j k", "", "", "", "Re: Offer"},
		{"probe", "p", "probe lost", "", "", "Absence proves nothing"},
		{"it was sent; the next is shown", "y", "resolve lost confirmed_sent", "", "Recorded: it was sent. 1 left.", "Minutes"},
		{"it was not sent", "j n", "resolve died confirmed_not_sent", "", "Recorded: it was not sent. 1 left.", "Re: Offer"},
		{"to the end", "y y", "resolve lost confirmed_sent; resolve died confirmed_sent", "", "Recorded: it was sent. Nothing uncertain is left.", "Nothing is uncertain."},
		{"resend asks", "r", "", "", "", "it is delivered twice"},
		{"resend the same bytes", "r s", "resend lost new=false confirmed=false", "", "Sent again as the same message, under the new key key-of-new-7.", "Minutes"},
		{"resend as a new message", "r n", "resend lost new=true confirmed=false", "", "Sent again as a new message, under the new key key-of-new-7.", "Minutes"},
		{"the proof of no handover", "j", "", "", "", "It died before the message was handed over: resending is safe."},
		{"timeline", "L", "", "audit attempt:lost", "", "Re: Offer"},
		{"page", "enter", "", "attempt lost", "", "Re: Offer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := uitest.Open(t, 80, 24, page)
			p.Keys(c.keys)
			if p.Did() != c.did || p.Pages() != c.went || p.Host.Notice().Text != c.notice {
				t.Errorf("did %q, went %q, notice %q\nwant %q, %q, %q", p.Did(), p.Pages(), p.Host.Notice().Text, c.did, c.went, c.notice)
			}
			p.Shows(t, c.shows)
		})
	}
}

func TestAFindIsShownAsProof(t *testing.T) {
	p := uitest.Open(t, 80, 24, page, func(e *uitest.Engine) {
		e.Found = view.Probe{Proven: true, Looked: []view.Looked{{Place: safe.Line("Sent on the server"), Found: true, Strength: "proof", Note: safe.Line("Message-ID found, UID 12")},
			{Place: safe.Line("server"), Error: &mail.Error{Text: "The connection was lost."}}}, Sentence: safe.Line("Proven: the server accepted it.")}
	})
	p.Keys("p")
	p.Shows(t, "✓ Sent on the server: Message-ID found, UID 12", "✗ server: could not be searched: The connection was lost.", "Proven: the server accepted it.")
}

func TestAProbeThatFailsProvesNothing(t *testing.T) {
	p := uitest.Open(t, 80, 24, page, func(e *uitest.Engine) {
		e.Fail = &mail.Error{Code: mail.CodeIMAPUnavailable, Text: "imap.example.org could not be reached."}
	})
	p.Keys("p")
	p.Shows(t, "imap.example.org could not be reached.", "That proves nothing either way.")
}

func TestARefusedDecisionStays(t *testing.T) {
	p := uitest.Open(t, 80, 24, page, func(e *uitest.Engine) {
		e.Fail = &mail.Error{Code: mail.CodeConflict, Text: "It was decided elsewhere."}
	})
	p.Keys("y")
	p.Shows(t, "Re: Offer")
	if p.Host.Notice().Text != "It was decided elsewhere." {
		t.Errorf("notice %+v", p.Host.Notice())
	}
}

func TestTheOneThatIsReadStaysWhenTheListChanges(t *testing.T) {
	p := uitest.Open(t, 80, 24, page)
	p.Keys("j")
	p.Engine.Out = append([]view.Attempt{p.Engine.Out[2]}, p.Engine.Out...)
	p.Engine.Out[0].ID, p.Engine.Out[0].Subject = "newer", "A newer one"
	p.Send(view.Change{Topic: view.TopicAttempts})
	p.Shows(t, "Minutes")
	if state := p.Host.Screen.(kit.Stater).State(); state != "3 of 3" {
		t.Errorf("the header says %q", state)
	}
}

func TestBeginWithOne(t *testing.T) {
	p := uitest.Open(t, 80, 24, func(env *kit.Env, e *uitest.Engine) kit.Screen { return New(env, e, "died") })
	p.Shows(t, "Minutes")
	if strings.Contains(p.Frame(), "Re: Offer") {
		t.Error("another one is shown")
	}
}
