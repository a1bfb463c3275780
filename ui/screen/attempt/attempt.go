// Package attempt is the page of one attempt: everything that is known of it.
package attempt

import (
	"context"
	"strconv"
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
	Attempt(ctx context.Context, id string) (view.Attempt, error)
	Chain(ctx context.Context, id string) ([]view.Attempt, error)
	CopyAttempt(ctx context.Context, id string) (view.Attempt, error)
	CancelRetry(ctx context.Context, id string) error
	ReleaseHold(ctx context.Context, id string) error
}

// Model is the page.
type Model struct {
	env    *kit.Env
	engine Engine
	id     string

	load    kit.Load[loaded]
	again   outgoing.Again
	copying bool
	scroll  kit.Scroll
	ticking bool
	lines   []string
	drawn   drawn
}

type loaded struct {
	attempt view.Attempt
	chain   []view.Attempt
}

// drawn is what the lines were drawn for.
type drawn struct {
	w      int
	second int64
}

// New makes the page of an attempt.
func New(env *kit.Env, engine Engine, id string) *Model {
	m := &Model{env: env, engine: engine, id: id}
	m.again = outgoing.Again{Env: env, Engine: engine, Target: m.current, Done: func(string) tea.Cmd { return m.Init() }}
	return m
}

// Init reads the attempt and its lineage.
func (m *Model) Init() tea.Cmd {
	engine, id := m.engine, m.id
	return m.load.Start(func(ctx context.Context) (loaded, error) {
		a, err := engine.Attempt(ctx, id)
		if err != nil {
			return loaded{}, err
		}
		chain, err := engine.Chain(ctx, id)
		return loaded{a, chain}, err
	})
}

func (m *Model) current() (view.Attempt, bool) { return m.load.Value.attempt, m.load.Loaded }

// Title implements kit.Screen.
func (m *Model) Title() string {
	if a, ok := m.current(); ok {
		return "Attempt: " + outgoing.Subject(a)
	}
	return "Attempt"
}

// Focus implements kit.Screen.
func (m *Model) Focus(bool) {}

// State says how far the text is scrolled.
func (m *Model) State() string { return m.scroll.State() }

type (
	tick   struct{ m *Model }
	copied struct {
		m   *Model
		err error
		got view.Attempt
	}
)

// Update implements kit.Screen.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	if m.load.Take(msg) {
		m.lines = nil
		return m.count()
	}
	if taken, cmd := m.again.Update(msg); taken {
		return cmd
	}
	switch msg := msg.(type) {
	case view.Change:
		if msg.Topic == view.TopicAttempts {
			return m.Init()
		}
	case kit.ThemeChanged:
		m.lines = nil
	case tick:
		if msg.m == m {
			m.ticking = false
			return m.count()
		}
	case copied:
		if msg.m == m {
			return m.afterCopy(msg)
		}
	case tea.MouseWheelMsg:
		m.scroll.Move(kit.WheelStep(msg))
	}
	return nil
}

// count draws the page anew every second while something is waited for.
func (m *Model) count() tea.Cmd {
	if a, ok := m.current(); !ok || a.NextTryAt == nil || m.ticking {
		return nil
	}
	m.ticking = true
	return m.env.After(time.Second, tick{m})
}

// View implements kit.Screen.
func (m *Model) View(w, h int) string {
	t := m.env.Theme
	a, ok := m.current()
	switch {
	case m.load.Err != nil && !ok:
		return kit.Frame(kit.ErrorLines(t, m.load.Err, w), w, h)
	case !ok:
		return kit.Frame(nil, w, h)
	}
	d := drawn{w: w}
	if a.NextTryAt != nil {
		d.second = m.env.Now().Unix()
	}
	if d != m.drawn || m.lines == nil {
		m.lines, m.drawn = outgoing.Evidence(m.env, a, m.load.Value.chain, w), d
	}
	from, to := m.scroll.Window(len(m.lines), h)
	return kit.Frame(m.lines[from:to], w, h)
}

// Actions implements kit.Screen.
func (m *Model) Actions() []kit.Action {
	is := func(f func(a view.Attempt) bool, why string) func() (bool, string) {
		return func() (bool, string) {
			a, ok := m.current()
			switch {
			case !ok:
				return false, "the attempt is not here yet"
			case !f(a):
				return false, why
			}
			return true, ""
		}
	}
	act := func(id, key, title, short string, rank int, enabled func() (bool, string), run func() tea.Cmd) kit.Action {
		return kit.Action{ID: "attempt." + id, Keys: []string{key}, Title: title, Short: short, Group: "Attempt", Rank: rank, Enabled: enabled, Run: run}
	}
	copying := is(func(a view.Attempt) bool { return outgoing.CopyHint(a) != "" && !m.copying }, "nothing is to be done about its sent copy")
	list := append(m.again.Actions(),
		act("review", "v", "Decide what became of it", "review", 12, is(func(a view.Attempt) bool {
			return a.Status == mail.StatusUncertain && a.Resolution == nil
		}, "it is not uncertain, or decided"), func() tea.Cmd { return kit.Open(kit.Page{Kind: kit.KindUncertain, ID: m.id}) }),
		act("copy", "C", "Sent copy: look for it, or save it again", "copy", 13, copying, m.copy),
		act("cancel", "c", "Do not try again by itself", "cancel", 15, is(func(a view.Attempt) bool { return a.NextTryAt != nil }, "the outbox does not try again"), m.cancel),
		act("release", "H", "Let a held attempt go", "let go", 0, is(func(a view.Attempt) bool { return a.Held != "" && a.Status == mail.StatusPending }, "it is not held"), m.release),
		act("message", "o", "Open the answered message", "message", 0, is(func(a view.Attempt) bool { return a.MessageID != nil }, "it answers no message"), m.message),
		act("earlier", "[", "Earlier attempt of the chain", "earlier", 0, m.has(-1, "this is the first of the chain"), func() tea.Cmd { return m.step(-1) }),
		act("later", "]", "Later attempt of the chain", "later", 0, m.has(1, "this is the newest of the chain"), func() tea.Cmd { return m.step(1) }),
	)
	return append(list, m.scroll.Moves()...)
}

func (m *Model) cancel() tea.Cmd {
	engine, id := m.engine, m.id
	return kit.Call(func(ctx context.Context) (tea.Msg, error) {
		if err := engine.CancelRetry(ctx, id); err != nil {
			return nil, err
		}
		return kit.Notice{Level: kit.Good, Text: "It is not tried again by itself.", Hint: "r sends it again"}, nil
	})
}

// release asks first: what is held may have been sent already.
func (m *Model) release() tea.Cmd {
	a, _ := m.current()
	engine, id := m.engine, m.id
	return kit.Show(&kit.Confirm{Env: m.env, Title: "Let it go?", Text: []string{a.Says.String(), "Look whether it was sent before: if it was, it is delivered twice."},
		Choices: []kit.Choice{
			{Key: "n", Label: "Keep it held"},
			{Key: "y", Label: "Send it", Danger: true, Run: func() tea.Cmd {
				return kit.Call(func(ctx context.Context) (tea.Msg, error) { return nil, engine.ReleaseHold(ctx, id) })
			}},
		}})
}

func (m *Model) copy() tea.Cmd {
	m.copying = true
	engine, id := m.engine, m.id
	return tea.Batch(kit.Say(kit.Info, "Asking the server"), func() tea.Msg {
		got, err := engine.CopyAttempt(context.Background(), id)
		return copied{m: m, got: got, err: err}
	})
}

func (m *Model) afterCopy(c copied) tea.Cmd {
	m.copying = false
	if c.err != nil {
		return tea.Batch(kit.Fail(c.err), m.Init())
	}
	n := kit.Notice{Level: kit.Good, Text: "The sent copy is " + c.got.SentCopy.Status.String() + "."}
	if c.got.SentCopy.Status != mail.CopySaved {
		n.Level = kit.Warn
		if c.got.SentCopy.ErrorMessage != nil {
			n.Hint = c.got.SentCopy.ErrorMessage.String()
		}
	}
	return tea.Batch(kit.Send(n), m.Init())
}

func (m *Model) message() tea.Cmd {
	a, _ := m.current()
	id, err := strconv.ParseInt(*a.MessageID, 10, 64)
	if err != nil {
		return nil
	}
	return kit.Open(kit.MessagePage(kit.KindMessage, id))
}

// near is the attempt before or after this one in the chain.
func (m *Model) near(step int) (string, bool) {
	for i, a := range m.load.Value.chain {
		if j := i + step; a.ID == m.id && j >= 0 && j < len(m.load.Value.chain) {
			return m.load.Value.chain[j].ID, true
		}
	}
	return "", false
}

func (m *Model) has(step int, why string) func() (bool, string) {
	return func() (bool, string) {
		_, ok := m.near(step)
		return ok, why
	}
}

// step shows another attempt of the chain in place of this one.
func (m *Model) step(by int) tea.Cmd {
	id, ok := m.near(by)
	if !ok {
		return nil
	}
	return kit.Replace(kit.Page{Kind: kit.KindAttempt, ID: id})
}
