package kit

import (
	"fmt"
	"time"
)

// DateWidth is the width of the widest [ShortDate].
const DateWidth = 10

// ShortDate is a date as a list shows it: the time today, the weekday within
// the last six days, the day within a year, else the full date. now decides the
// time zone.
func ShortDate(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	t = t.In(now.Location())
	days := daysBetween(t, now)
	switch {
	case days == 0:
		return t.Format("15:04")
	case days > 0 && days < 7:
		return t.Format("Mon 15:04")
	case days > 0 && days < 300:
		return t.Format("2 Jan")
	}
	return t.Format("2006-01-02")
}

// LongDate is a date as a message shows it, with how long ago that was.
func LongDate(t, now time.Time) string {
	if t.IsZero() {
		return "no date"
	}
	return t.In(now.Location()).Format("Mon 2 Jan 2006 15:04") + " (" + Ago(t, now) + ")"
}

// Ago says how far t is from now, in the largest fitting unit.
func Ago(t, now time.Time) string {
	d := now.Sub(t)
	past := d >= 0
	if !past {
		d = -d
	}
	var s string
	switch {
	case d < 45*time.Second:
		return "just now"
	case d < time.Hour:
		s = fmt.Sprintf("%d min", max(1, int(d.Round(time.Minute).Minutes())))
	case d < 36*time.Hour:
		s = fmt.Sprintf("%d h", int(d.Hours()))
	case d < 60*24*time.Hour:
		s = fmt.Sprintf("%d days", int(d.Hours()+12)/24)
	case d < 2*365*24*time.Hour:
		s = fmt.Sprintf("%d months", int(d.Hours()/(24*30.44)))
	default:
		s = fmt.Sprintf("%d years", int(d.Hours()/(24*365.25)))
	}
	if past {
		return s + " ago"
	}
	return "in " + s
}

func daysBetween(t, now time.Time) int {
	y, m, d := t.Date()
	ny, nm, nd := now.Date()
	a := time.Date(y, m, d, 12, 0, 0, 0, time.UTC)
	b := time.Date(ny, nm, nd, 12, 0, 0, 0, time.UTC)
	return int(b.Sub(a) / (24 * time.Hour))
}

// Number writes n with a comma between thousands.
func Number(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Size writes a number of octets for a person.
func Size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000*1000:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	case n < 1000*1000*1000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
