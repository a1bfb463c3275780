package engine

import (
	"context"
	"time"

	"skrzynka/mail"
)

// workerLease is the lock of the one worker that works.
const workerLease = "worker"

// Worker follows the mailbox and sends what is due until ctx ends: sync, the
// outbox, follow-ups. Of several workers on one store one works, by a lock, and
// the others watch until it has ended. An interface beside it is no worker; the
// two share the work row by row, and the follow-ups by a lock of their own. When
// ctx ends, deliveries that have handed their message over are waited for, the
// others are stopped. tell is given one line whenever what it does changes.
func (e *Engine) Worker(ctx context.Context, tell func(line string)) error {
	release, err := e.waitLease(ctx, tell)
	if err != nil || release == nil {
		return err
	}
	defer release()
	work, cancel := context.WithCancel(mail.WithActor(ctx, mail.ActorWorker))
	defer cancel()
	e.StartBackground(work)
	tell("working")
	<-ctx.Done()
	tell("stopping")
	cancel()
	e.StopSends()
	e.Wait()
	tell("stopped")
	return nil
}

// waitLease returns nil when ctx ended first.
func (e *Engine) waitLease(ctx context.Context, tell func(string)) (func(), error) {
	t := time.NewTicker(tick)
	defer t.Stop()
	for told := false; ; {
		release, ok, err := e.Store.Lease(workerLease)
		if err != nil || ok {
			return release, err
		}
		if !told {
			told = true
			tell("watching: another worker does the work")
		}
		select {
		case <-ctx.Done():
			tell("stopped")
			return nil, nil
		case <-t.C:
		}
	}
}
