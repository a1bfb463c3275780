package mail

import "time"

// Step is one step of an SMTP submission, in the order they are taken.
type Step string

// The steps. StepBody ends when the whole body is flushed; StepHandover is the
// durable mark and the writing of the terminator; StepReply is the wait for
// the final reply; StepQuit comes after the outcome is known.
const (
	StepNone        Step = ""
	StepClaim       Step = "claim"
	StepCredentials Step = "credentials"
	StepDial        Step = "dial"
	StepTLS         Step = "tls"
	StepGreeting    Step = "greeting"
	StepEHLO        Step = "ehlo"
	StepSTARTTLS    Step = "starttls"
	StepAuth        Step = "auth"
	StepMail        Step = "mail"
	StepRcpt        Step = "rcpt"
	StepData        Step = "data"
	StepBody        Step = "body"
	StepHandover    Step = "handover"
	StepReply       Step = "reply"
	StepQuit        Step = "quit"
)

// AllSteps lists the steps in order.
func AllSteps() []Step {
	return []Step{StepClaim, StepCredentials, StepDial, StepTLS, StepGreeting, StepEHLO, StepSTARTTLS,
		StepAuth, StepMail, StepRcpt, StepData, StepBody, StepHandover, StepReply, StepQuit}
}

// String returns the serialized value.
func (s Step) String() string { return string(s) }

// Fault is what ended a step other than success.
type Fault string

// The faults. FaultRefused means the server answered with a complete reply
// that is not the one the step needs; Evidence.Reply holds it.
const (
	FaultNone        Fault = ""
	FaultRefused     Fault = "refused"
	FaultUnreachable Fault = "unreachable" // name lookup, connection refused, no route
	FaultLost        Fault = "lost"        // EOF or reset
	FaultTimeout     Fault = "timeout"
	FaultGarbage     Fault = "garbage"   // not an SMTP reply
	FaultOversized   Fault = "oversized" // a reply over the limit
	FaultTLS         Fault = "tls"       // not offered, not trusted, handshake failed, plaintext after STARTTLS
	FaultLocal       Fault = "local"     // our own side: bytes unreadable, no credentials, unusable mechanism
	FaultMark        Fault = "mark"      // the handover mark could not be committed
	FaultClock       Fault = "clock"     // wall and monotonic clock drifted by more than 60 s
	FaultEarlyReply  Fault = "early"     // a reply arrived before the terminator was written
	FaultAmbiguous   Fault = "ambiguous" // refusals of repeated recipients that cannot be told apart
	FaultPartial     Fault = "partial"   // some recipients refused under all_or_nothing: RSET, no DATA
	FaultSize        Fault = "size"      // larger than the server's SIZE: not begun
	FaultGone        Fault = "gone"      // the process, machine or database went away
	FaultCancelled   Fault = "cancelled" // a person or a shutdown stopped it before handover
)

// AllFaults lists the faults.
func AllFaults() []Fault {
	return []Fault{FaultNone, FaultRefused, FaultUnreachable, FaultLost, FaultTimeout, FaultGarbage, FaultOversized,
		FaultTLS, FaultLocal, FaultMark, FaultClock, FaultEarlyReply, FaultAmbiguous, FaultPartial, FaultSize, FaultGone, FaultCancelled}
}

// String returns the serialized value.
func (f Fault) String() string { return string(f) }

// Reply is one complete SMTP reply (RFC 5321 section 4.2). Text is untrusted.
type Reply struct {
	Code     int    `json:"code"`               // 0: no reply was read
	Enhanced string `json:"enhanced,omitempty"` // RFC 2034, "5.1.1", "" when absent
	Text     string `json:"text,omitempty"`     // lines joined by LF, enhanced code left out
}

// Class is the first digit of the code, 0 when there is no reply.
func (r Reply) Class() int { return r.Code / 100 }

// RecipientResult is the server's answer to one RCPT.
type RecipientResult struct {
	Address  string `json:"address"`
	Accepted bool   `json:"accepted"`
	Reply    Reply  `json:"reply"`
}

// StepMark says when a step was begun, and for how long it ran.
type StepMark struct {
	Step Step      `json:"step"`
	At   time.Time `json:"at"`
	Note string    `json:"note,omitempty"` // the server's words or our own; untrusted
}

// Evidence is what is known of one SMTP transaction. It only ever records what
// was seen; delivery.Judge says what follows from it.
type Evidence struct {
	LastStep     Step              `json:"last_step"`            // the last step begun, the one Fault belongs to
	Fault        Fault             `json:"fault,omitempty"`      // what ended it; FaultNone with LastStep reply or quit is success
	HandedOver   bool              `json:"handed_over"`          // writing the terminator had begun
	MarkDurable  bool              `json:"mark_durable"`         // the handover mark is committed
	Server       string            `json:"server,omitempty"`     // host:port that was dialled
	TLS          string            `json:"tls,omitempty"`        // "TLS 1.3", "" before TLS stood
	Reply        Reply             `json:"reply"`                // the reply that decided
	Detail       string            `json:"detail,omitempty"`     // our own words about Fault: no secrets, cleaned
	Partial      bool              `json:"partial,omitempty"`    // policy partial was in force
	Recipients   int               `json:"recipients,omitempty"` // envelope recipients, repeats included
	Results      []RecipientResult `json:"results,omitempty"`
	AllRefused   bool              `json:"all_refused,omitempty"`         // every RCPT was answered with a refusal
	ProviderID   string            `json:"queue_id,omitempty"`            // the id the server gave the message in its final reply; untrusted
	ProviderMsg  string            `json:"provider_message_id,omitempty"` // the Message-ID it named there, brackets included; untrusted
	Steps        []StepMark        `json:"steps,omitempty"`
	RecoveredAt  time.Time         `json:"recovered_at,omitzero"`
	AcceptedLate bool              `json:"accepted_late,omitempty"` // a probe proved acceptance of an uncertain attempt later
}

// Accepted counts the recipients accepted at RCPT.
func (e Evidence) Accepted() int {
	n := 0
	for _, r := range e.Results {
		if r.Accepted {
			n++
		}
	}
	return n
}

// Rejected lists the refused recipients, one per distinct address.
func (e Evidence) Rejected() []RecipientResult {
	var out []RecipientResult
	seen := map[string]bool{}
	for _, r := range e.Results {
		if !r.Accepted && !seen[AddressKey(r.Address)] {
			seen[AddressKey(r.Address)] = true
			out = append(out, r)
		}
	}
	return out
}

// NotSubmitted counts the recipients the message was certainly not submitted
// for: all of them when the transaction stopped before DATA or was refused,
// else the refused ones. It may overlap with Rejected.
func (e Evidence) NotSubmitted() int {
	switch {
	case e.Fault == FaultEarlyReply && e.Reply.Class() == 2: // out of step: nothing is certain
		return len(e.Results) - e.Accepted()
	case !e.HandedOver && e.Fault != FaultNone:
		return e.Recipients
	case e.LastStep == StepReply && e.Fault == FaultRefused && e.Reply.Class() >= 4 && e.Reply.Code != 421:
		return e.Recipients
	default:
		return len(e.Results) - e.Accepted()
	}
}
