package outbox

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"skrzynka/mail"
)

// The bounds of automatic tries after failures proven before submission.
const (
	MaxAutoTries = 5
	maxAutoAge   = 4 * time.Hour
	firstBackoff = 20 * time.Second
)

// Recover settles the rows that dead processes left in sending, by the same
// judge as everything else, and the copies they left open. A live owner's row
// is never touched, and no clock is asked: a lock file says who lives.
func (o *Outbox) Recover(ctx context.Context) (int, error) {
	rows, err := o.Store.SendingAttempts(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for i := range rows {
		a := &rows[i]
		if a.Owner == o.Owner || o.Store.OwnerAlive(a.Owner) {
			continue
		}
		ev := a.Evidence
		ev.Fault = mail.FaultGone
		ev.MarkDurable = !a.HandoverAt.IsZero()
		ev.HandedOver = ev.MarkDurable
		ev.RecoveredAt = o.Clock.Now()
		if ev.LastStep == mail.StepNone {
			ev.LastStep = mail.StepClaim
		}
		if ev.MarkDurable {
			ev.LastStep = mail.StepHandover
		}
		s := o.verdict(ctx, a, ev, false, o.Clock.Now())
		// The compare-and-set names the dead owner: of two processes that
		// notice at once, one settles and the other finds nothing to do.
		switch err := o.Store.SettleAttempt(ctx, a.ID, a.Owner, s); {
		case err == nil:
			n++
		case !errors.Is(err, mail.ErrCode(mail.CodeConflict)):
			return n, err
		}
	}
	return n, o.recoverCopies(ctx)
}

// Due sends what waits: pending rows of dead owners (SMTP was never opened for
// them), those of this process that could not be claimed before, drafts whose time has come, and failures that may be tried again. It
// is for the TUI and the worker; a one-shot command sends only what it was
// asked to. It returns the attempts it enqueued or adopted, to be delivered,
// and what a person has to be told: a scheduled draft that cannot be sent as it
// stands is taken off the schedule and kept.
func (o *Outbox) Due(ctx context.Context) (ids []string, tell []error, err error) {
	pending, err := o.Store.PendingAttempts(ctx)
	if err != nil {
		return nil, nil, err
	}
	for i := range pending {
		p := &pending[i]
		if strings.HasPrefix(p.IdempotencyKey, mail.FollowUpPrefix) {
			continue // a follow-up goes out only through its gate
		}
		if p.Owner == o.Owner && p.Held == "" && o.isUnclaimed(p.ID) {
			ids = append(ids, p.ID)
			continue
		}
		if p.Held != "" || p.Owner == o.Owner || o.Store.OwnerAlive(p.Owner) {
			continue
		}
		if err := o.Store.AdoptPending(ctx, p.ID, o.Owner); err == nil {
			ids = append(ids, p.ID)
		}
	}
	drafts, err := o.Store.DueDrafts(ctx, o.Clock.Now())
	if err != nil {
		return ids, nil, err
	}
	for _, d := range drafts {
		d, err := o.Store.Draft(ctx, d.ID) // with its files
		var a mail.Attempt
		replayed := false
		if err == nil {
			a, replayed, err = o.Enqueue(ctx, Request{Draft: d, Confirmed: true})
		}
		switch {
		case err != nil && mail.AsError(err).Retryable:
			// Busy, full, offline or too fast: it waits for the next turn.
		case errors.Is(err, mail.ErrCode(mail.CodeConflict)), errors.Is(err, mail.ErrCode(mail.CodeNotFound)):
			// Another process has just sent it, or a person discarded it.
		case err != nil:
			e := mail.AsError(err)
			tell = append(tell, mail.Errorf(e.Code, e.Hint, "The draft %q was not sent and is kept: %w", d.Subject, e))
			_ = o.Store.ScheduleDraft(ctx, d.ID, time.Time{}, "")
		case !replayed:
			ids = append(ids, a.ID)
		}
	}
	retries, err := o.Store.DueRetries(ctx, o.Clock.Now())
	if err != nil {
		return ids, tell, err
	}
	for i := range retries {
		a, _, err := o.again(ctx, &retries[i], ResendOptions{Confirmed: true}, retries[i].AutoTries+1)
		switch {
		case err == nil:
			ids = append(ids, a.ID)
		case mail.AsError(err).Retryable, errors.Is(err, mail.ErrCode(mail.CodeConflict)):
			// The next turn, or another process or a person was quicker.
		default:
			e := mail.AsError(err)
			tell = append(tell, mail.Errorf(e.Code, e.Hint, "%q is not tried again by itself: %w", retries[i].Subject, e))
			_ = o.Store.StopRetry(ctx, retries[i].ID)
		}
	}
	return ids, tell, nil
}

func (o *Outbox) isUnclaimed(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.unclaimed[id]
}

// Expire drops the stored bytes of outbound messages older than the retry
// record; their keys may be used again, the attempts stay.
func (o *Outbox) Expire(ctx context.Context) error {
	if o.Policy.RetryRecordDays <= 0 {
		return nil
	}
	_, err := o.Store.ExpireRecords(ctx, o.Clock.Now().AddDate(0, 0, -o.Policy.RetryRecordDays))
	return err
}

// nextTry says when the outbox tries again by itself: exponential with jitter,
// at most five times and four hours after the first attempt of the chain, and
// then a person is asked.
func (o *Outbox) nextTry(ctx context.Context, a *mail.Attempt, now time.Time) time.Time {
	if o.Policy.ResendUnsubmitted != "auto" || a.AutoTries >= MaxAutoTries {
		return time.Time{}
	}
	first := a.CreatedAt
	if chain, err := o.Store.Chain(ctx, a.ID); err == nil && len(chain) > 0 {
		first = chain[0].CreatedAt
	}
	wait := firstBackoff << a.AutoTries
	at := now.Add(wait + rand.N(wait/4))
	if at.Sub(first) > maxAutoAge {
		return time.Time{}
	}
	return at
}

// ResendOptions say how an attempt is sent again.
type ResendOptions struct {
	Key        string // "": a fresh UUID
	NewMessage bool   // a new Message-ID and date instead of the same bytes
	Confirmed  bool
}

// Resend opens a new attempt, under a new key, for a failed or uncertain one.
// By default it submits the same bytes under the same Message-ID, which most
// systems collapse into one. Only the newest attempt of a chain can be sent
// again, so that two presses of one key are one resend.
func (o *Outbox) Resend(ctx context.Context, id string, opts ResendOptions) (mail.Attempt, bool, error) {
	a, err := o.Store.Attempt(ctx, id)
	if err != nil {
		return mail.Attempt{}, false, err
	}
	if a.Status != mail.StatusFailed && a.Status != mail.StatusUncertain {
		return mail.Attempt{}, false, &mail.Error{Code: mail.CodeConflict, Text: "Only a failed or uncertain attempt can be sent again; this one is " + a.Status.String() + "."}
	}
	if opts.Key != "" {
		if old, err := o.Store.AttemptByKey(ctx, opts.Key); err == nil && old.RetryOf == id {
			return old, true, nil
		}
	}
	if a.RetriedBy != "" {
		return mail.Attempt{}, false, &mail.Error{Code: mail.CodeConflict, Text: "This attempt was already sent again.",
			Hint: "Look at the newest attempt of the chain, " + a.RetriedBy + "."}
	}
	return o.again(ctx, &a, opts, 0)
}

func (o *Outbox) again(ctx context.Context, a *mail.Attempt, opts ResendOptions, autoTries int) (mail.Attempt, bool, error) {
	d, err := o.RetryDraft(ctx, a.ID)
	if err != nil {
		return mail.Attempt{}, false, err
	}
	r := Request{Draft: d, Key: opts.Key, Confirmed: opts.Confirmed, AutoTries: autoTries}
	if !opts.NewMessage {
		r.Bytes, err = o.Store.AttemptBytes(ctx, a.ID)
		switch {
		case errors.Is(err, mail.ErrCode(mail.CodeNotFound)):
			return mail.Attempt{}, false, &mail.Error{Code: mail.CodeInvalid, Text: "The bytes of this attempt were dropped when its retry record expired.",
				Hint: "Resend it as a new message."}
		case err != nil:
			return mail.Attempt{}, false, err
		}
		r.MessageID = a.RFCMessageID
	}
	if r.Key == "" {
		r.Key = mail.NewID()
	}
	return o.Enqueue(ctx, r)
}
