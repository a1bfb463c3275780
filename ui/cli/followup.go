package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skrzynka/mail"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

// AnswersEngine is what the commands about arrivals and follow-ups ask of the
// engine.
type AnswersEngine interface {
	AddFollowUp(ctx context.Context, r view.FollowUpRequest) (view.Plan, error)
	FollowUps(ctx context.Context, f mail.PlanFilter) ([]view.Plan, error)
	FollowUp(ctx context.Context, id string) (view.Plan, error)
	EditFollowUp(ctx context.Context, plan string, step int, after, body string) (view.Plan, error)
	CancelFollowUp(ctx context.Context, id, why string) (view.Plan, error)
	PauseFollowUp(ctx context.Context, id string, until time.Time) (view.Plan, error)
	ResumeFollowUp(ctx context.Context, id string) (view.Plan, error)
	RunFollowUps(ctx context.Context, approved bool) (view.FollowUpRun, error)

	Events(ctx context.Context, f mail.EventFilter) ([]view.Event, error)
	Event(ctx context.Context, id int64) (view.Event, error)
	Reclassify(ctx context.Context, id int64, r view.Reclassify) (view.Event, error)
	IgnoreReview(ctx context.Context, id int64, note string) (view.Event, error)

	Contacts(ctx context.Context, account string) ([]view.Contact, error)
	Contact(ctx context.Context, account, address string) (view.Contact, error)
	SuppressContact(ctx context.Context, account, address, why string) (view.Contact, error)
	AllowContact(ctx context.Context, account, address, why string) (view.Contact, error)

	NeedAnswer(ctx context.Context, account string) ([]view.OpenThread, error)
	AwaitAnswer(ctx context.Context, account string) ([]view.OpenThread, error)

	Worker(ctx context.Context, tell func(line string)) error
}

func (a *app) followupCommand() *cobra.Command {
	return group("followup", "What is sent later unless somebody answers",
		a.followupAdd(), a.followupList(), a.followupShow(), a.followupEdit(), a.followupPause(), a.followupResume(), a.followupCancel(), a.followupRun())
}

func (a *app) followupAdd() *cobra.Command {
	var after, files []string
	c := &cobra.Command{Use: "add ATTEMPT --after DELAY --body-file FILE", Short: "Follow up a sent message unless it is answered", Args: cobra.ExactArgs(1),
		Long: "Plans what is sent after an attempt unless a person answers it. --after and\n" +
			"--body-file may be repeated together, one pair for each step; a step's delay counts\n" +
			"from the message before it. Delays: 3d, 5wd (working days), 2w, 4h, 30m."}
	c.Flags().StringArrayVar(&after, "after", nil, "how long to wait (`DELAY`); may be repeated")
	c.Flags().StringArrayVar(&files, "body-file", nil, "the step's plain text, UTF-8; - reads standard input (`FILE`); may be repeated")
	_ = c.MarkFlagRequired("after")
	_ = c.MarkFlagRequired("body-file")
	c.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		if len(after) != len(files) {
			return usage(fmt.Sprintf("there are %d --after and %d --body-file: give one of each for every step", len(after), len(files)))
		}
		r := view.FollowUpRequest{AttemptID: args[0]}
		for i := range after {
			body, err := a.readBody(files[i])
			if err != nil {
				return err
			}
			r.Steps = append(r.Steps, view.FollowUpStep{After: after[i], Body: body})
		}
		return a.withEngine(func(ctx context.Context, e Engine, _ []string) error {
			p, err := e.AddFollowUp(ctx, r)
			return a.printPlan(p, err)
		})(cmd, args)
	})
	return c
}

func (a *app) printPlan(v view.Plan, err error) error {
	if err != nil {
		return err
	}
	return a.print(v, func(p *page) { planText(p, &v) })
}

func (a *app) followupList() *cobra.Command {
	f := mail.PlanFilter{}
	var waiting string
	c := &cobra.Command{Use: "list", Short: "List follow-up plans, or the threads that wait for an answer", Args: cobra.NoArgs,
		Long: "Lists the plans, the last changed first. --threads mine lists the threads in which\nit is your turn to answer, --threads theirs those in which it is theirs."}
	c.Flags().BoolVar(&f.Open, "open", false, "only those that may still send")
	c.Flags().StringVar(&f.Attempt, "attempt", "", "only the plan of this attempt (`ID`)")
	c.Flags().IntVar(&f.Limit, "limit", 200, "at most `N` plans")
	c.Flags().StringVar(&waiting, "threads", "", "list threads instead: whose turn it is (`WHOSE`: mine or theirs)")
	_ = c.RegisterFlagCompletionFunc("threads", cobra.FixedCompletions([]string{"mine", "theirs"}, cobra.ShellCompDirectiveNoFileComp))
	c.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		if f.Limit < 1 || f.Limit > maxRows {
			return usage(fmt.Sprintf("--limit is %d; write a number from 1 to %d", f.Limit, maxRows))
		}
		if waiting != "" && waiting != "mine" && waiting != "theirs" {
			return usage("--threads is " + quoted(waiting) + "; write mine or theirs")
		}
		f.Account = a.opts.Account
		return a.withEngine(func(ctx context.Context, e Engine, _ []string) error {
			if err := a.knownAccount(ctx, e); err != nil {
				return err
			}
			if waiting != "" {
				return a.printThreads(ctx, e, waiting == "mine")
			}
			rows, err := e.FollowUps(ctx, f)
			if err != nil {
				return err
			}
			return a.print(rows, func(p *page) { planRows(p, rows) })
		})(cmd, args)
	})
	return c
}

func (a *app) printThreads(ctx context.Context, e Engine, mine bool) error {
	read := e.AwaitAnswer
	if mine {
		read = e.NeedAnswer
	}
	rows, err := read(ctx, a.opts.Account)
	if err != nil {
		return err
	}
	return a.print(rows, func(p *page) {
		cells := make([][]safe.Text, len(rows))
		for i, r := range rows {
			id := value(r.MessageID)
			if !mine {
				id = value(r.AttemptID)
			}
			cells[i] = []safe.Text{cell(id), cell(day(r.Since)), r.Who, r.Subject}
		}
		p.table([]int{36, 16, 32, 0}, cells)
	})
}

func (a *app) followupShow() *cobra.Command {
	c := &cobra.Command{Use: "show PLAN", Short: "Show one plan, its next step and what stopped it", Args: cobra.ExactArgs(1)}
	c.RunE = a.withEngine(func(ctx context.Context, e Engine, args []string) error {
		p, err := e.FollowUp(ctx, args[0])
		return a.printPlan(p, err)
	})
	return c
}

func (a *app) followupEdit() *cobra.Command {
	var step int
	var after, file string
	c := &cobra.Command{Use: "edit PLAN --step N", Short: "Change a step that waits", Args: cobra.ExactArgs(1)}
	c.Flags().IntVar(&step, "step", 1, "the step's `NUMBER`, from 1")
	c.Flags().StringVar(&after, "after", "", "another `DELAY`")
	c.Flags().StringVar(&file, "body-file", "", "another text (`FILE`)")
	c.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		if after == "" && file == "" {
			return usage("there is nothing to change: give --after, --body-file or both")
		}
		body := ""
		if file != "" {
			var err error
			if body, err = a.readBody(file); err != nil {
				return err
			}
		}
		return a.withEngine(func(ctx context.Context, e Engine, args []string) error {
			p, err := e.EditFollowUp(ctx, args[0], step-1, after, body)
			return a.printPlan(p, err)
		})(cmd, args)
	})
	return c
}

func (a *app) followupPause() *cobra.Command {
	var until string
	c := &cobra.Command{Use: "pause PLAN", Short: "Keep a plan from sending, until a day or until resume", Args: cobra.ExactArgs(1)}
	c.Flags().StringVar(&until, "until", "", "go on by itself on this `DAY` (2026-03-14, or with a time: RFC 3339)")
	c.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		var at time.Time
		if until != "" {
			var err error
			if at, err = time.ParseInLocation(time.DateOnly, until, time.Local); err != nil {
				if at, err = time.Parse(time.RFC3339, until); err != nil {
					return usage("--until is " + quoted(until) + "; write a day such as 2026-03-14, or a time such as 2026-03-14T09:00:00Z")
				}
			}
		}
		return a.withEngine(func(ctx context.Context, e Engine, args []string) error {
			p, err := e.PauseFollowUp(ctx, args[0], at)
			return a.printPlan(p, err)
		})(cmd, args)
	})
	return c
}

func (a *app) followupResume() *cobra.Command {
	c := &cobra.Command{Use: "resume PLAN", Short: "Let a paused or held plan go on", Args: cobra.ExactArgs(1)}
	c.RunE = a.withEngine(func(ctx context.Context, e Engine, args []string) error {
		p, err := e.ResumeFollowUp(ctx, args[0])
		return a.printPlan(p, err)
	})
	return c
}

func (a *app) followupCancel() *cobra.Command {
	var why string
	c := &cobra.Command{Use: "cancel PLAN", Short: "End a plan: nothing more of it is sent", Args: cobra.ExactArgs(1)}
	c.Flags().StringVar(&why, "reason", "", "what the timeline says (`TEXT`)")
	c.RunE = a.withEngine(func(ctx context.Context, e Engine, args []string) error {
		p, err := e.CancelFollowUp(ctx, args[0], why)
		return a.printPlan(p, err)
	})
	return c
}

func (a *app) followupRun() *cobra.Command {
	var yes bool
	c := &cobra.Command{Use: "run", Short: "Look at the due steps once and send what may be sent", Args: cobra.NoArgs,
		Long: "Reads the watched folders first, as no follow-up goes out without that. While the\ninterface or a worker runs they do this by themselves and this command refuses."}
	c.Flags().BoolVar(&yes, "yes", false, "send even when more than twenty steps came due at once after a pause")
	c.RunE = a.withEngine(func(ctx context.Context, e Engine, _ []string) error {
		r, err := e.RunFollowUps(ctx, yes)
		if err != nil {
			return err
		}
		return a.print(r, func(p *page) {
			if len(r.Steps) == 0 {
				p.line("Nothing is due.")
			}
			for _, s := range r.Steps {
				p.line(fmt.Sprintf("%s  %s  %s", s.PlanID, s.Result, s.Note))
			}
		})
	})
	return c
}

func planRows(p *page, rows []view.Plan) {
	cells := make([][]safe.Text, len(rows))
	for i, r := range rows {
		cells[i] = []safe.Text{cell(r.ID), cell(r.State.String()), cell(strings.Join(r.To, ", ")), cell(r.Subject), r.Says}
	}
	p.table([]int{36, 9, 28, 28, 0}, cells)
}

func planText(p *page, v *view.Plan) {
	p.line(fmt.Sprintf("%s  %s", v.State, v.ID))
	p.text(safe.Line("  " + v.Says.String()))
	p.field("To", strings.Join(v.To, ", "))
	p.field("Subject", v.Subject)
	p.field("Attempt", value(v.AttemptID))
	if v.EventID != 0 {
		p.field("Event", strconv.FormatInt(v.EventID, 10))
	}
	for i, s := range v.Steps {
		words := s.State.String() + ", after " + s.Delay
		if s.DueAt != nil {
			words += ", due " + day(*s.DueAt)
		}
		if !s.Note.Empty() {
			words += ": " + s.Note.String()
		}
		p.field("Step "+strconv.Itoa(i+1), words)
	}
}
