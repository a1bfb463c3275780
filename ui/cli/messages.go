package cli

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skrzynka/mail"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

// maxRows bounds what one list command prints.
const maxRows = 10000

func (a *app) syncCommand() *cobra.Command {
	var folder string
	c := &cobra.Command{Use: "sync", Short: "Fetch what is new, once", Args: cobra.NoArgs,
		Long: "Runs one pass over every account, or over the one named with --account, and\nreports what changed by folder. Exit code 1 when an account could not be read."}
	c.Flags().StringVar(&folder, "folder", "", "only this `FOLDER`")
	c.RunE = a.withEngine(func(ctx context.Context, e Engine, _ []string) error {
		report, err := e.Sync(ctx, a.opts.Account, folder)
		if err != nil {
			return err
		}
		if report.Accounts == nil {
			report.Accounts = []view.AccountSync{}
		}
		for i := range report.Accounts {
			if report.Accounts[i].Folders == nil {
				report.Accounts[i].Folders = []view.FolderSync{}
			}
		}
		if err := a.print(report, func(p *page) { syncText(p, report) }); err != nil {
			return err
		}
		return syncFailure(report)
	})
	return c
}

// syncFailure is the first account's error, naming the others.
func syncFailure(r view.SyncReport) error {
	var first *mail.Error
	var names []string
	for _, acct := range r.Accounts {
		if acct.OK {
			continue
		}
		names = append(names, acct.Account)
		if first == nil {
			first = acct.Error
		}
	}
	if len(names) == 0 {
		return nil
	}
	if first == nil {
		first = &mail.Error{Code: mail.CodeIMAPUnavailable, Text: "The pass did not end well.", Retryable: true}
	}
	e := *first
	e.Details = map[string]any{"accounts": names}
	return &e
}

func syncText(p *page, r view.SyncReport) {
	for _, acct := range r.Accounts {
		state := "ok"
		if !acct.OK {
			state = "failed"
		}
		p.line(acct.Account + ": " + state)
		var rows [][]safe.Text
		for _, f := range acct.Folders {
			rows = append(rows, []safe.Text{cell("  "), f.Name, cell(fmt.Sprintf("%d new, %d changed, %d vanished", f.New, f.Changed, f.Vanished))})
		}
		p.table([]int{2, 40, 0}, rows)
	}
}

func (a *app) listCommand() *cobra.Command {
	var folder, query string
	var limit int
	c := &cobra.Command{Use: "list", Short: "List stored messages, newest first", Args: cobra.NoArgs,
		Long: "Lists what is stored, without asking a server. FOLDER is a folder's name or a kind\n" +
			"(inbox, sent, drafts, archive, junk, trash, all). QUERY is a search: words, from:\n" +
			"to: subject: body: is:unread has:attachment before: after: in: status:uncertain."}
	c.Flags().StringVar(&folder, "folder", "", "only this `FOLDER`")
	c.Flags().StringVar(&query, "query", "", "only what this `QUERY` finds")
	c.Flags().IntVar(&limit, "limit", 50, "at most `N` messages")
	c.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		if limit < 1 || limit > maxRows {
			return usage(fmt.Sprintf("--limit is %d; write a number from 1 to %d", limit, maxRows))
		}
		return a.withEngine(func(ctx context.Context, e Engine, _ []string) error {
			scope := view.Scope{Account: a.opts.Account, Query: query}
			if err := a.knownAccount(ctx, e); err != nil {
				return err
			}
			if folder != "" {
				if err := findFolder(ctx, e, folder, &scope); err != nil {
					return err
				}
			}
			pg, err := e.Messages(ctx, view.ListQuery{Scope: scope, Limit: limit})
			if err != nil {
				return err
			}
			if pg.Rows == nil {
				pg.Rows = []view.MessageRow{}
			}
			return a.print(pg.Rows, func(p *page) { listText(p, pg) })
		})(cmd, args)
	})
	return c
}

// knownAccount refuses --account with a name that is not configured, instead
// of listing nothing.
func (a *app) knownAccount(ctx context.Context, e Engine) error {
	if a.opts.Account == "" {
		return nil
	}
	_, err := findAccount(ctx, e, a.opts.Account)
	return err
}

// findFolder narrows scope to the folder of that name, in any case, or else to
// the folders of that kind.
func findFolder(ctx context.Context, e Engine, name string, scope *view.Scope) error {
	folders, err := e.Folders(ctx, scope.Account)
	if err != nil {
		return err
	}
	var exact, loose []view.Folder
	clean := safe.Line(name).String()
	for _, f := range folders {
		if f.Name.String() == clean {
			exact = append(exact, f)
		} else if strings.EqualFold(f.Name.String(), clean) {
			loose = append(loose, f)
		}
	}
	kind, kindErr := mail.ParseFolderKind(name)
	switch {
	case len(exact) == 1:
		scope.FolderID = exact[0].ID
	case kindErr == nil && kind != mail.FolderNone:
		scope.Kind = kind
	case len(exact) == 0 && len(loose) == 1:
		scope.FolderID = loose[0].ID
	case len(exact)+len(loose) > 1:
		return mail.Errorf(mail.CodeInvalid, "Name the account too: --account NAME.", "Several folders are called %s.", quoted(name))
	default:
		return mail.Errorf(mail.CodeNotFound, "Run skrzynka sync first if it is new, or use a kind such as inbox.", "There is no folder %s.", quoted(name))
	}
	return nil
}

func listText(p *page, pg view.Page) {
	rows := make([][]safe.Text, len(pg.Rows))
	for i, m := range pg.Rows {
		marks := ""
		if m.Unread {
			marks += "new "
		}
		if m.Flagged {
			marks += "flag "
		}
		if m.Badge != nil {
			marks += string(m.Badge.Status)
		}
		rows[i] = []safe.Text{cell(strconv.FormatInt(m.ID, 10)), cell(day(m.Date)), m.Folder, cell(strings.TrimSpace(marks)), m.From, m.Subject}
	}
	p.table([]int{12, 16, 20, 18, 28, 0}, rows)
	if !pg.Hint.Empty() {
		p.text(pg.Hint)
	}
	if pg.Total > len(pg.Rows) {
		p.line(fmt.Sprintf("%d of %d; --limit shows more.", len(pg.Rows), pg.Total))
	}
}

// day writes a time for a person, in the local zone.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

func (a *app) showCommand() *cobra.Command {
	c := &cobra.Command{Use: "show ID", Short: "Show one stored message", Args: cobra.ExactArgs(1)}
	c.RunE = a.withEngine(func(ctx context.Context, e Engine, args []string) error {
		id, err := messageID(args[0], mail.CodeNotFound)
		if err != nil {
			return err
		}
		m, err := e.Message(ctx, id)
		if err != nil {
			return err
		}
		return a.print(m, func(p *page) { messageText(p, &m) })
	})
	return c
}

func (a *app) rawCommand() *cobra.Command {
	c := &cobra.Command{Use: "raw ID", Short: "Print one stored message exactly as it arrived", Args: cobra.ExactArgs(1),
		Long: "Writes the bytes of the message. On a terminal they are cleaned first, since mail\ncan carry sequences that a terminal obeys; with --json they are base64."}
	c.RunE = a.withEngine(func(ctx context.Context, e Engine, args []string) error {
		id, err := messageID(args[0], mail.CodeNotFound)
		if err != nil {
			return err
		}
		raw, err := e.Raw(ctx, id)
		if err != nil {
			return err
		}
		if !a.json && !a.StdoutTerminal {
			_, err = a.Stdout.Write(raw)
			return err
		}
		v := map[string]any{"id": id, "size": len(raw), "base64": base64.StdEncoding.EncodeToString(raw)}
		return a.print(v, func(p *page) { p.WriteString(safe.Block(string(raw)).String()) })
	})
	return c
}

// messageID reads the number of a stored message.
func messageID(s string, code mail.Code) (int64, error) {
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil || id <= 0 {
		return 0, mail.Errorf(code, "Take the number from skrzynka list.", "There is no stored message %s.", quoted(s))
	}
	return id, nil
}

func messageText(p *page, m *view.Message) {
	p.field("From", addresses(m.FromAll))
	p.field("Reply-To", addresses(m.ReplyTo))
	p.field("To", addresses(m.ToAll))
	p.field("Cc", addresses(m.CcAll))
	p.field("Date", day(m.Date))
	p.field("Subject", m.Subject.String())
	p.field("Folder", m.Folder.String()+" ("+m.Account+")")
	p.field("Message-ID", m.MessageID.String())
	for _, f := range m.Files {
		p.field("Attachment", fmt.Sprintf("%s (%s, %d bytes)", f.Name, f.Type, f.Size))
	}
	for _, s := range m.Problems {
		p.field("Note", s.String())
	}
	for _, at := range m.Answers {
		p.field("Answer", fmt.Sprintf("%s %s, %s", at.Status, at.ID, day(at.UpdatedAt)))
	}
	p.line("")
	if !m.HasBody {
		p.line("The text has not been fetched yet: run skrzynka sync.")
	}
	for _, l := range m.Text.Lines() {
		p.text(l)
	}
}

func addresses(list []view.Address) string {
	out := make([]string, len(list))
	for i, ad := range list {
		out[i] = ad.Addr.String()
		if !ad.Name.Empty() {
			out[i] = ad.Name.String() + " <" + ad.Addr.String() + ">"
		}
		if !ad.Mark.Empty() {
			out[i] += " [" + ad.Mark.String() + "]"
		}
	}
	return strings.Join(out, ", ")
}
