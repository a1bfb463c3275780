// Package mailbox is the page one works in all day: folders, list and reader,
// as many side by side as the screen is wide.
package mailbox

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/screen/folders"
	"skrzynka/ui/screen/list"
	"skrzynka/ui/screen/reader"
)

// Engine is what the three panes call.
type Engine interface {
	folders.Engine
	list.Engine
	reader.Engine
}

type pane int

const (
	paneList pane = iota
	paneFolders
	paneReader
)

// previewAfter is how long the cursor rests before the reader follows it.
const previewAfter = 60 * time.Millisecond

// preview asks the reader to follow; an old one does nothing.
type preview struct {
	of  *Model
	gen int
}

// Model is the page.
type Model struct {
	env     *kit.Env
	folders *folders.Model
	list    *list.Model
	reader  *reader.Model
	name    string
	focus   pane
	focused bool
	open    bool // a message was opened, where the reader is not always shown
	shape   shape
	gen     int
}

// New makes the page of a scope; name is shown in the header.
func New(env *kit.Env, engine Engine, scope view.Scope, name string) *Model {
	m := &Model{env: env, folders: folders.New(env, engine), list: list.New(env, engine, scope), reader: reader.New(env, engine, 0), name: name}
	m.folders.Show(scope)
	m.folders.Choose = m.Go
	if scope.Query != "" { // a folder picked beside a result leaves the search
		m.folders.Choose = func(scope view.Scope, _ string) tea.Cmd {
			return kit.Open(kit.MessagePage(kit.KindMail, scope.FolderID))
		}
	}
	m.list.OnMove = m.moved
	m.list.OnOpen = m.opened
	m.reader.OnStep = m.step
	m.reader.OnHide = func(ids []int64) tea.Cmd {
		return tea.Batch(m.list.Triage().Hide(ids), m.follow())
	}
	return m
}

// Inbox is the scope the program starts with.
func Inbox() (view.Scope, string) { return view.Scope{Kind: mail.FolderInbox}, "Inbox" }

// Init implements kit.Screen.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.list.Init(), m.folders.Init(), m.reader.Init())
}

// Go shows another folder.
func (m *Model) Go(scope view.Scope, name string) tea.Cmd {
	m.name, m.open = name, false
	m.folders.Show(scope)
	m.to(paneList)
	return m.list.SetScope(scope)
}

// Folder shows the folder with that id.
func (m *Model) Folder(id int64) tea.Cmd {
	if scope, name, ok := m.folders.Find(id); ok {
		return m.Go(scope, name)
	}
	return m.Go(view.Scope{FolderID: id}, fmt.Sprintf("folder %d", id))
}

// ShowFolders moves the focus to the folder pane.
func (m *Model) ShowFolders() { m.to(paneFolders) }

// Title implements kit.Screen.
func (m *Model) Title() string {
	scope := m.list.Scope()
	title := m.name
	if scope.Query != "" {
		return "Search: " + kit.Clean(scope.Query)
	}
	if scope.Account != "" {
		title = scope.Account + " / " + title
	}
	if n := m.folders.Unread(scope); n > 0 {
		title += "  " + kit.Number(n) + " unread"
	}
	return title
}

// State implements kit.Stater.
func (m *Model) State() string {
	if m.focus == paneReader && !m.shape.both() {
		return m.reader.State()
	}
	return m.list.State()
}

// Focus implements kit.Screen.
func (m *Model) Focus(on bool) {
	m.focused = on
	m.to(m.focus)
}

func (m *Model) to(p pane) {
	m.focus = p
	m.list.Focus(m.focused && p == paneList)
	m.folders.Focus(m.focused && p == paneFolders)
	m.reader.Focus(m.focused && p == paneReader)
}

// Update implements kit.Screen.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case kit.Resized:
		return tea.Batch(m.reader.Update(msg), m.moved())
	case preview:
		if msg.of == m && msg.gen == m.gen && m.focus != paneReader && m.shape.both() {
			return m.follow()
		}
		return nil
	case tea.MouseClickMsg, tea.MouseWheelMsg, tea.MouseReleaseMsg, tea.MouseMotionMsg:
		return m.mouse(msg.(tea.MouseMsg))
	case tea.KeyPressMsg, tea.PasteMsg:
		return m.at(m.focus).Update(msg)
	}
	return tea.Batch(m.folders.Update(msg), m.list.Update(msg), m.reader.Update(msg))
}

func (m *Model) at(p pane) kit.Screen {
	switch p {
	case paneFolders:
		return m.folders
	case paneReader:
		return m.reader
	}
	return m.list
}

// moved follows the cursor with the reader once it rests; while a message is
// being read, nothing takes it away.
func (m *Model) moved() tea.Cmd {
	row, ok := m.list.Current()
	if m.focus == paneReader || ok && row.ID == m.reader.ID() {
		return nil
	}
	m.gen++
	return m.env.After(previewAfter, preview{m, m.gen})
}

// follow shows what is under the list's cursor.
func (m *Model) follow() tea.Cmd {
	row, ok := m.list.Current()
	if !ok {
		if m.open = false; m.focus == paneReader {
			m.to(paneList)
		}
		return m.reader.Show(0)
	}
	return tea.Batch(m.reader.Show(row.ID), m.reader.Opened())
}

func (m *Model) opened(row view.MessageRow) tea.Cmd {
	m.open = true
	m.to(paneReader)
	return tea.Batch(m.reader.Show(row.ID), m.reader.Opened())
}

func (m *Model) step(delta int) tea.Cmd { return tea.Batch(m.list.Step(delta), m.follow()) }

func (m *Model) close() {
	m.open = false
	m.to(paneList)
}

// Actions implements kit.Screen: those of the pane with the focus, then the
// page's own.
func (m *Model) Actions() []kit.Action {
	actions := m.at(m.focus).Actions()
	if m.focus == paneList && m.shape.both() {
		actions = append(actions, m.reader.Beside()...)
	}
	actions = append(actions,
		kit.Action{ID: "pane.next", Keys: []string{"tab"}, Title: "Next pane", Short: "pane", Group: "Panes", Rank: 90, Run: func() tea.Cmd { return m.cycle(1) }},
		kit.Action{ID: "pane.previous", Keys: []string{"shift+tab"}, Title: "Pane before", Group: "Panes", Run: func() tea.Cmd { return m.cycle(-1) }})
	back := kit.Action{ID: "pane.back", Keys: []string{"esc", "q"}, Title: "Back to the list", Short: "back", Group: "Panes", Rank: 2,
		Run: func() tea.Cmd { m.close(); return m.moved() }}
	switch {
	case m.focus != paneList:
		actions = append(actions, back)
	case m.list.HasMarks():
		back.ID, back.Keys, back.Title, back.Short = "list.unmark", []string{"esc"}, "Unmark all", "unmark"
		back.Run = func() tea.Cmd { m.list.ClearMarks(); return nil }
		actions = append(actions, back)
	}
	return actions
}

// cycle moves the focus to the next pane there is something in.
func (m *Model) cycle(step int) tea.Cmd {
	order := []pane{paneFolders, paneList}
	if m.shape.side || m.open {
		order = append(order, paneReader)
	}
	at := 0
	for i, p := range order {
		if p == m.focus {
			at = i
		}
	}
	m.to(order[(at+step+len(order))%len(order)])
	if m.focus == paneReader {
		m.open = true
		return m.follow()
	}
	return m.moved()
}

// Panes makes one page for each pane with the focus, without an engine, so that
// the keys of all of them can be checked.
func Panes(env *kit.Env) []kit.Screen {
	var out []kit.Screen
	for _, p := range []pane{paneList, paneFolders, paneReader} {
		m := New(env, nil, view.Scope{}, "")
		m.focus = p
		m.shape = shape{list: rect{w: 1}, reader: rect{w: 1}}
		out = append(out, m)
	}
	return out
}
