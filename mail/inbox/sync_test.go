package inbox_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"

	"skrzynka/mail"
	"skrzynka/mail/view"
)

func TestMain(m *testing.M) {
	if addr := os.Getenv("INBOX_TEST_SERVER"); addr != "" {
		// The child of TestKilled: passes until it is killed, or done.
		roots, _ := base64.StdEncoding.DecodeString(os.Getenv("INBOX_TEST_ROOTS"))
		c, err := openClient(addr, roots, os.Getenv("INBOX_TEST_DIR"))
		if err == nil {
			fmt.Println("open")
			c.Pass(context.Background(), "")
		}
		os.Exit(0)
	}
	code := m.Run()
	if template != "" {
		_ = os.Remove(template)
	}
	os.Exit(code)
}

// rounds is how often a random test tries: few by default, as many as
// SKRZYNKA_ROUNDS says.
func rounds(n int) int {
	if v, err := strconv.Atoi(os.Getenv("SKRZYNKA_ROUNDS")); err == nil {
		return v
	}
	return n
}

// mailbox is what the crash tests read: enough for headers first, whole
// messages after, and a message larger than one piece.
func mailbox(t testing.TB) *server {
	s := startServer(t)
	s.create("Sent")
	s.deliver("INBOX", 1, 330, 300)
	s.deliver("INBOX", 331, 331, 1200<<10)
	s.deliver("Sent", 1, 5, 2000)
	return s
}

// The connection is cut after n bytes of a first sync; the passes after it end
// in the store of an undisturbed run.
func TestCutAnywhere(t *testing.T) {
	s := mailbox(t)
	p := startProxy(t, s.addr)
	whole := newClient(t, p.addr, s.roots, freshDir(t))
	whole.mustPass(t)
	want, total := whole.picture(t), p.sent.Load()
	if n := strings.Count(want, "\n"); n != 338 {
		t.Fatalf("%d lines in\n%.2000s", n, want)
	}
	n := rounds(5)
	for i := range n {
		cut := total * int64(i) / int64(n)
		if i > 0 {
			cut -= rand.Int64N(total / int64(n))
		}
		t.Run(fmt.Sprintf("after %d of %d", cut, total), func(t *testing.T) {
			c := newClient(t, p.addr, s.roots, freshDir(t))
			p.sent.Store(0)
			p.limit.Store(cut)
			r := c.Pass(context.Background(), "")
			p.limit.Store(-1)
			if r.OK {
				t.Error("the pass that was cut says that it is complete")
			}
			c.mustPass(t)
			if got := c.picture(t); got != want {
				t.Error("the store differs from that of an undisturbed run:\n", difference(got, want))
			}
		})
	}
}

func TestKilled(t *testing.T) {
	s := mailbox(t)
	whole := newClient(t, s.addr, s.roots, freshDir(t))
	start := time.Now()
	whole.mustPass(t)
	took, want := time.Since(start), whole.picture(t)
	for i := range rounds(2) {
		dir := freshDir(t)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "INBOX_TEST_SERVER="+s.addr, "INBOX_TEST_DIR="+dir, "INBOX_TEST_ROOTS="+base64.StdEncoding.EncodeToString(s.roots))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = out.Read(make([]byte, 5)) // the store is open
		kill := time.AfterFunc(rand.N(took), func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
		c := newClient(t, s.addr, s.roots, dir)
		c.mustPass(t)
		if got := c.picture(t); got != want {
			t.Errorf("round %d: the store differs from that of an undisturbed run:\n%s", i, difference(got, want))
		}
	}
}

func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	var out []string
	for i := 0; i < max(len(g), len(w)) && len(out) < 6; i++ {
		a, b := "", ""
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			out = append(out, fmt.Sprintf("got  %.400s\nwant %.400s", a, b))
		}
	}
	return strings.Join(out, "\n")
}

// Two processes in one account: no row twice, no flag lost.
func TestTwoAtOnce(t *testing.T) {
	s := mailbox(t)
	alone := newClient(t, s.addr, s.roots, freshDir(t))
	alone.mustPass(t)
	dir := freshDir(t)
	a, b := newClient(t, s.addr, s.roots, dir), newClient(t, s.addr, s.roots, dir)
	var both sync.WaitGroup
	for _, c := range []*client{a, b} {
		both.Go(func() {
			if r := c.Pass(context.Background(), ""); !r.OK {
				t.Errorf("a pass beside another one failed: %v", r.Error)
			}
		})
	}
	both.Wait()
	if got, want := a.picture(t), alone.picture(t); got != want {
		t.Error("the store differs from that of one process:\n", difference(got, want))
	}
}

func TestNothingNewChangesNothing(t *testing.T) {
	s := mailbox(t)
	c := newClient(t, s.addr, s.roots, freshDir(t))
	c.mustPass(t)
	before := c.picture(t)
	for _, f := range c.mustPass(t).Folders {
		if f.New+f.Changed+f.Vanished != 0 {
			t.Errorf("%+v", f)
		}
	}
	if after := c.picture(t); after != before {
		t.Error(difference(after, before))
	}
}

func (c *client) rows(t testing.TB, folder string) []view.MessageRow {
	t.Helper()
	f, err := c.store.FolderByName(context.Background(), "me", folder)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.store.ListMessages(context.Background(), view.ListQuery{Scope: view.Scope{FolderID: f.ID}, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return p.Rows
}

func TestFolderChanges(t *testing.T) {
	ctx := context.Background()
	s := startServer(t)
	s.create("Projects")
	s.deliver("INBOX", 1, 3, 10)
	s.deliver("Projects", 1, 4, 10)
	c := newClient(t, s.addr, s.roots, freshDir(t))
	c.mustPass(t)
	ids := map[string]int64{}
	for _, r := range c.rows(t, "Projects") {
		ids[r.Subject.String()] = r.ID
	}

	t.Run("renamed: the rows stay", func(t *testing.T) {
		if err := s.user.Rename("Projects", "Work", nil); err != nil {
			t.Fatal(err)
		}
		r := c.mustPass(t)
		for _, f := range r.Folders {
			if f.New+f.Vanished != 0 {
				t.Errorf("%+v", f)
			}
		}
		for _, row := range c.rows(t, "Work") {
			if ids[row.Subject.String()] != row.ID {
				t.Errorf("%s was stored anew", row.Subject)
			}
		}
		if _, err := c.store.FolderByName(ctx, "me", "Projects"); !errors.Is(err, mail.ErrCode(mail.CodeNotFound)) {
			t.Error("the old name is still there", err)
		}
	})
	t.Run("made anew under its name: the same mail keeps its rows", func(t *testing.T) {
		if err := s.user.Delete("Work"); err != nil {
			t.Fatal(err)
		}
		s.create("Work")
		s.deliver("Work", 7, 7, 10) // takes UID 1, which another message had
		for _, i := range []int{2, 3} {
			text := letter(fmt.Sprintf("projects-%d@example.net", i), "0123456789 abcdef\r\n")
			if _, err := s.user.Append("Work", literal{strings.NewReader(text)}, &imap.AppendOptions{Time: time.Unix(1_700_000_000+int64(i)*60, 0)}); err != nil {
				t.Fatal(err)
			}
		}
		c.mustPass(t)
		rows := c.rows(t, "Work")
		if len(rows) != 3 {
			t.Fatalf("%d rows, want 3", len(rows))
		}
		for _, row := range rows {
			if old, was := ids[row.Subject.String()]; was && old != row.ID {
				t.Errorf("%s has another row than before", row.Subject)
			}
			if _, err := c.store.RawMessage(ctx, row.ID); err != nil {
				t.Errorf("%s has no body: %v", row.Subject, err)
			}
		}
	})
	t.Run("created and deleted", func(t *testing.T) {
		s.create("New")
		s.deliver("New", 1, 2, 10)
		if err := s.user.Delete("Work"); err != nil {
			t.Fatal(err)
		}
		c.mustPass(t)
		if n := len(c.rows(t, "New")); n != 2 {
			t.Errorf("%d rows in the new folder", n)
		}
		if _, err := c.store.FolderByName(ctx, "me", "Work"); !errors.Is(err, mail.ErrCode(mail.CodeNotFound)) {
			t.Error("the deleted folder is still there")
		}
	})
}

// A folder that refuses to be read is that folder's trouble alone.
func TestRefusals(t *testing.T) {
	for _, code := range []imap.ResponseCode{imap.ResponseCodeUnavailable, imap.ResponseCodeLimit, imap.ResponseCodeNoPerm} {
		t.Run(string(code), func(t *testing.T) {
			s := startServer(t)
			s.create("Bad")
			s.deliver("INBOX", 1, 3, 10)
			s.deliver("Bad", 1, 3, 10)
			refuse := func(folder string) error {
				if folder == "Bad" {
					return &imap.Error{Type: imap.StatusResponseTypeNo, Code: code, Text: "not now"}
				}
				return nil
			}
			s.fetching.Store(&refuse)
			c := newClient(t, s.addr, s.roots, freshDir(t))
			r := c.Pass(context.Background(), "")
			if r.Error == nil || r.Error.Code != mail.CodeIMAPRejected {
				t.Errorf("the pass says %v", r.Error)
			}
			if n := len(c.rows(t, "INBOX")); n != 3 {
				t.Errorf("%d rows in the folder beside it", n)
			}
			s.fetching.Store(nil)
			c.mustPass(t)
			if n := len(c.rows(t, "Bad")); n != 3 {
				t.Errorf("%d rows once it can be read", n)
			}
		})
	}
}

func TestLyingCounts(t *testing.T) {
	for name, lie := range map[string]func(*imap.StatusData){
		"more than there are":   func(d *imap.StatusData) { n := *d.NumMessages + 7; d.NumMessages = &n },
		"none":                  func(d *imap.StatusData) { n := uint32(0); d.NumMessages = &n },
		"UIDNEXT too low":       func(d *imap.StatusData) { d.UIDNext = 2 },
		"UIDNEXT far too high":  func(d *imap.StatusData) { d.UIDNext += 1000 },
		"UIDNEXT not said":      func(d *imap.StatusData) { d.UIDNext = 0 },
		"more unread than mail": func(d *imap.StatusData) { n := uint32(1000); d.NumUnseen = &n },
	} {
		t.Run(name, func(t *testing.T) {
			s := startServer(t)
			s.deliver("INBOX", 1, 5, 10)
			s.lie.Store(&lie)
			c := newClient(t, s.addr, s.roots, freshDir(t))
			c.mustPass(t)
			if n := len(c.rows(t, "INBOX")); n != 5 {
				t.Errorf("%d rows, want 5", n)
			}
			s.deliver("INBOX", 6, 6, 10)
			c.mustPass(t)
			if n := len(c.rows(t, "INBOX")); n != 6 {
				t.Errorf("%d rows after one more came, want 6", n)
			}
		})
	}
}

// Messages that go while they are read leave no rows without a body behind.
func TestExpungedWhileRead(t *testing.T) {
	s := startServer(t)
	s.deliver("INBOX", 1, 400, 10)
	c := newClient(t, s.addr, s.roots, freshDir(t))
	var n int
	hook := func(string) error {
		if n++; n == 2 { // the headers of the newest were read
			other := newClient(t, s.addr, s.roots, freshDir(t))
			session, err := other.Dial(context.Background())
			if err != nil {
				return err
			}
			defer session.Close()
			_, err = session.Delete(context.Background(), "INBOX", 0, []uint32{1, 2, 390, 400})
			return err
		}
		return nil
	}
	s.fetching.Store(&hook)
	c.mustPass(t)
	s.fetching.Store(nil)
	c.mustPass(t)
	rows := c.rows(t, "INBOX")
	if len(rows) != 396 {
		t.Errorf("%d rows, want 396", len(rows))
	}
	for _, r := range rows {
		if !r.HasBody {
			t.Errorf("UID %d has no body", r.UID)
		}
	}
}

func TestFlagsFromTheServer(t *testing.T) {
	ctx := context.Background()
	s := startServer(t)
	s.deliver("INBOX", 1, 4, 10)
	c := newClient(t, s.addr, s.roots, freshDir(t))
	c.mustPass(t)
	session, err := c.Dial(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if err := session.StoreFlags(ctx, "INBOX", 0, []uint32{2, 3}, "add", []string{`\Flagged`, `\Seen`}); err != nil {
		t.Fatal(err)
	}
	c.mustPass(t)
	for _, r := range c.rows(t, "INBOX") {
		if want := r.UID == 2 || r.UID == 3; r.Flagged != want || r.Unread == want {
			t.Errorf("UID %d: flagged %v, unread %v", r.UID, r.Flagged, r.Unread)
		}
	}
}
