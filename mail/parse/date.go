package parse

import (
	"strings"
	"time"
)

// Date reads the value of a Date field (RFC 5322 section 3.3 with its obsolete
// forms), and also what common programs write instead: the order of
// asctime, two-digit years, words for zones, a day without a time, ISO 8601.
// The zone is kept; an unknown or impossible one counts as UTC.
func Date(v string) (time.Time, bool) {
	if len(v) > 256 {
		v = v[:256]
	}
	if len(v) >= 10 && v[4] == '-' {
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02"} {
			if t, err := time.Parse(layout, strings.TrimSpace(v)); err == nil && t.Year() > 0 {
				return t, true
			}
		}
	}
	d := dateReader{day: -1, month: -1, year: -1, hour: -1, loc: time.UTC}
	depth := 0
	for i := 0; i < len(v); {
		c := v[i]
		switch {
		case c == '(':
			depth++
			i++
		case c == ')':
			depth = max(0, depth-1)
			i++
		case depth > 0 || c == ' ' || c == '\t' || c == ',':
			i++
		default:
			j := i + 1
			for j < len(v) && v[j] != ' ' && v[j] != '\t' && v[j] != ',' && v[j] != '(' && v[j] != ')' {
				j++
			}
			d.word(v[i:j])
			i = j
		}
	}
	return d.time()
}

type dateReader struct {
	day, month, year int
	hour, min, sec   int
	loc              *time.Location
	zone             bool
	pm, am           bool
}

const monthNames = "janfebmaraprmayjunjulaugsepoctnovdec"

func (d *dateReader) word(w string) {
	switch {
	case w[0] == '+' || w[0] == '-' && len(w) >= 3:
		if !d.zone {
			d.offset(w)
		}
	case strings.IndexByte(w, ':') > 0:
		if d.hour < 0 {
			d.clock(w)
		}
	case w[0] >= '0' && w[0] <= '9':
		d.number(w)
	default:
		d.name(w)
	}
}

func (d *dateReader) number(w string) {
	if parts := strings.Split(w, "-"); len(parts) == 3 { // 02-Jan-2006
		for _, p := range parts {
			if p != "" {
				d.word(p)
			}
		}
		return
	}
	n, rest := digits(w)
	if rest != "" && rest != "." && rest != "st" && rest != "nd" && rest != "rd" && rest != "th" {
		return
	}
	switch {
	case d.day < 0 && n >= 1 && n <= 31 && len(w) <= 4:
		d.day = n
	case d.year < 0 && len(w) <= 4:
		if len(w) == 2 {
			n += 1900
			if n < 1950 {
				n += 100
			}
		} else if len(w) == 3 {
			n += 1900
		}
		d.year = n
	}
}

func (d *dateReader) clock(w string) {
	h, rest := digits(w)
	var m, s int
	if strings.HasPrefix(rest, ":") {
		m, rest = digits(rest[1:])
	}
	if strings.HasPrefix(rest, ":") {
		s, rest = digits(rest[1:])
	}
	if h > 24 || m > 59 || s > 60 {
		return
	}
	d.hour, d.min, d.sec = h, m, s
	if i := strings.IndexAny(rest, "+-"); i >= 0 && !d.zone {
		d.offset(rest[i:])
	}
}

func (d *dateReader) offset(w string) {
	n, rest := digits(w[1:])
	h, m := n/100, n%100
	if strings.HasPrefix(rest, ":") {
		h = n
		m, _ = digits(rest[1:])
	} else if len(w) <= 3 {
		h, m = n, 0
	}
	d.zone = true
	secs := h*3600 + m*60
	if m > 59 || secs > 14*3600 {
		return
	}
	if w[0] == '-' {
		secs = -secs
	}
	d.loc = zone(secs)
}

func (d *dateReader) name(w string) {
	if len(w) < 2 || len(w) > 12 {
		return
	}
	l := strings.ToLower(strings.TrimSuffix(w, "."))
	switch l {
	case "pm":
		d.pm = true
		return
	case "am":
		d.am = true
		return
	}
	if h, ok := zoneNames[l]; ok && !d.zone {
		d.zone, d.loc = true, zone(h*3600)
		return
	}
	if (strings.HasPrefix(l, "gmt") || strings.HasPrefix(l, "utc")) && len(l) > 4 && !d.zone {
		d.offset(l[3:])
		return
	}
	if len(l) >= 3 && d.month < 0 {
		if i := strings.Index(monthNames, l[:3]); i >= 0 && i%3 == 0 {
			d.month = i/3 + 1
		}
	}
}

var zoneNames = map[string]int{"gmt": 0, "utc": 0, "ut": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6,
	"pst": -8, "pdt": -7, "cet": 1, "cest": 2, "met": 1, "mest": 2, "bst": 1, "eet": 2, "eest": 3, "msk": 3, "jst": 9, "kst": 9}

func (d *dateReader) time() (time.Time, bool) {
	if d.day < 1 || d.month < 1 || d.year < 1 || d.year > 9999 {
		return time.Time{}, false
	}
	h := max(d.hour, 0)
	if d.pm && h < 12 {
		h += 12
	} else if d.am && h == 12 {
		h = 0
	}
	t := time.Date(d.year, time.Month(d.month), d.day, h, d.min, d.sec, 0, d.loc)
	if t.Day() != d.day && h < 24 {
		return time.Time{}, false // 31 February
	}
	return t, true
}

// digits reads decimal digits; more than nine are not a number of ours.
func digits(s string) (n int, rest string) {
	i := 0
	for i < len(s) && i < 9 && s[i] >= '0' && s[i] <= '9' {
		n = n*10 + int(s[i]-'0')
		i++
	}
	return n, s[i:]
}

// zones holds the offsets in use, a quarter of an hour apart.
var zones = func() (z [2*14*4 + 1]*time.Location) {
	for i := range z {
		z[i] = time.FixedZone("", (i-14*4)*900)
	}
	return z
}()

func zone(secs int) *time.Location {
	switch {
	case secs == 0:
		return time.UTC
	case secs%900 == 0 && secs >= -14*3600 && secs <= 14*3600:
		return zones[secs/900+14*4]
	}
	return time.FixedZone("", secs)
}
