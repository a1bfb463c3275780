package inbound

import (
	"slices"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/parse"
)

// RuleSet is the version of the rules. It is kept with each classification, so
// that a later set never overrules a person's correction unnoticed.
const RuleSet = 1

// Attempt is what the rules need to know of one of our attempts.
type Attempt struct {
	ID         string
	MessageIDs []string // the Message-ID it was sent with and those a provider gave it, with angle brackets
	Recipients []string // envelope recipients
	Subject    string   // "" when unknown
	Status     mail.DeliveryStatus
	SentAt     time.Time
}

// Input is one arrived message and what is known around it.
type Input struct {
	Msg    *parse.Msg     // nil when the message could not be read
	Header *parse.Headers // used when Msg is nil; may be nil as well

	Folder       mail.FolderKind // of the folder it was seen in
	OwnAddresses []string        // the account's address and aliases
	Arrived      time.Time       // when the server took it in (INTERNALDATE)

	// Ours reports whether a Message-ID is one of ours, beside those of the
	// attempts below. It may be nil.
	Ours func(messageID string) bool

	Correlated []Attempt // attempts whose Message-ID is among Mentions(Msg).MessageIDs
	Recent     []Attempt // attempts of the last 14 days to the sender
}

// Reason is one observation a rule went by. Evidence quotes the message and is
// untrusted.
type Reason struct {
	Rule     string `json:"rule"`
	Evidence string `json:"evidence,omitempty"`
}

// BounceRecipient is what a report says of one recipient. All its strings but
// Why are untrusted.
type BounceRecipient struct {
	Address     string `json:"address"`                    // Final-Recipient, or the address named in the text
	OrigAddress string `json:"original_address,omitempty"` // Original-Recipient: what we had asked for
	Action      string `json:"action"`                     // failed, delayed, delivered, relayed, expanded
	Status      string `json:"status,omitempty"`           // enhanced status code (RFC 3463)
	Code        int    `json:"code,omitempty"`             // SMTP reply code, 0 when none is given
	Diagnostic  string `json:"diagnostic,omitempty"`
	Hard        bool   `json:"hard"`
	ByCode      bool   `json:"by_code"` // Hard rests on a code, not on words alone
	Why         string `json:"why"`     // our own words
}

// Result is the classification of one message.
type Result struct {
	Class      mail.InboundClass `json:"class"`
	Reasons    []Reason          `json:"reasons"`
	Language   string            `json:"language,omitempty"` // ISO 639-1, "" when not recognised
	Sender     string            `json:"sender,omitempty"`   // the single address of From; untrusted
	ReturnDate *ReturnDate       `json:"return_date,omitempty"`
	Recipients []BounceRecipient `json:"recipients,omitempty"`
	NamedIDs   []string          `json:"named_ids,omitempty"` // Message-IDs of ours that it names
	RuleSet    int               `json:"rule_set"`
}

// rule inspects a message and either decides its class or passes.
type rule struct {
	name  string
	match func(*facts, *Result) (mail.InboundClass, bool)
}

// rules are asked in this order; the first that matches decides.
func rules() []rule {
	return []rule{
		{"own", matchOwn},
		{"unparsed", matchUnparsed},
		{"dsn", matchDSN},
		{"feedback", matchFeedback},
		{"mdn", matchMDN},
		{"bounce", matchBounce},
		{"list", matchList},
		{"auto", matchAutoStrong},
		{"auto-weak", matchAutoWeak},
		{"ack", matchAck},
		{"challenge", matchChallenge},
		{"calendar", matchCalendar},
		{"human", matchHuman},
	}
}

var ordered = rules()

// Classify says what a message is, and why. It never panics, has no side
// effects, and gives the same answer for the same input.
func Classify(in Input) Result {
	f := newFacts(in)
	r := Result{RuleSet: RuleSet, Sender: f.sender, NamedIDs: f.named}
	for _, rule := range ordered {
		if class, ok := rule.match(f, &r); ok {
			r.Class = class
			break
		}
	}
	if r.Class == mail.ClassAutoReply {
		r.Language = f.language()
		r.ReturnDate = findReturnDate(f)
	} else if f.m != nil && r.Class != mail.ClassOwn {
		r.Language = f.language()
	}
	return r
}

// because adds a reason. The evidence is cut to what a line can show.
func (r *Result) because(rule, evidence string) {
	const most = 160
	if len(evidence) > most {
		cut := most
		for cut > 0 && evidence[cut]&0xc0 == 0x80 {
			cut--
		}
		evidence = evidence[:cut] + "…"
	}
	reason := Reason{Rule: rule, Evidence: evidence}
	if !slices.Contains(r.Reasons, reason) {
		r.Reasons = append(r.Reasons, reason)
	}
}
