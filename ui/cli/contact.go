package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

func (a *app) contactCommand() *cobra.Command {
	return group("contact", "What is known of the addresses you write to", a.contactList(), a.contactShow(), a.contactSuppress(), a.contactAllow())
}

func (a *app) contactList() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List contacts, the last changed first", Args: cobra.NoArgs}
	c.RunE = a.withEngine(func(ctx context.Context, e Engine, _ []string) error {
		if err := a.knownAccount(ctx, e); err != nil {
			return err
		}
		rows, err := e.Contacts(ctx, a.opts.Account)
		if err != nil {
			return err
		}
		return a.print(rows, func(p *page) {
			cells := make([][]safe.Text, len(rows))
			for i, r := range rows {
				cells[i] = []safe.Text{r.Address, cell(r.State.String()), cell(day(r.UpdatedAt)), r.Why}
			}
			p.table([]int{40, 10, 16, 0}, cells)
		})
	})
	return c
}

func (a *app) contactShow() *cobra.Command {
	c := &cobra.Command{Use: "show ADDRESS", Short: "Show one contact and its evidence", Args: cobra.ExactArgs(1)}
	c.RunE = a.withEngine(func(ctx context.Context, e Engine, args []string) error {
		v, err := e.Contact(ctx, a.opts.Account, args[0])
		return a.printContact(v, err)
	})
	return c
}

func (a *app) contactSuppress() *cobra.Command {
	var why string
	c := &cobra.Command{Use: "suppress ADDRESS", Short: "Send nothing to it by itself; stops its follow-ups", Args: cobra.ExactArgs(1),
		Long: "Open follow-ups that write to the address stop. You can still write to it; the\ncomposer asks first, and send needs --yes. It is reversible: contact allow."}
	c.Flags().StringVar(&why, "reason", "", "what the timeline says (`TEXT`)")
	c.RunE = a.withEngine(func(ctx context.Context, e Engine, args []string) error {
		v, err := e.SuppressContact(ctx, a.opts.Account, args[0], why)
		return a.printContact(v, err)
	})
	return c
}

func (a *app) contactAllow() *cobra.Command {
	var why string
	c := &cobra.Command{Use: "allow ADDRESS", Short: "Take a suppression back", Args: cobra.ExactArgs(1),
		Long: "The contact is active again. Follow-ups that were stopped stay stopped."}
	c.Flags().StringVar(&why, "reason", "", "what the timeline says (`TEXT`)")
	c.RunE = a.withEngine(func(ctx context.Context, e Engine, args []string) error {
		v, err := e.AllowContact(ctx, a.opts.Account, args[0], why)
		return a.printContact(v, err)
	})
	return c
}

func (a *app) printContact(v view.Contact, err error) error {
	if err != nil {
		return err
	}
	return a.print(v, func(p *page) {
		state := v.State.String()
		if v.Until != nil {
			state += " until " + v.Until.Format("2006-01-02")
		}
		p.line(fmt.Sprintf("%s  %s", state, v.Address))
		p.field("Account", v.Account)
		p.field("Why", v.Why.String())
		if v.EventID != 0 {
			p.field("Evidence", "event "+strconv.FormatInt(v.EventID, 10))
		}
		p.field("Open plans", strconv.Itoa(v.Plans))
		p.field("Changed", day(v.UpdatedAt))
	})
}
