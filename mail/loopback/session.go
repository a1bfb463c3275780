package loopback

import (
	"bytes"
	"crypto/subtle"
	"io"
	"log"
	"maps"
	"slices"
	"strings"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
)

func (s *Servers) newIMAPServer() *imapserver.Server {
	caps := imap.CapSet{}
	for _, c := range []imap.Cap{imap.CapIMAP4rev1, imap.CapNamespace, imap.CapUIDPlus, imap.CapESearch, imap.CapListExtended,
		imap.CapListStatus, imap.CapMove, imap.CapStatusSize, imap.CapChildren, imap.CapSpecialUse, imap.CapLiteralPlus} {
		caps[c] = struct{}{}
	}
	return imapserver.New(&imapserver.Options{
		Caps: caps, TLSConfig: s.tls, Logger: log.New(io.Discard, "", 0),
		NewSession: func(c *imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			return &session{s: s, conn: c}, nil, nil
		},
	})
}

// A session serves one IMAP connection.
type session struct {
	s        *Servers
	conn     *imapserver.Conn
	folder   *folder // selected, or nil
	view     *imapserver.SessionTracker
	readOnly bool
}

var _ imapserver.SessionMove = (*session)(nil)
var _ imapserver.SessionNamespace = (*session)(nil)

func refuse(code imap.ResponseCode, text string) error {
	return &imap.Error{Type: imap.StatusResponseTypeNo, Code: code, Text: text}
}

var errNoFolder = refuse(imap.ResponseCodeNonExistent, "There is no such mailbox")

// lock takes the store's lock; the result releases it.
func (e *session) lock() func() {
	e.s.store.mu.Lock()
	return e.s.store.mu.Unlock
}

// checkLogin compares both in constant time.
func (s *Servers) checkLogin(user, password string) bool {
	u := subtle.ConstantTimeCompare([]byte(user), []byte(s.Username))
	p := subtle.ConstantTimeCompare([]byte(password), []byte(s.Password))
	return u&p == 1 && !s.faults().RefuseLogin
}

func (e *session) Login(user, password string) error {
	if !e.s.checkLogin(user, password) {
		return imapserver.ErrAuthFailed
	}
	return nil
}

func (e *session) Close() error { return e.Unselect() }

func (e *session) Unselect() error {
	defer e.lock()()
	if e.view != nil {
		e.view.Close()
	}
	e.view, e.folder = nil, nil
	return nil
}

func (e *session) Select(name string, o *imap.SelectOptions) (*imap.SelectData, error) {
	if err := e.Unselect(); err != nil {
		return nil, err
	}
	defer e.lock()()
	f := e.s.store.find(name)
	if f == nil {
		return nil, errNoFolder
	}
	e.folder, e.view, e.readOnly = f, f.tracker.NewSession(), o.ReadOnly
	flags := map[imap.Flag]bool{imap.FlagSeen: true, imap.FlagAnswered: true, imap.FlagFlagged: true, imap.FlagDeleted: true, imap.FlagDraft: true}
	data := &imap.SelectData{NumMessages: uint32(len(f.msgs)), UIDNext: f.next, UIDValidity: f.validity}
	for i, m := range f.msgs {
		maps.Copy(flags, m.flags)
		if data.FirstUnseenSeqNum == 0 && !m.has(imap.FlagSeen) {
			data.FirstUnseenSeqNum = uint32(i) + 1
		}
	}
	data.Flags = slices.Sorted(maps.Keys(flags))
	data.PermanentFlags = append(slices.Clone(data.Flags), imap.FlagWildcard)
	return data, nil
}

func (e *session) Create(name string, _ *imap.CreateOptions) error {
	defer e.lock()()
	name = strings.TrimRight(name, string(delimiter))
	if name == "" || e.s.store.folders[name] != nil || strings.EqualFold(name, "INBOX") {
		return refuse(imap.ResponseCodeAlreadyExists, "That mailbox exists")
	}
	e.s.store.create(name, "")
	return nil
}

func (e *session) Delete(name string) error {
	defer e.lock()()
	f := e.s.store.folders[name]
	if f == nil {
		return errNoFolder
	}
	delete(e.s.store.folders, name)
	return nil
}

func (e *session) Rename(from, to string, _ *imap.RenameOptions) error {
	defer e.lock()()
	f := e.s.store.folders[from]
	if f == nil || from == "INBOX" {
		return errNoFolder
	}
	if e.s.store.folders[to] != nil {
		return refuse(imap.ResponseCodeAlreadyExists, "That mailbox exists")
	}
	delete(e.s.store.folders, from)
	f.name = to
	e.s.store.folders[to] = f
	return nil
}

func (e *session) Subscribe(name string) error   { return e.subscribe(name, true) }
func (e *session) Unsubscribe(name string) error { return e.subscribe(name, false) }

func (e *session) subscribe(name string, on bool) error {
	defer e.lock()()
	f := e.s.store.folders[name]
	if f == nil {
		return errNoFolder
	}
	f.subscribed = on
	return nil
}

func (e *session) Namespace() (*imap.NamespaceData, error) {
	return &imap.NamespaceData{Personal: []imap.NamespaceDescriptor{{Delim: delimiter}}}, nil
}

// List shows SPECIAL-USE attributes also to a client that did not ask, as many
// servers do, unless the faults hide them.
func (e *session) List(w *imapserver.ListWriter, ref string, patterns []string, o *imap.ListOptions) error {
	if len(patterns) == 0 {
		return w.WriteList(&imap.ListData{Attrs: []imap.MailboxAttr{imap.MailboxAttrNoSelect}, Delim: delimiter})
	}
	hide := e.s.faults().HideSpecialUse
	for _, data := range e.list(hide, o) {
		match := func(p string) bool { return imapserver.MatchList(data.Mailbox, delimiter, ref, p) }
		if slices.ContainsFunc(patterns, match) {
			if err := w.WriteList(&data); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *session) list(hide bool, o *imap.ListOptions) []imap.ListData {
	defer e.lock()()
	var all []imap.ListData
	for _, name := range slices.Sorted(maps.Keys(e.s.store.folders)) {
		f := e.s.store.folders[name]
		use := f.use != "" && !hide
		if o.SelectSubscribed && !f.subscribed || o.SelectSpecialUse && !use {
			continue
		}
		data := imap.ListData{Mailbox: name, Delim: delimiter}
		child := imap.MailboxAttrHasNoChildren
		for other := range e.s.store.folders {
			if strings.HasPrefix(other, name+string(delimiter)) {
				child = imap.MailboxAttrHasChildren
			}
		}
		data.Attrs = append(data.Attrs, child)
		if f.noSelect {
			data.Attrs = append(data.Attrs, imap.MailboxAttrNoSelect)
		}
		if f.subscribed && (o.ReturnSubscribed || o.SelectSubscribed) {
			data.Attrs = append(data.Attrs, imap.MailboxAttrSubscribed)
		}
		if use {
			data.Attrs = append(data.Attrs, f.use)
		}
		if o.ReturnStatus != nil && !f.noSelect {
			data.Status = f.status(o.ReturnStatus)
		}
		all = append(all, data)
	}
	return all
}

func (e *session) Status(name string, o *imap.StatusOptions) (*imap.StatusData, error) {
	defer e.lock()()
	f := e.s.store.find(name)
	if f == nil {
		return nil, errNoFolder
	}
	return f.status(o), nil
}

func (f *folder) status(o *imap.StatusOptions) *imap.StatusData {
	var total, unseen, deleted, recent uint32
	var size int64
	for _, m := range f.msgs {
		total++
		size += int64(len(m.raw))
		if !m.has(imap.FlagSeen) {
			unseen++
		}
		if m.has(imap.FlagDeleted) {
			deleted++
		}
	}
	data := &imap.StatusData{Mailbox: f.name, UIDNext: f.next, UIDValidity: f.validity}
	for wanted, set := range map[*bool]func(){
		&o.NumMessages: func() { data.NumMessages = &total },
		&o.NumUnseen:   func() { data.NumUnseen = &unseen },
		&o.NumDeleted:  func() { data.NumDeleted = &deleted },
		&o.NumRecent:   func() { data.NumRecent = &recent },
		&o.Size:        func() { data.Size = &size },
	} {
		if *wanted {
			set()
		}
	}
	return data
}

func (e *session) Append(name string, r imap.LiteralReader, o *imap.AppendOptions) (*imap.AppendData, error) {
	var raw bytes.Buffer
	if _, err := raw.ReadFrom(r); err != nil {
		return nil, err
	}
	faults := e.s.faults()
	if faults.RefuseAppend {
		return nil, refuse(imap.ResponseCodeOverQuota, "The mailbox is full")
	}
	data, err := e.append(name, raw.Bytes(), o)
	if err == nil && faults.DropAfterAppend {
		_ = e.conn.NetConn().Close()
	}
	return data, err
}

func (e *session) append(name string, raw []byte, o *imap.AppendOptions) (*imap.AppendData, error) {
	defer e.lock()()
	f := e.s.store.find(name)
	if f == nil {
		return nil, refuse(imap.ResponseCodeTryCreate, "There is no such mailbox")
	}
	date := o.Time
	if date.IsZero() {
		date = e.s.opts.Now()
	}
	m := f.add(raw, o.Flags, date)
	return &imap.AppendData{UIDValidity: f.validity, UID: m.uid}, nil
}

func (e *session) Poll(w *imapserver.UpdateWriter, allowExpunge bool) error {
	if e.view == nil {
		return nil
	}
	return e.view.Poll(w, allowExpunge)
}

// Idle registers for nudges before it looks for updates the first time, so that
// none is missed that came after the client was told to go ahead.
func (e *session) Idle(w *imapserver.UpdateWriter, stop <-chan struct{}) error {
	unlock := e.lock()
	f, view := e.folder, e.view // the connection may end, and unselect, before this returns
	nudged := make(chan struct{}, 1)
	if f != nil {
		nudged <- struct{}{}
		f.idle[nudged] = true
	}
	unlock()
	if f == nil {
		<-stop
		return nil
	}
	defer func() {
		defer e.lock()()
		delete(f.idle, nudged)
	}()
	for {
		select {
		case <-stop:
			return nil
		case <-nudged:
			if err := view.Poll(w, true); err != nil {
				return err
			}
		}
	}
}
