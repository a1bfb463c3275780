package store

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/view"
)

var day = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// letter is the n-th message of a test; the same n is the same mail.
func letter(n int, uid uint32) mail.NewMessage {
	id := fmt.Sprintf("<m%d@example.org>", n)
	date := day.Add(time.Duration(n) * time.Minute)
	return mail.NewMessage{
		UID: uid, InternalDate: date, Size: int64(1000 + n), Header: fmt.Appendf(nil, "Message-ID: %s\r\n\r\n", id),
		Summary: mail.Summary{RFCMessageID: id, From: mail.Address{Name: "Ada", Addr: "ada@example.org"}, To: "me", Subject: fmt.Sprintf("Letter %d", n), Date: date},
	}
}

func letters(from, to int) (out []mail.NewMessage) {
	for n := from; n <= to; n++ {
		out = append(out, letter(n, uint32(n)))
	}
	return out
}

// mailbox gives a Store with folders of account "me"; INBOX has UIDVALIDITY 1.
func mailbox(t testing.TB) (s *Store, clk *clock, inbox, archive mail.Folder) {
	t.Helper()
	s, clk = open(t)
	ctx := context.Background()
	must(t, s.PutFolders(ctx, "me", []mail.Folder{
		{Name: "INBOX", Kind: mail.FolderInbox, Selectable: true}, {Name: "Archive", Kind: mail.FolderArchive, Selectable: true}}))
	inbox, archive = folder(t, s, "INBOX"), folder(t, s, "Archive")
	must(t, s.ReRead(ctx, inbox.ID, 1))
	must(t, s.ReRead(ctx, archive.ID, 1))
	return s, clk, folder(t, s, "INBOX"), folder(t, s, "Archive")
}

func folder(t testing.TB, s *Store, name string) mail.Folder {
	t.Helper()
	return must1(s.FolderByName(context.Background(), "me", name))(t)
}

func putLetters(t testing.TB, s *Store, f mail.Folder, list []mail.NewMessage) []int64 {
	t.Helper()
	return must1(s.PutHeaders(context.Background(), f.ID, f.UIDValidity, list))(t)
}

func get(t testing.TB, s *Store, id int64) mail.StoredMessage {
	t.Helper()
	return must1(s.Message(context.Background(), id))(t)
}

func list(t testing.TB, s *Store, f mail.Folder) (subjects []string) {
	t.Helper()
	p := must1(s.ListMessages(context.Background(), view.ListQuery{Scope: view.Scope{FolderID: f.ID}, Limit: 1000}))(t)
	for _, r := range p.Rows {
		subjects = append(subjects, strings.TrimPrefix(r.Subject.String(), "Letter "))
	}
	return subjects
}

func wantList(t testing.TB, s *Store, f mail.Folder, want string) {
	t.Helper()
	if got := strings.Join(list(t, s, f), " "); got != want {
		t.Errorf("%s lists %q, want %q", f.Name, got, want)
	}
}

// wantCounts checks the counters that triggers keep against a count.
func wantCounts(t testing.TB, s *Store) {
	t.Helper()
	for _, f := range must1(s.Folders(context.Background(), ""))(t) {
		total := scalar[int](t, s, `SELECT count(*) FROM message WHERE folder_id = ? AND vanished_at IS NULL`, f.ID)
		unread := scalar[int](t, s, `SELECT count(*) FROM message WHERE folder_id = ? AND vanished_at IS NULL AND seen = 0`, f.ID)
		if f.Total != total || f.Unread != unread {
			t.Errorf("%s: kept %d/%d, counted %d/%d", f.Name, f.Total, f.Unread, total, unread)
		}
	}
}

func answer(t testing.TB, s *Store, message int64, key string) mail.Attempt {
	t.Helper()
	a := outbound(key, "answer")
	a.Kind, a.MessageID = mail.KindReply, message
	return openAttempt(t, s, a)
}

func TestHeadersAndFlags(t *testing.T) {
	ctx := context.Background()
	s, _, inbox, _ := mailbox(t)
	ids := putLetters(t, s, inbox, letters(1, 3))
	if len(ids) != 3 {
		t.Fatalf("%d new", len(ids))
	}
	again := letters(2, 4)
	again[0].Flags = mail.Flags{Seen: true, Keywords: []string{"$Forwarded"}}
	if n := putLetters(t, s, inbox, again); len(n) != 1 {
		t.Errorf("%d new at the second time", len(n))
	}
	m := get(t, s, ids[1])
	if !m.Flags.Seen || m.Flags.Keywords[0] != "$Forwarded" || m.UID != (mail.UID{Validity: 1, UID: 2}) || m.Folder != "INBOX" || m.Header == nil {
		t.Errorf("message: %+v", m)
	}
	if n := must1(s.ApplyFlags(ctx, inbox.ID, 1, []mail.FlagState{{UID: 1, Flags: mail.Flags{Flagged: true}}, {UID: 3}, {UID: 99}}))(t); n != 1 {
		t.Errorf("%d rows changed by flags", n)
	}
	wantCounts(t, s)
	if got := must1(s.UIDs(ctx, inbox.ID, 1))(t); !slices.Equal(got, []uint32{1, 2, 3, 4}) {
		t.Errorf("UIDs %v", got)
	}
	_, err := s.PutHeaders(ctx, inbox.ID, 2, letters(5, 5))
	wantCode(t, err, mail.CodeConflict)
	_, err = s.PutHeaders(ctx, inbox.ID, 1, make([]mail.NewMessage, MaxBatch+1))
	wantCode(t, err, mail.CodeInvalid)
	must(t, s.SetFolderState(ctx, inbox.ID, 1, 5, 77, day))
	if f := folder(t, s, "INBOX"); f.UIDNext != 5 || f.ModSeq != 77 || !f.SyncedAt.Equal(day) {
		t.Errorf("folder: %+v", f)
	}
	wantCode(t, s.SetFolderState(ctx, inbox.ID, 9, 5, 77, day), mail.CodeConflict)
}

func TestVanish(t *testing.T) {
	ctx := context.Background()
	s, _, inbox, archive := mailbox(t)
	ids := putLetters(t, s, inbox, letters(1, 4))
	a := answer(t, s, ids[1], "k")
	d := must1(s.SaveDraft(ctx, mail.Draft{Account: "me", Kind: mail.KindReply, MessageID: ids[2]}))(t)
	if n := must1(s.Vanish(ctx, inbox.ID, 1, []uint32{1, 2, 3, 77}))(t); n != 3 {
		t.Errorf("%d vanished", n)
	}
	wantList(t, s, inbox, "4")
	wantCounts(t, s)
	_, err := s.Message(ctx, ids[0])
	wantCode(t, err, mail.CodeNotFound)
	for _, id := range ids[1:3] {
		if get(t, s, id).VanishedAt.IsZero() {
			t.Errorf("message %d is not marked as vanished", id)
		}
	}
	if got := must1(s.UIDs(ctx, inbox.ID, 1))(t); !slices.Equal(got, []uint32{4}) {
		t.Errorf("UIDs %v", got)
	}
	// The answered mail turns up in another folder: the row and its answer go with it.
	if n := putLetters(t, s, archive, []mail.NewMessage{letter(2, 50)}); len(n) != 0 {
		t.Errorf("a known mail is new: %v", n)
	}
	if m := get(t, s, ids[1]); m.FolderID != archive.ID || !m.VanishedAt.IsZero() || m.UID.UID != 50 {
		t.Errorf("message: %+v", m)
	}
	if got := must1(s.Attempt(ctx, a.ID))(t); got.MessageID != ids[1] {
		t.Errorf("the attempt answers %d", got.MessageID)
	}
	// And the drafted one comes back where it was, under its old UID.
	putLetters(t, s, inbox, []mail.NewMessage{letter(3, 3)})
	if m := get(t, s, d.MessageID); !m.VanishedAt.IsZero() {
		t.Error("a mail that is back is still marked as vanished")
	}
	wantCounts(t, s)
}

func TestBodies(t *testing.T) {
	ctx := context.Background()
	s, _, inbox, archive := mailbox(t)
	ids := putLetters(t, s, inbox, letters(1, 3))
	copies := putLetters(t, s, archive, letters(1, 1))
	todo := must1(s.Bodyless(ctx, inbox.ID, 2))(t)
	if len(todo) != 2 || todo[0].UID != 3 || todo[1].UID != 2 {
		t.Errorf("to fetch: %+v", todo)
	}
	long := bytes.Repeat([]byte("words words words\r\n"), 500)
	noise := make([]byte, 4000)
	rand.New(rand.NewSource(1)).Read(noise)
	sum := letter(1, 1).Summary
	sum.Snippet, sum.Attachments = "words", 2
	must(t, s.PutBodies(ctx, []mail.NewBody{
		{ID: ids[0], Raw: long, Summary: sum}, {ID: copies[0], Raw: long, Summary: sum},
		{ID: ids[1], Raw: noise, Summary: letter(2, 2).Summary}, {ID: ids[2], Raw: nil, Summary: letter(3, 3).Summary},
		{ID: 9999, Raw: []byte("of a message that is gone")}}))
	for id, want := range map[int64][]byte{ids[0]: long, copies[0]: long, ids[1]: noise, ids[2]: {}} {
		if got := must1(s.RawMessage(ctx, id))(t); !bytes.Equal(got, want) {
			t.Errorf("message %d: %d bytes back, want %d", id, len(got), len(want))
		}
	}
	if n := scalar[int](t, s, `SELECT count(*) FROM body`); n != 3 {
		t.Errorf("%d bodies stored, want 3", n)
	}
	if n := scalar[int](t, s, `SELECT length(bytes) FROM body WHERE encoding = 'zstd'`); n > len(long)/10 {
		t.Errorf("a body of %d takes %d", len(long), n)
	}
	if m := get(t, s, ids[0]); !m.HasBody || m.Header != nil || m.Summary.Snippet != "words" || m.Summary.Attachments != 2 {
		t.Errorf("message: %+v", m)
	}
	must1(s.Vanish(ctx, inbox.ID, 1, []uint32{1}))(t)
	must1(s.RawMessage(ctx, copies[0]))(t)
	must1(s.Vanish(ctx, archive.ID, 1, []uint32{1}))(t)
	if n := scalar[int](t, s, `SELECT count(*) FROM body`); n != 2 {
		t.Errorf("%d bodies after the last use of one is gone", n)
	}
	more := putLetters(t, s, inbox, letters(8, 8))
	_, err := s.RawMessage(ctx, more[0])
	wantCode(t, err, mail.CodeNotFound)
}

func TestPoison(t *testing.T) {
	ctx := context.Background()
	s, _, inbox, _ := mailbox(t)
	putLetters(t, s, inbox, letters(1, 2))
	for range 5 {
		must(t, s.AddPoison(ctx, inbox.ID, mail.UID{Validity: 1, UID: 2}, "it is not a message"))
	}
	if p := must1(s.Poison(ctx, inbox.ID, 1))(t); len(p) != 1 || p[0].Tries != 5 || p[0].UID != 2 {
		t.Errorf("poison: %+v", p)
	}
	if todo := must1(s.Bodyless(ctx, inbox.ID, 9))(t); len(todo) != 1 || todo[0].UID != 1 {
		t.Errorf("to fetch: %+v", todo)
	}
	putLetters(t, s, inbox, letters(2, 2))
	if p := must1(s.Poison(ctx, inbox.ID, 1))(t); len(p) != 0 {
		t.Errorf("still poison after it was read: %+v", p)
	}
}

// A renumbered folder keeps every row it can, at every point it is cut off.
func TestReRead(t *testing.T) {
	ctx := context.Background()
	for cut := 0; cut <= 3; cut++ {
		t.Run(fmt.Sprintf("interrupted after %d batches", cut), func(t *testing.T) {
			s, clk, inbox, _ := mailbox(t)
			ids := putLetters(t, s, inbox, letters(1, 6))
			noID := letter(7, 7)
			noID.Summary.RFCMessageID, noID.Header = "", []byte("Subject: x\r\n\r\n")
			ids = append(ids, putLetters(t, s, inbox, []mail.NewMessage{noID})...)
			a := answer(t, s, ids[1], "k")

			// The server now has 2 to 6 and the one without an id, and one more.
			var server []mail.NewMessage
			for i, n := range []int{6, 5, 4, 3, 2} {
				server = append(server, letter(n, uint32(100+i)))
			}
			noID.UID = 110
			server = append(server, noID, letter(9, 111))

			validity := uint32(2)
			run := func(batches int) (fresh int) {
				must(t, s.ReRead(ctx, inbox.ID, validity))
				must(t, s.ReRead(ctx, inbox.ID, validity)) // as a restarted pass does
				for i, b := range [][]mail.NewMessage{server[:3], server[3:5], server[5:]} {
					if i < batches {
						fresh += len(must1(s.PutHeaders(ctx, inbox.ID, validity, b))(t))
						fresh += len(must1(s.PutHeaders(ctx, inbox.ID, validity, b))(t))
					}
				}
				return fresh
			}
			run(cut)
			// Nothing is lost or doubled in between.
			if got := len(list(t, s, inbox)); got != 7 && !(cut == 3 && got == 8) {
				t.Errorf("%d rows after the cut", got)
			}
			if cut == 2 {
				validity = 3 // renumbered once more before it was through
			}
			run(3)
			begun := clk.Now()
			clk.add(time.Second)
			if n := must1(s.FinishReRead(ctx, inbox.ID, validity, begun))(t); n != 1 {
				t.Errorf("%d dropped, want letter 1 only", n)
			}
			wantList(t, s, inbox, "9 7 6 5 4 3 2")
			for i, id := range ids[1:] {
				if m := get(t, s, id); m.UID.Validity != validity {
					t.Errorf("letter %d kept its row but has UID %+v", i+2, m.UID)
				}
			}
			if got := must1(s.Attempt(ctx, a.ID))(t); got.MessageID != ids[1] {
				t.Errorf("the answer went astray: %d", got.MessageID)
			}
			if got := must1(s.UIDs(ctx, inbox.ID, validity))(t); len(got) != 7 {
				t.Errorf("UIDs %v", got)
			}
			wantCounts(t, s)
		})
	}
}

func TestFlagJournal(t *testing.T) {
	ctx := context.Background()
	s, _, inbox, _ := mailbox(t)
	ids := putLetters(t, s, inbox, letters(1, 3))
	batch := must1(s.SetFlag(ctx, ids, mail.FlagSeen, true))(t)
	if f := folder(t, s, "INBOX"); f.Unread != 0 {
		t.Errorf("unread %d at once", f.Unread)
	}
	if b := must1(s.SetFlag(ctx, ids, mail.FlagSeen, true))(t); b != "" {
		t.Error("a flag that is set already makes a batch")
	}
	// A pass that does not know yet must not turn it back; another flag passes.
	must1(s.ApplyFlags(ctx, inbox.ID, 1, []mail.FlagState{{UID: 1, Flags: mail.Flags{Flagged: true}}}))(t)
	putLetters(t, s, inbox, letters(1, 1))
	if m := get(t, s, ids[0]); !m.Flags.Seen {
		t.Error("a sync undid what a person did")
	}
	open := must1(s.OpenJournal(ctx, "me"))(t)
	if len(open) != 3 || open[0].Action != mail.JournalFlag || open[0].Flag != mail.FlagSeen || !open[0].On || open[0].UID != (mail.UID{Validity: 1, UID: 1}) || open[0].Folder.Name != "INBOX" {
		t.Fatalf("journal: %+v", open)
	}
	must(t, s.JournalBegun(ctx, open[0].ID))
	must(t, s.JournalDone(ctx, open[0].ID, mail.UID{}))
	wantCode(t, s.JournalDone(ctx, open[0].ID, mail.UID{}), mail.CodeConflict)
	must(t, s.JournalBegun(ctx, open[1].ID))
	must(t, s.JournalFailed(ctx, open[1].ID, "read-only folder"))
	if !get(t, s, ids[0]).Flags.Seen || get(t, s, ids[1]).Flags.Seen || !get(t, s, ids[2]).Flags.Seen {
		t.Error("a failure undid more or less than itself")
	}
	must(t, s.UndoBatch(ctx, batch))
	for i, id := range ids {
		if get(t, s, id).Flags.Seen {
			t.Errorf("letter %d is still seen after undo", i+1)
		}
	}
	// Done on the server: the opposite has to be told. Waiting: forgotten.
	open = must1(s.OpenJournal(ctx, "me"))(t)
	if len(open) != 1 || open[0].MessageID != ids[0] || open[0].On {
		t.Errorf("journal after undo: %+v", open)
	}
	must(t, s.UndoBatch(ctx, batch)) // again: nothing is left to do
	if n := len(must1(s.OpenJournal(ctx, "me"))(t)); n != 1 {
		t.Errorf("%d rows after a second undo", n)
	}
	// A failed older flag does not undo a newer one.
	must1(s.SetFlag(ctx, ids[2:], mail.FlagFlagged, true))(t)
	must1(s.SetFlag(ctx, ids[2:], mail.FlagFlagged, false))(t)
	must1(s.SetFlag(ctx, ids[2:], mail.FlagFlagged, true))(t)
	first := slices.IndexFunc(must1(s.OpenJournal(ctx, "me"))(t), func(e mail.JournalEntry) bool { return e.MessageID == ids[2] })
	must(t, s.JournalFailed(ctx, must1(s.OpenJournal(ctx, "me"))(t)[first].ID, "no"))
	if !get(t, s, ids[2]).Flags.Flagged {
		t.Error("a failure undid a later action")
	}
	_, err := s.SetFlag(ctx, ids, `seen = 1; --`, true)
	wantCode(t, err, mail.CodeInvalid)
	wantCode(t, s.UndoBatch(ctx, "none"), mail.CodeNotFound)
	wantCounts(t, s)
}

func TestMoveJournal(t *testing.T) {
	ctx := context.Background()
	inbox1 := mail.UID{Validity: 1, UID: 1}
	moved := func(t *testing.T) (*Store, *clock, mail.Folder, mail.Folder, int64, string, int64) {
		s, clk, inbox, archive := mailbox(t)
		id := putLetters(t, s, inbox, letters(1, 1))[0]
		batch := must1(s.MoveMessages(ctx, []int64{id}, archive.ID))(t)
		open := must1(s.OpenJournal(ctx, "me"))(t)
		if len(open) != 1 || open[0].UID != inbox1 || open[0].Folder.ID != inbox.ID || open[0].ToFolder.ID != archive.ID {
			t.Fatalf("journal: %+v", open)
		}
		wantList(t, s, inbox, "")
		wantList(t, s, archive, "1")
		return s, clk, inbox, archive, id, batch, open[0].ID
	}
	wantAt := func(t *testing.T, s *Store, id int64, f mail.Folder, uid mail.UID) {
		t.Helper()
		if m := get(t, s, id); m.FolderID != f.ID || m.UID != uid {
			t.Errorf("the message is in %s at %+v, want %s %+v", m.Folder, m.UID, f.Name, uid)
		}
		wantCounts(t, s)
	}
	t.Run("COPYUID places it", func(t *testing.T) {
		s, _, _, archive, id, _, j := moved(t)
		must(t, s.JournalBegun(ctx, j))
		must(t, s.JournalDone(ctx, j, mail.UID{Validity: 1, UID: 40}))
		wantAt(t, s, id, archive, mail.UID{Validity: 1, UID: 40})
	})
	t.Run("without COPYUID the next pass finds it", func(t *testing.T) {
		s, _, _, archive, id, _, j := moved(t)
		must(t, s.JournalDone(ctx, j, mail.UID{}))
		if n := putLetters(t, s, archive, []mail.NewMessage{letter(1, 40)}); len(n) != 0 {
			t.Error("a moved mail is new")
		}
		wantAt(t, s, id, archive, mail.UID{Validity: 1, UID: 40})
	})
	t.Run("a pass sees it before the answer to the move", func(t *testing.T) {
		s, _, _, archive, id, _, j := moved(t)
		must(t, s.JournalBegun(ctx, j))
		putLetters(t, s, archive, []mail.NewMessage{letter(1, 40)})
		must(t, s.JournalDone(ctx, j, mail.UID{Validity: 1, UID: 40}))
		wantAt(t, s, id, archive, mail.UID{Validity: 1, UID: 40})
		wantList(t, s, archive, "1")
	})
	t.Run("a pass stored it as new before the answer, with another header", func(t *testing.T) {
		s, _, _, archive, id, _, j := moved(t)
		other := letter(1, 40)
		other.Header = []byte("X-Moved: yes\r\n\r\n")
		putLetters(t, s, archive, []mail.NewMessage{other})
		must(t, s.JournalDone(ctx, j, mail.UID{Validity: 1, UID: 40}))
		wantAt(t, s, id, archive, mail.UID{Validity: 1, UID: 40})
		wantList(t, s, archive, "1")
	})
	t.Run("a pass over the old folder does not bring it back", func(t *testing.T) {
		s, clk, inbox, archive, id, _, _ := moved(t)
		if n := putLetters(t, s, inbox, letters(1, 1)); len(n) != 0 {
			t.Error("a moved mail came back")
		}
		if got := must1(s.UIDs(ctx, inbox.ID, 1))(t); !slices.Equal(got, []uint32{1}) {
			t.Errorf("UIDs %v: the moved one is accounted for", got)
		}
		clk.add(time.Minute)
		must1(s.FinishReRead(ctx, archive.ID, 1, clk.Now()))(t)
		wantAt(t, s, id, archive, mail.UID{})
	})
	t.Run("refused: back at its place", func(t *testing.T) {
		s, _, inbox, _, id, _, j := moved(t)
		must(t, s.JournalFailed(ctx, j, "no such folder"))
		wantAt(t, s, id, inbox, inbox1)
	})
	t.Run("undone before the server was told: back, nothing to tell", func(t *testing.T) {
		s, _, inbox, _, id, batch, j := moved(t)
		must(t, s.UndoBatch(ctx, batch))
		wantAt(t, s, id, inbox, inbox1)
		wantCode(t, s.JournalBegun(ctx, j), mail.CodeConflict)
		if n := len(must1(s.OpenJournal(ctx, "me"))(t)); n != 0 {
			t.Errorf("%d journal rows", n)
		}
	})
	t.Run("undone while the server is told: moved back afterwards", func(t *testing.T) {
		s, _, inbox, archive, id, batch, j := moved(t)
		must(t, s.JournalBegun(ctx, j))
		must(t, s.UndoBatch(ctx, batch))
		wantList(t, s, inbox, "1")
		must(t, s.JournalDone(ctx, j, mail.UID{Validity: 1, UID: 40}))
		open := must1(s.OpenJournal(ctx, "me"))(t)
		if len(open) != 1 || open[0].Folder.ID != archive.ID || open[0].UID.UID != 40 || open[0].ToFolder.ID != inbox.ID {
			t.Fatalf("journal: %+v", open)
		}
		must(t, s.JournalDone(ctx, open[0].ID, mail.UID{Validity: 1, UID: 2}))
		wantAt(t, s, id, inbox, mail.UID{Validity: 1, UID: 2})
	})
	t.Run("undone while the server is told, which refuses: it never left", func(t *testing.T) {
		s, _, inbox, _, id, batch, j := moved(t)
		must(t, s.JournalBegun(ctx, j))
		must(t, s.UndoBatch(ctx, batch))
		must(t, s.JournalFailed(ctx, j, "no"))
		wantAt(t, s, id, inbox, inbox1)
		if n := len(must1(s.OpenJournal(ctx, "me"))(t)); n != 0 {
			t.Errorf("%d journal rows", n)
		}
	})
	t.Run("moved on before the first move is done", func(t *testing.T) {
		s, _, inbox, archive, id, _, j := moved(t)
		must(t, s.PutFolders(ctx, "me", []mail.Folder{inbox, archive, {Name: "Trash", Kind: mail.FolderTrash, Selectable: true}}))
		must1(s.MoveMessages(ctx, []int64{id}, folder(t, s, "Trash").ID))(t)
		must1(s.SetFlag(ctx, []int64{id}, mail.FlagSeen, true))(t)
		if n := len(must1(s.OpenJournal(ctx, "me"))(t)); n != 1 {
			t.Errorf("%d rows can be told; the later ones wait for the first", n)
		}
		must(t, s.JournalFailed(ctx, j, "no")) // only this one is undone
		open := must1(s.OpenJournal(ctx, "me"))(t)
		if len(open) != 1 || open[0].UID != inbox1 || open[0].ToFolder.Name != "Trash" {
			t.Fatalf("journal: %+v", open)
		}
		wantAt(t, s, id, folder(t, s, "Trash"), mail.UID{})
		must(t, s.JournalDone(ctx, open[0].ID, mail.UID{Validity: 5, UID: 6}))
		must(t, s.ReRead(ctx, folder(t, s, "Trash").ID, 5))
		if open = must1(s.OpenJournal(ctx, "me"))(t); len(open) != 1 || open[0].Action != mail.JournalFlag || open[0].UID.UID != 6 {
			t.Errorf("journal: %+v", open)
		}
	})
	t.Run("the old folder is renumbered meanwhile", func(t *testing.T) {
		s, _, inbox, archive, id, _, _ := moved(t)
		must(t, s.ReRead(ctx, inbox.ID, 2))
		if n := len(must1(s.OpenJournal(ctx, "me"))(t)); n != 0 {
			t.Error("a move with an old UID would be told")
		}
		if n := must1(s.PutHeaders(ctx, inbox.ID, 2, []mail.NewMessage{letter(1, 9)}))(t); len(n) != 0 {
			t.Error("a moved mail came back")
		}
		if open := must1(s.OpenJournal(ctx, "me"))(t); len(open) != 1 || open[0].UID != (mail.UID{Validity: 2, UID: 9}) {
			t.Errorf("journal: %+v", open)
		}
		wantAt(t, s, id, archive, mail.UID{})
	})
	t.Run("the old folder is renumbered and the mail gone", func(t *testing.T) {
		s, clk, inbox, archive, id, _, _ := moved(t)
		must(t, s.ReRead(ctx, inbox.ID, 2))
		clk.add(time.Minute)
		must1(s.FinishReRead(ctx, inbox.ID, 2, clk.Now()))(t)
		_, err := s.Message(ctx, id)
		wantCode(t, err, mail.CodeNotFound)
		wantList(t, s, archive, "")
		wantCounts(t, s)
	})
	t.Run("the new folder goes away", func(t *testing.T) {
		s, _, inbox, _, id, _, _ := moved(t)
		must(t, s.PutFolders(ctx, "me", []mail.Folder{inbox}))
		wantAt(t, s, id, inbox, inbox1)
	})
	t.Run("into another account: refused", func(t *testing.T) {
		s, _, _, _, id, _, _ := moved(t)
		must(t, s.SyncAccounts(ctx, []mail.Account{{Name: "two"}}))
		must(t, s.PutFolders(ctx, "two", []mail.Folder{{Name: "INBOX", Selectable: true}}))
		f := must1(s.FolderByName(ctx, "two", "INBOX"))(t)
		_, err := s.MoveMessages(ctx, []int64{id}, f.ID)
		wantCode(t, err, mail.CodeInvalid)
	})
}

func TestFolders(t *testing.T) {
	ctx := context.Background()
	s, _, inbox, archive := mailbox(t)
	ids := putLetters(t, s, archive, letters(1, 2))
	must(t, s.SetFolderState(ctx, archive.ID, 1, 3, 0, day))
	wantCode(t, s.PutFolders(ctx, "me", nil), mail.CodeInvalid)

	// The same folder under another name keeps its messages.
	must(t, s.PutFolders(ctx, "me", []mail.Folder{inbox, {Name: "Old", Selectable: true, UIDValidity: 1, UIDNext: 3}, {Name: "New", Selectable: true, UIDValidity: 8, UIDNext: 3}}))
	old := folder(t, s, "Old")
	if old.ID != archive.ID || old.Total != 2 {
		t.Errorf("renamed: %+v", old)
	}
	// It goes away: what an attempt answers stays.
	answer(t, s, ids[0], "k")
	must(t, s.PutFolders(ctx, "me", []mail.Folder{inbox}))
	kept := folder(t, s, "Old")
	if kept.Selectable || kept.Total != 0 || get(t, s, ids[0]).VanishedAt.IsZero() {
		t.Errorf("gone: %+v", kept)
	}
	if _, err := s.Message(ctx, ids[1]); err == nil {
		t.Error("an unanswered message of a folder that is gone stays")
	}
	_, err := s.FolderByName(ctx, "me", "New")
	wantCode(t, err, mail.CodeNotFound)
	must(t, s.PutFolders(ctx, "me", []mail.Folder{inbox})) // again
	// It comes back.
	must(t, s.PutFolders(ctx, "me", []mail.Folder{inbox, {Name: "Old", Selectable: true}}))
	must(t, s.ReRead(ctx, kept.ID, 4))
	if n := must1(s.PutHeaders(ctx, kept.ID, 4, letters(1, 1)))(t); len(n) != 0 || !get(t, s, ids[0]).VanishedAt.IsZero() {
		t.Error("the answered message did not find its row")
	}
	wantCounts(t, s)
}

func TestListPages(t *testing.T) {
	ctx := context.Background()
	s, _, inbox, archive := mailbox(t)
	ids := putLetters(t, s, inbox, letters(1, 9))
	for _, n := range []int{10, 12, 14} {
		putLetters(t, s, archive, []mail.NewMessage{letter(n, uint32(n))})
	}
	same := letter(9, 20) // the same minute as letter 9, another mail
	same.Summary.Subject, same.Summary.RFCMessageID = "Letter 9b", "<b@example.org>"
	putLetters(t, s, archive, []mail.NewMessage{same})
	for _, c := range []struct {
		name  string
		scope view.Scope
		want  string
	}{
		{"a folder", view.Scope{FolderID: inbox.ID}, "9 8 7 6 5 4 3 2 1"},
		{"a kind", view.Scope{Kind: mail.FolderInbox}, "9 8 7 6 5 4 3 2 1"},
		{"everything", view.Scope{}, "14 12 10 9b 9 8 7 6 5 4 3 2 1"},
		{"an account", view.Scope{Account: "me"}, "14 12 10 9b 9 8 7 6 5 4 3 2 1"},
		{"an unknown account", view.Scope{Account: "nobody"}, ""},
	} {
		want := strings.Fields(c.want)
		for limit := 1; limit <= 14; limit++ {
			var down, up []string
			q := view.ListQuery{Scope: c.scope, Limit: limit}
			for {
				p := must1(s.ListMessages(ctx, q))(t)
				for _, r := range p.Rows {
					down = append(down, strings.TrimPrefix(r.Subject.String(), "Letter "))
				}
				if p.Total != len(want) {
					t.Errorf("%s: total %d", c.name, p.Total)
				}
				if len(p.Rows) < limit {
					break
				}
				q.From = p.Rows[len(p.Rows)-1].Cursor
			}
			q.From, q.Back = view.Cursor{}, true
			for {
				p := must1(s.ListMessages(ctx, q))(t)
				var rows []string
				for _, r := range p.Rows {
					rows = append(rows, strings.TrimPrefix(r.Subject.String(), "Letter "))
				}
				up = append(rows, up...)
				if len(p.Rows) < limit {
					break
				}
				q.From = p.Rows[0].Cursor
			}
			if !slices.Equal(down, want) || !slices.Equal(up, want) {
				t.Errorf("%s by %d: down %v, up %v", c.name, limit, down, up)
			}
		}
	}
	if r := must1(s.ListMessages(ctx, view.ListQuery{Scope: view.Scope{FolderID: inbox.ID}, Limit: 1}))(t).Rows[0]; r.ID != ids[8] || !r.Unread ||
		r.From.String() != "Ada" || r.FromAddr.String() != "ada@example.org" || r.UID != 9 || r.Badge != nil || r.Folder.String() != "INBOX" {
		t.Errorf("row: %+v", r)
	}
}

func TestBadgeIsOfTheLatestAttempt(t *testing.T) {
	ctx := context.Background()
	s, clk, inbox, _ := mailbox(t)
	ids := putLetters(t, s, inbox, letters(1, 1))
	badge := func() view.Badge {
		t.Helper()
		r := must1(s.ListMessages(ctx, view.ListQuery{Scope: view.Scope{FolderID: inbox.ID}}))(t).Rows[0]
		if r.Badge == nil {
			t.Fatal("no badge")
		}
		return *r.Badge
	}
	a := answer(t, s, ids[0], "1")
	if b := badge(); b.Status != mail.StatusPending {
		t.Errorf("badge %+v", b)
	}
	settle(t, s, a.ID, mail.Settled{Status: mail.StatusUncertain})
	must(t, s.AddFinding(ctx, a.ID, "it is in Sent", true))
	must(t, s.ResolveAttempt(ctx, a.ID, mail.ResolutionSent))
	if b := badge(); b != (view.Badge{Status: mail.StatusUncertain, Resolved: mail.ResolutionSent, Proven: true}) {
		t.Errorf("badge %+v", b)
	}
	// Made at the same moment: the later row counts.
	b := answer(t, s, ids[0], "2")
	settle(t, s, b.ID, mail.Settled{Status: mail.StatusSent})
	must(t, s.MarkBounced(ctx, b.ID, "5.1.1"))
	if b := badge(); b != (view.Badge{Status: mail.StatusSent, Bounced: true}) {
		t.Errorf("badge %+v", b)
	}
	clk.add(time.Second)
	answer(t, s, ids[0], "3")
	if b := badge(); b.Status != mail.StatusPending {
		t.Errorf("badge %+v", b)
	}
	got := must1(s.ListAttempts(ctx, view.AttemptFilter{Message: ids[0], Account: "me"}))(t)
	if len(got) != 3 || got[0].IdempotencyKey != "3" || got[2].IdempotencyKey != "1" {
		t.Errorf("answers: %+v", got)
	}
}

func TestCounts(t *testing.T) {
	ctx := context.Background()
	s, clk := open(t)
	end := func(key string, st mail.Settled) mail.Attempt {
		a := openAttempt(t, s, outbound(key, "b"))
		settle(t, s, a.ID, st)
		return a
	}
	openAttempt(t, s, outbound("pending", "b"))
	end("sent", mail.Settled{Status: mail.StatusSent})
	f := end("failed and retried", mail.Settled{Status: mail.StatusFailed})
	end("failed", mail.Settled{Status: mail.StatusFailed})
	end("failed, in the outbox", mail.Settled{Status: mail.StatusFailed, NextTryAt: clk.Now()})
	end("uncertain", mail.Settled{Status: mail.StatusUncertain})
	u := end("uncertain, decided", mail.Settled{Status: mail.StatusUncertain})
	must(t, s.ResolveAttempt(ctx, u.ID, mail.ResolutionNotSent))
	again := outbound("retry", "b")
	again.RetryOf = f.ID
	r := openAttempt(t, s, again)
	settle(t, s, r.ID, mail.Settled{Status: mail.StatusSent})
	if c := must1(s.Counts(ctx))(t); c != (view.Counts{Failed: 1, Uncertain: 1, Waiting: 2}) {
		t.Errorf("counts: %+v", c)
	}
	open := must1(s.ListAttempts(ctx, view.AttemptFilter{Open: true, Before: clk.Now().Add(time.Hour)}))(t)
	if len(open) != 3 {
		t.Errorf("%d open attempts", len(open))
	}
	if got := must1(s.ListAttempts(ctx, view.AttemptFilter{Status: mail.StatusSent, Limit: 1}))(t); len(got) != 1 {
		t.Errorf("%d sent attempts with limit 1", len(got))
	}
}

func TestMentions(t *testing.T) {
	ctx := context.Background()
	s, _, inbox, _ := mailbox(t)
	const ours = "<ours@example.org>"
	self, reply, threaded, report, other := letter(1, 1), letter(2, 2), letter(3, 3), letter(4, 4), letter(5, 5)
	self.Summary.RFCMessageID = ours
	reply.Summary.InReplyTo = ours
	threaded.Summary.References = []string{ours, "<x@example.org>"}
	ids := putLetters(t, s, inbox, []mail.NewMessage{self, reply, threaded, report, other})
	must(t, s.PutBodies(ctx, []mail.NewBody{{ID: ids[3], Raw: []byte("x"), Summary: report.Summary, Reports: []string{ours}}}))
	var got []string
	for _, m := range must1(s.Mentions(ctx, "me", []string{ours, ""}, day))(t) {
		got = append(got, fmt.Sprintf("%d %s", m.MessageID-ids[0]+1, m.How))
	}
	if want := "1 self, 2 answer, 3 answer, 4 bounce"; strings.Join(got, ", ") != want {
		t.Errorf("mentions %v, want %s", got, want)
	}
	if n := len(must1(s.Mentions(ctx, "me", []string{ours}, day.Add(150*time.Second)))(t)); n != 2 {
		t.Errorf("%d mentions since letter 3", n)
	}
	if n := len(must1(s.MessagesByMessageID(ctx, "me", ours))(t)); n != 1 {
		t.Errorf("%d messages carry it", n)
	}
	if n := len(must1(s.AttemptsByMessageID(ctx, ours))(t)); n != 0 {
		t.Errorf("%d attempts carry it", n)
	}
}

func TestRemovedAccountLeavesNothing(t *testing.T) {
	ctx := context.Background()
	s, _, inbox, archive := mailbox(t)
	ids := putLetters(t, s, inbox, letters(1, 3))
	must(t, s.PutBodies(ctx, []mail.NewBody{{ID: ids[0], Raw: []byte("x"), Summary: letter(1, 1).Summary, Reports: []string{"<r@x>"}}}))
	must(t, s.AddPoison(ctx, inbox.ID, mail.UID{Validity: 1, UID: 9}, "x"))
	must1(s.MoveMessages(ctx, ids[1:2], archive.ID))(t)
	a := answer(t, s, ids[0], "k")
	settle(t, s, a.ID, mail.Settled{Status: mail.StatusUncertain})
	d := must1(s.SaveDraft(ctx, mail.Draft{Account: "me", Kind: mail.KindReply, MessageID: ids[2], RetryOf: a.ID}))(t)
	must1(s.AttachToDraft(ctx, d.ID, mail.Attachment{Content: []byte("file")}))(t)
	retry := outbound("k2", "b")
	retry.RetryOf = a.ID
	openAttempt(t, s, retry)
	fillAnswers(t, s, ids[0])
	tables := must1(all(ctx, s.r, scanOne[string], `/* test */ SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'meta'`))(t)
	v1, err := os.ReadFile(filepath.Join("..", "testdata", "schema", "v1.sql"))
	must(t, err)
	for _, name := range tables {
		mine := strings.Contains(string(v1), "CREATE TABLE "+name+" (")
		if mine && scalar[int](t, s, `SELECT count(*) FROM `+name) == 0 {
			t.Errorf("the test puts nothing into table %s", name)
		}
	}
	must1(s.PutThreads(ctx, 100))(t)
	must(t, s.PutIndex(ctx, []mail.IndexText{{BodyID: 1, Body: "secret words"}}))
	must(t, s.RemoveAccount(ctx, "me"))
	if n := scalar[int](t, s, `SELECT count(*) FROM search_data WHERE CAST(block AS TEXT) LIKE '%secret%'`); n != 0 {
		t.Errorf("%d blocks of the index still hold its words", n)
	}
	for _, name := range tables {
		if name == "search_data" || name == "search_config" {
			continue // the frame of the index
		}
		if n := scalar[int](t, s, `SELECT count(*) FROM `+name); n != 0 {
			t.Errorf("table %s keeps %d rows", name, n)
		}
	}
	wantCode(t, s.RemoveAccount(ctx, "me"), mail.CodeNotFound)
	if r := scalar[string](t, s, `PRAGMA integrity_check`); r != "ok" {
		t.Error(r)
	}
}
