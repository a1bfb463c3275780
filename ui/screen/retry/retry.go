// Package retry lists the failed and uncertain attempts that need a person.
package retry

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/screen/outgoing"
)

// Engine is what the page calls.
type Engine interface {
	outgoing.Engine
	Attempts(ctx context.Context, f view.AttemptFilter) ([]view.Attempt, error)
	CancelRetry(ctx context.Context, id string) error
}

// Model is the page.
type Model struct {
	env    *kit.Env
	engine Engine
	load   kit.Load[[]view.Attempt]
	rows   kit.List[view.Attempt, string]
	again  outgoing.Again
	focus  bool

	ticking bool
}

// New makes the page.
func New(env *kit.Env, engine Engine) *Model {
	m := &Model{env: env, engine: engine}
	m.rows = kit.List[view.Attempt, string]{Key: func(a view.Attempt) string { return a.ID }, Paint: m.paint, Height: 3}
	m.again = outgoing.Again{Env: env, Engine: engine, Target: m.rows.Current, Done: func(string) tea.Cmd { return m.Init() }}
	return m
}

// Init reads what needs a person.
func (m *Model) Init() tea.Cmd {
	engine := m.engine
	return m.load.Start(func(ctx context.Context) ([]view.Attempt, error) {
		return engine.Attempts(ctx, view.AttemptFilter{Open: true, Limit: 1000})
	})
}

// Title implements kit.Screen.
func (m *Model) Title() string { return "Failed: retry" }

// Focus implements kit.Screen.
func (m *Model) Focus(on bool) { m.focus = on }

// State is the position in the list, and how many are marked.
func (m *Model) State() string {
	s := ""
	if n := len(m.rows.Marked()); n > 0 {
		s = fmt.Sprintf("%s %d marked  ", m.env.Theme.Glyph.Mark, n)
	}
	if m.rows.Len() > 0 {
		s += fmt.Sprintf("%d/%d", m.rows.Position(), m.rows.Len())
	}
	return s
}

// Update implements kit.Screen.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	if m.load.Take(msg) {
		if m.load.Err == nil {
			m.rows.SetRows(m.load.Value)
		}
		return m.count()
	}
	if taken, cmd := m.again.Update(msg); taken {
		return cmd
	}
	switch msg := msg.(type) {
	case view.Change:
		if msg.Topic == view.TopicAttempts {
			return m.Init()
		}
	case tick:
		if msg.m == m {
			m.ticking = false
			return m.count()
		}
	case tea.MouseWheelMsg:
		return m.rows.Scroll(kit.WheelStep(msg))
	case tea.MouseClickMsg:
		m.again.Moved()
		if hit, again, cmd := m.rows.Click(msg.Y); hit && again {
			return tea.Batch(cmd, m.open())
		}
	}
	return nil
}

type tick struct{ m *Model }

// count draws the times anew every second while the outbox tries by itself.
func (m *Model) count() tea.Cmd {
	waits := slices.ContainsFunc(m.rows.Rows(), func(a view.Attempt) bool { return a.NextTryAt != nil })
	if !waits || m.ticking {
		return nil
	}
	m.ticking = true
	return m.env.After(time.Second, tick{m})
}

// View implements kit.Screen.
func (m *Model) View(w, h int) string {
	t := m.env.Theme
	switch {
	case h < 6:
		m.rows.Height = 1
	case h < 12:
		m.rows.Height = 2
	default:
		m.rows.Height = 3
	}
	lines := m.rows.Lines(w, h, m.focus)
	switch {
	case m.rows.Len() > 0:
	case m.load.Err != nil:
		lines = kit.ErrorLines(t, m.load.Err, w)
	case m.load.Loaded:
		lines = kit.NoteLines(t, w, "Nothing failed and nothing is uncertain.", "What could not be sent waits here for you; nothing is sent again behind your back.")
	}
	return kit.Frame(lines, w, h)
}

// paint draws an attempt, why it stands so, and what to do.
func (m *Model) paint(a view.Attempt, s kit.RowState, w int) []string {
	lines := outgoing.Paint(m.env, a, s, w)
	if m.rows.Height > 2 {
		t := m.env.Theme
		advice := a.Advice.String()
		indent := outgoing.Indent(w)
		lines = append(lines, kit.Row(s.Base(t), w, kit.Cell{Text: kit.Spaces(indent)}, kit.Cell{Text: kit.Clip(advice, max(0, w-indent-1)), Style: t.Info}))
	}
	return lines[:m.rows.Height]
}

// Actions implements kit.Screen.
func (m *Model) Actions() []kit.Action {
	some := kit.When(func() bool { return m.rows.Len() > 0 }, "the list is empty")
	marked := kit.When(func() bool { return len(m.rows.Marked()) > 0 }, "nothing is marked")
	act := func(id, key, title, short string, rank int, enabled func() (bool, string), run func() tea.Cmd) kit.Action {
		return kit.Action{ID: "retry." + id, Keys: []string{key}, Title: title, Short: short, Group: "Retry", Rank: rank, Enabled: enabled, Run: run}
	}
	list := []kit.Action{act("open", "enter", "Evidence: everything that is known of it", "evidence", 1, some, m.open)}
	list = append(list, m.again.Actions()...)
	list = append(list,
		act("mark", "x", "Mark or unmark", "mark", 20, some, func() tea.Cmd { return m.rows.ToggleMark() }),
		act("resend-marked", "R", "Resend the marked failed ones", "resend marked", 21, marked, m.bulk),
		act("cancel", "c", "Do not try again by itself", "cancel", 22, func() (bool, string) {
			a, ok := m.rows.Current()
			return ok && a.NextTryAt != nil, "the outbox does not try again"
		}, m.cancel),
		act("review", "v", "Decide what became of an uncertain one", "review", 12, func() (bool, string) {
			a, ok := m.rows.Current()
			return ok && a.Status == mail.StatusUncertain, "it is not uncertain"
		}, func() tea.Cmd {
			a, _ := m.rows.Current()
			return kit.Open(kit.Page{Kind: kit.KindUncertain, ID: a.ID})
		}),
	)
	moves := m.rows.Moves()
	for i := range moves {
		run := moves[i].Run
		moves[i].Run = func() tea.Cmd { m.again.Moved(); return run() }
	}
	return append(list, moves...)
}

func (m *Model) open() tea.Cmd {
	a, ok := m.rows.Current()
	if !ok {
		return nil
	}
	return kit.Open(kit.Page{Kind: kit.KindAttempt, ID: a.ID})
}

func (m *Model) cancel() tea.Cmd {
	a, _ := m.rows.Current()
	engine := m.engine
	return kit.Call(func(ctx context.Context) (tea.Msg, error) {
		if err := engine.CancelRetry(ctx, a.ID); err != nil {
			return nil, err
		}
		return kit.Notice{Level: kit.Good, Text: "It is not tried again by itself.", Hint: "r sends it again"}, nil
	})
}

func (m *Model) bulk() tea.Cmd {
	marked := map[string]bool{}
	for _, k := range m.rows.Marked() {
		marked[k] = true
	}
	var list []view.Attempt
	for _, a := range m.rows.Rows() {
		if marked[a.ID] {
			list = append(list, a)
		}
	}
	m.rows.ClearMarks()
	return m.again.Bulk(list)
}
