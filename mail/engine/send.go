package engine

import (
	"context"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/outbox"
	"skrzynka/mail/view"
)

// Reply answers a stored message and returns when the attempt is terminal. A
// repeated key with the same payload returns the existing attempt and sends
// nothing, except that a sent copy that failed or was skipped is tried again.
func (e *Engine) Reply(ctx context.Context, r view.ReplyRequest) (view.Attempt, error) {
	d, err := e.replyDraft(ctx, r.MessageID, r.All)
	if err != nil {
		return view.Attempt{}, err
	}
	d.Body, d.Attachments = r.Body, r.Files
	return e.sendNow(ctx, outbox.Request{Draft: d, Key: r.Key, Confirmed: r.Confirmed})
}

// Send originates a message and returns when the attempt is terminal; keys as
// for Reply.
func (e *Engine) Send(ctx context.Context, r view.SendRequest) (view.Attempt, error) {
	acct, err := e.account(r.Account)
	if err != nil {
		return view.Attempt{}, err
	}
	from, err := sender(acct, r.From)
	if err != nil {
		return view.Attempt{}, err
	}
	d := mail.Draft{Account: acct.Name, Kind: mail.KindOutbound, From: from, To: r.To, Cc: r.Cc, Bcc: r.Bcc,
		Subject: r.Subject, Body: r.Body, Attachments: r.Files}
	return e.sendNow(ctx, outbox.Request{Draft: d, Key: r.Key, Confirmed: r.Confirmed})
}

func sender(acct *mail.Account, addr string) (mail.Address, error) {
	from := acct.From()
	if addr == "" {
		return from, nil
	}
	if !acct.Owns(addr) {
		return from, &mail.Error{Code: mail.CodePolicyRefused, Text: "The sender is neither the account's address nor one of its aliases.",
			Hint: "Add the alias to the account's configuration; nothing was stored."}
	}
	return mail.Address{Name: acct.DisplayName, Addr: addr}, nil
}

func (e *Engine) sendNow(ctx context.Context, r outbox.Request) (view.Attempt, error) {
	a, replayed, err := e.outbox.Enqueue(ctx, r)
	if err != nil {
		return view.Attempt{}, err
	}
	if replayed {
		e.outbox.Copy(ctx, &a)
		return e.result(a, true)
	}
	if a, err = e.deliver(ctx, a.ID, false); err != nil {
		return view.Attempt{}, err
	}
	return e.result(a, false)
}

// result adds what on_failure = "fail" asks for: the mail is out, its copy is
// not, and the caller is told so as an error beside the attempt.
func (e *Engine) result(a mail.Attempt, replayed bool) (view.Attempt, error) {
	v := e.present(a, replayed)
	acct, err := e.account(a.Account)
	if err == nil && a.Status == mail.StatusSent && acct.SentCopy.OnFailure == mail.OnFailureFail && acct.SentCopy.Enabled &&
		(a.Copy.Status == mail.CopyFailed || a.Copy.Status == mail.CopyUnknown) {
		return v, &mail.Error{Code: mail.CodeSentCopyFailed, Retryable: a.Copy.Status == mail.CopyFailed,
			Text: "The message was submitted and cannot be unsent, but its sent copy is " + a.Copy.Status.String() + ".",
			Hint: "Do not send it again; repeat the call with the same key, or inspect the copy."}
	}
	return v, nil
}

// CheckSend holds a draft against the account's send policy and returns the
// question a person has to answer before it is sent, if any.
func (e *Engine) CheckSend(ctx context.Context, draftID int64) (view.Question, error) {
	d, err := e.Store.Draft(ctx, draftID)
	if err != nil {
		return view.Question{}, err
	}
	q, err := e.outbox.Check(ctx, d.Account, recipients(d))
	return view.Question{Ask: q.Ask, Text: q.Text, Hint: q.Rule}, err
}

func recipients(d mail.Draft) []mail.Address {
	out := append([]mail.Address{}, d.To...)
	out = append(out, d.Cc...)
	return append(out, d.Bcc...)
}

// SendDraft sends a stored draft in the background. With an undo window it is
// first a draft with a time, which Undo takes back; no attempt exists before
// the send begins. Without one the attempt is committed as pending, the draft
// goes in the same commit, and the returned attempt is that one.
func (e *Engine) SendDraft(ctx context.Context, draftID int64, confirmed bool) (view.Attempt, error) {
	d, err := e.Store.Draft(ctx, draftID)
	if err != nil {
		return view.Attempt{}, err
	}
	r := outbox.Request{Draft: d, Confirmed: confirmed}
	if e.Outbox.UndoWindow > 0 {
		// Everything that would refuse it is said now, while the writer is here.
		if err := e.outbox.Validate(ctx, r); err != nil {
			return view.Attempt{}, err
		}
		if err := e.Store.ScheduleDraft(ctx, draftID, e.Clock.Now().Add(e.Outbox.UndoWindow), e.Owner); err != nil {
			return view.Attempt{}, err
		}
		e.pushUndo(undoEntry{what: view.UndoneSend, draft: draftID})
		return view.Attempt{}, nil
	}
	a, replayed, err := e.outbox.Enqueue(ctx, r)
	if err != nil {
		return view.Attempt{}, err
	}
	if !replayed {
		e.deliverSoon(ctx, a.ID)
	}
	return e.present(a, replayed), nil
}

// ScheduleSend makes a draft go out at a time; the zero time takes it back.
func (e *Engine) ScheduleSend(ctx context.Context, draftID int64, at time.Time, confirmed bool) error {
	if !at.IsZero() {
		d, err := e.Store.Draft(ctx, draftID)
		if err != nil {
			return err
		}
		if err := e.outbox.Validate(ctx, outbox.Request{Draft: d, Confirmed: confirmed}); err != nil {
			return err
		}
	}
	return e.Store.ScheduleDraft(ctx, draftID, at, e.Owner)
}
