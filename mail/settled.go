package mail

import "time"

// Settled is the terminal state of an attempt, written in one commit.
type Settled struct {
	Status     DeliveryStatus // sent, failed or uncertain
	Code       Code           // "" when sent
	Text       string         // one sentence; may quote the server
	Retryable  bool
	ReleaseKey bool // the same key and payload may make a new attempt
	Evidence   Evidence
	ProviderID string
	OtherIDs   []string
	SentAt     time.Time // zero unless sent
	NextTryAt  time.Time // zero: only a person sends it again
	AutoTries  int       // automatic tries that led to this attempt
	SkipCopy   string    // why no sent copy is made, written as skipped with it; "": it is still to be made
}

// CopySettled is the outcome of a sent copy, written in one commit.
type CopySettled struct {
	Status      CopyStatus
	Folder      string
	UIDValidity uint32
	UID         uint32
	Code        Code
	Text        string
}

// Mention is a stored message that says something about one of our Message-IDs.
type Mention struct {
	MessageID int64 // of the stored message
	Folder    string
	Kind      FolderKind
	From      string // untrusted
	Subject   string // untrusted
	Date      time.Time
	How       MentionKind
}

// MentionKind is how a stored message names a Message-ID.
type MentionKind string

// The kinds: the mail itself, an answer to it, a delivery report about it.
const (
	MentionSelf   MentionKind = "self"
	MentionAnswer MentionKind = "answer"
	MentionBounce MentionKind = "bounce"
)
