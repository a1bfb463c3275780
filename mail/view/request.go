package view

import "skrzynka/mail"

// ReplyRequest asks to answer one stored message at once.
type ReplyRequest struct {
	MessageID int64
	Body      string
	All       bool
	Key       string // "": a fresh UUID
	Files     []mail.Attachment
	Confirmed bool
}

// SendRequest asks to originate a message at once.
type SendRequest struct {
	Account     string // "": the default
	From        string // the account's address or an alias; "": the address
	To, Cc, Bcc []mail.Address
	Subject     string
	Body        string
	Key         string // "": a fresh UUID
	Files       []mail.Attachment
	Confirmed   bool
}
