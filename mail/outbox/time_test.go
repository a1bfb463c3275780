package outbox_test

import (
	"context"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/compose"
	"skrzynka/mail/outbox"
	"skrzynka/mail/submit"
	"skrzynka/mail/submit/smtptest"
	"skrzynka/store"
)

// wire is a transport whose evidence the test gives.
type wire struct {
	next  []mail.Evidence // one for each transaction; the last one stays
	bytes [][]byte        // what was submitted
}

func (w *wire) Turn(context.Context, *mail.Account) (func(), error) { return func() {}, nil }

func (w *wire) Send(ctx context.Context, _ *mail.Account, _ string, to []string, msg []byte, rec submit.Recorder) mail.Evidence {
	ev := w.next[0]
	if len(w.next) > 1 {
		w.next = w.next[1:]
	}
	ev.Recipients = len(to)
	w.bytes = append(w.bytes, msg)
	if ev.HandedOver {
		if rec.Handover(ctx, ev) != nil {
			return mail.Evidence{LastStep: mail.StepHandover, Fault: mail.FaultMark, Recipients: len(to)}
		}
		ev.MarkDurable = true
	}
	return ev
}

var (
	offline = mail.Evidence{LastStep: mail.StepDial, Fault: mail.FaultUnreachable}
	refused = mail.Evidence{LastStep: mail.StepAuth, Fault: mail.FaultRefused, Reply: mail.Reply{Code: 535}}
	lost    = mail.Evidence{LastStep: mail.StepReply, Fault: mail.FaultLost, HandedOver: true}
	inBody  = mail.Evidence{LastStep: mail.StepBody, Fault: mail.FaultLost}
	later   = mail.Evidence{LastStep: mail.StepReply, Fault: mail.FaultRefused, Reply: mail.Reply{Code: 451}, HandedOver: true}
	taken1  = mail.Evidence{LastStep: mail.StepReply, Reply: mail.Reply{Code: 250}, HandedOver: true}
)

// bench is an outbox on a real store, a clock and a wire of the test's.
type bench struct {
	testing.TB
	*outbox.Outbox
	st   *store.Store
	clk  *testClock
	wire *wire
}

func newBench(t *testing.T, p mail.OutboxPolicy, policy mail.SendPolicy, next ...mail.Evidence) *bench {
	t.Helper()
	b := &bench{TB: t, clk: newClock(), wire: &wire{next: next}}
	a := mail.Account{Name: "me", Email: "ada@example.org", SMTP: mail.Server{Host: "smtp.example.org"}, Policy: policy}
	var err error
	b.st, err = store.Open(t.Context(), t.TempDir(), store.Options{Clock: b.clk})
	must(t, err)
	t.Cleanup(func() { _ = b.st.Close() })
	must(t, b.st.SyncAccounts(t.Context(), []mail.Account{a}))
	b.Outbox = outbox.New(outbox.Options{Store: b.st, Account: func(string) (*mail.Account, error) { return &a, nil }, Transport: b.wire,
		Owner: b.st.Owner(), Clock: b.clk, Policy: p})
	return b
}

func text() mail.Draft {
	return mail.Draft{Account: "me", Kind: mail.KindOutbound, To: to("bob@example.net"), Subject: "Hello", Body: "A line.\n"}
}

// send enqueues a text and delivers it as the background does.
func (b *bench) send() mail.Attempt {
	b.Helper()
	a, _, err := b.Enqueue(context.Background(), outbox.Request{Draft: text()})
	must(b, err)
	return must1(b.Deliver(context.Background(), a.ID, true))(b)
}

// due runs one turn of the background and delivers what it finds.
func (b *bench) due() []mail.Attempt {
	b.Helper()
	ids, tell, err := b.Due(context.Background())
	must(b, err)
	for _, e := range tell {
		b.Logf("told: %v", e)
	}
	var out []mail.Attempt
	for _, id := range ids {
		out = append(out, must1(b.Deliver(context.Background(), id, true))(b))
	}
	return out
}

var auto = mail.OutboxPolicy{ResendUnsubmitted: "auto", RetryRecordDays: 30}

func TestAutomaticTriesAreBoundedByNumber(t *testing.T) {
	t.Parallel()
	b := newBench(t, auto, mail.SendPolicy{}, offline)
	last := b.send()
	first := last
	keys := map[string]bool{first.IdempotencyKey: true}
	var waits []time.Duration
	for !last.NextTryAt.IsZero() {
		if len(waits) > 10 {
			t.Fatal("it never ends")
		}
		wait := last.NextTryAt.Sub(b.clk.Now())
		waits = append(waits, wait)
		b.clk.add(wait - time.Second)
		if got := b.due(); len(got) != 0 {
			t.Fatalf("it was tried %v early", time.Second)
		}
		b.clk.add(time.Second)
		got := b.due()
		if len(got) != 1 || got[0].RetryOf != last.ID || got[0].RFCMessageID != first.RFCMessageID {
			t.Fatalf("tries: %+v", got)
		}
		last = got[0]
		if keys[last.IdempotencyKey] {
			t.Error("a key was used twice")
		}
		keys[last.IdempotencyKey] = true
	}
	if len(waits) != 5 || len(b.wire.bytes) != 6 || last.AutoTries != 5 {
		t.Errorf("%d automatic tries, %d transactions", len(waits), len(b.wire.bytes))
	}
	for i := range waits {
		if i > 0 && waits[i] < waits[i-1]*3/2 {
			t.Errorf("the waits do not grow: %v", waits)
		}
	}
	b.clk.add(100 * time.Hour)
	if got := b.due(); len(got) != 0 {
		t.Error("it went on after the last try")
	}
	if last.Status != mail.StatusFailed || !last.Retryable {
		t.Errorf("in the end: %s", last.Status)
	}
}

func TestAutomaticTriesAreBoundedByAge(t *testing.T) {
	t.Parallel()
	b := newBench(t, auto, mail.SendPolicy{}, offline)
	first := b.send()
	b.clk.add(3*time.Hour + 59*time.Minute + 50*time.Second) // asleep
	got := b.due()
	if len(got) != 1 || !got[0].NextTryAt.IsZero() {
		t.Errorf("after almost four hours: %+v", got)
	}
	if first.NextTryAt.IsZero() {
		t.Error("the first was not to be tried again")
	}
}

func TestAutomaticTryReachesTheServer(t *testing.T) {
	t.Parallel()
	b := newBench(t, auto, mail.SendPolicy{}, offline, offline, taken1)
	a := b.send()
	for range 2 {
		b.clk.add(time.Minute + time.Minute/2)
		a = b.due()[0]
	}
	if a.Status != mail.StatusSent || len(must1(b.st.Chain(t.Context(), a.ID))(t)) != 3 {
		t.Errorf("%s", a.Status)
	}
	if digest(b.wire.bytes[0]) != digest(b.wire.bytes[2]) {
		t.Error("other bytes were submitted")
	}
}

func TestOnlyFailuresBeforeSubmissionAreTriedAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		ev   mail.Evidence
		p    mail.OutboxPolicy
		want bool
	}{
		{"offline", offline, auto, true},
		{"421 at RCPT", mail.Evidence{LastStep: mail.StepRcpt, Fault: mail.FaultRefused, Reply: mail.Reply{Code: 421}}, auto, true},
		{"offline, policy ask", offline, mail.OutboxPolicy{ResendUnsubmitted: "ask"}, false},
		{"password refused", refused, auto, false},
		{"mailbox does not exist", mail.Evidence{LastStep: mail.StepRcpt, Fault: mail.FaultRefused, Reply: mail.Reply{Code: 550}, AllRefused: true}, auto, false},
		{"lost in the body", inBody, auto, false},
		{"451 after the end", later, auto, false},
		{"uncertain", lost, auto, false},
		{"sent", taken1, auto, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c.p, mail.SendPolicy{}, c.ev)
			a := b.send()
			if !a.NextTryAt.IsZero() != c.want {
				t.Errorf("%s %s: next try at %v", a.Status, a.ErrorCode, a.NextTryAt)
			}
			b.clk.add(5 * time.Minute)
			if got := b.due(); len(got) > 0 != c.want {
				t.Errorf("%d tries", len(got))
			}
		})
	}
	t.Run("recovered as uncertain, not handed over", func(t *testing.T) {
		b := newBench(t, auto, mail.SendPolicy{}, taken1)
		dead := openStore(t, b)
		a, _, err := dead.Enqueue(t.Context(), outbox.Request{Draft: text()})
		must(t, err)
		must(t, dead.st.ClaimAttempt(t.Context(), a.ID, dead.Owner))
		_ = dead.st.Close()
		if n := must1(b.Recover(t.Context()))(t); n != 1 {
			t.Fatalf("%d recovered", n)
		}
		b.clk.add(time.Hour)
		if got := b.due(); len(got) != 0 {
			t.Error("an uncertain attempt was tried again by itself")
		}
	})
}

// openStore is a second process on b's folder.
func openStore(t *testing.T, b *bench) *bench {
	t.Helper()
	st, err := store.Open(t.Context(), b.st.Dir(), store.Options{Clock: b.clk})
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	o := b.Options
	o.Store, o.Owner = st, st.Owner()
	return &bench{TB: t, Outbox: outbox.New(o), st: st, clk: b.clk, wire: b.wire}
}

func TestCancelEndsAutomaticTries(t *testing.T) {
	t.Parallel()
	b := newBench(t, auto, mail.SendPolicy{}, offline)
	a := b.send()
	must(t, b.st.StopRetry(t.Context(), a.ID))
	b.clk.add(time.Hour)
	if got := b.due(); len(got) != 0 {
		t.Errorf("%d tries after it was cancelled", len(got))
	}
}

func TestResendByAPersonEndsAutomaticTries(t *testing.T) {
	t.Parallel()
	b := newBench(t, auto, mail.SendPolicy{}, offline, taken1)
	a := b.send()
	n, _, err := b.Resend(t.Context(), a.ID, outbox.ResendOptions{})
	must(t, err)
	must1(b.Deliver(t.Context(), n.ID, true))(t)
	b.clk.add(time.Hour)
	if got := b.due(); len(got) != 0 || len(b.wire.bytes) != 2 {
		t.Errorf("%d tries, %d transactions", len(got), len(b.wire.bytes))
	}
}

func TestTwoProgramsTryAgainOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, auto, mail.SendPolicy{}, offline, taken1)
	b.send()
	other := openStore(t, b)
	b.clk.add(time.Minute)
	got := append(b.due(), other.due()...)
	if len(got) != 1 || len(b.wire.bytes) != 2 {
		t.Errorf("%d tries, %d transactions", len(got), len(b.wire.bytes))
	}
}

// TestRateLimitHoldsUpAutomaticTries and does not end them.
func TestRateLimitHoldsUpAutomaticTries(t *testing.T) {
	t.Parallel()
	b := newBench(t, auto, mail.SendPolicy{MaxPerMinute: 1}, offline, taken1)
	a := b.send()
	b.clk.add(30 * time.Second) // due, but a minute has not passed
	if got := b.due(); len(got) != 0 {
		t.Fatalf("%d tries", len(got))
	}
	if row := must1(b.st.Attempt(t.Context(), a.ID))(t); row.NextTryAt.IsZero() {
		t.Error("the limit ended the automatic tries")
	}
	b.clk.add(31 * time.Second)
	if got := b.due(); len(got) != 1 || got[0].Status != mail.StatusSent {
		t.Errorf("a minute later: %+v", got)
	}
}

// TestFilesGoWithEveryRoad: a scheduled draft, a resend of the same bytes and
// one as a new message all carry the file.
func TestFilesGoWithEveryRoad(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	file := compose.Attach("plan.txt", "text/plain", []byte("the plan"))
	has := func(t *testing.T, b []byte) {
		t.Helper()
		if !containsAll(b, "plan.txt", "dGhlIHBsYW4=") {
			t.Errorf("the file is missing:\n%s", b)
		}
	}
	t.Run("scheduled draft", func(t *testing.T) {
		b := newBench(t, auto, mail.SendPolicy{}, taken1)
		d := must1(b.st.SaveDraft(ctx, text()))(t)
		must1(b.st.AttachToDraft(ctx, d.ID, file))(t)
		must(t, b.st.ScheduleDraft(ctx, d.ID, b.clk.Now().Add(time.Minute), b.Owner))
		b.clk.add(2 * time.Minute)
		if got := b.due(); len(got) != 1 || got[0].Status != mail.StatusSent {
			t.Fatalf("%+v", got)
		}
		has(t, b.wire.bytes[0])
	})
	for _, road := range []string{"without a draft", "with a draft"} {
		t.Run(road, func(t *testing.T) {
			b := newBench(t, auto, mail.SendPolicy{}, inBody)
			d := text()
			d.Attachments = []mail.Attachment{file}
			if road == "with a draft" {
				d = must1(b.st.SaveDraft(ctx, d))(t)
			}
			a, _, err := b.Enqueue(ctx, outbox.Request{Draft: d})
			must(t, err)
			a = must1(b.Deliver(ctx, a.ID, false))(t)
			for _, anew := range []bool{false, true, false, true} {
				if a, _, err = b.Resend(ctx, a.ID, outbox.ResendOptions{NewMessage: anew}); err != nil {
					t.Fatal(err)
				}
				a = must1(b.Deliver(ctx, a.ID, false))(t)
			}
			for _, m := range b.wire.bytes {
				has(t, m)
			}
		})
	}
}

func TestScheduledDrafts(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	t.Run("goes out at its time and not before", func(t *testing.T) {
		b := newBench(t, auto, mail.SendPolicy{}, taken1)
		d := must1(b.st.SaveDraft(ctx, text()))(t)
		must(t, b.st.ScheduleDraft(ctx, d.ID, b.clk.Now().Add(10*time.Second), b.Owner))
		b.clk.add(9 * time.Second)
		if got := b.due(); len(got) != 0 {
			t.Fatal("it went out early")
		}
		b.clk.add(time.Second)
		if got := b.due(); len(got) != 1 || got[0].Status != mail.StatusSent || got[0].IdempotencyKey != d.IdempotencyKey {
			t.Errorf("%+v", got)
		}
		if got := b.due(); len(got) != 0 || len(b.wire.bytes) != 1 {
			t.Error("it went out twice")
		}
	})
	t.Run("taken back in time", func(t *testing.T) {
		b := newBench(t, auto, mail.SendPolicy{}, taken1)
		d := must1(b.st.SaveDraft(ctx, text()))(t)
		must(t, b.st.ScheduleDraft(ctx, d.ID, b.clk.Now().Add(10*time.Second), b.Owner))
		must(t, b.st.ScheduleDraft(ctx, d.ID, time.Time{}, ""))
		b.clk.add(time.Hour)
		if got := b.due(); len(got) != 0 {
			t.Error("it went out")
		}
		if kept := must1(b.st.Draft(ctx, d.ID))(t); kept.Body != d.Body {
			t.Error("the draft changed")
		}
	})
	t.Run("two programs send it once", func(t *testing.T) {
		b := newBench(t, auto, mail.SendPolicy{}, taken1)
		d := must1(b.st.SaveDraft(ctx, text()))(t)
		must(t, b.st.ScheduleDraft(ctx, d.ID, b.clk.Now(), b.Owner))
		other := openStore(t, b)
		if got := append(b.due(), other.due()...); len(got) != 1 || len(b.wire.bytes) != 1 {
			t.Errorf("%d sends", len(got))
		}
	})
	t.Run("refused at its time: taken off the schedule, kept, and told", func(t *testing.T) {
		b := newBench(t, auto, mail.SendPolicy{Deny: []string{"example.net"}}, taken1)
		d := must1(b.st.SaveDraft(ctx, text()))(t)
		must(t, b.st.ScheduleDraft(ctx, d.ID, b.clk.Now(), b.Owner))
		ids, tell, err := b.Due(ctx)
		must(t, err)
		if len(ids) != 0 || len(tell) != 1 || mail.AsError(tell[0]).Code != mail.CodePolicyRefused {
			t.Errorf("%v, told %v", ids, tell)
		}
		if kept := must1(b.st.Draft(ctx, d.ID))(t); kept.Body != d.Body || !kept.SendAt.IsZero() {
			t.Errorf("the draft: %+v", kept)
		}
	})
	t.Run("over the rate limit: it waits", func(t *testing.T) {
		b := newBench(t, auto, mail.SendPolicy{MaxPerMinute: 1}, taken1)
		b.send()
		d := must1(b.st.SaveDraft(ctx, text()))(t)
		must(t, b.st.ScheduleDraft(ctx, d.ID, b.clk.Now(), b.Owner))
		if got := b.due(); len(got) != 0 {
			t.Fatal("it went out")
		}
		b.clk.add(time.Minute + time.Second)
		if got := b.due(); len(got) != 1 {
			t.Error("it was forgotten")
		}
	})
}

func TestDueTakesTheDeadProcessesPending(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := newBench(t, auto, mail.SendPolicy{}, taken1)
	other := openStore(t, b)
	a, _, err := other.Enqueue(ctx, outbox.Request{Draft: text()})
	must(t, err)
	held, _, err := other.Enqueue(ctx, outbox.Request{Draft: text()})
	must(t, err)
	must(t, other.st.HoldAttempt(ctx, held.ID, "asked"))
	if got := b.due(); len(got) != 0 {
		t.Fatal("a living process's pending attempt was taken")
	}
	_ = other.st.Close()
	if got := b.due(); len(got) != 1 || got[0].ID != a.ID || got[0].Status != mail.StatusSent {
		t.Errorf("%+v", got)
	}
}

// TestUndoWindow: with it a send is first a draft with a time, which undo takes
// back; no attempt exists before.
func TestUndoWindow(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	clk := newClock()
	p := goodPeer(t)
	w := start(t, setup{accounts: []mail.Account{account(t, "me", p)}, clock: clk, outbox: mail.OutboxPolicy{ResendUnsubmitted: "auto", UndoWindow: 10 * time.Second, RetryRecordDays: 30}})
	write := func() mail.Draft {
		return must1(w.SaveDraft(ctx, mail.Draft{Account: "me", Kind: mail.KindOutbound, To: to("bob@example.net"), Subject: "x", Body: "y"}))(t)
	}
	one, two := write(), write()
	for _, d := range []mail.Draft{one, two} {
		must1(w.SendDraft(ctx, d.ID, true))(t)
	}
	if len(w.rows()) != 0 {
		t.Fatal("an attempt exists within the undo window")
	}
	must1(w.Undo(ctx))(t) // the last one
	clk.add(11 * time.Second)
	w.loops()
	eventually(t, "the other is sent", func() bool { r := w.rows(); return len(r) == 1 && r[0].Status == mail.StatusSent })
	if r := w.rows()[0]; r.IdempotencyKey != one.IdempotencyKey || len(taken(p)) != 1 {
		t.Errorf("sent under %s, %d messages", r.IdempotencyKey, len(taken(p)))
	}
	if kept := must1(w.Draft(ctx, two.ID))(t); !kept.SendAt.IsZero() || kept.Body != "y" {
		t.Errorf("what was taken back: %+v", kept)
	}
	if _, err := w.Undo(ctx); err == nil {
		t.Error("a send that has begun was undone")
	}
}

// TestMoreThanTheLanesWaitAsPending: what has not begun when the process dies
// is not in doubt.
func TestMoreThanTheLanesWaitAsPending(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	hold := make(chan struct{})
	p := smtptest.Start(t, smtptest.Script{Hold: hold})
	w := start(t, setup{accounts: []mail.Account{account(t, "me", p)}})
	for range 8 {
		d := must1(w.SaveDraft(ctx, mail.Draft{Account: "me", Kind: mail.KindOutbound, To: to("bob@example.net"), Subject: "x", Body: "y"}))(t)
		must1(w.SendDraft(ctx, d.ID, true))(t)
	}
	count := func(s mail.DeliveryStatus) (n int) {
		for _, r := range w.rows() {
			if r.Status == s {
				n++
			}
		}
		return n
	}
	eventually(t, "the lanes are busy", func() bool { return p.Connections() == 3 })
	if s, n := count(mail.StatusSending), count(mail.StatusPending); s != 3 || n != 5 {
		t.Errorf("%d sending, %d pending; want 3 and 5", s, n)
	}
	close(hold)
	eventually(t, "all are sent", func() bool { return count(mail.StatusSent) == 8 })
	if n := p.Connections(); n != 3 || len(taken(p)) != 8 {
		t.Errorf("%d messages over %d connections", len(taken(p)), n)
	}
}
