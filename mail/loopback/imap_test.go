package loopback

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
)

func TestFoldersAndSpecialUse(t *testing.T) {
	s := start(t, quick())
	c := login(t, s, nil)
	list := func() map[string][]imap.MailboxAttr {
		t.Helper()
		all, err := c.List("", "*", &imap.ListOptions{ReturnSpecialUse: true, ReturnStatus: &imap.StatusOptions{NumMessages: true, NumUnseen: true, UIDNext: true}}).Collect()
		if err != nil {
			t.Fatal(err)
		}
		m := map[string][]imap.MailboxAttr{}
		for _, d := range all {
			m[d.Mailbox] = d.Attrs
			if d.Status != nil && int(*d.Status.NumMessages) != len(s.Folder(d.Mailbox)) {
				t.Errorf("%s: LIST-STATUS says %d messages", d.Mailbox, *d.Status.NumMessages)
			}
		}
		return m
	}
	want := map[string]imap.MailboxAttr{"INBOX": imap.MailboxAttrHasNoChildren, "Archive": imap.MailboxAttrArchive, "Drafts": imap.MailboxAttrDrafts,
		"Junk": imap.MailboxAttrJunk, "Sent": imap.MailboxAttrSent, "Trash": imap.MailboxAttrTrash, "Projects": imap.MailboxAttrNoSelect,
		"Projects/Lighthouse": imap.MailboxAttrHasNoChildren, "Urlaub & Pläne": imap.MailboxAttrHasNoChildren}
	got := list()
	for name, attr := range want {
		if !slices.Contains(got[name], attr) {
			t.Errorf("%s has %v, want %s", name, got[name], attr)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d folders, want %d", len(got), len(want))
	}
	if _, err := c.Select("Projects", nil).Wait(); err == nil {
		t.Error("a mere level of the hierarchy was selected")
	}
	selectFolder(t, c, "Urlaub & Pläne")
	s.SetFaults(func(f *Faults) { f.HideSpecialUse = true })
	if attrs := list()["Sent"]; slices.Contains(attrs, imap.MailboxAttrSent) {
		t.Errorf("Sent still shows %v", attrs)
	}
}

func TestFetchGivesTheVeryBytes(t *testing.T) {
	s := start(t, quick())
	c := login(t, s, nil)
	selectFolder(t, c, "INBOX")
	head := &imap.FetchItemBodySection{Specifier: imap.PartSpecifierHeader, Peek: true}
	text := &imap.FetchItemBodySection{Specifier: imap.PartSpecifierText, Peek: true}
	whole := &imap.FetchItemBodySection{Peek: true}
	chunk := &imap.FetchItemBodySection{Peek: true, Partial: &imap.SectionPartial{Offset: 10, Size: 20}}
	subject := &imap.FetchItemBodySection{Specifier: imap.PartSpecifierHeader, HeaderFields: []string{"subject"}, Peek: true}
	got, err := c.Fetch(imap.UIDSet{{Start: 1, Stop: 0}}, &imap.FetchOptions{UID: true, Flags: true, InternalDate: true, RFC822Size: true,
		BodySection: []*imap.FetchItemBodySection{head, text, whole, chunk, subject}}).Collect()
	if err != nil {
		t.Fatal(err)
	}
	stored := s.Folder("INBOX")
	if len(got) != len(stored) {
		t.Fatalf("%d messages, want %d", len(got), len(stored))
	}
	for i, m := range got {
		want := stored[i]
		if uint32(m.UID) != want.UID || !bytes.Equal(m.FindBodySection(whole), want.Raw) || m.RFC822Size != int64(len(want.Raw)) ||
			!m.InternalDate.Equal(want.Date.Truncate(time.Second)) {
			t.Errorf("UID %d differs", want.UID)
		}
		if !bytes.Equal(append(slices.Clone(m.FindBodySection(head)), m.FindBodySection(text)...), want.Raw) {
			t.Errorf("UID %d: header and text are not the whole", want.UID)
		}
		if !bytes.Equal(m.FindBodySection(chunk), want.Raw[10:30]) {
			t.Errorf("UID %d: the chunk differs", want.UID)
		}
		if sub := m.FindBodySection(subject); !bytes.HasPrefix(sub, []byte("Subject:")) || !bytes.HasSuffix(sub, []byte("\r\n\r\n")) {
			t.Errorf("UID %d: HEADER.FIELDS (subject) is %q", want.UID, sub)
		}
	}
	for i := range stored {
		if strings.Join(s.Folder("INBOX")[i].Flags, " ") != strings.Join(stored[i].Flags, " ") {
			t.Errorf("PEEK changed the flags of UID %d", stored[i].UID)
		}
	}
}

func TestSearchByMessageID(t *testing.T) {
	s := start(t, quick())
	c := login(t, s, nil)
	for _, row := range []struct {
		name, folder string
		criteria     imap.SearchCriteria
		want         int
	}{
		{"in Sent", "Sent", header("Message-ID", "<gull-1@example.org>"), 1},
		{"without brackets", "Sent", header("message-id", "gull-1@example.org"), 1},
		{"not in INBOX", "INBOX", header("Message-ID", "<gull-1@example.org>"), 0},
		{"answers to it", "INBOX", header("In-Reply-To", "<crack-1@example.org>"), 1},
		{"folded References", "INBOX", header("References", "<lamp-room-5@example.org>"), 2},
		{"decoded subject", "INBOX", header("Subject", "zażółć"), 1},
		{"body text", "INBOX", imap.SearchCriteria{Body: []string{"gull-1@example.org"}}, 1},
		{"flag", "Drafts", imap.SearchCriteria{Flag: []imap.Flag{imap.FlagDraft}}, 2},
		{"not", "Drafts", imap.SearchCriteria{NotFlag: []imap.Flag{imap.FlagDraft}}, 0},
		{"or", "Sent", imap.SearchCriteria{Or: [][2]imap.SearchCriteria{{header("Message-ID", "gull-1@"), header("Message-ID", "fog-2@")}}}, 2},
		{"larger", "INBOX", imap.SearchCriteria{Larger: 300_000}, 1},
		{"since", "Sent", imap.SearchCriteria{Since: time.Now().AddDate(0, 0, 1)}, 0},
		{"everything", "Sent", imap.SearchCriteria{}, 8},
	} {
		t.Run(row.name, func(t *testing.T) {
			selectFolder(t, c, row.folder)
			data, err := c.UIDSearch(&row.criteria, nil).Wait()
			if err != nil {
				t.Fatal(err)
			}
			if got := len(data.AllUIDs()); got != row.want {
				t.Errorf("%d found, want %d", got, row.want)
			}
		})
	}
}

func header(key, value string) imap.SearchCriteria {
	return imap.SearchCriteria{Header: []imap.SearchCriteriaHeaderField{{Key: key, Value: value}}}
}

func appendTo(c *imapclient.Client, folder string, raw []byte) (*imap.AppendData, error) {
	cmd := c.Append(folder, int64(len(raw)), &imap.AppendOptions{Flags: []imap.Flag{imap.FlagSeen}})
	if _, err := cmd.Write(raw); err != nil {
		return nil, err
	}
	if err := cmd.Close(); err != nil {
		return nil, err
	}
	return cmd.Wait()
}

func TestAppend(t *testing.T) {
	big := []byte(content + strings.Repeat("a line of forty octets, more or less...\r\n", 2000))
	for _, row := range []struct {
		name   string
		folder string
		raw    []byte
		faults Faults
		ok     bool
		stored bool
	}{
		{"APPENDUID", "Sent", []byte(content), Faults{}, true, true},
		{"a large one", "Sent", big, Faults{}, true, true},
		{"no such folder", "Elsewhere", []byte(content), Faults{}, false, false},
		{"refused", "Sent", []byte(content), Faults{RefuseAppend: true}, false, false},
		{"hung up, but stored", "Sent", []byte(content), Faults{DropAfterAppend: true}, false, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			o := quick()
			o.Faults = row.faults
			s := start(t, o)
			c := login(t, s, nil)
			n := len(s.Folder(row.folder))
			validity := uint32(0)
			if row.folder == "Sent" {
				validity = selectFolder(t, c, "Sent").UIDValidity
			}
			data, err := appendTo(c, row.folder, row.raw)
			if (err == nil) != row.ok {
				t.Fatalf("error %v", err)
			}
			eventually(t, "the right number of messages", func() bool { return (len(newIn(s, row.folder, n)) == 1) == row.stored })
			if !row.ok {
				return
			}
			last := newIn(s, row.folder, n)[0]
			if uint32(data.UID) != last.UID || data.UIDValidity != validity {
				t.Errorf("APPENDUID %d %d, want %d %d", data.UIDValidity, data.UID, validity, last.UID)
			}
			if !bytes.Equal(last.Raw, row.raw) || strings.Join(last.Flags, " ") != `\Seen` {
				t.Errorf("stored with %v: %.80q", last.Flags, last.Raw)
			}
		})
	}
}

func TestPushInIdle(t *testing.T) {
	s := start(t, quick())
	exists, gone := make(chan uint32, 10), make(chan uint32, 10)
	c := login(t, s, &imapclient.Options{UnilateralDataHandler: &imapclient.UnilateralDataHandler{
		Mailbox: func(d *imapclient.UnilateralDataMailbox) {
			if d.NumMessages != nil {
				exists <- *d.NumMessages
			}
		},
		Expunge: func(seq uint32) { gone <- seq },
	}})
	n := selectFolder(t, c, "INBOX").NumMessages
	idle, err := c.Idle()
	if err != nil {
		t.Fatal(err)
	}
	uid := s.Deliver("INBOX", []byte("Subject: now\nMessage-ID: <now@example.org>\n\nhello\n"))
	if got := receive(t, exists); got != n+1 {
		t.Errorf("EXISTS %d, want %d", got, n+1)
	}
	if last := newIn(s, "INBOX", int(n))[0]; last.UID != uid || !bytes.Contains(last.Raw, []byte("\r\n\r\nhello\r\n")) {
		t.Errorf("delivered %d %q", last.UID, last.Raw)
	}

	other := login(t, s, nil)
	selectFolder(t, other, "INBOX")
	if _, err := other.Move(imap.UIDSetNum(imap.UID(uid)), "Archive").Wait(); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, gone); got != n+1 {
		t.Errorf("EXPUNGE %d, want %d", got, n+1)
	}
	if err := idle.Close(); err != nil {
		t.Fatal(err)
	}
	if err := idle.Wait(); err != nil {
		t.Fatal(err)
	}
}

func receive(t *testing.T, ch <-chan uint32) uint32 {
	t.Helper()
	select {
	case n := <-ch:
		return n
	case <-time.After(patience):
		t.Fatal("nothing was pushed")
		return 0
	}
}

func TestFlagsMoveCopyAndExpunge(t *testing.T) {
	s := start(t, quick())
	c := login(t, s, nil)
	selectFolder(t, c, "INBOX")
	inbox := s.Folder("INBOX")
	a, b, d := inbox[0], inbox[1], inbox[2]
	flags := func(uid uint32) string {
		for _, m := range s.Folder("INBOX") {
			if m.UID == uid {
				return strings.Join(m.Flags, " ")
			}
		}
		return "gone"
	}
	store := func(uid uint32, op imap.StoreFlagsOp, f ...imap.Flag) {
		t.Helper()
		if err := c.Store(imap.UIDSetNum(imap.UID(uid)), &imap.StoreFlags{Op: op, Flags: f}, nil).Close(); err != nil {
			t.Fatal(err)
		}
	}
	store(a.UID, imap.StoreFlagsSet, `\SEEN`, "$Label1")
	if got := flags(a.UID); got != `$Label1 \Seen` {
		t.Errorf("flags are %q", got)
	}
	store(a.UID, imap.StoreFlagsDel, `\seen`)
	store(a.UID, imap.StoreFlagsAdd, imap.FlagFlagged)
	if got := flags(a.UID); got != `$Label1 \Flagged` {
		t.Errorf("flags are %q", got)
	}

	archived := len(s.Folder("Archive"))
	moved, err := c.Move(imap.UIDSetNum(imap.UID(a.UID)), "Archive").Wait()
	if err != nil {
		t.Fatal(err)
	}
	now := newIn(s, "Archive", archived)
	if len(now) != 1 || !bytes.Equal(now[0].Raw, a.Raw) || flags(a.UID) != "gone" || !now[0].Date.Equal(a.Date) {
		t.Errorf("after MOVE: %d in Archive, flags in INBOX %q", len(now), flags(a.UID))
	}
	if src, ok := moved.SourceUIDs.(imap.UIDSet); !ok || !src.Contains(imap.UID(a.UID)) {
		t.Errorf("COPYUID names %v", moved.SourceUIDs)
	}

	if _, err := c.Copy(imap.UIDSetNum(imap.UID(b.UID)), "Trash").Wait(); err != nil {
		t.Fatal(err)
	}
	store(b.UID, imap.StoreFlagsAdd, imap.FlagDeleted)
	store(d.UID, imap.StoreFlagsAdd, imap.FlagDeleted)
	if err := c.UIDExpunge(imap.UIDSetNum(imap.UID(b.UID))).Close(); err != nil {
		t.Fatal(err)
	}
	if flags(b.UID) != "gone" || flags(d.UID) == "gone" {
		t.Errorf("UID EXPUNGE left %q and %q", flags(b.UID), flags(d.UID))
	}
	if got := c.Mailbox().NumMessages; int(got) != len(s.Folder("INBOX")) {
		t.Errorf("the client believes in %d messages, want %d", got, len(s.Folder("INBOX")))
	}
}

func TestRenewUIDs(t *testing.T) {
	s := start(t, quick())
	before := selectFolder(t, login(t, s, nil), "Sent")
	if err := s.RenewUIDs("Sent"); err != nil {
		t.Fatal(err)
	}
	after := selectFolder(t, login(t, s, nil), "Sent")
	if after.UIDValidity == before.UIDValidity || after.NumMessages != before.NumMessages || s.Folder("Sent")[0].UID != 1 {
		t.Errorf("before %+v, after %+v", before, after)
	}
}
