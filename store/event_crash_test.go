package store

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"skrzynka/mail"
)

// crashPoints are the boundaries of one message's arrival.
var crashPoints = []string{
	"discovered", // its header is stored
	"body",       // all of it is stored
	"stored",     // in the transaction, before it is classified
	"classified", // in the transaction, nothing of it written
	"cancelled",  // in the transaction, everything written
	"committed",  // nobody was told
}

// arrives stores a message and records its event; at is told every boundary.
func arrives(t testing.TB, s *Store, raw []byte, at func(point string)) {
	t.Helper()
	ctx := context.Background()
	s.failpoint = at
	f := folder(t, s, "INBOX")
	m := letterOf(raw, 7, s.clock.Now())
	_, err := s.PutHeaders(ctx, f.ID, f.UIDValidity, []mail.NewMessage{m})
	must(t, err)
	at("discovered")
	missing := must1(s.Bodyless(ctx, f.ID, 10))(t)
	for _, b := range missing {
		must(t, s.PutBodies(ctx, []mail.NewBody{{ID: b.ID, Raw: raw, Summary: m.Summary}}))
	}
	at("body")
	drain(t, s)
	at("committed")
}

// TestChildArrives is not a test of its own: run again by TestCrashBoundaries
// it takes a message and dies at the point it was told.
func TestChildArrives(t *testing.T) {
	args := childArgs()
	if args == nil || len(args) != 3 {
		return // the parent has nothing to do here
	}
	raw, err := os.ReadFile(args[1])
	must(t, err)
	s := openAt(t, args[0], newClock())
	arrives(t, s, raw, func(point string) {
		if point == args[2] {
			p, err := os.FindProcess(os.Getpid())
			if err == nil {
				_ = p.Kill()
			}
			select {}
		}
	})
}

func copyDir(t testing.TB, from string) string {
	t.Helper()
	to := t.TempDir()
	must(t, os.CopyFS(filepath.Join(to, "state"), os.DirFS(from)))
	return filepath.Join(to, "state")
}

func TestCrashBoundaries(t *testing.T) {
	ctx := context.Background()
	s, clk, _, _ := mailbox(t)
	a := sentTo(t, s, "k", "hanna@there.example")
	planned(t, s, a.ID, clk.Now().Add(72*time.Hour))
	must(t, s.Close())
	base := s.Dir()
	for name, raw := range map[string][]byte{
		"a person answers":     human(1, "hanna@there.example", a.RFCMessageID),
		"an absence":           away(1, "hanna@there.example", a.RFCMessageID),
		"a bounce":             bounce(1, "hanna@there.example", a.RFCMessageID, "5.1.1"),
		"mail nothing ties":    stranger(1, "hanna@there.example"),
		"a bounce of somebody": bounce(2, "nobody@there.example", "<forged@example.org>", "5.1.1"),
	} {
		clean := openAt(t, copyDir(t, base), newClock())
		arrives(t, clean, raw, func(string) {})
		want := state(t, clean)
		drain(t, clean)
		if again := state(t, clean); again != want {
			t.Errorf("%s: a second pass changed something:\n%s\nwas\n%s", name, again, want)
		}
		for _, point := range crashPoints {
			t.Run(name+"/"+point, func(t *testing.T) {
				dir := copyDir(t, base)
				file := filepath.Join(t.TempDir(), "mail")
				must(t, os.WriteFile(file, raw, 0o600))
				cmd := exec.Command(os.Args[0], "-test.run=^TestChildArrives$")
				cmd.Env = append(os.Environ(), childEnv+"="+dir+"\n"+file+"\n"+point)
				out, err := cmd.CombinedOutput()
				if err == nil {
					t.Fatalf("the child did not die:\n%s", out)
				}
				s := openAt(t, dir, newClock())
				if s.Restored() {
					t.Error("a crash looks like a restored backup")
				}
				arrives(t, s, raw, func(string) {})
				if got := state(t, s); got != want {
					t.Errorf("after the crash:\n%s\nwant\n%s", got, want)
				}
				if n := len(must1(s.Events(ctx, mail.EventFilter{}))(t)); n != 1 {
					t.Errorf("%d events", n)
				}
			})
		}
	}
}
