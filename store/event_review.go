package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"time"

	"skrzynka/mail"
)

// review puts an event into the queue that waits for a person.
func (t *tx) review(ap *applying, why string) error {
	n, err := t.exec(`INSERT INTO review (event_id, account_id, state, why, created_at) VALUES (?,?,'open',?,?) ON CONFLICT (event_id) DO NOTHING`,
		ap.event, ap.account, why, t.now)
	if err != nil || n == 0 {
		return err
	}
	t.changed("review", "", itoa(ap.event))
	return t.audit(line{account: ap.account, action: "review.opened", subject: eventSubject(ap.event), why: ap.says(why), to: string(mail.ReviewOpen), related: ap.related()})
}

// closeReview ends an open review item; none is no error.
func (t *tx) closeReview(ap *applying, to mail.ReviewState, note string) error {
	n, err := t.exec(`UPDATE review SET state = ?, note = ?, resolved_at = ? WHERE event_id = ? AND state = 'open'`, to, note, t.now, ap.event)
	if err != nil || n == 0 {
		return err
	}
	t.changed("review", "", itoa(ap.event))
	return t.audit(line{account: ap.account, action: "review." + string(to), subject: eventSubject(ap.event), why: note,
		from: string(mail.ReviewOpen), to: string(to), related: ap.related()})
}

// loadApplying reads an event for a person's decision.
func (t *tx) loadApplying(id int64) (ap *applying, detail json.RawMessage, by mail.Actor, err error) {
	ap = &applying{t: t, event: id}
	var received int64
	ok, err := t.row(`SELECT account_id, coalesce(message_id,0), from_addr, subject, received, evidence, class FROM event WHERE id = ?`, []any{id},
		&ap.account, &ap.message, &ap.from, &ap.subject, &received, &ap.evidence, &ap.class)
	if err != nil {
		return nil, nil, "", err
	}
	if !ok {
		return nil, nil, "", notFound("There is no event %d.", id)
	}
	ap.received = at(received)
	var text string
	if _, err := t.row(`SELECT detail FROM classification WHERE event_id = ? AND detail <> '' ORDER BY id DESC LIMIT 1`, []any{id}, &text); err != nil {
		return nil, nil, "", err
	}
	if _, err := t.row(`SELECT actor FROM classification WHERE event_id = ? ORDER BY id DESC LIMIT 1`, []any{id}, &by); err != nil {
		return nil, nil, "", err
	}
	ap.about, err = all(t.ctx, t, scanOne[string], `SELECT attempt_id FROM event_attempt WHERE event_id = ? ORDER BY attempt_id`, id)
	return ap, json.RawMessage(text), by, err
}

// Reclassify gives an event another class. By a person (RuleSet 0 of the
// decision) it counts over every rule set: what the old class had done by this
// event is taken back as far as it still stands, what the new one asks for is
// applied once, and the review item is resolved. A later rule set changes
// nothing that a person decided. attempts are those a person tied it to; decide
// is given them as Named, else those it is about.
//
// A plan that this event had stopped is held, and goes on only when a person
// says so; one that it had only held or paused goes on. It returns the outcome;
// Replayed when the event had that class already.
func (s *Store) Reclassify(ctx context.Context, id int64, attempts []string, decide func(mail.Around, json.RawMessage) mail.Decision) (got mail.Recorded, err error) {
	err = s.write(ctx, func(t *tx) error {
		ap, detail, by, err := t.loadApplying(id)
		if err != nil {
			return err
		}
		named := ap.about
		if len(attempts) > 0 {
			named = attempts
		}
		if ap.around, err = t.aroundEvent(ap, named); err != nil {
			return err
		}
		d := decide(ap.around, detail)
		old := ap.class
		got = mail.Recorded{EventID: id, Class: old, Replayed: true}
		if d.RuleSet > 0 && (by == mail.ActorPerson || d.Class == old) {
			return nil
		}
		if d.RuleSet == 0 && d.Class == old && by == mail.ActorPerson && len(attempts) == 0 {
			return t.closeReview(ap, mail.ReviewResolved, d.Note)
		}
		// The same evidence may have the same effect anew after a correction, and
		// once for each correction.
		var entries int64
		if _, err := t.row(`SELECT count(*) FROM classification WHERE event_id = ?`, []any{id}, &entries); err != nil {
			return err
		}
		if d.RuleSet == 0 {
			sum := sha256.Sum256(append(append([]byte{}, ap.evidence...), "correction "+itoa(id)+" "+itoa(entries)...))
			ap.evidence = sum[:]
		}
		ap.class = d.Class
		if err := ap.takeBack(old); err != nil {
			return err
		}
		d.Tie = attempts
		if err := ap.classify(d); err != nil {
			return err
		}
		if err := t.closeReview(ap, mail.ReviewResolved, d.Note); err != nil {
			return err
		}
		got = mail.Recorded{EventID: id, Class: d.Class, Outcome: ap.outcome()}
		t.changed("review", "", itoa(id))
		return t.audit(line{account: ap.account, action: "event.reclassified", subject: eventSubject(id), why: d.Note, from: string(old), to: string(d.Class), related: ap.related()})
	})
	return got, err
}

func (t *tx) aroundEvent(ap *applying, named []string) (mail.Around, error) {
	out := mail.Around{Ours: map[string]bool{}, Received: ap.received}
	var err error
	if out.Named, err = t.eventAttempts(named); err != nil {
		return out, err
	}
	for _, a := range out.Named {
		for _, id := range a.MessageIDs {
			out.Ours[id] = true
		}
	}
	plans, err := t.plansTo(ap.account, ap.from, "", ap.received)
	out.Followed = len(plans) > 0
	return out, err
}

// takeBack undoes what this event did under its old class, where nothing has
// changed it since.
func (ap *applying) takeBack(old mail.InboundClass) error {
	t := ap.t
	why := ap.cause("it had been taken for " + string(old))
	contacts, err := all(t.ctx, t, func(r scanner) (c struct {
		contact
		before mail.ContactState
	}, err error) {
		err = r.Scan(&c.id, &c.account, &c.address, &c.state, &c.until, &c.version, &c.before)
		return c, err
	}, `SELECT id, account_id, address, state, paused_until, version, before FROM contact WHERE event_id = ?`, ap.event)
	if err != nil {
		return err
	}
	for i := range contacts {
		c := &contacts[i]
		if c.before == mail.ContactPaused {
			c.before = mail.ContactActive // the day of return was not kept
		}
		if _, err := t.setContact(&c.contact, c.before, time.Time{}, why); err != nil {
			return err
		}
		ap.touched = true
	}
	plans, err := all(t.ctx, t, scanPlanRow, planRow+`WHERE p.event_id = ? AND p.state IN ('paused','held','stopped')`, ap.event)
	if err != nil {
		return err
	}
	for i := range plans {
		p := &plans[i]
		ap.touched = true
		if p.state == mail.PlanStopped {
			err = t.reopen(p, why)
		} else {
			err = t.goOn(p, time.Time{}, why)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reopen makes a stopped plan wait for a person, with its cancelled steps.
func (t *tx) reopen(p *plan, c cause) error {
	var taken bool
	if _, err := t.row(`SELECT EXISTS (SELECT 1 FROM plan WHERE attempt_id = ? AND id <> ? AND state IN ('unsent','active','paused','held'))`, []any{p.attempt, p.id}, &taken); err != nil || taken {
		return err // another plan was made since
	}
	steps, err := t.steps(p.id)
	if err != nil {
		return err
	}
	for i := range steps {
		if steps[i].State == mail.FollowCancelled {
			if err := t.moveStep(&steps[i], mail.FollowWaiting, ""); err != nil {
				return err
			}
		}
	}
	return t.setPlan(p, mail.PlanHeld, time.Time{}, c)
}

// IgnoreReview ends a review item without giving the mail a meaning. A plan
// that this mail held goes on.
func (s *Store) IgnoreReview(ctx context.Context, id int64, note string) error {
	return s.write(ctx, func(t *tx) error {
		ap, _, _, err := t.loadApplying(id)
		if err != nil {
			return err
		}
		var state mail.ReviewState
		ok, err := t.row(`SELECT state FROM review WHERE event_id = ?`, []any{id}, &state)
		if err != nil {
			return err
		}
		if !ok || state != mail.ReviewOpen {
			return conflict("Event %d does not wait for review.", id)
		}
		plans, err := all(ctx, t, scanPlanRow, planRow+`WHERE p.event_id = ? AND p.state = 'held'`, id)
		if err != nil {
			return err
		}
		for i := range plans {
			if err := t.goOn(&plans[i], time.Time{}, ap.cause("ignored by a person")); err != nil {
				return err
			}
		}
		if err := t.closeReview(ap, mail.ReviewIgnored, note); err != nil || len(plans) == 0 {
			return err
		}
		return t.bumpEpoch()
	})
}
