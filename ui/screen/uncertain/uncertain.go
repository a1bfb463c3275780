// Package uncertain walks through the attempts of which it is not known whether
// they were accepted: one at a time, with the evidence, until a person decided.
package uncertain

import (
	"context"
	"fmt"
	"slices"

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
	Probe(ctx context.Context, id string) (view.Probe, error)
	Resolve(ctx context.Context, id string, r mail.Resolution) (view.Attempt, error)
}

// Model is the page.
type Model struct {
	env    *kit.Env
	engine Engine
	load   kit.Load[[]view.Attempt]

	id      string // the one shown, "" for the first
	at      int
	again   outgoing.Again
	probing map[string]bool
	probes  map[string]probe
	busy    map[string]bool // a decision is being recorded
	decided map[string]bool // recorded: it must not be shown again while the list is read
	scroll  kit.Scroll
	lines   []string
	w       int
}

// probe is what a look found, or why it could not be made.
type probe struct {
	found view.Probe
	err   *mail.Error
}

// New makes the page; id "" begins with the first, else with that attempt.
func New(env *kit.Env, engine Engine, id string) *Model {
	m := &Model{env: env, engine: engine, id: id, probing: map[string]bool{}, probes: map[string]probe{}, busy: map[string]bool{}, decided: map[string]bool{}}
	m.again = outgoing.Again{Env: env, Engine: engine, Target: m.current, Done: func(old string) tea.Cmd { return m.next(old, "") }}
	return m
}

// Init reads the undecided ones.
func (m *Model) Init() tea.Cmd {
	engine := m.engine
	return m.load.Start(func(ctx context.Context) ([]view.Attempt, error) {
		return engine.Attempts(ctx, view.AttemptFilter{Status: mail.StatusUncertain, Open: true, Limit: 1000})
	})
}

func (m *Model) list() []view.Attempt { return m.load.Value }

func (m *Model) current() (view.Attempt, bool) {
	if m.at < len(m.list()) {
		return m.list()[m.at], true
	}
	return view.Attempt{}, false
}

// find puts the cursor on the attempt that was shown; where it is gone, on the
// one that took its place.
func (m *Model) find() {
	m.load.Value = slices.DeleteFunc(m.load.Value, func(a view.Attempt) bool { return m.decided[a.ID] })
	if i := slices.IndexFunc(m.list(), func(a view.Attempt) bool { return a.ID == m.id }); i >= 0 {
		m.at = i
	}
	m.show(m.at)
}

// show shows the one at an index.
func (m *Model) show(i int) {
	m.at = max(0, min(i, len(m.list())-1))
	m.lines = nil
	if a, ok := m.current(); ok && a.ID != m.id {
		m.id = a.ID
		m.scroll.Reset()
	}
}

// Title implements kit.Screen.
func (m *Model) Title() string { return "Uncertain: review" }

// Focus implements kit.Screen.
func (m *Model) Focus(bool) {}

// State is which one is shown, of how many.
func (m *Model) State() string {
	if len(m.list()) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", m.at+1, len(m.list()))
}

type (
	probed struct {
		m   *Model
		id  string
		res probe
	}
	resolved struct {
		m   *Model
		old view.Attempt
		as  mail.Resolution
		err error
	}
)

// Update implements kit.Screen.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	if m.load.Take(msg) {
		m.find()
		return nil
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
	case probed:
		if msg.m == m {
			delete(m.probing, msg.id)
			m.probes[msg.id] = msg.res
			m.lines = nil
			if msg.res.found.Proven {
				return m.Init()
			}
		}
	case resolved:
		if msg.m == m {
			return m.afterResolve(msg)
		}
	case tea.MouseWheelMsg:
		m.scroll.Move(kit.WheelStep(msg))
	}
	return nil
}

func (m *Model) probe() tea.Cmd {
	a, _ := m.current()
	m.probing[a.ID] = true
	m.lines = nil
	engine := m.engine
	return func() tea.Msg {
		found, err := engine.Probe(context.Background(), a.ID)
		return probed{m, a.ID, probe{found, mail.AsError(err)}}
	}
}

func (m *Model) resolve(as mail.Resolution) tea.Cmd {
	a, _ := m.current()
	m.busy[a.ID] = true
	engine := m.engine
	return func() tea.Msg {
		_, err := engine.Resolve(context.Background(), a.ID, as)
		return resolved{m, a, as, err}
	}
}

func (m *Model) afterResolve(r resolved) tea.Cmd {
	delete(m.busy, r.old.ID)
	if r.err != nil {
		return tea.Batch(kit.Fail(r.err), m.Init())
	}
	says := "Recorded: it was sent."
	if r.as == mail.ResolutionNotSent {
		says = "Recorded: it was not sent."
	}
	return m.next(r.old.ID, says)
}

// next leaves a decided one and says what is left.
func (m *Model) next(old, says string) tea.Cmd {
	m.decided[old] = true
	m.find()
	if says == "" {
		return m.Init()
	}
	left := "Nothing uncertain is left."
	if n := len(m.list()); n > 0 {
		left = fmt.Sprintf("%d left.", n)
	}
	return tea.Batch(m.Init(), kit.Send(kit.Notice{Level: kit.Good, Text: says + " " + left}))
}

// View implements kit.Screen.
func (m *Model) View(w, h int) string {
	t := m.env.Theme
	a, ok := m.current()
	switch {
	case !ok && m.load.Err != nil:
		return kit.Frame(kit.ErrorLines(t, m.load.Err, w), w, h)
	case !ok && m.load.Loaded:
		return kit.Frame(kit.NoteLines(t, w, "Nothing is uncertain.", "When it cannot be known whether a message was accepted, it waits here for your decision."), w, h)
	case !ok:
		return kit.Frame(nil, w, h)
	}
	if m.lines == nil || m.w != w {
		m.lines, m.w = m.draw(a, w), w
	}
	from, to := m.scroll.Window(len(m.lines), h)
	return kit.Frame(m.lines[from:to], w, h)
}

// draw puts what was found before the evidence.
func (m *Model) draw(a view.Attempt, w int) []string {
	lines := m.probeLines(a, w)
	if len(lines) > 0 {
		lines = append(lines, "")
	}
	return append(lines, outgoing.Evidence(m.env, a, nil, w)...)
}

func (m *Model) probeLines(a view.Attempt, w int) []string {
	t := m.env.Theme
	var lines []string
	add := func(style kit.Style, indent int, text string) {
		for _, l := range kit.Wrap(kit.Clean(text), max(1, w-indent-1)) {
			lines = append(lines, kit.Spaces(indent)+style.Paint(l))
		}
	}
	p, looked := m.probes[a.ID]
	switch {
	case m.probing[a.ID]:
		add(t.Info, 1, t.Glyph.Sync+" Looking in the stored mail and on the server")
		return lines
	case !looked:
		return nil
	case p.err != nil:
		add(t.Bad, 1, "The probe could not be made: "+p.err.Error())
		add(t.Dim, 1, "That proves nothing either way.")
		return lines
	}
	add(t.Strong, 1, "Probe")
	for _, l := range p.found.Looked {
		mark, style, note := t.Glyph.Dot, t.Dim, l.Note.String()
		switch {
		case l.Error != nil:
			mark, style, note = t.Glyph.Failed, t.Warn, "could not be searched: "+l.Error.Text
		case l.Found:
			mark, style = t.Glyph.Sent, t.Good
			if note == "" {
				note = "found"
			}
		case note == "":
			note = "not found"
		}
		add(style, 2, mark+" "+l.Place.String()+": "+note)
	}
	style := t.Warn
	if p.found.Proven {
		style = t.Good
	}
	add(style, 1, p.found.Sentence.String())
	return lines
}

// Actions implements kit.Screen.
func (m *Model) Actions() []kit.Action {
	one := func() (bool, string) {
		a, ok := m.current()
		switch {
		case !ok:
			return false, "nothing is uncertain"
		case m.busy[a.ID]:
			return false, "your decision is being recorded"
		}
		return true, ""
	}
	act := func(id, key, title, short string, rank int, enabled func() (bool, string), run func() tea.Cmd) kit.Action {
		return kit.Action{ID: "uncertain." + id, Keys: []string{key}, Title: title, Short: short, Group: "Uncertain", Rank: rank, Enabled: enabled, Run: run}
	}
	list := []kit.Action{
		act("probe", "p", "Probe: look for traces of it", "probe", 1, func() (bool, string) {
			if a, ok := m.current(); ok && m.probing[a.ID] {
				return false, "it is being looked for"
			}
			return one()
		}, m.probe),
		act("sent", "y", "Confirm that it was sent", "was sent", 2, one, func() tea.Cmd { return m.resolve(mail.ResolutionSent) }),
		act("not-sent", "n", "Confirm that it was not sent", "was not", 3, one, func() tea.Cmd { return m.resolve(mail.ResolutionNotSent) }),
		act("next", "j", "Next uncertain one", "next", 4, kit.When(func() bool { return m.at+1 < len(m.list()) }, "this is the last"), func() tea.Cmd { m.show(m.at + 1); m.again.Moved(); return nil }),
		act("before", "k", "Uncertain one before", "before", 5, kit.When(func() bool { return m.at > 0 }, "this is the first"), func() tea.Cmd { m.show(m.at - 1); m.again.Moved(); return nil }),
		act("open", "enter", "Its own page", "page", 0, one, func() tea.Cmd { return kit.Open(kit.Page{Kind: kit.KindAttempt, ID: m.id}) }),
	}
	list = append(list, m.again.Actions()...)
	for _, a := range m.scroll.Moves() {
		a.Keys = slices.DeleteFunc(slices.Clone(a.Keys), func(k string) bool { return k == "j" || k == "k" })
		list = append(list, a)
	}
	return list
}
