package mirror

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/emersion/go-imap/v2"

	"skrzynka/mail"
)

// statusAtOnce is how many STATUS commands are under way together.
const statusAtOnce = 16

// Folders lists every folder with its SPECIAL-USE kind and its counts: in one
// command where the server can (RFC 5819), else with a STATUS for each folder
// that can be opened. A folder whose STATUS is refused has HasStatus false.
//
// A name that is not valid modified UTF-7 ends the session with ErrDecode;
// [FoldersResilient] gets at the others.
func (s *Session) Folders(ctx context.Context) ([]Folder, error) {
	var out []Folder
	err := s.run(ctx, "listing folders", midBudget, func() (err error) {
		out, err = s.list("*")
		return err
	})
	return out, err
}

// maxKnown is how many folders FoldersKnown asks for beside the list.
const maxKnown = 40

// FoldersKnown is Folders for a caller that knows the folders' names from
// before: it asks for their counts at once, beside the list, in one round trip.
// That is quicker than a list with counts, for which some servers open every
// folder. Names that are gone do no harm; new folders cost another round trip.
func (s *Session) FoldersKnown(ctx context.Context, known []string) ([]Folder, error) {
	if len(known) == 0 || len(known) > maxKnown {
		return s.Folders(ctx)
	}
	var out []Folder
	err := s.run(ctx, "listing folders", midBudget, func() error {
		var opts *imap.ListOptions
		if s.caps.SpecialUse && slices.Contains(s.caps.All, string(imap.CapListExtended)) {
			opts = &imap.ListOptions{ReturnSpecialUse: true}
		}
		// INBOX first: with another command before it Dovecot looks through all
		// of a Maildir.
		known = slices.Clone(known)
		slices.SortStableFunc(known, func(a, b string) int { return inboxFirst(a) - inboxFirst(b) })
		waits := make([]func() (*imap.StatusData, error), len(known))
		for i, name := range known {
			waits[i] = s.client.Status(name, s.statusItems()).Wait
		}
		list := s.client.List("", "*", opts)
		status := map[string]Mailbox{}
		var broken error
		for i, wait := range waits {
			switch d, err := wait(); {
			case err == nil:
				status[known[i]] = fromStatus(d)
			case !Refused(err):
				broken = err
			}
		}
		rows, err := list.Collect()
		if broken != nil {
			return broken
		}
		if err != nil {
			return err
		}
		for _, row := range rows {
			f := folderOf(row)
			if f.Name == "" || slices.ContainsFunc(out, func(g Folder) bool { return g.Name == f.Name }) {
				continue
			}
			if box, ok := status[f.Name]; ok {
				f.Status, f.HasStatus = box, true
			}
			out = append(out, f)
		}
		s.w.item()
		return s.fillStatus(out)
	})
	return out, err
}

func inboxFirst(name string) int {
	if strings.EqualFold(name, "INBOX") {
		return 0
	}
	return 1
}

// Status asks for the counts of one folder without opening it.
func (s *Session) Status(ctx context.Context, folder string) (Mailbox, error) {
	var box Mailbox
	err := s.run(ctx, "reading the folder's state", smallBudget, func() (err error) {
		box, err = s.status(folder)
		return err
	})
	return box, err
}

func (s *Session) status(folder string) (Mailbox, error) {
	data, err := s.client.Status(folder, s.statusItems()).Wait()
	if err != nil {
		return Mailbox{}, err
	}
	return fromStatus(data), nil
}

func (s *Session) statusItems() *imap.StatusOptions {
	return &imap.StatusOptions{NumMessages: true, UIDNext: true, UIDValidity: true, NumUnseen: true, HighestModSeq: s.caps.CondStore}
}

func fromStatus(d *imap.StatusData) Mailbox {
	box := Mailbox{UIDValidity: d.UIDValidity, UIDNext: uint32(d.UIDNext), HighestModSeq: d.HighestModSeq}
	if d.NumMessages != nil {
		box.Messages = int(*d.NumMessages)
	}
	if d.NumUnseen != nil {
		box.Unseen = int(*d.NumUnseen)
	}
	return box
}

// list runs LIST for pattern and fills in kinds and counts.
func (s *Session) list(pattern string) ([]Folder, error) {
	var opts *imap.ListOptions
	if slices.Contains(s.caps.All, string(imap.CapListExtended)) || s.caps.ListStatus {
		opts = &imap.ListOptions{ReturnSpecialUse: s.caps.SpecialUse}
		if s.caps.ListStatus {
			opts.ReturnStatus = s.statusItems()
		}
	}
	rows, err := s.client.List("", pattern, opts).Collect()
	if opts != nil && Refused(err) {
		rows, err = s.client.List("", pattern, nil).Collect()
	}
	if err != nil {
		return nil, err
	}
	var out []Folder
	for _, row := range rows {
		f := folderOf(row)
		if f.Name == "" || slices.ContainsFunc(out, func(g Folder) bool { return g.Name == f.Name }) {
			continue
		}
		out = append(out, f)
	}
	return out, s.fillStatus(out)
}

func folderOf(row *imap.ListData) Folder {
	f := Folder{Name: row.Mailbox, Selectable: true}
	if row.Delim != 0 {
		f.Delimiter = string(row.Delim)
	}
	for _, a := range row.Attrs {
		f.Attrs = append(f.Attrs, string(a))
		switch {
		case strings.EqualFold(string(a), string(imap.MailboxAttrNoSelect)), strings.EqualFold(string(a), string(imap.MailboxAttrNonExistent)):
			f.Selectable = false
		}
		if k := specialUse(a); k != mail.FolderNone && f.Kind == mail.FolderNone {
			f.Kind = k
		}
	}
	if strings.EqualFold(f.Name, "INBOX") {
		f.Kind = mail.FolderInbox
	}
	if row.Status != nil {
		f.Status, f.HasStatus = fromStatus(row.Status), true
	}
	return f
}

// specialUse maps an attribute of RFC 6154 to our kinds.
func specialUse(a imap.MailboxAttr) mail.FolderKind {
	for attr, kind := range map[imap.MailboxAttr]mail.FolderKind{
		imap.MailboxAttrAll: mail.FolderAll, imap.MailboxAttrArchive: mail.FolderArchive, imap.MailboxAttrDrafts: mail.FolderDrafts,
		imap.MailboxAttrJunk: mail.FolderJunk, imap.MailboxAttrSent: mail.FolderSent, imap.MailboxAttrTrash: mail.FolderTrash,
	} {
		if strings.EqualFold(string(a), string(attr)) {
			return kind
		}
	}
	return mail.FolderNone
}

// fillStatus asks for the counts LIST did not bring, some folders at a time.
func (s *Session) fillStatus(folders []Folder) error {
	var todo []*Folder
	for i := range folders {
		if folders[i].Selectable && !folders[i].HasStatus {
			todo = append(todo, &folders[i])
		}
	}
	for batch := range slices.Chunk(todo, statusAtOnce) {
		waits := make([]func() (*imap.StatusData, error), len(batch))
		for i, f := range batch {
			waits[i] = s.client.Status(f.Name, s.statusItems()).Wait
		}
		var broken error
		for i, f := range batch {
			data, err := waits[i]()
			switch {
			case err == nil:
				f.Status, f.HasStatus = fromStatus(data), true
			case !Refused(err):
				broken = err
			}
		}
		if broken != nil {
			return broken
		}
		s.w.item()
	}
	return nil
}

// FoldersResilient is Folders for a server one of whose names cannot be read:
// it asks level by level, dialling anew after each level that breaks, and
// reports the parents whose children could not be listed ("" is the top).
// INBOX is asked for by its name in any case. The session it returns is the
// one to go on with, nil when err is not.
func FoldersResilient(ctx context.Context, dial func(context.Context) (*Session, error), s *Session) (out []Folder, broken []string, last *Session, err error) {
	out, err = s.Folders(ctx)
	if err == nil || !errors.Is(err, ErrDecode) {
		return out, nil, s, err
	}
	out = nil
	seen := map[string]bool{}
	type level struct{ parent, pattern string }
	for todo := []level{{"", "INBOX"}, {"", "%"}}; len(todo) > 0 && len(broken) < 8; {
		l := todo[0]
		todo = todo[1:]
		if s.Err() != nil {
			if s, err = dial(ctx); err != nil {
				return out, broken, nil, err
			}
		}
		var rows []Folder
		err := s.run(ctx, "listing folders", midBudget, func() (err error) {
			rows, err = s.list(l.pattern)
			return err
		})
		switch {
		case errors.Is(err, ErrDecode):
			broken = append(broken, l.parent)
			continue
		case err != nil && !Refused(err):
			return out, broken, nil, err
		}
		for _, f := range rows {
			if seen[f.Name] {
				continue
			}
			seen[f.Name] = true
			out = append(out, f)
			if f.Delimiter != "" && len(seen) < 10_000 && !strings.ContainsAny(f.Name, "%*") {
				todo = append(todo, level{f.Name, f.Name + f.Delimiter + "%"})
			}
		}
	}
	if s.Err() != nil {
		if s, err = dial(ctx); err != nil {
			return out, broken, nil, err
		}
	}
	return out, broken, s, nil
}
