// Package threads shows the threads that wait: for my answer, or for theirs.
package threads

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail/view"
	"skrzynka/ui/kit"
)

// Engine is what the page calls.
type Engine interface {
	NeedAnswer(ctx context.Context, account string) ([]view.OpenThread, error)
	AwaitAnswer(ctx context.Context, account string) ([]view.OpenThread, error)
}

// Theirs is the page's ID when it is their turn to answer.
const Theirs = "theirs"

// Model is the page.
type Model struct {
	env    *kit.Env
	engine Engine
	theirs bool
	load   kit.Load[[]view.OpenThread]
	rows   kit.List[view.OpenThread, string]
	focus  bool
}

// New makes the page; whose is Theirs or anything else for mine.
func New(env *kit.Env, engine Engine, whose string) *Model {
	m := &Model{env: env, engine: engine, theirs: whose == Theirs}
	m.rows = kit.List[view.OpenThread, string]{Key: key, Paint: m.paint}
	return m
}

func key(o view.OpenThread) string {
	if o.AttemptID != nil {
		return *o.AttemptID
	}
	if o.MessageID != nil {
		return *o.MessageID
	}
	return o.Subject.String()
}

// Init reads the threads.
func (m *Model) Init() tea.Cmd {
	engine, theirs := m.engine, m.theirs
	return m.load.Start(func(ctx context.Context) ([]view.OpenThread, error) {
		if theirs {
			return engine.AwaitAnswer(ctx, "")
		}
		return engine.NeedAnswer(ctx, "")
	})
}

// Title implements kit.Screen.
func (m *Model) Title() string {
	if m.theirs {
		return "Waiting for their answer"
	}
	return "Needs my answer"
}

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
	switch msg := msg.(type) {
	case view.Change:
		switch msg.Topic {
		case view.TopicMessages, view.TopicAttempts, view.TopicReview, view.TopicPlans:
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
	lines := m.rows.Lines(w, h, m.focus)
	switch {
	case m.rows.Len() > 0:
	case m.load.Err != nil:
		lines = kit.ErrorLines(t, m.load.Err, w)
	case m.load.Loaded && m.theirs:
		lines = kit.NoteLines(t, w, "Nobody owes you an answer.", "Messages of yours that nobody has answered stand here, for sixty days.")
	case m.load.Loaded:
		lines = kit.NoteLines(t, w, "Everybody has your answer.", "Mail of people whose thread you have not answered stands here, for sixty days.")
	}
	return kit.Frame(lines, w, h)
}

func (m *Model) paint(o view.OpenThread, s kit.RowState, w int) []string {
	t, base := m.env.Theme, s.Base(m.env.Theme)
	age := kit.Ago(o.Since, m.env.Now())
	who := min(28, max(8, w/3))
	room := max(0, w-who-15)
	return []string{kit.Row(base, w, kit.Cell{Text: " " + kit.Fit(o.Who.String(), who) + " "}, kit.Cell{Text: kit.Fit(o.Subject.String(), room), Style: t.Strong},
		kit.Cell{Text: kit.FitRight(age, 12), Style: t.Dim})}
}

// Actions implements kit.Screen.
func (m *Model) Actions() []kit.Action {
	some := kit.When(func() bool { return m.rows.Len() > 0 }, "the list is empty")
	list := []kit.Action{
		{ID: "threads.open", Keys: []string{"enter"}, Title: "Open it", Short: "open", Group: "Threads", Rank: 1, Enabled: some, Run: m.open},
		{ID: "threads.turn", Keys: []string{"t"}, Title: "Whose turn it is: mine or theirs", Short: "mine/theirs", Group: "Threads", Rank: 2, Run: func() tea.Cmd {
			m.theirs = !m.theirs
			m.rows.SetRows(nil)
			return m.Init()
		}},
		{ID: "threads.followup", Keys: []string{"F"}, Title: "Follow it up unless it is answered", Short: "follow up", Group: "Threads", Rank: 3, Enabled: func() (bool, string) {
			o, ok := m.rows.Current()
			return ok && o.AttemptID != nil, "only a message of yours can be followed up"
		}, Run: func() tea.Cmd {
			o, _ := m.rows.Current()
			return kit.Open(kit.Page{Kind: kit.KindFollowUp, ID: "attempt:" + *o.AttemptID})
		}},
	}
	return append(list, m.rows.Moves()...)
}

func (m *Model) open() tea.Cmd {
	o, ok := m.rows.Current()
	switch {
	case !ok:
		return nil
	case o.AttemptID != nil:
		return kit.Open(kit.Page{Kind: kit.KindAttempt, ID: *o.AttemptID})
	case o.MessageID != nil:
		return kit.Open(kit.Page{Kind: kit.KindMessage, ID: *o.MessageID})
	}
	return nil
}
