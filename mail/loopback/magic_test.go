package loopback

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
)

// Every row of the table of magic recipients, by name.
func TestMagicRecipients(t *testing.T) {
	type want struct {
		rcpt     int // reply to RCPT
		final    int // final reply; 0 is none, -1 is that DATA is not reached
		closed   bool
		accepted bool
		status   mail.DeliveryStatus
	}
	rows := map[string]want{
		"ok":       {rcpt: 250, final: 250, accepted: true, status: mail.StatusSent},
		"reject":   {rcpt: 550, final: -1, status: mail.StatusFailed},
		"greylist": {rcpt: 451, final: -1, status: mail.StatusFailed},
		"busy":     {rcpt: 421, final: -1, closed: true, status: mail.StatusFailed},
		"refuse":   {rcpt: 250, final: 554, status: mail.StatusFailed},
		"vanish":   {rcpt: 250, closed: true, status: mail.StatusFailed},
		"drop":     {rcpt: 250, closed: true, accepted: true, status: mail.StatusUncertain},
		"slow":     {rcpt: 250, final: 250, accepted: true, status: mail.StatusSent},
		"bounce":   {rcpt: 250, final: 250, accepted: true, status: mail.StatusSent},
		"ooo":      {rcpt: 250, final: 250, accepted: true, status: mail.StatusSent},
		"human":    {rcpt: 250, final: 250, accepted: true, status: mail.StatusSent},
		"stranger": {rcpt: 250, final: 250, accepted: true, status: mail.StatusSent},
	}
	for _, r := range Rules() {
		if _, ok := rows[r.Local]; !ok {
			t.Errorf("%s@ has no row here", r.Local)
		}
		if !strings.Contains(Help(), r.Local+"@demo.example") || !strings.Contains(Help(), r.Sentence) {
			t.Errorf("%s@ is not in the help", r.Local)
		}
	}
	s := start(t, quick())
	for local, w := range rows {
		t.Run(local, func(t *testing.T) {
			to := strings.ToUpper(local[:1]) + local[1:] + "+tag@anything.example"
			if rule := ruleFor(to); rule.Status != w.status {
				t.Errorf("the table says %s, want %s", rule.Status, w.status)
			}
			before := len(s.Accepted())
			c := submit(t, s)
			say(t, c, "MAIL FROM:<ada@example.org>", 250)
			text := say(t, c, "RCPT TO:<"+to+">", w.rcpt)
			if w.rcpt >= 400 && !strings.Contains(text, "4.") && !strings.Contains(text, "5.") {
				t.Errorf("no enhanced status code in %q", text)
			}
			if w.final >= 0 {
				say(t, c, "DATA", 354)
				code, text, err := converse(c, stuffed+".")
				if w.final == 0 && err == nil {
					t.Errorf("answered %d %q, want no answer", code, text)
				}
				if w.final > 0 && (err != nil || code != w.final) {
					t.Errorf("answered %d %q, %v; want %d", code, text, err, w.final)
				}
			}
			_, _, err := converse(c, "NOOP")
			if closed := err != nil; closed != w.closed {
				t.Errorf("connection closed is %v, want %v (%v)", closed, w.closed, err)
			}
			if got := len(s.Accepted()) > before; got != w.accepted {
				t.Errorf("recorded as accepted is %v, want %v", got, w.accepted)
			}
		})
	}
}

func TestHarshestRecipientWins(t *testing.T) {
	for _, row := range []struct {
		name   string
		rcpts  []string
		final  int
		record bool
	}{
		{"ok and refuse", []string{"ok@a.example", "refuse@a.example"}, 554, false},
		{"refuse and slow", []string{"refuse@a.example", "slow@a.example"}, 554, false},
		{"ok and slow", []string{"ok@a.example", "slow@a.example"}, 250, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := start(t, quick())
			if code, text := send(t, s, row.rcpts...); code != row.final {
				t.Errorf("answered %d %s, want %d", code, text, row.final)
			}
			if got := len(s.Accepted()) == 1; got != row.record {
				t.Errorf("recorded is %v, want %v", got, row.record)
			}
		})
	}
}

func TestAcceptedRecord(t *testing.T) {
	s := start(t, quick())
	_, text := send(t, s, "ok@a.example", "Other@b.example")
	all := s.AcceptedByID("<q1@example.org>")
	if len(all) != 1 {
		t.Fatalf("%d records, want 1", len(all))
	}
	a := all[0]
	sum := sha256.Sum256([]byte(content))
	if string(a.Raw) != content || a.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("the content differs: %q", a.Raw)
	}
	if a.From != "ada@example.org" || strings.Join(a.Rcpts, " ") != "ok@a.example Other@b.example" {
		t.Errorf("envelope %q to %q", a.From, a.Rcpts)
	}
	if want := "2.0.0 Ok: queued as " + a.QueueID; text != want || a.QueueID == "" {
		t.Errorf("final reply %q, want %q", text, want)
	}
}

func TestGreylistGivesIn(t *testing.T) {
	o := quick()
	o.GreylistPasses = 2
	s := start(t, o)
	for i, want := range []int{451, 451, 250} {
		c := submit(t, s)
		say(t, c, "MAIL FROM:<ada@example.org>", 250)
		if text := say(t, c, "RCPT TO:<greylist@a.example>", want); text == "" {
			t.Errorf("try %d: empty reply", i+1)
		}
	}
}

func TestSlowReplyEndsWithClose(t *testing.T) {
	o := quick()
	o.SlowReply = time.Hour
	s := start(t, o)
	accepted := s.AcceptedChanged()
	c := submit(t, s)
	say(t, c, "MAIL FROM:<ada@example.org>", 250)
	say(t, c, "RCPT TO:<slow@a.example>", 250)
	say(t, c, "DATA", 354)
	answered := make(chan struct{})
	go func() { defer close(answered); _, _, _ = converse(c, stuffed+".") }()
	<-accepted
	select {
	case <-answered:
		t.Error("answered before the time")
	default:
	}
	s.Close()
	<-answered
}

func TestAnswersThatArriveLater(t *testing.T) {
	now := time.Date(2026, 12, 2, 9, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		local   string
		headers map[string]string
		body    []string
	}{
		{"bounce", map[string]string{"Return-Path": "<>", "Auto-Submitted": "auto-replied", "Content-Type": "multipart/report; report-type=delivery-status; boundary="},
			[]string{"Final-Recipient: rfc822; bounce@a.example\r\n", "Action: failed\r\n", "Status: 5.1.1\r\n", "Message-ID: <q1@example.org>\r\n", "Content-Type: text/rfc822-headers"}},
		{"ooo", map[string]string{"Auto-Submitted": "auto-replied", "In-Reply-To": "<q1@example.org>", "Subject": "Automatic reply: A question"},
			[]string{"Monday, 7 December 2026"}},
		{"human", map[string]string{"Auto-Submitted": "", "In-Reply-To": "<q1@example.org>", "References": "<q1@example.org>", "Subject": "Re: A question"},
			[]string{"> How are you?\r\n", "> .a line with a dot\r\n"}},
	} {
		t.Run(row.local, func(t *testing.T) {
			o := quick()
			o.Now = func() time.Time { return now }
			s := start(t, o)
			n := len(s.Folder("INBOX"))
			send(t, s, row.local+"@a.example")
			eventually(t, "an answer in INBOX", func() bool { return len(newIn(s, "INBOX", n)) == 1 })
			raw := newIn(s, "INBOX", n)[0].Raw
			m, err := netmail.ReadMessage(bytes.NewReader(raw))
			if err != nil {
				t.Fatal(err)
			}
			for key, want := range row.headers {
				if got := m.Header.Get(key); got != want && !(key == "Content-Type" && strings.HasPrefix(got, want)) {
					t.Errorf("%s: %q, want %q", key, got, want)
				}
			}
			if to := m.Header.Get("To"); !strings.Contains(to, "<ada@example.org>") {
				t.Errorf("To: %q", to)
			}
			if m.Header.Get("Message-ID") == "" || m.Header.Get("Date") == "" {
				t.Error("no Message-ID or no Date")
			}
			for _, want := range row.body {
				if !bytes.Contains(raw, []byte(want)) {
					t.Errorf("%q is not in\n%s", want, raw)
				}
			}
		})
	}
}

func TestMailToOurselvesIsDelivered(t *testing.T) {
	for _, row := range []struct {
		name, to string
		arrives  bool
	}{
		{"the address", "ada@example.org", true},
		{"in other case, with a tag", "ADA+list@Example.org", true},
		{"the alias", "ada@alias.example", true},
		{"a colleague", "jonas@example.org", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := start(t, quick())
			n := len(s.Folder("INBOX"))
			send(t, s, row.to)
			here := newIn(s, "INBOX", n)
			if (len(here) == 1) != row.arrives {
				t.Fatalf("%d messages arrived", len(here))
			}
			if row.arrives && !bytes.HasSuffix(here[0].Raw, []byte(content)) {
				t.Errorf("the content was changed: %q", here[0].Raw)
			}
		})
	}
}
