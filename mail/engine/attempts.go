package engine

import (
	"context"

	"skrzynka/mail"
	"skrzynka/mail/outbox"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

// Attempts lists attempts, newest first.
func (e *Engine) Attempts(ctx context.Context, f view.AttemptFilter) ([]view.Attempt, error) {
	rows, err := e.Store.ListAttempts(ctx, f)
	if err != nil {
		return nil, err
	}
	return e.presentAll(rows), nil
}

func (e *Engine) presentAll(rows []mail.Attempt) []view.Attempt {
	out := make([]view.Attempt, 0, len(rows))
	for _, a := range rows {
		out = append(out, e.present(a, false))
	}
	return out
}

// Attempt returns one attempt by its id.
func (e *Engine) Attempt(ctx context.Context, id string) (view.Attempt, error) {
	a, err := e.Store.Attempt(ctx, id)
	if err != nil {
		return view.Attempt{}, err
	}
	return e.present(a, false), nil
}

// Chain returns the attempts of one lineage, oldest first.
func (e *Engine) Chain(ctx context.Context, id string) ([]view.Attempt, error) {
	rows, err := e.Store.Chain(ctx, id)
	if err != nil {
		return nil, err
	}
	return e.presentAll(rows), nil
}

// Probe looks for traces of an attempt, in the store and on the server.
func (e *Engine) Probe(ctx context.Context, id string) (view.Probe, error) {
	a, err := e.Store.Attempt(ctx, id)
	if err != nil {
		return view.Probe{}, err
	}
	looked, proven, err := e.outbox.Probe(ctx, &a)
	if err != nil {
		return view.Probe{}, err
	}
	if a, err = e.Store.Attempt(ctx, id); err != nil {
		return view.Probe{}, err
	}
	return view.Probe{Attempt: e.present(a, false), Looked: looked, Proven: proven,
		Sentence: safe.Line(outbox.ProbeSentence(looked, proven))}, nil
}

// Resolve records what a person decided about an uncertain attempt. The status
// stays what it is.
func (e *Engine) Resolve(ctx context.Context, id string, r mail.Resolution) (view.Attempt, error) {
	if r != mail.ResolutionSent && r != mail.ResolutionNotSent {
		return view.Attempt{}, &mail.Error{Code: mail.CodeInvalid, Text: "An attempt is resolved as sent or as not sent; resending it is the third way."}
	}
	if err := e.Store.ResolveAttempt(ctx, id, r); err != nil {
		return view.Attempt{}, err
	}
	return e.Attempt(ctx, id)
}

// Resend opens a new attempt under a new key for a failed or uncertain one.
// With Wait it returns when the new one is terminal, else at once.
func (e *Engine) Resend(ctx context.Context, id string, o view.ResendOptions) (view.Attempt, error) {
	a, replayed, err := e.outbox.Resend(ctx, id, outbox.ResendOptions{Key: o.Key, NewMessage: o.NewMessage, Confirmed: o.Confirmed})
	if err != nil {
		return view.Attempt{}, err
	}
	switch {
	case replayed:
	case o.Wait:
		if a, err = e.deliver(ctx, a.ID, false); err != nil {
			return view.Attempt{}, err
		}
	default:
		e.deliverSoon(ctx, a.ID)
	}
	return e.result(a, replayed)
}

// EditResend stores a draft with the text of an attempt; sending it makes a
// new attempt of the same chain.
func (e *Engine) EditResend(ctx context.Context, id string) (mail.Draft, error) {
	a, err := e.Store.Attempt(ctx, id)
	if err != nil {
		return mail.Draft{}, err
	}
	if a.RetriedBy != "" {
		return mail.Draft{}, &mail.Error{Code: mail.CodeConflict, Text: "This attempt was already sent again.", Hint: "Edit the newest attempt of the chain."}
	}
	d, err := e.outbox.RetryDraft(ctx, id)
	if err != nil {
		return mail.Draft{}, err
	}
	return e.Store.SaveDraft(ctx, d)
}

// CancelRetry takes an attempt out of the outbox: only a person sends it again.
func (e *Engine) CancelRetry(ctx context.Context, id string) error {
	return e.Store.StopRetry(ctx, id)
}

// ReleaseHold lets a held pending attempt go, in the background: a person has
// looked.
func (e *Engine) ReleaseHold(ctx context.Context, id string) error {
	if err := e.Store.ReleaseHold(ctx, id, e.Owner); err != nil {
		return err
	}
	e.deliverSoon(ctx, id)
	return nil
}

// CopyAttempt inspects an unknown sent copy, or tries a failed or skipped one
// again. It waits for the server.
func (e *Engine) CopyAttempt(ctx context.Context, id string) (view.Attempt, error) {
	a, err := e.Store.Attempt(ctx, id)
	if err != nil {
		return view.Attempt{}, err
	}
	switch {
	case a.Status != mail.StatusSent:
		return view.Attempt{}, &mail.Error{Code: mail.CodeConflict, Text: "Only a sent attempt has a sent copy; this one is " + a.Status.String() + "."}
	case a.Copy.Status == mail.CopyUnknown:
		err = e.outbox.Inspect(ctx, &a)
	default:
		e.outbox.Copy(ctx, &a)
	}
	if err != nil {
		return view.Attempt{}, err
	}
	return e.Attempt(ctx, id)
}

// Audit returns history, newest first: of one subject ("attempt:<id>",
// "message:<id>", "contact:<address>", "plan:<id>") or, with "", of everything.
func (e *Engine) Audit(ctx context.Context, subject string, limit int) ([]view.AuditRow, error) {
	rows, err := e.Store.Audit(ctx, subject, limit)
	if err != nil {
		return nil, err
	}
	out := make([]view.AuditRow, 0, len(rows))
	for _, r := range rows {
		out = append(out, presentAudit(r))
	}
	return out, nil
}

// Counts are what needs a person.
func (e *Engine) Counts(ctx context.Context) (view.Counts, error) { return e.Store.Counts(ctx) }
