package engine

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/view"
)

func itoa(n int) string { return strconv.Itoa(n) }

// undoEntry is one thing a person did that Undo takes back.
type undoEntry struct {
	what    string
	batches []string    // journal batches
	draft   int64       // a draft that was scheduled
	deleted *mail.Draft // a draft that was discarded
}

func (e *Engine) pushUndo(u undoEntry) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.undo = append(e.undo, u)
	if len(e.undo) > 100 {
		e.undo = e.undo[1:]
	}
}

// Undo takes back the last thing this process did to messages, drafts or the
// undo window, and says what it was: "" when there is nothing to take back.
func (e *Engine) Undo(ctx context.Context) (string, error) {
	e.mu.Lock()
	if len(e.undo) == 0 {
		e.mu.Unlock()
		return "", nil
	}
	u := e.undo[len(e.undo)-1]
	e.undo = e.undo[:len(e.undo)-1]
	e.mu.Unlock()
	switch {
	case len(u.batches) > 0:
		for _, b := range u.batches {
			if err := e.Store.UndoBatch(ctx, b); err != nil {
				return "", err
			}
		}
		e.sync.nudge("")
	case u.deleted != nil:
		u.deleted.ID = 0
		if _, err := e.Store.SaveDraft(ctx, *u.deleted); err != nil {
			return "", err
		}
	default:
		d, err := e.Store.Draft(ctx, u.draft)
		if err != nil || d.SendAt.IsZero() {
			return "", &mail.Error{Code: mail.CodeConflict, Text: "It is too late: the send has begun.", Hint: "Look at its attempt."}
		}
		if err := e.Store.ScheduleDraft(ctx, u.draft, time.Time{}, e.Owner); err != nil {
			return "", err
		}
	}
	return u.what, nil
}

// MarkSeen marks messages read or unread: here at once, on the server as soon
// as it can be reached.
func (e *Engine) MarkSeen(ctx context.Context, ids []int64, seen bool) (string, error) {
	what := "marking as read"
	if !seen {
		what = "marking as unread"
	}
	return e.flag(ctx, ids, mail.FlagSeen, seen, what, seen && len(ids) == 1)
}

// SetFlagged sets or clears the flag of messages.
func (e *Engine) SetFlagged(ctx context.Context, ids []int64, on bool) (string, error) {
	return e.flag(ctx, ids, mail.FlagFlagged, on, "the flag", false)
}

func (e *Engine) flag(ctx context.Context, ids []int64, flag mail.FlagName, on bool, what string, quiet bool) (string, error) {
	batch, err := e.Store.SetFlag(ctx, ids, flag, on)
	if err != nil {
		return "", err
	}
	if !quiet { // opening a message is not something a person would undo
		e.pushUndo(undoEntry{what: what, batches: []string{batch}})
	}
	e.sync.nudge("")
	return batch, nil
}

// MoveTo moves messages to the folder of a kind of their account, or to
// folderID when it is not 0: here at once, on the server when it can be
// reached. It fails, with nothing moved, when an account has no such folder.
// The messages of several accounts are one action and one undo.
func (e *Engine) MoveTo(ctx context.Context, ids []int64, kind mail.FolderKind, folderID int64) (string, error) {
	groups := map[int64][]int64{folderID: ids}
	if folderID == 0 {
		var err error
		if groups, err = e.byTarget(ctx, ids, kind); err != nil {
			return "", err
		}
	}
	u := undoEntry{what: "moving a message"}
	if len(ids) != 1 {
		u.what = fmt.Sprintf("moving %d messages", len(ids))
	}
	for target, list := range groups {
		batch, err := e.Store.MoveMessages(ctx, list, target)
		if err != nil {
			return "", err
		}
		u.batches = append(u.batches, batch)
	}
	e.pushUndo(u)
	e.sync.nudge("")
	return strings.Join(u.batches, ","), nil
}

func (e *Engine) byTarget(ctx context.Context, ids []int64, kind mail.FolderKind) (map[int64][]int64, error) {
	target := map[string]int64{}
	groups := map[int64][]int64{}
	accounts, err := e.Store.MessageAccounts(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		account, ok := accounts[id]
		if !ok {
			return nil, notFound("message", id)
		}
		if target[account] == 0 {
			f, ok := e.FolderOfKind(ctx, account, kind)
			if !ok {
				return nil, &mail.Error{Code: mail.CodeNotFound, Text: fmt.Sprintf("Account %s has no %s folder.", account, kind),
					Hint: "Give one of its folders that kind in the configuration; nothing was moved."}
			}
			target[account] = f.ID
		}
		groups[target[account]] = append(groups[target[account]], id)
	}
	return groups, nil
}

// FolderOfKind finds the folder of a kind of an account; there may be none,
// which is why archive, junk and trash can be off.
func (e *Engine) FolderOfKind(ctx context.Context, account string, kind mail.FolderKind) (view.Folder, bool) {
	folders, err := e.Folders(ctx, account)
	if err != nil {
		return view.Folder{}, false
	}
	for _, f := range folders {
		if f.Kind == kind && f.Selectable {
			return f, true
		}
	}
	return view.Folder{}, false
}
