package store

import (
	"context"
	"strings"
	"time"

	"skrzynka/mail"
)

const eventColumns = `SELECT e.id, c.name, e.folder, e.uid_validity, e.uid, coalesce(e.message_id,0), e.rfc_message_id, e.in_reply_to, e.refs,
	e.from_name, e.from_addr, e.subject, e.received, e.class, coalesce(k.actor,''), coalesce(k.rule_set,0), e.outcome,
	coalesce(w.state,''), coalesce(w.why,''), (SELECT count(*) FROM event_place p WHERE p.event_id = e.id), e.at,
	(SELECT group_concat(x.attempt_id, ' ') FROM event_attempt x WHERE x.event_id = e.id),
	coalesce((SELECT d.detail FROM classification d WHERE d.event_id = e.id AND d.detail <> '' ORDER BY d.id DESC LIMIT 1), '')
	FROM event e JOIN account c ON c.id = e.account_id
	LEFT JOIN classification k ON k.id = (SELECT max(y.id) FROM classification y WHERE y.event_id = e.id)
	LEFT JOIN review w ON w.event_id = e.id `

func scanEvent(r scanner) (e mail.Event, err error) {
	var refs, detail string
	var attempts *string
	var received, when int64
	if err = r.Scan(&e.ID, &e.Account, &e.Folder, &e.UID.Validity, &e.UID.UID, &e.MessageID, &e.RFCMessageID, &e.InReplyTo, &refs,
		&e.From.Name, &e.From.Addr, &e.Subject, &received, &e.Class, &e.By, &e.RuleSet, &e.Outcome, &e.Review, &e.ReviewWhy, &e.SeenAgain, &when,
		&attempts, &detail); err != nil {
		return e, err
	}
	e.References, e.Received, e.At = strings.Fields(refs), at(received), at(when)
	if attempts != nil {
		e.Attempts = strings.Fields(*attempts)
	}
	if detail != "" {
		e.Detail = []byte(detail)
	}
	return e, nil
}

// Event returns one inbound event.
func (s *Store) Event(ctx context.Context, id int64) (mail.Event, error) {
	found, err := all(ctx, s.r, scanEvent, eventColumns+`WHERE e.id = ?`, id)
	if err == nil && len(found) == 0 {
		err = notFound("There is no event %d.", id)
	}
	if err != nil {
		return mail.Event{}, err
	}
	return found[0], nil
}

// EventOf returns the event of a stored message.
func (s *Store) EventOf(ctx context.Context, message int64) (mail.Event, error) {
	found, err := all(ctx, s.r, scanEvent, eventColumns+`WHERE e.message_id = ? LIMIT 1`, message)
	if err == nil && len(found) == 0 {
		err = notFound("Message %d made no event.", message)
	}
	if err != nil {
		return mail.Event{}, err
	}
	return found[0], nil
}

// Events lists inbound events, newest first.
func (s *Store) Events(ctx context.Context, f mail.EventFilter) ([]mail.Event, error) {
	where, args := []string{`e.id > 0`}, []any{} // read backwards along the ids
	and := func(cond string, arg any) { where, args = append(where, cond), append(args, arg) }
	if f.Account != "" {
		and(`c.name = ?`, f.Account)
	}
	if f.Class != "" {
		and(`e.class <> '' AND e.class = ?`, f.Class)
	}
	if f.Review != "" {
		and(`e.id IN (SELECT event_id FROM review WHERE state = ?)`, f.Review)
	}
	if f.Contact != "" {
		and(`e.class <> '' AND e.from_key = ?`, mail.AddressKey(f.Contact))
	}
	if f.Attempt != "" {
		and(`e.id IN (SELECT event_id FROM event_attempt WHERE attempt_id = ?)`, f.Attempt)
	}
	q := "WHERE " + strings.Join(where, " AND ")
	limit := f.Limit
	if limit <= 0 {
		limit = 200
	}
	return all(ctx, s.r, scanEvent, eventColumns+q+` ORDER BY e.id DESC LIMIT ?`, append(args, limit)...)
}

// Classes returns the history of an event's classes, oldest first.
func (s *Store) Classes(ctx context.Context, event int64) ([]mail.Classified, error) {
	return all(ctx, s.r, func(r scanner) (c mail.Classified, err error) {
		var when int64
		err = r.Scan(&when, &c.By, &c.Class, &c.RuleSet, &c.Note)
		c.At = at(when)
		return c, err
	}, `SELECT at, actor, class, rule_set, note FROM classification WHERE event_id = ? ORDER BY id`, event)
}

// NeedAnswer lists mail of people that waits for an answer: the newest of its
// thread that is neither answered nor followed by mail of ours, newest first.
func (s *Store) NeedAnswer(ctx context.Context, account string, since time.Time, limit int) ([]mail.Open, error) {
	if limit <= 0 {
		limit = 200
	}
	return all(ctx, s.r, scanOpen, `SELECT c.name, e.message_id, '', e.from_name, e.from_addr, e.subject, e.received
		FROM event e JOIN account c ON c.id = e.account_id JOIN message m ON m.id = e.message_id JOIN folder f ON f.id = m.folder_id
		WHERE (?1 = '' OR c.name = ?1) AND e.class IN ('human_reply','human_mail') AND e.received >= ?2 AND m.answered = 0 AND m.vanished_at IS NULL
			AND f.kind NOT IN ('trash','junk')
			AND NOT EXISTS (SELECT 1 FROM attempt a WHERE a.message_id = m.id AND a.status IN ('pending','sending','sent','uncertain'))
			AND (m.message_id = '' OR NOT EXISTS (SELECT 1 FROM message_ref r JOIN message n ON n.id = r.message_id WHERE r.ref = m.message_id AND r.how = 'answer' AND n.date >= m.date))
		ORDER BY e.received DESC LIMIT ?3`, account, ms(since), limit)
}

// AwaitAnswer lists messages of ours that nobody answered: sent, and neither
// followed by a person's answer nor by a later message of ours in the thread,
// newest first.
func (s *Store) AwaitAnswer(ctx context.Context, account string, since time.Time, limit int) ([]mail.Open, error) {
	if limit <= 0 {
		limit = 200
	}
	return all(ctx, s.r, scanOpen, `SELECT c.name, coalesce(a.message_id,0), a.id, '', coalesce((SELECT min(address) FROM attempt_recipient WHERE attempt_id = a.id),''),
			a.subject, coalesce(a.sent_at, a.created_at)
		FROM attempt a JOIN account c ON c.id = a.account_id
		WHERE (?1 = '' OR c.name = ?1) AND a.created_at >= ?2 AND (a.status = 'sent' OR (a.status = 'uncertain' AND (a.accepted_late = 1 OR a.resolution = 'confirmed_sent')))
			AND NOT EXISTS (SELECT 1 FROM event_attempt x JOIN event e ON e.id = x.event_id WHERE x.attempt_id = a.id AND e.class IN ('human_reply','bounce_hard'))
			AND NOT EXISTS (SELECT 1 FROM plan p JOIN step t ON t.plan_id = p.id WHERE p.attempt_id = a.id AND t.state = 'sent')
			AND NOT EXISTS (SELECT 1 FROM attempt b WHERE b.message_id = a.message_id AND b.created_at > a.created_at AND b.status = 'sent')
			AND NOT EXISTS (SELECT 1 FROM attempt b WHERE b.retry_of = a.id AND b.status = 'sent')
		ORDER BY a.created_at DESC LIMIT ?3`, account, ms(since), limit)
}

func scanOpen(r scanner) (o mail.Open, err error) {
	var when int64
	err = r.Scan(&o.Account, &o.MessageID, &o.AttemptID, &o.Who.Name, &o.Who.Addr, &o.Subject, &when)
	o.Since = at(when)
	return o, err
}
