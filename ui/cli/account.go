package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skrzynka/mail"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

func (a *app) accountCommand() *cobra.Command {
	return group("account", "Accounts: where mail is read and sent",
		a.accountAdd(), a.accountList(), a.accountShow(), a.accountTest(), a.accountLogin(), a.accountRemove())
}

// findAccount returns the account of that name, the default one for "".
func findAccount(ctx context.Context, e Engine, name string) (view.Account, error) {
	all, err := e.ListAccounts(ctx)
	if err != nil {
		return view.Account{}, err
	}
	var names []string
	for _, acct := range all {
		if acct.Name == name || name == "" && acct.Default {
			return acct, nil
		}
		names = append(names, acct.Name)
	}
	hint := "Add one: skrzynka account add --email you@example.org."
	if len(names) > 0 {
		hint = "Use one of: " + strings.Join(names, ", ") + "."
	}
	return view.Account{}, mail.Errorf(mail.CodeNotFound, hint, "There is no account %s.", quoted(name))
}

// named is the account an argument or else --account names.
func (a *app) named(args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	return a.opts.Account
}

func (a *app) accountList() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List the configured accounts", Args: cobra.NoArgs}
	c.RunE = a.withEngine(func(ctx context.Context, e Engine, _ []string) error {
		all, err := e.ListAccounts(ctx)
		if err != nil {
			return err
		}
		if all == nil {
			all = []view.Account{}
		}
		return a.print(all, func(p *page) {
			rows := make([][]safe.Text, len(all))
			for i, acct := range all {
				mark := ""
				if acct.Default {
					mark = "default"
				}
				rows[i] = []safe.Text{cell(acct.Name), cell(acct.Email), cell(mark), cell(fmt.Sprintf("%d messages", acct.Messages))}
			}
			p.table([]int{24, 40, 8, 0}, rows)
		})
	})
	return c
}

func (a *app) accountShow() *cobra.Command {
	c := &cobra.Command{Use: "show [NAME]", Short: "Show one account", Args: cobra.MaximumNArgs(1)}
	c.RunE = a.withEngine(func(ctx context.Context, e Engine, args []string) error {
		acct, err := findAccount(ctx, e, a.named(args))
		if err != nil {
			return err
		}
		return a.print(acct, func(p *page) { accountText(p, &acct) })
	})
	return c
}

func accountText(p *page, acct *view.Account) {
	p.line(acct.Name)
	p.field("Name", acct.Display)
	p.field("Address", acct.Email)
	p.field("Aliases", strings.Join(acct.Aliases, ", "))
	p.field("IMAP", serverWords(acct.IMAP))
	p.field("SMTP", serverWords(acct.SMTP))
	p.field("Stored", fmt.Sprintf("%d messages, %d attempts", acct.Messages, acct.Attempts))
}

func serverWords(s view.Server) string {
	return fmt.Sprintf("%s:%d, %s, as %s", s.Host, s.Port, s.Security, s.Username)
}

func (a *app) accountTest() *cobra.Command {
	c := &cobra.Command{Use: "test [NAME]", Short: "Try to sign in to an account's servers; nothing is sent", Args: cobra.MaximumNArgs(1)}
	c.RunE = a.withEngine(func(ctx context.Context, e Engine, args []string) error {
		acct, err := findAccount(ctx, e, a.named(args))
		if err != nil {
			return err
		}
		checks, err := e.TestAccount(ctx, acct.Name)
		if err != nil {
			return err
		}
		if err := a.printChecks(checks); err != nil {
			return err
		}
		for _, ch := range checks {
			if !ch.OK && ch.Error != nil {
				return ch.Error
			}
			if !ch.OK {
				return mail.Errorf(mail.CodeInvalid, ch.Fix, "The check %q failed: %s.", ch.Name, ch.Found)
			}
		}
		return nil
	})
	return c
}

// printChecks prints the result of several checks: {"ok", "checks"}.
func (a *app) printChecks(checks []view.Check) error {
	if checks == nil {
		checks = []view.Check{}
	}
	ok := true
	for _, c := range checks {
		ok = ok && c.OK
	}
	v := struct {
		OK     bool         `json:"ok"`
		Checks []view.Check `json:"checks"`
	}{ok, checks}
	return a.print(v, func(p *page) {
		for _, c := range checks {
			state := "ok  "
			if !c.OK {
				state = "FAIL"
			}
			p.line(fmt.Sprintf("%s  %-16s %s", state, c.Name, c.Found))
			if c.Fix != "" {
				p.line("        " + c.Fix)
			}
		}
	})
}

// loginFlags are the flags of account login.
type loginFlags struct{ passwordStdin, device, paste bool }

func (a *app) accountLogin() *cobra.Command {
	var f loginFlags
	c := &cobra.Command{Use: "login [NAME]", Short: "Sign in with OAuth2, or store an account's password", Args: cobra.MaximumNArgs(1),
		Long: "Keeps what an account signs in with in the keyring of this session; it is never\n" +
			"written to a file, a log or the command line. With a password: --password-stdin.\n" +
			"With OAuth2, a browser of this machine is opened; what to do is said on standard\n" +
			"error. Over SSH, sign in with a browser elsewhere and --paste the address it ends\n" +
			"on, or type a code on another device with --device where the service has it."}
	c.Flags().BoolVar(&f.passwordStdin, "password-stdin", false, "read the password from standard input")
	c.Flags().BoolVar(&f.device, "device", false, "OAuth2: show a code to type in on another device")
	c.Flags().BoolVar(&f.paste, "paste", false, "OAuth2: read the address a browser elsewhere ended on from standard input")
	c.MarkFlagsMutuallyExclusive("password-stdin", "device", "paste")
	c.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		acct, err := a.Accounts.Find(a.opts.Config, a.named(args))
		if err != nil {
			return err
		}
		if acct.Auth == mail.AuthOAuth2 {
			err = a.signIn(cmd.Context(), acct, f)
		} else {
			err = a.storePassword(cmd.Context(), acct, f)
		}
		if err != nil {
			return err
		}
		return a.print(map[string]any{"ok": true, "account": acct.Name, "method": acct.Auth}, func(p *page) {
			if acct.Auth == mail.AuthOAuth2 {
				p.line("Signed in to " + acct.Name + ". Try it: skrzynka account test " + acct.Name)
				return
			}
			p.line("The password of " + acct.Name + " is in the keyring.")
		})
	})
	return c
}

func (a *app) storePassword(ctx context.Context, acct mail.Account, f loginFlags) error {
	if f.device || f.paste {
		return mail.Errorf(mail.CodeInvalid, `Signing in needs method = "oauth2" in its configuration; store a password with --password-stdin.`,
			"The account %q has a password.", acct.Name)
	}
	if !f.passwordStdin {
		return usage("a password is only read from standard input: --password-stdin")
	}
	password, err := a.readPassword()
	if err != nil {
		return err
	}
	return a.Accounts.StorePassword(ctx, acct, password)
}

func (a *app) signIn(ctx context.Context, acct mail.Account, f loginFlags) error {
	if f.passwordStdin {
		return mail.Errorf(mail.CodeInvalid, `A password needs method = "password" in its configuration.`,
			"The account %q signs in with %s, not with a password.", acct.Name, acct.Auth)
	}
	s := SignIn{State: a.opts.State, Device: f.device, Tell: a.tell}
	if f.paste {
		s.Paste = a.Stdin
	}
	return a.Accounts.SignIn(ctx, acct, s)
}

// tell shows a person what to do while a command runs: a line on standard
// error, or {"notice"} with --json.
func (a *app) tell(line string) {
	if !a.json {
		var p page
		p.line(line)
		_, _ = io.WriteString(a.Stderr, p.String())
		return
	}
	if b, err := encode(map[string]string{"notice": safe.Line(line).String()}); err == nil {
		_, _ = a.Stderr.Write(b)
	}
}

// readPassword reads one line of standard input, without its line end.
func (a *app) readPassword() (string, error) {
	b, err := io.ReadAll(io.LimitReader(a.Stdin, 64<<10))
	if err != nil {
		return "", &mail.Error{Code: mail.CodeInvalid, Text: "The password could not be read from standard input."}
	}
	s := strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
	if s == "" || strings.ContainsAny(s, "\r\n\x00") {
		return "", &mail.Error{Code: mail.CodeInvalid, Text: "Standard input does not hold a password of exactly one line.",
			Hint: "Pipe it in: printf %s \"$password\" | skrzynka account login --password-stdin."}
	}
	return s, nil
}

func (a *app) accountRemove() *cobra.Command {
	var yes bool
	c := &cobra.Command{Use: "remove NAME --yes", Short: "Remove an account with everything stored of it", Args: cobra.ExactArgs(1),
		Long: "Removes the account from the configuration, its stored mail, the attempts with\ntheir evidence and its password. Nothing on the server changes."}
	c.Flags().BoolVar(&yes, "yes", false, "really remove it")
	c.RunE = a.withEngine(func(ctx context.Context, e Engine, args []string) error {
		acct, err := findAccount(ctx, e, args[0])
		if err != nil {
			return err
		}
		if !yes {
			return mail.Errorf(mail.CodeConfirmationRequired, "Repeat the command with --yes; nothing was removed.",
				"Removing %s deletes %d stored messages and %d attempts with their evidence.", quoted(acct.Name), acct.Messages, acct.Attempts)
		}
		// The configuration goes first: it is the step that can be refused.
		conf, err := a.Accounts.Find(a.opts.Config, acct.Name)
		if err != nil {
			return err
		}
		backup, err := a.Accounts.Remove(a.opts.Config, acct.Name)
		if err != nil {
			return err
		}
		if err := e.RemoveAccount(ctx, acct.Name); err != nil {
			return err
		}
		// A keyring that is locked or absent must not keep the rest from going.
		forgotten := a.Accounts.Forget(ctx, conf) == nil
		v := map[string]any{"account": acct.Name, "removed": true, "messages": acct.Messages, "attempts": acct.Attempts,
			"config_backup": backup, "password_forgotten": forgotten}
		return a.print(v, func(p *page) {
			p.line("Removed " + acct.Name + ". The old configuration is kept in " + backup + ".")
			if !forgotten {
				p.line("Its password could not be removed from the keyring.")
			}
		})
	})
	return c
}
