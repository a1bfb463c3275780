package store

import (
	"context"
	"slices"
	"strings"

	"skrzynka/mail"
	"skrzynka/mail/view"
)

// The newest message of each conversation stands for it: a row is left out
// when its conversation has a newer one in the same folder, which one look into
// the index of conversations tells.
const (
	threadColumns = `, (SELECT count(DISTINCT coalesce(n.body_id, -n.id)) FROM message n INDEXED BY message_thread
			WHERE n.thread_id = m.thread_id AND n.thread_id <> 0 AND n.vanished_at IS NULL),
		EXISTS (SELECT 1 FROM message n INDEXED BY message_thread WHERE n.thread_id = m.thread_id AND n.thread_id <> 0
			AND n.folder_id = m.folder_id AND n.vanished_at IS NULL AND n.seen = 0) `
	newestOf = ` AND NOT EXISTS (SELECT 1 FROM message n INDEXED BY message_thread WHERE n.thread_id = m.thread_id AND n.thread_id <> 0
		AND n.folder_id = m.folder_id AND n.vanished_at IS NULL AND (n.date, n.id) > (m.date, m.id)) `
	newestOfAll = ` AND NOT EXISTS (SELECT 1 FROM message n INDEXED BY message_thread WHERE n.thread_id = m.thread_id AND n.thread_id <> 0
		AND n.vanished_at IS NULL AND (n.date, n.id) > (m.date, m.id)) `
)

// threadPage lists conversations by their newest message in the scope.
func (s *Store) threadPage(ctx context.Context, q view.ListQuery, limit int) (view.Page, error) {
	folders, err := s.scope(ctx, q.Scope)
	if err != nil {
		return view.Page{}, err
	}
	newest := newestOf
	if q.Scope.FolderID == 0 && q.Scope.Kind == mail.FolderNone {
		newest = newestOfAll
	}
	var from []any
	order := ` ORDER BY m.date DESC, m.id DESC LIMIT ?`
	if q.Back {
		order = ` ORDER BY m.date, m.id LIMIT ?`
	}
	if q.From != (view.Cursor{}) {
		compare := "<"
		if q.Back {
			compare = ">"
		}
		newest += ` AND (m.date, m.id) ` + compare + ` (?, ?)`
		from = []any{q.From.Date, q.From.ID}
	}
	page := view.Page{Rows: []view.MessageRow{}, Total: -1}
	for _, f := range folders {
		var size int
		var unread bool
		scan := scanListRow(f, &size, &unread)
		columns := strings.TrimRight(listColumns, " ") + threadColumns
		rows, err := all(ctx, s.r, func(r scanner) (view.MessageRow, error) {
			row, err := scan(r)
			row.Thread, row.Unread = size, row.Unread || unread
			return row, err
		}, columns+`FROM message m INDEXED BY message_list`+latestAnswer+`WHERE m.folder_id = ? AND m.vanished_at IS NULL `+newest+order,
			append(append([]any{f.ID}, from...), limit)...)
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
	if q.From == (view.Cursor{}) && len(page.Rows) < limit {
		page.Total = len(page.Rows)
	}
	return page, nil
}

// conversation lists what belongs together with a message, newest first, each
// mail once, with the depth at which it answers. At most maxPage rows: of a
// longer one the newest.
func (s *Store) conversation(ctx context.Context, id int64) (view.Page, error) {
	page := view.Page{Rows: []view.MessageRow{}}
	m, err := s.Message(ctx, id)
	if err != nil {
		return page, err
	}
	folders, err := s.Folders(ctx, m.Account)
	if err != nil {
		return page, err
	}
	byID := map[int64]mail.Folder{}
	for _, f := range folders {
		byID[f.ID] = f
	}
	type place struct {
		hit
		messageID, inReplyTo, refs string
	}
	places, err := all(ctx, s.r, func(r scanner) (p place, err error) {
		err = r.Scan(&p.message, &p.folder, &p.body, &p.messageID, &p.inReplyTo, &p.refs)
		return p, err
	}, `SELECT n.id, n.folder_id, coalesce(n.body_id, -n.id), n.message_id, n.in_reply_to, n.refs FROM message m
		JOIN message n INDEXED BY message_thread ON n.thread_id = m.thread_id AND n.thread_id <> 0
		WHERE m.id = ? AND n.vanished_at IS NULL ORDER BY n.date DESC, n.id DESC LIMIT ?`, id, 2*maxPage)
	if err != nil {
		return page, err
	}
	if len(places) == 0 { // nobody has looked yet
		row, err := s.ListMessage(ctx, id)
		return view.Page{Rows: []view.MessageRow{row}, Total: 1}, err
	}
	shown := map[int64]int{} // body to its place in list
	var list []place
	for _, p := range places {
		if i, ok := shown[p.body]; ok {
			if better(byID[p.folder], byID[list[i].folder]) {
				list[i] = p
			}
			continue
		}
		shown[p.body] = len(list)
		list = append(list, p)
	}
	list = list[:min(len(list), maxPage)]
	depth := map[string]int{}
	for _, p := range slices.Backward(list) {
		d := 0
		for _, ref := range append(strings.Fields(p.refs), p.inReplyTo) {
			if at, ok := depth[ref]; ok && ref != p.messageID {
				d = max(d, at+1)
			}
		}
		if _, twice := depth[p.messageID]; !twice && p.messageID != "" {
			depth[p.messageID] = d
		}
		row, err := scanListRow(byID[p.folder])(s.r.QueryRowContext(ctx, listOne, p.message))
		if err != nil {
			return page, fail(err)
		}
		row.Depth, row.Thread = d, len(shown)
		page.Rows = append(page.Rows, row)
	}
	slices.Reverse(page.Rows)
	page.Total = len(page.Rows)
	return page, nil
}
