package cli

import (
	"context"

	"github.com/spf13/cobra"

	"skrzynka/mail"
)

func (a *app) reviewCommand() *cobra.Command {
	return group("review", "Mail that could not be mapped with certainty and waits for you", a.reviewList(), a.reviewResolve())
}

func (a *app) reviewList() *cobra.Command {
	var all bool
	c := &cobra.Command{Use: "list", Short: "List what waits, newest first", Args: cobra.NoArgs,
		Long: "Nothing of what is listed has been applied. Each item is an event; its id is the\nargument of review resolve."}
	c.Flags().BoolVar(&all, "resolved", false, "list what was resolved instead")
	c.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		f := mail.EventFilter{Review: mail.ReviewOpen, Limit: maxRows}
		if all {
			f.Review = mail.ReviewResolved
		}
		return a.printEvents(cmd, args, f)
	})
	return c
}

func (a *app) reviewResolve() *cobra.Command {
	var r reclassifyFlags
	var ignore bool
	c := &cobra.Command{Use: "resolve ID --class CLASS | --ignore", Short: "Say what an item is, or that it means nothing", Args: cobra.ExactArgs(1),
		Long: "Applies what follows from the class, once, and notes it in the audit log."}
	r.register(c)
	c.Flags().BoolVar(&ignore, "ignore", false, "it means nothing")
	c.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		id, err := eventID(args[0])
		if err != nil {
			return err
		}
		req, err := r.request()
		if err != nil {
			return err
		}
		if ignore == (req.Class != "") {
			return usage("give --class or --ignore")
		}
		return a.withEngine(func(ctx context.Context, e Engine, _ []string) error {
			if ignore {
				ev, err := e.IgnoreReview(ctx, id, r.note)
				return a.printEvent(ev, err)
			}
			ev, err := e.Reclassify(ctx, id, req)
			return a.printEvent(ev, err)
		})(cmd, args)
	})
	return c
}
