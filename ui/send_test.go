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
