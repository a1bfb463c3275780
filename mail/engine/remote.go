package engine

import (
	"context"
	"errors"
	"time"

	"skrzynka/auth"
	"skrzynka/mail"
	"skrzynka/mail/mirror"
	"skrzynka/mail/outbox"
)

func (e *Engine) creds(acct *mail.Account, server mail.Server) func(context.Context) (auth.Credentials, error) {
	return func(ctx context.Context) (auth.Credentials, error) {
		return auth.Resolve(ctx, e.Credentials, acct, server)
	}
}

// dialMirror opens an IMAP session of an account.
func (e *Engine) dialMirror(ctx context.Context, acct *mail.Account) (*mirror.Session, error) {
	return mirror.Dial(ctx, mirror.Options{Server: acct.IMAP, Creds: e.creds(acct, acct.IMAP)})
}

// dialRemote opens the IMAP side of an account for the outbox.
func (e *Engine) dialRemote(ctx context.Context, acct *mail.Account) (outbox.Remote, error) {
	s, err := e.dialMirror(ctx, acct)
	if err != nil {
		return nil, err
	}
	return remote{s}, nil
}

// remote is a mirror session in the outbox's words.
type remote struct{ s *mirror.Session }

func (r remote) SentFolders(ctx context.Context) ([]string, error) {
	folders, err := r.s.Folders(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range folders {
		if f.Kind == mail.FolderSent && f.Selectable {
			out = append(out, f.Name)
		}
	}
	return out, nil
}

// KeepsCopies knows Gmail by its extension.
func (r remote) KeepsCopies() bool {
	for _, c := range r.s.Caps().All {
		if c == "X-GM-EXT-1" {
			return true
		}
	}
	return false
}

func (r remote) Find(ctx context.Context, folder string, ids []string) ([]mail.UID, error) {
	return r.s.SearchMessageID(ctx, folder, ids)
}

func (r remote) Fetch(ctx context.Context, folder string, uid mail.UID) ([]byte, error) {
	var body []byte
	err := r.s.FetchBodies(ctx, folder, uid.Validity, []uint32{uid.UID}, func(f mirror.Fetched) error {
		body = f.Body
		return nil
	})
	return body, err
}

func (r remote) Append(ctx context.Context, folder string, msg []byte, date time.Time, begun func(validity, next uint32) error) (mail.UID, error) {
	res, err := r.s.Append(ctx, folder, msg, []string{`\Seen`}, date, func(b mirror.Mailbox) error { return begun(b.UIDValidity, b.UIDNext) })
	var ae *mirror.AppendError
	switch {
	case err == nil:
		return mail.UID{Validity: res.UIDValidity, UID: res.UID}, nil
	case errors.As(err, &ae):
		return mail.UID{}, &outbox.AppendError{Lost: ae.Outcome == mirror.AppendLost, Err: ae.Err}
	}
	return mail.UID{}, &outbox.AppendError{Err: err}
}

func (r remote) Close() error {
	r.s.Close()
	return nil
}
