package loopback

import (
	"slices"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
)

// A chosen message is one that a number set names, with the sequence number
// under which this session knows it.
type chosen struct {
	msg   *message
	index int    // in the folder
	seq   uint32 // for this session
}

// choose resolves a set against the selected folder. Messages the session has
// not been told of have no sequence number yet and are left out. The store's
// lock is held.
func (e *session) choose(set imap.NumSet) []chosen {
	if imap.IsSearchRes(set) {
		return nil // SEARCHRES is not offered
	}
	set = e.static(set)
	var list []chosen
	for i, m := range e.folder.msgs {
		seq := e.view.EncodeSeqNum(uint32(i) + 1)
		if seq == 0 {
			continue
		}
		in := false
		switch set := set.(type) {
		case imap.SeqSet:
			in = set.Contains(seq)
		case imap.UIDSet:
			in = set.Contains(m.uid)
		}
		if in {
			list = append(list, chosen{m, i, seq})
		}
	}
	return list
}

// static replaces "*", which stands for the last message, by its number.
func (e *session) static(set imap.NumSet) imap.NumSet {
	fix := func(start, stop *uint32, last uint32) {
		if *start != 0 && *stop != 0 {
			return
		}
		if *start == 0 {
			*start = last
		}
		if *stop == 0 {
			*stop = last
		}
		*start, *stop = min(*start, *stop), max(*start, *stop)
	}
	switch set := set.(type) {
	case imap.SeqSet:
		out := slices.Clone(set)
		for i := range out {
			fix(&out[i].Start, &out[i].Stop, uint32(len(e.folder.msgs)))
		}
		return out
	case imap.UIDSet:
		var last imap.UID
		if n := len(e.folder.msgs); n > 0 {
			last = e.folder.msgs[n-1].uid
		}
		out := slices.Clone(set)
		for i := range out {
			fix((*uint32)(&out[i].Start), (*uint32)(&out[i].Stop), uint32(last))
		}
		return out
	}
	return set
}

// Fetch takes what it needs under the lock and writes without it, so that a
// slow client holds up nobody.
func (e *session) Fetch(w *imapserver.FetchWriter, set imap.NumSet, o *imap.FetchOptions) error {
	type row struct {
		chosen
		flags []imap.Flag
	}
	var rows []row
	unlock := e.lock()
	markSeen := !e.readOnly && slices.ContainsFunc(o.BodySection, func(b *imap.FetchItemBodySection) bool { return !b.Peek })
	for _, c := range e.choose(set) {
		if markSeen && !c.msg.has(imap.FlagSeen) {
			c.msg.flags[imap.FlagSeen] = true
			e.folder.flagged(c.index, nil)
		}
		rows = append(rows, row{c, c.msg.flagList()})
	}
	unlock()
	for _, r := range rows {
		if err := writeMessage(w.CreateMessage(r.seq), r.msg, r.flags, o); err != nil {
			return err
		}
	}
	return nil
}

func (e *session) Store(w *imapserver.FetchWriter, set imap.NumSet, change *imap.StoreFlags, _ *imap.StoreOptions) error {
	if e.readOnly {
		return refuse("", "The mailbox is selected read-only")
	}
	unlock := e.lock()
	for _, c := range e.choose(set) {
		if change.Op == imap.StoreFlagsSet {
			c.msg.flags = map[imap.Flag]bool{}
		}
		for _, f := range change.Flags {
			if change.Op == imap.StoreFlagsDel {
				delete(c.msg.flags, canonicalFlag(f))
			} else {
				c.msg.flags[canonicalFlag(f)] = true
			}
		}
		e.folder.flagged(c.index, e.view)
	}
	unlock()
	if change.Silent {
		return nil
	}
	return e.Fetch(w, set, &imap.FetchOptions{Flags: true})
}

func (e *session) Copy(set imap.NumSet, dest string) (*imap.CopyData, error) {
	defer e.lock()()
	data, _, err := e.copy(set, dest)
	return data, err
}

// Move leaves the EXPUNGE responses to the poll after the command.
func (e *session) Move(w *imapserver.MoveWriter, set imap.NumSet, dest string) error {
	if e.readOnly {
		return refuse("", "The mailbox is selected read-only")
	}
	unlock := e.lock()
	data, gone, err := e.copy(set, dest)
	if err == nil {
		e.folder.remove(gone)
	}
	unlock()
	if err != nil || len(gone) == 0 {
		return err
	}
	return w.WriteCopyData(data)
}

// copy copies the chosen messages. The store's lock is held.
func (e *session) copy(set imap.NumSet, dest string) (*imap.CopyData, map[*message]bool, error) {
	to := e.s.store.find(dest)
	if to == nil {
		return nil, nil, refuse(imap.ResponseCodeTryCreate, "There is no such mailbox")
	}
	data := &imap.CopyData{UIDValidity: to.validity}
	copied := map[*message]bool{}
	for _, c := range e.choose(set) {
		m := to.add(c.msg.raw, c.msg.flagList(), c.msg.date)
		data.SourceUIDs.AddNum(c.msg.uid)
		data.DestUIDs.AddNum(m.uid)
		copied[c.msg] = true
	}
	return data, copied, nil
}

// Expunge removes the messages marked deleted, of the given UIDs if there are
// any (UIDPLUS, RFC 4315).
func (e *session) Expunge(_ *imapserver.ExpungeWriter, uids *imap.UIDSet) error {
	if e.readOnly {
		return nil
	}
	defer e.lock()()
	gone := map[*message]bool{}
	for _, m := range e.folder.msgs {
		if m.has(imap.FlagDeleted) && (uids == nil || uids.Contains(m.uid)) {
			gone[m] = true
		}
	}
	e.folder.remove(gone)
	return nil
}

func (e *session) Search(kind imapserver.NumKind, criteria *imap.SearchCriteria, _ *imap.SearchOptions) (*imap.SearchData, error) {
	defer e.lock()()
	var seqs imap.SeqSet
	var uids imap.UIDSet
	data := &imap.SearchData{}
	for _, c := range e.choose(imap.UIDSet{{Start: 1, Stop: 0}}) {
		if !e.matches(c, criteria) {
			continue
		}
		num := uint32(c.msg.uid)
		if kind == imapserver.NumKindSeq {
			num = c.seq
			seqs.AddNum(num)
		} else {
			uids.AddNum(c.msg.uid)
		}
		if data.Count == 0 {
			data.Min = num
		}
		data.Max = num
		data.Count++
	}
	data.All = uids
	if kind == imapserver.NumKindSeq {
		data.All = seqs
	}
	return data, nil
}
