// Package reader shows one message: who, when, what, and its text.
package reader

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/screen/triage"
)

// Engine is what the reader calls.
type Engine interface {
	triage.Engine
	Message(ctx context.Context, id int64) (view.Message, error)
	SaveAttachment(ctx context.Context, id int64, part int, dir string) (path string, err error)
}

// Model is the reader. As a pane it follows a list, which sets the hooks; as a
// page of its own it has none.
type Model struct {
	env    *kit.Env
	engine Engine
	// OnStep moves to another message; nil on a page of its own.
	OnStep func(delta int) tea.Cmd
	// OnHide is told which messages were just moved away.
	OnHide func(ids []int64) tea.Cmd

	id      int64
	load    kit.Load[view.Message]
	again   bool // read once more when the read under way is done
	body    body
	scroll  kit.Scroll
	triage  triage.Triage
	focus   bool
	read    bool // marked as read since it was shown
	headers bool
	fold    bool
}

// New makes a reader; id 0 shows nothing yet.
func New(env *kit.Env, engine Engine, id int64) *Model {
	m := &Model{env: env, engine: engine, id: id}
	m.triage = triage.Triage{Env: env, Engine: engine, Targets: m.targets, Hide: m.hide, Change: m.change}
	return m
}

// Init reads the message.
func (m *Model) Init() tea.Cmd {
	cmd := m.triage.Init()
	if m.id != 0 {
		cmd = tea.Batch(cmd, m.start())
	}
	return cmd
}

func (m *Model) start() tea.Cmd {
	id := m.id
	return m.load.Start(func(ctx context.Context) (view.Message, error) { return m.engine.Message(ctx, id) })
}

// Show opens another message. The one before stays on the screen until the new
// one has been read, so that nothing flickers.
func (m *Model) Show(id int64) tea.Cmd {
	if id == m.id && (m.load.Loaded || m.load.Running) {
		return nil
	}
	m.id, m.read = id, false
	if id == 0 {
		m.load = kit.Load[view.Message]{}
		m.body = body{}
		return nil
	}
	return m.start()
}

// ID is the message shown, 0 for none.
func (m *Model) ID() int64 { return m.id }

func (m *Model) message() (*view.Message, bool) {
	if m.id == 0 || !m.load.Loaded || m.load.Value.ID != m.id {
		return nil, false
	}
	return &m.load.Value, true
}

func (m *Model) targets() []view.MessageRow {
	if msg, ok := m.message(); ok {
		return []view.MessageRow{msg.MessageRow}
	}
	return nil
}

func (m *Model) hide(ids []int64) tea.Cmd {
	if m.OnHide != nil {
		return m.OnHide(ids)
	}
	return kit.Back(m)
}

func (m *Model) change(ids []int64, edit func(*view.MessageRow)) {
	for _, id := range ids {
		if m.load.Loaded && m.load.Value.ID == id {
			edit(&m.load.Value.MessageRow)
			m.body = body{}
		}
	}
}

// Title implements kit.Screen.
func (m *Model) Title() string {
	if msg, ok := m.message(); ok && !msg.Subject.Empty() {
		return msg.Subject.String()
	}
	return "Message"
}

// State is how far the message was scrolled.
func (m *Model) State() string { return m.scroll.State() }

// Focus implements kit.Screen. A message that is read with the focus is marked
// as read; a preview is not.
func (m *Model) Focus(on bool) { m.focus = on }

// Opened marks the message as read, once.
func (m *Model) Opened() tea.Cmd {
	msg, ok := m.message()
	if !ok || m.read || !m.focus {
		return nil
	}
	m.read = true
	if !msg.Unread {
		return nil
	}
	return m.triage.Seen([]int64{m.id}, true)
}

// Update implements kit.Screen.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	if m.load.Take(msg) {
		if m.load.Err == nil && m.body.id != m.load.Value.ID {
			m.scroll.Reset()
		}
		m.body = body{}
		if m.again {
			m.again = false
			return tea.Batch(m.start(), m.Opened())
		}
		return m.Opened()
	}
	taken, cmd := m.triage.Update(msg)
	if taken {
		return cmd
	}
	switch msg := msg.(type) {
	case view.Change:
		if m.id == 0 || msg.Topic != view.TopicMessages && msg.Topic != view.TopicAttempts {
			return cmd
		}
		if m.load.Running {
			m.again = true
			return cmd
		}
		return tea.Batch(cmd, m.start())
	case kit.ThemeChanged:
		m.body = body{}
	case tea.MouseWheelMsg:
		m.scroll.Move(kit.WheelStep(msg))
	}
	return cmd
}

// View implements kit.Screen.
func (m *Model) View(w, h int) string {
	t := m.env.Theme
	switch {
	case m.id == 0:
		return kit.Frame(nil, w, h)
	case m.load.Err != nil && !m.load.Running:
		return kit.Frame(kit.ErrorLines(t, m.load.Err, w), w, h)
	case !m.load.Loaded:
		return kit.Frame(nil, w, h)
	}
	m.lay(w)
	from, to := m.scroll.Window(len(m.body.lines), h)
	lines := m.body.lines[from:to:to]
	if from >= m.body.head && h > 4 {
		// The heading has left the screen: one line keeps saying whose text this is.
		lines = append([]string{m.sticky(w)}, lines[1:]...)
	}
	return kit.Frame(lines, w, h)
}

// lay wraps the message once for a width; scrolling only cuts the window out.
func (m *Model) lay(w int) {
	key := body{id: m.load.Value.ID, w: w, headers: m.headers, fold: m.fold, minute: m.env.Now().Unix() / 60}
	if b := m.body; b.id == key.id && b.w == w && b.headers == m.headers && b.fold == m.fold && b.minute == key.minute && b.lines != nil {
		return
	}
	key.lines, key.head, key.quotes = layout(m.env, &m.load.Value, w, m.headers, m.fold)
	m.body = key
}

func (m *Model) sticky(w int) string {
	msg := &m.load.Value
	who := msg.FromAddr.String()
	return kit.Row(m.env.Theme.Rest, w, kit.Cell{Text: " " + who + "  ", Style: m.env.Theme.Strong},
		kit.Cell{Text: msg.Subject.String(), Style: m.env.Theme.Dim})
}

// forward scrolls by a screen, and at the end goes to the next message.
func (m *Model) forward() tea.Cmd {
	if m.scroll.AtEnd() && m.OnStep != nil {
		return m.OnStep(1)
	}
	m.scroll.Page(2)
	return nil
}

func (m *Model) step(delta int) func() tea.Cmd {
	return func() tea.Cmd {
		if m.OnStep == nil {
			return nil
		}
		return m.OnStep(delta)
	}
}

// Actions implements kit.Screen.
func (m *Model) Actions() []kit.Action {
	actions := append(m.triage.Actions(), m.looks()...)
	actions = append(actions,
		kit.Action{ID: "message.next", Keys: []string{"J", "n"}, Title: "Next message", Short: "next", Group: "Reading", Rank: 35, Enabled: m.canStep(), Run: m.step(1)},
		kit.Action{ID: "message.previous", Keys: []string{"K", "p"}, Title: "Message before", Group: "Reading", Enabled: m.canStep(), Run: m.step(-1)},
	)
	moves := m.scroll.Moves()
	for i := range moves {
		if moves[i].ID == "text.page-down" {
			moves[i].Title, moves[i].Run = "A screen down, then the next message", m.forward
		}
	}
	return append(actions, moves...)
}

// Beside are the actions that work while the list beside the reader has the
// focus: a look at the message shown, and paging through it.
func (m *Model) Beside() []kit.Action {
	page := func(id, key, title string, halves int) kit.Action {
		return kit.Action{ID: "preview." + id, Keys: []string{key}, Title: title, Group: "Reading", Hidden: true,
			Run: func() tea.Cmd { m.scroll.Page(halves); return nil }}
	}
	return append(m.looks(), page("down", "space", "A screen down in the message", 2), page("up", "b", "A screen up in the message", -2))
}

// looks are the ways to look at a message.
func (m *Model) looks() []kit.Action {
	open := kit.When(func() bool { _, ok := m.message(); return ok }, "no message is open")
	has := func(n func(*view.Message) int, why string) func() (bool, string) {
		return func() (bool, string) {
			if msg, ok := m.message(); !ok || n(msg) == 0 {
				return false, why
			}
			return true, ""
		}
	}
	act := func(id, key, title, short string, rank int, enabled func() (bool, string), run func() tea.Cmd) kit.Action {
		return kit.Action{ID: "message." + id, Keys: []string{key}, Title: title, Short: short, Group: "Reading", Rank: rank, Enabled: enabled, Run: run}
	}
	return []kit.Action{
		act("attachments", "a", "Attachments…", "attachments", 30, has(func(v *view.Message) int { return len(v.Files) }, "this message has no attachments"), m.files),
		act("links", "o", "Links…", "links", 31, has(func(v *view.Message) int { return len(v.Links) }, "this message has no links"), m.links),
		act("headers", "h", "All headers or the usual ones", "headers", 32, open, func() tea.Cmd { m.headers = !m.headers; return nil }),
		act("raw", "\\", "Raw source", "raw", 33, open, func() tea.Cmd { return kit.Open(kit.MessagePage(kit.KindRaw, m.id)) }),
		act("fold", "z", "Fold or unfold quoted text", "quotes", 34, kit.When(func() bool { return m.body.quotes }, "this message quotes nothing"),
			func() tea.Cmd { m.fold = !m.fold; return nil }),
		act("images", "i", "Images…", "images", 0, has(images, "this message has no images"), m.images),
	}
}

func (m *Model) canStep() func() (bool, string) {
	return kit.When(func() bool { return m.OnStep != nil }, "this message was not opened from a list")
}

func images(v *view.Message) int {
	n := 0
	for _, f := range v.Files {
		if isImage(f) {
			n++
		}
	}
	return n
}

func savedNotice(paths []string) kit.Notice {
	if len(paths) == 1 {
		return kit.Notice{Level: kit.Good, Text: "Saved to " + kit.Clean(paths[0])}
	}
	return kit.Notice{Level: kit.Good, Text: fmt.Sprintf("Saved %d files, the last to %s", len(paths), kit.Clean(paths[len(paths)-1]))}
}
