package kit

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// Field is one line of a form: text, or one of several choices.
type Field struct {
	ID      string
	Label   string
	Hint    string // shown while the field has the focus
	Input   Input
	Choices []string // when given, left, right and space change the value
	// Check returns what is wrong with the value, or "". It is asked when the
	// field is left and before the form is submitted.
	Check func(value string) string

	wrong string
	pick  int
}

// Value returns what the field holds.
func (f *Field) Value() string {
	if len(f.Choices) > 0 {
		return f.Choices[f.pick]
	}
	return f.Input.Value()
}

// Set gives the field a value; a choice that is not offered is ignored.
func (f *Field) Set(value string) {
	if len(f.Choices) == 0 {
		f.Input.Set(value)
	} else if i := slices.Index(f.Choices, value); i >= 0 {
		f.pick = i
	}
}

// Wrong marks the field with an error the engine found.
func (f *Field) Wrong(text string) { f.wrong = text }

func (f *Field) check() bool {
	f.wrong = ""
	if f.Check != nil {
		f.wrong = f.Check(f.Value())
	}
	return f.wrong == ""
}

// Form is a column of fields. Tab, shift+tab, up and down move; enter moves on
// and submits on the last field.
type Form struct {
	Fields []*Field
	at     int
	curX   int
	curY   int
}

// Field finds a field by its ID, nil when there is none.
func (f *Form) Field(id string) *Field {
	for _, fd := range f.Fields {
		if fd.ID == id {
			return fd
		}
	}
	return nil
}

// Value is the value of the field with that ID.
func (f *Form) Value(id string) string {
	if fd := f.Field(id); fd != nil {
		return fd.Value()
	}
	return ""
}

// At is the index of the field with the focus; GoTo moves it.
func (f *Form) At() int { return f.at }

// GoTo moves the focus to the field with that index.
func (f *Form) GoTo(i int) { f.at = clamp(i, 0, max(0, len(f.Fields)-1)) }

// Check checks all fields and moves to the first wrong one.
func (f *Form) Check() bool {
	ok := true
	for i := len(f.Fields) - 1; i >= 0; i-- {
		if !f.Fields[i].check() {
			f.at, ok = i, false
		}
	}
	return ok
}

// Update takes a key or a paste. submitted is true when enter was pressed on
// the last field and every field passed its check.
func (f *Form) Update(msg tea.Msg) (submitted, used bool) {
	if len(f.Fields) == 0 {
		return false, false
	}
	fd := f.Fields[f.at]
	key, isKey := msg.(tea.KeyPressMsg)
	if isKey {
		switch key.String() {
		case "tab", "down":
			fd.check()
			f.GoTo((f.at + 1) % len(f.Fields))
			return false, true
		case "shift+tab", "up":
			fd.check()
			f.GoTo((f.at + len(f.Fields) - 1) % len(f.Fields))
			return false, true
		case "enter":
			if f.at < len(f.Fields)-1 {
				if fd.check() {
					f.at++
				}
				return false, true
			}
			return f.Check(), true
		}
	}
	if len(fd.Choices) > 0 {
		n := len(fd.Choices)
		switch key.String() {
		case "right", "space":
			fd.pick = (fd.pick + 1) % n
		case "left":
			fd.pick = (fd.pick + n - 1) % n
		default:
			return false, false
		}
		fd.wrong = ""
		return false, true
	}
	changed, used := fd.Input.Update(msg)
	if changed {
		fd.wrong = ""
	}
	return false, used
}

// Lines draws the form: labels in one column, values beside them, and under a
// field what is wrong with it or, with the focus, its hint.
func (f *Form) Lines(t *Theme, w int) []string {
	label := 0
	for _, fd := range f.Fields {
		label = max(label, Width(fd.Label))
	}
	label = min(label, max(6, w/3))
	var lines []string
	for i, fd := range f.Fields {
		on := i == f.at
		mark, style := "  ", t.Dim
		if on {
			mark, style = t.Glyph.Pointer+" ", t.Accent
		}
		room := max(1, w-label-4)
		var value string
		x := 0
		if len(fd.Choices) > 0 {
			value = t.choices(fd, on, room)
		} else {
			value, x = fd.Input.View(t, room)
		}
		if on {
			f.curX, f.curY = label+4+x, len(lines)
			if len(fd.Choices) > 0 {
				f.curX = -1
			}
		}
		lines = append(lines, style.Paint(mark+FitRight(fd.Label, label))+"  "+value)
		note, noteStyle := fd.wrong, t.Bad
		if note != "" {
			note = t.Glyph.Failed + " " + note
		} else if on {
			note, noteStyle = fd.Hint, t.Faint
		}
		if note != "" {
			for _, l := range Wrap(Clean(note), room) {
				lines = append(lines, Spaces(label+4)+noteStyle.Paint(l))
			}
		}
	}
	return lines
}

func (t *Theme) choices(f *Field, on bool, w int) string {
	cells := make([]Cell, 0, 2*len(f.Choices))
	for i, c := range f.Choices {
		switch {
		case i == f.pick && on:
			cells = append(cells, Cell{"[" + c + "]", t.Accent})
		case i == f.pick:
			cells = append(cells, Cell{"[" + c + "]", t.Strong})
		default:
			cells = append(cells, Cell{" " + c + " ", t.Dim})
		}
	}
	return Row(Style{}, w, cells...)
}

// Cursor is where the terminal's cursor belongs, relative to the first of Lines.
func (f *Form) Cursor() *tea.Cursor {
	if f.curX < 0 || len(f.Fields) == 0 {
		return nil
	}
	return tea.NewCursor(f.curX, f.curY)
}
