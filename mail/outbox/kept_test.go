package outbox_test

import (
	"context"
	"sync/atomic"
	"testing"

	"skrzynka/mail"
	"skrzynka/mail/submit/smtptest"
)

// TestKeptConnection: a connection that ended well is used again; one that is
// gone is replaced only while nothing was begun on it.
func TestKeptConnection(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	// second does a at a step from the second message on.
	second := func(step mail.Step, usual string, a smtptest.Action) (func(*smtptest.Peer), smtptest.Script) {
		var n atomic.Int32
		var p *smtptest.Peer
		return func(q *smtptest.Peer) { p = q }, smtptest.Script{At: map[mail.Step]smtptest.Action{step: smtptest.Do(func() {
			if n.Add(1) > 1 {
				p.Interrupt(a)
			}
		}).Then(smtptest.Reply(usual))}}
	}
	for _, c := range []struct {
		name   string
		step   mail.Step
		usual  string
		idle   bool // the server hangs up between the two
		status mail.DeliveryStatus
		code   mail.Code
		conns  int
		holds  int
	}{
		{name: "both good", status: mail.StatusSent, conns: 1, holds: 2},
		{name: "closed while idle", idle: true, status: mail.StatusSent, conns: 2, holds: 2},
		{name: "lost at RCPT", step: mail.StepRcpt, usual: "250 ok", status: mail.StatusFailed, code: mail.CodeSMTPInterrupted, conns: 1, holds: 1},
		{name: "lost after the end", step: mail.StepReply, usual: "250 ok", status: mail.StatusUncertain, code: mail.CodeSMTPUncertain, conns: 1, holds: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			know, script := func(*smtptest.Peer) {}, smtptest.Script{}
			if c.step != "" {
				know, script = second(c.step, c.usual, smtptest.HangUp())
			}
			p := smtptest.Start(t, script)
			know(p)
			w := start(t, setup{accounts: []mail.Account{account(t, "me", p)}})
			if a := must1(w.Send(ctx, letter("one")))(t); a.Status != mail.StatusSent {
				t.Fatalf("the first: %s", a.Says)
			}
			if c.idle {
				p.Interrupt(smtptest.HangUp())
			}
			a := must1(w.Send(ctx, letter("two")))(t)
			if a.Status != c.status || codeOf(a) != c.code {
				t.Errorf("the second: %s %s (%s)", a.Status, codeOf(a), a.Says)
			}
			w.Wait()
			p.Close()
			if n := len(taken(p)); n != c.holds || p.Connections() != c.conns {
				t.Errorf("%d messages over %d connections, want %d and %d", n, p.Connections(), c.holds, c.conns)
			}
			if steps := a.Evidence.Steps; len(steps) == 0 || steps[0].Step != mail.StepClaim {
				t.Errorf("the second's own steps: %+v", steps)
			}
		})
	}
}
