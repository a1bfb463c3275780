package mirror

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"

	"github.com/emersion/go-imap/v2"

	"skrzynka/mail"
	"skrzynka/mail/guard"
	"skrzynka/mail/safe"
)

// Causes a caller tells apart with errors.Is. Each comes inside a *mail.Error.
var (
	// ErrUIDValidityChanged: the folder's UIDVALIDITY is not the one the call
	// relied on. Nothing was read or changed.
	ErrUIDValidityChanged = errors.New("the folder was renumbered")
	// ErrDecode: an answer could not be understood and the session is dead.
	// One message may be the reason; see FetchResilient.
	ErrDecode = errors.New("the answer could not be understood")
	// ErrNoIdle: the server has no IDLE; poll instead.
	ErrNoIdle = errors.New("no IDLE")
	// ErrResumed: the machine slept; the connection is not to be trusted.
	ErrResumed = errors.New("the machine slept")
	// ErrDead: the session had ended before the call.
	ErrDead = errors.New("the session has ended")
)

// ResponseCode returns the code of a NO or BAD answer in err's chain, such as
// "NONEXISTENT" or "OVERQUOTA" (RFC 5530), or "".
func ResponseCode(err error) string {
	var e *imap.Error
	if errors.As(err, &e) {
		return string(e.Code)
	}
	return ""
}

// Refused reports whether err is the server's NO or BAD to a command: the
// session lives on, unless the command was APPEND.
func Refused(err error) bool {
	var e *imap.Error
	return errors.As(err, &e)
}

// refusal turns a NO or BAD into what a person is told.
func refusal(what string, e *imap.Error) *mail.Error {
	out := &mail.Error{Code: mail.CodeIMAPRejected, Err: e,
		Text: fmt.Sprintf("The mail server refused %s%s.", what, words(e.Text))}
	switch e.Code {
	case imap.ResponseCodeNonExistent, imap.ResponseCodeTryCreate:
		out.Hint = "The folder is not there: create it, or choose another one."
	case imap.ResponseCodeOverQuota:
		out.Hint = "The mailbox is full: delete something or ask the provider for room."
	case imap.ResponseCodeTooBig, imap.ResponseCodeLimit:
		out.Hint = "It is larger than this server takes."
	case imap.ResponseCodeNoPerm:
		out.Hint = "This account may not do that in this folder."
	case imap.ResponseCodeUnavailable, imap.ResponseCodeInUse, imap.ResponseCodeServerBug:
		out.Hint, out.Retryable = "It may work later.", true
	}
	return out
}

// words quotes what the server said, cleaned, or returns "".
func words(s string) string {
	if t := safe.Line(s).String(); t != "" {
		return ": “" + t + "”"
	}
	return ""
}

// lost says how a connection to server ended. err is what broke it and bye the
// server's own last word.
func lost(server, what string, err error, bye string) *mail.Error {
	out := &mail.Error{Code: mail.CodeIMAPUnavailable, Err: err, Retryable: true,
		Hint: "What is stored can be read; the next pass tries again."}
	switch guard.KindOf(err) {
	case guard.KindTimeout:
		out.Text = fmt.Sprintf("%s did not answer in time while %s.", server, what)
	case guard.KindOversized:
		out.Text = fmt.Sprintf("%s sent far more than was asked for while %s, and was cut off.", server, what)
	case guard.KindCancelled:
		out.Text = fmt.Sprintf("%s was stopped.", upperFirst(what))
	case guard.KindUnreachable:
		out.Text, out.Hint = fmt.Sprintf("%s cannot be reached.", server), "Check the network and the host name and port of this account."
	default:
		if errors.Is(err, ErrDecode) {
			out.Text = fmt.Sprintf("%s sent an answer that could not be understood while %s.", server, what)
			break
		}
		out.Text = fmt.Sprintf("%s closed the connection while %s%s.", server, what, words(bye))
	}
	return out
}

func upperFirst(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}

// tlsError says why TLS did not stand.
func tlsError(server, why string, err error) *mail.Error {
	out := &mail.Error{Code: mail.CodeIMAPTLS, Err: err,
		Text: fmt.Sprintf("No safe connection to %s: %s. No password was sent.", server, why),
		Hint: "Check host, port and security of this account; on a network you do not trust, change the network."}
	return out
}

// handshakeError sorts a failed TLS handshake: what the network did to it is a
// matter of reachability, everything else of trust.
func handshakeError(ctx context.Context, server string, err error) *mail.Error {
	var cert *tls.CertificateVerificationError
	var host x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case ctx.Err() != nil:
		return lost(server, "connecting", &guard.Error{Op: "dial", Kind: guard.KindCancelled, Err: ctx.Err()}, "")
	case errors.As(err, &host):
		return tlsError(server, "its certificate is for another name", err)
	case errors.As(err, &unknown):
		return tlsError(server, "its certificate is signed by an authority this machine does not know", err)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return tlsError(server, "its certificate has expired or is not valid yet", err)
	case errors.As(err, &cert):
		return tlsError(server, "its certificate is not trusted", err)
	case guard.KindOf(err) == guard.KindTimeout, hungUp(err):
		return lost(server, "agreeing on TLS", err, "")
	}
	return tlsError(server, "the TLS handshake failed", err)
}

// hungUp reports whether the connection itself ended, which a TLS alert is not.
func hungUp(err error) bool {
	var g *guard.Error
	return errors.As(err, &g) && g.Kind == guard.KindLost || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
