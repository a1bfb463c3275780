// Package mirror is the client side of IMAP (RFC 3501, RFC 9051): it dials,
// speaks the protocol and hands what it read to its caller. It stores nothing
// and keeps no current folder: every call names the folder and the
// UIDVALIDITY it relies on. [Plan] says, without any traffic, what a pass over
// a folder has to do.
//
// Only literals are asked for in bulk (headers and bodies), never ENVELOPE or
// BODYSTRUCTURE: one message a server describes badly must not block a folder.
// Everything in the results is text from outside and not cleaned.
package mirror

import (
	"time"

	"skrzynka/mail"
)

// Caps is what a session may use, read after TLS and login stood.
type Caps struct {
	Idle        bool // RFC 2177
	CondStore   bool // RFC 7162
	UIDPlus     bool // RFC 4315
	Move        bool // RFC 6851
	ESearch     bool // RFC 4731
	SpecialUse  bool // RFC 6154
	ListStatus  bool // RFC 5819
	LoginOff    bool // LOGINDISABLED
	AppendLimit int64
	All         []string // as announced, sorted
}

// Mailbox is what SELECT, EXAMINE or STATUS said of a folder. A number the
// server did not give is 0.
type Mailbox struct {
	UIDValidity    uint32
	UIDNext        uint32
	Messages       int
	Unseen         int    // STATUS only
	HighestModSeq  uint64 // 0 where mod-sequences are not kept (NOMODSEQ)
	PermanentFlags []string
	ReadOnly       bool
}

// Folder is one row of the server's list of folders.
type Folder struct {
	Name       string // full name in UTF-8
	Delimiter  string // "" for a flat name
	Attrs      []string
	Kind       mail.FolderKind // by SPECIAL-USE, INBOX by its name
	Selectable bool
	Status     Mailbox
	HasStatus  bool // Status was answered
}

// Fetched is one message as FETCH gave it. Which fields are set depends on
// the call.
type Fetched struct {
	UID          uint32
	Flags        []string
	InternalDate time.Time
	Size         int64
	ModSeq       uint64
	Header       []byte // raw, with the empty line that ends it
	Body         []byte // the whole message, raw
	Truncated    bool   // Body is only the beginning

	partial bool // the server called the body a piece
}

// PushKind names what a server told unasked.
type PushKind string

// The kinds of push.
const (
	PushExists  PushKind = "exists"  // the number of messages is N
	PushExpunge PushKind = "expunge" // a message is gone; N is a sequence number and names nothing
	PushFlags   PushKind = "flags"   // flags of a message changed
)

// Push is a hint that a folder changed. It is a reason to look, never a fact
// to store: sequence numbers mean nothing outside their session.
type Push struct {
	Folder string
	Kind   PushKind
	N      uint32
}

// Range is the UIDs From to To, both included. To 0 stands for "*".
type Range struct{ From, To uint32 }

// Timeouts bound a session. A zero field takes its default.
type Timeouts struct {
	Dial     time.Duration // name lookup, connect, TLS: 30 s each
	Progress time.Duration // while a command runs, between two bytes: 60 s
	Item     time.Duration // while a command runs, between two results: 5 min
	IdleTurn time.Duration // how long one IDLE runs before it is renewed: 25 min
}

func (t Timeouts) withDefaults() Timeouts {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&t.Dial, 30*time.Second)
	def(&t.Progress, 60*time.Second)
	def(&t.Item, 5*time.Minute)
	def(&t.IdleTurn, 25*time.Minute)
	return t
}
