// Package followups shows the follow-up plans: each one's next step, why it
// waits, and what stopped it. Its second page writes a plan or changes a step.
package followups

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/screen/composer"
	"skrzynka/ui/screen/outgoing"
)

// Engine is what the pages call.
type Engine interface {
	FollowUps(ctx context.Context, f mail.PlanFilter) ([]view.Plan, error)
	FollowUp(ctx context.Context, id string) (view.Plan, error)
	AddFollowUp(ctx context.Context, r view.FollowUpRequest) (view.Plan, error)
	EditFollowUp(ctx context.Context, plan string, step int, after, body string) (view.Plan, error)
	CancelFollowUp(ctx context.Context, id, why string) (view.Plan, error)
	PauseFollowUp(ctx context.Context, id string, until time.Time) (view.Plan, error)
	ResumeFollowUp(ctx context.Context, id string) (view.Plan, error)
}

// Model is the list of plans.
type Model struct {
	env    *kit.Env
	engine Engine
	load   kit.Load[[]view.Plan]
	rows   kit.List[view.Plan, string]
	all    bool // those that have ended too
	focus  bool
}

// New makes the page.
func New(env *kit.Env, engine Engine) *Model {
	m := &Model{env: env, engine: engine, all: true}
	m.rows = kit.List[view.Plan, string]{Key: func(p view.Plan) string { return p.ID }, Paint: m.paint, Height: 2}
	return m
}

// Init reads the plans.
func (m *Model) Init() tea.Cmd {
	engine, open := m.engine, !m.all
	return m.load.Start(func(ctx context.Context) ([]view.Plan, error) {
		return engine.FollowUps(ctx, mail.PlanFilter{Open: open})
	})
}

// Title implements kit.Screen.
func (m *Model) Title() string {
	if m.all {
		return "Follow-ups"
	}
	return "Follow-ups that may still go out"
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

// changed says that this page changed a plan.
type changed struct{ m *Model }

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
		case view.TopicPlans, view.TopicContacts, view.TopicReview:
			return m.Init()
		}
	case changed:
		if msg.m == m {
			return m.Init()
		}
	case tea.MouseWheelMsg:
		return m.rows.Scroll(kit.WheelStep(msg))
	case tea.MouseClickMsg:
		if hit, again, cmd := m.rows.Click(msg.Y); hit && again {
			return tea.Batch(cmd, m.timeline())
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
		return kit.Frame(m.detail(lines, w, h), w, h)
	case m.load.Err != nil:
		lines = kit.ErrorLines(t, m.load.Err, w)
	case m.load.Loaded:
		lines = kit.NoteLines(t, w, "No follow-ups.", "F on a sent message plans what is sent if nobody answers it.")
	}
	return kit.Frame(lines, w, h)
}

// detail adds, where there is room, the steps of the plan under the cursor.
func (m *Model) detail(lines []string, w, h int) []string {
	p, ok := m.rows.Current()
	if !ok || h < 14 {
		return lines
	}
	t := m.env.Theme
	var box []string
	for _, l := range kit.Wrap(p.Says.String(), max(1, w-4)) {
		box = append(box, "  "+t.Strong.Paint(l))
	}
	for i, s := range p.Steps {
		words := fmt.Sprintf("%d  %s after %s", i+1, s.State, s.Delay)
		if s.DueAt != nil && s.State == mail.FollowWaiting {
			words += ", " + composer.When(*s.DueAt, m.env.Now())
		}
		if !s.Note.Empty() {
			words += ": " + s.Note.String()
		}
		box = append(box, "  "+t.Text.Paint(kit.Clip(words, max(1, w-4))))
		box = append(box, "     "+t.Dim.Paint(kit.Clip(kit.Clean(s.Body), max(1, w-7))))
	}
	box = append([]string{t.Faint.Paint(strings.Repeat(t.Glyph.Horizontal, w))}, box[:min(len(box), h/2)]...)
	room := h - len(box)
	if len(lines) > room {
		lines = m.rows.Lines(w, room, m.focus)
	}
	for len(lines) < room {
		lines = append(lines, "")
	}
	return append(lines, box...)
}

// Badge is a plan's state as it is always shown: a glyph and a word.
func Badge(t *kit.Theme, s mail.PlanState) kit.Cell {
	g := t.Glyph
	switch s {
	case mail.PlanActive:
		return kit.Cell{Text: g.Waiting + " active", Style: t.Info}
	case mail.PlanUnsent:
		return kit.Cell{Text: g.Pending + " not begun", Style: t.Dim}
	case mail.PlanPaused:
		return kit.Cell{Text: g.Sending + " paused", Style: t.Dim}
	case mail.PlanHeld:
		return kit.Cell{Text: g.Uncertain + " held", Style: t.Warn}
	case mail.PlanStopped:
		return kit.Cell{Text: g.Dot + " stopped", Style: t.Good}
	case mail.PlanDone:
		return kit.Cell{Text: g.Sent + " done", Style: t.Dim}
	}
	return kit.Cell{Text: g.Failed + " cancelled", Style: t.Dim}
}

func (m *Model) paint(p view.Plan, s kit.RowState, w int) []string {
	to := "(nobody)"
	if len(p.To) > 0 {
		to = kit.Clean(p.To[0])
		if n := len(p.To) - 1; n > 0 {
			to += fmt.Sprintf(" +%d", n)
		}
	}
	subject := kit.Clean(p.Subject)
	if strings.TrimSpace(subject) == "" {
		subject = "(no subject)"
	}
	return outgoing.Two(m.env, s, w, Badge(m.env.Theme, p.State), to, subject, kit.Ago(p.UpdatedAt, m.env.Now()), p.Says.String())[:m.rows.Height]
}

// Actions implements kit.Screen.
func (m *Model) Actions() []kit.Action {
	is := func(why string, states ...mail.PlanState) func() (bool, string) {
		return func() (bool, string) {
			p, ok := m.rows.Current()
			if !ok {
				return false, "there is no plan"
			}
			for _, s := range states {
				if p.State == s {
					return true, ""
				}
			}
			return false, why
		}
	}
	act := func(id, key, title, short string, rank int, enabled func() (bool, string), run func() tea.Cmd) kit.Action {
		return kit.Action{ID: "followups." + id, Keys: []string{key}, Title: title, Short: short, Group: "Follow-ups", Rank: rank, Enabled: enabled, Run: run}
	}
	some := func() (bool, string) { _, ok := m.rows.Current(); return ok, "there is no plan" }
	open := is("it has ended", mail.PlanUnsent, mail.PlanActive, mail.PlanPaused, mail.PlanHeld)
	list := []kit.Action{
		act("timeline", "enter", "Timeline: why it did or did not go out", "why", 1, some, m.timeline),
		act("edit", "E", "Change the next step", "edit", 2, open, m.edit),
		act("pause", "p", "Pause until a day, or until you resume it…", "pause", 3, is("only a plan that waits can be paused", mail.PlanActive, mail.PlanPaused, mail.PlanHeld), m.pause),
		act("resume", "r", "Let it go on", "resume", 4, is("only a paused or held plan can go on", mail.PlanPaused, mail.PlanHeld), m.resume),
		act("cancel", "d", "Cancel the plan", "cancel", 5, open, m.cancel),
		act("open", "o", "The message it follows", "message", 6, func() (bool, string) {
			p, ok := m.rows.Current()
			return ok && p.AttemptID != nil, "it is not sent yet"
		}, func() tea.Cmd {
			p, _ := m.rows.Current()
			return kit.Open(kit.Page{Kind: kit.KindAttempt, ID: *p.AttemptID})
		}),
		act("all", "t", "Those that have ended too, or not", "all", 7, nil, func() tea.Cmd { m.all = !m.all; return m.Init() }),
	}
	list = append(list, kit.Action{ID: "followups.log", Keys: []string{"L"}, Title: "Timeline", Group: "Follow-ups", Enabled: some, Run: m.timeline, Hidden: true})
	return append(list, m.rows.Moves()...)
}

func (m *Model) timeline() tea.Cmd {
	p, ok := m.rows.Current()
	if !ok {
		return nil
	}
	return kit.Open(kit.Page{Kind: kit.KindAudit, ID: "plan:" + p.ID})
}

// do changes the plan under the cursor and says how that went.
func (m *Model) do(f func(ctx context.Context, id string) (view.Plan, error)) tea.Cmd {
	p, ok := m.rows.Current()
	if !ok {
		return nil
	}
	return func() tea.Msg {
		got, err := f(context.Background(), p.ID)
		if err != nil {
			return tea.BatchMsg{kit.Fail(err), kit.Send(changed{m})}
		}
		return tea.BatchMsg{kit.Send(kit.Notice{Level: kit.Good, Text: got.Says.String()}), kit.Send(changed{m})}
	}
}

func (m *Model) resume() tea.Cmd {
	engine := m.engine
	return m.do(engine.ResumeFollowUp)
}

func (m *Model) cancel() tea.Cmd {
	engine := m.engine
	return kit.Show(&kit.Confirm{Env: m.env, Title: "Cancel this follow-up?", Text: []string{"Nothing more of it is sent. A cancelled plan stays cancelled."},
		Choices: []kit.Choice{
			{Key: "y", Label: "Cancel it", Run: func() tea.Cmd {
				return m.do(func(ctx context.Context, id string) (view.Plan, error) { return engine.CancelFollowUp(ctx, id, "") })
			}},
			{Key: "n", Label: "Keep it"},
		}})
}

func (m *Model) pause() tea.Cmd {
	engine := m.engine
	until := func(at time.Time) tea.Cmd {
		return m.do(func(ctx context.Context, id string) (view.Plan, error) { return engine.PauseFollowUp(ctx, id, at) })
	}
	return composer.Later(m.env, "Pause until", until, kit.Item{Label: "Until I resume it", Run: func() tea.Cmd { return until(time.Time{}) }})
}

func (m *Model) edit() tea.Cmd {
	p, ok := m.rows.Current()
	if !ok {
		return nil
	}
	for i, s := range p.Steps {
		if s.State == mail.FollowWaiting {
			return kit.Open(kit.Page{Kind: kit.KindFollowUp, ID: fmt.Sprintf("plan:%s:%d", p.ID, i)})
		}
	}
	return kit.Say(kit.Info, "No step of it waits.")
}
