package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/kit/kittest"
	"skrzynka/ui/uitest"
)

// sending is the program with one message whose undo window is open.
func sending(t *testing.T) (*kittest.Driver, *uitest.Engine) {
	e := uitest.Sample()
	e.Kept = []mail.Draft{{ID: 7, Account: "home", Kind: mail.KindOutbound, To: []mail.Address{{Addr: "bob@example.net"}}, Subject: "Lunch", Body: "At noon?"}}
	d := drive(t, e, 80, 24)
	d.Send(kit.Navigate{Page: kit.MessagePage(kit.KindCompose, 7)})
	d.Keys("ctrl+s")
	return d, e
}

func TestQuittingAsksAboutWhatHasNotGoneOut(t *testing.T) {
	d, e := sending(t)
	d.Keys("q")
	if frame := d.Frame(); d.Quit || !strings.Contains(frame, "A message has not gone out yet") || !strings.Contains(frame, "Lunch, to bob@example.net, in 10 s") {
		t.Fatalf("quit %v:\n%s", d.Quit, frame)
	}
	d.Keys("n")
	if d.Quit || strings.Contains(d.Frame(), "not gone out") {
		t.Error("n stays, and closes the question")
	}
	d.Keys("ctrl+c s")
	if i := slices.IndexFunc(e.Calls, func(c string) bool { return strings.HasPrefix(c, "schedule 7 ") }); i < 0 || d.Quit {
		t.Fatalf("quit %v after %q: it is sent now, and waited for", d.Quit, e.Calls)
	}
	e.Kept = nil
	e.Out = []view.Attempt{{ID: "a", Status: mail.StatusPending}}
	d.Send(view.Change{Topic: view.TopicDrafts})
	if d.Quit {
		t.Fatal("an attempt that is only stored is not under way")
	}
	e.Out[0].Status = mail.StatusSending
	d.Advance(time.Second)
	d.Send(view.Change{Topic: view.TopicAttempts})
	if !d.Quit {
		t.Error("once it is under way, the program ends")
	}
}

func TestQuittingStaysWithAMessageThatIsRefused(t *testing.T) {
	d, e := sending(t)
	d.Keys("q s")
	e.Kept[0].SendAt = time.Time{} // refused, and a draft again
	d.Send(view.Change{Topic: view.TopicDrafts})
	if d.Quit {
		t.Error("the program ends although the message was not sent")
	}
}

func TestQuittingLeavesWhatIsForLater(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   time.Duration
		keys string
		quit bool
	}{
		{"the undo window is open, quit anyway", 8 * time.Second, "q q", true},
		{"the undo window is open, enter sends", 8 * time.Second, "q enter", false},
		{"scheduled for tomorrow", 24 * time.Hour, "q", true},
		{"a draft without a time", 0, "q", true},
	} {
		e := uitest.Sample()
		k := mail.Draft{ID: 7, Account: "home", To: []mail.Address{{Addr: "bob@example.net"}}}
		if tc.in > 0 {
			k.SendAt = uitest.Now.Add(tc.in)
		}
		e.Kept = []mail.Draft{k}
		d := drive(t, e, 80, 24)
		d.Keys(tc.keys)
		if d.Quit != tc.quit {
			t.Errorf("%s: quit %v", tc.name, d.Quit)
		}
	}
}

// On a full disk what was written stays on the screen, whichever way it is left.
func TestNothingWrittenIsLostOnAFullDisk(t *testing.T) {
	for _, keys := range []string{"esc", "ctrl+x", "ctrl+c"} {
		e := uitest.Sample()
		e.Kept = []mail.Draft{{ID: 7, Account: "home", Kind: mail.KindOutbound, To: []mail.Address{{Addr: "bob@example.net"}}, Subject: "Lunch", Body: "At noon?"}}
		d := drive(t, e, 80, 24)
		d.Send(kit.Navigate{Page: kit.MessagePage(kit.KindCompose, 7)})
		e.Fail = &mail.Error{Code: mail.CodeDiskFull, Text: "The disk is full.", Hint: "Make room, then try again."}
		d.Type("precious ")
		d.Keys(keys)
		if frame := d.Frame(); d.Quit || !strings.Contains(frame, "New message") || !strings.Contains(frame, "This is not stored") || !strings.Contains(frame, "Make room") {
			t.Fatalf("%s, quit %v:\n%s", keys, d.Quit, frame)
		}
		d.Keys("s")
		d.Type("words")
		if frame := d.Frame(); !strings.Contains(frame, "precious words") || strings.Contains(frame, "This is not stored") {
			t.Errorf("%s: one cannot go on writing:\n%s", keys, frame)
		}
		e.Fail = nil
		d.Keys("ctrl+x")
		if strings.Contains(d.Frame(), "precious") || !strings.Contains(e.Kept[0].Body, "precious words") {
			t.Errorf("%s: with room again the draft holds %q", keys, e.Kept[0].Body)
		}
	}
}

func TestWhatCannotBeStoredCanBeGivenUp(t *testing.T) {
	for _, tc := range []struct {
		keys string
		quit bool
	}{{"esc l", false}, {"ctrl+c l", true}} {
		e := uitest.Sample()
		e.Kept = []mail.Draft{{ID: 7, Account: "home", Kind: mail.KindOutbound, Subject: "Lunch", Body: "At noon?"}}
		d := drive(t, e, 80, 24)
		d.Send(kit.Navigate{Page: kit.MessagePage(kit.KindCompose, 7)})
		e.Fail = &mail.Error{Code: mail.CodeDiskFull, Text: "The disk is full."}
		d.Type("precious")
		d.Keys(tc.keys)
		if d.Quit != tc.quit || !tc.quit && strings.Contains(d.Frame(), "precious") {
			t.Errorf("%s: quit %v:\n%s", tc.keys, d.Quit, d.Frame())
		}
	}
}

func TestAMessageThatWentWhileOneWasAsked(t *testing.T) {
	d, e := sending(t)
	d.Keys("q")
	e.Kept = nil
	d.Keys("s")
	if !d.Quit {
		t.Errorf("it is gone, and the program stays:\n%s", d.Frame())
	}
}
