package mirror

import (
	"bytes"
	"context"
	"errors"

	"github.com/emersion/go-imap/v2"
)

// FetchBodies reads whole messages, raw, without marking them as read. Small
// ones come in the server's order, then the large ones piece by piece. A
// message over 64 MiB comes with its first 64 MiB and Truncated set. For fn
// see FetchHeaders.
func (s *Session) FetchBodies(ctx context.Context, folder string, validity uint32, uids []uint32, fn func(Fetched) error) error {
	return s.run(ctx, "reading messages", listBudget, func() error {
		if _, err := s.openAt(folder, validity, true); err != nil {
			return err
		}
		small, large, err := s.bySize(folder, validity, uids)
		if err != nil {
			return err
		}
		opts := &imap.FetchOptions{UID: true, RFC822Size: true, BodySection: []*imap.FetchItemBodySection{bodySection}}
		for _, part := range SetOf(small).commands() {
			if err := s.fetch(part, opts, maxBody, fn); err != nil {
				return err
			}
		}
		for _, uid := range large {
			if err := s.largeBody(uid, fn); err != nil {
				return err
			}
		}
		return nil
	})
}

// bySize sorts uids into those one command may read and those that need
// several. Sizes not seen in this session are asked for.
func (s *Session) bySize(folder string, validity uint32, uids []uint32) (small, large []uint32, err error) {
	var unknown []uint32
	for _, uid := range uids {
		if _, ok := s.sizes.get(folder, validity, uid); !ok {
			unknown = append(unknown, uid)
		}
	}
	got := map[uint32]int64{}
	for _, part := range SetOf(unknown).commands() {
		err := s.fetch(part, &imap.FetchOptions{UID: true, RFC822Size: true}, 0, func(f Fetched) error {
			got[f.UID] = f.Size
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	for _, uid := range sorted(uids) {
		size, ok := got[uid]
		if !ok {
			if size, ok = s.sizes.get(folder, validity, uid); !ok {
				continue // gone
			}
		}
		if size > chunk {
			large = append(large, uid)
		} else {
			small = append(small, uid)
		}
	}
	return small, large, nil
}

// largeBody reads one message in pieces of a MiB until one comes short: the
// announced size is a guess with some servers.
func (s *Session) largeBody(uid uint32, fn func(Fetched) error) error {
	var body bytes.Buffer
	set := imap.UIDSet{{Start: imap.UID(uid), Stop: imap.UID(uid)}}
	out := Fetched{UID: uid}
	for more := true; more; {
		part := &imap.FetchItemBodySection{Peek: true, Partial: &imap.SectionPartial{Offset: int64(body.Len()), Size: chunk}}
		opts := &imap.FetchOptions{UID: true, RFC822Size: true, BodySection: []*imap.FetchItemBodySection{part}}
		found := false
		var bad error
		err := s.fetch(set, opts, maxBody, func(f Fetched) error {
			found = true
			out.Size = f.Size
			switch {
			case !f.partial && body.Len() > 0:
				bad = garbled("the whole message instead of a piece")
			case !f.partial: // the server sent all of it at once
				more = false
			default:
				more = len(f.Body) >= chunk
			}
			body.Write(f.Body)
			return nil
		})
		if err != nil || bad != nil {
			return errors.Join(err, bad)
		}
		if !found {
			return nil // gone meanwhile
		}
		if body.Len() >= maxBody {
			out.Truncated, more = more, false
		}
	}
	out.Body = body.Bytes()
	return s.deliver(out, fn)
}
