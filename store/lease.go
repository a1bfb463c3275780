package store

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"skrzynka/mail"
)

// SyncLease waits until no other process is in a pass over the account, and
// keeps others waiting until release is called or this process ends: the lock
// is the operating system's, so a process that died holds nothing.
func (s *Store) SyncLease(ctx context.Context, account string) (release func(), err error) {
	id, err := s.AccountID(ctx, account)
	if err != nil {
		return nil, err
	}
	l := flock.New(filepath.Join(s.dir, "run", "sync-"+itoa(id)+".lock"), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	ok, err := l.TryLockContext(ctx, 50*time.Millisecond)
	if err != nil || !ok {
		if ctx.Err() != nil {
			return nil, &mail.Error{Code: mail.CodeCancelled, Text: "The pass was stopped while another process was in one.", Retryable: true, Err: ctx.Err()}
		}
		return nil, mail.Errorf(mail.CodeStore, "Keep the state folder on a local disk that supports file locks.", "The account cannot be locked for a pass: %w.", err)
	}
	return func() { _ = l.Close() }, nil
}
