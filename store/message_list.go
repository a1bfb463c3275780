package store

import (
	"context"
	"slices"
	"strings"

	"skrzynka/mail"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

const (
	defaultPage = 50
	maxPage     = 1000
)

// The list reads one index per folder; each row looks up its latest attempt by
// the index of answers and nothing else.
const (
	listColumns = `SELECT m.id, m.uid_validity, m.uid, m.from_name, m.from_addr, m.to_text, m.subject, m.snippet, m.date, m.size,
	m.seen, m.flagged, m.answered, m.draft, m.attachments, m.body_id IS NOT NULL,
	coalesce(a.status,''), coalesce(a.resolution,''), coalesce(a.accepted_late,0), coalesce(a.bounced,0) `
	latestAnswer = ` LEFT JOIN attempt a ON a.rowid = (
		SELECT x.rowid FROM attempt x WHERE x.message_id = m.id ORDER BY x.created_at DESC, x.rowid DESC LIMIT 1) `
	listSelect = listColumns + `FROM message m INDEXED BY message_list` + latestAnswer +
		`WHERE m.folder_id = ? AND m.vanished_at IS NULL `
	listOne = listColumns + `FROM message m` + latestAnswer + `WHERE m.id = ?`

	listNewest = listSelect + `ORDER BY m.date DESC, m.id DESC LIMIT ?`
	listOlder  = listSelect + `AND (m.date, m.id) < (?, ?) ORDER BY m.date DESC, m.id DESC LIMIT ?`
	listOldest = listSelect + `ORDER BY m.date, m.id LIMIT ?`
	listNewer  = listSelect + `AND (m.date, m.id) > (?, ?) ORDER BY m.date, m.id LIMIT ?`
)

// ListMessages returns one window of a list, newest first: of a folder, or of
// all folders of a kind or account merged. It reads as many rows as it
// returns from each folder, wherever in the list they are. Scope.Query makes it
// a search (see package query), Scope.Threads one row a conversation.
func (s *Store) ListMessages(ctx context.Context, q view.ListQuery) (view.Page, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = defaultPage
	}
	limit = min(limit, maxPage)
	if strings.TrimSpace(q.Scope.Query) != "" {
		return s.searchPage(ctx, q, limit)
	}
	switch {
	case q.Scope.Thread != 0:
		return s.conversation(ctx, q.Scope.Thread)
	case q.Scope.Threads:
		return s.threadPage(ctx, q, limit)
	}
	folders, err := s.scope(ctx, q.Scope)
	if err != nil {
		return view.Page{}, err
	}
	page := view.Page{Rows: []view.MessageRow{}}
	query, from := listNewest, []any(nil)
	switch set := q.From != (view.Cursor{}); {
	case q.Back && set:
		query, from = listNewer, []any{q.From.Date, q.From.ID}
	case q.Back:
		query = listOldest
	case set:
		query, from = listOlder, []any{q.From.Date, q.From.ID}
	}
	for _, f := range folders {
		page.Total += f.Total
		rows, err := all(ctx, s.r, scanListRow(f), query, append(append([]any{f.ID}, from...), limit)...)
		if err != nil {
			return view.Page{}, err
		}
		page.Rows = append(page.Rows, rows...)
	}
	sortRows(page.Rows)
	if len(page.Rows) > limit {
		if q.Back {
			page.Rows = page.Rows[len(page.Rows)-limit:]
		} else {
			page.Rows = page.Rows[:limit]
		}
	}
	return page, nil
}

// ListMessage returns the row of one message, as a list shows it.
func (s *Store) ListMessage(ctx context.Context, id int64) (view.MessageRow, error) {
	var folder int64
	ok, err := scanRow(s.r.QueryRowContext(ctx, `SELECT folder_id FROM message WHERE id = ?`, id), &folder)
	if err != nil {
		return view.MessageRow{}, fail(err)
	}
	if !ok {
		return view.MessageRow{}, notFound("There is no message %d.", id)
	}
	f, err := s.FolderByID(ctx, folder)
	if err != nil {
		return view.MessageRow{}, err
	}
	row, err := scanListRow(f)(s.r.QueryRowContext(ctx, listOne, id))
	return row, fail(err)
}

// scope lists the folders a scope covers.
func (s *Store) scope(ctx context.Context, sc view.Scope) ([]mail.Folder, error) {
	if sc.FolderID != 0 {
		f, err := s.FolderByID(ctx, sc.FolderID)
		return []mail.Folder{f}, err
	}
	folders, err := s.Folders(ctx, sc.Account)
	if err != nil || sc.Kind == mail.FolderNone {
		return folders, err
	}
	return slices.DeleteFunc(folders, func(f mail.Folder) bool { return f.Kind != sc.Kind }), nil
}

// scanListRow reads listColumns, and what follows them into extra.
func scanListRow(f mail.Folder, extra ...any) func(scanner) (view.MessageRow, error) {
	folder := safe.Line(f.Name)
	return func(r scanner) (view.MessageRow, error) {
		row := view.MessageRow{Account: f.Account, FolderID: f.ID, Folder: folder}
		var validity, uid, date int64
		var name, addr, to, subject, snippet string
		var seen bool
		var badge view.Badge
		if err := r.Scan(append([]any{&row.ID, &validity, &uid, &name, &addr, &to, &subject, &snippet, &date, &row.Size,
			&seen, &row.Flagged, &row.Answered, &row.Draft, &row.Attachments, &row.HasBody,
			&badge.Status, &badge.Resolved, &badge.Proven, &badge.Bounced}, extra...)...); err != nil {
			return row, err
		}
		if validity != 0 {
			row.UID = uint32(uid)
		}
		row.FromAddr, row.To, row.Subject, row.Snippet = safe.Line(addr), safe.Line(to), safe.Line(subject), safe.Line(snippet)
		if row.From = safe.Line(name); row.From.Empty() {
			row.From = row.FromAddr
		}
		row.Unread, row.Date = !seen, at(date)
		row.Cursor = view.Cursor{Date: date, ID: row.ID}
		if badge.Status != "" {
			row.Badge = &badge
		}
		return row, nil
	}
}
