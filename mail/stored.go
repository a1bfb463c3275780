package mail

import "time"

// Summary is what is kept of a message beside its bytes, for lists, threads
// and search. It is decoded and untrusted.
type Summary struct {
	RFCMessageID string // with angle brackets, "" when the message has none
	InReplyTo    string
	References   []string // oldest first
	From         Address
	To           string // as a list shows it
	Subject      string
	Snippet      string
	Attachments  int
	Date         time.Time // what lists are ordered by; zero: the internal date
}

// Flags are the IMAP flags of a message (RFC 9051 section 2.3.2).
type Flags struct {
	Seen, Flagged, Answered, Draft, Deleted bool
	Keywords                                []string
}

// FlagName is a flag a person can set and unset.
type FlagName string

// The flags.
const (
	FlagSeen     FlagName = "seen"
	FlagFlagged  FlagName = "flagged"
	FlagAnswered FlagName = "answered"
)

// NewMessage is one message as it is first stored: its place, flags and header.
type NewMessage struct {
	UID          uint32
	ModSeq       uint64
	Flags        Flags
	InternalDate time.Time
	Size         int64  // RFC822.SIZE
	Header       []byte // raw, with the empty line that ends it
	Summary      Summary
	Body         *NewBody // the whole message, where it came with the header
}

// FlagState is what the server says of one message's flags.
type FlagState struct {
	UID    uint32
	ModSeq uint64
	Flags  Flags
}

// NewBody is the whole of a message that is stored already.
type NewBody struct {
	ID      int64 // the stored message
	Raw     []byte
	Summary Summary
	// Reports are the Message-IDs a delivery report speaks of.
	Reports []string
	// Packed is Raw made ready for the store (see store.Pack), nil when the
	// store is to do it.
	Packed *PackedBody
}

// PackedBody is a message's bytes as they are stored.
type PackedBody struct {
	Digest   [32]byte // SHA-256 of the bytes before encoding
	Encoding string
	Bytes    []byte
}

// StoredMessage is one message as it is stored.
type StoredMessage struct {
	ID           int64
	Account      string
	FolderID     int64
	Folder       string
	Kind         FolderKind
	UID          UID // zero validity: moved here, its place on the server is not known yet
	ModSeq       uint64
	Flags        Flags
	InternalDate time.Time
	Size         int64
	Summary      Summary
	Header       []byte    // raw; nil once the body is there
	HasBody      bool      // RawMessage has the whole of it
	VanishedAt   time.Time // gone from the server, kept for its attempts
}

// Bodyless is a message whose body is still to be fetched.
type Bodyless struct {
	ID   int64
	UID  uint32
	Size int64
}

// Poison is a message that could not be read: tried again, never in the way.
type Poison struct {
	UID    uint32
	Reason string
	Tries  int
	At     time.Time
}

// JournalAction is what a person did to a message.
type JournalAction string

// The actions.
const (
	JournalFlag JournalAction = "flag"
	JournalMove JournalAction = "move"
)

// JournalEntry is one local action the server has not confirmed.
type JournalEntry struct {
	ID        int64
	Account   string
	Batch     string // one action of a person
	MessageID int64
	Action    JournalAction
	Flag      FlagName // of a flag action
	On        bool
	Folder    Folder // where the message is on the server
	UID       UID    // its place there
	ToFolder  Folder // of a move
	Begun     bool   // it was begun before; the server may have done it
	Tries     int
	CreatedAt time.Time
}

// LocalFolder is what is stored of a folder, as a pass over it needs it.
type LocalFolder struct {
	Folder
	LastUID  uint32 // the highest UID stored under the current UIDVALIDITY
	Count    int    // messages stored under it and not known to be gone, quarantined ones included
	Bodyless int    // messages without their body
	ReRead   bool   // rows of an older UIDVALIDITY wait to be matched
}
