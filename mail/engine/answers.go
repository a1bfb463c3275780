package engine

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/inbound"
	"skrzynka/mail/inbox"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

// Events lists inbound events, newest first.
func (e *Engine) Events(ctx context.Context, f mail.EventFilter) ([]view.Event, error) {
	list, err := e.Store.Events(ctx, f)
	if err != nil {
		return nil, err
	}
	out := make([]view.Event, 0, len(list))
	for i := range list {
		e.classifyOld(ctx, &list[i])
		out = append(out, presentEvent(&list[i]))
	}
	return out, nil
}

// classifyOld classifies mail that was there before the account, the first time
// somebody looks at it. What cannot be read stays unclassified.
func (e *Engine) classifyOld(ctx context.Context, ev *mail.Event) {
	rec, err := e.recorder(ev.Account)
	if ev.Class != "" || ev.MessageID == 0 || err != nil {
		return
	}
	ctx = mail.WithActor(ctx, mail.ActorSync)
	if d, err := rec.History(ctx, ev.MessageID, ev.Received); err == nil && e.Store.ClassifyHistory(ctx, ev.ID, d) == nil {
		ev.Class, ev.By, ev.RuleSet, ev.Detail = d.Class, mail.ActorSync, d.RuleSet, d.Detail
	}
}

// Event returns one inbound event with the history of its classes.
func (e *Engine) Event(ctx context.Context, id int64) (view.Event, error) {
	ev, err := e.Store.Event(ctx, id)
	if err != nil {
		return view.Event{}, err
	}
	e.classifyOld(ctx, &ev)
	v := presentEvent(&ev)
	list, err := e.Store.Classes(ctx, id)
	for _, c := range list {
		v.History = append(v.History, view.Classified{At: c.At.UTC(), By: c.By, Class: c.Class, RuleSet: c.RuleSet, Note: safe.Line(c.Note)})
	}
	return v, err
}

// ReviewItems lists the events that wait for a person, newest first.
func (e *Engine) ReviewItems(ctx context.Context) ([]view.Event, error) {
	return e.Events(ctx, mail.EventFilter{Review: mail.ReviewOpen})
}

// Reclassify records what a person says an event is, applies what follows from
// that, once, and resolves its review item. It is no second arrival. Without a
// class the present rules look again; they change nothing a person decided.
func (e *Engine) Reclassify(ctx context.Context, id int64, r view.Reclassify) (view.Event, error) {
	ev, err := e.Store.Event(ctx, id)
	if err != nil {
		return view.Event{}, err
	}
	rec, err := e.recorder(ev.Account)
	if err != nil {
		return view.Event{}, err
	}
	var tie []string
	decide := func(a mail.Around, detail json.RawMessage) mail.Decision {
		return rec.Correct(inbox.Correction{Class: r.Class, Attempt: r.Attempt, Contact: r.Contact, Note: r.Note}, a, detail, ev.From.Addr)
	}
	if r.Class == "" {
		raw, err := e.raw(ctx, ev.MessageID)
		if err != nil {
			return view.Event{}, err
		}
		decide = func(a mail.Around, _ json.RawMessage) mail.Decision { return rec.Again(raw, a) }
	} else if r.Attempt != "" {
		if _, err := e.Store.Attempt(ctx, r.Attempt); err != nil {
			return view.Event{}, err
		}
		tie = []string{r.Attempt}
	}
	if _, err := e.Store.Reclassify(ctx, id, tie, decide); err != nil {
		return view.Event{}, err
	}
	return e.Event(ctx, id)
}

// IgnoreReview ends a review item without giving the mail a meaning.
func (e *Engine) IgnoreReview(ctx context.Context, id int64, note string) (view.Event, error) {
	if note == "" {
		note = "ignored by a person"
	}
	if err := e.Store.IgnoreReview(ctx, id, note); err != nil {
		return view.Event{}, err
	}
	return e.Event(ctx, id)
}

func (e *Engine) recorder(account string) (*inbox.Recorder, error) {
	acct, err := e.account(account)
	if err != nil {
		return nil, err
	}
	return e.sync.of(acct).Recorder(), nil
}

// Contacts lists what is known of addresses, the last changed first.
func (e *Engine) Contacts(ctx context.Context, account string) ([]view.Contact, error) {
	list, err := e.Store.Contacts(ctx, account, 0)
	if err != nil {
		return nil, err
	}
	out := make([]view.Contact, 0, len(list))
	for _, c := range list {
		out = append(out, presentContact(c))
	}
	return out, nil
}

// Contact returns what is known of an address.
func (e *Engine) Contact(ctx context.Context, account, address string) (view.Contact, error) {
	acct, err := e.account(account)
	if err != nil {
		return view.Contact{}, err
	}
	c, err := e.Store.Contact(ctx, acct.Name, address)
	if err != nil {
		return view.Contact{}, err
	}
	return presentContact(c), nil
}

// SuppressContact stops everything that would be sent to an address by itself.
func (e *Engine) SuppressContact(ctx context.Context, account, address, why string) (view.Contact, error) {
	return e.changeContact(ctx, account, address, func(name string) error {
		if _, err := mail.EnvelopeAddress(address); err != nil {
			return err
		}
		return e.Store.SuppressContact(ctx, name, address, why)
	})
}

// AllowContact takes a suppression back.
func (e *Engine) AllowContact(ctx context.Context, account, address, why string) (view.Contact, error) {
	return e.changeContact(ctx, account, address, func(name string) error { return e.Store.AllowContact(ctx, name, address, why) })
}

func (e *Engine) changeContact(ctx context.Context, account, address string, do func(name string) error) (view.Contact, error) {
	acct, err := e.account(account)
	if err != nil {
		return view.Contact{}, err
	}
	if err := do(acct.Name); err != nil {
		return view.Contact{}, err
	}
	return e.Contact(ctx, acct.Name, address)
}

// openSince is how far back threads are looked at.
const openSince = 60 * 24 * time.Hour

// NeedAnswer lists the threads whose last word is a person's, newest first.
func (e *Engine) NeedAnswer(ctx context.Context, account string) ([]view.OpenThread, error) {
	list, err := e.Store.NeedAnswer(ctx, account, e.Clock.Now().Add(-openSince), 0)
	return presentOpen(list), err
}

// AwaitAnswer lists the threads whose last word is mine, newest first.
func (e *Engine) AwaitAnswer(ctx context.Context, account string) ([]view.OpenThread, error) {
	list, err := e.Store.AwaitAnswer(ctx, account, e.Clock.Now().Add(-openSince), 0)
	return presentOpen(list), err
}

func presentOpen(list []mail.Open) []view.OpenThread {
	out := make([]view.OpenThread, 0, len(list))
	for _, o := range list {
		v := view.OpenThread{Account: o.Account, AttemptID: strOrNil(o.AttemptID), Who: safe.Name(o.Who.Name), Subject: safe.Line(o.Subject), Since: o.Since.UTC()}
		if v.Who.Empty() {
			v.Who = safe.Name(o.Who.Addr)
		}
		if o.MessageID != 0 {
			v.MessageID = strOrNil(strconv.FormatInt(o.MessageID, 10))
		}
		out = append(out, v)
	}
	return out
}

func presentContact(c mail.Contact) view.Contact {
	v := view.Contact{Account: c.Account, Address: safe.Line(c.Address), State: c.State, Why: safe.Line(c.Why), EventID: c.EventID,
		Version: c.Version, Plans: c.Open, UpdatedAt: c.UpdatedAt.UTC()}
	v.Until = timeOrNil(c.Until)
	return v
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func presentEvent(ev *mail.Event) view.Event {
	v := view.Event{ID: ev.ID, Account: ev.Account, Folder: safe.Line(ev.Folder), UIDValidity: ev.UID.Validity, UID: ev.UID.UID,
		RFCMessageID: safe.Line(ev.RFCMessageID), InReplyTo: safe.Line(ev.InReplyTo), From: safe.Name(ev.From.Name), FromAddr: safe.Name(ev.From.Addr),
		Subject: safe.Line(ev.Subject), Received: ev.Received.UTC(), Class: ev.Class, By: ev.By, RuleSet: ev.RuleSet, Outcome: safe.Line(ev.Outcome),
		Attempts: ev.Attempts, Review: ev.Review, ReviewWhy: safe.Line(ev.ReviewWhy), SeenAgain: ev.SeenAgain, At: ev.At.UTC()}
	if v.Attempts == nil {
		v.Attempts = []string{}
	}
	if ev.MessageID != 0 {
		v.MessageID = strOrNil(strconv.FormatInt(ev.MessageID, 10))
	}
	for _, r := range ev.References {
		v.References = append(v.References, safe.Line(r))
	}
	if v.From.Empty() {
		v.From = v.FromAddr
	}
	var res inbound.Result
	if json.Unmarshal(ev.Detail, &res) != nil {
		return v
	}
	for _, r := range res.Reasons {
		text := r.Rule
		if r.Evidence != "" {
			text += ": " + r.Evidence
		}
		v.Reasons = append(v.Reasons, safe.Line(text))
	}
	if d := res.ReturnDate; d != nil {
		back := d.BackOn()
		v.ReturnDate, v.ReturnQuote = &back, safe.Line(d.Quote)
	}
	return v
}
