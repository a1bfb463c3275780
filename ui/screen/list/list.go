// Package list is the list of messages of a folder, a unified inbox or a search.
package list

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/screen/triage"
)

// Engine is what the list calls.
type Engine interface {
	triage.Engine
	Messages(ctx context.Context, q view.ListQuery) (view.Page, error)
}

// Model is the list. The page it is part of sets the two hooks.
type Model struct {
	env    *kit.Env
	engine Engine
	// OnMove is called when another message may be under the cursor, OnOpen when
	// one is opened.
	OnMove func() tea.Cmd
	OnOpen func(view.MessageRow) tea.Cmd

	rows   kit.List[view.MessageRow, int64]
	triage triage.Triage
	scope  view.Scope
	hint   kit.Load[view.Page] // explains an empty search
	focus  bool
}

// New makes the list of a scope.
func New(env *kit.Env, engine Engine, scope view.Scope) *Model {
	m := &Model{env: env, engine: engine}
	m.rows = kit.List[view.MessageRow, int64]{
		Key:   func(r view.MessageRow) int64 { return r.ID },
		At:    func(r view.MessageRow) view.Cursor { return r.Cursor },
		Paint: m.paint,
	}
	m.triage = triage.Triage{Env: env, Engine: engine, Targets: m.targets, Hide: m.rows.Hide, Change: m.rows.Change}
	m.scope = scope
	m.bind()
	return m
}

// bind gives the rows a source that captures the scope: it runs off the loop.
func (m *Model) bind() {
	engine, scope := m.engine, m.scope
	m.rows.Fetch = func(ctx context.Context, from view.Cursor, back bool, limit int) ([]view.MessageRow, int, error) {
		p, err := engine.Messages(ctx, view.ListQuery{Scope: scope, From: from, Back: back, Limit: limit})
		return p.Rows, p.Total, err
	}
}

// Init reads the newest messages.
func (m *Model) Init() tea.Cmd { return tea.Batch(m.rows.Reset(), m.triage.Init(), m.readHint()) }

func (m *Model) readHint() tea.Cmd {
	if m.scope.Query == "" {
		return nil
	}
	engine, scope := m.engine, m.scope
	return m.hint.Start(func(ctx context.Context) (view.Page, error) {
		return engine.Messages(ctx, view.ListQuery{Scope: scope, Limit: 1})
	})
}

// SetScope shows something else, from its newest message.
func (m *Model) SetScope(scope view.Scope) tea.Cmd {
	scope.Threads = m.scope.Threads
	m.scope = scope
	m.bind()
	return tea.Batch(m.rows.Reset(), m.readHint())
}

// Scope is what is shown.
func (m *Model) Scope() view.Scope { return m.scope }

// Current is the message under the cursor.
func (m *Model) Current() (view.MessageRow, bool) { return m.rows.Current() }

// Step moves the cursor, as n and p in the reader do.
func (m *Model) Step(delta int) tea.Cmd { return m.rows.Move(delta) }

// Triage is the list's share of the actions; the reader beside it uses it too.
func (m *Model) Triage() *triage.Triage { return &m.triage }

// Loaded reports whether rows were read.
func (m *Model) Loaded() bool { return m.rows.Loaded() }

func (m *Model) targets() []view.MessageRow {
	marked := m.rows.Marked()
	if len(marked) == 0 {
		if r, ok := m.rows.Current(); ok {
			return []view.MessageRow{r}
		}
		return nil
	}
	held := map[int64]view.MessageRow{}
	for _, r := range m.rows.Rows() {
		held[r.ID] = r
	}
	out := make([]view.MessageRow, 0, len(marked))
	for _, id := range marked {
		r, ok := held[id]
		if !ok { // marked, then scrolled far away: its number is enough
			r = view.MessageRow{ID: id}
			if cur, ok := m.rows.Current(); ok {
				r.Account, r.FolderID = cur.Account, cur.FolderID
			}
		}
		out = append(out, r)
	}
	return out
}

// Title implements kit.Screen.
func (m *Model) Title() string { return "Messages" }

// Focus implements kit.Screen.
func (m *Model) Focus(on bool) { m.focus = on }

// State is the position in the list, and how many are marked.
func (m *Model) State() string {
	s := ""
	if n := len(m.rows.Marked()); n > 0 {
		s = fmt.Sprintf("%s %d marked  ", m.env.Theme.Glyph.Mark, n)
	}
	switch total := m.rows.Total(); {
	case m.rows.Len() == 0:
		return s
	case total < 0:
		return s + kit.Number(m.rows.Position())
	default:
		return s + kit.Number(m.rows.Position()) + "/" + kit.Number(total)
	}
}

// Update implements kit.Screen.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	if taken, cmd := m.rows.Update(msg); taken {
		return tea.Batch(cmd, m.moved())
	}
	if m.hint.Take(msg) {
		return nil
	}
	taken, cmd := m.triage.Update(msg)
	if taken {
		return cmd
	}
	switch msg := msg.(type) {
	case view.Change:
		switch msg.Topic {
		case view.TopicMessages, view.TopicAttempts:
			return tea.Batch(cmd, m.rows.Reload())
		}
	case triage.Done:
		if msg.Err != nil {
			return tea.Batch(cmd, m.rows.Unhide(msg.IDs))
		}
		return tea.Batch(cmd, m.rows.Settled(msg.IDs))
	case tea.MouseWheelMsg:
		return tea.Batch(m.rows.Scroll(kit.WheelStep(msg)), m.moved())
	case tea.MouseClickMsg:
		hit, again, cmd := m.rows.Click(msg.Y)
		if hit && again {
			return tea.Batch(cmd, m.open())
		}
		return tea.Batch(cmd, m.moved())
	}
	return cmd
}

func (m *Model) moved() tea.Cmd {
	if m.OnMove == nil {
		return nil
	}
	return m.OnMove()
}

func (m *Model) open() tea.Cmd {
	r, ok := m.rows.Current()
	if !ok || m.OnOpen == nil {
		return nil
	}
	return m.OnOpen(r)
}

// Actions implements kit.Screen.
func (m *Model) Actions() []kit.Action {
	some := kit.When(func() bool { return m.rows.Len() > 0 }, "the list is empty")
	actions := []kit.Action{
		{ID: "message.open", Keys: []string{"enter"}, Title: "Open the message", Short: "open", Group: "Message", Rank: 1, Enabled: some, Run: m.open},
	}
	actions = append(actions, m.triage.Actions()...)
	actions = append(actions,
		kit.Action{ID: "list.mark", Keys: []string{"x"}, Title: "Mark or unmark", Short: "mark", Group: "List", Rank: 23, Enabled: some,
			Run: func() tea.Cmd { return tea.Batch(m.rows.ToggleMark(), m.moved()) }},
		kit.Action{ID: "list.threads", Keys: []string{"t"}, Title: "Threads or a flat list", Short: "threads", Group: "List", Rank: 31, Run: m.threads},
	)
	moves := m.rows.Moves()
	for i := range moves {
		run := moves[i].Run
		moves[i].Run = func() tea.Cmd { return tea.Batch(run(), m.moved()) }
	}
	return append(actions, moves...)
}

// ClearMarks unmarks all; false when nothing was marked.
func (m *Model) ClearMarks() bool { return m.rows.ClearMarks() }

// HasMarks reports whether anything is marked.
func (m *Model) HasMarks() bool { return len(m.rows.Marked()) > 0 }

func (m *Model) threads() tea.Cmd {
	m.scope.Threads = !m.scope.Threads
	m.bind()
	say := "Flat list"
	if m.scope.Threads {
		say = "One row for each thread"
	}
	return tea.Batch(m.rows.Reset(), kit.Say(kit.Info, say))
}
