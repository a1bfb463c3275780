package loopback

import (
	"bytes"
	"io"
	netmail "net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	gomessage "github.com/emersion/go-message"
	_ "github.com/emersion/go-message/charset"
)

var sampleNow = time.Date(2026, 11, 30, 22, 0, 0, 0, time.FixedZone("CET", 3600))

func sample(t *testing.T) []SampleMessage {
	t.Helper()
	all, err := SampleMailbox(sampleNow)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func find(t *testing.T, file string) SampleMessage {
	t.Helper()
	all := sample(t)
	i := slices.IndexFunc(all, func(m SampleMessage) bool { return m.File == file })
	if i < 0 {
		t.Fatalf("there is no %s", file)
	}
	return all[i]
}

func TestSampleMailboxCounts(t *testing.T) {
	got := map[string]int{}
	for _, m := range sample(t) {
		got[m.Folder]++
	}
	total := 0
	for folder, want := range map[string]int{"INBOX": 52, "Archive": 6, "Drafts": 2, "Junk": 3, "Projects/Lighthouse": 4, "Sent": 8, "Trash": 2, "Urlaub & Pläne": 3} {
		if got[folder] != want {
			t.Errorf("%s has %d messages, want %d", folder, got[folder], want)
		}
		total += want
	}
	if total < 64 {
		t.Errorf("%d messages in all, want at least 64", total)
	}
}

func TestSampleMessagesCanBeRead(t *testing.T) {
	broken := map[string]bool{"inbox/broken-boundary.eml": true}
	seen := map[string]string{}
	for _, m := range sample(t) {
		t.Run(m.File, func(t *testing.T) {
			if i := bytes.Index(m.Raw, []byte("{{")); i >= 0 && !strings.Contains(m.File, "japanese") {
				t.Errorf("a placeholder is left: %.40q", m.Raw[i:])
			}
			if bytes.Contains(bytes.ReplaceAll(m.Raw, []byte("\r\n"), nil), []byte("\n")) {
				t.Error("a bare LF is left")
			}
			if m.Date.After(sampleNow) {
				t.Errorf("arrived in the future: %v", m.Date)
			}
			msg, err := netmail.ReadMessage(bytes.NewReader(m.Raw))
			if broken[m.File] {
				if err == nil {
					t.Error("the broken header was read")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			id := msg.Header.Get("Message-ID")
			if id == "" || seen[id] != "" {
				t.Errorf("Message-ID %q, also in %q", id, seen[id])
			}
			seen[id] = m.File
			if _, ok := msg.Header["Subject"]; !ok || msg.Header.Get("From") == "" {
				t.Error("no From or no Subject")
			}
			date, err := msg.Header.Date()
			if m.File == "inbox/no-date.eml" {
				if err == nil {
					t.Error("it has a Date")
				}
			} else if err != nil || !date.Equal(m.Date) {
				t.Errorf("Date is %v (%v), arrived %v", date, err, m.Date)
			}
		})
	}
}

// The newest messages, from the top of the list down, let a person see every
// badge by answering them.
func TestMagicSendersAreNewest(t *testing.T) {
	var inbox []SampleMessage
	for _, m := range sample(t) {
		if m.Folder == "INBOX" {
			inbox = append(inbox, m)
		}
	}
	if !slices.IsSortedFunc(inbox, func(a, b SampleMessage) int { return a.Date.Compare(b.Date) }) {
		t.Error("INBOX is not in order of arrival")
	}
	locals := map[string]bool{}
	for _, m := range inbox[len(inbox)-len(Rules()):] {
		msg, err := netmail.ReadMessage(bytes.NewReader(m.Raw))
		if err != nil {
			t.Fatal(err)
		}
		from, err := netmail.ParseAddress(msg.Header.Get("From"))
		if err != nil {
			t.Fatal(err)
		}
		local, domain, _ := strings.Cut(from.Address, "@")
		if domain != "demo.example" || !strings.HasPrefix(msg.Header.Get("Subject"), "Answer me: ") || len(m.Flags) != 0 {
			t.Errorf("%s: %s", m.File, from)
		}
		locals[local] = true
	}
	for _, r := range Rules() {
		if !locals[r.Local] {
			t.Errorf("no message from %s@ on top", r.Local)
		}
	}
}

func TestSampleContent(t *testing.T) {
	for _, row := range []struct {
		name, file string
		want       []string
		atLeast    int
	}{
		{"Latin-2 octets", "inbox/polski-latin2.eml", []string{"charset=iso-8859-2", "najsilniejszy", "pa\xbcdziernik"}, 0},
		{"ISO-2022-JP", "inbox/japanese-jis.eml", []string{"\x1b$B"}, 0},
		{"a title sequence", "inbox/hostile.eml", []string{"\x1b]0;", "\x1b]52;c;", "\x9b2J", "\x00", "\u202e"}, 0},
		{"a long text", "inbox/long-log.eml", []string{"unit-3"}, 300_000},
		{"a long subject", "inbox/huge-subject.eml", []string{"name 120"}, 1000},
		{"a relative date in words", "inbox/attachment-invite.eml", []string{"Wednesday, 9 December 2026"}, 0},
		{"a report", "inbox/bounce.eml", []string{"Action: failed\r\n", "Message-ID: <gull-1@example.org>"}, 0},
		{"a delay", "inbox/delay.eml", []string{"Action: delayed\r\n", "Status: 4.4.1"}, 0},
		{"format=flowed", "inbox/flowed.eml", []string{"format=flowed", " \r\n"}, 0},
		{"a picture", "inbox/attachment-photo.eml", []string{"image/png", "iVBORw0KGgo"}, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := find(t, row.file)
			for _, want := range row.want {
				if !bytes.Contains(m.Raw, []byte(want)) {
					t.Errorf("%q is missing", want)
				}
			}
			if len(m.Raw) < row.atLeast {
				t.Errorf("%d octets, want at least %d", len(m.Raw), row.atLeast)
			}
		})
	}
}

func TestExpand(t *testing.T) {
	for _, row := range []struct {
		name, file string
		want       string
		flags      string
		age        time.Duration
		fails      bool
	}{
		{"age in days and hours", "Date: {{-1d2h}}\n\nx\n", "Date: Sun, 29 Nov 2026 20:00:00 +0100\r\n\r\nx\r\n", "", -26 * time.Hour, false},
		{"layout", "A: {{-1h|2006}}\n\n", "A: 2026\r\n\r\n", "", -time.Hour, false},
		{"flags and arrival", "# flags Seen Flagged\n# arrived -2d\nA: b\n\n", "A: b\r\n\r\n", `\Seen \Flagged`, -48 * time.Hour, false},
		{"octet", "# arrived -1m\nA: {{x1b}}{{xff}}\n\n", "A: \x1b\xff\r\n\r\n", "", -time.Minute, false},
		{"charset", "# arrived -1m\n# charset iso-8859-2\nA: ł\n\n", "A: \xb3\r\n\r\n", "", -time.Minute, false},
		{"CRLF stays", "# arrived -1m\r\nA: b\r\n\r\n", "A: b\r\n\r\n", "", -time.Minute, false},
		{"no date at all", "A: b\n\n", "", "", 0, true},
		{"bad age", "A: {{soon}}\n\n", "", "", 0, true},
		{"bad octet", "A: {{x100}}{{-1h}}\n\n", "", "", 0, true},
		{"bad log", "A: {{log many}}{{-1h}}\n\n", "", "", 0, true},
		{"unknown directive", "# colour red\nA: b\n\n", "", "", 0, true},
		{"unknown charset", "# charset martian\nA: {{-1h}}\n\n", "", "", 0, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			m, err := expand([]byte(row.file), sampleNow)
			if (err != nil) != row.fails {
				t.Fatalf("error %v", err)
			}
			if row.fails {
				return
			}
			if string(m.Raw) != row.want || strings.Join(m.Flags, " ") != row.flags || m.Date.Sub(sampleNow) != row.age {
				t.Errorf("got %q, %v, %v", m.Raw, m.Flags, m.Date.Sub(sampleNow))
			}
		})
	}
}

// The parts of the messages that have several, as a MIME reader sees them.
func TestSampleParts(t *testing.T) {
	for _, row := range []struct {
		file string
		want string
	}{
		{"inbox/newsletter.eml", "text/plain text/html"},
		{"inbox/html-only.eml", "text/html"},
		{"inbox/attachment-pdf.eml", "text/plain application/pdf=Invoice 2071.pdf"},
		{"inbox/attachment-photo.eml", "text/plain image/png=latarnia o świcie (klif).png"},
		{"inbox/attachment-csv.eml", "text/plain text/csv=november.csv"},
		{"inbox/attachment-invite.eml", "text/plain text/calendar application/ics=invite.ics"},
		{"inbox/attachment-forwarded.eml", "text/plain message/rfc822=Dredging next to the pier.eml"},
		{"inbox/bounce.eml", "text/plain message/delivery-status text/rfc822-headers"},
		{"inbox/delay.eml", "text/plain message/delivery-status text/rfc822-headers"},
		{"archive/library.eml", "text/plain text/html"},
	} {
		t.Run(row.file, func(t *testing.T) {
			entity, err := gomessage.Read(bytes.NewReader(find(t, row.file).Raw))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			err = entity.Walk(func(_ []int, part *gomessage.Entity, err error) error {
				if err != nil {
					return err
				}
				kind, _, err := part.Header.ContentType()
				if err != nil || strings.HasPrefix(kind, "multipart/") {
					return err
				}
				if _, params, err := part.Header.ContentDisposition(); err == nil && params["filename"] != "" {
					kind += "=" + params["filename"]
				}
				got = append(got, kind)
				n, err := io.Copy(io.Discard, part.Body)
				if n == 0 {
					t.Errorf("%s is empty", kind)
				}
				return err
			})
			if err != nil || strings.Join(got, " ") != row.want {
				t.Errorf("parts %q (%v), want %q", got, err, row.want)
			}
		})
	}
}
