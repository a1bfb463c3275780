package view

import "skrzynka/mail"

// Topic says what kind of stored thing changed.
type Topic string

// The topics of a Change.
const (
	TopicFolders  Topic = "folders"
	TopicMessages Topic = "messages"
	TopicAttempts Topic = "attempts"
	TopicDrafts   Topic = "drafts"
	TopicAudit    Topic = "audit"
	TopicSync     Topic = "sync"
	TopicContacts Topic = "contacts"
	TopicPlans    Topic = "plans"
	TopicReview   Topic = "review"
	TopicAccounts Topic = "accounts"
)

// Change is a nudge: something of that topic was committed, read it again.
// Account and ID narrow it where they are known; Progress comes with TopicSync.
type Change struct {
	Topic    Topic
	Account  string
	ID       string
	Progress *SyncProgress
	Err      *mail.Error // what a background task has to say, nil for nothing
}

// Question is what a policy check answers before a send: whether a person must
// be asked, and in which words.
type Question struct {
	Ask  bool   `json:"ask"`
	Text string `json:"text,omitempty"`
	Hint string `json:"hint,omitempty"`
}

// ResendOptions is how an attempt is sent again.
type ResendOptions struct {
	Key        string // "" makes a fresh one
	NewMessage bool   // new bytes and a new Message-ID instead of the same ones
	Wait       bool   // return when the new attempt is terminal
	Confirmed  bool   // a person answered the policy's question
}

// UndoneSend is what undo says it took back when that was a send within its
// undo window: the draft can be opened again.
const UndoneSend = "the send"
