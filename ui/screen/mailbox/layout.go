package mailbox

import (
	tea "charm.land/bubbletea/v2"

	"skrzynka/ui/kit"
)

// shape is how the panes are laid out; a pane of width 0 is not shown.
type shape struct {
	side                  bool // folders, list and reader stand side by side
	folders, list, reader rect
}

// both reports whether list and reader are shown together.
func (s shape) both() bool { return s.list.w > 0 && s.reader.w > 0 }

type rect struct{ x, y, w, h int }

func (r rect) has(x, y int) bool { return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h }

// From sideWidth columns all three panes are shown; below onePane columns or
// rows only the one with the focus; from stackHeight rows an opened message is
// shown below its list.
const (
	sideWidth    = 120
	onePaneWidth = 60
	onePaneRows  = 13 // a terminal of 15, less header and footer
	stackHeight  = 32
)

func (m *Model) layout(w, h int) shape {
	full := rect{0, 0, w, h}
	switch {
	case w >= sideWidth:
		fw := min(max(w/6, 22), 30)
		rest := w - fw - 2
		lw := min(max(rest*42/100, 40), 90)
		return shape{side: true, folders: rect{0, 0, fw, h}, list: rect{fw + 1, 0, lw, h}, reader: rect{fw + lw + 2, 0, rest - lw, h}}
	case m.focus == paneFolders && w >= onePaneWidth && h >= onePaneRows:
		fw := 26
		return shape{folders: rect{0, 0, fw, h}, list: rect{fw + 1, 0, w - fw - 1, h}}
	case m.focus == paneFolders:
		return shape{folders: full}
	case m.open && w >= onePaneWidth && h >= stackHeight:
		lh := h * 2 / 5
		return shape{list: rect{0, 0, w, lh}, reader: rect{0, lh + 1, w, h - lh - 1}}
	case m.focus == paneReader:
		return shape{reader: full}
	}
	return shape{list: full}
}

// View implements kit.Screen.
func (m *Model) View(w, h int) string {
	m.shape = m.layout(w, h)
	s := m.shape
	t := m.env.Theme
	draw := func(screen kit.Screen, r rect) string { return screen.View(r.w, r.h) }
	if s.both() && !s.side {
		rule := ""
		for range w {
			rule += t.Glyph.Horizontal
		}
		return draw(m.list, s.list) + "\n" + t.Faint.Paint(rule) + "\n" + draw(m.reader, s.reader)
	}
	var blocks []string
	if s.folders.w > 0 {
		blocks = append(blocks, draw(m.folders, s.folders))
	}
	if s.list.w > 0 {
		blocks = append(blocks, draw(m.list, s.list))
	}
	if s.reader.w > 0 {
		blocks = append(blocks, draw(m.reader, s.reader))
	}
	return kit.Columns(t.Faint.Paint(t.Glyph.Vertical), blocks...)
}

// mouse hands a message to the pane under it, in that pane's coordinates; a
// click moves the focus there.
func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	for p, r := range map[pane]rect{paneFolders: m.shape.folders, paneList: m.shape.list, paneReader: m.shape.reader} {
		if !r.has(at.X, at.Y) {
			continue
		}
		if _, click := msg.(tea.MouseClickMsg); click && p != m.focus && (p != paneReader || m.reader.ID() != 0) {
			m.to(p)
			if p == paneReader {
				m.open = true
				return m.reader.Opened()
			}
		}
		return m.at(p).Update(kit.Shift(msg, -r.x, -r.y))
	}
	return nil
}
