package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"skrzynka/mail"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

func (a *app) attemptsCommand() *cobra.Command {
	return group("attempts", "The log of everything that was to be sent",
		a.attemptsList(), a.attemptsShow(), a.attemptsProbe(), a.attemptsResolve(), a.attemptsResend(), a.attemptsCopy())
}

func (a *app) attemptsList() *cobra.Command {
	var status, message string
	var open bool
	var limit int
	c := &cobra.Command{Use: "list", Short: "List attempts, newest first", Args: cobra.NoArgs}
	c.Flags().StringVar(&status, "status", "", "only this `STATUS`: pending, sending, sent, failed, uncertain")
	c.Flags().BoolVar(&open, "open", false, "only those that need a person")
	c.Flags().StringVar(&message, "message", "", "only answers to the stored message `ID`")
	c.Flags().IntVar(&limit, "limit", 200, "at most `N` attempts")
	_ = c.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(statusNames(), cobra.ShellCompDirectiveNoFileComp))
	c.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		f := view.AttemptFilter{Account: a.opts.Account, Open: open, Limit: limit}
		if limit < 1 || limit > maxRows {
			return usage(fmt.Sprintf("--limit is %d; write a number from 1 to %d", limit, maxRows))
		}
		if status != "" {
			s, err := mail.ParseDeliveryStatus(status)
			if err != nil {
				return usage("--status is " + quoted(status) + "; write one of " + strings.Join(statusNames(), ", "))
			}
			f.Status = s
		}
		if message != "" {
			id, err := messageID(message, mail.CodeNotFound)
			if err != nil {
				return err
			}
			f.Message = id
		}
		return a.withEngine(func(ctx context.Context, e Engine, _ []string) error {
			if err := a.knownAccount(ctx, e); err != nil {
				return err
			}
			rows, err := e.Attempts(ctx, f)
			if err != nil {
				return err
			}
			if rows == nil {
				rows = []view.Attempt{}
			}
			return a.print(rows, func(p *page) { attemptRows(p, rows) })
		})(cmd, args)
	})
	return c
}

func statusNames() []string {
	var out []string
	for _, s := range mail.AllDeliveryStatuses() {
		out = append(out, s.String())
	}
	return out
}

func (a *app) attemptsShow() *cobra.Command {
	c := &cobra.Command{Use: "show ID", Short: "Show one attempt with its evidence", Args: cobra.ExactArgs(1)}
	c.RunE = a.withEngine(func(ctx context.Context, e Engine, args []string) error {
		at, err := e.Attempt(ctx, args[0])
		if err != nil {
			return err
		}
		var chain []view.Attempt
		if !a.json {
			if chain, err = e.Chain(ctx, at.ID); err != nil {
				return err
			}
		}
		return a.print(at, func(p *page) {
			attemptText(p, &at)
			evidenceText(p, &at)
			chainText(p, chain)
		})
	})
	return c
}

func (a *app) attemptsProbe() *cobra.Command {
	c := &cobra.Command{Use: "probe ID", Short: "Look whether an uncertain attempt was accepted after all", Args: cobra.ExactArgs(1),
		Long: "Looks for the message in the account's folders and among answers and bounces. A\nfind proves that it was accepted; finding nothing proves nothing."}
	c.RunE = a.withEngine(func(ctx context.Context, e Engine, args []string) error {
		pr, err := e.Probe(ctx, args[0])
		if err != nil {
			return err
		}
		if pr.Looked == nil {
			pr.Looked = []view.Looked{}
		}
		return a.print(pr, func(p *page) { probeText(p, &pr) })
	})
	return c
}

// resolutions are the words of --as.
var resolutions = map[string]mail.Resolution{"sent": mail.ResolutionSent, "not-sent": mail.ResolutionNotSent}

func (a *app) attemptsResolve() *cobra.Command {
	var as string
	c := &cobra.Command{Use: "resolve ID --as sent|not-sent", Short: "Record what a person found out about an uncertain attempt", Args: cobra.ExactArgs(1),
		Long: "Records the decision beside the attempt. Its status stays uncertain: a decision is\nno evidence."}
	c.Flags().StringVar(&as, "as", "", "`WHAT` it was: sent or not-sent")
	_ = c.MarkFlagRequired("as")
	_ = c.RegisterFlagCompletionFunc("as", cobra.FixedCompletions([]string{"sent", "not-sent"}, cobra.ShellCompDirectiveNoFileComp))
	c.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		r, ok := resolutions[as]
		if !ok {
			return usage("--as is " + quoted(as) + "; write sent or not-sent")
		}
		return a.withEngine(func(ctx context.Context, e Engine, args []string) error {
			at, err := e.Resolve(ctx, args[0], r)
			if err != nil {
				return err
			}
			return a.print(at, func(p *page) { attemptText(p, &at) })
		})(cmd, args)
	})
	return c
}

func (a *app) attemptsResend() *cobra.Command {
	o := view.ResendOptions{Wait: true}
	c := &cobra.Command{Use: "resend ID", Short: "Send a failed or uncertain attempt again, as a new one", Args: cobra.ExactArgs(1),
		Long: "Makes a new attempt under a new key and prints it. By default the same bytes with\n" +
			"the same Message-ID go out, which most systems collapse into one message where\nboth arrive. Exit codes are those of send."}
	c.Flags().StringVar(&o.Key, "idempotency-key", "", "the new attempt's `KEY` (default: a fresh one)")
	c.Flags().BoolVar(&o.NewMessage, "new-message", false, "make a new message with a new Message-ID")
	c.Flags().BoolVar(&o.Confirmed, "yes", false, "confirm what the account's policy asks about")
	c.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		if err := (&sendFlags{key: o.Key}).checkKey(cmd); err != nil {
			return err
		}
		return a.withEngine(func(ctx context.Context, e Engine, args []string) error {
			at, err := e.Resend(ctx, args[0], o)
			return a.outcome(at, err)
		})(cmd, args)
	})
	return c
}

func (a *app) attemptsCopy() *cobra.Command {
	c := &cobra.Command{Use: "copy ID", Short: "Inspect or retry the copy in the Sent folder", Args: cobra.ExactArgs(1),
		Long: "An unknown copy is looked for by its Message-ID; a failed or skipped one is made\nagain from the stored bytes. The message itself is never sent again by this."}
	c.RunE = a.withEngine(func(ctx context.Context, e Engine, args []string) error {
		at, err := e.CopyAttempt(ctx, args[0])
		if at.ID != "" {
			if e := a.print(at, func(p *page) { attemptText(p, &at) }); err == nil {
				err = e
			}
		}
		return err
	})
	return c
}

func attemptRows(p *page, rows []view.Attempt) {
	cells := make([][]safe.Text, len(rows))
	for i, at := range rows {
		cells[i] = []safe.Text{cell(at.ID), cell(day(at.CreatedAt)), cell(statusWords(&at)), cell(strings.Join(at.To, ", ")), cell(at.Subject)}
	}
	p.table([]int{36, 16, 28, 32, 0}, cells)
}

// statusWords is the status with what was learnt later.
func statusWords(at *view.Attempt) string {
	s := at.Status.String()
	switch {
	case at.Badge.Bounced:
		s += ", bounced"
	case at.Evidence.AcceptedLate:
		s += ", later proven accepted"
	case at.Resolution != nil && *at.Resolution != "":
		s += ", " + strings.ReplaceAll(string(*at.Resolution), "_", " ")
	}
	return s
}

func attemptText(p *page, at *view.Attempt) {
	p.line(fmt.Sprintf("%s  %s  %s", statusWords(at), at.Kind, at.ID))
	if !at.Says.Empty() {
		p.text(safe.Line("  " + at.Says.String()))
	}
	if !at.Advice.Empty() {
		p.text(safe.Line("  " + at.Advice.String()))
	}
	if at.Replayed {
		p.line("  This attempt was there already: nothing was sent by this call.")
	}
	p.field("To", strings.Join(at.To, ", "))
	p.field("Cc", strings.Join(at.Cc, ", "))
	p.field("Bcc", strings.Join(at.Bcc, ", "))
	p.field("Subject", at.Subject)
	for _, f := range at.Attachments {
		p.field("Attachment", fmt.Sprintf("%s (%d bytes)", f.Name, f.Size))
	}
	p.field("Account", at.Account)
	p.field("Message-ID", at.RFCMessageID)
	p.field("Key", at.IdempotencyKey)
	p.field("Error", value(at.ErrorCode))
	p.field("Sent copy", copyWords(&at.SentCopy))
	p.field("Held", at.Held)
	p.field("Retry of", value(at.RetryOf))
	p.field("Retried by", value(at.RetriedBy))
	p.field("Created", day(at.CreatedAt))
}

func copyWords(c *view.SentCopy) string {
	s := c.Status.String()
	if c.Folder != nil {
		s += " in " + c.Folder.String()
	}
	if c.ErrorMessage != nil {
		s += ": " + c.ErrorMessage.String()
	}
	return s
}

func evidenceText(p *page, at *view.Attempt) {
	ev := &at.Evidence
	p.line("")
	p.field("Server", ev.Server.String())
	p.field("TLS", ev.TLS.String())
	p.field("Last step", ev.LastStep.String())
	handed := "no"
	if ev.HandedOver {
		handed = "yes"
	}
	p.field("Handed over", handed)
	if ev.ReplyCode != nil {
		words := []string{strconv.Itoa(*ev.ReplyCode), value(ev.EnhancedCode)}
		if ev.ReplyText != nil {
			words = append(words, ev.ReplyText.String())
		}
		p.field("Reply", strings.Join(strings.Fields(strings.Join(words, " ")), " "))
	}
	for _, r := range ev.Rejected {
		p.field("Refused", fmt.Sprintf("%s: %d %s", r.Address, r.Code, r.Text))
	}
	for _, s := range ev.Steps {
		p.field(s.At.Local().Format("15:04:05"), s.Step.String()+" "+s.Note.String())
	}
	for _, f := range ev.Findings {
		p.field("Found", f.String())
	}
}

func chainText(p *page, chain []view.Attempt) {
	if len(chain) < 2 {
		return
	}
	p.line("")
	p.line("  The chain, oldest first:")
	for _, at := range chain {
		p.field(day(at.CreatedAt), at.Status.String()+" "+at.ID)
	}
}

func probeText(p *page, pr *view.Probe) {
	p.text(pr.Sentence)
	for _, l := range pr.Looked {
		found := "nothing found"
		switch {
		case l.Error != nil:
			found = "could not look: " + l.Error.Error()
		case l.Found:
			found = "found"
		}
		if !l.Note.Empty() {
			found += " (" + l.Note.String() + ")"
		}
		p.line("  " + l.Place.String() + ": " + found)
	}
}
