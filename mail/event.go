package mail

import (
	"encoding/json"
	"time"
)

// Arrival is one stored message whose event is to be recorded.
type Arrival struct {
	MessageID int64    // the stored message
	Names     []string // Message-IDs it names, see inbound.Mentions
	OwnID     string   // its own Message-ID
	Sender    string   // the single address of From, "" when there is none
	Evidence  []byte   // digest of what it says; the same mail in another place has the same
}

// Around is what the store knows around an arrived message. It is read in the
// transaction that records the event.
type Around struct {
	Ours     map[string]bool // those of Names and OwnID that are ours
	Named    []EventAttempt  // attempts one of whose Message-IDs is in Names
	Recent   []EventAttempt  // attempts of the last 14 days to Sender
	Followed bool            // an open plan writes to Sender
	Received time.Time
	Folder   FolderKind
}

// ByID is the attempt with that id, ok false when it is not among Named.
func (a *Around) ByID(id string) (EventAttempt, bool) {
	for _, n := range a.Named {
		if n.ID == id {
			return n, true
		}
	}
	return EventAttempt{}, false
}

// EventAttempt is what a classification needs of one of our attempts.
type EventAttempt struct {
	ID         string
	MessageIDs []string
	Recipients []string
	Subject    string
	Status     DeliveryStatus
	SentAt     time.Time // of an uncertain one: when it was last heard of
}

// Decision is what an arrived message is taken to be, and what follows.
type Decision struct {
	Class    InboundClass
	RuleSet  int             // 0 when a person decided
	Note     string          // a person's words
	Detail   json.RawMessage // the whole classification, for the record
	NamedIDs []string        // Message-IDs of ours that it names
	Tie      []string        // attempts a person tied it to
	Effects  []Effect
	Skip     bool // it is nobody's business here: no event
}

// EffectKind is one change an inbound message may cause.
type EffectKind string

// The effects, in the order they are applied.
const (
	EffectSuppress EffectKind = "suppress_address"
	EffectReplied  EffectKind = "contact_replied"
	EffectStop     EffectKind = "stop_plan"
	EffectPause    EffectKind = "pause_plan"
	EffectHold     EffectKind = "hold_plan"
	EffectNote     EffectKind = "note_attempt"
	EffectReview   EffectKind = "review"
)

// Effect is one change, as data; which fields are set depends on Kind.
type Effect struct {
	Kind    EffectKind
	Attempt string
	Address string // untrusted
	Until   time.Time
	Note    string // of note_attempt: bounced, refused, delayed, delivered, read
	Why     string // may quote the message; untrusted
}

// Event is one message that arrived, with what it is taken to be.
type Event struct {
	ID           int64
	Account      string
	Folder       string // untrusted
	UID          UID
	MessageID    int64  // the stored message, 0 when it is gone
	RFCMessageID string // untrusted, as all words of the message
	InReplyTo    string
	References   []string
	From         Address
	Subject      string
	Received     time.Time
	Class        InboundClass // "" for mail older than the account here: observed, not classified
	By           Actor        // who decided the class
	RuleSet      int
	Detail       json.RawMessage
	Outcome      string   // what it caused, in our own words
	Attempts     []string // the attempts it is about
	Review       ReviewState
	ReviewWhy    string
	SeenAgain    int // other places the same mail was seen in
	At           time.Time
}

// ReviewState is where a review item stands; "" is an event without one.
type ReviewState string

// The review states.
const (
	ReviewOpen     ReviewState = "open"
	ReviewResolved ReviewState = "resolved"
	ReviewIgnored  ReviewState = "ignored"
)

// Recorded is the outcome of recording an event.
type Recorded struct {
	EventID  int64
	Class    InboundClass
	Outcome  string
	Replayed bool // the event was there already: this is its outcome, nothing was done
	Again    bool // the same mail in another place: noted, nothing else was done
}

// EventFilter narrows a list of events, newest first.
type EventFilter struct {
	Account string
	Class   InboundClass
	Review  ReviewState // only events whose review item stands there
	Contact string      // only mail of this address
	Attempt string      // only mail about this attempt
	Limit   int         // 0 is 200
}

// Classified is one entry of an event's history of classes, oldest first.
type Classified struct {
	At      time.Time
	By      Actor
	Class   InboundClass
	RuleSet int
	Note    string
}

// Open is a thread that waits: for our answer (MessageID is their message), or
// for theirs (AttemptID is ours).
type Open struct {
	Account   string
	MessageID int64
	AttemptID string
	Who       Address // untrusted
	Subject   string  // untrusted
	Since     time.Time
}
