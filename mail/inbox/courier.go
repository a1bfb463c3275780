package inbox

import (
	"context"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/mirror"
)

// WantBody asks for the body of a message before all others.
func (s *Syncer) WantBody(id int64) {
	s.mu.Lock()
	s.want = append(s.want, id)
	s.mu.Unlock()
	select {
	case s.fetch <- struct{}{}:
	default:
	}
}

// courier fetches the bodies somebody waits for over a connection of its own,
// beside whatever pass is running, and gives it up when nobody has asked for a
// while. A failure is not repeated here: the next pass fetches the body too.
func (s *Syncer) courier(ctx context.Context) {
	p := &pass{Syncer: s}
	defer p.close()
	rest := time.NewTimer(parkTime)
	defer rest.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-rest.C:
			p.close()
			p.open = nil
		case <-s.fetch:
			if err := p.wanted(ctx); err != nil {
				p.close()
				p.open = nil
			}
		}
		rest.Reset(parkTime)
	}
}

// wanted reads the bodies somebody is waiting for, the last one asked for first.
func (p *pass) wanted(ctx context.Context) error {
	for {
		p.mu.Lock()
		n := len(p.want)
		if n == 0 {
			p.mu.Unlock()
			return nil
		}
		id := p.want[n-1]
		p.want = p.want[:n-1]
		p.mu.Unlock()
		m, err := p.store.Message(ctx, id)
		if err != nil || m.HasBody || m.UID.Validity == 0 {
			continue // it is here by now, gone, or on its way to another folder
		}
		f := &folderPass{pass: p, row: mail.Folder{ID: m.FolderID, Name: m.Folder}, box: mirror.Mailbox{UIDValidity: m.UID.Validity}}
		if err := f.fetchBodies(ctx, []mail.Bodyless{{ID: id, UID: m.UID.UID, Size: m.Size}}); err != nil && !mirror.Refused(err) {
			return err
		}
	}
}
