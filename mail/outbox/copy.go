package outbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"skrzynka/mail"
)

// Remote is the IMAP side of an account, as far as the outbox needs it.
type Remote interface {
	// SentFolders lists the folders with the SPECIAL-USE attribute \Sent.
	SentFolders(ctx context.Context) ([]string, error)
	// KeepsCopies reports whether the server is known to store a copy of what
	// it submits by itself (for instance X-GM-EXT-1).
	KeepsCopies() bool
	// Find looks for a Message-ID in a folder (IMAP SEARCH HEADER).
	Find(ctx context.Context, folder string, messageIDs []string) ([]mail.UID, error)
	// Fetch returns the bytes of a stored message.
	Fetch(ctx context.Context, folder string, uid mail.UID) ([]byte, error)
	// Append stores msg as seen with a synchronizing literal. begun is called,
	// with the folder's UIDVALIDITY and UIDNEXT, before the first byte of the
	// literal; when it fails, APPEND is not begun. A failed append is an
	// *AppendError.
	Append(ctx context.Context, folder string, msg []byte, date time.Time, begun func(validity, next uint32) error) (mail.UID, error)
	Close() error
}

// DialRemote opens the IMAP side of an account.
type DialRemote func(ctx context.Context, acct *mail.Account) (Remote, error)

// AppendError says how far a failed APPEND had come.
type AppendError struct {
	Lost bool // begun, and its outcome is not known; else refused or never begun
	Err  error
}

// Error returns the cause's words.
func (e *AppendError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *AppendError) Unwrap() error { return e.Err }

const copyTimeout = 2 * time.Minute

// Copy makes the sent copy of a sent attempt, or tries it again where the last
// outcome allows: pending, failed and skipped are tried, saved is left alone,
// unknown is never repeated (see Inspect). It never changes the delivery
// status, and its own outcome is written into a.Copy and the store.
func (o *Outbox) Copy(ctx context.Context, a *mail.Attempt) {
	if a.Status != mail.StatusSent || a.Copy.Status == mail.CopySaved || a.Copy.Status == mail.CopyUnknown {
		return
	}
	acct, err := o.Account(a.Account)
	if err != nil {
		return
	}
	// The mail is out: a caller that goes away must not leave the copy half known.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), copyTimeout)
	defer cancel()
	c := o.makeCopy(ctx, acct, a)
	if err := o.Store.CopySettled(ctx, a.ID, o.Owner, c); err != nil {
		return // another process settled it, or the disk is full: begun is on disk and says unknown
	}
	a.Copy.Status, a.Copy.Folder, a.Copy.UIDValidity, a.Copy.UID = c.Status, c.Folder, c.UIDValidity, c.UID
	a.Copy.ErrorCode, a.Copy.ErrorText = c.Code, c.Text
}

func (o *Outbox) makeCopy(ctx context.Context, acct *mail.Account, a *mail.Attempt) mail.CopySettled {
	skip := func(why string) mail.CopySettled { return mail.CopySettled{Status: mail.CopySkipped, Text: why} }
	if why := o.skipReason(acct); why != "" {
		return skip(why)
	}
	r, err := o.Dial(ctx, acct)
	if err != nil {
		return copyFailed("", err)
	}
	defer r.Close()
	if acct.SentCopy.ProviderKeep != "no" && r.KeepsCopies() {
		return skip("This server keeps its own copy of what it submits.")
	}
	folder, why, err := o.destination(ctx, acct, r.SentFolders)
	if err != nil {
		return copyFailed("", err)
	}
	if folder == "" {
		return skip(why)
	}
	// A server that keeps its own copy without saying so, or an earlier try
	// whose record was lost: the Message-ID is ours alone.
	if found, err := r.Find(ctx, folder, messageIDs(a)); err == nil && len(found) > 0 {
		return mail.CopySettled{Status: mail.CopySaved, Folder: folder, UIDValidity: found[0].Validity, UID: found[0].UID}
	}
	msg, err := o.Store.AttemptBytes(ctx, a.ID)
	if err != nil || len(msg) == 0 {
		return copyFailed(folder, errors.New("the bytes of this attempt are no longer stored"))
	}
	uid, err := r.Append(ctx, folder, msg, a.SentAt, func(validity, next uint32) error {
		return o.Store.CopyBegun(ctx, a.ID, o.Owner, folder, validity, next)
	})
	var lost *AppendError
	switch {
	case err == nil:
		if uid.UID == 0 { // without UIDPLUS (RFC 4315) only a search tells where it is
			if found, err := r.Find(ctx, folder, messageIDs(a)); err == nil && len(found) > 0 {
				uid = found[len(found)-1]
			}
		}
		return mail.CopySettled{Status: mail.CopySaved, Folder: folder, UIDValidity: uid.Validity, UID: uid.UID}
	case errors.As(err, &lost) && lost.Lost:
		return mail.CopySettled{Status: mail.CopyUnknown, Folder: folder, Code: mail.CodeSentCopyFailed,
			Text: "The copy was being stored when its outcome was lost: " + mail.AsError(err).Text + " It may be there."}
	}
	return copyFailed(folder, err)
}

func copyFailed(folder string, err error) mail.CopySettled {
	return mail.CopySettled{Status: mail.CopyFailed, Folder: folder, Code: mail.CodeSentCopyFailed,
		Text: "The message was submitted and cannot be unsent, but its copy was not stored: " + mail.AsError(err).Text}
}

func messageIDs(a *mail.Attempt) []string { return append([]string{a.RFCMessageID}, a.OtherIDs...) }

// skipReason says why no copy is wanted at all, "" when one is.
func (o *Outbox) skipReason(acct *mail.Account) string {
	switch {
	case !acct.SentCopy.Enabled:
		return "sent_copy.enabled is false."
	case acct.IMAP.Host == "" || o.Dial == nil:
		return "The account has no IMAP side."
	case acct.SentCopy.ProviderKeep == "yes":
		return "sent_copy.provider_keeps says that the server keeps its own copy."
	case acct.SentCopy.ProviderKeep != "no" && keepsCopies(acct.SMTP.Host):
		return acct.SMTP.Host + " keeps its own copy of what it submits."
	}
	return ""
}

// keepsCopies names the submission hosts that are known to store a copy by
// themselves, so that an APPEND would make a second one.
func keepsCopies(host string) bool {
	switch strings.ToLower(host) {
	case "smtp.gmail.com", "smtp.googlemail.com", "smtp.office365.com", "smtp-mail.outlook.com",
		"smtp.zoho.com", "smtp.zoho.eu", "smtppro.zoho.com", "smtp.163.com", "smtp.126.com":
		return true
	}
	return false
}

// destination resolves the folder of the copy: the override; exactly one
// folder of kind sent in the configuration; exactly one with SPECIAL-USE
// \Sent. None, or several: no folder, and the reason.
func (o *Outbox) destination(ctx context.Context, acct *mail.Account, special func(context.Context) ([]string, error)) (folder, why string, err error) {
	if acct.SentCopy.Folder != "" {
		return acct.SentCopy.Folder, "", nil
	}
	var configured []string
	for name, kind := range acct.FolderKinds {
		if kind == mail.FolderSent {
			configured = append(configured, name)
		}
	}
	switch len(configured) {
	case 1:
		return configured[0], "", nil
	case 0:
	default:
		return "", fmt.Sprintf("%d folders have kind SENT in the configuration; set sent_copy.folder.", len(configured)), nil
	}
	names, err := special(ctx)
	if err != nil {
		return "", "", err
	}
	switch len(names) {
	case 1:
		return names[0], "", nil
	case 0:
		return "", "No folder is marked as the Sent folder; set sent_copy.folder or give one folder the kind SENT.", nil
	}
	return "", fmt.Sprintf("%d folders are marked \\Sent by the server; set sent_copy.folder.", len(names)), nil
}

// precheckCopy refuses, before anything is stored, a send whose copy could not
// be placed when the account asks for that (on_failure = "fail").
func (o *Outbox) precheckCopy(ctx context.Context, acct *mail.Account) error {
	if acct.SentCopy.OnFailure != mail.OnFailureFail || !acct.SentCopy.Enabled {
		return nil
	}
	why := ""
	if acct.IMAP.Host == "" || o.Dial == nil {
		why = o.skipReason(acct)
	} else if o.skipReason(acct) == "" {
		_, reason, err := o.destination(ctx, acct, func(ctx context.Context) ([]string, error) { return o.knownSent(ctx, acct) })
		if err != nil {
			e := mail.AsError(err)
			return &mail.Error{Code: mail.CodeSentCopyUnresolved, Retryable: e.Retryable, Err: err,
				Text: "The sent copy's destination cannot be found out: " + e.Text,
				Hint: "Nothing was stored or sent, since sent_copy.on_failure is \"fail\"."}
		}
		why = reason
	}
	if why == "" {
		return nil
	}
	return &mail.Error{Code: mail.CodeSentCopyUnresolved, Text: "The sent copy has no destination: " + why,
		Hint: "Nothing was stored or sent, since sent_copy.on_failure is \"fail\"."}
}

// knownSent lists the \Sent folders the last sync saw, or asks the server when
// there was none.
func (o *Outbox) knownSent(ctx context.Context, acct *mail.Account) ([]string, error) {
	folders, err := o.Store.Folders(ctx, acct.Name)
	if err != nil {
		return nil, err
	}
	if len(folders) == 0 {
		r, err := o.Dial(ctx, acct)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return r.SentFolders(ctx)
	}
	var names []string
	for _, f := range folders {
		if f.SpecialUse == mail.FolderSent {
			names = append(names, f.Name)
		}
	}
	return names, nil
}

// Inspect settles an unknown copy by looking for it: found by Message-ID with
// equal bytes means saved, not found after a full search means failed, so that
// it may be tried again. A server that cannot be asked leaves it unknown.
func (o *Outbox) Inspect(ctx context.Context, a *mail.Attempt) error {
	if a.Copy.Status != mail.CopyUnknown {
		return &mail.Error{Code: mail.CodeConflict, Text: "Only a copy whose outcome is unknown can be inspected; this one is " + a.Copy.Status.String() + "."}
	}
	acct, err := o.Account(a.Account)
	if err != nil {
		return err
	}
	r, err := o.Dial(ctx, acct)
	if err != nil {
		return err
	}
	defer r.Close()
	if a.Copy.Folder == "" { // a restored database does not say where it was begun
		folder, why, err := o.destination(ctx, acct, r.SentFolders)
		if err != nil {
			return err
		}
		if folder == "" {
			return &mail.Error{Code: mail.CodeSentCopyUnresolved, Text: "There is no folder to look in: " + why}
		}
		a.Copy.Folder = folder
	}
	found, err := r.Find(ctx, a.Copy.Folder, messageIDs(a))
	if err != nil {
		return err
	}
	c := mail.CopySettled{Status: mail.CopyFailed, Folder: a.Copy.Folder, Code: mail.CodeSentCopyFailed,
		Text: "A full search of the folder did not find the copy."}
	if len(found) > 0 {
		at := o.same(ctx, r, a, found)
		c = mail.CopySettled{Status: mail.CopySaved, Folder: a.Copy.Folder, UIDValidity: at.Validity, UID: at.UID}
	}
	if err := o.Store.CopySettled(ctx, a.ID, o.Owner, c); err != nil {
		return err
	}
	a.Copy.Status, a.Copy.UIDValidity, a.Copy.UID = c.Status, c.UIDValidity, c.UID
	a.Copy.ErrorCode, a.Copy.ErrorText = c.Code, c.Text
	return nil
}

// same picks, of several finds, the one whose bytes equal what was submitted.
// The Message-ID alone is ours, so one find is enough even where the server
// stores other line ends.
func (o *Outbox) same(ctx context.Context, r Remote, a *mail.Attempt, found []mail.UID) mail.UID {
	msg, err := o.Store.AttemptBytes(ctx, a.ID)
	if err != nil || len(found) == 1 {
		return found[0]
	}
	for _, uid := range found {
		if b, err := r.Fetch(ctx, a.Copy.Folder, uid); err == nil && bytes.Equal(b, msg) {
			return uid
		}
	}
	return found[0]
}

// RetryCopies makes the copies of sent attempts whose process went away, or
// was stopped, before it began them.
func (o *Outbox) RetryCopies(ctx context.Context) {
	open, err := o.Store.CopiesOpen(ctx)
	if err != nil {
		return
	}
	for i := range open {
		a := &open[i]
		if a.Copy.BegunAt.IsZero() && a.Owner != o.Owner && !o.Store.OwnerAlive(a.Owner) {
			o.Copy(ctx, a)
		}
	}
}

// recoverCopies settles the copies that dead processes left open: begun means
// that the copy may be there, never begun means that it may be tried again.
func (o *Outbox) recoverCopies(ctx context.Context) error {
	open, err := o.Store.CopiesOpen(ctx)
	if err != nil {
		return err
	}
	for i := range open {
		a := &open[i]
		if a.Copy.BegunAt.IsZero() || a.Copy.Owner == o.Owner || o.Store.OwnerAlive(a.Copy.Owner) {
			continue
		}
		c := mail.CopySettled{Status: mail.CopyUnknown, Folder: a.Copy.Folder, Code: mail.CodeSentCopyFailed,
			Text: "The program ended while the copy was being stored. It may be there."}
		if err := o.Store.CopySettled(ctx, a.ID, a.Copy.Owner, c); err != nil && !errors.Is(err, mail.ErrCode(mail.CodeConflict)) {
			return err
		}
	}
	return nil
}
