package engine

import (
	"context"
	"encoding/json"
	"time"

	"skrzynka/mail"
)

// AnswersStore is what contacts, follow-ups, events and the review queue need
// of the database.
type AnswersStore interface {
	Event(ctx context.Context, id int64) (mail.Event, error)
	EventOf(ctx context.Context, message int64) (mail.Event, error)
	Events(ctx context.Context, f mail.EventFilter) ([]mail.Event, error)
	ClassifyHistory(ctx context.Context, id int64, d mail.Decision) error
	Classes(ctx context.Context, event int64) ([]mail.Classified, error)
	Reclassify(ctx context.Context, id int64, attempts []string, decide func(mail.Around, json.RawMessage) mail.Decision) (mail.Recorded, error)
	IgnoreReview(ctx context.Context, id int64, note string) error
	NeedAnswer(ctx context.Context, account string, since time.Time, limit int) ([]mail.Open, error)
	AwaitAnswer(ctx context.Context, account string, since time.Time, limit int) ([]mail.Open, error)

	Contact(ctx context.Context, account, address string) (mail.Contact, error)
	Contacts(ctx context.Context, account string, limit int) ([]mail.Contact, error)
	SuppressContact(ctx context.Context, account, address, why string) error
	AllowContact(ctx context.Context, account, address, why string) error
	Suppressed(ctx context.Context, account string, keys []string) (map[string]string, error)
	WakeContacts(ctx context.Context) error

	AddPlan(ctx context.Context, p mail.Plan) (mail.Plan, error)
	Plan(ctx context.Context, id string) (mail.Plan, error)
	Plans(ctx context.Context, f mail.PlanFilter) ([]mail.Plan, error)
	PlansIn(ctx context.Context, state mail.PlanState) ([]mail.Plan, error)
	ActivatePlan(ctx context.Context, id, attempt string, due time.Time) error
	CancelPlan(ctx context.Context, id, why string) error
	HoldPlan(ctx context.Context, id, why string) error
	PausePlan(ctx context.Context, id, why string, until time.Time) error
	ResumePlan(ctx context.Context, id, why string, due time.Time) error
	EditStep(ctx context.Context, id string, delay mail.Delay, body string, due time.Time) error

	// ClaimStep takes a due step by compare-and-set; what keeps it back is a
	// CONFLICT whose Details["gate"] says of which kind.
	ClaimStep(ctx context.Context, id, owner string) error
	ReleaseStep(ctx context.Context, id, note string, due time.Time, failed bool) error
	SettleStep(ctx context.Context, id string, to mail.FollowState, why string, next time.Time) error
	NoteStep(ctx context.Context, id, note string) error
	// DropFollowUp ends the attempt of a step that will not be sent, if it was
	// recorded and not claimed.
	DropFollowUp(ctx context.Context, step, why string) error
	DueSteps(ctx context.Context, now time.Time) ([]mail.DueStep, error)
	BusySteps(ctx context.Context) ([]mail.FollowStep, error)
	Fresh(ctx context.Context, account string) (time.Time, error)
	LastTurn(ctx context.Context) (time.Time, error)
	Lease(name string) (release func(), ok bool, err error)
}
