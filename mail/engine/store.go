package engine

import (
	"context"

	"skrzynka/mail"
	"skrzynka/mail/inbox"
	"skrzynka/mail/outbox"
	"skrzynka/mail/view"
)

// Store is what the façade needs of the database, beside what the rooms below
// it need.
type Store interface {
	outbox.Store
	inbox.Store
	AnswersStore

	Notify(f func(topic, account, id string))
	// DataVersion changes when another process has committed something.
	DataVersion(ctx context.Context) (int64, error)

	FolderByID(ctx context.Context, id int64) (mail.Folder, error)
	ListMessages(ctx context.Context, q view.ListQuery) (view.Page, error)
	ListMessage(ctx context.Context, id int64) (view.MessageRow, error)
	RawMessage(ctx context.Context, id int64) ([]byte, error)
	MessageAccounts(ctx context.Context, ids []int64) (map[int64]string, error)

	SetFlag(ctx context.Context, ids []int64, flag mail.FlagName, on bool) (batch string, err error)
	MoveMessages(ctx context.Context, ids []int64, toFolder int64) (batch string, err error)
	UndoBatch(ctx context.Context, batch string) error

	SaveDraft(ctx context.Context, d mail.Draft) (mail.Draft, error)
	Drafts(ctx context.Context) ([]mail.Draft, error)
	DeleteDraft(ctx context.Context, id int64) error
	AttachToDraft(ctx context.Context, id int64, a mail.Attachment) (mail.Draft, error)
	DetachFromDraft(ctx context.Context, id int64, index int) (mail.Draft, error)

	ListAttempts(ctx context.Context, f view.AttemptFilter) ([]mail.Attempt, error)
	ResolveAttempt(ctx context.Context, id string, r mail.Resolution) error
	ReleaseHold(ctx context.Context, id, owner string) error
	Counts(ctx context.Context) (view.Counts, error)
	Audit(ctx context.Context, subject string, limit int) ([]mail.AuditEntry, error)

	AccountSize(ctx context.Context, name string) (messages, attempts int, err error)
	RemoveAccount(ctx context.Context, name string) error
}
