package loopback

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
)

const delimiter = '/'

// A message of a folder. Its bytes are kept and served as they came: a broken
// message must reach the client broken.
type message struct {
	uid   imap.UID
	raw   []byte
	date  time.Time // INTERNALDATE
	flags map[imap.Flag]bool
}

// flagList returns the flags in one order, system flags in their usual case.
func (m *message) flagList() []imap.Flag {
	list := make([]imap.Flag, 0, len(m.flags))
	for f := range m.flags {
		list = append(list, f)
	}
	slices.Sort(list)
	return list
}

func (m *message) has(f imap.Flag) bool { return m.flags[canonicalFlag(f)] }

// canonicalFlag gives system flags their usual case, since flags are compared
// without regard to case (RFC 3501 section 2.3.2); keywords stay as written.
func canonicalFlag(f imap.Flag) imap.Flag {
	for _, known := range []imap.Flag{imap.FlagSeen, imap.FlagAnswered, imap.FlagFlagged, imap.FlagDeleted, imap.FlagDraft} {
		if strings.EqualFold(string(f), string(known)) {
			return known
		}
	}
	return f
}

// A folder is one IMAP mailbox.
type folder struct {
	name       string
	use        imap.MailboxAttr // SPECIAL-USE, or ""
	noSelect   bool             // only a level of the hierarchy
	subscribed bool
	validity   uint32
	next       imap.UID
	msgs       []*message // ascending UID
	tracker    *imapserver.MailboxTracker
	idle       map[chan struct{}]bool // sessions in IDLE, each with room for one nudge
}

// A store holds the folders of the one account. One lock guards it all: the
// mailbox is small, and a move touches two folders.
type store struct {
	mu       sync.Mutex
	folders  map[string]*folder
	validity uint32 // of the next folder to be made
}

func newStore(validity uint32) *store {
	return &store{folders: map[string]*folder{}, validity: validity}
}

// create makes a folder; the name must not be in use. The lock is held.
func (st *store) create(name string, use imap.MailboxAttr) *folder {
	f := &folder{name: name, use: use, subscribed: true, validity: st.validity, next: 1, tracker: imapserver.NewMailboxTracker(0), idle: map[chan struct{}]bool{}}
	st.validity++
	st.folders[name] = f
	return f
}

// find returns a folder that can be selected, or nil. The lock is held.
func (st *store) find(name string) *folder {
	if strings.EqualFold(name, "INBOX") {
		name = "INBOX"
	}
	if f := st.folders[name]; f != nil && !f.noSelect {
		return f
	}
	return nil
}

// add puts a message at the end and tells the sessions. The lock is held.
func (f *folder) add(raw []byte, flags []imap.Flag, date time.Time) *message {
	m := &message{uid: f.next, raw: raw, date: date, flags: map[imap.Flag]bool{}}
	for _, flag := range flags {
		m.flags[canonicalFlag(flag)] = true
	}
	f.next++
	f.msgs = append(f.msgs, m)
	f.tracker.QueueNumMessages(uint32(len(f.msgs)))
	f.nudge()
	return m
}

// remove takes out the messages that the set names and tells the sessions. The
// lock is held.
func (f *folder) remove(gone map[*message]bool) {
	for i := len(f.msgs) - 1; i >= 0; i-- {
		if gone[f.msgs[i]] {
			f.tracker.QueueExpunge(uint32(i) + 1)
		}
	}
	f.msgs = slices.DeleteFunc(f.msgs, func(m *message) bool { return gone[m] })
	f.nudge()
}

// flagged tells the sessions, but not the one that did it, that the flags of
// the message at index i changed. The lock is held.
func (f *folder) flagged(i int, by *imapserver.SessionTracker) {
	f.tracker.QueueMessageFlags(uint32(i)+1, f.msgs[i].uid, f.msgs[i].flagList(), by)
	f.nudge()
}

// nudge wakes the sessions in IDLE. The lock is held.
func (f *folder) nudge() {
	for ch := range f.idle {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// Stored is one message of a folder on the server.
type Stored struct {
	UID   uint32
	Flags []string
	Date  time.Time
	Raw   []byte
}

// Folder returns the messages of a folder in the order of their UIDs, or nil
// when there is no such folder.
func (s *Servers) Folder(name string) []Stored {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	f := s.store.find(name)
	if f == nil {
		return nil
	}
	list := make([]Stored, 0, len(f.msgs))
	for _, m := range f.msgs {
		one := Stored{UID: uint32(m.uid), Date: m.date, Raw: bytes.Clone(m.raw)}
		for _, flag := range m.flagList() {
			one.Flags = append(one.Flags, string(flag))
		}
		list = append(list, one)
	}
	return list
}

// Folders returns the names of all folders that can be selected, sorted.
func (s *Servers) Folders() []string {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	var names []string
	for name, f := range s.store.folders {
		if !f.noSelect {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Deliver puts a message into a folder as if it had just arrived, unseen, and
// pushes EXISTS to the clients that wait in IDLE. Bare LF become CRLF. A folder
// that does not exist is made. It returns the message's UID.
func (s *Servers) Deliver(folderName string, raw []byte) uint32 {
	return s.put(folderName, crlf(raw))
}

func (s *Servers) put(folderName string, raw []byte, flags ...imap.Flag) uint32 {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	f := s.store.find(folderName)
	if f == nil {
		f = s.store.create(folderName, "")
	}
	return uint32(f.add(raw, flags, s.opts.Now()).uid)
}

// RenewUIDs gives a folder a new UIDVALIDITY and numbers its messages from 1
// again, as a server restored from a backup does. The IMAP server is restarted,
// because a session may not see that happen.
func (s *Servers) RenewUIDs(folderName string) error {
	s.StopIMAP()
	s.store.mu.Lock()
	if f := s.store.find(folderName); f != nil {
		f.validity = s.store.validity
		s.store.validity++
		f.next = 1
		for _, m := range f.msgs {
			m.uid = f.next
			f.next++
		}
	}
	s.store.mu.Unlock()
	return s.StartIMAP()
}

// crlf ends every line with CRLF and leaves what already does as it is.
func crlf(b []byte) []byte {
	out := make([]byte, 0, len(b)+len(b)/32)
	for i, c := range b {
		if c == '\n' && (i == 0 || b[i-1] != '\r') {
			out = append(out, '\r')
		}
		out = append(out, c)
	}
	return out
}
