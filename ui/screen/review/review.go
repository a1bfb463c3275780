// Package review is the queue of mail that could not be mapped with certainty:
// a person sets the class with a digit, ties it to an attempt or a contact, or
// ignores it. Nothing is applied before that.
package review

import (
	"context"
	"fmt"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/screen/outgoing"
)

// Engine is what the page calls.
type Engine interface {
	ReviewItems(ctx context.Context) ([]view.Event, error)
	Reclassify(ctx context.Context, id int64, r view.Reclassify) (view.Event, error)
	IgnoreReview(ctx context.Context, id int64, note string) (view.Event, error)
	Attempts(ctx context.Context, f view.AttemptFilter) ([]view.Attempt, error)
	Contacts(ctx context.Context, account string) ([]view.Contact, error)
}

// Classes are what the digits set, in their order.
func Classes() []mail.InboundClass { return mail.AllInboundClasses()[:9] }

// names are the classes as a person reads them.
var names = map[mail.InboundClass]string{
	mail.ClassHumanReply: "a person's answer", mail.ClassHumanMail: "other mail of a person", mail.ClassAutoReply: "an automatic answer",
	mail.ClassAutoAck: "an acknowledgement", mail.ClassBounceHard: "a bounce: no such address", mail.ClassBounceSoft: "a bounce that may pass",
	mail.ClassDSNSuccess: "a delivery report", mail.ClassMDN: "a read receipt", mail.ClassListOrBulk: "a list or newsletter",
	mail.ClassComplaint: "a complaint", mail.ClassOwn: "mail of my own", mail.ClassUnmapped: "not mapped", mail.ClassUnparsed: "not readable",
}

// Model is the page.
type Model struct {
	env    *kit.Env
	engine Engine
	load   kit.Load[[]view.Event]
	search kit.Load[ties]
	rows   kit.List[view.Event, int64]
	tied   map[int64]tie
	focus  bool
}

// tie is what an item is about, as a person said.
type tie struct{ attempt, contact, label string }

// ties are what an item can be tied to.
type ties struct {
	id       int64
	attempts []view.Attempt
	contacts []view.Contact
}

// New makes the page.
func New(env *kit.Env, engine Engine) *Model {
	m := &Model{env: env, engine: engine, tied: map[int64]tie{}}
	m.rows = kit.List[view.Event, int64]{Key: func(e view.Event) int64 { return e.ID }, Paint: m.paint, Height: 2}
	return m
}

// Init reads what waits.
func (m *Model) Init() tea.Cmd {
	engine := m.engine
	return m.load.Start(func(ctx context.Context) ([]view.Event, error) { return engine.ReviewItems(ctx) })
}

// Title implements kit.Screen.
func (m *Model) Title() string { return "Review queue" }

// Focus implements kit.Screen.
func (m *Model) Focus(on bool) { m.focus = on }

// State is the position in the list.
func (m *Model) State() string {
	if m.rows.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", m.rows.Position(), m.rows.Len())
}

type resolved struct{ m *Model }

// Update implements kit.Screen.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	if m.load.Take(msg) {
		if m.load.Err == nil {
			m.rows.SetRows(m.load.Value)
		}
		return nil
	}
	if m.search.Take(msg) {
		if m.search.Err != nil {
			return kit.Fail(m.search.Err)
		}
		return m.chooseTie(m.search.Value)
	}
	switch msg := msg.(type) {
	case view.Change:
		if msg.Topic == view.TopicReview {
			return m.Init()
		}
	case resolved:
		if msg.m == m {
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
	if h < 6 {
		m.rows.Height = 1
	}
	switch {
	case m.rows.Len() == 0 && m.load.Err != nil:
		return kit.Frame(kit.ErrorLines(t, m.load.Err, w), w, h)
	case m.rows.Len() == 0 && m.load.Loaded:
		return kit.Frame(kit.NoteLines(t, w, "Nothing waits for review.", "Mail that cannot be mapped with certainty comes here, and changes nothing until you have looked."), w, h)
	case m.rows.Len() == 0:
		return kit.Frame(nil, w, h)
	}
	detail := m.detail(w, h)
	room := h - len(detail)
	lines := m.rows.Lines(w, room, m.focus)
	for len(lines) < room {
		lines = append(lines, "")
	}
	return kit.Frame(append(lines, detail...), w, h)
}

// detail says, where there is room, why the item under the cursor waits and
// what the digits mean.
func (m *Model) detail(w, h int) []string {
	e, ok := m.rows.Current()
	if !ok || h < 14 {
		return nil
	}
	t := m.env.Theme
	rule := ""
	for range w {
		rule += t.Glyph.Horizontal
	}
	lines := []string{t.Faint.Paint(rule)}
	add := func(style kit.Style, s string) {
		for _, l := range kit.Wrap(kit.Clean(s), max(1, w-4)) {
			lines = append(lines, "  "+style.Paint(l))
		}
	}
	add(t.Warn, "Taken for "+names[e.Class]+": "+e.ReviewWhy.String()+".")
	for i, r := range e.Reasons {
		if i == 3 {
			break
		}
		add(t.Dim, "because "+r.String())
	}
	if tied := m.tied[e.ID]; tied.label != "" {
		add(t.Info, "Tied to "+tied.label+". Now say what it is.")
	}
	half := (len(Classes()) + 1) / 2
	for i := range half {
		left := fmt.Sprintf("%d %s", i+1, names[Classes()[i]])
		right := ""
		if j := i + half; j < len(Classes()) {
			right = fmt.Sprintf("%d %s", j+1, names[Classes()[j]])
		}
		lines = append(lines, "  "+t.Text.Paint(kit.Fit(left, max(1, (w-4)/2))+kit.Clip(right, max(1, (w-4)/2))))
	}
	return lines[:min(len(lines), h/2+2)]
}

func (m *Model) paint(e view.Event, s kit.RowState, w int) []string {
	t := m.env.Theme
	why := e.ReviewWhy.String()
	if tied := m.tied[e.ID]; tied.label != "" {
		why = "tied to " + tied.label + " · " + why
	}
	return outgoing.Two(m.env, s, w, kit.Cell{Text: t.Glyph.Uncertain + " " + e.Class.String(), Style: t.Warn}, e.From.String(), e.Subject.String(),
		kit.Ago(e.Received, m.env.Now()), why)[:m.rows.Height]
}

// Actions implements kit.Screen.
func (m *Model) Actions() []kit.Action {
	some := kit.When(func() bool { return m.rows.Len() > 0 }, "nothing waits")
	act := func(id, key, title, short string, rank int, enabled func() (bool, string), run func() tea.Cmd) kit.Action {
		return kit.Action{ID: "review." + id, Keys: []string{key}, Title: title, Short: short, Group: "Review", Rank: rank, Enabled: enabled, Run: run}
	}
	list := []kit.Action{
		act("open", "enter", "Open the message", "open", 1, func() (bool, string) {
			e, ok := m.rows.Current()
			return ok && e.MessageID != nil, "the message is not stored any more"
		}, m.open),
		act("tie", "t", "Tie it to an attempt or a contact…", "tie", 2, some, m.tie),
		act("ignore", "i", "Ignore it: it means nothing", "ignore", 3, some, m.ignore),
		act("timeline", "L", "Timeline: what it caused", "timeline", 4, some, func() tea.Cmd {
			e, _ := m.rows.Current()
			return kit.Open(kit.Page{Kind: kit.KindAudit, ID: "event:" + strconv.FormatInt(e.ID, 10)})
		}),
	}
	for i, class := range Classes() {
		a := act("class-"+class.String(), strconv.Itoa(i+1), "It is "+names[class], "", 0, some, func() tea.Cmd { return m.set(class) })
		if i == 0 {
			a.Short, a.Rank = "1-9 class", 5
		}
		list = append(list, a)
	}
	return append(list, m.rows.Moves()...)
}

func (m *Model) open() tea.Cmd {
	e, ok := m.rows.Current()
	if !ok || e.MessageID == nil {
		return nil
	}
	return kit.Open(kit.Page{Kind: kit.KindMessage, ID: *e.MessageID})
}

// resolve runs f on the item under the cursor and says what came of it.
func (m *Model) resolve(says string, f func(ctx context.Context, e view.Event) (view.Event, error)) tea.Cmd {
	e, ok := m.rows.Current()
	if !ok {
		return nil
	}
	return func() tea.Msg {
		got, err := f(context.Background(), e)
		if err != nil {
			return tea.BatchMsg{kit.Fail(err), kit.Send(resolved{m})}
		}
		text := says
		if !got.Outcome.Empty() && got.Class != "" {
			text += ": " + got.Outcome.String()
		}
		return tea.BatchMsg{kit.Send(kit.Notice{Level: kit.Good, Text: text + "."}), kit.Send(resolved{m})}
	}
}

func (m *Model) set(class mail.InboundClass) tea.Cmd {
	e, _ := m.rows.Current()
	engine, tied := m.engine, m.tied[e.ID]
	return m.resolve("Recorded as "+names[class], func(ctx context.Context, e view.Event) (view.Event, error) {
		return engine.Reclassify(ctx, e.ID, view.Reclassify{Class: class, Attempt: tied.attempt, Contact: tied.contact, Note: "decided in the review queue"})
	})
}

func (m *Model) ignore() tea.Cmd {
	engine := m.engine
	return m.resolve("Ignored", func(ctx context.Context, e view.Event) (view.Event, error) {
		got, err := engine.IgnoreReview(ctx, e.ID, "")
		got.Class = ""
		return got, err
	})
}

// tie reads what there is to tie the item to.
func (m *Model) tie() tea.Cmd {
	e, _ := m.rows.Current()
	engine := m.engine
	return m.search.Start(func(ctx context.Context) (ties, error) {
		list, err := engine.Attempts(ctx, view.AttemptFilter{Account: e.Account, Limit: 500})
		if err != nil {
			return ties{}, err
		}
		contacts, err := engine.Contacts(ctx, e.Account)
		return ties{e.ID, list, contacts}, err
	})
}

func (m *Model) chooseTie(found ties) tea.Cmd {
	menu := &kit.Menu{Env: m.env, Title: "What is it about?", Placeholder: "type a subject or an address", Empty: "nothing was sent yet",
		Foot: "enter tie  esc cancel"}
	set := func(t tie) func() tea.Cmd {
		return func() tea.Cmd {
			m.tied[found.id] = t
			return kit.Say(kit.Info, "Tied to "+t.label+". Now say what it is, with a digit.")
		}
	}
	for _, a := range found.attempts {
		label := outgoing.Subject(a) + ", to " + outgoing.Recipients(a)
		menu.Items = append(menu.Items, kit.Item{Label: label, Right: kit.ShortDate(a.CreatedAt, m.env.Now()), Run: set(tie{attempt: a.ID, label: label})})
	}
	for _, c := range found.contacts {
		address := c.Address.String()
		menu.Items = append(menu.Items, kit.Item{Label: address, Right: c.State.String(), Run: set(tie{contact: address, label: address})})
	}
	return kit.Show(menu)
}
