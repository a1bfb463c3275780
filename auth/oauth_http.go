package auth

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"skrzynka/mail"
	"skrzynka/mail/safe"
)

// Bounds of one request to a sign-in service.
const (
	oauthRequestLimit = 30 * time.Second
	oauthMaxBody      = 64 << 10
	oauthMaxSaid      = 200 // cells of a service's own words that are shown
)

var (
	errOversized = errors.New("the answer is too long")
	errNotHTTPS  = errors.New("not an https address")
)

// oauthTransport dials the sign-in services: TLS 1.2 or later, verified, one
// request a connection, no proxy.
func oauthTransport(roots *x509.CertPool) *http.Transport {
	return &http.Transport{
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  20 * time.Second,
		MaxResponseHeaderBytes: oauthMaxBody,
		DisableKeepAlives:      true,
	}
}

// withClient returns ctx with the HTTP client that package oauth2 is to use. A
// redirect is not followed: the body holds secrets, and none of the services
// answers with one.
func (o *OAuth2) withClient(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, &http.Client{
		Transport:     &boundedTransport{ctx: ctx, next: o.transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
}

// boundedTransport reads answers whole, within bounds of size and time, so that
// nothing is left open whatever its user does with them.
type boundedTransport struct {
	ctx  context.Context // ends every request; some come with no context of their own
	next http.RoundTripper
}

// RoundTrip sends one request.
func (b *boundedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != "https" {
		return nil, errNotHTTPS
	}
	ctx, cancel := context.WithTimeout(req.Context(), oauthRequestLimit)
	defer cancel()
	defer context.AfterFunc(b.ctx, cancel)()
	res, err := b.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, oauthMaxBody+1))
	if err != nil {
		return nil, err
	}
	if len(body) > oauthMaxBody {
		return nil, errOversized
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// explain makes an error of ours out of one of a request to the sign-in
// service of acct. Nothing of the original is kept: its text may hold what was
// sent or what was answered. secrets are what the service's own words must not
// repeat.
func explain(ctx context.Context, acct *mail.Account, p provider, err error, secrets ...string) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Canceled
	}
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		return explainRefusal(acct, p, refused, secrets)
	}
	host := hostOf(p.endpoint.TokenURL)
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var network net.Error
	switch {
	case errors.As(err, &unknown), errors.As(err, &name), errors.As(err, &invalid):
		return unavailable("Check this machine's clock, and whether something inspects its connections.",
			"The certificate of %s is not trusted.", host)
	case errors.Is(err, errOversized):
		return passing("%s answered with more than a sign-in service has to say.", host)
	case errors.As(err, &network), errors.Is(err, context.DeadlineExceeded), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return passing("%s could not be reached for the sign-in of account %q.", host, acct.Name)
	}
	return passing("%s gave an answer that cannot be understood.", host)
}

// passing is an error that may be gone when it is tried again; the stored
// sign-in is kept.
func passing(format string, args ...any) *mail.Error {
	e := unavailable("Try again in a while; the stored sign-in is kept.", format, args...)
	e.Retryable = true
	return e
}

// explainRefusal reads an error response (RFC 6749 section 5.2).
func explainRefusal(acct *mail.Account, p provider, e *oauth2.RetrieveError, secrets []string) *mail.Error {
	status := 0
	if e.Response != nil {
		status = e.Response.StatusCode
	}
	host, said := hostOf(p.endpoint.TokenURL), serviceWords(e.ErrorCode, e.ErrorDescription, secrets)
	switch {
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return passing("%s is not able to answer now (%d).", host, status)
	case status >= 300 && status < 400:
		return unavailable("Check the network: something may stand in between.", "%s answered with a redirect, which was not followed.", host)
	}
	switch e.ErrorCode {
	case "expired_token":
		return late(acct)
	case "invalid_grant", "interaction_required", "consent_required", "login_required":
		return unavailable(signInAgain(acct), "The sign-in of account %q is no longer valid%s.", acct.Name, said)
	case "access_denied", "authorization_declined":
		return unavailable(signInAgain(acct), "The sign-in was refused%s.", said)
	case "invalid_client", "unauthorized_client":
		return unavailable("Correct client_id and client_secret in the account's auth.oauth2 table; the client must be a desktop application.",
			"%s does not accept the client of account %q%s.", p.name, acct.Name, said)
	case "invalid_scope":
		return unavailable("Give the registered client the right to read and send mail.", "%s does not let this client read and send mail%s.", p.name, said)
	case "temporarily_unavailable", "server_error", "slow_down":
		return passing("%s is not able to answer now%s.", host, said)
	}
	return unavailable(signInAgain(acct), "%s refused%s.", host, said)
}

func signInAgain(acct *mail.Account) string {
	return "Sign in again: skrzynka account login " + acct.Name
}

// serviceWords are a service's error code and description as the end of a
// sentence: cleaned, clipped, and nothing when they repeat a secret.
func serviceWords(code, description string, secrets []string) string {
	said := strings.TrimSpace(code)
	if description != "" {
		said = strings.TrimSpace(description)
	}
	for _, s := range secrets {
		if s != "" && (strings.Contains(description, s) || strings.Contains(code, s)) {
			return ""
		}
	}
	if t := safe.Line(said).Clip(oauthMaxSaid); !t.Empty() {
		return ": " + strings.TrimRight(t.String(), ". ")
	}
	return ""
}
