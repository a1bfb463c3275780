package ui

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/ui/kit"
	"skrzynka/ui/screen/firstrun"
	"skrzynka/ui/screen/help"
	"skrzynka/ui/screen/mailbox"
	"skrzynka/ui/screen/palette"
	"skrzynka/ui/screen/threads"
)

// ValidateKeys refuses a [keys] table with an unknown action, something that is
// not a key, or two actions of one screen on one key.
func ValidateKeys(keys map[string]string) error {
	m, err := kit.ParseKeymap(keys)
	if err != nil {
		return invalid(err)
	}
	env := &kit.Env{Clock: mail.SystemClock{}, Theme: kit.NewTheme(kit.ThemeOptions{}), Keys: m, After: kit.After}
	global := (&App{env: env}).actions()
	known := map[string]bool{}
	for _, a := range global {
		known[a.ID] = true
	}
	for _, screen := range specimens(env) {
		actions := screen.Actions()
		for _, a := range actions {
			known[a.ID] = true
		}
		if err := m.CheckKeys(actions, global); err != nil {
			return invalid(err)
		}
	}
	for id := range m {
		if !known[id] {
			return invalid(fmt.Errorf("there is no action %q: the palette (ctrl+p) and %q list them", id, "?"))
		}
	}
	return nil
}

func invalid(err error) error {
	return &mail.Error{Code: mail.CodeConfigInvalid, Text: err.Error() + ".", Hint: "Correct the [keys] table of the configuration.", Err: err}
}

// specimens makes one screen of each kind, to ask for its actions.
func specimens(env *kit.Env) []kit.Screen {
	var out []kit.Screen
	for kind, make := range pages {
		out = append(out, make(env, nil, kit.Page{Kind: kind}))
	}
	out = append(out, firstrun.New(env, nil, true)) // its form has keys of its own
	return append(out, mailbox.Panes(env)...)
}

// ActionIDs lists every action a key can be given to.
func ActionIDs() []string {
	env := &kit.Env{Clock: mail.SystemClock{}, Theme: kit.NewTheme(kit.ThemeOptions{}), Keys: kit.Keymap{}, After: kit.After}
	ids := map[string]bool{}
	lists := [][]kit.Action{(&App{env: env}).actions()}
	for _, s := range specimens(env) {
		lists = append(lists, s.Actions())
	}
	for _, list := range lists {
		for _, a := range list {
			ids[a.ID] = true
		}
	}
	out := make([]string, 0, len(ids))
	for id := range ids {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// actions are those that work everywhere.
func (a *App) actions() []kit.Action {
	app := func(id, title, short string, run func() tea.Cmd, keys ...string) kit.Action {
		return kit.Action{ID: "app." + id, Keys: keys, Title: title, Short: short, Group: "Everywhere", Run: run}
	}
	first := kit.When(func() bool { return len(a.stack) > 1 }, "this is the first page")
	back := app("back", "Back", "back", func() tea.Cmd { return a.back() }, "esc")
	back.Enabled = first
	quit := app("close", "Back, or quit on the first page", "quit", func() tea.Cmd {
		if len(a.stack) > 1 {
			return a.back()
		}
		return a.quit()
	}, "q")
	list := []kit.Action{
		app("help", "Keys of this screen", "help", a.help, "?"),
		app("palette", "All commands", "commands", a.palette, ":", "ctrl+p"),
		app("search", "Search", "search", a.search, "/"),
		app("sync", "Sync now", "sync", a.sync, "S"),
		app("undo", "Undo the last change", "undo", a.undo, "u"),
		back, quit,
		app("quit", "Quit", "quit", a.quit, "ctrl+c"),
		app("redraw", "Draw the screen anew", "redraw", func() tea.Cmd { return tea.ClearScreen }, "ctrl+l"),
		app("suspend", "Suspend to the shell", "suspend", func() tea.Cmd { return tea.Suspend }, "ctrl+z"),
	}
	list[2].Rank, list[1].Rank = 80, 91
	if a.deps.Forward != nil {
		day := app("forward", "Move the demo's time one day forward", "+1 day", a.forward, "+")
		day.Rank = 5
		list = append(list, day)
	}
	return append(list, a.places()...)
}

// places are the pages one key sequence away.
func (a *App) places() []kit.Action {
	to := func(id, key, title, short string, kind kit.Kind) kit.Action {
		act := kit.Action{ID: "go." + id, Keys: []string{"g " + key}, Title: title, Short: short, Group: "Go to"}
		act.Enabled = func() (bool, string) {
			if pages[kind] == nil {
				return false, "there is no such page"
			}
			return true, ""
		}
		act.Run = func() tea.Cmd { return tea.Sequence(a.unwind(), kit.Open(kit.Page{Kind: kind})) }
		return act
	}
	threadsOf := func(id, key, title, short, page string) kit.Action {
		act := to(id, key, title, short, kit.KindThreads)
		act.Run = func() tea.Cmd { return tea.Sequence(a.unwind(), kit.Open(kit.Page{Kind: kit.KindThreads, ID: page})) }
		return act
	}
	folders := to("folders", "a", "All folders", "folders", kit.KindMail)
	folders.Run = func() tea.Cmd {
		cmd := a.unwind()
		if m, ok := a.top().(*mailbox.Model); ok {
			m.ShowFolders()
		}
		return cmd
	}
	return []kit.Action{
		to("inbox", "i", "Inbox", "inbox", kit.KindMail),
		folders,
		to("drafts", "d", "Drafts", "drafts", kit.KindDrafts),
		to("attempts", "o", "Attempts (outbox)", "attempts", kit.KindAttempts),
		to("retry", "r", "Failed: retry", "retry", kit.KindRetry),
		to("uncertain", "u", "Uncertain: review", "uncertain", kit.KindUncertain),
		to("followups", "f", "Follow-ups", "follow-ups", kit.KindFollowUps),
		threadsOf("mine", "n", "Threads that need my answer", "my turn", ""),
		threadsOf("theirs", "w", "Threads that wait for their answer", "their turn", threads.Theirs),
		to("review", "v", "Review queue", "review", kit.KindReview),
		to("audit", "l", "Audit log", "log", kit.KindAudit),
		to("accounts", "c", "Accounts", "accounts", kit.KindAccounts),
	}
}

func (a *App) levels() [][]kit.Action {
	levels := [][]kit.Action{a.actions()}
	if s := a.top(); s != nil {
		levels = append([][]kit.Action{s.Actions()}, levels...)
	}
	return levels
}

func (a *App) key(msg tea.KeyPressMsg) tea.Cmd {
	a.notice.key()
	switch {
	case a.prompt != nil:
		return a.promptKey(msg)
	case len(a.dialogs) > 0:
		return a.dialogKey(msg)
	}
	top := a.top()
	if t, ok := top.(kit.Typist); ok && t.Typing() && kit.Edits(msg) {
		a.keys.Reset()
		return top.Update(msg)
	}
	hit, used := a.keys.Press(a.env.Keys, msg, a.levels()...)
	switch {
	case hit != nil:
		return a.do(hit)
	case used || top == nil:
		return nil
	}
	return top.Update(msg)
}

// do runs an action, or says why it cannot be run.
func (a *App) do(act *kit.Action) tea.Cmd {
	if ok, why := act.Can(); !ok {
		if act.ID == "app.back" {
			return nil
		}
		return kit.Say(kit.Info, act.Title+": "+why)
	}
	if act.Run == nil {
		return nil
	}
	return act.Run()
}

func (a *App) dialogKey(msg tea.KeyPressMsg) tea.Cmd {
	last := len(a.dialogs) - 1
	switch msg.String() {
	case "ctrl+c":
		a.dialogs = nil
		return nil
	case "esc":
		a.dialogs = a.dialogs[:last]
		return nil
	}
	return a.dialog(msg)
}

// dialog hands a message to the dialog on top and closes it when it is answered.
func (a *App) dialog(msg tea.Msg) tea.Cmd {
	last := len(a.dialogs) - 1
	cmd, done := a.dialogs[last].dialog.Update(msg)
	if done {
		a.dialogs = append(a.dialogs[:last:last], a.dialogs[last+1:]...)
	}
	return cmd
}

func (a *App) paste(msg tea.PasteMsg) tea.Cmd {
	switch {
	case a.prompt != nil:
		a.prompt.input.Update(msg)
		return nil
	case len(a.dialogs) > 0:
		return a.dialog(msg)
	case a.top() != nil:
		return a.top().Update(msg)
	}
	return nil
}

func (a *App) mouse(msg tea.MouseMsg) tea.Cmd {
	if n := len(a.dialogs); n > 0 {
		r := a.dialogs[n-1].area
		return a.dialog(kit.Shift(msg, -r.x, -r.y))
	}
	at := msg.Mouse()
	if r := a.area; a.top() != nil && at.Y >= r.y && at.Y < r.y+r.h {
		return a.top().Update(kit.Shift(msg, -r.x, -r.y))
	}
	return nil
}

func (a *App) help() tea.Cmd {
	return kit.Show(help.New(a.env, a.levels()...))
}

func (a *App) palette() tea.Cmd { return kit.Show(palette.New(a.env, a.levels()...)) }

// forward moves the demo's time, so that what is due in days can be watched.
func (a *App) forward() tea.Cmd {
	a.deps.Forward(24 * time.Hour)
	return kit.Say(kit.Info, "It is now "+a.env.Now().Format("Monday, 2 January 2006 15:04")+" here.")
}

func (a *App) sync() tea.Cmd {
	engine := a.engine
	return tea.Batch(kit.Say(kit.Info, "Syncing"), func() tea.Msg { engine.SyncNow(); return nil })
}

func (a *App) undo() tea.Cmd {
	return kit.Call(func(ctx context.Context) (tea.Msg, error) {
		what, err := a.engine.Undo(ctx)
		if err != nil {
			return nil, err
		}
		if what == "" {
			return kit.Notice{Text: "There is nothing to undo."}, nil
		}
		return undid{what, kit.Notice{Level: kit.Good, Text: "Undone: " + kit.Clean(what)}}, nil
	})
}

// undid is what undo took back.
type undid struct {
	what   string
	notice kit.Notice
}
