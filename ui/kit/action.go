package kit

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// Action is one thing a person can do. Key lookup, footer, help and palette all
// come from the same list.
type Action struct {
	ID    string   // "message.archive"; the name in the configuration's [keys]
	Keys  []string // defaults: "e", "ctrl+d", "g i" (two keys after one another)
	Title string   // "Archive the message"
	Short string   // "archive": the footer's word
	Group string   // heading in help: "Message", "Move", "Go to"
	// Rank puts the action into the footer, the lowest number first; 0 leaves it out.
	Rank int
	// Enabled says whether it can be done now, or why not. Nil: always.
	Enabled func() (ok bool, why string)
	Run     func() tea.Cmd
	// Hidden keeps plain movement out of the palette; help shows it.
	Hidden bool
}

// Can asks Enabled.
func (a Action) Can() (bool, string) {
	if a.Enabled == nil {
		return true, ""
	}
	return a.Enabled()
}

// When makes an Enabled of one condition and its reason.
func When(cond func() bool, why string) func() (bool, string) {
	return func() (bool, string) {
		if cond() {
			return true, ""
		}
		return false, why
	}
}

// Keymap holds a person's own keys by action id.
type Keymap map[string][]string

// ParseKeymap reads the configuration's [keys] table: action id to key, several
// keys joined by " or ", a sequence written with a space ("g i").
func ParseKeymap(keys map[string]string) (Keymap, error) {
	m := Keymap{}
	for id, value := range keys {
		for _, key := range strings.Split(value, " or ") {
			key = strings.Join(strings.Fields(key), " ")
			if err := checkKey(key); err != nil {
				return nil, fmt.Errorf("keys.%q: %w", id, err)
			}
			m[id] = append(m[id], key)
		}
	}
	return m, nil
}

// Of returns the keys an action has.
func (m Keymap) Of(a Action) []string {
	if own, ok := m[a.ID]; ok {
		return own
	}
	return a.Keys
}

// Label is the action's first key as a person reads it, "" when it has none.
func (m Keymap) Label(a Action) string {
	if keys := m.Of(a); len(keys) > 0 {
		return KeyLabel(keys[0])
	}
	return ""
}

// KeyLabel is a key as a person reads it.
func KeyLabel(key string) string {
	switch key {
	case "up":
		return "↑"
	case "down":
		return "↓"
	case "left":
		return "←"
	case "right":
		return "→"
	}
	return key
}

var namedKeys = []string{"enter", "tab", "backspace", "esc", "space", "up", "down", "left", "right",
	"insert", "delete", "pgup", "pgdown", "home", "end"}

// checkKey refuses what no key press is written as.
func checkKey(key string) error {
	parts := strings.Fields(key)
	if len(parts) == 0 || len(parts) > 2 {
		return fmt.Errorf("%q is not a key: write one key such as \"e\" or \"ctrl+e\", or two such as \"g i\"", key)
	}
	for _, part := range parts {
		base := part
		for _, mod := range []string{"ctrl+", "alt+", "shift+", "super+"} {
			if rest, ok := strings.CutPrefix(base, mod); ok && rest != "" {
				base = rest
			}
		}
		r, size := utf8.DecodeRuneInString(base)
		single := size == len(base) && unicode.IsPrint(r)
		function := len(base) > 1 && base[0] == 'f' && strings.Trim(base[1:], "0123456789") == ""
		if !single && !function && !slices.Contains(namedKeys, base) {
			return fmt.Errorf("%q is not a key: write a character, one of %s, or f1 to f20, with ctrl+, alt+ or shift+ before it",
				part, strings.Join(namedKeys, ", "))
		}
	}
	return nil
}

// CheckKeys refuses keys that would hide one another. Levels are the lists that
// are live together, the most specific first: within one level no key may be
// used twice; over all levels no key may be the beginning of another's sequence.
func (m Keymap) CheckKeys(levels ...[]Action) error {
	type use struct {
		level int
		id    string
	}
	seen := map[string]use{}
	for level, actions := range levels {
		for _, a := range actions {
			for _, key := range m.Of(a) {
				if u, ok := seen[key]; ok && u.level == level && u.id != a.ID {
					return fmt.Errorf("the key %q is given to both %s and %s: give one of them another key", key, u.id, a.ID)
				}
				if _, ok := seen[key]; !ok {
					seen[key] = use{level, a.ID}
				}
			}
		}
	}
	for key, u := range seen {
		first, _, two := strings.Cut(key, " ")
		if over, ok := seen[first]; two && ok {
			return fmt.Errorf("the key %q of %s begins the sequence %q of %s: give one of them another key", first, over.id, key, u.id)
		}
	}
	return nil
}

// Resolver turns key presses into actions and remembers the first key of a
// sequence.
type Resolver struct{ prefix string }

// Pending returns the first key of a sequence under way, or "".
func (r *Resolver) Pending() string { return r.prefix }

// Reset forgets a sequence under way.
func (r *Resolver) Reset() { r.prefix = "" }

// Press looks a key up, the first level first. used is false when the key means
// nothing here and belongs to the screen; an action is returned when one is hit.
func (r *Resolver) Press(m Keymap, msg tea.KeyPressMsg, levels ...[]Action) (hit *Action, used bool) {
	prefix := r.prefix
	r.prefix = ""
	for _, key := range keyNames(msg) {
		full := key
		if prefix != "" {
			if key == "esc" {
				return nil, true
			}
			full = prefix + " " + key
		}
		begins := false
		for _, level := range levels {
			for i := range level {
				for _, k := range m.Of(level[i]) {
					if k == full {
						return &level[i], true
					}
					begins = begins || strings.HasPrefix(k, full+" ")
				}
			}
		}
		if begins {
			r.prefix = full
			return nil, true
		}
	}
	return nil, prefix != ""
}

// Continuations lists the actions a sequence under way may end in.
func (r *Resolver) Continuations(m Keymap, levels ...[]Action) []Action {
	var out []Action
	for _, level := range levels {
		for _, a := range level {
			if slices.ContainsFunc(m.Of(a), func(k string) bool { return strings.HasPrefix(k, r.prefix+" ") }) {
				out = append(out, a)
			}
		}
	}
	return out
}

// keyNames lists what a key press may be called: what it typed, and on a
// keyboard that types another script what it would type on a Latin one.
func keyNames(msg tea.KeyPressMsg) []string {
	names := []string{msg.String()}
	if msg.BaseCode != 0 && msg.Mod&^tea.ModShift == 0 && msg.Text != "" && msg.Text[0] >= utf8.RuneSelf {
		base := msg.BaseCode
		if msg.Mod.Contains(tea.ModShift) {
			base = unicode.ToUpper(base)
		}
		names = append(names, string(base))
	}
	return names
}

// Edits reports whether a key writes or edits text: while a screen is typing,
// such a key is never an action.
func Edits(msg tea.KeyPressMsg) bool {
	if msg.Text != "" && msg.Mod&^tea.ModShift == 0 {
		return true
	}
	if msg.Mod != 0 {
		return false
	}
	switch msg.Code {
	case tea.KeyBackspace, tea.KeyDelete, tea.KeyLeft, tea.KeyRight, tea.KeyHome, tea.KeyEnd, tea.KeySpace:
		return true
	}
	return false
}
