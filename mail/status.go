package mail

import "fmt"

// DeliveryStatus is the one enumeration both kinds of attempt share. The
// serialized values are part of the command line's contract.
type DeliveryStatus string

// The five delivery statuses. StatusSent means that the configured SMTP server
// accepted the message, and never more.
const (
	StatusPending   DeliveryStatus = "pending"
	StatusSending   DeliveryStatus = "sending"
	StatusSent      DeliveryStatus = "sent"
	StatusFailed    DeliveryStatus = "failed"
	StatusUncertain DeliveryStatus = "uncertain"
)

// AllDeliveryStatuses lists the statuses in the order of the state machine.
func AllDeliveryStatuses() []DeliveryStatus {
	return []DeliveryStatus{StatusPending, StatusSending, StatusSent, StatusFailed, StatusUncertain}
}

// String returns the serialized value.
func (s DeliveryStatus) String() string { return string(s) }

// Terminal reports whether no legal move leaves s.
func (s DeliveryStatus) Terminal() bool {
	return s == StatusSent || s == StatusFailed || s == StatusUncertain
}

// ParseDeliveryStatus accepts exactly the serialized values.
func ParseDeliveryStatus(s string) (DeliveryStatus, error) {
	return parseEnum("delivery status", s, AllDeliveryStatuses())
}

// AttemptKind tells a reply from mail the account originates.
type AttemptKind string

// The two kinds of attempt.
const (
	KindReply    AttemptKind = "reply"
	KindOutbound AttemptKind = "outbound"
)

// AllAttemptKinds lists both kinds.
func AllAttemptKinds() []AttemptKind { return []AttemptKind{KindReply, KindOutbound} }

// String returns the serialized value.
func (k AttemptKind) String() string { return string(k) }

// ParseAttemptKind accepts exactly the serialized values.
func ParseAttemptKind(s string) (AttemptKind, error) {
	return parseEnum("attempt kind", s, AllAttemptKinds())
}

// UncertainCode is the error code a lost process leaves on an attempt of this
// kind: REPLY_UNCERTAIN or OUTBOUND_UNCERTAIN.
func (k AttemptKind) UncertainCode() Code {
	if k == KindReply {
		return CodeReplyUncertain
	}
	return CodeOutboundUncertain
}

// CopyStatus is the state of the sent copy, kept apart from the delivery
// status: a failed copy never changes what is known of the delivery.
type CopyStatus string

// The sent-copy statuses.
const (
	CopyPending CopyStatus = "pending"
	CopySaved   CopyStatus = "saved"
	CopyFailed  CopyStatus = "failed"
	CopySkipped CopyStatus = "skipped"
	CopyUnknown CopyStatus = "unknown"
)

// AllCopyStatuses lists the sent-copy statuses.
func AllCopyStatuses() []CopyStatus {
	return []CopyStatus{CopyPending, CopySaved, CopyFailed, CopySkipped, CopyUnknown}
}

// String returns the serialized value.
func (s CopyStatus) String() string { return string(s) }

// ParseCopyStatus accepts exactly the serialized values.
func ParseCopyStatus(s string) (CopyStatus, error) {
	return parseEnum("sent copy status", s, AllCopyStatuses())
}

// Resolution is what a person decided about an uncertain attempt. It never
// rewrites the status.
type Resolution string

// The resolutions; the empty one means nobody has decided yet.
const (
	ResolutionNone    Resolution = ""
	ResolutionSent    Resolution = "confirmed_sent"
	ResolutionNotSent Resolution = "confirmed_not_sent"
	ResolutionResent  Resolution = "resent"
)

// AllResolutions lists the resolutions a person can give.
func AllResolutions() []Resolution {
	return []Resolution{ResolutionSent, ResolutionNotSent, ResolutionResent}
}

// String returns the serialized value.
func (r Resolution) String() string { return string(r) }

// ParseResolution accepts exactly the serialized values.
func ParseResolution(s string) (Resolution, error) {
	return parseEnum("resolution", s, AllResolutions())
}

// Actor says who caused an audited change.
type Actor string

// The actors of the audit log.
const (
	ActorPerson   Actor = "person"
	ActorSync     Actor = "sync"
	ActorWorker   Actor = "worker"
	ActorRecovery Actor = "recovery"
)

// AllActors lists the actors.
func AllActors() []Actor { return []Actor{ActorPerson, ActorSync, ActorWorker, ActorRecovery} }

// String returns the serialized value.
func (a Actor) String() string { return string(a) }

func parseEnum[T ~string](what, s string, all []T) (T, error) {
	for _, v := range all {
		if string(v) == s {
			return v, nil
		}
	}
	var zero T
	return zero, fmt.Errorf("%q is not a %s: use one of %v", s, what, all)
}
