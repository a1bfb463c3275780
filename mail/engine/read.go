package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"skrzynka/mail"
	"skrzynka/mail/inbox"
	"skrzynka/mail/parse"
	"skrzynka/mail/query"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

// Folders lists the folders of an account ("": of all) in display order: by
// account, then by kind, then by name.
func (e *Engine) Folders(ctx context.Context, account string) ([]view.Folder, error) {
	out := []view.Folder{}
	for i := range e.Accounts {
		name := e.Accounts[i].Name
		if account != "" && account != name {
			continue
		}
		list, err := e.Store.Folders(ctx, name)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(list, compareFolders)
		for _, f := range list {
			out = append(out, presentFolder(f))
		}
	}
	return out, nil
}

// compareFolders orders folders of a kind before the others, and the others by
// name, a folder before what lies below it.
func compareFolders(a, b mail.Folder) int {
	kinds := mail.AllFolderKinds()
	if c := slices.Index(kinds, a.Kind) - slices.Index(kinds, b.Kind); c != 0 {
		return c
	}
	return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
}

func presentFolder(f mail.Folder) view.Folder {
	v := view.Folder{ID: f.ID, Account: f.Account, Name: safe.Name(f.Name), Label: safe.Name(f.Name), Kind: f.Kind,
		Selectable: f.Selectable, Total: f.Total, Unread: f.Unread, SyncedAt: utc(f.SyncedAt)}
	if f.Delimiter != "" {
		parts := strings.Split(f.Name, f.Delimiter)
		v.Label, v.Depth = safe.Name(parts[len(parts)-1]), len(parts)-1
	}
	return v
}

// raw returns a message's bytes, or its header while that is all there is.
func (e *Engine) raw(ctx context.Context, id int64) ([]byte, error) {
	b, err := e.Store.RawMessage(ctx, id)
	if errors.Is(err, mail.ErrCode(mail.CodeNotFound)) {
		m, merr := e.Store.Message(ctx, id)
		if merr != nil {
			return nil, merr
		}
		return m.Header, nil
	}
	return b, err
}

// Messages returns one window of a list, or of the hits of a search. It reads
// the store only. Of a hit, the snippet is the place where the words are.
func (e *Engine) Messages(ctx context.Context, q view.ListQuery) (view.Page, error) {
	page, err := e.Store.ListMessages(ctx, q)
	if err != nil || strings.TrimSpace(q.Scope.Query) == "" {
		return page, err
	}
	parsed := query.Parse(q.Scope.Query, e.Clock.Now())
	words := parsed.Words()
	if len(words) == 0 {
		return page, nil
	}
	var workers sync.WaitGroup
	for w := range excerpters {
		workers.Go(func() {
			for i := w; i < len(page.Rows) && ctx.Err() == nil; i += excerpters {
				e.excerpt(ctx, &page.Rows[i], words)
			}
		})
	}
	workers.Wait()
	return page, ctx.Err()
}

// excerpters is how many goroutines look for the words of a search in its hits.
const excerpters = 4

func (e *Engine) excerpt(ctx context.Context, row *view.MessageRow, words []string) {
	raw, err := e.Store.RawMessage(ctx, row.ID)
	if err != nil {
		return // the list's snippet stays
	}
	if x := inbox.Excerpt(parse.Message(raw).Text, words); x != "" {
		row.Snippet = safe.Line(x)
	}
}

// Message opens one stored message. A body that is not here yet is asked for
// in the background; its arrival is announced as a change of messages.
func (e *Engine) Message(ctx context.Context, id int64) (view.Message, error) {
	row, err := e.Store.ListMessage(ctx, id)
	if err != nil {
		return view.Message{}, err
	}
	raw, err := e.raw(ctx, id)
	if err != nil {
		return view.Message{}, err
	}
	v := presentMessage(row, raw)
	if !row.HasBody {
		e.sync.wantBody(row.Account, id)
	}
	answers, err := e.Attempts(ctx, view.AttemptFilter{Message: id})
	v.Answers = answers
	return v, err
}

// Raw returns the bytes of a message as the server gave them: its header alone
// while the body is not here.
func (e *Engine) Raw(ctx context.Context, id int64) ([]byte, error) {
	return e.raw(ctx, id)
}

// SaveAttachment writes part of a message into dir under a safe name that is
// not taken, readable by its owner alone, and returns the path. It never
// overwrites a file and never follows a link.
func (e *Engine) SaveAttachment(ctx context.Context, id int64, part int, dir string) (string, error) {
	raw, err := e.raw(ctx, id)
	if err != nil {
		return "", err
	}
	m := parse.Message(raw)
	if part < 0 || part >= len(m.Parts) {
		return "", notFound("part", part)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", saveError(dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", saveError(dir, err)
	}
	defer root.Close()
	name := parse.Filename(m.Parts[part].Name)
	ext := filepath.Ext(name)
	for n := 0; n < 1000; n++ {
		try := name
		if n > 0 {
			try = strings.TrimSuffix(name, ext) + "-" + itoa(n) + ext
		}
		f, err := root.OpenFile(try, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", saveError(dir, err)
		}
		_, err = f.Write(m.Content(part))
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			_ = root.Remove(try)
			return "", saveError(dir, err)
		}
		return filepath.Join(dir, try), nil
	}
	return "", saveError(dir, errors.New("a thousand files of that name are there"))
}

func saveError(dir string, err error) error {
	return mail.Errorf(mail.CodeInvalid, "Choose another folder, or free some space; the attachment is still in the message.",
		"The attachment could not be saved into %q: %w.", dir, err)
}
