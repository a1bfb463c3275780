// Package ui is the terminal interface: one Bubble Tea model that owns the
// size, the focus, the stack of pages, keys, dialogs and notices. Pages live in
// ui/screen, what they share in ui/kit.
package ui

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/screen/accounts"
	"skrzynka/ui/screen/attempt"
	"skrzynka/ui/screen/attempts"
	"skrzynka/ui/screen/composer"
	"skrzynka/ui/screen/drafts"
	"skrzynka/ui/screen/firstrun"
	"skrzynka/ui/screen/followups"
	"skrzynka/ui/screen/mailbox"
	"skrzynka/ui/screen/raw"
	"skrzynka/ui/screen/retry"
	"skrzynka/ui/screen/review"
	"skrzynka/ui/screen/threads"
	"skrzynka/ui/screen/timeline"
	"skrzynka/ui/screen/uncertain"
)

// Engine is everything the screens call, and what the app itself does.
type Engine interface {
	mailbox.Engine
	raw.Engine
	composer.Engine
	drafts.Engine
	attempts.Engine
	attempt.Engine
	retry.Engine
	uncertain.Engine
	timeline.Engine
	accounts.Engine
	followups.Engine
	review.Engine
	threads.Engine

	Subscribe(buffer int) (<-chan view.Change, func())
	SyncNow()
	Undo(ctx context.Context) (what string, err error)
}

// Deps is what the interface is made from.
type Deps struct {
	Engine Engine
	Clock  mail.Clock     // nil: the machine's
	Zone   *time.Location // nil: the machine's

	Theme   string            // "auto", "dark" or "light"
	Palette map[string]string // single colours by role, see kit.Roles
	NoColor bool
	ASCII   bool
	Keys    map[string]string // action id to key, see ValidateKeys

	Editor      string
	DownloadDir string
	DemoNote    string                 // shown in the header when not empty
	Forward     func(d time.Duration)  // moves the demo's time; nil outside of it
	Open        func(url string) error // shows a link in the browser; may be nil
	Start       kit.Page               // the first page; zero is the mail
	// Setup adds accounts; nil: accounts are added on the command line only.
	// When it has saved one, Run returns, to be called again with what is
	// configured now.
	Setup firstrun.Setup
	// Crash is given a report when a screen panics, before the terminal is
	// restored and the program ends; it has no text of any mail.
	Crash func(report []byte)
	// After replaces the timer in tests.
	After func(d time.Duration, msg tea.Msg) tea.Cmd
}

// withSetup carries the setup to the one page that needs it.
type withSetup struct {
	Engine
	firstrun.Setup
}

// App is the root model.
type App struct {
	deps   Deps
	env    *kit.Env
	engine Engine

	w, h     int
	opened   uint64 // Order of the newest navigation that was taken
	stack    []entry
	dialogs  []shown
	keys     kit.Resolver
	notice   notice
	undone   kit.Notice // of the newest send that can still be taken back
	prompt   *prompt
	leaving  []int64 // the drafts that are sent before the program ends
	counts   kit.Load[view.Counts]
	progress map[string]view.SyncProgress

	changes  <-chan view.Change
	stop     func()
	waiting  map[view.Topic]view.Change
	throttle bool
	area     rect // of the page, in the last frame
}

type entry struct {
	page   kit.Page
	screen kit.Screen
}

type shown struct {
	dialog kit.Dialog
	area   rect
}

type rect struct{ x, y, w, h int }

// New makes the root model. The error names a key or colour of the
// configuration that cannot be used.
func New(d Deps) (*App, error) {
	if d.Clock == nil {
		d.Clock = mail.SystemClock{}
	}
	if d.Zone == nil {
		d.Zone = time.Local
	}
	if d.After == nil {
		d.After = kit.After
	}
	if d.Start.Kind == "" {
		d.Start.Kind = kit.KindMail
	}
	if err := ValidateKeys(d.Keys); err != nil {
		return nil, err
	}
	if err := kit.CheckPalette(d.Palette); err != nil {
		return nil, err
	}
	if d.Setup != nil {
		d.Engine = withSetup{d.Engine, d.Setup}
	}
	keys, err := kit.ParseKeymap(d.Keys)
	if err != nil {
		return nil, err
	}
	a := &App{deps: d, engine: d.Engine, progress: map[string]view.SyncProgress{}, waiting: map[view.Topic]view.Change{}}
	a.env = &kit.Env{Clock: d.Clock, Zone: d.Zone, Keys: keys, Editor: d.Editor, DownloadDir: d.DownloadDir, Open: d.Open, After: d.After,
		Theme: kit.NewTheme(kit.ThemeOptions{Dark: d.Theme != "light", NoColor: d.NoColor, ASCII: d.ASCII, Palette: d.Palette})}
	return a, nil
}

// Run shows the interface until it is quit or ctx ends.
func Run(ctx context.Context, d Deps) error {
	app, err := New(d)
	if err != nil {
		return err
	}
	defer app.unsubscribe()
	if _, err = tea.NewProgram(app, tea.WithContext(ctx)).Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("the terminal interface ended: %w", err)
	}
	return nil
}

// Init implements tea.Model.
func (a *App) Init() tea.Cmd {
	a.changes, a.stop = a.engine.Subscribe(64)
	cmds := []tea.Cmd{a.open(a.deps.Start, false), a.readCounts(), a.wait(), a.minute()}
	if a.deps.Theme == "" || a.deps.Theme == "auto" {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	return tea.Batch(cmds...)
}

func (a *App) unsubscribe() {
	if a.stop != nil {
		a.stop()
		a.stop = nil
	}
}

func (a *App) readCounts() tea.Cmd {
	return a.counts.Start(func(ctx context.Context) (view.Counts, error) { return a.engine.Counts(ctx) })
}

func (a *App) top() kit.Screen {
	if len(a.stack) == 0 {
		return nil
	}
	return a.stack[len(a.stack)-1].screen
}

// Update implements tea.Model. A panic of a screen is reported and goes on to
// Bubble Tea, which restores the terminal and ends the program.
func (a *App) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	defer a.report()
	return a, a.update(msg)
}

func (a *App) report() {
	r := recover()
	if r == nil {
		return
	}
	if a.deps.Crash != nil {
		// The panic's own words may quote a mail: its type and the stack do not.
		a.deps.Crash(fmt.Appendf(nil, "panic of type %T at %s\n\n%s", r, a.env.Now().Format(time.RFC3339), debug.Stack()))
	}
	panic(r)
}

func (a *App) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case nil, tea.KeyReleaseMsg:
		return nil
	case tea.WindowSizeMsg:
		a.w, a.h = msg.Width, msg.Height
		return a.broadcast(kit.Resized{})
	case tea.KeyPressMsg:
		return a.key(msg)
	case tea.PasteMsg:
		return a.paste(msg)
	case tea.MouseMsg:
		return a.mouse(msg)
	case tea.BackgroundColorMsg:
		if a.deps.Theme == "" || a.deps.Theme == "auto" {
			return a.retheme(func(o *kit.ThemeOptions) { o.Dark = msg.IsDark() })
		}
		return nil
	case tea.ColorProfileMsg:
		return a.retheme(func(o *kit.ThemeOptions) {
			o.NoColor = a.deps.NoColor || msg.Profile <= colorprofile.ASCII
			o.Basic = msg.Profile == colorprofile.ANSI
		})
	case kit.Navigate:
		return a.navigate(msg)
	case kit.Notice:
		return a.show(msg)
	case expired:
		a.notice.expire(msg)
		return nil
	case counting:
		return a.countDown(msg)
	case firstrun.Saved:
		return a.end()
	case unkept:
		return a.unkept(msg)
	case unclosed:
		return a.loss(msg.why, "Quit", func() tea.Cmd { return tea.Quit })
	case ending:
		return a.ending(msg)
	case lastSends:
		return a.lastSends(msg)
	case undid:
		return tea.Batch(a.show(msg.notice), a.reopen(msg.what))
	case kit.ShowDialog:
		a.dialogs = append(a.dialogs, shown{dialog: msg.Dialog})
		return nil
	case changed:
		return tea.Batch(a.change(msg), a.wait())
	case view.Change:
		return a.change(changed{msg})
	case flush:
		return a.flush()
	case minute:
		return a.minute() // ages on the screen are drawn anew
	}
	if a.counts.Take(msg) {
		return nil
	}
	return a.broadcast(msg)
}

// broadcast hands a message to every live page and dialog: results find their
// own by generation.
func (a *App) broadcast(msg tea.Msg) tea.Cmd {
	cmds := make([]tea.Cmd, 0, len(a.stack)+len(a.dialogs))
	for _, e := range a.stack {
		cmds = append(cmds, e.screen.Update(msg))
	}
	for i := 0; i < len(a.dialogs); i++ {
		cmd, done := a.dialogs[i].dialog.Update(msg)
		cmds = append(cmds, cmd)
		if done {
			a.dialogs = append(a.dialogs[:i], a.dialogs[i+1:]...)
			i--
		}
	}
	return tea.Batch(cmds...)
}

func (a *App) retheme(edit func(*kit.ThemeOptions)) tea.Cmd {
	o := a.env.Theme.ThemeOptions
	edit(&o)
	if o.Dark == a.env.Theme.Dark && o.NoColor == a.env.Theme.NoColor && o.Basic == a.env.Theme.Basic {
		return nil
	}
	*a.env.Theme = *kit.NewTheme(o)
	return a.broadcast(kit.ThemeChanged{})
}

type minute struct{}

func (a *App) minute() tea.Cmd { return a.env.After(time.Minute, minute{}) }
