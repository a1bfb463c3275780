// Package folders is the pane of accounts and folders, headed by what needs a
// person.
package folders

import (
	"context"
	"fmt"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
)

// Engine is what the pane reads.
type Engine interface {
	Folders(ctx context.Context, account string) ([]view.Folder, error)
	Counts(ctx context.Context) (view.Counts, error)
}

// Model is the pane. Choose is called when a folder is picked, with its scope
// and its name for the header.
type Model struct {
	env    *kit.Env
	engine Engine
	Choose func(scope view.Scope, name string) tea.Cmd

	list    kit.List[row, string]
	folders kit.Load[[]view.Folder]
	counts  kit.Load[view.Counts]
	focus   bool
	placed  bool
	several bool
	current view.Scope
}

type row struct {
	id     string
	label  string
	depth  int
	count  int
	style  kit.Style
	strong bool
	head   bool // an account's name: not selectable
	page   kit.Page
	scope  view.Scope
}

// New makes the pane.
func New(env *kit.Env, engine Engine) *Model {
	m := &Model{env: env, engine: engine}
	m.list = kit.List[row, string]{Key: func(r row) string { return r.id }, Paint: m.paint}
	return m
}

// Init reads folders and counts.
func (m *Model) Init() tea.Cmd { return tea.Batch(m.readFolders(), m.readCounts()) }

func (m *Model) readFolders() tea.Cmd {
	return m.folders.Start(func(ctx context.Context) ([]view.Folder, error) { return m.engine.Folders(ctx, "") })
}

func (m *Model) readCounts() tea.Cmd {
	return m.counts.Start(func(ctx context.Context) (view.Counts, error) { return m.engine.Counts(ctx) })
}

// Title implements kit.Screen.
func (m *Model) Title() string { return "Folders" }

// Focus implements kit.Screen.
func (m *Model) Focus(on bool) { m.focus = on }

// Show marks the folder that the list shows.
func (m *Model) Show(scope view.Scope) {
	m.current = scope
	m.list.Select(m.currentID())
}

// Find is the scope and name of a folder by its id.
func (m *Model) Find(id int64) (view.Scope, string, bool) {
	for _, f := range m.folders.Value {
		if f.ID == id {
			return view.Scope{FolderID: f.ID, Account: f.Account}, m.name(f), true
		}
	}
	return view.Scope{}, "", false
}

// Unread is the number of unread messages in what a scope shows.
func (m *Model) Unread(scope view.Scope) int {
	n := 0
	for _, f := range m.folders.Value {
		if f.ID == scope.FolderID || scope.FolderID == 0 && scope.Query == "" && scope.Kind != "" && f.Kind == scope.Kind {
			n += f.Unread
		}
	}
	return n
}

// Update implements kit.Screen.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case view.Change:
		switch msg.Topic {
		case view.TopicFolders, view.TopicMessages, view.TopicAccounts:
			return m.readFolders()
		case view.TopicAttempts, view.TopicDrafts, view.TopicReview, view.TopicPlans:
			return m.readCounts()
		}
	case tea.MouseWheelMsg:
		return m.list.Scroll(kit.WheelStep(msg))
	case tea.MouseClickMsg:
		if hit, _, _ := m.list.Click(msg.Y); hit {
			return m.open()
		}
	default:
		if m.folders.Take(msg) || m.counts.Take(msg) {
			m.build()
		}
	}
	return nil
}

// Actions implements kit.Screen.
func (m *Model) Actions() []kit.Action {
	actions := m.list.Moves()
	for i := range actions { // names of accounts are stepped over
		run, up := actions[i].Run, actions[i].ID == "list.up" || actions[i].ID == "list.half-up" || actions[i].ID == "list.page-up"
		actions[i].Run = func() tea.Cmd { cmd := run(); m.skip(up); return cmd }
	}
	return append(actions, kit.Action{ID: "folder.open", Keys: []string{"enter", "l", "right"}, Title: "Open the folder", Short: "open",
		Group: "Folders", Rank: 10, Run: m.open})
}

func (m *Model) skip(up bool) {
	step := 1
	if up {
		step = -1
	}
	for range 2 {
		r, ok := m.list.Current()
		if !ok || !r.head {
			return
		}
		if at := m.list.Position(); at+step < 1 || at+step > m.list.Len() {
			step = -step
		}
		m.list.Move(step)
	}
}

func (m *Model) open() tea.Cmd {
	r, ok := m.list.Current()
	switch {
	case !ok || r.head:
		return nil
	case r.page.Kind != "":
		m.list.Select(m.currentID())
		return kit.Open(r.page)
	case m.Choose == nil:
		return nil
	}
	m.current = r.scope
	return m.Choose(r.scope, r.label)
}

// currentID is the row of what the list shows. With one account the unified
// inbox is that account's own.
func (m *Model) currentID() string {
	if s := m.current; s.FolderID == 0 && s.Kind == mail.FolderInbox && !m.several {
		for _, f := range m.folders.Value {
			if f.Kind == mail.FolderInbox {
				return scopeID(view.Scope{FolderID: f.ID})
			}
		}
	}
	return scopeID(m.current)
}

func scopeID(s view.Scope) string {
	if s.FolderID != 0 {
		return "f" + strconv.FormatInt(s.FolderID, 10)
	}
	return "k" + s.Kind.String()
}

func (m *Model) name(f view.Folder) string {
	if f.Kind == mail.FolderInbox {
		return "Inbox"
	}
	return f.Label.String()
}

// build lays the rows out: what needs a person, the unified inbox, then each
// account's folders.
func (m *Model) build() {
	t, c := m.env.Theme, m.counts.Value
	var rows []row
	need := func(id, glyph, word string, n int, style kit.Style, page kit.Page) {
		if n > 0 {
			rows = append(rows, row{id: id, label: glyph + " " + word, count: n, style: style, strong: true, page: page})
		}
	}
	need("failed", t.Glyph.Failed, "failed", c.Failed, t.Bad, kit.Page{Kind: kit.KindRetry})
	need("uncertain", t.Glyph.Uncertain, "uncertain", c.Uncertain, t.Warn, kit.Page{Kind: kit.KindUncertain})
	need("review", t.Glyph.Review, "review", c.Review, t.Info, kit.Page{Kind: kit.KindReview})
	need("waiting", t.Glyph.Waiting, "waiting", c.Waiting, t.Dim, kit.Page{Kind: kit.KindAttempts})
	need("drafts", t.Glyph.Dot, "drafts", c.Drafts, t.Dim, kit.Page{Kind: kit.KindDrafts})
	if len(rows) > 0 {
		rows = append(rows, row{id: "gap", head: true})
	}
	accounts := map[string]bool{}
	inbox := 0
	for _, f := range m.folders.Value {
		accounts[f.Account] = true
		if f.Kind == mail.FolderInbox {
			inbox += f.Unread
		}
	}
	m.several = len(accounts) > 1
	if m.several {
		rows = append(rows, row{id: "kinbox", label: "All inboxes", count: inbox, strong: inbox > 0, scope: view.Scope{Kind: mail.FolderInbox}})
	}
	account := ""
	for _, f := range m.folders.Value {
		if m.several && f.Account != account {
			account = f.Account
			rows = append(rows, row{id: "a" + account, label: account, head: true, style: t.Dim})
		}
		r := row{id: scopeID(view.Scope{FolderID: f.ID}), label: m.name(f), depth: f.Depth, count: f.Unread, strong: f.Unread > 0,
			scope: view.Scope{FolderID: f.ID, Account: f.Account}}
		if !f.Selectable {
			r.head, r.style = true, t.Faint
		}
		rows = append(rows, r)
	}
	m.list.SetRows(rows)
	if !m.placed && m.folders.Loaded {
		m.placed = m.list.Select(m.currentID())
	}
	m.skip(false)
}

func (m *Model) paint(r row, s kit.RowState, w int) []string {
	if r.head {
		return []string{kit.Row(kit.Style{}, w, kit.Cell{Text: " " + kit.Spaces(2*r.depth) + r.label, Style: r.style})}
	}
	t := m.env.Theme
	base := s.Base(t)
	mark := " "
	if r.id == m.currentID() && r.page.Kind == "" {
		mark = t.Glyph.Pointer
	}
	style, count := r.style, ""
	if r.strong {
		style = style.On(t.Strong)
	}
	if r.count > 0 {
		count = fmt.Sprint(r.count)
	}
	label := kit.Fit(kit.Spaces(2*r.depth)+r.label, w-3-kit.Width(count))
	return []string{kit.Row(base, w, kit.Cell{Text: mark, Style: t.Accent}, kit.Cell{Text: label + " ", Style: style}, kit.Cell{Text: count + " ", Style: style})}
}

// View implements kit.Screen.
func (m *Model) View(w, h int) string {
	t := m.env.Theme
	switch {
	case m.folders.Err != nil && !m.folders.Loaded:
		return kit.Frame(kit.ErrorLines(t, m.folders.Err, w), w, h)
	case m.folders.Loaded && len(m.folders.Value) == 0:
		return kit.Frame(kit.NoteLines(t, w, "No folders yet.", "They come with the first sync (S)."), w, h)
	}
	return kit.Frame(m.list.Lines(w, h, m.focus), w, h)
}
