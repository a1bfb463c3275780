// Package accounts lists the configured accounts and tests them.
package accounts

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
)

// Engine is what the page calls.
type Engine interface {
	ListAccounts(ctx context.Context) ([]view.Account, error)
	TestAccount(ctx context.Context, name string) ([]view.Check, error)
}

// Model is the page.
type Model struct {
	env    *kit.Env
	engine Engine
	load   kit.Load[[]view.Account]
	rows   kit.List[view.Account, string]
	states map[string]view.SyncProgress
	tests  map[string]*test
	scroll kit.Scroll
	focus  bool
}

// test is the newest test of an account.
type test struct {
	running bool
	checks  []view.Check
	err     *mail.Error
}

// New makes the page.
func New(env *kit.Env, engine Engine) *Model {
	m := &Model{env: env, engine: engine, states: map[string]view.SyncProgress{}, tests: map[string]*test{}}
	m.rows = kit.List[view.Account, string]{Key: func(a view.Account) string { return a.Name }, Paint: m.paint, Height: 2}
	return m
}

// Init reads the accounts.
func (m *Model) Init() tea.Cmd {
	engine := m.engine
	return m.load.Start(func(ctx context.Context) ([]view.Account, error) { return engine.ListAccounts(ctx) })
}

// Title implements kit.Screen.
func (m *Model) Title() string { return "Accounts" }

// Focus implements kit.Screen.
func (m *Model) Focus(on bool) { m.focus = on }

type tested struct {
	m      *Model
	name   string
	checks []view.Check
	err    error
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
		if msg.Progress != nil {
			m.states[msg.Progress.Account] = *msg.Progress
		}
		if msg.Topic == view.TopicAccounts || msg.Topic == view.TopicMessages || msg.Topic == view.TopicAttempts {
			return m.Init()
		}
	case tested:
		if msg.m == m {
			m.tests[msg.name] = &test{checks: msg.checks, err: mail.AsError(msg.err)}
		}
	case tea.MouseWheelMsg:
		m.scroll.Move(kit.WheelStep(msg))
	case tea.MouseClickMsg:
		_, _, cmd := m.rows.Click(msg.Y)
		return cmd
	}
	return nil
}

// View implements kit.Screen: the accounts, and under them what the newest test
// of the chosen one found.
func (m *Model) View(w, h int) string {
	t := m.env.Theme
	m.rows.Height = 3
	if h < 8 {
		m.rows.Height = 1
	}
	detail := m.detail(w)
	room := h
	if len(detail) > 0 {
		room = max(m.rows.Height, min(m.rows.Len()*m.rows.Height, h/2))
	}
	lines := m.rows.Lines(w, room, m.focus)
	switch {
	case m.rows.Len() > 0:
	case m.load.Err != nil:
		lines = kit.ErrorLines(t, m.load.Err, w)
	case m.load.Loaded:
		lines = kit.NoteLines(t, w, "No account is configured.", "a adds one.")
	}
	if left := h - len(lines); len(detail) > 0 && left > 0 {
		from, to := m.scroll.Window(len(detail), left)
		lines = append(lines, detail[from:to]...)
	}
	return kit.Frame(lines, w, h)
}

func (m *Model) paint(a view.Account, s kit.RowState, w int) []string {
	t, base := m.env.Theme, s.Base(m.env.Theme)
	name := kit.Clean(a.Name)
	if a.Default {
		name += " (default)"
	}
	nw := min(max(w/4, 12), 24)
	state := m.state(a.Name)
	first := kit.Row(base, w, kit.Cell{Text: " "}, kit.Cell{Text: kit.Fit(name, nw), Style: t.Strong}, kit.Cell{Text: " "},
		kit.Cell{Text: kit.Fit(kit.Clean(a.Email), max(0, w-nw-state.Width()-4))}, kit.Cell{Text: " "}, state)
	more := func(text string) string {
		return kit.Row(base, w, kit.Cell{Text: "   "}, kit.Cell{Text: kit.Clip(text, max(0, w-4)), Style: t.Dim})
	}
	return []string{first, more("in " + server(a.IMAP) + "   out " + server(a.SMTP)),
		more(count(a.Messages, "message") + ", " + count(a.Attempts, "attempt"))}[:m.rows.Height]
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return kit.Number(n) + " " + what
}

func server(s view.Server) string {
	return fmt.Sprintf("%s:%d %s", kit.Clean(s.Host), s.Port, s.Security)
}

// state says how the sync of an account stands.
func (m *Model) state(name string) kit.Cell {
	t := m.env.Theme
	p, ok := m.states[name]
	switch {
	case !ok:
		return kit.Cell{}
	case p.Error != "":
		return kit.Cell{Text: t.Glyph.Failed + " " + kit.Clip(kit.Clean(p.Error), 28), Style: t.Bad}
	case p.Phase == "offline":
		return kit.Cell{Text: t.Glyph.Offline + " offline", Style: t.Warn}
	case p.Phase == "", p.Phase == "idle":
		return kit.Cell{Text: t.Glyph.Sent + " up to date", Style: t.Good}
	}
	return kit.Cell{Text: t.Glyph.Sync + " " + kit.Clean(p.Phase), Style: t.Info}
}

func (m *Model) detail(w int) []string {
	t := m.env.Theme
	a, ok := m.rows.Current()
	if !ok {
		return nil
	}
	r := m.tests[a.Name]
	switch {
	case r == nil:
		return nil
	case r.running:
		return []string{"", " " + t.Info.Paint(kit.Clip(t.Glyph.Sync+" Testing "+kit.Clean(a.Name), max(1, w-2)))}
	}
	lines := []string{"", " " + t.Strong.Paint(kit.Clip("Test of "+kit.Clean(a.Name), max(1, w-2)))}
	lines = append(lines, CheckLines(t, r.checks, w)...)
	if r.err != nil {
		lines = append(lines, kit.ErrorLines(t, r.err, w)...)
	}
	return lines
}

// CheckLines draws the steps of a test: what worked, and of what failed
// precisely what and what to do.
func CheckLines(t *kit.Theme, checks []view.Check, w int) []string {
	var lines []string
	add := func(style kit.Style, indent int, text string) {
		for _, l := range kit.Wrap(kit.Clean(text), max(1, w-indent-1)) {
			lines = append(lines, kit.Spaces(indent)+style.Paint(l))
		}
	}
	for _, c := range checks {
		mark, style := t.Glyph.Sent, t.Good
		if !c.OK {
			mark, style = t.Glyph.Failed, t.Bad
		}
		line := mark + " " + c.Name
		if !c.Found.Empty() {
			line += ": " + c.Found.String()
		}
		add(style, 1, line)
		if c.Error != nil && c.Error.Text != c.Found.String() {
			add(t.Bad, 3, c.Error.Text)
		}
		switch {
		case c.Fix != "":
			add(t.Text, 3, c.Fix)
		case c.Error != nil && c.Error.Hint != "":
			add(t.Text, 3, c.Error.Hint)
		}
	}
	return lines
}

// Actions implements kit.Screen.
func (m *Model) Actions() []kit.Action {
	list := []kit.Action{
		{ID: "accounts.test", Keys: []string{"t"}, Title: "Test the connection", Short: "test", Group: "Accounts", Rank: 1, Run: m.test, Enabled: func() (bool, string) {
			a, ok := m.rows.Current()
			if !ok {
				return false, "there is no account"
			}
			r := m.tests[a.Name]
			return r == nil || !r.running, "it is being tested"
		}},
		{ID: "accounts.add", Keys: []string{"a"}, Title: "Add an account", Short: "add", Group: "Accounts", Rank: 2,
			Run: func() tea.Cmd { return kit.Open(kit.Page{Kind: kit.KindFirstRun, ID: "add"}) }},
	}
	return append(list, m.rows.Moves()...)
}

func (m *Model) test() tea.Cmd {
	a, _ := m.rows.Current()
	m.tests[a.Name] = &test{running: true}
	engine := m.engine
	return func() tea.Msg {
		checks, err := engine.TestAccount(context.Background(), a.Name)
		return tested{m, a.Name, checks, err}
	}
}
