// Skrzynka is a terminal mailbox client. See README.md; the map of the code is
// in CONTRIBUTING.md and in the documentation of package mail.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"skrzynka/auth"
	"skrzynka/config"
	"skrzynka/mail"
	"skrzynka/mail/engine"
	"skrzynka/mail/loopback"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
	"skrzynka/store"
	"skrzynka/ui"
	"skrzynka/ui/cli"
	"skrzynka/ui/demo"
	"skrzynka/ui/kit"
)

func main() { os.Exit(run(os.Args[1:])) }

// program is what main knows: the environment and where things are. It is the
// only place that knows every room.
type program struct {
	env   config.Env
	paths config.Paths
	ring  *auth.Keyring
	state string     // the state folder of the interface that runs
	clock mail.Clock // nil is the machine's; the demo's can be moved
}

func run(args []string) int {
	// What a library logs must not be painted into the interface.
	log.SetOutput(io.Discard)
	// The first interrupt asks to stop, the second ends the program at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		<-ctx.Done()
		stop()
	}()
	env := config.Environment()
	p := &program{env: env, paths: env.Paths(), ring: auth.NewKeyring(auth.OSRing(env.Lookup))}
	if len(args) == 2 && args[0] == "demo" && args[1] == "password" {
		fmt.Println(loopback.DemoPassword) // what the demo's own configuration asks for
		return 0
	}
	return cli.Main(ctx, cli.Deps{
		Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, StdoutTerminal: isTerminal(os.Stdout), Version: version(),
		Defaults: cli.Options{Config: p.paths.ConfigFile, State: p.paths.StateDir},
		Open:     p.open, Accounts: accounts{p}, LoadFile: engine.LoadFile, Doctor: p.doctor,
		RunTUI: p.runTUI, RunDemo: p.runDemo, ServeDemo: p.serveDemo,
	})
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// credentials is where accounts' secrets come from: their password_command,
// else the keyring, or a token that is renewed. state is the state folder.
func (p *program) credentials(state string) auth.Source {
	return &auth.Sources{Command: auth.Command{}, ByMethod: map[mail.AuthMethod]auth.Source{
		mail.AuthPassword: p.ring, mail.AuthOAuth2: p.oauth2(state)}}
}

// oauth2 signs in with OAuth2; its locks lie beside those of live processes.
func (p *program) oauth2(state string) *auth.OAuth2 {
	return auth.NewOAuth2(p.ring, filepath.Join(state, "run"))
}

func (p *program) load(path string) (*config.Config, error) {
	return config.Loader{ValidateKeys: validateKeys}.Load(path)
}

// validateKeys asks the interface about [keys], which config cannot know.
func validateKeys(keys map[string]string) []config.Problem {
	if err := ui.ValidateKeys(keys); err != nil {
		e := mail.AsError(err)
		return []config.Problem{{Problem: strings.TrimSuffix(e.Text, "."), Fix: "correct the table"}}
	}
	return nil
}

// open opens the store and an engine over it for one command.
func (p *program) open(ctx context.Context, o cli.Options) (cli.Engine, func() error, error) {
	cfg, err := p.load(o.Config)
	if err != nil {
		return nil, nil, err
	}
	e, closer, err := p.engine(ctx, cfg, o.State, p.credentials(o.State))
	if err != nil {
		return nil, nil, err
	}
	if o.Account != "" {
		e.DefaultAccount = o.Account
	}
	return e, closer, nil
}

// engine opens the store in dir, settles what dead processes left behind, and
// returns an engine with the function that closes both.
func (p *program) engine(ctx context.Context, cfg *config.Config, dir string, creds auth.Source) (*engine.Engine, func() error, error) {
	st, err := store.Open(ctx, dir, store.Options{Actor: mail.ActorPerson, Clock: p.clock})
	if err != nil {
		return nil, nil, err
	}
	if err := st.SyncAccounts(ctx, cfg.Accounts); err != nil {
		return nil, nil, errors.Join(err, st.Close())
	}
	e := engine.New(engine.Options{Store: st, Owner: st.Owner(), Accounts: cfg.Accounts, DefaultAccount: cfg.Default,
		Outbox: cfg.Outbox, PollInterval: cfg.Sync.PollInterval, Credentials: creds, Clock: p.clock})
	if _, err := e.Recover(ctx); err != nil {
		return nil, nil, errors.Join(err, st.Close())
	}
	return e, func() error {
		e.StopSends()
		e.Wait()
		return st.Close()
	}, nil
}

// runTUI opens the interface on the configured accounts, and first the page
// that adds one when there is none. An account that was added is there at once.
func (p *program) runTUI(ctx context.Context, o cli.Options) error {
	for {
		cfg, err := p.load(o.Config)
		start := kit.Page{}
		switch {
		case errors.Is(err, mail.ErrCode(mail.CodeConfigMissing)):
			cfg, start = &config.Config{}, kit.Page{Kind: kit.KindFirstRun}
		case err != nil:
			return err
		case len(cfg.Accounts) == 0:
			start = kit.Page{Kind: kit.KindFirstRun}
		}
		s := &setup{accounts: accounts{p}, path: o.Config}
		if err := p.interact(ctx, cfg, o.State, p.credentials(o.State), ui.Deps{Start: start, Setup: s}); err != nil {
			return err
		}
		switch {
		case s.demo:
			return p.runDemo(ctx, cli.Options{State: p.paths.StateDir})
		case !s.saved || ctx.Err() != nil:
			return nil
		}
	}
}

// interact runs the interface with everything in the background, and stays
// until what was handed over has its answer.
func (p *program) interact(ctx context.Context, cfg *config.Config, dir string, creds auth.Source, d ui.Deps) error {
	e, closer, err := p.engine(ctx, cfg, dir, creds)
	if err != nil {
		return err
	}
	p.state = dir
	if s, ok := d.Setup.(*setup); ok {
		s.engine = e
	}
	background, cancel := context.WithCancel(ctx)
	e.StartBackground(background)
	err = ui.Run(ctx, p.deps(d, e, cfg))
	cancel()
	p.waitForSends(ctx, e)
	return errors.Join(err, closer())
}

// waitForSends gives messages that are on their way the time to be settled. A
// person who does not want to wait interrupts; what was handed over is then
// uncertain, and says so at the next start.
func (p *program) waitForSends(ctx context.Context, e *engine.Engine) {
	for told := false; e.InFlight() > 0 && ctx.Err() == nil; {
		if !told {
			fmt.Fprintf(os.Stderr, "Waiting for the server's answer to %d message(s). Ctrl+C leaves now: what was handed over is then uncertain.\n", e.InFlight())
			told = true
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (p *program) deps(d ui.Deps, e *engine.Engine, cfg *config.Config) ui.Deps {
	d.Engine, d.Theme, d.Keys = e, cfg.UI.Theme, cfg.Keys
	d.ASCII, d.NoColor = cfg.UI.ASCII || !p.env.UTF8, p.env.NoColor
	d.Editor, d.DownloadDir, d.Crash = p.env.EditorCommand(cfg.UI.Editor), p.paths.DownloadDir, p.crash
	if p.env.Display {
		d.Open = openLink
	}
	return d
}

// crash keeps the report of a panic beside the database and says where; the
// report holds no text of any mail.
func (p *program) crash(report []byte) {
	path := filepath.Join(p.state, "crash-"+time.Now().UTC().Format("20060102T150405")+".log")
	if err := os.WriteFile(path, report, 0o600); err == nil {
		fmt.Fprintln(os.Stderr, "Skrzynka met a fault of its own. What it knows of it is in "+path+". Drafts and attempts are stored.")
	}
}

// openLink hands a link to the desktop, without a shell.
func openLink(url string) error {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return mail.Errorf(mail.CodeUnsupported, "Copy the link instead.", "No program of this machine opens links.")
	}
	go func() { _ = cmd.Wait() }()
	return nil
}

// runDemo opens the interface on servers inside this process.
func (p *program) runDemo(ctx context.Context, o cli.Options) error {
	d, err := demo.Start(p.demoState(o), nil)
	if err != nil {
		return err
	}
	defer d.Close()
	cfg := d.Config
	// Short enough to watch, long enough to take a send back.
	cfg.Outbox.UndoWindow = 3 * time.Second
	creds := auth.Static{cfg.Default: auth.NewSecret(d.Servers.Password)}
	p.clock = d.Clock
	return p.interact(ctx, cfg, d.Dir, creds, ui.Deps{DemoNote: "DEMO, + moves time a day forward, state in " + d.Dir, Clock: d.Clock, Forward: d.Clock.Forward})
}

// serveDemo runs the demo's servers for other processes until ctx ends.
func (p *program) serveDemo(ctx context.Context, o cli.Options, ready func(cli.Demo) error) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	d, err := demo.Start(p.demoState(o), []string{exe, "demo", "password"})
	if err != nil {
		return err
	}
	defer d.Close()
	err = ready(cli.Demo{Config: d.Config.Path, State: d.Dir, IMAP: d.Servers.IMAPAddr, SMTP: d.Servers.SMTPAddr,
		CAFile: filepath.Join(d.Dir, "ca.pem")})
	if err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// demoState is the folder that was asked for, never the user's own.
func (p *program) demoState(o cli.Options) string {
	if o.State == p.paths.StateDir {
		return ""
	}
	return o.State
}

// doctor says what works on this machine.
func (p *program) doctor(ctx context.Context, o cli.Options) ([]view.Check, error) {
	out := []view.Check{p.checkTerminal(), p.checkKeyring(ctx)}
	cfg, err := p.load(o.Config)
	if err != nil {
		out = append(out, failedCheck("configuration", err))
		for _, pr := range config.Problems(err) {
			out = append(out, view.Check{Name: "configuration", Found: safe.Line(pr.Path + ": " + pr.Problem), Fix: pr.Fix})
		}
		return out, nil
	}
	out = append(out, view.Check{Name: "configuration", OK: true, Found: safe.Line(fmt.Sprintf("%s: %d account(s)", cfg.Path, len(cfg.Accounts)))})
	for _, w := range cfg.Warnings {
		out = append(out, view.Check{Name: "configuration", Found: safe.Line(w.Path + ": " + w.Problem), Fix: w.Fix})
	}
	e, closer, err := p.engine(ctx, cfg, o.State, p.credentials(o.State))
	if err != nil {
		return append(out, failedCheck("database", err)), nil
	}
	defer closer()
	out = append(out, view.Check{Name: "database", OK: true, Found: safe.Line(filepath.Join(o.State, "skrzynka.db"))})
	for _, a := range cfg.Accounts {
		if o.Account != "" && a.Name != o.Account {
			continue
		}
		checks, err := e.TestAccount(ctx, a.Name)
		if err != nil {
			return out, err
		}
		for _, c := range checks {
			c.Name = a.Name + " " + c.Name
			out = append(out, c)
		}
	}
	return out, nil
}

func (p *program) checkTerminal() view.Check {
	c := view.Check{Name: "terminal", OK: true, Found: safe.Line(p.env.Term + ", " + p.env.Locale)}
	switch {
	case p.env.Term == "" || p.env.Term == "dumb":
		c.OK, c.Fix = false, "Set TERM to what your terminal is, for instance xterm-256color."
	case !p.env.UTF8:
		c.OK, c.Fix = false, "The locale is not UTF-8: set LANG to one that is, or ui.ascii = true."
	}
	return c
}

func (p *program) checkKeyring(ctx context.Context) view.Check {
	if err := p.ring.Ready(ctx); err != nil {
		return failedCheck("keyring", err)
	}
	return view.Check{Name: "keyring", OK: true, Found: safe.Line("reachable")}
}

func failedCheck(name string, err error) view.Check {
	e := mail.AsError(err)
	return view.Check{Name: name, Found: safe.Line(e.Text), Fix: e.Hint, Error: e}
}

// accounts changes the configuration and the keyring for the command line.
type accounts struct{ p *program }

func (a accounts) Guess(email string) (imap, smtp mail.Server, note string, ok bool) {
	return config.Guess(email)
}

func (a accounts) Add(path string, acct mail.Account) (mail.Account, error) {
	if err := config.AppendAccount(path, acct); err != nil {
		return mail.Account{}, err
	}
	return a.Find(path, acct.Name)
}

func (a accounts) Find(path, name string) (mail.Account, error) {
	cfg, err := a.p.load(path)
	if err != nil {
		return mail.Account{}, err
	}
	return cfg.Account(name)
}

func (a accounts) Remove(path, name string) (string, error) { return config.RemoveAccount(path, name) }

func (a accounts) StorePassword(ctx context.Context, acct mail.Account, password string) error {
	return a.p.ring.Store(ctx, &acct, auth.NewSecret(password))
}

func (a accounts) SignIn(ctx context.Context, acct mail.Account, s cli.SignIn) error {
	o := auth.LoginOptions{Device: s.Device, Paste: s.Paste, Tell: s.Tell}
	if a.p.env.Display {
		o.Open = openLink
	}
	return a.p.oauth2(s.State).Login(ctx, &acct, o)
}

func (a accounts) Forget(ctx context.Context, acct mail.Account) error {
	// Both: the account may have had another method once.
	return errors.Join(a.p.ring.Forget(ctx, &acct), a.p.oauth2(a.p.paths.StateDir).Forget(ctx, &acct))
}

// setup adds accounts for the interface.
type setup struct {
	accounts
	path   string
	engine *engine.Engine
	saved  bool
	demo   bool
}

func (s *setup) Test(ctx context.Context, acct mail.Account, password string) []view.Check {
	return s.engine.Try(ctx, &acct, auth.Static{acct.Name: auth.NewSecret(password)})
}

// Save stores the password first: a configuration whose password is missing
// would be an account that cannot sign in.
func (s *setup) Save(ctx context.Context, acct mail.Account, password string) error {
	if err := s.StorePassword(ctx, acct, password); err != nil {
		return err
	}
	if _, err := s.Add(s.path, acct); err != nil {
		return err
	}
	s.saved = true
	return nil
}

func (s *setup) Demo() tea.Cmd {
	s.demo = true
	return tea.Quit
}
