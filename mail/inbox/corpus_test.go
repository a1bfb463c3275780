package inbox

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/mirror"
	"skrzynka/mail/view"
	"skrzynka/store"
)

// Every message of the collection of real mail, where it is there, goes into
// the store and comes out byte for byte, is listed, and can be indexed.
func TestCorpusWithoutLoss(t *testing.T) {
	root := filepath.Join("..", "..", "..", "shared", "corpus")
	if _, err := os.Stat(root); err != nil {
		t.Skip("no collection of real messages beside the repository")
	}
	ctx := context.Background()
	st, err := store.Open(ctx, t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.SyncAccounts(ctx, []mail.Account{{Name: "me", Email: "me@example.org"}}); err != nil {
		t.Fatal(err)
	}
	if err := st.PutFolders(ctx, "me", []mail.Folder{{Name: "INBOX", Kind: mail.FolderInbox, Selectable: true}}); err != nil {
		t.Fatal(err)
	}
	f, err := st.FolderByName(ctx, "me", "INBOX")
	if err != nil {
		t.Fatal(err)
	}
	if err := st.ReRead(ctx, f.ID, 1); err != nil {
		t.Fatal(err)
	}
	want := map[uint32][]byte{}
	var batch []mail.NewMessage
	put := func() {
		if _, err := st.PutHeaders(ctx, f.ID, 1, batch); err != nil {
			t.Fatal(err)
		}
		batch = nil
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".eml") {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		uid := uint32(len(want) + 1)
		want[uid] = raw
		batch = append(batch, newWhole(mirror.Fetched{UID: uid, Size: int64(len(raw)), InternalDate: time.Unix(1_700_000_000+int64(uid), 0), Body: raw}))
		if len(batch) == 200 {
			put()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	put()
	if len(want) == 0 {
		t.Skip("the collection has no .eml files")
	}
	if err := Index(ctx, st, true); err != nil {
		t.Fatal(err)
	}
	seen := 0
	q := view.ListQuery{Scope: view.Scope{FolderID: f.ID}, Limit: 500}
	for {
		page, err := st.ListMessages(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Rows {
			raw, err := st.RawMessage(ctx, r.ID)
			if err != nil || !bytes.Equal(raw, want[r.UID]) {
				t.Errorf("UID %d came out different (%d bytes of %d): %v", r.UID, len(raw), len(want[r.UID]), err)
			}
			seen++
		}
		if len(page.Rows) < q.Limit {
			break
		}
		q.From = page.Rows[len(page.Rows)-1].Cursor
	}
	if seen != len(want) {
		t.Errorf("%d of %d messages are listed", seen, len(want))
	}
}
