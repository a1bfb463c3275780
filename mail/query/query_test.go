package query

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"skrzynka/mail"
)

func TestFold(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"Polish", "Zażółć gęślą JAŹŃ", "Zazolc gesla JAzN"},
		{"a stroke is no accent", "żółw ŁÓDŹ", "zolw loDz"},
		{"German, Danish, French", "Straße Ærø œuvre", "Strasse aero oeuvre"},
		{"decomposed", "e\u0301te\u0301", "ete"},
		{"Cyrillic", "Ёлка Привет", "елка привет"},
		{"Greek with a final sigma", "Ὀδυσσεύς", "οδυσσευσ"},
		{"separators", "a-b_c.d@e—f “g”", "a b c d e f g"},
		{"fullwidth", "ＡＢＣ１２", "abc12"},
		{"Chinese", "电子邮件", "电子 子邮 邮件 件"},
		{"Japanese among ASCII", "RE:日本語のmail", "RE 日本 本語 語の の mail"},
		{"one character", "日 a", "日 a"},
		{"Korean", "안녕 하", "안녕 녕 하"},
		{"soft hyphen", "Donau\u00addampf", "Donaudampf"},
		{"a line of base64", "see " + strings.Repeat("QUJD", 40) + " end", "see end"},
		{"a long word that begins with letters that fold", "ż" + strings.Repeat("x", 100) + " ok", "ok"},
		{"invalid UTF-8", "a\xffb", "a b"},
		{"nothing", "…!", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Fold(c.in)
			if !strings.EqualFold(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestParse(t *testing.T) {
	now := time.Date(2026, 3, 14, 15, 0, 0, 0, time.UTC)
	day := func(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) }
	yes, no := true, false
	for _, c := range []struct {
		in    string
		want  Query
		hints int
	}{
		{in: "", want: Query{}},
		{in: "żółw ", want: Query{Match: `"zolw"`}},
		{in: "meet", want: Query{Match: `"meet" *`}},
		{in: "a", want: Query{Match: `"a"`}},
		{in: "two words", want: Query{Match: `"two" AND "words" *`}},
		{in: `"two words" x*`, want: Query{Match: `"two words" AND "x" *`}},
		{in: "from:ada@example.org ", want: Query{Match: `sender : "ada example org"`}},
		{in: `subject:"big news" -body:spam `, want: Query{Match: `subject : "big news"`, Without: `body : "spam"`}},
		{in: `-foo `, want: Query{Without: `"foo"`}},
		{in: "日本語", want: Query{Match: `"日本 本語"`}},
		{in: "日", want: Query{Match: `"日" *`}},
		{in: "is:unread -is:flagged has:attachment", want: Query{Unread: &yes, Flagged: &no, Attachment: &yes}},
		{in: "before:2026-03-01 after:2025", want: Query{Before: day(2026, 3, 1), After: day(2025, 1, 1)}},
		{in: "after:7d", want: Query{After: day(2026, 3, 7)}},
		{in: "on:2026-02", want: Query{After: day(2026, 2, 1), Before: day(2026, 3, 1)}},
		{in: `in:Sent -in:"My Junk"`, want: Query{In: []string{"Sent"}, NotIn: []string{"My Junk"}}},
		{in: "status:uncertain", want: Query{Status: []mailStatus{"uncertain"}}},
		{in: "http://example.org/x ", want: Query{Match: `"http example org x"`}, hints: 1},
		{in: "re: hello ", want: Query{Match: `"re" AND "hello"`}},
		{in: "at 12:30 ", want: Query{Match: `"at" AND "12 30"`}},
		{in: `"open`, want: Query{Match: `"open"`}, hints: 1},
		{in: "from:", want: Query{}, hints: 1},
		{in: "is:purple", want: Query{}, hints: 1},
		{in: "before:soon", want: Query{}, hints: 1},
		{in: "status:lost", want: Query{}, hints: 1},
		{in: "??", want: Query{}, hints: 1},
		{in: `AND OR NOT ( ) " *`, want: Query{Match: `"and" AND "or" AND "not"`}, hints: 4},
	} {
		t.Run(c.in, func(t *testing.T) {
			got := Parse(c.in, now)
			if !same(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
			if len(got.Hints) != c.hints {
				t.Errorf("hints %q, want %d", got.Hints, c.hints)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`from:"a b" -x* is:unread before:2026 日本`)
	f.Add("\"\x00\xff : -")
	f.Fuzz(func(t *testing.T, s string) {
		q := Parse(s, time.Unix(0, 0))
		for _, e := range []string{q.Match, q.Without} {
			if !utf8.ValidString(e) || strings.Count(e, `"`)%2 != 0 || strings.ContainsAny(e, "\x00'()") {
				t.Errorf("%q gives %q", s, e)
			}
		}
		if folded := Fold(s); strings.ContainsAny(folded, "\"\x00:*") {
			t.Errorf("%q folds to %q", s, folded)
		}
	})
}

type mailStatus = mail.DeliveryStatus

func same(a, b Query) bool {
	a.Hints, b.Hints = nil, nil
	return reflect.DeepEqual(a, b)
}
