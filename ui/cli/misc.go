package cli

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"skrzynka/mail"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

func (a *app) demoCommand() *cobra.Command {
	c := &cobra.Command{Use: "demo", Short: "Try everything on a sample mailbox with servers of its own", Args: a.onlyCommands,
		Long: "Starts mail servers inside the program, on this machine only, with a sample\nmailbox, and opens the interface on it. Nothing leaves the machine."}
	c.RunE = a.run(func(cmd *cobra.Command, _ []string) error {
		if a.json {
			return usage("--json is for demo serve")
		}
		return a.RunDemo(cmd.Context(), a.opts)
	})
	serve := &cobra.Command{Use: "serve", Short: "Run the demo's servers alone until interrupted", Args: cobra.NoArgs,
		Long: "Prints one line of JSON, which names the configuration to use with --config, the\nservers' addresses and their certificate authority, and serves until interrupted."}
	serve.RunE = a.run(func(cmd *cobra.Command, _ []string) error {
		return a.ServeDemo(cmd.Context(), a.opts, func(d Demo) error {
			a.json = true // the line is for programs in any case
			return a.print(d, nil)
		})
	})
	c.AddCommand(serve)
	return c
}

func (a *app) auditCommand() *cobra.Command {
	var subject string
	var limit int
	c := &cobra.Command{Use: "audit", Short: "Show what happened, when, who did it and why", Args: cobra.NoArgs,
		Long: "Prints the timeline, newest first, of everything or of one thing: attempt:ID,\nmessage:ID, contact:ADDRESS, plan:ID."}
	c.Flags().StringVar(&subject, "subject", "", "only what concerns this thing (`ID`)")
	c.Flags().IntVar(&limit, "limit", 200, "at most `N` entries")
	c.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		if limit < 1 || limit > maxRows {
			return usage(fmt.Sprintf("--limit is %d; write a number from 1 to %d", limit, maxRows))
		}
		return a.withEngine(func(ctx context.Context, e Engine, _ []string) error {
			rows, err := e.Audit(ctx, subject, limit)
			if err != nil {
				return err
			}
			if rows == nil {
				rows = []view.AuditRow{}
			}
			return a.print(rows, func(p *page) { auditText(p, rows) })
		})(cmd, args)
	})
	return c
}

func auditText(p *page, rows []view.AuditRow) {
	cells := make([][]safe.Text, len(rows))
	for i, r := range rows {
		what := r.Subject.String()
		if !r.From.Empty() || !r.To.Empty() {
			what += ": " + r.From.String() + " -> " + r.To.String()
		}
		if !r.Why.Empty() {
			what += " (" + r.Why.String() + ")"
		}
		cells[i] = []safe.Text{cell(r.At.Local().Format("2006-01-02 15:04:05")), cell(string(r.Actor)), cell(r.Action), cell(what)}
	}
	p.table([]int{19, 10, 28, 0}, cells)
}

func (a *app) doctorCommand() *cobra.Command {
	c := &cobra.Command{Use: "doctor", Short: "Say what works on this machine, and how to mend the rest", Args: cobra.NoArgs,
		Long: "Checks the configuration, the keyring, the terminal, the database and the servers.\nA finding is not a failure: the exit code is 0 when the checks could be made."}
	c.RunE = a.run(func(cmd *cobra.Command, _ []string) error {
		checks, err := a.Doctor(cmd.Context(), a.opts)
		if err != nil {
			return err
		}
		return a.printChecks(checks)
	})
	return c
}

func (a *app) versionCommand() *cobra.Command {
	c := &cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs}
	c.RunE = a.run(func(*cobra.Command, []string) error {
		v := map[string]string{"version": a.Version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
		return a.print(v, func(p *page) { p.line("skrzynka " + a.Version) })
	})
	return c
}

func (a *app) manCommand() *cobra.Command {
	c := &cobra.Command{Use: "man FOLDER", Short: "Write the manual pages into a folder", Args: cobra.ExactArgs(1)}
	c.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		root := cmd.Root()
		root.DisableAutoGenTag = true
		// The path of this machine's files is no default worth printing.
		for _, name := range []string{"config", "state"} {
			root.PersistentFlags().Lookup(name).DefValue = ""
		}
		err := os.MkdirAll(args[0], 0o755)
		if err == nil {
			err = doc.GenManTree(root, &doc.GenManHeader{Title: "SKRZYNKA", Section: "1", Source: "skrzynka " + a.Version, Manual: "Skrzynka"}, args[0])
		}
		if err != nil {
			return mail.Errorf(mail.CodeInvalid, "Name a folder that can be written.", "The manual pages cannot be written to %s.", safe.Line(args[0]))
		}
		return a.print(map[string]string{"folder": args[0]}, func(p *page) { p.line("The manual pages are in " + args[0] + ".") })
	})
	return c
}
