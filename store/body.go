package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"skrzynka/mail"
)

// maxBody bounds the memory of a damaged compressed body.
const maxBody = 1 << 30

// packWindow bounds how far back the compression looks.
const packWindow = 128 << 10

var (
	encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(packWindow))
	})
	decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxBody))
	})
)

// Pack makes a message's bytes ready to be stored: their digest, and what gets
// smaller by it compressed. It needs no database and may run on any goroutine.
func Pack(raw []byte) (*mail.PackedBody, error) {
	p := &mail.PackedBody{Digest: sha256.Sum256(raw), Bytes: nonNil(raw)}
	if len(raw) < 256 || encodedFiles(raw) {
		return p, nil
	}
	e, err := encoder()
	if err != nil {
		return nil, mail.Errorf(mail.CodeInternal, "", "A message cannot be compressed: %w.", err)
	}
	if out := e.EncodeAll(raw, make([]byte, 0, len(raw)/2)); len(out) < len(raw)*9/10 {
		p.Encoding, p.Bytes = "zstd", out
	}
	return p, nil
}

// encodedFiles reports whether most of a message is base64 (RFC 2045): pictures
// and archives, for which compression costs more time than the disk it saves.
// It looks at five places.
func encodedFiles(raw []byte) bool {
	const places, width = 5, 160
	if len(raw) < 16<<10 {
		return false
	}
	n := 0
	for i := 1; i <= places; i++ {
		at := len(raw) * i / (places + 1)
		if !bytes.ContainsAny(raw[at:at+width], " <>=:;-_.,\t") {
			n++
		}
	}
	return n > places/2
}

// PackBody fills in b.Packed; see [Pack].
func (s *Store) PackBody(b *mail.NewBody) (err error) {
	if b.Packed == nil {
		b.Packed, err = Pack(b.Raw)
	}
	return err
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
	for i := range list { // outside of the transaction: it takes time
		if err := s.PackBody(&list[i]); err != nil {
			return err
		}
	}
	return s.write(ctx, func(t *tx) error {
		p := t.newBodies()
		defer p.close()
		for i := range list {
			if err := p.put(&list[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// bodies stores the bodies of one batch. Whatever stores a body comes through
// store, with the message's id set.
type bodies struct {
	t                                       *tx
	insert, find, read, update, poison, ref *sql.Stmt
}

func (t *tx) newBodies() *bodies { return &bodies{t: t} }

func (p *bodies) close() {
	for _, s := range []*sql.Stmt{p.insert, p.find, p.read, p.update, p.poison, p.ref} {
		if s != nil {
			_ = s.Close()
		}
	}
}

// stmt prepares a statement once.
func (p *bodies) stmt(into **sql.Stmt, query string) (*sql.Stmt, error) {
	if *into != nil {
		return *into, nil
	}
	s, err := p.t.PrepareContext(p.t.ctx, query)
	if err == nil {
		*into = s
	}
	return s, err
}

// store keeps the bytes and returns their row.
func (p *bodies) store(b *mail.NewBody) (id int64, err error) {
	insert, err := p.stmt(&p.insert, `INSERT OR IGNORE INTO body (digest, size, encoding, bytes) VALUES (?,?,?,?)`)
	if err != nil {
		return 0, err
	}
	res, err := insert.ExecContext(p.t.ctx, b.Packed.Digest[:], len(b.Raw), b.Packed.Encoding, b.Packed.Bytes)
	if err != nil {
		return 0, err
	}
	if n, err := res.RowsAffected(); err != nil || n > 0 {
		id, e := res.LastInsertId()
		return id, errors.Join(err, e)
	}
	find, err := p.stmt(&p.find, `SELECT id FROM body WHERE digest = ?`)
	if err != nil {
		return 0, err
	}
	return id, find.QueryRowContext(p.t.ctx, b.Packed.Digest[:]).Scan(&id)
}

// put gives a stored message its body.
func (p *bodies) put(b *mail.NewBody) error {
	t := p.t
	read, err := p.stmt(&p.read, `SELECT c.name, m.folder_id, m.uid_validity, m.uid FROM message m JOIN account c ON c.id = m.account_id WHERE m.id = ?`)
	if err != nil {
		return err
	}
	var account string
	var folder, validity, uid int64
	there, err := scanRow(read.QueryRowContext(t.ctx, b.ID), &account, &folder, &validity, &uid)
	if err != nil || !there {
		return err
	}
	body, err := p.store(b)
	if err != nil {
		return err
	}
	update, err := p.stmt(&p.update, `UPDATE message SET body_id = ?1, header = NULL, message_id = ?2, in_reply_to = ?3, refs = ?4, from_name = ?5, from_addr = ?6,
			to_text = ?7, subject = ?8, snippet = ?9, attachments = ?10, date = CASE WHEN ?11 = 0 THEN date ELSE ?11 END WHERE id = ?12`)
	if err != nil {
		return err
	}
	m := &b.Summary
	if _, err := update.ExecContext(t.ctx, body, m.RFCMessageID, m.InReplyTo, strings.Join(m.References, " "), m.From.Name, m.From.Addr,
		m.To, m.Subject, m.Snippet, m.Attachments, ms(m.Date), b.ID); err != nil {
		return err
	}
	poison, err := p.stmt(&p.poison, `DELETE FROM poison WHERE folder_id = ? AND uid_validity = ? AND uid = ?`)
	if err != nil {
		return err
	}
	if _, err := poison.ExecContext(t.ctx, folder, validity, uid); err != nil {
		return err
	}
	t.changed("messages", account, itoa(b.ID))
	return p.refs(b)
}

// refs keeps the Message-IDs a message answers or reports about.
func (p *bodies) refs(b *mail.NewBody) error {
	if len(b.Summary.References) == 0 && b.Summary.InReplyTo == "" && len(b.Reports) == 0 {
		return nil
	}
	ref, err := p.stmt(&p.ref, `INSERT OR IGNORE INTO message_ref (ref, message_id, how) VALUES (?,?,?)`)
	if err != nil {
		return err
	}
	if err := putRefs(p.t.ctx, ref, b.ID, &b.Summary); err != nil {
		return err
	}
	for _, r := range b.Reports[:min(len(b.Reports), maxRefs)] {
		if _, err := ref.ExecContext(p.t.ctx, r, b.ID, "bounce"); err != nil {
			return err
		}
	}
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
