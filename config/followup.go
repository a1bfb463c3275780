package config

import (
	"strconv"
	"strings"
	"time"

	"skrzynka/mail"
)

// readFollowUp reads [accounts.NAME.follow_up]: when follow-ups go out by
// themselves.
func readFollowUp(r *reader) mail.FollowUpPolicy {
	defer r.done()
	p := mail.FollowUpPolicy{WorkingDays: r.flag("working_days", false)}
	s := r.text("hours", "")
	if s == "" {
		return p
	}
	from, to, ok := strings.Cut(s, "-")
	a, okA := dayTime(from)
	b, okB := dayTime(to)
	if !ok || !okA || !okB || b <= a {
		r.problem("hours", quote(s)+" is no span of a day", `write it as "08:00-17:30", the earlier time first, or "" for any hour`)
		return p
	}
	p.From, p.To = a, b
	return p
}

// dayTime reads a time of day, hours and minutes.
func dayTime(s string) (time.Duration, bool) {
	hours, minutes, ok := strings.Cut(strings.TrimSpace(s), ":")
	h, errH := strconv.Atoi(hours)
	m, errM := strconv.Atoi(minutes)
	if !ok || errH != nil || errM != nil || len(minutes) != 2 || h < 0 || h > 24 || m < 0 || m > 59 || h == 24 && m > 0 {
		return 0, false
	}
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute, true
}
