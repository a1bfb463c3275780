package uitest

import (
	"time"

	"skrzynka/mail"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

func ptr[T any](v T) *T { return &v }

// AddOutgoing fills an engine with an account, drafts, and an attempt of every
// kind a person meets.
func (e *Engine) AddOutgoing() *Engine {
	e.Accts = []view.Account{
		{Name: "home", Display: "Ada", Email: "ada@example.org", Default: true, Messages: 1204, Attempts: 8,
			IMAP: view.Server{Host: "imap.example.org", Port: 993, Security: mail.SecurityTLS}, SMTP: view.Server{Host: "smtp.example.org", Port: 587, Security: mail.SecuritySTARTTLS}},
		{Name: "work", Display: "Ada", Email: "ada@work.example", IMAP: view.Server{Host: "imap.work.example", Port: 993, Security: mail.SecurityTLS},
			SMTP: view.Server{Host: "smtp.work.example", Port: 465, Security: mail.SecurityTLS}},
	}
	e.Kept = []mail.Draft{
		{ID: 7, Account: "home", Kind: mail.KindOutbound, To: []mail.Address{{Addr: "bob@example.net"}}, Subject: "Lunch", Body: "At noon?", UpdatedAt: Now.Add(-5 * time.Minute)},
		{ID: 8, Account: "home", Kind: mail.KindOutbound, To: []mail.Address{{Addr: "team@example.org"}}, Subject: "Weekly report", Body: "All is well.",
			SendAt: time.Date(2025, 3, 10, 8, 0, 0, 0, time.UTC), UpdatedAt: Now.Add(-2 * time.Hour)},
		{ID: 9, Account: "work", Kind: mail.KindReply, UpdatedAt: Now.AddDate(0, 0, -3)},
	}
	e.Out = []view.Attempt{waiting(), refused(), lost(), died(), accepted(), bounced(), first()}
	e.Found = view.Probe{Looked: []view.Looked{
		{Place: safe.Line("synced mail"), Strength: "none", Note: safe.Line("no stored message carries, answers or bounces it")},
		{Place: safe.Line("Sent on the server"), Strength: "none", Note: safe.Line("not found")},
	}, Sentence: safe.Line("Nothing was found. Absence proves nothing: it may still have been accepted.")}
	e.Log = []view.AuditRow{
		{ID: 4, At: Now.Add(-2 * time.Hour), Actor: mail.ActorPerson, Account: "home", Action: "attempt.settled", Subject: safe.Line("attempt:refused"), About: safe.Line("Contract"), From: safe.Line("sending"), To: safe.Line("failed"), Why: safe.Line("550 5.1.1 no such user here")},
		{ID: 3, At: Now.Add(-2*time.Hour - time.Second), Actor: mail.ActorPerson, Account: "home", Action: "attempt.claimed", Subject: safe.Line("attempt:refused"), About: safe.Line("Contract"), From: safe.Line("pending"), To: safe.Line("sending")},
		{ID: 2, At: Now.Add(-2*time.Hour - 2*time.Second), Actor: mail.ActorPerson, Account: "home", Action: "attempt.opened", Subject: safe.Line("attempt:refused"), About: safe.Line("Contract"), To: safe.Line("pending")},
		{ID: 1, At: Now.Add(-26 * time.Hour), Actor: mail.ActorSync, Account: "home", Action: "contact.paused", Subject: safe.Line("contact:bob@example.net"), From: safe.Line("active"), To: safe.Line("paused"), Why: safe.Line("out of office until 10 Mar")},
	}
	e.Tests = []view.Check{{Name: "IMAP connect", OK: true, Found: safe.Line("imap.example.org:993, TLS 1.3")}, {Name: "IMAP sign in", OK: true},
		{Name: "SMTP sign in", Found: safe.Line("535 5.7.8 authentication failed"), Fix: "Check the password: this provider wants an app password."}}
	return e
}

func outgoing(id string, s mail.DeliveryStatus, to, subject string, age time.Duration) view.Attempt {
	at := Now.Add(-age)
	a := view.Attempt{ID: id, Kind: mail.KindOutbound, Account: "home", IdempotencyKey: "0b5c1c1e-" + id, Status: s, To: []string{to}, Subject: subject,
		Body: "Hello,\n\nhere is what we spoke about.\n\nAda\n", RFCMessageID: "<" + id + "@example.org>", Badge: view.Badge{Status: s}, CreatedAt: at, UpdatedAt: at.Add(2 * time.Second)}
	a.Evidence.Server, a.Evidence.TLS = safe.Line("smtp.example.org:587"), safe.Line("TLS 1.3")
	for i, step := range []mail.Step{mail.StepClaim, mail.StepDial, mail.StepEHLO, mail.StepSTARTTLS, mail.StepAuth, mail.StepMail, mail.StepRcpt} {
		a.Evidence.Steps = append(a.Evidence.Steps, view.StepMark{Step: step, At: at.Add(time.Duration(i*120) * time.Millisecond)})
	}
	return a
}

func (a attemptEdit) step(s mail.Step, after time.Duration, note string) {
	a.Evidence.Steps = append(a.Evidence.Steps, view.StepMark{Step: s, At: a.CreatedAt.Add(after), Note: safe.Line(note)})
	a.Evidence.LastStep = s
}

type attemptEdit struct{ *view.Attempt }

func handedOver(a *view.Attempt) {
	e := attemptEdit{a}
	e.step(mail.StepData, 900*time.Millisecond, "354 go ahead")
	e.step(mail.StepBody, 950*time.Millisecond, "")
	e.step(mail.StepHandover, 1100*time.Millisecond, "")
	a.Evidence.HandedOver, a.Evidence.AcceptedCount = true, 1
}

func waiting() view.Attempt {
	a := outgoing("waiting", mail.StatusFailed, "carol@example.com", "Invoice 2025-17", 3*time.Minute)
	a.Evidence.Steps = a.Evidence.Steps[:2]
	a.ErrorCode, a.Retryable = ptr(mail.CodeSMTPUnavailable), true
	a.NextTryAt, a.AutoTries, a.AutoTriesMax = ptr(Now.Add(38*time.Second)), 1, 5
	a.Says, a.Advice = safe.Line("Not sent: smtp.example.org:587 could not be used (it could not be reached)."), safe.Line("Nothing was submitted: resend when the connection is back.")
	return a
}

func refused() view.Attempt {
	a := outgoing("refused", mail.StatusFailed, "nobody@example.com", "Contract", 2*time.Hour)
	a.ErrorCode, a.ErrorMessage = ptr(mail.CodeSMTPRejected), ptr("The recipient was refused.")
	a.Evidence.ReplyCode, a.Evidence.EnhancedCode, a.Evidence.ReplyText = ptr(550), ptr("5.1.1"), ptr(safe.Line("no such user here"))
	a.Evidence.RejectedCount, a.Evidence.NotSubmittedCount = 1, 1
	a.Evidence.Rejected = []view.Rejected{{Address: safe.Line("nobody@example.com"), Code: 550, Text: safe.Line("no such user here")}}
	a.Says = safe.Line("Not sent: smtp.example.org:587 refused the recipient nobody@example.com: “550 5.1.1 no such user here”")
	a.Advice = safe.Line("Correct what the server names, then edit and resend.")
	return a
}

func lost() view.Attempt {
	a := outgoing("lost", mail.StatusUncertain, "dave@example.net", "Re: Offer", 5*time.Hour)
	handedOver(&a)
	attemptEdit{&a}.step(mail.StepReply, 1110*time.Millisecond, "the connection was lost")
	a.ErrorCode = ptr(mail.CodeSMTPUncertain)
	a.Says = safe.Line("The whole message was handed over and then the connection was lost: it may have been accepted.")
	a.Advice = safe.Line("Probe for it, ask the recipient, or decide; resending may deliver it twice.")
	return a
}

func died() view.Attempt {
	a := outgoing("died", mail.StatusUncertain, "erin@example.net", "Minutes", 26*time.Hour)
	a.ErrorCode = ptr(mail.CodeOutboundUncertain)
	a.Evidence.NotHandedOver = true
	a.Says = safe.Line("The program ended before the message was handed over: the server cannot have taken it.")
	a.Advice = safe.Line("Resending is safe.")
	return a
}

func accepted() view.Attempt {
	a := outgoing("accepted", mail.StatusSent, "frank@example.org", "Photos", 30*time.Hour)
	handedOver(&a)
	a.SentAt, a.RetryOf = ptr(a.CreatedAt.Add(2*time.Second)), ptr("first")
	a.Evidence.ReplyCode, a.Evidence.ReplyText = ptr(250), ptr(safe.Line("queued as 4bX1"))
	a.SentCopy = view.SentCopy{Status: mail.CopyUnknown, Folder: ptr(safe.Line("Sent")), ErrorMessage: ptr(safe.Line("the connection was lost before the answer"))}
	a.Says = safe.Line("Accepted by smtp.example.org:587.")
	return a
}

func bounced() view.Attempt {
	a := outgoing("bounced", mail.StatusSent, "grace@example.com", "Hello", 50*time.Hour)
	handedOver(&a)
	a.Badge.Bounced = true
	a.SentCopy = view.SentCopy{Status: mail.CopySaved, Folder: ptr(safe.Line("Sent")), UID: ptr(uint32(41))}
	a.Evidence.Findings = []safe.Text{safe.Line("A delivery report named it: 5.2.2 mailbox full")}
	a.Says = safe.Line("Accepted by smtp.example.org:587.")
	return a
}

func first() view.Attempt {
	a := outgoing("first", mail.StatusFailed, "frank@example.org", "Photos", 31*time.Hour)
	a.RetriedBy = ptr("accepted")
	a.Says, a.Advice = safe.Line("Not sent: the password or token could not be read."), safe.Line("It was sent again as a new attempt.")
	return a
}
