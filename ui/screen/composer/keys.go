package composer

import (
	tea "charm.land/bubbletea/v2"

	"skrzynka/ui/kit"
)

// Actions implements kit.Screen.
func (m *Model) Actions() []kit.Action {
	ready := func() (bool, string) {
		switch {
		case !m.ready:
			return false, "the draft is not open"
		case m.gone:
			return false, "the draft is closed"
		case m.sending:
			return false, "it is being handed to the outbox"
		case m.editing:
			return false, "the editor has it"
		}
		return true, ""
	}
	also := func(more func() (bool, string)) func() (bool, string) {
		return func() (bool, string) {
			if ok, why := ready(); !ok {
				return false, why
			}
			return more()
		}
	}
	act := func(id, key, title, short string, rank int, enabled func() (bool, string), run func() tea.Cmd) kit.Action {
		return kit.Action{ID: "compose." + id, Keys: []string{key}, Title: title, Short: short, Group: "Compose", Rank: rank, Enabled: enabled, Run: run}
	}
	list := []kit.Action{
		act("send", "ctrl+s", "Send", "send", 1, ready, func() tea.Cmd { return m.send(false) }),
		act("later", "ctrl+o", "Send later…", "later", 2, ready, m.later),
		act("attach", "ctrl+t", "Attach a file…", "attach", 3, ready, m.askFile),
		act("editor", "ctrl+e", "Write in the external editor", "editor", 4,
			also(kit.When(func() bool { return m.env.Editor != "" }, "no editor is set: set $EDITOR, or editor in the [ui] table")), m.external),
		act("detach", "ctrl+r", "Remove an attachment…", "detach", 0,
			also(kit.When(func() bool { return len(m.draft.Attachments) > 0 }, "nothing is attached")), m.detach),
		act("keep", "ctrl+x", "Keep the draft and leave", "keep", 5, nil, m.leave),
		act("leave", "esc", "Leave: the draft is kept", "leave", 6, nil, m.leave),
		act("undo", "ctrl+z", "Take the last change of the text back", "undo", 0,
			also(kit.When(func() bool { return m.at == fieldBody }, "the text has not the focus")), func() tea.Cmd { return m.edit(m.body.Undo) }),
		act("redo", "ctrl+y", "Do the change again", "redo", 0,
			also(kit.When(func() bool { return m.at == fieldBody }, "the text has not the focus")), func() tea.Cmd { return m.edit(m.body.Redo) }),
		{ID: "compose.next", Keys: []string{"tab"}, Title: "Next field", Group: "Move", Hidden: true, Enabled: ready, Run: func() tea.Cmd { return m.tab(1) }},
		{ID: "compose.before", Keys: []string{"shift+tab"}, Title: "Field before", Group: "Move", Hidden: true, Enabled: ready, Run: func() tea.Cmd { return m.tab(-1) }},
	}
	return append(list, m.textKeys()...)
}

// textKeys are the keys of the text and the fields, for help and to be given
// other keys.
func (m *Model) textKeys() []kit.Action {
	key := func(id, title string, press tea.KeyPressMsg, keys ...string) kit.Action {
		return kit.Action{ID: "edit." + id, Keys: keys, Title: title, Group: "Text", Hidden: true, Run: func() tea.Cmd {
			if !m.ready {
				return nil
			}
			return m.write(press)
		}}
	}
	ctrl := func(code rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: code, Mod: tea.ModCtrl} }
	return []kit.Action{
		key("word-left", "A word to the left", ctrl(tea.KeyLeft), "ctrl+left", "alt+left", "alt+b"),
		key("word-right", "A word to the right", ctrl(tea.KeyRight), "ctrl+right", "alt+right", "alt+f"),
		key("line-start", "To the start of the line", ctrl('a'), "ctrl+a"),
		key("page-up", "A screen up", tea.KeyPressMsg{Code: tea.KeyPgUp}, "pgup"),
		key("page-down", "A screen down", tea.KeyPressMsg{Code: tea.KeyPgDown}, "pgdown"),
		key("text-start", "To the start of the text", ctrl(tea.KeyHome), "ctrl+home", "alt+<"),
		key("text-end", "To the end of the text", ctrl(tea.KeyEnd), "ctrl+end", "alt+>"),
		key("cut-word", "Delete the word before the cursor", ctrl('w'), "ctrl+w", "alt+backspace", "ctrl+backspace"),
		key("cut-next", "Delete the word after the cursor", tea.KeyPressMsg{Code: 'd', Mod: tea.ModAlt}, "alt+d"),
		key("cut-end", "Delete to the end of the line", ctrl('k'), "ctrl+k"),
		key("cut-start", "Delete to the start of the line", ctrl('u'), "ctrl+u"),
	}
}

func (m *Model) edit(f func() bool) tea.Cmd {
	if !f() {
		return nil
	}
	return m.touched()
}

func (m *Model) leave() tea.Cmd { return kit.Back(m) }
