package engine

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"skrzynka/mail"
	"skrzynka/mail/compose"
	"skrzynka/mail/parse"
	"skrzynka/mail/view"
)

// NewDraft stores an empty outbound draft of an account ("": the default).
func (e *Engine) NewDraft(ctx context.Context, account string) (mail.Draft, error) {
	acct, err := e.account(account)
	if err != nil {
		return mail.Draft{}, err
	}
	return e.Store.SaveDraft(ctx, mail.Draft{Account: acct.Name, Kind: mail.KindOutbound, From: acct.From()})
}

// ReplyDraft stores a draft that answers a message, with the original quoted.
func (e *Engine) ReplyDraft(ctx context.Context, messageID int64, all bool) (mail.Draft, error) {
	d, err := e.replyDraft(ctx, messageID, all)
	if err != nil {
		return mail.Draft{}, err
	}
	return e.Store.SaveDraft(ctx, d)
}

func (e *Engine) replyDraft(ctx context.Context, messageID int64, all bool) (mail.Draft, error) {
	acct, orig, err := e.original(ctx, messageID)
	if err != nil {
		return mail.Draft{}, err
	}
	return compose.Reply(acct, orig, all)
}

// ForwardDraft stores a draft that forwards a message inline, its attachments
// attached.
func (e *Engine) ForwardDraft(ctx context.Context, messageID int64) (mail.Draft, error) {
	acct, orig, err := e.original(ctx, messageID)
	if err != nil {
		return mail.Draft{}, err
	}
	d := compose.Forward(acct, orig)
	raw, err := e.raw(ctx, messageID)
	if err != nil {
		return mail.Draft{}, err
	}
	m := parse.Message(raw)
	for _, i := range m.Attachments {
		p := m.Parts[i]
		d.Attachments = append(d.Attachments, compose.Attach(parse.Filename(p.Name), p.Type, m.Content(i)))
	}
	return e.Store.SaveDraft(ctx, d)
}

// original gathers what compose needs of a stored message. A message whose
// body is not here yet is answered from its header, without a quote.
func (e *Engine) original(ctx context.Context, messageID int64) (*mail.Account, compose.Original, error) {
	row, err := e.Store.Message(ctx, messageID)
	if err != nil {
		return nil, compose.Original{}, err
	}
	acct, err := e.account(row.Account)
	if err != nil {
		return nil, compose.Original{}, err
	}
	raw, err := e.raw(ctx, messageID)
	if err != nil {
		return nil, compose.Original{}, err
	}
	m := parse.Message(raw)
	o := compose.Original{ID: messageID, From: m.From, ReplyTo: m.ReplyTo, To: m.To, Cc: m.Cc, Subject: m.Subject,
		MessageID: m.MessageID, References: m.References, Date: row.InternalDate, Text: m.Text}
	if len(m.InReplyTo) > 0 {
		o.InReplyTo = m.InReplyTo[0]
	}
	if m.DateOK {
		o.Date = m.Date
	}
	return acct, o, nil
}

// Draft returns a stored draft with its attachments.
func (e *Engine) Draft(ctx context.Context, id int64) (mail.Draft, error) {
	return e.Store.Draft(ctx, id)
}

// Drafts lists the drafts, newest first.
func (e *Engine) Drafts(ctx context.Context) ([]view.Draft, error) {
	list, err := e.Store.Drafts(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]view.Draft, 0, len(list))
	for _, d := range list {
		out = append(out, presentDraft(d))
	}
	return out, nil
}

// SaveDraft inserts or updates a draft; it is durable when this returns.
func (e *Engine) SaveDraft(ctx context.Context, d mail.Draft) (mail.Draft, error) {
	return e.Store.SaveDraft(ctx, d)
}

// DiscardDraft deletes a draft a person no longer wants; Undo brings it back.
func (e *Engine) DiscardDraft(ctx context.Context, id int64) error {
	d, err := e.Store.Draft(ctx, id)
	if err != nil {
		return err
	}
	if err := e.Store.DeleteDraft(ctx, id); err != nil {
		return err
	}
	if !blank(d) { // nobody wants an empty draft back
		e.pushUndo(undoEntry{what: "discarding the draft", deleted: &d})
	}
	return nil
}

func blank(d mail.Draft) bool {
	return strings.TrimSpace(d.Body) == "" && d.Subject == "" && len(d.To)+len(d.Cc)+len(d.Bcc)+len(d.Attachments) == 0
}

// Attach freezes a file's content into a draft.
func (e *Engine) Attach(ctx context.Context, draftID int64, path string) (mail.Draft, error) {
	f, err := LoadFile(path)
	if err != nil {
		return mail.Draft{}, err
	}
	return e.Store.AttachToDraft(ctx, draftID, f)
}

// Detach removes the attachment at index.
func (e *Engine) Detach(ctx context.Context, draftID int64, index int) (mail.Draft, error) {
	return e.Store.DetachFromDraft(ctx, draftID, index)
}

// maxAttachment bounds one attached file: far above what servers take, low
// enough to be held in memory.
const maxAttachment = 128 << 20

// LoadFile reads a regular file to be attached. Its bytes are frozen here: what
// happens to the file later changes nothing.
func LoadFile(path string) (mail.Attachment, error) {
	bad := func(why string) error {
		return mail.Errorf(mail.CodeInvalid, "Name a regular file that can be read; nothing was attached.", "%q cannot be attached: %s.", path, why)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return mail.Attachment{}, bad("there is no such file, or it may not be read")
	case !info.Mode().IsRegular():
		return mail.Attachment{}, bad("it is not a regular file")
	case info.Size() > maxAttachment:
		return mail.Attachment{}, bad("it is larger than 128 MiB")
	}
	f, err := os.Open(path)
	if err != nil {
		return mail.Attachment{}, bad("it may not be read")
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxAttachment+1))
	if err != nil || len(b) > maxAttachment {
		return mail.Attachment{}, bad("it could not be read to its end")
	}
	return compose.Attach(filepath.Base(path), "", b), nil
}
