package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"skrzynka/mail"
)

func TestEncode(t *testing.T) {
	rows := []struct{ name, in, want string }{
		{"plain", `a "b" <c> & d`, `"a \"b\" <c> & d"`},
		{"not ASCII", "Zażółć 日本 🍵", `"Zażółć 日本 🍵"`},
		{"C0 and DEL", "\x00\x1b[2J\x7f\n\t", `"\u0000\u001b[2J\u007f\n\t"`},
		{"C1", "\u0085\u009b2J", `"\u0085\u009b2J"`},
		{"bidirectional", "a\u202eb\u2066c\u200f", `"a\u202eb\u2066c\u200f"`},
		{"invisible", "a\u200bb\ufeff\u00ad\u2060\u3164", `"a\u200bb\ufeff\u00ad\u2060\u3164"`},
		{"separators", "\u2028\u2029", `"\u2028\u2029"`},
		{"tags beyond the first plane", "\U000e0041\U000e0100", `"\udb40\udc41\udb40\udd00"`},
		{"invalid UTF-8", "a\xff", `"a\ufffd"`},
	}
	for _, r := range rows {
		b, err := encode(r.in)
		if err != nil || string(b) != r.want+"\n" {
			t.Errorf("%s: %s, %v; want %s", r.name, b, err, r.want)
		}
	}
}

func FuzzEncode(f *testing.F) {
	f.Add("a\u202e\U000e0041\x1b")
	f.Fuzz(func(t *testing.T, s string) {
		b, err := encode(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range strings.TrimSuffix(string(b), "\n") {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
				t.Fatalf("%q holds U+%04X", b, r)
			}
		}
		var back string
		if err := json.Unmarshal(b, &back); err != nil || utf8.ValidString(s) && back != s {
			t.Fatalf("%q comes back as %q, %v", s, back, err)
		}
	})
}

// The text for people: what it says, and that nothing in it can move a cursor.
func TestText(t *testing.T) {
	evil := attempt(mail.StatusFailed)
	evil.Subject, evil.IdempotencyKey = "a\x1b[2Jb\u202ec", "k\u009b1m"
	rows := []struct {
		name string
		s    setup
		args string
		want []string
	}{
		{"list", setup{}, "list", []string{"7  2026-11-30 22:30  INBOX  new uncertain  Bob  Tea 🍵 at five?", "1 of 12"}},
		{"show", setup{}, "show 7", []string{"From         Bob <bob@example.org>", "Attachment   menu.pdf (application/pdf, 9 bytes)", "\nTea?\n\nBob\n"}},
		{"attempts show", setup{engine: fake{attempt: attempt(mail.StatusSent)}}, "attempts show x",
			[]string{"sent  reply  11111111-", "Accepted by smtp.example.org.", "Handed over  yes", "Reply        250", "The chain, oldest first:"}},
		{"attempts list", setup{engine: fake{attempt: evil}}, "attempts list", []string{"failed  bob@example.org  abc"}},
		{"attempt with hostile text", setup{engine: fake{attempt: evil}}, "attempts show x", []string{"Subject      abc"}},
		{"probe", setup{engine: fake{attempt: attempt(mail.StatusUncertain)}}, "attempts probe x", []string{"which proves nothing", "Sent: nothing found", "All Mail: could not look: The server is away."}},
		{"audit", setup{}, "audit", []string{"2026-11-30 22:30:00  worker  attempt.settled  attempt:1: sending -> sent (250 ok)"}},
		{"account list", setup{}, "account list", []string{"personal  ada@example.org   default  3 messages"}},
		{"raw on a terminal", setup{terminal: true}, "raw 7", []string{"Subject: x\n\n"}},
		{"help", setup{}, "help", []string{"Exit codes", "attempts", "completion"}},
		{"version", setup{}, "version", []string{"skrzynka 1.2.3"}},
		{"completion", setup{}, "completion bash", []string{"bash completion"}},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got := exec(t, r.s, strings.Fields(r.args)...)
			if got.code != 0 || got.err != "" {
				t.Fatalf("exit %d, %s", got.code, got.err)
			}
			for _, w := range r.want {
				if !strings.Contains(got.out, w) {
					t.Errorf("%q is not in\n%s", w, got.out)
				}
			}
			for _, c := range got.out {
				if c != '\n' && c != '\t' && unicode.IsControl(c) || c == 0x202e {
					t.Fatalf("U+%04X in %q", c, got.out)
				}
			}
		})
	}
}

func TestRawBytesAreExact(t *testing.T) {
	if got := exec(t, setup{}, "raw", "7"); got.out != "Subject: x\r\n\r\n\x1b]0;pwn\x07\x9b\r\n" {
		t.Errorf("got %q", got.out)
	}
}

func TestErrorText(t *testing.T) {
	type p struct {
		Path    string `json:"path"`
		Problem string `json:"problem"`
		Fix     string `json:"fix"`
	}
	e := &mail.Error{Code: mail.CodeConfigInvalid, Text: "It is not valid: a.", Hint: "Correct it.\x1b[2J",
		Details: map[string]any{"problems": []p{{"a", "wrong", "write 1"}, {"b", "missing", "write 2"}}}}
	got := exec(t, setup{openErr: e}, "list")
	if want := "skrzynka: It is not valid: a. Correct it.\n  a: wrong; write 1\n  b: missing; write 2\n"; got.err != want {
		t.Errorf("got %q, want %q", got.err, want)
	}
	got = exec(t, setup{}, "lst")
	if want := "skrzynka: There is no command \"lst\"; did you mean list? See skrzynka help.\n"; got.err != want {
		t.Errorf("got %q", got.err)
	}
	got = exec(t, setup{openErr: &mail.Error{Text: "x", Details: map[string]any{"f": func() {}}}}, "list", "--json")
	if !json.Valid([]byte(got.err)) {
		t.Errorf("details that are no JSON: %s", got.err)
	}
}

func TestManualPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man")
	if got := exec(t, setup{}, "man", dir); got.code != 0 {
		t.Fatal(got.err)
	}
	for _, name := range []string{"skrzynka.1", "skrzynka-send.1", "skrzynka-attempts-resend.1"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(b), "SKRZYNKA") || strings.Contains(string(b), "/c/config.toml") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
