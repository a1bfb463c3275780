package ui

import (
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/ui/kit"
	"skrzynka/ui/uitest"
)

func TestASendCanBeTakenBackAndWrittenOn(t *testing.T) {
	e := uitest.Sample()
	e.Kept = []mail.Draft{{ID: 7, Account: "home", Kind: mail.KindOutbound, To: []mail.Address{{Addr: "bob@example.net"}}, Subject: "Lunch", Body: "At noon?"}}
	d := drive(t, e, 80, 24)
	d.Send(kit.Navigate{Page: kit.MessagePage(kit.KindCompose, 7)})
	if frame := d.Frame(); !strings.Contains(frame, "ctrl+p commands") || strings.Contains(frame, "? help") || strings.Contains(frame, "/ search") {
		t.Errorf("the footer offers keys that write:\n%s", frame)
	}
	d.Keys("ctrl+s")
	if frame := d.Frame(); !strings.Contains(frame, "Sending in 10 s  u takes it back") || strings.Contains(frame, "At noon?") {
		t.Fatalf("after the send:\n%s", frame)
	}
	d.Keys("u")
	if frame := d.Frame(); !strings.Contains(frame, "At noon?") {
		t.Errorf("undo does not open the draft again:\n%s", frame)
	}
}

func TestTheCountDownEnds(t *testing.T) {
	e := uitest.Sample()
	d := drive(t, e, 80, 24)
	d.Send(kit.Notice{Text: "Sending", Until: uitest.Now.Add(-time.Second)})
	d.Advance(time.Second)
	if frame := d.Frame(); strings.Contains(frame, "Sending") {
		t.Errorf("the notice stays after its time:\n%s", frame)
	}
}

// Every page fills the screen at every size, with and without colours, and in
// ASCII shows nothing else of its own.
func TestPagesOfWhatGoesOut(t *testing.T) {
	for _, keys := range []string{"g d", "g o", "g o j enter", "g r", "g r j j r", "g u", "g u p", "g l", "g c", "g c t", "g d j enter", "g d j enter ctrl+o", "g d j enter ctrl+t"} {
		for _, size := range [][2]int{{80, 24}, {59, 14}, {20, 5}} {
			for _, ascii := range []bool{false, true} {
				e := uitest.Sample().AddOutgoing()
				d := drive(t, e, size[0], size[1], func(d *Deps) { d.ASCII, d.NoColor = ascii, ascii })
				d.Keys(keys)
				frame := d.Frame()
				if i := strings.IndexFunc(frame, func(r rune) bool { return r > '~' && r != '“' && r != '”' }); ascii && i >= 0 {
					t.Errorf("%s at %v: %q is not ASCII", keys, size, frame[i:min(len(frame), i+8)])
				}
			}
		}
	}
}
