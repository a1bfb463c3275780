package inbox_test

import (
	"context"
	"testing"

	"github.com/emersion/go-imap/v2"

	"skrzynka/mail"
)

func (c *client) folderID(t testing.TB, name string) int64 {
	t.Helper()
	f, err := c.store.FolderByName(context.Background(), "me", name)
	if err != nil {
		t.Fatal(err)
	}
	return f.ID
}

// Many messages are one action and one undo, and a handful of commands.
func TestBulk(t *testing.T) {
	ctx := context.Background()
	s := startServer(t)
	s.create("Archive")
	const n = 900
	s.deliver("INBOX", 1, n, 1)
	c := newClient(t, s.addr, s.roots, freshDir(t))
	c.mustPass(t)
	var ids []int64
	for _, r := range c.rows(t, "INBOX") {
		ids = append(ids, r.ID)
	}
	var commands int
	count := func(imap.NumSet) error { commands++; return nil }
	s.changing.Store(&count)

	if _, err := c.store.SetFlag(ctx, ids, mail.FlagFlagged, true); err != nil {
		t.Fatal(err)
	}
	batch, err := c.store.MoveMessages(ctx, ids, c.folderID(t, "Archive"))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.rows(t, "INBOX")) != 0 || len(c.rows(t, "Archive")) != n {
		t.Fatal("the move is not seen at once")
	}
	c.mustPass(t)
	if commands > 4 {
		t.Errorf("%d commands", commands)
	}
	for _, r := range c.rows(t, "Archive") {
		if r.UID == 0 || !r.Flagged {
			t.Fatalf("row %d has UID %d, flagged %v", r.ID, r.UID, r.Flagged)
		}
	}
	again := newClient(t, s.addr, s.roots, freshDir(t))
	again.mustPass(t)
	if len(again.rows(t, "INBOX")) != 0 || len(again.rows(t, "Archive")) != n {
		t.Errorf("on the server %d and %d", len(again.rows(t, "INBOX")), len(again.rows(t, "Archive")))
	}

	if err := c.store.UndoBatch(ctx, batch); err != nil {
		t.Fatal(err)
	}
	c.mustPass(t)
	again.mustPass(t)
	if len(again.rows(t, "INBOX")) != n || len(c.rows(t, "INBOX")) != n {
		t.Errorf("after the undo %d on the server, %d here", len(again.rows(t, "INBOX")), len(c.rows(t, "INBOX")))
	}
}

// One refused action among several undoes itself alone, and says so.
func TestRefusedAction(t *testing.T) {
	ctx := context.Background()
	s := startServer(t)
	s.create("Archive")
	s.deliver("INBOX", 1, 5, 1)
	c := newClient(t, s.addr, s.roots, freshDir(t))
	c.mustPass(t)
	refuse := func(set imap.NumSet) error {
		if uids, ok := set.(imap.UIDSet); ok && uids.Contains(3) {
			return &imap.Error{Type: imap.StatusResponseTypeNo, Code: imap.ResponseCodeNoPerm, Text: "not this one"}
		}
		return nil
	}
	s.changing.Store(&refuse)
	var ids []int64
	for _, r := range c.rows(t, "INBOX") {
		ids = append(ids, r.ID)
	}
	if _, err := c.store.MoveMessages(ctx, ids, c.folderID(t, "Archive")); err != nil {
		t.Fatal(err)
	}
	c.mustPass(t)
	left := c.rows(t, "INBOX")
	if len(left) != 1 || left[0].UID != 3 || len(c.rows(t, "Archive")) != 4 {
		t.Errorf("%d rows stayed, %d moved", len(left), len(c.rows(t, "Archive")))
	}
	if len(c.refused) != 1 || c.refused[0] != "move of UID 3: IMAP_REJECTED" {
		t.Errorf("told: %q", c.refused)
	}
}

// What the server cannot do now waits, and is done later.
func TestUnavailableAction(t *testing.T) {
	ctx := context.Background()
	s := startServer(t)
	s.deliver("INBOX", 1, 2, 1)
	c := newClient(t, s.addr, s.roots, freshDir(t))
	c.mustPass(t)
	refuse := func(imap.NumSet) error {
		return &imap.Error{Type: imap.StatusResponseTypeNo, Code: imap.ResponseCodeUnavailable, Text: "later"}
	}
	s.changing.Store(&refuse)
	row := c.rows(t, "INBOX")[0]
	if _, err := c.store.SetFlag(ctx, []int64{row.ID}, mail.FlagFlagged, true); err != nil {
		t.Fatal(err)
	}
	c.mustPass(t)
	if !c.rows(t, "INBOX")[0].Flagged {
		t.Error("it was undone here")
	}
	s.changing.Store(nil)
	c.mustPass(t)
	other := newClient(t, s.addr, s.roots, freshDir(t))
	other.mustPass(t)
	if !other.rows(t, "INBOX")[0].Flagged {
		t.Error("the server was not told later")
	}
}

// A message that is gone from the server while an action on it waits.
func TestActionOnAMessageThatIsGone(t *testing.T) {
	ctx := context.Background()
	s := startServer(t)
	s.create("Archive")
	s.deliver("INBOX", 1, 3, 1)
	c := newClient(t, s.addr, s.roots, freshDir(t))
	c.mustPass(t)
	session, err := c.Dial(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if _, err := session.Delete(ctx, "INBOX", 0, []uint32{2}); err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, r := range c.rows(t, "INBOX") {
		ids = append(ids, r.ID)
	}
	if _, err := c.store.MoveMessages(ctx, ids, c.folderID(t, "Archive")); err != nil {
		t.Fatal(err)
	}
	c.mustPass(t)
	c.mustPass(t)
	if in, there := len(c.rows(t, "INBOX")), len(c.rows(t, "Archive")); in != 0 || there != 2 {
		t.Errorf("%d rows in INBOX, %d in Archive", in, there)
	}
}
