// Package drafts lists what was written and not sent, the scheduled ones too.
package drafts

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/screen/composer"
	"skrzynka/ui/screen/outgoing"
)

// Engine is what the page calls.
type Engine interface {
	Drafts(ctx context.Context) ([]view.Draft, error)
	NewDraft(ctx context.Context, account string) (mail.Draft, error)
	DiscardDraft(ctx context.Context, id int64) error
	CheckSend(ctx context.Context, draftID int64) (view.Question, error)
	ScheduleSend(ctx context.Context, draftID int64, at time.Time, confirmed bool) error
}

// Model is the page.
type Model struct {
	env    *kit.Env
	engine Engine
	load   kit.Load[[]view.Draft]
	fresh  kit.Load[mail.Draft]
	rows   kit.List[view.Draft, int64]
	focus  bool
}

// New makes the page.
func New(env *kit.Env, engine Engine) *Model {
	m := &Model{env: env, engine: engine}
	m.rows = kit.List[view.Draft, int64]{Key: func(d view.Draft) int64 { return d.ID }, Paint: m.paint, Height: 2}
	return m
}

// Init reads the drafts: the scheduled ones first, in the order they go out.
func (m *Model) Init() tea.Cmd {
	engine := m.engine
	return m.load.Start(func(ctx context.Context) ([]view.Draft, error) {
		list, err := engine.Drafts(ctx)
		slices.SortStableFunc(list, func(a, b view.Draft) int {
			switch x, y := a.SendAt, b.SendAt; {
			case x.IsZero() && y.IsZero():
				return 0
			case y.IsZero():
				return -1
			case x.IsZero():
				return 1
			default:
				return x.Compare(y)
			}
		})
		return list, err
	})
}

// Title implements kit.Screen.
func (m *Model) Title() string { return "Drafts" }

// Focus implements kit.Screen.
func (m *Model) Focus(on bool) { m.focus = on }

// State is the position in the list.
func (m *Model) State() string {
	if m.rows.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", m.rows.Position(), m.rows.Len())
}

// Update implements kit.Screen.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	if m.load.Take(msg) {
		if m.load.Err == nil {
			m.rows.SetRows(m.load.Value)
		}
		return nil
	}
	if m.fresh.Take(msg) {
		if m.fresh.Err != nil {
			return kit.Fail(m.fresh.Err)
		}
		return kit.Open(kit.MessagePage(kit.KindCompose, m.fresh.Value.ID))
	}
	switch msg := msg.(type) {
	case view.Change:
		if msg.Topic == view.TopicDrafts {
			return m.Init()
		}
	case asked:
		if msg.m == m {
			return m.question(msg)
		}
	case changed:
		if msg.m == m {
			return m.Init()
		}
	case tea.MouseWheelMsg:
		return m.rows.Scroll(kit.WheelStep(msg))
	case tea.MouseClickMsg:
		if hit, again, cmd := m.rows.Click(msg.Y); hit && again {
			return tea.Batch(cmd, m.open())
		}
	}
	return nil
}

// View implements kit.Screen.
func (m *Model) View(w, h int) string {
	t := m.env.Theme
	m.rows.Height = 2
	if h < 6 {
		m.rows.Height = 1
	}
	lines := m.rows.Lines(w, h, m.focus)
	switch {
	case m.rows.Len() > 0:
	case m.load.Err != nil:
		lines = kit.ErrorLines(t, m.load.Err, w)
	case m.load.Loaded:
		lines = kit.NoteLines(t, w, "No drafts.", "c writes a new message; what you write is kept here until it is sent.")
	}
	return kit.Frame(lines, w, h)
}

func (m *Model) paint(d view.Draft, s kit.RowState, w int) []string {
	t, now := m.env.Theme, m.env.Now()
	badge := kit.Cell{Text: "  draft", Style: t.Dim}
	second := d.Snippet.String()
	age := kit.Ago(d.UpdatedAt, now)
	if !d.SendAt.IsZero() {
		badge = kit.Cell{Text: t.Glyph.Waiting + " scheduled", Style: t.Info}
		second = "goes out " + composer.When(d.SendAt, now) + "  " + second
		age = outgoing.In(d.SendAt.Sub(now))
	}
	to, subject := d.To.String(), d.Subject.String()
	if to == "" {
		to = "(nobody yet)"
	}
	if subject == "" {
		subject = "(no subject)"
	}
	return outgoing.Two(m.env, s, w, badge, to, subject, age, second)[:m.rows.Height]
}

// Actions implements kit.Screen.
func (m *Model) Actions() []kit.Action {
	some := kit.When(func() bool { return m.rows.Len() > 0 }, "there is no draft")
	act := func(id, key, title, short string, rank int, enabled func() (bool, string), run func() tea.Cmd) kit.Action {
		return kit.Action{ID: "drafts." + id, Keys: []string{key}, Title: title, Short: short, Group: "Drafts", Rank: rank, Enabled: enabled, Run: run}
	}
	list := []kit.Action{
		act("edit", "enter", "Go on writing", "write", 1, some, m.open),
		act("discard", "d", "Discard the draft", "discard", 2, some, m.discard),
		act("later", "ctrl+o", "Send later, or not at a time…", "later", 3, some, m.later),
		act("compose", "c", "Write a new message", "compose", 4, nil, m.compose),
	}
	return append(list, m.rows.Moves()...)
}

func (m *Model) open() tea.Cmd {
	d, ok := m.rows.Current()
	if !ok {
		return nil
	}
	return kit.Open(kit.MessagePage(kit.KindCompose, d.ID))
}

func (m *Model) compose() tea.Cmd {
	return m.fresh.Start(func(ctx context.Context) (mail.Draft, error) { return m.engine.NewDraft(ctx, "") })
}

// changed says that something of the list was changed by this page.
type changed struct{ m *Model }

// asked is a question of the policy about scheduling a draft.
type asked struct {
	m  *Model
	id int64
	at time.Time
	q  view.Question
}

// told runs f and says how it went; the list is read again either way.
func (m *Model) told(f func(ctx context.Context) error, good kit.Notice) tea.Cmd {
	return func() tea.Msg {
		if err := f(context.Background()); err != nil {
			return tea.BatchMsg{kit.Fail(err), kit.Send(changed{m})}
		}
		return tea.BatchMsg{kit.Send(good), kit.Send(changed{m})}
	}
}

func (m *Model) discard() tea.Cmd {
	d, _ := m.rows.Current()
	engine := m.engine
	return m.told(func(ctx context.Context) error { return engine.DiscardDraft(ctx, d.ID) },
		kit.Notice{Level: kit.Good, Text: "Draft discarded.", Hint: "u undo"})
}

func (m *Model) later() tea.Cmd {
	d, _ := m.rows.Current()
	engine := m.engine
	var more []kit.Item
	if !d.SendAt.IsZero() {
		more = append(more, kit.Item{Label: "Not at a time: keep it as a draft", Run: func() tea.Cmd {
			return m.told(func(ctx context.Context) error { return engine.ScheduleSend(ctx, d.ID, time.Time{}, false) },
				kit.Notice{Level: kit.Good, Text: "Taken off the schedule."})
		}})
	}
	return composer.Later(m.env, "Send later", func(at time.Time) tea.Cmd { return m.schedule(d.ID, at) }, more...)
}

// schedule asks the policy first, since nobody is there when the time has come.
func (m *Model) schedule(id int64, at time.Time) tea.Cmd {
	engine := m.engine
	return func() tea.Msg {
		q, err := engine.CheckSend(context.Background(), id)
		switch {
		case err != nil:
			return kit.ErrorNotice(err)
		case q.Ask:
			return asked{m, id, at, q}
		}
		return m.set(id, at, false)()
	}
}

func (m *Model) set(id int64, at time.Time, confirmed bool) tea.Cmd {
	engine := m.engine
	return m.told(func(ctx context.Context) error { return engine.ScheduleSend(ctx, id, at, confirmed) },
		kit.Notice{Level: kit.Good, Text: "It goes out " + composer.When(at, m.env.Now()) + "."})
}

func (m *Model) question(a asked) tea.Cmd {
	text := []string{a.q.Text}
	if a.q.Hint != "" {
		text = append(text, "Asked because of the rule "+a.q.Hint+".")
	}
	return kit.Show(&kit.Confirm{Env: m.env, Title: "Send this later?", Text: text, Choices: []kit.Choice{
		{Key: "y", Label: "Send it then", Run: func() tea.Cmd { return m.set(a.id, a.at, true) }},
		{Key: "n", Label: "Keep it as a draft"},
	}})
}
