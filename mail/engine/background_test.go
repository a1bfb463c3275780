package engine_test

import (
	"context"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/loopback"
	"skrzynka/mail/view"
	"skrzynka/store"
)

// What a command does beside a running interface appears there.
func TestOtherProcessesChangesAreAnnounced(t *testing.T) {
	w := newWorld(t, loopback.Options{Empty: true}, nil)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	changes, stop := w.Subscribe(64)
	defer stop()
	w.StartBackground(ctx)

	other, err := store.Open(ctx, w.dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.SaveDraft(ctx, mail.Draft{Account: "demo", Kind: mail.KindOutbound, Subject: "from elsewhere"}); err != nil {
		t.Fatal(err)
	}
	limit := time.After(20 * time.Second)
	for {
		select {
		case c := <-changes:
			if c.Topic == view.TopicDrafts {
				return
			}
		case <-limit:
			t.Fatal("nothing was announced")
		}
	}
}
