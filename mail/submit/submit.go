// Package submit runs one SMTP transaction (RFC 5321, RFC 6409) step by step,
// tells a Recorder of each, and returns what it saw as evidence. It decides
// nothing: delivery.Judge does.
//
// Two rules carry the weight. The body is flushed whole before the handover
// mark is committed, and the mark is committed before the first byte of the
// terminator. And on any trouble in the body the socket is cut: the terminator
// is never written to be polite.
package submit

import (
	"context"
	"time"

	"skrzynka/auth"
	"skrzynka/mail"
)

// Recorder is told of the steps.
type Recorder interface {
	// Reached is called when a step begins.
	Reached(mark mail.StepMark)
	// Handover commits the durable handover mark. ev is the evidence so far.
	// When it returns an error the terminator is not written and the
	// connection is cut.
	Handover(ctx context.Context, ev mail.Evidence) error
}

// Request is one message for one server.
type Request struct {
	Server mail.Server
	CA     []byte // additional trusted roots, PEM; nil: those of Server.CAFile
	// Creds is asked before anything is dialled. Nil means no authentication.
	Creds    func(context.Context) (auth.Credentials, error)
	Clock    mail.Clock // nil: the system's
	Timeouts Timeouts   // zero fields: the defaults

	From  string   // envelope sender
	To    []string // envelope recipients; each gets a RCPT of its own, repeats too
	Bytes []byte   // 7-bit, CRLF only, not dot-stuffed
	// Partial goes on with the accepted recipients when others are refused.
	// Without it one refusal stops the transaction before DATA.
	Partial bool
}

// Message is the part of r that differs from one transaction to the next.
func (r Request) Message() Message {
	return Message{From: r.From, To: r.To, Bytes: r.Bytes, Partial: r.Partial}
}

// Message is what one transaction submits; see Request for the fields.
type Message struct {
	From    string
	To      []string
	Bytes   []byte
	Partial bool
}

// Timeouts bound the steps. Those of RFC 5321 section 4.5.3.2 are minimums: a
// shorter wait for the final reply makes duplicates.
type Timeouts struct {
	Dial      time.Duration // name lookup and TCP
	TLS       time.Duration // handshake
	Command   time.Duration // greeting and every reply before DATA
	Data      time.Duration // reply to DATA
	BodyWrite time.Duration // each write of the body, and the least the whole may take
	BodyRate  int64         // octets a second: the whole body may take its size at this rate more
	Reply     time.Duration // final reply
	Quit      time.Duration // QUIT, all of it
	Premature time.Duration // reading the reason after the body could not be written
	Poll      time.Duration // looking for a reply that came too early
}

// DefaultTimeouts returns the values used for zero fields.
func DefaultTimeouts() Timeouts {
	return Timeouts{
		Dial: 30 * time.Second, TLS: 30 * time.Second, Command: 300 * time.Second, Data: 120 * time.Second,
		BodyWrite: 180 * time.Second, BodyRate: 8 << 10, Reply: 720 * time.Second, Quit: 5 * time.Second,
		Premature: 2 * time.Second, Poll: 20 * time.Millisecond,
	}
}

func (t Timeouts) withDefaults() Timeouts {
	d := DefaultTimeouts()
	for _, p := range []struct {
		v *time.Duration
		d time.Duration
	}{{&t.Dial, d.Dial}, {&t.TLS, d.TLS}, {&t.Command, d.Command}, {&t.Data, d.Data}, {&t.BodyWrite, d.BodyWrite},
		{&t.Reply, d.Reply}, {&t.Quit, d.Quit}, {&t.Premature, d.Premature}, {&t.Poll, d.Poll}} {
		if *p.v <= 0 {
			*p.v = p.d
		}
	}
	if t.BodyRate <= 0 {
		t.BodyRate = d.BodyRate
	}
	return t
}

// Send submits one message over a connection of its own. When it returns the
// outcome is known; QUIT is said in the background.
//
// Before the handover the end of ctx cuts the connection (FaultCancelled).
// After it only the time limits end the wait: giving up early would not undo
// anything, and would leave the outcome unknown.
func Send(ctx context.Context, req Request, rec Recorder) mail.Evidence {
	if ev, ok := check(req.Message(), clockOf(req.Clock)); !ok {
		ev.Server = address(req.Server)
		return ev
	}
	s, opened := Open(ctx, req, rec)
	if s == nil {
		opened.Recipients, opened.Partial = len(req.To), req.Partial
		return opened
	}
	ev := s.Send(ctx, req.Message(), rec)
	ev.Steps = append(opened.Steps, ev.Steps...)
	go s.Close()
	return ev
}

// check refuses, before anything is dialled, what must not be sent: recipients
// or bytes that another reading could turn into commands or a second message.
func check(m Message, clock mail.Clock) (mail.Evidence, bool) {
	ev := mail.Evidence{Recipients: len(m.To), Partial: m.Partial, Fault: mail.FaultLocal}
	stop := func(step mail.Step, detail string) (mail.Evidence, bool) {
		ev.LastStep, ev.Detail = step, detail
		ev.Steps = []mail.StepMark{{Step: step, At: clock.Now(), Note: detail}}
		return ev, false
	}
	if a, err := mail.EnvelopeAddress(m.From); err != nil || a != m.From {
		return stop(mail.StepMail, "the sender's address is not an envelope address")
	}
	if len(m.To) == 0 {
		return stop(mail.StepRcpt, "there are no recipients")
	}
	for _, to := range m.To {
		if a, err := mail.EnvelopeAddress(to); err != nil || a != to {
			return stop(mail.StepRcpt, "a recipient's address is not an envelope address")
		}
	}
	if why := unfit(m.Bytes); why != "" {
		return stop(mail.StepBody, why)
	}
	return mail.Evidence{}, true
}

func clockOf(c mail.Clock) mail.Clock {
	if c == nil {
		return mail.SystemClock{}
	}
	return c
}
