package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"skrzynka/mail"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// The unary plus in conditions on account_id keeps SQLite from walking through
// all messages of the account instead of the few a Message-ID finds.
const messageColumns = `m.id, c.name, m.folder_id, f.name, f.kind, m.uid_validity, m.uid, m.mod_seq, m.seen, m.flagged, m.answered,
	m.draft, m.deleted, m.keywords, m.internal_date, m.size, m.message_id, m.in_reply_to, m.refs, m.from_name, m.from_addr,
	m.to_text, m.subject, m.snippet, m.attachments, m.date, m.header, m.body_id IS NOT NULL, coalesce(m.vanished_at,0)
	FROM message m JOIN folder f ON f.id = m.folder_id JOIN account c ON c.id = m.account_id `

func scanMessage(r scanner) (m mail.StoredMessage, err error) {
	var words, refs string
	var uid, internal, date, vanished int64
	s := &m.Summary
	if err = r.Scan(&m.ID, &m.Account, &m.FolderID, &m.Folder, &m.Kind, &m.UID.Validity, &uid, &m.ModSeq, &m.Flags.Seen, &m.Flags.Flagged, &m.Flags.Answered,
		&m.Flags.Draft, &m.Flags.Deleted, &words, &internal, &m.Size, &s.RFCMessageID, &s.InReplyTo, &refs, &s.From.Name, &s.From.Addr,
		&s.To, &s.Subject, &s.Snippet, &s.Attachments, &date, &m.Header, &m.HasBody, &vanished); err != nil {
		return m, err
	}
	if m.UID.Validity != 0 {
		m.UID.UID = uint32(uid)
	}
	m.Flags.Keywords, s.References = strings.Fields(words), strings.Fields(refs)
	m.InternalDate, s.Date, m.VanishedAt = at(internal), at(date), at(vanished)
	return m, nil
}

// Message returns one stored message, also one that has vanished from the server.
func (s *Store) Message(ctx context.Context, id int64) (mail.StoredMessage, error) {
	found, err := all(ctx, s.r, scanMessage, `SELECT `+messageColumns+`WHERE m.id = ?`, id)
	if err != nil {
		return mail.StoredMessage{}, err
	}
	if len(found) == 0 {
		return mail.StoredMessage{}, notFound("There is no message %d.", id)
	}
	return found[0], nil
}

// MessageAccounts says to which account each of the messages belongs; what is
// not there is left out.
func (s *Store) MessageAccounts(ctx context.Context, ids []int64) (map[int64]string, error) {
	rows, err := s.r.QueryContext(ctx, `SELECT m.id, c.name FROM json_each(?) w CROSS JOIN message m ON m.id = w.value JOIN account c ON c.id = m.account_id`, toJSON(ids))
	if err != nil {
		return nil, fail(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	out := make(map[int64]string, len(ids))
	for rows.Next() {
		var id int64
		var name string
		if err := rows.Scan(&id, &name); err != nil {
			return nil, fail(err)
		}
		out[id] = name
	}
	return out, fail(rows.Err())
}

// MessagesByMessageID returns the messages of an account that carry a
// Message-ID (brackets included), newest first.
func (s *Store) MessagesByMessageID(ctx context.Context, account, rfcMessageID string) ([]mail.StoredMessage, error) {
	if rfcMessageID == "" {
		return nil, nil
	}
	return all(ctx, s.r, scanMessage, `SELECT `+messageColumns+`WHERE m.message_id = ? AND m.message_id <> ''
			AND +m.account_id = (SELECT id FROM account WHERE name = ?) ORDER BY m.date DESC, m.id DESC`,
		rfcMessageID, account)
}

// Mentions lists the stored messages received since a time that carry one of
// the Message-IDs themselves, answer it, or are a delivery report about it;
// oldest first.
func (s *Store) Mentions(ctx context.Context, account string, ids []string, since time.Time) ([]mail.Mention, error) {
	out := []mail.Mention{}
	for _, id := range ids {
		if id == "" {
			continue
		}
		found, err := all(ctx, s.r, scanMention, `SELECT m.id, f.name, f.kind, m.from_addr, m.subject, m.internal_date, hit.how FROM (
				SELECT id, 'self' AS how FROM message WHERE message_id = ?1 AND message_id <> ''
				UNION ALL SELECT message_id, how FROM message_ref WHERE ref = ?1) hit
			JOIN message m ON m.id = hit.id JOIN folder f ON f.id = m.folder_id
			WHERE +m.account_id = (SELECT id FROM account WHERE name = ?2) AND m.internal_date >= ?3 ORDER BY m.internal_date, m.id LIMIT 200`, id, account, ms(since))
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

func scanMention(r scanner) (m mail.Mention, err error) {
	var when int64
	err = r.Scan(&m.MessageID, &m.Folder, &m.Kind, &m.From, &m.Subject, &when, &m.How)
	m.Date = at(when)
	return m, err
}
