package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func (a *app) workerCommand() *cobra.Command {
	c := &cobra.Command{Use: "worker", Short: "Sync, and send what is due, without an interface", Args: cobra.NoArgs,
		Long: "Follows the mailbox, sends the outbox and the follow-ups until it is interrupted.\n" +
			"It can run beside the interface: one of them does the work, by a lock, and the\nother watches. The first interrupt lets what is under way end."}
	c.RunE = a.withEngine(func(ctx context.Context, e Engine, _ []string) error {
		return e.Worker(ctx, func(line string) {
			if a.json {
				_ = a.print(map[string]string{"worker": line}, nil)
				return
			}
			var p page
			p.line(line)
			_, _ = a.Stdout.Write([]byte(p.String()))
		})
	})
	return c
}
