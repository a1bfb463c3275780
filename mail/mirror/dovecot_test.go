package mirror

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"skrzynka/auth"
	"skrzynka/mail"
)

// realServer returns how to reach the IMAP server that the environment names:
// {"host","port","user","password","ca_file"}. Without one the test skips.
func realServer(t testing.TB) Options {
	t.Helper()
	raw := os.Getenv("SKRZYNKA_TEST_IMAP")
	if raw == "" {
		t.Skip("no IMAP server: set SKRZYNKA_TEST_IMAP to its JSON description")
	}
	var at struct {
		Host, User, Password string
		Port                 int
		CAFile               string `json:"ca_file"`
	}
	if err := json.Unmarshal([]byte(raw), &at); err != nil {
		t.Fatal(err)
	}
	return Options{
		Server: mail.Server{Host: at.Host, Port: at.Port, Security: mail.SecurityTLS, CAFile: at.CAFile},
		Creds: func(context.Context) (auth.Credentials, error) {
			return auth.Credentials{Username: at.User, Secret: auth.NewSecret(at.Password)}, nil
		},
	}
}

// One folder through its life on a server that keeps mod-sequences: each plan
// names exactly the commands that bring the local picture up to date.
func TestRealServerPasses(t *testing.T) {
	o := realServer(t)
	ctx := t.Context()
	s, other := dial(t, o), dial(t, o)
	if c := s.Caps(); !c.CondStore || !c.UIDPlus || !c.Idle || !c.ESearch {
		t.Fatalf("the server is not the kind this test needs: %v", c.All)
	}
	folder := "mirror ü & " + mail.NewID()
	if err := s.Create(ctx, folder); err != nil {
		t.Fatal(err)
	}
	put := func(id, body string) uint32 {
		t.Helper()
		got, err := other.Append(ctx, folder, []byte(message(id, body)), []string{"\\Seen"}, time.Unix(1_700_000_000, 0), func(Mailbox) error { return nil })
		if err != nil || got.UID == 0 || got.UIDValidity == 0 || got.UID < got.Before.UIDNext {
			t.Fatalf("append: %+v, %v", got, err)
		}
		return got.UID
	}
	for i := range 5 {
		put(fmt.Sprintf("n%d@mirror.example", i), strings.Repeat("text\r\n", i))
	}

	local, have := LocalFolder{}, fetched{}
	pass := func(want ...ActionKind) {
		t.Helper()
		box, err := s.Select(ctx, folder, true)
		if err != nil {
			t.Fatal(err)
		}
		plan := Plan(local, box, s.Caps().CondStore)
		var kinds []ActionKind
		for _, a := range plan {
			kinds = append(kinds, a.Kind)
			switch a.Kind {
			case FetchNew:
				err = s.FetchHeaders(ctx, folder, box.UIDValidity, Set{{a.From, a.To}}, have.add)
			case FlagsSince:
				err = s.FetchFlags(ctx, folder, box.UIDValidity, Set{{a.From, a.To}}, a.Since, func(f Fetched) error {
					m := have[f.UID]
					m.Flags, m.ModSeq = f.Flags, f.ModSeq
					have[f.UID] = m
					return nil
				})
			case DiffUIDs:
				if len(have) == a.Messages {
					break
				}
				var there, known []uint32
				there, err = s.UIDs(ctx, folder, box.UIDValidity, Range{a.From, a.To})
				for uid := range have {
					if uid <= a.To {
						known = append(known, uid)
					}
				}
				gone, _ := Diff(known, there)
				for _, uid := range gone {
					delete(have, uid)
				}
			default:
				t.Fatalf("unexpected step %+v", a)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(kinds, want) {
			t.Fatalf("steps %v, want %v (local %+v, remote %+v)", kinds, want, local, box)
		}
		local = LocalFolder{UIDValidity: box.UIDValidity, UIDNext: box.UIDNext, Count: len(have), HighestModSeq: box.HighestModSeq}
		for uid := range have {
			local.LastUID = max(local.LastUID, uid)
		}
		if len(have) != box.Messages {
			t.Fatalf("%d messages stored, %d there", len(have), box.Messages)
		}
	}

	pass(FetchNew)
	pass()
	uids := []uint32{}
	for uid := range have {
		uids = append(uids, uid)
	}
	slices.Sort(uids)
	if err := other.StoreFlags(ctx, folder, local.UIDValidity, uids[1:3], FlagsAdd, []string{"\\Flagged", "$Junk"}); err != nil {
		t.Fatal(err)
	}
	pass(FlagsSince)
	if !slices.Contains(have[uids[1]].Flags, "\\Flagged") || slices.Contains(have[uids[0]].Flags, "\\Flagged") || have[uids[1]].ModSeq == 0 {
		t.Errorf("flags %v and %v", have[uids[1]].Flags, have[uids[0]].Flags)
	}
	if _, err := other.Delete(ctx, folder, local.UIDValidity, uids[:1]); err != nil {
		t.Fatal(err)
	}
	pass(FlagsSince, DiffUIDs)
	pass()
	newest := put("late@mirror.example", "late")
	pass(FetchNew, FlagsSince, DiffUIDs)
	if f := have[newest]; f.ModSeq == 0 || f.InternalDate.Unix() != 1_700_000_000 || !bytes.Contains(f.Header, []byte("late@mirror.example")) {
		t.Errorf("the new one: %+v", f)
	}

	found, err := s.SearchMessageID(ctx, folder, []string{"<late@mirror.example>"})
	if err != nil || len(found) != 1 || found[0] != (mail.UID{Validity: local.UIDValidity, UID: newest}) {
		t.Errorf("search: %v, %v", found, err)
	}
	moved, err := other.Move(ctx, folder, local.UIDValidity, []uint32{newest}, "Trash")
	if err != nil || !moved.Copied || moved.Left || moved.UIDs[newest] == 0 {
		t.Errorf("move: %+v, %v", moved, err)
	}
	pass(FlagsSince, DiffUIDs)
	if err := s.Noop(ctx); err != nil {
		t.Error(err)
	}
}

func TestRealServerFolders(t *testing.T) {
	s := dial(t, realServer(t))
	got, err := s.Folders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[mail.FolderKind]int{}
	for _, f := range got {
		kinds[f.Kind]++
		if f.Selectable && !f.HasStatus {
			t.Errorf("%s has no counts", f.Name)
		}
	}
	for _, k := range []mail.FolderKind{mail.FolderInbox, mail.FolderSent, mail.FolderDrafts, mail.FolderTrash} {
		if kinds[k] != 1 {
			t.Errorf("%d folders of kind %s in %v", kinds[k], k, got)
		}
	}
}

func TestRealServerIdle(t *testing.T) {
	o := realServer(t)
	o.Timeouts.IdleTurn = 300 * time.Millisecond // renewed several times meanwhile
	s, other := dial(t, o), dial(t, o)
	folder := "mirror idle " + mail.NewID()
	if err := s.Create(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	pushes, ended := make(chan Push, 64), make(chan error, 1)
	go func() { ended <- s.Idle(ctx, folder, func(p Push) { pushes <- p }) }()
	for want := uint32(0); want < 3; {
		select {
		case p := <-pushes:
			if p.Kind != PushExists || p.N != want {
				continue
			}
			if want++; want < 3 {
				if _, err := other.Append(ctx, folder, []byte(message("i@x", "x")), nil, time.Time{}, func(Mailbox) error { return nil }); err != nil {
					t.Fatal(err)
				}
			}
		case err := <-ended:
			t.Fatalf("idle ended: %v", err)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if box, err := s.Select(t.Context(), folder, true); err != nil || box.Messages != 2 {
		t.Errorf("the session after idle: %+v, %v", box, err)
	}
}

func TestRealServerRefusesAppend(t *testing.T) {
	s := dial(t, realServer(t))
	_, err := s.Append(t.Context(), "no such "+mail.NewID(), []byte(message("a@x", "x")), nil, time.Time{}, func(Mailbox) error { return nil })
	if e, ok := err.(*AppendError); !ok || e.Outcome != AppendRefused || s.Err() != nil {
		t.Errorf("got %v, session %v", err, s.Err())
	}
}

// BenchmarkRealServer reads whole folders; the name of the one with mail in it
// is INBOX.
func BenchmarkRealServer(b *testing.B) {
	s := dial(b, realServer(b))
	box, err := s.Select(b.Context(), "INBOX", true)
	if err != nil {
		b.Fatal(err)
	}
	uids, err := s.UIDs(b.Context(), "INBOX", box.UIDValidity, Range{1, 0})
	if err != nil || len(uids) == 0 {
		b.Skipf("no mail in INBOX (%v)", err)
	}
	read := func(name string, f func(batch []uint32, fn func(Fetched) error) error) {
		b.Run(name, func(b *testing.B) {
			n, size := 0, 0
			for b.Loop() {
				for _, batch := range Batches(uids, 500) {
					err := f(batch, func(m Fetched) error { n++; size += len(m.Header) + len(m.Body); return nil })
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "msg/s")
			b.ReportMetric(float64(size)/b.Elapsed().Seconds()/1e6, "MB/s")
		})
	}
	ctx := b.Context()
	read("flags", func(batch []uint32, fn func(Fetched) error) error {
		return s.FetchFlags(ctx, "INBOX", box.UIDValidity, SetOf(batch), 0, fn)
	})
	read("headers", func(batch []uint32, fn func(Fetched) error) error {
		return s.FetchHeaders(ctx, "INBOX", box.UIDValidity, SetOf(batch), fn)
	})
	read("bodies", func(batch []uint32, fn func(Fetched) error) error {
		return s.FetchBodies(ctx, "INBOX", box.UIDValidity, batch, fn)
	})
}
