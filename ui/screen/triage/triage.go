// Package triage holds the actions on stored messages that the list and the
// reader share: archive, trash, junk, move, flag, read state, answering. A
// screen says which messages they are about; everything else is the same.
package triage

import (
	"context"
	"fmt"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
)

// Engine is what triage calls.
type Engine interface {
	Folders(ctx context.Context, account string) ([]view.Folder, error)
	MarkSeen(ctx context.Context, ids []int64, seen bool) (undo string, err error)
	SetFlagged(ctx context.Context, ids []int64, on bool) (undo string, err error)
	MoveTo(ctx context.Context, ids []int64, kind mail.FolderKind, folderID int64) (undo string, err error)
	NewDraft(ctx context.Context, account string) (mail.Draft, error)
	ReplyDraft(ctx context.Context, messageID int64, all bool) (mail.Draft, error)
	ForwardDraft(ctx context.Context, messageID int64) (mail.Draft, error)
}

// Done tells the screens that messages were moved away, or that it failed.
type Done struct {
	IDs []int64
	Err error
}

// Triage is the shared part. Targets and Current are asked when a key is
// pressed; Hide and Change show the effect before the engine has answered.
type Triage struct {
	Env     *kit.Env
	Engine  Engine
	Targets func() []view.MessageRow
	Hide    func(ids []int64) tea.Cmd
	Change  func(ids []int64, edit func(*view.MessageRow))

	folders kit.Load[[]view.Folder]
	writing kit.Load[mail.Draft]
}

// Init reads the folders: what exists decides what is possible.
func (t *Triage) Init() tea.Cmd {
	return t.folders.Start(func(ctx context.Context) ([]view.Folder, error) { return t.Engine.Folders(ctx, "") })
}

// Update takes the results of triage's own commands.
func (t *Triage) Update(msg tea.Msg) (taken bool, cmd tea.Cmd) {
	if c, ok := msg.(view.Change); ok && (c.Topic == view.TopicFolders || c.Topic == view.TopicAccounts) {
		return false, t.Init()
	}
	if t.folders.Take(msg) {
		return true, nil
	}
	if t.writing.Take(msg) {
		if t.writing.Err != nil {
			return true, kit.Fail(t.writing.Err)
		}
		return true, kit.Open(kit.MessagePage(kit.KindCompose, t.writing.Value.ID))
	}
	return false, nil
}

// Actions lists them, the most used first.
func (t *Triage) Actions() []kit.Action {
	some := func() (bool, string) { return t.some() }
	act := func(id, key, title, short string, rank int, enabled func() (bool, string), run func() tea.Cmd) kit.Action {
		return kit.Action{ID: "message." + id, Keys: []string{key}, Title: title, Short: short, Group: "Message", Rank: rank, Enabled: enabled, Run: run}
	}
	return []kit.Action{
		act("archive", "e", "Archive", "archive", 11, t.can(mail.FolderArchive), func() tea.Cmd { return t.move(mail.FolderArchive, 0, "Archived") }),
		act("trash", "d", "Move to trash", "trash", 12, t.can(mail.FolderTrash), func() tea.Cmd { return t.move(mail.FolderTrash, 0, "Moved to trash") }),
		act("junk", "!", "Move to junk", "junk", 0, t.can(mail.FolderJunk), func() tea.Cmd { return t.move(mail.FolderJunk, 0, "Moved to junk") }),
		act("move", "m", "Move to a folder…", "move", 24, some, t.choose),
		act("flag", "s", "Flag or unflag", "flag", 21, some, t.flag),
		act("unread", "U", "Mark read or unread", "unread", 22, some, t.unread),
		act("reply", "r", "Reply to the sender", "reply", 10, t.one, func() tea.Cmd { return t.reply(false) }),
		act("reply-all", "R", "Reply to all", "reply all", 20, t.one, func() tea.Cmd { return t.reply(true) }),
		act("forward", "f", "Forward", "forward", 26, t.one, t.forward),
		act("compose", "c", "Write a new message", "compose", 25, t.idle, t.compose),
		act("timeline", "L", "Timeline: everything that happened to this message", "timeline", 0, t.one, t.timeline),
	}
}

func (t *Triage) some() (bool, string) {
	if len(t.Targets()) == 0 {
		return false, "no message is selected"
	}
	return true, ""
}

func (t *Triage) one() (bool, string) {
	if n := len(t.Targets()); n != 1 {
		if n > 1 {
			return false, "several messages are marked"
		}
		return false, "no message is selected"
	}
	return t.idle()
}

func (t *Triage) idle() (bool, string) {
	if t.writing.Running {
		return false, "a draft is being made"
	}
	return true, ""
}

// can asks whether every target's account has a folder of that kind, and
// whether the message is not there already.
func (t *Triage) can(kind mail.FolderKind) func() (bool, string) {
	return func() (bool, string) {
		if ok, why := t.some(); !ok {
			return ok, why
		}
		for _, row := range t.Targets() {
			has, here := false, false
			for _, f := range t.folders.Value {
				if f.Account == row.Account && f.Kind == kind {
					has = true
					here = here || f.ID == row.FolderID
				}
			}
			switch {
			case here:
				return false, "it is already in " + kind.String()
			case !has && t.folders.Loaded:
				return false, fmt.Sprintf("%s has no %s folder", row.Account, kind)
			case !has:
				return false, "the folders are being read"
			}
		}
		return true, ""
	}
}

// Folder is what is known of a folder; the zero Folder when nothing is.
func (t *Triage) Folder(id int64) view.Folder {
	for _, f := range t.folders.Value {
		if f.ID == id {
			return f
		}
	}
	return view.Folder{}
}

func ids(rows []view.MessageRow) []int64 {
	out := make([]int64, len(rows))
	for i, r := range rows {
		out[i] = r.ID
	}
	return out
}

// Count is "1 message" or "3 messages".
func Count(n int) string {
	if n == 1 {
		return "1 message"
	}
	return kit.Number(n) + " messages"
}

func (t *Triage) move(kind mail.FolderKind, folder int64, done string) tea.Cmd {
	list := ids(t.Targets())
	engine, hint := t.Engine, "u undo"
	hide := t.Hide(list)
	return tea.Batch(hide, func() tea.Msg {
		_, err := engine.MoveTo(context.Background(), list, kind, folder)
		msgs := tea.BatchMsg{kit.Send(Done{list, err})}
		if err != nil {
			return append(msgs, kit.Fail(err))
		}
		return append(msgs, kit.Send(kit.Notice{Level: kit.Good, Text: done + ": " + Count(len(list)), Hint: hint}))
	})
}

func (t *Triage) choose() tea.Cmd {
	rows := t.Targets()
	account := rows[0].Account
	for _, r := range rows {
		if r.Account != account {
			return kit.Say(kit.Warn, "The marked messages belong to several accounts: move them one account at a time.")
		}
	}
	menu := &kit.Menu{Env: t.Env, Title: "Move " + Count(len(rows)) + " to", Placeholder: "type a folder's name",
		Empty: "this account has no other folder", Foot: "enter move  esc cancel"}
	for _, f := range t.folders.Value {
		if f.Account != account || !f.Selectable || f.ID == rows[0].FolderID && len(rows) == 1 {
			continue
		}
		menu.Items = append(menu.Items, kit.Item{Label: f.Name.String(), Right: f.Kind.String(), Run: func() tea.Cmd {
			return t.move(mail.FolderNone, f.ID, "Moved to "+f.Label.String())
		}})
	}
	return kit.Show(menu)
}

func (t *Triage) flag() tea.Cmd {
	rows := t.Targets()
	on := false
	for _, r := range rows {
		on = on || !r.Flagged
	}
	list, engine := ids(rows), t.Engine
	t.Change(list, func(r *view.MessageRow) { r.Flagged = on })
	return kit.Call(func(ctx context.Context) (tea.Msg, error) {
		_, err := engine.SetFlagged(ctx, list, on)
		return nil, err
	})
}

func (t *Triage) unread() tea.Cmd {
	rows := t.Targets()
	seen := false
	for _, r := range rows {
		seen = seen || r.Unread
	}
	return t.Seen(ids(rows), seen)
}

// Seen marks messages read or unread.
func (t *Triage) Seen(list []int64, seen bool) tea.Cmd {
	t.Change(list, func(r *view.MessageRow) { r.Unread = !seen })
	engine := t.Engine
	return kit.Call(func(ctx context.Context) (tea.Msg, error) {
		_, err := engine.MarkSeen(ctx, list, seen)
		return nil, err
	})
}

func (t *Triage) reply(all bool) tea.Cmd {
	id := t.Targets()[0].ID
	return t.writing.Start(func(ctx context.Context) (mail.Draft, error) { return t.Engine.ReplyDraft(ctx, id, all) })
}

func (t *Triage) forward() tea.Cmd {
	id := t.Targets()[0].ID
	return t.writing.Start(func(ctx context.Context) (mail.Draft, error) { return t.Engine.ForwardDraft(ctx, id) })
}

func (t *Triage) compose() tea.Cmd {
	account := ""
	if rows := t.Targets(); len(rows) > 0 {
		account = rows[0].Account
	}
	return t.writing.Start(func(ctx context.Context) (mail.Draft, error) { return t.Engine.NewDraft(ctx, account) })
}

func (t *Triage) timeline() tea.Cmd {
	return kit.Open(kit.Page{Kind: kit.KindAudit, ID: "message:" + strconv.FormatInt(t.Targets()[0].ID, 10)})
}
