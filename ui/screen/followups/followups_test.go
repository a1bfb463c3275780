package followups

import (
	"strings"
	"testing"

	"skrzynka/mail"
	"skrzynka/ui/kit"
	"skrzynka/ui/uitest"
)

func page(env *kit.Env, e *uitest.Engine) kit.Screen { return New(env, e) }

func TestFrames(t *testing.T) { uitest.Frames(t, "followups", page, "j") }

func TestKeys(t *testing.T) {
	for _, c := range []struct{ name, keys, did, went, notice string }{
		{"why did it not go", "j j j enter", "", "audit plan:p4", ""},
		{"the same by L", "j j j L", "", "audit plan:p4", ""},
		{"let a held one go on", "j r", "resume p2", "", "Step 1 goes out Fri 7 Mar 2025 09:00 unless somebody answers."},
		{"an active one cannot go on", "r", "", "", "Let it go on: only a paused or held plan can go on"},
		{"cancel asks", "d y", "cancel p1", "", "Stopped: human_reply from hanna@example.net: a person answered our message."},
		{"cancel, and not", "d n", "", "", ""},
		{"one that has ended cannot be cancelled", "j j j d", "", "", "Cancel the plan: it has ended"},
		{"pause until tomorrow", "p down down enter", "pause p1 2025-03-06 08:00", "", "Paused until Tue 11 Mar 2025 09:00: away: \"back on 10 March\"."},
		{"change the next step", "E", "", "followup plan:p1:0", ""},
		{"the message", "o", "", "attempt accepted", ""},
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

func TestEmpty(t *testing.T) {
	uitest.Open(t, 80, 24, page, func(e *uitest.Engine) { e.NoAnswers = true }).Shows(t, "No follow-ups.")
}

func TestOnlyOpenOnes(t *testing.T) {
	p := uitest.Open(t, 80, 24, page)
	p.Keys("t")
	if strings.Contains(p.Frame(), "Invoice") {
		t.Errorf("a plan that has ended is shown:\n%s", p.Frame())
	}
}

func write(target string) func(env *kit.Env, e *uitest.Engine) kit.Screen {
	return func(env *kit.Env, e *uitest.Engine) kit.Screen { return NewWrite(env, e, target) }
}

func TestWriteFrames(t *testing.T) { uitest.Frames(t, "followup-write", write("attempt:accepted"), "") }

func TestWrite(t *testing.T) {
	for _, c := range []struct{ name, target, keys, did string }{
		{"as it is offered", "attempt:accepted", "ctrl+s", "follow accepted0 [3wd Hello,\n\nI would like]"},
		{"on a draft", "draft:7", "ctrl+s", "follow 7 [3wd Hello,\n\nI would like]"},
		{"two steps", "attempt:accepted", "backspace backspace backspace 4 d ctrl+n tab x y ctrl+s", "follow accepted0 [4d Hello,\n\nI would like] [5wd xy]"},
		{"a step that is there", "plan:p1:0", "tab x ctrl+s", "edit p1 0 3 working days \"xAny news?\\n\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := uitest.Open(t, 80, 24, write(c.target))
			p.Keys(c.keys)
			if p.Did() != c.did {
				t.Errorf("did %q, want %q", p.Did(), c.did)
			}
		})
	}
}

func TestWriteRefused(t *testing.T) {
	p := uitest.Open(t, 80, 24, write("attempt:accepted"), func(e *uitest.Engine) { e.Fail = errNope })
	p.Keys("ctrl+s")
	p.Shows(t, "It was answered already.")
	if p.Host.Closed {
		t.Error("the page closed and what was written is gone")
	}
}

var errNope = &mail.Error{Code: mail.CodeConflict, Text: "It was answered already."}
