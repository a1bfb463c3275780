package followups

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/kit/editor"
)

// Write is the page that makes a plan, or changes a step of one: how long to
// wait, and what is sent then.
type Write struct {
	env    *kit.Env
	engine Engine
	target string // "attempt:<id>", "draft:<id>", "plan:<id>:<step>"

	load    kit.Load[view.Plan] // of a step that is changed
	after   kit.Input
	body    *editor.Editor
	done    []view.FollowUpStep // the steps before this one
	inBody  bool
	saving  bool
	problem *mail.Error
	cursor  *tea.Cursor
}

// NewWrite makes the page.
func NewWrite(env *kit.Env, engine Engine, target string) *Write {
	m := &Write{env: env, engine: engine, target: target}
	m.begin("3wd", "Hello,\n\nI would like to come back to my message. Have you had time to look at it?\n\n")
	return m
}

func (m *Write) begin(after, body string) {
	m.after = kit.Input{}
	m.after.Set(after)
	m.body = editor.New(body)
	m.inBody = false
}

// step is the plan and the number of a step that is changed.
func (m *Write) step() (plan string, n int, ok bool) {
	rest, ok := strings.CutPrefix(m.target, "plan:")
	if !ok {
		return "", 0, false
	}
	plan, number, _ := strings.Cut(rest, ":")
	n, err := strconv.Atoi(number)
	return plan, n, err == nil
}

// Init reads the step that is changed.
func (m *Write) Init() tea.Cmd {
	plan, _, ok := m.step()
	if !ok {
		return nil
	}
	engine := m.engine
	return m.load.Start(func(ctx context.Context) (view.Plan, error) { return engine.FollowUp(ctx, plan) })
}

// Title implements kit.Screen.
func (m *Write) Title() string {
	if _, n, ok := m.step(); ok {
		return fmt.Sprintf("Follow-up: change step %d", n+1)
	}
	return fmt.Sprintf("Follow-up: step %d", len(m.done)+1)
}

// Focus implements kit.Screen.
func (m *Write) Focus(bool) {}

// Typing implements kit.Typist.
func (m *Write) Typing() bool { return !m.saving }

// Cursor implements kit.Pointer.
func (m *Write) Cursor() *tea.Cursor { return m.cursor }

type written struct {
	m    *Write
	plan view.Plan
	err  error
}

// Update implements kit.Screen.
func (m *Write) Update(msg tea.Msg) tea.Cmd {
	if m.load.Take(msg) {
		if _, n, _ := m.step(); m.load.Err == nil && n < len(m.load.Value.Steps) {
			s := m.load.Value.Steps[n]
			m.begin(s.Delay, s.Body)
		}
		return nil
	}
	switch msg := msg.(type) {
	case written:
		if msg.m != m {
			return nil
		}
		m.saving = false
		if msg.err != nil {
			m.problem = mail.AsError(msg.err)
			return nil
		}
		return tea.Sequence(kit.Back(m), kit.Send(kit.Notice{Level: kit.Good, Text: msg.plan.Says.String(), Hint: "g f lists the follow-ups"}))
	case tea.MouseWheelMsg:
		m.body.Scroll(kit.WheelStep(msg))
	case tea.PasteMsg, tea.KeyPressMsg:
		return m.write(msg)
	}
	return nil
}

func (m *Write) write(msg tea.Msg) tea.Cmd {
	if m.saving {
		return nil
	}
	m.problem = nil
	name := ""
	if key, ok := msg.(tea.KeyPressMsg); ok {
		name = key.String()
	}
	switch {
	case m.inBody && name == "up" && m.body.AtTop(), m.inBody && name == "shift+tab":
		m.inBody = false
	case m.inBody:
		m.body.Update(msg)
	case name == "down" || name == "enter":
		m.inBody = true
	default:
		m.after.Update(msg)
	}
	return nil
}

// View implements kit.Screen.
func (m *Write) View(w, h int) string {
	t := m.env.Theme
	if m.load.Err != nil {
		return kit.Frame(kit.ErrorLines(t, m.load.Err, w), w, h)
	}
	m.cursor = nil
	var lines []string
	for i, s := range m.done {
		lines = append(lines, t.Dim.Paint(kit.Clip(fmt.Sprintf("  step %d, after %s: %s", i+1, kit.Clean(s.After), kit.Clean(s.Body)), w)))
	}
	style := t.Dim
	if !m.inBody {
		style = t.Accent
	}
	label := "If nobody answers, after"
	if w < 50 {
		label = "after"
	}
	value, x := m.after.View(t, max(1, w-kit.Width(label)-3))
	if !m.inBody {
		m.cursor = tea.NewCursor(kit.Width(label)+2+x, len(lines))
	}
	lines = append(lines, style.Paint(label)+"  "+value)
	lines = append(lines, t.Faint.Paint(kit.Clip("3d days · 5wd working days · 2w weeks · 4h hours; counted from the message before", w)))
	if m.problem != nil {
		lines = append(lines, kit.ErrorLines(t, m.problem, w)...)
	}
	if room := h - 1; len(lines) > room {
		lines = lines[len(lines)-max(0, room):]
	}
	top := len(lines)
	for _, l := range m.body.View(t, max(1, w-1), max(1, h-top)) {
		lines = append(lines, " "+l)
	}
	if m.inBody {
		x, y := m.body.Cursor()
		m.cursor = tea.NewCursor(x+1, y+top)
	}
	return kit.Frame(lines, w, h)
}

// Actions implements kit.Screen.
func (m *Write) Actions() []kit.Action {
	_, _, changing := m.step()
	idle := kit.When(func() bool { return !m.saving }, "it is being stored")
	more := func() (bool, string) {
		if changing {
			return false, "only this step is changed here"
		}
		return idle()
	}
	act := func(id, key, title, short string, rank int, enabled func() (bool, string), run func() tea.Cmd) kit.Action {
		return kit.Action{ID: "followup." + id, Keys: []string{key}, Title: title, Short: short, Group: "Follow-up", Rank: rank, Enabled: enabled, Run: run}
	}
	return []kit.Action{
		act("save", "ctrl+s", "Store the plan", "store", 1, idle, m.save),
		act("next", "ctrl+n", "Write a further step", "next step", 2, more, m.next),
		act("field", "tab", "Delay or text", "field", 3, nil, func() tea.Cmd { m.inBody = !m.inBody; return nil }),
	}
}

func (m *Write) current() view.FollowUpStep {
	return view.FollowUpStep{After: m.after.Value(), Body: m.body.Value()}
}

func (m *Write) next() tea.Cmd {
	m.done = append(m.done, m.current())
	m.begin("5wd", "")
	return nil
}

func (m *Write) save() tea.Cmd {
	m.saving, m.problem = true, nil
	engine, now := m.engine, m.current()
	if plan, n, ok := m.step(); ok {
		return func() tea.Msg {
			p, err := engine.EditFollowUp(context.Background(), plan, n, now.After, now.Body)
			return written{m, p, err}
		}
	}
	r := view.FollowUpRequest{Steps: append(m.done[:len(m.done):len(m.done)], now)}
	if id, ok := strings.CutPrefix(m.target, "draft:"); ok {
		r.DraftID, _ = strconv.ParseInt(id, 10, 64) // an id that is none is not found
	} else {
		r.AttemptID = strings.TrimPrefix(m.target, "attempt:")
	}
	return func() tea.Msg {
		p, err := engine.AddFollowUp(context.Background(), r)
		return written{m, p, err}
	}
}
