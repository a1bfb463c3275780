package composer

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"skrzynka/ui/kit"
)

// margin is the column before the text.
const margin = 1

// View implements kit.Screen.
func (m *Model) View(w, h int) string {
	t := m.env.Theme
	switch {
	case m.load.Err != nil && !m.ready:
		return kit.Frame(kit.ErrorLines(t, m.load.Err, w), w, h)
	case !m.ready:
		return kit.Frame(nil, w, h)
	}
	m.cursor, m.fieldAt = nil, map[int]int{}
	lines := m.header(w, h)
	if n := len(m.draft.Attachments); n > 0 && h >= 8 {
		lines = append(lines, m.files(w))
	}
	lines = append(lines, m.status(w))
	if m.problem != nil {
		lines = append(lines, m.problemLines(w, max(1, h/3))...)
	}
	// On a very small screen a field keeps its line and the text the rest.
	if room := h - 1; len(lines) > room {
		lines = lines[:max(0, room)]
	}
	m.bodyTop = len(lines)
	for _, l := range m.body.View(t, max(1, w-margin), max(1, h-len(lines))) {
		lines = append(lines, kit.Spaces(margin)+l)
	}
	if m.at == fieldBody {
		x, y := m.body.Cursor()
		m.cursor = tea.NewCursor(x+margin, y+m.bodyTop)
	}
	return kit.Frame(lines, w, h)
}

// shown are the fields there is room for.
func (m *Model) shown(h int) []int {
	if h < 10 {
		switch {
		case m.at != fieldBody:
			return []int{m.at}
		case h >= 6:
			return []int{fieldTo}
		}
		return nil
	}
	var out []int
	for f := fieldFrom; f <= fieldSubject; f++ {
		if (f == fieldCc || f == fieldBcc) && h < 16 && m.at != f && m.inputs[f].Empty() {
			continue
		}
		out = append(out, f)
	}
	return out
}

func (m *Model) header(w, h int) []string {
	t := m.env.Theme
	label := 8
	if w < 30 {
		label = 4
	}
	room := max(1, w-label-2)
	var lines []string
	for _, f := range m.shown(h) {
		style := t.Dim
		if f == m.at {
			style = t.Accent
		}
		var value string
		x := 0
		if f == fieldFrom {
			value = m.sender(room, f == m.at)
		} else {
			value, x = m.inputs[f].View(t, room)
		}
		if f == m.at {
			m.cursor = tea.NewCursor(label+2+x, len(lines))
			if f == fieldFrom {
				m.cursor = nil
			}
		}
		m.fieldAt[len(lines)] = f
		lines = append(lines, style.Paint(kit.FitRight(names[f], label))+"  "+value)
		if wrong := m.wrong[f]; wrong != "" && h >= 4 {
			for _, l := range kit.Wrap(t.Glyph.Failed+" "+kit.Clean(wrong), room) {
				lines = append(lines, kit.Spaces(label+2)+t.Bad.Paint(l))
			}
		}
	}
	return lines
}

func (m *Model) sender(w int, on bool) string {
	t := m.env.Theme
	who := m.from[m.who]
	text := kit.Clean(formatAddress(who))
	switch {
	case on && len(m.from) > 1:
		return kit.Row(kit.Style{}, w, kit.Cell{Text: "← ", Style: t.Accent}, kit.Cell{Text: kit.Clip(text, max(1, w-4)), Style: t.Strong}, kit.Cell{Text: " →", Style: t.Accent})
	case len(m.from) > 1:
		more := fmt.Sprintf("  (%d of %d)", m.who+1, len(m.from))
		return kit.Row(kit.Style{}, w, kit.Cell{Text: kit.Clip(text, max(1, w-len(more)))}, kit.Cell{Text: more, Style: t.Faint})
	}
	return kit.Fit(text, w)
}

func formatAddress(who identity) string {
	if who.addr.Name == "" {
		return who.addr.Addr
	}
	return who.addr.Name + " <" + who.addr.Addr + ">"
}

// files is one line of what is attached.
func (m *Model) files(w int) string {
	t := m.env.Theme
	var parts []string
	for _, f := range m.draft.Attachments {
		parts = append(parts, kit.Clean(f.Name)+" "+kit.Size(f.Size))
	}
	return kit.Row(kit.Style{}, w, kit.Cell{Text: kit.FitRight(t.Glyph.Attach, 8) + "  ", Style: t.Dim}, kit.Cell{Text: strings.Join(parts, " · ")})
}

// status says what is stored, as far as the engine has confirmed it, and how
// long the text is.
func (m *Model) status(w int) string {
	t := m.env.Theme
	var state kit.Cell
	switch {
	case m.sending:
		state = kit.Cell{Text: "handing to the outbox", Style: t.Info}
	case m.editing:
		state = kit.Cell{Text: "open in the editor", Style: t.Info}
	case m.failed != nil:
		state = kit.Cell{Text: "NOT SAVED: " + kit.Clean(m.failed.Text), Style: t.Bad}
	case m.dirty() && m.saving > 0:
		state = kit.Cell{Text: "saving", Style: t.Dim}
	case m.dirty():
		state = kit.Cell{Text: "not saved yet", Style: t.Dim}
	case m.savedAt.IsZero():
		state = kit.Cell{Text: "saved", Style: t.Dim}
	default:
		state = kit.Cell{Text: "saved " + m.savedAt.Format("15:04:05"), Style: t.Good}
	}
	g := t.Glyph.Horizontal
	count := ""
	if w >= 40 {
		count = " " + plural(m.body.Words(), "word") + ", " + plural(m.body.Chars(), "character") + " " + g
	}
	state.Text = kit.Clip(state.Text, max(0, w-4-kit.Width(count)))
	fill := max(0, w-3-state.Width()-kit.Width(count))
	return kit.Row(kit.Style{}, w, kit.Cell{Text: g + " ", Style: t.Faint}, state,
		kit.Cell{Text: " " + strings.Repeat(g, fill), Style: t.Faint}, kit.Cell{Text: count, Style: t.Faint})
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return kit.Number(n) + " " + word + "s"
}

// problemLines say why it was not sent, and what to do.
func (m *Model) problemLines(w, most int) []string {
	t := m.env.Theme
	var out []string
	for _, l := range kit.Wrap(t.Glyph.Failed+" Not sent: "+kit.Clean(m.problem.Text), max(1, w-2)) {
		out = append(out, " "+t.Bad.Paint(l))
	}
	if m.problem.Hint != "" {
		for _, l := range kit.Wrap(kit.Clean(m.problem.Hint), max(1, w-4)) {
			out = append(out, "   "+t.Dim.Paint(l))
		}
	}
	return out[:min(len(out), most)]
}
