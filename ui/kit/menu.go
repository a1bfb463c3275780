package kit

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// Item is one line of a Menu.
type Item struct {
	Label string
	Right string // beside it: a key, a size, a count
	Off   string // why it cannot be chosen; "" when it can
	Warn  bool   // marked as risky
	Match string // further words the filter looks at
	Run   func() tea.Cmd
}

// Menu is a list to choose from by moving, by typing a part of it, or by mouse.
type Menu struct {
	Env         *Env
	Title       string
	Foot        string // keys; "" for the usual ones
	Placeholder string
	Empty       string // when there is nothing to choose
	Items       []Item
	Extra       map[string]func(Item) tea.Cmd // further keys on the item under the cursor

	filter  Input
	found   []int
	at, top int
	rows    int
	x       int
	ready   bool
}

// Update implements Dialog.
func (m *Menu) Update(msg tea.Msg) (tea.Cmd, bool) {
	m.search(false)
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		if msg.Button == tea.MouseWheelUp {
			m.at--
		} else {
			m.at++
		}
	case tea.MouseClickMsg:
		if i := m.top + msg.Y - 2; msg.Y >= 2 && i < len(m.found) && msg.Y < m.rows+2 {
			m.at = i
			return m.choose()
		}
	case tea.PasteMsg:
		m.filter.Update(msg)
		m.search(true)
	case tea.KeyPressMsg:
		return m.key(msg)
	}
	m.at = clamp(m.at, 0, max(0, len(m.found)-1))
	return nil, false
}

func (m *Menu) key(msg tea.KeyPressMsg) (tea.Cmd, bool) {
	name := msg.String()
	if f := m.Extra[name]; f != nil {
		if m.at < len(m.found) {
			return f(m.Items[m.found[m.at]]), true
		}
		return nil, false
	}
	switch name {
	case "up", "ctrl+p", "ctrl+k", "shift+tab":
		m.at--
	case "down", "ctrl+n", "ctrl+j", "tab":
		m.at++
	case "pgup":
		m.at -= max(1, m.rows-1)
	case "pgdown":
		m.at += max(1, m.rows-1)
	case "enter":
		return m.choose()
	default:
		if changed, _ := m.filter.Update(msg); changed {
			m.search(true)
		}
	}
	m.at = clamp(m.at, 0, max(0, len(m.found)-1))
	return nil, false
}

func (m *Menu) choose() (tea.Cmd, bool) {
	if m.at >= len(m.found) {
		return nil, false
	}
	it := m.Items[m.found[m.at]]
	if it.Off != "" {
		return Say(Warn, it.Label+": "+it.Off), false
	}
	return run(it.Run), true
}

// search fills found, the best match first and equals in their order.
func (m *Menu) search(changed bool) {
	if m.ready && !changed {
		return
	}
	m.ready, m.at, m.top = true, 0, 0
	m.found = m.found[:0]
	want := m.filter.Value()
	score := make(map[int]int, len(m.Items))
	for i, it := range m.Items {
		s, ok := Fuzzy(want, it.Label+" "+it.Match)
		if ok {
			score[i] = s
			m.found = append(m.found, i)
		}
	}
	slices.SortStableFunc(m.found, func(a, b int) int { return score[b] - score[a] })
}

// View implements Dialog.
func (m *Menu) View(w, h int) string {
	m.search(false)
	t := m.Env.Theme
	w = min(w, 76)
	in := max(1, w-4)
	line, x := m.filter.View(t, max(1, in-2))
	if m.filter.Empty() && m.Placeholder != "" {
		line = t.Faint.Paint(Fit(m.Placeholder, max(1, in-2)))
	}
	m.x = x + 4
	lines := []string{t.Faint.Paint("/") + " " + line}
	m.rows = max(1, min(h-3, max(len(m.Items), 1)))
	m.top = clamp(clamp(m.top, m.at-m.rows+1, m.at), 0, max(0, len(m.found)-m.rows))
	for i := m.top; i < len(m.found) && i < m.top+m.rows; i++ {
		lines = append(lines, m.item(t, m.Items[m.found[i]], i == m.at, in))
	}
	if len(m.found) == 0 {
		empty := m.Empty
		if empty == "" || len(m.Items) > 0 {
			empty = "nothing matches"
		}
		lines = append(lines, "  "+t.Dim.Paint(Clip(empty, in-2)))
	}
	for len(lines) < m.rows+1 {
		lines = append(lines, "")
	}
	foot := m.Foot
	if foot == "" {
		foot = "enter choose  esc close"
	}
	if len(m.found) > m.rows {
		foot = fmt.Sprintf("%d/%d  %s", m.at+1, len(m.found), foot)
	}
	return Box(t, m.Title, foot, lines, w, h)
}

func (m *Menu) item(t *Theme, it Item, on bool, w int) string {
	base, mark, label := Style{}, "  ", t.Text
	if on {
		base, mark = t.Select, t.Glyph.Pointer+" "
	}
	right, rs := it.Right, t.Key
	switch {
	case it.Off != "":
		label, right, rs = t.Faint, it.Off+"  "+it.Right, t.Faint
	case it.Warn:
		label = t.Warn
	}
	right = Clip(right, w*2/3)
	room := max(0, w-2-Width(right)-1)
	return Row(base, w, Cell{mark, t.Accent}, Cell{Fit(it.Label, room), label}, Cell{" ", Style{}}, Cell{right, rs})
}

// Cursor implements Dialog.
func (m *Menu) Cursor() *tea.Cursor { return tea.NewCursor(m.x, 1) }

// Fuzzy reports whether all letters of want appear in text in that order, in
// any case, and how well: whole words, word starts and runs count more.
func Fuzzy(want, text string) (score int, ok bool) {
	want = strings.ToLower(strings.TrimSpace(want))
	if want == "" {
		return 0, true
	}
	text = strings.ToLower(text)
	if i := strings.Index(text, want); i >= 0 {
		score = 1000 - min(i, 500)
		if i == 0 || text[i-1] == ' ' {
			score += 500
		}
		return score, true
	}
	runes := []rune(want)
	at, streak, prev := 0, 0, ' '
	for _, r := range text {
		if at == len(runes) {
			break
		}
		for at < len(runes) && runes[at] == ' ' {
			at++
		}
		if at < len(runes) && r == runes[at] {
			at++
			streak++
			score += streak
			if !unicode.IsLetter(prev) && !unicode.IsDigit(prev) {
				score += 5
			}
		} else {
			streak = 0
		}
		prev = r
	}
	return score, at == len(runes)
}
