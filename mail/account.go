package mail

import "time"

// Security is how a connection gets its TLS. There is no value without.
type Security string

// The two ways: TLS from the first byte, or STARTTLS, then required.
const (
	SecurityTLS      Security = "tls"
	SecuritySTARTTLS Security = "starttls"
)

// Server is one host to dial.
type Server struct {
	Host     string
	Port     int
	Security Security
	Username string
	CAFile   string // an additional trusted root, PEM; "" for the system's alone
}

// AuthMethod is how an account proves itself.
type AuthMethod string

// The authentication methods.
const (
	AuthPassword AuthMethod = "password"
	AuthOAuth2   AuthMethod = "oauth2"
)

// Account is one receiving identity and its matching sending identity, as the
// configuration describes it.
type Account struct {
	Name        string // its key in the configuration
	DisplayName string
	Email       string
	Aliases     []string
	IMAP        Server
	SMTP        Server
	SMTPPartial bool // one refused recipient does not stop the others

	Auth            AuthMethod
	PasswordCommand []string
	OAuth2          OAuth2

	FolderKinds        map[string]FolderKind // by full folder name
	FolderDescriptions map[string]string     // what a person noted of a folder, by full name
	SentCopy           SentCopyPolicy
	Policy             SendPolicy
	FollowUp           FollowUpPolicy
	Watch              []string // folder kinds or names followed by IDLE
}

// From is the account's own address as it is written in From.
func (a *Account) From() Address { return Address{Name: a.DisplayName, Addr: a.Email} }

// Owns reports whether addr is the account's address or one of its aliases.
func (a *Account) Owns(addr string) bool {
	k := AddressKey(addr)
	if k == AddressKey(a.Email) {
		return true
	}
	for _, alias := range a.Aliases {
		if k == AddressKey(alias) {
			return true
		}
	}
	return false
}

// OAuth2 names the provider and the client registration used with it.
type OAuth2 struct {
	Provider     string // "google" or "microsoft"
	ClientID     string
	ClientSecret string // a desktop client's, which is no secret
}

// SentCopyPolicy is section "sent_copy" of an account.
type SentCopyPolicy struct {
	Enabled      bool
	OnFailure    OnFailure
	Folder       string
	ProviderKeep string // "auto", "yes" or "no": does the server keep its own copy
}

// OnFailure is what a sent copy's failure means for the caller.
type OnFailure string

// The two policies.
const (
	OnFailureWarn OnFailure = "warn"
	OnFailureFail OnFailure = "fail"
)

// Confirm is when a send asks first.
type Confirm string

// The confirmation modes.
const (
	ConfirmNever        Confirm = "never"
	ConfirmFirstContact Confirm = "first_contact"
	ConfirmExternal     Confirm = "external"
	ConfirmAlways       Confirm = "always"
)

// SendPolicy is checked before a key is reserved.
type SendPolicy struct {
	Allow, Deny   []string
	MaxRecipients int
	MaxPerMinute  int
	Confirm       Confirm
}

// OutboxPolicy is the configuration's [outbox] table.
type OutboxPolicy struct {
	ResendUnsubmitted string // "auto" or "ask"
	UndoWindow        time.Duration
	RetryRecordDays   int
}
