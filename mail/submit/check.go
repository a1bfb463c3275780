package submit

import (
	"context"

	"skrzynka/mail"
	"skrzynka/mail/safe"
)

// Check connects, secures and authenticates as a submission would, then says
// QUIT. It returns one line about what was found. Errors are *mail.Error with
// the code a submission would have failed with. Of req the message is not used.
func Check(ctx context.Context, req Request) (string, error) {
	s, ev := Open(ctx, req, silent{})
	if s != nil {
		s.Close()
		return s.server + ": signed in over " + s.tls, nil
	}
	e := &mail.Error{Code: mail.CodeSMTPUnavailable, Hint: "Check host, port and security of the account's smtp section, and the network.",
		Retryable: ev.Reply.Class() == 4 || ev.Fault == mail.FaultTimeout || ev.Fault == mail.FaultLost || ev.Fault == mail.FaultUnreachable}
	switch {
	case ev.Fault == mail.FaultCancelled:
		e.Code, e.Hint = mail.CodeCancelled, ""
	case ev.LastStep == mail.StepCredentials:
		e.Code, e.Hint = mail.CodeCredentials, ""
	case ev.LastStep == mail.StepTLS, ev.LastStep == mail.StepSTARTTLS, ev.Fault == mail.FaultTLS:
		e.Code, e.Hint = mail.CodeSMTPTLS, "Check security and ca_file of the account's smtp section; verification cannot be turned off."
	case ev.LastStep == mail.StepAuth && (ev.Fault == mail.FaultRefused && ev.Reply.Code != 421 || ev.Fault == mail.FaultLocal):
		e.Code, e.Hint = mail.CodeSMTPAuth, "Check the user name and the password; some providers want an app password."
	}
	what := ev.Detail
	if ev.Fault == mail.FaultRefused {
		what = "the server said: " + noteOf(ev)
	}
	e.Text = safe.Line("Signing in to "+ev.Server+" failed: "+what).String() + "."
	return "", e
}

func noteOf(ev mail.Evidence) string {
	if n := len(ev.Steps); n > 0 {
		return ev.Steps[n-1].Note
	}
	return ""
}

// silent is a Recorder for a session that submits nothing.
type silent struct{}

func (silent) Reached(mail.StepMark) {}

func (silent) Handover(context.Context, mail.Evidence) error { return nil }
