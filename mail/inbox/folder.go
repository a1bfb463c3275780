package inbox

import (
	"context"
	"slices"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/mirror"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

// Sizes of what is read and committed at once.
const (
	headerBatch = 500
	bodyBatch   = 200
	bodyBytes   = 8 << 20
	// newestFirst is how many headers of a folder are read before any body, so
	// that there is a list to look at.
	newestFirst = 300
	// fewNew is up to how many new messages are read whole at once.
	fewNew = 64
)

// folderPass brings one folder up to date.
type folderPass struct {
	*pass
	row      mail.Folder
	local    mail.LocalFolder
	box      mirror.Mailbox
	begun    time.Time
	report   view.FolderSync
	rest     []uint32 // still to be read, header and body
	complete bool     // every action of the plan was carried out
}

// unchanged reports whether STATUS alone shows that there is nothing to do:
// no SELECT, no further byte.
func unchanged(l mail.LocalFolder, r mirror.Mailbox, condStore bool) bool {
	return condStore && r.HighestModSeq != 0 && l.UIDValidity == r.UIDValidity && l.UIDNext == r.UIDNext &&
		l.ModSeq == r.HighestModSeq && l.Count == r.Messages && l.Bodyless == 0 && !l.ReRead
}

// headers carries out everything but the bodies, and of many new messages
// only the newest headers: rest is what it left over.
func (p *folderPass) headers(ctx context.Context) error {
	session, err := p.session(ctx)
	if err != nil {
		return err
	}
	if p.box, err = session.Select(ctx, p.row.Name, true); err != nil {
		return err
	}
	p.begun = p.clock.Now()
	if p.local.UIDValidity != p.box.UIDValidity {
		if err := p.store.ReRead(ctx, p.row.ID, p.box.UIDValidity); err != nil {
			return err
		}
	}
	plan := mirror.Plan(mirror.LocalFolder{UIDValidity: p.local.UIDValidity, UIDNext: p.local.UIDNext, LastUID: p.local.LastUID,
		Count: p.local.Count, HighestModSeq: p.local.ModSeq}, p.box, session.Caps().CondStore)
	for _, a := range plan {
		if err := p.act(ctx, a); err != nil {
			return err
		}
	}
	p.complete = true
	return nil
}

// finish reads what headers left over, then the missing bodies, and ends the
// pass over the folder. Only now the server's state counts as stored: an
// interrupted pass finds by itself what is missing.
func (p *folderPass) finish(ctx context.Context) error {
	if err := p.bodies(ctx); err != nil { // of the newest, which people open first
		return err
	}
	if err := p.fetchWhole(ctx, p.rest); err != nil {
		return err
	}
	if p.rest != nil {
		if err := p.bodies(ctx); err != nil { // of the very large ones
			return err
		}
	}
	// Rows of an older UIDVALIDITY, and moves here of what was gone by then.
	n, err := p.store.FinishReRead(ctx, p.row.ID, p.box.UIDValidity, p.begun)
	if err != nil {
		return err
	}
	p.report.Vanished += n
	return p.store.SetFolderState(ctx, p.row.ID, p.box.UIDValidity, p.box.UIDNext, p.box.HighestModSeq, p.clock.Now())
}

func (p *folderPass) act(ctx context.Context, a mirror.Action) error {
	switch a.Kind {
	case mirror.FetchNew:
		return p.fetchRange(ctx, mirror.Range{From: a.From, To: a.To})
	case mirror.FlagsSince, mirror.FlagsAll:
		return p.fetchFlags(ctx, a)
	case mirror.DiffUIDs:
		return p.diff(ctx, a)
	}
	return nil // ReRead was begun before the plan; bodies come after all headers
}

// fetchRange reads the messages of a range of UIDs that are not stored.
func (p *folderPass) fetchRange(ctx context.Context, r mirror.Range) error {
	if r.To != 0 && r.To-r.From < fewNew && r.To >= r.From {
		// So few that asking which of them exist costs more than it saves.
		uids := make([]uint32, 0, fewNew)
		for u := r.From; u <= r.To; u++ {
			uids = append(uids, u)
		}
		return p.fetchWhole(ctx, uids)
	}
	session, err := p.session(ctx)
	if err != nil {
		return err
	}
	uids, err := session.UIDs(ctx, p.row.Name, p.box.UIDValidity, r)
	if err != nil {
		return err
	}
	have, err := p.store.UIDs(ctx, p.row.ID, p.box.UIDValidity)
	if err != nil {
		return err
	}
	_, unknown := mirror.Diff(have, uids)
	return p.take(ctx, unknown)
}

// take reads messages that are not stored: a few whole and at once; of many the
// newest headers, so that there is a list, and the rest later.
func (p *folderPass) take(ctx context.Context, unknown []uint32) error {
	if len(unknown) <= fewNew {
		return p.fetchWhole(ctx, unknown)
	}
	slices.Sort(unknown)
	cut := max(0, len(unknown)-newestFirst)
	p.rest = append(p.rest, unknown[:cut]...)
	return p.fetchHeaders(ctx, unknown[cut:])
}

// fetchHeaders reads headers newest first and commits batch by batch.
func (p *folderPass) fetchHeaders(ctx context.Context, uids []uint32) error {
	done := 0
	for _, batch := range mirror.Batches(uids, headerBatch) {
		p.progress("headers", p.row.Name, done, len(uids))
		var msgs []mail.NewMessage
		poison, err := p.resilient(ctx, batch, p.readHeaders, p.readMinimal, func(f mirror.Fetched) error {
			msgs = append(msgs, newMessage(f))
			return nil
		})
		if len(msgs) > 0 {
			// What was read is kept, whatever ended the batch.
			n, perr := p.store.PutHeaders(ctx, p.row.ID, p.box.UIDValidity, msgs)
			if perr != nil {
				return perr
			}
			p.report.New += len(n)
		}
		if err != nil {
			return err
		}
		if err := p.quarantine(ctx, poison); err != nil {
			return err
		}
		done += len(batch)
	}
	return nil
}

func (p *folderPass) quarantine(ctx context.Context, uids []uint32) error {
	for _, uid := range uids {
		if err := p.store.AddPoison(ctx, p.row.ID, mail.UID{Validity: p.box.UIDValidity, UID: uid}, "The server describes this message in a way that cannot be understood."); err != nil {
			return err
		}
	}
	return nil
}

func (p *folderPass) readHeaders(ctx context.Context, s *mirror.Session, uids []uint32, fn func(mirror.Fetched) error) error {
	return s.FetchHeaders(ctx, p.row.Name, p.box.UIDValidity, mirror.SetOf(uids), fn)
}

func (p *folderPass) readMinimal(ctx context.Context, s *mirror.Session, uids []uint32, fn func(mirror.Fetched) error) error {
	for _, uid := range uids {
		if err := s.FetchMinimal(ctx, p.row.Name, p.box.UIDValidity, uid, fn); err != nil {
			return err
		}
	}
	return nil
}

// fetchFlags applies changed flags. A list of all flags is also the list of
// what there is.
func (p *folderPass) fetchFlags(ctx context.Context, a mirror.Action) error {
	session, err := p.session(ctx)
	if err != nil {
		return err
	}
	var got []mirror.Fetched
	var seen []uint32
	flush := func() error {
		n, err := p.store.ApplyFlags(ctx, p.row.ID, p.box.UIDValidity, flagStates(got))
		p.report.Changed += n
		got = got[:0]
		return err
	}
	err = session.FetchFlags(ctx, p.row.Name, p.box.UIDValidity, mirror.Set{{From: a.From, To: a.To}}, a.Since, func(f mirror.Fetched) error {
		got = append(got, f)
		seen = append(seen, f.UID)
		if len(got) < 5*headerBatch {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	if err := flush(); err != nil {
		return err
	}
	if a.Kind == mirror.FlagsAll {
		return p.reconcile(ctx, a.From, a.To, seen)
	}
	return nil
}

// diff finds what vanished, and what an interrupted pass left out.
func (p *folderPass) diff(ctx context.Context, a mirror.Action) error {
	if a.Messages >= 0 {
		now, err := p.store.LocalFolder(ctx, p.row.ID)
		if err != nil {
			return err
		}
		if now.Count+len(p.rest) == a.Messages {
			return nil
		}
	}
	session, err := p.session(ctx)
	if err != nil {
		return err
	}
	uids, err := session.UIDs(ctx, p.row.Name, p.box.UIDValidity, mirror.Range{From: a.From, To: a.To})
	if err != nil {
		return err
	}
	return p.reconcile(ctx, a.From, a.To, uids)
}

func (p *folderPass) reconcile(ctx context.Context, from, to uint32, there []uint32) error {
	have, err := p.store.UIDs(ctx, p.row.ID, p.box.UIDValidity)
	if err != nil {
		return err
	}
	have = slices.DeleteFunc(have, func(u uint32) bool { return u < from || to != 0 && u > to })
	gone, unknown := mirror.Diff(have, there)
	if len(gone) > 0 {
		n, err := p.store.Vanish(ctx, p.row.ID, p.box.UIDValidity, gone)
		if err != nil {
			return err
		}
		p.report.Vanished += n
	}
	// What the plan has read meanwhile is stored; what it left over is known.
	unknown = slices.DeleteFunc(unknown, func(u uint32) bool { return slices.Contains(p.rest, u) })
	return p.take(ctx, unknown)
}

// bodies reads what the list already shows, newest first, until nothing is
// missing.
func (p *folderPass) bodies(ctx context.Context) error {
	total, done := 0, 0
	for {
		missing, err := p.store.Bodyless(ctx, p.row.ID, 4*bodyBatch)
		if err != nil || len(missing) == 0 {
			return err
		}
		if total == 0 {
			l, err := p.store.LocalFolder(ctx, p.row.ID)
			if err != nil {
				return err
			}
			total = l.Bodyless
		}
		batch := missing[:0:0]
		var size int64
		for _, m := range missing {
			if len(batch) > 0 && (len(batch) == bodyBatch || size+m.Size > bodyBytes) {
				break
			}
			batch = append(batch, m)
			size += m.Size
		}
		p.progress("bodies", p.row.Name, done, total)
		if err := p.fetchBodies(ctx, batch); err != nil {
			return err
		}
		done += len(batch)
	}
}

func (p *folderPass) fetchBodies(ctx context.Context, batch []mail.Bodyless) error {
	ids := map[uint32]int64{}
	uids := make([]uint32, len(batch))
	for i, m := range batch {
		uids[i], ids[m.UID] = m.UID, m.ID
	}
	var got []mail.NewBody
	poison, err := p.resilient(ctx, uids, func(ctx context.Context, s *mirror.Session, uids []uint32, fn func(mirror.Fetched) error) error {
		return s.FetchBodies(ctx, p.row.Name, p.box.UIDValidity, uids, fn)
	}, nil, func(f mirror.Fetched) error {
		got = append(got, newBody(ids[f.UID], f))
		delete(ids, f.UID)
		return nil
	})
	if len(got) > 0 {
		if perr := p.store.PutBodies(ctx, got); perr != nil {
			return perr
		}
	}
	if err != nil {
		return err
	}
	if err := p.quarantine(ctx, poison); err != nil {
		return err
	}
	for _, uid := range poison {
		delete(ids, uid)
	}
	// What the server no longer has was expunged while we read.
	gone := make([]uint32, 0, len(ids))
	for uid := range ids {
		gone = append(gone, uid)
	}
	if len(gone) > 0 {
		n, err := p.store.Vanish(ctx, p.row.ID, p.box.UIDValidity, gone)
		p.report.Vanished += n
		return err
	}
	return nil
}

func (p *folderPass) name() safe.Text { return safe.Line(p.row.Name) }
