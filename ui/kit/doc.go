// Package kit is what every screen of the terminal interface uses: the
// [Screen] contract, actions and keys, a virtual list, forms, dialogs, loads,
// text cells, the theme and its badges. It knows no engine and no screen.
//
// # How to add a screen
//
// Make a package ui/screen/<name>. It declares the few engine methods it calls
// as an interface of its own; its constructor only keeps its arguments, since it
// is also called with a nil engine to check the keys of the configuration:
//
//	type Engine interface {
//		Attempts(ctx context.Context, f view.AttemptFilter) ([]view.Attempt, error)
//	}
//
//	type Model struct {
//		env    *kit.Env
//		engine Engine
//		load   kit.Load[[]view.Attempt]
//		list   kit.List[view.Attempt, string]
//	}
//
// Init starts a [Load], Update takes its result. Every Start makes a generation
// of its own, so an old result, or another screen's, is never taken:
//
//	func (m *Model) Init() tea.Cmd {
//		return m.load.Start(func(ctx context.Context) ([]view.Attempt, error) {
//			return m.engine.Attempts(ctx, view.AttemptFilter{})
//		})
//	}
//
//	func (m *Model) Update(msg tea.Msg) tea.Cmd {
//		if m.load.Take(msg) {
//			m.list.SetRows(m.load.Value)
//			return nil
//		}
//		if c, ok := msg.(view.Change); ok && c.Topic == view.TopicAttempts {
//			return m.Init()
//		}
//		return nil
//	}
//
// Actions lists all it can do, with Enabled saying why one is off; a key that is
// an action never reaches Update. Run returns a command: [Call] wraps one engine
// method and shows its error as a notice. A Load doubles as a guard against a
// second key press: while it is Running, the action is off. Lists and pages of
// text bring their movement along: [List.Moves], [Scroll.Moves].
//
// View returns [Frame](lines, w, h). Rows are [Cell]s joined by [Row], so that the
// selection's background, [RowState.Base], lies under all of them. A safe.Text is
// painted as it is; our own text (drafts, the subject and body of an attempt)
// goes through [Clean] or [CleanBlock] first.
//
// Last, register it: one line in ui/pages.go, from the page's kind to the
// constructor, and its Engine embedded in ui.Engine.
//
// Optional parts of a Screen: [Typist] (it is taking text), [Pointer] (it shows
// the terminal's cursor), [Leaver] (something must be kept before it closes),
// [Stater] (a few words at the right of the header).
//
// Going elsewhere: [Open], [Replace], [Back]. Telling: [Say], [Fail]. Asking: [Show]
// with a [Confirm], [Ask] or [Menu]. Time: [Env.Now] and [Env.After], never the
// time package's own.
//
// The app draws the header, the footer, notices, help and palette and owns the
// focus; a screen draws only its own area.
//
// Tests drive the whole app or one screen with package kittest: messages in,
// commands run until nothing is left, a frame out.
package kit
