package inbox

import (
	"context"
	"errors"
	"slices"

	"skrzynka/mail"
	"skrzynka/mail/mirror"
)

// push replays the journal: what a person did while the server could not be
// asked, in the order it was done. An entry the server refuses is undone here,
// and only that one, and said; an entry whose outcome was lost, or that the
// server cannot carry out now, is tried again, since flags and moves by UID can
// be repeated.
func (p *pass) push(ctx context.Context) error {
	entries, err := p.store.OpenJournal(ctx, p.Account.Name)
	if err != nil {
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
	for n < len(e) && n < journalBatch && e[n].Action == e[0].Action && e[n].Flag == e[0].Flag && e[n].On == e[0].On &&
		e[n].Folder.ID == e[0].Folder.ID && e[n].UID.Validity == e[0].UID.Validity && e[n].ToFolder.ID == e[0].ToFolder.ID {
		n++
	}
	return n
}

// journalBatch is how many messages one command to the server names.
const journalBatch = 1000

// pushAlike tells the server of actions that differ only in their message. Of
// several that it refuses together each half is tried by itself.
func (p *pass) pushAlike(ctx context.Context, e []mail.JournalEntry) error {
	session, err := p.session(ctx)
	if err != nil {
		return err
	}
	ids := make([]int64, len(e))
	for i := range e {
		ids[i] = e[i].ID
	}
	begun, err := p.store.JournalBegin(ctx, ids)
	if err != nil {
		return err
	}
	e = slices.DeleteFunc(slices.Clone(e), func(x mail.JournalEntry) bool { return !slices.Contains(begun, x.ID) })
	if len(e) == 0 {
		return nil
	}
	uids := make([]uint32, len(e))
	for i := range e {
		uids[i] = e[i].UID.UID
	}
	var moved map[uint32]mail.UID
	if e[0].Action == mail.JournalMove {
		moved, err = p.pushMove(ctx, session, e, uids)
	} else {
		err = session.StoreFlags(ctx, e[0].Folder.Name, e[0].UID.Validity, uids, flagOp(e[0].On), []string{imapFlag(e[0].Flag)})
	}
	switch {
	case err == nil:
		places := make(map[int64]mail.UID, len(e))
		for i := range e {
			places[e[i].ID] = moved[e[i].UID.UID]
		}
		return p.store.JournalEnd(ctx, places)
	case errors.Is(err, mirror.ErrUIDValidityChanged):
		return nil // the folder is read again first, which tells the new UIDs
	case !mirror.Refused(err) && !errors.Is(err, mail.ErrCode(mail.CodeInvalid)):
		return err
	case mail.AsError(err).Retryable && e[0].Tries < journalTries:
		return nil
	case len(e) > 1:
		if err := p.pushAlike(ctx, e[:len(e)/2]); err != nil {
			return err
		}
		return p.pushAlike(ctx, e[len(e)/2:])
	}
	why := mail.AsError(err)
	if err := p.store.JournalFailed(ctx, e[0].ID, why.Text); err != nil {
		return err
	}
	if p.OnRefused != nil {
		p.OnRefused(e[0], why)
	}
	return nil
}

// journalTries is how often the server may say that it cannot do it now.
const journalTries = 10

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
