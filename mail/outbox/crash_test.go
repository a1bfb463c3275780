package outbox_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/submit/smtptest"
)

// child is a process of the product.
type child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
	ended  chan struct{}
	err    error
	once   sync.Once
}

func spawn(t testing.TB, j job) *child {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	b, err := json.Marshal(j)
	must(t, err)
	c := &child{cmd: exec.Command(self), ended: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), childEnv+"="+string(b))
	c.cmd.Stderr = &c.stderr
	c.in, err = c.cmd.StdinPipe()
	must(t, err)
	r, wr, err := os.Pipe()
	must(t, err)
	c.cmd.Stdout, c.out = wr, bufio.NewReader(r)
	must(t, c.cmd.Start())
	_ = wr.Close()
	go func() {
		c.err = c.cmd.Wait()
		close(c.ended)
	}()
	t.Cleanup(func() { c.kill(); _ = r.Close() })
	return c
}

// kill ends the child at once and returns when it is gone.
func (c *child) kill() {
	c.once.Do(func() { _ = c.cmd.Process.Kill() })
	<-c.ended
}

func (c *child) wait() error { <-c.ended; return c.err }

// lines reads what the child said until it ended.
func (c *child) lines() []string {
	var out []string
	for {
		s, err := c.out.ReadString('\n')
		if err != nil {
			return out
		}
		out = append(out, s[:len(s)-1])
	}
}

// point is one place at which the process is killed, and what the next start
// must find: the statuses that are right there, whether the message can have
// been handed over, and how many messages the server then holds.
type point struct {
	name   string
	die    string // in the child, around a durable write
	smtp   func(kill func()) (mail.Step, smtptest.Action)
	imap   string
	mode   mail.Security
	size   int // of the text, 0 for a line
	body   int // how much of it the server reads
	status string
	handed bool
	holds  int
	copy   string
}

func points() []point {
	const none, one = 0, 1
	out := []point{
		{name: "before the draft is saved", die: "before SaveDraft", status: "nothing", holds: none},
		{name: "after the draft is saved", die: "after SaveDraft", status: "draft", holds: none},
		{name: "before pending", die: "before OpenAttempt", status: "draft", holds: none},
		{name: "after pending", die: "after OpenAttempt", status: "pending", holds: none},
		{name: "before sending", die: "before ClaimAttempt", status: "pending", holds: none},
		{name: "after sending, before the dial", die: "after ClaimAttempt", status: "uncertain", holds: none},
		{name: "before the handover mark", die: "before MarkHandover", status: "uncertain", holds: none},
		{name: "after the handover mark", die: "after MarkHandover", status: "uncertain", handed: true, holds: none},
		{name: "after the reply, before the commit", die: "before SettleAttempt", status: "uncertain", handed: true, holds: one},
		{name: "after the commit", die: "after SettleAttempt", status: "sent", handed: true, holds: one, copy: "pending"},
		{name: "before the copy is begun", die: "before CopyBegun", status: "sent", handed: true, holds: one, copy: "pending"},
		{name: "after the copy is begun", die: "after CopyBegun", status: "sent", handed: true, holds: one, copy: "unknown"},
		{name: "before the copy is settled", die: "before CopySettled", status: "sent", handed: true, holds: one, copy: "unknown"},
		{name: "after the copy is settled", die: "after CopySettled", status: "sent", handed: true, holds: one, copy: "saved"},
	}
	usual := map[mail.Step]string{mail.StepGreeting: "220 peer.example ESMTP", mail.StepEHLO: "250-peer.example\n250-STARTTLS\n250 AUTH PLAIN LOGIN",
		mail.StepAuth: "235 2.7.0 welcome", mail.StepMail: "250 2.1.0 ok", mail.StepRcpt: "250 2.1.5 ok", mail.StepData: "354 go ahead"}
	// With 354 the client goes on by itself: the text is too long to get far.
	ahead := map[mail.Step]int{mail.StepData: 16 << 20}
	for _, step := range []mail.Step{mail.StepGreeting, mail.StepEHLO, mail.StepAuth, mail.StepMail, mail.StepRcpt, mail.StepData} {
		out = append(out,
			point{name: string(step) + ", before the reply", status: "uncertain", holds: none, smtp: func(kill func()) (mail.Step, smtptest.Action) {
				return step, smtptest.Do(kill).Then(smtptest.HangUp())
			}},
			point{name: string(step) + ", after the reply", status: "uncertain", size: ahead[step], holds: none, smtp: func(kill func()) (mail.Step, smtptest.Action) {
				return step, smtptest.Reply(usual[step]).Then(smtptest.Do(kill).Then(smtptest.HangUp()))
			}},
			point{name: string(step) + ", in the reply", status: "uncertain", holds: none, smtp: func(kill func()) (mail.Step, smtptest.Action) {
				return step, smtptest.Raw(usual[step][:5]).Then(smtptest.Do(kill).Then(smtptest.HangUp()))
			}})
	}
	killAt := func(step mail.Step) func(func()) (mail.Step, smtptest.Action) {
		return func(kill func()) (mail.Step, smtptest.Action) {
			return step, smtptest.Do(kill).Then(smtptest.HangUp())
		}
	}
	out = append(out,
		point{name: "STARTTLS, before the reply", status: "uncertain", holds: none, smtp: killAt(mail.StepSTARTTLS)},
		point{name: "in the handshake after STARTTLS", status: "uncertain", holds: none, smtp: killAt(mail.StepTLS)},
		point{name: "in the handshake of implicit TLS", mode: mail.SecurityTLS, status: "uncertain", holds: none, smtp: killAt(mail.StepTLS)},
		point{name: "at the start of the body", status: "uncertain", size: 16 << 20, holds: none, smtp: killAt(mail.StepBody)},
		point{name: "in the body", status: "uncertain", size: 16 << 20, body: 1 << 20, holds: none, smtp: killAt(mail.StepBody)},
		point{name: "the terminator came, before the reply", status: "uncertain", handed: true, holds: one, smtp: killAt(mail.StepReply)},
		point{name: "in the reply", status: "uncertain", handed: true, holds: one, smtp: func(kill func()) (mail.Step, smtptest.Action) {
			return mail.StepReply, smtptest.Raw("250 2.0.0 ok: que").Then(smtptest.Do(kill).Then(smtptest.HangUp()))
		}},
		point{name: "the reply was written", status: "uncertain or sent", handed: true, holds: one, smtp: func(kill func()) (mail.Step, smtptest.Action) {
			return mail.StepReply, smtptest.Reply("250 2.0.0 ok: queued as 1234").Then(smtptest.Do(kill).Then(smtptest.HangUp()))
		}},
	)
	for _, p := range []string{imapConnect, imapLogin, imapList, imapExamine, imapSearch, imapStatus} {
		out = append(out, point{name: "copy: " + p, imap: p, status: "sent", handed: true, holds: one, copy: "pending"})
	}
	for _, p := range []string{imapAppend, imapHalf, imapWhole, imapStored} {
		out = append(out, point{name: "copy: " + p, imap: p, status: "sent", handed: true, holds: one, copy: "unknown"})
	}
	return append(out, point{name: "copy: " + imapAnswer, imap: imapAnswer, status: "sent", handed: true, holds: one, copy: "unknown or saved"})
}

// TestKillAtEveryPoint kills the process at every durable write and every
// socket step of a send and its copy, starts again, and compares what the
// database claims with what the servers hold.
func TestKillAtEveryPoint(t *testing.T) {
	t.Parallel()
	list := points()
	if len(list) < 40 {
		t.Fatalf("%d points", len(list))
	}
	for _, pt := range list {
		t.Run(pt.name, func(t *testing.T) {
			t.Parallel()
			var c *child
			ready := make(chan struct{})
			kill := func() { <-ready; c.kill() }
			script := smtptest.Script{Security: pt.mode, BodyBytes: pt.body}
			if pt.smtp != nil {
				step, act := pt.smtp(kill)
				script.At = map[mail.Step]smtptest.Action{step: act}
			}
			p, imap := smtptest.Start(t, script), startIMAP(t)
			if pt.imap != "" {
				imap.on(pt.imap, func(*imapConn) bool { kill(); return false })
			}
			a := imap.side(account(t, "me", p))
			dir := t.TempDir()
			c = spawn(t, job{What: "draft", Dir: dir, Accounts: []mail.Account{a}, Die: pt.die, N: pt.size})
			close(ready)
			if err := c.wait(); err == nil || c.cmd.ProcessState.ExitCode() != -1 {
				t.Fatalf("the child was not killed: %v %s", err, c.stderr.String())
			}
			p.Wait() // the child's connections are at their end
			held := taken(p)
			if len(held) != pt.holds {
				t.Errorf("the server holds %d, want %d", len(held), pt.holds)
			}

			// The next start, without the network first.
			w := start(t, setup{dir: dir, accounts: []mail.Account{a}})
			must1(w.Recover(context.Background()))(t)
			drafts, rows := must1(w.Drafts(context.Background()))(t), w.rows()
			if len(drafts)+len(rows) != map[bool]int{true: 0, false: 1}[pt.status == "nothing"] {
				t.Fatalf("%d drafts and %d attempts", len(drafts), len(rows))
			}
			switch pt.status {
			case "nothing":
				return
			case "draft":
				if d := must1(w.Draft(context.Background(), drafts[0].ID))(t); d.Body != "What I wrote.\n" {
					t.Errorf("the draft says %q", d.Body)
				}
				return
			}
			row := rows[0]
			if string(row.Status) != pt.status && pt.status != "uncertain or sent" {
				t.Errorf("found %s, want %s", row.Status, pt.status)
			}
			v := must1(w.Attempt(context.Background(), row.ID))(t)
			if pt.status != "pending" && v.Evidence.HandedOver != pt.handed {
				t.Errorf("handed over %v, want %v", v.Evidence.HandedOver, pt.handed)
			}
			if pt.copy != "" && string(row.Copy.Status) != pt.copy && pt.copy != "unknown or saved" {
				t.Errorf("the copy is %s, want %s", row.Copy.Status, pt.copy)
			}
			oracle(t, w, p, imap)

			// And with it: a second server on the same configuration would take
			// what still waits, so pending must go out once and nothing else may.
			p2, imap2 := goodPeer(t), imap
			b := imap2.side(account(t, "me", p2))
			imap.mu.Lock()
			imap.at = map[string]func(*imapConn) bool{}
			imap.mu.Unlock()
			w.close()
			w = start(t, setup{dir: dir, accounts: []mail.Account{b}})
			bg, cancel := context.WithCancel(context.Background())
			defer cancel()
			w.StartBackground(bg)
			w.settled()
			if n, want := len(taken(p2)), map[bool]int{true: 1}[pt.status == "pending"]; n != want {
				t.Errorf("the next start sent %d, want %d", n, want)
			}
			if len(w.rows()) != 1 || pt.status == "pending" && w.row(row.ID).Status != mail.StatusSent {
				t.Errorf("%d attempts, the first %s", len(w.rows()), w.row(row.ID).Status)
			}
			if pt.status == "pending" {
				oracle(t, w, p2, imap)
			} else {
				oracle(t, w, p, imap)
			}
		})
	}
}

// settled waits until nothing is left for a started process to do by itself.
func (w *world) settled() {
	w.Helper()
	eventually(w, "everything is settled", func() bool {
		for _, a := range w.rows() {
			if !a.Status.Terminal() || a.Status == mail.StatusSent && a.Copy.Status == mail.CopyPending {
				return false
			}
		}
		return w.InFlight() == 0
	})
}

// oracle compares every attempt with what the servers hold.
func oracle(t testing.TB, w *world, p *smtptest.Peer, imap *imapPeer) {
	t.Helper()
	took, copies := map[string][]string{}, map[string][]string{}
	for _, b := range taken(p) {
		took[messageID(b)] = append(took[messageID(b)], digest(b))
	}
	for _, b := range imap.sent("Sent") {
		copies[messageID(b)] = append(copies[messageID(b)], digest(b))
	}
	for _, a := range w.rows() {
		got, cop := took[a.RFCMessageID], copies[a.RFCMessageID]
		stored := digest(must1(w.st.AttemptBytes(context.Background(), a.ID))(t))
		v := must1(w.Attempt(context.Background(), a.ID))(t)
		bad := func(what string) {
			t.Errorf("%s: attempt %q is %s %s (mark %v, not_handed_over %v, copy %s); the server took %d, Sent has %d", what, a.Subject, a.Status, a.ErrorCode,
				!a.HandoverAt.IsZero(), v.Evidence.NotHandedOver, a.Copy.Status, len(got), len(cop))
		}
		if len(got) > 1 {
			bad("sent twice")
		}
		if len(got) == 1 && got[0] != stored {
			bad("other bytes were sent")
		}
		switch a.Status {
		case mail.StatusSent:
			if len(got) != 1 {
				bad("sent, but not accepted")
			}
		case mail.StatusFailed, mail.StatusPending:
			if len(got) != 0 {
				bad("accepted")
			}
		case mail.StatusUncertain:
			if a.ErrorCode != a.Kind.UncertainCode() || a.Evidence.Fault != mail.FaultGone {
				bad("uncertain without a reason")
			}
			if v.Evidence.NotHandedOver != a.HandoverAt.IsZero() || v.Evidence.NotHandedOver && len(got) != 0 {
				bad("the proof is wrong")
			}
			if safe := v.Advice.String() == "Resending is safe."; safe != v.Evidence.NotHandedOver {
				bad("the advice is " + v.Advice.String())
			}
		}
		switch a.Copy.Status {
		case mail.CopySaved:
			if len(cop) != 1 || cop[0] != stored {
				bad("saved, but not there as it was sent")
			}
		case mail.CopyUnknown:
			if len(cop) > 1 {
				bad("copied twice")
			}
		default:
			if len(cop) != 0 {
				bad("a copy is there")
			}
		}
	}
}

// TestRandomKills kills a program that writes and sends at random moments,
// again and again over one state folder, then compares. The number of kills is
// SKRZYNKA_TEST_KILLS, 25 without it.
func TestRandomKills(t *testing.T) {
	t.Parallel()
	kills := number(t, "SKRZYNKA_TEST_KILLS", 25)
	const perFolder = 50
	total := map[mail.DeliveryStatus]int{}
	proofs, wrote := 0, 0
	for done := 0; done < kills; done += perFolder {
		p, imap := goodPeer(t), startIMAP(t)
		a := imap.side(account(t, "me", p))
		dir := t.TempDir()
		subjects := map[string]int{}
		for i := range min(perFolder, kills-done) {
			c := spawn(t, job{What: "tui", Dir: dir, Accounts: []mail.Account{a}, N: 1000, Name: strconv.Itoa(done + i)})
			first, err := c.out.ReadString('\n') // it is under way
			if err != nil {
				t.Fatalf("the child ended by itself: %v %s", c.wait(), c.stderr.String())
			}
			moment := time.NewTimer(time.Duration(rand.Int64N(int64(150 * time.Millisecond))))
			select {
			case <-moment.C:
			case <-c.ended:
				t.Fatalf("the child ended by itself: %s", c.stderr.String())
			}
			c.kill()
			subjects[first[:len(first)-1]] = 0
			for _, s := range c.lines() {
				subjects[s] = 0
			}
		}
		w := start(t, setup{dir: dir, accounts: []mail.Account{a}})
		bg, cancel := context.WithCancel(context.Background())
		w.StartBackground(bg)
		w.settled()
		cancel()
		w.Wait()
		p.Wait()
		oracle(t, w, p, imap)
		for _, d := range must1(w.st.Drafts(context.Background()))(t) {
			subjects[d.Subject]++
		}
		for _, a := range w.rows() {
			subjects[a.Subject]++
			total[a.Status]++
			if must1(w.Attempt(context.Background(), a.ID))(t).Evidence.NotHandedOver {
				proofs++
			}
		}
		for s, n := range subjects {
			if n != 1 {
				t.Errorf("what was written as %s is there %d times", s, n)
			}
		}
		wrote += len(subjects)
		w.close()
	}
	t.Logf("%d kills, %d texts: %v, %d of the uncertain ones proven not handed over", kills, wrote, total, proofs)
}

func number(t testing.TB, env string, usual int) int {
	t.Helper()
	s := os.Getenv(env)
	if s == "" {
		return usual
	}
	n, err := strconv.Atoi(s)
	must(t, err)
	return n
}
