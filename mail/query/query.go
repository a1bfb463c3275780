package query

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"skrzynka/mail"
)

// Query is a search, taken apart.
type Query struct {
	// Match is an FTS5 expression over the columns subject, sender, recipients,
	// body and files, "" when nothing has to be matched. All words in it are quoted.
	Match string
	// Without is an FTS5 expression of what must not match, "" for nothing.
	Without                                      string
	Unread, Flagged, Answered, Attachment, Draft *bool
	Before, After                                time.Time // After is included, Before is not; zero: no bound
	In, NotIn                                    []string  // folders by name or kind
	Status, NotStatus                            []mail.DeliveryStatus
	Hints                                        []string // plain sentences: what was left out, and how to write it
}

// Filters reports whether anything but words was asked for.
func (q *Query) Filters() bool {
	return q.Unread != nil || q.Flagged != nil || q.Answered != nil || q.Attachment != nil || q.Draft != nil || !q.Before.IsZero() ||
		!q.After.IsZero() || len(q.In)+len(q.NotIn)+len(q.Status)+len(q.NotStatus) > 0
}

// Empty reports whether nothing was asked for.
func (q *Query) Empty() bool { return q.Match == "" && q.Without == "" && !q.Filters() }

// Words are the folded words that can be found in the text of a match, for
// showing the place: those asked for anywhere, or in the body. A word that ends with "*" stands for all that begin so.
func (q *Query) Words() []string {
	var out []string
	for rest := q.Match; ; {
		i := strings.IndexByte(rest, '"')
		if i < 0 {
			return out
		}
		rest = rest[i+1:]
		j := strings.IndexByte(rest, '"')
		if j < 0 {
			return out
		}
		w := rest[:j]
		before := q.Match[:len(q.Match)-len(rest)-1]
		rest = rest[j+1:]
		if strings.HasSuffix(before, " : ") && !strings.HasSuffix(before, "body : ") {
			continue
		}
		if strings.HasPrefix(rest, " *") {
			w += "*"
		}
		out = append(out, w)
	}
}

// columns maps what is written before a colon to columns of the index.
var columns = map[string]string{"subject": "subject", "from": "sender", "to": "recipients", "cc": "recipients", "body": "body", "file": "files", "filename": "files"}

var known = map[string]bool{"subject": true, "from": true, "to": true, "cc": true, "body": true, "file": true, "filename": true, "is": true, "has": true,
	"before": true, "after": true, "since": true, "until": true, "on": true, "date": true, "in": true, "folder": true, "status": true}

const keys = "from: to: subject: body: file: is: has: before: after: in: status:"

// Parse reads a query: words, "phrases", fields (from:ada, subject:"two
// words"), is:unread, is:flagged, is:answered, is:draft, has:attachment,
// before: and after: a date, in: a folder, status: an answer's state; a minus
// in front turns each around. The last word stands for all that begin like it,
// as does one that ends with "*". now and its zone are what dates are read
// against. Nothing is an error: what cannot be understood is left out, with a hint.
func Parse(s string, now time.Time) Query {
	p := parser{now: now}
	list := split(s)
	for i, t := range list {
		p.term(t, i == len(list)-1 && !strings.HasSuffix(s, " "))
	}
	p.q.Match = strings.Join(p.match, " AND ")
	p.q.Without = strings.Join(p.without, " OR ")
	return p.q
}

type parser struct {
	q              Query
	now            time.Time
	match, without []string
}

// token is one word of the query.
type token struct {
	not    bool
	key    string // in lower case, "" for none
	value  string
	quoted bool
	open   bool // a quotation mark without its other half
}

// split cuts a query at its spaces, keeping quoted text together.
func split(s string) (out []token) {
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimLeft(s, " \t\n\u3000") {
		var t token
		if len(s) > 1 && s[0] == '-' && s[1] != ' ' {
			t.not, s = true, s[1:]
		}
		if i := strings.IndexAny(s, ": \"\t"); i > 0 && s[i] == ':' && letters(s[:i]) {
			t.key, s = strings.ToLower(s[:i]), s[i+1:]
		}
		if strings.HasPrefix(s, `"`) {
			t.quoted = true
			end := strings.IndexByte(s[1:], '"')
			if end < 0 {
				t.value, t.open, s = s[1:], true, ""
			} else {
				t.value, s = s[1:end+1], s[end+2:]
			}
		} else {
			end := strings.IndexAny(s, " \t\n\u3000")
			if end < 0 {
				end = len(s)
			}
			t.value, s = s[:end], s[end:]
		}
		out = append(out, t)
	}
	return out
}

func letters(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return s != ""
}

func (p *parser) hint(format string, args ...any) {
	p.q.Hints = append(p.q.Hints, fmt.Sprintf(format, args...))
}

func (p *parser) term(t token, last bool) {
	if t.open {
		p.hint("A quotation mark has no other half.")
	}
	if t.key != "" && strings.TrimSpace(t.value) == "" {
		if !known[t.key] { // "re:"
			p.words("", t.key, t, false)
			return
		}
		p.hint("%s: needs something after it.", t.key)
		return
	}
	if column, ok := columns[t.key]; ok {
		p.words(column, t.value, t, last)
		return
	}
	switch t.key {
	case "":
		p.words("", t.value, t, last)
	case "is":
		p.is(t)
	case "has":
		p.has(t)
	case "before", "after", "since", "until", "on", "date":
		p.date(t)
	case "in", "folder":
		if t.not {
			p.q.NotIn = append(p.q.NotIn, t.value)
		} else {
			p.q.In = append(p.q.In, t.value)
		}
	case "status":
		st, err := mail.ParseDeliveryStatus(strings.ToLower(t.value))
		switch {
		case err != nil:
			p.hint("status: takes pending, sending, sent, failed or uncertain.")
		case t.not:
			p.q.NotStatus = append(p.q.NotStatus, st)
		default:
			p.q.Status = append(p.q.Status, st)
		}
	default:
		// An address, a URL or a time of day: words like any other.
		p.hint("There is no %s: to search by; it is looked for as a word. There is: %s", t.key, keys)
		p.words("", t.key+" "+t.value, token{not: t.not, quoted: true, value: t.value}, last)
	}
}

// words adds words that must, or must not, occur side by side in a column.
func (p *parser) words(column, value string, t token, last bool) {
	star := !t.quoted && strings.HasSuffix(value, "*")
	folded := strings.ToLower(Fold(value))
	if folded == "" {
		if strings.Trim(value, `"*-`) != "" {
			p.hint("Nothing in “%s” can be searched for.", clip(value))
		}
		return
	}
	term := `"` + folded + `"`
	words := strings.Fields(folded)
	end := words[len(words)-1]
	r, n := utf8.DecodeRuneInString(end)
	single := n == len(end) && ideograph(r)
	if single && len(words) > 1 {
		// A run of ideographs ends with its last one alone; the pairs before it
		// find it inside longer runs, too.
		term, single = `"`+strings.Join(words[:len(words)-1], " ")+`"`, false
	} else if star || single || last && !t.quoted && utf8.RuneCountInString(end) > 1 && !ideograph(r) {
		term += " *"
	}
	if column != "" {
		term = column + " : " + term
	}
	if t.not {
		p.without = append(p.without, term)
	} else {
		p.match = append(p.match, term)
	}
}

func (p *parser) is(t token) {
	on := !t.not
	off := !on
	switch strings.ToLower(t.value) {
	case "unread", "unseen", "new":
		p.q.Unread = &on
	case "read", "seen":
		p.q.Unread = &off
	case "flagged", "starred":
		p.q.Flagged = &on
	case "unflagged":
		p.q.Flagged = &off
	case "answered", "replied":
		p.q.Answered = &on
	case "unanswered":
		p.q.Answered = &off
	case "draft":
		p.q.Draft = &on
	default:
		p.hint("is: takes unread, read, flagged, answered or draft.")
	}
}

func (p *parser) has(t token) {
	on := !t.not
	switch strings.ToLower(t.value) {
	case "attachment", "attachments", "file", "files":
		p.q.Attachment = &on
	default:
		p.hint("has: takes attachment.")
	}
}

func (p *parser) date(t token) {
	from, to, ok := p.span(strings.ToLower(t.value))
	if !ok {
		p.hint("%s: takes a date such as 2026, 2026-03, 2026-03-14, today, yesterday, 7d, 2w, 6m or 1y.", t.key)
		return
	}
	switch key := t.key; {
	case key == "on" || key == "date":
		if t.not {
			p.hint("-%s: is not there; use before: or after:.", key)
			return
		}
		p.q.After, p.q.Before = from, to
	case key == "before" && !t.not, (key == "after" || key == "since") && t.not:
		p.q.Before = from
	case key == "until" && !t.not:
		p.q.Before = to
	case key == "until":
		p.q.After = to
	default:
		p.q.After = from
	}
}

// span is the time a date stands for: [from, to).
func (p *parser) span(s string) (from, to time.Time, ok bool) {
	day := time.Date(p.now.Year(), p.now.Month(), p.now.Day(), 0, 0, 0, 0, p.now.Location())
	switch s {
	case "today":
		return day, day.AddDate(0, 0, 1), true
	case "yesterday":
		return day.AddDate(0, 0, -1), day, true
	}
	for _, f := range []struct {
		layout  string
		y, m, d int
	}{{"2006-01-02", 0, 0, 1}, {"2006-1-2", 0, 0, 1}, {"2006-01", 0, 1, 0}, {"2006", 1, 0, 0}} {
		if t, err := time.ParseInLocation(f.layout, s, p.now.Location()); err == nil && t.Year() > 1900 {
			return t, t.AddDate(f.y, f.m, f.d), true
		}
	}
	var n int
	var unit string
	if k, err := fmt.Sscanf(s, "%d%1s", &n, &unit); err != nil || k != 2 || n < 0 || n > 10000 || len(s) != len(fmt.Sprint(n))+1 {
		return from, to, false
	}
	switch unit {
	case "d":
		from = day.AddDate(0, 0, -n)
	case "w":
		from = day.AddDate(0, 0, -7*n)
	case "m":
		from = day.AddDate(0, -n, 0)
	case "y":
		from = day.AddDate(-n, 0, 0)
	default:
		return from, to, false
	}
	return from, from.AddDate(0, 0, 1), true
}

func clip(s string) string {
	if utf8.RuneCountInString(s) > 40 {
		return string([]rune(s)[:40]) + "…"
	}
	return s
}
