package mail

import "time"

// FollowUpPrefix begins the idempotency key of a follow-up; the step's id
// follows.
const FollowUpPrefix = "followup:"

// ContactState is what is known of an address an account writes to.
type ContactState string

// The contact states. Nothing is sent by itself to an address that is bounced
// or suppressed; a person may still write to it, and is asked first.
const (
	ContactActive     ContactState = "active"
	ContactReplied    ContactState = "replied"    // a person answered
	ContactPaused     ContactState = "paused"     // away until a day
	ContactBounced    ContactState = "bounced"    // said not to exist, without full proof
	ContactSuppressed ContactState = "suppressed" // a proven bounce, a complaint, or a person's decision
)

// AllContactStates lists the contact states.
func AllContactStates() []ContactState {
	return []ContactState{ContactActive, ContactReplied, ContactPaused, ContactBounced, ContactSuppressed}
}

// String returns the serialized value.
func (s ContactState) String() string { return string(s) }

// ParseContactState accepts exactly the serialized values.
func ParseContactState(s string) (ContactState, error) {
	return parseEnum("contact state", s, AllContactStates())
}

// Blocked reports whether nothing is sent to the address by itself.
func (s ContactState) Blocked() bool { return s == ContactBounced || s == ContactSuppressed }

// Contact is one address of one account's correspondents.
type Contact struct {
	Account   string
	Address   string // by AddressKey; untrusted
	State     ContactState
	Until     time.Time // of paused: the day the person is back
	Why       string    // may quote the evidence; untrusted
	EventID   int64     // the evidence, 0 when a person decided
	Version   int64     // grows with every change; compared before a change
	Open      int       // plans that still write to it
	CreatedAt time.Time
	UpdatedAt time.Time
}

// PlanState is where a follow-up plan stands.
type PlanState string

// The plan states. Only an active plan sends.
const (
	PlanUnsent    PlanState = "unsent" // its message has not been accepted yet
	PlanActive    PlanState = "active"
	PlanPaused    PlanState = "paused"  // until ResumeAt
	PlanHeld      PlanState = "held"    // something is in doubt: waits for a person
	PlanStopped   PlanState = "stopped" // an answer, a bounce or a complaint ended it
	PlanDone      PlanState = "done"    // every step was sent
	PlanCancelled PlanState = "cancelled"
)

// AllPlanStates lists the plan states.
func AllPlanStates() []PlanState {
	return []PlanState{PlanUnsent, PlanActive, PlanPaused, PlanHeld, PlanStopped, PlanDone, PlanCancelled}
}

// String returns the serialized value.
func (s PlanState) String() string { return string(s) }

// ParsePlanState accepts exactly the serialized values.
func ParsePlanState(s string) (PlanState, error) { return parseEnum("plan state", s, AllPlanStates()) }

// Open reports whether something may still be sent.
func (s PlanState) Open() bool {
	return s == PlanUnsent || s == PlanActive || s == PlanPaused || s == PlanHeld
}

// FollowState is where one step of a plan stands.
type FollowState string

// The step states. claimed: a process is about to send it; sending: its
// attempt has been claimed, in the same commit.
const (
	FollowWaiting   FollowState = "waiting"
	FollowClaimed   FollowState = "claimed"
	FollowSending   FollowState = "sending"
	FollowSent      FollowState = "sent"
	FollowFailed    FollowState = "failed"
	FollowUncertain FollowState = "uncertain"
	FollowCancelled FollowState = "cancelled"
)

// AllFollowStates lists the step states.
func AllFollowStates() []FollowState {
	return []FollowState{FollowWaiting, FollowClaimed, FollowSending, FollowSent, FollowFailed, FollowUncertain, FollowCancelled}
}

// String returns the serialized value.
func (s FollowState) String() string { return string(s) }

// Delay is how long after the message before it a step is sent.
type Delay struct {
	Days    int           // calendar days, or working days
	Working bool          // only Monday to Friday count
	Time    time.Duration // added to the days; for a delay of hours
}

// FollowUpPolicy is when an account sends follow-ups by itself.
type FollowUpPolicy struct {
	From, To    time.Duration // of the day, local time; both zero: at any hour
	WorkingDays bool          // never on a Saturday or Sunday
}

// FollowStep is one message of a plan.
type FollowStep struct {
	ID        string
	PlanID    string
	Position  int
	Delay     Delay
	Body      string
	State     FollowState
	DueAt     time.Time // zero: when the step before it is sent, it is set
	Note      string    // why it waits although it is due
	Owner     string
	AttemptID string
	Tries     int
	UpdatedAt time.Time
}

// Plan is what is sent after a message unless somebody answers it.
type Plan struct {
	ID         string
	Account    string
	AttemptID  string // the sent message; "" while it is a draft
	DraftID    int64
	State      PlanState
	Why        string // may quote a message; untrusted
	EventID    int64  // the inbound event that brought it here, 0 for none
	ResumeAt   time.Time
	Version    int64
	Subject    string
	Recipients []Address
	Steps      []FollowStep
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// Next is the first step that has not ended, nil when all have.
func (p *Plan) Next() *FollowStep {
	for i := range p.Steps {
		switch p.Steps[i].State {
		case FollowWaiting, FollowClaimed, FollowSending:
			return &p.Steps[i]
		}
	}
	return nil
}

// PlanFilter narrows a list of plans, the last changed first.
type PlanFilter struct {
	Account string
	Attempt string
	Open    bool
	Limit   int // 0 is 200
}

// DueStep is a step whose time has come, with what is needed to send it.
type DueStep struct {
	FollowStep
	Account string
	Plan    PlanState
}
