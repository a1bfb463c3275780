package store

import (
	"context"
	"crypto/sha256"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"skrzynka/mail"
)

// maxBody bounds the memory of a damaged compressed body.
const maxBody = 1 << 30

var (
	encoder = sync.OnceValues(func() (*zstd.Encoder, error) { return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)) })
	decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxBody))
	})
)

// pack compresses what gets smaller by it.
func pack(raw []byte) (encoding string, out []byte, err error) {
	if len(raw) < 256 {
		return "", nonNil(raw), nil
	}
	e, err := encoder()
	if err != nil {
		return "", nil, err
	}
	out = e.EncodeAll(raw, nil)
	if len(out) > len(raw)*9/10 {
		return "", raw, nil
	}
	return "zstd", out, nil
}

func unpack(encoding string, b []byte) ([]byte, error) {
	if encoding == "" {
		return b, nil
	}
	d, err := decoder()
	if err != nil {
		return nil, err
	}
	return d.DecodeAll(b, nil)
}

// PutBodies stores whole messages. The same bytes are kept once, in however
// many folders they are. A message that is no longer there is passed over.
func (s *Store) PutBodies(ctx context.Context, list []mail.NewBody) error {
	type packed struct {
		encoding string
		bytes    []byte
	}
	ready := make([]packed, len(list)) // outside of the transaction: it takes time
	for i := range list {
		enc, b, err := pack(list[i].Raw)
		if err != nil {
			return mail.Errorf(mail.CodeInternal, "", "A message cannot be compressed: %w.", err)
		}
		ready[i] = packed{enc, b}
	}
	return s.write(ctx, func(t *tx) error {
		for i := range list {
			if err := t.putBody(&list[i], ready[i].encoding, ready[i].bytes); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *tx) putBody(b *mail.NewBody, encoding string, bytes []byte) error {
	digest := sha256.Sum256(b.Raw)
	var body int64
	ok, err := t.row(`SELECT id FROM body WHERE digest = ?`, []any{digest[:]}, &body)
	if err != nil {
		return err
	}
	var account string
	var folder, validity, uid int64
	there, err := t.row(`SELECT c.name, m.folder_id, m.uid_validity, m.uid FROM message m JOIN account c ON c.id = m.account_id WHERE m.id = ?`,
		[]any{b.ID}, &account, &folder, &validity, &uid)
	if err != nil || !there {
		return err
	}
	if !ok {
		res, err := t.ExecContext(t.ctx, `INSERT INTO body (digest, size, encoding, bytes) VALUES (?,?,?,?)`, digest[:], len(b.Raw), encoding, bytes)
		if err != nil {
			return err
		}
		if body, err = res.LastInsertId(); err != nil {
			return err
		}
	}
	m := &b.Summary
	if _, err := t.exec(`UPDATE message SET body_id = ?1, header = NULL, message_id = ?2, in_reply_to = ?3, refs = ?4, from_name = ?5, from_addr = ?6,
			to_text = ?7, subject = ?8, snippet = ?9, attachments = ?10, date = CASE WHEN ?11 = 0 THEN date ELSE ?11 END WHERE id = ?12`,
		body, m.RFCMessageID, m.InReplyTo, strings.Join(m.References, " "), m.From.Name, m.From.Addr, m.To, m.Subject, m.Snippet, m.Attachments,
		ms(m.Date), b.ID); err != nil {
		return err
	}
	if _, err := t.exec(`DELETE FROM poison WHERE folder_id = ? AND uid_validity = ? AND uid = ?`, folder, validity, uid); err != nil {
		return err
	}
	stmt, err := t.PrepareContext(t.ctx, `INSERT OR IGNORE INTO message_ref (ref, message_id, how) VALUES (?,?,?)`)
	if err != nil {
		return err
	}
	defer stmt.Close() //nolint:errcheck // nothing depends on it
	if err := putRefs(t.ctx, stmt, b.ID, m); err != nil {
		return err
	}
	for _, r := range b.Reports[:min(len(b.Reports), maxRefs)] {
		if _, err := stmt.ExecContext(t.ctx, r, b.ID, "bounce"); err != nil {
			return err
		}
	}
	t.changed("messages", account, itoa(b.ID))
	return nil
}

// Bodyless lists messages of a folder whose body is not here yet, newest
// first: what is still to be fetched. One that failed five times is left out.
func (s *Store) Bodyless(ctx context.Context, folderID int64, limit int) ([]mail.Bodyless, error) {
	return all(ctx, s.r, func(r scanner) (b mail.Bodyless, err error) {
		err = r.Scan(&b.ID, &b.UID, &b.Size)
		return b, err
	}, `SELECT m.id, m.uid, m.size FROM message m JOIN folder f ON f.id = m.folder_id
		WHERE m.folder_id = ? AND m.body_id IS NULL AND m.vanished_at IS NULL AND m.uid_validity = f.uid_validity
			AND NOT EXISTS (SELECT 1 FROM poison p WHERE p.folder_id = m.folder_id AND p.uid_validity = m.uid_validity AND p.uid = m.uid AND p.tries >= 5)
		ORDER BY m.date DESC, m.id DESC LIMIT ?`, folderID, limit)
}

// RawMessage returns a message's bytes as the server gave them; NOT_FOUND
// while only its header is here.
func (s *Store) RawMessage(ctx context.Context, id int64) ([]byte, error) {
	var encoding string
	var b []byte
	ok, err := scanRow(s.r.QueryRowContext(ctx, `SELECT b.encoding, b.bytes FROM message m JOIN body b ON b.id = m.body_id WHERE m.id = ?`, id), &encoding, &b)
	if err != nil {
		return nil, fail(err)
	}
	if !ok {
		return nil, mail.Errorf(mail.CodeNotFound, "It is fetched at the next sync.", "The whole of message %d is not here yet.", id)
	}
	raw, err := unpack(encoding, b)
	if err != nil {
		return nil, mail.Errorf(mail.CodeStore, "", "The bytes of message %d are damaged: %w.", id, err)
	}
	return raw, nil
}
