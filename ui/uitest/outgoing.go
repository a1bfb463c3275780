package uitest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

// Outgoing is the engine's side of what was written and sent.
type Outgoing struct {
	Out   []view.Attempt // newest first
	Kept  []mail.Draft
	Log   []view.AuditRow
	Accts []view.Account
	Found view.Probe // what a probe answers
	Asks  view.Question
	Tests []view.Check
}

// ListAccounts implements the engine.
func (e *Engine) ListAccounts(context.Context) ([]view.Account, error) {
	return slices.Clone(e.Accts), nil
}

// TestAccount implements the engine.
func (e *Engine) TestAccount(_ context.Context, name string) ([]view.Check, error) {
	return e.Tests, e.did("test %s", name)
}

func noDraft(id int64) error {
	return &mail.Error{Code: mail.CodeNotFound, Text: fmt.Sprintf("There is no draft %d: it was sent or discarded.", id)}
}

func (e *Engine) draft(id int64) int {
	return slices.IndexFunc(e.Kept, func(d mail.Draft) bool { return d.ID == id })
}

// Draft implements the engine.
func (e *Engine) Draft(_ context.Context, id int64) (mail.Draft, error) {
	if i := e.draft(id); i >= 0 {
		return e.Kept[i], nil
	}
	return mail.Draft{}, noDraft(id)
}

// Drafts implements the engine.
func (e *Engine) Drafts(context.Context) ([]view.Draft, error) {
	var out []view.Draft
	for _, d := range e.Kept {
		to := ""
		if len(d.To) > 0 {
			to = d.To[0].Addr
		}
		out = append(out, view.Draft{ID: d.ID, Account: d.Account, Kind: d.Kind, To: safe.Line(to), Subject: safe.Line(d.Subject),
			Snippet: safe.Line(d.Body), SendAt: d.SendAt, UpdatedAt: d.UpdatedAt})
	}
	return out, nil
}

// SaveDraft implements the engine.
func (e *Engine) SaveDraft(_ context.Context, d mail.Draft) (mail.Draft, error) {
	if err := e.did("save %d", d.ID); err != nil {
		return mail.Draft{}, err
	}
	if d.ID == 0 {
		d.ID = int64(100 + len(e.Kept))
		e.Kept = append(e.Kept, d)
		return d, nil
	}
	i := e.draft(d.ID)
	if i < 0 {
		return mail.Draft{}, noDraft(d.ID)
	}
	d.SendAt = e.Kept[i].SendAt
	e.Kept[i] = d
	return d, nil
}

// DiscardDraft implements the engine.
func (e *Engine) DiscardDraft(_ context.Context, id int64) error {
	if err := e.did("discard %d", id); err != nil {
		return err
	}
	e.LastUndo = "discarding the draft"
	e.Kept = slices.DeleteFunc(e.Kept, func(d mail.Draft) bool { return d.ID == id })
	return nil
}

// Attach implements the engine.
func (e *Engine) Attach(ctx context.Context, id int64, path string) (mail.Draft, error) {
	if err := e.did("attach %d %s", id, path); err != nil {
		return mail.Draft{}, err
	}
	return e.Draft(ctx, id)
}

// Detach implements the engine.
func (e *Engine) Detach(ctx context.Context, id int64, index int) (mail.Draft, error) {
	if err := e.did("detach %d %d", id, index); err != nil {
		return mail.Draft{}, err
	}
	return e.Draft(ctx, id)
}

// CheckSend implements the engine.
func (e *Engine) CheckSend(_ context.Context, id int64) (view.Question, error) {
	return e.Asks, e.did("check %d", id)
}

// SendDraft schedules the draft ten seconds ahead, as with an undo window.
func (e *Engine) SendDraft(_ context.Context, id int64, confirmed bool) (view.Attempt, error) {
	if err := e.did("send %d %v", id, confirmed); err != nil {
		return view.Attempt{}, err
	}
	if i := e.draft(id); i >= 0 {
		e.Kept[i].SendAt = Now.Add(10 * time.Second)
	}
	e.LastUndo = view.UndoneSend
	return view.Attempt{}, nil
}

// ScheduleSend implements the engine.
func (e *Engine) ScheduleSend(_ context.Context, id int64, at time.Time, confirmed bool) error {
	if at.IsZero() {
		if err := e.did("unschedule %d", id); err != nil {
			return err
		}
	} else if err := e.did("schedule %d %s %v", id, at.Format("2006-01-02 15:04"), confirmed); err != nil {
		return err
	}
	i := e.draft(id)
	if i < 0 {
		return noDraft(id)
	}
	e.Kept[i].SendAt = at
	return nil
}

func (e *Engine) attempt(id string) (int, error) {
	if i := slices.IndexFunc(e.Out, func(a view.Attempt) bool { return a.ID == id }); i >= 0 {
		return i, nil
	}
	return 0, &mail.Error{Code: mail.CodeNotFound, Text: "There is no attempt " + id + "."}
}

// Attempts implements the engine.
func (e *Engine) Attempts(_ context.Context, f view.AttemptFilter) ([]view.Attempt, error) {
	var out []view.Attempt
	for _, a := range e.Out {
		open := (a.Status == mail.StatusFailed || a.Status == mail.StatusUncertain) && a.Resolution == nil && a.RetriedBy == nil
		if f.Status != "" && a.Status != f.Status || f.Open && !open || f.Limit > 0 && len(out) == f.Limit {
			continue
		}
		out = append(out, a)
	}
	return out, nil
}

// Attempt implements the engine.
func (e *Engine) Attempt(_ context.Context, id string) (view.Attempt, error) {
	i, err := e.attempt(id)
	if err != nil {
		return view.Attempt{}, err
	}
	return e.Out[i], nil
}

// Chain implements the engine.
func (e *Engine) Chain(_ context.Context, id string) ([]view.Attempt, error) {
	i, err := e.attempt(id)
	if err != nil {
		return nil, err
	}
	chain := []view.Attempt{e.Out[i]}
	for a := e.Out[i]; a.RetryOf != nil; {
		if i, err = e.attempt(*a.RetryOf); err != nil {
			break
		}
		a = e.Out[i]
		chain = append([]view.Attempt{a}, chain...)
	}
	for a := chain[len(chain)-1]; a.RetriedBy != nil; {
		if i, err = e.attempt(*a.RetriedBy); err != nil {
			break
		}
		a = e.Out[i]
		chain = append(chain, a)
	}
	return chain, nil
}

// Probe implements the engine.
func (e *Engine) Probe(_ context.Context, id string) (view.Probe, error) {
	return e.Found, e.did("probe %s", id)
}

// Resolve implements the engine.
func (e *Engine) Resolve(_ context.Context, id string, r mail.Resolution) (view.Attempt, error) {
	if err := e.did("resolve %s %s", id, r); err != nil {
		return view.Attempt{}, err
	}
	i, err := e.attempt(id)
	if err != nil {
		return view.Attempt{}, err
	}
	e.Out[i].Resolution, e.Out[i].Badge.Resolved = &r, r
	return e.Out[i], nil
}

// Resend makes a new pending attempt; a second one of the same is refused.
func (e *Engine) Resend(_ context.Context, id string, o view.ResendOptions) (view.Attempt, error) {
	if err := e.did("resend %s new=%v confirmed=%v", id, o.NewMessage, o.Confirmed); err != nil {
		return view.Attempt{}, err
	}
	i, err := e.attempt(id)
	if err != nil {
		return view.Attempt{}, err
	}
	if e.Out[i].RetriedBy != nil {
		return view.Attempt{}, &mail.Error{Code: mail.CodeConflict, Text: "This attempt was already sent again.", Hint: "Look at the newest attempt of the chain."}
	}
	a := e.Out[i]
	n := fmt.Sprintf("new-%d", len(e.Out))
	a.ID, a.IdempotencyKey, a.Status, a.RetryOf = n, "key-of-"+n, mail.StatusPending, &id
	a.Badge, a.CreatedAt, a.Says, a.Advice = view.Badge{Status: mail.StatusPending}, Now, safe.Line("Stored; nothing has been sent yet."), safe.Text{}
	e.Out[i].RetriedBy = &n
	e.Out = append([]view.Attempt{a}, e.Out...)
	return a, nil
}

// EditResend implements the engine.
func (e *Engine) EditResend(_ context.Context, id string) (mail.Draft, error) {
	return mail.Draft{ID: 44, RetryOf: id}, e.did("edit %s", id)
}

// CopyAttempt implements the engine.
func (e *Engine) CopyAttempt(ctx context.Context, id string) (view.Attempt, error) {
	if err := e.did("copy %s", id); err != nil {
		return view.Attempt{}, err
	}
	return e.Attempt(ctx, id)
}

// CancelRetry implements the engine.
func (e *Engine) CancelRetry(_ context.Context, id string) error {
	if err := e.did("cancel %s", id); err != nil {
		return err
	}
	i, err := e.attempt(id)
	if err == nil {
		e.Out[i].NextTryAt = nil
	}
	return err
}

// ReleaseHold implements the engine.
func (e *Engine) ReleaseHold(_ context.Context, id string) error { return e.did("release %s", id) }

// Audit implements the engine.
func (e *Engine) Audit(_ context.Context, subject string, limit int) ([]view.AuditRow, error) {
	var out []view.AuditRow
	for _, r := range e.Log {
		if (subject == "" || r.Subject.String() == subject) && (limit == 0 || len(out) < limit) {
			out = append(out, r)
		}
	}
	return out, nil
}
