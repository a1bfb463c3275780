package mail

import (
	"errors"
	"fmt"
)

// Code is a stable, machine-readable name of an outcome or refusal.
type Code string

// Refusals before anything is stored.
const (
	CodeKeyInvalid           Code = "IDEMPOTENCY_KEY_INVALID"
	CodeKeyReused            Code = "IDEMPOTENCY_KEY_REUSED"
	CodeKeyConflict          Code = "IDEMPOTENCY_CONFLICT"
	CodeReplyBodyInvalid     Code = "REPLY_BODY_INVALID"
	CodeReplyTargetInvalid   Code = "MESSAGE_REPLY_TARGET_INVALID"
	CodeReplyMessageInvalid  Code = "REPLY_MESSAGE_INVALID"
	CodeEnvelopeInvalid      Code = "ENVELOPE_ADDRESS_INVALID"
	CodeRecipientsRequired   Code = "RECIPIENTS_REQUIRED"
	CodePolicyRefused        Code = "POLICY_REFUSED"
	CodeRateLimited          Code = "RATE_LIMITED"
	CodeConfirmationRequired Code = "CONFIRMATION_REQUIRED"
	CodeSentCopyUnresolved   Code = "SENT_COPY_UNRESOLVED"
)

// Outcomes of an attempt.
const (
	CodeCredentials       Code = "CREDENTIALS_UNAVAILABLE"
	CodeSMTPUnavailable   Code = "SMTP_UNAVAILABLE"
	CodeSMTPTLS           Code = "SMTP_TLS_FAILED"
	CodeSMTPAuth          Code = "SMTP_AUTH_FAILED"
	CodeSMTPRejected      Code = "SMTP_REJECTED"
	CodeSMTPInterrupted   Code = "SMTP_INTERRUPTED"
	CodeSMTPUncertain     Code = "SMTP_UNCERTAIN"
	CodeReplyUncertain    Code = "REPLY_UNCERTAIN"
	CodeOutboundUncertain Code = "OUTBOUND_UNCERTAIN"
	CodeSentCopyFailed    Code = "SENT_COPY_FAILED"
	CodeCancelled         Code = "CANCELLED" // stopped by a person or a shutdown before the handover
)

// Everything else a front end may show.
const (
	CodeNotFound        Code = "NOT_FOUND"
	CodeInvalid         Code = "INVALID"
	CodeConflict        Code = "CONFLICT"
	CodeConfigInvalid   Code = "CONFIG_INVALID"
	CodeConfigMissing   Code = "CONFIG_MISSING"
	CodeStore           Code = "STORE_UNAVAILABLE"
	CodeDiskFull        Code = "DISK_FULL"
	CodeIMAPUnavailable Code = "IMAP_UNAVAILABLE"
	CodeIMAPTLS         Code = "IMAP_TLS_FAILED"
	CodeIMAPAuth        Code = "IMAP_AUTH_FAILED"
	CodeIMAPRejected    Code = "IMAP_REJECTED"
	CodeUnsupported     Code = "UNSUPPORTED"
	CodeInternal        Code = "INTERNAL"
)

// Error is what a person or a script is told: a code for machines, one plain
// sentence, what to do next, and whether trying again can help. Text and Hint
// must already be free of secrets and of uncleaned text from outside.
type Error struct {
	Code      Code           `json:"code"`
	Text      string         `json:"message"`
	Hint      string         `json:"hint,omitempty"`
	Retryable bool           `json:"retryable"`
	Details   map[string]any `json:"details,omitempty"`
	Err       error          `json:"-"`
}

// Error returns the sentence, with the hint where there is one.
func (e *Error) Error() string {
	if e.Hint != "" {
		return e.Text + " " + e.Hint
	}
	return e.Text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is an *Error of the same code, so that
// errors.Is(err, mail.ErrCode(code)) works.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Text == ""
}

// ErrCode is a target for errors.Is that matches any Error of that code.
func ErrCode(c Code) error { return &Error{Code: c} }

// Errorf makes an Error whose sentence is formatted; %w keeps a cause.
func Errorf(code Code, hint, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Text: err.Error(), Hint: hint, Err: errors.Unwrap(err)}
}

// AsError finds the Error in err's chain, or wraps err as INTERNAL.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: CodeInternal, Text: err.Error(), Err: err}
}
