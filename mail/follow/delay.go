package follow

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"skrzynka/mail"
)

// ParseDelay reads a delay as a person writes it: "3d" or "3 days", "2w",
// "5wd" (working days), "4h", "90m", "1d12h", and "0" or "at once".
func ParseDelay(s string) (mail.Delay, error) {
	var d mail.Delay
	bad := fmt.Errorf("%q is no delay: write 3d, 5wd (working days), 2w, 4h or 30m", s)
	rest := strings.ToLower(strings.Join(strings.Fields(s), ""))
	if rest == "" {
		return d, bad
	}
	if rest == "0" || rest == "atonce" {
		return d, nil
	}
	for rest != "" {
		i := 0
		for i < len(rest) && rest[i] >= '0' && rest[i] <= '9' {
			i++
		}
		n, err := strconv.Atoi(rest[:i])
		if err != nil || n > 100000 {
			return mail.Delay{}, bad
		}
		rest = rest[i:]
		i = 0
		for i < len(rest) && (rest[i] < '0' || rest[i] > '9') {
			i++
		}
		unit := rest[:i]
		rest = rest[i:]
		switch unit {
		case "d", "day", "days":
			d.Days += n
		case "w", "week", "weeks":
			d.Days += 7 * n
		case "wd", "workingday", "workingdays":
			d.Days, d.Working = d.Days+n, true
		case "h", "hour", "hours":
			d.Time += time.Duration(n) * time.Hour
		case "m", "min", "minute", "minutes":
			d.Time += time.Duration(n) * time.Minute
		case "s", "sec", "second", "seconds":
			d.Time += time.Duration(n) * time.Second
		default:
			return mail.Delay{}, bad
		}
	}
	return d, nil
}

// Words is a delay as a person reads it: "3 days", "5 working days", "4h0m0s".
func Words(d mail.Delay) string {
	var parts []string
	if d.Days > 0 {
		unit := "day"
		if d.Working {
			unit = "working day"
		}
		if d.Days > 1 {
			unit += "s"
		}
		parts = append(parts, strconv.Itoa(d.Days)+" "+unit)
	}
	if d.Time > 0 {
		s := d.Time.String()
		s = strings.TrimSuffix(s, "m0s")
		if s != d.Time.String() {
			s += "m"
		}
		if strings.HasSuffix(s, "h0m") {
			s = strings.TrimSuffix(s, "0m")
		}
		parts = append(parts, s)
	}
	if len(parts) == 0 {
		return "at once"
	}
	return strings.Join(parts, " ")
}
