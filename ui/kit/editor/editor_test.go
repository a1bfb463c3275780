package editor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"skrzynka/ui/kit"
	"skrzynka/ui/kit/kittest"
)

var theme = kit.NewTheme(kit.ThemeOptions{NoColor: true})

// press presses keys separated by spaces; a word in quotes is typed.
func press(e *Editor, keys string) {
	for _, k := range strings.Fields(keys) {
		if text, ok := strings.CutPrefix(k, "'"); ok {
			for _, r := range text {
				e.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
			}
			continue
		}
		e.Update(kittest.Key(k))
	}
}

func TestKeys(t *testing.T) {
	for _, c := range []struct{ name, text, keys, want string }{
		{"typing at the start", "b", "'a", "ab"},
		{"a line end", "ab", "right enter", "a\nb"},
		{"backspace takes a whole emoji", "👩‍👩‍👧x", "right backspace", "x"},
		{"backspace takes a letter with its mark", "e\u0301x", "right backspace", "x"},
		{"backspace takes a flag", "🇵🇱x", "right backspace", "x"},
		{"backspace joins lines", "a\nb", "down backspace", "ab"},
		{"delete takes a whole character", "e\u0301x", "delete", "x"},
		{"delete joins lines", "a\nb", "end delete", "ab"},
		{"left over an emoji", "a👍🏽b", "end left left '|", "a|👍🏽b"},
		{"word back", "one two, three", "end ctrl+w", "one two, "},
		{"word back over a sign", "one two, ", "end ctrl+w", "one "},
		{"word forward", "one two", "alt+d", " two"},
		{"word left and right", "zażółć gęślą", "ctrl+right ctrl+right ctrl+left '|", "zażółć |gęślą"},
		{"line start and kill", "one\ntwo", "down end ctrl+u", "one\n"},
		{"kill to the end", "one\ntwo", "ctrl+k", "\ntwo"},
		{"kill an empty end joins", "\ntwo", "ctrl+k", "two"},
		{"end of the text", "a\nb\nc", "ctrl+end '!", "a\nb\nc!"},
		{"down keeps the column", "long line\nx\nlong line", "end down down '|", "long line\nx\nlong line|"},
		{"up from the first row goes to the start", "abc", "end up '|", "|abc"},
		{"undo of a word", "", "'one space 'two ctrl+z", "one "},
		{"undo twice", "", "'one space 'two ctrl+z ctrl+z", ""},
		{"redo", "", "'one ctrl+z ctrl+y", "one"},
		{"a change ends redo", "", "'one ctrl+z 'x ctrl+y", "x"},
		{"undo of deletions", "one", "end backspace backspace ctrl+z", "one"},
		{"undo of joined lines", "a\nb", "down backspace ctrl+z", "a\nb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := New(c.text)
			e.View(theme, 40, 10)
			press(e, c.keys)
			if got := e.Value(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			e.View(theme, 40, 10)
		})
	}
}

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain text", "a\tb\n", "a\tb\n"},
		{"line ends", "a\r\nb\rc\u2028d\u0085e", "a\nb\nc\nd\ne"},
		{"colours", "\x1b[31mred\x1b[0m", "red"},
		{"a title that is never closed keeps the text", "\x1b]0;title text", "]0;title text"},
		{"C0, DEL and C1", "a\x00\x07\x08b\x7fc\u009bd\u0090e", "abcde"},
		{"paste end in the paste", "\x1b[201~rm -rf", "rm -rf"},
		{"broken UTF-8", "a\xffb\xc3", "ab"},
		{"scripts and emoji stay", "zażółć 你好 👩‍👩‍👧 שלום", "zażółć 你好 👩‍👩‍👧 שלום"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Clean(c.in); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		name, in string
		w        int
		want     string // rows joined by |
	}{
		{"fits", "one two", 7, "one two"},
		{"at a space", "one two", 5, "one |two"},
		{"spaces hang", "one    two", 4, "one    |two"},
		{"a long word breaks", "abcdefgh", 3, "abc|def|gh"},
		{"exactly", "abc abc", 3, "abc |abc"},
		{"wide characters", "你好世界", 5, "你好|世界"},
		{"wide after a word", "ab你好", 5, "ab你|好"},
		{"a letter with its mark stays whole", "e\u0301e\u0301e\u0301", 2, "e\u0301e\u0301|e\u0301"},
		{"accents at a space", "zażółć gęślą jaźń", 8, "zażółć |gęślą |jaźń"},
		{"a tab", "a\tb", 4, "a|\t|b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(pieces(c.in, c.w), "|"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func pieces(s string, w int) []string {
	var out []string
	rows := wrap(s, w)
	for i, from := range rows {
		to := len(s)
		if i+1 < len(rows) {
			to = rows[i+1]
		}
		out = append(out, s[from:to])
	}
	return out
}

func TestWrapKeepsEverythingAndFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "word", " ", "  ", "ż", "你", "👍🏽", "\t", "\u202e", "e\u0301"}), 0, 40).Draw(t, "text"), "")
		w := rapid.IntRange(2, 20).Draw(t, "width")
		p := pieces(s, w)
		if strings.Join(p, "") != s {
			t.Fatalf("rows %q lose something of %q", p, s)
		}
		for _, row := range p {
			if row = strings.TrimRight(row, " "); columns(row) > w && row != "\t" {
				t.Fatalf("row %q takes %d of %d cells", row, columns(row), w)
			}
		}
	})
}

// Whatever is done, undoing all of it gives the text back, redoing it the other
// one, and the cursor always lies between two characters.
func TestUndoGivesEverythingBack(t *testing.T) {
	keys := []string{"'a", "'ż", "'x", "space", "enter", "backspace", "delete", "left", "right", "up", "down", "home", "end",
		"ctrl+w", "alt+d", "ctrl+k", "ctrl+u", "ctrl+left", "ctrl+right", "pgup", "pgdown", "'\u0301", "'👍"}
	rapid.Check(t, func(t *rapid.T) {
		start := "Hello 你好\n\n> quoted text that is long enough to wrap\n> e\u0301nd\n"
		e := New(start)
		for _, k := range rapid.SliceOfN(rapid.SampledFrom(keys), 1, 60).Draw(t, "keys") {
			press(e, k)
			if e.buf.snap(e.cur) != e.cur {
				t.Fatalf("cursor %v lies inside a character of %q", e.cur, e.buf.lines[e.cur.line].s)
			}
			if lines := e.View(theme, 12, 5); len(lines) > 5 {
				t.Fatalf("%d rows", len(lines))
			}
			if x, y := e.Cursor(); x < 0 || x >= 12 || y < 0 || y >= 5 {
				t.Fatalf("cursor at %d,%d", x, y)
			}
		}
		end := e.Value()
		check := newBuffer(end)
		if check.words != e.Words() || check.chars != e.Chars() {
			t.Fatalf("counted %d words, %d characters, want %d, %d", e.Words(), e.Chars(), check.words, check.chars)
		}
		for e.Undo() {
		}
		if e.Value() != start {
			t.Fatalf("after undo %q, want %q", e.Value(), start)
		}
		for e.Redo() {
		}
		if e.Value() != end {
			t.Fatalf("after redo %q, want %q", e.Value(), end)
		}
	})
}

func TestUndoBesideACombiningMark(t *testing.T) {
	e := New("Hello")
	for _, k := range []string{"home", "'\u0301", "home", "'a", "'b"} {
		press(e, k)
	}
	want := e.Value()
	for e.Undo() {
	}
	for e.Redo() {
	}
	if e.Value() != want || want != "a\u0301bHello" {
		t.Errorf("after undo and redo %q, want %q", e.Value(), want)
	}
}

func TestNoLineEndIsAddedByWrapping(t *testing.T) {
	text := strings.Repeat("word ", 400)
	e := New("")
	e.View(theme, 20, 5)
	press(e, "'start")
	e.Update(tea.PasteMsg{Content: text})
	e.View(theme, 7, 3)
	if got := e.Value(); got != "start"+text {
		t.Errorf("wrapping changed the text: %d octets, want %d", len(got), len(text)+5)
	}
}

func TestCountsLeaveQuotesOut(t *testing.T) {
	e := New("Two words\n> not these three\n\nżó")
	if e.Words() != 3 || e.Chars() != 11 {
		t.Errorf("got %d words, %d characters; want 3 and 11", e.Words(), e.Chars())
	}
}

func TestViewShowsNothingATerminalObeys(t *testing.T) {
	e := &Editor{buf: newBuffer("a\u202eb\u009bc"), goal: -1}
	got := strings.Join(e.View(theme, 20, 2), "")
	if want := "a\ufffdb\ufffdc"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHugePaste(t *testing.T) {
	var b strings.Builder
	for i := range 50000 {
		fmt.Fprintf(&b, "line %d of a paste that is very long\r\n", i)
	}
	e := New("before")
	e.View(theme, 80, 24)
	begun := time.Now()
	e.Update(tea.PasteMsg{Content: b.String()})
	e.View(theme, 80, 24)
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("a paste of 50,000 lines took %v", took)
	}
	if _, lines := e.Position(); lines != 50001 {
		t.Errorf("%d lines, want 50001", lines)
	}
	press(e, "ctrl+z")
	if e.Value() != "before" {
		t.Error("undo does not take the paste back")
	}
}

func BenchmarkKeyIn5000Lines(b *testing.B) {
	e := New(strings.Repeat("A line of some sixty letters, as long as they are in a mail, zażółć.\n", 5000))
	e.View(theme, 80, 24)
	for range 2500 {
		press(e, "down")
	}
	for b.Loop() {
		e.Update(tea.KeyPressMsg{Code: 'x', Text: "x"})
		e.View(theme, 80, 24)
	}
}

func BenchmarkEnterIn50000Lines(b *testing.B) {
	e := New(strings.Repeat("A line.\n", 50000))
	e.View(theme, 80, 24)
	for b.Loop() {
		press(e, "enter")
		e.View(theme, 80, 24)
	}
}

func BenchmarkKeyInOneLineOfAMegabyte(b *testing.B) {
	e := New(strings.Repeat("word ", 200000))
	e.View(theme, 80, 24)
	for b.Loop() {
		press(e, "'x")
		e.View(theme, 80, 24)
	}
}
