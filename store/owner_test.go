package store

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"skrzynka/mail"
)

const childEnv = "STORE_TEST_CHILD"

// childArgs is what a re-executed test binary is told to do.
func childArgs() []string {
	if v := os.Getenv(childEnv); v != "" {
		return strings.Split(v, "\n")
	}
	return nil
}

// TestChild is not a test of its own: run again by TestOwnerOfAKilledProcess it
// opens the store, claims an attempt, says who it is and waits to be killed.
func TestChild(t *testing.T) {
	args := childArgs()
	if args == nil {
		return // the parent has nothing to do here
	}
	s, err := Open(context.Background(), args[0], Options{})
	must(t, err)
	a := openAttempt(t, s, outbound("child", "text"))
	must(t, s.ClaimAttempt(context.Background(), a.ID, s.Owner()))
	os.Stdout.WriteString("owner " + s.Owner() + " " + a.ID + "\n")
	select {}
}

func TestOwnerOfAKilledProcess(t *testing.T) {
	ctx := context.Background()
	s, _ := open(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childEnv+"="+s.Dir())
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	var owner, attempt string
	for sc := bufio.NewScanner(out); owner == "" && sc.Scan(); {
		if f := strings.Fields(sc.Text()); len(f) == 3 && f[0] == "owner" {
			owner, attempt = f[1], f[2]
		}
	}
	if owner == "" {
		t.Fatal("the child did not say who it is")
	}
	if !s.OwnerAlive(owner) {
		t.Error("a living process reads as dead")
	}
	gone := mail.Settled{Status: mail.StatusUncertain, Code: mail.CodeOutboundUncertain}
	wantCode(t, s.SettleAttempt(ctx, attempt, owner, gone), mail.CodeConflict)

	must(t, cmd.Process.Kill())
	_ = cmd.Wait() // killed, as asked
	if s.OwnerAlive(owner) {
		t.Error("a killed process reads as alive")
	}
	if _, err := os.Stat(lockPath(s.Dir(), owner)); !os.IsNotExist(err) {
		t.Errorf("the lock file of a dead process: %v", err)
	}
	must(t, s.SettleAttempt(ctx, attempt, owner, gone))
}

func TestOwnerAlive(t *testing.T) {
	s, clk := open(t)
	other := openAt(t, s.Dir(), clk)
	if other.Owner() == s.Owner() {
		t.Fatal("a process that opens twice has one owner")
	}
	for name, c := range map[string]struct {
		id   string
		want bool
	}{
		"itself": {s.Owner(), true}, "another open store": {other.Owner(), true},
		"nobody": {"", false}, "a path": {"../skrzynka", false}, "never seen": {mail.NewID(), false},
	} {
		if got := s.OwnerAlive(c.id); got != c.want {
			t.Errorf("%s: alive = %v", name, got)
		}
	}
	must(t, other.Close())
	if s.OwnerAlive(other.Owner()) {
		t.Error("a closed store's owner reads as alive")
	}
}

func TestTidyOwners(t *testing.T) {
	s, clk := open(t)
	stale := lockPath(s.Dir(), mail.NewID())
	must(t, os.WriteFile(stale, nil, 0o600))
	left := filepath.Join(s.Dir(), "instance-"+mail.NewID()+"-7.tmp")
	must(t, os.WriteFile(left, nil, 0o600))
	openAt(t, s.Dir(), clk)
	for _, p := range []string{stale, left} {
		if _, err := os.Stat(p); !os.IsNotExist(err) {
			t.Errorf("%s was not tidied up", filepath.Base(p))
		}
	}
	if !s.OwnerAlive(s.Owner()) || !lockHeld(s.Dir(), s.Owner()) {
		t.Error("tidying up took a living store's lock")
	}
}
