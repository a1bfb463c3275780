package follow

import (
	"testing"
	"time"

	"skrzynka/mail"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Skip("no time zone data: ", err)
	}
	return z
}

func TestDue(t *testing.T) {
	z := zone(t, "Europe/Warsaw")
	at := func(s string) time.Time {
		v, err := time.ParseInLocation("2006-01-02 15:04", s, z)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	office := mail.FollowUpPolicy{From: 8 * time.Hour, To: 17 * time.Hour, WorkingDays: true}
	for name, c := range map[string]struct {
		after string
		delay string
		p     mail.FollowUpPolicy
		want  string
	}{
		"three days":                         {"2026-03-02 10:00", "3d", mail.FollowUpPolicy{}, "2026-03-05 10:00"},
		"at once":                            {"2026-03-07 23:30", "0", mail.FollowUpPolicy{}, "2026-03-07 23:30"},
		"hours":                              {"2026-03-02 22:00", "4h", mail.FollowUpPolicy{}, "2026-03-03 02:00"},
		"a week":                             {"2026-03-02 10:00", "1w", mail.FollowUpPolicy{}, "2026-03-09 10:00"},
		"working days over a weekend":        {"2026-03-05 10:00", "3wd", mail.FollowUpPolicy{}, "2026-03-10 10:00"},
		"a working day from a Saturday":      {"2026-03-07 10:00", "1wd", mail.FollowUpPolicy{}, "2026-03-09 10:00"},
		"no working day on a Saturday":       {"2026-03-06 23:00", "0wd2h", mail.FollowUpPolicy{}, "2026-03-09 00:00"},
		"days that end on a Sunday":          {"2026-03-05 10:00", "3d", mail.FollowUpPolicy{}, "2026-03-08 10:00"},
		"the same on an account that rests":  {"2026-03-05 10:00", "3d", mail.FollowUpPolicy{WorkingDays: true}, "2026-03-09 00:00"},
		"before the hours":                   {"2026-03-02 06:00", "1d", office, "2026-03-03 08:00"},
		"after the hours":                    {"2026-03-02 17:00", "1d", office, "2026-03-04 08:00"},
		"Friday after the hours":             {"2026-03-05 20:00", "1d", office, "2026-03-09 08:00"},
		"within the hours":                   {"2026-03-02 16:59", "1d", office, "2026-03-03 16:59"},
		"the day clocks go forward":          {"2026-03-28 10:00", "1d", mail.FollowUpPolicy{}, "2026-03-29 10:00"},
		"the day clocks go back":             {"2026-10-24 10:00", "1d", mail.FollowUpPolicy{}, "2026-10-25 10:00"},
		"hours count as they pass that day":  {"2026-03-29 01:30", "2h", mail.FollowUpPolicy{}, "2026-03-29 04:30"},
		"the end of a month":                 {"2026-01-31 09:00", "1d", mail.FollowUpPolicy{}, "2026-02-01 09:00"},
		"hours that are no span are ignored": {"2026-03-02 06:00", "1d", mail.FollowUpPolicy{From: 9 * time.Hour, To: 9 * time.Hour}, "2026-03-03 06:00"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := ParseDelay(c.delay)
			if err != nil {
				t.Fatal(err)
			}
			if got := Due(at(c.after).UTC(), d, c.p, z); !got.Equal(at(c.want)) {
				t.Errorf("due %s, want %s", got.Format("Mon 2006-01-02 15:04"), c.want)
			}
		})
	}
}

func TestResumeAt(t *testing.T) {
	z := zone(t, "America/New_York")
	for name, c := range map[string]struct {
		back string
		p    mail.FollowUpPolicy
		want string
	}{
		"a Thursday":                   {"2026-03-05", mail.FollowUpPolicy{}, "2026-03-06 09:00"},
		"a Friday":                     {"2026-03-06", mail.FollowUpPolicy{}, "2026-03-09 09:00"},
		"a Saturday":                   {"2026-03-07", mail.FollowUpPolicy{}, "2026-03-09 09:00"},
		"a Sunday":                     {"2026-03-08", mail.FollowUpPolicy{}, "2026-03-09 09:00"},
		"the account's own first hour": {"2026-03-04", mail.FollowUpPolicy{From: 7*time.Hour + 30*time.Minute, To: 12 * time.Hour}, "2026-03-05 07:30"},
	} {
		t.Run(name, func(t *testing.T) {
			back, err := time.ParseInLocation(time.DateOnly, c.back, time.FixedZone("sender", 9*3600))
			if err != nil {
				t.Fatal(err)
			}
			if got := ResumeAt(back, c.p, z).Format("2006-01-02 15:04"); got != c.want {
				t.Errorf("resumes %s, want %s", got, c.want)
			}
		})
	}
}

func TestParseDelay(t *testing.T) {
	for s, want := range map[string]string{
		"3d": "3 days", "1d": "1 day", "3 days": "3 days", "5wd": "5 working days", "1 working day": "1 working day", "2w": "14 days",
		"4h": "4h", "90m": "1h30m", "1d12h": "1 day 12h", "0": "at once", "0s": "at once", "45s": "45s", "at once": "at once", "30m": "30m",
	} {
		d, err := ParseDelay(s)
		if err != nil || Words(d) != want {
			t.Errorf("%q is %q (%v), want %q", s, Words(d), err, want)
		}
	}
	for _, s := range []string{"", " ", "d", "3", "-3d", "3x", "three days", "3d4", "99999999999999999999d", "1.5d"} {
		if d, err := ParseDelay(s); err == nil {
			t.Errorf("%q was read as %q", s, Words(d))
		}
	}
}

func TestCatchUp(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		due  int
		last time.Time
		ask  bool
	}{
		"few after a long sleep":     {20, now.Add(-24 * time.Hour), false},
		"many after a long sleep":    {21, now.Add(-24 * time.Hour), true},
		"many in a usual morning":    {100, now.Add(-time.Minute), false},
		"many after the clock jumps": {21, now.Add(-11 * time.Minute), true},
		"many after it goes back":    {21, now.Add(time.Hour), true},
		"many at the first look":     {100, time.Time{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := CatchUp(c.due, c.last, now); got != c.ask {
				t.Errorf("asks: %v, want %v", got, c.ask)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	step := func(days int, body string) mail.FollowStep {
		return mail.FollowStep{Delay: mail.Delay{Days: days}, Body: body}
	}
	for name, c := range map[string]struct {
		steps []mail.FollowStep
		ok    bool
	}{
		"one step":        {[]mail.FollowStep{step(3, "Any news?")}, true},
		"no step":         {nil, false},
		"too many":        {make([]mail.FollowStep, 21), false},
		"a blank text":    {[]mail.FollowStep{step(3, " \r\n\t")}, false},
		"a negative wait": {[]mail.FollowStep{step(-1, "x")}, false},
		"a long wait":     {[]mail.FollowStep{step(367, "x")}, false},
	} {
		if err := Check(c.steps); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBackoff(t *testing.T) {
	var total time.Duration
	for n := 0; ; n++ {
		w, ok := Backoff(n)
		if !ok {
			break
		}
		total += w
	}
	if total < time.Hour || total > 4*time.Hour {
		t.Errorf("it gives up after %s", total)
	}
}
