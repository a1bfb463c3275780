// Package follow decides when follow-ups are due and whether one may be sent.
// It is pure: values in, values out; the engine carries out what it says, and
// the store holds the last look in the commit that begins the send.
package follow

import (
	"fmt"
	"time"

	"skrzynka/mail"
)

// MaxStep is the longest delay of one step.
const MaxStep = 366 * 24 * time.Hour

// Due says when a step is due: delay after the message before it, then moved
// forward into the account's hours. Days are counted on the calendar of zone,
// so that the time of day survives a change of clocks; of working days only
// Monday to Friday count.
func Due(after time.Time, d mail.Delay, p mail.FollowUpPolicy, zone *time.Location) time.Time {
	t := after.In(zone)
	for i := 0; i < d.Days; i++ {
		t = nextDay(t)
		for d.Working && weekend(t) {
			t = nextDay(t)
		}
	}
	t = t.Add(d.Time)
	for d.Working && weekend(t) {
		t = startOfDay(nextDay(t), p)
	}
	return Within(t, p, zone)
}

// Within is the first moment at or after t at which the account sends.
func Within(t time.Time, p mail.FollowUpPolicy, zone *time.Location) time.Time {
	t = t.In(zone)
	hours := p.To > p.From
	for range 8 { // a week has an open hour, or there are no hours
		switch {
		case p.WorkingDays && weekend(t), hours && sinceMidnight(t) >= p.To:
			t = startOfDay(nextDay(t), p)
		case hours && sinceMidnight(t) < p.From:
			t = startOfDay(t, p)
		default:
			return t
		}
	}
	return t
}

// ResumeAt says when a plan goes on whose contact is back on a day: one working
// day later, so that the first morning's pile is gone, at the account's first
// hour, or at nine.
func ResumeAt(back time.Time, p mail.FollowUpPolicy, zone *time.Location) time.Time {
	y, m, d := back.Date() // the day as the sender wrote it
	t := time.Date(y, m, d, 9, 0, 0, 0, zone)
	for {
		if t = nextDay(t); !weekend(t) {
			break
		}
	}
	if p.To > p.From {
		t = startOfDay(t, p)
	}
	return t
}

// The bounds beyond which a person is asked first.
const (
	CatchUpSteps = 20
	CatchUpGap   = 10 * time.Minute
)

// CatchUp reports whether a person is asked before due steps are sent: more
// than 20 of them, after nobody looked for ten minutes or the clock went back.
// The zero last is a first look.
func CatchUp(due int, last, now time.Time) bool {
	gap := now.Sub(last)
	return due > CatchUpSteps && !last.IsZero() && (gap > CatchUpGap || gap < 0)
}

// Backoff is how long a step waits after a failure proven before submission.
// ok is false when it has been tried often enough.
func Backoff(tries int) (wait time.Duration, ok bool) {
	if tries >= 8 {
		return 0, false
	}
	return min(time.Minute<<tries, 30*time.Minute), true
}

// Check refuses steps that make no plan, with one sentence each.
func Check(steps []mail.FollowStep) error {
	bad := func(i int, why string) error {
		return &mail.Error{Code: mail.CodeInvalid, Text: fmt.Sprintf("Step %d %s.", i+1, why), Hint: "Nothing was stored."}
	}
	if len(steps) == 0 || len(steps) > 20 {
		return &mail.Error{Code: mail.CodeInvalid, Text: "A follow-up plan has one to twenty steps.", Hint: "Nothing was stored."}
	}
	for i := range steps {
		d := steps[i].Delay
		switch total := time.Duration(d.Days)*24*time.Hour + d.Time; {
		case d.Days < 0 || d.Time < 0 || d.Days > 366 || total > MaxStep:
			return bad(i, "waits less than nothing or longer than a year")
		case blank(steps[i].Body):
			return bad(i, "has no text")
		}
	}
	return nil
}

func blank(s string) bool {
	for _, r := range s {
		if r != ' ' && r != '\n' && r != '\r' && r != '\t' {
			return false
		}
	}
	return true
}

func weekend(t time.Time) bool {
	return t.Weekday() == time.Saturday || t.Weekday() == time.Sunday
}

func nextDay(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day()+1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
}

func startOfDay(t time.Time, p mail.FollowUpPolicy) time.Time {
	h, m := 0, 0
	if p.To > p.From {
		h, m = int(p.From/time.Hour), int(p.From%time.Hour/time.Minute)
	}
	return time.Date(t.Year(), t.Month(), t.Day(), h, m, 0, 0, t.Location())
}

func sinceMidnight(t time.Time) time.Duration {
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second
}
