package inbox

import (
	"context"
	"time"

	"skrzynka/mail"
)

// Store is what a pass needs of the database. Every method is one transaction;
// rows are keyed by (folder, UIDVALIDITY, UID), so that a pass that is killed
// anywhere goes on where it was and never makes a row twice.
type Store interface {
	EventStore
	IndexStore
	// SyncLease keeps other processes out of a pass over the account until
	// release is called.
	SyncLease(ctx context.Context, account string) (release func(), err error)
	// PutFolders takes over the server's list of folders.
	PutFolders(ctx context.Context, account string, folders []mail.Folder) error
	Folders(ctx context.Context, account string) ([]mail.Folder, error)
	LocalFolder(ctx context.Context, folderID int64) (mail.LocalFolder, error)
	// ReRead records the UIDVALIDITY the following rows belong to. Rows of an
	// older one stay until PutHeaders matches them or FinishReRead drops them.
	ReRead(ctx context.Context, folderID int64, validity uint32) error
	FinishReRead(ctx context.Context, folderID int64, validity uint32, begun time.Time) (vanished int, err error)
	// SetFolderState ends a complete pass: what the server said of UIDNEXT and
	// HIGHESTMODSEQ is stored in full.
	SetFolderState(ctx context.Context, folderID int64, validity, uidNext uint32, modSeq uint64, syncedAt time.Time) error

	UIDs(ctx context.Context, folderID int64, validity uint32) ([]uint32, error)
	PutHeaders(ctx context.Context, folderID int64, validity uint32, msgs []mail.NewMessage) (fresh []int64, err error)
	Bodyless(ctx context.Context, folderID int64, limit int) ([]mail.Bodyless, error)
	// PackBody makes a body ready to be stored; it touches no database.
	PackBody(b *mail.NewBody) error
	PutBodies(ctx context.Context, bodies []mail.NewBody) error
	Message(ctx context.Context, id int64) (mail.StoredMessage, error)
	ApplyFlags(ctx context.Context, folderID int64, validity uint32, states []mail.FlagState) (changed int, err error)
	Vanish(ctx context.Context, folderID int64, validity uint32, uids []uint32) (int, error)
	AddPoison(ctx context.Context, folderID int64, at mail.UID, reason string) error

	OpenJournal(ctx context.Context, account string) ([]mail.JournalEntry, error)
	// JournalBegin commits that the server is about to be told, and returns
	// what was not undone meanwhile.
	JournalBegin(ctx context.Context, ids []int64) (begun []int64, err error)
	// JournalEnd confirms entries; each place is where the server put a moved
	// message, zero when it did not say.
	JournalEnd(ctx context.Context, places map[int64]mail.UID) error
	// JournalFailed undoes the entry's local effect, and only that.
	JournalFailed(ctx context.Context, id int64, why string) error
}
