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

// dateSearch collects the candidates of one text.
type dateSearch struct {
	dateReader
	sent       time.Time // midnight
	absent     bool      // the text speaks of an absence
	monthFirst bool      // a date of the text can only be read month first
	found      []candidate
	broken     bool // a date contradicts its weekday
}

// learnOrder looks for numeric dates that can be read one way only and takes
// the order from them, unless they disagree.
func (s *dateSearch) learnOrder() {
	day, month := false, false
	for i := range s.toks {
		a, b := s.number(i, 2), s.number(i+2, 2)
		if a < 1 || b < 1 || s.at(i+1).s != "/" || s.at(i+3).s != "/" || s.year(i+4) == 0 || s.at(i-1).s == "/" {
			continue
		}
		day = day || a > 12 && b <= 12
		month = month || b > 12 && a <= 12
	}
	if day && !month {
		s.dayFirst = true
	}
	s.monthFirst = month && !day && !s.dayFirst
}

// look reads what begins at token i: a phrase with its date, or a bare span.
func (s *dateSearch) look(i int) {
	c, end, ok := s.cueAt(i)
	if !ok {
		if s.absent {
			s.span(i, i)
		}
		s.after(i)
		return
	}
	j := s.skip(end)
	switch c.kind {
	case cueFrom:
		if s.absent && s.span(i, j) {
			return
		}
		if w, ok := s.read(j); ok && s.followedBy(w.next, backAfter) >= 0 {
			s.add(candidate{date: w, kind: cueReturn, from: i, to: w.next})
		}
		s.weekdayAlone(i, j, true)
	case cueReturn:
		if w, ok := s.read(j); ok {
			s.add(candidate{date: w, kind: cueReturn, from: i, to: w.next})
		} else {
			s.weekdayAlone(i, j, false)
		}
	default:
		if !s.absent {
			return
		}
		if w, ok := s.read(j); ok {
			kind, to := c.kind, w.next
			if k := s.followedBy(w.next, inclusiveAfter); k >= 0 && k <= w.next+1 {
				kind, to = cueUntilIncl, k+1
			}
			s.add(candidate{date: w, kind: kind, from: i, to: to})
		} else {
			s.weekdayAlone(i, j, false)
		}
	}
}

// cueAt returns the longest phrase that begins at token i.
func (s *dateSearch) cueAt(i int) (cue, int, bool) {
	var best cue
	for _, c := range cues[s.at(i).s] {
		if len(c.words) <= len(best.words) {
			continue
		}
		match := true
		for k, w := range c.words {
			if s.at(i+k).s != w {
				match = false
				break
			}
		}
		if match {
			best = c
		}
	}
	return best, i + len(best.words), best.words != nil
}

// skip passes the words that may stand between a phrase and its date.
func (s *dateSearch) skip(i int) int {
	for n := 0; n < 8; n++ {
		t := s.at(i)
		if t.kind == tokWord && weekdays[t.s] == 0 && months[t.s] == 0 && fillers[t.s] || t.kind == tokPunct && (t.s == ":" || t.s == "," || t.s == "(" && n == 0) {
			i++
			continue
		}
		break
	}
	return i
}

// followedBy returns the token of set within the next few of the same
// sentence, or -1.
func (s *dateSearch) followedBy(i int, set map[string]bool) int {
	for n := 0; n < 5; n++ {
		t := s.at(i + n)
		if t.kind == tokBreak || t.s == "." && n > 0 || t.s == "!" || t.s == ";" {
			return -1
		}
		if set[t.s] {
			return i + n
		}
	}
	return -1
}

// after reads a date that the word behind it explains: "15.8. asti".
func (s *dateSearch) after(i int) {
	if !s.absent || s.at(i-1).kind == tokPunct && s.joined(i) && s.at(i-1).s != "(" {
		return
	}
	w, ok := s.read(i)
	if !ok {
		return
	}
	if t := s.at(w.next); untilAfter[t.s] {
		s.add(candidate{date: w, kind: cueUntilIncl, from: i, to: w.next + 1})
	}
}

// span reads "16 - 29 August", "August 16-29, 2026", "od 3 do 14.08". Its end
// is the last day away.
func (s *dateSearch) span(from, i int) bool {
	first, ok := s.read(i)
	j := first.next
	if !ok {
		if t := s.at(i); t.kind == tokWord && weekdays[t.s] != 0 { // "lundi 11 - dimanche 24 août"
			i++
		}
		first.day = s.number(i, 2)
		if first.day < 1 || first.day > 31 || s.joined(i) && s.at(i-1).kind == tokPunct && s.at(i-1).s != "(" {
			return false
		}
		j = i + 1
		if s.joined(j) && (s.at(j).s == "." || s.at(j).kind == tokWord && ordinals[s.at(j).s]) {
			j++
		}
	}
	if !rangeWords[s.at(j).s] {
		return false
	}
	for n := 0; n < 4 && (rangeWords[s.at(j).s] || fillers[s.at(j).s] || s.at(j).s == ","); n++ {
		j++
	}
	last, ok2 := s.read(j)
	if !ok2 {
		day := s.number(j, 2)
		if !ok || day <= first.day || day > 31 || first.swap {
			return false
		}
		last = written{day: day, month: first.month, year: first.year, next: j + 1}
		if s.joined(last.next) && s.at(last.next).kind == tokWord && ordinals[s.at(last.next).s] {
			last.next++
		}
		s.trailingYear(&last)
		if !valid(last.day, last.month) {
			return false
		}
	}
	if first.month == 0 {
		first.month, first.year = last.month, last.year
	}
	if first.year == 0 {
		first.year = last.year
	}
	s.add(candidate{date: last, start: first, span: true, kind: cueUntilIncl, from: from, to: last.next})
	return true
}

// weekdayAlone reads "back on Monday", "back next week" and "back tomorrow",
// where the sentence ends with it: anything more could change its meaning.
func (s *dateSearch) weekdayAlone(from, i int, needBack bool) {
	t := s.at(i)
	next := t.s == "next"
	if next {
		i++
		t = s.at(i)
	}
	end := i + 1
	if needBack {
		k := s.followedBy(end, backAfter)
		if k < 0 {
			return
		}
		end = s.skip(k + 1)
	}
	if !s.sentenceEnds(end) {
		return
	}
	var day time.Time
	switch {
	case t.kind == tokWord && weekdays[t.s] != 0 && len(t.s) > 3:
		ahead := (weekdays[t.s] - 1 - int(s.sent.Weekday()) + 7) % 7
		if ahead == 0 || next {
			return // today or in a week: it cannot be told
		}
		day = s.sent.AddDate(0, 0, ahead)
	case next && t.s == "week":
		day = s.sent.AddDate(0, 0, (8-int(s.sent.Weekday()))%7)
		if !day.After(s.sent) {
			day = day.AddDate(0, 0, 7)
		}
	case tomorrowWords[t.s]:
		day = s.sent.AddDate(0, 0, 1)
	default:
		return
	}
	s.found = append(s.found, candidate{kind: cueReturn, from: from, to: end, resolved: day, confidence: ConfidenceLow})
}

func (s *dateSearch) sentenceEnds(i int) bool {
	t := s.at(i)
	return t.kind == tokBreak || t.kind == tokPunct && strings.Contains(".,;!)", t.s)
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
