package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/view"
)

// part is one message of a thread test.
type part struct {
	id, subject string
	refs        string // References; the last one is In-Reply-To too
	reply       string // In-Reply-To alone
	day         int
}

// threadsOf stores parts in an order and returns which belong together, as
// "a+b c".
func threadsOf(t testing.TB, parts []part, order []int) string {
	t.Helper()
	ctx := context.Background()
	s, _, in, _ := mailbox(t)
	for n, i := range order {
		p := parts[i]
		m := letter(i, uint32(i+1))
		m.Summary = mail.Summary{Subject: p.subject, InReplyTo: p.reply, References: strings.Fields(p.refs), Date: day.AddDate(0, 0, p.day).Add(time.Duration(i) * time.Minute)}
		if p.id != "" {
			m.Summary.RFCMessageID = "<" + p.id + ">"
		}
		putLetters(t, s, in, []mail.NewMessage{m})
		if n%2 == 0 { // some at once, some one by one
			must1(s.PutThreads(ctx, 10))(t)
		}
	}
	must1(s.PutThreads(ctx, 1000))(t)
	groups := map[int64][]string{}
	rows := must1(all(ctx, s.r, func(r scanner) ([2]int64, error) {
		var v [2]int64
		return v, r.Scan(&v[0], &v[1])
	}, `/* test */ SELECT uid, thread_id FROM message ORDER BY uid`))(t)
	for _, v := range rows {
		groups[v[1]] = append(groups[v[1]], string(rune('a'+v[0]-1)))
	}
	var out []string
	for _, g := range groups {
		out = append(out, strings.Join(g, "+"))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestThreads(t *testing.T) {
	for _, c := range []struct {
		name  string
		parts []part
		want  string
	}{
		{"references", []part{{id: "1"}, {id: "2", refs: "<1>"}, {id: "3", refs: "<1> <2>"}, {id: "4"}}, "a+b+c d"},
		{"In-Reply-To alone", []part{{id: "1"}, {id: "2", reply: "<1>"}}, "a+b"},
		{"a missing parent", []part{{id: "2", refs: "<1>"}, {id: "3", refs: "<1>"}}, "a+b"},
		{"a cycle", []part{{id: "1", refs: "<2>"}, {id: "2", refs: "<1>"}}, "a+b"},
		{"names itself", []part{{id: "1", refs: "<1>"}, {id: "2"}}, "a b"},
		{"the same id twice", []part{{id: "1"}, {id: "1"}}, "a+b"},
		{"no id", []part{{}, {}}, "a b"},
		{"two become one", []part{{id: "1"}, {id: "2"}, {id: "3", refs: "<1> <2>"}}, "a+b+c"},
		{"subject of an answer without references", []part{{id: "1", subject: "The quarterly plan"}, {id: "2", subject: "Re: The quarterly plan", day: 3}}, "a+b"},
		{"localized prefix", []part{{id: "1", subject: "The quarterly plan"}, {id: "2", subject: "AW: Odp: the quarterly PLAN", day: 3}}, "a+b"},
		{"the same subject twice is no answer", []part{{id: "1", subject: "Weekly report"}, {id: "2", subject: "Weekly report", day: 7}}, "a b"},
		{"too long ago", []part{{id: "1", subject: "The quarterly plan"}, {id: "2", subject: "Re: The quarterly plan", day: 60}}, "a b"},
		{"too short", []part{{id: "1", subject: "Hi"}, {id: "2", subject: "Re: Hi"}}, "a b"},
		{"an answer to the last of a subject", []part{{id: "1", subject: "Weekly report"}, {id: "2", subject: "Weekly report", day: 7}, {id: "3", subject: "Re: Weekly report", day: 8}}, "a b+c"},
		{"references win over the subject", []part{{id: "1", subject: "The quarterly plan"}, {id: "2", subject: "Re: The quarterly plan", refs: "<9>"}}, "a b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			forward, back := []int{}, []int{}
			for i := range c.parts {
				forward = append(forward, i)
			}
			back = append(back, forward...)
			slices.Reverse(back)
			for _, order := range [][]int{forward, back}[:min(len(c.parts), 2)] {
				if got := threadsOf(t, c.parts, order); got != c.want {
					t.Errorf("in the order %v: %s, want %s", order, got, c.want)
				}
			}
		})
	}
}

func TestThreadList(t *testing.T) {
	ctx := context.Background()
	s, _, in, archive := mailbox(t)
	put := func(f mail.Folder, uid uint32, n int, refs string, seen bool) int64 {
		m := letter(n, uid)
		m.Summary.References, m.Flags.Seen = strings.Fields(refs), seen
		return putLetters(t, s, f, []mail.NewMessage{m})[0]
	}
	put(in, 1, 1, "", true)
	put(in, 2, 2, "", true)
	put(archive, 1, 3, "<m1@example.org>", true)
	last := put(in, 3, 4, "<m1@example.org> <m3@example.org>", false)
	put(in, 4, 5, "", true)
	must1(s.PutThreads(ctx, 100))(t)

	p := must1(s.ListMessages(ctx, view.ListQuery{Scope: view.Scope{FolderID: in.ID, Threads: true}}))(t)
	var got []string
	for _, r := range p.Rows {
		got = append(got, fmt.Sprintf("%s×%d unread %v", r.Subject, r.Thread, r.Unread))
	}
	want := []string{"Letter 5×1 unread false", "Letter 4×3 unread true", "Letter 2×1 unread false"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	p = must1(s.ListMessages(ctx, view.ListQuery{Scope: view.Scope{FolderID: in.ID, Threads: true}, From: p.Rows[0].Cursor, Limit: 1}))(t)
	if len(p.Rows) != 1 || p.Rows[0].ID != last {
		t.Errorf("the second page: %+v", p.Rows)
	}
	p = must1(s.ListMessages(ctx, view.ListQuery{Scope: view.Scope{Thread: last}}))(t)
	got = nil
	for _, r := range p.Rows {
		got = append(got, fmt.Sprintf("%s depth %d in %s", r.Subject, r.Depth, r.Folder))
	}
	want = []string{"Letter 4 depth 2 in INBOX", "Letter 3 depth 1 in Archive", "Letter 1 depth 0 in INBOX"}
	if !slices.Equal(got, want) {
		t.Errorf("the conversation: %q\nwant %q", got, want)
	}
}

// A conversation of 5,000 messages that come in any order is one, and neither
// putting it together nor listing it takes long.
func TestLongThread(t *testing.T) {
	ctx := context.Background()
	s, _, in, _ := mailbox(t)
	const n = 5000
	list := make([]mail.NewMessage, n)
	for i := range list {
		list[i] = letter(i, uint32(i+1))
		if i > 0 {
			list[i].Summary.InReplyTo = fmt.Sprintf("<m%d@example.org>", i-1)
		}
	}
	rand.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	for batch := range slices.Chunk(list, MaxBatch) {
		putLetters(t, s, in, batch)
	}
	for must1(s.PutThreads(ctx, 500))(t) > 0 {
	}
	if got := scalar[int](t, s, `SELECT count(DISTINCT thread_id) FROM message`); got != 1 {
		t.Errorf("%d conversations, want 1", got)
	}
	start := time.Now()
	p := must1(s.ListMessages(ctx, view.ListQuery{Scope: view.Scope{FolderID: in.ID, Threads: true}}))(t)
	if len(p.Rows) != 1 || p.Rows[0].Thread != n {
		t.Errorf("%d rows, of %d messages", len(p.Rows), p.Rows[0].Thread)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("listing took %v", took)
	}
}
