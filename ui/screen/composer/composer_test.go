package composer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/kit/kittest"
)

// fake is an engine that keeps one draft and writes down what it was asked.
type fake struct {
	draft    mail.Draft
	calls    []string
	saveErr  error
	sendErr  error
	ask      view.Question
	window   time.Duration
	clock    *kittest.Clock
	gone     bool
	accounts []view.Account
}

func (f *fake) note(format string, args ...any) {
	f.calls = append(f.calls, fmt.Sprintf(format, args...))
}

func (f *fake) ListAccounts(context.Context) ([]view.Account, error) { return f.accounts, nil }

func (f *fake) Draft(_ context.Context, id int64) (mail.Draft, error) {
	if f.gone {
		return mail.Draft{}, &mail.Error{Code: mail.CodeNotFound, Text: "There is no draft 7."}
	}
	return f.draft, nil
}

func (f *fake) SaveDraft(_ context.Context, d mail.Draft) (mail.Draft, error) {
	if f.saveErr != nil {
		return mail.Draft{}, f.saveErr
	}
	if f.gone && d.ID == 7 {
		return mail.Draft{}, &mail.Error{Code: mail.CodeNotFound, Text: "There is no draft 7."}
	}
	if d.ID == 0 {
		d.ID = 99
	}
	f.draft = d
	f.note("save %d %s", d.ID, strings.SplitN(d.Body, "\n", 2)[0])
	return d, nil
}

func (f *fake) DiscardDraft(_ context.Context, id int64) error { f.note("discard %d", id); return nil }

func (f *fake) Attach(_ context.Context, id int64, path string) (mail.Draft, error) {
	f.note("attach %d %s", id, filepath.Base(path))
	f.draft.Attachments = append(f.draft.Attachments, mail.Attachment{AttachmentRef: mail.AttachmentRef{Name: filepath.Base(path), Size: 1200}})
	return f.draft, nil
}

func (f *fake) Detach(_ context.Context, id int64, i int) (mail.Draft, error) {
	f.note("detach %d %d", id, i)
	f.draft.Attachments = slices.Delete(f.draft.Attachments, i, i+1)
	return f.draft, nil
}

func (f *fake) CheckSend(context.Context, int64) (view.Question, error) {
	f.note("check")
	return f.ask, nil
}

func (f *fake) SendDraft(_ context.Context, id int64, confirmed bool) (view.Attempt, error) {
	f.note("send %d %v: %s", id, confirmed, f.draft.Body)
	if f.sendErr != nil {
		return view.Attempt{}, f.sendErr
	}
	if f.window > 0 {
		f.draft.SendAt = f.clock.T.Add(f.window)
		return view.Attempt{}, nil
	}
	return view.Attempt{ID: "a1", Status: mail.StatusPending}, nil
}

func (f *fake) ScheduleSend(_ context.Context, id int64, at time.Time, confirmed bool) error {
	f.draft.SendAt = at
	if at.IsZero() {
		f.note("unschedule %d", id)
	} else {
		f.note("schedule %d %s %v", id, at.Format("2006-01-02 15:04"), confirmed)
	}
	return nil
}

func (f *fake) took() string { return strings.Join(f.calls, "; ") }

var made = time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)

func blank() mail.Draft {
	return mail.Draft{ID: 7, Account: "work", Kind: mail.KindOutbound, From: mail.Address{Name: "Ada", Addr: "ada@example.org"}, CreatedAt: made, UpdatedAt: made}
}

func reply() mail.Draft {
	d := blank()
	d.Kind, d.MessageID, d.Subject = mail.KindReply, 3, "Re: Lunch?"
	d.To = []mail.Address{{Name: "Bob Example", Addr: "bob@example.net"}}
	d.Body = "\n\nOn 3 Mar 2026 at 12:00, Bob Example <bob@example.net> wrote:\n> Shall we have lunch on Thursday?\n>\n> Bob\n"
	return d
}

type setup struct {
	*kittest.Driver
	host *kittest.Host
	f    *fake
	m    *Model
}

func open(t *testing.T, d mail.Draft, w, h int, edit ...func(*fake, *kit.Env)) *setup {
	t.Helper()
	clock := &kittest.Clock{T: time.Date(2026, 3, 4, 14, 3, 5, 0, time.UTC)} // a Wednesday
	timers := &kittest.Timers{}
	f := &fake{draft: d, clock: clock, accounts: []view.Account{{Name: "work", Display: "Ada", Email: "ada@example.org"}}}
	env := &kit.Env{Clock: clock, Zone: time.UTC, Theme: kit.NewTheme(kit.ThemeOptions{NoColor: true}), Editor: "ed", After: timers.After}
	for _, e := range edit {
		e(f, env)
	}
	m := New(env, f, d.ID)
	driver, host := kittest.Open(t, env, m, timers, w, h)
	return &setup{driver, host, f, m}
}

func TestTypingIsStoredAtAPause(t *testing.T) {
	s := open(t, reply(), 80, 24)
	s.Type("Yes")
	if got := s.f.took(); got != "" {
		t.Fatalf("stored while typing: %s", got)
	}
	if !strings.Contains(s.Frame(), "not saved yet") {
		t.Error("the status does not say that it is not saved yet")
	}
	s.Advance(700 * time.Millisecond)
	if got := s.f.took(); got != "save 7 Yes" {
		t.Errorf("after a pause: %q", got)
	}
	if !strings.Contains(s.Frame(), "saved 14:03:05") {
		t.Error("the status does not say when it was saved")
	}
}

func TestTypingWithoutAPauseIsStoredEveryFewSeconds(t *testing.T) {
	s := open(t, reply(), 80, 24)
	for range 10 {
		s.Type("x")
		s.Advance(500 * time.Millisecond)
	}
	if got := s.f.took(); got != "save 7 xxxxxxxx" {
		t.Errorf("five seconds of typing: %q", got)
	}
}

func TestAFailedSaveSaysSoAndIsTriedAgain(t *testing.T) {
	s := open(t, reply(), 80, 24)
	s.f.saveErr = &mail.Error{Code: mail.CodeDiskFull, Text: "The disk is full."}
	s.Type("Yes")
	s.Advance(time.Second)
	if !strings.Contains(s.Frame(), "NOT SAVED: The disk is full.") {
		t.Fatalf("the status hides it:\n%s", s.Frame())
	}
	s.f.saveErr = nil
	s.Advance(5 * time.Second)
	if got := s.f.took(); got != "save 7 Yes" {
		t.Errorf("tried again: %q", got)
	}
	if strings.Contains(s.Frame(), "NOT SAVED") {
		t.Error("the status does not say that it is saved now")
	}
}

func TestLeaving(t *testing.T) {
	kept, empty := blank(), blank()
	kept.Body = "text"
	scheduled := reply()
	scheduled.SendAt = time.Date(2026, 3, 9, 8, 0, 0, 0, time.UTC)
	restored := reply()
	restored.Body = "My own words\n> quoted\n"
	for _, c := range []struct {
		name, keys, typed, want string
		draft                   mail.Draft
	}{
		{"what was typed is stored first", "esc", "Yes", "save 7 Yes", reply()},
		{"ctrl+x too", "ctrl+x", "Yes", "save 7 Yes", reply()},
		{"an empty new draft goes", "esc", "", "discard 7", empty},
		{"an answer nobody wrote in goes", "esc", "", "discard 7", reply()},
		{"an answer with own words stays", "esc", "", "", restored},
		{"an old draft stays", "esc", "", "", kept},
		{"a scheduled one goes back on the schedule", "esc", "", "unschedule 7; schedule 7 2026-03-09 08:00 true", scheduled},
		{"a scheduled one that was changed is a draft", "esc", "Yes", "unschedule 7; save 7 Yes", scheduled},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, c.draft, 80, 24)
			s.Type(c.typed)
			s.Keys(c.keys)
			if got := s.f.took(); got != c.want || !s.host.Closed {
				t.Errorf("%q, closed %v; want %q", got, s.host.Closed, c.want)
			}
		})
	}
}

func TestLeavingAFullDiskIsSaid(t *testing.T) {
	s := open(t, reply(), 80, 24)
	s.f.saveErr = &mail.Error{Code: mail.CodeDiskFull, Text: "The disk is full."}
	s.Type("Yes")
	s.Keys("esc")
	if n := s.host.Notice(); n.Level != kit.Bad || !strings.Contains(n.Text, "The disk is full") {
		t.Errorf("notice %+v", n)
	}
}

func TestADraftSentElsewhereIsKeptAnew(t *testing.T) {
	s := open(t, reply(), 80, 24)
	s.f.gone = true
	s.Type("Yes")
	s.Advance(time.Second)
	s.Type("!")
	s.Advance(time.Second)
	if got := s.f.took(); got != "save 99 Yes; save 99 Yes!" {
		t.Errorf("%q", got)
	}
	if n := len(s.host.Notices); n != 1 || s.host.Notices[0].Text != elsewhere {
		t.Errorf("notices %+v", s.host.Notices)
	}
}

func TestADraftSentElsewhereIsNotSentAgainUnasked(t *testing.T) {
	s := open(t, reply(), 80, 24)
	s.f.gone = true
	s.Type("Yes")
	s.Keys("ctrl+s")
	if got := s.f.took(); got != "save 99 Yes" {
		t.Errorf("%q", got)
	}
	if frame := s.Frame(); !strings.Contains(frame, "Not sent: This draft was sent or discarded elsewhere") {
		t.Errorf("not said:\n%s", frame)
	}
	s.Keys("ctrl+s")
	if got := s.f.took(); !strings.Contains(got, "send 99 false") {
		t.Errorf("%q", got)
	}
}

func TestAnOlderVersionNeverReplacesANewerOne(t *testing.T) {
	f := &fake{draft: reply()}
	s := &saver{engine: f, id: 7, account: "work"}
	d := reply()
	for _, v := range []struct {
		version uint64
		body    string
	}{{2, "newer"}, {1, "older"}, {3, "newest"}} {
		d.Body = v.body
		if _, err := s.save(context.Background(), v.version, d); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.finish(func(int64) error { return nil }); err != nil {
		t.Fatal(err)
	}
	d.Body = "after the send"
	if _, err := s.save(context.Background(), 4, d); err != nil {
		t.Fatal(err)
	}
	if got := f.took(); got != "save 7 newer; save 7 newest" {
		t.Errorf("%q", got)
	}
}

func TestSend(t *testing.T) {
	policy := &mail.Error{Code: mail.CodePolicyRefused, Text: "example.net is on the deny list.", Hint: "Change the policy of the account."}
	for _, c := range []struct {
		name, keys, want, shows string
		edit                    func(*fake, *kit.Env)
		closed                  bool
		notice                  string
	}{
		{"it is stored, then sent", "ctrl+s", "save 7 Hi; check; send 7 false: Hi", "", nil, true, "In the outbox."},
		{"with an undo window", "ctrl+s", "save 7 Hi; check; send 7 false: Hi", "", func(f *fake, _ *kit.Env) { f.window = 10 * time.Second }, true, "Sending"},
		{"the policy asks", "ctrl+s", "save 7 Hi; check", "first contact with bob", func(f *fake, _ *kit.Env) {
			f.ask = view.Question{Ask: true, Text: "This is the first contact with bob@example.net.", Hint: "confirm = first_contact"}
		}, false, ""},
		{"the answer is yes", "ctrl+s y", "save 7 Hi; check; send 7 true: Hi", "", func(f *fake, _ *kit.Env) { f.ask = view.Question{Ask: true, Text: "Really?"} }, true, "In the outbox."},
		{"the answer is no", "ctrl+s n", "save 7 Hi; check", "Hi", func(f *fake, _ *kit.Env) { f.ask = view.Question{Ask: true, Text: "Really?"} }, false, ""},
		{"a refusal is shown and the draft kept", "ctrl+s", "save 7 Hi; check; send 7 false: Hi", "Not sent: example.net is on the deny list.", func(f *fake, _ *kit.Env) { f.sendErr = policy }, false, ""},
		{"two presses are one send", "ctrl+s ctrl+s", "save 7 Hi; check; send 7 false: Hi", "", nil, true, "Send: the draft is closed"},
		{"nothing is sent that could not be stored", "ctrl+s", "", "Not sent: The disk is full.", func(f *fake, _ *kit.Env) { f.saveErr = &mail.Error{Code: mail.CodeDiskFull, Text: "The disk is full."} }, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := reply()
			d.Body = ""
			var edits []func(*fake, *kit.Env)
			if c.edit != nil {
				edits = append(edits, c.edit)
			}
			s := open(t, d, 80, 24, edits...)
			s.Type("Hi")
			s.Keys(c.keys)
			if got := s.f.took(); got != c.want {
				t.Errorf("calls %q, want %q", got, c.want)
			}
			if s.host.Closed != c.closed || s.host.Notice().Text != c.notice {
				t.Errorf("closed %v, notice %+v", s.host.Closed, s.host.Notice())
			}
			if c.shows != "" && !strings.Contains(s.Frame(), c.shows) {
				t.Errorf("not shown: %q\n%s", c.shows, s.Frame())
			}
		})
	}
}

func TestSendTellsHowLongItCanBeTakenBack(t *testing.T) {
	s := open(t, reply(), 80, 24, func(f *fake, _ *kit.Env) { f.window = 10 * time.Second })
	s.Type("Hi")
	s.Keys("ctrl+s")
	want := kit.Notice{Level: kit.Good, Text: "Sending", Hint: "u takes it back", Until: s.f.clock.T.Add(10 * time.Second), Undone: kit.MessagePage(kit.KindCompose, 7)}
	if got := s.host.Notice(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	s.Advance(10 * time.Second)
	if n := strings.Count(s.f.took(), "save"); n != 1 {
		t.Errorf("stored %d times: a save after the send would undo the schedule", n)
	}
}

func TestWrongRecipientsAreShownInPlace(t *testing.T) {
	s := open(t, blank(), 80, 24)
	s.Type("bob")
	s.Keys("ctrl+s")
	if frame := s.Frame(); !strings.Contains(frame, "\"bob\" is no address: write name@example.org.") || s.f.took() != "" {
		t.Errorf("calls %q\n%s", s.f.took(), frame)
	}
	s = open(t, blank(), 80, 24)
	s.Keys("ctrl+s")
	if !strings.Contains(s.Frame(), "Nobody to send it to") {
		t.Error("no recipients, and nothing says so")
	}
}

func TestPasteOfHostileText(t *testing.T) {
	s := open(t, reply(), 80, 24)
	s.Send(tea.PasteMsg{Content: "one\x1b[31m two\r\n\x1b]0;title\x07three\u009b\x00\x1b[201~"})
	s.Advance(time.Second)
	if want := "one two\n]0;titlethree\n\nOn 3 Mar"; !strings.HasPrefix(s.f.draft.Body, want) {
		t.Errorf("body %q, want it to begin with %q", s.f.draft.Body, want)
	}
	if strings.ContainsAny(s.Frame(), "\x1b\u009b\x07") {
		t.Error("the frame holds control characters")
	}
	to := open(t, blank(), 80, 24)
	to.Send(tea.PasteMsg{Content: "a@example.org\r\nb@example.org\n"})
	to.Advance(time.Second)
	if got := len(to.f.draft.To); got != 2 {
		t.Errorf("a pasted column of two addresses is %d recipients: %v", got, to.f.draft.To)
	}
}

func TestFieldsInOrder(t *testing.T) {
	s := open(t, blank(), 80, 24)
	s.Type("bob@example.net")
	s.Keys("tab tab tab")
	s.Type("Lunch")
	s.Keys("tab")
	s.Type("Hello")
	s.Keys("shift+tab")
	s.Type("?")
	s.Advance(time.Second)
	d := s.f.draft
	if d.To[0].Addr != "bob@example.net" || d.Subject != "Lunch?" || d.Body != "Hello" {
		t.Errorf("%+v", d)
	}
}

func TestSendFromAnotherAccountMovesTheDraft(t *testing.T) {
	s := open(t, blank(), 80, 24, func(f *fake, _ *kit.Env) {
		f.accounts = append(f.accounts, view.Account{Name: "home", Display: "Ada", Email: "ada@home.example"})
	})
	s.Keys("up")
	s.Keys("right")
	s.Advance(time.Second)
	if got := s.f.took(); got != "save 99 ; discard 7" || s.f.draft.Account != "home" || s.f.draft.From.Addr != "ada@home.example" {
		t.Errorf("%q, %+v", got, s.f.draft)
	}
}

func TestExternalEditor(t *testing.T) {
	for _, c := range []struct {
		name, script, want string
		warns              bool
	}{
		{"the text is taken back", `printf 'New text\n' > "$1"`, "New text", false},
		{"also when the editor fails", `printf 'New text\n' > "$1"; exit 3`, "New text", true},
		{"nothing changed", `exit 0`, "Hi", false},
		{"the file is private", `[ "$(stat -c %a "$1" "$(dirname "$1")" | tr '\n' ' ')" = "600 700 " ] && echo private > "$1"`, "private", false},
		{"escape sequences stay outside", `printf 'a\033[31mb\r\n' > "$1"`, "ab", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := reply()
			d.Body = ""
			s := open(t, d, 80, 24, func(_ *fake, env *kit.Env) {
				env.Editor = "sh -c '" + strings.ReplaceAll(c.script, "'", `'\''`) + "' editor"
			})
			var dir string
			s.m.exec = func(cmd *exec.Cmd, done tea.ExecCallback) tea.Cmd {
				return func() tea.Msg {
					dir = filepath.Dir(cmd.Args[len(cmd.Args)-1])
					if got := s.f.took(); got != "save 7 Hi" {
						t.Errorf("before the editor ran: %q", got)
					}
					return done(cmd.Run())
				}
			}
			s.Type("Hi")
			s.Keys("ctrl+e")
			if got := s.m.body.Value(); got != c.want {
				t.Errorf("body %q, want %q", got, c.want)
			}
			if s.f.draft.Body != c.want {
				t.Errorf("stored %q, want %q", s.f.draft.Body, c.want)
			}
			if (s.host.Notice().Level == kit.Warn) != c.warns {
				t.Errorf("notice %+v", s.host.Notice())
			}
			if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the folder is still there: %v", err)
			}
			s.Keys("ctrl+z")
			if got := s.m.body.Value(); c.want != "Hi" && got != "Hi" {
				t.Errorf("undo gives %q", got)
			}
		})
	}
}

func TestSplitArgs(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"vim", "vim"},
		{"code --wait  -n", "code|--wait|-n"},
		{`"/opt/my editor/run" -c 'set tw=72'`, "/opt/my editor/run|-c|set tw=72"},
		{`nano\ x "" $(rm -rf /)`, "nano x||$(rm|-rf|/)"},
	} {
		got, err := splitArgs(c.in)
		if err != nil || strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, %v", c.in, got, err)
		}
	}
	if _, err := splitArgs(`vim "x`); err == nil {
		t.Error("an open quote is taken")
	}
}

func TestSendLater(t *testing.T) {
	s := open(t, reply(), 80, 24)
	s.Type("Hi")
	s.Keys("ctrl+o")
	frame := s.Frame()
	for _, want := range []string{"today 15:03", "today 18:00", "tomorrow 08:00", "Mon 9 Mar 08:00"} {
		if !strings.Contains(frame, want) {
			t.Errorf("%q is not offered:\n%s", want, frame)
		}
	}
	s.Keys("down down enter")
	if got := s.f.took(); got != "save 7 Hi; check; schedule 7 2026-03-05 08:00 false" || !s.host.Closed {
		t.Errorf("%q", got)
	}
}

func TestParseTime(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	now := time.Date(2026, 3, 4, 14, 0, 0, 0, zone)
	for _, c := range []struct{ in, want string }{
		{"2026-12-24 09:00", "2026-12-24T09:00:00+01:00"},
		{" 2026-12-24T09:00 ", "2026-12-24T09:00:00+01:00"},
		{"15:30", "2026-03-04T15:30:00+01:00"},
		{"09:00", "2026-03-05T09:00:00+01:00"},
		{"2020-01-01 09:00", ""},
		{"soon", ""},
	} {
		got, err := parseTime(c.in, now)
		if s := got.Format(time.RFC3339); err == nil && s != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%q: %s, %v", c.in, s, err)
		}
	}
}

func TestAttach(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"report-a.pdf", "report-b.pdf", "other.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, blank(), 80, 24)
	s.Keys("ctrl+t")
	s.Send(tea.PasteMsg{Content: dir + "/rep"})
	s.Keys("tab")
	if frame := s.Frame(); !strings.Contains(frame, "report-a.pdf") || !strings.Contains(frame, "report-b.pdf") || strings.Contains(frame, "other.txt") {
		t.Errorf("completion shows:\n%s", frame)
	}
	s.Type("b")
	s.Keys("tab enter")
	if got := s.f.took(); got != "attach 7 report-b.pdf" {
		t.Errorf("%q", got)
	}
	if !strings.Contains(s.Frame(), "report-b.pdf 1 kB") {
		t.Errorf("not shown:\n%s", s.Frame())
	}
	s.Keys("ctrl+r enter")
	if got := s.f.took(); got != "attach 7 report-b.pdf; detach 7 0" {
		t.Errorf("%q", got)
	}
}

func TestPasted(t *testing.T) {
	for in, want := range map[string]string{"'/a b/c'": "/a b/c", `/a\ b/c`: "/a b/c", "file:///a%20b/c": "/a b/c", " /a ": "/a"} {
		if got := pasted(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestParseAddresses(t *testing.T) {
	for _, c := range []struct{ name, in, want, wrong string }{
		{"one", "a@example.org", "a@example.org", ""},
		{"a name, and another", "Ada Example <a@example.org>, c@example.org", "Ada Example <a@example.org>|c@example.org", ""},
		{"a comma in a quoted name", `"Doe, Jane" <j@example.org>; b@example.org`, "Doe, Jane <j@example.org>|b@example.org", ""},
		{"a comment", "j@example.org (Jane Doe)", "Jane Doe <j@example.org>", ""},
		{"no brackets", "Jane Doe j@example.org", "Jane Doe <j@example.org>", ""},
		{"a link", "mailto:j@example.org?subject=x", "j@example.org", ""},
		{"a trailing comma", "a@example.org, ", "a@example.org", ""},
		{"an international domain", "a@bücher.example", "a@bücher.example", ""},
		{"not an address is kept", "bob, a@example.org", "bob|a@example.org", "\"bob\" is no address: write name@example.org."},
		{"a bracket left open is kept", "Bob <b@example.org, a@example.org", "Bob <b@example.org|a@example.org", "cannot be used"},
		{"a header is no address", "a@example.org\nBcc: x@example.org", "a@example.org|Bcc: <x@example.org>", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, wrong := ParseAddresses(c.in)
			var got []string
			for _, a := range list {
				got = append(got, a.String())
			}
			if strings.Join(got, "|") != c.want || (c.wrong == "") != (wrong == "") || !strings.Contains(wrong, c.wrong) {
				t.Errorf("%q, %q", got, wrong)
			}
			if again, _ := ParseAddresses(formatAddresses(list)); !slices.Equal(again, list) {
				t.Errorf("written and read again: %q, want %q", again, list)
			}
		})
	}
}

func TestFrames(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {20, 5}} {
		s := open(t, reply(), size[0], size[1], func(f *fake, env *kit.Env) {
			f.accounts[0].Aliases = []string{"ada@alias.example"}
			if size[0] == 20 {
				*env.Theme = *kit.NewTheme(kit.ThemeOptions{NoColor: true, ASCII: true})
			}
		})
		s.Type("Yes, let us meet at noon. I know a place near the river where they have the best soup in town.")
		s.Advance(time.Second)
		kittest.Golden(t, fmt.Sprintf("composer-%dx%d", size[0], size[1]), s.Frame())
	}
	for w := 1; w < 30; w++ {
		for h := 1; h < 8; h++ {
			s := open(t, reply(), w, h)
			s.Type("x")
			s.Keys("shift+tab")
			s.Frame()
		}
	}
}

func BenchmarkKey(b *testing.B) {
	d := reply()
	d.Body = strings.Repeat("> A line of some sixty letters, as long as they are in a mail, zażółć.\n", 5000)
	timers := &kittest.Timers{}
	env := &kit.Env{Clock: mail.SystemClock{}, Zone: time.UTC, Theme: kit.NewTheme(kit.ThemeOptions{}), After: timers.After}
	m := New(env, &fake{draft: d}, 7)
	m.Focus(true)
	m.show(opened{draft: d})
	m.View(80, 24)
	for b.Loop() {
		m.Update(tea.KeyPressMsg{Code: 'x', Text: "x"})
		m.View(80, 24)
	}
}
