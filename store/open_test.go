package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
)

func TestPragmasOnEveryConnection(t *testing.T) {
	s, _ := open(t)
	ctx := context.Background()
	n := 0
	must(t, eachConn(ctx, s.w, s.r, func(c *sql.Conn, readOnly bool) error {
		n++
		for _, p := range append(pragmas, struct{ name, want string }{"query_only", map[bool]string{true: "1", false: "0"}[readOnly]}) {
			var got string
			must(t, c.QueryRowContext(ctx, "PRAGMA "+p.name).Scan(&got))
			if got != p.want {
				t.Errorf("connection %d: %s is %q, want %q", n, p.name, got, p.want)
			}
		}
		_, err := c.ExecContext(ctx, `/* test */ UPDATE meta SET value = value`)
		if (err != nil) != readOnly {
			t.Errorf("connection %d, reader %v: writing gives %v", n, readOnly, err)
		}
		return nil
	}))
	if n != readers+1 {
		t.Errorf("%d connections", n)
	}
}

func TestPathsAreTakenLiterally(t *testing.T) {
	for _, name := range []string{"a#b", "a?b", "a%20b", "a b", "ż", "a&b=c", "a;b"} {
		dir := filepath.Join(t.TempDir(), name)
		openAt(t, dir, newClock())
		if fi, err := os.Stat(filepath.Join(dir, DatabaseName)); err != nil || fi.Size() == 0 {
			t.Errorf("%q: the database is not where it was asked for: %v", name, err)
		}
	}
}

func TestErrorsArePlain(t *testing.T) {
	s, _ := open(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := s.DeleteDraft(ctx, 1)
	wantCode(t, err, mail.CodeStore)
	if !errors.Is(err, context.Canceled) || !mail.AsError(err).Retryable {
		t.Errorf("cancelled: %v", err)
	}
	for code, want := range map[int]mail.Code{13: mail.CodeDiskFull, 10: mail.CodeStore, 8: mail.CodeStore, 5: mail.CodeStore, 11: mail.CodeStore, 99: mail.CodeStore} {
		e := &mail.Error{Code: mail.CodeStore}
		describe(e, code)
		if e.Code != want || !strings.HasSuffix(e.Text, ".") {
			t.Errorf("result code %d: %s %q", code, e.Code, e.Text)
		}
	}
	must(t, s.Close())
	wantCode(t, s.DeleteDraft(context.Background(), 1), mail.CodeStore)
}

func TestDiskFull(t *testing.T) {
	s, _ := open(t)
	var pages int
	must(t, s.w.QueryRow(`PRAGMA page_count`).Scan(&pages))
	if _, err := s.w.Exec(`PRAGMA max_page_count = ` + itoa(int64(pages))); err != nil {
		t.Fatal(err)
	}
	a := outbound("k", "b")
	a.Bytes = make([]byte, 1<<20)
	_, _, err := s.OpenAttempt(context.Background(), a, 0)
	wantCode(t, err, mail.CodeDiskFull)
	if !mail.AsError(err).Retryable {
		t.Error("a full disk is worth another try")
	}
}

func TestBusy(t *testing.T) {
	s, clk := open(t)
	other := openAt(t, s.Dir(), clk)
	if _, err := s.w.Exec(`PRAGMA busy_timeout = 1`); err != nil {
		t.Fatal(err)
	}
	tx, err := other.w.Begin()
	must(t, err)
	defer tx.Rollback() //nolint:errcheck // only to end it
	err = s.SyncAccounts(context.Background(), []mail.Account{{Name: "two"}})
	wantCode(t, err, mail.CodeStore)
	if !mail.AsError(err).Retryable {
		t.Errorf("busy: %v", err)
	}
}

func TestNewerDatabaseIsRefused(t *testing.T) {
	s, _ := open(t)
	if _, err := s.w.Exec(`PRAGMA user_version = 999`); err != nil {
		t.Fatal(err)
	}
	_, err := Open(context.Background(), s.Dir(), Options{})
	wantCode(t, err, mail.CodeStore)
	if !strings.Contains(err.Error(), "newer version") {
		t.Errorf("the reason is not said: %v", err)
	}
}

func schemaOf(t *testing.T, db *sql.DB) string {
	t.Helper()
	items, err := all(context.Background(), db, scanOne[string], `/* test */ SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND name NOT GLOB 'search_*' ORDER BY type <> 'table', type, name`)
	must(t, err)
	space := regexp.MustCompile(`[ \t]+\n`)
	return space.ReplaceAllString(strings.Join(items, ";\n\n")+";\n", "\n")
}

func rawDB(t *testing.T, dir string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driverName, dsn(filepath.Join(dir, DatabaseName), false))
	must(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// The schema of every released version is kept as it was. A change to a
// released migration shows here; set UPDATE_SCHEMA=1 to write a new version's file.
func TestSchemasAreFrozen(t *testing.T) {
	for v := 1; v <= latest(); v++ {
		db := rawDB(t, t.TempDir())
		must(t, migrate(context.Background(), db, t.TempDir(), v))
		got := schemaOf(t, db)
		path := filepath.Join("..", "testdata", "schema", "v"+itoa(int64(v))+".sql")
		want, err := os.ReadFile(path)
		if os.Getenv("UPDATE_SCHEMA") != "" {
			must(t, os.WriteFile(path, []byte(got), 0o644))
			continue
		}
		must(t, err)
		if got != string(want) {
			t.Errorf("schema %d differs from %s", v, path)
		}
	}
}

// A database made from the frozen schema of each version becomes, by
// migrating, what a fresh one is; a copy of the old one is left.
func TestUpgradeFromEveryVersion(t *testing.T) {
	fresh, _ := open(t)
	want := schemaOf(t, fresh.r)
	for v := 1; v <= latest(); v++ {
		dir := t.TempDir()
		b, err := os.ReadFile(filepath.Join("..", "testdata", "schema", "v"+itoa(int64(v))+".sql"))
		must(t, err)
		db := rawDB(t, dir)
		if _, err := db.Exec(string(b) + `PRAGMA user_version = ` + itoa(int64(v))); err != nil {
			t.Fatal(err)
		}
		must(t, db.Close())
		s := openAt(t, dir, newClock())
		if got := schemaOf(t, s.r); got != want {
			t.Errorf("from version %d: the schema differs from a fresh one", v)
		}
		copies, err := filepath.Glob(filepath.Join(dir, "skrzynka-schema*.db"))
		must(t, err)
		if (len(copies) == 1) != (v < latest()) {
			t.Errorf("from version %d: %d copies of the old database", v, len(copies))
		}
	}
}

func TestBackupIsWholeAndPrivate(t *testing.T) {
	s, _ := open(t)
	openAttempt(t, s, outbound("k", "b"))
	dir := t.TempDir()
	path := filepath.Join(dir, DatabaseName)
	must(t, backup(context.Background(), s.w, path))
	fi, err := os.Stat(path)
	must(t, err)
	if fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %o", fi.Mode().Perm())
	}
	var n int
	must(t, rawDB(t, dir).QueryRow(`/* test */ SELECT count(*) FROM attempt`).Scan(&n))
	if n != 1 {
		t.Errorf("%d attempts in the copy", n)
	}
}

// restore puts a copy of the database back in place of the present one.
func restore(t *testing.T, dir, copyOf string) {
	t.Helper()
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(filepath.Join(dir, DatabaseName+suffix)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(copyOf)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, DatabaseName), b, 0o600))
}

func TestRestoredBackupWaits(t *testing.T) {
	ctx := context.Background()
	dir, clk := t.TempDir(), newClock()
	s := openAt(t, dir, clk)
	must(t, s.SyncAccounts(ctx, []mail.Account{{Name: "me", Email: "me@example.org"}}))
	a := openAttempt(t, s, outbound("k", "b"))
	failed := openAttempt(t, s, outbound("f", "b"))
	settle(t, s, failed.ID, mail.Settled{Status: mail.StatusFailed, NextTryAt: clk.Now()})
	sent := openAttempt(t, s, outbound("s", "b"))
	settle(t, s, sent.ID, mail.Settled{Status: mail.StatusSent})
	d := must1(s.SaveDraft(ctx, mail.Draft{Account: "me", Kind: mail.KindOutbound}))(t)
	must(t, s.ScheduleDraft(ctx, d.ID, clk.Now(), s.Owner()))
	copied := filepath.Join(t.TempDir(), "copy.db")
	must(t, backup(ctx, s.w, copied))
	settle(t, s, a.ID, mail.Settled{Status: mail.StatusSent}) // it went out after the copy was made
	must(t, s.Close())

	// Opening again without any restoring is nothing special.
	s = openAt(t, dir, clk)
	if s.Restored() {
		t.Fatal("an untouched database reads as restored")
	}
	must(t, s.Close())

	restore(t, dir, copied)
	s = openAt(t, dir, clk)
	if !s.Restored() {
		t.Fatal("a restored database was not noticed")
	}
	got := must1(s.Attempt(ctx, a.ID))(t)
	if got.Status != mail.StatusPending || got.Held != HeldRestored {
		t.Errorf("the pending attempt is %s, held %q", got.Status, got.Held)
	}
	wantCode(t, s.ClaimAttempt(ctx, a.ID, got.Owner), mail.CodeConflict)
	if n := len(must1(s.DueRetries(ctx, clk.Now()))(t)); n != 0 {
		t.Errorf("%d retries are due", n)
	}
	if n := len(must1(s.DueDrafts(ctx, clk.Now()))(t)); n != 0 {
		t.Errorf("%d drafts are due", n)
	}
	if n := len(must1(s.CopiesOpen(ctx))(t)); n != 0 {
		t.Errorf("%d copies would be appended", n)
	}
	if l := must1(s.Audit(ctx, "draft:"+itoa(d.ID), 1))(t); len(l) != 1 || l[0].Action != "draft.unscheduled" || l[0].Actor != mail.ActorRecovery {
		t.Errorf("audit of the draft: %+v", l)
	}
	must(t, s.Close())
	if s = openAt(t, dir, clk); s.Restored() {
		t.Error("a restored database is noticed twice")
	}
	must(t, s.Close())

	must(t, os.Remove(filepath.Join(dir, "instance")))
	if s = openAt(t, dir, clk); !s.Restored() {
		t.Error("a database without its instance file was not noticed")
	}
}

func TestEpochCountsAcrossProcesses(t *testing.T) {
	ctx := context.Background()
	s, clk := open(t)
	other := openAt(t, s.Dir(), clk)
	for i, st := range []*Store{s, other, s} {
		a := openAttempt(t, st, outbound(itoa(int64(i)), "b"))
		before := scalar[int64](t, s, `SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'epoch'`)
		settle(t, st, a.ID, mail.Settled{Status: mail.StatusFailed})
		after := scalar[int64](t, s, `SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'epoch'`)
		file, ok := s.readInstance()
		if after != before+1 || !ok || file.counter != after {
			t.Errorf("epoch %d -> %d, file %+v", before, after, file)
		}
	}
	// A late writer does not turn the file back.
	id := scalar[string](t, s, `SELECT value FROM meta WHERE key = 'instance'`)
	must(t, s.prepareInstance(instance{id, 1}))
	s.publishInstance(instance{id, 1})
	if file, _ := s.readInstance(); file.counter == 1 {
		t.Error("the instance file went back")
	}
	if err := s.ClaimAttempt(ctx, "none", s.Owner()); err == nil {
		t.Error("claimed nothing")
	}
}

func TestEmergency(t *testing.T) {
	s, _ := open(t)
	must(t, s.Emergency(map[string]any{"attempt": "x", "status": "sent"}))
	must(t, s.Emergency("second"))
	got := must1(s.EmergencyEntries())(t)
	if len(got) != 2 || !strings.Contains(string(got[0]), `"status":"sent"`) || !strings.Contains(string(got[1]), s.Owner()) {
		t.Errorf("emergency log: %s", got)
	}
}

func TestChangesAreToldAfterTheCommit(t *testing.T) {
	s, _ := open(t)
	other := openAt(t, s.Dir(), newClock())
	before := must1(s.DataVersion(context.Background()))(t)
	var told []string
	s.Notify(func(topic, account, id string) {
		if topic == "attempts" {
			// Another reader sees it already.
			told = append(told, string(must1(other.Attempt(context.Background(), id))(t).Status))
		}
	})
	a := openAttempt(t, s, outbound("k", "b"))
	must(t, s.ClaimAttempt(context.Background(), a.ID, s.Owner()))
	wantCode(t, s.ClaimAttempt(context.Background(), a.ID, s.Owner()), mail.CodeConflict)
	if strings.Join(told, " ") != "pending sending" {
		t.Errorf("told %v", told)
	}
	if v := must1(s.DataVersion(context.Background()))(t); v != before {
		t.Error("our own writes look like another process's")
	}
	must(t, other.SyncAccounts(context.Background(), []mail.Account{{Name: "two"}}))
	if v := must1(s.DataVersion(context.Background()))(t); v == before {
		t.Error("another process's write was not noticed")
	}
}

func TestDraftsAndSchedule(t *testing.T) {
	ctx := context.Background()
	s, clk := open(t)
	d := must1(s.SaveDraft(ctx, mail.Draft{Account: "me", Kind: mail.KindOutbound, Subject: "One", To: []mail.Address{{Addr: "a@example.org"}}, References: []string{"<1@x>", "<2@x>"}}))(t)
	if d.ID == 0 || d.IdempotencyKey == "" || len(d.References) != 2 {
		t.Fatalf("draft: %+v", d)
	}
	key := d.IdempotencyKey
	d.Body, d.IdempotencyKey = "text", "another"
	if d = must1(s.SaveDraft(ctx, d))(t); d.Body != "text" || d.IdempotencyKey != key {
		t.Errorf("saved again: %+v", d)
	}
	must1(s.AttachToDraft(ctx, d.ID, mail.Attachment{AttachmentRef: mail.AttachmentRef{Name: "1"}}))(t)
	must1(s.AttachToDraft(ctx, d.ID, mail.Attachment{AttachmentRef: mail.AttachmentRef{Name: "2"}, Content: []byte("x")}))(t)
	if d = must1(s.DetachFromDraft(ctx, d.ID, 0))(t); len(d.Attachments) != 1 || d.Attachments[0].Name != "2" {
		t.Errorf("attachments: %+v", d.Attachments)
	}
	for _, i := range []int{-1, 1} {
		_, err := s.DetachFromDraft(ctx, d.ID, i)
		wantCode(t, err, mail.CodeNotFound)
	}
	due := clk.Now().Add(10 * time.Second)
	must(t, s.ScheduleDraft(ctx, d.ID, due, s.Owner()))
	if n := len(must1(s.DueDrafts(ctx, clk.Now()))(t)); n != 0 {
		t.Error("due before its time")
	}
	if got := must1(s.DueDrafts(ctx, due))(t); len(got) != 1 || got[0].SendOwner != s.Owner() {
		t.Errorf("due: %+v", got)
	}
	if got := must1(s.Drafts(ctx))(t); len(got) != 1 || got[0].Subject != "One" || got[0].To[0].Addr != "a@example.org" {
		t.Errorf("drafts: %+v", got)
	}
	if c := must1(s.Counts(ctx))(t); c.Drafts != 1 || c.Waiting != 1 {
		t.Errorf("counts: %+v", c)
	}
	must(t, s.ScheduleDraft(ctx, d.ID, time.Time{}, ""))
	if n := len(must1(s.ScheduledDrafts(ctx))(t)); n != 0 {
		t.Error("still scheduled")
	}
	must(t, s.DeleteDraft(ctx, d.ID))
	_, err := s.SaveDraft(ctx, d)
	wantCode(t, err, mail.CodeNotFound)
}
