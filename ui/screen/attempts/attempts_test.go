package attempts

import (
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/uitest"
)

func page(env *kit.Env, e *uitest.Engine) kit.Screen { return New(env, e, "") }

func TestFrames(t *testing.T) { uitest.Frames(t, "attempts", page, "j") }

func TestWhatWaitsStandsOnTopAndCountsDown(t *testing.T) {
	p := uitest.Open(t, 80, 24, page)
	p.Shows(t, "goes out in 4 days, Mon 10 Mar 08:00", "tries again in 38 s, 2 of 5")
	p.Clock.T = p.Clock.T.Add(time.Second)
	p.Advance(time.Second)
	p.Shows(t, "tries again in 37 s, 2 of 5")
}

func TestKeys(t *testing.T) {
	for _, c := range []struct{ name, keys, did, went, notice string }{
		{"open an attempt", "j enter", "", "attempt waiting", ""},
		{"open a scheduled draft", "enter", "", "compose 8", ""},
		{"cancel a scheduled draft", "c", "unschedule 8", "", "Taken off the schedule: it is a draft again."},
		{"cancel the next try", "j c", "cancel waiting", "", "It is not tried again by itself."},
		{"nothing to cancel", "j j c", "", "", "Do not let it go out by itself: it does not go out by itself"},
		{"resend a failed one at once", "j j r", "resend refused new=false confirmed=false", "", "Sent again as the same message, under the new key key-of-new-7."},
		{"a second press is refused", "j j r r", "resend refused new=false confirmed=false; resend refused new=false confirmed=false", "", "This attempt was already sent again."},
		{"an accepted one is not sent again", "j j j j j r", "", "", "Resend with a new key: it was accepted: sending it again would deliver it twice"},
		{"edit and resend", "j j E", "edit refused", "compose 44", ""},
		{"timeline", "j j L", "", "audit attempt:refused", ""},
		{"an uncertain one asks first", "j j j r", "", "", ""},
		{"the same message", "j j j r enter", "resend lost new=false confirmed=false", "", "Sent again as the same message, under the new key key-of-new-7."},
		{"a new message", "j j j r n", "resend lost new=true confirmed=false", "", "Sent again as a new message, under the new key key-of-new-7."},
		{"no", "j j j r esc", "", "", ""},
		{"the marked failed ones, never uncertain ones", "j j x x R", "resend refused new=false confirmed=false", "", "1 message sent again, each under a new key. 1 uncertain left out."},
		{"nothing marked", "R", "", "", "Resend the marked failed ones: nothing is marked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := uitest.Open(t, 80, 24, page)
			p.Keys(c.keys)
			if p.Did() != c.did || p.Pages() != c.went || p.Host.Notice().Text != c.notice {
				t.Errorf("did %q, went %q, notice %q\nwant %q, %q, %q", p.Did(), p.Pages(), p.Host.Notice().Text, c.did, c.went, c.notice)
			}
		})
	}
}

func TestThePolicyIsAskedForAResend(t *testing.T) {
	p := uitest.Open(t, 80, 24, page, func(e *uitest.Engine) {
		e.Fail = &mail.Error{Code: mail.CodeConfirmationRequired, Text: "This goes outside the company."}
	})
	p.Keys("j j r")
	p.Shows(t, "This goes outside the company.")
	p.Engine.Fail = nil
	p.Keys("y")
	if want := "resend refused new=false confirmed=false; resend refused new=false confirmed=true"; p.Did() != want {
		t.Errorf("did %q, want %q", p.Did(), want)
	}
}

func TestFilterAndEmpty(t *testing.T) {
	p := uitest.Open(t, 80, 24, page)
	p.Keys("f")
	p.Type("uncertain")
	p.Keys("enter")
	p.Shows(t, "Re: Offer", "Minutes")
	if strings.Contains(p.Frame(), "Contract") {
		t.Error("the filter leaves others in")
	}
	uitest.Open(t, 80, 24, page, func(e *uitest.Engine) { e.Out, e.Kept = nil, nil }).Shows(t, "Nothing was sent yet.")
}

func TestAChangeIsShown(t *testing.T) {
	p := uitest.Open(t, 80, 24, page)
	p.Engine.Out[1].Subject = "Another subject"
	p.Send(view.Change{Topic: view.TopicAttempts})
	p.Shows(t, "Another subject")
}
