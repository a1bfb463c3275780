package review

import (
	"testing"

	"skrzynka/ui/kit"
	"skrzynka/ui/uitest"
)

func page(env *kit.Env, e *uitest.Engine) kit.Screen { return New(env, e) }

func TestFrames(t *testing.T) { uitest.Frames(t, "review", page, "j") }

func TestKeys(t *testing.T) {
	for _, c := range []struct{ name, keys, did, went, notice string }{
		{"it is an answer", "1", "class 5 human_reply ", "", "Recorded as a person's answer: stopped a follow-up plan."},
		{"it is a bounce", "j 5", "class 6 bounce_hard ", "", "Recorded as a bounce: no such address: stopped a follow-up plan."},
		{"it means nothing", "i", "ignore 5", "", "Ignored."},
		{"open it", "enter", "", "message 1", ""},
		{"it is gone", "j enter", "", "", "Open the message: the message is not stored any more"},
		{"its timeline", "L", "", "audit event:5", ""},
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

func TestTieBySearch(t *testing.T) {
	p := uitest.Open(t, 80, 24, page)
	p.Keys("j t")
	p.Type("bob@example.net")
	p.Keys("up enter")
	p.Shows(t, "Tied to")
	p.Keys("5")
	if got := p.Did(); got == "class 6 bounce_hard " || len(got) < 20 {
		t.Errorf("did %q: the tie was lost", got)
	}
}

func TestEmpty(t *testing.T) {
	uitest.Open(t, 80, 24, page, func(e *uitest.Engine) { e.NoAnswers = true }).Shows(t, "Nothing waits for review.")
}
