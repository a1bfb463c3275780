package threads

import (
	"testing"

	"skrzynka/ui/kit"
	"skrzynka/ui/uitest"
)

func page(env *kit.Env, e *uitest.Engine) kit.Screen { return New(env, e, "") }

func TestFrames(t *testing.T) { uitest.Frames(t, "threads", page, "") }

func TestKeys(t *testing.T) {
	for _, c := range []struct{ name, keys, went, shows string }{
		{"mine", "enter", "message 1", "Mia Novak"},
		{"theirs", "t enter", "attempt accepted", "Contract"},
		{"follow theirs up", "t F", "followup attempt:accepted", "4 days ago"},
		{"mine cannot be followed up", "F", "", "26 h ago"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := uitest.Open(t, 80, 24, page)
			p.Keys(c.keys)
			if p.Pages() != c.went {
				t.Errorf("went %q, want %q", p.Pages(), c.went)
			}
			p.Shows(t, c.shows)
		})
	}
}

func TestEmpty(t *testing.T) {
	p := uitest.Open(t, 80, 24, page, func(e *uitest.Engine) { e.NoAnswers = true })
	p.Shows(t, "Everybody has your answer.")
	p.Keys("t")
	p.Shows(t, "Nobody owes you an answer.")
}
