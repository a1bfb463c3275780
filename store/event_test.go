package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/inbox"
)

// after gives the state of the plan and the contact after mail has arrived.
func after(t testing.TB, s *Store, plan, address string) (mail.Plan, mail.ContactState) {
	t.Helper()
	p := must1(s.Plan(context.Background(), plan))(t)
	c, err := s.Contact(context.Background(), "me", address)
	if mail.AsError(err) != nil {
		return p, ""
	}
	return p, c.State
}

// What each kind of mail does to a plan, its contact and its attempt.
func TestEffectsOfArrivals(t *testing.T) {
	const to = "h@there.example"
	ctx := context.Background()
	for name, r := range map[string]struct {
		raw     func(ours string) []byte
		class   mail.InboundClass
		plan    mail.PlanState
		contact mail.ContactState
		review  bool
		bounced bool
	}{
		"a person answers":                      {func(o string) []byte { return human(1, to, o) }, mail.ClassHumanReply, mail.PlanStopped, mail.ContactReplied, false, false},
		"a person answers from another address": {func(o string) []byte { return human(1, "h@elsewhere.example", o) }, mail.ClassHumanReply, mail.PlanStopped, mail.ContactReplied, false, false},
		"an absence with a date":                {func(o string) []byte { return away(1, to, o) }, mail.ClassAutoReply, mail.PlanPaused, mail.ContactPaused, false, false},
		"an absence without a date": {func(o string) []byte {
			return []byte(strings.Replace(string(away(1, to, o)), "back on 12 March 2026", "away", 1))
		}, mail.ClassAutoReply, mail.PlanHeld, mail.ContactActive, true, false},
		"a hard bounce":                           {func(o string) []byte { return bounce(1, to, o, "5.1.1") }, mail.ClassBounceHard, mail.PlanStopped, mail.ContactSuppressed, false, true},
		"a full mailbox":                          {func(o string) []byte { return bounce(1, to, o, "5.2.2") }, mail.ClassBounceSoft, mail.PlanActive, mail.ContactActive, false, false},
		"a person writes about something else":    {func(string) []byte { return stranger(1, to) }, mail.ClassHumanMail, mail.PlanHeld, mail.ContactActive, true, false},
		"a stranger writes":                       {func(string) []byte { return stranger(1, "x@there.example") }, mail.ClassHumanMail, mail.PlanActive, mail.ContactActive, false, false},
		"a forged bounce":                         {func(string) []byte { return bounce(1, to, "<forged@example.org>", "5.1.1") }, mail.ClassBounceHard, mail.PlanActive, mail.ContactActive, true, false},
		"a bounce of an address never written to": {func(o string) []byte { return bounce(1, "x@there.example", o, "5.1.1") }, mail.ClassBounceHard, mail.PlanActive, mail.ContactActive, true, false},
		"a forged automatic answer":               {func(string) []byte { return away(1, to, "<forged@example.org>") }, mail.ClassAutoReply, mail.PlanHeld, mail.ContactActive, true, false},
		"Auto-Submitted: no":                      {func(o string) []byte { return head(human(1, to, o), "Auto-Submitted: no") }, mail.ClassHumanReply, mail.PlanStopped, mail.ContactReplied, false, false},
		"X-Auto-Response-Suppress alone":          {func(o string) []byte { return head(human(1, to, o), "X-Auto-Response-Suppress: All") }, mail.ClassHumanReply, mail.PlanStopped, mail.ContactReplied, false, false},
		"Sprzedam auto, from somebody":            {func(string) []byte { return subject(stranger(1, "x@there.example"), "Sprzedam auto: Golf") }, mail.ClassHumanMail, mail.PlanActive, mail.ContactActive, false, false},
		"a newsletter of the contact's own":       {func(string) []byte { return head(stranger(1, to), "List-Id: <news.there.example>", "Precedence: bulk") }, mail.ClassListOrBulk, mail.PlanActive, mail.ContactActive, false, false},
		"our own copy, sent back by a list":       {func(o string) []byte { return own(o) }, mail.ClassOwn, mail.PlanActive, mail.ContactActive, false, false},
		"a From of ours that somebody forged":     {func(o string) []byte { return human(1, "me@example.org", o) }, mail.ClassOwn, mail.PlanActive, mail.ContactActive, false, false},
		"what cannot be read, of a stranger":      {func(string) []byte { return []byte("\x00\x01\x02") }, mail.ClassUnparsed, mail.PlanActive, mail.ContactActive, true, false},
		"two senders, so that none is the sender": {func(o string) []byte {
			return []byte(strings.Replace(string(human(1, to, o)), "From: Hanna <"+to+">", "From: a@x.example, b@x.example", 1))
		}, mail.ClassUnmapped, mail.PlanActive, mail.ContactActive, true, false},
		"a read receipt that is none of the report": {func(o string) []byte { return head(human(1, to, o), "Disposition-Notification-To: x@x.example") }, mail.ClassHumanReply, mail.PlanStopped, mail.ContactReplied, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, clk, box, _ := mailbox(t)
			a := sentTo(t, s, "k", to)
			p := planned(t, s, a.ID, clk.Now().Add(72*time.Hour))
			clk.add(time.Hour)
			id := putMail(t, s, box, 1, r.raw(a.RFCMessageID))
			drain(t, s)
			ev := must1(s.EventOf(ctx, id))(t)
			got, contact := after(t, s, p.ID, to)
			at := must1(s.Attempt(ctx, a.ID))(t)
			if ev.Class != r.class || got.State != r.plan || contact != r.contact || (ev.Review == mail.ReviewOpen) != r.review || at.Bounced != r.bounced {
				t.Errorf("%s: plan %s, contact %s, review %q (%s), bounced %v\nwant %s, %s, %s, %v, %v", ev.Class, got.State, contact, ev.Review, ev.ReviewWhy, at.Bounced,
					r.class, r.plan, r.contact, r.review, r.bounced)
			}
			if n := must1(s.Counts(ctx))(t).Review; (n == 1) != r.review {
				t.Errorf("%d items wait for review", n)
			}
			if r.plan == mail.PlanStopped && got.Steps[0].State != mail.FollowCancelled {
				t.Errorf("the step is %s", got.Steps[0].State)
			}
		})
	}
}

func head(raw []byte, lines ...string) []byte {
	return []byte(strings.Join(lines, "\r\n") + "\r\n" + string(raw))
}

func subject(raw []byte, s string) []byte {
	return []byte(strings.Replace(string(raw), "Subject: Something else", "Subject: "+s, 1))
}

func own(ours string) []byte {
	return crlf("From: list@lists.example", "To: me@example.org", "Subject: [list] Hello", "Date: Sun, 01 Mar 2026 13:00:00 +0000", "Message-ID: "+ours, "", "hello k")
}

// The same mail in another folder, and under a new UID that could not be
// matched: noted, without effect.
func TestSameMailInAnotherPlace(t *testing.T) {
	ctx := context.Background()
	s, clk, box, archive := mailbox(t)
	a := sentTo(t, s, "k", "h@there.example")
	p := planned(t, s, a.ID, clk.Now().Add(72*time.Hour))
	raw := human(1, "h@there.example", a.RFCMessageID)
	putMail(t, s, box, 1, raw)
	drain(t, s)
	was := must1(s.Plan(ctx, p.ID))(t).Version
	putMail(t, s, archive, 1, raw) // another client made a copy
	drain(t, s)
	must1(s.Vanish(ctx, box.ID, 1, []uint32{1}))(t) // and moved it away, and back
	second := putMail(t, s, box, 2, raw)
	drain(t, s)
	events := must1(s.Events(ctx, mail.EventFilter{}))(t)
	if len(events) != 1 || events[0].SeenAgain != 2 || events[0].UID != (mail.UID{Validity: 1, UID: 1}) || events[0].MessageID != second {
		t.Errorf("events %+v", events)
	}
	if got := must1(s.Plan(ctx, p.ID))(t); got.Version != was {
		t.Errorf("the plan changed from version %d to %d", was, got.Version)
	}
	if n := scalar[int](t, s, `SELECT count(*) FROM audit WHERE action = 'event.seen_again'`); n != 2 {
		t.Errorf("%d lines say that it was seen again", n)
	}
}

// Two deliveries of one message are two events with one effect; another mail
// that only claims the same Message-ID has its own.
func TestDuplicateDelivery(t *testing.T) {
	ctx := context.Background()
	s, clk, box, _ := mailbox(t)
	a := sentTo(t, s, "k", "h@there.example")
	planned(t, s, a.ID, clk.Now().Add(72*time.Hour))
	raw := bounce(1, "h@there.example", a.RFCMessageID, "5.1.1")
	for uid, trace := range []string{"Received: from a by b", "Received: from c by d"} {
		putMail(t, s, box, uint32(uid+1), head(raw, trace))
	}
	drain(t, s)
	if n := len(must1(s.Events(ctx, mail.EventFilter{}))(t)); n != 2 {
		t.Errorf("%d events", n)
	}
	if n := scalar[int](t, s, `SELECT count(*) FROM effect WHERE kind = 'suppress_address'`); n != 1 {
		t.Errorf("%d effects", n)
	}
	other := strings.Replace(string(raw), "The mailbox does not exist", "Another text", 1)
	putMail(t, s, box, 3, []byte(other))
	drain(t, s)
	if n := scalar[int](t, s, `SELECT count(*) FROM effect WHERE kind = 'suppress_address'`); n != 2 {
		t.Errorf("%d effects after a mail with the same Message-ID", n)
	}
	if c := must1(s.Contact(ctx, "me", "h@there.example"))(t); c.Version != 2 {
		t.Errorf("the contact was changed %d times", c.Version-1)
	}
}

// The answer counts wherever it was filed; mail that answers nothing counts
// only in watched folders.
func TestFoldersThatMakeEvents(t *testing.T) {
	ctx := context.Background()
	s, clk, box, archive := mailbox(t)
	a := sentTo(t, s, "k", "h@there.example")
	p := planned(t, s, a.ID, clk.Now().Add(72*time.Hour))
	putMail(t, s, archive, 1, stranger(1, "x@there.example"))
	putMail(t, s, box, 1, stranger(2, "x@there.example"))
	drain(t, s)
	if events := must1(s.Events(ctx, mail.EventFilter{}))(t); len(events) != 1 || events[0].Folder != "INBOX" {
		t.Errorf("events %+v", events)
	}
	putMail(t, s, archive, 2, human(1, "h@there.example", a.RFCMessageID))
	drain(t, s)
	if got, c := after(t, s, p.ID, "h@there.example"); got.State != mail.PlanStopped || c != mail.ContactReplied {
		t.Errorf("plan %s, contact %s", got.State, c)
	}
}

// Mail that was there before the account is history: observed, unclassified.
func TestHistoryHasNoEffect(t *testing.T) {
	ctx := context.Background()
	s, clk, box, archive := mailbox(t)
	a := sentTo(t, s, "k", "h@there.example")
	p := planned(t, s, a.ID, clk.Now().Add(72*time.Hour))
	old := func(f mail.Folder, uid uint32, raw []byte) {
		m := letterOf(raw, uid, clk.Now().Add(-48*time.Hour))
		id := must1(s.PutHeaders(ctx, f.ID, 1, []mail.NewMessage{m}))(t)[0]
		must(t, s.PutBodies(ctx, []mail.NewBody{{ID: id, Raw: raw, Summary: m.Summary}}))
	}
	for n := range 30 {
		old(box, uint32(n+1), stranger(n, "h@there.example"))
	}
	old(archive, 1, stranger(99, "h@there.example"))
	drain(t, s)
	if n := scalar[int](t, s, `SELECT count(*) FROM event WHERE class = ''`); n != 30 {
		t.Errorf("%d events of older mail", n)
	}
	if n := scalar[int](t, s, `SELECT count(*) FROM classification`) + scalar[int](t, s, `SELECT count(*) FROM inbound_due`); n != 0 {
		t.Errorf("%d were classified or are left", n)
	}
	if got, _ := after(t, s, p.ID, "h@there.example"); got.State != mail.PlanActive {
		t.Errorf("the plan is %s", got.State)
	}
	// What names a message of ours is no history, whatever its date.
	old(box, 40, human(1, "h@there.example", a.RFCMessageID))
	drain(t, s)
	if got, _ := after(t, s, p.ID, "h@there.example"); got.State != mail.PlanStopped {
		t.Errorf("after an answer with an old date the plan is %s", got.State)
	}
}

// A UIDVALIDITY reset of a large inbox with active plans: nothing fires twice,
// and what arrived in the gap counts.
func TestRenumberedInbox(t *testing.T) {
	inMemory(t)
	ctx := context.Background()
	s, clk, box, _ := mailbox(t)
	const plans, others = 20, 3000
	var raws [][]byte
	var ids []string
	var gap []byte // arrives while the folder is renumbered
	for i := range plans {
		to := fmt.Sprintf("h%d@there.example", i)
		a := sentTo(t, s, fmt.Sprint("k", i), to)
		ids = append(ids, planned(t, s, a.ID, clk.Now().Add(72*time.Hour)).ID)
		switch {
		case i < 5:
			raws = append(raws, human(i, to, a.RFCMessageID))
		case i < 10:
			raws = append(raws, away(i, to, a.RFCMessageID))
		case i == 10:
			gap = human(i, to, a.RFCMessageID)
		}
	}
	for i := range others {
		raws = append(raws, stranger(i, fmt.Sprintf("x%d@there.example", i)))
	}
	put := func(validity uint32, from uint32) {
		for i := 0; i < len(raws); i += MaxBatch {
			var list []mail.NewMessage
			for j := i; j < min(i+MaxBatch, len(raws)); j++ {
				list = append(list, letterOf(raws[j], from+uint32(j), clk.Now()))
			}
			must1(s.PutHeaders(ctx, box.ID, validity, list))(t)
		}
		for {
			missing := must1(s.Bodyless(ctx, box.ID, MaxBatch))(t)
			if len(missing) == 0 {
				return
			}
			var bodies []mail.NewBody
			for _, m := range missing {
				raw := raws[m.UID-from]
				bodies = append(bodies, mail.NewBody{ID: m.ID, Raw: raw, Summary: letterOf(raw, m.UID, clk.Now()).Summary})
			}
			must(t, s.PutBodies(ctx, bodies))
		}
	}
	put(1, 1)
	drain(t, s)
	count := func() string {
		return fmt.Sprint(scalar[int](t, s, `SELECT count(*) FROM event`), scalar[int](t, s, `SELECT count(*) FROM classification`),
			scalar[int](t, s, `SELECT count(*) FROM effect`), scalar[int64](t, s, `SELECT sum(version) FROM plan`), scalar[int64](t, s, `SELECT sum(version) FROM contact`))
	}
	before := count()
	start := time.Now()
	must(t, s.ReRead(ctx, box.ID, 2))
	raws = append(raws, gap)
	put(2, 5000)
	must1(s.FinishReRead(ctx, box.ID, 2, clk.Now()))(t)
	drain(t, s)
	t.Logf("%d messages read again in %s", len(raws), time.Since(start).Round(time.Millisecond))
	if n := scalar[int](t, s, `SELECT count(*) FROM event`); n != plans/2+others+1 {
		t.Errorf("%d events, before %s, after %s", n, before, count())
	}
	for i, id := range ids {
		want := mail.PlanActive
		switch {
		case i < 5, i == 10:
			want = mail.PlanStopped
		case i < 10:
			want = mail.PlanPaused
		}
		if got := must1(s.Plan(ctx, id))(t); got.State != want {
			t.Errorf("plan %d is %s, want %s", i, got.State, want)
		}
	}
	if n := scalar[int](t, s, `SELECT count(*) FROM audit WHERE action IN ('plan.stopped','plan.paused')`); n != 11 {
		t.Errorf("%d plans were moved", n)
	}
}

// A person corrects a class: the other effect, once, and no second arrival.
func TestCorrections(t *testing.T) {
	ctx := context.Background()
	correct := func(s *Store, id int64, c inbox.Correction) mail.Recorded {
		t.Helper()
		var tie []string
		if c.Attempt != "" {
			tie = []string{c.Attempt}
		}
		sender := must1(s.Event(ctx, id))(t).From.Addr
		return must1(s.Reclassify(mail.WithActor(ctx, mail.ActorPerson), id, tie, func(a mail.Around, d json.RawMessage) mail.Decision {
			return recorderOf(s).Correct(c, a, d, sender)
		}))(t)
	}
	world := func(t *testing.T, raw func(ours string) []byte) (*Store, mail.Attempt, mail.Plan, int64) {
		s, clk, box, _ := mailbox(t)
		a := sentTo(t, s, "k", "h@there.example")
		p := planned(t, s, a.ID, clk.Now().Add(72*time.Hour))
		clk.add(time.Hour)
		id := putMail(t, s, box, 1, raw(a.RFCMessageID))
		drain(t, s)
		return s, a, p, must1(s.EventOf(ctx, id))(t).ID
	}
	t.Run("an automatic answer was a person's", func(t *testing.T) {
		s, _, p, ev := world(t, func(o string) []byte { return away(1, "h@there.example", o) })
		for range 2 {
			correct(s, ev, inbox.Correction{Class: mail.ClassHumanReply})
			if got, c := after(t, s, p.ID, "h@there.example"); got.State != mail.PlanStopped || c != mail.ContactReplied {
				t.Errorf("plan %s, contact %s", got.State, c)
			}
		}
		if h := must1(s.Classes(ctx, ev))(t); len(h) != 2 || h[0].By != mail.ActorSync || h[1].By != mail.ActorPerson || h[1].RuleSet != 0 {
			t.Errorf("history %+v", h)
		}
		if n := scalar[int](t, s, `SELECT count(*) FROM audit WHERE action = 'plan.stopped'`); n != 1 {
			t.Errorf("the plan was stopped %d times", n)
		}
		// A later rule set does not overrule the person.
		got := must1(s.Reclassify(ctx, ev, nil, func(mail.Around, json.RawMessage) mail.Decision {
			return mail.Decision{Class: mail.ClassAutoReply, RuleSet: 2}
		}))(t)
		if !got.Replayed || must1(s.Event(ctx, ev))(t).Class != mail.ClassHumanReply {
			t.Errorf("a rule set overruled a person: %+v", got)
		}
	})
	t.Run("a person's answer was automatic", func(t *testing.T) {
		s, _, p, ev := world(t, func(o string) []byte { return human(1, "h@there.example", o) })
		correct(s, ev, inbox.Correction{Class: mail.ClassAutoAck})
		got, c := after(t, s, p.ID, "h@there.example")
		if got.State != mail.PlanHeld || got.Steps[0].State != mail.FollowWaiting || c != mail.ContactActive {
			t.Errorf("plan %s, step %s, contact %s: it waits for the person who corrected it", got.State, got.Steps[0].State, c)
		}
		correct(s, ev, inbox.Correction{Class: mail.ClassHumanReply})
		if got, c := after(t, s, p.ID, "h@there.example"); got.State != mail.PlanStopped || c != mail.ContactReplied {
			t.Errorf("and back: plan %s, contact %s", got.State, c)
		}
	})
	t.Run("a bounce was none", func(t *testing.T) {
		s, _, p, ev := world(t, func(o string) []byte { return bounce(1, "h@there.example", o, "5.1.1") })
		correct(s, ev, inbox.Correction{Class: mail.ClassListOrBulk, Note: "a joke"})
		if got, c := after(t, s, p.ID, "h@there.example"); got.State != mail.PlanHeld || c != mail.ContactActive {
			t.Errorf("plan %s, contact %s", got.State, c)
		}
	})
	t.Run("an unverified bounce is tied to its attempt", func(t *testing.T) {
		s, a, p, ev := world(t, func(string) []byte { return bounce(1, "h@there.example", "<lost@example.org>", "5.1.1") })
		if n := must1(s.Counts(ctx))(t).Review; n != 1 {
			t.Fatalf("%d items wait", n)
		}
		correct(s, ev, inbox.Correction{Class: mail.ClassBounceHard, Attempt: a.ID})
		if got, c := after(t, s, p.ID, "h@there.example"); got.State != mail.PlanStopped || c != mail.ContactSuppressed {
			t.Errorf("plan %s, contact %s", got.State, c)
		}
		if e := must1(s.Event(ctx, ev))(t); e.Review != mail.ReviewResolved || len(e.Attempts) != 1 || must1(s.Counts(ctx))(t).Review != 0 {
			t.Errorf("review %s, attempts %v", e.Review, e.Attempts)
		}
		if at := must1(s.Attempt(ctx, a.ID))(t); !at.Bounced {
			t.Error("the attempt does not show that it bounced")
		}
	})
	t.Run("mail that held a plan means nothing to it", func(t *testing.T) {
		s, _, p, ev := world(t, func(string) []byte { return stranger(1, "h@there.example") })
		correct(s, ev, inbox.Correction{Class: mail.ClassHumanMail})
		if got, _ := after(t, s, p.ID, "h@there.example"); got.State != mail.PlanActive {
			t.Errorf("the plan is %s", got.State)
		}
	})
	t.Run("mail that held a plan is an answer", func(t *testing.T) {
		s, _, p, ev := world(t, func(string) []byte { return stranger(1, "h@there.example") })
		correct(s, ev, inbox.Correction{Class: mail.ClassHumanReply})
		if got, c := after(t, s, p.ID, "h@there.example"); got.State != mail.PlanStopped || c != mail.ContactReplied {
			t.Errorf("plan %s, contact %s", got.State, c)
		}
	})
	t.Run("it is ignored", func(t *testing.T) {
		s, _, p, ev := world(t, func(string) []byte { return stranger(1, "h@there.example") })
		must(t, s.IgnoreReview(ctx, ev, "nothing"))
		if got, _ := after(t, s, p.ID, "h@there.example"); got.State != mail.PlanActive {
			t.Errorf("the plan is %s", got.State)
		}
		wantCode(t, s.IgnoreReview(ctx, ev, "again"), mail.CodeConflict)
	})
}

// Whoever names the Message-ID of an uncertain attempt has its mail.
func TestUncertainLaterProven(t *testing.T) {
	ctx := context.Background()
	for name, raw := range map[string]func(o string) []byte{
		"an answer":  func(o string) []byte { return human(1, "h@there.example", o) },
		"a bounce":   func(o string) []byte { return bounce(1, "h@there.example", o, "5.1.1") },
		"a soft one": func(o string) []byte { return bounce(1, "h@there.example", o, "5.2.2") },
	} {
		t.Run(name, func(t *testing.T) {
			s, _, box, _ := mailbox(t)
			a := outbound("k", "x")
			a.To = []mail.Address{{Addr: "h@there.example"}}
			a = openAttempt(t, s, a)
			settle(t, s, a.ID, mail.Settled{Status: mail.StatusUncertain, Code: mail.CodeSMTPUncertain})
			putMail(t, s, box, 1, raw(a.RFCMessageID))
			drain(t, s)
			got := must1(s.Attempt(ctx, a.ID))(t)
			if got.Status != mail.StatusUncertain || !got.Evidence.AcceptedLate || len(got.Findings) == 0 {
				t.Errorf("%s, proven %v, findings %q", got.Status, got.Evidence.AcceptedLate, got.Findings)
			}
		})
	}
}

func TestSuppressedByAPerson(t *testing.T) {
	ctx := context.Background()
	s, clk, _, _ := mailbox(t)
	a := sentTo(t, s, "k", "h@there.example")
	p := planned(t, s, a.ID, clk.Now().Add(72*time.Hour))
	must(t, s.SuppressContact(ctx, "me", "H@there.example", "they asked for it"))
	if got, c := after(t, s, p.ID, "h@there.example"); got.State != mail.PlanStopped || c != mail.ContactSuppressed {
		t.Errorf("plan %s, contact %s", got.State, c)
	}
	if why := must1(s.Suppressed(ctx, "me", []string{"h@there.example", "x@there.example"}))(t); len(why) != 1 || !strings.Contains(why["h@there.example"], "they asked for it") {
		t.Errorf("suppressed: %v", why)
	}
	b := sentTo(t, s, "k2", "h@there.example")
	_, err := s.AddPlan(ctx, mail.Plan{Account: "me", AttemptID: b.ID, State: mail.PlanActive, Steps: []mail.FollowStep{{Body: "x", DueAt: clk.Now()}}})
	wantCode(t, err, mail.CodePolicyRefused)
	must(t, s.AllowContact(ctx, "me", "h@there.example", ""))
	planned(t, s, b.ID, clk.Now())
	if got, c := after(t, s, p.ID, "h@there.example"); got.State != mail.PlanStopped || c != mail.ContactActive {
		t.Errorf("after it was allowed: plan %s, contact %s", got.State, c)
	}
	wantCode(t, s.AllowContact(ctx, "me", "never@there.example", ""), mail.CodeNotFound)
}
