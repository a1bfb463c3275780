package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/loopback"
)

// A draft into which a whole address book was pasted opens the page of drafts
// as fast as any other.
func TestARowNamesAFewOfManyRecipients(t *testing.T) {
	w := newWorld(t, loopback.Options{}, nil)
	ctx := context.Background()
	d, err := w.NewDraft(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30_000 {
		d.To = append(d.To, mail.Address{Addr: fmt.Sprintf("reader%d@readers.example", i)})
	}
	if _, err := w.SaveDraft(ctx, d); err != nil {
		t.Fatal(err)
	}
	rows, err := w.Drafts(ctx)
	if err != nil || len(rows) != 1 {
		t.Fatalf("%d drafts, %v", len(rows), err)
	}
	to := rows[0].To.String()
	if !strings.HasPrefix(to, "reader0@readers.example, reader1@") || !strings.HasSuffix(to, "reader9@readers.example and 29990 more") {
		t.Errorf("the row says %q", to)
	}
}

func TestNothingToUndoIsNoError(t *testing.T) {
	w := newWorld(t, loopback.Options{}, nil)
	if what, err := w.Undo(context.Background()); what != "" || err != nil {
		t.Errorf("undo says %q, %v", what, err)
	}
}

// What the background sends is not written down as done by a person.
func TestTheAuditNamesWhoSends(t *testing.T) {
	w := newWorld(t, loopback.Options{}, nil)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	d, err := w.NewDraft(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	d.To, d.Subject, d.Body = []mail.Address{{Addr: "ok@demo.example"}}, "Later", "Hello"
	if d, err = w.SaveDraft(ctx, d); err != nil {
		t.Fatal(err)
	}
	if err := w.ScheduleSend(ctx, d.ID, time.Now(), true); err != nil {
		t.Fatal(err)
	}
	changes, stop := w.Subscribe(64)
	defer stop()
	w.StartBackground(ctx)
	deadline := time.After(20 * time.Second)
	for {
		rows, err := w.Audit(ctx, "", 100)
		if err != nil {
			t.Fatal(err)
		}
		who := map[string]mail.Actor{}
		for _, r := range rows {
			who[r.Action] = r.Actor
		}
		if _, ok := who["attempt.settled"]; ok {
			for _, action := range []string{"attempt.claimed", "attempt.handover", "attempt.settled"} {
				if who[action] != mail.ActorWorker {
					t.Errorf("%s by %q", action, who[action])
				}
			}
			return
		}
		select {
		case <-changes:
		case <-deadline:
			t.Fatalf("not sent; the log says %v", who)
		}
	}
}
