package mirror

import (
	"slices"
)

// LocalFolder is what the caller has stored of one folder at the end of its
// last complete pass. The zero value is a folder that was never read.
type LocalFolder struct {
	UIDValidity   uint32
	UIDNext       uint32 // the server's UIDNEXT then; 0: one above LastUID
	LastUID       uint32 // the highest UID stored
	Count         int    // messages stored and not known to be gone, quarantined ones included
	HighestModSeq uint64 // RFC 7162; 0: flags were never read with one
	// FlagsFresh asks that flags are not read again in this pass. It is
	// looked at only where the server has no mod-sequences and every look
	// costs the whole list.
	FlagsFresh    bool
	MissingBodies []uint32 // stored without their body
}

// ActionKind names one step of a pass.
type ActionKind string

// The steps, in the order in which a plan lists them.
const (
	// ReRead: UIDVALIDITY is another one, so every stored UID is void. The
	// rest of the plan reads the folder as if it were new.
	ReRead ActionKind = "reread"
	// FetchNew: headers of the UIDs From to To; To 0 stands for "*".
	FetchNew ActionKind = "fetch_new"
	// FlagsSince: flags of From to To changed after mod-sequence Since.
	FlagsSince ActionKind = "flags_since"
	// FlagsAll: flags of every message From to To. What is not listed is gone.
	FlagsAll ActionKind = "flags_all"
	// DiffUIDs: compare the stored UIDs From to To with the server's list,
	// unless the folder by then holds exactly Messages messages.
	DiffUIDs ActionKind = "diff_uids"
	// FetchBodies: bodies of UIDs, stored without.
	FetchBodies ActionKind = "fetch_bodies"
)

// Action is one step of a pass over a folder.
type Action struct {
	Kind     ActionKind
	From, To uint32
	Since    uint64
	Messages int
	UIDs     []uint32
}

// Plan says what a pass has to do to bring local up to remote, which a SELECT
// or STATUS just described. condStore tells whether the server keeps
// mod-sequences (RFC 7162). An empty plan means that nothing changed and no
// further command is needed. When all of it is applied, and only then, the
// caller may store remote's UIDNEXT and HIGHESTMODSEQ.
func Plan(local LocalFolder, remote Mailbox, condStore bool) []Action {
	var plan []Action
	if local.UIDValidity != remote.UIDValidity || remote.UIDValidity == 0 {
		if local.UIDValidity != 0 || local.Count != 0 {
			plan = append(plan, Action{Kind: ReRead})
		}
		if remote.Messages > 0 {
			plan = append(plan, Action{Kind: FetchNew, From: 1, To: lastOf(remote)})
		}
		return plan
	}

	next := local.UIDNext
	if next <= local.LastUID {
		next = local.LastUID + 1
	}
	news := false
	switch {
	case remote.UIDNext == 0: // the server does not say: ask for what is above
		news = remote.Messages > 0
	case remote.UIDNext > next:
		news = remote.Messages > 0
	}
	if news {
		plan = append(plan, Action{Kind: FetchNew, From: next, To: lastOf(remote)})
	}

	listed := false
	if local.LastUID > 0 {
		flags, all := planFlags(local, remote, condStore)
		plan = append(plan, flags...)
		listed = all
	}

	// UIDNEXT never falls while UIDVALIDITY holds (RFC 9051 section 2.3.1.1);
	// where it does, only the list of UIDs can be believed.
	backwards := remote.UIDNext != 0 && remote.UIDNext < next
	if !listed && local.LastUID > 0 && (news || backwards || local.Count != remote.Messages) {
		a := Action{Kind: DiffUIDs, From: 1, To: local.LastUID, Messages: remote.Messages}
		if backwards {
			a.Messages = -1
		}
		plan = append(plan, a)
	}
	if !listed && local.LastUID == 0 && !news && remote.Messages > 0 {
		plan = append(plan, Action{Kind: FetchNew, From: 1, To: lastOf(remote)})
	}
	if len(local.MissingBodies) > 0 && remote.Messages > 0 {
		plan = append(plan, Action{Kind: FetchBodies, UIDs: local.MissingBodies})
	}
	return plan
}

// planFlags returns how the flags of the stored messages are brought up to
// date, and whether that lists every message.
func planFlags(local LocalFolder, remote Mailbox, condStore bool) (plan []Action, all bool) {
	whole := Action{Kind: FlagsAll, From: 1, To: local.LastUID}
	switch {
	case remote.Messages == 0:
		return nil, false
	case !condStore || remote.HighestModSeq == 0:
		if local.FlagsFresh {
			return nil, false
		}
		return []Action{whole}, true
	case local.HighestModSeq == remote.HighestModSeq:
		return nil, false
	case local.HighestModSeq == 0 || local.HighestModSeq > remote.HighestModSeq:
		return []Action{whole}, true
	default:
		return []Action{{Kind: FlagsSince, From: 1, To: local.LastUID, Since: local.HighestModSeq}}, false
	}
}

// lastOf is the highest UID remote can have now, 0 when it does not say.
func lastOf(remote Mailbox) uint32 {
	if remote.UIDNext == 0 {
		return 0
	}
	return remote.UIDNext - 1
}

// Diff compares two sets of UIDs in any order: gone are the stored ones the
// server no longer has, unknown the server's that are not stored. Both come
// back ascending and without repeats.
func Diff(local, remote []uint32) (gone, unknown []uint32) {
	l, r := sorted(local), sorted(remote)
	i, j := 0, 0
	for i < len(l) || j < len(r) {
		switch {
		case j == len(r) || i < len(l) && l[i] < r[j]:
			gone = append(gone, l[i])
			i++
		case i == len(l) || l[i] > r[j]:
			unknown = append(unknown, r[j])
			j++
		default:
			i++
			j++
		}
	}
	return gone, unknown
}

// Batches cuts uids into batches of at most size, the newest (highest) first;
// inside a batch they ascend, as IMAP answers them. A size under 1 counts as 1.
func Batches(uids []uint32, size int) [][]uint32 {
	if size < 1 {
		size = 1
	}
	all := sorted(uids)
	out := make([][]uint32, 0, (len(all)+size-1)/size)
	for end := len(all); end > 0; end -= size {
		out = append(out, all[max(0, end-size):end])
	}
	return out
}

// sorted returns a sorted copy without repeats.
func sorted(uids []uint32) []uint32 {
	s := slices.Clone(uids)
	slices.Sort(s)
	return slices.Compact(s)
}
