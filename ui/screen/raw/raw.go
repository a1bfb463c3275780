// Package raw shows a message as the server holds it, cleaned for the terminal
// and otherwise as it is.
package raw

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail/safe"
	"skrzynka/ui/kit"
)

// Engine is what the page reads.
type Engine interface {
	Raw(ctx context.Context, id int64) ([]byte, error)
}

// shown is how many octets of a message are laid out.
const shown = 1 << 20

// Model is the page.
type Model struct {
	env    *kit.Env
	engine Engine
	id     int64
	load   kit.Load[source]
	scroll kit.Scroll
	lines  []string
	width  int
}

type source struct {
	text []safe.Text
	size int
}

// New makes the page of a message.
func New(env *kit.Env, engine Engine, id int64) *Model {
	return &Model{env: env, engine: engine, id: id}
}

// Init reads the source.
func (m *Model) Init() tea.Cmd {
	return m.load.Start(func(ctx context.Context) (source, error) {
		b, err := m.engine.Raw(ctx, m.id)
		return source{safe.Block(string(b[:min(len(b), shown)])).Lines(), len(b)}, err
	})
}

// Title implements kit.Screen.
func (m *Model) Title() string { return fmt.Sprintf("Raw source of message %d", m.id) }

// State is how far the text was scrolled.
func (m *Model) State() string {
	if !m.load.Loaded {
		return ""
	}
	return kit.Size(int64(m.load.Value.size)) + "  " + m.scroll.State()
}

// Focus implements kit.Screen.
func (m *Model) Focus(bool) {}

// Update implements kit.Screen.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	if m.load.Take(msg) {
		m.lines = nil
	}
	if wheel, ok := msg.(tea.MouseWheelMsg); ok {
		m.scroll.Move(kit.WheelStep(wheel))
	}
	return nil
}

// Actions implements kit.Screen.
func (m *Model) Actions() []kit.Action { return m.scroll.Moves() }

// View implements kit.Screen.
func (m *Model) View(w, h int) string {
	if m.load.Err != nil {
		return kit.Frame(kit.ErrorLines(m.env.Theme, m.load.Err, w), w, h)
	}
	if m.lines == nil || m.width != w {
		m.lay(w)
	}
	from, to := m.scroll.Window(len(m.lines), h)
	return kit.Frame(m.lines[from:to], w, h)
}

func (m *Model) lay(w int) {
	m.width, m.lines = w, make([]string, 0, len(m.load.Value.text))
	for _, l := range m.load.Value.text {
		for _, part := range kit.Wrap(l.String(), max(8, w-3)) {
			m.lines = append(m.lines, "  "+part)
		}
	}
	if rest := m.load.Value.size - shown; rest > 0 {
		m.lines = append(m.lines, "", m.env.Theme.Dim.Paint("  "+kit.Size(int64(rest))+" more; the raw command prints all of it."))
	}
}
