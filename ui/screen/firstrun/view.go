package firstrun

import (
	tea "charm.land/bubbletea/v2"

	"skrzynka/ui/kit"
	"skrzynka/ui/screen/accounts"
)

// View implements kit.Screen.
func (m *Model) View(w, h int) string {
	if m.add {
		return m.formView(w, h)
	}
	t := m.env.Theme
	lines := kit.NoteLines(t, w, "There is no account yet.", "Skrzynka reads mail over IMAP and sends it over SMTP, and never claims more about a sent message than the evidence proves.")
	lines = append(lines, "")
	if h < 8 {
		lines = nil
	}
	for i, c := range []struct{ key, label, detail string }{
		{"d", "Look at the demo", "a sample mailbox with its own servers inside this program; nothing leaves this machine"},
		{"a", "Add an account", "address, password and servers; they are tested before anything is stored"},
	} {
		base, mark := kit.Style{}, "  "
		if i == m.at {
			base, mark = t.Select, t.Glyph.Pointer+" "
		}
		lines = append(lines, kit.Row(base, w, kit.Cell{Text: " " + mark, Style: t.Accent}, kit.Cell{Text: c.key + "  ", Style: t.Key}, kit.Cell{Text: c.label, Style: t.Strong}))
		if h >= 8 {
			for _, l := range kit.Wrap(c.detail, max(1, w-8)) {
				lines = append(lines, "      "+t.Dim.Paint(l))
			}
		}
	}
	return kit.Frame(lines, w, h)
}

// formView draws the form and under it the test, scrolled so that the field with
// the focus is visible.
func (m *Model) formView(w, h int) string {
	t := m.env.Theme
	lines := m.form.Lines(t, w)
	cursor := m.form.Cursor()
	if m.note != "" {
		for _, l := range kit.Wrap(kit.Clean(m.note), max(1, w-3)) {
			lines = append(lines, " "+t.Info.Paint(l))
		}
	}
	lines = append(lines, m.result(w)...)
	top := 0
	switch {
	case m.running || m.saving || len(m.checks) > 0 && m.tested == m.fingerprint():
		top = max(0, len(lines)-h) // the result is what one waits for
	case cursor != nil && cursor.Y >= h:
		top = cursor.Y - h + 1
	case cursor == nil:
		top = min(m.form.At(), max(0, len(lines)-h))
	}
	if top > 0 && cursor != nil && cursor.Y < top && m.Typing() && len(m.checks) == 0 {
		top = cursor.Y
	}
	m.cursor = nil
	if cursor != nil && cursor.Y >= top && cursor.Y < top+h {
		m.cursor = tea.NewCursor(cursor.X, cursor.Y-top)
	}
	return kit.Frame(lines[top:], w, h)
}

func (m *Model) result(w int) []string {
	t := m.env.Theme
	line := func(style kit.Style, text string) string { return " " + style.Paint(kit.Clip(text, max(1, w-2))) }
	switch {
	case m.running:
		return []string{"", line(t.Info, t.Glyph.Sync+" Testing the connection")}
	case m.saving:
		return []string{"", line(t.Info, t.Glyph.Sync+" Saving")}
	case m.failed != nil:
		return kit.ErrorLines(t, m.failed, w)
	case len(m.checks) == 0:
		return []string{"", line(t.Faint, "ctrl+s tests the connection, then saves")}
	case m.tested != m.fingerprint():
		return []string{"", line(t.Faint, "Changed since the test: ctrl+s tests again")}
	}
	lines := append([]string{""}, accounts.CheckLines(t, m.checks, w)...)
	if m.passed {
		return append(lines, line(t.Good, "Everything works: ctrl+s saves the account"))
	}
	return append(lines, line(t.Warn, "Correct what failed, then ctrl+s tests again"))
}
