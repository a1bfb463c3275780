// Package inbox brings the store up to date with the server: one pass over an
// account, the journal of what a person did, and the loop that keeps it going.
package inbox

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/mirror"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

// pass is one pass over one account, on one session that is dialled when it is
// needed and again when it broke on one bad message.
type pass struct {
	*Syncer
	open *mirror.Session
}

// Pass syncs the folders of the account, or only the one named, and says what
// changed. What it stored stays whatever ends it.
func (s *Syncer) Pass(ctx context.Context, folder string) view.AccountSync {
	s.passing.Lock()
	defer s.passing.Unlock()
	out := view.AccountSync{Account: s.Account.Name, Folders: []view.FolderSync{}}
	release, err := s.store.SyncLease(ctx, s.Account.Name)
	if err != nil {
		out.Error = mail.AsError(err)
		return out
	}
	defer release()
	p := &pass{Syncer: s, open: s.takeSession()}
	defer p.park()
	if err := p.run(ctx, folder, &out); err != nil {
		out.Error = mail.AsError(err)
		s.progress("offline", "", 0, 0)
		s.fail(out.Error)
		return out
	}
	out.OK = true
	return out
}

func (p *pass) run(ctx context.Context, only string, out *view.AccountSync) error {
	begun := p.clock.Now()
	// What was stored before a crash counts before the server is asked what is gone.
	if err := p.events(ctx); err != nil {
		return err
	}
	p.progress("connecting", "", 0, 0)
	session, err := p.session(ctx)
	if err != nil {
		return err
	}
	if err := p.push(ctx); err != nil {
		return err
	}
	p.progress("folders", "", 0, 0)
	remote, broken, err := p.listFolders(ctx, session)
	if err != nil {
		return err
	}
	if err := p.putFolders(ctx, remote, len(broken) == 0); err != nil {
		return err
	}
	rows, err := p.store.Folders(ctx, p.Account.Name)
	if err != nil {
		return err
	}
	passes, err := p.plan(ctx, rows, remote, only)
	if err != nil {
		return err
	}
	defer func() {
		for _, f := range passes {
			out.Folders = append(out.Folders, f.report)
		}
	}()
	// Headers of every folder first: the whole mailbox can be browsed while the
	// bodies come.
	for _, f := range passes {
		if err := p.folder(f, out, f.headers(ctx)); err != nil {
			return err
		}
	}
	for _, f := range passes {
		if f.complete {
			if err := p.folder(f, out, f.finish(ctx)); err != nil {
				return err
			}
			if err := p.events(ctx); err != nil {
				return err
			}
		}
	}
	return p.fresh(ctx, only, begun, rows, passes)
}

// events records what arrived.
func (p *pass) events(ctx context.Context) error {
	return p.Recorder().Drain(ctx)
}

// fresh says that everything in the watched folders that was on the server when
// the pass began is here and has had its effect.
func (p *pass) fresh(ctx context.Context, only string, begun time.Time, rows []mail.Folder, passes []*folderPass) error {
	if only != "" {
		return nil
	}
	for _, f := range passes {
		if !f.complete && Watched(p.Account, f.row) {
			return nil
		}
	}
	if !slices.ContainsFunc(rows, func(f mail.Folder) bool { return f.Selectable && Watched(p.Account, f) }) {
		return nil
	}
	return p.store.SetFresh(ctx, p.Account.Name, begun)
}

// folder tells a folder's own trouble, which the others need not share, from
// the end of the connection.
func (p *pass) folder(f *folderPass, out *view.AccountSync, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, mirror.ErrUIDValidityChanged), mirror.Refused(err):
		f.complete = false
		if out.Error == nil {
			out.Error = mail.AsError(err)
		}
		return nil
	}
	return err
}

// plan makes the passes: the folders that STATUS says have changed, the inbox
// first.
func (p *pass) plan(ctx context.Context, rows []mail.Folder, remote []mirror.Folder, only string) ([]*folderPass, error) {
	status := map[string]mirror.Folder{}
	for _, r := range remote {
		status[r.Name] = r
	}
	var out []*folderPass
	found := only == ""
	for _, row := range rows {
		if !row.Selectable || only != "" && !sameFolder(only, row) {
			continue
		}
		found = true
		local, err := p.store.LocalFolder(ctx, row.ID)
		if err != nil {
			return nil, err
		}
		r := status[row.Name]
		if r.HasStatus && unchanged(local, r.Status, p.open.Caps().CondStore) {
			continue
		}
		f := &folderPass{pass: p, row: row, local: local}
		f.report.Name = f.name()
		out = append(out, f)
	}
	if !found {
		return nil, mail.Errorf(mail.CodeNotFound, "List the folders to see their names.", "Account %s has no folder %q.", p.Account.Name, only)
	}
	slices.SortStableFunc(out, func(a, b *folderPass) int { return rank(a.row) - rank(b.row) })
	return out, nil
}

func rank(f mail.Folder) int { return slices.Index(mail.AllFolderKinds(), f.Kind) }

func sameFolder(name string, f mail.Folder) bool {
	return f.Name == name || strings.EqualFold(name, "inbox") && f.Kind == mail.FolderInbox || string(f.Kind) != "" && strings.EqualFold(name, string(f.Kind))
}

// listFolders asks for the server's folders with their counts, and says below
// which names it could not look.
func (p *pass) listFolders(ctx context.Context, session *mirror.Session) (remote []mirror.Folder, broken []string, err error) {
	have, err := p.store.Folders(ctx, p.Account.Name)
	if err != nil {
		return nil, nil, err
	}
	known := make([]string, 0, len(have))
	for _, f := range have {
		if f.Selectable {
			known = append(known, f.Name)
		}
	}
	remote, err = session.FoldersKnown(ctx, known)
	if err == nil || !mirror.Refused(err) && !errors.Is(err, mirror.ErrDecode) {
		return remote, nil, err
	}
	if session, err = p.session(ctx); err != nil {
		return nil, nil, err
	}
	remote, broken, p.open, err = mirror.FoldersResilient(ctx, p.dial, session)
	return remote, broken, err
}

// putFolders takes over the server's list. Of a list with holes nothing is
// taken to be gone.
func (p *pass) putFolders(ctx context.Context, remote []mirror.Folder, whole bool) error {
	list := p.folders(remote)
	if !whole {
		have, err := p.store.Folders(ctx, p.Account.Name)
		if err != nil {
			return err
		}
		for _, h := range have {
			if !slices.ContainsFunc(list, func(f mail.Folder) bool { return f.Name == h.Name }) {
				list = append(list, h)
			}
		}
	}
	return p.store.PutFolders(ctx, p.Account.Name, list)
}

// folders gives the server's list the kinds of the configuration.
func (p *pass) folders(remote []mirror.Folder) []mail.Folder {
	out := make([]mail.Folder, 0, len(remote))
	for _, r := range remote {
		kind := r.Kind
		if k, ok := p.Account.FolderKinds[r.Name]; ok {
			kind = k
		}
		out = append(out, mail.Folder{Account: p.Account.Name, Name: r.Name, Delimiter: r.Delimiter, Kind: kind, SpecialUse: r.Kind, Selectable: r.Selectable,
			UIDValidity: r.Status.UIDValidity, UIDNext: r.Status.UIDNext})
	}
	return out
}

// session returns the open session, dialling when there is none.
func (p *pass) session(ctx context.Context) (*mirror.Session, error) {
	if p.open != nil && p.open.Err() == nil {
		return p.open, nil
	}
	s, err := p.dial(ctx)
	p.open = s
	return s, err
}

func (p *pass) close() {
	if p.open != nil {
		p.open.Close()
	}
}

// park keeps the session for the next pass while the background loop runs.
func (p *pass) park() {
	if p.open == nil || p.open.Err() != nil || !p.keepSession(p.open) {
		p.close()
	}
}

// resilient reads uids so that one message a server describes badly does not
// block the others.
func (p *pass) resilient(ctx context.Context, uids []uint32, fetch, last mirror.FetchFunc, fn func(mirror.Fetched) error) ([]uint32, error) {
	session, err := p.session(ctx)
	if err != nil {
		return nil, err
	}
	poison, next, err := mirror.FetchResilient(ctx, p.dial, session, uids, fetch, last, fn)
	p.open = next
	return poison, err
}

func (s *Syncer) progress(phase, folder string, done, total int) {
	if s.OnProgress != nil {
		s.OnProgress(view.SyncProgress{Account: s.Account.Name, Folder: safe.Line(folder), Phase: phase, Done: done, Total: total})
	}
}

func (s *Syncer) fail(err *mail.Error) {
	if s.OnProgress != nil {
		s.OnProgress(view.SyncProgress{Account: s.Account.Name, Phase: "offline", Error: err.Error()})
	}
}
