// Package view holds the rows and details both front ends show: screens paint
// them, the command line prints them as JSON. Everything that came from outside
// is a safe.Text; times are UTC and serialize as RFC 3339.
package view

import (
	"time"

	"skrzynka/mail"
	"skrzynka/mail/safe"
)

// Account is one configured account.
type Account struct {
	Name     string   `json:"name"`
	Display  string   `json:"display_name,omitempty"`
	Email    string   `json:"email"`
	Aliases  []string `json:"aliases,omitempty"`
	IMAP     Server   `json:"imap"`
	SMTP     Server   `json:"smtp"`
	Default  bool     `json:"default"`
	Messages int      `json:"messages"`
	Attempts int      `json:"attempts"`
}

// Server is a host as it is configured.
type Server struct {
	Host     string        `json:"host"`
	Port     int           `json:"port"`
	Security mail.Security `json:"security"`
	Username string        `json:"username"`
}

// Folder is one row of the folder pane.
type Folder struct {
	ID         int64           `json:"id"`
	Account    string          `json:"account"`
	Name       safe.Text       `json:"name"`  // full name
	Label      safe.Text       `json:"label"` // last part of the name
	Depth      int             `json:"depth"`
	Kind       mail.FolderKind `json:"kind"`
	Selectable bool            `json:"selectable"`
	Total      int             `json:"total"`
	Unread     int             `json:"unread"`
	SyncedAt   time.Time       `json:"synced_at,omitzero"`
}

// Counts are what needs a person, in the order of urgency.
type Counts struct {
	Failed    int `json:"failed"`    // failed, not retried, not set aside
	Uncertain int `json:"uncertain"` // uncertain without a resolution
	Review    int `json:"review"`    // review items that wait
	Waiting   int `json:"waiting"`   // in the outbox: pending, scheduled, held
	Drafts    int `json:"drafts"`
}

// Badge is what is known of the latest answer to a message.
type Badge struct {
	Status   mail.DeliveryStatus `json:"status"`
	Resolved mail.Resolution     `json:"resolution,omitempty"`
	Proven   bool                `json:"proven,omitempty"`  // uncertain, later proven accepted
	Bounced  bool                `json:"bounced,omitempty"` // a correlated bounce arrived after sent
}

// Cursor is a position in a list ordered newest first.
type Cursor struct {
	Date int64 `json:"date"` // unix milliseconds
	ID   int64 `json:"id"`
}

// Scope is what a list of messages shows.
type Scope struct {
	FolderID int64           // one folder, or
	Kind     mail.FolderKind // all folders of a kind (unified inbox), or
	Account  string          // narrows Kind and Query to an account; "" is all
	Query    string          // a search, over Folder/Account when given
	Threads  bool            // one row a thread instead of one a message: its newest, with Thread its size
	Thread   int64           // the conversation this message is in, all folders, with Depth; nothing else counts then
}

// ListQuery asks for a window of a list. From is exclusive; the zero Cursor is
// the newest end (the oldest when Back). Back reads towards newer rows; rows
// are returned newest first all the same.
type ListQuery struct {
	Scope Scope
	From  Cursor
	Back  bool
	Limit int
}

// Page is one window of a list.
type Page struct {
	Rows  []MessageRow `json:"messages"`
	Total int          `json:"total"` // of the whole list; -1 when counting it would cost a scan
	Hint  safe.Text    `json:"hint,omitzero"`
}

// MessageRow is one line of the list.
type MessageRow struct {
	ID          int64     `json:"id"`
	Account     string    `json:"account"`
	FolderID    int64     `json:"folder_id"`
	Folder      safe.Text `json:"folder"`
	UID         uint32    `json:"uid"`
	From        safe.Text `json:"from"` // display name, else address
	FromAddr    safe.Text `json:"from_address"`
	To          safe.Text `json:"to"`
	Subject     safe.Text `json:"subject"`
	Snippet     safe.Text `json:"snippet,omitzero"`
	Date        time.Time `json:"date"`
	Size        int64     `json:"size"`
	Unread      bool      `json:"unread"`
	Flagged     bool      `json:"flagged"`
	Answered    bool      `json:"answered"`
	Draft       bool      `json:"draft,omitempty"`
	Attachments int       `json:"attachments"`
	HasBody     bool      `json:"has_body"`
	Badge       *Badge    `json:"badge,omitempty"`
	Depth       int       `json:"depth,omitempty"`  // indent in a thread view
	Thread      int       `json:"thread,omitempty"` // messages in its thread, 0 when unknown
	Cursor      Cursor    `json:"-"`
}

// Message is one message, opened.
type Message struct {
	MessageRow
	MessageID safe.Text   `json:"message_id"`
	Sender    []Address   `json:"sender,omitempty"`
	FromAll   []Address   `json:"from_all"`
	ReplyTo   []Address   `json:"reply_to,omitempty"`
	ToAll     []Address   `json:"to_all"`
	CcAll     []Address   `json:"cc_all,omitempty"`
	Headers   []Header    `json:"headers"`
	Lines     []Line      `json:"-"`
	Text      safe.Text   `json:"text"`
	HTMLOnly  bool        `json:"html_only"`
	Links     []Link      `json:"links,omitempty"`
	Files     []File      `json:"attachments_list,omitempty"`
	Problems  []safe.Text `json:"problems,omitempty"` // what was damaged or cut, in plain sentences
	Answers   []Attempt   `json:"answers,omitempty"`  // its attempts, newest first
}

// Address is one address of a message: the address is always shown.
type Address struct {
	Name safe.Text `json:"name,omitzero"`
	Addr safe.Text `json:"address"`
	Mark safe.Text `json:"mark,omitzero"` // why it looks like another: mixed scripts, punycode
}

// Header is one header field, unfolded.
type Header struct {
	Name  safe.Text `json:"name"`
	Value safe.Text `json:"value"`
}

// Line is one line of text with its quote depth.
type Line struct {
	Depth     int
	Signature bool
	Text      safe.Text
}

// Link is a numbered link of the text.
type Link struct {
	N    int       `json:"n"`
	Text safe.Text `json:"text"`
	URL  safe.Text `json:"url"`
}

// File is one attachment.
type File struct {
	Part   int       `json:"part"` // argument of SaveAttachment
	Name   safe.Text `json:"name"`
	Type   safe.Text `json:"type"`
	Size   int64     `json:"size"`
	Inline bool      `json:"inline"`
	Risky  bool      `json:"risky"` // of a kind that runs when opened
}

// SyncProgress is how far a pass has come; it is a nudge, not stored.
type SyncProgress struct {
	Account string    `json:"account"`
	Folder  safe.Text `json:"folder"`
	Phase   string    `json:"phase"` // "connecting", "folders", "headers", "bodies", "idle", "offline", ""
	Done    int       `json:"done"`
	Total   int       `json:"total"`
	Error   string    `json:"error,omitempty"`
}

// SyncReport is the result of one pass.
type SyncReport struct {
	Accounts []AccountSync `json:"accounts"`
}

// AccountSync is one account's part of a pass.
type AccountSync struct {
	Account string       `json:"account"`
	OK      bool         `json:"ok"`
	Folders []FolderSync `json:"folders"`
	Error   *mail.Error  `json:"error"`
}

// FolderSync counts what a pass changed in one folder.
type FolderSync struct {
	Name     safe.Text `json:"name"`
	New      int       `json:"new"`
	Changed  int       `json:"changed"`
	Vanished int       `json:"vanished"`
}

// Draft is one row of the drafts list.
type Draft struct {
	ID        int64            `json:"id"`
	Account   string           `json:"account"`
	Kind      mail.AttemptKind `json:"kind"`
	To        safe.Text        `json:"to"`
	Subject   safe.Text        `json:"subject"`
	Snippet   safe.Text        `json:"snippet"`
	SendAt    time.Time        `json:"send_at,omitzero"`
	UpdatedAt time.Time        `json:"updated_at"`
}

// Check is one line of doctor, or of an account test.
type Check struct {
	Name  string      `json:"name"`
	OK    bool        `json:"ok"`
	Found safe.Text   `json:"found"`
	Fix   string      `json:"fix,omitempty"`
	Error *mail.Error `json:"error,omitempty"`
}
