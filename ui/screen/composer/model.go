// Package composer is where mail is written. A draft is stored at every pause
// of typing and when the page is left, so that nothing written is ever lost.
package composer

import (
	"context"
	"os/exec"
	"time"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/kit/editor"
)

// Engine is what the composer calls.
type Engine interface {
	ListAccounts(ctx context.Context) ([]view.Account, error)
	Draft(ctx context.Context, id int64) (mail.Draft, error)
	SaveDraft(ctx context.Context, d mail.Draft) (mail.Draft, error)
	DiscardDraft(ctx context.Context, id int64) error
	Attach(ctx context.Context, draftID int64, path string) (mail.Draft, error)
	Detach(ctx context.Context, draftID int64, index int) (mail.Draft, error)
	CheckSend(ctx context.Context, draftID int64) (view.Question, error)
	SendDraft(ctx context.Context, draftID int64, confirmed bool) (view.Attempt, error)
	ScheduleSend(ctx context.Context, draftID int64, at time.Time, confirmed bool) error
}

// The fields in the order tab goes through them.
const (
	fieldFrom = iota
	fieldTo
	fieldCc
	fieldBcc
	fieldSubject
	fieldBody
	fields
)

// names label the fields that are one line.
var names = [fields]string{"From", "To", "Cc", "Bcc", "Subject", ""}

// Model is the composer of one draft.
type Model struct {
	env    *kit.Env
	engine Engine
	id     int64
	exec   func(c *exec.Cmd, done tea.ExecCallback) tea.Cmd

	load  kit.Load[opened]
	ready bool

	draft  mail.Draft // as it was loaded; what is written is in the fields
	from   []identity
	who    int // index into from
	inputs [fieldBody]kit.Input
	body   *editor.Editor
	at     int // the field with the focus
	focus  bool

	saver   *saver
	version uint64 // counts changes
	saved   uint64 // the version the engine has confirmed
	savedAt time.Time
	saving  int
	armed   bool        // a save is due at the latest in a while
	failed  *mail.Error // why the newest save failed

	sending bool
	gone    bool        // sent, scheduled or discarded: nothing is stored any more
	problem *mail.Error // why it was not sent
	wrong   [fieldBody]string
	wasAt   time.Time // it was scheduled for then when it was opened
	attach  *pathDialog
	editing bool
	fieldAt map[int]int // line of the view to field
	bodyTop int
	cursor  *tea.Cursor
}

// opened is what is read before anything can be written.
type opened struct {
	draft    mail.Draft
	accounts []view.Account
	wasAt    time.Time
}

// identity is one address mail can be sent from.
type identity struct {
	account string
	addr    mail.Address
}

// New makes the composer of a stored draft.
func New(env *kit.Env, engine Engine, id int64) *Model {
	return &Model{env: env, engine: engine, id: id, exec: tea.ExecProcess}
}

// Init reads the draft. One that is scheduled is taken off the schedule first:
// it must not go out half changed.
func (m *Model) Init() tea.Cmd {
	engine, id := m.engine, m.id
	return m.load.Start(func(ctx context.Context) (opened, error) {
		d, err := engine.Draft(ctx, id)
		if err != nil {
			return opened{}, err
		}
		o := opened{wasAt: d.SendAt}
		if !d.SendAt.IsZero() {
			if err := engine.ScheduleSend(ctx, id, time.Time{}, false); err != nil {
				return opened{}, err
			}
			if d, err = engine.Draft(ctx, id); err != nil {
				return opened{}, err
			}
		}
		o.draft = d
		o.accounts, err = engine.ListAccounts(ctx)
		return o, err
	})
}

// show fills the fields from what was read.
func (m *Model) show(o opened) tea.Cmd {
	d := o.draft
	m.draft, m.ready, m.wasAt = d, true, o.wasAt
	m.saver = &saver{engine: m.engine, id: d.ID, account: d.Account}
	m.body = editor.New(d.Body)
	m.inputs[fieldTo].Set(formatAddresses(d.To))
	m.inputs[fieldCc].Set(formatAddresses(d.Cc))
	m.inputs[fieldBcc].Set(formatAddresses(d.Bcc))
	m.inputs[fieldSubject].Set(d.Subject)
	m.identities(o.accounts)
	switch {
	case len(d.To)+len(d.Cc)+len(d.Bcc) == 0:
		m.at = fieldTo
	case d.Subject == "":
		m.at = fieldSubject
	default:
		m.at = fieldBody
	}
	if o.wasAt.IsZero() {
		return nil
	}
	return kit.Say(kit.Warn, "Held back while you edit it: it was to go out "+m.when(o.wasAt)+".")
}

// identities lists what the draft can be sent from: the addresses of its
// account, and for a new message those of the others too.
func (m *Model) identities(accounts []view.Account) {
	free := m.draft.Kind == mail.KindOutbound && m.draft.RetryOf == "" && !m.draft.Forward
	add := func(account string, a mail.Address) {
		if account == m.draft.Account && mail.AddressKey(a.Addr) == m.draft.From.Key() {
			m.who = len(m.from)
			a = m.draft.From
		}
		m.from = append(m.from, identity{account, a})
	}
	for _, own := range []bool{true, false} {
		for _, acct := range accounts {
			if (acct.Name == m.draft.Account) != own || !own && !free {
				continue
			}
			add(acct.Name, mail.Address{Name: acct.Display, Addr: acct.Email})
			for _, alias := range acct.Aliases {
				add(acct.Name, mail.Address{Name: acct.Display, Addr: alias})
			}
		}
	}
	if len(m.from) == 0 {
		m.from = []identity{{m.draft.Account, m.draft.From}}
	}
}

// current is the draft as it is written now.
func (m *Model) current() mail.Draft {
	d := m.draft
	d.IdempotencyKey = "" // a stored draft keeps its own
	d.From, d.Account = m.from[m.who].addr, m.from[m.who].account
	d.To, _ = ParseAddresses(m.inputs[fieldTo].Value())
	d.Cc, _ = ParseAddresses(m.inputs[fieldCc].Value())
	d.Bcc, _ = ParseAddresses(m.inputs[fieldBcc].Value())
	d.Subject = m.inputs[fieldSubject].Value()
	d.Body = m.body.Value()
	return d
}

// Title implements kit.Screen.
func (m *Model) Title() string {
	switch {
	case !m.ready:
		return "Draft"
	case m.draft.RetryOf != "":
		return "Edit and resend"
	case m.draft.Forward:
		return "Forward"
	case m.draft.Kind == mail.KindReply:
		return "Reply"
	}
	return "New message"
}

// Focus implements kit.Screen.
func (m *Model) Focus(on bool) { m.focus = on }

// Typing implements kit.Typist.
func (m *Model) Typing() bool { return m.ready && !m.sending && !m.editing }

// Cursor implements kit.Pointer.
func (m *Model) Cursor() *tea.Cursor {
	if !m.Typing() || !m.focus {
		return nil
	}
	return m.cursor
}
