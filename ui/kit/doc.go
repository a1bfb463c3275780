// Package kit is what every screen of the terminal interface uses: the
// [Screen] contract, actions and keys, a virtual list, forms, dialogs, loads,
// text cells, the theme and its badges. It knows no engine and no screen.
//
// # How to add a screen
//
// Make a package ui/screen/<name> with the files model.go (the type, New, Init,
// Title), update.go, view.go, keys.go (Actions) and cmds.go. In it:
//
//  1. Declare the few engine methods the screen calls, as an interface:
//
//     type Engine interface {
//     Attempts(ctx context.Context, f view.AttemptFilter) ([]view.Attempt, error)
//     }
//
//  2. New(env *kit.Env, engine Engine, …) only keeps its arguments: it is also
//     called with a nil engine, to check the keys of the configuration.
//
//  3. Init starts a [Load]:
//
//     return s.rows.Start(func(ctx context.Context) ([]view.Attempt, error) { return s.engine.Attempts(ctx, f) })
//
//     and Update takes its result: if s.rows.Take(msg) { s.list.SetRows(s.rows.Value) }.
//     Every Start makes a generation of its own, so an old result, or another
//     screen's, is never taken. On a [view.Change] of a topic it shows, the
//     screen reads again; what it shows stays until then.
//
//  4. Actions returns all it can do, with Enabled saying why one is off. A key
//     never reaches Update when an action took it. Run returns a command; [Call]
//     wraps one engine method and shows its error as a notice.
//
//  5. View returns [Frame](lines, w, h). Rows are built from [Cell]s with [Row], so
//     that the selection's background lies under all of them. A [safe.Text] is
//     painted as it is; our own text (drafts, bodies of attempts, subjects of
//     attempts, errors) goes through [Clean] or [CleanBlock] first.
//
//  6. Register it: one line in ui/pages.go (page kind to constructor), and embed
//     its Engine in ui.Engine.
//
// Optional parts of a Screen: [Typist] (it is taking text), [Pointer] (it shows
// the terminal's cursor), [Leaver] (something must be kept before it closes),
// [Stater] (a few words at the right of the header).
//
// Going elsewhere: [Open], [Replace], [Back]. Telling: [Say], [Fail]. Asking: [Show]
// with a [Confirm], [Ask] or [Menu]. Time: [Env.Now] and [Env.After], never the
// time package.
//
// The app shows the header, the footer, notices, help and palette, and moves the
// focus; a screen draws only its own area.
//
// Tests drive the whole app or one screen with package kittest: messages in,
// commands run until nothing is left, a frame out.
package kit
