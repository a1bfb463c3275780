package uitest

import (
	"context"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

// plans are one in each state a person meets.
func plans() []view.Plan {
	due := time.Date(2025, 3, 7, 9, 0, 0, 0, time.UTC)
	steps := func(s mail.FollowState) []view.PlanStep {
		return []view.PlanStep{{ID: "s1", Delay: "3 working days", Body: "Any news?\n", State: s, DueAt: &due}, {ID: "s2", Delay: "5 days", Body: "Last try.\n", State: s}}
	}
	plan := func(id string, s mail.PlanState, step mail.FollowState, to, subject, says string, age time.Duration) view.Plan {
		return view.Plan{ID: id, Account: "home", AttemptID: ptr("accepted"), State: s, To: []string{to}, Subject: subject, Steps: steps(step),
			Says: safe.Line(says), CreatedAt: Now.AddDate(0, 0, -3), UpdatedAt: Now.Add(-age)}
	}
	return []view.Plan{
		plan("p1", mail.PlanActive, mail.FollowWaiting, "mia@novak.example", "Offer", "Step 1 goes out Fri 7 Mar 2025 09:00 unless somebody answers.", time.Hour),
		plan("p2", mail.PlanHeld, mail.FollowWaiting, "bob@example.net", "Contract", "Held for you: human_mail from bob@example.net, \"Lunch?\": nothing ties it to our message.", 2*time.Hour),
		plan("p3", mail.PlanPaused, mail.FollowWaiting, "olga@example.net", "Dates", "Paused until Tue 11 Mar 2025 09:00: away: \"back on 10 March\".", 3*time.Hour),
		plan("p4", mail.PlanStopped, mail.FollowCancelled, "hanna@example.net", "Invoice", "Stopped: human_reply from hanna@example.net: a person answered our message.", 26*time.Hour),
	}
}

// arrivals are events that wait for review.
func arrivals() []view.Event {
	return []view.Event{
		{ID: 5, Account: "home", Folder: safe.Line("INBOX"), UID: 70, MessageID: ptr("1"), From: safe.Line("Bob"), FromAddr: safe.Line("bob@example.net"), Subject: safe.Line("Lunch?"),
			Received: Now.Add(-2 * time.Hour), Class: mail.ClassHumanMail, By: mail.ActorSync, RuleSet: 1, Reasons: []safe.Text{safe.Line("nothing-automatic")},
			Review: mail.ReviewOpen, ReviewWhy: safe.Line("mail of a person the plan writes to"), At: Now},
		{ID: 6, Account: "home", Folder: safe.Line("INBOX"), UID: 71, From: safe.Line("MAILER-DAEMON"), FromAddr: safe.Line("mailer-daemon@mx.example"), Subject: safe.Line("Undelivered Mail"),
			Received: Now.Add(-5 * time.Hour), Class: mail.ClassBounceHard, By: mail.ActorSync, RuleSet: 1, Review: mail.ReviewOpen,
			ReviewWhy: safe.Line("an unverified bounce: it names no message of ours"), At: Now},
	}
}

// FollowUps implements the engine.
func (e *Engine) FollowUps(_ context.Context, f mail.PlanFilter) ([]view.Plan, error) {
	if e.NoAnswers {
		return nil, nil
	}
	var out []view.Plan
	for _, p := range plans() {
		if !f.Open || p.State.Open() {
			out = append(out, p)
		}
	}
	return out, nil
}

// FollowUp implements the engine.
func (e *Engine) FollowUp(context.Context, string) (view.Plan, error) { return plans()[0], nil }

// AddFollowUp implements the engine.
func (e *Engine) AddFollowUp(_ context.Context, r view.FollowUpRequest) (view.Plan, error) {
	says := ""
	for _, s := range r.Steps {
		says += " [" + s.After + " " + first20(s.Body) + "]"
	}
	return plans()[0], e.did("follow %s%d%s", r.AttemptID, r.DraftID, says)
}

func first20(s string) string { return s[:min(len(s), 20)] }

// EditFollowUp implements the engine.
func (e *Engine) EditFollowUp(_ context.Context, plan string, step int, after, body string) (view.Plan, error) {
	return plans()[0], e.did("edit %s %d %s %q", plan, step, after, body)
}

// CancelFollowUp implements the engine.
func (e *Engine) CancelFollowUp(_ context.Context, id, _ string) (view.Plan, error) {
	return plans()[3], e.did("cancel %s", id)
}

// PauseFollowUp implements the engine.
func (e *Engine) PauseFollowUp(_ context.Context, id string, until time.Time) (view.Plan, error) {
	if until.IsZero() {
		return plans()[1], e.did("hold %s", id)
	}
	return plans()[2], e.did("pause %s %s", id, until.Format("2006-01-02 15:04"))
}

// ResumeFollowUp implements the engine.
func (e *Engine) ResumeFollowUp(_ context.Context, id string) (view.Plan, error) {
	return plans()[0], e.did("resume %s", id)
}

// ReviewItems implements the engine.
func (e *Engine) ReviewItems(context.Context) ([]view.Event, error) {
	if e.NoAnswers {
		return nil, nil
	}
	return arrivals(), nil
}

// Reclassify implements the engine.
func (e *Engine) Reclassify(_ context.Context, id int64, r view.Reclassify) (view.Event, error) {
	return view.Event{ID: id, Class: r.Class, Outcome: safe.Line("stopped a follow-up plan")}, e.did("class %d %s %s%s", id, r.Class, r.Attempt, r.Contact)
}

// IgnoreReview implements the engine.
func (e *Engine) IgnoreReview(_ context.Context, id int64, _ string) (view.Event, error) {
	return view.Event{ID: id}, e.did("ignore %d", id)
}

// Contacts implements the engine.
func (e *Engine) Contacts(context.Context, string) ([]view.Contact, error) {
	return []view.Contact{{Account: "home", Address: safe.Line("bob@example.net"), State: mail.ContactActive}}, nil
}

// NeedAnswer implements the engine.
func (e *Engine) NeedAnswer(context.Context, string) ([]view.OpenThread, error) {
	if e.NoAnswers {
		return nil, nil
	}
	return []view.OpenThread{{Account: "home", MessageID: ptr("1"), Who: safe.Line("Mia Novak"), Subject: safe.Line("Quarterly figures"), Since: Now.Add(-26 * time.Hour)}}, nil
}

// AwaitAnswer implements the engine.
func (e *Engine) AwaitAnswer(context.Context, string) ([]view.OpenThread, error) {
	if e.NoAnswers {
		return nil, nil
	}
	return []view.OpenThread{{Account: "home", AttemptID: ptr("accepted"), Who: safe.Line("bob@example.net"), Subject: safe.Line("Contract"), Since: Now.AddDate(0, 0, -4)}}, nil
}
