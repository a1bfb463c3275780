package drafts

import (
	"testing"

	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/uitest"
)

func page(env *kit.Env, e *uitest.Engine) kit.Screen { return New(env, e) }

func TestFrames(t *testing.T) { uitest.Frames(t, "drafts", page, "") }

func TestKeys(t *testing.T) {
	for _, c := range []struct{ name, keys, did, went, notice string }{
		{"the scheduled one stands first", "enter", "", "compose 8", ""},
		{"write on", "j enter", "", "compose 7", ""},
		{"discard", "j d", "discard 7", "", "Draft discarded."},
		{"schedule", "j ctrl+o down down enter", "check 7; schedule 7 2025-03-06 08:00 false", "", "It goes out tomorrow 08:00."},
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

func TestTakeOffTheSchedule(t *testing.T) {
	p := uitest.Open(t, 80, 24, page)
	p.Shows(t, "goes out Mon 10 Mar 08:00", "in 4 days")
	p.Keys("ctrl+o")
	p.Type("not at")
	p.Keys("enter")
	if p.Did() != "unschedule 8" {
		t.Errorf("did %q", p.Did())
	}
}

func TestThePolicyIsAskedWhenItIsScheduled(t *testing.T) {
	p := uitest.Open(t, 80, 24, page, func(e *uitest.Engine) {
		e.Asks = view.Question{Ask: true, Text: "This is the first contact.", Hint: "confirm = first_contact"}
	})
	p.Keys("j ctrl+o enter")
	p.Shows(t, "This is the first contact.", "Asked because of the rule confirm = first_contact.")
	p.Keys("y")
	if want := "check 7; schedule 7 2025-03-05 15:30 true"; p.Did() != want {
		t.Errorf("did %q, want %q", p.Did(), want)
	}
}

func TestEmpty(t *testing.T) {
	uitest.Open(t, 80, 24, page, func(e *uitest.Engine) { e.Kept = nil }).Shows(t, "No drafts.")
}
