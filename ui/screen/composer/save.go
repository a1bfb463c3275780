package composer

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/ui/kit"
)

const (
	pauseLength = 600 * time.Millisecond // without a key: the draft is stored
	longest     = 4 * time.Second        // while typing: it is stored at least this often
)

// saver stores versions of one draft, one after another, whatever order the
// commands run in: an older one never replaces a newer one, and nothing is
// stored any more once the draft was sent.
type saver struct {
	engine  Engine
	mu      sync.Mutex
	id      int64
	account string
	version uint64
	closed  bool
	anew    bool // the stored draft went away elsewhere, and a new one took its place
}

// save stores a version and returns the draft's number.
func (s *saver) save(ctx context.Context, version uint64, d mail.Draft) (id int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || version <= s.version {
		return s.id, nil
	}
	d.ID = s.id
	if d.Account != s.account {
		return s.move(ctx, version, d)
	}
	stored, err := s.engine.SaveDraft(ctx, d)
	if errors.Is(err, mail.ErrCode(mail.CodeNotFound)) {
		// It was sent or discarded elsewhere while it was being written here: what
		// is written is kept, as a draft of its own.
		d.ID, d.IdempotencyKey = 0, ""
		if stored, err = s.engine.SaveDraft(ctx, d); err == nil {
			s.anew = true
		}
	}
	if err != nil {
		return s.id, err
	}
	s.id, s.version = stored.ID, version
	return s.id, nil
}

// move makes the draft another account's: a stored one keeps its account, so a
// new one takes its place.
func (s *saver) move(ctx context.Context, version uint64, d mail.Draft) (int64, error) {
	old := d.ID
	d.ID, d.IdempotencyKey = 0, ""
	stored, err := s.engine.SaveDraft(ctx, d)
	if err != nil {
		return s.id, err
	}
	s.id, s.account, s.version = stored.ID, d.Account, version
	if err := s.engine.DiscardDraft(ctx, old); err != nil && !errors.Is(err, mail.ErrCode(mail.CodeNotFound)) {
		return s.id, err
	}
	return s.id, nil
}

// replaced reports, once, whether the draft went away elsewhere and was stored
// anew.
func (s *saver) replaced() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.anew
	s.anew = false
	return was
}

// finish runs f, which ends the draft; when it succeeds nothing is stored after it.
func (s *saver) finish(f func(id int64) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := f(s.id)
	s.closed = s.closed || err == nil
	return err
}

// The composer's own messages name it: every page is given all messages.
type (
	pauseOver struct {
		m       *Model
		version uint64
	}
	overdue struct{ m *Model }
	stored  struct {
		m       *Model
		version uint64
		id      int64
		err     error
	}
)

// touched counts a change and sees to it that it is stored soon.
func (m *Model) touched() tea.Cmd {
	m.version++
	m.problem = nil
	cmds := []tea.Cmd{m.env.After(pauseLength, pauseOver{m, m.version})}
	if !m.armed {
		m.armed = true
		cmds = append(cmds, m.env.After(longest, overdue{m}))
	}
	return tea.Batch(cmds...)
}

func (m *Model) dirty() bool { return m.ready && !m.gone && m.version != m.saved }

// save stores what is written now.
func (m *Model) save() tea.Cmd {
	if !m.dirty() {
		return nil
	}
	m.saving++
	s, version, d := m.saver, m.version, m.current()
	return func() tea.Msg {
		id, err := s.save(context.Background(), version, d)
		return stored{m, version, id, err}
	}
}

// keep takes the result of a save.
func (m *Model) keep(r stored) tea.Cmd {
	m.saving = max(0, m.saving-1)
	if m.failed = mail.AsError(r.err); m.failed != nil {
		if m.armed || m.gone {
			return nil
		}
		m.armed = true
		return m.env.After(longest, overdue{m}) // a full disk may be made room on
	}
	if r.version > m.saved {
		m.saved, m.savedAt = r.version, m.env.Now()
	}
	m.draft.ID = r.id
	if m.saver.replaced() {
		return kit.Say(kit.Warn, elsewhere)
	}
	return nil
}

const elsewhere = "This draft was sent or discarded elsewhere: what you write here is kept as a new draft."

// Leave keeps what is written. A new draft in which nothing was written goes.
func (m *Model) Leave() tea.Cmd {
	if !m.ready || m.gone {
		return nil
	}
	s, version, d := m.saver, m.version, m.current()
	switch {
	case m.version == 0 && !m.wasAt.IsZero():
		at, engine, says := m.wasAt, m.engine, "Unchanged: it goes out "+m.when(m.wasAt)+"."
		return answer(func(ctx context.Context) error {
			return s.finish(func(id int64) error { return engine.ScheduleSend(ctx, id, at, true) })
		}, kit.Notice{Level: kit.Good, Text: says})
	case (m.version == 0 || d.Kind == mail.KindOutbound) && untouched(d):
		engine := m.engine
		return func() tea.Msg {
			// It is empty: that it could not be discarded is nothing to stop for.
			_ = s.finish(func(id int64) error { return engine.DiscardDraft(context.Background(), id) })
			return nil
		}
	case m.version == 0:
		return nil
	}
	note := kit.Notice{Level: kit.Good, Text: "Draft kept.", Hint: "g d lists the drafts"}
	if !m.wasAt.IsZero() {
		note = kit.Notice{Level: kit.Warn, Text: "Draft kept; it is no longer scheduled.", Hint: "g d, then ctrl+o, sets a time again"}
	}
	return answer(func(ctx context.Context) error {
		_, err := s.save(ctx, version, d)
		return err
	}, note)
}

// answer runs f and says how it went.
func answer(f func(ctx context.Context) error, good kit.Notice) tea.Cmd {
	return func() tea.Msg {
		if err := f(context.Background()); err != nil {
			e := mail.AsError(err)
			return kit.Notice{Level: kit.Bad, Text: "The draft could not be stored: " + e.Text, Hint: e.Hint}
		}
		return good
	}
}

// untouched reports whether a draft holds nothing of a person's own: it is
// empty, or an answer as it was made, with nothing but the quoted original.
func untouched(d mail.Draft) bool {
	if len(d.Attachments) > 0 || d.RetryOf != "" {
		return false
	}
	if d.Kind == mail.KindReply {
		return d.UpdatedAt.Equal(d.CreatedAt) && onlyQuoted(d.Body)
	}
	return len(d.To)+len(d.Cc)+len(d.Bcc) == 0 && strings.TrimSpace(d.Subject) == "" && strings.TrimSpace(d.Body) == ""
}

// onlyQuoted reports whether every line is blank, quoted, or the one that says
// who wrote what is quoted.
func onlyQuoted(body string) bool {
	lines := strings.Split(body, "\n")
	for i, l := range lines {
		introduces := strings.HasSuffix(l, ":") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], ">")
		if strings.TrimSpace(l) != "" && !strings.HasPrefix(l, ">") && !introduces {
			return false
		}
	}
	return true
}
