package view

import (
	"time"

	"skrzynka/mail"
	"skrzynka/mail/safe"
)

// Attempt is what an attempt is printed as, and what its page shows. Subject
// and Body are our own words, kept exactly as they were written: a front end
// that paints them cleans them with package safe.
type Attempt struct {
	ID                string               `json:"id"`
	Kind              mail.AttemptKind     `json:"kind"`
	Account           string               `json:"account"`
	MessageID         *string              `json:"message_id"` // the answered stored message
	IdempotencyKey    string               `json:"idempotency_key"`
	Status            mail.DeliveryStatus  `json:"status"`
	To                []string             `json:"to"`
	Cc                []string             `json:"cc,omitempty"`
	Bcc               []string             `json:"bcc,omitempty"`
	Subject           string               `json:"subject"`
	Body              string               `json:"body"`
	Attachments       []mail.AttachmentRef `json:"attachments,omitempty"`
	RFCMessageID      string               `json:"rfc_message_id"`
	OtherMessageIDs   []string             `json:"other_message_ids,omitempty"`
	ProviderMessageID *string              `json:"provider_message_id"`
	ErrorCode         *mail.Code           `json:"error_code"`
	ErrorMessage      *string              `json:"error_message"`
	Retryable         bool                 `json:"retryable"`
	Replayed          bool                 `json:"replayed"`
	RetryOf           *string              `json:"retry_of"`
	RetriedBy         *string              `json:"retried_by,omitempty"`
	Resolution        *mail.Resolution     `json:"resolution"`
	Held              string               `json:"held,omitempty"`
	Evidence          Evidence             `json:"evidence"`
	SentCopy          SentCopy             `json:"sent_copy"`
	CreatedAt         time.Time            `json:"created_at"`
	UpdatedAt         time.Time            `json:"updated_at"`
	SentAt            *time.Time           `json:"sent_at"`
	NextTryAt         *time.Time           `json:"next_try_at,omitempty"`    // the outbox tries again by itself then
	AutoTries         int                  `json:"auto_tries,omitempty"`     // automatic tries that led to this attempt
	AutoTriesMax      int                  `json:"auto_tries_max,omitempty"` // how many the outbox makes at most

	// For the screens: one sentence about what is known, one of advice.
	Says   safe.Text `json:"says,omitzero"`
	Advice safe.Text `json:"advice,omitzero"`
	Badge  Badge     `json:"-"`
}

// Evidence is the printed form of mail.Evidence.
type Evidence struct {
	LastStep          mail.Step   `json:"last_step"`
	Fault             mail.Fault  `json:"fault,omitempty"`
	HandedOver        bool        `json:"handed_over"`
	NotHandedOver     bool        `json:"not_handed_over"` // proof: the mark was never committed
	Server            safe.Text   `json:"server,omitzero"`
	TLS               safe.Text   `json:"tls,omitzero"`
	ReplyCode         *int        `json:"reply_code"`
	EnhancedCode      *string     `json:"enhanced_code"`
	ReplyText         *safe.Text  `json:"reply_text"`
	AcceptedCount     int         `json:"accepted_count"`
	RejectedCount     int         `json:"rejected_count"`
	NotSubmittedCount int         `json:"not_submitted_count"`
	Rejected          []Rejected  `json:"rejected"`
	AcceptedLate      bool        `json:"accepted_late,omitempty"`
	Steps             []StepMark  `json:"steps,omitempty"`
	Findings          []safe.Text `json:"findings,omitempty"` // what probes, answers and bounces proved, oldest first
}

// Rejected is one refused recipient.
type Rejected struct {
	Address safe.Text `json:"address"`
	Code    int       `json:"code"`
	Text    safe.Text `json:"text"`
}

// StepMark is one line of an attempt's history on the wire.
type StepMark struct {
	Step mail.Step `json:"step"`
	At   time.Time `json:"at"`
	Note safe.Text `json:"note,omitzero"`
}

// SentCopy is the printed form of mail.SentCopy.
type SentCopy struct {
	Status       mail.CopyStatus `json:"status"`
	Folder       *safe.Text      `json:"folder"`
	UIDValidity  *uint32         `json:"uid_validity"`
	UID          *uint32         `json:"uid"`
	ErrorCode    *mail.Code      `json:"error_code"`
	ErrorMessage *safe.Text      `json:"error_message"`
}

// AttemptFilter narrows a list of attempts, newest first.
type AttemptFilter struct {
	Account string
	Status  mail.DeliveryStatus // "" for all
	Open    bool                // only those that need a person: failed or uncertain, neither resolved nor retried
	Message int64               // answers to one message
	Limit   int                 // 0 is 200
	Before  time.Time           // older than; zero is now
}

// Probe is what a look for an uncertain attempt found. Absence proves nothing.
type Probe struct {
	Attempt  Attempt   `json:"attempt"`
	Looked   []Looked  `json:"looked"`
	Proven   bool      `json:"proven"`
	Sentence safe.Text `json:"sentence"`
}

// Looked is one place a probe looked at.
type Looked struct {
	Place    safe.Text   `json:"place"`
	Found    bool        `json:"found"`
	Strength string      `json:"strength"` // "proof", "strong", "none"
	Note     safe.Text   `json:"note,omitzero"`
	Error    *mail.Error `json:"error,omitempty"`
}

// AuditRow is one line of a timeline.
type AuditRow struct {
	ID      int64      `json:"id"`
	At      time.Time  `json:"at"`
	Actor   mail.Actor `json:"actor"`
	Account string     `json:"account,omitempty"`
	Action  string     `json:"action"`
	Subject safe.Text  `json:"subject"`
	About   safe.Text  `json:"about,omitzero"` // its subject line, when it is mail that is stored
	Why     safe.Text  `json:"why,omitzero"`
	From    safe.Text  `json:"from,omitzero"`
	To      safe.Text  `json:"to,omitzero"`
}
