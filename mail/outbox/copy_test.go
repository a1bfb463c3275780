package outbox_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"skrzynka/mail"
	"skrzynka/mail/engine"
	"skrzynka/mail/loopback"
	"skrzynka/mail/view"
	"skrzynka/store"
)

func cut(*imapConn) bool { return false }

// refuse answers the command NO.
func refuse(code string) func(*imapConn) bool {
	return func(c *imapConn) bool { c.say("%s NO [%s] no", c.tag, code); return false }
}

// TestTableB is what each fault of the sent copy ends in, and what a repeated
// call with the same key does then. The delivery is sent in every row.
func TestTableB(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	type row struct {
		name    string
		account func(*mail.Account)
		peer    func(*imapPeer)
		status  mail.CopyStatus
		says    string // part of the copy's words
		holds   int    // copies on the server then
		appends int    // literals that came whole
		again   mail.CopyStatus
		after   int // copies on the server after the repeated call, with the fault gone
	}
	rows := []row{
		{name: "APPEND answered OK", status: mail.CopySaved, holds: 1, appends: 1, again: mail.CopySaved, after: 1},
		{name: "APPEND answered OK without UIDPLUS", peer: func(p *imapPeer) { p.caps = "IMAP4rev1" }, status: mail.CopySaved, holds: 1, appends: 1, again: mail.CopySaved, after: 1},
		{name: "APPEND answered NO", peer: func(p *imapPeer) { p.on(imapAppend, refuse("OVERQUOTA")) }, status: mail.CopyFailed, says: "cannot be unsent", again: mail.CopySaved, after: 1},
		{name: "NO after the literal", peer: func(p *imapPeer) { p.on(imapWhole, refuse("OVERQUOTA")) }, status: mail.CopyFailed, appends: 1, again: mail.CopySaved, after: 1},
		{name: "no such folder", peer: func(p *imapPeer) { p.on(imapStatus, refuse("NONEXISTENT")) }, status: mail.CopyFailed, again: mail.CopySaved, after: 1},
		{name: "login refused", peer: func(p *imapPeer) { p.on(imapLogin, refuse("AUTHENTICATIONFAILED")) }, status: mail.CopyFailed, again: mail.CopySaved, after: 1},
		{name: "connection refused at once", peer: func(p *imapPeer) { p.on(imapConnect, cut) }, status: mail.CopyFailed, again: mail.CopySaved, after: 1},
		{name: "lost at LIST", peer: func(p *imapPeer) { p.on(imapList, cut) }, status: mail.CopyFailed, again: mail.CopySaved, after: 1},
		{name: "lost before the go-ahead", peer: func(p *imapPeer) { p.on(imapAppend, cut) }, status: mail.CopyFailed, again: mail.CopySaved, after: 1},
		{name: "lost after the whole literal, not stored", peer: func(p *imapPeer) { p.on(imapWhole, cut) }, status: mail.CopyUnknown, says: "may be there", appends: 1, again: mail.CopyUnknown},
		{name: "lost after it was stored", peer: func(p *imapPeer) { p.on(imapStored, cut) }, status: mail.CopyUnknown, holds: 1, appends: 1, again: mail.CopyUnknown, after: 1},
		{name: "garbage instead of the answer", peer: func(p *imapPeer) {
			p.on(imapStored, func(c *imapConn) bool { return c.say("HTTP/1.1 400 Bad Request") && cut(c) })
		}, status: mail.CopyUnknown, holds: 1, appends: 1, again: mail.CopyUnknown, after: 1},
		{name: "disabled", account: func(a *mail.Account) { a.SentCopy.Enabled = false }, status: mail.CopySkipped, says: "enabled is false", again: mail.CopySkipped},
		{name: "no IMAP side", account: func(a *mail.Account) { a.IMAP = mail.Server{} }, status: mail.CopySkipped, says: "no IMAP side", again: mail.CopySkipped},
		{name: "provider keeps its own, as configured", account: func(a *mail.Account) { a.SentCopy.ProviderKeep = "yes" }, status: mail.CopySkipped, says: "own copy", again: mail.CopySkipped},
		{name: "provider keeps its own, by X-GM-EXT-1", peer: func(p *imapPeer) { p.caps += " X-GM-EXT-1" }, status: mail.CopySkipped, says: "own copy", again: mail.CopySkipped},
		{name: "X-GM-EXT-1, but configured that it keeps none", account: func(a *mail.Account) { a.SentCopy.ProviderKeep = "no" },
			peer: func(p *imapPeer) { p.caps += " X-GM-EXT-1" }, status: mail.CopySaved, holds: 1, appends: 1, again: mail.CopySaved, after: 1},
		{name: "no folder is the Sent folder", peer: func(p *imapPeer) { p.folders = []string{`() "/" INBOX`, `() "/" Sent`} }, status: mail.CopySkipped, says: "No folder", again: mail.CopySkipped},
		{name: "several folders are", peer: func(p *imapPeer) { p.folders = append(p.folders, `(\Sent) "/" Other`) }, status: mail.CopySkipped, says: "2 folders", again: mail.CopySkipped},
		{name: "several are configured", account: func(a *mail.Account) {
			a.FolderKinds = map[string]mail.FolderKind{"A": mail.FolderSent, "B": mail.FolderSent}
		}, status: mail.CopySkipped, says: "2 folders", again: mail.CopySkipped},
		{name: "one is configured among several marked", account: func(a *mail.Account) { a.FolderKinds = map[string]mail.FolderKind{"Sent": mail.FolderSent} },
			peer: func(p *imapPeer) { p.folders = append(p.folders, `(\Sent) "/" Other`) }, status: mail.CopySaved, holds: 1, appends: 1, again: mail.CopySaved, after: 1},
		{name: "the override goes before the configured ones", account: func(a *mail.Account) {
			a.SentCopy.Folder = "Sent"
			a.FolderKinds = map[string]mail.FolderKind{"A": mail.FolderSent, "B": mail.FolderSent}
		}, status: mail.CopySaved, holds: 1, appends: 1, again: mail.CopySaved, after: 1},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			p, imap := goodPeer(t), startIMAP(t)
			a := imap.side(account(t, "me", p))
			if r.account != nil {
				r.account(&a)
			}
			if r.peer != nil {
				r.peer(imap)
			}
			w := start(t, setup{accounts: []mail.Account{a}})
			got := must1(w.Send(ctx, letter("key")))(t)
			if got.Status != mail.StatusSent || got.SentCopy.Status != r.status {
				t.Fatalf("%s, copy %s: %v; want sent, %s", got.Status, got.SentCopy.Status, got.SentCopy.ErrorMessage, r.status)
			}
			if m := got.SentCopy.ErrorMessage; r.says != "" && (m == nil || !strings.Contains(m.String(), r.says)) {
				t.Errorf("it says %v", m)
			}
			if _, n := imap.count(); n != r.appends || len(imap.sent("Sent")) != r.holds {
				t.Errorf("%d literals, %d copies; want %d and %d", n, len(imap.sent("Sent")), r.appends, r.holds)
			}
			row := w.row(got.ID)
			if row.Copy.Status != r.status || r.status == mail.CopyUnknown && (row.Copy.UIDNext != 1 || row.Copy.UIDValidity != 9 || row.Copy.Folder != "Sent") {
				t.Errorf("the database says %+v", row.Copy)
			}
			if r.status == mail.CopySaved && (row.Copy.UIDValidity != 9 || row.Copy.UID != 1) {
				t.Errorf("its place is not kept: %+v", row.Copy)
			}
			// The fault goes away; the same key again.
			imap.mu.Lock()
			imap.at = map[string]func(*imapConn) bool{}
			imap.mu.Unlock()
			again := must1(w.Send(ctx, letter("key")))(t)
			if !again.Replayed || again.ID != got.ID || again.SentCopy.Status != r.again || len(imap.sent("Sent")) != r.after {
				t.Errorf("repeated: replayed %v, copy %s, %d on the server; want %s and %d", again.Replayed, again.SentCopy.Status, len(imap.sent("Sent")), r.again, r.after)
			}
			if len(taken(p)) != 1 {
				t.Errorf("%d messages were submitted", len(taken(p)))
			}
			for _, b := range imap.sent("Sent") {
				if digest(b) != digest(taken(p)[0]) {
					t.Error("the copy is not what was submitted")
				}
			}
			if r.again != mail.CopyUnknown {
				return
			}
			// A person inspects: found is saved, not found is failed and can be tried again.
			seen := must1(w.CopyAttempt(ctx, got.ID))(t)
			if want := map[int]mail.CopyStatus{0: mail.CopyFailed, 1: mail.CopySaved}[r.after]; seen.SentCopy.Status != want {
				t.Errorf("inspected: %s, want %s", seen.SentCopy.Status, want)
			}
			if last := must1(w.CopyAttempt(ctx, got.ID))(t); last.SentCopy.Status != mail.CopySaved || len(imap.sent("Sent")) != 1 {
				t.Errorf("in the end: %s, %d copies", last.SentCopy.Status, len(imap.sent("Sent")))
			}
		})
	}
}

// loopWorld is a world on the demo's servers.
func loopWorld(t *testing.T, f loopback.Faults, change func(*mail.Account)) (*world, *loopback.Servers) {
	t.Helper()
	s, err := loopback.Start(loopback.Options{Empty: true, Faults: f})
	must(t, err)
	t.Cleanup(s.Close)
	must(t, s.WriteCA(filepath.Join(t.TempDir(), "ca.pem")))
	a := s.Account()
	if change != nil {
		change(&a)
	}
	s.Password = password
	return start(t, setup{accounts: []mail.Account{a}}), s
}

// TestCopyIsTheVeryBytes: DATA, APPEND and the database have one digest.
func TestCopyIsTheVeryBytes(t *testing.T) {
	t.Parallel()
	w, s := loopWorld(t, loopback.Faults{}, nil)
	r := letter("key")
	r.Subject, r.Body = "Zażółć gęślą jaźń 日本 🙂", "Ünïcödé.\n.\n..\n\nFrom here\n"
	r.Files = []mail.Attachment{{AttachmentRef: mail.AttachmentRef{Name: "a.bin", Type: "application/octet-stream", SHA256: digest([]byte{0, 1, 255})}, Content: []byte{0, 1, 255}}}
	a := must1(w.Send(context.Background(), r))(t)
	kept := digest(must1(w.st.AttemptBytes(context.Background(), a.ID))(t))
	got, copies := s.AcceptedByID(a.RFCMessageID), s.Folder("Sent")
	if len(got) != 1 || len(copies) != 1 || got[0].SHA256 != kept || digest(copies[0].Raw) != kept {
		t.Fatalf("%d accepted, %d copies; database %s", len(got), len(copies), kept)
	}
	if len(copies[0].Flags) != 1 || copies[0].Flags[0] != `\Seen` || a.SentCopy.UID == nil || *a.SentCopy.UID != copies[0].UID {
		t.Errorf("flags %v, UID %d, kept %v", copies[0].Flags, copies[0].UID, a.SentCopy.UID)
	}
}

// TestServerThatKeepsItsOwnCopySilently is found out by search before APPEND.
func TestServerThatKeepsItsOwnCopySilently(t *testing.T) {
	t.Parallel()
	w, s := loopWorld(t, loopback.Faults{SaveCopies: true}, nil)
	a := must1(w.Send(context.Background(), letter("key")))(t)
	if a.SentCopy.Status != mail.CopySaved || len(s.Folder("Sent")) != 1 {
		t.Errorf("copy %s, %d in Sent", a.SentCopy.Status, len(s.Folder("Sent")))
	}
}

func TestCopyOnFailure(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	fail := func(a *mail.Account) { a.SentCopy.OnFailure = mail.OnFailureFail }
	t.Run("unresolved destination refuses before submission", func(t *testing.T) {
		w, s := loopWorld(t, loopback.Faults{HideSpecialUse: true}, fail)
		_, err := w.Send(ctx, letter("key"))
		wantCode(t, err, mail.CodeSentCopyUnresolved)
		if len(w.rows()) != 0 || len(s.Accepted()) != 0 {
			t.Error("something was stored or sent")
		}
	})
	t.Run("a server that cannot be asked refuses before submission", func(t *testing.T) {
		w, s := loopWorld(t, loopback.Faults{}, fail)
		s.StopIMAP()
		_, err := w.Send(ctx, letter("key"))
		if e := wantCode(t, err, mail.CodeSentCopyUnresolved); !e.Retryable {
			t.Error("it is not retryable")
		}
		if len(w.rows()) != 0 || len(s.Accepted()) != 0 {
			t.Error("something was stored or sent")
		}
	})
	for name, f := range map[string]loopback.Faults{"refused": {RefuseAppend: true}, "lost": {DropAfterAppend: true}} {
		t.Run("APPEND "+name+" after acceptance is said as an error", func(t *testing.T) {
			w, s := loopWorld(t, f, fail)
			a, err := w.Send(ctx, letter("key"))
			if e := wantCode(t, err, mail.CodeSentCopyFailed); !strings.Contains(e.Text, "submitted and cannot be unsent") || !strings.Contains(e.Hint, "Do not send it again") {
				t.Errorf("it says %q %q", e.Text, e.Hint)
			}
			if a.Status != mail.StatusSent || w.row(a.ID).Status != mail.StatusSent || len(s.Accepted()) != 1 {
				t.Errorf("the attempt is %s, %d accepted", a.Status, len(s.Accepted()))
			}
			// The same call again sends nothing; a refused copy is tried again.
			s.SetFaults(func(f *loopback.Faults) { *f = loopback.Faults{} })
			a, err = w.Send(ctx, letter("key"))
			if (err == nil) != (name == "refused") || !a.Replayed || len(s.Accepted()) != 1 || len(s.Folder("Sent")) != 1 {
				t.Errorf("again: %v, replayed %v, %d accepted, %d copies", err, a.Replayed, len(s.Accepted()), len(s.Folder("Sent")))
			}
		})
	}
	t.Run("warn: a failed copy is no error", func(t *testing.T) {
		w, _ := loopWorld(t, loopback.Faults{RefuseAppend: true}, nil)
		if a, err := w.Send(ctx, letter("key")); err != nil || a.SentCopy.Status != mail.CopyFailed {
			t.Errorf("%v, copy %s", err, a.SentCopy.Status)
		}
	})
}

// TestInspectAmongSeveral: of several messages under one Message-ID the one
// with equal bytes is the copy.
func TestInspectAmongSeveral(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w, s := loopWorld(t, loopback.Faults{DropAfterAppend: true}, nil)
	a := must1(w.Send(ctx, letter("key")))(t)
	if a.SentCopy.Status != mail.CopyUnknown {
		t.Fatalf("copy %s", a.SentCopy.Status)
	}
	raw := s.Folder("Sent")[0].Raw
	s.Deliver("Sent", []byte(strings.Replace(string(raw), "A line.", "Another line.", 1)))
	s.SetFaults(func(f *loopback.Faults) { *f = loopback.Faults{} })
	seen := must1(w.CopyAttempt(ctx, a.ID))(t)
	if seen.SentCopy.Status != mail.CopySaved || *seen.SentCopy.UID != 1 {
		t.Errorf("inspected: %s, UID %v", seen.SentCopy.Status, seen.SentCopy.UID)
	}
}

// TestCopyIsNotMadeWithoutItsMark: an APPEND whose beginning cannot be
// committed is not begun.
func TestCopyIsNotMadeWithoutItsMark(t *testing.T) {
	t.Parallel()
	imap := startIMAP(t)
	w := start(t, setup{accounts: []mail.Account{imap.side(account(t, "me", goodPeer(t)))}, wrap: func(s *store.Store) engine.Store { return noCopyMark{s} }})
	a := must1(w.Send(context.Background(), letter("key")))(t)
	if _, n := imap.count(); n != 0 || a.SentCopy.Status != mail.CopyFailed || a.Status != mail.StatusSent {
		t.Errorf("%d literals, copy %s, attempt %s", n, a.SentCopy.Status, a.Status)
	}
}

type noCopyMark struct{ *store.Store }

func (noCopyMark) CopyBegun(context.Context, string, string, string, uint32, uint32) error {
	return &mail.Error{Code: mail.CodeDiskFull, Text: "The disk is full."}
}

// TestCopyOfAnUnsentAttempt is refused.
func TestCopyOfAnUnsentAttempt(t *testing.T) {
	t.Parallel()
	p := goodPeer(t)
	a := account(t, "me", p)
	p.Close()
	w := start(t, setup{accounts: []mail.Account{a}})
	got := must1(w.Send(context.Background(), view.SendRequest{To: to("bob@example.net"), Subject: "x", Body: "y"}))(t)
	_, err := w.CopyAttempt(context.Background(), got.ID)
	wantCode(t, err, mail.CodeConflict)
}
