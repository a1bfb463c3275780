package outbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/engine"
	"skrzynka/mail/view"
	"skrzynka/store"
)

// childEnv makes this test binary a process of the product that does one job.
const childEnv = "SKRZYNKA_TEST_CHILD"

// job is what a child does.
type job struct {
	What     string // "draft", "reply", "burst", "many" or "tui"
	Dir      string
	Accounts []mail.Account
	Message  int64
	Key      string
	Die      string // "before OpenAttempt", "after SettleAttempt", …
	N        int
	Name     string
}

func TestMain(m *testing.M) {
	if s := os.Getenv(childEnv); s != "" {
		var j job
		if err := json.Unmarshal([]byte(s), &j); err != nil {
			panic(err)
		}
		os.Exit(j.run())
	}
	os.Exit(m.Run())
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// mortal kills its process around one durable write.
type mortal struct {
	*store.Store
	when string
}

func (m mortal) around(name string, do func() error) error {
	if m.when == "before "+name {
		die()
	}
	err := do()
	if m.when == "after "+name {
		die()
	}
	return err
}

func (m mortal) SaveDraft(ctx context.Context, d mail.Draft) (out mail.Draft, err error) {
	err = m.around("SaveDraft", func() error { out, err = m.Store.SaveDraft(ctx, d); return err })
	return out, err
}

func (m mortal) OpenAttempt(ctx context.Context, a mail.Attempt, draft int64) (out mail.Attempt, replayed bool, err error) {
	err = m.around("OpenAttempt", func() error { out, replayed, err = m.Store.OpenAttempt(ctx, a, draft); return err })
	return out, replayed, err
}

func (m mortal) ClaimAttempt(ctx context.Context, id, owner string) error {
	return m.around("ClaimAttempt", func() error { return m.Store.ClaimAttempt(ctx, id, owner) })
}

func (m mortal) MarkHandover(ctx context.Context, id, owner string, ev mail.Evidence) error {
	return m.around("MarkHandover", func() error { return m.Store.MarkHandover(ctx, id, owner, ev) })
}

func (m mortal) SettleAttempt(ctx context.Context, id, owner string, s mail.Settled) error {
	return m.around("SettleAttempt", func() error { return m.Store.SettleAttempt(ctx, id, owner, s) })
}

func (m mortal) CopyBegun(ctx context.Context, id, owner, folder string, validity, next uint32) error {
	return m.around("CopyBegun", func() error { return m.Store.CopyBegun(ctx, id, owner, folder, validity, next) })
}

func (m mortal) CopySettled(ctx context.Context, id, owner string, c mail.CopySettled) error {
	return m.around("CopySettled", func() error { return m.Store.CopySettled(ctx, id, owner, c) })
}

func (j job) run() int {
	ctx := context.Background()
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	w, err := open(setup{dir: j.Dir, accounts: j.Accounts, wrap: func(s *store.Store) engine.Store { return mortal{s, j.Die} }})
	if err != nil {
		return fail(err)
	}
	defer w.close()
	if _, err := w.Recover(ctx); err != nil {
		return fail(err)
	}
	switch j.What {
	case "draft": // write a draft and send it, as the composer does
		d, err := w.SaveDraft(ctx, mail.Draft{Account: j.Accounts[0].Name, Kind: mail.KindOutbound, To: to("bob@example.net"), Subject: "Hello",
			Body: "What I wrote.\n" + strings.Repeat("More of it.\n", j.N/12)})
		if err == nil {
			_, err = w.SendDraft(ctx, d.ID, true)
		}
		if err != nil {
			return fail(err)
		}
		w.Wait()
	case "reply": // one command
		fmt.Println("ready")
		awaitLine()
		a, err := w.Reply(ctx, view.ReplyRequest{MessageID: j.Message, Body: "Yes.\n", Key: j.Key})
		if err != nil {
			return fail(err)
		}
		_ = json.NewEncoder(os.Stdout).Encode(a)
	case "send":
		a, err := w.Send(ctx, letter(j.Key))
		if err != nil {
			return fail(err)
		}
		_ = json.NewEncoder(os.Stdout).Encode(a)
	case "many": // commands one after the other, each told of when it has ended
		fmt.Println("ready")
		awaitLine()
		for i := range j.N {
			r := letter(fmt.Sprintf("%s-%d", j.Name, i))
			a, err := w.Send(ctx, r)
			if err != nil {
				return fail(err)
			}
			fmt.Println(a.Status)
		}
	case "tui": // a program that writes and sends until it is killed
		bg, cancel := context.WithCancel(ctx)
		defer cancel()
		w.StartBackground(bg)
		for i := range j.N {
			d, err := w.SaveDraft(ctx, mail.Draft{Account: j.Accounts[0].Name, Kind: mail.KindOutbound, To: to("bob@example.net"),
				Subject: fmt.Sprintf("%s-%d", j.Name, i), Body: "What I wrote.\n"})
			if err != nil {
				return fail(err)
			}
			fmt.Println(d.Subject)
			if _, err := w.SendDraft(ctx, d.ID, true); err != nil {
				return fail(err)
			}
			for w.InFlight() > 2 {
				time.Sleep(time.Millisecond)
			}
		}
		select {}
	}
	return 0
}

// awaitLine holds the child until its parent lets all of them go at once.
func awaitLine() {
	var b [1]byte
	_, _ = os.Stdin.Read(b[:])
}
