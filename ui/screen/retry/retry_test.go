package retry

import (
	"strings"
	"testing"
	"time"

	"skrzynka/ui/kit"
	"skrzynka/ui/uitest"
)

func page(env *kit.Env, e *uitest.Engine) kit.Screen { return New(env, e) }

func TestFrames(t *testing.T) { uitest.Frames(t, "retry", page, "") }

func TestKeys(t *testing.T) {
	for _, c := range []struct{ name, keys, did, went, notice string }{
		{"evidence", "enter", "", "attempt waiting", ""},
		{"resend", "j r", "resend refused new=false confirmed=false", "", "Sent again as the same message, under the new key key-of-new-7."},
		{"an uncertain one asks", "j j r", "", "", ""},
		{"and is sent as a new message", "j j r n", "resend lost new=true confirmed=false", "", "Sent again as a new message, under the new key key-of-new-7."},
		{"mark all, resend the failed", "x x x x R", "resend waiting new=false confirmed=false; resend refused new=false confirmed=false", "", "2 messages sent again, each under a new key. 2 uncertain left out."},
		{"cancel the next try", "c", "cancel waiting", "", "It is not tried again by itself."},
		{"review an uncertain one", "j j v", "", "uncertain lost", ""},
		{"no review of a failed one", "v", "", "", "Decide what became of an uncertain one: it is not uncertain"},
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

// A resent row leaves the list and another takes its place: a second press
// within a second must not send that one.
func TestADoublePressDoesNotHitTheNextRow(t *testing.T) {
	p := uitest.Open(t, 80, 24, page)
	p.Keys("r r")
	if want := "resend waiting new=false confirmed=false"; p.Did() != want {
		t.Fatalf("did %q, want %q", p.Did(), want)
	}
	p.Clock.T = p.Clock.T.Add(2 * time.Second)
	p.Keys("r")
	if want := "resend waiting new=false confirmed=false; resend refused new=false confirmed=false"; p.Did() != want {
		t.Errorf("did %q, want %q", p.Did(), want)
	}
}

func TestTheQuestionSaysWhatMayHappen(t *testing.T) {
	p := uitest.Open(t, 80, 24, page)
	p.Keys("j j r")
	p.Shows(t, "it is delivered twice", "the same bytes and Message-ID", "both are seen")
	p.Keys("esc j r")
	p.Shows(t, "It died before the message was handed over: resending is safe.")
}

func TestEmpty(t *testing.T) {
	p := uitest.Open(t, 80, 24, page, func(e *uitest.Engine) { e.Out = nil })
	p.Shows(t, "Nothing failed and nothing is uncertain.")
	p.Keys("r")
	if !strings.Contains(p.Host.Notice().Text, "no attempt is selected") {
		t.Errorf("notice %+v", p.Host.Notice())
	}
}
