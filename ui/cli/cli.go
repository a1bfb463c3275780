// Package cli is the second front end: the same engine and the same views as
// the screens, printed as text for people or as one JSON value for scripts.
// No command but the interface itself ever asks anything.
package cli

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"skrzynka/mail"
	"skrzynka/mail/view"
)

// The exit codes.
const (
	ExitOK        = 0
	ExitFailed    = 1 // the command failed, or a send ended failed
	ExitUsage     = 2 // the command line is wrong; nothing was done
	ExitUncertain = 3 // a send ended uncertain
)

// Engine is what the commands ask of the engine.
type Engine interface {
	ListAccounts(ctx context.Context) ([]view.Account, error)
	TestAccount(ctx context.Context, name string) ([]view.Check, error)
	RemoveAccount(ctx context.Context, name string) error

	Sync(ctx context.Context, account, folder string) (view.SyncReport, error)
	Folders(ctx context.Context, account string) ([]view.Folder, error)
	Messages(ctx context.Context, q view.ListQuery) (view.Page, error)
	Message(ctx context.Context, id int64) (view.Message, error)
	Raw(ctx context.Context, id int64) ([]byte, error)

	Reply(ctx context.Context, r view.ReplyRequest) (view.Attempt, error)
	Send(ctx context.Context, r view.SendRequest) (view.Attempt, error)

	Attempts(ctx context.Context, f view.AttemptFilter) ([]view.Attempt, error)
	Attempt(ctx context.Context, id string) (view.Attempt, error)
	Chain(ctx context.Context, id string) ([]view.Attempt, error)
	Probe(ctx context.Context, id string) (view.Probe, error)
	Resolve(ctx context.Context, id string, r mail.Resolution) (view.Attempt, error)
	Resend(ctx context.Context, id string, o view.ResendOptions) (view.Attempt, error)
	CopyAttempt(ctx context.Context, id string) (view.Attempt, error)
	Audit(ctx context.Context, subject string, limit int) ([]view.AuditRow, error)

	AnswersEngine
}

// Options are the global flags.
type Options struct {
	Config  string // the configuration's path
	State   string // the folder of database, locks and logs
	Account string // "" for the default, or for all where that makes sense
}

// Demo says where a running demo is. Addresses are host:port.
type Demo struct {
	Config string `json:"config"`
	State  string `json:"state"`
	IMAP   string `json:"imap"`
	SMTP   string `json:"smtp"`
	CAFile string `json:"ca_file"`
}

// Accounts changes the configuration and the keyring.
type Accounts interface {
	// Guess knows the servers of common services by the address.
	Guess(email string) (imap, smtp mail.Server, note string, ok bool)
	// Add appends the account to the configuration and returns it complete.
	Add(path string, a mail.Account) (mail.Account, error)
	// Find returns an account of the configuration.
	Find(path, name string) (mail.Account, error)
	// Remove cuts the account out and returns where the old file was kept.
	Remove(path, name string) (backup string, err error)
	// StorePassword puts the password into the keyring, Forget removes what is there.
	StorePassword(ctx context.Context, a mail.Account, password string) error
	Forget(ctx context.Context, a mail.Account) error
	// SignIn signs in to an account with OAuth2 and keeps what renews the sign-in.
	SignIn(ctx context.Context, a mail.Account, s SignIn) error
}

// SignIn is how a person signs in with OAuth2.
type SignIn struct {
	State  string            // the state folder
	Device bool              // with a code typed in on another device
	Paste  io.Reader         // where the address a browser elsewhere ended on is read from; nil: a browser of this machine
	Tell   func(line string) // shows a person what to do
}

// Deps are the program's parts, put together by main; every field is required.
type Deps struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	StdoutTerminal bool // raw mail is cleaned before it is shown on a terminal
	Version        string
	Defaults       Options // used for the flags that are not given

	Open      func(ctx context.Context, o Options) (Engine, func() error, error)
	Accounts  Accounts
	LoadFile  func(path string) (mail.Attachment, error)
	Doctor    func(ctx context.Context, o Options) ([]view.Check, error)
	RunTUI    func(ctx context.Context, o Options) error
	RunDemo   func(ctx context.Context, o Options) error
	ServeDemo func(ctx context.Context, o Options, ready func(Demo) error) error
}

// app is one run of the program.
type app struct {
	Deps
	opts Options
	json bool
}

// Main runs one command line and returns the exit code.
func Main(ctx context.Context, d Deps) int {
	a := &app{Deps: d, opts: d.Defaults, json: wantsJSON(d.Args)}
	root := a.root()
	root.SetArgs(d.Args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitOK
	}
	// What did not come out of a command is the flag parser's complaint.
	var done *failure
	if !errors.As(err, &done) {
		done = usage(err.Error())
	}
	a.printError(done.err)
	return done.code
}

// wantsJSON looks for --json before the flags are parsed, so that a wrong
// command line is answered in the form that was asked for.
func wantsJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// failure is an error with the exit code it ends the program with.
type failure struct {
	err  *mail.Error
	code int
}

func (f *failure) Error() string { return f.err.Error() }

// codeUsage is the code of a wrong command line.
const codeUsage mail.Code = "USAGE"

func usage(text string) *failure {
	text = strings.ToUpper(text[:min(1, len(text))]) + text[min(1, len(text)):]
	if !strings.HasSuffix(text, "?") {
		text = strings.TrimSuffix(text, ".") + "."
	}
	return &failure{code: ExitUsage, err: &mail.Error{Code: codeUsage, Text: text, Hint: "See skrzynka help."}}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "skrzynka",
		Short: "A terminal mailbox client whose delivery badges are true",
		Long: "Without a command, Skrzynka opens its terminal interface. Every other command is\n" +
			"non-interactive. Exit codes: 0 done, 1 failed, 2 wrong command line, 3 a send\n" +
			"ended uncertain: it may have been accepted, see skrzynka attempts probe.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       a.Version,
		Args:          a.onlyCommands,
		RunE: a.run(func(cmd *cobra.Command, _ []string) error {
			if a.json {
				return usage("--json needs a command")
			}
			return a.RunTUI(cmd.Context(), a.opts)
		}),
	}
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	f := root.PersistentFlags()
	f.StringVar(&a.opts.Config, "config", a.opts.Config, "configuration `FILE`")
	f.StringVar(&a.opts.State, "state", a.opts.State, "`FOLDER` of the database, locks and logs")
	f.StringVar(&a.opts.Account, "account", "", "account `NAME`")
	f.BoolVar(&a.json, "json", a.json, "print one JSON value, and errors as JSON on standard error")
	root.SetVersionTemplate("skrzynka {{.Version}}\n")
	root.AddCommand(a.demoCommand(), a.accountCommand(), a.syncCommand(), a.listCommand(), a.showCommand(), a.rawCommand(),
		a.replyCommand(), a.sendCommand(), a.attemptsCommand(),
		a.followupCommand(), a.reviewCommand(), a.contactCommand(), a.eventsCommand(), a.workerCommand(), a.auditCommand(), a.doctorCommand(), a.manCommand(), a.versionCommand())
	a.completeGroups(root)
	return root
}

// completeGroups makes the commands that only hold others refuse anything else:
// by itself cobra prints help for them and reports success.
func (a *app) completeGroups(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if !c.HasSubCommands() || c.RunE != nil {
			continue
		}
		var names []string
		for _, sub := range c.Commands() {
			names = append(names, sub.Name())
		}
		text := c.Name() + " needs a command: " + strings.Join(names, ", ")
		c.Args = a.onlyCommands
		c.RunE = func(*cobra.Command, []string) error { return usage(text) }
	}
}

// run makes a command's function out of one that returns a *failure, or any
// other error, which is a failed command.
func (a *app) run(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := f(cmd, args)
		var done *failure
		if err == nil || errors.As(err, &done) {
			return err
		}
		return &failure{err: mail.AsError(err), code: ExitFailed}
	}
}

// withEngine is run with an open engine.
func (a *app) withEngine(f func(ctx context.Context, e Engine, args []string) error) func(*cobra.Command, []string) error {
	return a.run(func(cmd *cobra.Command, args []string) error {
		e, closeEngine, err := a.Open(cmd.Context(), a.opts)
		if err != nil {
			return err
		}
		// Whatever the command reported is committed; a failure to close changes
		// none of it, and must not make a sent message look unsent.
		defer func() { _ = closeEngine() }()
		return f(cmd.Context(), e, args)
	})
}

// group is a command that only holds others; completeGroups makes it refuse
// to run.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{Use: use, Short: short}
	g.AddCommand(commands...)
	return g
}

// onlyCommands refuses an argument where only a command's name can stand.
func (a *app) onlyCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := "there is no command " + quoted(args[0])
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return usage(text)
}
