package outbox

import (
	"context"
	"fmt"

	"skrzynka/mail"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

// Probe looks for traces of an uncertain attempt: its Message-ID in the
// account's Sent and All Mail folders (IMAP SEARCH HEADER), and stored mail that
// carries, answers or bounces it. A find proves acceptance and is kept as a
// finding; absence proves nothing, and the sentence says so.
func (o *Outbox) Probe(ctx context.Context, a *mail.Attempt) ([]view.Looked, bool, error) {
	acct, err := o.Account(a.Account)
	if err != nil {
		return nil, false, err
	}
	looked, err := o.probeStore(ctx, a)
	if err != nil {
		return nil, false, err
	}
	looked = append(looked, o.probeServer(ctx, acct, a)...)
	proven := false
	for _, l := range looked {
		if !l.Found {
			continue
		}
		proven = true
		finding := "Found in " + l.Place.String()
		if !l.Note.Empty() {
			finding += ": " + l.Note.String()
		}
		if err := o.Store.AddFinding(ctx, a.ID, finding, a.Status == mail.StatusUncertain); err != nil {
			return looked, proven, err
		}
	}
	return looked, proven, nil
}

func (o *Outbox) probeStore(ctx context.Context, a *mail.Attempt) ([]view.Looked, error) {
	mentions, err := o.Store.Mentions(ctx, a.Account, messageIDs(a), a.CreatedAt)
	if err != nil {
		return nil, err
	}
	var out []view.Looked
	for _, m := range mentions {
		l := view.Looked{Place: safe.Line(m.Folder), Found: true, Strength: "proof"}
		switch m.How {
		case mail.MentionSelf:
			l.Note = safe.Line("the message itself is there")
		case mail.MentionAnswer:
			l.Note = safe.Line(fmt.Sprintf("%s answered it: %s", m.From, m.Subject))
		case mail.MentionBounce:
			l.Strength = "strong"
			l.Note = safe.Line(fmt.Sprintf("a delivery report from %s names it: it was accepted and came back", m.From))
		}
		out = append(out, l)
	}
	if len(out) == 0 {
		out = append(out, view.Looked{Place: safe.Line("synced mail"), Strength: "none",
			Note: safe.Line("no stored message carries, answers or bounces it")})
	}
	return out, nil
}

func (o *Outbox) probeServer(ctx context.Context, acct *mail.Account, a *mail.Attempt) []view.Looked {
	if acct.IMAP.Host == "" || o.Dial == nil {
		return nil
	}
	places, err := o.probePlaces(ctx, acct)
	if err != nil {
		return []view.Looked{{Place: safe.Line("server"), Strength: "none", Error: mail.AsError(err)}}
	}
	r, err := o.Dial(ctx, acct)
	if err != nil {
		return []view.Looked{{Place: safe.Line("server"), Strength: "none", Error: mail.AsError(err)}}
	}
	defer r.Close()
	var out []view.Looked
	for _, folder := range places {
		l := view.Looked{Place: safe.Line(folder + " on the server"), Strength: "none"}
		found, err := r.Find(ctx, folder, messageIDs(a))
		switch {
		case err != nil:
			l.Error = mail.AsError(err)
		case len(found) > 0:
			l.Found, l.Strength = true, "proof"
			l.Note = safe.Line(fmt.Sprintf("Message-ID found, UID %d", found[0].UID))
		default:
			l.Note = safe.Line("not found")
		}
		out = append(out, l)
	}
	return out
}

// probePlaces are the folders where a server would keep what it accepted from
// us: Sent and All Mail, and the configured destination of copies.
func (o *Outbox) probePlaces(ctx context.Context, acct *mail.Account) ([]string, error) {
	folders, err := o.Store.Folders(ctx, acct.Name)
	if err != nil {
		return nil, err
	}
	var out []string
	seen := map[string]bool{}
	add := func(name string) {
		if name != "" && !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	add(acct.SentCopy.Folder)
	for _, f := range folders {
		if f.Selectable && (f.Kind == mail.FolderSent || f.Kind == mail.FolderAll) {
			add(f.Name)
		}
	}
	return out, nil
}

// ProbeSentence says what a probe proved, and what it did not.
func ProbeSentence(looked []view.Looked, proven bool) string {
	if proven {
		return "Proven: the server accepted it."
	}
	for _, l := range looked {
		if l.Error != nil {
			return "Nothing was found, and not every place could be searched. Absence proves nothing: it may still have been accepted."
		}
	}
	return "Nothing was found. Absence proves nothing: it may still have been accepted."
}
