package submit

import (
	"slices"
	"strconv"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/safe"
)

// clockGap is how far wall and monotonic time may drift apart within a step.
const clockGap = 60 * time.Second

// maxNote bounds the server's words kept with a step.
const maxNote = 300

// transaction collects the evidence of one transaction.
type transaction struct {
	ev    mail.Evidence
	rec   Recorder
	clock mail.Clock
	// The wall clock and the monotonic clock at the start of this step and of
	// the one before. The first may be set or may run while the machine sleeps,
	// the second does neither.
	now, before reading
}

type reading struct{ wall, mono time.Time }

func newTransaction(rec Recorder, clock mail.Clock, server string) *transaction {
	t := &transaction{rec: rec, clock: clock}
	t.ev.Server = server
	return t
}

func (t *transaction) read() reading { return reading{t.clock.Now().Round(0), time.Now()} }

// begin starts a step: from here on a fault belongs to it.
func (t *transaction) begin(step mail.Step) {
	t.before, t.now = t.now, t.read()
	mark := mail.StepMark{Step: step, At: t.now.wall}
	t.ev.LastStep = step
	t.ev.Steps = append(t.ev.Steps, mark)
	t.rec.Reached(mark)
}

// jumped reports whether the clocks drifted apart since the start of the
// previous step.
func (t *transaction) jumped() bool {
	r := t.read()
	gap := r.wall.Sub(t.before.wall) - r.mono.Sub(t.before.mono)
	return gap.Abs() > clockGap
}

// note keeps the server's words with the current step.
func (t *transaction) note(r mail.Reply) {
	if len(t.ev.Steps) == 0 {
		return
	}
	s := strconv.Itoa(r.Code)
	if r.Enhanced != "" {
		s += " " + r.Enhanced
	}
	if r.Text != "" {
		s += " " + r.Text
	}
	t.ev.Steps[len(t.ev.Steps)-1].Note = clip(s)
}

func clip(s string) string {
	if len(s) > maxNote {
		s = s[:maxNote]
	}
	return safe.Line(s).String()
}

// fail records an error of the connection or of the reply's form.
func (t *transaction) fail(err error) { t.ev.Fault, t.ev.Detail = faultOf(err) }

// stop records a fault in our own words, and is false.
func (t *transaction) stop(f mail.Fault, detail string) bool {
	t.ev.Fault, t.ev.Detail = f, detail
	return false
}

// snapshot is a copy that later steps do not change.
func (t *transaction) snapshot() mail.Evidence {
	ev := t.ev
	ev.Results, ev.Steps = slices.Clone(ev.Results), slices.Clone(ev.Steps)
	return ev
}
