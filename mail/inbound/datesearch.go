package inbound

import (
	"strings"
	"time"
)

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
