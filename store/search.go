package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"skrzynka/mail"
	"skrzynka/mail/query"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

// searchPage answers a list with a query: newest first, each mail once even
// where it is in several folders. Cursor.Date is a place in the index when
// there are words to find, else a date.
func (s *Store) searchPage(ctx context.Context, q view.ListQuery, limit int) (view.Page, error) {
	p := query.Parse(q.Scope.Query, s.clock.Now())
	page := view.Page{Rows: []view.MessageRow{}, Hint: safe.Line(strings.Join(p.Hints, " "))}
	if p.Empty() {
		return page, nil
	}
	folders, missing, err := s.searchFolders(ctx, q.Scope, &p)
	if err != nil {
		return view.Page{}, err
	}
	if missing != "" {
		page.Hint = safe.Line(strings.TrimSpace("There is no folder “" + missing + "”. " + page.Hint.String()))
	}
	if len(folders) == 0 {
		return page, nil
	}
	where, args := conditions(&p, folders)
	if p.Match != "" {
		page.Rows, err = s.matches(ctx, q, &p, where, args, folders, limit)
	} else {
		page.Rows, err = s.filtered(ctx, q, &p, where, args, folders, limit)
	}
	page.Total = -1
	if q.From == (view.Cursor{}) && len(page.Rows) < limit {
		page.Total = len(page.Rows)
	}
	return page, err
}

// searchFolders lists the folders a query covers by id, and the first one it
// names that is not there.
func (s *Store) searchFolders(ctx context.Context, sc view.Scope, p *query.Query) (map[int64]mail.Folder, string, error) {
	list, err := s.scope(ctx, sc)
	if err != nil {
		return nil, "", err
	}
	named := func(f mail.Folder, names []string) bool {
		return slices.ContainsFunc(names, func(n string) bool {
			last := f.Name
			if f.Delimiter != "" {
				last = f.Name[strings.LastIndex(f.Name, f.Delimiter)+1:]
			}
			return strings.EqualFold(n, f.Name) || strings.EqualFold(n, last) || f.Kind != "" && strings.EqualFold(n, string(f.Kind))
		})
	}
	missing := ""
	for _, n := range slices.Concat(p.In, p.NotIn) {
		if !slices.ContainsFunc(list, func(f mail.Folder) bool { return named(f, []string{n}) }) && missing == "" {
			missing = n
		}
	}
	out := map[int64]mail.Folder{}
	for _, f := range list {
		if (len(p.In) == 0 || named(f, p.In)) && !named(f, p.NotIn) {
			out[f.ID] = f
		}
	}
	return out, missing, nil
}

// conditions are the terms on m that a query asks for beside words.
func conditions(p *query.Query, folders map[int64]mail.Folder) (where string, args []any) {
	flag := func(b *bool, yes, no string) {
		switch {
		case b == nil:
		case *b:
			where += " AND " + yes
		default:
			where += " AND " + no
		}
	}
	flag(p.Unread, "m.seen = 0", "m.seen = 1")
	flag(p.Flagged, "m.flagged = 1", "m.flagged = 0")
	flag(p.Answered, "m.answered = 1", "m.answered = 0")
	flag(p.Draft, "m.draft = 1", "m.draft = 0")
	flag(p.Attachment, "m.attachments > 0", "m.attachments = 0")
	if !p.After.IsZero() {
		where += " AND m.date >= ?"
		args = append(args, ms(p.After))
	}
	if !p.Before.IsZero() {
		where += " AND m.date < ?"
		args = append(args, ms(p.Before))
	}
	for _, st := range p.Status {
		where += " AND m.id IN (SELECT a.message_id FROM attempt a WHERE a.status = ? AND a.message_id IS NOT NULL)"
		args = append(args, st)
	}
	for _, st := range p.NotStatus {
		where += " AND m.id NOT IN (SELECT a.message_id FROM attempt a WHERE a.status = ? AND a.message_id IS NOT NULL)"
		args = append(args, st)
	}
	return where, args
}

// hit is one place of a body that matched.
type hit struct{ doc, message, folder, body int64 }

// matches reads hits of the full-text index in the order of its ids, which is
// that of dates, until a page is full.
func (s *Store) matches(ctx context.Context, q view.ListQuery, p *query.Query, where string, args []any, folders map[int64]mail.Folder, limit int) ([]view.MessageRow, error) {
	match := p.Match
	if p.Without != "" {
		match = "(" + match + ") NOT (" + p.Without + ")"
	}
	low, high := int64(0), int64(1)<<62
	if !p.After.IsZero() {
		low = docBase(ms(p.After)) - docsAMinute
	}
	order := "DESC"
	switch set := q.From != (view.Cursor{}); {
	case q.Back:
		order = "ASC"
		low = max(low, q.From.Date)
	case set:
		high = q.From.Date
	}
	rows, err := s.r.QueryContext(ctx, `SELECT search.rowid, m.id, m.folder_id, m.body_id FROM search
		CROSS JOIN indexed i ON i.id = search.rowid CROSS JOIN message m INDEXED BY message_body ON m.body_id = i.body_id
		WHERE search MATCH ? AND search.rowid >= ? AND search.rowid <= ? AND m.vanished_at IS NULL`+where+` ORDER BY search.rowid `+order,
		append([]any{match, low, high}, args...)...)
	if err != nil {
		return nil, fail(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	var found []hit
	for rows.Next() {
		var h hit
		if err := rows.Scan(&h.doc, &h.message, &h.folder, &h.body); err != nil {
			return nil, fail(err)
		}
		f, ok := folders[h.folder]
		if !ok {
			continue
		}
		if n := len(found); n > 0 && found[n-1].doc == h.doc {
			if better(f, folders[found[n-1].folder]) {
				found[n-1] = h
			}
			continue
		}
		if len(found) > 0 && !beyond(q, found[len(found)-1]) {
			found = found[:len(found)-1] // not after the cursor: seen on the page before
		}
		if len(found) == limit {
			break
		}
		found = append(found, h)
	}
	if err := rows.Err(); err != nil {
		return nil, fail(err)
	}
	if n := len(found); n > 0 && !beyond(q, found[n-1]) {
		found = found[:n-1]
	}
	return s.hitRows(ctx, found, folders)
}

// beyond reports whether a hit lies after the cursor of a query, in the
// direction in which it reads.
func beyond(q view.ListQuery, h hit) bool {
	if q.From == (view.Cursor{}) {
		return true
	}
	c := cmp.Or(cmp.Compare(h.doc, q.From.Date), cmp.Compare(h.message, q.From.ID))
	return q.Back && c > 0 || !q.Back && c < 0
}

// better reports whether a mail that is in both folders is shown in a.
func better(a, b mail.Folder) bool {
	rank := func(f mail.Folder) int {
		switch f.Kind {
		case mail.FolderAll:
			return 2
		case mail.FolderTrash, mail.FolderJunk:
			return 3
		case mail.FolderInbox:
			return 0
		}
		return 1
	}
	return rank(a) < rank(b)
}

// hitRows reads the list's rows of hits, in one statement. What vanished
// meanwhile is left out.
func (s *Store) hitRows(ctx context.Context, found []hit, folders map[int64]mail.Folder) ([]view.MessageRow, error) {
	ids := make([]int64, len(found))
	byID := make(map[int64]hit, len(found))
	for i, h := range found {
		ids[i], byID[h.message] = h.message, h
	}
	rows, err := s.r.QueryContext(ctx, strings.TrimRight(listColumns, " ")+`, m.folder_id FROM json_each(?) w
		CROSS JOIN message m ON m.id = w.value`+latestAnswer+`WHERE m.vanished_at IS NULL`, toJSON(ids))
	if err != nil {
		return nil, fail(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	out := make([]view.MessageRow, 0, len(found))
	var folder int64
	scan := scanListRow(mail.Folder{}, &folder)
	for rows.Next() {
		row, err := scan(rows)
		if err != nil {
			return nil, fail(err)
		}
		f := folders[folder]
		row.Account, row.FolderID, row.Folder = f.Account, f.ID, safe.Line(f.Name)
		row.Cursor = view.Cursor{Date: byID[row.ID].doc, ID: row.ID}
		out = append(out, row)
	}
	sortRows(out)
	return out, fail(rows.Err())
}

// sortRows puts rows in the order of lists, newest first.
func sortRows(rows []view.MessageRow) {
	slices.SortFunc(rows, func(a, b view.MessageRow) int {
		return cmp.Or(cmp.Compare(b.Cursor.Date, a.Cursor.Date), cmp.Compare(b.ID, a.ID))
	})
}

// filtered answers a query without words that must occur: it walks the folders
// by date, as a list does.
func (s *Store) filtered(ctx context.Context, q view.ListQuery, p *query.Query, where string, args []any, folders map[int64]mail.Folder, limit int) ([]view.MessageRow, error) {
	index := "message_list"
	switch {
	case p.Unread != nil && *p.Unread:
		index = "message_unread"
	case p.Flagged != nil && *p.Flagged:
		index = "message_flagged"
	}
	if p.Without != "" {
		where += ` AND coalesce((SELECT i.id FROM indexed i WHERE i.body_id = m.body_id), 0) NOT IN (SELECT rowid FROM search WHERE search MATCH ?)`
		args = append(args, p.Without)
	}
	order := " ORDER BY m.date DESC, m.id DESC LIMIT ?"
	if q.Back {
		order = " ORDER BY m.date, m.id LIMIT ?"
	}
	if q.From != (view.Cursor{}) {
		compare := "<"
		if q.Back {
			compare = ">"
		}
		where += " AND (m.date, m.id) " + compare + " (?,?)"
		args = append(args, q.From.Date, q.From.ID)
	}
	rows := []view.MessageRow{}
	for id, f := range folders {
		part, err := all(ctx, s.r, scanListRow(f), listColumns+`FROM message m INDEXED BY `+index+latestAnswer+
			`WHERE m.folder_id = ? AND m.vanished_at IS NULL`+where+order, append(append([]any{id}, args...), limit)...)
		if err != nil {
			return nil, err
		}
		rows = append(rows, part...)
	}
	sortRows(rows)
	if len(rows) > limit {
		if q.Back {
			rows = rows[len(rows)-limit:]
		} else {
			rows = rows[:limit]
		}
	}
	return rows, nil
}
