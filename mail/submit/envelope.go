package submit

import (
	"context"
	"strconv"

	"skrzynka/mail"
)

// Send submits one message and returns its evidence. The session stays usable
// after a success and after a complete refusal; see Usable.
//
// Each recipient gets its own RCPT in the order given, repeats included. When a
// mailbox was given more than once (mail.AddressKey) and the message is refused
// after the handover, or under Partial some of its RCPTs are refused and some
// are not, the fault is FaultAmbiguous with the server's reply: nothing shows
// which of them it is about.
func (s *Session) Send(ctx context.Context, m Message, rec Recorder) mail.Evidence {
	if ev, ok := check(m, s.clock); !ok {
		ev.Server, ev.TLS = s.server, s.tls
		return ev
	}
	t := newTransaction(rec, s.clock, s.server)
	t.ev.TLS, t.ev.Recipients, t.ev.Partial = s.tls, len(m.To), m.Partial
	if s.dead {
		t.begin(mail.StepMail)
		t.stop(mail.FaultLost, "the connection was lost before the message was begun")
		return t.ev
	}
	s.conn.Bind(ctx)
	if s.envelope(t, m) && s.data(t) {
		s.transmit(ctx, m, rec, t)
	} else {
		s.settle(t)
	}
	if !s.dead && !s.conn.Detach() {
		s.cut()
	}
	return t.ev
}

// envelope runs MAIL and every RCPT.
func (s *Session) envelope(t *transaction, m Message) bool {
	t.begin(mail.StepMail)
	line := "MAIL FROM:<" + m.From + ">"
	if size, ok := s.ext["SIZE"]; ok {
		if limit, err := strconv.ParseInt(size, 10, 64); err == nil && limit > 0 && int64(len(m.Bytes)) > limit {
			return t.stop(mail.FaultSize, "the message has "+strconv.Itoa(len(m.Bytes))+" bytes; the server takes at most "+strconv.FormatInt(limit, 10))
		}
		line += " SIZE=" + strconv.Itoa(len(m.Bytes))
	}
	if _, ok := s.command(t, line, s.timeouts.Command, 2); !ok {
		return false
	}
	t.begin(mail.StepRcpt)
	for _, to := range m.To {
		r, ok := s.command(t, "RCPT TO:<"+to+">", s.timeouts.Command, 2)
		if !ok && (t.ev.Fault != mail.FaultRefused || r.Code == 421) {
			return false // not an answer about this recipient
		}
		t.ev.Results = append(t.ev.Results, mail.RecipientResult{Address: to, Accepted: ok, Reply: r})
		t.ev.Fault, t.ev.Reply = mail.FaultNone, mail.Reply{}
	}
	return s.recipients(t, m.Partial)
}

// recipients decides by policy alone whether to go on to DATA.
func (s *Session) recipients(t *transaction, partial bool) bool {
	accepted := t.ev.Accepted()
	if accepted == len(t.ev.Results) || accepted > 0 && partial {
		return true
	}
	// The reply that decided: a permanent refusal says more than a temporary one.
	for _, r := range t.ev.Results {
		if !r.Accepted && (t.ev.Reply.Code == 0 || t.ev.Reply.Class() == 4 && r.Reply.Class() == 5) {
			t.ev.Reply = r.Reply
		}
	}
	if accepted == 0 {
		t.ev.AllRefused = true
		return t.stop(mail.FaultRefused, "")
	}
	return t.stop(mail.FaultPartial, "some recipients were refused, so nothing was sent to the others either")
}

// data asks for the body. Only 354 will do: anything else positive means that
// the two sides are out of step.
func (s *Session) data(t *transaction) bool {
	t.begin(mail.StepData)
	r, ok := s.command(t, "DATA", s.timeouts.Data, 3)
	if ok && r.Code != 354 {
		t.ev.Reply = r
		return t.stop(mail.FaultGarbage, "the server answered DATA with a code that means nothing here")
	}
	return ok
}

// settle leaves a transaction that ended before the body: with RSET where the
// two sides are in step, else by cutting the connection.
func (s *Session) settle(t *transaction) {
	switch t.ev.Fault {
	case mail.FaultSize: // nothing was begun
		return
	case mail.FaultRefused, mail.FaultPartial:
		if t.ev.Reply.Code == 421 {
			break
		}
		aside := &transaction{}
		if _, ok := s.command(aside, "RSET", s.timeouts.Quit, 2); ok {
			return
		}
	}
	s.cut()
}

// divided reports whether a mailbox that was given more than once was refused
// once and accepted once.
func divided(results []mail.RecipientResult) bool {
	first := map[string]bool{}
	for _, r := range results {
		k := mail.AddressKey(r.Address)
		if accepted, ok := first[k]; ok && accepted != r.Accepted {
			return true
		}
		first[k] = r.Accepted
	}
	return false
}
