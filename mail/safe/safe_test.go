package safe

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// forbidden says, independently of the cleaner's own tables, why a rune may
// not be on the screen.
func forbidden(r rune, block bool) string {
	switch {
	case r == '\n' && block:
		return ""
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return "control"
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c:
		return "bidirectional control"
	case r == 0x2028, r == 0x2029:
		return "line separator"
	case r == 0x200b, r == 0x2060, r == 0xfeff, r == 0xad, r == 0x34f, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x180e:
		return "filler"
	case r >= 0xe0000 && r <= 0xe0fff:
		return "tag or variation selector"
	}
	return ""
}

// check fails t unless s can be painted.
func check(t *testing.T, in, s string, block bool) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Fatalf("%q gives invalid UTF-8 %q", in, s)
	}
	marks, start := 0, true
	for _, r := range s {
		if why := forbidden(r, block); why != "" {
			t.Fatalf("%q gives %q with U+%04X, a %s", in, s, r, why)
		}
		if unicode.Is(unicode.M, r) {
			if start {
				t.Fatalf("%q gives %q with a mark that has no base", in, s)
			}
			if marks++; marks > 8 {
				t.Fatalf("%q gives %q with more than 8 marks on a cell", in, s)
			}
		} else {
			marks = 0
		}
		start = r == '\n'
	}
}

func TestAttackRows(t *testing.T) {
	rows := []struct{ name, in, line string }{
		{"T01 title", "a\x1b]0;pwn\x07b", "ab"},
		{"T01 title not ended", "a\x1b]0;pwn", "a␛]0;pwn"},
		{"T02 clipboard", "\x1b]52;c;c2gLXJmIH4K\x07x", "x"},
		{"T03 hyperlink", "\x1b]8;;https://evil/\x1b\\https://bank.example\x1b]8;;\x1b\\", "https://bank.example"},
		{"T04 DECRQSS", "\x1bP$q\"p\x1b\\", ""},
		{"T04 XTGETTCAP", "\x1bP+q544e\x1b\\", ""},
		{"T05 kitty graphics", "\x1b_Gf=100,a=T;AAAA\x1b\\", ""},
		{"T05 PM and SOS", "\x1b^x\x1b\\\x1bXx\x1b\\", ""},
		{"T06 C1 DCS", "\u0090$q\"p\u009c", "\ufffd$q\"p\ufffd"},
		{"T06 C1 CSI", "\u009b2J", "\ufffd2J"},
		{"T06 C1 OSC", "\u009d52;c;x\u009c", "\ufffd52;c;x\ufffd"},
		{"T07 raw C1 bytes", "\x9b2J\x9dx\x90", "\ufffd2J\ufffdx\ufffd"},
		{"T08 end of paste", "\x1b[201~rm -rf ~\n", "rm -rf ~ "},
		{"T09 queries", "\x1b[c\x1b[5n\x1b[6n\x1b[21t\x1b]10;?\x07\x1b]4;0;?\x07.", "."},
		{"T10 modes", "\x1bc\x1b[!p\x1b[?1049l\x1b[?25l\x1b[?1000h\x1b(0.", "."},
		{"T11 CR", "Safe text\rFrom: bank@", "Safe text From: bank@"},
		{"T11 backspace", "AA\b\bB", "AA␈␈B"},
		{"T11 VT FF NEL LS PS", "a\vb\fc\u0085d\u2028e\u2029f", "a b c d e f"},
		{"T12 RLO", "invoice\u202efdp.exe", "invoicefdp.exe"},
		{"T12 isolates and marks", "a\u2066b\u2069c\u200ed\u200fe\u061cf", "abcdef"},
		{"T13 filler", "p\u200bay\u2060pal\u00ad\ufeff\u034f\u115f\u1160\u3164\uffa0", "paypal"},
		{"T13 tags", "a\U000e0041\U000e007fb", "ab"},
		{"T16 wide and lone", "﷽ 𒀲 \U0001f1e6", "﷽ 𒀲 \U0001f1e6"},
		{"T16 tabs", strings.Repeat("\t", 1000), " "},
		{"T17 tmux pass-through", "\x1bPtmux;\x1b\x1b]52;c;x\x07\x1b\\", ""},
		{"T18 server text", "535 5.7.8 \x1b[2Jno", "535 5.7.8 no"},
		{"T20 NUL", "a\x00b", "a\ufffdb"},
		{"T21 SGR", "\x1b[8mhidden\x1b[0m \x1b[30;40mblack\x1b[5m", "hidden black"},
		{"DEL", "a\x7fb", "a␡b"},
		{"invalid UTF-8", "a\xffb\xed\xa0\x80", "a\ufffdb\ufffd\ufffd\ufffd"},
		{"noncharacter", "a\uffffb", "a\ufffdb"},
		{"no-break and thin spaces", "a\u00a0b\u2009c", "a b c"},
		{"mark at the start", "\u0301a", "◌\u0301a"},
		{"Polish", "Zażółć gęślą jaźń", "Zażółć gęślą jaźń"},
		{"family of emoji", "👨\u200d👩\u200d👧 ❤\ufe0f", "👨\u200d👩\u200d👧 ❤\ufe0f"},
		{"Persian ZWNJ", "می\u200cخواهم", "می\u200cخواهم"},
		{"ZWNJ in Latin", "pay\u200cpal", "paypal"},
		{"CSI spanning a line is not a sequence", "\x1b[3\n1m", "␛[3 1m"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got := Line(r.in).String()
			if got != r.line {
				t.Errorf("Line(%q) = %q, want %q", r.in, got, r.line)
			}
			check(t, r.in, got, false)
			check(t, r.in, Block(r.in).String(), true)
			check(t, r.in, Name(r.in).String(), false)
		})
	}
}

func TestMarksAreBounded(t *testing.T) {
	got := Line("e" + strings.Repeat("\u0301", 5000) + "x").String()
	if want := "e" + strings.Repeat("\u0301", 8) + "x"; got != want {
		t.Errorf("T15: %d bytes, want %d", len(got), len(want))
	}
	chain := Line(strings.Repeat("👩\u200d", 1000)).String()
	if n := strings.Count(chain, "\u200d"); n == 1000 {
		t.Error("T16: an endless chain of joined pictures stays one cell")
	}
	if w := Line(strings.Repeat("👩\u200d", 1000)).Width(); w < 100 {
		t.Errorf("T16: 1000 pictures take %d cells", w)
	}
}

func TestBlock(t *testing.T) {
	rows := []struct{ name, in, want string }{
		{"line ends", "a\r\nb\rc\nd\u0085e\u2028f\u2029g", "a\nb\nc\nd\ne\nf\ng"},
		{"empty lines stay", "a\r\n\r\n\r\nb", "a\n\n\nb"},
		{"tab stops", "a\tb\n\tc\n1234567\td\n12345678\te", "a       b\n        c\n1234567 d\n12345678        e"},
		{"tab after wide text", "日本\tx", "日本    x"},
		{"tab far right", strings.Repeat("x", 200) + "\ty", strings.Repeat("x", 200) + " y"},
		{"mark after a line end", "a\n\u0301b", "a\n◌\u0301b"},
		{"bidi override", "a\u202eb\nc", "ab\nc"},
	}
	for _, r := range rows {
		if got := Block(r.in).String(); got != r.want {
			t.Errorf("%s: Block(%q) = %q, want %q", r.name, r.in, got, r.want)
		}
	}
}

func TestName(t *testing.T) {
	rows := []struct{ name, in, want string }{
		{"spaces", "  Jan \t  Kowalski ", "Jan Kowalski"},
		{"variation selectors", "a\ufe0fb\ufe00c\U000e0100d", "abcd"},
		{"soft hyphen", "pay\u00adpal", "paypal"},
		{"joiner between letters", "pay\u200dpal", "paypal"},
		{"Devanagari joiner", "क्\u200dष", "क्\u200dष"},
		{"RLO in a file name", "invoice\u202efdp.exe", "invoicefdp.exe"},
		{"mark after a space", " \u0301x", "◌\u0301x"},
	}
	for _, r := range rows {
		if got := Name(r.in).String(); got != r.want {
			t.Errorf("%s: Name(%q) = %q, want %q", r.name, r.in, got, r.want)
		}
	}
}

func TestSuspiciousDomain(t *testing.T) {
	rows := []struct {
		in, want string
		bad      bool
	}{
		{"a@example.com", "", false},
		{"a@münchen.de", "", false},
		{"a@żółw.pl", "", false},
		{"a@пример.рф", "", false},
		{"a@日本語カナ.jp", "", false},
		{"a@कंपनी.भारत", "", false},
		{"a@раураl.com", "xn--l-7sba6dbr.com", true},
		{"a@аррӏе.com", "xn--80ak6aa92e.com", true},
		{"a@xn--80ak6aa92e.com", "xn--80ak6aa92e.com", true},
		{"a@xn--mnchen-3ya.de", "", false},
		{"a＠ｂａｎｋ.com", "", true},
	}
	for _, r := range rows {
		got, bad := SuspiciousDomain(r.in)
		if bad != r.bad || r.want != "" && got.String() != r.want {
			t.Errorf("SuspiciousDomain(%q) = %q, %v; want %q, %v", r.in, got, bad, r.want, r.bad)
		}
	}
}

func TestWidths(t *testing.T) {
	long := Line("日本語のテキスト")
	if got := long.Clip(7); got.String() != "日本語…" || got.Width() != 7 {
		t.Errorf("Clip = %q, %d cells", got, got.Width())
	}
	for n := range 20 {
		if w := long.Clip(n).Width(); w > n {
			t.Errorf("Clip(%d) takes %d cells", n, w)
		}
		if w := long.Fit(n).Width(); w != n {
			t.Errorf("Fit(%d) takes %d cells", n, w)
		}
	}
	if got := Line("abc").Fit(5).String(); got != "abc  " {
		t.Errorf("Fit = %q", got)
	}
	lines := Block("a\r\n\r\nb\r\n").Lines()
	if len(lines) != 3 || lines[1].String() != "" || lines[2].String() != "b" {
		t.Errorf("Lines = %q", lines)
	}
	if got := Join([]Text{Line("a"), Line("b")}, ", ").String(); got != "a, b" {
		t.Errorf("Join = %q", got)
	}
}

func TestJSON(t *testing.T) {
	var x Text
	if err := json.Unmarshal([]byte(`"a\u001b[31mb\u202e\nc"`), &x); err != nil || x.String() != "ab\nc" {
		t.Errorf("a text from JSON is not cleaned: %q, %v", x, err)
	}
	b, err := json.Marshal(Line(`q"`))
	if err != nil || string(b) != `"q\""` {
		t.Errorf("Marshal = %s, %v", b, err)
	}
}

func TestCleanASCIIDoesNotAllocate(t *testing.T) {
	s := strings.Repeat("clean text ", 20)
	if n := testing.AllocsPerRun(100, func() { _ = Line(s); _ = Block(s) }); n != 0 {
		t.Errorf("%v allocations for clean ASCII", n)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"\x1b]0;a\x07", "e\u0301\u0301", "👨\u200d👩\ufe0f", "a\tb\r\nc", "\u0301", " \u0301", "\u1100\u1161\u11a8", "क्\u200dष", "\x1b\x1b[", "\u3000\u0301", "٠\u0600"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, fn := range map[string]func(string) Text{"Line": Line, "Block": Block, "Name": Name} {
			once := fn(s)
			check(t, s, once.String(), name == "Block")
			if twice := fn(once.String()); twice != once {
				t.Fatalf("%s is not idempotent on %q: %q, then %q", name, s, once, twice)
			}
			if name != "Block" {
				if w := once.Clip(10).Width(); w > 10 {
					t.Fatalf("%q clipped to 10 takes %d cells", once, w)
				}
			}
		}
		SuspiciousDomain(s)
	})
}

func BenchmarkBlock(b *testing.B) {
	for name, s := range map[string]string{"ascii": strings.Repeat("clean text\n", 1000), "polish": strings.Repeat("zażółć gęślą jaźń\n", 600)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				Block(s)
			}
		})
	}
}
