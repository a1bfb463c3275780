package submit

import (
	"bytes"
	"context"
	"time"

	"skrzynka/mail"
)

// terminator ends the data. The body ends in CRLF already, and is flushed.
const terminator = ".\r\n"

// bodyChunk is what one write of the body carries.
const bodyChunk = 32 << 10

// pollEvery is how often a long body is interrupted to look for a reply.
const pollEvery = 32 // chunks

// unfit says why b cannot be sent as data, or "". Only lines of at most 998
// octets of ASCII ended by CRLF are: a bare CR or LF next to a dot is an end of
// data to some servers and not to others, and a second message hides behind it.
func unfit(b []byte) string {
	if len(b) == 0 {
		return "the message is empty"
	}
	if !bytes.HasSuffix(b, []byte("\r\n")) {
		return "the message does not end in CRLF"
	}
	line := 0
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '\r' && i+1 < len(b) && b[i+1] == '\n':
			i++
			line = 0
			continue
		case c == '\r' || c == '\n':
			return "the message has a bare CR or LF"
		case c == 0 || c >= 0x80:
			return "the message is not 7-bit"
		}
		if line++; line > 998 {
			return "the message has a line longer than 998 octets"
		}
	}
	return ""
}

// stuff doubles the dot at the start of each line (RFC 5321 section 4.5.2).
func stuff(b []byte) []byte {
	n := bytes.Count(b, []byte("\r\n."))
	out := make([]byte, 0, len(b)+n+1)
	if bytes.HasPrefix(b, []byte(".")) {
		out = append(out, '.')
	}
	for {
		i := bytes.Index(b, []byte("\r\n."))
		if i < 0 {
			return append(out, b...)
		}
		out = append(append(out, b[:i+2]...), '.')
		b = b[i+2:]
	}
}

// transmit writes the body without its terminator, commits the mark, writes
// the terminator and waits for the final reply. ev is complete when it returns.
func (s *Session) transmit(ctx context.Context, m Message, rec Recorder, t *transaction) {
	t.begin(mail.StepBody)
	if !s.writeBody(t, stuff(m.Bytes)) {
		s.cut()
		return
	}
	t.begin(mail.StepHandover)
	if !s.handover(ctx, rec, t) {
		s.cut()
		return
	}
	t.begin(mail.StepReply)
	s.limit(s.timeouts.Reply)
	reply, err := s.r.reply(true)
	if err != nil {
		t.fail(err)
		s.cut()
		return
	}
	t.note(reply)
	t.ev.Reply = reply
	t.ev.ProviderID, t.ev.ProviderMsg = providerIDs(reply, m)
	const twice = "an address was given more than once, and the refusal does not say for which one"
	switch class := reply.Class(); {
	case class == 2 && divided(t.ev.Results):
		t.stop(mail.FaultAmbiguous, twice)
	case class == 2:
	case reply.Code == 421:
		t.stop(mail.FaultRefused, "")
		s.cut()
	case class == 3:
		t.stop(mail.FaultGarbage, "the server answered the message with a code that means nothing here")
		s.cut()
	case repeats(m.To):
		t.stop(mail.FaultAmbiguous, twice)
	default:
		t.stop(mail.FaultRefused, "")
	}
}

// writeBody flushes all of b. When it cannot, or the server has spoken already,
// the evidence says so and false is returned.
func (s *Session) writeBody(t *transaction, b []byte) bool {
	limit := s.timeouts.BodyWrite + time.Duration(int64(len(b))/s.timeouts.BodyRate)*time.Second
	end := time.Now().Add(limit)
	for i := 0; len(b) > 0; i++ {
		if i%pollEvery == pollEvery-1 && !s.quiet(t) {
			return false
		}
		s.limit(s.timeouts.BodyWrite)
		s.conn.Until(end)
		n := min(bodyChunk, len(b))
		if _, err := s.rw.Write(b[:n]); err != nil {
			t.fail(err)
			s.premature(t)
			return false
		}
		b = b[n:]
	}
	return true
}

// premature reads the reply that a server left behind before it hung up on the
// body, for its reason. The fault stays what it is.
func (s *Session) premature(t *transaction) {
	s.limit(s.timeouts.Premature)
	if reply, err := s.r.reply(false); err == nil {
		t.ev.Reply = reply
		t.note(reply)
	}
}

// quiet reports whether the server has said nothing since the last reply that
// was due. A reply now means that the two sides are out of step: FaultEarlyReply
// with the reply, whose class the judge looks at.
func (s *Session) quiet(t *transaction) bool {
	pending, err := s.pending()
	if err != nil {
		t.fail(err)
		return false
	}
	if !pending {
		return true
	}
	s.limit(s.timeouts.Premature)
	reply, err := s.r.reply(false)
	if err != nil {
		t.fail(err)
		return false
	}
	t.note(reply)
	t.ev.Reply, t.ev.Fault = reply, mail.FaultEarlyReply
	t.ev.Detail = "the server answered before the message was handed over"
	return false
}

// handover commits the mark and writes the terminator. It is false when the
// terminator was not written, or writing it failed; HandedOver tells which.
func (s *Session) handover(ctx context.Context, rec Recorder, t *transaction) bool {
	const jumped = "the clock jumped by more than 60 s: the machine may have slept"
	if ctx.Err() != nil {
		return t.stop(mail.FaultCancelled, "stopped before the message was handed over")
	}
	if !s.quiet(t) {
		return false
	}
	if t.jumped() {
		return t.stop(mail.FaultClock, jumped)
	}
	if err := rec.Handover(ctx, t.snapshot()); err != nil {
		return t.stop(mail.FaultMark, "the handover mark could not be committed")
	}
	t.ev.MarkDurable = true
	// Committing may have taken long. Nothing of the terminator is written yet,
	// so what is found now is still a proven failure.
	if t.jumped() {
		return t.stop(mail.FaultClock, jumped)
	}
	if !s.quiet(t) {
		return false
	}
	if !s.conn.Detach() {
		return t.stop(mail.FaultCancelled, "stopped before the message was handed over")
	}
	t.ev.HandedOver = true
	s.limit(s.timeouts.BodyWrite)
	if _, err := s.rw.Write([]byte(terminator)); err != nil {
		t.fail(err) // some of it may be out all the same
		s.premature(t)
		return false
	}
	return true
}

// repeats reports whether two recipients are the same mailbox.
func repeats(to []string) bool {
	seen := map[string]bool{}
	for _, a := range to {
		if k := mail.AddressKey(a); seen[k] {
			return true
		} else {
			seen[k] = true
		}
	}
	return false
}
