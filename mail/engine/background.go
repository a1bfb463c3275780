package engine

import (
	"context"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/view"
)

// How often a live process looks for what dead ones left, and for time having
// come. Both are cheap indexed reads.
const tick = time.Second

// StartBackground begins what a TUI or a worker does by itself: recovery,
// sync, the outbox. It returns at once; cancel ctx and call Wait to end it.
func (e *Engine) StartBackground(ctx context.Context) {
	e.running.Go(func() { e.outboxLoop(ctx) })
	e.running.Go(func() { e.followLoop(ctx) })
	e.sync.start(ctx)
}

// Recover settles what dead processes left behind. Every process does it once
// when it starts, a one-shot command included; it opens no connection.
func (e *Engine) Recover(ctx context.Context) (int, error) {
	return e.outbox.Recover(ctx)
}

func (e *Engine) outboxLoop(ctx context.Context) {
	ctx = mail.WithActor(ctx, mail.ActorWorker) // nobody pressed a key for what happens here
	t := time.NewTicker(tick)
	defer t.Stop()
	version, _ := e.Store.DataVersion(ctx)
	for n := 0; ; n++ {
		version = e.noticeOthers(ctx, version)
		if n%3600 == 0 {
			_ = e.outbox.Expire(ctx) // once an hour; what fails now is dropped later
		}
		e.outboxTurn(ctx)
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// noticeOthers announces what another process, a command for instance, has
// changed in the store since version.
func (e *Engine) noticeOthers(ctx context.Context, version int64) int64 {
	now, err := e.Store.DataVersion(ctx)
	if err != nil || now == version {
		return version
	}
	for _, t := range []view.Topic{view.TopicFolders, view.TopicMessages, view.TopicAttempts, view.TopicDrafts, view.TopicAudit,
		view.TopicPlans, view.TopicContacts, view.TopicReview} {
		e.publish(view.Change{Topic: t})
	}
	return now
}

func (e *Engine) outboxTurn(ctx context.Context) {
	sent := e.outbox.RetrySettling(ctx)
	if _, err := e.outbox.Recover(ctx); err != nil {
		return // the disk is full or locked: the next turn tries again
	}
	ids, tell, err := e.outbox.Due(ctx)
	if err != nil {
		return
	}
	for _, id := range ids {
		e.deliverSoon(ctx, id)
	}
	for _, t := range tell {
		e.publish(view.Change{Topic: view.TopicDrafts, Err: mail.AsError(t)})
	}
	e.copiesSoon(ctx, sent)
}

// copiesSoon makes the copies that wait, aside: a slow IMAP server must not hold
// up what is to be sent.
func (e *Engine) copiesSoon(ctx context.Context, sent []string) {
	e.mu.Lock()
	e.copies = append(e.copies, sent...)
	busy := e.copying
	e.copying = true
	sent = e.copies
	if !busy {
		e.copies = nil
	}
	e.mu.Unlock()
	if busy {
		return
	}
	e.running.Go(func() {
		for _, id := range sent {
			if a, err := e.Store.Attempt(ctx, id); err == nil {
				e.outbox.Copy(ctx, &a)
			}
		}
		e.outbox.RetryCopies(ctx)
		e.mu.Lock()
		e.copying = false
		e.mu.Unlock()
	})
}

// deliverSoon delivers an attempt of this process in the background. The
// process, not ctx, bounds it: a screen that is left must not cancel a send. Who
// is behind it is taken from ctx.
func (e *Engine) deliverSoon(ctx context.Context, id string) {
	ctx = mail.WithActor(e.sends, mail.ActorFrom(ctx))
	e.mu.Lock()
	busy := e.inFlight[id]
	e.inFlight[id] = true
	e.mu.Unlock()
	if busy {
		return
	}
	e.running.Go(func() {
		defer func() {
			e.mu.Lock()
			delete(e.inFlight, id)
			e.mu.Unlock()
			e.publish(view.Change{Topic: view.TopicAttempts, ID: id})
		}()
		if _, err := e.deliver(ctx, id, true); err != nil {
			e.publish(view.Change{Topic: view.TopicAttempts, ID: id, Err: mail.AsError(err)})
		}
	})
}

// deliver sends an attempt; a message whose answer was accepted is marked as
// answered, here at once and on the server with the next pass. The mark is no
// evidence: when it fails, the attempt is what it is.
func (e *Engine) deliver(ctx context.Context, id string, auto bool) (mail.Attempt, error) {
	a, err := e.outbox.Deliver(ctx, id, auto)
	if err == nil && a.Kind == mail.KindReply && a.Status == mail.StatusSent {
		if _, err := e.Store.SetFlag(context.WithoutCancel(ctx), []int64{a.MessageID}, mail.FlagAnswered, true); err == nil {
			e.sync.nudge(a.Account)
		}
	}
	return a, err
}
