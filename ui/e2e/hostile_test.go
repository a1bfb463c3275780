package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2/imapclient"

	"skrzynka/config"
	"skrzynka/mail"
	"skrzynka/mail/loopback"
	"skrzynka/mail/submit/smtptest"
)

// provider starts servers for this user and configures them. The account's
// password comes from a command.
func (h *home) provider(o loopback.Options, change func(*mail.Account)) *loopback.Servers {
	h.t.Helper()
	servers, err := loopback.Start(o)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(servers.Close)
	if err := servers.WriteCA(filepath.Join(h.dir, "ca.pem")); err != nil {
		h.t.Fatal(err)
	}
	acct := servers.Account()
	acct.PasswordCommand = []string{"cat", h.file("secret", servers.Password)}
	if change != nil {
		change(&acct)
	}
	if err := config.WriteNew(filepath.Join(h.dir, "config", "skrzynka", "config.toml"), acct); err != nil {
		h.t.Fatal(err)
	}
	return servers
}

// payloads are what a hostile sender, folder or server writes, each with the
// marker in it.
func payloads(marker string) map[string]string {
	return map[string]string{
		"CSI":       "\x1b[2J\x1b[31;1m" + marker + "\x1b[6n\x1b[c\x1b[8;1;1t",
		"title":     "\x1b]0;" + marker + "\x07\x1b]2;" + marker + "\x1b\\",
		"clipboard": "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(marker)) + "\x07" + marker,
		"link":      "\x1b]8;;https://" + marker + ".example/\x1b\\" + marker + "\x1b]8;;\x1b\\",
		"DCS":       "\x1bP+q" + marker + "\x1b\\\x1bPq#0;2;0;0;0" + marker + "\x1b\\",
		"APC":       "\x1b_G" + marker + "\x1b\\\x1b^" + marker + "\x1b\\\x1bX" + marker + "\x1b\\",
		"C1":        "\u009b2J\u009d52;c;" + marker + "\u009c\u0090" + marker + "\u009c\u0085",
		"C1 bytes":  "\x9b2J\x9d0;" + marker + "\x9c",
		"bidi":      "\u202e" + marker + "\u202c\u2066" + marker + "\u2069\u200f\u061c",
		"NUL":       "a\x00" + marker + "\x00\x08\x08\x7f\x07\x0e\x0f\x05" + marker,
		"unclosed":  marker + "\x1b]2;" + marker,
		"reset":     "\x1bc\x1b(0" + marker + "\x1b[!p\x1b7\x1b8\x1bM",
	}
}

// field makes a payload fit into one header field: line ends would end it.
func field(s string) string { return strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace(s) }

// encoded writes a payload as an encoded word, which carries any byte (RFC 2047).
func encoded(s string) string {
	return "=?utf-8?B?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}

// hostileMessage carries one payload wherever text can be, raw and encoded.
func hostileMessage(n int, payload string) string {
	raw, name := field(payload), strings.NewReplacer(`"`, "", `\`, "").Replace(field(payload))
	return strings.ReplaceAll(fmt.Sprintf(`Return-Path: <evil@trick.example>
From: "%s %s" <reject@trick.example>
Reply-To: %s <reject@trick.example>
To: "%s" <ada@example.org>, Ada <ada@example.org>
Subject: hostile %d %s %s
X-Note: %s
Date: %s
Message-ID: <%d-%d@trick.example>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

Text %s end.
See https://trick.example/%s now.
> quoted %s

--b
Content-Type: application/octet-stream; name="%s"
Content-Disposition: attachment; filename="%s.txt"

data
--b
Content-Type: text/html; charset=utf-8
Content-Disposition: attachment; filename*=utf-8''%s.html

<p>x</p>
--b--
`, name, encoded(payload), encoded(payload), name, n, raw, encoded(payload), raw, time.Now().Add(-time.Duration(n)*time.Minute).Format(time.RFC1123Z),
		n, time.Now().UnixNano(), payload, raw, payload, name, name, percent(payload)), "\n", "\r\n")
}

func percent(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02X", s[i])
	}
	return b.String()
}

// hostileWorld is a mailbox full of payloads, with folders named like them,
// and a submission server that answers with them.
func hostileWorld(t *testing.T, marker string) *home {
	h := newHome(t)
	all := payloads(marker)
	// C1 and bidi stand in a reply's text; C0 make it no reply at all.
	peer := smtptest.Start(t, smtptest.Script{Rcpt: map[string]smtptest.Action{
		"reject@trick.example":   smtptest.Reply("550 5.1.1 no " + all["C1"] + all["bidi"]),
		"controls@trick.example": smtptest.Reply("550 5.1.1 no " + all["clipboard"] + all["NUL"]),
	}})
	servers := h.provider(loopback.Options{Empty: true}, func(a *mail.Account) {
		a.SMTP = peer.Server()
		a.SMTP.Username, a.SMTP.CAFile = a.IMAP.Username, h.file("peer.pem", string(peer.CA))
	})
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(servers.CAPEM)
	c, err := imapclient.DialTLS(servers.IMAPAddr, &imapclient.Options{TLSConfig: &tls.Config{RootCAs: pool}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // a test's connection
	if err := c.Login(servers.Username, servers.Password).Wait(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		payload := all[name]
		servers.Deliver("INBOX", []byte(hostileMessage(n, payload)))
		n++
		if name == "C1 bytes" {
			continue // a folder's name is Unicode
		}
		if err := c.Create("F"+strings.ReplaceAll(payload, "/", "-"), nil).Wait(); err != nil {
			t.Logf("a folder named like %s: %v", name, err)
		}
	}
	if got := len(servers.Folders()); got < len(all)/2 {
		t.Fatalf("only %d folders could be made", got)
	}
	return h
}

// clean checks everything that was written so far.
func (x *terminal) clean(marker, where string) {
	x.t.Helper()
	for _, b := range misuse(x.written(), marker) {
		x.t.Errorf("%s: %s", where, b)
	}
}

// Every screen that shows text from outside, driven on a pseudo terminal: the
// bytes that reach it hold our own sequences only.
func TestHostileTextOnTheScreen(t *testing.T) {
	t.Parallel()
	marker := "mk" + mail.NewID()[:8]
	h := hostileWorld(t, marker)
	n := len(payloads(marker))
	for _, size := range []struct{ cols, rows int }{{80, 24}, {160, 50}} {
		x := h.open(size.cols, size.rows)
		x.until("all messages", func(s string) bool {
			return strings.Contains(s, fmt.Sprintf("1/%d", n)) && !strings.Contains(s, "↻")
		})
		x.shows("hostile")
		step := func(where string, keys string, words ...string) {
			t.Helper()
			x.types(keys)
			x.shows(words...)
			x.clean(marker, where)
		}
		for i := range n {
			x.until("the cursor on the first message", func(s string) bool { return position(s) == 1 })
			x.types(strings.Repeat("j", i))
			x.until("the cursor on the next message", func(s string) bool { return position(s) == i+1 })
			step("reader", "\r", "esc back", "Date  ", "Files  ", fmt.Sprintf("hostile %d", i))
			step("headers", "h", "X-Note")
			x.types("h")
			x.hides("X-Note")
			step("attachments", "a", "Save an attachment")
			x.types("\x1b")
			x.hides("Save an attachment")
			step("links", "o", "Links", "trick.example")
			x.types("\r")
			x.shows("Link to")
			x.clean(marker, "link")
			x.types("\x1b")
			x.hides("Link to")
			step("raw", "\\", "Return-Path", "Raw")
			x.types("gi")
			x.list()
		}
		step("folders", "ga", "Drafts", "enter open")
		x.hides("r reply")
		x.clean(marker, "folders")
		x.types("gi")
		x.list()
		step("move", "m", "Move 1 message to", "Drafts")
		x.types("\x1b")
		x.hides("Move 1 message")
		x.types("r")
		x.compose("trick.example")
		x.clean(marker, "composer")
		if size.cols == 80 { // the attempt is there when the second window opens
			x.types("No.")
			x.press("ctrl+s").shows("Sending")
		} else {
			x.press("ctrl+x")
			x.list()
		}
		x.types("gi")
		x.shows("✗ failed", "enter open")
		x.clean(marker, "badge")
		step("attempts", "go", "Attempts", "✗ failed", "refused")
		step("evidence", "\r", "550", "recipients")
		step("timeline", "L", "attempt")
		step("retry", "gr", "Failed: retry", "refused")
		x.types("gi")
		x.list()
		step("timeline of a message", "L", "imeline")
		x.types("gi")
		x.list()
		x.types("q")
		if code := x.ends(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		x.clean(marker, "to the end")
		if !strings.Contains(string(x.written()), marker) {
			t.Error("the payloads were not on the screen at all")
		}
	}
}

// What the commands print on a terminal is text as well.
func TestHostileTextOnTheCommandLine(t *testing.T) {
	t.Parallel()
	marker := "mk" + mail.NewID()[:8]
	h := hostileWorld(t, marker)
	h.run("sync", "--json").exits(0)
	rows := h.run("list", "--json").exits(0)
	n := rows.text("len")
	if n != fmt.Sprint(len(payloads(marker))) {
		t.Fatalf("%s messages of %d", n, len(payloads(marker)))
	}
	body := h.file("body.txt", "No.\n")
	var failed string
	commands := [][]string{{"sync"}, {"list"}, {"list", "--json"}, {"account", "list"}, {"audit"}, {"list", "--folder", "\x1b]2;" + marker + "\x07"},
		{"show", "\x1b[2J" + marker}, {"no\x1b]2;" + marker + "\x07such"}, {"attempts", "show", "\x1b[2J" + marker}}
	for i := range len(payloads(marker)) {
		id := rows.text(fmt.Sprintf("%d.id", i))
		commands = append(commands, []string{"show", id}, []string{"show", id, "--json"}, []string{"raw", id}, []string{"raw", id, "--json"})
		if i == 0 {
			failed = h.run("reply", id, "--body-file", body, "--json").exits(1).is("error_code", "SMTP_REJECTED").text("id")
			commands = append(commands, []string{"reply", id, "--body-file", body}, []string{"reply", id, "--body-file", body, "--json"})
		}
	}
	controls := h.run("send", "--to", "controls@trick.example", "--subject", "x", "--body-file", body, "--json").exits(1).text("id")
	commands = append(commands, []string{"attempts", "show", controls}, []string{"attempts", "show", controls, "--json"}, []string{"attempts", "list"}, []string{"attempts", "show", failed}, []string{"attempts", "show", failed, "--json"},
		[]string{"audit", "--subject", "attempt:" + failed}, []string{"attempts", "resend", failed})
	seen := false
	for _, args := range commands {
		x := h.open(120, 40, args...)
		x.ends()
		x.clean(marker, strings.Join(args, " "))
		seen = seen || strings.Contains(string(x.written()), marker)
	}
	if !seen {
		t.Error("the payloads were not printed at all")
	}
}
