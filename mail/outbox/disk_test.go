package outbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/submit/smtptest"
	"skrzynka/mail/view"
	"skrzynka/store"
)

// loops runs the world's background work until the test ends.
func (w *world) loops() {
	ctx, cancel := context.WithCancel(context.Background())
	w.StartBackground(ctx)
	w.Cleanup(func() { cancel(); w.close() })
}

// TestTerminalStateThatCannotBeWritten: the outcome is known, the disk is full.
func TestTerminalStateThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, c := range []struct {
		name string
		at   map[mail.Step]smtptest.Action
		end  mail.DeliveryStatus
	}{
		{"accepted", nil, mail.StatusSent},
		{"refused", map[mail.Step]smtptest.Action{mail.StepRcpt: smtptest.Reply("550 5.1.1 nobody")}, mail.StatusFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, imap := smtptest.Start(t, smtptest.Script{At: c.at}), startIMAP(t)
			a := imap.side(account(t, "me", p))
			s, get := withStuck(setup{accounts: []mail.Account{a}})
			w := start(t, s)
			get().set(&get().end, true)
			got := must1(w.Send(ctx, letter("key")))(t)
			if got.Status != mail.StatusUncertain || codeOf(got) != mail.CodeOutboundUncertain {
				t.Errorf("it is shown as %s %s", got.Status, codeOf(got))
			}
			for _, v := range []view.Attempt{got, must1(w.Attempt(ctx, got.ID))(t)} {
				if v.Status != mail.StatusUncertain || strings.Contains(v.Says.String(), "handed over") || !strings.Contains(v.Says.String(), "emergency log") {
					t.Errorf("%s, it says %q", v.Status, v.Says)
				}
			}
			if row := w.row(got.ID); row.Status != mail.StatusSending {
				t.Errorf("the database says %s", row.Status)
			}
			if _, n := imap.count(); n != 0 {
				t.Error("a copy was made of what is not committed as sent")
			}
			lines := must1(w.st.EmergencyEntries())(t)
			var line struct {
				Entry struct {
					Attempt  string
					Status   mail.DeliveryStatus
					Evidence mail.Evidence
				}
			}
			if len(lines) != 1 || json.Unmarshal(lines[0], &line) != nil || line.Entry.Attempt != got.ID || line.Entry.Status != c.end || line.Entry.Evidence.LastStep == "" {
				t.Errorf("emergency log: %s", lines)
			}
			// Another program leaves it alone as long as this one lives.
			other := start(t, setup{dir: w.dir, accounts: []mail.Account{a}})
			if n := must1(other.Recover(ctx))(t); n != 0 {
				t.Errorf("%d rows of a live process were recovered", n)
			}
			other.close()
			get().set(&get().end, false)
			w.loops()
			eventually(t, "it is settled", func() bool { return w.row(got.ID).Status == c.end })
			if c.end == mail.StatusSent {
				eventually(t, "the copy is made", func() bool { return w.row(got.ID).Copy.Status == mail.CopySaved })
			}
			if v := must1(w.Attempt(ctx, got.ID))(t); v.Status != c.end || len(taken(p)) != map[mail.DeliveryStatus]int{mail.StatusSent: 1}[c.end] {
				t.Errorf("in the end: %s, %d messages", v.Status, len(taken(p)))
			}
		})
	}
	t.Run("accepted, and the program ends", func(t *testing.T) {
		p := goodPeer(t)
		a := account(t, "me", p)
		s, get := withStuck(setup{accounts: []mail.Account{a}})
		w := start(t, s)
		get().set(&get().end, true)
		got := must1(w.Send(ctx, letter("key")))(t)
		w.close()
		next := start(t, setup{dir: w.dir, accounts: []mail.Account{a}})
		must1(next.Recover(ctx))(t)
		v := must1(next.Attempt(ctx, got.ID))(t)
		if v.Status != mail.StatusUncertain || codeOf(v) != mail.CodeOutboundUncertain || v.Evidence.NotHandedOver || !v.Evidence.HandedOver {
			t.Errorf("found %s %s: %+v", v.Status, codeOf(v), v.Evidence)
		}
	})
}

func TestMarkThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	p := goodPeer(t)
	s, get := withStuck(setup{accounts: []mail.Account{account(t, "me", p)}})
	w := start(t, s)
	get().set(&get().mark, true)
	a := must1(w.Send(context.Background(), letter("key")))(t)
	p.Wait()
	if a.Status != mail.StatusFailed || codeOf(a) != mail.CodeSMTPInterrupted || a.Evidence.HandedOver || len(taken(p)) != 0 || w.row(a.ID).KeyReleased {
		t.Errorf("%s %s, %d messages: %+v", a.Status, codeOf(a), len(taken(p)), a.Evidence)
	}
}

// TestClaimThatCannotBeWritten: the attempt stays pending, and goes out when
// the disk has room again, without a restart.
func TestClaimThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p := goodPeer(t)
	s, get := withStuck(setup{accounts: []mail.Account{account(t, "me", p)}})
	w := start(t, s)
	get().set(&get().claim, true)
	w.loops()
	d := must1(w.SaveDraft(ctx, mail.Draft{Account: "me", Kind: mail.KindOutbound, To: to("bob@example.net"), Subject: "x", Body: "y"}))(t)
	a := must1(w.SendDraft(ctx, d.ID, true))(t)
	eventually(t, "it was tried", func() bool { return w.InFlight() == 0 })
	if w.row(a.ID).Status != mail.StatusPending || p.Connections() != 0 {
		t.Errorf("%s, %d connections", w.row(a.ID).Status, p.Connections())
	}
	get().set(&get().claim, false)
	eventually(t, "it is sent", func() bool { return w.row(a.ID).Status == mail.StatusSent })
	if len(taken(p)) != 1 {
		t.Errorf("%d messages", len(taken(p)))
	}
}

// smallDisk mounts a file system of some MiB, which only root can.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+size); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// fill leaves no room on the disk of dir; what it returns makes room again.
func fill(t testing.TB, dir string) func() {
	t.Helper()
	path := filepath.Join(dir, "ballast")
	f, err := os.Create(path)
	must(t, err)
	block := make([]byte, 64<<10)
	for size := len(block); size > 0; {
		if _, err := f.Write(block[:size]); err == nil {
			continue
		} else if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		size /= 2
	}
	_ = f.Close()
	return func() { _ = os.Remove(path) }
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p := goodPeer(t)
	a := account(t, "me", p)
	dir := smallDisk(t, "12m")
	w := start(t, setup{dir: dir, accounts: []mail.Account{a}})
	text := strings.Repeat("What I wrote.\n", 5000)
	d := must1(w.SaveDraft(ctx, mail.Draft{Account: "me", Kind: mail.KindOutbound, To: to("bob@example.net"), Subject: "x", Body: text}))(t)
	free := fill(t, dir)
	_, err := w.SendDraft(ctx, d.ID, true)
	if e := wantCode(t, err, mail.CodeDiskFull); strings.Count(e.Text, ".") != 1 || !strings.Contains(e.Text, "disk is full") || e.Hint == "" || !e.Retryable {
		t.Errorf("it says %q %q", e.Text, e.Hint)
	}
	if len(w.rows()) != 0 || p.Connections() != 0 {
		t.Error("something was stored or dialled")
	}
	if kept := must1(w.Draft(ctx, d.ID))(t); kept.Body != text {
		t.Error("the draft is not what was written")
	}
	free()
	got := must1(w.SendDraft(ctx, d.ID, true))(t)
	eventually(t, "it is sent", func() bool { return w.row(got.ID).Status == mail.StatusSent })
	if len(taken(p)) != 1 {
		t.Errorf("%d messages", len(taken(p)))
	}
}

// TestDiskFillsUpDuringASend at each step, and has room again later: what was
// accepted ends as sent, what was not as failed, once.
func TestDiskFillsUpDuringASend(t *testing.T) {
	t.Parallel()
	for step, end := range map[mail.Step]mail.DeliveryStatus{mail.StepRcpt: mail.StatusFailed, mail.StepReply: mail.StatusSent} {
		t.Run(string(step), func(t *testing.T) {
			dir := smallDisk(t, "12m")
			var free func()
			usual := map[mail.Step]string{mail.StepRcpt: "250 ok", mail.StepReply: "250 ok"}
			p := smtptest.Start(t, smtptest.Script{At: map[mail.Step]smtptest.Action{
				step: smtptest.Do(func() { free = fill(t, dir) }).Then(smtptest.Reply(usual[step]))}})
			a := account(t, "me", p)
			w := start(t, setup{dir: dir, accounts: []mail.Account{a}})
			r := letter("key")
			r.Body = strings.Repeat("What I wrote.\n", 5000)
			got := must1(w.Send(context.Background(), r))(t)
			p.Close()
			if n := len(taken(p)); n != map[mail.DeliveryStatus]int{mail.StatusSent: 1}[end] {
				t.Errorf("%d messages", n)
			}
			if got.Status != mail.StatusUncertain && got.Status != end {
				t.Errorf("it is shown as %s", got.Status)
			}
			free()
			w.loops()
			eventually(t, "it is settled", func() bool { return w.row(got.ID).Status == end })
			t.Logf("shown as %s while the disk was full, then %s", got.Status, end)
		})
	}
}

func TestReadOnlyDisk(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p := goodPeer(t)
	a := account(t, "me", p)
	dir := smallDisk(t, "12m")
	w := start(t, setup{dir: dir, accounts: []mail.Account{a}})
	d := must1(w.SaveDraft(ctx, mail.Draft{Account: "me", Kind: mail.KindOutbound, To: to("bob@example.net"), Subject: "x", Body: "What I wrote."}))(t)
	w.close()
	must(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, "mode=0700,size=12m"))
	_, err := open(setup{dir: dir, accounts: []mail.Account{a}})
	e := mail.AsError(err)
	if err == nil || e.Code == mail.CodeInternal || !strings.Contains(e.Text, "read-only file system") || strings.Contains(e.Text, "\n") || strings.Contains(e.Text, "SQLITE") || e.Hint == "" {
		t.Errorf("it says %+v", e)
	}
	must(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT, "mode=0700,size=12m"))
	w = start(t, setup{dir: dir, accounts: []mail.Account{a}})
	if kept := must1(w.Draft(ctx, d.ID))(t); kept.Body != "What I wrote." {
		t.Errorf("the draft is %+v", kept)
	}
}

// TestRestoredBackupSendsNothing: what an old copy of the database would send
// waits for a person; what is new goes out.
func TestRestoredBackupSendsNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p := goodPeer(t)
	dead := account(t, "dead", p)
	dead.SMTP.Port = closedPort(t)
	accounts := []mail.Account{account(t, "me", p), dead}
	auto := mail.OutboxPolicy{ResendUnsubmitted: "auto", RetryRecordDays: 30}
	s, get := withStuck(setup{accounts: accounts, outbox: auto})
	w := start(t, s)
	// A pending one, a draft with a time, and a failed one that waits.
	get().set(&get().claim, true)
	_, err := w.Send(ctx, letter("pending"))
	wantCode(t, err, mail.CodeDiskFull)
	get().set(&get().claim, false)
	d := must1(w.SaveDraft(ctx, mail.Draft{Account: "me", Kind: mail.KindOutbound, To: to("bob@example.net"), Subject: "later", Body: "y"}))(t)
	must(t, w.ScheduleSend(ctx, d.ID, time.Now().Add(time.Hour), true))
	f := must1(w.SaveDraft(ctx, mail.Draft{Account: "dead", Kind: mail.KindOutbound, To: to("bob@example.net"), Subject: "offline", Body: "y"}))(t)
	failed := must1(w.SendDraft(ctx, f.ID, true))(t)
	eventually(t, "it failed", func() bool { return !w.row(failed.ID).NextTryAt.IsZero() })
	w.close()
	path := filepath.Join(w.dir, store.DatabaseName)
	backup := must1(os.ReadFile(path))(t)

	// Life goes on; then the copy is put back.
	w = start(t, setup{dir: w.dir, accounts: accounts, outbox: auto})
	must1(w.Send(ctx, letter("meanwhile")))(t)
	w.close()
	must(t, os.WriteFile(path, backup, 0o600))
	for _, tail := range []string{"-wal", "-shm"} {
		_ = os.Remove(path + tail)
	}
	w = start(t, setup{dir: w.dir, accounts: accounts, outbox: auto})
	if !w.st.Restored() {
		t.Fatal("the backup is not noticed")
	}
	before := len(taken(p))
	// Something that must go out shows that the loops had their turn.
	c := spawn(t, job{What: "draft", Dir: w.dir, Accounts: accounts, Die: "after OpenAttempt"})
	_ = c.wait()
	w.loops()
	eventually(t, "the new one is sent", func() bool {
		rows := w.rows()
		return rows[len(rows)-1].Status == mail.StatusSent
	})
	if n := len(taken(p)); n != before+1 {
		t.Errorf("%d messages went out, want 1", n-before)
	}
	var held mail.Attempt
	for _, r := range w.rows() {
		if r.IdempotencyKey == "pending" {
			held = r
		}
	}
	if held.Status != mail.StatusPending || held.Held != store.HeldRestored || !w.row(failed.ID).NextTryAt.IsZero() {
		t.Errorf("the pending one is %s, held %q; the failed one tries again at %v", held.Status, held.Held, w.row(failed.ID).NextTryAt)
	}
	if kept := must1(w.Draft(ctx, d.ID))(t); !kept.SendAt.IsZero() {
		t.Errorf("the draft still goes out at %v", kept.SendAt)
	}
	must(t, w.ReleaseHold(ctx, held.ID)) // a person has looked
	eventually(t, "it is sent", func() bool { return w.row(held.ID).Status == mail.StatusSent })
}

// closedPort is a port nobody listens on.
func closedPort(t testing.TB) int {
	p := goodPeer(t)
	p.Close()
	return p.Port
}
