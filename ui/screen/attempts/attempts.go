// Package attempts is the attempt log and the outbox: what waits to go out on
// top, then everything that was sent, newest first.
package attempts

import (
	"context"
	"fmt"
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
	Drafts(ctx context.Context) ([]view.Draft, error)
	CancelRetry(ctx context.Context, id string) error
	ScheduleSend(ctx context.Context, draftID int64, at time.Time, confirmed bool) error
}

// row is a scheduled draft or an attempt.
type row struct {
	draft   *view.Draft
	attempt view.Attempt
}

func (r row) key() string {
	if r.draft != nil {
		return fmt.Sprintf("draft:%d", r.draft.ID)
	}
	return r.attempt.ID
}

// waits reports whether the row goes out by itself at a time.
func (r row) waits() bool { return r.draft != nil || r.attempt.NextTryAt != nil }

// Model is the page.
type Model struct {
	env    *kit.Env
	engine Engine
	status mail.DeliveryStatus
	limit  int

	load    kit.Load[[]row]
	rows    kit.List[row, string]
	again   outgoing.Again
	focus   bool
	ticking bool
}

// step is how many attempts are read at first, and more each time the end is
// reached.
const step = 300

// New makes the page; status "" shows all.
func New(env *kit.Env, engine Engine, status string) *Model {
	m := &Model{env: env, engine: engine, limit: step}
	if s, err := mail.ParseDeliveryStatus(status); err == nil {
		m.status = s
	}
	m.rows = kit.List[row, string]{Key: row.key, Paint: m.paint, Height: 2}
	m.again = outgoing.Again{Env: env, Engine: engine, Target: m.current}
	return m
}

// Init reads what is shown.
func (m *Model) Init() tea.Cmd {
	engine, f := m.engine, view.AttemptFilter{Status: m.status, Limit: m.limit}
	return m.load.Start(func(ctx context.Context) ([]row, error) {
		var waiting, rest []row
		if f.Status == "" || f.Status == mail.StatusPending {
			drafts, err := engine.Drafts(ctx)
			if err != nil {
				return nil, err
			}
			for _, d := range drafts {
				if !d.SendAt.IsZero() {
					waiting = append(waiting, row{draft: &d})
				}
			}
		}
		list, err := engine.Attempts(ctx, f)
		for _, a := range list {
			if a.NextTryAt != nil {
				waiting = append(waiting, row{attempt: a})
			} else {
				rest = append(rest, row{attempt: a})
			}
		}
		return append(waiting, rest...), err
	})
}

func (m *Model) current() (view.Attempt, bool) {
	r, ok := m.rows.Current()
	return r.attempt, ok && r.draft == nil
}

// Title implements kit.Screen.
func (m *Model) Title() string {
	if m.status != "" {
		return "Attempts: " + m.status.String()
	}
	return "Attempts"
}

// Focus implements kit.Screen.
func (m *Model) Focus(on bool) { m.focus = on }

// State is the position in the list, and how many are marked.
func (m *Model) State() string {
	s := ""
	if n := len(m.rows.Marked()); n > 0 {
		s = fmt.Sprintf("%s %d marked  ", m.env.Theme.Glyph.Mark, n)
	}
	if m.rows.Len() == 0 {
		return s
	}
	more := ""
	if m.more() {
		more = "+"
	}
	return fmt.Sprintf("%s%d/%d%s", s, m.rows.Position(), m.rows.Len(), more)
}

func (m *Model) more() bool { return m.load.Loaded && m.rows.Len() >= m.limit }

type tick struct{ m *Model }

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
		if msg.Topic == view.TopicAttempts || msg.Topic == view.TopicDrafts {
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

// count draws the times anew every second while something waits.
func (m *Model) count() tea.Cmd {
	waits := false
	for _, r := range m.rows.Rows() {
		waits = waits || r.waits()
	}
	if !waits || m.ticking {
		return nil
	}
	m.ticking = true
	return m.env.After(time.Second, tick{m})
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
	case m.load.Loaded && m.status != "":
		lines = kit.NoteLines(t, w, "No attempt is "+m.status.String()+".", "f shows others.")
	case m.load.Loaded:
		lines = kit.NoteLines(t, w, "Nothing was sent yet.", "Every answer and every message you send is listed here, with what is known of it.")
	}
	return kit.Frame(lines, w, h)
}

func (m *Model) paint(r row, s kit.RowState, w int) []string {
	now := m.env.Now()
	var lines []string
	if d := r.draft; d != nil {
		badge := kit.Cell{Text: m.env.Theme.Glyph.Waiting + " scheduled", Style: m.env.Theme.Info}
		subject := d.Subject.String()
		if subject == "" {
			subject = "(no subject)"
		}
		lines = outgoing.Two(m.env, s, w, badge, d.To.String(), subject, kit.ShortDate(d.SendAt, now),
			"goes out "+outgoing.In(d.SendAt.Sub(now))+", "+d.SendAt.In(now.Location()).Format("Mon 2 Jan 15:04")+" · c takes it off the schedule")
	} else {
		lines = outgoing.Paint(m.env, r.attempt, s, w)
	}
	return lines[:m.rows.Height]
}

// Actions implements kit.Screen.
func (m *Model) Actions() []kit.Action {
	some := kit.When(func() bool { return m.rows.Len() > 0 }, "the list is empty")
	marked := kit.When(func() bool { return len(m.rows.Marked()) > 0 }, "nothing is marked")
	waits := func() (bool, string) {
		r, ok := m.rows.Current()
		return ok && r.waits(), "it does not go out by itself"
	}
	act := func(id, key, title, short string, rank int, enabled func() (bool, string), run func() tea.Cmd) kit.Action {
		return kit.Action{ID: "attempts." + id, Keys: []string{key}, Title: title, Short: short, Group: "Attempts", Rank: rank, Enabled: enabled, Run: run}
	}
	list := []kit.Action{act("open", "enter", "Evidence: everything that is known of it", "evidence", 1, some, m.open)}
	list = append(list, m.again.Actions()...)
	list = append(list,
		act("mark", "x", "Mark or unmark", "mark", 20, some, func() tea.Cmd { return m.rows.ToggleMark() }),
		act("resend-marked", "R", "Resend the marked failed ones", "resend marked", 21, marked, m.bulk),
		act("cancel", "c", "Do not let it go out by itself", "cancel", 22, waits, m.cancel),
		act("filter", "f", "Show only one status…", "filter", 23, nil, m.filter),
	)
	return append(list, m.moves()...)
}

// moves are the list's keys; at the end they read more.
func (m *Model) moves() []kit.Action {
	moves := m.rows.Moves()
	for i := range moves {
		run := moves[i].Run
		moves[i].Run = func() tea.Cmd {
			m.again.Moved()
			cmd := run()
			if m.more() && !m.load.Running && m.rows.Position() == m.rows.Len() {
				m.limit += step
				cmd = tea.Batch(cmd, m.Init())
			}
			return cmd
		}
	}
	return moves
}

func (m *Model) open() tea.Cmd {
	r, ok := m.rows.Current()
	switch {
	case !ok:
		return nil
	case r.draft != nil:
		return kit.Open(kit.MessagePage(kit.KindCompose, r.draft.ID))
	}
	return kit.Open(kit.Page{Kind: kit.KindAttempt, ID: r.attempt.ID})
}

func (m *Model) bulk() tea.Cmd {
	marked := map[string]bool{}
	for _, k := range m.rows.Marked() {
		marked[k] = true
	}
	var list []view.Attempt
	for _, r := range m.rows.Rows() {
		if marked[r.key()] && r.draft == nil {
			list = append(list, r.attempt)
		}
	}
	m.rows.ClearMarks()
	return m.again.Bulk(list)
}

func (m *Model) cancel() tea.Cmd {
	r, _ := m.rows.Current()
	engine := m.engine
	return kit.Call(func(ctx context.Context) (tea.Msg, error) {
		if r.draft != nil {
			if err := engine.ScheduleSend(ctx, r.draft.ID, time.Time{}, false); err != nil {
				return nil, err
			}
			return kit.Notice{Level: kit.Good, Text: "Taken off the schedule: it is a draft again.", Hint: "g d lists the drafts"}, nil
		}
		if err := engine.CancelRetry(ctx, r.attempt.ID); err != nil {
			return nil, err
		}
		return kit.Notice{Level: kit.Good, Text: "It is not tried again by itself.", Hint: "r sends it again"}, nil
	})
}

func (m *Model) filter() tea.Cmd {
	menu := &kit.Menu{Env: m.env, Title: "Show", Foot: "enter show  esc cancel"}
	add := func(label string, s mail.DeliveryStatus) {
		menu.Items = append(menu.Items, kit.Item{Label: label, Run: func() tea.Cmd {
			m.status, m.limit = s, step
			m.rows.ClearMarks()
			return m.Init()
		}})
	}
	add("All attempts", "")
	for _, s := range mail.AllDeliveryStatuses() {
		add(m.env.Theme.Status(s).Text, s)
	}
	return kit.Show(menu)
}
