package mirror

import (
	"context"

	"github.com/emersion/go-imap/v2"

	"skrzynka/mail"
)

// FlagOp is what StoreFlags does with the flags.
type FlagOp string

// The operations.
const (
	FlagsAdd    FlagOp = "add"
	FlagsRemove FlagOp = "remove"
)

// StoreFlags adds or removes flags ("\\Seen", "$Junk") of messages. Messages
// that are gone are passed over.
func (s *Session) StoreFlags(ctx context.Context, folder string, validity uint32, uids []uint32, op FlagOp, flags []string) error {
	if len(flags) == 0 || !validFlags(flags) || op != FlagsAdd && op != FlagsRemove {
		return mail.Errorf(mail.CodeInvalid, "Nothing was changed.", "These flags cannot be set.")
	}
	return s.run(ctx, "changing flags", smallBudget, func() error {
		if _, err := s.openAt(folder, validity, false); err != nil {
			return err
		}
		return s.store(uids, op, flags)
	})
}

func (s *Session) store(uids []uint32, op FlagOp, flags []string) error {
	how := imap.StoreFlags{Op: imap.StoreFlagsAdd, Silent: true, Flags: imapFlags(flags)}
	if op == FlagsRemove {
		how.Op = imap.StoreFlagsDel
	}
	for _, part := range SetOf(uids).commands() {
		s.w.begin(midBudget)
		if err := s.client.Store(part, &how, nil).Close(); err != nil {
			return err
		}
	}
	return nil
}

// Moved is what a move or a deletion did.
type Moved struct {
	// UIDValidity and UIDs say where the messages are now: old UID to new. They
	// are empty where the server did not tell (no UIDPLUS).
	UIDValidity uint32
	UIDs        map[uint32]uint32
	Copied      bool // the messages are in the destination
	// Left: the originals are only marked \Deleted, because the server cannot
	// expunge single messages. Another client, or the server, may expunge them.
	Left bool
}

// Move moves messages to the folder dest: with MOVE where the server has it,
// else by COPY, marking as deleted, and expunging exactly these UIDs. A plain
// EXPUNGE, which would take along whatever else is marked, is never given. On
// an error the result says how far it got: Copied without a nil error means
// that the messages may be in both folders.
func (s *Session) Move(ctx context.Context, folder string, validity uint32, uids []uint32, dest string) (Moved, error) {
	out := Moved{UIDs: map[uint32]uint32{}}
	if dest == "" || dest == folder {
		return out, mail.Errorf(mail.CodeInvalid, "Choose another folder.", "Messages cannot be moved there.")
	}
	err := s.run(ctx, "moving messages", midBudget, func() error {
		if _, err := s.openAt(folder, validity, false); err != nil {
			return err
		}
		for _, part := range SetOf(uids).commands() {
			s.w.begin(midBudget)
			if err := s.transfer(part, dest, len(uids), &out); err != nil {
				return err
			}
		}
		out.Copied = true
		if s.caps.Move {
			return nil
		}
		return s.expunge(uids, &out)
	})
	return out, err
}

// transfer gives one MOVE or COPY and notes where the messages went.
func (s *Session) transfer(part imap.UIDSet, dest string, limit int, out *Moved) error {
	var from, to imap.NumSet
	if s.caps.Move {
		data, err := s.client.Move(part, dest).Wait()
		if err != nil {
			return err
		}
		out.UIDValidity, from, to = data.UIDValidity, data.SourceUIDs, data.DestUIDs
	} else {
		data, err := s.client.Copy(part, dest).Wait()
		if err != nil {
			return err
		}
		out.UIDValidity, from, to = data.UIDValidity, data.SourceUIDs, data.DestUIDs
	}
	// A COPYUID that makes no sense is no reason to call a move failed.
	old, err1 := expand(from, limit)
	new, err2 := expand(to, limit)
	if err1 != nil || err2 != nil || len(old) != len(new) {
		return nil
	}
	for i := range old {
		out.UIDs[old[i]] = new[i]
	}
	return nil
}

// Delete marks messages as deleted and expunges exactly them. Without UIDPLUS
// they stay marked and Left is set.
func (s *Session) Delete(ctx context.Context, folder string, validity uint32, uids []uint32) (Moved, error) {
	var out Moved
	err := s.run(ctx, "deleting messages", midBudget, func() error {
		if _, err := s.openAt(folder, validity, false); err != nil {
			return err
		}
		return s.expunge(uids, &out)
	})
	return out, err
}

func (s *Session) expunge(uids []uint32, out *Moved) error {
	if err := s.store(uids, FlagsAdd, []string{string(imap.FlagDeleted)}); err != nil {
		return err
	}
	out.Left = !s.caps.UIDPlus
	if out.Left {
		return nil
	}
	for _, part := range SetOf(uids).commands() {
		s.w.begin(midBudget)
		if err := s.client.UIDExpunge(part).Close(); err != nil {
			return err
		}
	}
	return nil
}
