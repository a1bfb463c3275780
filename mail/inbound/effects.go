package inbound

import (
	"slices"
	"time"

	"skrzynka/mail"
)

// EffectKind is one change an inbound message may cause.
type EffectKind string

// The effects. All are applied in the transaction that records the event, by
// compare-and-set on what they change.
const (
	StopPlan        EffectKind = "stop_plan"        // the plan of Attempt ends, its future sends are cancelled
	ContactReplied  EffectKind = "contact_replied"  // the contact Address becomes replied
	HoldPlan        EffectKind = "hold_plan"        // plans that write to Address wait for a person; with Attempt, its plan alone
	PausePlan       EffectKind = "pause_plan"       // the plan of Attempt pauses until Until
	SuppressAddress EffectKind = "suppress_address" // nothing is sent to Address until a person allows it
	NoteAttempt     EffectKind = "note_attempt"     // Attempt shows Note for Address
	Review          EffectKind = "review"           // the event goes to the review queue
)

// AllEffectKinds lists the kinds in the order they are applied.
func AllEffectKinds() []EffectKind {
	return []EffectKind{SuppressAddress, ContactReplied, StopPlan, PausePlan, HoldPlan, NoteAttempt, Review}
}

// String returns the serialized value.
func (k EffectKind) String() string { return string(k) }

// Note is what an attempt shows beside its status. It never changes the status.
type Note string

// The notes.
const (
	NoteBounced   Note = "bounced"
	NoteRefused   Note = "refused" // not delivered, and the address is not at fault
	NoteDelayed   Note = "delayed"
	NoteDelivered Note = "delivered"
	NoteRead      Note = "read"
)

// Effect is one change, as data. Which fields are set depends on Kind. Its
// identity for "once only" is (Kind, Attempt, Address, Note).
type Effect struct {
	Kind    EffectKind `json:"kind"`
	Attempt string     `json:"attempt,omitempty"`
	Address string     `json:"address,omitempty"`
	Until   time.Time  `json:"until,omitzero"`
	Note    Note       `json:"note,omitempty"`
	Why     string     `json:"why"` // our own words; may hold an address of the message
}

// Correlation is what the store knows around a classified message.
type Correlation struct {
	Named    []Attempt // attempts one of whose Message-IDs is in Result.NamedIDs
	Recent   []Attempt // attempts of the last 14 days to Result.Sender
	Followed bool      // Result.Sender is a contact of an active plan
	Arrived  time.Time
}

// maxBounceAge is how long after sending a bounce is believed.
const maxBounceAge = 7 * 24 * time.Hour

// Effects says what may follow from a classification. A claim that nothing
// ties to a Message-ID of ours holds a plan or goes to review, and changes no
// contact. An automatic answer never ends anything.
func Effects(r Result, c Correlation) []Effect {
	e := effects{r: r, c: c}
	switch r.Class {
	case mail.ClassHumanReply:
		e.humanReply()
	case mail.ClassHumanMail:
		if c.Followed {
			e.add(Effect{Kind: HoldPlan, Address: r.Sender, Why: "a person the plan writes to wrote, and nothing ties it to our message"})
			e.review("mail of a person the plan writes to")
		}
	case mail.ClassAutoReply:
		e.autoReply()
	case mail.ClassBounceHard, mail.ClassBounceSoft:
		e.bounce()
	case mail.ClassDSNSuccess:
		e.delivered()
	case mail.ClassMDN:
		for _, a := range c.Named {
			if hasRecipient(a, r.Sender) {
				e.add(Effect{Kind: NoteAttempt, Attempt: a.ID, Address: r.Sender, Note: NoteRead, Why: "a read receipt"})
			}
		}
	case mail.ClassComplaint:
		e.complaint()
	case mail.ClassUnmapped:
		e.review("it cannot be tied to one contact or attempt")
	case mail.ClassUnparsed:
		if c.Followed {
			e.add(Effect{Kind: HoldPlan, Address: r.Sender, Why: "a message of a person the plan writes to could not be read"})
		}
		e.review("the message could not be read")
	case mail.ClassOwn, mail.ClassAutoAck, mail.ClassListOrBulk:
		// logged, without effect
	}
	return e.list
}

type effects struct {
	r    Result
	c    Correlation
	list []Effect
}

func (e *effects) add(f Effect) {
	if !slices.ContainsFunc(e.list, func(o Effect) bool {
		return o.Kind == f.Kind && o.Attempt == f.Attempt && o.Address == f.Address && o.Note == f.Note
	}) {
		e.list = append(e.list, f)
	}
}

func (e *effects) review(why string) { e.add(Effect{Kind: Review, Address: e.r.Sender, Why: why}) }

// humanReply stops the plans of all attempts the answer names: a References
// field lists a thread's whole past. The contact is the sender, or the only
// recipient when the answer came from another address of theirs.
func (e *effects) humanReply() {
	if len(e.c.Named) == 0 {
		e.review("the message it answers is not in the log")
		return
	}
	contact := ""
	for _, a := range e.c.Named {
		if hasRecipient(a, e.r.Sender) {
			contact = e.r.Sender
			break
		}
	}
	if contact == "" && sameOnlyRecipient(e.c.Named) {
		contact = e.c.Named[0].Recipients[0]
	}
	if contact != "" {
		e.add(Effect{Kind: ContactReplied, Address: contact, Why: "a person answered our message"})
	}
	for _, a := range e.c.Named {
		e.add(Effect{Kind: StopPlan, Attempt: a.ID, Why: "a person answered our message"})
	}
	if contact == "" {
		e.review("the answer came from an address we did not write to")
	}
}

func sameOnlyRecipient(attempts []Attempt) bool {
	for _, a := range attempts {
		if len(a.Recipients) != 1 || mail.AddressKey(a.Recipients[0]) != mail.AddressKey(attempts[0].Recipients[0]) {
			return false
		}
	}
	return true
}

// autoReply pauses the plans of the attempts it answers. One that only comes
// from an address we wrote to may be forged: it holds.
func (e *effects) autoReply() {
	for _, a := range e.c.Named {
		if e.r.ReturnDate != nil {
			e.add(Effect{Kind: PausePlan, Attempt: a.ID, Address: e.r.Sender, Until: e.r.ReturnDate.BackOn(), Why: "away: \"" + e.r.ReturnDate.Quote + "\""})
			continue
		}
		e.add(Effect{Kind: HoldPlan, Attempt: a.ID, Address: e.r.Sender, Why: "an automatic answer that gives no date"})
		e.review("an automatic answer that gives no date")
	}
	if len(e.c.Named) == 0 && (e.c.Followed || len(e.c.Recent) > 0) {
		e.add(Effect{Kind: HoldPlan, Address: e.r.Sender, Why: "an automatic answer that nothing ties to our message"})
		e.review("an automatic answer that nothing ties to our message")
	}
}

// bounce looks at each recipient of a report by itself.
func (e *effects) bounce() {
	verified := false
	for _, b := range e.r.Recipients {
		if b.Action == "delivered" || b.Action == "relayed" || b.Action == "expanded" {
			e.note(b, NoteDelivered)
			continue
		}
		a, addr, ok := e.reported(b)
		switch {
		case !ok && e.forwarded(b):
			verified = true
			e.review("a forward of our message bounced at " + b.Address)
		case !ok:
			e.review("an unverified bounce: " + e.doubt(b))
			verified = true
		case b.Action == "delayed":
			verified = true
			e.add(Effect{Kind: NoteAttempt, Attempt: a.ID, Address: addr, Note: NoteDelayed, Why: b.Why})
		case !b.Hard:
			verified = true
			e.add(Effect{Kind: NoteAttempt, Attempt: a.ID, Address: addr, Note: NoteRefused, Why: b.Why})
		case !b.ByCode:
			verified = true
			e.add(Effect{Kind: NoteAttempt, Attempt: a.ID, Address: addr, Note: NoteBounced, Why: b.Why})
			e.add(Effect{Kind: HoldPlan, Attempt: a.ID, Address: addr, Why: b.Why})
			e.review("the address is said not to exist, without a code")
		default:
			verified = true
			e.add(Effect{Kind: SuppressAddress, Attempt: a.ID, Address: addr, Why: b.Why})
			e.add(Effect{Kind: StopPlan, Attempt: a.ID, Address: addr, Why: b.Why})
			e.add(Effect{Kind: NoteAttempt, Attempt: a.ID, Address: addr, Note: NoteBounced, Why: b.Why})
		}
	}
	if !verified {
		e.review("an unverified bounce: it names no recipient")
	}
}

// reported finds the attempt a report is about: one it names by Message-ID,
// whose recipient it reports, sent at most seven days before. It returns our
// own spelling of the address.
func (e *effects) reported(b BounceRecipient) (Attempt, string, bool) {
	for _, a := range e.c.Named {
		if a.Status != "" && a.Status != mail.StatusSent && a.Status != mail.StatusUncertain {
			continue
		}
		if age := e.c.Arrived.Sub(a.SentAt); a.SentAt.IsZero() || age > maxBounceAge || age < -time.Hour {
			continue
		}
		for _, addr := range []string{b.Address, b.OrigAddress} {
			for _, rcpt := range a.Recipients {
				if addr != "" && mail.AddressKey(rcpt) == mail.AddressKey(addr) {
					return a, rcpt, true
				}
			}
		}
	}
	return Attempt{}, "", false
}

// forwarded reports whether a report names a Message-ID of ours and an address
// that was not its recipient.
func (e *effects) forwarded(b BounceRecipient) bool {
	for _, a := range e.c.Named {
		if hasRecipient(a, b.Address) || hasRecipient(a, b.OrigAddress) {
			return false
		}
	}
	return len(e.c.Named) > 0 && b.Address != ""
}

func (e *effects) doubt(b BounceRecipient) string {
	if len(e.c.Named) == 0 {
		return "it names no message of ours"
	}
	if b.Address == "" && b.OrigAddress == "" {
		return "it names no recipient"
	}
	return "our message is older than seven days, or was not sent"
}

func (e *effects) note(b BounceRecipient, n Note) {
	if a, addr, ok := e.reported(b); ok {
		e.add(Effect{Kind: NoteAttempt, Attempt: a.ID, Address: addr, Note: n, Why: b.Why})
	}
}

// delivered notes success; it says nothing more when it names nothing of ours.
func (e *effects) delivered() {
	for _, b := range e.r.Recipients {
		e.note(b, NoteDelivered)
	}
}

// complaint suppresses an address under the same proof as a bounce.
func (e *effects) complaint() {
	done := false
	for _, b := range e.r.Recipients {
		if a, addr, ok := e.reported(b); ok {
			done = true
			e.add(Effect{Kind: SuppressAddress, Attempt: a.ID, Address: addr, Why: "the recipient complained"})
			e.add(Effect{Kind: StopPlan, Attempt: a.ID, Address: addr, Why: "the recipient complained"})
		}
	}
	if !done {
		e.review("an unverified complaint")
	}
}
