package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"skrzynka/mail/loopback"
)

// sampleInbox is how many messages the demo's inbox begins with.
func sampleInbox(t testing.TB) int {
	t.Helper()
	all, err := loopback.SampleMailbox(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, m := range all {
		if m.Folder == "INBOX" {
			n++
		}
	}
	return n
}

// demo opens the demo with a state folder that stays, and waits until the whole
// inbox is there.
func (h *home) demo(cols, rows int) (x *terminal, state string) {
	h.t.Helper()
	state = filepath.Join(h.dir, "demo")
	x = h.open(cols, rows, "demo", "--state", state)
	x.shows("DEMO", fmt.Sprintf("/%d", sampleInbox(h.t)))
	return x, state
}

// beside runs a command on the state of a demo that runs.
func (h *home) beside(state string, args ...string) result {
	h.t.Helper()
	return h.run(append(args, "--config", filepath.Join(state, "config.toml"), "--state", state, "--json")...)
}

// entry is the part of the list's screen that shows one message: one line or,
// in a narrow pane, two; at counts the messages above it.
func entry(screen, who string) (text string, at int, found bool) {
	lines := strings.Split(screen, "\n")
	height := 1
	if len(lines) > 2 && strings.Contains(lines[2], "Answer me") && !strings.Contains(lines[2], "Drop (") {
		height = 2 // the demo's first two messages have such subjects
	}
	for i, line := range lines {
		if i > 0 && strings.Contains(line, who) && (i-1)%height == 0 {
			return strings.Join(lines[i:min(len(lines), i+height)], "\n"), (i - 1) / height, true
		}
	}
	return "", 0, false
}

// choose moves the cursor, from the first message of the list, to the first one
// that names who.
func (x *terminal) choose(who string) {
	x.t.Helper()
	x.press("g", "g")
	at := 0
	x.until("a message of "+who+" below a cursor on the first one", func(s string) (found bool) {
		_, at, found = entry(s, who)
		return found && position(s) == 1
	})
	for range at {
		x.press("j")
	}
	x.until(fmt.Sprintf("the cursor on row %d", at+1), func(s string) bool { return position(s) == at+1 })
}

// badge waits until the message of who carries a badge.
func (x *terminal) badge(who string, words ...string) {
	x.t.Helper()
	x.until(who+" with "+strings.Join(words, " "), func(s string) bool {
		text, _, found := entry(s, who)
		for _, w := range words {
			found = found && strings.Contains(text, w)
		}
		return found
	})
}

// list waits for the list of the inbox, with the focus on it: the foot of the
// screen tells its keys.
func (x *terminal) list() {
	x.t.Helper()
	x.until("the list of the inbox", func(s string) bool {
		return position(s) > 0 && strings.Contains(s, "Inbox") && strings.Contains(s, "enter open") && strings.Contains(s, "r reply")
	})
}

var positionOf = regexp.MustCompile(`\b(\d+)/\d+\b`)

// position is where the cursor is, by the header of the page.
func position(screen string) int {
	first, _, _ := strings.Cut(screen, "\n")
	found := positionOf.FindStringSubmatch(first)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1])
	return n
}

// compose waits for the composer with those words in it.
func (x *terminal) compose(words ...string) {
	x.t.Helper()
	x.shows(append(words, "ctrl+s send", "Subject", "saved", " words, ")...)
}

// answerTo opens a message of the list, answers it and goes back to the list.
func (x *terminal) answerTo(who, address, text string) {
	x.t.Helper()
	x.choose(who)
	x.press("enter").shows("Answer me", address)
	x.press("r").compose(address, "Re: ")
	x.types(text)
	x.shows(text)
	x.press("ctrl+s").shows("Sending", "takes it back")
	x.press("g", "i")
	x.until("the list of the inbox", func(s string) bool { return position(s) > 0 && strings.Contains(s, "Inbox") }) // a notice hides the keys
}

// The main job, by keyboard alone, on the demo: browse, open, answer, watch the
// badge, see a failed and an uncertain one, resend from the retry screen under
// a new key, settle the uncertain one.
func TestMainJobByKeyboard(t *testing.T) {
	for _, size := range []struct{ cols, rows int }{{80, 24}, {120, 40}} {
		t.Run(fmt.Sprintf("%dx%d", size.cols, size.rows), func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			x, state := h.demo(size.cols, size.rows)

			// Browse, and open one without answering it.
			x.choose("Mira Okafor")
			x.press("enter").shows("mira@", "lamp room")
			x.press("g", "i").list()

			// The slow one shows every state on the way, and goes on by itself.
			x.watch("○ pending", "◐ sending")
			x.answerTo("Slow (takes", "slow@", "Take your time.")
			x.badge("Slow (takes", "◐ sending")
			if x.saw("✓ sent") {
				t.Error("it reads sent while the server has not answered")
			}

			x.answerTo("Otto (accepts", "ok@", "Hello from a terminal.")
			x.badge("Otto (accepts", "✓ sent")
			x.answerTo("Reject (no", "reject@", "Are you there?")
			x.badge("Reject (no", "✗ failed")
			x.answerTo("Drop (hangs", "drop@", "Did you get this?")
			x.badge("Drop (hangs", "? uncertain")
			x.shows("1 failed", "1 uncertain")

			// A window of 20 by 5 in between, and back.
			x.resize(20, 5)
			x.until("five short lines", func(s string) bool {
				return !strings.Contains(s, "DEMO") && strings.Count(strings.TrimSpace(s), "\n") < 5
			})
			for _, keys := range []string{"jk", "gg", "gr", "gi", "gu", "gi", "gl", "gi"} {
				x.types(keys)
			}
			x.resize(size.cols, size.rows)
			x.shows("DEMO", "1 failed", "1 uncertain")
			x.press("g", "i").badge("Otto (accepts", "✓ sent")

			// The retry screen: the failed one goes out again, under a new key.
			x.press("g", "r").shows("Failed: retry", "reject@")
			x.press("j")
			x.until("the cursor on the second", func(s string) bool { return position(s) == 2 })
			x.press("r").shows("under the new key")
			var tries []attempt
			eventually(t, "the second try has failed as well", func() bool {
				tries = h.attempts(state, "reject@")
				return len(tries) == 2 && tries[0].Status == "failed"
			})
			if newer, older := tries[0], tries[1]; newer.RetryOf == nil || *newer.RetryOf != older.ID || newer.Key == older.Key || newer.MessageID != older.MessageID || older.Status != "failed" {
				t.Errorf("the chain is %+v", tries)
			}

			// The uncertain one: look for it, and decide.
			x.press("g", "u").shows("Uncertain: review", "drop@")
			x.press("p").shows("bsence proves nothing")
			x.press("y").shows("Recorded: it was sent", "Nothing is uncertain")
			x.press("g", "i").badge("Drop (hangs", "? uncertain ✓")
			x.hides("1 uncertain")
			if a := h.attempts(state, "drop@"); len(a) != 1 || a[0].Status != "uncertain" || a[0].Resolution == nil || *a[0].Resolution != "confirmed_sent" {
				t.Errorf("the uncertain one is %+v", a)
			}

			// Meanwhile the slow server answers.
			x.badge("Slow (takes", "✓ sent")
			if !x.saw("◐ sending") {
				t.Error("sending was never on the screen")
			}
			slow := h.attempts(state, "slow@")
			if len(slow) != 1 || slow[0].Status != "sent" {
				t.Fatalf("the slow one is %+v", slow)
			}
			var moves []string
			for _, r := range h.timeline(state, "attempt:"+slow[0].ID) {
				if r.To == "pending" || r.To == "sending" || r.To == "sent" {
					moves = append(moves, r.To)
				}
			}
			if got := strings.Join(moves, " "); got != "sent sending pending" { // newest first
				t.Errorf("the timeline tells %q", got)
			}
			x.press("q")
			if code := x.ends(); code != 0 {
				t.Errorf("exit code %d:\n%s", code, x.text())
			}
		})
	}
}

// attempt is what these tests read of one.
type attempt struct {
	ID         string   `json:"id"`
	Key        string   `json:"idempotency_key"`
	Status     string   `json:"status"`
	MessageID  string   `json:"rfc_message_id"`
	Body       string   `json:"body"`
	To         []string `json:"to"`
	RetryOf    *string  `json:"retry_of"`
	Resolution *string  `json:"resolution"`
	ErrorCode  *string  `json:"error_code"`
}

// attempts are those to an address that begins so, newest first.
func (h *home) attempts(state, address string) []attempt {
	h.t.Helper()
	var all, out []attempt
	if err := json.Unmarshal(h.beside(state, "attempts", "list").exits(0).out, &all); err != nil {
		h.t.Fatal(err)
	}
	for _, a := range all {
		if len(a.To) == 1 && strings.HasPrefix(a.To[0], address) {
			out = append(out, a)
		}
	}
	return out
}

// move is one line of a timeline.
type move struct {
	Action string `json:"action"`
	From   string `json:"from"`
	To     string `json:"to"`
}

func (h *home) timeline(state, subject string) []move {
	h.t.Helper()
	var out []move
	if err := json.Unmarshal(h.beside(state, "audit", "--subject", subject).exits(0).out, &out); err != nil {
		h.t.Fatal(err)
	}
	return out
}

// A draft is on disk at every pause of typing: the process is killed, and the
// next one has the text.
func TestDraftSurvivesKill(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	x, _ := h.demo(80, 24)
	x.choose("Otto (accepts")
	x.press("r").compose("ok@")
	x.types("Words that nobody may lose.")
	x.shows("Words that nobody may lose.")
	// It says "saved" and the time once this text is stored.
	x.until("that the text is stored", func(s string) bool { return hasRow(s, "─ saved ", ":") })
	x.types(" And some more")
	x.shows("And some more")
	x.kill()

	x, state := h.demo(80, 24)
	x.press("g", "d").shows("Drafts", "Words that nobody may lose.")
	x.press("enter").compose("ok@", "Words that nobody may lose.")
	x.press("ctrl+s").shows("Sending")
	var a []attempt
	eventually(t, "the answer is sent", func() bool {
		a = h.attempts(state, "ok@")
		return len(a) > 0 && a[0].Status == "sent"
	})
	if len(a) != 1 || !strings.HasPrefix(a[0].Body, "Words that nobody may lose.") {
		t.Errorf("what was sent is %+v", a)
	}
	x.press("g", "i").list()
	x.press("q")
	x.ends()
}
