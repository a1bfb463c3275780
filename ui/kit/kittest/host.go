package kittest

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"skrzynka/ui/kit"
)

// Host is a program around one screen: keys become actions as in the app,
// dialogs open and close, and what the screen tells the app is kept to be looked
// at.
type Host struct {
	Env     *kit.Env
	Screen  kit.Screen
	Notices []kit.Notice
	Went    []kit.Navigate
	Dialogs []kit.Dialog
	Closed  bool // the screen asked to be closed, and was left
	keys    kit.Resolver
	w, h    int
}

// Init implements tea.Model.
func (o *Host) Init() tea.Cmd {
	o.Screen.Focus(true)
	return o.Screen.Init()
}

// Notice is the newest notice, the zero one when there was none.
func (o *Host) Notice() kit.Notice {
	if n := len(o.Notices); n > 0 {
		return o.Notices[n-1]
	}
	return kit.Notice{}
}

// Update implements tea.Model.
func (o *Host) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		o.w, o.h = msg.Width, msg.Height
		return o, nil
	case kit.Notice:
		o.Notices = append(o.Notices, msg)
		return o, nil
	case kit.Navigate:
		o.Went = append(o.Went, msg)
		if (msg.Back || msg.Replace) && !o.Closed {
			o.Closed = true
			o.Screen.Focus(false)
			if l, ok := o.Screen.(kit.Leaver); ok {
				return o, l.Leave()
			}
		}
		return o, nil
	case kit.ShowDialog:
		o.Dialogs = append(o.Dialogs, msg.Dialog)
		return o, nil
	case tea.KeyPressMsg:
		return o, o.key(msg)
	case tea.PasteMsg:
		if n := len(o.Dialogs); n > 0 {
			return o, o.dialog(msg)
		}
	}
	cmds := []tea.Cmd{o.Screen.Update(msg)}
	for _, d := range o.Dialogs {
		cmd, _ := d.Update(msg)
		cmds = append(cmds, cmd)
	}
	return o, tea.Batch(cmds...)
}

func (o *Host) dialog(msg tea.Msg) tea.Cmd {
	last := len(o.Dialogs) - 1
	cmd, done := o.Dialogs[last].Update(msg)
	if done {
		o.Dialogs = o.Dialogs[:last]
	}
	return cmd
}

func (o *Host) key(msg tea.KeyPressMsg) tea.Cmd {
	if n := len(o.Dialogs); n > 0 {
		if msg.String() == "esc" {
			o.Dialogs = o.Dialogs[:n-1]
			return nil
		}
		return o.dialog(msg)
	}
	if t, ok := o.Screen.(kit.Typist); ok && t.Typing() && kit.Edits(msg) {
		return o.Screen.Update(msg)
	}
	hit, used := o.keys.Press(o.Env.Keys, msg, o.Screen.Actions())
	switch {
	case hit != nil:
		if ok, why := hit.Can(); !ok {
			return kit.Say(kit.Info, hit.Title+": "+why)
		}
		if hit.Run == nil {
			return nil
		}
		return hit.Run()
	case used:
		return nil
	}
	return o.Screen.Update(msg)
}

// View implements tea.Model.
func (o *Host) View() tea.View {
	frame := o.Screen.View(o.w, o.h)
	for _, d := range o.Dialogs {
		frame = kit.Overlay(frame, d.View(o.w, o.h), 0, 0)
	}
	return tea.NewView(frame)
}

// Open starts a screen in a host at a size.
func Open(t testing.TB, env *kit.Env, s kit.Screen, timers *Timers, w, h int) (*Driver, *Host) {
	t.Helper()
	o := &Host{Env: env, Screen: s}
	return New(t, o, timers, w, h), o
}
