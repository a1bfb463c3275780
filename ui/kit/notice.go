package kit

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
)

// Level is how much a notice matters.
type Level int

// The levels. Bad stays until the next key, the others go by themselves.
const (
	Info Level = iota
	Good
	Warn
	Bad
)

// Notice is one short message at the foot of the screen.
type Notice struct {
	Level Level
	Text  string
	Hint  string // what to do next
	// Until, when not zero, is when what the notice speaks of happens: the
	// seconds left are shown behind Text, and the notice stays until then.
	Until time.Time
	// Undone is the page to open when undo takes a send back before Until.
	Undone Page
}

// Say shows a notice.
func Say(level Level, text string) tea.Cmd { return Send(Notice{Level: level, Text: text}) }

// Fail shows an error with its hint.
func Fail(err error) tea.Cmd { return Send(ErrorNotice(err)) }

// ErrorNotice is the notice of an error; a cancelled call has nothing to say.
func ErrorNotice(err error) tea.Msg {
	if err == nil || errors.Is(err, context.Canceled) {
		return nil
	}
	e := mail.AsError(err)
	return Notice{Level: Bad, Text: e.Text, Hint: e.Hint}
}

// ErrorLines are the lines of a pane that has only an error to show.
func ErrorLines(t *Theme, e *mail.Error, w int) []string {
	lines := []string{""}
	for _, l := range Wrap(Clean(e.Text), w-4) {
		lines = append(lines, "  "+t.Bad.Paint(l))
	}
	if e.Hint != "" {
		for _, l := range Wrap(Clean(e.Hint), w-4) {
			lines = append(lines, "  "+l)
		}
	}
	return lines
}

// NoteLines are the lines of a pane with nothing in it: a sentence, and what to
// do next.
func NoteLines(t *Theme, w int, sentence string, more ...string) []string {
	lines := []string{""}
	for _, l := range Wrap(Clean(sentence), w-4) {
		lines = append(lines, "  "+t.Dim.Paint(l))
	}
	for _, m := range more {
		for _, l := range Wrap(Clean(m), w-4) {
			lines = append(lines, "  "+t.Faint.Paint(l))
		}
	}
	return lines
}
