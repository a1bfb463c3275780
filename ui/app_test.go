package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/kit/kittest"
	"skrzynka/ui/uitest"
)

func deps(e *uitest.Engine) (Deps, *kittest.Timers) {
	timers := &kittest.Timers{}
	return Deps{Engine: e, Clock: &kittest.Clock{T: uitest.Now}, Zone: time.UTC, Theme: "dark", DownloadDir: "~/Downloads", After: timers.After}, timers
}

func drive(t testing.TB, e *uitest.Engine, w, h int, edit ...func(*Deps)) *kittest.Driver {
	t.Helper()
	d, timers := deps(e)
	for _, f := range edit {
		f(&d)
	}
	app, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	return kittest.New(t, app, timers, w, h)
}

// rest lets previews happen; notices stay.
func rest(d *kittest.Driver) { d.Advance(200 * time.Millisecond) }

var sizes = [][2]int{{80, 24}, {120, 40}, {200, 60}, {20, 5}}

func TestFrames(t *testing.T) {
	for _, tc := range []struct {
		name string
		keys string
		edit func(*Deps)
	}{
		{"list", "", nil},
		{"reader", "enter", nil},
		{"reader-folded", "enter z", nil},
		{"folders", "g a", nil},
		{"marked", "x x j x", nil},
		{"help", "?", nil},
		{"palette", ":", nil},
		{"sequence", "g", nil},
		{"attachments", "enter a", nil},
		{"move", "m", nil},
		{"raw", "enter \\", nil},
		{"archived", "e", nil},
		{"search", "/", nil},
		{"ascii", "", func(d *Deps) { d.ASCII, d.NoColor, d.DemoNote = true, true, "DEMO" }},
	} {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s-%dx%d", tc.name, size[0], size[1]), func(t *testing.T) {
				var edits []func(*Deps)
				if tc.edit != nil {
					edits = append(edits, tc.edit)
				}
				d := drive(t, uitest.Sample(), size[0], size[1], edits...)
				rest(d)
				d.Keys(tc.keys)
				rest(d)
				kittest.Golden(t, fmt.Sprintf("%s-%dx%d", tc.name, size[0], size[1]), d.Frame())
			})
		}
	}
}

func TestEverySizeIsFilled(t *testing.T) {
	d := drive(t, uitest.Sample(), 80, 24)
	for _, keys := range []string{"", "enter", "a", "esc h", "esc tab", "?", "esc :", "esc /"} {
		d.Keys(keys)
		for w := 1; w < 130; w += 11 {
			for h := 1; h < 45; h += 4 {
				d.Resize(w, h)
				d.Frame()
			}
		}
		d.Resize(80, 24)
	}
}

func TestHostileTextKeepsTheLayout(t *testing.T) {
	hostile := []string{
		"\x1b]0;pwn\x07", "\x1b[2J\x1b[H", "a\rFrom: bank", "\u202egnp.exe", "e" + strings.Repeat("\u0301", 5000), "\u009b2J",
		strings.Repeat("日本語", 400), "👩‍👩‍👧‍👦🇵🇱", "\t\t\t\t", "[sent ✓] ✓ sent", strings.Repeat("x", 1<<16), "\ufdfd\ufdfd", "\x00\x07\x08", "🇦", "क्षत्रिय",
	}
	e := uitest.Sample()
	for i := range e.Rows {
		s := hostile[i%len(hostile)]
		e.Rows[i].From, e.Rows[i].Subject, e.Rows[i].Snippet = safe.Line(s), safe.Line(s), safe.Line(s)
		body := view.Message{FromAll: []view.Address{{Name: safe.Name(s), Addr: safe.Name(s)}}}
		for _, h := range hostile {
			body.Lines = append(body.Lines, view.Line{Depth: i % 3, Text: safe.Line(h)})
			body.Files = append(body.Files, view.File{Name: safe.Name(h)})
			body.Links = append(body.Links, view.Link{N: 1, URL: safe.Line(h), Text: safe.Line(h)})
		}
		e.Bodies[e.Rows[i].ID] = body
	}
	for _, size := range [][2]int{{80, 24}, {120, 40}, {20, 5}} {
		d := drive(t, e, size[0], size[1])
		for range e.Rows {
			d.Keys("enter")
			rest(d)
			for _, key := range []string{"space", "G", "a", "esc", "o", "esc", "h", "h", "esc", "j"} {
				d.Keys(key)
				if styled := d.Styled(); strings.ContainsAny(styled, "\x07\r\u009b\u202e\x00") || strings.Contains(styled, "\x1b]") {
					t.Fatalf("outside bytes reached the screen after %s", key)
				}
			}
		}
	}
}

func calls(e *uitest.Engine) string { return strings.Join(e.Calls, "; ") }

func TestTriage(t *testing.T) {
	for _, tc := range []struct {
		name, keys, want string
	}{
		{"archive", "e", "move [100] archive0"},
		{"trash", "d", "move [100] trash0"},
		{"junk", "!", "move [100] junk0"},
		{"three at once, before the first is answered", "e e e", "move [100] archive0; move [99] archive0; move [98] archive0"},
		{"flag", "s", "flag [100] true"},
		{"read and unread", "U U", "seen [100] true; seen [100] false"},
		{"marked", "x x e", "move [99 100] archive0"},
		{"unmarked by esc", "x x esc e", "move [98] archive0"},
		{"move to a folder", "m down down enter", "move [100] 4"},
		{"reply", "r", "reply 100 false"},
		{"reply all", "j R", "reply 99 true"},
		{"forward", "f", "forward 100"},
		{"compose", "c", "draft personal"},
		{"undo", "e u", "move [100] archive0; undo"},
		{"opening reads it", "enter", "seen [100] true"},
		{"archiving while reading goes on to the next", "enter e", "seen [100] true; move [100] archive0; seen [99] true"},
		{"next while reading", "enter J K n p", "seen [100] true; seen [99] true"},
		{"save an attachment", "enter a enter", "seen [100] true; save 100/2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := uitest.Sample()
			d := drive(t, e, 80, 24)
			d.Keys(tc.keys)
			if got := calls(e); got != tc.want {
				t.Errorf("calls %q, want %q", got, tc.want)
			}
		})
	}
}

func TestWhyAnActionIsOff(t *testing.T) {
	e := uitest.Sample()
	e.Folder = slices.DeleteFunc(e.Folder, func(f view.Folder) bool { return f.Kind == mail.FolderArchive })
	d := drive(t, e, 80, 24)
	d.Keys("e")
	if !strings.Contains(d.Frame(), "Archive: personal has no archive folder") || len(e.Calls) > 0 {
		t.Errorf("calls %v:\n%s", e.Calls, d.Frame())
	}
	d.Keys(":")
	d.Type("archive")
	if !strings.Contains(d.Frame(), "no archive folder") {
		t.Errorf("the palette does not say why:\n%s", d.Frame())
	}
}

func TestAFailedMoveComesBack(t *testing.T) {
	e := uitest.Sample()
	d := drive(t, e, 80, 24)
	e.Fail = &mail.Error{Code: mail.CodeDiskFull, Text: "The disk is full.", Hint: "Make room, then try again."}
	d.Keys("e")
	f := d.Frame()
	if !strings.Contains(f, "Quarterly figures") || !strings.Contains(f, "The disk is full.") || !strings.Contains(f, "Make room") {
		t.Errorf("the message is not back, or the error not shown:\n%s", f)
	}
	d.Advance(time.Hour)
	if !strings.Contains(d.Frame(), "The disk is full.") {
		t.Error("an error goes by itself")
	}
	e.Fail = nil
	d.Keys("j")
	if strings.Contains(d.Frame(), "The disk is full.") {
		t.Error("an error stays after it was seen")
	}
}

func TestNoticesExpire(t *testing.T) {
	d := drive(t, uitest.Sample(), 80, 24)
	d.Keys("e")
	if !strings.Contains(d.Frame(), "Archived: 1 message") {
		t.Fatal("no notice")
	}
	d.Advance(10 * time.Second)
	if strings.Contains(d.Frame(), "Archived: 1 message") {
		t.Error("the notice stays")
	}
}

func TestSearchGoesBackToTheCursor(t *testing.T) {
	e := uitest.Sample()
	d := drive(t, e, 80, 24)
	d.Keys("j j j /")
	d.Type("offer")
	d.Keys("enter")
	if f := d.Frame(); !strings.Contains(f, "Search: offer") || !strings.Contains(f, "Offer for the workshop") || strings.Contains(f, "Your order") {
		t.Fatalf("the results:\n%s", f)
	}
	d.Keys("esc e")
	if got := calls(e); got != "move [97] archive0" {
		t.Errorf("the cursor is not where it was: %s", got)
	}
	d.Keys("/")
	d.Type("nothing like it")
	d.Keys("enter")
	if f := d.Frame(); !strings.Contains(f, "Nothing found for nothing like it") {
		t.Errorf("the empty result:\n%s", f)
	}
}

func TestPanes(t *testing.T) {
	e := uitest.Sample()
	d := drive(t, e, 120, 40)
	rest(d)
	if f := d.Frame(); !strings.Contains(f, "the numbers you asked for are attached. The short") || len(e.Calls) > 0 {
		t.Errorf("the preview shows the message and leaves it unread; calls %v:\n%s", e.Calls, f)
	}
	d.Keys("j")
	rest(d)
	if f := d.Frame(); strings.Contains(f, "Hi Ada,") || !strings.Contains(f, "ci@build.example") {
		t.Errorf("the preview does not follow:\n%s", f)
	}
	d.Keys("g a g g j j j j j j j enter")
	if f := d.Frame(); !strings.Contains(f, "personal / Archive") {
		t.Errorf("a folder chosen by keyboard:\n%s", f)
	}
	d.Keys("g i")
	if f := d.Frame(); !strings.Contains(strings.Split(f, "\n")[0], "Inbox") {
		t.Errorf("g i:\n%s", f)
	}
}

func TestPreviewKeys(t *testing.T) {
	e := uitest.Sample()
	d := drive(t, e, 120, 40)
	rest(d)
	d.Keys("o")
	if !strings.Contains(d.Frame(), "figures.example.org") {
		t.Errorf("the links of the message shown, from the list:\n%s", d.Frame())
	}
	d.Keys("esc z")
	if !strings.Contains(d.Frame(), "4 quoted lines") || len(e.Calls) > 0 {
		t.Errorf("folding from the list leaves it unread, calls %v:\n%s", e.Calls, d.Frame())
	}
	d.Keys("/")
	d.Type("green")
	d.Keys("enter shift+tab g g j j j j j j j enter")
	if !strings.Contains(d.Frame(), "personal / Archive") {
		t.Errorf("a folder picked beside a search:\n%s", d.Frame())
	}
	d.Keys("esc")
	if !strings.Contains(d.Frame(), "personal / Archive") {
		t.Error("the search is still below")
	}
}

func TestBackAndQuit(t *testing.T) {
	d := drive(t, uitest.Sample(), 80, 24)
	d.Keys("enter \\ q")
	if d.Quit || !strings.Contains(d.Frame(), "mia@novak.example") {
		t.Errorf("q goes back to the reader:\n%s", d.Frame())
	}
	d.Keys("q esc esc")
	if d.Quit {
		t.Fatal("esc does not quit")
	}
	d.Keys("q")
	if !d.Quit {
		t.Error("q on the first page quits")
	}
}

func TestMouse(t *testing.T) {
	e := uitest.Sample()
	d := drive(t, e, 80, 24)
	d.Send(tea.MouseClickMsg{X: 30, Y: 4, Button: tea.MouseLeft})
	d.Keys("s")
	d.Send(tea.MouseClickMsg{X: 30, Y: 4, Button: tea.MouseLeft})
	if got := calls(e); got != "flag [97] true" {
		t.Errorf("calls %q", got)
	}
	if f := d.Frame(); !strings.Contains(f, "help@shop.example") {
		t.Errorf("a second click opens:\n%s", f)
	}
	d = drive(t, e, 120, 40)
	d.Send(tea.MouseClickMsg{X: 3, Y: 8, Button: tea.MouseLeft})
	if f := d.Frame(); !strings.Contains(f, "personal / Sent") {
		t.Errorf("a click on a folder:\n%s", f)
	}
}

func TestLinksAreShownBeforeTheyAreUsed(t *testing.T) {
	var opened []string
	d := drive(t, uitest.Sample(), 80, 24, func(d *Deps) { d.Open = func(u string) error { opened = append(opened, u); return nil } })
	d.Keys("enter o enter")
	if f := d.Frame(); !strings.Contains(f, "Link to figures.example.org") || len(opened) > 0 || d.Clip != "" {
		t.Fatalf("the link is not shown first:\n%s", f)
	}
	d.Keys("c")
	if d.Clip != "https://figures.example.org/q1?lang=en" || len(opened) > 0 {
		t.Errorf("copied %q", d.Clip)
	}
	d.Keys("o enter o")
	if len(opened) != 1 {
		t.Errorf("opened %v", opened)
	}
	e := uitest.Sample()
	m := e.Bodies[100]
	m.Links = []view.Link{{N: 1, URL: safe.Line("file:///etc/passwd")}}
	e.Bodies[100] = m
	d = drive(t, e, 80, 24, func(d *Deps) { d.Open = func(u string) error { opened = append(opened, u); return nil } })
	d.Keys("enter o enter o")
	if len(opened) != 1 {
		t.Errorf("a link of another scheme was opened: %v", opened)
	}
}

func TestChangesAreShownAndJoined(t *testing.T) {
	e := uitest.Sample()
	d := drive(t, e, 80, 24)
	e.Rows[0].Badge = &view.Badge{Status: mail.StatusSending}
	d.Send(view.Change{Topic: view.TopicAttempts})
	if !strings.Contains(d.Frame(), "◐ sending") {
		t.Errorf("the badge is not shown:\n%s", d.Frame())
	}
	before := e.Queries
	for range 100 {
		d.Send(view.Change{Topic: view.TopicMessages})
	}
	d.Advance(time.Second)
	d.Advance(time.Second)
	if n := e.Queries - before; n == 0 || n > 6 {
		t.Errorf("a storm of changes cost %d queries", n)
	}
	d.Send(view.Change{Topic: view.TopicSync, Progress: &view.SyncProgress{Account: "personal", Folder: safe.Line("Archive"), Phase: "headers", Done: 1240, Total: 20000}})
	if !strings.Contains(d.Frame(), "↻ 6%") {
		t.Errorf("the progress has no short form:\n%s", d.Frame())
	}
	d.Resize(120, 24)
	if !strings.Contains(d.Frame(), "↻ Archive 1,240/20,000") {
		t.Errorf("the progress is not shown:\n%s", d.Frame())
	}
	d.Send(view.Change{Topic: view.TopicSync, Progress: &view.SyncProgress{Account: "personal", Phase: "offline"}})
	if !strings.Contains(d.Frame(), "offline") {
		t.Errorf("offline is not shown:\n%s", d.Frame())
	}
}

func TestValidateKeys(t *testing.T) {
	for _, tc := range []struct {
		name string
		keys map[string]string
		bad  string
	}{
		{"none", nil, ""},
		{"another key", map[string]string{"message.archive": "y"}, ""},
		{"swap", map[string]string{"message.archive": "d", "message.trash": "e"}, ""},
		{"taken in the list", map[string]string{"message.archive": "d"}, "both"},
		{"taken in the reader only", map[string]string{"message.archive": "z"}, "both"},
		{"unknown action", map[string]string{"message.archiv": "y"}, "no action"},
		{"hides the sequences", map[string]string{"list.mark": "g"}, "begins the sequence"},
		{"not a key", map[string]string{"message.archive": "hyper+q"}, "not a key"},
	} {
		err := ValidateKeys(tc.keys)
		if (err == nil) != (tc.bad == "") || err != nil && !strings.Contains(err.Error(), tc.bad) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	e := uitest.Sample()
	d := drive(t, e, 80, 24, func(d *Deps) { d.Keys = map[string]string{"message.archive": "y"} })
	d.Keys("e y")
	if calls(e) != "move [100] archive0" || !strings.Contains(d.Frame(), "Archived") {
		t.Errorf("the own key: %s", calls(e))
	}
}

func TestThemeFollowsTheTerminal(t *testing.T) {
	d := drive(t, uitest.Sample(), 80, 24, func(d *Deps) { d.Theme = "auto" })
	dark := d.Styled()
	d.Send(tea.BackgroundColorMsg{Color: tea.BackgroundColorMsg{}.Color})
	d.Send(tea.ColorProfileMsg{})
	if plain := d.Styled(); plain == dark || strings.Contains(plain, "38;2") {
		t.Error("a terminal without colour gets colours")
	}
}

func TestCrashIsReportedAndGoesOn(t *testing.T) {
	e := uitest.Sample()
	var report []byte
	d := drive(t, e, 80, 24, func(d *Deps) { d.Crash = func(b []byte) { report = b } })
	app := d.Model.(*App)
	app.stack = append(app.stack, entry{kit.Page{Kind: "test"}, bomb{}})
	defer func() {
		if recover() == nil || !strings.Contains(string(report), "panic of type string") || strings.Contains(string(report), "secret subject") {
			t.Errorf("report: %s", report)
		}
	}()
	app.Update(tea.KeyPressMsg{Code: 'Z', Text: "Z"})
}

type bomb struct{ kit.Screen }

func (bomb) Update(tea.Msg) tea.Cmd { panic("secret subject") }
func (bomb) Actions() []kit.Action  { return nil }
func (bomb) Title() string          { return "" }

func BenchmarkKey(b *testing.B) {
	for _, n := range []int{1000, 100000} {
		for _, key := range []string{"j", "pgdown"} {
			b.Run(fmt.Sprintf("%s/%d", key, n), func(b *testing.B) {
				d := drive(b, uitest.Many(n), 120, 40)
				for i := 0; b.Loop(); i++ {
					if i%900 == 899 {
						d.Send(kittest.Key("home"))
					}
					d.Send(kittest.Key(key))
					_ = d.Styled()
				}
			})
		}
	}
}

func TestNoticesMakeWay(t *testing.T) {
	for _, tc := range []struct {
		name   string
		notice kit.Notice
		keys   string
		stays  bool
	}{
		{"an answer to a key goes with the next key", kit.Notice{Level: kit.Info, Text: "Answer"}, "j", false},
		{"an error goes with the next key", kit.Notice{Level: kit.Bad, Text: "Answer"}, "j", false},
		{"what can be undone is said for a while", kit.Notice{Level: kit.Good, Text: "Answer"}, "j", true},
		{"a count down stays", kit.Notice{Text: "Answer", Until: uitest.Now.Add(time.Minute)}, "j", true},
		{"the keys of a sequence are seen", kit.Notice{Level: kit.Good, Text: "Answer"}, "g", false},
	} {
		d := drive(t, uitest.Sample(), 80, 24)
		d.Send(tc.notice)
		if !strings.Contains(d.Frame(), "Answer") {
			t.Fatalf("%s: no notice", tc.name)
		}
		d.Keys(tc.keys)
		if strings.Contains(d.Frame(), "Answer") != tc.stays {
			t.Errorf("%s:\n%s", tc.name, d.Frame())
		}
	}
}

func TestWhatIsStillToHappenHasNoMarkOfSuccess(t *testing.T) {
	d := drive(t, uitest.Sample(), 80, 24)
	d.Send(kit.Notice{Level: kit.Good, Text: "Sending", Until: uitest.Now.Add(10 * time.Second)})
	if !strings.Contains(d.Frame(), " ○ Sending in 10 s") {
		t.Errorf("the notice of a send that can be taken back:\n%s", d.Frame())
	}
}

// Of two navigations the one asked for later wins, whichever arrives first.
func TestTheLaterKeysPageWins(t *testing.T) {
	d := drive(t, uitest.Sample(), 80, 24)
	first, second := kit.Open(kit.Page{Kind: kit.KindAttempts}), kit.Open(kit.Page{Kind: kit.KindRetry})
	d.Send(second())
	d.Send(first())
	if f := d.Frame(); !strings.Contains(f, "retry") {
		t.Errorf("the earlier key's page is on top:\n%s", f)
	}
}
