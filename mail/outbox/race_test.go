package outbox_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"skrzynka/mail"
	"skrzynka/mail/submit/smtptest"
	"skrzynka/mail/view"
)

// TestProcessesAnswerOneMessageWithOneKey: eight commands at once are one
// attempt, one message at the server and eight identical answers.
func TestProcessesAnswerOneMessageWithOneKey(t *testing.T) {
	t.Parallel()
	p := goodPeer(t)
	a := account(t, "me", p)
	dir := t.TempDir()
	w := start(t, setup{dir: dir, accounts: []mail.Account{a}})
	msg := w.incoming("me", "bob@example.net")
	kids := make([]*child, 8)
	for i := range kids {
		kids[i] = spawn(t, job{What: "reply", Dir: dir, Accounts: []mail.Account{a}, Message: msg, Key: "one"})
	}
	release(t, kids)
	ids, fresh := map[string]bool{}, 0
	for i, c := range kids {
		lines := c.lines()
		if err := c.wait(); err != nil || len(lines) != 1 {
			t.Fatalf("process %d: %v %q %s", i, err, lines, c.stderr.String())
		}
		var got view.Attempt
		must(t, json.Unmarshal([]byte(lines[0]), &got))
		ids[got.ID+got.RFCMessageID+got.Body+got.IdempotencyKey] = true
		if !got.Replayed {
			fresh++
			if got.Status != mail.StatusSent {
				t.Errorf("the one that sent it says %s", got.Status)
			}
		}
	}
	if n := len(w.rows()); len(ids) != 1 || fresh != 1 || n != 1 || len(taken(p)) != 1 {
		t.Errorf("%d answers, %d sent it, %d rows, %d messages; want 1 of each", len(ids), fresh, n, len(taken(p)))
	}
}

// release lets children that wait go at once.
func release(t testing.TB, kids []*child) {
	t.Helper()
	for _, c := range kids {
		if s, err := c.out.ReadString('\n'); err != nil || s != "ready\n" {
			t.Fatalf("a child is not ready: %q %v %s", s, err, c.stderr.String())
		}
	}
	for _, c := range kids {
		_, _ = c.in.Write([]byte("\n"))
	}
}

// TestProcessesSendAtOnce: eight processes send on one database and one of them
// is killed. SKRZYNKA_TEST_SENDS is how many each sends, 12 without it.
func TestProcessesSendAtOnce(t *testing.T) {
	t.Parallel()
	sends := number(t, "SKRZYNKA_TEST_SENDS", 12)
	p, imap := goodPeer(t), startIMAP(t)
	a := account(t, "me", p)
	dir := t.TempDir()
	w := start(t, setup{dir: dir, accounts: []mail.Account{a}})
	kids := make([]*child, 8)
	for i := range kids {
		kids[i] = spawn(t, job{What: "many", Dir: dir, Accounts: []mail.Account{a}, N: sends, Name: strconv.Itoa(i)})
	}
	release(t, kids)
	victim := rand.IntN(len(kids))
	for range rand.IntN(sends) { // it dies somewhere in its work
		_, _ = kids[victim].out.ReadString('\n')
	}
	kids[victim].kill()
	for i, c := range kids {
		lines := c.lines()
		err := c.wait()
		if i == victim {
			continue
		}
		if err != nil || len(lines) != sends || strings.Count(strings.Join(lines, " "), "sent") != sends {
			t.Errorf("process %d: %v, %d of %d, %s", i, err, len(lines), sends, c.stderr.String())
		}
		if s := c.stderr.String(); strings.Contains(s, "locked") || strings.Contains(s, "busy") {
			t.Errorf("process %d was told %s", i, s)
		}
	}
	must1(w.Recover(context.Background()))(t)
	bg, cancel := context.WithCancel(context.Background())
	defer cancel()
	w.StartBackground(bg)
	w.settled()
	cancel()
	w.Wait()
	p.Wait()
	oracle(t, w, p, imap)
	if n := len(w.rows()); n < 7*sends || n > 8*sends {
		t.Errorf("%d attempts", n)
	}
}

// TestCommandBesideARunningProgram: what a live process is sending is not
// touched by another that starts, recovers and sends meanwhile; when it dies,
// it is.
func TestCommandBesideARunningProgram(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	reached, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	p := smtptest.Start(t, smtptest.Script{At: map[mail.Step]smtptest.Action{mail.StepReply: smtptest.Do(func() {
		wait := false
		once.Do(func() { wait = true })
		if wait {
			close(reached)
			<-goOn
		}
	}).Then(smtptest.Reply("250 2.0.0 ok"))}})
	a := account(t, "me", p)
	dir := t.TempDir()
	tui := start(t, setup{dir: dir, accounts: []mail.Account{a}})
	var got view.Attempt
	var wg sync.WaitGroup
	wg.Go(func() { got, _ = tui.Send(ctx, letter("slow")) })
	<-reached
	// Another process, by itself and with its loops running.
	c := spawn(t, job{What: "send", Dir: dir, Accounts: []mail.Account{a}, Key: "quick"})
	if lines := c.lines(); c.wait() != nil || len(lines) != 1 || !strings.Contains(lines[0], `"status":"sent"`) {
		t.Errorf("the command: %q %s", lines, c.stderr.String())
	}
	other := start(t, setup{dir: dir, accounts: []mail.Account{a}})
	if n := must1(other.Recover(ctx))(t); n != 0 {
		t.Errorf("%d rows of a live process were recovered", n)
	}
	rows := other.rows()
	if rows[0].Status != mail.StatusSending || rows[0].Owner != tui.st.Owner() {
		t.Errorf("the row is %s", rows[0].Status)
	}
	close(goOn)
	wg.Wait()
	if got.Status != mail.StatusSent || len(taken(p)) != 2 {
		t.Errorf("it ended as %s, %d messages", got.Status, len(taken(p)))
	}
}

// TestTwoResendsAtOnceAreOne: one press too many, in two programs.
func TestTwoResendsAtOnceAreOne(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, wait := range []bool{true, false} {
		t.Run("wait "+strconv.FormatBool(wait), func(t *testing.T) {
			bad := smtptest.Start(t, smtptest.Script{At: map[mail.Step]smtptest.Action{mail.StepReply: smtptest.HangUp()}})
			dir := t.TempDir()
			w := start(t, setup{dir: dir, accounts: []mail.Account{account(t, "me", bad)}})
			first := must1(w.Send(ctx, letter("key")))(t)
			w.close()
			p := goodPeer(t)
			a := account(t, "me", p)
			ws := []*world{start(t, setup{dir: dir, accounts: []mail.Account{a}}), start(t, setup{dir: dir, accounts: []mail.Account{a}})}
			var mu sync.Mutex
			var wg sync.WaitGroup
			ok, refused := 0, 0
			for i := range 6 {
				wg.Go(func() {
					_, err := ws[i%2].Resend(ctx, first.ID, view.ResendOptions{Wait: wait})
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err == nil:
						ok++
					case mail.AsError(err).Code == mail.CodeConflict:
						refused++
					default:
						t.Error(err)
					}
				})
			}
			wg.Wait()
			for _, w := range ws {
				eventually(t, "it was sent", func() bool { return w.InFlight() == 0 })
			}
			if ok != 1 || refused != 5 || len(ws[0].rows()) != 2 || len(taken(p)) != 1 {
				t.Errorf("%d resends, %d refused, %d rows, %d messages; want 1, 5, 2, 1", ok, refused, len(ws[0].rows()), len(taken(p)))
			}
		})
	}
}

// TestTwoProgramsRecoverAtOnce settle each lost row once.
func TestTwoProgramsRecoverAtOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p := goodPeer(t)
	a := account(t, "me", p)
	dir := t.TempDir()
	for range 3 {
		c := spawn(t, job{What: "draft", Dir: dir, Accounts: []mail.Account{a}, Die: "after MarkHandover"})
		_ = c.wait()
		c = spawn(t, job{What: "draft", Dir: dir, Accounts: []mail.Account{a}, Die: "after OpenAttempt"})
		_ = c.wait()
	}
	ws := []*world{start(t, setup{dir: dir, accounts: []mail.Account{a}}), start(t, setup{dir: dir, accounts: []mail.Account{a}})}
	var wg sync.WaitGroup
	for _, w := range ws {
		bg, cancel := context.WithCancel(ctx)
		defer cancel()
		wg.Go(func() { w.StartBackground(bg) })
	}
	wg.Wait()
	ws[0].settled()
	eventually(t, "both are idle", func() bool { return ws[0].InFlight()+ws[1].InFlight() == 0 })
	n := map[mail.DeliveryStatus]int{}
	for _, r := range ws[0].rows() {
		n[r.Status]++
	}
	if n[mail.StatusUncertain] != 3 || n[mail.StatusSent] != 3 || len(taken(p)) != 3 {
		t.Errorf("%v, %d messages", n, len(taken(p)))
	}
	for _, r := range ws[0].rows() {
		settled := 0
		for _, l := range must1(ws[0].st.Audit(ctx, "attempt:"+r.ID, 0))(t) {
			if l.Action == "attempt.settled" {
				settled++
			}
		}
		if settled != 1 {
			t.Errorf("attempt %s was settled %d times", r.ID, settled)
		}
	}
}
