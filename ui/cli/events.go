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

func (a *app) eventsCommand() *cobra.Command {
	return group("events", "What arrived, and what it is taken to be", a.eventsList(), a.eventsShow(), a.eventsReclassify())
}

func (a *app) eventsList() *cobra.Command {
	var class string
	f := mail.EventFilter{}
	c := &cobra.Command{Use: "list", Short: "List inbound events, newest first", Args: cobra.NoArgs}
	c.Flags().StringVar(&class, "class", "", "only this `CLASS`: "+strings.Join(classNames(), ", "))
	c.Flags().StringVar(&f.Contact, "contact", "", "only mail of this `ADDRESS`")
	c.Flags().StringVar(&f.Attempt, "attempt", "", "only mail about this attempt (`ID`)")
	c.Flags().IntVar(&f.Limit, "limit", 200, "at most `N` events")
	_ = c.RegisterFlagCompletionFunc("class", cobra.FixedCompletions(classNames(), cobra.ShellCompDirectiveNoFileComp))
	c.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		if f.Limit < 1 || f.Limit > maxRows {
			return usage(fmt.Sprintf("--limit is %d; write a number from 1 to %d", f.Limit, maxRows))
		}
		if class != "" {
			k, err := mail.ParseInboundClass(class)
			if err != nil {
				return usage("--class is " + quoted(class) + "; write one of " + strings.Join(classNames(), ", "))
			}
			f.Class = k
		}
		return a.printEvents(cmd, args, f)
	})
	return c
}

func (a *app) printEvents(cmd *cobra.Command, args []string, f mail.EventFilter) error {
	f.Account = a.opts.Account
	return a.withEngine(func(ctx context.Context, e Engine, _ []string) error {
		if err := a.knownAccount(ctx, e); err != nil {
			return err
		}
		rows, err := e.Events(ctx, f)
		if err != nil {
			return err
		}
		return a.print(rows, func(p *page) {
			cells := make([][]safe.Text, len(rows))
			for i, r := range rows {
				what := r.Outcome
				if r.Review == mail.ReviewOpen {
					what = safe.Line("review: " + r.ReviewWhy.String())
				}
				cells[i] = []safe.Text{cell(strconv.FormatInt(r.ID, 10)), cell(day(r.Received)), cell(className(r.Class)), r.FromAddr, r.Subject, what}
			}
			p.table([]int{8, 16, 12, 32, 36, 0}, cells)
		})
	})(cmd, args)
}

func className(c mail.InboundClass) string {
	if c == "" {
		return "older"
	}
	return c.String()
}

func classNames() []string {
	var out []string
	for _, c := range mail.AllInboundClasses() {
		out = append(out, c.String())
	}
	return out
}

func eventID(s string) (int64, error) {
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil || id < 1 {
		return 0, mail.Errorf(mail.CodeNotFound, "List them: skrzynka events list.", "There is no event %s.", quoted(s))
	}
	return id, nil
}

func (a *app) eventsShow() *cobra.Command {
	c := &cobra.Command{Use: "show ID", Short: "Show one event: why it was classed so, and what it caused", Args: cobra.ExactArgs(1)}
	c.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		id, err := eventID(args[0])
		if err != nil {
			return err
		}
		return a.withEngine(func(ctx context.Context, e Engine, _ []string) error {
			ev, err := e.Event(ctx, id)
			return a.printEvent(ev, err)
		})(cmd, args)
	})
	return c
}

func (a *app) printEvent(ev view.Event, err error) error {
	if err != nil {
		return err
	}
	return a.print(ev, func(p *page) { eventText(p, &ev) })
}

// reclassifyFlags say what a person takes an event for.
type reclassifyFlags struct{ class, attempt, contact, note string }

func (r *reclassifyFlags) register(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&r.class, "class", "", "what it is (`CLASS`): "+strings.Join(classNames(), ", "))
	f.StringVar(&r.attempt, "attempt", "", "the attempt it is about (`ID`)")
	f.StringVar(&r.contact, "contact", "", "whom it is from or about (`ADDRESS`)")
	f.StringVar(&r.note, "note", "", "what the timeline says (`TEXT`)")
	_ = c.RegisterFlagCompletionFunc("class", cobra.FixedCompletions(classNames(), cobra.ShellCompDirectiveNoFileComp))
}

func (r *reclassifyFlags) request() (view.Reclassify, error) {
	out := view.Reclassify{Attempt: r.attempt, Contact: r.contact, Note: r.note}
	if r.class != "" {
		k, err := mail.ParseInboundClass(r.class)
		if err != nil {
			return out, usage("--class is " + quoted(r.class) + "; write one of " + strings.Join(classNames(), ", "))
		}
		out.Class = k
	}
	return out, nil
}

func (a *app) eventsReclassify() *cobra.Command {
	var r reclassifyFlags
	c := &cobra.Command{Use: "reclassify ID [--class CLASS]", Short: "Correct what an event is taken to be", Args: cobra.ExactArgs(1),
		Long: "Records the correction, takes back what the old class had done as far as it still\nstands, and applies what the new one asks for, once. Without --class the present\nrules look again; they change nothing that a person decided."}
	r.register(c)
	c.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		id, err := eventID(args[0])
		if err != nil {
			return err
		}
		req, err := r.request()
		if err != nil {
			return err
		}
		if req.Class == "" && (req.Attempt != "" || req.Contact != "" || req.Note != "") {
			return usage("--attempt, --contact and --note need --class")
		}
		return a.withEngine(func(ctx context.Context, e Engine, _ []string) error {
			ev, err := e.Reclassify(ctx, id, req)
			return a.printEvent(ev, err)
		})(cmd, args)
	})
	return c
}

func eventText(p *page, ev *view.Event) {
	p.line(fmt.Sprintf("%s  event %d", className(ev.Class), ev.ID))
	p.field("From", ev.From.String()+" <"+ev.FromAddr.String()+">")
	p.field("Subject", ev.Subject.String())
	p.field("Received", day(ev.Received))
	p.field("In", fmt.Sprintf("%s, UIDVALIDITY %d, UID %d", ev.Folder, ev.UIDValidity, ev.UID))
	p.field("Message", value(ev.MessageID))
	p.field("Message-ID", ev.RFCMessageID.String())
	for _, r := range ev.Reasons {
		p.field("Because", r.String())
	}
	if ev.ReturnDate != nil {
		p.field("Back on", ev.ReturnDate.Format("2006-01-02")+" \""+ev.ReturnQuote.String()+"\"")
	}
	for _, id := range ev.Attempts {
		p.field("Attempt", id)
	}
	p.field("Outcome", ev.Outcome.String())
	if ev.Review != "" {
		p.field("Review", string(ev.Review)+": "+ev.ReviewWhy.String())
	}
	if ev.SeenAgain > 0 {
		p.field("Seen again", strconv.Itoa(ev.SeenAgain)+" times, without effect")
	}
	for _, h := range ev.History {
		words := string(h.By) + ": " + h.Class.String()
		if !h.Note.Empty() {
			words += " (" + h.Note.String() + ")"
		}
		p.field(day(h.At), words)
	}
}
