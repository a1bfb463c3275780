package store

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/delivery"
	"skrzynka/mail/view"
)

// TestKeyTable has one row for each row of the key table.
func TestKeyTable(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name     string
		end      *mail.Settled // how the first attempt ended; nil: it is pending
		expire   bool
		body     string // of the second call; the first one's is "one"
		replayed bool
		code     mail.Code
	}{
		{name: "same key, same payload, pending: the existing attempt", body: "one", replayed: true},
		{name: "same key, same payload, sent: the existing attempt", end: &mail.Settled{Status: mail.StatusSent}, body: "one", replayed: true},
		{name: "same key, same payload, uncertain: the existing attempt", end: &mail.Settled{Status: mail.StatusUncertain}, body: "one", replayed: true},
		{name: "same key, same payload, failed and retained: the existing attempt", end: &mail.Settled{Status: mail.StatusFailed}, body: "one", replayed: true},
		{name: "same key, other payload: refused", body: "two", code: mail.CodeKeyReused},
		{name: "released key, same payload: a new attempt", end: &mail.Settled{Status: mail.StatusFailed, ReleaseKey: true}, body: "one"},
		{name: "released key, other payload: refused", end: &mail.Settled{Status: mail.StatusFailed, ReleaseKey: true}, body: "two", code: mail.CodeKeyReused},
		{name: "release asked for a sent attempt: retained", end: &mail.Settled{Status: mail.StatusSent, ReleaseKey: true}, body: "one", replayed: true},
		{name: "record expired: a new attempt", end: &mail.Settled{Status: mail.StatusSent}, expire: true, body: "one"},
		{name: "record expired, other payload: a new attempt", end: &mail.Settled{Status: mail.StatusSent}, expire: true, body: "two"},
		{name: "undecided uncertain record does not expire", end: &mail.Settled{Status: mail.StatusUncertain}, expire: true, body: "one", replayed: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, clk := open(t)
			first := openAttempt(t, s, outbound("key", "one"))
			if c.end != nil {
				settle(t, s, first.ID, *c.end)
			}
			clk.add(time.Hour)
			if c.expire {
				must1(s.ExpireRecords(ctx, clk.Now()))(t)
			}
			got, replayed, err := s.OpenAttempt(ctx, outbound("key", c.body), 0)
			if c.code != "" {
				wantCode(t, err, c.code)
				return
			}
			must(t, err)
			if replayed != c.replayed || (got.ID == first.ID) != c.replayed {
				t.Fatalf("replayed = %v, same attempt = %v; want %v", replayed, got.ID == first.ID, c.replayed)
			}
			wantParent := ""
			if !c.replayed && !c.expire {
				wantParent = first.ID
			}
			if !c.replayed && (got.RetryOf != wantParent || got.Status != mail.StatusPending) {
				t.Errorf("the new attempt is %s, retry_of %q; want pending, %q", got.Status, got.RetryOf, wantParent)
			}
		})
	}
}

func TestReleasedKeyAfterARetryUnderAnotherKey(t *testing.T) {
	s, clk := open(t)
	a := openAttempt(t, s, outbound("1", "b"))
	settle(t, s, a.ID, mail.Settled{Status: mail.StatusFailed, ReleaseKey: true})
	clk.add(time.Second)
	again := outbound("2", "b")
	again.RetryOf = a.ID
	openAttempt(t, s, again)
	if c := openAttempt(t, s, outbound("1", "b")); c.RetryOf != "" {
		t.Errorf("a lineage forks: %q", c.RetryOf)
	}
}

func TestReplyKeyIsNeverReleased(t *testing.T) {
	s, clk := open(t)
	ctx := context.Background()
	m := addMessage(t, s, "<q@example.org>")
	a := outbound("key", "answer")
	a.Kind, a.MessageID = mail.KindReply, m
	first := openAttempt(t, s, a)
	settle(t, s, first.ID, mail.Settled{Status: mail.StatusFailed, ReleaseKey: true})
	clk.add(time.Hour)
	if n := must1(s.ExpireRecords(ctx, clk.Now()))(t); n != 0 {
		t.Errorf("%d reply records expired", n)
	}
	got, replayed, err := s.OpenAttempt(ctx, a, 0)
	must(t, err)
	if !replayed || got.ID != first.ID || got.KeyReleased {
		t.Errorf("a failed reply's key made attempt %s (replayed %v, released %v), want %s", got.ID, replayed, got.KeyReleased, first.ID)
	}
}

func TestTwoProcessesRaceOneKey(t *testing.T) {
	const n = 8
	dir := t.TempDir()
	ctx := context.Background()
	stores := make([]*Store, n)
	for i := range stores {
		stores[i] = openAt(t, dir, mail.SystemClock{})
	}
	must(t, stores[0].SyncAccounts(ctx, []mail.Account{{Name: "me", Email: "me@example.org"}}))
	var wg sync.WaitGroup
	ids, replays, errs := make([]string, n), make([]bool, n), make([]error, n)
	start := make(chan struct{})
	for i, s := range stores {
		wg.Go(func() {
			<-start
			a, r, err := s.OpenAttempt(ctx, outbound("one key", "text"), 0)
			ids[i], replays[i], errs[i] = a.ID, r, err
		})
	}
	close(start)
	wg.Wait()
	fresh := 0
	for i := range n {
		must(t, errs[i])
		if !replays[i] {
			fresh++
		}
		if ids[i] != ids[0] {
			t.Errorf("caller %d got attempt %s, caller 0 got %s", i, ids[i], ids[0])
		}
	}
	if rows := scalar[int](t, stores[0], `SELECT count(*) FROM attempt`); fresh != 1 || rows != 1 {
		t.Errorf("%d callers inserted, %d rows; want 1 and 1", fresh, rows)
	}
}

func TestOpenAndConcurrentOpen(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			s, err := Open(context.Background(), dir, Options{})
			if err == nil {
				if s.Restored() {
					err = mail.Errorf(mail.CodeInternal, "", "a fresh database reads as restored")
				}
				_ = s.Close()
			}
			errs[i] = err
		})
	}
	wg.Wait()
	for _, err := range errs {
		must(t, err)
	}
}

func TestMovesComparedAndSet(t *testing.T) {
	ctx := context.Background()
	ended := map[string]mail.Settled{
		"sent": {Status: mail.StatusSent, SentAt: time.Unix(1, 0)}, "failed": {Status: mail.StatusFailed}, "uncertain": {Status: mail.StatusUncertain},
	}
	for _, c := range []struct {
		name string
		do   func(s *Store, id string) error
		ok   map[mail.DeliveryStatus]bool
	}{
		{"claim", func(s *Store, id string) error { return s.ClaimAttempt(ctx, id, s.Owner()) }, map[mail.DeliveryStatus]bool{mail.StatusPending: true}},
		{"claim of another's", func(s *Store, id string) error { return s.ClaimAttempt(ctx, id, mail.NewID()) }, nil},
		{"handover", func(s *Store, id string) error { return s.MarkHandover(ctx, id, s.Owner(), mail.Evidence{}) }, map[mail.DeliveryStatus]bool{mail.StatusSending: true}},
		{"handover of another's", func(s *Store, id string) error { return s.MarkHandover(ctx, id, mail.NewID(), mail.Evidence{}) }, nil},
		{"settle", func(s *Store, id string) error {
			return s.SettleAttempt(ctx, id, s.Owner(), mail.Settled{Status: mail.StatusFailed})
		}, map[mail.DeliveryStatus]bool{mail.StatusSending: true}},
		{"settle of another's", func(s *Store, id string) error {
			return s.SettleAttempt(ctx, id, mail.NewID(), mail.Settled{Status: mail.StatusFailed})
		}, nil},
		{"resolve", func(s *Store, id string) error { return s.ResolveAttempt(ctx, id, mail.ResolutionSent) }, map[mail.DeliveryStatus]bool{mail.StatusUncertain: true}},
		{"hold", func(s *Store, id string) error { return s.HoldAttempt(ctx, id, "asked") }, map[mail.DeliveryStatus]bool{mail.StatusPending: true}},
		{"let go without hold", func(s *Store, id string) error { return s.ReleaseHold(ctx, id, s.Owner()) }, nil},
		{"finding", func(s *Store, id string) error { return s.AddFinding(ctx, id, "seen in Sent", true) },
			map[mail.DeliveryStatus]bool{mail.StatusSent: true, mail.StatusFailed: true, mail.StatusUncertain: true}},
		{"copy begun", func(s *Store, id string) error { return s.CopyBegun(ctx, id, s.Owner(), "Sent", 1, 2) }, map[mail.DeliveryStatus]bool{mail.StatusSent: true}},
		{"copy settled", func(s *Store, id string) error {
			return s.CopySettled(ctx, id, s.Owner(), mail.CopySettled{Status: mail.CopySkipped})
		}, map[mail.DeliveryStatus]bool{mail.StatusSent: true}},
	} {
		for _, status := range mail.AllDeliveryStatuses() {
			t.Run(c.name+"/"+string(status), func(t *testing.T) {
				s, _ := open(t)
				a := openAttempt(t, s, outbound("k", "b"))
				if status != mail.StatusPending {
					must(t, s.ClaimAttempt(ctx, a.ID, s.Owner()))
				}
				if st, ok := ended[string(status)]; ok {
					must(t, s.SettleAttempt(ctx, a.ID, s.Owner(), st))
				}
				err := c.do(s, a.ID)
				if c.ok[status] {
					must(t, err)
					// The same move again finds another state, a finding excepted.
					if c.name != "finding" && c.name != "copy settled" {
						wantCode(t, c.do(s, a.ID), mail.CodeConflict)
					}
					return
				}
				wantCode(t, err, mail.CodeConflict)
				if got := must1(s.Attempt(ctx, a.ID))(t); got.Status != status {
					t.Errorf("a refused move left %s, was %s", got.Status, status)
				}
			})
		}
	}
}

func TestMovesOfNothing(t *testing.T) {
	s, _ := open(t)
	wantCode(t, s.ClaimAttempt(context.Background(), mail.NewID(), s.Owner()), mail.CodeNotFound)
	_, err := s.Chain(context.Background(), mail.NewID())
	wantCode(t, err, mail.CodeNotFound)
}

func TestMovesMatchSchema(t *testing.T) {
	s, _ := open(t)
	for _, from := range mail.AllDeliveryStatuses() {
		for _, to := range mail.AllDeliveryStatuses() {
			a := openAttempt(t, s, outbound(mail.NewID(), "b"))
			path := []mail.DeliveryStatus{}
			if from != mail.StatusPending {
				path = append(path, mail.StatusSending)
			}
			if from.Terminal() {
				path = append(path, from)
			}
			set := func(st mail.DeliveryStatus) error {
				var sent any
				if st == mail.StatusSent {
					sent = 1
				}
				_, err := s.w.Exec("/* test */ "+`UPDATE attempt SET status = ?, sent_at = ? WHERE id = ?`, st, sent, a.ID)
				return err
			}
			for _, p := range path {
				must(t, set(p))
			}
			if err := set(to); (err == nil) != (from == to || delivery.MayMove(from, to)) {
				t.Errorf("the database answers %v to %s -> %s", err, from, to)
			}
		}
	}
}

func TestDatabaseRefuses(t *testing.T) {
	s, _ := open(t)
	a := openAttempt(t, s, outbound("k", "b"))
	must(t, s.ClaimAttempt(context.Background(), a.ID, s.Owner()))
	must(t, s.SettleAttempt(context.Background(), a.ID, s.Owner(), mail.Settled{Status: mail.StatusUncertain}))
	must(t, s.ResolveAttempt(context.Background(), a.ID, mail.ResolutionSent))
	for name, q := range map[string]string{
		"an attempt deleted":             `DELETE FROM attempt`,
		"an attempt's text edited":       `UPDATE attempt SET body = 'other'`,
		"an attempt's Message-ID edited": `UPDATE attempt SET rfc_message_id = '<x@y>'`,
		"a resolution changed":           `UPDATE attempt SET resolution = 'confirmed_not_sent'`,
		"a resolution taken back":        `UPDATE attempt SET resolution = NULL, resolved_at = NULL`,
		"an audit line edited":           `UPDATE audit SET why = 'other'`,
		"an audit line deleted":          `DELETE FROM audit`,
		"an attempt born as sent": `INSERT INTO attempt (id, account_id, kind, idempotency_key, payload_digest, from_addr, recipients, body, status, rfc_message_id, bytes_digest, created_at, updated_at, sent_at)
			VALUES ('x', 1, 'outbound', 'kk', x'00', 'a', '{}', '', 'sent', '<x>', x'00', 1, 1, 1)`,
		"a second row with a held key": `INSERT INTO attempt (id, account_id, kind, idempotency_key, payload_digest, from_addr, recipients, body, status, rfc_message_id, bytes_digest, created_at, updated_at)
			VALUES ('x', 1, 'outbound', 'k', x'00', 'a', '{}', '', 'pending', '<x>', x'00', 1, 1)`,
	} {
		if _, err := s.w.Exec("/* test */ " + q); err == nil {
			t.Errorf("%s: the database allowed it", name)
		}
	}
}

func TestDraftGoesWithItsAttempt(t *testing.T) {
	ctx := context.Background()
	draft := func(t *testing.T, s *Store, key string) mail.Draft {
		d := must1(s.SaveDraft(ctx, mail.Draft{Account: "me", Kind: mail.KindOutbound, Subject: "Hello", Body: "b", IdempotencyKey: key}))(t)
		return must1(s.AttachToDraft(ctx, d.ID, mail.Attachment{AttachmentRef: mail.AttachmentRef{Name: "a.txt", Type: "text/plain"}, Content: []byte("file")}))(t)
	}
	t.Run("new attempt: draft gone, attachments kept, in one commit", func(t *testing.T) {
		s, _ := open(t)
		d := draft(t, s, "k")
		a, _, err := s.OpenAttempt(ctx, outbound("k", "b"), d.ID)
		must(t, err)
		_, err = s.Draft(ctx, d.ID)
		wantCode(t, err, mail.CodeNotFound)
		files := must1(s.AttemptAttachments(ctx, a.ID))(t)
		if len(files) != 1 || string(files[0].Content) != "file" || files[0].Size != 4 {
			t.Errorf("attachments of the attempt: %+v", files)
		}
	})
	t.Run("refused attempt: draft stays", func(t *testing.T) {
		s, _ := open(t)
		openAttempt(t, s, outbound("k", "other"))
		d := draft(t, s, "k")
		_, _, err := s.OpenAttempt(ctx, outbound("k", "b"), d.ID)
		wantCode(t, err, mail.CodeKeyReused)
		if got := must1(s.Draft(ctx, d.ID))(t); len(got.Attachments) != 1 {
			t.Errorf("the draft lost its attachment: %+v", got)
		}
	})
	t.Run("replay with the draft's own key: draft gone", func(t *testing.T) {
		s, _ := open(t)
		openAttempt(t, s, outbound("k", "b"))
		d := draft(t, s, "k")
		_, replayed, err := s.OpenAttempt(ctx, outbound("k", "b"), d.ID)
		must(t, err)
		if _, err = s.Draft(ctx, d.ID); !replayed || err == nil {
			t.Errorf("replayed %v, draft still there: %v", replayed, err == nil)
		}
	})
	t.Run("replay with another key: draft stays", func(t *testing.T) {
		s, _ := open(t)
		openAttempt(t, s, outbound("k", "b"))
		d := draft(t, s, "other")
		_, _, err := s.OpenAttempt(ctx, outbound("k", "b"), d.ID)
		must(t, err)
		must1(s.Draft(ctx, d.ID))(t)
	})
	t.Run("discarded draft: nothing is recorded", func(t *testing.T) {
		s, _ := open(t)
		d := draft(t, s, "k")
		must(t, s.DeleteDraft(ctx, d.ID))
		_, _, err := s.OpenAttempt(ctx, outbound("k", "b"), d.ID)
		wantCode(t, err, mail.CodeConflict)
		if n := scalar[int](t, s, `SELECT count(*) FROM attempt`); n != 0 {
			t.Errorf("%d attempts", n)
		}
	})
}

func TestRetryMarksTheOlder(t *testing.T) {
	ctx := context.Background()
	s, clk := open(t)
	a := openAttempt(t, s, outbound("1", "b"))
	settle(t, s, a.ID, mail.Settled{Status: mail.StatusUncertain, Code: mail.CodeSMTPUncertain})
	clk.add(time.Second)
	again := outbound("2", "b")
	again.RetryOf = a.ID
	b := openAttempt(t, s, again)
	a = must1(s.Attempt(ctx, a.ID))(t)
	if a.Resolution != mail.ResolutionResent || a.RetriedBy != b.ID || a.Status != mail.StatusUncertain {
		t.Errorf("the older attempt: %s, resolution %q, retried by %q", a.Status, a.Resolution, a.RetriedBy)
	}
	pending := outbound("3", "b")
	pending.RetryOf = b.ID
	_, _, err := s.OpenAttempt(ctx, pending, 0)
	wantCode(t, err, mail.CodeConflict)

	due := clk.Now().Add(time.Minute)
	settle(t, s, b.ID, mail.Settled{Status: mail.StatusFailed, Code: mail.CodeSMTPUnavailable, NextTryAt: due})
	if got := must1(s.DueRetries(ctx, clk.Now()))(t); len(got) != 0 {
		t.Errorf("%d retries due before their time", len(got))
	}
	if got := must1(s.DueRetries(ctx, due))(t); len(got) != 1 || got[0].ID != b.ID {
		t.Errorf("due: %+v", got)
	}
	clk.add(time.Second)
	auto := outbound("4", "b")
	auto.RetryOf, auto.AutoTries = b.ID, 1
	c := openAttempt(t, s, auto)
	auto.ID, auto.IdempotencyKey = "", "5"
	_, _, err = s.OpenAttempt(ctx, auto, 0) // a second process tries the same
	wantCode(t, err, mail.CodeConflict)

	chain := must1(s.Chain(ctx, b.ID))(t)
	if len(chain) != 3 || chain[0].ID != a.ID || chain[1].ID != b.ID || chain[2].ID != c.ID {
		t.Errorf("chain: %d attempts", len(chain))
	}
	open := must1(s.ListAttempts(ctx, view.AttemptFilter{Open: true}))(t)
	if len(open) != 0 {
		t.Errorf("%d open attempts, all were retried", len(open))
	}
}

func TestSentCopy(t *testing.T) {
	ctx := context.Background()
	s, _ := open(t)
	a := openAttempt(t, s, outbound("k", "b"))
	settle(t, s, a.ID, mail.Settled{Status: mail.StatusSent, ProviderID: "4F2A"})
	if got := must1(s.CopiesOpen(ctx))(t); len(got) != 1 || got[0].Copy.Status != mail.CopyPending {
		t.Fatalf("copies open: %+v", got)
	}
	must(t, s.CopyBegun(ctx, a.ID, s.Owner(), "Sent", 7, 30))
	wantCode(t, s.CopyBegun(ctx, a.ID, mail.NewID(), "Sent", 7, 30), mail.CodeConflict)
	wantCode(t, s.CopySettled(ctx, a.ID, mail.NewID(), mail.CopySettled{Status: mail.CopyFailed}), mail.CodeConflict)
	must(t, s.CopySettled(ctx, a.ID, s.Owner(), mail.CopySettled{Status: mail.CopyUnknown, Code: mail.CodeSentCopyFailed, Text: "lost"}))
	wantCode(t, s.CopyBegun(ctx, a.ID, s.Owner(), "Sent", 7, 31), mail.CodeConflict) // unknown is not repeated
	must(t, s.CopySettled(ctx, a.ID, s.Owner(), mail.CopySettled{Status: mail.CopyFailed, Text: "looked for and not found"}))
	must(t, s.CopyBegun(ctx, a.ID, s.Owner(), "Sent", 7, 31))
	must(t, s.CopySettled(ctx, a.ID, s.Owner(), mail.CopySettled{Status: mail.CopySaved, Folder: "Sent", UIDValidity: 7, UID: 31}))
	wantCode(t, s.CopyBegun(ctx, a.ID, s.Owner(), "Sent", 7, 32), mail.CodeConflict)
	got := must1(s.Attempt(ctx, a.ID))(t)
	if got.Status != mail.StatusSent || got.Copy.Status != mail.CopySaved || got.Copy.UID != 31 || got.Copy.UIDNext != 31 || got.ProviderID != "4F2A" {
		t.Errorf("attempt after its copy: %+v", got)
	}
}

func TestAttemptReadsBackWhole(t *testing.T) {
	ctx := context.Background()
	s, clk := open(t)
	a := outbound("k", "b\n")
	a.Cc, a.Bcc = []mail.Address{{Addr: "c@example.org"}}, []mail.Address{{Addr: "x@example.org"}}
	a.Attachments = []mail.AttachmentRef{{Name: "f", Type: "text/plain", Size: 1, SHA256: "00"}}
	got := openAttempt(t, s, a)
	if len(got.Recipients()) != 3 || got.To[0].Name != "Ada" || got.Attachments[0] != a.Attachments[0] || got.Owner != s.Owner() || got.Bytes != nil {
		t.Errorf("read back: %+v", got)
	}
	if b := must1(s.AttemptBytes(ctx, got.ID))(t); string(b) != string(a.Bytes) {
		t.Errorf("bytes %q", b)
	}
	must(t, s.ClaimAttempt(ctx, got.ID, s.Owner()))
	must(t, s.MarkHandover(ctx, got.ID, s.Owner(), mail.Evidence{LastStep: mail.StepHandover, HandedOver: true}))
	mid := must1(s.Attempt(ctx, got.ID))(t)
	if !mid.HandoverAt.Equal(clk.Now()) || !mid.Evidence.MarkDurable || mid.Status != mail.StatusSending {
		t.Errorf("after the mark: %+v", mid)
	}
	ev := mid.Evidence
	ev.LastStep, ev.Reply = mail.StepReply, mail.Reply{Code: 250, Text: "queued"}
	must(t, s.SettleAttempt(ctx, got.ID, s.Owner(), mail.Settled{Status: mail.StatusSent, SentAt: clk.Now(), Evidence: ev, OtherIDs: []string{"<o@x>"}}))
	must(t, s.AddFinding(ctx, got.ID, "an answer refers to it", false))
	must(t, s.AddFinding(ctx, got.ID, "an answer refers to it", false))
	end := must1(s.AttemptByKey(ctx, "k"))(t)
	if end.Evidence.Reply.Code != 250 || end.OtherIDs[0] != "<o@x>" || len(end.Findings) != 1 || !end.SentAt.Equal(clk.Now()) {
		t.Errorf("settled: %+v", end)
	}
	for addr, want := range map[string]bool{"ADA@example.org": true, "x@example.org": true, "nobody@example.org": false} {
		if got := must1(s.WroteTo(ctx, "me", addr))(t); got != want {
			t.Errorf("WroteTo(%s) = %v", addr, got)
		}
	}
	if n := must1(s.CountAttemptsSince(ctx, "me", clk.Now().Add(-time.Minute)))(t); n != 1 {
		t.Errorf("%d attempts in the last minute", n)
	}
	lines := must1(s.Audit(ctx, "attempt:"+got.ID, 0))(t)
	want := []string{"attempt.finding", "attempt.finding", "attempt.settled", "attempt.handover", "attempt.claimed", "attempt.opened"}
	for i, l := range lines {
		if i >= len(want) || l.Action != want[i] {
			t.Fatalf("audit line %d is %+v, want %v", i, l, want)
		}
	}
}

func TestHeldIsNotClaimed(t *testing.T) {
	ctx := context.Background()
	s, _ := open(t)
	a := openAttempt(t, s, outbound("k", "b"))
	must(t, s.HoldAttempt(ctx, a.ID, "asked"))
	wantCode(t, s.ClaimAttempt(ctx, a.ID, s.Owner()), mail.CodeConflict)
	must(t, s.ReleaseHold(ctx, a.ID, s.Owner()))
	must(t, s.ClaimAttempt(ctx, a.ID, s.Owner()))
}

func TestAdoptPending(t *testing.T) {
	ctx := context.Background()
	s, clk := open(t)
	other := openAt(t, s.Dir(), clk)
	a := openAttempt(t, other, outbound("k", "b"))
	wantCode(t, s.AdoptPending(ctx, a.ID, s.Owner()), mail.CodeConflict) // alive
	must(t, other.Close())
	must(t, s.AdoptPending(ctx, a.ID, s.Owner()))
	must(t, s.ClaimAttempt(ctx, a.ID, s.Owner()))
	wantCode(t, s.AdoptPending(ctx, a.ID, s.Owner()), mail.CodeConflict)
}

func TestLiveOwnersRowIsNotRecovered(t *testing.T) {
	ctx := context.Background()
	s, clk := open(t)
	other := openAt(t, s.Dir(), clk)
	a := openAttempt(t, other, outbound("k", "b"))
	must(t, other.ClaimAttempt(ctx, a.ID, other.Owner()))
	gone := mail.Settled{Status: mail.StatusUncertain, Code: mail.CodeOutboundUncertain}
	wantCode(t, s.SettleAttempt(ctx, a.ID, other.Owner(), gone), mail.CodeConflict)
	must(t, other.Close())
	must(t, s.SettleAttempt(mail.WithActor(ctx, mail.ActorRecovery), a.ID, a.Owner, gone))
	if l := must1(s.Audit(ctx, "attempt:"+a.ID, 1))(t); l[0].Actor != mail.ActorRecovery {
		t.Errorf("settled by %s", l[0].Actor)
	}
}

func TestPendingAndSendingLists(t *testing.T) {
	ctx := context.Background()
	s, clk := open(t)
	first := openAttempt(t, s, outbound("1", "b"))
	clk.add(time.Second)
	second := openAttempt(t, s, outbound("2", "b"))
	must(t, s.HoldAttempt(ctx, second.ID, "asked"))
	if got := must1(s.PendingAttempts(ctx))(t); len(got) != 2 || got[0].ID != first.ID || got[1].Held != "asked" {
		t.Errorf("pending: %+v", got)
	}
	must(t, s.ClaimAttempt(ctx, first.ID, s.Owner()))
	if got := must1(s.SendingAttempts(ctx))(t); len(got) != 1 || got[0].ID != first.ID || got[0].Owner != s.Owner() {
		t.Errorf("sending: %+v", got)
	}
	must(t, s.SettleAttempt(ctx, first.ID, s.Owner(), mail.Settled{Status: mail.StatusFailed, NextTryAt: clk.Now()}))
	must(t, s.StopRetry(ctx, first.ID))
	wantCode(t, s.StopRetry(ctx, first.ID), mail.CodeConflict)
	if n := len(must1(s.DueRetries(ctx, clk.Now()))(t)); n != 0 {
		t.Errorf("%d retries after they were stopped", n)
	}
}

// A settlement is not lost because its caller was told to stop.
func TestSettleIsNotCancelled(t *testing.T) {
	s, clk := open(t)
	a := openAttempt(t, s, outbound("k", "b"))
	must(t, s.ClaimAttempt(context.Background(), a.ID, s.Owner()))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	must(t, s.SettleAttempt(ctx, a.ID, s.Owner(), mail.Settled{Status: mail.StatusSent, SentAt: clk.Now()}))
	if got := must1(s.Attempt(context.Background(), a.ID))(t); got.Status != mail.StatusSent {
		t.Errorf("settled as %s", got.Status)
	}
}

func TestAuditLog(t *testing.T) {
	ctx := context.Background()
	s, clk := open(t)
	must(t, s.AppendAudit(ctx, mail.AuditEntry{Actor: mail.ActorSync, Account: "me", Action: "message.arrived", Subject: "message:1", Related: []string{"attempt:x", "message:1"}, Why: "w", From: "f", To: "t"}))
	must(t, s.AppendAudit(mail.WithActor(ctx, mail.ActorWorker), mail.AuditEntry{Action: "plan.made", Subject: "plan:1"}))
	wantCode(t, s.AppendAudit(ctx, mail.AuditEntry{Account: "nobody", Action: "a", Subject: "s"}), mail.CodeNotFound)
	whole := must1(s.Audit(ctx, "", 0))(t)
	if len(whole) != 2 || whole[0].Actor != mail.ActorWorker || whole[0].Account != "" {
		t.Fatalf("audit: %+v", whole)
	}
	d := must1(s.SaveDraft(ctx, mail.Draft{Account: "me", Kind: mail.KindOutbound, Subject: "Lunch"}))(t)
	if got := must1(s.Audit(ctx, fmt.Sprintf("draft:%d", d.ID), 0))(t); len(got) == 0 || got[0].About != "Lunch" {
		t.Errorf("a line about a draft does not carry its subject: %+v", got)
	}
	for _, subject := range []string{"message:1", "attempt:x"} {
		got := must1(s.Audit(ctx, subject, 0))(t)
		if len(got) != 1 || got[0].Actor != mail.ActorSync || got[0].Account != "me" || got[0].Why != "w" || got[0].From != "f" || got[0].To != "t" ||
			!got[0].At.Equal(clk.Now()) || len(got[0].Related) != 1 || got[0].Related[0] != "attempt:x" {
			t.Errorf("timeline of %s: %+v", subject, got)
		}
	}
}
