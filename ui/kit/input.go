package kit

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/rivo/uniseg"

	"skrzynka/mail/safe"
)

// Input is one line of text being edited, by whole characters as a person sees
// them. The zero Input is empty and ready.
type Input struct {
	Placeholder string
	Secret      bool // shown as dots

	chars []string
	at    int
}

// Value returns the text.
func (in *Input) Value() string { return strings.Join(in.chars, "") }

// Empty reports whether there is no text.
func (in *Input) Empty() bool { return len(in.chars) == 0 }

// Set replaces the text and puts the cursor at its end.
func (in *Input) Set(s string) {
	in.chars = split(s)
	in.at = len(in.chars)
}

// Insert puts text at the cursor; of several lines it makes one.
func (in *Input) Insert(s string) {
	add := split(s)
	in.chars = slices.Insert(in.chars, in.at, add...)
	in.at += len(add)
	// What was put in may join with its neighbours into one character.
	before := strings.Join(in.chars[:in.at], "")
	in.chars = split(strings.Join(in.chars, ""))
	in.at = min(len(split(before)), len(in.chars))
}

func split(s string) []string {
	var out []string
	state, rest, c := -1, safe.Line(s).String(), ""
	for rest != "" {
		c, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		out = append(out, c)
	}
	return out
}

// Update takes a key press or a paste. changed tells whether the text is
// another one now; used whether the message meant anything here.
func (in *Input) Update(msg tea.Msg) (changed, used bool) {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		in.Insert(msg.Content)
		return msg.Content != "", true
	case tea.KeyPressMsg:
		return in.key(msg)
	}
	return false, false
}

func (in *Input) key(msg tea.KeyPressMsg) (changed, used bool) {
	n := len(in.chars)
	switch msg.String() {
	case "left", "ctrl+b":
		in.at = max(0, in.at-1)
	case "right", "ctrl+f":
		in.at = min(n, in.at+1)
	case "home", "ctrl+a":
		in.at = 0
	case "end", "ctrl+e":
		in.at = n
	case "alt+b", "ctrl+left", "alt+left":
		in.at = in.word(-1)
	case "alt+f", "ctrl+right", "alt+right":
		in.at = in.word(1)
	case "backspace", "ctrl+h":
		in.cut(max(0, in.at-1), in.at)
	case "delete", "ctrl+d":
		in.cut(in.at, min(n, in.at+1))
	case "ctrl+w", "alt+backspace", "ctrl+backspace":
		in.cut(in.word(-1), in.at)
	case "alt+d":
		in.cut(in.at, in.word(1))
	case "ctrl+u":
		in.cut(0, in.at)
	case "ctrl+k":
		in.cut(in.at, n)
	default:
		if msg.Text == "" || msg.Mod&^tea.ModShift != 0 {
			return false, false
		}
		in.Insert(msg.Text)
		return true, true
	}
	return len(in.chars) != n, true
}

func (in *Input) cut(from, to int) {
	in.chars = slices.Delete(in.chars, from, to)
	in.at = from
}

// word finds the start of the word before the cursor, or the end of the one after.
func (in *Input) word(dir int) int {
	i := in.at
	if dir < 0 {
		for i > 0 && in.chars[i-1] == " " {
			i--
		}
		for i > 0 && in.chars[i-1] != " " {
			i--
		}
		return i
	}
	for i < len(in.chars) && in.chars[i] == " " {
		i++
	}
	for i < len(in.chars) && in.chars[i] != " " {
		i++
	}
	return i
}

// View draws the input as exactly w cells, scrolled so that the cursor is
// visible, and says in which cell the cursor is.
func (in *Input) View(t *Theme, w int) (line string, cursor int) {
	if w <= 0 {
		return "", 0
	}
	if len(in.chars) == 0 {
		return t.Faint.Paint(Fit(in.Placeholder, w)), 0
	}
	chars := in.chars
	if in.Secret {
		chars = slices.Repeat([]string{"*"}, len(in.chars))
	}
	start, used := in.at, 0
	for start > 0 && used+Width(chars[start-1]) < w {
		start--
		used += Width(chars[start])
	}
	return Fit(strings.TrimSuffix(clipTo(chars[start:], w), "…"), w), min(used, w-1)
}

// clipTo joins as many characters as fit whole.
func clipTo(chars []string, w int) string {
	var b strings.Builder
	for _, c := range chars {
		if w -= Width(c); w < 0 {
			break
		}
		b.WriteString(c)
	}
	return b.String()
}
