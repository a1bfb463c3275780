package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"

	"skrzynka/mail"
)

func TestFoldersAgainstServer(t *testing.T) {
	for _, tc := range []struct {
		name string
		drop []imap.Cap
	}{
		{"one LIST with STATUS", nil},
		{"LIST and STATUS each", []imap.Cap{imap.CapListStatus}},
		{"plain LIST", []imap.Cap{imap.CapListStatus, imap.CapListExtended}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			caps := allCaps()
			for _, c := range tc.drop {
				delete(caps, c)
			}
			m := startMemory(t, caps, mail.SecurityTLS)
			m.deliver(t, "INBOX", message("a@x", "one"))
			m.deliver(t, "INBOX", message("b@x", "two"), imap.FlagSeen)
			got, err := dial(t, m.opts).Folders(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, f := range got {
				names = append(names, f.Name)
				if f.Name == "INBOX" && (f.Kind != mail.FolderInbox || !f.Selectable || f.Delimiter != "/" || !f.HasStatus ||
					f.Status.Messages != 2 || f.Status.Unseen != 1 || f.Status.UIDNext != 3 || f.Status.UIDValidity == 0) {
					t.Errorf("INBOX is %+v", f)
				}
			}
			slices.Sort(names)
			if want := []string{"Entwürfe & Co", "INBOX", "Sent"}; !slices.Equal(names, want) {
				t.Errorf("folders %q, want %q", names, want)
			}
		})
	}
}

func TestFetchAgainstServer(t *testing.T) {
	m := startMemory(t, allCaps(), mail.SecurityTLS)
	big := message("big@x", strings.Repeat("0123456789abcde\r\n", 200_000)) // 3.4 MB: four pieces
	exact := message("exact@x", "")
	exact = exact[:len(exact)-2] + strings.Repeat("x", 2*chunk-len(exact)) + "\r\n" // two whole pieces
	for _, msg := range []string{message("a@x", "one"), message("b@x", "two"), big, exact} {
		m.deliver(t, "INBOX", msg, imap.FlagFlagged)
	}
	s := dial(t, m.opts)
	box, err := s.Select(t.Context(), "INBOX", true)
	if err != nil || box.Messages != 4 || box.UIDNext != 5 || box.UIDValidity == 0 || !box.ReadOnly {
		t.Fatalf("select: %+v, %v", box, err)
	}

	t.Run("headers", func(t *testing.T) {
		got := fetched{}
		if err := s.FetchHeaders(t.Context(), "INBOX", box.UIDValidity, SetOf([]uint32{2, 1, 99}), got.add); err != nil {
			t.Fatal(err)
		}
		f := got[1]
		if len(got) != 2 || f.Size != int64(len(message("a@x", "one"))) || !slices.Contains(f.Flags, "\\Flagged") || f.InternalDate.Unix() != 1_700_000_000 || f.Body != nil ||
			lines(f.Header) != "From: Grace <grace@example.net>|Message-ID: <a@x>|Subject: a@x||" {
			t.Errorf("got %d messages, first %+v, header %q", len(got), f, lines(f.Header))
		}
	})
	t.Run("headers of an open range", func(t *testing.T) {
		got := fetched{}
		if err := s.FetchHeaders(t.Context(), "INBOX", box.UIDValidity, Set{{From: 50}}, got.add); err != nil || len(got) != 0 {
			t.Errorf("50:* above the last message gave %v, %v", got, err)
		}
	})
	t.Run("bodies, small and in pieces", func(t *testing.T) {
		got := fetched{}
		if err := s.FetchBodies(t.Context(), "INBOX", box.UIDValidity, []uint32{4, 3, 2, 77}, got.add); err != nil {
			t.Fatal(err)
		}
		for uid, want := range map[uint32]string{2: message("b@x", "two"), 3: big, 4: exact} {
			if !bytes.Equal(got[uid].Body, []byte(want)) {
				t.Errorf("UID %d: %d bytes, want %d", uid, len(got[uid].Body), len(want))
			}
		}
		if len(got) != 3 {
			t.Errorf("%d messages", len(got))
		}
	})
	t.Run("nothing was marked as read", func(t *testing.T) {
		got := fetched{}
		if err := s.FetchFlags(t.Context(), "INBOX", box.UIDValidity, Set{{1, 0}}, 0, got.add); err != nil || len(got) != 4 {
			t.Fatalf("%d messages, %v", len(got), err)
		}
		for uid, f := range got {
			if slices.Contains(f.Flags, "\\Seen") {
				t.Errorf("UID %d is seen", uid)
			}
		}
	})
	t.Run("empty set", func(t *testing.T) {
		if err := s.FetchHeaders(t.Context(), "INBOX", 0, nil, fetched{}.add); err != nil || s.Err() != nil {
			t.Errorf("%v, session %v", err, s.Err())
		}
	})
	t.Run("another UIDVALIDITY", func(t *testing.T) {
		err := s.FetchHeaders(t.Context(), "INBOX", box.UIDValidity+1, Set{{1, 0}}, func(Fetched) error { t.Error("a message"); return nil })
		if !errors.Is(err, ErrUIDValidityChanged) || s.Err() != nil {
			t.Errorf("got %v, session %v", err, s.Err())
		}
	})
	t.Run("missing folder", func(t *testing.T) {
		_, err := s.Select(t.Context(), "No such", true)
		if !errors.Is(err, mail.ErrCode(mail.CodeIMAPRejected)) || !Refused(err) || s.Err() != nil {
			t.Errorf("got %v, session %v", err, s.Err())
		}
		if _, err := s.Select(t.Context(), "INBOX", true); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
	t.Run("error of the caller's function", func(t *testing.T) {
		s := dial(t, m.opts)
		mine := errors.New("disk full")
		err := s.FetchHeaders(t.Context(), "INBOX", 0, Set{{1, 0}}, func(Fetched) error { return mine })
		if err != mine || s.Err() == nil {
			t.Errorf("got %v, session %v", err, s.Err())
		}
		if err := s.Noop(t.Context()); !errors.Is(err, ErrDead) || !mail.AsError(err).Retryable {
			t.Errorf("a dead session says %v", err)
		}
	})
}

func TestSearchAgainstServer(t *testing.T) {
	for _, tc := range []struct {
		name string
		drop imap.Cap
	}{{"ESEARCH", ""}, {"plain SEARCH", imap.CapESearch}} {
		t.Run(tc.name, func(t *testing.T) {
			caps := allCaps()
			delete(caps, tc.drop)
			m := startMemory(t, caps, mail.SecurityTLS)
			for i := range 5 {
				m.deliver(t, "INBOX", message(fmt.Sprintf("n%d@x", i), "text"))
			}
			s := dial(t, m.opts)
			for _, q := range []struct {
				name string
				r    Range
				want []uint32
			}{{"all", Range{1, 0}, []uint32{1, 2, 3, 4, 5}}, {"part", Range{2, 4}, []uint32{2, 3, 4}}, {"above", Range{40, 0}, nil}, {"impossible", Range{4, 2}, nil}} {
				if got, err := s.UIDs(t.Context(), "INBOX", 0, q.r); err != nil || !slices.Equal(got, q.want) {
					t.Errorf("%s: %v, %v, want %v", q.name, got, err, q.want)
				}
			}
			got, err := s.SearchMessageID(t.Context(), "INBOX", []string{"<n3@x>", "<none@x>", "<n1@x>", "<bad id>", "", "<\r\nA1 LOGOUT>", "<ü@x>"})
			if err != nil || len(got) != 2 || got[0].UID != 2 || got[1].UID != 4 || got[0].Validity == 0 {
				t.Errorf("by Message-ID: %v, %v", got, err)
			}
			if got, err := s.SearchHeader(t.Context(), "INBOX", "From", "grace@example.net"); err != nil || len(got) != 5 {
				t.Errorf("by From: %v, %v", got, err)
			}
			if _, err := s.SearchHeader(t.Context(), "INBOX", "From", "a\r\nb"); !errors.Is(err, mail.ErrCode(mail.CodeInvalid)) || s.Err() != nil {
				t.Errorf("a line break: %v", err)
			}
		})
	}
}

func TestChangesAgainstServer(t *testing.T) {
	for _, tc := range []struct {
		name         string
		drop         []imap.Cap
		left, copied bool // originals left marked; COPYUID told
	}{
		{"MOVE", nil, false, true},
		{"COPY, UID EXPUNGE", []imap.Cap{imap.CapMove}, false, true},
		{"COPY, no UIDPLUS: never a plain EXPUNGE", []imap.Cap{imap.CapMove, imap.CapUIDPlus}, true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			caps := allCaps()
			for _, c := range tc.drop {
				delete(caps, c)
			}
			m := startMemory(t, caps, mail.SecurityTLS)
			for i := range 4 {
				m.deliver(t, "INBOX", message(fmt.Sprintf("n%d@x", i), "text"))
			}
			s := dial(t, m.opts)
			ctx := t.Context()
			if err := s.StoreFlags(ctx, "INBOX", 0, []uint32{1}, FlagsAdd, []string{"\\Deleted"}); err != nil {
				t.Fatal(err)
			}
			moved, err := s.Move(ctx, "INBOX", 0, []uint32{3, 2}, "Entwürfe & Co")
			if err != nil || !moved.Copied || moved.Left != tc.left || len(moved.UIDs) != 2 || moved.UIDs[2] != 1 || moved.UIDs[3] != 2 || moved.UIDValidity == 0 {
				t.Errorf("moved %+v, %v", moved, err)
			}
			got := fetched{}
			if err := s.FetchFlags(ctx, "INBOX", 0, Set{{1, 0}}, 0, got.add); err != nil {
				t.Fatal(err)
			}
			// The message another client had marked is still there in every case.
			if _, ok := got[1]; !ok {
				t.Error("a message marked by somebody else was expunged")
			}
			if _, there := got[2]; there != tc.left {
				t.Errorf("original there: %v, want %v", there, tc.left)
			}
			if box, err := s.Status(ctx, "Entwürfe & Co"); err != nil || box.Messages != 2 {
				t.Errorf("destination %+v, %v", box, err)
			}
			del, err := s.Delete(ctx, "INBOX", 0, []uint32{4})
			if err != nil || del.Left != tc.left {
				t.Errorf("deleted %+v, %v", del, err)
			}
			if err := s.StoreFlags(ctx, "INBOX", 0, []uint32{1}, FlagsRemove, []string{"\\Deleted"}); err != nil {
				t.Fatal(err)
			}
			got = fetched{}
			if err := s.FetchFlags(ctx, "INBOX", 0, Set{{1, 1}}, 0, got.add); err != nil || slices.Contains(got[1].Flags, "\\Deleted") {
				t.Errorf("flag still set: %v, %v", got[1].Flags, err)
			}
			for _, bad := range [][]string{nil, {""}, {"a b"}, {"\\"}, {"x]"}, {"a\r\nb"}} {
				if err := s.StoreFlags(ctx, "INBOX", 0, []uint32{1}, FlagsAdd, bad); !errors.Is(err, mail.ErrCode(mail.CodeInvalid)) {
					t.Errorf("flags %q: %v", bad, err)
				}
			}
			if _, err := s.Move(ctx, "INBOX", 0, []uint32{1}, "No such"); !Refused(err) || s.Err() != nil {
				t.Errorf("missing destination: %v, session %v", err, s.Err())
			}
		})
	}
}

func TestIdleAgainstServer(t *testing.T) {
	m := startMemory(t, allCaps(), mail.SecurityTLS)
	s := dial(t, m.opts)
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	pushes := make(chan Push, 16)
	ended := make(chan error, 1)
	go func() { ended <- s.Idle(ctx, "INBOX", func(p Push) { pushes <- p }) }()
	if p := <-pushes; p != (Push{"INBOX", PushExists, 0}) {
		t.Errorf("first push %+v", p)
	}
	// This server tells nothing of mail that came just before IDLE began.
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for heard := false; !heard; {
		select {
		case p := <-pushes:
			heard = p.Folder == "INBOX" && p.Kind == PushExists && p.N > 0
		case <-again.C:
			m.deliver(t, "INBOX", message("a@x", "one"))
		case err := <-ended:
			t.Fatalf("idle ended with %v before any push", err)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("idle ended with %v", err)
	}
	if box, err := s.Select(t.Context(), "INBOX", true); err != nil || box.Messages == 0 {
		t.Errorf("the session after idle: %+v, %v", box, err)
	}
}

func TestIdleNotOffered(t *testing.T) {
	s := dial(t, startScript(t, mail.SecurityTLS, func(p *peer) { p.welcome(func(string, string) bool { return false }) }).opts)
	if err := s.Idle(t.Context(), "INBOX", func(Push) {}); !errors.Is(err, ErrNoIdle) || s.Err() != nil {
		t.Errorf("got %v, session %v", err, s.Err())
	}
}

func TestSlept(t *testing.T) {
	for _, tc := range []struct {
		name       string
		wall, mono time.Duration
		want       bool
	}{
		{"in step", time.Hour, time.Hour, false},
		{"30 s apart", time.Hour + 30*time.Second, time.Hour, false},
		{"slept", 2 * time.Hour, time.Minute, true},
		{"clock set back", -time.Hour, time.Minute, true},
	} {
		if got := slept(tc.wall, tc.mono); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}

func TestStartTLSAgainstServer(t *testing.T) {
	m := startMemory(t, allCaps(), mail.SecuritySTARTTLS)
	m.deliver(t, "INBOX", message("a@x", "one"))
	s := dial(t, m.opts)
	if box, err := s.Select(t.Context(), "INBOX", false); err != nil || box.Messages != 1 {
		t.Errorf("%+v, %v", box, err)
	}
	if !s.Caps().Move || !s.Caps().UIDPlus {
		t.Errorf("caps %+v", s.Caps())
	}
}

func TestAppendAgainstServer(t *testing.T) {
	m := startMemory(t, allCaps(), mail.SecurityTLS)
	s := dial(t, m.opts)
	for i, size := range []int{10, 4096, 300_000} {
		msg := []byte(message("sent@x", strings.Repeat("y", size)))
		marked := false
		got, err := s.Append(t.Context(), "Sent", msg, []string{"\\Seen"}, time.Unix(1_600_000_000, 0), func(before Mailbox) error {
			marked = before.UIDNext == uint32(i+1)
			return nil
		})
		if err != nil || !marked || got.UID != uint32(i+1) || got.UIDValidity == 0 || got.Before.UIDValidity != got.UIDValidity {
			t.Fatalf("size %d: %+v, %v, marked %v", size, got, err, marked)
		}
		there := fetched{}
		if err := s.FetchBodies(t.Context(), "Sent", got.UIDValidity, []uint32{got.UID}, there.add); err != nil || !bytes.Equal(there[got.UID].Body, msg) {
			t.Errorf("size %d: stored %d bytes, %v", size, len(there[got.UID].Body), err)
		}
	}
	head := fetched{}
	if err := s.FetchHeaders(t.Context(), "Sent", 0, Set{{1, 1}}, head.add); err != nil || !slices.Contains(head[1].Flags, "\\Seen") || head[1].InternalDate.Unix() != 1_600_000_000 {
		t.Errorf("flags and date: %+v, %v", head[1], err)
	}
}

func TestFoldersKnown(t *testing.T) {
	m := startMemory(t, allCaps(), mail.SecurityTLS)
	m.deliver(t, "INBOX", message("a@x", "one"))
	for _, tc := range []struct {
		name  string
		known []string
	}{
		{"none", nil},
		{"all", []string{"Sent", "INBOX", "Entwürfe & Co"}},
		{"one of them, and one that is gone", []string{"Gone", "INBOX"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := dial(t, m.opts).FoldersKnown(t.Context(), tc.known)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 3 {
				t.Errorf("%d folders, want 3", len(got))
			}
			for _, f := range got {
				if !f.HasStatus || f.Name == "INBOX" && f.Status.Messages != 1 {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}
