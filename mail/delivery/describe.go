package delivery

import (
	"fmt"
	"strings"

	"skrzynka/mail"
)

// Says is one sentence about what is known of an attempt, the same on the
// screen and on the command line. It may quote the server's words, so whoever
// paints it cleans it first. It never claims more than the evidence proves:
// sent is "accepted by", not "delivered".
func Says(a *mail.Attempt) string {
	switch a.Status {
	case mail.StatusPending:
		if a.Held != "" {
			return heldSays(a.Held)
		}
		return "Stored; nothing has been sent yet."
	case mail.StatusSending:
		if a.Evidence.HandedOver || !a.HandoverAt.IsZero() {
			return "Handed over; waiting for the server's answer."
		}
		return "Being sent; not handed over yet."
	case mail.StatusSent:
		return "Accepted by " + server(a) + "." + refusedTail(a)
	case mail.StatusUncertain:
		return uncertainSays(a)
	}
	return failedSays(a)
}

func heldSays(why string) string {
	switch why {
	case "restored":
		return "Held: the database was restored from a backup, so this may have been sent already."
	default:
		return "Held: " + why + "."
	}
}

func uncertainSays(a *mail.Attempt) string {
	ev := &a.Evidence
	var s string
	switch {
	case ev.Fault == mail.FaultGone && !ev.MarkDurable && !ev.HandedOver:
		s = "The program ended before the message was handed over: the server cannot have taken it."
	case ev.Fault == mail.FaultGone:
		s = "The program ended after the message was handed over and before the answer was recorded: it may have been accepted."
	case ev.Fault == mail.FaultEarlyReply:
		s = "The server accepted before the message was complete, so the two sides are out of step: it may have been accepted."
	case ev.Fault == mail.FaultAmbiguous:
		s = "The same recipient was named twice and the refusals cannot be told apart: it may have been accepted for one of them."
	case ev.Reply.Code == 421:
		s = "The server closed the service after the whole message was handed over: it may have been accepted."
	default:
		s = "The whole message was handed over and then " + faultWords(ev) + ": it may have been accepted."
	}
	switch {
	case ev.AcceptedLate:
		return s + " Later proven accepted."
	case a.Resolution == mail.ResolutionSent:
		return s + " A person confirmed that it was sent."
	case a.Resolution == mail.ResolutionNotSent:
		return s + " A person confirmed that it was not sent."
	case a.Resolution == mail.ResolutionResent:
		return s + " A person sent it again."
	}
	return s
}

func failedSays(a *mail.Attempt) string {
	ev := &a.Evidence
	var s string
	switch a.ErrorCode {
	case mail.CodeCredentials:
		s = "Not sent: the password or token could not be read"
	case mail.CodeSMTPTLS:
		s = "Not sent: no trusted encrypted connection to " + server(a) + " could be made"
	case mail.CodeSMTPAuth:
		s = "Not sent: " + server(a) + " did not accept the sign-in"
	case mail.CodeSMTPRejected:
		s = "Not sent: " + server(a) + " refused " + refusedWhat(ev)
	case mail.CodeSMTPInterrupted:
		s = "Not sent: the transfer stopped before the end of the message (" + faultWords(ev) + ")"
	case mail.CodeCancelled:
		s = "Not sent: it was stopped before the message was handed over"
	default:
		s = "Not sent: " + server(a) + " could not be used (" + faultWords(ev) + ")"
	}
	if q := quote(ev.Reply); q != "" {
		return s + ": " + q
	}
	if ev.Detail != "" {
		return s + ": " + strings.TrimSuffix(ev.Detail, ".") + "."
	}
	return s + "."
}

func refusedWhat(ev *mail.Evidence) string {
	if ev.LastStep == mail.StepRcpt {
		rej := ev.Rejected()
		switch {
		case len(rej) == 1:
			return "the recipient " + rej[0].Address
		case len(rej) > 1:
			return fmt.Sprintf("%d recipients", len(rej))
		}
	}
	if ev.Fault == mail.FaultSize {
		return "its size"
	}
	return "the message"
}

func refusedTail(a *mail.Attempt) string {
	rej := a.Evidence.Rejected()
	if len(rej) == 0 {
		return ""
	}
	names := make([]string, len(rej))
	for i, r := range rej {
		names[i] = r.Address
	}
	return " Refused for " + strings.Join(names, ", ") + "."
}

func server(a *mail.Attempt) string {
	if a.Evidence.Server != "" {
		return a.Evidence.Server
	}
	return "the server"
}

func quote(r mail.Reply) string {
	if r.Code == 0 {
		return ""
	}
	s := fmt.Sprint(r.Code)
	if r.Enhanced != "" {
		s += " " + r.Enhanced
	}
	if r.Text != "" {
		s += " " + strings.ReplaceAll(r.Text, "\n", " ")
	}
	return "“" + s + "”"
}

func faultWords(ev *mail.Evidence) string {
	switch ev.Fault {
	case mail.FaultUnreachable:
		return "it could not be reached"
	case mail.FaultLost:
		return "the connection was lost"
	case mail.FaultTimeout:
		return "no answer came in time"
	case mail.FaultGarbage:
		return "the answer was not SMTP"
	case mail.FaultOversized:
		return "the answer was too long to be one"
	case mail.FaultMark:
		return "the handover could not be recorded on this machine"
	case mail.FaultClock:
		return "this machine slept or its clock jumped"
	case mail.FaultEarlyReply:
		return "the server answered before the end"
	case mail.FaultLocal:
		return "a fault on this side"
	case mail.FaultRefused:
		return "the server refused"
	default:
		return "it stopped"
	}
}

// Advice is one sentence about what to do next with an attempt, "" when there
// is nothing to do.
func Advice(a *mail.Attempt) string {
	switch a.Status {
	case mail.StatusUncertain:
		switch {
		case a.Resolution != mail.ResolutionNone, a.Evidence.AcceptedLate:
			return ""
		case !a.Evidence.HandedOver && !a.Evidence.MarkDurable && a.Evidence.Fault == mail.FaultGone:
			return "Resending is safe."
		}
		return "Probe for it, ask the recipient, or decide; resending may deliver it twice."
	case mail.StatusFailed:
		if a.RetriedBy != "" {
			return "It was sent again as a new attempt."
		}
		switch a.ErrorCode {
		case mail.CodeCredentials:
			return "Unlock the keyring, set password_command or sign in again, then resend."
		case mail.CodeSMTPAuth:
			return "Check the user name and password, then resend."
		case mail.CodeSMTPTLS:
			return "Check host, port, security and ca_file of the account, then resend."
		case mail.CodeSMTPRejected:
			if a.Retryable {
				return "The server asks to try later: resend after a while."
			}
			return "Correct what the server names, then edit and resend."
		}
		if a.Retryable {
			return "Nothing was submitted: resend when the connection is back."
		}
		return "Nothing was submitted: look at the evidence, then resend."
	case mail.StatusPending:
		if a.Held != "" {
			return "Check whether it was sent before you let it go."
		}
	}
	return ""
}
