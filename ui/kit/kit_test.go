package kit

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/mail/view"
)

func TestFitIsExact(t *testing.T) {
	for _, s := range []string{"", "plain", "zażółć gęślą jaźń", "日本語のメール", "👩‍👩‍👧‍👦 family", "e\u0301\u0302x", "🇵🇱🇵🇱🇵🇱",
		"\x1b[1mbold\x1b[m and more", "क्षत्रिय"} {
		for w := range 14 {
			if got := Width(Fit(s, w)); got != w {
				t.Errorf("Fit(%q, %d) is %d wide", s, w, got)
			}
			if got := Width(FitRight(s, w)); got != w {
				t.Errorf("FitRight(%q, %d) is %d wide", s, w, got)
			}
			if got := Width(Spread(s, "x/y", w)); got != w {
				t.Errorf("Spread(%q, %d) is %d wide", s, w, got)
			}
			for _, l := range Wrap(s, max(2, w)) {
				if Width(l) > max(2, w) {
					t.Errorf("Wrap(%q, %d): %q", s, w, l)
				}
			}
		}
	}
}

func TestOverlayKeepsTheSize(t *testing.T) {
	base := Frame([]string{"日本語日本語", "\x1b[31mred red red\x1b[m", "x"}, 12, 3)
	for x := -1; x < 12; x++ {
		out := Overlay(base, "ab\ncd", max(0, x), 1)
		for _, l := range strings.Split(out, "\n") {
			if Width(l) != 12 {
				t.Errorf("x=%d: %q is %d wide", x, l, Width(l))
			}
		}
	}
}

func TestShortDate(t *testing.T) {
	now := time.Date(2025, 3, 5, 14, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name string
		at   time.Time
		want string
	}{
		{"today", now.Add(-2 * time.Hour), "12:00"},
		{"later today", now.Add(2 * time.Hour), "16:00"},
		{"yesterday", now.AddDate(0, 0, -1), "Tue 14:00"},
		{"six days ago", now.AddDate(0, 0, -6), "Thu 14:00"},
		{"a week ago", now.AddDate(0, 0, -7), "26 Feb"},
		{"a year ago", now.AddDate(-1, 0, 0), "2024-03-05"},
		{"tomorrow", now.AddDate(0, 0, 1), "2025-03-06"},
		{"none", time.Time{}, ""},
	} {
		if got := ShortDate(tc.at, now); got != tc.want || Width(got) > DateWidth {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestEveryStatusHasGlyphAndWord(t *testing.T) {
	want := map[bool][]string{false: {"○ pending", "◐ sending", "✓ sent", "✗ failed", "? uncertain"},
		true: {"o pending", "> sending", "v sent", "x failed", "? uncertain"}}
	for ascii, words := range want {
		theme := NewTheme(ThemeOptions{ASCII: ascii})
		for i, s := range mail.AllDeliveryStatuses() {
			if got := theme.Status(s).Text; got != words[i] {
				t.Errorf("%s: %q, want %q", s, got, words[i])
			}
			for _, r := range append(mail.AllResolutions(), "") {
				b := view.Badge{Status: s, Resolved: r}
				if !strings.HasPrefix(theme.Badge(b).Text, words[i]) || !strings.HasPrefix(theme.BadgeLong(b).Text, words[i]) {
					t.Errorf("%s, %s: the status is not what the badge begins with", s, r)
				}
			}
		}
	}
	for _, r := range asciiGlyphs.Sent + asciiGlyphs.Gutter + asciiGlyphs.TopLeft + asciiGlyphs.Unread {
		if r > 126 {
			t.Errorf("%q is not ASCII", r)
		}
	}
}

func TestNoColorUsesNoColour(t *testing.T) {
	theme := NewTheme(ThemeOptions{NoColor: true})
	for _, s := range []Style{theme.Dim, theme.Bad, theme.Select, theme.Bar, theme.Quotes[0], theme.Good, theme.Link, theme.Key} {
		if strings.Contains(s.sgr, "38;") || strings.Contains(s.sgr, "48;") {
			t.Errorf("a colour: %q", s.sgr)
		}
	}
}

func action(id string, keys ...string) Action {
	return Action{ID: id, Keys: keys, Run: func() tea.Cmd { return nil }}
}

func TestKeyConflictsAreRefused(t *testing.T) {
	screen := []Action{action("message.archive", "e"), action("list.top", "g g"), action("list.down", "j", "down")}
	global := []Action{action("go.inbox", "g i"), action("app.quit", "q"), action("app.undo", "u")}
	for _, tc := range []struct {
		name string
		keys map[string]string
		bad  string
	}{
		{"defaults", nil, ""},
		{"own key", map[string]string{"message.archive": "y"}, ""},
		{"own sequence", map[string]string{"message.archive": "g e"}, ""},
		{"alternatives", map[string]string{"list.down": "n or ctrl+n"}, ""},
		{"a screen's key may hide a global one", map[string]string{"message.archive": "u"}, ""},
		{"same level twice", map[string]string{"message.archive": "j"}, "both"},
		{"begins a sequence", map[string]string{"message.archive": "g"}, "begins the sequence"},
		{"no key", map[string]string{"message.archive": "ctrl+nothing"}, "is not a key"},
		{"three keys", map[string]string{"message.archive": "a b c"}, "is not a key"},
		{"empty", map[string]string{"message.archive": ""}, "is not a key"},
	} {
		m, err := ParseKeymap(tc.keys)
		if err == nil {
			err = m.CheckKeys(screen, global)
		}
		if (tc.bad == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tc.bad) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

func press(s string) tea.KeyPressMsg { return tea.KeyPressMsg{Code: []rune(s)[0], Text: s} }

func TestResolver(t *testing.T) {
	screen := []Action{action("e", "e"), action("top", "g g")}
	global := []Action{action("inbox", "g i"), action("other-e", "e")}
	m := Keymap{}
	var r Resolver
	if hit, used := r.Press(m, press("e"), screen, global); !used || hit == nil || hit.ID != "e" {
		t.Error("the first level wins")
	}
	if hit, used := r.Press(m, press("g"), screen, global); hit != nil || !used || r.Pending() != "g" {
		t.Error("the beginning of a sequence waits")
	}
	if n := len(r.Continuations(m, screen, global)); n != 2 {
		t.Errorf("%d continuations", n)
	}
	if hit, _ := r.Press(m, press("i"), screen, global); hit == nil || hit.ID != "inbox" {
		t.Error("a sequence ends")
	}
	r.Press(m, press("g"), screen, global)
	if hit, used := r.Press(m, press("z"), screen, global); hit != nil || !used || r.Pending() != "" {
		t.Error("a wrong second key is swallowed")
	}
	if _, used := r.Press(m, press("z"), screen, global); used {
		t.Error("a key without meaning belongs to the screen")
	}
	cyrillic := tea.KeyPressMsg{Code: 'у', BaseCode: 'e', Text: "у"}
	if hit, _ := r.Press(m, cyrillic, screen, global); hit == nil || hit.ID != "e" {
		t.Error("a key of another script is found by its place on the keyboard")
	}
}

func TestLoadDropsOldGenerations(t *testing.T) {
	var l, other Load[string]
	value := func(s string, err error) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return s, err }
	}
	old := l.Start(value("old", nil))
	fresh := l.Start(value("fresh", nil))
	foreign := other.Start(value("foreign", nil))
	if l.Take(old()) || l.Take(foreign()) || l.Value != "" {
		t.Error("a result that is not its own was taken")
	}
	if !l.Take(fresh()) || l.Value != "fresh" || l.Running {
		t.Error("its own result was not taken")
	}
	failing := l.Start(value("", errors.New("no")))
	if !l.Take(failing()) || l.Err == nil || l.Value != "fresh" || !l.Loaded {
		t.Error("an error keeps what was there")
	}
}

func TestInput(t *testing.T) {
	var in Input
	theme := NewTheme(ThemeOptions{})
	keys := func(names ...string) {
		for _, n := range names {
			switch n {
			case "left":
				in.Update(tea.KeyPressMsg{Code: tea.KeyLeft})
			case "backspace":
				in.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
			case "ctrl+w":
				in.Update(tea.KeyPressMsg{Code: 'w', Mod: tea.ModCtrl})
			default:
				in.Update(press(n))
			}
		}
	}
	in.Update(tea.PasteMsg{Content: "one\ntwo\x1b[31m 👩‍👩‍👧‍👦"})
	if in.Value() != "one two 👩‍👩‍👧‍👦" {
		t.Errorf("pasted %q", in.Value())
	}
	keys("backspace")
	if in.Value() != "one two " {
		t.Errorf("a family is one character: %q", in.Value())
	}
	keys("ctrl+w")
	if in.Value() != "one " {
		t.Errorf("a word back: %q", in.Value())
	}
	keys("é", "left", "x")
	if in.Value() != "one xé" {
		t.Errorf("in the middle: %q", in.Value())
	}
	in.Set(strings.Repeat("日本", 30))
	for w := 1; w < 12; w++ {
		if line, x := in.View(theme, w); Width(line) != w || x >= w {
			t.Errorf("w=%d: %q, cursor %d", w, line, x)
		}
	}
}

func TestForm(t *testing.T) {
	f := Form{Fields: []*Field{
		{ID: "email", Label: "Email", Check: func(v string) string {
			if !strings.Contains(v, "@") {
				return "an address has an @"
			}
			return ""
		}},
		{ID: "security", Label: "Security", Choices: []string{"tls", "starttls"}},
	}}
	enter := tea.KeyPressMsg{Code: tea.KeyEnter}
	f.Update(press("a"))
	if f.Update(enter); f.At() != 0 {
		t.Error("enter leaves no wrong field")
	}
	if !strings.Contains(strings.Join(f.Lines(NewTheme(ThemeOptions{}), 60), "\n"), "an address has an @") {
		t.Error("the error is not shown")
	}
	f.Update(press("@"))
	f.Update(enter)
	f.Update(tea.KeyPressMsg{Code: tea.KeyRight})
	if submitted, _ := f.Update(enter); !submitted || f.Value("security") != "starttls" || f.Value("email") != "a@" {
		t.Errorf("submitted %v: %q %q", submitted, f.Value("email"), f.Value("security"))
	}
}

func TestFuzzy(t *testing.T) {
	best := func(want string, texts ...string) string {
		top, at := -1, ""
		for _, s := range texts {
			if n, ok := Fuzzy(want, s); ok && n > top {
				top, at = n, s
			}
		}
		return at
	}
	if got := best("arch", "Search mail", "Archive the message"); got != "Archive the message" {
		t.Errorf("a word's start counts more: %q", got)
	}
	if _, ok := Fuzzy("xyz", "Archive"); ok {
		t.Error("a letter that is not there")
	}
}

func TestConfirmIsAnsweredOnce(t *testing.T) {
	env := &Env{Theme: NewTheme(ThemeOptions{})}
	runs := 0
	c := &Confirm{Env: env, Title: "Send again?", Text: []string{"The server may have it already.\x1b[2J"},
		Choices: []Choice{{Key: "n", Label: "no"}, {Key: "y", Label: "send", Danger: true, Run: func() tea.Cmd { runs++; return nil }}}}
	if strings.Contains(c.View(60, 20), "\x1b[2J") {
		t.Error("the text was painted raw")
	}
	if _, done := c.Update(press("z")); done {
		t.Error("another key answers nothing")
	}
	if _, done := c.Update(press("y")); !done || runs != 1 {
		t.Error("its key answers")
	}
	for h := range 12 {
		for w := range 30 {
			c.View(w, h)
		}
	}
}

func TestSixteenColoursStayReadable(t *testing.T) {
	theme := NewTheme(ThemeOptions{Basic: true})
	for _, s := range []Style{theme.Warn, theme.Bad, theme.Key, theme.Info} {
		if strings.Contains(s.sgr, "38;") || s.Plain() {
			t.Errorf("not one of the sixteen colours: %q", s.sgr)
		}
		if got := s.On(theme.Select); got != theme.Select {
			t.Errorf("a colour on a reversed row: %q", got.sgr)
		}
	}
	if got := theme.Strong.On(theme.Select).sgr; got != "7;1" {
		t.Errorf("bold is lost on the cursor's row: %q", got)
	}
}

// What a sender writes must not make a page longer than its room: the footer
// and the header are ours.
func TestLineEndsInsideALine(t *testing.T) {
	if got := Wrap("a\nb", 20); len(got) != 2 {
		t.Errorf("Wrap keeps a line end inside: %q", got)
	}
	if got := Frame([]string{"a\nb", "c"}, 3, 2); got != "a  \nc  " {
		t.Errorf("Frame made %q", got)
	}
}
