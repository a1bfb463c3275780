package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"skrzynka/mail"
)

// HeldRestored is why an attempt waits in a database put back from a backup.
const HeldRestored = "restored"

// instance says which database this is, and how many claims it has seen. It is
// kept in the database and in a file beside it. A database that is behind the
// file is an old copy: what it holds as unsent may have been sent.
type instance struct {
	id      string
	counter int64
}

func (s *Store) instancePath() string { return filepath.Join(s.dir, "instance") }

// instanceTemp has a name of its own for each value: the next transaction may
// prepare its file before this one has published.
func (s *Store) instanceTemp(in instance) string {
	return filepath.Join(s.dir, fmt.Sprintf("instance-%s-%d.tmp", s.owner.ID(), in.counter))
}

// readInstance reads the file; ok is false when there is none that can be read.
func (s *Store) readInstance() (in instance, ok bool) {
	b, err := os.ReadFile(s.instancePath())
	if err != nil {
		return in, false
	}
	f := strings.Fields(string(b))
	if len(f) != 2 || !isID(f[0]) {
		return in, false
	}
	n, err := strconv.ParseInt(f[1], 10, 64)
	if err != nil {
		return in, false
	}
	return instance{f[0], n}, true
}

// prepareInstance writes what will become the file, so that a full disk shows
// before the commit and only a rename is left after it.
func (s *Store) prepareInstance(in instance) error {
	path := s.instanceTemp(in)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return dirError(path, err)
	}
	_, err = fmt.Fprintf(f, "%s %d\n", in.id, in.counter)
	if err == nil {
		err = f.Sync() // a power cut must not leave an empty file behind the rename
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return dirError(path, err)
	}
	return nil
}

// publishInstance makes the prepared file the instance file, unless another
// process was quicker with a later one. A rename that fails leaves the file
// behind the database, which is never taken for a restored backup.
func (s *Store) publishInstance(in instance) {
	s.sidecar.Lock()
	defer s.sidecar.Unlock()
	lock := flock.New(filepath.Join(s.dir, "instance.lock"), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	if lock.Lock() == nil {
		defer lock.Close() //nolint:errcheck // closing is all there is to do
	}
	if have, ok := s.readInstance(); ok && have.id == in.id && have.counter >= in.counter {
		_ = os.Remove(s.instanceTemp(in))
		return
	}
	_ = os.Rename(s.instanceTemp(in), s.instancePath())
}

// bumpEpoch counts one claim, which is what must never happen twice, in this
// transaction.
func (t *tx) bumpEpoch() error {
	var in instance
	ok, err := t.row(`UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'epoch' RETURNING CAST(value AS INTEGER)`, nil, &in.counter)
	if err == nil && ok {
		ok, err = t.row(`SELECT value FROM meta WHERE key = 'instance'`, nil, &in.id)
	}
	if err != nil {
		return err
	}
	if !ok {
		return mail.Errorf(mail.CodeStore, "", "The database has lost its identity.")
	}
	t.epoch = &in
	return nil
}

// openEpoch compares database and file, and starts this Store's part of the
// count. Where they differ everything that would be sent is held, in the same
// transaction that makes them equal again.
func (s *Store) openEpoch(ctx context.Context) error {
	ctx = mail.WithActor(ctx, mail.ActorRecovery)
	return s.write(ctx, func(t *tx) error {
		var db instance
		known, err := t.row(`SELECT i.value, CAST(e.value AS INTEGER) FROM meta i, meta e WHERE i.key = 'instance' AND e.key = 'epoch'`, nil, &db.id, &db.counter)
		if err != nil {
			return err
		}
		file, seen := s.readInstance()
		s.restored = known && (!seen || file.id != db.id || file.counter > db.counter)
		next := instance{db.id, db.counter + 1}
		if !known {
			next = instance{mail.NewID(), 1}
		}
		if s.restored {
			next = instance{mail.NewID(), max(db.counter, file.counter) + 1}
			if err := t.holdRestored(); err != nil {
				return err
			}
		}
		if _, err := t.exec(`INSERT INTO meta (key, value) VALUES ('instance', ?), ('epoch', ?)
			ON CONFLICT (key) DO UPDATE SET value = excluded.value`, next.id, strconv.FormatInt(next.counter, 10)); err != nil {
			return err
		}
		if s.restored || !known {
			// Before the commit, while no other process can look: should the
			// commit fail, the next Open finds the same difference again.
			if err := s.prepareInstance(next); err != nil {
				return err
			}
			s.publishInstance(next)
			return nil
		}
		t.epoch = &next
		return nil
	})
}

// holdRestored makes everything that would be sent by itself wait for a person.
func (t *tx) holdRestored() error {
	const why = "the database was put back from a backup"
	type row struct {
		id      string
		account int64
		what    string
	}
	rows, err := all(t.ctx, t, func(r scanner) (v row, err error) {
		err = r.Scan(&v.what, &v.id, &v.account)
		return v, err
	}, `SELECT 'attempt.held', id, account_id FROM attempt WHERE status = 'pending' AND held = ''
		UNION ALL SELECT 'attempt.retry_stopped', id, account_id FROM attempt WHERE next_try_at IS NOT NULL
		UNION ALL SELECT 'attempt.copy_unknown', id, account_id FROM attempt WHERE status = 'sent' AND copy_status = 'pending'
		UNION ALL SELECT 'draft.unscheduled', CAST(id AS TEXT), account_id FROM draft WHERE send_at IS NOT NULL
		UNION ALL SELECT 'plan.held', id, account_id FROM plan WHERE state IN ('unsent','active','paused')`)
	if err != nil {
		return err
	}
	for _, v := range rows {
		if v.what == "plan.held" {
			p, err := t.plan(v.id)
			if err == nil {
				err = t.setPlan(&p, mail.PlanHeld, time.Time{}, cause{why: why})
			}
			if err != nil {
				return err
			}
			continue
		}
		var n int64
		l := line{account: v.account, action: v.what, subject: "attempt:" + v.id, why: why}
		switch v.what {
		case "attempt.held":
			l.to = HeldRestored
			n, err = t.exec(`UPDATE attempt SET held = ?, updated_at = ? WHERE id = ?`, HeldRestored, t.now, v.id)
		case "attempt.retry_stopped":
			n, err = t.exec(`UPDATE attempt SET next_try_at = NULL, updated_at = ? WHERE id = ?`, t.now, v.id)
		case "attempt.copy_unknown":
			n, err = t.exec(`UPDATE attempt SET copy_status = 'unknown', updated_at = ? WHERE id = ?`, t.now, v.id)
		default:
			l.subject = "draft:" + v.id
			n, err = t.exec(`UPDATE draft SET send_at = NULL, send_owner = '', updated_at = ? WHERE id = ?`, t.now, v.id)
		}
		if err != nil {
			return err
		}
		if n > 0 {
			if err := t.audit(l); err != nil {
				return err
			}
		}
	}
	t.changed("attempts", "", "")
	t.changed("drafts", "", "")
	return nil
}
