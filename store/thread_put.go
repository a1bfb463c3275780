package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"time"
	"unicode/utf8"

	"skrzynka/mail/query"
)

// Limits of what ties messages together.
const (
	threadRefs      = 24                  // Message-IDs of one message that are followed
	subjectNear     = 30 * 24 * time.Hour // how far apart messages of one subject may be
	subjectLength   = 8                   // shorter subjects tie nothing
	subjectPrefixes = 8                   // "Re: Fwd: Re: …" taken off at most
)

// PutThreads looks for the conversations of messages that have none yet, at
// most limit of them in one transaction, and returns how many it looked at.
// What ties messages together is that one names the other, or that both name
// the same third one, which need not be here; cycles do not matter. A message
// that names none belongs to the last one of its subject if one of the two is
// an answer by its prefix. Conversations that turn out to be one become one.
func (s *Store) PutThreads(ctx context.Context, limit int) (n int, err error) {
	err = s.write(ctx, func(t *tx) error {
		list, err := all(ctx, t, scanThreadless, `SELECT m.id, m.account_id, m.message_id, m.in_reply_to, m.refs, m.subject, m.date
			FROM message m INDEXED BY message_unthreaded WHERE m.thread_id = 0 ORDER BY m.id LIMIT ?`, limit)
		if err != nil {
			return err
		}
		for i := range list {
			if err := t.thread(&list[i]); err != nil {
				return err
			}
		}
		if n = len(list); n > 0 {
			t.changed("messages", "", "")
		}
		return nil
	})
	return n, err
}

// threadless is what is known of a message without a conversation.
type threadless struct {
	id, account                int64
	messageID, inReplyTo, refs string
	subject                    string
	date                       int64
}

func scanThreadless(r scanner) (m threadless, err error) {
	err = r.Scan(&m.id, &m.account, &m.messageID, &m.inReplyTo, &m.refs, &m.subject, &m.date)
	return m, err
}

// threadHash is the key of a Message-ID or a subject of an account.
func threadHash(account int64, kind, text string) int64 {
	sum := sha256.Sum256([]byte(kind + itoa(account) + "\x00" + text))
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 1)
}

func (t *tx) thread(m *threadless) error {
	refs := strings.Fields(m.refs)
	if len(refs) > threadRefs {
		refs = append(refs[:2:2], refs[len(refs)-threadRefs+2:]...)
	}
	named := refs
	if m.inReplyTo != "" {
		named = append(named, m.inReplyTo)
	}
	keys := []int64{}
	for _, id := range append(named[:len(named):len(named)], m.messageID) {
		if id != "" {
			keys = append(keys, threadHash(m.account, "id", id))
		}
	}
	found := map[int64]bool{}
	for _, k := range keys {
		var id int64
		ok, err := t.row(`SELECT thread_id FROM thread_key WHERE key = ?`, []any{k}, &id)
		if err != nil {
			return err
		}
		if ok {
			found[id] = true
		}
	}
	if len(named) == 0 {
		if err := t.subjectThreads(m, found); err != nil {
			return err
		}
	}
	target := m.id
	for id := range found {
		target = min(target, id)
	}
	for id := range found {
		if id == target {
			continue
		}
		if _, err := t.exec(`UPDATE message SET thread_id = ?1 WHERE thread_id = ?2 AND thread_id <> 0`, target, id); err != nil {
			return err
		}
		if _, err := t.exec(`UPDATE thread_key SET thread_id = ?1 WHERE thread_id = ?2`, target, id); err != nil {
			return err
		}
	}
	for _, k := range keys {
		if _, err := t.exec(`INSERT OR IGNORE INTO thread_key (key, thread_id) VALUES (?,?)`, k, target); err != nil {
			return err
		}
	}
	_, err := t.exec(`UPDATE message SET thread_id = ? WHERE id = ?`, target, m.id)
	return err
}

// subjectThreads adds the conversations that a message which names no other
// belongs to by its subject, and notes its own.
func (t *tx) subjectThreads(m *threadless, found map[int64]bool) error {
	base, answer := BaseSubject(m.subject)
	if utf8.RuneCountInString(base) < subjectLength {
		return nil
	}
	key := threadHash(m.account, "subject", base)
	near := subjectNear.Milliseconds()
	var id int64
	var theirs bool
	ok, err := t.row(`SELECT m.thread_id, s.answer FROM thread_subject s JOIN message m ON m.id = s.message_id
		WHERE s.key = ? AND s.date <= ? AND s.date >= ? ORDER BY s.date DESC LIMIT 1`, []any{key, m.date, m.date - near}, &id, &theirs)
	if err != nil {
		return err
	}
	if ok && answer && id != 0 {
		found[id] = true
	}
	ok, err = t.row(`SELECT m.thread_id, s.answer FROM thread_subject s JOIN message m ON m.id = s.message_id
		WHERE s.key = ? AND s.date > ? AND s.date <= ? ORDER BY s.date LIMIT 1`, []any{key, m.date, m.date + near}, &id, &theirs)
	if err != nil {
		return err
	}
	if ok && theirs && id != 0 {
		found[id] = true
	}
	_, err = t.exec(`INSERT OR IGNORE INTO thread_subject (key, date, message_id, answer) VALUES (?,?,?,?)`, key, m.date, m.id, answer)
	return err
}

// replyPrefixes are the words programs put before the subject of an answer,
// folded and in lower case, in the languages they come in.
var replyPrefixes = map[string]bool{"re": true, "aw": true, "sv": true, "vs": true, "odp": true, "rv": true, "r": true, "ref": true, "antw": true,
	"antwort": true, "ynt": true, "回复": true, "答复": true, "回覆": true, "fw": true, "fwd": true, "wg": true, "tr": true, "enc": true, "pd": true, "转发": true}

// BaseSubject takes the prefixes of answers and forwarded mail off a subject,
// folds it to lower case, and says whether there was one.
func BaseSubject(subject string) (base string, answer bool) {
	s := strings.TrimSpace(subject)
	for range subjectPrefixes {
		i := strings.IndexAny(s, ":：")
		if i <= 0 || i > 20 {
			break
		}
		word := strings.ToLower(strings.TrimRight(strings.TrimSpace(s[:i]), "0123456789[]() "))
		if !replyPrefixes[word] {
			break
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		s, answer = strings.TrimSpace(s[i+size:]), true
	}
	return strings.ToLower(query.Fold(s)), answer
}
