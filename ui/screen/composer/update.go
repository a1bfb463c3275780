package composer

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"skrzynka/ui/kit"
)

// Update implements kit.Screen.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	if m.load.Take(msg) {
		if m.load.Err != nil {
			return nil
		}
		return m.show(m.load.Value)
	}
	if !m.ready {
		return nil
	}
	switch msg := msg.(type) {
	case stored:
		if msg.m == m {
			return m.keep(msg)
		}
	case pauseOver:
		if msg.m == m && msg.version == m.version {
			return m.save()
		}
	case overdue:
		if msg.m == m {
			m.armed = false
			return m.save()
		}
	case tea.BlurMsg:
		return m.save()
	case sent:
		if msg.m == m {
			return m.afterSend(msg)
		}
	case edited:
		if msg.m == m {
			return m.takeBack(msg)
		}
	case attached:
		if msg.m == m {
			return m.afterAttach(msg)
		}
	case completions:
		if m.attach != nil {
			m.attach.take(msg)
		}
	case tea.MouseClickMsg:
		return m.click(msg)
	case tea.MouseWheelMsg:
		m.body.Scroll(kit.WheelStep(msg))
	case tea.PasteMsg, tea.KeyPressMsg:
		return m.write(msg)
	}
	return nil
}

// write hands a key or a paste to the field with the focus.
func (m *Model) write(msg tea.Msg) tea.Cmd {
	if !m.Typing() {
		return nil
	}
	key, _ := msg.(tea.KeyPressMsg)
	name := ""
	if key.Code != 0 {
		name = key.String()
	}
	switch {
	case m.at == fieldBody && name == "up" && m.body.AtTop():
		return m.goTo(fieldSubject)
	case m.at == fieldBody:
		changed, _ := m.body.Update(msg)
		if changed {
			return m.touched()
		}
		return nil
	case name == "down" || name == "enter":
		return m.goTo(m.at + 1)
	case name == "up":
		return m.goTo(m.at - 1)
	case m.at == fieldFrom:
		return m.choose(name)
	}
	if p, ok := msg.(tea.PasteMsg); ok && m.at != fieldSubject {
		// A column of addresses is a list of them.
		lines := strings.FieldsFunc(p.Content, func(r rune) bool { return r == '\n' || r == '\r' })
		msg = tea.PasteMsg{Content: strings.Join(lines, ", ")}
	}
	if changed, _ := m.inputs[m.at].Update(msg); changed {
		m.wrong[m.at] = ""
		return m.touched()
	}
	return nil
}

// choose goes through the addresses mail can be sent from.
func (m *Model) choose(key string) tea.Cmd {
	n := len(m.from)
	if n < 2 {
		return nil
	}
	switch key {
	case "right", "space":
		m.who = (m.who + 1) % n
	case "left":
		m.who = (m.who + n - 1) % n
	default:
		return nil
	}
	return m.touched()
}

// goTo moves the focus; a recipient field that is left says what is wrong in it.
func (m *Model) goTo(field int) tea.Cmd {
	if m.at >= fieldTo && m.at <= fieldBcc {
		_, m.wrong[m.at] = ParseAddresses(m.inputs[m.at].Value())
	}
	lowest := fieldTo
	if len(m.from) > 1 {
		lowest = fieldFrom
	}
	m.at = min(max(field, lowest), fieldBody)
	return nil
}

// tab goes round.
func (m *Model) tab(step int) tea.Cmd {
	next := m.at + step
	switch {
	case next >= fields && len(m.from) > 1:
		next = fieldFrom
	case next >= fields:
		next = fieldTo
	case next < fieldFrom, next == fieldFrom && len(m.from) < 2:
		next = fieldBody
	}
	return m.goTo(next)
}

func (m *Model) click(msg tea.MouseClickMsg) tea.Cmd {
	if msg.Y >= m.bodyTop {
		m.goTo(fieldBody)
		m.body.Click(msg.X-margin, msg.Y-m.bodyTop)
		return nil
	}
	if f, ok := m.fieldAt[msg.Y]; ok {
		return m.goTo(f)
	}
	return nil
}
