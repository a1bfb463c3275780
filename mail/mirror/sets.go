package mirror

import (
	"strconv"

	"github.com/emersion/go-imap/v2"
)

// Set is UIDs as ranges, ascending where SetOf made it.
type Set []Range

// SetOf makes a set of uids, in any order, with runs joined.
func SetOf(uids []uint32) Set {
	var out Set
	for _, u := range sorted(uids) {
		switch n := len(out); {
		case u == 0:
		case n > 0 && out[n-1].To == u-1:
			out[n-1].To = u
		default:
			out = append(out, Range{u, u})
		}
	}
	return out
}

// Has reports whether the set holds uid.
func (s Set) Has(uid uint32) bool {
	for _, r := range s {
		if uid >= r.From && (uid <= r.To || r.To == 0) {
			return true
		}
	}
	return false
}

// maxSetText bounds the set in one command; servers limit a line, some at 8 KiB.
const maxSetText = 7500

// commands cuts the set into pieces that fit a command line, in order. Empty
// and impossible ranges are left out: the library would hang up on them.
func (s Set) commands() []imap.UIDSet {
	var out []imap.UIDSet
	size := maxSetText
	for _, r := range s {
		if r.From == 0 || r.To != 0 && r.To < r.From {
			continue
		}
		text := len(strconv.FormatUint(uint64(r.From), 10)) + 1
		if r.To != r.From {
			text += len(strconv.FormatUint(uint64(r.To), 10)) + 1
		}
		if size+text > maxSetText {
			out = append(out, nil)
			size = 0
		}
		size += text
		last := &out[len(out)-1]
		*last = append(*last, imap.UIDRange{Start: imap.UID(r.From), Stop: imap.UID(r.To)})
	}
	return out
}

// maxExpand bounds a list of UIDs a server may answer in ranges: "1:4294967295"
// is thirteen bytes.
const maxExpand = 5_000_000

// expand lists a set the server sent, at most limit numbers of it.
func expand(set imap.NumSet, limit int) ([]uint32, error) {
	if set == nil {
		return nil, nil
	}
	ranges, ok := set.(imap.UIDSet)
	if !ok {
		return nil, garbled("sequence numbers instead of UIDs")
	}
	if limit > maxExpand {
		limit = maxExpand
	}
	var out []uint32
	for _, r := range ranges {
		if r.Start == 0 || r.Stop == 0 || r.Stop < r.Start {
			return nil, garbled("an impossible UID")
		}
		if int64(r.Stop-r.Start)+1 > int64(limit-len(out)) {
			return nil, garbled("more UIDs than there can be")
		}
		for u := uint64(r.Start); u <= uint64(r.Stop); u++ {
			out = append(out, uint32(u))
		}
	}
	return out, nil
}
