package store

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"skrzynka/mail"
)

// applying is one decision about one event being applied.
type applying struct {
	t        *tx
	event    int64
	message  int64
	account  int64
	from     string
	subject  string
	received time.Time
	evidence []byte
	around   mail.Around

	class   mail.InboundClass
	entry   int64    // of the history of classes
	about   []string // attempts it is about
	effects []mail.Effect
	done    []string
	touched bool // a plan or a contact changed
}

// order is the order effects are applied in.
var order = []mail.EffectKind{mail.EffectSuppress, mail.EffectStop, mail.EffectReplied, mail.EffectPause, mail.EffectHold, mail.EffectNote, mail.EffectReview}

// classify writes the entry of the history, the mapping, the effects, and what
// came of it.
func (ap *applying) classify(d mail.Decision) error {
	t := ap.t
	ap.class, ap.effects = d.Class, d.Effects
	res, err := t.ExecContext(t.ctx, `INSERT INTO classification (event_id, class, actor, rule_set, note, detail, at) VALUES (?,?,?,?,?,?,?)`,
		ap.event, d.Class, t.actor, d.RuleSet, d.Note, string(d.Detail), t.now)
	if err != nil {
		return err
	}
	if ap.entry, err = res.LastInsertId(); err != nil {
		return err
	}
	if err := ap.tie(d); err != nil {
		return err
	}
	if err := ap.findings(); err != nil {
		return err
	}
	for _, kind := range order {
		for i := range d.Effects {
			if d.Effects[i].Kind == kind {
				if err := ap.once(&d.Effects[i]); err != nil {
					return err
				}
			}
		}
	}
	t.point("cancelled")
	if _, err := t.exec(`UPDATE event SET class = ?, outcome = ? WHERE id = ?`, d.Class, ap.outcome(), ap.event); err != nil {
		return err
	}
	if ap.touched {
		if err := t.bumpEpoch(); err != nil {
			return err
		}
	}
	return nil
}

func (ap *applying) outcome() string { return joinDone(ap.done) }

// tie ties the event to the attempts it names or a person named.
func (ap *applying) tie(d mail.Decision) error {
	ap.about = slices.Clone(d.Tie)
	for _, a := range ap.around.Named {
		if slices.ContainsFunc(a.MessageIDs, func(id string) bool { return slices.Contains(d.NamedIDs, id) }) && !slices.Contains(ap.about, a.ID) {
			ap.about = append(ap.about, a.ID)
		}
	}
	for _, id := range ap.about {
		if _, err := ap.t.exec(`INSERT OR IGNORE INTO event_attempt (event_id, attempt_id) VALUES (?,?)`, ap.event, id); err != nil {
			return err
		}
	}
	return nil
}

// related are the subjects whose timeline shows what this event caused.
func (ap *applying) related(more ...string) []string {
	out := append([]string{eventSubject(ap.event)}, more...)
	if ap.message != 0 {
		out = append(out, messageSubject(ap.message))
	}
	for _, id := range ap.about {
		out = append(out, "attempt:"+id)
	}
	return out
}

// says is why, in words that name the message.
func (ap *applying) says(why string) string {
	return fmt.Sprintf("%s from %s, %q, received %s: %s", ap.class, ap.from, clipWords(ap.subject, 80), ap.received.UTC().Format("2006-01-02 15:04"), why)
}

func clipWords(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

func (ap *applying) cause(why string, more ...string) cause {
	return cause{why: ap.says(why), event: ap.event, related: ap.related(more...)}
}

// findings: whoever names the Message-ID of an uncertain attempt has its mail.
func (ap *applying) findings() error {
	if ap.class == mail.ClassOwn {
		return nil
	}
	for _, id := range ap.about {
		var status mail.DeliveryStatus
		if _, err := ap.t.row(`SELECT status FROM attempt WHERE id = ?`, []any{id}, &status); err != nil {
			return err
		}
		if status == mail.StatusUncertain || status == mail.StatusFailed {
			if err := ap.t.addFinding(id, ap.says("it names this message, so the message was accepted"), true); err != nil {
				return err
			}
			ap.done = append(ap.done, "proved that an "+string(status)+" attempt was accepted")
		}
	}
	return nil
}

// once applies an effect, unless the same evidence has had it before.
func (ap *applying) once(e *mail.Effect) error {
	t := ap.t
	target := strings.Join([]string{e.Attempt, mail.AddressKey(e.Address), e.Note}, "|")
	res, err := t.ExecContext(t.ctx, `INSERT OR IGNORE INTO effect (event_id, classification_id, account_id, kind, target, evidence, at) VALUES (?,?,?,?,?,?,?)`,
		ap.event, ap.entry, ap.account, e.Kind, target, ap.evidence, t.now)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return err
	}
	done, err := ap.apply(e)
	if err != nil {
		return err
	}
	if done == "" {
		return nil
	}
	ap.done = append(ap.done, done)
	_, err = t.exec(`UPDATE effect SET done = ? WHERE id = ?`, done, id)
	return err
}

func (ap *applying) apply(e *mail.Effect) (string, error) {
	switch e.Kind {
	case mail.EffectSuppress:
		return ap.suppress(e)
	case mail.EffectReplied:
		return ap.replied(e)
	case mail.EffectStop:
		return ap.eachPlan(e, func(p *plan) (string, error) {
			return ap.t.stopPlan(p, mail.PlanStopped, ap.cause(e.Why))
		})
	case mail.EffectPause:
		return ap.pause(e)
	case mail.EffectHold:
		return ap.eachPlan(e, func(p *plan) (string, error) { return ap.hold(p, e.Why) })
	case mail.EffectNote:
		return ap.note(e)
	case mail.EffectReview:
		return "waits for review", ap.t.review(ap, e.Why)
	}
	return "", mail.Errorf(mail.CodeInternal, "", "There is no effect %q.", e.Kind)
}

// eachPlan runs do on the open plans of an effect's attempt, or without one on
// those that write to its address.
func (ap *applying) eachPlan(e *mail.Effect, do func(*plan) (string, error)) (string, error) {
	plans, err := ap.t.plansOf(e.Attempt)
	if e.Attempt == "" {
		plans, err = ap.t.plansTo(ap.account, e.Address, "", ap.received)
	}
	if err != nil {
		return "", err
	}
	said := ""
	for i := range plans {
		before := plans[i].version
		one, err := do(&plans[i])
		if err != nil {
			return "", err
		}
		ap.touched = ap.touched || plans[i].version != before
		if one != "" {
			said = one
		}
	}
	return said, nil
}

func (ap *applying) hold(p *plan, why string) (string, error) {
	if p.state == mail.PlanHeld {
		return "", nil // held already, and for a reason that is still to be looked at
	}
	return "held a follow-up plan", ap.t.setPlan(p, mail.PlanHeld, time.Time{}, ap.cause(why))
}

// accounts are those an effect on an address concerns: that of the attempt it
// names, else those of all attempts the event is about, else the event's own.
func (ap *applying) accounts(attempt string) ([]int64, error) {
	ids := ap.about
	if attempt != "" {
		ids = []string{attempt}
	}
	var out []int64
	for _, id := range ids {
		var account int64
		if ok, err := ap.t.row(`SELECT account_id FROM attempt WHERE id = ?`, []any{id}, &account); err != nil {
			return nil, err
		} else if ok && !slices.Contains(out, account) {
			out = append(out, account)
		}
	}
	if len(out) == 0 {
		out = append(out, ap.account)
	}
	return out, nil
}

// setState moves a contact, in every account concerned, if it may.
func (ap *applying) setState(e *mail.Effect, to mail.ContactState, until time.Time, from ...mail.ContactState) (changed bool, err error) {
	accounts, err := ap.accounts(e.Attempt)
	if err != nil || e.Address == "" {
		return false, err
	}
	for _, account := range accounts {
		c, err := ap.t.contact(account, e.Address)
		if err != nil {
			return false, err
		}
		if !slices.Contains(from, c.state) {
			continue
		}
		moved, err := ap.t.setContact(&c, to, until, ap.cause(e.Why, contactSubject(e.Address)))
		if err != nil {
			return false, err
		}
		changed = changed || moved
	}
	ap.touched = ap.touched || changed
	return changed, nil
}

func (ap *applying) suppress(e *mail.Effect) (string, error) {
	changed, err := ap.setState(e, mail.ContactSuppressed, time.Time{}, mail.ContactActive, mail.ContactReplied, mail.ContactPaused, mail.ContactBounced)
	if err != nil || !changed {
		return "", err
	}
	return "suppressed " + mail.AddressKey(e.Address), nil
}

// replied moves the contact. Plans of other messages that write to the same
// person are held: they wrote, and nobody knows what about.
func (ap *applying) replied(e *mail.Effect) (string, error) {
	changed, err := ap.setState(e, mail.ContactReplied, time.Time{}, mail.ContactActive, mail.ContactPaused, mail.ContactBounced)
	if err != nil {
		return "", err
	}
	accounts, err := ap.accounts(e.Attempt)
	if err != nil {
		return "", err
	}
	for _, account := range accounts {
		others, err := ap.t.plansTo(account, e.Address, strings.Join(ap.about, " "), ap.received)
		if err != nil {
			return "", err
		}
		for i := range others {
			if _, err := ap.hold(&others[i], "they answered another message of ours"); err != nil {
				return "", err
			}
		}
	}
	if !changed {
		return "", nil
	}
	return mail.AddressKey(e.Address) + " has answered", nil
}

// pause keeps the plan until the person is back. A plan that is held or has
// ended stays so, and of two days the later one counts.
func (ap *applying) pause(e *mail.Effect) (string, error) {
	said, err := ap.eachPlan(e, func(p *plan) (string, error) {
		if p.state != mail.PlanActive && p.state != mail.PlanPaused || p.state == mail.PlanPaused && ms(e.Until) <= p.resume {
			return "", nil
		}
		return "paused a follow-up plan until " + e.Until.Format(time.DateOnly), ap.t.setPlan(p, mail.PlanPaused, e.Until, ap.cause(e.Why))
	})
	if err != nil {
		return "", err
	}
	var wrote bool
	if e.Attempt != "" && e.Address != "" {
		if _, err := ap.t.row(`SELECT EXISTS (SELECT 1 FROM attempt_recipient WHERE address = ? AND attempt_id = ?)`, []any{mail.AddressKey(e.Address), e.Attempt}, &wrote); err != nil {
			return "", err
		}
	}
	if wrote {
		changed, err := ap.setState(e, mail.ContactPaused, e.Until, mail.ContactActive, mail.ContactPaused)
		if err != nil {
			return "", err
		}
		if changed && said == "" {
			said = mail.AddressKey(e.Address) + " is away until " + e.Until.Format(time.DateOnly)
		}
	}
	return said, nil
}

// note keeps on the attempt what a report says of one recipient.
func (ap *applying) note(e *mail.Effect) (string, error) {
	var status mail.DeliveryStatus
	if _, err := ap.t.row(`SELECT status FROM attempt WHERE id = ?`, []any{e.Attempt}, &status); err != nil || !status.Terminal() {
		return "", err
	}
	said := e.Note + " for " + mail.AddressKey(e.Address)
	if err := ap.t.addFinding(e.Attempt, ap.says(said+" ("+e.Why+")"), true); err != nil {
		return "", err
	}
	if e.Note != "bounced" || status == mail.StatusFailed {
		return said, nil
	}
	if err := ap.t.markBounced(e.Attempt, ap.says(e.Why)); err != nil {
		return "", err
	}
	suppressed := slices.ContainsFunc(ap.effects, func(o mail.Effect) bool {
		return o.Kind == mail.EffectSuppress && mail.AddressKey(o.Address) == mail.AddressKey(e.Address)
	})
	if !suppressed {
		if _, err := ap.setState(e, mail.ContactBounced, time.Time{}, mail.ContactActive, mail.ContactPaused); err != nil {
			return "", err
		}
	}
	return said, nil
}
