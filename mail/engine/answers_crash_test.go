package engine_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"skrzynka/auth"
	"skrzynka/mail"
	"skrzynka/mail/engine"
	"skrzynka/mail/submit"
	"skrzynka/store"
)

const childEnv = "ENGINE_TEST_CHILD"

// childOrder is what a re-executed test binary is told to do.
type childOrder struct {
	Dir     string
	Account mail.Account
	Secret  string
	Moved   time.Duration
	Point   string
}

// dying kills the process at one point of a follow-up's way.
type dying struct {
	*store.Store
	point string
}

func (d *dying) at(point string) {
	if point == d.point {
		p, err := os.FindProcess(os.Getpid())
		if err == nil {
			_ = p.Kill()
		}
		select {}
	}
}

func (d *dying) ClaimStep(ctx context.Context, id, owner string) error {
	d.at("before the claim")
	err := d.Store.ClaimStep(ctx, id, owner)
	d.at("claimed")
	return err
}

func (d *dying) OpenAttempt(ctx context.Context, a mail.Attempt, draft int64) (mail.Attempt, bool, error) {
	got, replayed, err := d.Store.OpenAttempt(ctx, a, draft)
	d.at("recorded")
	return got, replayed, err
}

func (d *dying) ClaimAttempt(ctx context.Context, id, owner string) error {
	err := d.Store.ClaimAttempt(ctx, id, owner)
	d.at("sending")
	return err
}

func (d *dying) MarkHandover(ctx context.Context, id, owner string, ev mail.Evidence) error {
	err := d.Store.MarkHandover(ctx, id, owner, ev)
	d.at("handed over")
	return err
}

func (d *dying) SettleAttempt(ctx context.Context, id, owner string, s mail.Settled) error {
	d.at("accepted")
	err := d.Store.SettleAttempt(ctx, id, owner, s)
	d.at("settled")
	return err
}

func (d *dying) SettleStep(ctx context.Context, id string, to mail.FollowState, why string, next time.Time) error {
	err := d.Store.SettleStep(ctx, id, to, why, next)
	d.at("step settled")
	return err
}

// TestChildFollowsUp is not a test of its own: run again by
// TestFollowUpKilledAnywhere it sends what is due and dies where it was told.
func TestChildFollowsUp(t *testing.T) {
	raw := os.Getenv(childEnv)
	if raw == "" {
		return // the parent has nothing to do here
	}
	var o childOrder
	if err := json.Unmarshal([]byte(raw), &o); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	clock := &moving{by: o.Moved}
	st, err := store.Open(ctx, o.Dir, store.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Options{Store: &dying{st, o.Point}, Owner: st.Owner(), Accounts: []mail.Account{o.Account}, DefaultAccount: o.Account.Name,
		Outbox: mail.OutboxPolicy{ResendUnsubmitted: "ask", RetryRecordDays: 30}, PollInterval: time.Hour, Clock: clock, Zone: time.UTC,
		Credentials: auth.Static{o.Account.Name: auth.NewSecret(o.Secret)}, Timeouts: submit.Timeouts{Reply: 10 * time.Second, Quit: 100 * time.Millisecond}})
	_, _ = e.RunFollowUps(ctx, false)
}

// A crash anywhere and a restart never send a step twice: the next start sends
// it when it had not begun, and asks a person when that cannot be known.
func TestFollowUpKilledAnywhere(t *testing.T) {
	for _, c := range []struct {
		point string
		sends int // messages the server has in the end, the first one included
		plan  mail.PlanState
		step  mail.FollowState
	}{
		{"before the claim", 2, mail.PlanActive, mail.FollowSent},
		{"claimed", 2, mail.PlanActive, mail.FollowSent},
		{"recorded", 2, mail.PlanActive, mail.FollowSent},
		{"sending", 1, mail.PlanHeld, mail.FollowUncertain},
		{"handed over", 1, mail.PlanHeld, mail.FollowUncertain},
		{"accepted", 2, mail.PlanHeld, mail.FollowUncertain},
		{"settled", 2, mail.PlanActive, mail.FollowSent},
		{"step settled", 2, mail.PlanActive, mail.FollowSent},
	} {
		t.Run(c.point, func(t *testing.T) {
			a := newAnswers(t, nil)
			_, p := a.send("ok")
			a.StopSends()
			a.Wait()
			if err := a.store.Close(); err != nil {
				t.Fatal(err)
			}
			a.clock.add(3*24*time.Hour + time.Minute)
			order, err := json.Marshal(childOrder{a.dir, a.acct, a.servers.Password, time.Until(a.clock.Now()), c.point})
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(os.Args[0], "-test.run=^TestChildFollowsUp$")
			cmd.Env = append(os.Environ(), childEnv+"="+string(order))
			if out, err := cmd.CombinedOutput(); err == nil {
				t.Fatalf("the child did not die:\n%s", out)
			}
			a.start()
			if a.store.Restored() {
				t.Error("a crash looks like a restored backup")
			}
			for range 3 { // whoever starts looks again and again
				if _, err := a.Recover(context.Background()); err != nil {
					t.Fatal(err)
				}
				a.run(false)
			}
			got, err := a.FollowUp(context.Background(), p.ID)
			if err != nil {
				t.Fatal(err)
			}
			if n := a.submitted("ok"); n != c.sends || got.State != c.plan || got.Steps[0].State != c.step {
				t.Errorf("%d messages, plan %s, step %s; want %d, %s, %s\n%s", n, got.State, got.Steps[0].State, c.sends, c.plan, c.step, a.story("plan:"+p.ID))
			}
		})
	}
}

// Two workers on one store: one works, the other watches, and takes over.
func TestOneWorkerWorks(t *testing.T) {
	a := newAnswers(t, nil)
	other := &answers{world: &world{t: t, servers: a.servers, dir: a.dir}, clock: a.clock, acct: a.acct}
	other.start()
	lines := make(chan string, 20)
	run := func(w *answers, name string) (stop context.CancelFunc, ended chan error) {
		ctx, cancel := context.WithCancel(context.Background())
		ended = make(chan error, 1)
		go func() { ended <- w.Worker(ctx, func(l string) { lines <- name + " " + l }) }()
		return cancel, ended
	}
	next := func(want string) {
		t.Helper()
		select {
		case got := <-lines:
			if got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("nobody said %q", want)
		}
	}
	_, p := a.send("ok")
	stopA, endA := run(a, "first")
	next("first working")
	stopB, endB := run(other, "second")
	next("second watching: another worker does the work")
	a.clock.add(3*24*time.Hour + time.Minute)
	a.untilStep(p.ID, 0, mail.FollowSent)
	stopA()
	next("first stopping")
	next("first stopped")
	if err := <-endA; err != nil {
		t.Error(err)
	}
	next("second working")
	a.clock.add(4*24*time.Hour + time.Minute)
	other.untilStep(p.ID, 1, mail.FollowSent)
	stopB()
	if err := <-endB; err != nil {
		t.Error(err)
	}
	if n := a.submitted("ok"); n != 3 {
		t.Errorf("%d messages went out", n)
	}
}

// untilStep waits until a step stands somewhere.
func (a *answers) untilStep(plan string, n int, want mail.FollowState) {
	a.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		p, err := a.FollowUp(context.Background(), plan)
		if err != nil {
			a.t.Fatal(err)
		}
		if p.Steps[n].State == want {
			return
		}
		if time.Now().After(deadline) {
			a.t.Fatalf("step %d is %s: %s", n+1, p.Steps[n].State, p.Says)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
