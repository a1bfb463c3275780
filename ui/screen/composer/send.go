package composer

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
)

// sent is how a send, or scheduling one, went.
type sent struct {
	m       *Model
	at      time.Time // zero: send now
	version uint64    // what was stored before
	id      int64
	ask     *view.Question
	attempt view.Attempt
	until   time.Time // it can be taken back until then
	err     error
}

func (m *Model) send(confirmed bool) tea.Cmd { return m.submit(time.Time{}, confirmed) }

// submit stores the draft, asks the policy, and hands the draft to the outbox.
// Nothing can be written meanwhile; a refusal gives the draft back.
func (m *Model) submit(at time.Time, confirmed bool) tea.Cmd {
	if m.sending || m.gone || !m.check() {
		return nil
	}
	m.sending, m.problem = true, nil
	r := sent{m: m, at: at, version: m.version}
	s, engine, d := m.saver, m.engine, m.current()
	return func() tea.Msg {
		ctx := context.Background()
		if r.id, r.err = s.save(ctx, r.version, d); r.err != nil {
			return r
		}
		if s.replaced() {
			// Sending it now might be the second time: the person looks first.
			r.err = &mail.Error{Code: mail.CodeConflict, Text: elsewhere, Hint: "Look at g o; ctrl+s sends it if it is to go all the same."}
			return r
		}
		if !confirmed {
			q, err := engine.CheckSend(ctx, r.id)
			if r.err = err; err != nil {
				return r
			}
			if q.Ask {
				r.ask = &q
				return r
			}
		}
		r.err = s.finish(func(id int64) (err error) {
			if !at.IsZero() {
				return engine.ScheduleSend(ctx, id, at, confirmed)
			}
			r.attempt, err = engine.SendDraft(ctx, id, confirmed)
			return err
		})
		if r.err == nil && at.IsZero() && r.attempt.ID == "" {
			if d, err := engine.Draft(ctx, r.id); err == nil {
				r.until = d.SendAt
			}
		}
		return r
	}
}

// check looks at the recipients and shows what is wrong where it is.
func (m *Model) check() bool {
	recipients, bad := 0, -1
	for f := fieldBcc; f >= fieldTo; f-- {
		var list []mail.Address
		list, m.wrong[f] = ParseAddresses(m.inputs[f].Value())
		recipients += len(list)
		if m.wrong[f] != "" {
			bad = f
		}
	}
	if bad < 0 && recipients == 0 {
		bad, m.wrong[fieldTo] = fieldTo, "Nobody to send it to: write an address."
	}
	if bad >= 0 {
		m.at = bad
	}
	return bad < 0
}

// afterSend takes the answer: a question, a refusal, or that it is on its way.
func (m *Model) afterSend(r sent) tea.Cmd {
	m.sending = false
	if r.ask == nil && errors.Is(r.err, mail.ErrCode(mail.CodeConfirmationRequired)) {
		e := mail.AsError(r.err)
		r.ask, r.err = &view.Question{Ask: true, Text: e.Text, Hint: e.Hint}, nil
	}
	if r.id != 0 && r.version > m.saved {
		m.keep(stored{m: m, version: r.version, id: r.id})
	}
	switch {
	case r.ask != nil:
		return m.question(r)
	case r.err != nil:
		m.refused(mail.AsError(r.err))
		return nil
	}
	m.gone = true
	return tea.Sequence(kit.Back(m), kit.Send(m.told(r)))
}

// question is the policy's, with the rule it comes from.
func (m *Model) question(r sent) tea.Cmd {
	c := &kit.Confirm{Env: m.env, Title: "Send this?", Text: []string{r.ask.Text}, Choices: []kit.Choice{
		{Key: "y", Label: "Send", Run: func() tea.Cmd { return m.submit(r.at, true) }},
		{Key: "n", Label: "Go on writing"},
	}}
	if r.ask.Hint != "" {
		c.Text = append(c.Text, "Asked because of the rule "+r.ask.Hint+".")
	}
	return kit.Show(c)
}

// refused shows why it was not sent and goes where it can be mended.
func (m *Model) refused(e *mail.Error) {
	m.problem = e
	switch e.Code {
	case mail.CodeRecipientsRequired, mail.CodeEnvelopeInvalid:
		m.at = fieldTo
	case mail.CodeReplyBodyInvalid:
		m.at = fieldBody
	}
}

// told says what happens now, and how long it can be taken back.
func (m *Model) told(r sent) kit.Notice {
	switch {
	case !r.at.IsZero():
		return kit.Notice{Level: kit.Good, Text: "It goes out " + m.when(r.at) + ".", Hint: "Skrzynka or its worker has to run then; g d lists it"}
	case r.attempt.ID == "":
		return kit.Notice{Level: kit.Good, Text: "Sending", Hint: "u takes it back", Until: r.until,
			Undone: kit.MessagePage(kit.KindCompose, r.id)}
	case r.attempt.Replayed:
		return kit.Notice{Level: kit.Warn, Text: "This was handed to the outbox before: it is " + r.attempt.Status.String() + ".", Hint: "g o shows it"}
	}
	return kit.Notice{Level: kit.Info, Text: "In the outbox.", Hint: "g o shows how it goes"}
}

// when is a time in the person's zone, as one says it.
func (m *Model) when(t time.Time) string { return When(t, m.env.Now()) }

// When says a coming time: "today 18:00", "tomorrow 8:00", "Mon 30 Nov 8:00".
func When(t, now time.Time) string {
	t = t.In(now.Location())
	day := func(d time.Time) string { return d.Format(time.DateOnly) }
	switch {
	case day(t) == day(now):
		return "today " + t.Format("15:04")
	case day(t) == day(now.AddDate(0, 0, 1)):
		return "tomorrow " + t.Format("15:04")
	case t.Year() == now.Year():
		return t.Format("Mon 2 Jan 15:04")
	}
	return t.Format("Mon 2 Jan 2006 15:04")
}
