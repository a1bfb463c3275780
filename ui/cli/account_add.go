package cli

import (
	"context"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"skrzynka/mail"
	"skrzynka/mail/view"
)

// addFlags are the flags of account add.
type addFlags struct {
	mail.Account
	imapSecurity, smtpSecurity, auth string
	caFile                           string
	passwordStdin                    bool
}

func (a *app) accountAdd() *cobra.Command {
	var f addFlags
	c := &cobra.Command{Use: "add [NAME] --email ADDRESS", Short: "Add an account to the configuration", Args: cobra.MaximumNArgs(1),
		Long: "Appends the account to the configuration, which is made when it is not there yet;\n" +
			"nothing else in the file changes. NAME is what --account takes, by default the part\n" +
			"of the address before the @. The servers of common services are known; give\n" +
			"--imap-host and --smtp-host for others. Try it then: skrzynka account test."}
	fs := c.Flags()
	fs.StringVar(&f.Email, "email", "", "the `ADDRESS`")
	fs.StringVar(&f.DisplayName, "name", "", "the `NAME` shown beside the address")
	fs.StringArrayVar(&f.Aliases, "alias", nil, "another `ADDRESS` of the account; may be repeated")
	fs.StringVar(&f.IMAP.Host, "imap-host", "", "the server mail is read from (`HOST`)")
	fs.IntVar(&f.IMAP.Port, "imap-port", 0, "its `PORT` (default 993)")
	fs.StringVar(&f.imapSecurity, "imap-security", "", "tls or starttls (`HOW`)")
	fs.StringVar(&f.IMAP.Username, "username", "", "the `NAME` to sign in with (default: the address)")
	fs.StringVar(&f.SMTP.Host, "smtp-host", "", "the server mail is sent by (`HOST`)")
	fs.IntVar(&f.SMTP.Port, "smtp-port", 0, "its `PORT` (default 587)")
	fs.StringVar(&f.smtpSecurity, "smtp-security", "", "starttls or tls (`HOW`)")
	fs.StringVar(&f.SMTP.Username, "smtp-username", "", "the `NAME` to sign in with there (default: the same)")
	fs.StringVar(&f.caFile, "ca-file", "", "an additional trusted root, PEM (`FILE`)")
	fs.StringVar(&f.auth, "auth", "password", "password or oauth2 (`METHOD`)")
	fs.StringArrayVar(&f.PasswordCommand, "password-command", nil, "one `WORD` of the command that prints the password; repeat it for each argument")
	fs.StringVar(&f.OAuth2.Provider, "oauth2-provider", "", "google or microsoft (`NAME`)")
	fs.StringVar(&f.OAuth2.ClientID, "oauth2-client-id", "", "the `ID` of a registered client")
	fs.StringVar(&f.OAuth2.ClientSecret, "oauth2-client-secret", "", "a desktop client's `SECRET`, which is none")
	fs.BoolVar(&f.passwordStdin, "password-stdin", false, "read the password from standard input and store it in the keyring")
	_ = c.MarkFlagRequired("email")
	c.MarkFlagsMutuallyExclusive("password-stdin", "password-command")
	c.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		f.Name = accountKey(f.Email)
		if name := a.named(args); name != "" {
			f.Name = name
		}
		return a.addAccount(cmd.Context(), &f)
	})
	return c
}

// accountKey makes a short name out of an address.
func accountKey(email string) string {
	local, _, _ := strings.Cut(email, "@")
	key := strings.Map(func(r rune) rune {
		if r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_') {
			return unicode.ToLower(r)
		}
		return '-'
	}, local)
	if key = strings.Trim(key, "-"); key == "" {
		return "personal"
	}
	return key[:min(len(key), 32)]
}

// complete fills in the servers that were not named.
func (f *addFlags) complete(guess func(string) (imap, smtp mail.Server, note string, ok bool)) (note string, err error) {
	f.IMAP.Security, f.SMTP.Security = mail.Security(f.imapSecurity), mail.Security(f.smtpSecurity)
	f.IMAP.CAFile, f.SMTP.CAFile = f.caFile, f.caFile
	f.Auth = mail.AuthMethod(f.auth)
	if f.IMAP.Host != "" && f.SMTP.Host != "" {
		return "", nil
	}
	imap, smtp, note, ok := guess(f.Email)
	if !ok {
		return "", usage("the servers of this address are not known: give --imap-host and --smtp-host")
	}
	take(&f.IMAP, imap)
	take(&f.SMTP, smtp)
	return note, nil
}

// take uses a guessed server where no host was named; what was named stays.
func take(s *mail.Server, guess mail.Server) {
	if s.Host != "" {
		return
	}
	s.Host = guess.Host
	if s.Port == 0 && s.Security == "" {
		s.Port, s.Security = guess.Port, guess.Security
	}
}

func (a *app) addAccount(ctx context.Context, f *addFlags) error {
	note, err := f.complete(a.Accounts.Guess)
	if err != nil {
		return err
	}
	var password string
	if f.passwordStdin {
		if password, err = a.readPassword(); err != nil {
			return err
		}
	}
	// The configuration goes first: a name that is taken must not change the
	// password of the account that has it.
	added, err := a.Accounts.Add(a.opts.Config, f.Account)
	if err != nil {
		return err
	}
	if f.passwordStdin {
		if err := a.Accounts.StorePassword(ctx, added, password); err != nil {
			e := *mail.AsError(err)
			e.Text = "The account was added, but its password could not be stored: " + e.Text
			return &e
		}
	}
	acct := view.Account{Name: added.Name, Display: added.DisplayName, Email: added.Email, Aliases: added.Aliases,
		IMAP: serverView(added.IMAP), SMTP: serverView(added.SMTP)}
	v := map[string]any{"account": acct, "config": a.opts.Config, "password_stored": f.passwordStdin, "note": note}
	return a.print(v, func(p *page) {
		accountText(p, &acct)
		if note != "" {
			p.line(note)
		}
		if !f.passwordStdin && added.Auth == mail.AuthPassword && len(added.PasswordCommand) == 0 {
			p.line("Store its password: skrzynka account login " + added.Name + " --password-stdin")
		}
		if added.Auth == mail.AuthOAuth2 {
			p.line("Sign in: skrzynka account login " + added.Name)
		}
		p.line("Try it: skrzynka account test " + added.Name)
	})
}

func serverView(s mail.Server) view.Server {
	return view.Server{Host: s.Host, Port: s.Port, Security: s.Security, Username: s.Username}
}
