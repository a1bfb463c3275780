package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"skrzynka/mail/loopback"
)

// sampled syncs the sample mailbox of embedded servers, and finds the messages
// of its magic senders.
func (h *home) sampled(o loopback.Options) (servers *loopback.Servers, from map[string]string) {
	h.t.Helper()
	servers = h.provider(o, nil)
	h.run("sync", "--json").exits(0)
	var rows []struct {
		ID   int64  `json:"id"`
		From string `json:"from_address"`
	}
	if err := json.Unmarshal(h.run("list", "--folder", "INBOX", "--limit", "500", "--json").exits(0).out, &rows); err != nil {
		h.t.Fatal(err)
	}
	from = map[string]string{}
	for _, r := range rows {
		local, _, _ := strings.Cut(r.From, "@")
		from[local] = fmt.Sprint(r.ID)
	}
	return servers, from
}

// Eight processes answer one message under one key: one attempt, one message at
// the server, and eight times the same answer.
func TestEightProcessesOneKey(t *testing.T) {
	h := newHome(t)
	servers, from := h.sampled(loopback.Options{})
	body := h.file("body.txt", "Only once.\n")
	results := make([]result, 8)
	var running sync.WaitGroup
	for i := range results {
		running.Go(func() {
			results[i] = h.run("reply", from["ok"], "--body-file", body, "--idempotency-key", "one", "--json")
		})
	}
	running.Wait()
	fresh := 0
	for _, r := range results {
		r.exits(0).is("id", results[0].text("id")).is("rfc_message_id", results[0].text("rfc_message_id")).is("idempotency_key", "one")
		if r.text("replayed") == "false" {
			fresh++
			r.is("status", "sent")
		}
	}
	if fresh != 1 {
		t.Errorf("%d of 8 made a new attempt", fresh)
	}
	h.run("attempts", "list", "--json").exits(0).is("len", "1").is("0.status", "sent")
	if n := len(servers.AcceptedByID(results[0].text("rfc_message_id"))); n != 1 || len(servers.Accepted()) != 1 {
		t.Errorf("the server took it %d times", n)
	}
}

// A process is killed while the server thinks about a message it has already
// taken. What another process does beside it changes nothing before; after it
// the attempt is uncertain, its text is there, and nothing is sent again.
func TestKilledWhileTheServerThinks(t *testing.T) {
	h := newHome(t)
	servers, from := h.sampled(loopback.Options{SlowReply: time.Hour})
	text := "Zażółć: words that nobody may lose.\n"
	body := h.file("body.txt", text)
	reply := []string{"reply", from["slow"], "--body-file", body, "--idempotency-key", "k", "--json"}
	cmd := h.command(reply...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	eventually(t, "the server has taken the message", func() bool { return len(servers.Accepted()) == 1 })

	// Beside it: reading, syncing, sending another one, and the same call again.
	h.run("attempts", "list", "--json").exits(0).is("len", "1").is("0.status", "sending")
	h.run("sync", "--json").exits(0)
	h.run("reply", from["ok"], "--body-file", body, "--json").exits(0).is("status", "sent")
	h.run(reply...).exits(0).is("status", "sending").is("replayed", "true")
	h.run("attempts", "resolve", h.run("attempts", "list", "--status", "sending", "--json").exits(0).text("0.id"), "--as", "sent", "--json").exits(1).fails("CONFLICT")
	select {
	case err := <-ended:
		t.Fatalf("the live process ended: %v", err)
	default:
	}
	h.run("attempts", "list", "--status", "sending", "--json").exits(0).is("len", "1")

	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	h.run("attempts", "list", "--status", "sending", "--json").exits(0).is("len", "0")
	after := h.run("attempts", "list", "--status", "uncertain", "--json").exits(0).is("len", "1").
		is("0.error_code", "REPLY_UNCERTAIN").is("0.body", text).is("0.evidence.handed_over", "true").is("0.evidence.not_handed_over", "false")
	h.run(reply...).exits(3).is("id", after.text("0.id")).is("replayed", "true").is("status", "uncertain")
	if n := len(servers.AcceptedByID(after.text("0.rfc_message_id"))); n != 1 {
		t.Errorf("the server holds %d, want 1", n)
	}
}

// The interface is killed in the same place; the next one shows it as uncertain
// and offers to settle it.
func TestInterfaceKilledWhileTheServerThinks(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	x, state := h.demo(100, 30)
	x.answerTo("Slow (takes", "slow@", "Are you there?")
	x.badge("Slow (takes", "◐ sending")
	eventually(t, "the message is handed over", func() bool {
		a := h.attempts(state, "slow@")
		return len(a) == 1 && a[0].Status == "sending" && len(h.timeline(state, "attempt:"+a[0].ID)) >= 3
	})
	x.kill()
	x, state = h.demo(100, 30)
	x.shows("1 uncertain")
	x.press("g", "u").shows("Uncertain: review", "slow@")
	x.press("n").shows("Recorded: it was not sent")
	a := h.attempts(state, "slow@")
	if len(a) != 1 || a[0].Status != "uncertain" || *a[0].ErrorCode != "REPLY_UNCERTAIN" || !strings.HasPrefix(a[0].Body, "Are you there?") {
		t.Errorf("the attempt is %+v", a)
	}
	x.kill()
}

// Servers for other processes: one line says where they are, and an interrupt
// ends them.
func TestDemoServe(t *testing.T) {
	h := newHome(t)
	cmd := exec.Command(binary, "demo", "serve", "--state", filepath.Join(h.dir, "served"))
	cmd.Env, cmd.Dir = h.env, h.dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	var at struct {
		Config, State, IMAP, SMTP string
		CAFile                    string `json:"ca_file"`
	}
	if err := json.NewDecoder(out).Decode(&at); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(h.dir, "client")
	with := func(args ...string) result {
		return h.run(append(args, "--config", at.Config, "--state", state, "--json")...)
	}
	with("account", "test").exits(0).is("ok", "true")
	with("sync").exits(0).is("accounts.0.ok", "true")
	body := h.file("body.txt", "Hello.\n")
	with("send", "--to", "ok@demo.example", "--subject", "hello", "--body-file", body).exits(0).is("status", "sent")
	with("send", "--to", "drop@demo.example", "--subject", "hello", "--body-file", body).exits(3).is("status", "uncertain")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("interrupted, it ended with %v", err)
	}
	with("sync").exits(1).fails("IMAP_UNAVAILABLE")
}
