package mail

import "time"

// Attempt is the durable record of one request to send.
type Attempt struct {
	ID             string
	Kind           AttemptKind
	Account        string
	MessageID      int64 // the answered stored message; replies only, else 0
	IdempotencyKey string
	KeyReleased    bool // the same key and payload may make a new attempt
	PayloadDigest  []byte
	From           Address
	To, Cc, Bcc    []Address
	Subject        string
	Body           string // as written, plain text
	Attachments    []AttachmentRef

	Status       DeliveryStatus
	Owner        string // the process that claimed it; see store.Owner
	HandoverAt   time.Time
	RFCMessageID string    // with angle brackets
	NextTryAt    time.Time // the outbox tries again then; zero: only a person does
	AutoTries    int       // automatic tries that led to this attempt
	Findings     []string  // what probes, answers and bounces proved later
	Bounced      bool
	OtherIDs     []string // Message-IDs a provider gave the same mail
	ProviderID   string   // the server's queue id
	ErrorCode    Code
	ErrorText    string
	Retryable    bool
	Evidence     Evidence
	Bytes        []byte // exactly what DATA carried, before dot-stuffing; loaded on demand
	Held         string // why it waits for a person ("restored", "cancelled"), "" when it does not

	// Files are the contents of Attachments where no stored draft holds them;
	// they are stored with the attempt and not loaded with it.
	Files []Attachment

	// MaxPerMinute is the account's rate limit, held in the commit that opens
	// the attempt; 0: none. It is not stored.
	MaxPerMinute int

	Copy       SentCopy
	RetryOf    string
	RetriedBy  string // the newest attempt whose RetryOf is this one
	Resolution Resolution
	ResolvedAt time.Time
	CreatedAt  time.Time
	UpdatedAt  time.Time
	SentAt     time.Time
}

// Recipients lists the envelope recipients in order: To, Cc, Bcc.
func (a *Attempt) Recipients() []Address {
	out := make([]Address, 0, len(a.To)+len(a.Cc)+len(a.Bcc))
	out = append(out, a.To...)
	out = append(out, a.Cc...)
	return append(out, a.Bcc...)
}

// AttachmentRef names one attachment by its content.
type AttachmentRef struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// SentCopy is the state of the copy in the account's Sent folder.
type SentCopy struct {
	Status      CopyStatus
	Folder      string
	UIDValidity uint32
	UID         uint32
	UIDNext     uint32    // of the folder before APPEND: where to look for an unknown copy
	Owner       string    // the process that began it
	BegunAt     time.Time // APPEND had begun; committed before its literal
	ErrorCode   Code
	ErrorText   string
}

// Draft is mail being written. It lives until the commit that records its
// attempt deletes it.
type Draft struct {
	ID          int64
	Account     string
	Kind        AttemptKind
	MessageID   int64  // the message a reply answers, or a forward forwards
	Forward     bool   // MessageID is forwarded, not answered
	RetryOf     string // the attempt this text is edited from
	From        Address
	To, Cc, Bcc []Address
	Subject     string
	Body        string
	InReplyTo   string
	References  []string
	Attachments []Attachment
	SendAt      time.Time // zero: not scheduled
	SendOwner   string    // the process that scheduled it
	// The key its send will use: made with the draft, so that a repeated or
	// interrupted send of one draft is one attempt.
	IdempotencyKey string
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// Attachment is a file frozen at the moment it was attached.
type Attachment struct {
	AttachmentRef
	Content []byte
}

// AuditEntry is one append-only line of history.
type AuditEntry struct {
	ID      int64     `json:"id"`
	At      time.Time `json:"at"`
	Actor   Actor     `json:"actor"`
	Account string    `json:"account,omitempty"`
	Action  string    `json:"action"`          // "attempt.settled", "draft.saved", …
	Subject string    `json:"subject"`         // "attempt:<uuid>", "message:<id>", "contact:<address>", …
	About   string    `json:"about,omitempty"` // the subject line of what Subject names, as it is now; read only
	Why     string    `json:"why,omitempty"`
	From    string    `json:"from,omitempty"`
	To      string    `json:"to,omitempty"`
	Related []string  `json:"related,omitempty"` // further subjects whose timeline shows it
}
