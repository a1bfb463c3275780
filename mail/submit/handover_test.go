package submit

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skrzynka/mail"
	"skrzynka/mail/submit/smtptest"
)

// Whatever the body is, the server reads it back whole, and nothing in it looks
// like an end of data to any server, however loosely that one reads line ends.
func TestStuffingProperty(t *testing.T) {
	line := rapid.StringMatching(`[.]{0,3}[ -~]{0,20}`)
	rapid.Check(t, func(t *rapid.T) {
		x := []byte(strings.Join(append(rapid.SliceOf(line).Draw(t, "lines"), ""), "\r\n"))
		if len(x) == 0 {
			return
		}
		if why := unfit(x); why != "" {
			t.Fatalf("%q: %s", x, why)
		}
		s := stuff(x)
		lf := bytes.ReplaceAll(bytes.ReplaceAll(s, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
		if bytes.HasPrefix(lf, []byte(".\n")) || bytes.Contains(lf, []byte("\n.\n")) {
			t.Fatalf("%q ends early", s)
		}
		var back []byte
		for l := range bytes.Lines(s) {
			back = append(back, bytes.TrimPrefix(l, []byte("."))...)
		}
		if !bytes.Equal(back, x) {
			t.Fatalf("%q came back as %q", x, back)
		}
	})
}

// Bytes in which a bare CR or LF could hide an end of data are never sent.
func TestUnfitProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := []byte(strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"\r", "\n", "\r\n", ".", "a"})).Draw(t, "x"), ""))
		rest := bytes.ReplaceAll(x, []byte("\r\n"), nil)
		clean := bytes.HasSuffix(x, []byte("\r\n")) && !bytes.ContainsAny(rest, "\r\n")
		if (unfit(x) == "") != clean {
			t.Fatalf("%q: %q", x, unfit(x))
		}
	})
}

func bigBody(n int) []byte {
	return bytes.Repeat([]byte(strings.Repeat("x", 76)+"\r\n"), n/78+1)
}

// In each of these the server acts between 354 and the terminator: nothing may
// be handed over, and the terminator never comes.
func TestBodyFaults(t *testing.T) {
	early := func(text string) smtptest.Action { return smtptest.Raw("354 go\r\n" + text) }
	for name, tc := range map[string]struct {
		at        map[mail.Step]smtptest.Action
		bodyBytes int
		size      int
		timeout   time.Duration
		want      []mail.Fault // one of
		code      int
	}{
		"early 2xx":           {at: map[mail.Step]smtptest.Action{mail.StepData: early("250 2.0.0 queued\r\n")}, want: []mail.Fault{mail.FaultEarlyReply}, code: 250},
		"early 4xx":           {at: map[mail.Step]smtptest.Action{mail.StepData: early("452 4.3.1 full\r\n")}, want: []mail.Fault{mail.FaultEarlyReply}, code: 452},
		"early 5xx":           {at: map[mail.Step]smtptest.Action{mail.StepData: early("552 5.3.4 big\r\n")}, want: []mail.Fault{mail.FaultEarlyReply}, code: 552},
		"early 421":           {at: map[mail.Step]smtptest.Action{mail.StepData: early("421 4.3.2 bye\r\n")}, want: []mail.Fault{mail.FaultEarlyReply}, code: 421},
		"early garbage":       {at: map[mail.Step]smtptest.Action{mail.StepData: early("\x00hm\r\n")}, want: []mail.Fault{mail.FaultGarbage}},
		"early half reply":    {at: map[mail.Step]smtptest.Action{mail.StepData: early("250-queued\r\n")}, timeout: 150 * time.Millisecond, want: []mail.Fault{mail.FaultTimeout}},
		"reset":               {at: map[mail.Step]smtptest.Action{mail.StepBody: smtptest.Reset()}, bodyBytes: 1, size: 16 << 20, want: []mail.Fault{mail.FaultLost}},
		"hang-up":             {at: map[mail.Step]smtptest.Action{mail.StepBody: smtptest.HangUp()}, bodyBytes: 1, size: 16 << 20, want: []mail.Fault{mail.FaultLost}},
		"stops reading":       {at: map[mail.Step]smtptest.Action{mail.StepBody: smtptest.Deaf()}, bodyBytes: 1, size: 16 << 20, timeout: 150 * time.Millisecond, want: []mail.Fault{mail.FaultTimeout}},
		"552, then hang-up":   {at: map[mail.Step]smtptest.Action{mail.StepBody: smtptest.Reply("552 5.3.4 too big").Then(smtptest.HangUp())}, bodyBytes: 1, size: 16 << 20, want: []mail.Fault{mail.FaultLost, mail.FaultEarlyReply}, code: 552},
		"552 while it reads":  {at: map[mail.Step]smtptest.Action{mail.StepBody: smtptest.Reply("552 5.3.4 too big")}, bodyBytes: 1, size: 8 << 20, want: []mail.Fault{mail.FaultEarlyReply}, code: 552},
		"250 in a large body": {at: map[mail.Step]smtptest.Action{mail.StepBody: smtptest.Reply("250 2.0.0 queued")}, bodyBytes: 1, size: 8 << 20, want: []mail.Fault{mail.FaultEarlyReply}, code: 250},
	} {
		for _, mode := range modes {
			t.Run(name+"/"+string(mode), func(t *testing.T) {
				p := smtptest.Start(t, smtptest.Script{Security: mode, At: tc.at, BodyBytes: tc.bodyBytes})
				req, rec := request(p), &recorder{}
				if tc.size > 0 {
					req.Bytes = bigBody(tc.size)
				}
				if tc.timeout > 0 {
					req.Timeouts.BodyWrite, req.Timeouts.Premature = tc.timeout, tc.timeout
				}
				ev := Send(t.Context(), req, rec)
				ok := false
				for _, f := range tc.want {
					ok = ok || ev.Fault == f
				}
				if !ok || ev.Reply.Code != tc.code || ev.HandedOver || ev.MarkDurable || len(rec.marked) != 0 ||
					ev.LastStep != mail.StepBody && ev.LastStep != mail.StepHandover {
					t.Errorf("step %s fault %q reply %d handed over %v mark %v, want %q %d", ev.LastStep, ev.Fault, ev.Reply.Code, ev.HandedOver, ev.MarkDurable, tc.want, tc.code)
				}
				notTerminated(t, p)
			})
		}
	}
}

func notTerminated(t *testing.T, p *smtptest.Peer) {
	t.Helper()
	p.Close()
	for _, m := range p.Received() {
		if m.Terminated {
			t.Error("the terminator was written")
		}
	}
}

// What happens while the mark is committed is found before the terminator.
func TestWhileTheMarkIsCommitted(t *testing.T) {
	for name, tc := range map[string]struct {
		do   smtptest.Action
		want mail.Fault
		code int
	}{
		"hang-up":   {smtptest.HangUp(), mail.FaultLost, 0},
		"reset":     {smtptest.Reset(), mail.FaultLost, 0},
		"421":       {smtptest.Reply("421 4.4.2 too slow"), mail.FaultEarlyReply, 421},
		"early 2xx": {smtptest.Reply("250 2.0.0 queued"), mail.FaultEarlyReply, 250},
	} {
		for _, mode := range modes {
			t.Run(name+"/"+string(mode), func(t *testing.T) {
				p := smtptest.Start(t, smtptest.Script{Security: mode})
				rec := &recorder{handover: func() error { p.Interrupt(tc.do); return nil }}
				ev := Send(t.Context(), request(p), rec)
				if ev.LastStep != mail.StepHandover || ev.Fault != tc.want || ev.Reply.Code != tc.code || ev.HandedOver || !ev.MarkDurable {
					t.Errorf("evidence %+v", ev)
				}
				notTerminated(t, p)
			})
		}
	}
}

func TestMarkThatCannotBeCommitted(t *testing.T) {
	p := smtptest.Start(t, smtptest.Script{})
	flushed := false
	ev := Send(t.Context(), request(p), &recorder{handover: func() error {
		// The mark is asked for when the whole body is on its way: it arrives
		// without another write of ours.
		for end := time.Now().Add(10 * time.Second); !flushed && time.Now().Before(end); runtime.Gosched() {
			got := p.Received()
			flushed = len(got) == 1 && bytes.HasSuffix(got[0].Data, []byte("end\r\n"))
		}
		return errors.New("disk full")
	}})
	if ev.LastStep != mail.StepHandover || ev.Fault != mail.FaultMark || ev.HandedOver || ev.MarkDurable {
		t.Errorf("evidence %+v", ev)
	}
	notTerminated(t, p)
	if !flushed {
		t.Errorf("the whole body was to be flushed before the mark: %+v", p.Received())
	}
}

// jumpingClock is the wall clock plus what somebody added to it.
type jumpingClock struct{ by time.Duration }

func (c *jumpingClock) Now() time.Time { return time.Now().Add(c.by) }

func TestClockJump(t *testing.T) {
	for name, tc := range map[string]struct {
		by   time.Duration
		when mail.Step // "mark": while it is committed
		want mail.Fault
		mark bool
	}{
		"61 s in the body":         {61 * time.Second, mail.StepBody, mail.FaultClock, false},
		"61 s back in the body":    {-61 * time.Second, mail.StepBody, mail.FaultClock, false},
		"an hour at the handover":  {time.Hour, mail.StepHandover, mail.FaultClock, false},
		"an hour while committing": {time.Hour, "mark", mail.FaultClock, true},
		"59 s in the body":         {59 * time.Second, mail.StepBody, mail.FaultNone, true},
		"an hour before DATA":      {time.Hour, mail.StepMail, mail.FaultNone, true},
		"an hour after":            {time.Hour, mail.StepReply, mail.FaultNone, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := smtptest.Start(t, smtptest.Script{})
			clock := &jumpingClock{}
			req := request(p)
			req.Clock = clock
			rec := &recorder{reached: func(s mail.Step) {
				if s == tc.when {
					clock.by = tc.by
				}
			}, handover: func() error {
				if tc.when == "mark" {
					clock.by = tc.by
				}
				return nil
			}}
			ev := Send(t.Context(), req, rec)
			if ev.Fault != tc.want || ev.MarkDurable != tc.mark || ev.HandedOver != (tc.want == mail.FaultNone) {
				t.Errorf("evidence %+v", ev)
			}
			if tc.want != mail.FaultNone {
				notTerminated(t, p)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	steps := []mail.Step{mail.StepCredentials, mail.StepDial, mail.StepTLS, mail.StepGreeting, mail.StepEHLO, mail.StepSTARTTLS, mail.StepAuth,
		mail.StepMail, mail.StepRcpt, mail.StepData, mail.StepBody, mail.StepHandover, "mark"}
	for _, mode := range modes {
		for _, step := range steps {
			if mode == mail.SecurityTLS && step == mail.StepSTARTTLS || mode == mail.SecuritySTARTTLS && step == mail.StepTLS {
				continue
			}
			t.Run(string(mode)+"/"+string(step), func(t *testing.T) {
				p := smtptest.Start(t, smtptest.Script{Security: mode})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				rec := &recorder{reached: func(s mail.Step) {
					if s == step {
						cancel()
					}
				}, handover: func() error {
					if step == "mark" {
						cancel()
					}
					return nil
				}}
				ev := Send(ctx, request(p), rec)
				if ev.Fault != mail.FaultCancelled || ev.HandedOver || ev.MarkDurable != (step == "mark") {
					t.Errorf("evidence %+v", ev)
				}
				notTerminated(t, p)
			})
		}
		t.Run(string(mode)+"/after the handover", func(t *testing.T) {
			p := smtptest.Start(t, smtptest.Script{Security: mode})
			ctx, cancel := context.WithCancel(t.Context())
			ev := Send(ctx, request(p), &recorder{reached: func(s mail.Step) {
				if s == mail.StepReply {
					cancel()
				}
			}})
			if ev.Fault != mail.FaultNone || ev.Reply.Code != 250 || !ev.HandedOver {
				t.Errorf("evidence %+v", ev)
			}
		})
	}
}

func TestQuitDoesNotMatter(t *testing.T) {
	for name, a := range map[string]smtptest.Action{"refused": smtptest.Reply("554 no"), "reset": smtptest.Reset(), "garbage": smtptest.Garbage(), "stall": smtptest.Stall()} {
		p := smtptest.Start(t, smtptest.Script{At: map[mail.Step]smtptest.Action{mail.StepQuit: a}})
		req := request(p)
		req.Timeouts.Quit = 50 * time.Millisecond
		ev := Send(t.Context(), req, &recorder{})
		if ev.Fault != mail.FaultNone || ev.LastStep != mail.StepReply || ev.Reply.Code != 250 {
			t.Errorf("%s: %+v", name, ev)
		}
		p.Wait() // the connection ends, whatever the server does
	}
}

func TestSessionCarriesSeveralMessages(t *testing.T) {
	p := smtptest.Start(t, smtptest.Script{Size: 1000, Rcpt: map[string]smtptest.Action{"no@example.net": smtptest.Reply("550 5.1.1 unknown")}})
	req, rec := request(p), &recorder{}
	s, ev := Open(t.Context(), req, rec)
	if s == nil {
		t.Fatalf("not opened: %+v", ev)
	}
	msg := req.Message()
	refused, large := msg, msg
	refused.To = []string{"no@example.net"}
	large.Bytes = bigBody(2000)
	for i, tc := range []struct {
		m    Message
		want mail.Fault
	}{{msg, mail.FaultNone}, {refused, mail.FaultRefused}, {msg, mail.FaultNone}, {large, mail.FaultSize}, {msg, mail.FaultNone}} {
		if !s.Usable() {
			t.Fatalf("message %d: the session is not usable", i)
		}
		ev := s.Send(t.Context(), tc.m, rec)
		if ev.Fault != tc.want || ev.Steps[0].Step != mail.StepMail || ev.TLS != "TLS 1.3" || ev.HandedOver != (tc.want == mail.FaultNone) || ev.Recipients != 1 {
			t.Errorf("message %d: %+v", i, ev)
		}
	}
	s.Close()
	p.Wait()
	if n, c := len(p.Received()), p.Connections(); n != 3 || c != 1 {
		t.Errorf("%d messages over %d connections", n, c)
	}
}

func TestSessionThatDiedIsNotUsable(t *testing.T) {
	for name, a := range map[string]smtptest.Action{"hang-up": smtptest.HangUp(), "reset": smtptest.Reset(), "421": smtptest.Reply("421 4.4.2 idle")} {
		p := smtptest.Start(t, smtptest.Script{})
		req, rec := request(p), &recorder{}
		s, ev := Open(t.Context(), req, rec)
		if s == nil {
			t.Fatalf("%s: not opened: %+v", name, ev)
		}
		p.Interrupt(a)
		if s.Usable() {
			t.Errorf("%s: still usable", name)
		}
		if ev := s.Send(t.Context(), req.Message(), rec); ev.Fault != mail.FaultLost || ev.LastStep != mail.StepMail || ev.HandedOver {
			t.Errorf("%s: %+v", name, ev)
		}
		s.Close()
	}
}

func TestProviderIDs(t *testing.T) {
	for reply, want := range map[string]string{
		"250 2.0.0 Ok: queued as 4F2A9C01\r\n":                                    "4F2A9C01|",
		"250 2.0.0 Ok: queued as 4ZkBWk1xgKz2yTQ\r\n":                             "4ZkBWk1xgKz2yTQ|",
		"250 OK id=1tQxYz-00000003abc-2Qwe\r\n":                                   "1tQxYz-00000003abc-2Qwe|",
		"250 2.0.0 OK  1730000000 a1b2c3d4e5f6-9aXX.12 - gsmtp\r\n":               "1730000000 a1b2c3d4e5f6-9aXX.12|",
		"250 2.0.0 OK <x1@prod.example> [Hostname=h.example]\r\n":                 "|<x1@prod.example>",
		"250 Ok 010201912ab3c4d5-1a2b3c4d-5e6f-7a8b-9c0d-ef1234567890-000000\r\n": "010201912ab3c4d5-1a2b3c4d-5e6f-7a8b-9c0d-ef1234567890-000000|",
		"250 2.6.0 <DB7PR01@x.example> [InternalId=12345678901, Hostname=H.example] 1234 bytes in 0.1, 12 KB/sec Queued mail for delivery\r\n": "12345678901|<DB7PR01@x.example>",
		"250 2.0.0 <bob@example.net> kFz1AbCdEf Saved\r\n":           "kFz1AbCdEf|",
		"250 2.0.0 49AbCdEf012345 Message accepted for delivery\r\n": "49AbCdEf012345|",
		"250-2.0.0 first\r\n250 2.0.0 Ok: queued as ABCDEF12\r\n":    "ABCDEF12|",
		"250 ok\r\n":                       "|",
		"250\r\n":                          "|",
		"550 5.7.1 queued as ABCDEF12\r\n": "|",
	} {
		r, err := newReplyReader(strings.NewReader(reply)).reply(true)
		if err != nil {
			t.Errorf("%q: %v", reply, err)
			continue
		}
		id, msg := providerIDs(r, Message{From: "ada@example.org", To: []string{"bob@example.net"}})
		if got := id + "|" + msg; got != want {
			t.Errorf("%q: %s, want %s", reply, got, want)
		}
	}
}

func TestDefaultTimeoutsAreNotBelowTheStandard(t *testing.T) {
	d := Timeouts{}.withDefaults()
	if d != DefaultTimeouts() {
		t.Errorf("zero fields become %+v", d)
	}
	if d.Reply < 600*time.Second || d.Command < 300*time.Second || d.Data < 120*time.Second || d.BodyWrite < 180*time.Second {
		t.Errorf("below RFC 5321 section 4.5.3.2: %+v", d)
	}
}
