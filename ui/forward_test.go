package ui

import (
	"strings"
	"testing"
	"time"

	"skrzynka/ui/kit/kittest"
	"skrzynka/ui/uitest"
)

// In the demo, and only there, a key that is shown moves time forward.
func TestDemoTimeMovesForward(t *testing.T) {
	clock := &kittest.Clock{T: uitest.Now}
	timers := &kittest.Timers{}
	app, err := New(Deps{Engine: uitest.Sample(), Clock: clock, Zone: time.UTC, NoColor: true, After: timers.After,
		DemoNote: "DEMO", Forward: func(d time.Duration) { clock.T = clock.T.Add(d) }})
	if err != nil {
		t.Fatal(err)
	}
	d := kittest.New(t, app, timers, 120, 40)
	if !strings.Contains(d.Frame(), "+1 day") {
		t.Errorf("the key is not shown:\n%s", d.Frame())
	}
	d.Keys("+")
	if clock.T.Sub(uitest.Now) != 24*time.Hour || !strings.Contains(d.Frame(), "It is now Thursday, 6 March 2025 14:30 here.") {
		t.Errorf("the clock says %s:\n%s", clock.T, d.Frame())
	}
}
