package outbox

import (
	"context"
	"time"

	"skrzynka/mail"
)

// Store is what durable sending needs of the database. Every method is one
// transaction, committed and synced when it returns; a compare-and-set that
// finds another state fails with CONFLICT.
type Store interface {
	// OpenAttempt inserts a pending attempt under its idempotency key and, in
	// the same commit, deletes the draft it was written in (0: none) and marks
	// an uncertain RetryOf as resent. With a key that is taken it follows the
	// key table: the existing attempt, replayed; IDEMPOTENCY_KEY_REUSED;
	// IDEMPOTENCY_CONFLICT.
	OpenAttempt(ctx context.Context, a mail.Attempt, draftID int64) (got mail.Attempt, replayed bool, err error)
	ClaimAttempt(ctx context.Context, id, owner string) error
	AdoptPending(ctx context.Context, id, owner string) error
	MarkHandover(ctx context.Context, id, owner string, ev mail.Evidence) error
	SettleAttempt(ctx context.Context, id, owner string, s mail.Settled) error

	Attempt(ctx context.Context, id string) (mail.Attempt, error)
	AttemptByKey(ctx context.Context, key string) (mail.Attempt, error)
	AttemptBytes(ctx context.Context, id string) ([]byte, error)
	AttemptAttachments(ctx context.Context, id string) ([]mail.Attachment, error)
	Chain(ctx context.Context, id string) ([]mail.Attempt, error)
	PendingAttempts(ctx context.Context) ([]mail.Attempt, error)
	SendingAttempts(ctx context.Context) ([]mail.Attempt, error)
	DueRetries(ctx context.Context, now time.Time) ([]mail.Attempt, error)
	StopRetry(ctx context.Context, id string) error
	AddFinding(ctx context.Context, id, finding string, accepted bool) error
	ExpireRecords(ctx context.Context, before time.Time) (int, error)

	CopyBegun(ctx context.Context, id, owner, folder string, validity, uidNext uint32) error
	CopySettled(ctx context.Context, id, owner string, c mail.CopySettled) error
	CopiesOpen(ctx context.Context) ([]mail.Attempt, error)
	Folders(ctx context.Context, account string) ([]mail.Folder, error)

	CountAttemptsSince(ctx context.Context, account string, since time.Time) (int, error)
	WroteTo(ctx context.Context, account, address string) (bool, error)

	Draft(ctx context.Context, id int64) (mail.Draft, error)
	DueDrafts(ctx context.Context, now time.Time) ([]mail.Draft, error)
	ScheduleDraft(ctx context.Context, id int64, at time.Time, owner string) error

	// Mentions lists the stored messages received since then that name one of
	// the Message-IDs in In-Reply-To or References, that carry it themselves, or
	// that look like a bounce and contain it.
	Mentions(ctx context.Context, account string, ids []string, since time.Time) ([]mail.Mention, error)

	OwnerAlive(owner string) bool
	Emergency(entry any) error
}
