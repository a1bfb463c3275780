package mail

import (
	"strings"
	"time"
)

// FolderKind is the role of a folder: the configured kind, else its
// SPECIAL-USE attribute (RFC 6154), else none.
type FolderKind string

// The folder kinds.
const (
	FolderNone    FolderKind = ""
	FolderInbox   FolderKind = "inbox"
	FolderSent    FolderKind = "sent"
	FolderDrafts  FolderKind = "drafts"
	FolderArchive FolderKind = "archive"
	FolderJunk    FolderKind = "junk"
	FolderTrash   FolderKind = "trash"
	FolderAll     FolderKind = "all"
)

// AllFolderKinds lists the kinds in the order the folder pane shows them.
func AllFolderKinds() []FolderKind {
	return []FolderKind{FolderInbox, FolderDrafts, FolderSent, FolderArchive, FolderAll, FolderJunk, FolderTrash, FolderNone}
}

// String returns the serialized value.
func (k FolderKind) String() string { return string(k) }

// ParseFolderKind accepts the serialized values in any case.
func ParseFolderKind(s string) (FolderKind, error) {
	return parseEnum("folder kind", strings.ToLower(s), AllFolderKinds())
}

// Folder is one IMAP mailbox of an account as the server last described it.
type Folder struct {
	ID          int64
	Account     string
	Name        string // full name, decoded to UTF-8; untrusted
	Delimiter   string // hierarchy separator, "" for a flat name
	Kind        FolderKind
	SpecialUse  FolderKind // what SPECIAL-USE said, before configuration
	Selectable  bool
	UIDValidity uint32
	UIDNext     uint32
	ModSeq      uint64 // highest MODSEQ whose changes are all stored (RFC 7162)
	Total       int
	Unread      int
	SyncedAt    time.Time // end of the last complete pass
}

// UID names one message of a folder for as long as UIDVALIDITY holds.
type UID struct {
	Validity uint32
	UID      uint32
}
