package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/inbox"
	"skrzynka/mail/parse"
	"skrzynka/mail/view"
)

// post stores a whole message as a pass does.
func post(t testing.TB, s *Store, f mail.Folder, uid uint32, at time.Time, flags mail.Flags, raw string) int64 {
	t.Helper()
	raw = strings.ReplaceAll(raw, "\n", "\r\n")
	m := parse.Message([]byte(raw))
	sum := mail.Summary{RFCMessageID: m.MessageID, References: m.References, Subject: m.Subject, Date: at, Attachments: len(m.Attachments)}
	if len(m.InReplyTo) > 0 {
		sum.InReplyTo = m.InReplyTo[0]
	}
	if len(m.From) > 0 {
		sum.From = m.From[0]
	}
	head, _, _ := strings.Cut(raw, "\r\n\r\n")
	ids := putLetters(t, s, f, []mail.NewMessage{{UID: uid, Flags: flags, InternalDate: at, Size: int64(len(raw)), Header: []byte(head + "\r\n\r\n"),
		Summary: sum, Body: &mail.NewBody{Raw: []byte(raw), Summary: sum}}})
	if len(ids) != 1 {
		t.Fatalf("%d rows for one message", len(ids))
	}
	return ids[0]
}

func index(t testing.TB, s *Store) {
	t.Helper()
	must(t, inbox.Index(context.Background(), s, false))
}

// search returns the UIDs of the hits, in their order.
func search(t testing.TB, s *Store, sc view.Scope) (uids []uint32, hint string) {
	t.Helper()
	p := must1(s.ListMessages(context.Background(), view.ListQuery{Scope: sc}))(t)
	for _, r := range p.Rows {
		uids = append(uids, r.UID)
	}
	return uids, p.Hint.String()
}

func TestSearch(t *testing.T) {
	s, _, in, archive := mailbox(t)
	at := func(d int) time.Time { return day.AddDate(0, 0, d) }
	post(t, s, in, 1, at(1), mail.Flags{Seen: true}, "From: Zoë Łukasz <zoe@example.org>\nTo: Ada <ada@example.org>\nSubject: Żółw przyszedł\n\nSlow turtles come home.\n")
	post(t, s, in, 2, at(2), mail.Flags{Flagged: true}, "From: Bob <bob@other.example>\nTo: ada@example.org\nSubject: Lunch on Monday\n\nShall we eat turtle soup? The quick brown fox.\n")
	post(t, s, in, 3, at(3), mail.Flags{Seen: true}, "From: 田中 <tanaka@example.jp>\nSubject: =?UTF-8?B?5pel5pys6Kqe44Gu5Lu25ZCN?=\nContent-Type: text/plain; charset=utf-8\n\n会議は明日です。\n")
	post(t, s, in, 4, at(4), mail.Flags{}, "From: Bob <bob@other.example>\nSubject: Report\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nbrown quick fox\n--b\nContent-Type: application/pdf\nContent-Disposition: attachment; filename=\"Umsätze 2026.pdf\"\n\nxx\n--b--\n")
	both := "From: carol@example.net\nSubject: In two places\n\nduplicate\n"
	post(t, s, archive, 5, at(5), mail.Flags{Seen: true}, both)
	post(t, s, in, 6, at(5), mail.Flags{Seen: true}, both)
	a := answer(t, s, 2, "k")
	settle(t, s, a.ID, mail.Settled{Status: mail.StatusUncertain})
	index(t, s)

	for _, c := range []struct {
		query string
		want  []uint32
		hint  bool
	}{
		{"turtle", []uint32{2, 1}, false},
		{"turtle ", []uint32{2}, false},
		{"TURTLES ", []uint32{1}, false},
		{"zolw ", []uint32{1}, false},
		{"ŻÓŁW ", []uint32{1}, false},
		{"from:lukasz ", []uint32{1}, false},
		{"from:zoe@example.org ", []uint32{1}, false},
		{"from:bob ", []uint32{4, 2}, false},
		{"to:ada ", []uint32{2, 1}, false},
		{"subject:lunch ", []uint32{2}, false},
		{"subject:turtle ", nil, false},
		{`"quick brown" `, []uint32{2}, false},
		{"quick brown ", []uint32{4, 2}, false},
		{"fox -soup ", []uint32{4}, false},
		{"-fox in:inbox", []uint32{6, 3, 1}, false},
		{"日本", []uint32{3}, false},
		{"日本語", []uint32{3}, false},
		{"語", []uint32{3}, false},
		{"明日", []uint32{3}, false},
		{"本日", nil, false},
		{"umsatze", []uint32{4}, false},
		{"file:pdf ", []uint32{4}, false},
		{"has:attachment", []uint32{4}, false},
		{"is:unread", []uint32{4, 2}, false},
		{"is:flagged", []uint32{2}, false},
		{"fox is:unread -is:flagged", []uint32{4}, false},
		{"before:2026-01-03 ", []uint32{1}, false},
		{"after:2026-01-05 in:inbox", []uint32{6, 4}, false},
		{"fox after:2026-01-04 ", []uint32{4}, false},
		{"fox before:2026-01-04 ", []uint32{2}, false},
		{"duplicate", []uint32{6}, false},
		{"duplicate in:archive", []uint32{5}, false},
		{"status:uncertain", []uint32{2}, false},
		{"bob -status:uncertain", []uint32{4}, false},
		{"in:nowhere fox", nil, true},
		{`"quick brown`, []uint32{2}, true},
		{"is:purple fox ", []uint32{4, 2}, true},
		{"from:", nil, true},
		{"* ( ^ NEAR", nil, true},
		{`'; DROP TABLE message; --`, nil, true},
	} {
		t.Run(c.query, func(t *testing.T) {
			got, hint := search(t, s, view.Scope{Query: c.query})
			if !slices.Equal(got, c.want) {
				t.Errorf("found %v, want %v", got, c.want)
			}
			if c.hint != (hint != "") && c.hint {
				t.Errorf("no hint")
			}
		})
	}
	if got, _ := search(t, s, view.Scope{FolderID: archive.ID, Query: "duplicate"}); !slices.Equal(got, []uint32{5}) {
		t.Errorf("in one folder: %v", got)
	}
	if got, _ := search(t, s, view.Scope{Account: "nobody", Query: "duplicate"}); got != nil {
		t.Errorf("in another account: %v", got)
	}

	t.Run("what is gone is found no more", func(t *testing.T) {
		must1(s.Vanish(context.Background(), in.ID, 1, []uint32{4, 6}))(t)
		if got, _ := search(t, s, view.Scope{Query: "fox "}); !slices.Equal(got, []uint32{2}) {
			t.Errorf("found %v", got)
		}
		if got, _ := search(t, s, view.Scope{Query: "duplicate"}); !slices.Equal(got, []uint32{5}) {
			t.Errorf("of the two places one is left: %v", got)
		}
		if n := scalar[int](t, s, `SELECT count(*) FROM search WHERE search MATCH 'report'`); n != 0 {
			t.Error("the index still has the body that was deleted")
		}
	})
}

// Pages of a search join without a gap or a repeat, in both directions.
func TestSearchPages(t *testing.T) {
	s, _, in, _ := mailbox(t)
	const n = 90
	for i := 1; i <= n; i++ { // many in one minute, more than a minute has ids for
		post(t, s, in, uint32(i), day.Add(time.Duration(i/80)*time.Minute), mail.Flags{}, fmt.Sprintf("Subject: s%d\n\nword %d\n", i, i))
	}
	index(t, s)
	for _, query := range []string{"word ", "is:unread"} {
		q := view.ListQuery{Scope: view.Scope{Query: query}, Limit: 7}
		var down, up []int64
		for {
			p := must1(s.ListMessages(context.Background(), q))(t)
			for _, r := range p.Rows {
				down = append(down, r.ID)
			}
			if len(p.Rows) < q.Limit {
				break
			}
			q.From = p.Rows[len(p.Rows)-1].Cursor
		}
		q.From, q.Back = view.Cursor{}, true
		for {
			p := must1(s.ListMessages(context.Background(), q))(t)
			for _, r := range slices.Backward(p.Rows) {
				up = append(up, r.ID)
			}
			if len(p.Rows) < q.Limit {
				break
			}
			q.From = p.Rows[0].Cursor
		}
		slices.Reverse(up)
		if !slices.Equal(down, up) || len(down) != n {
			t.Errorf("%s: %d down, %d up\n%v\n%v", query, len(down), len(up), down, up)
		}
	}
}
