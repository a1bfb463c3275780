package outbox_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/engine"
	"skrzynka/mail/submit/smtptest"
	"skrzynka/mail/view"
	"skrzynka/store"
)

// goodPeer accepts everything.
func goodPeer(t testing.TB) *smtptest.Peer { return smtptest.Start(t, smtptest.Script{}) }

func TestSameKeySamePayloadReturnsTheAttempt(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, c := range []struct {
		name   string
		at     map[mail.Step]smtptest.Action
		status mail.DeliveryStatus
	}{
		{"sent", nil, mail.StatusSent},
		{"failed after the handover", map[mail.Step]smtptest.Action{mail.StepReply: smtptest.Reply("554 5.7.1 no")}, mail.StatusFailed},
		{"uncertain", map[mail.Step]smtptest.Action{mail.StepReply: smtptest.HangUp()}, mail.StatusUncertain},
	} {
		for _, kind := range mail.AllAttemptKinds() {
			t.Run(c.name+"/"+string(kind), func(t *testing.T) {
				p := smtptest.Start(t, smtptest.Script{At: c.at})
				w := start(t, setup{accounts: []mail.Account{account(t, "me", p)}})
				send := func() (view.Attempt, error) { return w.Send(ctx, letter("key")) }
				if kind == mail.KindReply {
					id := w.incoming("me", "bob@example.net")
					send = func() (view.Attempt, error) {
						return w.Reply(ctx, view.ReplyRequest{MessageID: id, Body: "Yes.", Key: "key"})
					}
				}
				first := must1(send())(t)
				if first.Status != c.status || first.Replayed {
					t.Fatalf("first: %s, replayed %v", first.Status, first.Replayed)
				}
				again := must1(send())(t)
				if again.ID != first.ID || !again.Replayed || again.Status != c.status {
					t.Errorf("again: attempt %s (%s, replayed %v), want %s", again.ID, again.Status, again.Replayed, first.ID)
				}
				if p.Connections() != 1 || len(w.rows()) != 1 {
					t.Errorf("%d connections and %d rows, want 1 and 1", p.Connections(), len(w.rows()))
				}
			})
		}
	}
}

// stuck fails one durable write, as a full disk does.
type stuck struct {
	*store.Store
	mu    sync.Mutex
	claim bool // ClaimAttempt fails
	mark  bool // MarkHandover fails
	end   bool // SettleAttempt fails
}

func (s *stuck) fail(on *bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *on {
		return &mail.Error{Code: mail.CodeDiskFull, Text: "The disk is full: nothing more can be stored.", Retryable: true}
	}
	return nil
}

func (s *stuck) set(on *bool, v bool) { s.mu.Lock(); *on = v; s.mu.Unlock() }

func (s *stuck) ClaimAttempt(ctx context.Context, id, owner string) error {
	if err := s.fail(&s.claim); err != nil {
		return err
	}
	return s.Store.ClaimAttempt(ctx, id, owner)
}

func (s *stuck) MarkHandover(ctx context.Context, id, owner string, ev mail.Evidence) error {
	if err := s.fail(&s.mark); err != nil {
		return err
	}
	return s.Store.MarkHandover(ctx, id, owner, ev)
}

func (s *stuck) SettleAttempt(ctx context.Context, id, owner string, st mail.Settled) error {
	if err := s.fail(&s.end); err != nil {
		return err
	}
	return s.Store.SettleAttempt(ctx, id, owner, st)
}

// withStuck returns a setup whose store can be made to fail.
func withStuck(s setup) (setup, func() *stuck) {
	var made *stuck
	s.wrap = func(st *store.Store) engine.Store {
		made = &stuck{Store: st}
		return made
	}
	return s, func() *stuck { return made }
}

func TestSameKeyWhilePendingOrSending(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	t.Run("pending", func(t *testing.T) {
		p := goodPeer(t)
		s, get := withStuck(setup{accounts: []mail.Account{account(t, "me", p)}})
		w := start(t, s)
		get().set(&get().claim, true)
		_, err := w.Send(ctx, letter("key"))
		wantCode(t, err, mail.CodeDiskFull)
		get().set(&get().claim, false)
		a := must1(w.Send(ctx, letter("key")))(t)
		if a.Status != mail.StatusPending || !a.Replayed || p.Connections() != 0 {
			t.Errorf("%s, replayed %v, %d connections", a.Status, a.Replayed, p.Connections())
		}
	})
	t.Run("sending", func(t *testing.T) {
		reached, goOn := make(chan struct{}), make(chan struct{})
		p := smtptest.Start(t, smtptest.Script{At: map[mail.Step]smtptest.Action{
			mail.StepReply: smtptest.Do(func() { close(reached); <-goOn }).Then(smtptest.Reply("250 ok"))}})
		w := start(t, setup{accounts: []mail.Account{account(t, "me", p)}})
		var first view.Attempt
		var wg sync.WaitGroup
		wg.Go(func() { first, _ = w.Send(ctx, letter("key")) })
		<-reached
		a := must1(w.Send(ctx, letter("key")))(t)
		if a.Status != mail.StatusSending || !a.Replayed {
			t.Errorf("%s, replayed %v", a.Status, a.Replayed)
		}
		close(goOn)
		wg.Wait()
		if first.Status != mail.StatusSent || first.ID != a.ID || len(taken(p)) != 1 {
			t.Errorf("the first is %s (%s), %d messages", first.Status, first.ID, len(taken(p)))
		}
	})
}

func TestOtherPayloadIsRefused(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p := goodPeer(t)
	w := start(t, setup{accounts: []mail.Account{account(t, "me", p), account(t, "other", p)}})
	msg, msg2 := w.incoming("me", "bob@example.net"), w.incoming("me", "eve@example.net")
	must1(w.Send(ctx, letter("key")))(t)
	must1(w.Reply(ctx, view.ReplyRequest{MessageID: msg, Body: "Yes.", Key: "replykey"}))(t)
	for _, c := range []struct {
		name   string
		change func(*view.SendRequest)
	}{
		{"another body", func(r *view.SendRequest) { r.Body = "Another.\n" }},
		{"another subject", func(r *view.SendRequest) { r.Subject = "Other" }},
		{"another recipient", func(r *view.SendRequest) { r.To = to("eve@example.net") }},
		{"one recipient more", func(r *view.SendRequest) { r.Bcc = to("eve@example.net") }},
		{"an attachment", func(r *view.SendRequest) {
			r.Files = []mail.Attachment{{AttachmentRef: mail.AttachmentRef{Name: "a.txt", Type: "text/plain", SHA256: digest([]byte("x"))}, Content: []byte("x")}}
		}},
		{"another account", func(r *view.SendRequest) { r.Account = "other" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := letter("key")
			c.change(&r)
			_, err := w.Send(ctx, r)
			if e := wantCode(t, err, mail.CodeKeyReused); e.Retryable || e.Hint == "" {
				t.Errorf("the refusal: %+v", e)
			}
		})
	}
	for _, c := range []struct {
		name string
		send func() (view.Attempt, error)
	}{
		{"a reply under an outbound key", func() (view.Attempt, error) {
			return w.Reply(ctx, view.ReplyRequest{MessageID: msg, Body: "A line.\n.dot\n", Key: "key"})
		}},
		{"an outbound message under a reply's key", func() (view.Attempt, error) { return w.Send(ctx, letter("replykey")) }},
		{"an answer to another message", func() (view.Attempt, error) {
			return w.Reply(ctx, view.ReplyRequest{MessageID: msg2, Body: "Yes.", Key: "replykey"})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.send()
			wantCode(t, err, mail.CodeKeyReused)
		})
	}
	t.Run("line ends and trailing blank lines are no difference", func(t *testing.T) {
		r := letter("key")
		r.Body = "A line.\r\n.dot\r\n\r\n\n"
		if a := must1(w.Send(ctx, r))(t); !a.Replayed {
			t.Errorf("attempt %s is new", a.ID)
		}
	})
	if n := len(w.rows()); n != 2 || len(taken(p)) != 2 {
		t.Errorf("%d rows, %d messages; want 2 and 2", n, len(taken(p)))
	}
}

func TestTwoCallersRaceOneKey(t *testing.T) {
	t.Parallel()
	p := goodPeer(t)
	w := start(t, setup{accounts: []mail.Account{account(t, "me", p)}})
	got := make([]view.Attempt, 8)
	errs := make([]error, len(got))
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() { got[i], errs[i] = w.Send(context.Background(), letter("key")) })
	}
	wg.Wait()
	fresh := 0
	for i := range got {
		must(t, errs[i])
		if got[i].ID != got[0].ID {
			t.Errorf("caller %d has another attempt", i)
		}
		if !got[i].Replayed {
			fresh++
		}
	}
	if fresh != 1 || len(w.rows()) != 1 || len(taken(p)) != 1 {
		t.Errorf("%d made one, %d rows, %d messages; want 1 of each", fresh, len(w.rows()), len(taken(p)))
	}
}

// lostRace answers as a database does whose unique index refused an insert
// while the row that holds the key cannot be read.
type lostRace struct{ *store.Store }

func (lostRace) OpenAttempt(context.Context, mail.Attempt, int64) (mail.Attempt, bool, error) {
	return mail.Attempt{}, false, &mail.Error{Code: mail.CodeKeyConflict, Retryable: true, Text: "The key was taken at the same moment."}
}

func TestLosingInsertWithoutARowIsAConflict(t *testing.T) {
	t.Parallel()
	p := goodPeer(t)
	w := start(t, setup{accounts: []mail.Account{account(t, "me", p)}, wrap: func(s *store.Store) engine.Store { return lostRace{s} }})
	_, err := w.Send(context.Background(), letter("key"))
	if e := wantCode(t, err, mail.CodeKeyConflict); !e.Retryable {
		t.Error("it is not retryable")
	}
	if p.Connections() != 0 {
		t.Error("something was dialled")
	}
}

func TestRetryHasANewKeyAndALineage(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, c := range []struct {
		name   string
		at     map[mail.Step]smtptest.Action
		status mail.DeliveryStatus
	}{
		{"failed", map[mail.Step]smtptest.Action{mail.StepMail: smtptest.Reply("550 no")}, mail.StatusFailed},
		{"uncertain", map[mail.Step]smtptest.Action{mail.StepReply: smtptest.HangUp()}, mail.StatusUncertain},
	} {
		for _, kind := range mail.AllAttemptKinds() {
			t.Run(c.name+"/"+string(kind), func(t *testing.T) {
				p := smtptest.Start(t, smtptest.Script{At: c.at})
				w := start(t, setup{accounts: []mail.Account{account(t, "me", p)}})
				var first view.Attempt
				if kind == mail.KindReply {
					first = must1(w.Reply(ctx, view.ReplyRequest{MessageID: w.incoming("me", "bob@example.net"), Body: "Yes.", Key: "key"}))(t)
				} else {
					first = must1(w.Send(ctx, letter("key")))(t)
				}
				if first.Status != c.status {
					t.Fatalf("first: %s", first.Status)
				}
				second := must1(w.Resend(ctx, first.ID, view.ResendOptions{Wait: true}))(t)
				if second.ID == first.ID || second.IdempotencyKey == "key" || second.RetryOf == nil || *second.RetryOf != first.ID || second.Kind != kind {
					t.Errorf("second: %+v", second)
				}
				if second.RFCMessageID != first.RFCMessageID {
					t.Error("the same bytes have another Message-ID")
				}
				old := w.row(first.ID)
				if old.Status != c.status || old.RetriedBy != second.ID {
					t.Errorf("the first is %s now, retried by %q", old.Status, old.RetriedBy)
				}
				if want := map[mail.DeliveryStatus]mail.Resolution{mail.StatusUncertain: mail.ResolutionResent}[c.status]; old.Resolution != want {
					t.Errorf("resolution %q, want %q", old.Resolution, want)
				}
				_, err := w.Resend(ctx, first.ID, view.ResendOptions{Wait: true})
				wantCode(t, err, mail.CodeConflict) // only the newest of a chain
				third := must1(w.Resend(ctx, second.ID, view.ResendOptions{Wait: true, NewMessage: true}))(t)
				if third.RFCMessageID == first.RFCMessageID {
					t.Error("a new message has the old Message-ID")
				}
				chain := must1(w.Chain(ctx, third.ID))(t)
				if len(chain) != 3 || chain[0].ID != first.ID || chain[2].ID != third.ID {
					t.Errorf("chain of %d", len(chain))
				}
			})
		}
	}
	t.Run("a resend under a key of the caller's is repeated as one", func(t *testing.T) {
		p := smtptest.Start(t, smtptest.Script{At: map[mail.Step]smtptest.Action{mail.StepReply: smtptest.HangUp()}})
		w := start(t, setup{accounts: []mail.Account{account(t, "me", p)}})
		first := must1(w.Send(ctx, letter("key")))(t)
		second := must1(w.Resend(ctx, first.ID, view.ResendOptions{Wait: true, Key: "key2"}))(t)
		again := must1(w.Resend(ctx, first.ID, view.ResendOptions{Wait: true, Key: "key2"}))(t)
		if again.ID != second.ID || !again.Replayed || len(taken(p)) != 2 {
			t.Errorf("attempt %s after %s, %d messages", again.ID, second.ID, len(taken(p)))
		}
	})
	t.Run("a resend under the key it was sent with is no resend", func(t *testing.T) {
		p := smtptest.Start(t, smtptest.Script{At: map[mail.Step]smtptest.Action{mail.StepReply: smtptest.HangUp()}})
		w := start(t, setup{accounts: []mail.Account{account(t, "me", p)}})
		first := must1(w.Send(ctx, letter("key")))(t)
		again := must1(w.Resend(ctx, first.ID, view.ResendOptions{Wait: true, Key: "key"}))(t)
		if again.ID != first.ID || !again.Replayed || len(taken(p)) != 1 {
			t.Errorf("attempt %s (replayed %v), %d messages", again.ID, again.Replayed, len(taken(p)))
		}
	})
	t.Run("a sent one is not sent again", func(t *testing.T) {
		w := start(t, setup{accounts: []mail.Account{account(t, "me", goodPeer(t))}})
		first := must1(w.Send(ctx, letter("key")))(t)
		_, err := w.Resend(ctx, first.ID, view.ResendOptions{Wait: true})
		wantCode(t, err, mail.CodeConflict)
	})
}

// unsubmitted are the steps at which a failure is proven to lie before
// submission.
func unsubmitted() map[string]smtptest.Script {
	at := func(s mail.Step, a smtptest.Action) smtptest.Script {
		return smtptest.Script{At: map[mail.Step]smtptest.Action{s: a}}
	}
	return map[string]smtptest.Script{
		"greeting":         at(mail.StepGreeting, smtptest.Reply("554 no")),
		"TLS":              at(mail.StepTLS, smtptest.HangUp()),
		"EHLO":             at(mail.StepEHLO, smtptest.Reply("502 what")),
		"STARTTLS":         at(mail.StepSTARTTLS, smtptest.Reply("454 not now")),
		"STARTTLS missing": {Plain: true},
		"AUTH":             at(mail.StepAuth, smtptest.Reply("535 no")),
		"MAIL":             at(mail.StepMail, smtptest.Reply("550 no")),
		"all RCPT refused": at(mail.StepRcpt, smtptest.Reply("550 no")),
		"421 at RCPT":      at(mail.StepRcpt, smtptest.Reply("421 closing").Then(smtptest.HangUp())),
	}
}

func TestOutboundKeyIsReleasedBeforeSubmission(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	bad := unsubmitted()
	bad["dial"] = smtptest.Script{}
	for name, script := range bad {
		t.Run(name, func(t *testing.T) {
			p := smtptest.Start(t, script)
			acct := account(t, "me", p)
			if name == "dial" {
				p.Close()
			}
			w := start(t, setup{accounts: []mail.Account{acct}})
			first := must1(w.Send(ctx, letter("key")))(t)
			if first.Status != mail.StatusFailed || !w.row(first.ID).KeyReleased {
				t.Fatalf("%s %s, released %v", first.Status, codeOf(first), w.row(first.ID).KeyReleased)
			}
			r := letter("key")
			r.Body = "Another.\n"
			_, err := w.Send(ctx, r)
			wantCode(t, err, mail.CodeKeyReused) // given back for the same payload only
			second := must1(w.Send(ctx, letter("key")))(t)
			if second.ID == first.ID || second.Replayed || second.RetryOf == nil || *second.RetryOf != first.ID {
				t.Errorf("second: %s of %v, replayed %v", second.ID, second.RetryOf, second.Replayed)
			}
			// The reply's key is not.
			id := w.incoming("me", "bob@example.net")
			reply := func() view.Attempt {
				return must1(w.Reply(ctx, view.ReplyRequest{MessageID: id, Body: "Yes.", Key: "replykey"}))(t)
			}
			one := reply()
			if one.Status != mail.StatusFailed || w.row(one.ID).KeyReleased {
				t.Errorf("reply: %s, released %v", one.Status, w.row(one.ID).KeyReleased)
			}
			if two := reply(); two.ID != one.ID || !two.Replayed {
				t.Error("a failed reply's key made a new attempt")
			}
		})
	}
}

func TestKeyIsKeptAfterSubmissionBegan(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]map[mail.Step]smtptest.Action{
		"lost in the body":         {mail.StepBody: smtptest.HangUp()},
		"refused after the end":    {mail.StepReply: smtptest.Reply("554 5.7.1 no")},
		"4xx after the end":        {mail.StepReply: smtptest.Reply("451 4.3.0 later")},
		"lost after the end":       {mail.StepReply: smtptest.Reset()},
		"421 after the end":        {mail.StepReply: smtptest.Reply("421 4.3.0 closing")},
		"accepted, then QUIT lost": {mail.StepQuit: smtptest.Reset()},
	} {
		t.Run(name, func(t *testing.T) {
			p := smtptest.Start(t, smtptest.Script{At: at})
			w := start(t, setup{accounts: []mail.Account{account(t, "me", p)}})
			first := must1(w.Send(context.Background(), letter("key")))(t)
			if w.row(first.ID).KeyReleased {
				t.Errorf("%s: the key is released", first.Status)
			}
			if again := must1(w.Send(context.Background(), letter("key")))(t); again.ID != first.ID {
				t.Error("the key made a second attempt")
			}
		})
	}
}

func TestRecordsExpire(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	clk := newClock()
	p := smtptest.Start(t, smtptest.Script{At: map[mail.Step]smtptest.Action{mail.StepBody: smtptest.HangUp()}})
	good := goodPeer(t)
	w := start(t, setup{accounts: []mail.Account{account(t, "me", good), account(t, "bad", p)}, clock: clk})
	bad := letter("failed")
	bad.Account = "bad"
	sent, failed := must1(w.Send(ctx, letter("sent")))(t), must1(w.Send(ctx, bad))(t)
	reply := must1(w.Reply(ctx, view.ReplyRequest{MessageID: w.incoming("me", "bob@example.net"), Body: "Yes.", Key: "reply"}))(t)
	bg := func() { // the loop expires once an hour, and when it starts
		ctx, cancel := context.WithCancel(ctx)
		w.StartBackground(ctx)
		eventually(t, "the loop ran", func() bool { return w.row(sent.ID).KeyReleased })
		cancel()
	}
	clk.add(31 * 24 * time.Hour)
	bg()
	for _, a := range []view.Attempt{sent, failed} {
		if _, err := w.st.AttemptBytes(ctx, a.ID); !errors.Is(err, mail.ErrCode(mail.CodeNotFound)) {
			t.Errorf("%s: the bytes are still there: %v", a.IdempotencyKey, err)
		}
		if row := w.row(a.ID); row.Status != a.Status || row.Body == "" {
			t.Errorf("%s: the attempt is %s with body %q", a.IdempotencyKey, row.Status, row.Body)
		}
	}
	if _, err := w.st.AttemptBytes(ctx, reply.ID); err != nil {
		t.Errorf("a reply's record expired: %v", err)
	}
	other := letter("sent")
	other.Body = "Something else.\n"
	if a := must1(w.Send(ctx, other))(t); a.Replayed || a.RetryOf != nil {
		t.Errorf("the expired key: replayed %v, retry of %v", a.Replayed, a.RetryOf)
	}
	t.Run("the same bytes cannot be sent again, the text can", func(t *testing.T) {
		_, err := w.Resend(ctx, failed.ID, view.ResendOptions{Wait: true})
		wantCode(t, err, mail.CodeInvalid)
		if a := must1(w.Resend(ctx, failed.ID, view.ResendOptions{Wait: true, NewMessage: true}))(t); a.Body != failed.Body {
			t.Errorf("body %q", a.Body)
		}
	})
}

// eventually polls cond until it holds.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	end := time.After(40 * time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("it did not come to pass: %s", what)
		}
	}
}
