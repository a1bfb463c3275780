// Package delivery decides what the evidence of a transaction proves, and
// nothing else does: live sending, crash recovery, probes and the command line
// all pass their evidence here. It is pure.
package delivery

import "skrzynka/mail"

// Verdict is what follows from evidence.
type Verdict struct {
	Status mail.DeliveryStatus
	Code   mail.Code // "" when sent
	// Retryable says that the same message may be accepted later without
	// anybody changing anything. It never makes a resend safe by itself.
	Retryable bool
	// Unsubmitted says that the failure is proven to lie before submission: the
	// key of an outbound message is released, and the outbox may try again.
	Unsubmitted bool
	// NotHandedOver is the proof that the terminator was never begun, kept for
	// an attempt that is uncertain because its process went away.
	NotHandedOver bool
}

// KeyReleased reports whether the idempotency key of an attempt of this kind is
// given back. A reply's key never is.
func (v Verdict) KeyReleased(kind mail.AttemptKind) bool {
	return kind == mail.KindOutbound && v.Unsubmitted
}

// Judge maps evidence to the only honest status. The rules in order:
//
//   - The process went away: uncertain, with the kind's own code; without the
//     handover mark the proof NotHandedOver is kept.
//   - Handed over: only a 2xx is sent (RFC 5321 section 4.2.5 makes the server
//     responsible), only a complete 4xx or 5xx is failed (the server must not
//     deliver), 421 and everything else is uncertain.
//   - Not handed over: no server may act on unterminated data (section
//     4.1.1.10), so the message failed, except when a 2xx came before the
//     terminator: then the two sides are out of step and nothing is proven.
//
// Evidence that no rule knows is uncertain.
func Judge(kind mail.AttemptKind, ev mail.Evidence) Verdict {
	switch {
	case ev.Fault == mail.FaultGone:
		return Verdict{Status: mail.StatusUncertain, Code: kind.UncertainCode(), NotHandedOver: !ev.MarkDurable && !ev.HandedOver}
	case ev.HandedOver:
		return judgeHandedOver(ev)
	case ev.Fault == mail.FaultNone:
		return uncertain()
	case ev.Fault == mail.FaultCancelled:
		return failed(mail.CodeCancelled, true, before(ev.LastStep, mail.StepData))
	}
	return judgeBefore(ev)
}

func judgeHandedOver(ev mail.Evidence) Verdict {
	class := ev.Reply.Class()
	switch {
	case ev.Fault == mail.FaultNone && class == 2:
		return Verdict{Status: mail.StatusSent}
	case ev.Fault == mail.FaultRefused && (class == 4 || class == 5) && ev.Reply.Code != 421:
		return failed(mail.CodeSMTPRejected, class == 4, false)
	default:
		// 421 is answered by front ends whose back end vanished, and repeated
		// recipients may have been accepted under another spelling.
		return uncertain()
	}
}

func judgeBefore(ev mail.Evidence) Verdict {
	temporary := ev.Reply.Class() == 4
	passing := ev.Fault == mail.FaultLost || ev.Fault == mail.FaultTimeout || ev.Fault == mail.FaultUnreachable
	refused := ev.Fault == mail.FaultRefused
	closing := refused && ev.Reply.Code == 421 // the service is closing: no verdict on what was asked
	switch ev.LastStep {
	case mail.StepClaim, mail.StepCredentials:
		return failed(mail.CodeCredentials, passing, true)
	case mail.StepDial:
		return failed(mail.CodeSMTPUnavailable, passing, true)
	case mail.StepTLS, mail.StepSTARTTLS:
		return failed(mail.CodeSMTPTLS, passing || temporary, true)
	case mail.StepGreeting, mail.StepEHLO:
		if ev.Fault == mail.FaultTLS {
			return failed(mail.CodeSMTPTLS, false, true)
		}
		return failed(mail.CodeSMTPUnavailable, passing || temporary, true)
	case mail.StepAuth:
		if ev.Fault == mail.FaultLocal || refused && !closing {
			return failed(mail.CodeSMTPAuth, temporary, true)
		}
		return failed(mail.CodeSMTPUnavailable, passing || temporary, true)
	case mail.StepMail:
		if ev.Fault == mail.FaultSize || refused && !closing {
			return failed(mail.CodeSMTPRejected, temporary, true)
		}
		return failed(mail.CodeSMTPUnavailable, passing || temporary, true)
	case mail.StepRcpt:
		switch {
		case closing:
			return failed(mail.CodeSMTPUnavailable, true, true)
		case ev.Fault == mail.FaultPartial, refused && ev.AllRefused:
			return failed(mail.CodeSMTPRejected, allTemporary(ev.Rejected()), true)
		}
		return failed(mail.CodeSMTPInterrupted, passing, false)
	case mail.StepData:
		switch {
		case closing:
			return failed(mail.CodeSMTPUnavailable, true, true)
		case refused:
			return failed(mail.CodeSMTPRejected, temporary, true)
		}
		return failed(mail.CodeSMTPInterrupted, passing, false)
	case mail.StepBody, mail.StepHandover:
		if ev.Fault == mail.FaultEarlyReply && ev.Reply.Class() == 2 {
			return uncertain()
		}
		if ev.Reply.Class() == 5 {
			return failed(mail.CodeSMTPInterrupted, false, false)
		}
		return failed(mail.CodeSMTPInterrupted, passing || temporary || ev.Fault == mail.FaultClock, false)
	}
	return uncertain()
}

func uncertain() Verdict {
	return Verdict{Status: mail.StatusUncertain, Code: mail.CodeSMTPUncertain}
}

func failed(code mail.Code, retryable, unsubmitted bool) Verdict {
	return Verdict{Status: mail.StatusFailed, Code: code, Retryable: retryable, Unsubmitted: unsubmitted}
}

func allTemporary(refused []mail.RecipientResult) bool {
	for _, r := range refused {
		if r.Reply.Class() != 4 {
			return false
		}
	}
	return len(refused) > 0
}

// before reports whether a comes before b in the order of steps.
func before(a, b mail.Step) bool {
	ia, ib := -1, -1
	for i, s := range mail.AllSteps() {
		if s == a {
			ia = i
		}
		if s == b {
			ib = i
		}
	}
	return ia < ib
}
