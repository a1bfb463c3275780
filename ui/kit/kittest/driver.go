// Package kittest drives a Bubble Tea model without a terminal: messages go in,
// the commands they cause are run one after another until none is left, and a
// frame comes out as plain text. Timers are kept and fire when a test says so.
package kittest

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"skrzynka/ui/kit"
)

// Clock is a clock that stands still until it is moved.
type Clock struct{ T time.Time }

// Now returns the time it was set to.
func (c *Clock) Now() time.Time { return c.T }

// Timers collects what was asked for with kit.Env.After.
type Timers struct{ waiting []timer }

type timer struct {
	d   time.Duration
	msg tea.Msg
}

type pending struct{ timer }

// After is a kit.Env.After that waits for [Driver.Advance].
func (t *Timers) After(d time.Duration, msg tea.Msg) tea.Cmd {
	return func() tea.Msg { return pending{timer{d, msg}} }
}

// Driver runs a model.
type Driver struct {
	t      testing.TB
	Model  tea.Model
	Timers *Timers
	Quit   bool
	Clip   string // what was last put on the clipboard
	w, h   int
	queue  []tea.Cmd
}

// New starts a model at a size and settles it.
func New(t testing.TB, m tea.Model, timers *Timers, w, h int) *Driver {
	t.Helper()
	d := &Driver{t: t, Model: m, Timers: timers, w: w, h: h}
	d.queue = append(d.queue, m.Init())
	d.Send(tea.WindowSizeMsg{Width: w, Height: h})
	d.Frame() // screens learn their size by drawing
	return d
}

// Send delivers a message and settles.
func (d *Driver) Send(msgs ...tea.Msg) {
	d.t.Helper()
	for _, msg := range msgs {
		d.deliver(msg)
		d.settle()
	}
}

// Resize changes the size.
func (d *Driver) Resize(w, h int) {
	d.w, d.h = w, h
	d.Send(tea.WindowSizeMsg{Width: w, Height: h})
}

// Keys presses keys, named as in the configuration and separated by spaces:
// "j j enter", "ctrl+d", "g i".
func (d *Driver) Keys(keys string) {
	d.t.Helper()
	for _, key := range strings.Fields(keys) {
		d.Send(Key(key))
		d.Frame()
	}
}

// Type presses one key per character of text.
func (d *Driver) Type(text string) {
	d.t.Helper()
	for _, r := range text {
		d.Send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// Advance fires the timers that are due within span.
func (d *Driver) Advance(span time.Duration) {
	d.t.Helper()
	var due, rest []timer
	for _, tm := range d.Timers.waiting {
		if tm.d <= span {
			due = append(due, tm)
		} else {
			rest = append(rest, timer{tm.d - span, tm.msg})
		}
	}
	d.Timers.waiting = rest
	slices.SortStableFunc(due, func(a, b timer) int { return int(a.d - b.d) })
	for _, tm := range due {
		d.Send(tm.msg)
	}
}

func (d *Driver) deliver(msg tea.Msg) {
	switch m := msg.(type) {
	case nil:
		return
	case tea.QuitMsg:
		d.Quit = true
		return
	case pending:
		d.Timers.waiting = append(d.Timers.waiting, m.timer)
		return
	case tea.BatchMsg:
		d.queue = append(d.queue, m...)
		return
	}
	v := reflect.ValueOf(msg)
	switch {
	case v.Type().String() == "tea.sequenceMsg":
		for i := range v.Len() {
			d.queue = append(d.queue, v.Index(i).Interface().(tea.Cmd))
		}
		return
	case v.Type().String() == "tea.setClipboardMsg":
		d.Clip = v.String()
		return
	}
	var cmd tea.Cmd
	d.Model, cmd = d.Model.Update(msg)
	d.queue = append(d.queue, cmd)
}

func (d *Driver) settle() {
	d.t.Helper()
	for n := 0; len(d.queue) > 0; n++ {
		if n > 10000 {
			d.t.Fatal("the model does not settle: its commands go on for ever")
		}
		cmd := d.queue[0]
		d.queue = d.queue[1:]
		if cmd != nil {
			d.deliver(cmd())
		}
	}
}

// Styled is the frame as it would be written.
func (d *Driver) Styled() string { return d.Model.View().Content }

// Frame is the frame without its styles. It fails the test when the frame does
// not fill the screen exactly.
func (d *Driver) Frame() string {
	d.t.Helper()
	styled := d.Styled()
	Check(d.t, styled, d.w, d.h)
	return ansi.Strip(styled)
}

// Check fails the test unless frame is exactly h lines of exactly w cells.
func Check(t testing.TB, frame string, w, h int) {
	t.Helper()
	if w == 0 || h == 0 {
		return
	}
	lines := strings.Split(frame, "\n")
	if len(lines) != h {
		t.Errorf("frame has %d lines, want %d:\n%s", len(lines), h, ansi.Strip(frame))
		return
	}
	for i, line := range lines {
		if got := kit.Width(line); got != w {
			t.Errorf("line %d is %d cells wide, want %d: %q", i+1, got, w, ansi.Strip(line))
		}
	}
}

// Key makes a key press from the name of one key.
func Key(name string) tea.KeyPressMsg {
	var k tea.KeyPressMsg
	base := name
	for prefix, mod := range map[string]tea.KeyMod{"ctrl+": tea.ModCtrl, "alt+": tea.ModAlt, "shift+": tea.ModShift} {
		if rest, ok := strings.CutPrefix(base, prefix); ok && rest != "" {
			base, k.Mod = rest, mod
			break
		}
	}
	if code, ok := named[base]; ok {
		k.Code = code
		if base == "space" && k.Mod == 0 {
			k.Text = " "
		}
		return k
	}
	k.Code = []rune(base)[0]
	if k.Mod == 0 {
		k.Text = base
	}
	return k
}

var named = map[string]rune{
	"enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEscape, "space": tea.KeySpace,
	"backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "up": tea.KeyUp, "down": tea.KeyDown,
	"left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd,
	"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
}
