package view

import (
	"encoding/json"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/safe"
)

// Plan is a follow-up plan: what is sent after a message unless it is answered.
type Plan struct {
	ID        string         `json:"id"`
	Account   string         `json:"account"`
	AttemptID *string        `json:"attempt_id"` // the message it hangs on
	DraftID   int64          `json:"draft_id,omitempty"`
	State     mail.PlanState `json:"state"`
	Why       safe.Text      `json:"why,omitzero"` // what brought it here
	EventID   int64          `json:"event_id,omitempty"`
	ResumeAt  *time.Time     `json:"resume_at,omitempty"`
	Subject   string         `json:"subject"` // our own words
	To        []string       `json:"to"`
	Steps     []PlanStep     `json:"steps"`
	Says      safe.Text      `json:"says"` // one sentence: what happens next, or why nothing does
	CreatedAt time.Time      `json:"created_at"`
	UpdatedAt time.Time      `json:"updated_at"`
}

// PlanStep is one message of a plan.
type PlanStep struct {
	ID        string           `json:"id"`
	Delay     string           `json:"delay"` // "3 days", "5 working days"
	Body      string           `json:"body"`  // our own words
	State     mail.FollowState `json:"state"`
	DueAt     *time.Time       `json:"due_at"`
	Note      safe.Text        `json:"note,omitzero"` // why it waits although it is due, or how it ended
	AttemptID *string          `json:"attempt_id,omitempty"`
	Tries     int              `json:"tries,omitempty"`
}

// FollowUpRequest asks for a plan on a sent attempt, or on a draft that will be
// sent.
type FollowUpRequest struct {
	AttemptID string
	DraftID   int64
	Steps     []FollowUpStep
}

// FollowUpStep is one step as it is asked for.
type FollowUpStep struct {
	After string // "3d", "5wd" (working days), "4h"
	Body  string
}

// FollowUpRun is what one look at the due steps did.
type FollowUpRun struct {
	Steps []FollowUpResult `json:"steps"`
}

// FollowUpResult is one due step and what became of it.
type FollowUpResult struct {
	PlanID    string    `json:"plan_id"`
	StepID    string    `json:"step_id"`
	Result    string    `json:"result"` // "sent", "failed", "uncertain", "waiting", "held"
	Note      safe.Text `json:"note,omitzero"`
	AttemptID *string   `json:"attempt_id,omitempty"`
}

// Contact is what is known of an address an account writes to.
type Contact struct {
	Account   string            `json:"account"`
	Address   safe.Text         `json:"address"`
	State     mail.ContactState `json:"state"`
	Until     *time.Time        `json:"until,omitempty"`
	Why       safe.Text         `json:"why,omitzero"`
	EventID   int64             `json:"event_id,omitempty"` // the evidence
	Version   int64             `json:"version"`
	Plans     int               `json:"open_plans"`
	UpdatedAt time.Time         `json:"updated_at"`
}

// Event is one message that arrived, and what it is taken to be.
type Event struct {
	ID           int64             `json:"id"`
	Account      string            `json:"account"`
	Folder       safe.Text         `json:"folder"`
	UIDValidity  uint32            `json:"uid_validity"`
	UID          uint32            `json:"uid"`
	MessageID    *string           `json:"message_id"` // the stored message, null when it is gone
	RFCMessageID safe.Text         `json:"rfc_message_id"`
	InReplyTo    safe.Text         `json:"in_reply_to,omitzero"`
	References   []safe.Text       `json:"references,omitempty"`
	From         safe.Text         `json:"from"`
	FromAddr     safe.Text         `json:"from_address"`
	Subject      safe.Text         `json:"subject"`
	Received     time.Time         `json:"received_at"`
	Class        mail.InboundClass `json:"class"` // "" for mail older than the account here
	By           mail.Actor        `json:"classified_by,omitempty"`
	RuleSet      int               `json:"rule_set,omitempty"`
	Reasons      []safe.Text       `json:"reasons,omitempty"`
	ReturnDate   *time.Time        `json:"return_date,omitempty"`
	ReturnQuote  safe.Text         `json:"return_quote,omitzero"` // the words the date was read from
	Outcome      safe.Text         `json:"outcome,omitzero"`
	Attempts     []string          `json:"attempts"`
	Review       mail.ReviewState  `json:"review,omitempty"`
	ReviewWhy    safe.Text         `json:"review_why,omitzero"`
	SeenAgain    int               `json:"seen_again,omitempty"`
	At           time.Time         `json:"processed_at"`
	History      []Classified      `json:"history,omitempty"`
	Detail       json.RawMessage   `json:"-"`
}

// Classified is one entry of an event's history of classes.
type Classified struct {
	At      time.Time         `json:"at"`
	By      mail.Actor        `json:"by"`
	Class   mail.InboundClass `json:"class"`
	RuleSet int               `json:"rule_set,omitempty"`
	Note    safe.Text         `json:"note,omitzero"`
}

// Reclassify is what a person says an event is.
type Reclassify struct {
	Class   mail.InboundClass
	Attempt string // tie it to this attempt
	Contact string // or to this address
	Note    string
}

// OpenThread is a thread that waits for somebody.
type OpenThread struct {
	Account   string    `json:"account"`
	MessageID *string   `json:"message_id"` // theirs, when it is our turn
	AttemptID *string   `json:"attempt_id"` // ours, when it is theirs
	Who       safe.Text `json:"who"`
	Subject   safe.Text `json:"subject"`
	Since     time.Time `json:"since"`
}
