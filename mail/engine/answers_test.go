package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"skrzynka/auth"
	"skrzynka/mail"
	"skrzynka/mail/engine"
	"skrzynka/mail/loopback"
	"skrzynka/mail/submit"
	"skrzynka/mail/view"
	"skrzynka/store"
)

// moving is the machine's clock plus what a test adds to it.
type moving struct {
	mu sync.Mutex
	by time.Duration
}

func (m *moving) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Now().Add(m.by)
}

func (m *moving) add(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.by += d
}

// answers is a world whose clock can be moved forward.
type answers struct {
	*world
	clock *moving
	acct  mail.Account
}

func newAnswers(t *testing.T, change func(*mail.Account)) *answers {
	t.Helper()
	clock := &moving{}
	servers, err := loopback.Start(loopback.Options{Now: clock.Now, SlowReply: time.Millisecond, BounceAfter: time.Millisecond,
		AutoReplyAfter: time.Millisecond, HumanAfter: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(servers.Close)
	if err := servers.WriteCA(filepath.Join(t.TempDir(), "ca.pem")); err != nil {
		t.Fatal(err)
	}
	a := &answers{world: &world{t: t, servers: servers, dir: t.TempDir()}, clock: clock, acct: servers.Account()}
	if change != nil {
		change(&a.acct)
	}
	a.start()
	a.sync()
	return a
}

// start opens store and engine, as a process that starts does.
func (a *answers) start() {
	a.t.Helper()
	ctx := context.Background()
	st, err := store.Open(ctx, a.dir, store.Options{Clock: a.clock})
	if err != nil {
		a.t.Fatal(err)
	}
	if err := st.SyncAccounts(ctx, []mail.Account{a.acct}); err != nil {
		a.t.Fatal(err)
	}
	a.store = st
	a.Engine = engine.New(engine.Options{Store: st, Owner: st.Owner(), Accounts: []mail.Account{a.acct}, DefaultAccount: a.acct.Name,
		Outbox: mail.OutboxPolicy{ResendUnsubmitted: "ask", RetryRecordDays: 30}, PollInterval: time.Hour, Clock: a.clock, Zone: time.UTC,
		Credentials: auth.Static{a.acct.Name: auth.NewSecret(a.servers.Password)},
		Timeouts:    submit.Timeouts{Reply: 10 * time.Second, Quit: 100 * time.Millisecond}})
	a.t.Cleanup(func() {
		a.StopSends()
		a.Wait()
		st.Close()
	})
}

// send originates a message to a magic recipient and plans a follow-up.
func (a *answers) send(to string) (view.Attempt, view.Plan) {
	a.t.Helper()
	ctx := context.Background()
	at, err := a.Send(ctx, view.SendRequest{To: []mail.Address{{Addr: to + "@demo.example"}}, Subject: "Offer", Body: "Shall we?"})
	if err != nil {
		a.t.Fatal(err)
	}
	p, err := a.AddFollowUp(ctx, view.FollowUpRequest{AttemptID: at.ID, Steps: []view.FollowUpStep{{After: "3d", Body: "Any news?"}, {After: "4d", Body: "Last try."}}})
	if err != nil {
		a.t.Fatal(err)
	}
	return at, p
}

// until syncs until the plan is in a state.
func (a *answers) until(id string, want mail.PlanState) view.Plan {
	a.t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		a.sync()
		p, err := a.FollowUp(context.Background(), id)
		if err != nil {
			a.t.Fatal(err)
		}
		if p.State == want {
			return p
		}
		if time.Now().After(deadline) {
			a.t.Fatalf("the plan is %s, want %s: %s", p.State, want, p.Says)
		}
	}
}

func (a *answers) run(approved bool) view.FollowUpRun {
	a.t.Helper()
	r, err := a.RunFollowUps(context.Background(), approved)
	if err != nil {
		a.t.Fatal(err)
	}
	return r
}

func (a *answers) contact(addr string) view.Contact {
	a.t.Helper()
	c, err := a.Contact(context.Background(), "", addr+"@demo.example")
	if err != nil {
		a.t.Fatal(err)
	}
	return c
}

// submitted counts what the server has accepted for a recipient.
func (a *answers) submitted(to string) int {
	n := 0
	for _, m := range a.servers.Accepted() {
		for _, r := range m.Rcpts {
			if strings.HasPrefix(r, to+"@") {
				n++
			}
		}
	}
	return n
}

// story is the timeline of a thing as one text.
func (a *answers) story(subject string) string {
	a.t.Helper()
	rows, err := a.Audit(context.Background(), subject, 0)
	if err != nil {
		a.t.Fatal(err)
	}
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(r.Action + " " + r.From.String() + ">" + r.To.String() + " " + string(r.Actor) + " " + r.Why.String() + "\n")
	}
	return b.String()
}

func TestAnswerStopsFollowUp(t *testing.T) {
	a := newAnswers(t, nil)
	at, p := a.send("human")
	if p.State != mail.PlanActive || p.Steps[0].DueAt == nil {
		t.Fatalf("the plan is %+v", p)
	}
	a.until(p.ID, mail.PlanStopped)
	if c := a.contact("human"); c.State != mail.ContactReplied {
		t.Errorf("the contact is %s", c.State)
	}
	a.clock.add(30 * 24 * time.Hour)
	if r := a.run(false); len(r.Steps) != 0 || a.submitted("human") != 1 {
		t.Errorf("after an answer: %+v, %d messages went out", r.Steps, a.submitted("human"))
	}
	for _, subject := range []string{"plan:" + p.ID, "attempt:" + at.ID} {
		story := a.story(subject)
		for _, want := range []string{"plan.stopped active>stopped sync", "human_reply from human@demo.example", "a person answered our message"} {
			if !strings.Contains(story, want) {
				t.Errorf("the timeline of %s does not say %q:\n%s", subject, want, story)
			}
		}
	}
}

func TestAbsencePausesFollowUp(t *testing.T) {
	a := newAnswers(t, nil)
	_, p := a.send("ooo")
	p = a.until(p.ID, mail.PlanPaused)
	events, err := a.Events(context.Background(), mail.EventFilter{Class: mail.ClassAutoReply, Contact: "ooo@demo.example"})
	if err != nil || len(events) != 1 || events[0].ReturnDate == nil || events[0].ReturnQuote.Empty() {
		t.Fatalf("events %+v, %v", events, err)
	}
	back := *events[0].ReturnDate
	if gap := p.ResumeAt.Sub(back); gap < 24*time.Hour || gap > 4*24*time.Hour+12*time.Hour {
		t.Errorf("back on %s, resumes at %s", back, p.ResumeAt)
	}
	if wd := p.ResumeAt.Weekday(); wd == time.Saturday || wd == time.Sunday {
		t.Errorf("resumes on a %s", wd)
	}
	a.clock.add(4 * 24 * time.Hour) // step one would have been due
	if a.run(false); a.submitted("ooo") != 1 {
		t.Error("a follow-up went out while the contact was away")
	}
	a.clock.add(p.ResumeAt.Sub(a.clock.Now()) + time.Minute)
	r := a.run(false)
	if len(r.Steps) != 1 || r.Steps[0].Result != "sent" || a.submitted("ooo") != 2 {
		t.Errorf("after the pause: %+v, %d messages went out", r.Steps, a.submitted("ooo"))
	}
}

func TestBounceSuppresses(t *testing.T) {
	a := newAnswers(t, nil)
	at, p := a.send("bounce")
	a.until(p.ID, mail.PlanStopped)
	if c := a.contact("bounce"); c.State != mail.ContactSuppressed || c.EventID == 0 || c.Why.Empty() {
		t.Errorf("the contact is %+v", c)
	}
	got, err := a.Attempt(context.Background(), at.ID)
	if err != nil || !got.Badge.Bounced || got.Status != mail.StatusSent {
		t.Errorf("the attempt is %s, bounced %v, %v", got.Status, got.Badge.Bounced, err)
	}
	// The composer asks before it writes to such an address, and a script is refused.
	_, err = a.Send(context.Background(), view.SendRequest{To: []mail.Address{{Addr: "Bounce@demo.example"}}, Subject: "Again", Body: "x"})
	if e := mail.AsError(err); e == nil || e.Code != mail.CodeConfirmationRequired || !strings.Contains(e.Text, "suppressed") {
		t.Errorf("a send to it: %v", err)
	}
	if _, err := a.AllowContact(context.Background(), "", "bounce@demo.example", "they called"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Send(context.Background(), view.SendRequest{To: []mail.Address{{Addr: "bounce@demo.example"}}, Subject: "Again", Body: "x"}); err != nil {
		t.Errorf("after it was allowed: %v", err)
	}
}

func TestFollowUpGoesOutOnceAndInThread(t *testing.T) {
	a := newAnswers(t, nil)
	at, p := a.send("ok")
	if r := a.run(false); len(r.Steps) != 0 {
		t.Fatalf("before its time: %+v", r.Steps)
	}
	a.clock.add(3*24*time.Hour + time.Minute)
	r := a.run(false)
	if len(r.Steps) != 1 || r.Steps[0].Result != "sent" || r.Steps[0].AttemptID == nil {
		t.Fatalf("when it is due: %+v", r.Steps)
	}
	if again := a.run(false); len(again.Steps) != 0 {
		t.Errorf("a second look: %+v", again.Steps)
	}
	step, err := a.Attempt(context.Background(), *r.Steps[0].AttemptID)
	if err != nil {
		t.Fatal(err)
	}
	if step.IdempotencyKey != mail.FollowUpPrefix+p.Steps[0].ID || step.Subject != "Re: Offer" {
		t.Errorf("key %q, subject %q", step.IdempotencyKey, step.Subject)
	}
	list := a.servers.Accepted()
	raw := string(list[len(list)-1].Raw)
	if !strings.Contains(raw, "In-Reply-To: "+at.RFCMessageID) || !strings.Contains(raw, "References:") {
		t.Errorf("it is in no thread:\n%s", raw)
	}
	a.clock.add(4*24*time.Hour + time.Minute)
	if r := a.run(false); len(r.Steps) != 1 || r.Steps[0].Result != "sent" {
		t.Errorf("the second step: %+v", r.Steps)
	}
	if got, _ := a.FollowUp(context.Background(), p.ID); got.State != mail.PlanDone || a.submitted("ok") != 3 {
		t.Errorf("the plan is %s, %d messages went out", got.State, a.submitted("ok"))
	}
}

func TestHeldWhileServerCannotBeRead(t *testing.T) {
	a := newAnswers(t, nil)
	_, p := a.send("ok")
	a.clock.add(3*24*time.Hour + time.Minute)
	a.servers.StopIMAP()
	r := a.run(false)
	if len(r.Steps) != 1 || r.Steps[0].Result != "waiting" || a.submitted("ok") != 1 {
		t.Fatalf("without the server: %+v", r.Steps)
	}
	got, err := a.FollowUp(context.Background(), p.ID)
	if err != nil || !strings.Contains(got.Says.String(), "could not be read") || got.State != mail.PlanActive {
		t.Errorf("the plan says %q, %v", got.Says, err)
	}
	if err := a.servers.StartIMAP(); err != nil {
		t.Fatal(err)
	}
	a.clock.add(time.Minute)
	if r := a.run(false); len(r.Steps) != 1 || r.Steps[0].Result != "sent" {
		t.Errorf("with the server again: %+v", r.Steps)
	}
}

func TestManyAtOnceAskFirst(t *testing.T) {
	a := newAnswers(t, nil)
	ctx := context.Background()
	var first string
	for i := range 21 {
		at, err := a.Send(ctx, view.SendRequest{To: []mail.Address{{Addr: "ok@demo.example"}}, Subject: "Offer", Body: strings.Repeat("x", i+1)})
		if err != nil {
			t.Fatal(err)
		}
		p, err := a.AddFollowUp(ctx, view.FollowUpRequest{AttemptID: at.ID, Steps: []view.FollowUpStep{{After: "1d", Body: "Any news?"}}})
		if err != nil {
			t.Fatal(err)
		}
		first = p.ID
	}
	a.run(false)
	a.clock.add(25 * time.Hour) // the machine slept
	r := a.run(false)
	if len(r.Steps) != 21 || r.Steps[0].Result != "held" || a.submitted("ok") != 21 {
		t.Fatalf("%d steps, first %+v, %d messages", len(r.Steps), r.Steps[0], a.submitted("ok"))
	}
	if _, err := a.ResumeFollowUp(ctx, first); err != nil {
		t.Fatal(err)
	}
	if r := a.run(false); len(r.Steps) != 1 || r.Steps[0].Result != "sent" {
		t.Errorf("the one that was let go: %+v", r.Steps)
	}
}

func TestRestoredDatabaseHoldsPlans(t *testing.T) {
	a := newAnswers(t, nil)
	_, p := a.send("ok")
	a.StopSends()
	a.Wait()
	if err := a.store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(a.dir, "instance")); err != nil {
		t.Fatal(err)
	}
	a.start()
	a.clock.add(3*24*time.Hour + time.Minute)
	if r := a.run(false); len(r.Steps) != 0 || a.submitted("ok") != 1 {
		t.Errorf("a restored database sent: %+v", r.Steps)
	}
	got, err := a.FollowUp(context.Background(), p.ID)
	if err != nil || got.State != mail.PlanHeld || !strings.Contains(got.Says.String(), "backup") {
		t.Errorf("the plan is %s: %q, %v", got.State, got.Says, err)
	}
}

// A plan made while the message is being written starts when it is accepted.
func TestFollowUpOfADraft(t *testing.T) {
	a := newAnswers(t, nil)
	ctx := context.Background()
	d, err := a.NewDraft(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	d.To, d.Subject, d.Body = []mail.Address{{Addr: "ok@demo.example"}}, "Offer", "Shall we?"
	if d, err = a.SaveDraft(ctx, d); err != nil {
		t.Fatal(err)
	}
	p, err := a.AddFollowUp(ctx, view.FollowUpRequest{DraftID: d.ID, Steps: []view.FollowUpStep{{After: "1d", Body: "Any news?"}}})
	if err != nil || p.State != mail.PlanUnsent || p.AttemptID != nil {
		t.Fatalf("the plan is %+v, %v", p, err)
	}
	at, err := a.SendDraft(ctx, d.ID, false)
	if err != nil {
		t.Fatal(err)
	}
	a.Wait()
	a.run(false)
	got, err := a.FollowUp(ctx, p.ID)
	if err != nil || got.State != mail.PlanActive || got.AttemptID == nil || *got.AttemptID != at.ID || got.Steps[0].DueAt == nil {
		t.Fatalf("after the send the plan is %+v, %v", got, err)
	}
	a.clock.add(25 * time.Hour)
	if r := a.run(false); len(r.Steps) != 1 || r.Steps[0].Result != "sent" {
		t.Errorf("a day later: %+v", r.Steps)
	}
}

// A plan on an uncertain message starts when a person has decided that it was
// sent; on a failed one there is nothing to follow.
func TestFollowUpOfWhatMayNotHaveBeenSent(t *testing.T) {
	a := newAnswers(t, nil)
	ctx := context.Background()
	send := func(to string) view.Attempt {
		at, err := a.Send(ctx, view.SendRequest{To: []mail.Address{{Addr: to + "@demo.example"}}, Subject: "Offer", Body: "Shall we?"})
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	step := []view.FollowUpStep{{After: "1d", Body: "Any news?"}}
	lost := send("drop")
	p, err := a.AddFollowUp(ctx, view.FollowUpRequest{AttemptID: lost.ID, Steps: step})
	if err != nil || p.State != mail.PlanUnsent {
		t.Fatalf("the plan is %s, %v", p.State, err)
	}
	if a.run(false); p.State != mail.PlanUnsent {
		t.Errorf("the plan is %s", p.State)
	}
	if _, err := a.Resolve(ctx, lost.ID, mail.ResolutionSent); err != nil {
		t.Fatal(err)
	}
	a.run(false)
	if got, _ := a.FollowUp(ctx, p.ID); got.State != mail.PlanActive {
		t.Errorf("after the decision the plan is %s", got.State)
	}
	_, err = a.AddFollowUp(ctx, view.FollowUpRequest{AttemptID: send("reject").ID, Steps: step})
	if e := mail.AsError(err); e == nil || e.Code != mail.CodeInvalid {
		t.Errorf("a plan on a failed message: %v", err)
	}
	_, err = a.AddFollowUp(ctx, view.FollowUpRequest{AttemptID: lost.ID, Steps: step})
	if e := mail.AsError(err); e == nil || e.Code != mail.CodeConflict {
		t.Errorf("a second plan: %v", err)
	}
	_, err = a.AddFollowUp(ctx, view.FollowUpRequest{AttemptID: lost.ID, Steps: []view.FollowUpStep{{After: "soon", Body: "x"}}})
	if e := mail.AsError(err); e == nil || e.Code != mail.CodeInvalid || !strings.Contains(e.Text, "soon") {
		t.Errorf("a delay that is none: %v", err)
	}
}

// What needs an answer, and whose turn it is.
func TestWhoseTurn(t *testing.T) {
	a := newAnswers(t, nil)
	ctx := context.Background()
	at, p := a.send("human")
	theirs, err := a.AwaitAnswer(ctx, "")
	if err != nil || len(theirs) != 1 || *theirs[0].AttemptID != at.ID {
		t.Fatalf("waits for them: %+v, %v", theirs, err)
	}
	a.until(p.ID, mail.PlanStopped)
	if theirs, _ = a.AwaitAnswer(ctx, ""); len(theirs) != 0 {
		t.Errorf("after their answer: %+v", theirs)
	}
	mine, err := a.NeedAnswer(ctx, "")
	if err != nil || len(mine) == 0 || !strings.Contains(mine[0].Subject.String(), "Offer") {
		t.Fatalf("needs mine: %+v, %v", mine, err)
	}
	id, _ := strconv.ParseInt(*mine[0].MessageID, 10, 64)
	if _, err := a.Reply(ctx, view.ReplyRequest{MessageID: id, Body: "Thank you."}); err != nil {
		t.Fatal(err)
	}
	again, err := a.NeedAnswer(ctx, "")
	for _, o := range again {
		if *o.MessageID == *mine[0].MessageID {
			t.Errorf("an answered message still needs an answer, %v", err)
		}
	}
}

// Mail that was there before the account is classed when somebody looks.
func TestOlderMailIsClassedWhenLookedAt(t *testing.T) {
	a := newAnswers(t, nil)
	list, err := a.Events(context.Background(), mail.EventFilter{})
	if err != nil || len(list) < 10 {
		t.Fatalf("%d events, %v", len(list), err)
	}
	for _, e := range list {
		if e.Class == "" {
			t.Errorf("event %d (%s) has no class", e.ID, e.Subject)
		}
	}
}
