package mail

// InboundClass is what an arrived message is taken to be.
type InboundClass string

// The inbound classes. ClassUnmapped waits for a person: the message cannot be
// tied to one contact or attempt. ClassUnparsed could not be read at all.
const (
	ClassOwn        InboundClass = "own"
	ClassHumanReply InboundClass = "human_reply"
	ClassHumanMail  InboundClass = "human_mail"
	ClassAutoReply  InboundClass = "auto_reply"
	ClassAutoAck    InboundClass = "auto_ack"
	ClassBounceHard InboundClass = "bounce_hard"
	ClassBounceSoft InboundClass = "bounce_soft"
	ClassDSNSuccess InboundClass = "dsn_success"
	ClassMDN        InboundClass = "mdn"
	ClassListOrBulk InboundClass = "list_or_bulk"
	ClassComplaint  InboundClass = "complaint"
	ClassUnmapped   InboundClass = "unmapped"
	ClassUnparsed   InboundClass = "unparsed"
)

// AllInboundClasses lists the classes in the order a person is offered them.
func AllInboundClasses() []InboundClass {
	return []InboundClass{ClassHumanReply, ClassHumanMail, ClassAutoReply, ClassAutoAck, ClassBounceHard, ClassBounceSoft,
		ClassDSNSuccess, ClassMDN, ClassListOrBulk, ClassComplaint, ClassOwn, ClassUnmapped, ClassUnparsed}
}

// String returns the serialized value.
func (c InboundClass) String() string { return string(c) }

// Human reports whether a person wrote the message.
func (c InboundClass) Human() bool { return c == ClassHumanReply || c == ClassHumanMail }

// Bounce reports whether the message says that mail was not delivered.
func (c InboundClass) Bounce() bool { return c == ClassBounceHard || c == ClassBounceSoft }

// ParseInboundClass accepts exactly the serialized values.
func ParseInboundClass(s string) (InboundClass, error) {
	return parseEnum("inbound class", s, AllInboundClasses())
}
