package inbox

import (
	"context"
	"errors"

	"skrzynka/mail"
	"skrzynka/mail/mirror"
)

// push replays the journal: what a person did while the server could not be
// asked, in the order it was done. An entry the server refuses is undone here,
// and only that one; an entry whose outcome was lost is tried again, since flags
// and moves by UID can be repeated.
func (p *pass) push(ctx context.Context) error {
	entries, err := p.store.OpenJournal(ctx, p.Account.Name)
	if err != nil || len(entries) == 0 {
		return err
	}
	for len(entries) > 0 {
		n := alike(entries)
		if err := p.pushAlike(ctx, entries[:n]); err != nil {
			return err
		}
		entries = entries[n:]
	}
	return nil
}

// alike counts the entries at the front that one command can carry out.
func alike(e []mail.JournalEntry) int {
	n := 1
	for n < len(e) && n < headerBatch && e[n].Action == e[0].Action && e[n].Flag == e[0].Flag && e[n].On == e[0].On &&
		e[n].Folder.ID == e[0].Folder.ID && e[n].UID.Validity == e[0].UID.Validity && e[n].ToFolder.ID == e[0].ToFolder.ID {
		n++
	}
	return n
}

func (p *pass) pushAlike(ctx context.Context, e []mail.JournalEntry) error {
	uids := make([]uint32, len(e))
	for i := range e {
		uids[i] = e[i].UID.UID
	}
	session, err := p.session(ctx)
	if err != nil {
		return err
	}
	for i := range e {
		if err := p.store.JournalBegun(ctx, e[i].ID); err != nil {
			return err
		}
	}
	var moved map[uint32]mail.UID
	if e[0].Action == mail.JournalMove {
		moved, err = p.pushMove(ctx, session, e, uids)
	} else {
		err = session.StoreFlags(ctx, e[0].Folder.Name, e[0].UID.Validity, uids, flagOp(e[0].On), []string{imapFlag(e[0].Flag)})
	}
	why := ""
	if err != nil {
		why = mail.AsError(err).Text
	}
	refused := mirror.Refused(err) || errors.Is(err, mirror.ErrUIDValidityChanged) || errors.Is(err, mail.ErrCode(mail.CodeInvalid))
	if err != nil && !refused {
		return err
	}
	for i := range e {
		if refused {
			err = p.store.JournalFailed(ctx, e[i].ID, why)
		} else {
			err = p.store.JournalDone(ctx, e[i].ID, moved[e[i].UID.UID])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *pass) pushMove(ctx context.Context, s *mirror.Session, e []mail.JournalEntry, uids []uint32) (map[uint32]mail.UID, error) {
	res, err := s.Move(ctx, e[0].Folder.Name, e[0].UID.Validity, uids, e[0].ToFolder.Name)
	if err != nil {
		return nil, err
	}
	moved := map[uint32]mail.UID{}
	for from, to := range res.UIDs {
		moved[from] = mail.UID{Validity: res.UIDValidity, UID: to}
	}
	return moved, nil
}

func flagOp(on bool) mirror.FlagOp {
	if on {
		return mirror.FlagsAdd
	}
	return mirror.FlagsRemove
}

func imapFlag(name mail.FlagName) string {
	switch name {
	case mail.FlagSeen:
		return `\Seen`
	case mail.FlagAnswered:
		return `\Answered`
	}
	return `\Flagged`
}
