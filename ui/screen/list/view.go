package list

import (
	"fmt"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
)

// Below this width a row takes two lines: who and when, then what.
const wide = 60

// View implements kit.Screen.
func (m *Model) View(w, h int) string {
	t := m.env.Theme
	m.rows.Height = 1
	if w < wide && h >= 8 {
		m.rows.Height = 2
	}
	if m.rows.Len() > 0 {
		return kit.Frame(m.rows.Lines(w, h, m.focus), w, h)
	}
	m.rows.Lines(w, h, m.focus) // learns how many rows fit
	switch {
	case m.rows.Err() != nil:
		return kit.Frame(kit.ErrorLines(t, m.rows.Err(), w), w, h)
	case !m.rows.Loaded():
		return kit.Frame(nil, w, h)
	case m.scope.Query != "":
		lines := kit.NoteLines(t, w, "Nothing found for "+m.scope.Query, "esc goes back, / searches again.")
		if hint := m.hint.Value.Hint; !hint.Empty() {
			lines = append(lines, kit.NoteLines(t, w, hint.String())...)
		}
		return kit.Frame(lines, w, h)
	}
	return kit.Frame(kit.NoteLines(t, w, "No messages here.", "S syncs now."), w, h)
}

func (m *Model) paint(r view.MessageRow, s kit.RowState, w int) []string {
	if m.rows.Height == 2 {
		return m.paintTwo(r, s, w)
	}
	return []string{m.paintOne(r, s, w)}
}

// flags are the three cells before a row: mark, unread, and flag or answered.
func (m *Model) flags(r view.MessageRow, s kit.RowState) []kit.Cell {
	t := m.env.Theme
	cells := []kit.Cell{{Text: " "}, {Text: " "}, {Text: " "}}
	if s.Marked {
		cells[0] = kit.Cell{Text: t.Glyph.Mark, Style: t.Accent}
	}
	if r.Unread {
		cells[1] = kit.Cell{Text: t.Glyph.Unread, Style: t.Accent}
	}
	switch {
	case r.Flagged:
		cells[2] = kit.Cell{Text: t.Glyph.Flag, Style: t.Warn}
	case r.Answered:
		cells[2] = kit.Cell{Text: t.Glyph.Answered, Style: t.Dim}
	}
	return cells
}

// who is the other side: the recipient in a folder of our own mail.
func (m *Model) who(r view.MessageRow) string {
	switch m.triage.Folder(r.FolderID).Kind {
	case mail.FolderSent, mail.FolderDrafts:
		if !r.To.Empty() {
			return "To: " + r.To.String()
		}
	}
	if r.From.Empty() {
		return r.FromAddr.String()
	}
	return r.From.String()
}

func subject(r view.MessageRow) string {
	if r.Subject.Empty() {
		return "(no subject)"
	}
	return r.Subject.String()
}

func (m *Model) style(r view.MessageRow) kit.Style {
	if r.Unread {
		return m.env.Theme.Strong
	}
	return kit.Style{}
}

func (m *Model) attach(r view.MessageRow) string {
	if r.Attachments > 0 {
		return m.env.Theme.Glyph.Attach
	}
	return " "
}

func thread(r view.MessageRow) string {
	if r.Thread > 1 {
		return fmt.Sprintf("[%d] ", r.Thread)
	}
	return ""
}

// paintTiny has room for who and either the badge or the subject.
func (m *Model) paintTiny(r view.MessageRow, s kit.RowState, w int) string {
	base, text := s.Base(m.env.Theme), m.style(r)
	last := kit.Cell{Text: kit.Fit(subject(r), max(0, (w-5)/2)), Style: text}
	if r.Badge != nil {
		last = m.env.Theme.Badge(*r.Badge)
	}
	who := kit.Fit(m.who(r), max(0, w-5-last.Width()))
	return kit.Row(base, w, append(m.flags(r, s), kit.Cell{Text: " "}, kit.Cell{Text: who, Style: text}, kit.Cell{Text: " "}, last)...)
}

func (m *Model) paintOne(r view.MessageRow, s kit.RowState, w int) string {
	if w < 40 {
		return m.paintTiny(r, s, w)
	}
	t, base, text := m.env.Theme, s.Base(m.env.Theme), m.style(r)
	date := kit.FitRight(kit.ShortDate(r.Date, m.env.Now()), kit.DateWidth)
	if w < 44 {
		date = ""
	}
	whoWidth := min(max(w/5, 10), 26)
	cells := append(m.flags(r, s), kit.Cell{Text: " "},
		kit.Cell{Text: kit.Fit(m.who(r), whoWidth), Style: text}, kit.Cell{Text: "  "})
	var right []kit.Cell
	if r.Badge != nil {
		right = append(right, kit.Cell{Text: " "}, t.Badge(*r.Badge))
	}
	if m.scope.Query != "" && w >= 100 {
		right = append(right, kit.Cell{Text: " " + kit.Fit(r.Folder.String(), 12), Style: t.Dim})
	}
	right = append(right, kit.Cell{Text: " " + m.attach(r), Style: t.Dim})
	if date != "" {
		right = append(right, kit.Cell{Text: " " + date + " ", Style: t.Dim})
	}
	room := w - 3 - 1 - whoWidth - 2
	for _, c := range right {
		room -= c.Width()
	}
	return kit.Row(base, w, append(append(cells, m.words(r, text, max(0, room))...), right...)...)
}

// words are the subject and as much of the text's beginning as fits.
func (m *Model) words(r view.MessageRow, text kit.Style, room int) []kit.Cell {
	t := m.env.Theme
	lead := kit.Spaces(min(2*r.Depth, room/3)) + thread(r)
	what := kit.Clip(lead+subject(r), room)
	left := room - kit.Width(what)
	cells := []kit.Cell{{Text: what, Style: text}}
	if left > 8 && !r.Snippet.Empty() {
		return append(cells, kit.Cell{Text: kit.Fit("  "+r.Snippet.String(), left), Style: t.Faint})
	}
	return append(cells, kit.Cell{Text: kit.Spaces(left)})
}

func (m *Model) paintTwo(r view.MessageRow, s kit.RowState, w int) []string {
	t, base, text := m.env.Theme, s.Base(m.env.Theme), m.style(r)
	date := kit.ShortDate(r.Date, m.env.Now())
	whoRoom := max(0, w-4-kit.Width(date)-2)
	first := append(m.flags(r, s), kit.Cell{Text: " "}, kit.Cell{Text: kit.Fit(m.who(r), whoRoom), Style: text},
		kit.Cell{Text: " " + date + " ", Style: t.Dim})
	var right []kit.Cell
	if r.Badge != nil {
		right = append(right, kit.Cell{Text: " "}, t.Badge(*r.Badge))
	}
	if r.Attachments > 0 {
		right = append(right, kit.Cell{Text: " " + m.attach(r), Style: t.Dim})
	}
	right = append(right, kit.Cell{Text: " "})
	room := w - 4
	for _, c := range right {
		room -= c.Width()
	}
	lead := kit.Spaces(min(2*r.Depth, max(0, room)/3)) + thread(r)
	style := t.Dim
	if r.Unread {
		style = kit.Style{}
	}
	second := append([]kit.Cell{{Text: "    "}, {Text: kit.Fit(lead+subject(r), max(0, room)), Style: style}}, right...)
	return []string{kit.Row(base, w, first...), kit.Row(base, w, second...)}
}
