package inbound

import (
	"strings"
	"time"
)

// Confidence is how sure a return date is.
type Confidence string

// The confidences: a date that a phrase of return introduces; the end of an
// absence; a weekday or "next week" alone.
const (
	ConfidenceHigh   Confidence = "high"
	ConfidenceMedium Confidence = "medium"
	ConfidenceLow    Confidence = "low"
)

// ReturnDate is the day an automatic answer says its sender is back.
type ReturnDate struct {
	Date       time.Time  `json:"date"`      // midnight in the zone the message was written in
	Inclusive  bool       `json:"inclusive"` // Date is the last day away: the sender is back on the day after
	Confidence Confidence `json:"confidence"`
	Quote      string     `json:"quote"` // the words it was read from; untrusted
}

// BackOn is the first day the sender is expected to be there.
func (d ReturnDate) BackOn() time.Time {
	if d.Inclusive {
		return d.Date.AddDate(0, 0, 1)
	}
	return d.Date
}

// returnWindow is how far ahead a return date is believed: longer absences are
// rare, and a misread month or year lands beyond it.
const returnWindow = 92 * 24 * time.Hour

// candidate is a date with what the words around it say.
type candidate struct {
	date       written
	kind       cueKind
	start      written // of a span
	span       bool
	from, to   int // tokens it was read from
	resolved   time.Time
	confidence Confidence
}

// findReturnDate reads the return date of an absence note. Words must introduce
// the date; where two readings are possible, or the note contradicts itself,
// there is none: a wrong date is worse than no date.
func findReturnDate(f *facts) *ReturnDate {
	f.readText()
	sent := f.in.Arrived
	if f.h.DateOK && (sent.IsZero() || f.h.Date.Sub(sent).Abs() < 48*time.Hour) {
		sent = f.h.Date
	}
	if sent.IsZero() {
		return nil
	}
	absent := f.saysAbsent()
	if p := f.subjectPrefix(); p != nil && p.plain {
		absent = true
	}
	return returnDateIn(f.h.Subject+"\n\n"+clip(f.authored, 6000), sent, f.language(), absent)
}

// returnDateIn finds the return date in a text written on the day of sent.
func returnDateIn(text string, sent time.Time, lang string, absent bool) *ReturnDate {
	s := &dateSearch{sent: time.Date(sent.Year(), sent.Month(), sent.Day(), 0, 0, 0, 0, sent.Location()), absent: absent}
	s.toks = tokens(text)
	s.dayFirst = lang != "" && lang != "en"
	s.learnOrder()
	for i := 0; i < len(s.toks); i++ {
		s.look(i)
	}
	best, ok := s.choose()
	if !ok {
		return nil
	}
	quote := strings.Join(strings.Fields(text[s.toks[best.from].start:s.toks[best.to-1].end]), " ")
	return &ReturnDate{Date: best.resolved, Inclusive: best.kind == cueUntilIncl, Confidence: best.confidence, Quote: quote}
}

// add resolves a candidate to a day and keeps it, if it can be one.
func (s *dateSearch) add(c candidate) {
	c.confidence = ConfidenceMedium
	if c.kind == cueReturn {
		c.confidence = ConfidenceHigh
	}
	days, doubt := s.resolve(c.date)
	if len(days) == 0 {
		return
	}
	if wd := c.date.weekday; wd != 0 && len(days) == 2 && (int(days[0].Weekday())+1 == wd) != (int(days[1].Weekday())+1 == wd) {
		if int(days[1].Weekday())+1 == wd {
			days[0] = days[1]
		}
		days = days[:1] // the weekday tells which
	}
	c.resolved = days[0]
	if len(days) > 1 || doubt {
		c.confidence = "" // two readings: another date of the note may decide
	} else if c.date.swap && !s.monthFirst {
		c.confidence = ConfidenceMedium
	}
	if c.date.weekday != 0 && len(days) == 1 && int(days[0].Weekday())+1 != c.date.weekday {
		s.broken = true
		return
	}
	if len(days) > 1 {
		other := c
		other.resolved = days[1]
		s.found = append(s.found, other)
	}
	s.found = append(s.found, c)
}

// resolve returns the days within the window a written date can mean. doubt
// says that its other reading is a day beyond the window, which a long absence
// could mean; one in the past could not.
func (s *dateSearch) resolve(w written) (days []time.Time, doubt bool) {
	keep := func(day, month int) {
		years := []int{w.year}
		if w.year == 0 {
			years = []int{s.sent.Year(), s.sent.Year() + 1}
		}
		for _, y := range years {
			d := time.Date(y, time.Month(month), day, 0, 0, 0, 0, s.sent.Location())
			if d.Day() != day || d.Before(s.sent) {
				continue
			}
			if d.Sub(s.sent) <= returnWindow {
				days = append(days, d)
			} else if d.Sub(s.sent) < 366*24*time.Hour {
				doubt = true
			}
			return
		}
	}
	switch {
	case w.swap && s.monthFirst:
		keep(w.month, w.day)
	case w.swap:
		keep(w.day, w.month)
		keep(w.month, w.day)
	default:
		keep(w.day, w.month)
	}
	return days, doubt && w.swap
}

// choose settles on one candidate: phrases of return before ends of absence,
// those before weekdays alone, and none where equals disagree.
func (s *dateSearch) choose() (candidate, bool) {
	if s.broken {
		return candidate{}, false
	}
	s.settleReadings()
	for _, level := range []Confidence{ConfidenceHigh, ConfidenceMedium, ConfidenceLow} {
		var best *candidate
		for i := range s.found {
			c := &s.found[i]
			if c.confidence != level {
				continue
			}
			switch {
			case best == nil:
				best = c
			case !best.resolved.Equal(c.resolved):
				if c.covers(s) == best.covers(s) {
					return candidate{}, false
				}
				if c.covers(s) {
					best = c
				}
			case c.kind == cueUntilIncl && best.kind != cueUntilIncl:
				best = c
			}
		}
		if best == nil {
			continue
		}
		if level == ConfidenceHigh && s.endsLater(best.resolved) {
			return candidate{}, false
		}
		return *best, true
	}
	return candidate{}, false
}

// settleReadings decides dates of two readings by a date of one reading that
// agrees with one of them.
func (s *dateSearch) settleReadings() {
	for i := range s.found {
		c := &s.found[i]
		if c.confidence != "" {
			continue
		}
		for _, other := range s.found {
			if other.confidence != "" && other.confidence != ConfidenceLow && other.resolved.Equal(c.resolved) {
				c.confidence = ConfidenceMedium
				break
			}
		}
	}
}

// covers reports whether the day of sending lies in a candidate's span.
func (c *candidate) covers(s *dateSearch) bool {
	if !c.span || c.start.swap {
		return false
	}
	y := c.start.year
	if y == 0 {
		y = c.resolved.Year()
	}
	start := time.Date(y, time.Month(c.start.month), c.start.day, 0, 0, 0, 0, s.sent.Location())
	return !start.After(s.sent)
}

// endsLater reports whether the note's absence ends after a day of return.
func (s *dateSearch) endsLater(back time.Time) bool {
	for _, c := range s.found {
		if c.confidence == ConfidenceMedium && c.kind != cueReturn && c.resolved.After(back) {
			return true
		}
	}
	return false
}
