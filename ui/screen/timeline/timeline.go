// Package timeline is the audit log: of one thing, or the whole of it.
package timeline

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
)

// Engine is what the page calls.
type Engine interface {
	Audit(ctx context.Context, subject string, limit int) ([]view.AuditRow, error)
}

// Model is the page.
type Model struct {
	env     *kit.Env
	engine  Engine
	subject string
	limit   int
	load    kit.Load[[]view.AuditRow]
	rows    kit.List[view.AuditRow, int64]
	focus   bool
}

const step = 500

// New makes the page of a subject ("attempt:<id>", "message:<id>", …), or with
// "" of the whole log.
func New(env *kit.Env, engine Engine, subject string) *Model {
	m := &Model{env: env, engine: engine, subject: subject, limit: step}
	m.rows = kit.List[view.AuditRow, int64]{Key: func(r view.AuditRow) int64 { return r.ID }, Paint: m.paint, Height: 2}
	return m
}

// Init reads the newest lines.
func (m *Model) Init() tea.Cmd {
	engine, subject, limit := m.engine, m.subject, m.limit
	return m.load.Start(func(ctx context.Context) ([]view.AuditRow, error) { return engine.Audit(ctx, subject, limit) })
}

// Title implements kit.Screen.
func (m *Model) Title() string {
	if m.subject == "" {
		return "Audit log"
	}
	for _, r := range m.load.Value {
		if r.Subject.String() == m.subject {
			return "Timeline of " + name(r)
		}
	}
	return "Timeline of " + Thing(m.subject)
}

// Focus implements kit.Screen.
func (m *Model) Focus(on bool) { m.focus = on }

// State is the position in the list.
func (m *Model) State() string {
	if m.rows.Len() == 0 {
		return ""
	}
	more := ""
	if m.more() {
		more = "+"
	}
	return fmt.Sprintf("%d/%d%s", m.rows.Position(), m.rows.Len(), more)
}

func (m *Model) more() bool { return m.load.Loaded && m.rows.Len() >= m.limit }

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
		if msg.Topic == view.TopicAudit {
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
	m.rows.Height = 2
	if h < 6 || w >= 140 {
		m.rows.Height = 1
	}
	lines := m.rows.Lines(w, h, m.focus)
	switch {
	case m.rows.Len() > 0:
	case m.load.Err != nil:
		lines = kit.ErrorLines(t, m.load.Err, w)
	case m.load.Loaded:
		lines = kit.NoteLines(t, w, "Nothing is recorded here yet.", "What happens to mail and attempts is written down: when, by whom, and why.")
	}
	return kit.Frame(lines, w, h)
}

func (m *Model) paint(r view.AuditRow, s kit.RowState, w int) []string {
	t, base := m.env.Theme, s.Base(m.env.Theme)
	when := r.At.In(m.env.Zone).Format("2 Jan 15:04:05")
	tw := 15
	if w < 40 {
		when, tw = r.At.In(m.env.Zone).Format("15:04"), 5
	}
	cells := []kit.Cell{{Text: " "}, {Text: kit.FitRight(when, tw), Style: t.Dim}, {Text: "  "}}
	if w >= 60 {
		cells = append(cells, kit.Cell{Text: kit.Fit(string(r.Actor), 9), Style: t.Info}, kit.Cell{Text: " "})
	}
	indent := 0
	for _, c := range cells {
		indent += c.Width()
	}
	says := Sentence(r, m.env)
	if m.subject == "" || r.Subject.String() != m.subject {
		says += " · " + name(r)
	}
	why := r.Why.String()
	if m.rows.Height == 1 {
		if why != "" {
			says += ": " + why
		}
		return []string{kit.Row(base, w, append(cells, kit.Cell{Text: says})...)}
	}
	if why == "" {
		why = move(r, m.env)
	}
	return []string{kit.Row(base, w, append(cells, kit.Cell{Text: says})...),
		kit.Row(base, w, kit.Cell{Text: kit.Spaces(min(indent, w))}, kit.Cell{Text: kit.Clip(why, max(0, w-indent-1)), Style: t.Dim})}
}

// words are the actions as one reads them; %s is the new state.
var words = map[string]string{
	"attempt.opened":        "Stored, to be sent",
	"attempt.adopted":       "Taken over from a process that ended",
	"attempt.claimed":       "Sending began",
	"attempt.handover":      "The whole message was handed to the server",
	"attempt.settled":       "Outcome: %s",
	"attempt.bounced":       "It bounced",
	"attempt.copy_unknown":  "It is not known whether the sent copy was saved",
	"attempt.finding":       "A trace of it was found",
	"attempt.held":          "Held: it waits for a person",
	"attempt.released":      "Let go by a person",
	"attempt.resolved":      "Decided: %s",
	"attempt.retry_stopped": "The outbox does not try again",
	"copy.begun":            "Saving the sent copy began",
	"copy.settled":          "Sent copy: %s",
	"draft.made":            "Draft made",
	"draft.discarded":       "Draft discarded",
	"draft.scheduled":       "Scheduled for %s",
	"draft.unscheduled":     "Taken off the schedule",
	"event.reclassified":    "Class corrected: %s",
	"event.seen_again":      "The same mail was seen again in another place",
	"plan.made":             "Follow-up planned",
	"review.opened":         "Sent to the review queue",
	"step.edited":           "A follow-up step was edited",
	"step.sending":          "A follow-up step is being sent",
	"step.too_late":         "A follow-up step had already gone when this arrived",
	"folder.renumbered":     "The server renumbered the folder: it was read again",
}

// states are the words of a state as one reads them.
var states = map[string]string{
	string(mail.ResolutionSent): "it was sent", string(mail.ResolutionNotSent): "it was not sent", string(mail.ResolutionResent): "it was sent again",
}

// Sentence says what a line of the log is about.
func Sentence(r view.AuditRow, env *kit.Env) string {
	to, from := stateWord(r.To.String(), env), stateWord(r.From.String(), env)
	s, known := words[r.Action]
	switch {
	case known && strings.Contains(s, "%s"):
		return fmt.Sprintf(s, to)
	case known:
		return s
	}
	// An action without a sentence of its own is still readable.
	s = kit.Clean(strings.NewReplacer(".", " ", "_", " ").Replace(r.Action))
	if s != "" {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	switch {
	case from != "" && to != "":
		return s + ": " + from + " → " + to
	case to != "":
		return s + ": " + to
	}
	return s
}

// move is the change of state a line is about, or whose it is.
func move(r view.AuditRow, env *kit.Env) string {
	from, to := stateWord(r.From.String(), env), stateWord(r.To.String(), env)
	if from != "" && to != "" {
		return from + " → " + to
	}
	return kit.Clean(r.Account)
}

func stateWord(s string, env *kit.Env) string {
	if w := states[s]; w != "" {
		return w
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.In(env.Zone).Format("Mon 2 Jan 15:04")
	}
	return s
}

// Thing names a subject for a person.
func Thing(subject string) string {
	kind, id, ok := strings.Cut(subject, ":")
	if !ok {
		return kit.Clean(subject)
	}
	id = kit.Clean(id)
	if kind == "attempt" && len(id) > 8 {
		id = id[:8]
	}
	return kit.Clean(kind) + " " + id
}

// name is the mail a line is about, by its subject line when it has one.
func name(r view.AuditRow) string {
	if r.About.Empty() {
		return Thing(r.Subject.String())
	}
	kind, _, _ := strings.Cut(r.Subject.String(), ":")
	return kit.Clean(kind) + " “" + r.About.String() + "”"
}

// page is where a subject is shown.
func page(subject string) (kit.Page, bool) {
	kind, id, _ := strings.Cut(subject, ":")
	switch kind {
	case "attempt":
		return kit.Page{Kind: kit.KindAttempt, ID: id}, true
	case "message":
		return kit.Page{Kind: kit.KindMessage, ID: id}, true
	case "draft":
		return kit.Page{Kind: kit.KindCompose, ID: id}, true
	}
	return kit.Page{}, false
}

// Actions implements kit.Screen.
func (m *Model) Actions() []kit.Action {
	opens := func() (bool, string) {
		r, ok := m.rows.Current()
		if !ok {
			return false, "the list is empty"
		}
		if r.Action == "draft.discarded" {
			return false, "the draft was discarded"
		}
		_, ok = page(r.Subject.String())
		return ok, "it has no page of its own"
	}
	some := kit.When(func() bool { return m.rows.Len() > 0 }, "the list is empty")
	list := []kit.Action{
		{ID: "timeline.open", Keys: []string{"enter"}, Title: "Open what the line is about", Short: "open", Group: "Timeline", Rank: 1, Enabled: opens, Run: m.open},
		{ID: "timeline.subject", Keys: []string{"L"}, Title: "Only what is about the same", Short: "timeline", Group: "Timeline", Rank: 2, Enabled: some, Run: func() tea.Cmd {
			r, _ := m.rows.Current()
			return kit.Open(kit.Page{Kind: kit.KindAudit, ID: r.Subject.String()})
		}},
	}
	moves := m.rows.Moves()
	for i := range moves {
		run := moves[i].Run
		moves[i].Run = func() tea.Cmd {
			cmd := run()
			if m.more() && !m.load.Running && m.rows.Position() == m.rows.Len() {
				m.limit += step
				cmd = tea.Batch(cmd, m.Init())
			}
			return cmd
		}
	}
	return append(list, moves...)
}

func (m *Model) open() tea.Cmd {
	r, ok := m.rows.Current()
	if !ok {
		return nil
	}
	p, ok := page(r.Subject.String())
	if !ok {
		return nil
	}
	return kit.Open(p)
}
