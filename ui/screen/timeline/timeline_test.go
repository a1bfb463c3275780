package timeline

import (
	"testing"
	"time"

	"skrzynka/mail/safe"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/uitest"
)

func of(subject string) func(env *kit.Env, e *uitest.Engine) kit.Screen {
	return func(env *kit.Env, e *uitest.Engine) kit.Screen { return New(env, e, subject) }
}

func TestFrames(t *testing.T) {
	uitest.Frames(t, "timeline", of(""), "j")
	uitest.Frames(t, "timeline-attempt", of("attempt:refused"), "")
}

func TestSentence(t *testing.T) {
	env := &kit.Env{Zone: time.FixedZone("CET", 3600)}
	for _, c := range []struct{ action, from, to, want string }{
		{"attempt.opened", "", "pending", "Stored, to be sent"},
		{"attempt.settled", "sending", "failed", "Outcome: failed"},
		{"attempt.resolved", "uncertain", "confirmed_not_sent", "Decided: it was not sent"},
		{"draft.scheduled", "", "2026-03-09T07:00:00Z", "Scheduled for Mon 9 Mar 08:00"},
		{"contact.paused", "active", "paused", "Contact paused: active → paused"},
		{"something.new", "", "", "Something new"},
		{"", "", "", ""},
	} {
		r := view.AuditRow{Action: c.action, From: safe.Line(c.from), To: safe.Line(c.to)}
		if got := Sentence(r, env); got != c.want {
			t.Errorf("%s: %q, want %q", c.action, got, c.want)
		}
	}
}

func TestKeys(t *testing.T) {
	for _, c := range []struct{ name, keys, went, notice string }{
		{"open an attempt", "enter", "attempt refused", ""},
		{"only what is about the same", "L", "audit attempt:refused", ""},
		{"a contact has no page", "G enter", "", "Open what the line is about: it has no page of its own"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := uitest.Open(t, 80, 24, of(""))
			p.Keys(c.keys)
			if p.Pages() != c.went || p.Host.Notice().Text != c.notice {
				t.Errorf("went %q, notice %q", p.Pages(), p.Host.Notice().Text)
			}
		})
	}
}

func TestEmpty(t *testing.T) {
	uitest.Open(t, 80, 24, of("message:1")).Shows(t, "Nothing is recorded here yet.")
}

func TestTheTitleNamesTheMail(t *testing.T) {
	for _, c := range []struct{ about, want string }{{"Contract", "Timeline of attempt “Contract”"}, {"", "Timeline of attempt refused"}} {
		m := New(&kit.Env{}, nil, "attempt:refused")
		m.load.Value = []view.AuditRow{{Subject: safe.Line("message:3"), About: safe.Line("Another")}, {Subject: safe.Line("attempt:refused"), About: safe.Line(c.about)}}
		if m.Title() != c.want {
			t.Errorf("about %q: the title is %q", c.about, m.Title())
		}
	}
}
