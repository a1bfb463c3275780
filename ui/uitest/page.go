package uitest

import (
	"strings"
	"testing"
	"time"

	"skrzynka/ui/kit"
	"skrzynka/ui/kit/kittest"
)

// Page is one screen on the sample engine, driven without the app around it.
type Page struct {
	*kittest.Driver
	Host   *kittest.Host
	Engine *Engine
	Clock  *kittest.Clock
}

// Open starts a screen at a size on an engine that has all that goes out.
func Open(t testing.TB, w, h int, make func(env *kit.Env, e *Engine) kit.Screen, edit ...func(*Engine)) *Page {
	t.Helper()
	p := &Page{Engine: Sample().AddOutgoing(), Clock: &kittest.Clock{T: Now}}
	for _, f := range edit {
		f(p.Engine)
	}
	timers := &kittest.Timers{}
	env := &kit.Env{Clock: p.Clock, Zone: time.UTC, Theme: kit.NewTheme(kit.ThemeOptions{NoColor: true, ASCII: w < 40}), After: timers.After}
	p.Driver, p.Host = kittest.Open(t, env, make(env, p.Engine), timers, w, h)
	return p
}

// Did is what was asked of the engine, in order.
func (p *Page) Did() string { return strings.Join(p.Engine.Calls, "; ") }

// Pages are the pages the screen asked to open, in order.
func (p *Page) Pages() string {
	var out []string
	for _, n := range p.Host.Went {
		out = append(out, string(n.Page.Kind)+" "+n.Page.ID)
	}
	return strings.Join(out, "; ")
}

// Shows fails the test for each text the frame lacks.
func (p *Page) Shows(t testing.TB, texts ...string) {
	t.Helper()
	frame := p.Frame()
	for _, text := range texts {
		if !strings.Contains(frame, text) {
			t.Errorf("%q is not shown:\n%s", text, frame)
		}
	}
}

// Frames holds a screen against its golden frames, and fills every small size.
func Frames(t *testing.T, name string, make func(env *kit.Env, e *Engine) kit.Screen, keys string) {
	t.Helper()
	for size, wh := range map[string][2]int{"80x24": {80, 24}, "120x40": {120, 40}, "20x5": {20, 5}} {
		p := Open(t, wh[0], wh[1], make)
		p.Keys(keys)
		kittest.Golden(t, name+"-"+size, p.Frame())
	}
	p := Open(t, 80, 24, make)
	for w := 1; w < 40; w += 3 {
		for h := 1; h < 16; h += 2 {
			p.Resize(w, h)
			p.Frame()
		}
	}
}
