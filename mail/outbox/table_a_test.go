package outbox_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/submit"
	"skrzynka/mail/submit/smtptest"
	"skrzynka/mail/view"
)

var update = flag.Bool("update", false, "rewrite the printed tables in testdata/delivery")

// golden compares text with a file of testdata/delivery, or rewrites it.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("..", "..", "testdata", "delivery", name)
	if *update {
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	have, kept := strings.Split(text, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(have), len(kept)) {
		var a, b string
		if i < len(have) {
			a = have[i]
		}
		if i < len(kept) {
			b = kept[i]
		}
		if a != b {
			t.Fatalf("%s line %d: got\n%s\nwant\n%s\nregenerate with: go test ./mail/outbox -run %s -update", name, i+1, a, b, t.Name())
		}
	}
}

// outcome is what the table says of one cell.
type outcome struct {
	status    mail.DeliveryStatus
	code      mail.Code
	retryable bool
	released  bool // the key of an outbound message
}

// cell is one fault at one step, on one kind of connection.
type cell struct {
	step, fault string
	mode        mail.Security
	script      smtptest.Script
	to          []string
	partial     bool
	big         bool // more than the socket's buffers hold
	closed      bool // nobody listens
	noCA        bool // the peer's certificate is not trusted
	tune        func(*submit.Timeouts)
	want        outcome
	holds       int // whole messages the server has, whatever it answered
	accepted    int // by RCPT
	rejected    int
	missing     int    // not submitted
	stored      string // digest of the bytes in the database
	row         mail.Attempt
	view        view.Attempt
	err         error
	peer        *smtptest.Peer
}

func (c *cell) name() string { return c.step + "/" + c.fault + "/" + string(c.mode) }

// wait is how long a step that must time out is waited for: long enough that
// the steps before it never do, on a busy machine either.
const wait = 1500 * time.Millisecond

type fault struct {
	name string
	do   smtptest.Action
	slow bool // ends by a time-out
}

func faults() []fault {
	return []fault{
		{"4xx", smtptest.Reply("450-4.3.2 not\n450 4.3.2 now"), false},
		{"5xx", smtptest.Reply("550 5.7.1 no"), false},
		{"421", smtptest.Reply("421 4.3.2 closing").Then(smtptest.HangUp()), false},
		{"reset", smtptest.Reset(), false},
		{"hang-up", smtptest.HangUp(), false},
		{"half a reply", smtptest.Raw("250-o\r\n").Then(smtptest.HangUp()), false},
		{"garbage", smtptest.Garbage(), false},
		{"long line", smtptest.LongLine(), false},
		{"endless reply", smtptest.Flood(), false},
		{"time-out", smtptest.Stall(), true},
		{"slow drip", smtptest.Drip(), true},
	}
}

// tableA lists the cells with what the specification says of each.
func tableA() []*cell {
	var out []*cell
	add := func(c cell) *cell {
		if c.to == nil {
			c.to = []string{"bob@example.net"}
		}
		if c.missing < 0 {
			c.missing = 0
		} else if c.missing == 0 && c.want.status == mail.StatusFailed {
			c.missing = len(c.to)
		}
		c.script.Security = c.mode
		out = append(out, &c)
		return &c
	}
	failed := func(code mail.Code, retryable, released bool) outcome {
		return outcome{mail.StatusFailed, code, retryable, released}
	}
	unsure := outcome{status: mail.StatusUncertain, code: mail.CodeSMTPUncertain}
	at := func(step mail.Step, a smtptest.Action) smtptest.Script {
		return smtptest.Script{At: map[mail.Step]smtptest.Action{step: a}}
	}
	for _, mode := range []mail.Security{mail.SecurityTLS, mail.SecuritySTARTTLS} {
		add(cell{step: "dial", fault: "refused", mode: mode, closed: true, want: failed(mail.CodeSMTPUnavailable, true, true)})
		add(cell{step: "tls", fault: "not trusted", mode: mode, noCA: true, want: failed(mail.CodeSMTPTLS, false, true)})
		add(cell{step: "tls", fault: "expired", mode: mode, script: smtptest.Script{Cert: smtptest.CertExpired}, want: failed(mail.CodeSMTPTLS, false, true)})
		add(cell{step: "tls", fault: "other name", mode: mode, script: smtptest.Script{Cert: smtptest.CertOtherName}, want: failed(mail.CodeSMTPTLS, false, true)})
		add(cell{step: "tls", fault: "reset", mode: mode, script: at(mail.StepTLS, smtptest.Reset()), want: failed(mail.CodeSMTPTLS, true, true)})
		add(cell{step: "tls", fault: "hang-up", mode: mode, script: at(mail.StepTLS, smtptest.HangUp()), want: failed(mail.CodeSMTPTLS, true, true)})
		add(cell{step: "tls", fault: "garbage", mode: mode, script: at(mail.StepTLS, smtptest.Garbage()), want: failed(mail.CodeSMTPTLS, false, true)})
		add(cell{step: "tls", fault: "time-out", mode: mode, script: at(mail.StepTLS, smtptest.Stall()), tune: func(x *submit.Timeouts) { x.TLS = wait },
			want: failed(mail.CodeSMTPTLS, true, true)})
		if mode == mail.SecuritySTARTTLS {
			add(cell{step: "starttls", fault: "not offered", mode: mode, script: smtptest.Script{Plain: true}, want: failed(mail.CodeSMTPTLS, false, true)})
			add(cell{step: "starttls", fault: "plain text follows", mode: mode, script: smtptest.Script{AfterSTARTTLS: "250 injected\r\n"}, want: failed(mail.CodeSMTPTLS, false, true)})
		}
		add(cell{step: "auth", fault: "no mechanism", mode: mode, script: smtptest.Script{Auth: []string{}}, want: failed(mail.CodeSMTPAuth, false, true)})
		add(cell{step: "mail", fault: "over SIZE", mode: mode, script: smtptest.Script{Size: 10}, want: failed(mail.CodeSMTPRejected, false, true)})

		steps := []mail.Step{mail.StepGreeting, mail.StepEHLO, mail.StepSTARTTLS, mail.StepAuth, mail.StepMail, mail.StepRcpt, mail.StepData, mail.StepReply}
		for _, step := range steps {
			if step == mail.StepSTARTTLS && mode == mail.SecurityTLS {
				continue
			}
			for _, f := range faults() {
				c := cell{step: string(step), fault: f.name, mode: mode, script: at(step, f.do), want: wanted(step, f.name)}
				switch step {
				case mail.StepRcpt:
					if f.name == "4xx" || f.name == "5xx" {
						c.rejected = 1
					}
				case mail.StepData, mail.StepReply:
					c.accepted = 1
				}
				if step == mail.StepReply {
					c.holds = 1
				}
				if f.slow {
					step := step
					c.tune = func(x *submit.Timeouts) {
						switch step {
						case mail.StepData:
							x.Data = wait
						case mail.StepReply:
							x.Reply = wait
						default:
							x.Command = wait
						}
					}
				}
				add(c)
			}
		}
		// Of several recipients some are refused.
		three := []string{"bob@example.net", "no@example.net", "eve@example.net"}
		refuse := func(rcpt string, a smtptest.Action, at map[mail.Step]smtptest.Action) smtptest.Script {
			return smtptest.Script{Rcpt: map[string]smtptest.Action{rcpt: a}, At: at}
		}
		no := smtptest.Reply("550 5.1.1 nobody")
		add(cell{step: "rcpt", fault: "one of three refused", mode: mode, to: three, script: refuse("no@example.net", no, nil), accepted: 2, rejected: 1, missing: 3,
			want: failed(mail.CodeSMTPRejected, false, true)})
		add(cell{step: "rcpt", fault: "one of three refused for now", mode: mode, to: three, script: refuse("no@example.net", smtptest.Reply("450 4.2.0 later"), nil), accepted: 2, rejected: 1, missing: 3,
			want: failed(mail.CodeSMTPRejected, true, true)})
		add(cell{step: "rcpt", fault: "one of three refused, partial", mode: mode, to: three, partial: true, script: refuse("no@example.net", no, nil), holds: 1,
			accepted: 2, rejected: 1, missing: 1, want: outcome{status: mail.StatusSent}})
		add(cell{step: "reply", fault: "one of three refused, partial, 554", mode: mode, to: three, partial: true,
			script: refuse("no@example.net", no, map[mail.Step]smtptest.Action{mail.StepReply: smtptest.Reply("554 5.7.1 no")}), holds: 1,
			accepted: 2, rejected: 1, missing: 3, want: failed(mail.CodeSMTPRejected, false, false)})
		add(cell{step: "rcpt", fault: "all refused, partial", mode: mode, to: three, partial: true, script: at(mail.StepRcpt, no), rejected: 3,
			want: failed(mail.CodeSMTPRejected, false, true)})
		add(cell{step: "rcpt", fault: "refused, then 421", mode: mode, to: []string{"no@example.net", "bob@example.net", "eve@example.net"},
			script:   smtptest.Script{Rcpt: map[string]smtptest.Action{"no@example.net": no, "eve@example.net": smtptest.Reply("421 4.3.2 closing").Then(smtptest.HangUp())}},
			accepted: 1, rejected: 1, missing: 3, want: failed(mail.CodeSMTPUnavailable, true, true)})
		add(cell{step: "rcpt", fault: "refused twice, then 421", mode: mode, to: []string{"no@example.net", "NO@example.net", "eve@example.net"},
			script:   smtptest.Script{Rcpt: map[string]smtptest.Action{"no@example.net": no, "NO@example.net": no, "eve@example.net": smtptest.Reply("421 4.3.2 closing").Then(smtptest.HangUp())}},
			rejected: 1, missing: 3, want: failed(mail.CodeSMTPUnavailable, true, true)})
		twice := []string{"bob@example.net", "BOB@example.net"}
		add(cell{step: "reply", fault: "repeated recipient, 250", mode: mode, to: twice, accepted: 2, holds: 1, want: outcome{status: mail.StatusSent}})
		add(cell{step: "reply", fault: "repeated recipient, 554", mode: mode, to: twice, accepted: 2, holds: 1,
			script: at(mail.StepReply, smtptest.Reply("554 5.7.1 no")), want: unsure})
		add(cell{step: "reply", fault: "repeated, one refused, partial", mode: mode, to: twice, partial: true, accepted: 1, rejected: 1, missing: 1, holds: 1,
			script: refuse("BOB@example.net", no, nil), want: unsure})
		// In the body.
		interrupted := func(retryable bool) outcome { return failed(mail.CodeSMTPInterrupted, retryable, false) }
		add(cell{step: "body", fault: "hang-up", mode: mode, accepted: 1, script: at(mail.StepBody, smtptest.HangUp()), want: interrupted(true)})
		add(cell{step: "body", fault: "reset", mode: mode, accepted: 1, script: at(mail.StepBody, smtptest.Reset()), want: interrupted(true)})
		add(cell{step: "body", fault: "early 4xx", mode: mode, accepted: 1, script: at(mail.StepBody, smtptest.Reply("452 4.3.1 full")), want: interrupted(true)})
		add(cell{step: "body", fault: "early 5xx", mode: mode, accepted: 1, script: at(mail.StepBody, smtptest.Reply("552 5.3.4 too big")), want: interrupted(false)})
		add(cell{step: "body", fault: "early 421", mode: mode, accepted: 1, script: at(mail.StepBody, smtptest.Reply("421 4.3.2 closing").Then(smtptest.HangUp())), want: interrupted(true)})
		add(cell{step: "body", fault: "early 2xx", mode: mode, accepted: 1, script: at(mail.StepBody, smtptest.Reply("250 2.0.0 ok")), want: unsure})
		add(cell{step: "body", fault: "garbage", mode: mode, accepted: 1, script: at(mail.StepBody, smtptest.Garbage()), want: interrupted(false)})
		add(cell{step: "body", fault: "nobody reads", mode: mode, accepted: 1, big: true, script: at(mail.StepBody, smtptest.Deaf()),
			tune: func(x *submit.Timeouts) { x.BodyWrite, x.BodyRate = wait, 1<<40; x.Premature = 10 * time.Millisecond }, want: interrupted(true)})
		deep := smtptest.Script{BodyBytes: 200 << 10, At: map[mail.Step]smtptest.Action{mail.StepBody: smtptest.Reply("552 5.3.4 too big").Then(smtptest.HangUp())}}
		add(cell{step: "body", fault: "5xx, then hang-up, deep", mode: mode, accepted: 1, big: true, script: deep, want: interrupted(false)})
		// After acceptance.
		add(cell{step: "reply", fault: "250", mode: mode, accepted: 1, holds: 1, want: outcome{status: mail.StatusSent}})
		add(cell{step: "reply", fault: "251", mode: mode, accepted: 1, holds: 1, script: at(mail.StepReply, smtptest.Reply("251 2.0.0 ok")), want: outcome{status: mail.StatusSent}})
		add(cell{step: "reply", fault: "354", mode: mode, accepted: 1, holds: 1, script: at(mail.StepReply, smtptest.Reply("354 go on")), want: unsure})
		for _, f := range faults() {
			add(cell{step: "quit", fault: f.name, mode: mode, accepted: 1, holds: 1, script: at(mail.StepQuit, f.do), want: outcome{status: mail.StatusSent}})
		}
	}
	return out
}

// wanted is the specification's table of evidence and status.
func wanted(step mail.Step, f string) outcome {
	out := outcome{status: mail.StatusFailed, released: true}
	passing := f == "4xx" || f == "421" || f == "reset" || f == "hang-up" || f == "half a reply" || f == "time-out" || f == "slow drip"
	answered := f == "4xx" || f == "5xx"
	out.retryable = passing
	switch step {
	case mail.StepGreeting, mail.StepEHLO:
		out.code = mail.CodeSMTPUnavailable
	case mail.StepSTARTTLS:
		out.code = mail.CodeSMTPTLS
	case mail.StepAuth:
		out.code = mail.CodeSMTPUnavailable
		if answered {
			out.code = mail.CodeSMTPAuth
		}
	case mail.StepMail:
		out.code = mail.CodeSMTPUnavailable
		if answered {
			out.code = mail.CodeSMTPRejected
		}
	case mail.StepRcpt, mail.StepData:
		switch {
		case answered:
			out.code = mail.CodeSMTPRejected
		case f == "421":
			out.code = mail.CodeSMTPUnavailable
		default:
			out.code, out.released = mail.CodeSMTPInterrupted, false
		}
	case mail.StepReply:
		out.released = false
		if answered {
			out.code = mail.CodeSMTPRejected
		} else {
			out = outcome{status: mail.StatusUncertain, code: mail.CodeSMTPUncertain}
		}
	}
	return out
}

// TestTableA runs every cell against a scripted server and prints the table.
// The cells run at once, over one store.
func TestTableA(t *testing.T) {
	t.Parallel()
	cells, all := chosen(tableA())
	dir := t.TempDir()
	var accounts []mail.Account
	for i, c := range cells {
		c.peer = smtptest.Start(t, c.script)
		a := account(t, fmt.Sprintf("a%03d", i), c.peer)
		a.SMTPPartial = c.partial
		if c.noCA {
			a.SMTP.CAFile = ""
		}
		if c.closed {
			c.peer.Close()
		}
		accounts = append(accounts, a)
	}
	// One engine for each set of time limits, all over one store.
	w := start(t, setup{dir: dir, accounts: accounts})
	slots := make(chan struct{}, 24)
	var wg sync.WaitGroup
	for i, c := range cells {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			e := w
			if c.tune != nil {
				limits := patient()
				c.tune(&limits)
				e = w.with(accounts, limits)
				defer e.Wait()
			}
			r := letter("")
			r.Account, r.To = accounts[i].Name, to(c.to...)
			if c.big {
				r.Body = strings.Repeat(strings.Repeat("0123456789", 7)+"\n", 12<<20/71)
			}
			c.view, c.err = e.Send(context.Background(), r)
		})
	}
	wg.Wait()
	w.Wait() // closes the kept connections: QUIT is said
	lines := []string{}
	for _, c := range cells {
		t.Run(c.name(), func(t *testing.T) {
			must(t, c.err)
			c.row = w.row(c.view.ID)
			c.stored = digest(must1(w.st.AttemptBytes(context.Background(), c.view.ID))(t))
			c.check(t)
		})
		if c.row.ID != "" {
			lines = append(lines, c.line())
		}
	}
	slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(stepOf(a), stepOf(b)) })
	head := "# What each fault at each step of a submission ends in: printed from real transactions against a scripted server.\n" +
		"# Regenerate with: go test ./mail/outbox -run TestTableA -update\n" +
		fmt.Sprintf("%-10s%-36s%-10s%-11s%-18s%-11s%-10s%-13s%-18s%s\n", "# step", "fault", "security", "status", "code", "", "key", "handed over", "acc/rej/missing", "server holds")
	if all && !t.Failed() {
		golden(t, "table_a.txt", head+strings.Join(lines, "\n")+"\n")
	}
}

// chosen leaves out the cells that -run TestTableA/step does not want.
func chosen(cells []*cell) (_ []*cell, all bool) {
	m := regexp.MustCompile(`TableA\$?/\^?(\w+)`).FindStringSubmatch(flag.Lookup("test.run").Value.String())
	if m == nil {
		return cells, true
	}
	return slices.DeleteFunc(cells, func(c *cell) bool { return !strings.HasPrefix(c.step, m[1]) }), false
}

func stepOf(line string) string {
	step, _, _ := strings.Cut(line, " ")
	return fmt.Sprintf("%02d", slices.Index(mail.AllSteps(), mail.Step(step)))
}

func (c *cell) check(t *testing.T) {
	a := c.view
	if a.Status != c.want.status || codeOf(a) != c.want.code || a.Retryable != c.want.retryable {
		t.Errorf("got %s %s, retryable %v; want %s %s, %v (%s)", a.Status, codeOf(a), a.Retryable, c.want.status, c.want.code, c.want.retryable, a.Says)
	}
	if c.row.Status != a.Status || c.row.ErrorCode != codeOf(a) {
		t.Errorf("the database says %s %s", c.row.Status, c.row.ErrorCode)
	}
	if c.row.KeyReleased != c.want.released {
		t.Errorf("key released %v, want %v", c.row.KeyReleased, c.want.released)
	}
	ev := a.Evidence
	if ev.AcceptedCount != c.accepted || ev.RejectedCount != c.rejected || ev.NotSubmittedCount != c.missing {
		t.Errorf("accepted %d rejected %d not submitted %d; want %d %d %d", ev.AcceptedCount, ev.RejectedCount, ev.NotSubmittedCount, c.accepted, c.rejected, c.missing)
	}
	if !c.big { // one that reads nothing does not notice the end
		c.peer.Wait()
	}
	c.peer.Close()
	got := taken(c.peer)
	if len(got) != c.holds {
		t.Errorf("the server holds %d whole messages, want %d", len(got), c.holds)
	}
	if ev.HandedOver != (c.holds > 0) || ev.HandedOver && c.row.HandoverAt.IsZero() || ev.NotHandedOver {
		t.Errorf("handed over %v (mark at %v), not_handed_over %v, %d held", ev.HandedOver, c.row.HandoverAt, ev.NotHandedOver, c.holds)
	}
	for _, b := range got {
		if digest(b) != c.stored {
			t.Errorf("what arrived is not what is stored:\n%.300s", b)
		}
	}
	for _, r := range c.peer.Received() {
		if !r.Terminated && bytes.Contains(r.Data, []byte("\r\n.\r\n")) {
			t.Error("an unfinished message has a terminator")
		}
	}
	if a.Says.Empty() || a.Status == mail.StatusUncertain && !strings.Contains(a.Says.String(), "may have been accepted") {
		t.Errorf("it says %q", a.Says)
	}
	if c.want.status == mail.StatusSent != (a.SentAt != nil) {
		t.Errorf("sent at %v", a.SentAt)
	}
}

func (c *cell) line() string {
	yes := func(b bool, s, no string) string {
		if b {
			return s
		}
		return no
	}
	a := c.view
	return strings.TrimRight(fmt.Sprintf("%-10s%-36s%-10s%-11s%-18s%-11s%-10s%-13s%-18s%d", c.step, c.fault, c.mode, a.Status, codeOf(a), yes(a.Retryable, "retryable", ""),
		yes(c.row.KeyReleased, "released", "kept"), yes(a.Evidence.HandedOver, "yes", "no"),
		fmt.Sprintf("%d/%d/%d", a.Evidence.AcceptedCount, a.Evidence.RejectedCount, a.Evidence.NotSubmittedCount), c.holds), " ")
}
