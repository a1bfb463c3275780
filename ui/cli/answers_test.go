package cli

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

func plan() view.Plan {
	due := at.Add(72 * time.Hour)
	return view.Plan{ID: "p1", Account: "personal", AttemptID: ptr("a1"), State: mail.PlanActive, Subject: "Offer", To: []string{"bob@example.org"},
		Steps: []view.PlanStep{{ID: "s1", Delay: "3 days", Body: "Any news?", State: mail.FollowWaiting, DueAt: &due}},
		Says:  safe.Line("Step 1 goes out Thu unless somebody answers."), CreatedAt: at, UpdatedAt: at}
}

func event() view.Event {
	return view.Event{ID: 5, Account: "personal", Folder: safe.Line("INBOX"), UIDValidity: 1, UID: 70, MessageID: ptr("7"), RFCMessageID: safe.Line("<t@example.org>"),
		From: safe.Line("Bob"), FromAddr: safe.Line("bob@example.org"), Subject: safe.Line("Tea\x1b[2J"), Received: at, Class: mail.ClassHumanMail,
		By: mail.ActorSync, RuleSet: 1, Reasons: []safe.Text{safe.Line("nothing-automatic")}, Attempts: []string{}, Review: mail.ReviewOpen,
		ReviewWhy: safe.Line("mail of a person the plan writes to"), At: at}
}

func (f *fake) AddFollowUp(_ context.Context, r view.FollowUpRequest) (view.Plan, error) {
	f.ask(r)
	return plan(), f.err
}

func (f *fake) FollowUps(_ context.Context, r mail.PlanFilter) ([]view.Plan, error) {
	f.ask(r)
	return []view.Plan{plan()}, f.err
}

func (f *fake) FollowUp(_ context.Context, id string) (view.Plan, error) {
	f.ask(id)
	return plan(), f.err
}

func (f *fake) EditFollowUp(_ context.Context, id string, step int, after, body string) (view.Plan, error) {
	f.ask([]any{id, step, after, body})
	return plan(), f.err
}

func (f *fake) CancelFollowUp(_ context.Context, id, why string) (view.Plan, error) {
	f.ask([]string{"cancel", id, why})
	return plan(), f.err
}

func (f *fake) PauseFollowUp(_ context.Context, id string, until time.Time) (view.Plan, error) {
	f.ask([]any{id, until.UTC()})
	return plan(), f.err
}

func (f *fake) ResumeFollowUp(_ context.Context, id string) (view.Plan, error) {
	f.ask([]string{"resume", id})
	return plan(), f.err
}

func (f *fake) RunFollowUps(_ context.Context, approved bool) (view.FollowUpRun, error) {
	f.ask(approved)
	return view.FollowUpRun{Steps: []view.FollowUpResult{{PlanID: "p1", StepID: "s1", Result: "sent", AttemptID: ptr("a2")}}}, f.err
}

func (f *fake) Events(_ context.Context, r mail.EventFilter) ([]view.Event, error) {
	f.ask(r)
	return []view.Event{event()}, f.err
}

func (f *fake) Event(_ context.Context, id int64) (view.Event, error) {
	f.ask(id)
	return event(), f.err
}

func (f *fake) Reclassify(_ context.Context, id int64, r view.Reclassify) (view.Event, error) {
	f.ask([]any{id, r})
	return event(), f.err
}

func (f *fake) IgnoreReview(_ context.Context, id int64, note string) (view.Event, error) {
	f.ask([]any{"ignore", id, note})
	return event(), f.err
}

func contact() view.Contact {
	return view.Contact{Account: "personal", Address: safe.Line("bob@example.org"), State: mail.ContactSuppressed, Why: safe.Line("it bounced"), EventID: 5, Version: 2, UpdatedAt: at}
}

func (f *fake) Contacts(_ context.Context, account string) ([]view.Contact, error) {
	f.ask(account)
	return []view.Contact{contact()}, f.err
}

func (f *fake) Contact(_ context.Context, account, address string) (view.Contact, error) {
	f.ask([]string{account, address})
	return contact(), f.err
}

func (f *fake) SuppressContact(_ context.Context, account, address, why string) (view.Contact, error) {
	f.ask([]string{"suppress", account, address, why})
	return contact(), f.err
}

func (f *fake) AllowContact(_ context.Context, account, address, why string) (view.Contact, error) {
	f.ask([]string{"allow", account, address, why})
	return contact(), f.err
}

func (f *fake) NeedAnswer(_ context.Context, account string) ([]view.OpenThread, error) {
	f.ask("need " + account)
	return []view.OpenThread{{Account: "personal", MessageID: ptr("7"), Who: safe.Line("Bob"), Subject: safe.Line("Tea"), Since: at}}, f.err
}

func (f *fake) AwaitAnswer(_ context.Context, account string) ([]view.OpenThread, error) {
	f.ask("await " + account)
	return []view.OpenThread{{Account: "personal", AttemptID: ptr("a1"), Who: safe.Line("bob@example.org"), Subject: safe.Line("Tea"), Since: at}}, f.err
}

func (f *fake) Worker(_ context.Context, tell func(string)) error {
	tell("working")
	tell("stopped")
	return f.err
}

const planJSON = `{"id":"p1","account":"personal","attempt_id":"a1","state":"active","subject":"Offer","to":["bob@example.org"],` +
	`"steps":[{"id":"s1","delay":"3 days","body":"Any news?","state":"waiting","due_at":"2026-12-03T22:30:00Z"}],` +
	`"says":"Step 1 goes out Thu unless somebody answers.","created_at":"2026-11-30T22:30:00Z","updated_at":"2026-11-30T22:30:00Z"}`

const eventJSON = `{"id":5,"account":"personal","folder":"INBOX","uid_validity":1,"uid":70,"message_id":"7","rfc_message_id":"\u003ct@example.org\u003e",` +
	`"from":"Bob","from_address":"bob@example.org","subject":"Tea","received_at":"2026-11-30T22:30:00Z","class":"human_mail","classified_by":"sync","rule_set":1,` +
	`"reasons":["nothing-automatic"],"attempts":[],"review":"open","review_why":"mail of a person the plan writes to","processed_at":"2026-11-30T22:30:00Z"}`

func TestAnswersJSON(t *testing.T) {
	for name, r := range map[string]struct{ args, want string }{
		"followup show":    {"followup show p1", planJSON},
		"followup list":    {"followup list", "[" + planJSON + "]"},
		"followup run":     {"followup run", `{"steps":[{"plan_id":"p1","step_id":"s1","result":"sent","attempt_id":"a2"}]}`},
		"threads":          {"followup list --threads mine", `[{"account":"personal","message_id":"7","attempt_id":null,"who":"Bob","subject":"Tea","since":"2026-11-30T22:30:00Z"}]`},
		"events list":      {"events list", "[" + eventJSON + "]"},
		"review list":      {"review list", "[" + eventJSON + "]"},
		"contact show":     {"contact show bob@example.org", `{"account":"personal","address":"bob@example.org","state":"suppressed","why":"it bounced","event_id":5,"version":2,"open_plans":0,"updated_at":"2026-11-30T22:30:00Z"}`},
		"review resolve":   {"review resolve 5 --class human_reply", eventJSON},
		"contact suppress": {"contact suppress bob@example.org", `{"account":"personal","address":"bob@example.org","state":"suppressed","why":"it bounced","event_id":5,"version":2,"open_plans":0,"updated_at":"2026-11-30T22:30:00Z"}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := exec(t, setup{}, append(strings.Fields(r.args), "--json")...)
			if got.code != 0 || got.err != "" || got.out != r.want+"\n" {
				t.Errorf("exit %d, %s\ngot  %swant %s", got.code, got.err, got.out, r.want)
			}
		})
	}
}

func TestAnswersRequests(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	for path, text := range map[string]string{one: "Any news?\n", two: "Last try.\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, r := range map[string]struct {
		args string
		want any
	}{
		"add two steps": {"followup add a1 --after 3d --body-file " + one + " --after 5wd --body-file " + two,
			view.FollowUpRequest{AttemptID: "a1", Steps: []view.FollowUpStep{{After: "3d", Body: "Any news?\n"}, {After: "5wd", Body: "Last try.\n"}}}},
		"list open":           {"followup list --open --account work --attempt a1 --limit 3", mail.PlanFilter{Account: "work", Attempt: "a1", Open: true, Limit: 3}},
		"edit":                {"followup edit p1 --step 2 --after 4d --body-file " + two, []any{"p1", 1, "4d", "Last try.\n"}},
		"pause until a day":   {"followup pause p1 --until 2026-12-24", []any{"p1", time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC)}},
		"pause":               {"followup pause p1", []any{"p1", time.Time{}}},
		"resume":              {"followup resume p1", []string{"resume", "p1"}},
		"cancel":              {"followup cancel p1 --reason enough", []string{"cancel", "p1", "enough"}},
		"run":                 {"followup run --yes", true},
		"theirs":              {"followup list --threads theirs --account work", "await work"},
		"events":              {"events list --class auto_reply --contact bob@example.org --attempt a1 --limit 9", mail.EventFilter{Class: mail.ClassAutoReply, Contact: "bob@example.org", Attempt: "a1", Limit: 9}},
		"show":                {"events show 5", int64(5)},
		"reclassify":          {"events reclassify 5 --class auto_reply --attempt a1 --note away", []any{int64(5), view.Reclassify{Class: mail.ClassAutoReply, Attempt: "a1", Note: "away"}}},
		"reclassify by rules": {"events reclassify 5", []any{int64(5), view.Reclassify{}}},
		"review":              {"review list --account work", mail.EventFilter{Account: "work", Review: mail.ReviewOpen, Limit: maxRows}},
		"resolve":             {"review resolve 5 --class human_reply --contact bob@example.org", []any{int64(5), view.Reclassify{Class: mail.ClassHumanReply, Contact: "bob@example.org"}}},
		"ignore":              {"review resolve 5 --ignore --note spam", []any{"ignore", int64(5), "spam"}},
		"suppress":            {"contact suppress bob@example.org --reason asked --account work", []string{"suppress", "work", "bob@example.org", "asked"}},
		"allow":               {"contact allow bob@example.org", []string{"allow", "", "bob@example.org", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			got := exec(t, setup{}, strings.Fields(r.args)...)
			if got.code != 0 || len(got.engine.asked) == 0 || !reflect.DeepEqual(got.engine.asked[len(got.engine.asked)-1], r.want) {
				t.Errorf("exit %d, %s\nasked %+v\nwant  %+v", got.code, got.err, got.engine.asked, r.want)
			}
		})
	}
}

func TestAnswersRefusals(t *testing.T) {
	for name, args := range map[string]string{
		"a step without a text":   "followup add a1 --after 3d --after 4d --body-file -",
		"whose turn":              "followup list --threads yours",
		"an unknown class":        "events list --class nice",
		"neither class nor not":   "review resolve 5",
		"both class and nothing":  "review resolve 5 --class human_reply --ignore",
		"a tie without a class":   "events reclassify 5 --attempt a1",
		"nothing to edit":         "followup edit p1 --step 1",
		"a pause until some day":  "followup pause p1 --until soon",
		"a limit beyond all":      "followup list --limit 0",
		"a group without command": "followup",
	} {
		t.Run(name, func(t *testing.T) {
			if got := exec(t, setup{stdin: "x"}, strings.Fields(args)...); got.code != ExitUsage || len(got.engine.asked) != 0 {
				t.Errorf("exit %d, asked %v: %s", got.code, got.engine.asked, got.err)
			}
		})
	}
	if got := exec(t, setup{}, "events", "show", "x"); got.code != ExitFailed || !strings.Contains(got.err, "no event") {
		t.Errorf("an event that is none: exit %d, %s", got.code, got.err)
	}
}

func TestAnswersText(t *testing.T) {
	for args, want := range map[string][]string{
		"followup show p1":             {"active", "Step 1 goes out Thu", "waiting, after 3 days, due 2026-12-03"},
		"events show 5":                {"human_mail  event 5", "Because", "nothing-automatic", "Review", "UIDVALIDITY 1, UID 70"},
		"contact show b@c.d":           {"suppressed  bob@example.org", "it bounced", "event 5"},
		"followup run":                 {"p1  sent"},
		"worker":                       {"working", "stopped"},
		"review list":                  {"human_mail", "review: mail of a person"},
		"contact list":                 {"bob@example.org", "it bounced"},
		"followup list --open":         {"p1", "active", "Offer"},
		"followup list --threads mine": {"Bob", "Tea"},
	} {
		t.Run(args, func(t *testing.T) {
			got := exec(t, setup{}, strings.Fields(args)...)
			for _, w := range want {
				if got.code != 0 || !strings.Contains(got.out, w) {
					t.Errorf("exit %d, no %q in:\n%s%s", got.code, w, got.out, got.err)
				}
			}
			if strings.Contains(got.out, "\x1b") {
				t.Error("an escape sequence reaches the terminal")
			}
		})
	}
}
