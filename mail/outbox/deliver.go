package outbox

import (
	"bytes"
	"context"
	"errors"
	netmail "net/mail"
	"strings"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/delivery"
)

// Deliver sends one pending attempt of this process and returns it settled.
// What is on disk at each line, and what the next start does with it:
//
//	pending, owner gone        nothing was sent: sent by the next TUI or worker
//	sending, no mark           uncertain with the proof not_handed_over
//	sending, mark              uncertain
//	a terminal state           nothing
//
// auto allows the outbox to try again by itself when the failure is proven to
// lie before submission. An error means that the attempt could not be claimed
// or read; every outcome of the transaction itself is in the attempt.
func (o *Outbox) Deliver(ctx context.Context, id string, auto bool) (mail.Attempt, error) {
	a, err := o.Store.Attempt(ctx, id)
	if err != nil {
		return mail.Attempt{}, err
	}
	acct, err := o.Account(a.Account)
	if err != nil {
		return mail.Attempt{}, err
	}
	msg, err := o.Store.AttemptBytes(ctx, id)
	if err != nil {
		return mail.Attempt{}, err
	}
	done, err := o.Transport.Turn(ctx, acct)
	if err != nil {
		o.setUnclaimed(id, ctx.Err() == nil)
		return mail.Attempt{}, err
	}
	defer done()
	claimedAt := o.Clock.Now()
	if err := o.Store.ClaimAttempt(ctx, id, o.Owner); err != nil {
		// A full or busy disk passes; another state of the row does not.
		o.setUnclaimed(id, !errors.Is(err, mail.ErrCode(mail.CodeConflict)))
		return mail.Attempt{}, err
	}
	o.setUnclaimed(id, false)
	rec := &recorder{store: o.Store, id: id, owner: o.Owner}
	ev := o.transact(ctx, acct, &a, msg, rec)
	ev.Steps = append([]mail.StepMark{{Step: mail.StepClaim, At: claimedAt}}, ev.Steps...)
	o.settle(ctx, &a, ev, auto)
	done() // the copy needs no connection of this kind
	if a.Status == mail.StatusSent && a.Copy.Status == mail.CopyPending {
		o.Copy(ctx, &a)
	}
	return a, nil
}

func (o *Outbox) transact(ctx context.Context, acct *mail.Account, a *mail.Attempt, msg []byte, rec *recorder) mail.Evidence {
	rcpts := a.Recipients()
	to := make([]string, len(rcpts))
	from, err := mail.EnvelopeAddress(a.From.Addr)
	for i, r := range rcpts {
		if err == nil {
			to[i], err = mail.EnvelopeAddress(r.Addr)
		}
	}
	if err != nil {
		return mail.Evidence{LastStep: mail.StepBody, Fault: mail.FaultLocal, Detail: err.Error(), Recipients: len(rcpts)}
	}
	return o.Transport.Send(ctx, acct, from, to, msg, rec)
}

// settle judges and commits. The commit must not be stopped by a cancelled
// context: the evidence is known and has to reach the disk.
func (o *Outbox) settle(ctx context.Context, a *mail.Attempt, ev mail.Evidence, auto bool) {
	ctx = context.WithoutCancel(ctx)
	now := o.Clock.Now()
	s := o.verdict(ctx, a, ev, auto, now)
	err := o.commit(ctx, a.ID, s)
	if err != nil {
		// Rule: what is known is never lost. The row stays sending on disk and
		// is recovered as uncertain; the evidence goes to the emergency log, and
		// this process tries to commit it for as long as it lives.
		_ = o.Store.Emergency(emergency{At: now, Attempt: a.ID, Status: s.Status, Code: s.Code, Evidence: s.Evidence, Reason: mail.AsError(err).Text})
		o.mu.Lock()
		o.unsettled[a.ID] = s
		o.mu.Unlock()
		s.Status, s.Code = mail.StatusUncertain, a.Kind.UncertainCode()
		s.Text = "The outcome is known but could not be written: " + mail.AsError(err).Text + " It is kept in the emergency log."
	}
	apply(a, s, now)
}

// commit writes a terminal state, more than once where the database is only
// busy: an outcome that is known must not end as uncertain for that.
func (o *Outbox) commit(ctx context.Context, id string, s mail.Settled) error {
	err := o.Store.SettleAttempt(ctx, id, o.Owner, s)
	for range settleTries - 1 {
		if err == nil || !mail.AsError(err).Retryable || errors.Is(err, mail.ErrCode(mail.CodeDiskFull)) {
			break
		}
		err = o.Store.SettleAttempt(ctx, id, o.Owner, s)
	}
	return err
}

// settleTries bounds commit; the store waits some seconds for its lock in each.
const settleTries = 3

func (o *Outbox) setUnclaimed(id string, waits bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if waits {
		o.unclaimed[id] = true
	} else {
		delete(o.unclaimed, id)
	}
}

// emergency is one line of the emergency log.
type emergency struct {
	At       time.Time           `json:"at"`
	Attempt  string              `json:"attempt"`
	Status   mail.DeliveryStatus `json:"status"`
	Code     mail.Code           `json:"error_code,omitempty"`
	Evidence mail.Evidence       `json:"evidence"`
	Reason   string              `json:"reason"`
}

// verdict turns evidence into the terminal state that is written.
func (o *Outbox) verdict(ctx context.Context, a *mail.Attempt, ev mail.Evidence, auto bool, now time.Time) mail.Settled {
	v := delivery.Judge(a.Kind, ev)
	s := mail.Settled{Status: v.Status, Code: v.Code, Retryable: v.Retryable, ReleaseKey: v.KeyReleased(a.Kind),
		Evidence: ev, ProviderID: ev.ProviderID, AutoTries: a.AutoTries}
	if ev.ProviderMsg != "" && ev.ProviderMsg != a.RFCMessageID {
		s.OtherIDs = append(s.OtherIDs, ev.ProviderMsg)
	}
	if v.Status == mail.StatusSent {
		s.SentAt = now
		if acct, err := o.Account(a.Account); err == nil {
			s.SkipCopy = o.skipReason(acct) // one commit less than afterwards
		}
	}
	if auto && v.Unsubmitted && v.Retryable {
		s.NextTryAt = o.nextTry(ctx, a, now)
	}
	told := *a
	apply(&told, s, now)
	if v.Status != mail.StatusSent {
		s.Text = delivery.Says(&told)
	}
	return s
}

func apply(a *mail.Attempt, s mail.Settled, now time.Time) {
	a.Status, a.ErrorCode, a.ErrorText, a.Retryable = s.Status, s.Code, s.Text, s.Retryable
	a.KeyReleased, a.Evidence, a.ProviderID = s.ReleaseKey, s.Evidence, s.ProviderID
	a.OtherIDs = append(a.OtherIDs, s.OtherIDs...)
	a.SentAt, a.NextTryAt, a.UpdatedAt = s.SentAt, s.NextTryAt, now
	if s.Status == mail.StatusSent && s.SkipCopy != "" {
		a.Copy.Status, a.Copy.ErrorText = mail.CopySkipped, s.SkipCopy
	}
	if s.Evidence.MarkDurable && a.HandoverAt.IsZero() {
		a.HandoverAt = now
	}
}

// Unsettled returns the terminal state of an attempt that the database did not
// take yet: such a row reads sending on disk and must be shown as uncertain.
func (o *Outbox) Unsettled(id string) (mail.Settled, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, ok := o.unsettled[id]
	return s, ok
}

// RetrySettling tries once more to commit the terminal states that the
// database refused, and returns the attempts that are sent now: their copies
// are still to be made.
func (o *Outbox) RetrySettling(ctx context.Context) (sent []string) {
	o.mu.Lock()
	ids := make([]string, 0, len(o.unsettled))
	for id := range o.unsettled {
		ids = append(ids, id)
	}
	o.mu.Unlock()
	for _, id := range ids {
		s, ok := o.Unsettled(id)
		if !ok {
			continue
		}
		err := o.Store.SettleAttempt(ctx, id, o.Owner, s)
		if err == nil && s.Status == mail.StatusSent {
			sent = append(sent, id)
		}
		if err == nil || errors.Is(err, mail.ErrCode(mail.CodeConflict)) {
			o.mu.Lock()
			delete(o.unsettled, id)
			o.mu.Unlock()
		}
	}
	return sent
}

// recorder commits the handover mark for package submit.
type recorder struct {
	store     Store
	id, owner string
}

// Reached is told every step; only the handover is worth a commit of its own,
// the others are written with it and with the terminal state.
func (r *recorder) Reached(mail.StepMark) {}

// Handover commits the mark. When it fails, the terminator is never written.
func (r *recorder) Handover(ctx context.Context, ev mail.Evidence) error {
	return r.store.MarkHandover(ctx, r.id, r.owner, ev)
}

// RetryDraft returns the text of an attempt as an unsaved draft whose RetryOf
// is that attempt, with its files and thread headers, to be edited or resent.
func (o *Outbox) RetryDraft(ctx context.Context, id string) (mail.Draft, error) {
	a, err := o.Store.Attempt(ctx, id)
	if err != nil {
		return mail.Draft{}, err
	}
	files, err := o.Store.AttemptAttachments(ctx, id)
	if err != nil {
		return mail.Draft{}, err
	}
	if len(files) != len(a.Attachments) {
		return mail.Draft{}, &mail.Error{Code: mail.CodeInvalid, Text: "The files of this attempt are no longer stored, so it cannot be written anew as it was.",
			Hint: "Copy its text into a new message and attach the files again."}
	}
	d := mail.Draft{Account: a.Account, Kind: a.Kind, MessageID: a.MessageID, RetryOf: a.ID, From: a.From,
		To: a.To, Cc: a.Cc, Bcc: a.Bcc, Subject: a.Subject, Body: a.Body, Attachments: files}
	msg, err := o.Store.AttemptBytes(ctx, id)
	if errors.Is(err, mail.ErrCode(mail.CodeNotFound)) {
		return d, nil // expired: outbound mail, whose text is all there is
	}
	if err != nil {
		return mail.Draft{}, err
	}
	// Our own bytes are well formed, so the standard reader is enough for the
	// thread headers.
	if m, err := netmail.ReadMessage(bytes.NewReader(msg)); err == nil {
		d.InReplyTo = m.Header.Get("In-Reply-To")
		d.References = strings.Fields(m.Header.Get("References"))
	}
	return d, nil
}
