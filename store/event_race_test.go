package store

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"skrzynka/mail"
)

// inMemory puts the test's folders where a sync costs nothing, if the machine
// has such a place: these tests commit ten thousand times.
func inMemory(t *testing.T) {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		dir, err := os.MkdirTemp("/dev/shm", "skrzynka-test-")
		if err == nil {
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			t.Setenv("TMPDIR", dir)
		}
	}
}

// rounds is how often a race is run: 40 times, or SKRZYNKA_ROUNDS.
func rounds() int {
	if n, err := strconv.Atoi(os.Getenv("SKRZYNKA_ROUNDS")); err == nil && n > 0 {
		return n
	}
	return 40
}

// Two workers are given the same message at the same moment: one event, one
// effect, and both are told the same outcome.
func TestTwoWorkersOneMessage(t *testing.T) {
	inMemory(t)
	ctx := context.Background()
	s, clk, inbox, _ := mailbox(t)
	other := openAt(t, s.Dir(), clk)
	n := rounds()
	replayed := [2]int{}
	for i := range n {
		a := sentTo(t, s, fmt.Sprint("k", i), fmt.Sprintf("h%d@there.example", i))
		planned(t, s, a.ID, clk.Now().Add(time.Hour))
		id := putMail(t, s, inbox, uint32(i+1), human(i, fmt.Sprintf("h%d@there.example", i), a.RFCMessageID))
		m := get(t, s, id)
		var got [2]mail.Recorded
		var errs [2]error
		var start, done sync.WaitGroup
		start.Add(1)
		for w, st := range []*Store{s, other} {
			done.Go(func() {
				start.Wait()
				for range (i * 7) % 5 * w {
					runtime.Gosched()
				}
				got[w], errs[w] = recorderOf(st).Record(ctx, &m, true)
			})
		}
		start.Done()
		done.Wait()
		for w := range got {
			if errs[w] != nil {
				t.Fatal(errs[w])
			}
			if got[w].Replayed {
				replayed[w]++
			}
		}
		if got[0].Replayed == got[1].Replayed || got[0].EventID != got[1].EventID || got[0].Outcome != got[1].Outcome || got[0].Class != mail.ClassHumanReply {
			t.Fatalf("round %d: %+v and %+v", i, got[0], got[1])
		}
	}
	for q, want := range map[string]int{
		`SELECT count(*) FROM event`:                                           n,
		`SELECT count(*) FROM classification`:                                  n,
		`SELECT count(*) FROM plan WHERE state = 'stopped'`:                    n,
		`SELECT count(*) FROM contact WHERE state = 'replied' AND version = 2`: n,
		`SELECT count(*) FROM audit WHERE action = 'plan.stopped'`:             n,
		`SELECT count(*) FROM effect WHERE kind = 'stop_plan' AND done <> ''`:  n,
		`SELECT count(*) FROM inbound_due`:                                     0,
	} {
		if got := scalar[int](t, s, q); got != want {
			t.Errorf("%s: %d, want %d", q, got, want)
		}
	}
	t.Logf("%d rounds; the first worker lost %d times, the second %d times", n, replayed[0], replayed[1])
}

// dueStep is a step that is due now, on a fresh account.
func dueStep(t testing.TB, s *Store, key, to string) (mail.Attempt, mail.Plan) {
	t.Helper()
	a := sentTo(t, s, key, to)
	p := planned(t, s, a.ID, s.clock.Now())
	must(t, s.SetFresh(context.Background(), "me", s.clock.Now()))
	return a, p
}

// submit takes a due step up to the commit that begins its transaction.
func submit(s *Store, step, to string) error {
	ctx := context.Background()
	if err := s.ClaimStep(ctx, step, s.Owner()); err != nil {
		return err
	}
	a := outbound(mail.FollowUpPrefix+step, "Any news?")
	a.To = []mail.Address{{Addr: to}}
	got, _, err := s.OpenAttempt(ctx, a, 0)
	if err != nil {
		return err
	}
	return s.ClaimAttempt(ctx, got.ID, s.Owner())
}

// Where the answer comes between the steps of a send, one after the other.
func TestAnswerBetweenTheStepsOfAFollowUp(t *testing.T) {
	ctx := context.Background()
	for _, after := range []string{"nothing", "the claim", "the attempt", "the last look"} {
		t.Run("after "+after, func(t *testing.T) {
			s, _, inbox, _ := mailbox(t)
			a, p := dueStep(t, s, "k", "h@there.example")
			step := p.Steps[0].ID
			answered := false
			answer := func(now string) {
				if now == after {
					putMail(t, s, inbox, 1, human(1, "h@there.example", a.RFCMessageID))
					drain(t, s)
					answered = true
				}
			}
			var err error
			do := func(f func() error) {
				if err == nil {
					err = f()
				}
			}
			var id string
			answer("nothing")
			do(func() error { return s.ClaimStep(ctx, step, s.Owner()) })
			answer("the claim")
			do(func() error {
				f := outbound(mail.FollowUpPrefix+step, "Any news?")
				f.To = []mail.Address{{Addr: "h@there.example"}}
				got, _, err := s.OpenAttempt(ctx, f, 0)
				id = got.ID
				return err
			})
			answer("the attempt")
			do(func() error { return s.ClaimAttempt(ctx, id, s.Owner()) })
			answer("the last look")
			if !answered {
				t.Fatal("nobody answered")
			}
			if late := after == "the last look"; late != (err == nil) {
				t.Errorf("the follow-up went out: %v, error %v", err == nil, err)
			}
			if err != nil {
				wantCode(t, err, mail.CodeConflict)
			}
			if got := must1(s.Plan(ctx, p.ID))(t); got.State != mail.PlanStopped || got.Steps[1].State != mail.FollowCancelled {
				t.Errorf("the plan is %s, the second step %s", got.State, got.Steps[1].State)
			}
			if after == "the attempt" {
				if at := must1(s.Attempt(ctx, id))(t); at.Status != mail.StatusFailed || at.ErrorCode != mail.CodeCancelled {
					t.Errorf("its attempt is %s, %s", at.Status, at.ErrorCode)
				}
			}
		})
	}
}

// A reply and a due follow-up at the same moment, in whatever order the two
// processes' commits fall: whichever commits first wins, and the other reads it.
func TestAnswerAgainstDueFollowUp(t *testing.T) {
	inMemory(t)
	ctx := context.Background()
	s, clk, inbox, _ := mailbox(t)
	other := openAt(t, s.Dir(), clk)
	n := rounds()
	sent := 0
	for i := range n {
		clk.add(time.Second)
		to := fmt.Sprintf("h%d@there.example", i)
		a, p := dueStep(t, s, fmt.Sprint("k", i), to)
		m := get(t, s, putMail(t, s, inbox, uint32(i+1), human(i, to, a.RFCMessageID)))
		step := p.Steps[0].ID
		var sendErr, recErr error
		var start, done sync.WaitGroup
		start.Add(1)
		done.Go(func() {
			start.Wait()
			sendErr = submit(s, step, to)
		})
		done.Go(func() {
			start.Wait()
			time.Sleep(time.Duration(i%25) * 100 * time.Microsecond)
			_, recErr = recorderOf(other).Record(ctx, &m, true)
		})
		start.Done()
		done.Wait()
		if recErr != nil {
			t.Fatal(recErr)
		}
		var claimed, answered int64
		if sendErr == nil {
			sent++
			claimed = scalar[int64](t, s, `SELECT u.id FROM audit u JOIN attempt a ON u.subject = 'attempt:' || a.id WHERE a.idempotency_key = ? AND u.action = 'attempt.claimed'`, mail.FollowUpPrefix+step)
			answered = scalar[int64](t, s, `SELECT id FROM audit WHERE subject = 'plan:' || ? AND action = 'plan.stopped'`, p.ID)
			if claimed > answered {
				t.Fatalf("round %d: a follow-up was claimed (%d) after the answer was recorded (%d)", i, claimed, answered)
			}
			continue
		}
		wantCode(t, sendErr, mail.CodeConflict)
		must(t, s.DropFollowUp(ctx, step, "a test"))
		if k := scalar[int](t, s, `SELECT count(*) FROM attempt WHERE idempotency_key = ? AND status <> 'failed'`, mail.FollowUpPrefix+step); k != 0 {
			t.Fatalf("round %d: %d attempts of a cancelled step are left", i, k)
		}
	}
	if k := scalar[int](t, s, `SELECT count(*) FROM plan WHERE state <> 'stopped'`); k != 0 {
		t.Errorf("%d plans were not stopped", k)
	}
	t.Logf("%d rounds: the follow-up was first %d times, the answer %d times", n, sent, n-sent)
	if n >= 1000 && (sent == 0 || sent == n) {
		t.Error("only one order was seen")
	}
}
