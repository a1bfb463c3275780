// Package outbox sends durably. It keeps the order that every promise of the
// product stands on: the attempt is committed as pending before credentials
// are resolved, as sending before a socket is opened, the handover mark before
// the terminator, the terminal state as soon as its evidence is known. It
// decides no outcome: package delivery does.
package outbox

import (
	"context"
	"sync"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/compose"
	"skrzynka/mail/delivery"
	"skrzynka/mail/submit"
)

// Transport runs one SMTP transaction for an account and reports its steps to
// rec. The engine makes it from package submit.
type Transport interface {
	// Turn waits until the account has a connection to spare; done gives it
	// back. An attempt waits for its turn as pending: what is claimed is begun.
	Turn(ctx context.Context, acct *mail.Account) (done func(), err error)
	Send(ctx context.Context, acct *mail.Account, from string, to []string, msg []byte, rec submit.Recorder) mail.Evidence
}

// Options are what an Outbox is made of.
type Options struct {
	Store     Store
	Account   func(name string) (*mail.Account, error)
	Transport Transport
	Dial      DialRemote // the account's IMAP side; nil: none
	Owner     string     // this process, as the store knows it
	Clock     mail.Clock
	Policy    mail.OutboxPolicy
	// Suppressed returns why each of the addresses (mail.AddressKey) is
	// suppressed for the account; nil: none is.
	Suppressed func(ctx context.Context, account string, keys []string) (map[string]string, error)
}

// Outbox sends for one process. Its methods may be used from several
// goroutines at once.
type Outbox struct {
	Options
	mu        sync.Mutex
	unsettled map[string]mail.Settled // terminal states the database did not take yet
	unclaimed map[string]bool         // pending attempts of this process that could not be claimed
}

// New returns an Outbox.
func New(o Options) *Outbox {
	if o.Clock == nil {
		o.Clock = mail.SystemClock{}
	}
	return &Outbox{Options: o, unsettled: map[string]mail.Settled{}, unclaimed: map[string]bool{}}
}

// Request asks for one message to be sent.
type Request struct {
	Draft     mail.Draft // what to send; Draft.ID names the stored draft it ends, 0 for none
	Key       string     // idempotency key; "": the draft's own, else a fresh UUID
	Confirmed bool       // a person, or --yes, has answered the policy's question
	AutoTries int        // automatic tries before this one
	// Bytes and MessageID are set to submit the very bytes of an earlier
	// attempt instead of building new ones.
	Bytes     []byte
	MessageID string
}

// Enqueue validates, builds the bytes once, and commits a pending attempt. It
// returns the existing attempt and true when the key already has one for the
// same payload. Nothing is stored when it refuses.
func (o *Outbox) Enqueue(ctx context.Context, r Request) (mail.Attempt, bool, error) {
	acct, err := o.Account(r.Draft.Account)
	if err != nil {
		return mail.Attempt{}, false, err
	}
	key := r.Key
	if key == "" {
		key = r.Draft.IdempotencyKey
	}
	if key == "" {
		key = mail.NewID()
	}
	if err := delivery.CheckKey(key); err != nil {
		return mail.Attempt{}, false, err
	}
	now := o.Clock.Now()
	a, err := o.build(acct, r, now)
	if err != nil {
		return mail.Attempt{}, false, err
	}
	a.IdempotencyKey = key
	// A key that already has an attempt is answered before the policy is asked:
	// a replay sends nothing. Where a stored draft goes with it, the store does both.
	if old, err := o.Store.AttemptByKey(ctx, key); err == nil && string(old.PayloadDigest) == string(a.PayloadDigest) && !old.KeyReleased {
		if r.Draft.ID != 0 {
			return o.Store.OpenAttempt(ctx, a, r.Draft.ID)
		}
		return old, true, nil
	}
	if err := o.precheck(ctx, acct, a.Recipients(), r.Confirmed, now); err != nil {
		return mail.Attempt{}, false, err
	}
	return o.Store.OpenAttempt(ctx, a, r.Draft.ID)
}

// Validate says what would refuse the request, and stores nothing.
func (o *Outbox) Validate(ctx context.Context, r Request) error {
	acct, err := o.Account(r.Draft.Account)
	if err != nil {
		return err
	}
	now := o.Clock.Now()
	a, err := o.build(acct, r, now)
	if err != nil {
		return err
	}
	return o.precheck(ctx, acct, a.Recipients(), r.Confirmed, now)
}

// build makes the attempt and its bytes; it stores nothing.
func (o *Outbox) build(acct *mail.Account, r Request, now time.Time) (mail.Attempt, error) {
	d := r.Draft
	if d.From.Addr == "" {
		d.From = acct.From()
	}
	if !acct.Owns(d.From.Addr) {
		return mail.Attempt{}, &mail.Error{Code: mail.CodePolicyRefused, Text: "The sender " + d.From.Addr + " is neither the account's address nor one of its aliases.",
			Hint: "Choose the account's address or add the alias to its configuration; nothing was stored."}
	}
	a := mail.Attempt{ID: mail.NewID(), Kind: d.Kind, Account: acct.Name, From: d.From, To: d.To, Cc: d.Cc, Bcc: d.Bcc,
		Subject: d.Subject, Body: d.Body, Status: mail.StatusPending, Owner: o.Owner, RetryOf: d.RetryOf,
		RFCMessageID: r.MessageID, Bytes: r.Bytes, AutoTries: r.AutoTries, MaxPerMinute: acct.Policy.MaxPerMinute, CreatedAt: now, UpdatedAt: now,
		Copy: mail.SentCopy{Status: mail.CopyPending}}
	if d.Kind == mail.KindReply {
		a.MessageID = d.MessageID
	}
	for _, f := range d.Attachments {
		a.Attachments = append(a.Attachments, f.AttachmentRef)
	}
	if d.ID == 0 {
		a.Files = d.Attachments
	}
	if a.RFCMessageID == "" {
		a.RFCMessageID = mail.NewMessageID(d.From.Addr)
	}
	built, err := compose.Build(d, compose.Params{MessageID: a.RFCMessageID, Date: now})
	if err != nil {
		return mail.Attempt{}, err
	}
	if a.Bytes == nil {
		a.Bytes = built.Bytes
	}
	a.PayloadDigest = compose.PayloadDigest(a.Kind, a.Account, a.MessageID, a.To, a.Cc, a.Bcc, a.Subject, a.Body, a.Attachments)
	return a, nil
}

// Check holds a send against the account's policy and returns the question a
// person has to answer first, if any. It stores nothing.
func (o *Outbox) Check(ctx context.Context, account string, recipients []mail.Address) (delivery.Question, error) {
	acct, err := o.Account(account)
	if err != nil {
		return delivery.Question{}, err
	}
	return o.question(ctx, acct, recipients, o.Clock.Now())
}

func (o *Outbox) precheck(ctx context.Context, acct *mail.Account, recipients []mail.Address, confirmed bool, now time.Time) error {
	q, err := o.question(ctx, acct, recipients, now)
	if err != nil {
		return err
	}
	if q.Ask && !confirmed {
		return &mail.Error{Code: mail.CodeConfirmationRequired, Text: q.Text, Hint: "The rule is " + q.Rule + "; confirm, or give --yes. Nothing was stored."}
	}
	return o.precheckCopy(ctx, acct)
}

func (o *Outbox) question(ctx context.Context, acct *mail.Account, recipients []mail.Address, now time.Time) (delivery.Question, error) {
	keys := make([]string, len(recipients))
	for i, r := range recipients {
		keys[i] = r.Key()
	}
	var f delivery.Facts
	var err error
	if acct.Policy.MaxPerMinute > 0 {
		if f.SentLastMinute, err = o.Store.CountAttemptsSince(ctx, acct.Name, now.Add(-time.Minute)); err != nil {
			return delivery.Question{}, err
		}
	}
	if acct.Policy.Confirm == mail.ConfirmFirstContact {
		f.Known = map[string]bool{}
		for _, k := range keys {
			if f.Known[k], err = o.Store.WroteTo(ctx, acct.Name, k); err != nil {
				return delivery.Question{}, err
			}
		}
	}
	if o.Suppressed != nil {
		if f.Suppressed, err = o.Suppressed(ctx, acct.Name, keys); err != nil {
			return delivery.Question{}, err
		}
	}
	return delivery.CheckPolicy(acct, recipients, f)
}
