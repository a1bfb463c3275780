package delivery

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skrzynka/mail"
)

var update = flag.Bool("update", false, "write the printed tables anew")

func reply(code int) mail.Reply { return mail.Reply{Code: code} }

func results(codes ...int) []mail.RecipientResult {
	var out []mail.RecipientResult
	for i, c := range codes {
		out = append(out, mail.RecipientResult{Address: fmt.Sprintf("r%d@example.org", i), Accepted: c/100 == 2, Reply: reply(c)})
	}
	return out
}

// The rows of the evidence table, by their words in the specification.
func TestJudgeEvidenceRows(t *testing.T) {
	const rel, kept = true, false
	rows := []struct {
		name     string
		ev       mail.Evidence
		status   mail.DeliveryStatus
		code     mail.Code
		retry    bool
		released bool
	}{
		{"credentials missing", mail.Evidence{LastStep: mail.StepCredentials, Fault: mail.FaultLocal}, mail.StatusFailed, mail.CodeCredentials, false, rel},
		{"name lookup or dial refused", mail.Evidence{LastStep: mail.StepDial, Fault: mail.FaultUnreachable}, mail.StatusFailed, mail.CodeSMTPUnavailable, true, rel},
		{"time-out before the greeting", mail.Evidence{LastStep: mail.StepGreeting, Fault: mail.FaultTimeout}, mail.StatusFailed, mail.CodeSMTPUnavailable, true, rel},
		{"greeting 4xx", mail.Evidence{LastStep: mail.StepGreeting, Fault: mail.FaultRefused, Reply: reply(421)}, mail.StatusFailed, mail.CodeSMTPUnavailable, true, rel},
		{"greeting 5xx", mail.Evidence{LastStep: mail.StepGreeting, Fault: mail.FaultRefused, Reply: reply(554)}, mail.StatusFailed, mail.CodeSMTPUnavailable, false, rel},
		{"EHLO refused", mail.Evidence{LastStep: mail.StepEHLO, Fault: mail.FaultRefused, Reply: reply(502)}, mail.StatusFailed, mail.CodeSMTPUnavailable, false, rel},
		{"garbage before MAIL", mail.Evidence{LastStep: mail.StepEHLO, Fault: mail.FaultGarbage}, mail.StatusFailed, mail.CodeSMTPUnavailable, false, rel},
		{"no STARTTLS offered", mail.Evidence{LastStep: mail.StepSTARTTLS, Fault: mail.FaultTLS}, mail.StatusFailed, mail.CodeSMTPTLS, false, rel},
		{"certificate not trusted", mail.Evidence{LastStep: mail.StepTLS, Fault: mail.FaultTLS}, mail.StatusFailed, mail.CodeSMTPTLS, false, rel},
		{"STARTTLS refused for now", mail.Evidence{LastStep: mail.StepSTARTTLS, Fault: mail.FaultRefused, Reply: reply(454)}, mail.StatusFailed, mail.CodeSMTPTLS, true, rel},
		{"AUTH refused", mail.Evidence{LastStep: mail.StepAuth, Fault: mail.FaultRefused, Reply: reply(535)}, mail.StatusFailed, mail.CodeSMTPAuth, false, rel},
		{"AUTH refused for now", mail.Evidence{LastStep: mail.StepAuth, Fault: mail.FaultRefused, Reply: reply(454)}, mail.StatusFailed, mail.CodeSMTPAuth, true, rel},
		{"MAIL refused", mail.Evidence{LastStep: mail.StepMail, Fault: mail.FaultRefused, Reply: reply(553)}, mail.StatusFailed, mail.CodeSMTPRejected, false, rel},
		{"larger than SIZE", mail.Evidence{LastStep: mail.StepMail, Fault: mail.FaultSize}, mail.StatusFailed, mail.CodeSMTPRejected, false, rel},
		{"every RCPT refused", mail.Evidence{LastStep: mail.StepRcpt, Fault: mail.FaultRefused, AllRefused: true, Reply: reply(550), Results: results(550, 551)}, mail.StatusFailed, mail.CodeSMTPRejected, false, rel},
		{"every RCPT refused for now", mail.Evidence{LastStep: mail.StepRcpt, Fault: mail.FaultRefused, AllRefused: true, Reply: reply(451), Results: results(451)}, mail.StatusFailed, mail.CodeSMTPRejected, true, rel},
		{"some RCPT refused, all or nothing", mail.Evidence{LastStep: mail.StepRcpt, Fault: mail.FaultPartial, Reply: reply(550), Results: results(250, 550)}, mail.StatusFailed, mail.CodeSMTPRejected, false, rel},
		{"some RCPT refused, partial, accepted", mail.Evidence{LastStep: mail.StepReply, HandedOver: true, Partial: true, Reply: reply(250), Results: results(250, 550)}, mail.StatusSent, "", false, kept},
		{"421 at RCPT", mail.Evidence{LastStep: mail.StepRcpt, Fault: mail.FaultRefused, Reply: reply(421), Results: results(250)}, mail.StatusFailed, mail.CodeSMTPUnavailable, true, rel},
		{"DATA refused", mail.Evidence{LastStep: mail.StepData, Fault: mail.FaultRefused, Reply: reply(554)}, mail.StatusFailed, mail.CodeSMTPRejected, false, rel},
		{"connection lost in the body", mail.Evidence{LastStep: mail.StepBody, Fault: mail.FaultLost}, mail.StatusFailed, mail.CodeSMTPInterrupted, true, kept},
		{"lost in the body after a premature 552", mail.Evidence{LastStep: mail.StepBody, Fault: mail.FaultLost, Reply: reply(552)}, mail.StatusFailed, mail.CodeSMTPInterrupted, false, kept},
		{"premature 4xx", mail.Evidence{LastStep: mail.StepBody, Fault: mail.FaultEarlyReply, Reply: reply(451)}, mail.StatusFailed, mail.CodeSMTPInterrupted, true, kept},
		{"our own bytes cannot be read", mail.Evidence{LastStep: mail.StepBody, Fault: mail.FaultLocal}, mail.StatusFailed, mail.CodeSMTPInterrupted, false, kept},
		{"the handover mark cannot be committed", mail.Evidence{LastStep: mail.StepHandover, Fault: mail.FaultMark}, mail.StatusFailed, mail.CodeSMTPInterrupted, false, kept},
		{"the clock jumped", mail.Evidence{LastStep: mail.StepHandover, Fault: mail.FaultClock}, mail.StatusFailed, mail.CodeSMTPInterrupted, true, kept},
		{"a 2xx before handover", mail.Evidence{LastStep: mail.StepHandover, Fault: mail.FaultEarlyReply, Reply: reply(250)}, mail.StatusUncertain, mail.CodeSMTPUncertain, false, kept},
		{"handed over, 2xx", mail.Evidence{LastStep: mail.StepReply, HandedOver: true, Reply: reply(250)}, mail.StatusSent, "", false, kept},
		{"handed over, a 2xx that is not 250", mail.Evidence{LastStep: mail.StepReply, HandedOver: true, Reply: reply(200)}, mail.StatusSent, "", false, kept},
		{"handed over, 4xx", mail.Evidence{LastStep: mail.StepReply, Fault: mail.FaultRefused, HandedOver: true, Reply: reply(451)}, mail.StatusFailed, mail.CodeSMTPRejected, true, kept},
		{"handed over, 5xx", mail.Evidence{LastStep: mail.StepReply, Fault: mail.FaultRefused, HandedOver: true, Reply: reply(554)}, mail.StatusFailed, mail.CodeSMTPRejected, false, kept},
		{"handed over, 421", mail.Evidence{LastStep: mail.StepReply, Fault: mail.FaultRefused, HandedOver: true, Reply: reply(421)}, mail.StatusUncertain, mail.CodeSMTPUncertain, false, kept},
		{"handed over, 354", mail.Evidence{LastStep: mail.StepReply, Fault: mail.FaultRefused, HandedOver: true, Reply: reply(354)}, mail.StatusUncertain, mail.CodeSMTPUncertain, false, kept},
		{"handed over, connection lost", mail.Evidence{LastStep: mail.StepReply, Fault: mail.FaultLost, HandedOver: true}, mail.StatusUncertain, mail.CodeSMTPUncertain, false, kept},
		{"handed over, lost while the terminator was written", mail.Evidence{LastStep: mail.StepHandover, Fault: mail.FaultLost, HandedOver: true}, mail.StatusUncertain, mail.CodeSMTPUncertain, false, kept},
		{"handed over, time-out", mail.Evidence{LastStep: mail.StepReply, Fault: mail.FaultTimeout, HandedOver: true}, mail.StatusUncertain, mail.CodeSMTPUncertain, false, kept},
		{"handed over, garbage", mail.Evidence{LastStep: mail.StepReply, Fault: mail.FaultGarbage, HandedOver: true}, mail.StatusUncertain, mail.CodeSMTPUncertain, false, kept},
		{"handed over, oversized reply", mail.Evidence{LastStep: mail.StepReply, Fault: mail.FaultOversized, HandedOver: true}, mail.StatusUncertain, mail.CodeSMTPUncertain, false, kept},
		{"handed over, refusals of repeated recipients", mail.Evidence{LastStep: mail.StepReply, Fault: mail.FaultAmbiguous, HandedOver: true, Reply: reply(550)}, mail.StatusUncertain, mail.CodeSMTPUncertain, false, kept},
		{"2xx, then QUIT fails", mail.Evidence{LastStep: mail.StepQuit, HandedOver: true, Reply: reply(250)}, mail.StatusSent, "", false, kept},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			v := Judge(mail.KindOutbound, r.ev)
			if v.Status != r.status || v.Code != r.code || v.Retryable != r.retry || v.KeyReleased(mail.KindOutbound) != r.released {
				t.Errorf("got %+v, want %s %s retryable=%t released=%t", v, r.status, r.code, r.retry, r.released)
			}
			if Judge(mail.KindReply, r.ev).KeyReleased(mail.KindReply) {
				t.Error("a reply's key is never released")
			}
		})
	}
}

func TestJudgeProcessGone(t *testing.T) {
	for _, c := range []struct {
		kind  mail.AttemptKind
		mark  bool
		code  mail.Code
		proof bool
	}{
		{mail.KindReply, false, mail.CodeReplyUncertain, true},
		{mail.KindReply, true, mail.CodeReplyUncertain, false},
		{mail.KindOutbound, false, mail.CodeOutboundUncertain, true},
		{mail.KindOutbound, true, mail.CodeOutboundUncertain, false},
	} {
		v := Judge(c.kind, mail.Evidence{LastStep: mail.StepClaim, Fault: mail.FaultGone, MarkDurable: c.mark, HandedOver: c.mark})
		if v.Status != mail.StatusUncertain || v.Code != c.code || v.NotHandedOver != c.proof || v.KeyReleased(c.kind) {
			t.Errorf("%s mark=%t: got %+v", c.kind, c.mark, v)
		}
	}
}

// Whatever the evidence: nothing handed over is ever sent without a 2xx, and
// nothing is failed once it was handed over without a complete refusal.
func TestJudgeInvariants(t *testing.T) {
	everyCase(func(ev mail.Evidence) {
		v := Judge(mail.KindOutbound, ev)
		if v.Status == mail.StatusSent && (!ev.HandedOver || ev.Reply.Class() != 2 || ev.Fault != mail.FaultNone) {
			t.Errorf("sent without proof: %+v", ev)
		}
		if v.Status == mail.StatusFailed && ev.HandedOver && (ev.Fault != mail.FaultRefused || ev.Reply.Class() < 4 || ev.Reply.Code == 421) {
			t.Errorf("failed without proof: %+v", ev)
		}
		if v.Unsubmitted && (ev.HandedOver || v.Status != mail.StatusFailed) {
			t.Errorf("key released after handover: %+v", ev)
		}
		if !v.Status.Terminal() {
			t.Errorf("no verdict: %+v", ev)
		}
		if !MayMove(mail.StatusSending, v.Status) {
			t.Errorf("no legal move to %s", v.Status)
		}
	})
}

func everyCase(f func(mail.Evidence)) {
	for _, step := range mail.AllSteps() {
		for _, fault := range mail.AllFaults() {
			for _, handed := range []bool{false, true} {
				for _, code := range []int{0, 250, 354, 421, 451, 550} {
					ev := mail.Evidence{LastStep: step, Fault: fault, HandedOver: handed, MarkDurable: handed, Reply: reply(code)}
					if step == mail.StepRcpt {
						ev.AllRefused = true
						ev.Results = results(code)
					}
					f(ev)
				}
			}
		}
	}
}

func TestPrintedTables(t *testing.T) {
	var b strings.Builder
	b.WriteString("# step fault handed-over reply -> status code [retryable] [unsubmitted]\n# Printed from delivery.Judge; regenerate with: go test ./mail/delivery -update\n")
	everyCase(func(ev mail.Evidence) {
		if !possible(ev) {
			return
		}
		v := Judge(mail.KindOutbound, ev)
		where := "before"
		if ev.HandedOver {
			where = "handed-over"
		}
		fault := string(ev.Fault)
		if fault == "" {
			fault = "none"
		}
		fmt.Fprintf(&b, "%-11s %-11s %-11s %3d -> %-9s %-23s", ev.LastStep, fault, where, ev.Reply.Code, v.Status, v.Code)
		if v.Retryable {
			b.WriteString(" retryable")
		}
		if v.Unsubmitted {
			b.WriteString(" unsubmitted")
		}
		if v.NotHandedOver {
			b.WriteString(" not_handed_over")
		}
		b.WriteString("\n")
	})
	compare(t, "verdicts.txt", trimLines(b.String()))

	b.Reset()
	b.WriteString("# from -> to: when\n# Printed from delivery.Moves; regenerate with: go test ./mail/delivery -update\n")
	for _, m := range Moves() {
		fmt.Fprintf(&b, "%s -> %s: %s\n", m.From, m.To, m.When)
	}
	for _, from := range mail.AllDeliveryStatuses() {
		for _, to := range mail.AllDeliveryStatuses() {
			mark := "-"
			if MayMove(from, to) {
				mark = "legal"
			}
			fmt.Fprintf(&b, "%-9s %-9s %s\n", from, to, mark)
		}
	}
	compare(t, "moves.txt", b.String())
}

// possible leaves out combinations that no transaction can show, so that the
// printed table can be read by a person.
func possible(ev mail.Evidence) bool {
	wire := []mail.Fault{mail.FaultLost, mail.FaultTimeout, mail.FaultCancelled, mail.FaultGone}
	replies := append([]mail.Fault{mail.FaultRefused, mail.FaultGarbage, mail.FaultOversized}, wire...)
	faults := map[mail.Step][]mail.Fault{
		mail.StepClaim:       {mail.FaultGone, mail.FaultCancelled},
		mail.StepCredentials: {mail.FaultLocal, mail.FaultTimeout, mail.FaultCancelled, mail.FaultGone},
		mail.StepDial:        append([]mail.Fault{mail.FaultUnreachable}, wire...),
		mail.StepTLS:         append([]mail.Fault{mail.FaultTLS}, wire...),
		mail.StepGreeting:    replies,
		mail.StepEHLO:        replies,
		mail.StepSTARTTLS:    append([]mail.Fault{mail.FaultTLS}, replies...),
		mail.StepAuth:        append([]mail.Fault{mail.FaultLocal}, replies...),
		mail.StepMail:        append([]mail.Fault{mail.FaultSize}, replies...),
		mail.StepRcpt:        append([]mail.Fault{mail.FaultPartial}, replies...),
		mail.StepData:        replies,
		mail.StepBody:        append([]mail.Fault{mail.FaultLocal, mail.FaultEarlyReply, mail.FaultClock}, wire...),
		mail.StepHandover:    append([]mail.Fault{mail.FaultMark, mail.FaultEarlyReply, mail.FaultClock}, wire...),
		mail.StepReply:       append([]mail.Fault{mail.FaultNone, mail.FaultAmbiguous}, replies...),
		mail.StepQuit:        {mail.FaultNone},
	}
	if !slices.Contains(faults[ev.LastStep], ev.Fault) {
		return false
	}
	late := ev.LastStep == mail.StepReply || ev.LastStep == mail.StepQuit
	if ev.HandedOver && !late && ev.LastStep != mail.StepHandover || !ev.HandedOver && late {
		return false
	}
	if ev.HandedOver && slices.Contains([]mail.Fault{mail.FaultMark, mail.FaultEarlyReply, mail.FaultClock, mail.FaultCancelled}, ev.Fault) {
		return false
	}
	switch ev.Fault {
	case mail.FaultNone:
		return ev.Reply.Code == 250
	case mail.FaultRefused:
		return ev.Reply.Code != 0 && ev.Reply.Code != 250 && (ev.Reply.Code != 354 || late)
	case mail.FaultPartial, mail.FaultAmbiguous:
		return ev.Reply.Code == 451 || ev.Reply.Code == 550
	case mail.FaultEarlyReply:
		return ev.Reply.Code != 0 && ev.Reply.Code != 354
	}
	return ev.Reply.Code == 0
}

func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("..", "..", "testdata", "delivery", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs from what is printed now; read the difference, then regenerate with -update", name)
	}
}
