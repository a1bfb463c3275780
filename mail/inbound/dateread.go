package inbound

import (
	"strconv"
	"time"
)

// written is a date as it stands in a text.
type written struct {
	day, month, year int
	weekday          int  // 1 Sunday … 7 Saturday, 0 when none stands before it
	swap             bool // numbers parted by "/" or "-": day and month may be the other way round
	next             int  // the token after it
}

// dateReader reads dates in a list of tokens.
type dateReader struct {
	toks     []token
	dayFirst bool // the text's language writes the day first, always
}

func (d *dateReader) at(i int) token {
	if i < 0 || i >= len(d.toks) {
		return token{kind: tokBreak}
	}
	return d.toks[i]
}

// number returns the value of a numeric token of at most digits digits, or -1.
func (d *dateReader) number(i, digits int) int {
	t := d.at(i)
	if t.kind != tokNumber || len(t.s) > digits {
		return -1
	}
	n, _ := strconv.Atoi(t.s)
	return n
}

// joined reports whether token i follows its predecessor without a space.
func (d *dateReader) joined(i int) bool {
	return i > 0 && i < len(d.toks) && d.toks[i-1].end == d.toks[i].start
}

var ordinals = wordSet("st nd rd th er ère e º ª o de den -")

// dateFillers may stand between a weekday and its date.
var dateFillers = wordSet("the , den dem der le el il o dnia dne d dia the - am il la ,")

// read reads a date at token i.
func (d *dateReader) read(i int) (written, bool) {
	weekday := 0
	if t := d.at(i); t.kind == tokWord && weekdays[t.s] != 0 {
		weekday = weekdays[t.s]
		j := i + 1
		if d.at(j).s == "." {
			j++
		}
		for n := 0; n < 3 && dateFillers[d.at(j).s]; n++ {
			j++
		}
		i = j
	}
	w, ok := d.core(i)
	w.weekday = weekday
	return w, ok
}

func (d *dateReader) core(i int) (written, bool) {
	if w, ok := d.iso(i); ok {
		return w, true
	}
	if w, ok := d.numeric(i); ok {
		return w, true
	}
	if w, ok := d.dayMonth(i); ok {
		return w, true
	}
	if w, ok := d.monthDay(i); ok {
		return w, true
	}
	return d.eastAsian(i)
}

func (d *dateReader) iso(i int) (written, bool) {
	y, m, day := d.number(i, 4), d.number(i+2, 2), d.number(i+4, 2)
	if y < 2000 || y > 2099 || m < 0 || day < 0 || d.at(i+1).s != d.at(i+3).s || d.at(i+1).s != "-" && d.at(i+1).s != "/" && d.at(i+1).s != "." {
		return written{}, false
	}
	return written{day: day, month: m, year: y, next: i + 5}, valid(day, m)
}

// numeric reads 14.08.2026, 14. 8., 14/08/2026 and, where the language writes
// the day first, 14.08 and 14/08.
func (d *dateReader) numeric(i int) (written, bool) {
	a, b := d.number(i, 2), d.number(i+2, 2)
	sep := d.at(i + 1).s
	if a < 1 || b < 1 || sep != "." && sep != "/" && sep != "-" {
		return written{}, false
	}
	if sep != "." && !d.joined(i+1) {
		return written{}, false
	}
	w := written{day: a, month: b, swap: sep != ".", next: i + 3}
	if d.at(i+3).s == sep {
		if y := d.year(i + 4); y > 0 {
			w.year, w.next = y, i+5
		} else if sep != "." {
			return written{}, false
		} else {
			w.next = i + 4
		}
	} else {
		two := len(d.at(i).s) == 2 && len(d.at(i+2).s) == 2
		if !d.dayFirst || sep == "-" || sep == "." && !two || d.at(i+3).s == ":" {
			return written{}, false
		}
	}
	if sep == "." && d.at(i+3).s != "." && d.at(i+3).kind == tokNumber {
		return written{}, false
	}
	if w.swap && w.day <= 12 && w.month > 12 {
		w.day, w.month, w.swap = w.month, w.day, false
	} else if w.day > 12 || w.day == w.month || d.dayFirst {
		w.swap = false
	}
	return w, valid(w.day, w.month)
}

// year reads a year of four digits, or of two that follow a sign directly.
func (d *dateReader) year(i int) int {
	t := d.at(i)
	if t.kind != tokNumber {
		return 0
	}
	n, _ := strconv.Atoi(t.s)
	switch {
	case len(t.s) == 4 && n >= 2000 && n <= 2099:
		return n
	case len(t.s) == 2 && d.joined(i):
		return 2000 + n
	}
	return 0
}

// dayMonth reads 17 July, 17th of July 2026, 17. Juli, 5 de mayo de 2026, 12 VIII.
func (d *dateReader) dayMonth(i int) (written, bool) {
	day := d.number(i, 2)
	if day < 1 {
		return written{}, false
	}
	j := i + 1
	if d.joined(j) && (d.at(j).s == "." || d.at(j).kind == tokWord && ordinals[d.at(j).s] || d.at(j).s == "º" || d.at(j).s == "ª") {
		j++
	}
	for n := 0; n < 2 && (d.at(j).s == "of" || d.at(j).s == "de" || d.at(j).s == "di"); n++ {
		j++
	}
	t := d.at(j)
	if t.kind != tokWord {
		return written{}, false
	}
	month := months[t.s]
	if month == 0 {
		month = d.roman(j)
	}
	if month == 0 {
		return written{}, false
	}
	w := written{day: day, month: month, next: j + 1}
	d.trailingYear(&w)
	return w, valid(day, month)
}

// roman reads a month in Roman numerals where a year or the end of a phrase
// follows: a lone "i" or "x" is too often something else.
func (d *dateReader) roman(j int) int {
	m := romanMonths[d.at(j).s]
	if m == 0 || len(d.at(j).s) < 2 && d.yearAt(j+1) == 0 {
		return 0
	}
	return m
}

func (d *dateReader) yearAt(i int) int {
	if t := d.at(i); t.kind == tokNumber && len(t.s) == 4 {
		return d.year(i)
	}
	return 0
}

// trailingYear reads ", 2026", " de 2026" or " 2026" after a date.
func (d *dateReader) trailingYear(w *written) {
	j := w.next
	for n := 0; n < 2 && (d.at(j).s == "," || d.at(j).s == "." || d.at(j).s == "de" || d.at(j).s == "del"); n++ {
		j++
	}
	if y := d.yearAt(j); y > 0 {
		w.year, w.next = y, j+1
	}
}

// monthDay reads July 17, July 17th, 2026.
func (d *dateReader) monthDay(i int) (written, bool) {
	t := d.at(i)
	if t.kind != tokWord || months[t.s] == 0 {
		return written{}, false
	}
	j := i + 1
	if d.at(j).s == "." {
		j++
	}
	if d.at(j).s == "the" {
		j++
	}
	day := d.number(j, 2)
	if day < 1 {
		return written{}, false
	}
	j++
	if d.joined(j) && d.at(j).kind == tokWord && ordinals[d.at(j).s] {
		j++
	}
	if d.at(j).s == ":" || d.at(j).s == "." && d.number(j+1, 2) >= 0 && d.joined(j+1) { // a time of day
		return written{}, false
	}
	w := written{day: day, month: months[t.s], next: j}
	d.trailingYear(&w)
	return w, valid(day, w.month)
}

// eastAsian reads 2026年8月15日, 8月15日 and 8월 15일.
func (d *dateReader) eastAsian(i int) (written, bool) {
	w := written{}
	first := func(j int, marks ...string) bool {
		for _, m := range marks {
			if s := d.at(j).s; len(s) >= len(m) && s[:len(m)] == m {
				return true
			}
		}
		return false
	}
	if y := d.yearAt(i); y > 0 && first(i+1, "年", fold("년")) {
		w.year = y
		i += 2
	}
	m, day := d.number(i, 2), d.number(i+2, 2)
	if m < 1 || day < 1 || !first(i+1, "月", fold("월")) || !first(i+3, "日", "号", fold("일")) {
		return written{}, false
	}
	w.day, w.month, w.next = day, m, i+4
	return w, valid(day, m)
}

func valid(day, month int) bool {
	return month >= 1 && month <= 12 && day >= 1 && day <= time.Date(2024, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}
