// Package uitest is an engine in memory with a small mailbox of our own making,
// for tests of the screens. It embeds nothing and reads nothing.
package uitest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

// Now is the time all sample data is dated around.
var Now = time.Date(2025, 3, 5, 14, 30, 0, 0, time.UTC)

// Engine answers what the screens of the mail ask. Its fields may be changed
// between messages to the model under test.
type Engine struct {
	Outgoing
	Folder    []view.Folder
	Rows      []view.MessageRow // newest first
	Bodies    map[int64]view.Message
	Need      view.Counts
	Source    string
	Fail      error    // every call that changes something fails with it
	Calls     []string // what was asked, in order
	Queries   int      // how often a window was read
	Whole     bool     // every row belongs to every scope: nothing is filtered
	LastUndo  string
	NoAnswers bool // no plan, no arrival, no open thread
	Synced    int
}

func (e *Engine) did(format string, args ...any) error {
	e.Calls = append(e.Calls, fmt.Sprintf(format, args...))
	return e.Fail
}

// Subscribe gives no channel: a test sends view.Change itself.
func (e *Engine) Subscribe(int) (<-chan view.Change, func()) { return nil, func() {} }

// SyncNow counts.
func (e *Engine) SyncNow() { e.Synced++ }

// Folders implements the engine.
func (e *Engine) Folders(context.Context, string) ([]view.Folder, error) {
	return slices.Clone(e.Folder), nil
}

// Counts implements the engine.
func (e *Engine) Counts(context.Context) (view.Counts, error) { return e.Need, nil }

// Messages reads a window by keyset, as the store does.
func (e *Engine) Messages(_ context.Context, q view.ListQuery) (view.Page, error) {
	e.Queries++
	rows := e.scope(q.Scope)
	if q.Limit <= 0 {
		q.Limit = 50
	}
	at, found := 0, false
	if q.From != (view.Cursor{}) {
		at, found = slices.BinarySearchFunc(rows, q.From, func(r view.MessageRow, c view.Cursor) int {
			if r.Cursor.Date != c.Date {
				return int(c.Date - r.Cursor.Date)
			}
			return int(c.ID - r.Cursor.ID)
		})
	}
	lo, hi := 0, 0
	switch {
	case q.Back && q.From == view.Cursor{}:
		lo, hi = max(0, len(rows)-q.Limit), len(rows)
	case q.Back:
		lo, hi = max(0, at-q.Limit), at
	default:
		if found {
			at++
		}
		lo, hi = at, min(len(rows), at+q.Limit)
	}
	return view.Page{Rows: slices.Clone(rows[lo:hi]), Total: len(rows)}, nil
}

func (e *Engine) scope(s view.Scope) []view.MessageRow {
	if e.Whole || s.FolderID == 0 && s.Kind == "" && s.Query == "" {
		return e.Rows
	}
	kinds := map[int64]mail.FolderKind{}
	for _, f := range e.Folder {
		kinds[f.ID] = f.Kind
	}
	var out []view.MessageRow
	for _, r := range e.Rows {
		switch {
		case s.FolderID != 0 && r.FolderID != s.FolderID,
			s.FolderID == 0 && s.Kind != "" && kinds[r.FolderID] != s.Kind,
			s.Query != "" && !strings.Contains(strings.ToLower(r.Subject.String()+" "+r.From.String()), strings.ToLower(s.Query)):
			continue
		}
		out = append(out, r)
	}
	return out
}

// Message implements the engine.
func (e *Engine) Message(_ context.Context, id int64) (view.Message, error) {
	for _, r := range e.Rows {
		if r.ID != id {
			continue
		}
		m := e.Bodies[id]
		m.MessageRow = r
		if m.FromAll == nil {
			m.FromAll = []view.Address{{Name: r.From, Addr: r.FromAddr}}
		}
		if m.ToAll == nil {
			m.ToAll = []view.Address{{Addr: safe.Line("ada@example.org")}}
		}
		if m.Lines == nil && m.HasBody {
			m.Lines = []view.Line{{Text: r.Snippet}}
		}
		return m, nil
	}
	return view.Message{}, &mail.Error{Code: mail.CodeNotFound, Text: "This message is not stored any more.", Hint: "Go back to the list."}
}

// Raw implements the engine.
func (e *Engine) Raw(context.Context, int64) ([]byte, error) { return []byte(e.Source), nil }

// SaveAttachment implements the engine.
func (e *Engine) SaveAttachment(_ context.Context, id int64, part int, dir string) (string, error) {
	return fmt.Sprintf("%s/part-%d", dir, part), e.did("save %d/%d", id, part)
}

func (e *Engine) edit(ids []int64, f func(*view.MessageRow)) {
	for i := range e.Rows {
		if slices.Contains(ids, e.Rows[i].ID) {
			f(&e.Rows[i])
		}
	}
}

// MarkSeen implements the engine.
func (e *Engine) MarkSeen(_ context.Context, ids []int64, seen bool) (string, error) {
	if err := e.did("seen %v %v", ids, seen); err != nil {
		return "", err
	}
	e.edit(ids, func(r *view.MessageRow) { r.Unread = !seen })
	return "undo", nil
}

// SetFlagged implements the engine.
func (e *Engine) SetFlagged(_ context.Context, ids []int64, on bool) (string, error) {
	if err := e.did("flag %v %v", ids, on); err != nil {
		return "", err
	}
	e.edit(ids, func(r *view.MessageRow) { r.Flagged = on })
	return "undo", nil
}

// MoveTo implements the engine.
func (e *Engine) MoveTo(_ context.Context, ids []int64, kind mail.FolderKind, folder int64) (string, error) {
	slices.Sort(ids)
	if err := e.did("move %v %s%d", ids, kind, folder); err != nil {
		return "", err
	}
	for _, f := range e.Folder {
		if f.ID == folder || folder == 0 && f.Kind == kind {
			e.edit(ids, func(r *view.MessageRow) { r.FolderID, r.Folder = f.ID, f.Name })
		}
	}
	e.LastUndo = fmt.Sprintf("moved %d", len(ids))
	return "undo", nil
}

// Undo implements the engine.
func (e *Engine) Undo(context.Context) (string, error) {
	what := e.LastUndo
	e.LastUndo = ""
	return what, e.did("undo")
}

// NewDraft implements the engine.
func (e *Engine) NewDraft(_ context.Context, account string) (mail.Draft, error) {
	return mail.Draft{ID: 1, Account: account}, e.did("draft %s", account)
}

// ReplyDraft implements the engine.
func (e *Engine) ReplyDraft(_ context.Context, id int64, all bool) (mail.Draft, error) {
	return mail.Draft{ID: 1, MessageID: id}, e.did("reply %d %v", id, all)
}

// ForwardDraft implements the engine.
func (e *Engine) ForwardDraft(_ context.Context, id int64) (mail.Draft, error) {
	return mail.Draft{ID: 1, MessageID: id, Forward: true}, e.did("forward %d", id)
}
