package mirror

import (
	"context"
	"errors"
)

// maxRedials bounds how often FetchResilient connects anew.
const maxRedials = 100

// FetchFunc reads uids over s and hands each message to fn: a call of
// FetchHeaders, FetchBodies or FetchFlags with its folder filled in.
type FetchFunc func(ctx context.Context, s *Session, uids []uint32, fn func(Fetched) error) error

// FetchResilient runs fetch over uids so that one message the server describes
// in a way that cannot be understood does not block the others: after such an
// answer it dials anew and halves what is left, until the message stands
// alone. That one is tried by last (see [Session.FetchMinimal]; nil for none),
// and is reported as poison where this fails too, for the caller to
// quarantine. Every message reaches fn once.
//
// The session to go on with is returned; it is nil when the dial failed. Any
// other error than ErrDecode ends it with what was read so far handed over.
func FetchResilient(ctx context.Context, dial func(context.Context) (*Session, error), s *Session, uids []uint32, fetch, last FetchFunc, fn func(Fetched) error) (poison []uint32, next *Session, err error) {
	seen := map[uint32]bool{}
	once := func(f Fetched) error {
		if seen[f.UID] {
			return nil
		}
		if err := fn(f); err != nil {
			return err
		}
		seen[f.UID] = true
		return nil
	}
	left := func(uids []uint32) []uint32 {
		var out []uint32
		for _, u := range sorted(uids) {
			if !seen[u] {
				out = append(out, u)
			}
		}
		return out
	}
	redials := 0
	try := func(fetch FetchFunc, uids []uint32) error {
		if s == nil || s.Err() != nil {
			if redials++; redials > maxRedials {
				return errors.New("too many broken answers")
			}
			if s, err = dial(ctx); err != nil {
				s = nil
				return err
			}
		}
		return fetch(ctx, s, uids, once)
	}

	for todo := [][]uint32{uids}; len(todo) > 0; {
		part := left(todo[len(todo)-1])
		todo = todo[:len(todo)-1]
		if len(part) == 0 {
			continue
		}
		err := try(fetch, part)
		switch {
		case err == nil:
			continue
		case !errors.Is(err, ErrDecode):
			return poison, s, err
		}
		part = left(part)
		switch {
		case len(part) == 0:
		case len(part) > 1:
			half := len(part) / 2
			todo = append(todo, part[:half], part[half:]) // the newer half first
		default:
			if last != nil {
				err = try(last, part)
			}
			switch {
			case err == nil:
			case errors.Is(err, ErrDecode):
				poison = append(poison, part[0])
			default:
				return poison, s, err
			}
		}
	}
	return poison, s, nil
}
