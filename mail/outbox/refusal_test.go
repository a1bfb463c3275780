package outbox_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/view"
)

// TestRefusalsStoreNothing: each refusal leaves no attempt and no key, dials
// nothing, and a draft it was about is still there.
func TestRefusalsStoreNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, c := range []struct {
		name      string
		policy    mail.SendPolicy
		copy      mail.SentCopyPolicy
		change    func(*mail.Draft)
		code      mail.Code
		retryable bool
	}{
		{name: "key with a space", change: func(d *mail.Draft) { d.IdempotencyKey = "a b" }, code: mail.CodeKeyInvalid},
		{name: "key with a tab", change: func(d *mail.Draft) { d.IdempotencyKey = "a\tb" }, code: mail.CodeKeyInvalid},
		{name: "key with a control character", change: func(d *mail.Draft) { d.IdempotencyKey = "a\x00b" }, code: mail.CodeKeyInvalid},
		{name: "empty body", change: func(d *mail.Draft) { d.Body = "" }, code: mail.CodeReplyBodyInvalid},
		{name: "blank body", change: func(d *mail.Draft) { d.Body = " \n\t\r\n" }, code: mail.CodeReplyBodyInvalid},
		{name: "no recipients", change: func(d *mail.Draft) { d.To = nil }, code: mail.CodeRecipientsRequired},
		{name: "non-ASCII local part", change: func(d *mail.Draft) { d.To = to("łukasz@example.net") }, code: mail.CodeEnvelopeInvalid},
		{name: "recipient with a command in it", change: func(d *mail.Draft) { d.To = to("a@example.net>\r\nDATA") }, code: mail.CodeEnvelopeInvalid},
		{name: "Bcc without a domain", change: func(d *mail.Draft) { d.Bcc = to("bob") }, code: mail.CodeEnvelopeInvalid},
		{name: "a sender that is not ours", change: func(d *mail.Draft) { d.From = mail.Address{Addr: "eve@example.com"} }, code: mail.CodePolicyRefused},
		{name: "denied address", policy: mail.SendPolicy{Deny: []string{"BOB@example.net"}}, code: mail.CodePolicyRefused},
		{name: "denied domain", policy: mail.SendPolicy{Deny: []string{"example.net"}}, code: mail.CodePolicyRefused},
		{name: "denied subdomain", policy: mail.SendPolicy{Deny: []string{"*.example.net"}}, change: func(d *mail.Draft) { d.To = to("x@sub.example.net") }, code: mail.CodePolicyRefused},
		{name: "not allowed", policy: mail.SendPolicy{Allow: []string{"example.com"}}, code: mail.CodePolicyRefused},
		{name: "allowed and denied", policy: mail.SendPolicy{Allow: []string{"example.net"}, Deny: []string{"bob@example.net"}}, code: mail.CodePolicyRefused},
		{name: "hidden recipient denied", policy: mail.SendPolicy{Deny: []string{"example.com"}}, change: func(d *mail.Draft) { d.Bcc = to("x@example.com") }, code: mail.CodePolicyRefused},
		{name: "too many recipients", policy: mail.SendPolicy{MaxRecipients: 1}, change: func(d *mail.Draft) { d.Cc = to("eve@example.net") }, code: mail.CodePolicyRefused},
		{name: "confirm always", policy: mail.SendPolicy{Confirm: mail.ConfirmAlways}, code: mail.CodeConfirmationRequired},
		{name: "confirm external", policy: mail.SendPolicy{Confirm: mail.ConfirmExternal}, code: mail.CodeConfirmationRequired},
		{name: "confirm first contact", policy: mail.SendPolicy{Confirm: mail.ConfirmFirstContact}, code: mail.CodeConfirmationRequired},
		{name: "sent copy without a destination, on_failure fail", copy: mail.SentCopyPolicy{Enabled: true, OnFailure: mail.OnFailureFail, ProviderKeep: "no"}, code: mail.CodeSentCopyUnresolved},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := goodPeer(t)
			a := account(t, "me", p)
			a.Policy = c.policy
			if c.copy.Enabled {
				a.SentCopy = c.copy
			}
			w := start(t, setup{accounts: []mail.Account{a}})
			d := mail.Draft{Account: "me", Kind: mail.KindOutbound, To: to("bob@example.net"), Subject: "Hello", Body: "A line.\n", IdempotencyKey: "key"}
			if c.change != nil {
				c.change(&d)
			}
			d, err := w.SaveDraft(ctx, d)
			must(t, err)
			_, err = w.SendDraft(ctx, d.ID, false)
			e := wantCode(t, err, c.code)
			if e.Text == "" || e.Hint == "" || e.Retryable != c.retryable {
				t.Errorf("text %q, hint %q, retryable %v", e.Text, e.Hint, e.Retryable)
			}
			// The same as a command would ask for it.
			_, err = w.Send(ctx, view.SendRequest{From: d.From.Addr, To: d.To, Cc: d.Cc, Bcc: d.Bcc, Subject: d.Subject, Body: d.Body, Key: d.IdempotencyKey})
			wantCode(t, err, c.code)
			if n := len(w.rows()); n != 0 || p.Connections() != 0 {
				t.Errorf("%d attempts are stored, %d connections were made", n, p.Connections())
			}
			if _, err := w.st.AttemptByKey(ctx, d.IdempotencyKey); err == nil {
				t.Error("the key is taken")
			}
			kept := must1(w.Draft(ctx, d.ID))(t)
			if kept.Body != d.Body || !kept.SendAt.IsZero() {
				t.Errorf("the draft is %+v", kept)
			}
		})
	}
}

func TestReplyTargetIsRefused(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]string{"no address": "nobody in particular", "an address that cannot be used": "<łukasz@example.net>"} {
		t.Run(name, func(t *testing.T) {
			p := goodPeer(t)
			w := start(t, setup{accounts: []mail.Account{account(t, "me", p)}})
			id := w.incoming("me", from)
			_, err := w.Reply(context.Background(), view.ReplyRequest{MessageID: id, Body: "Yes.", Key: "key"})
			if e := mail.AsError(err); err == nil || e.Code != mail.CodeReplyTargetInvalid && e.Code != mail.CodeEnvelopeInvalid {
				t.Errorf("got %v", err)
			}
			if len(w.rows()) != 0 || p.Connections() != 0 {
				t.Error("something was stored or dialled")
			}
			if _, err := w.st.AttemptByKey(context.Background(), "key"); err == nil {
				t.Error("the key is taken")
			}
		})
	}
}

func TestAnsweredMessageMustExist(t *testing.T) {
	t.Parallel()
	w := start(t, setup{accounts: []mail.Account{account(t, "me", goodPeer(t))}})
	_, err := w.Reply(context.Background(), view.ReplyRequest{MessageID: 4711, Body: "Yes.", Key: "key"})
	if e := mail.AsError(err); err == nil || e.Code != mail.CodeNotFound && e.Code != mail.CodeReplyMessageInvalid {
		t.Errorf("got %v", err)
	}
}

func TestConfirmModes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, c := range []struct {
		mode mail.Confirm
		to   string
		ask  bool
		then bool // asks again once the first is sent
	}{
		{mail.ConfirmNever, "bob@example.net", false, false},
		{mail.ConfirmAlways, "ada@example.org", true, true},
		{mail.ConfirmExternal, "eve@example.org", false, false},
		{mail.ConfirmExternal, "eve@alias.example", false, false},
		{mail.ConfirmExternal, "bob@example.net", true, true},
		{mail.ConfirmFirstContact, "bob@example.net", true, false},
	} {
		t.Run(string(c.mode)+" "+c.to, func(t *testing.T) {
			p := goodPeer(t)
			a := account(t, "me", p)
			a.Policy.Confirm = c.mode
			w := start(t, setup{accounts: []mail.Account{a}})
			r := letter("one")
			r.To = to(c.to)
			if c.ask {
				_, err := w.Send(ctx, r)
				wantCode(t, err, mail.CodeConfirmationRequired)
				r.Confirmed = true
			}
			if got := must1(w.Send(ctx, r))(t); got.Status != mail.StatusSent {
				t.Fatalf("%s", got.Says)
			}
			r.Confirmed = false
			if got := must1(w.Send(ctx, r))(t); !got.Replayed { // a replay sends nothing and asks nothing
				t.Error("the repeated call is no replay")
			}
			r.Key = "two"
			if _, err := w.Send(ctx, r); (err != nil) != c.then {
				t.Errorf("the second: %v", err)
			}
		})
	}
}

// TestRateLimitHoldsAcrossProcesses: two engines with stores of their own over
// one folder, sending at once, open no more attempts than one minute allows.
func TestRateLimitHoldsAcrossProcesses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p := goodPeer(t)
	a := account(t, "me", p)
	a.Policy.MaxPerMinute = 5
	clk := newClock()
	dir := t.TempDir()
	ws := []*world{start(t, setup{dir: dir, accounts: []mail.Account{a}, clock: clk}), start(t, setup{dir: dir, accounts: []mail.Account{a}, clock: clk})}
	var mu sync.Mutex
	sent, limited := 0, 0
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			got, err := ws[i%2].Send(ctx, letter(""))
			mu.Lock()
			defer mu.Unlock()
			if err == nil && got.Status == mail.StatusSent {
				sent++
			} else if e := mail.AsError(err); err != nil && e.Code == mail.CodeRateLimited && e.Retryable {
				limited++
			} else {
				t.Errorf("got %s, %v", got.Status, err)
			}
		})
	}
	wg.Wait()
	if sent != 5 || limited != 7 || len(ws[0].rows()) != 5 {
		t.Errorf("%d sent, %d limited, %d rows; want 5, 7, 5", sent, limited, len(ws[0].rows()))
	}
	clk.add(time.Minute + time.Second)
	if got := must1(ws[0].Send(ctx, letter("")))(t); got.Status != mail.StatusSent {
		t.Errorf("a minute later: %s", got.Says)
	}
}

// TestBccIsNotInTheBytes: hidden recipients are in the envelope alone.
func TestBccIsNotInTheBytes(t *testing.T) {
	t.Parallel()
	p := goodPeer(t)
	w := start(t, setup{accounts: []mail.Account{account(t, "me", p)}})
	r := letter("key")
	r.Cc, r.Bcc = to("carol@example.net"), to("hidden@example.net")
	a := must1(w.Send(context.Background(), r))(t)
	got := p.Received()
	if len(got) != 1 || len(got[0].To) != 3 || got[0].To[2] != "hidden@example.net" || bytes.Contains(got[0].Data, []byte("hidden")) || a.Evidence.AcceptedCount != 3 {
		t.Errorf("received %+v", got)
	}
}
