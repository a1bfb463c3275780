package mirror

import (
	"context"

	"github.com/emersion/go-imap/v2"
)

// WholeLimit is how much of one message FetchWhole reads, in bytes.
const WholeLimit = chunk

// FetchWhole reads what FetchHeaders reads and, in the same command, the whole
// message into Body (Header stays nil): one round trip for both. A message of
// WholeLimit bytes or more comes with its first WholeLimit bytes and Truncated
// set, so that it holds up nothing; FetchBodies reads the rest of it. For fn
// see FetchHeaders.
func (s *Session) FetchWhole(ctx context.Context, folder string, validity uint32, set Set, fn func(Fetched) error) error {
	opts := s.items()
	opts.BodySection = []*imap.FetchItemBodySection{{Peek: true, Partial: &imap.SectionPartial{Size: WholeLimit}}}
	return s.fetchSet(ctx, "reading messages", folder, validity, set, opts, maxBody, func(f Fetched) error {
		s.sizes.put(folder, validity, f.UID, f.Size)
		f.Truncated = f.partial && len(f.Body) >= WholeLimit
		return fn(f)
	})
}
