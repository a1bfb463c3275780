package store

import (
	"context"
	"fmt"
	"testing"

	"skrzynka/mail"
	"skrzynka/mail/view"
)

func fill(b testing.TB, s *Store, f mail.Folder, n int) {
	b.Helper()
	for i := 1; i <= n; i += MaxBatch {
		putLetters(b, s, f, letters(i, min(i+MaxBatch-1, n)))
	}
}

// BenchmarkHeaders stores 100 000 headers in batches of 500.
func BenchmarkHeaders(b *testing.B) {
	const n = 100_000
	for b.Loop() {
		s, _, inbox, _ := mailbox(b)
		fill(b, s, inbox, n)
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkList(b *testing.B) {
	ctx := context.Background()
	for _, n := range []int{1_000, 100_000} {
		s, _, inbox, _ := mailbox(b)
		fill(b, s, inbox, n)
		for i := int64(1); i <= 20; i++ {
			answer(b, s, int64(n)-i, fmt.Sprint("k", i))
		}
		middle := get(b, s, int64(n/2))
		at := view.Cursor{Date: ms(middle.Summary.Date), ID: middle.ID}
		for _, c := range []struct {
			name string
			q    view.ListQuery
		}{
			{"first", view.ListQuery{}}, {"middle", view.ListQuery{From: at}}, {"back", view.ListQuery{From: at, Back: true}},
			{"unified", view.ListQuery{Scope: view.Scope{Kind: mail.FolderInbox}, From: at}},
		} {
			b.Run(fmt.Sprintf("%d/%s", n, c.name), func(b *testing.B) {
				q := c.q
				q.Limit = 50
				if q.Scope.Kind == "" {
					q.Scope.FolderID = inbox.ID
				}
				for b.Loop() {
					p, err := s.ListMessages(ctx, q)
					if err != nil || len(p.Rows) != 50 {
						b.Fatal(len(p.Rows), err)
					}
				}
			})
		}
	}
}

func BenchmarkFlag(b *testing.B) {
	s, _, inbox, _ := mailbox(b)
	fill(b, s, inbox, 10_000)
	on := false
	for b.Loop() {
		on = !on
		if _, err := s.SetFlag(context.Background(), []int64{500}, mail.FlagSeen, on); err != nil {
			b.Fatal(err)
		}
	}
}
