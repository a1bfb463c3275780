package mirror

import (
	"context"
	"errors"
	"io"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
)

// Limits of what one message may bring.
const (
	maxHeader = 1 << 20
	maxBody   = 64 << 20
	// chunk is how much of a large body one command asks for, and what makes a
	// body large.
	chunk = 1 << 20
)

var (
	headerSection = &imap.FetchItemBodySection{Specifier: imap.PartSpecifierHeader, Peek: true}
	bodySection   = &imap.FetchItemBodySection{Peek: true}
)

// FetchHeaders reads UID, flags, dates, size, mod-sequence (with CONDSTORE)
// and the raw header of the messages of set, in the server's order. Nothing is
// marked as read. Messages that are gone are left out silently.
//
// fn gets one message at a time. Each is whole and of the folder and
// UIDVALIDITY asked for, also when FetchHeaders fails later on. An error of fn
// is passed back and ends the session.
func (s *Session) FetchHeaders(ctx context.Context, folder string, validity uint32, set Set, fn func(Fetched) error) error {
	opts := s.items()
	opts.BodySection = []*imap.FetchItemBodySection{headerSection}
	return s.fetchSet(ctx, "reading headers", folder, validity, set, opts, maxHeader, func(f Fetched) error {
		s.sizes.put(folder, validity, f.UID, f.Size)
		return fn(f)
	})
}

// FetchFlags reads UID, flags and mod-sequence of the messages of set; with
// since and CONDSTORE, only of those changed after that mod-sequence.
func (s *Session) FetchFlags(ctx context.Context, folder string, validity uint32, set Set, since uint64, fn func(Fetched) error) error {
	opts := &imap.FetchOptions{UID: true, Flags: true, ModSeq: s.caps.CondStore}
	if s.caps.CondStore {
		opts.ChangedSince = since
	}
	return s.fetchSet(ctx, "reading flags", folder, validity, set, opts, 0, fn)
}

// items are what is asked of every message besides its text.
func (s *Session) items() *imap.FetchOptions {
	return &imap.FetchOptions{UID: true, Flags: true, InternalDate: true, RFC822Size: true, ModSeq: s.caps.CondStore}
}

// FetchMinimal reads UID and header alone, at most 1 MiB of it: what is left
// to ask of a message whose other items cannot be understood.
func (s *Session) FetchMinimal(ctx context.Context, folder string, validity uint32, uid uint32, fn func(Fetched) error) error {
	part := &imap.FetchItemBodySection{Specifier: imap.PartSpecifierHeader, Peek: true, Partial: &imap.SectionPartial{Size: maxHeader}}
	opts := &imap.FetchOptions{UID: true, BodySection: []*imap.FetchItemBodySection{part}}
	return s.fetchSet(ctx, "reading one header", folder, validity, SetOf([]uint32{uid}), opts, maxHeader, fn)
}

func (s *Session) fetchSet(ctx context.Context, what, folder string, validity uint32, set Set, opts *imap.FetchOptions, limit int64, fn func(Fetched) error) error {
	return s.run(ctx, what, listBudget, func() error {
		box, err := s.openAt(folder, validity, true)
		if err != nil {
			return err
		}
		if box.HighestModSeq == 0 { // NOMODSEQ: the items would be refused
			opts.ModSeq, opts.ChangedSince = false, 0
		}
		for _, part := range set.commands() {
			if err := s.fetch(part, opts, limit, fn); err != nil {
				return err
			}
		}
		return nil
	})
}

// fetch runs one UID FETCH. A message is handed on when the next one, or the
// end of the command, proved that its answer was whole.
func (s *Session) fetch(set imap.UIDSet, opts *imap.FetchOptions, limit int64, fn func(Fetched) error) error {
	s.w.begin(midBudget + limit)
	cmd := s.client.Fetch(set, opts)
	stop := func(err error) error {
		_ = s.w.Close() // frees the library's reader, so that Close can drain
		var cut cutLiteral
		if !errors.As(err, &cut) {
			_ = cmd.Close()
		}
		return err
	}
	var held *Fetched
	for msg := cmd.Next(); msg != nil; msg = cmd.Next() {
		if held != nil {
			if err := s.deliver(*held, fn); err != nil {
				return stop(err)
			}
			held = nil
		}
		f, err := collect(msg, limit)
		if err != nil {
			return stop(err)
		}
		held = &f
		s.w.begin(midBudget + limit)
	}
	if err := cmd.Close(); err != nil {
		return err
	}
	if held == nil {
		return nil
	}
	return s.deliver(*held, fn)
}

// deliver hands f to the caller's function, off the clock.
func (s *Session) deliver(f Fetched, fn func(Fetched) error) error {
	s.w.pause()
	err := fn(f)
	s.w.resume()
	if err != nil {
		return callerError{err}
	}
	return nil
}

// collect reads the items of one message. Its literal may hold limit bytes.
func collect(msg *imapclient.FetchMessageData, limit int64) (Fetched, error) {
	var f Fetched
	for item := msg.Next(); item != nil; item = msg.Next() {
		switch item := item.(type) {
		case imapclient.FetchItemDataUID:
			f.UID = uint32(item.UID)
		case imapclient.FetchItemDataFlags:
			f.Flags = make([]string, 0, len(item.Flags))
			for _, flag := range item.Flags {
				f.Flags = append(f.Flags, string(flag))
			}
		case imapclient.FetchItemDataInternalDate:
			f.InternalDate = item.Time
		case imapclient.FetchItemDataRFC822Size:
			f.Size = item.Size
		case imapclient.FetchItemDataModSeq:
			f.ModSeq = item.ModSeq
		case imapclient.FetchItemDataBodySection:
			b, err := literal(item.Literal, limit)
			if err != nil {
				return f, err
			}
			switch item.Section.Specifier {
			case imap.PartSpecifierHeader:
				f.Header = b
			case imap.PartSpecifierNone:
				f.Body = b
				f.partial = item.Section.Partial != nil
			}
		}
	}
	return f, nil
}

// literal reads exactly the announced number of bytes. NIL is empty.
func literal(r imap.LiteralReader, limit int64) ([]byte, error) {
	if r == nil {
		return []byte{}, nil
	}
	if r.Size() > limit {
		return nil, garbled("a literal of %d bytes where %d are the limit", r.Size(), limit)
	}
	b := make([]byte, r.Size())
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, cutLiteral{err}
	}
	return b, nil
}

// cutLiteral is a literal that broke off. The library's reader has taken the
// connection back by then, while draining the command would read from the
// literal once more: such a command is left as it is, and ends with the socket.
type cutLiteral struct{ error }

func (c cutLiteral) Unwrap() error { return c.error }
