package auth

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"skrzynka/mail"
	"skrzynka/mail/safe"
)

const (
	loginLimit  = 5 * time.Minute  // for the browser
	deviceLimit = 15 * time.Minute // for a device code, when its answer names none or a later end
	maxPasted   = 8 << 10
)

// LoginOptions say how a person signs in.
type LoginOptions struct {
	// Device asks for a code that is typed in on another device (RFC 8628).
	Device bool
	// Paste is where one line with the address the browser ended on is read
	// from, for a browser on another machine; no browser is opened then.
	Paste io.Reader
	// Open shows an address in the system's browser; nil when there is none.
	Open func(url string) error
	// Tell shows a person one line; it is cleaned.
	Tell func(line string)
}

// Login signs a person in to acct and keeps the refresh token in the keyring.
// Errors are *mail.Error, or the context's. Neither the code nor a token is in
// any error or line told.
func (o *OAuth2) Login(ctx context.Context, acct *mail.Account, opts LoginOptions) error {
	p, cfg, err := o.registration(acct)
	if err != nil {
		return err
	}
	if opts.Device && p.noDevice != "" {
		return mail.Errorf(mail.CodeUnsupported, "Use --paste with a browser on another machine, or an app password.", "%s", p.noDevice)
	}
	// Better to know before a person has done their part.
	if err := o.ring.Ready(ctx); err != nil {
		return tokenRingError(err)
	}
	tell := func(line string) {
		if opts.Tell != nil {
			opts.Tell(safe.Line(line).String())
		}
	}
	tell(p.note)
	var t *oauth2.Token
	if opts.Device {
		t, err = o.byDevice(ctx, acct, p, cfg, tell)
	} else {
		t, err = o.byBrowser(ctx, acct, p, cfg, opts, tell)
	}
	if err != nil {
		return err
	}
	got, err := inspect(acct, p, t)
	if err != nil {
		return err
	}
	if err := rightPerson(acct, p, t); err != nil {
		return err
	}
	unlock, err := o.lock(ctx, acct)
	if err != nil {
		return err
	}
	defer unlock()
	if err := o.ring.storeToken(ctx, acct, got.refresh); err != nil {
		return err
	}
	o.grant(acct.Name).set(got.access, o.now().Add(got.life))
	return nil
}

// byBrowser runs the authorization code flow with PKCE (RFC 7636) and a
// redirect to this machine (RFC 8252 section 7.3).
func (o *OAuth2) byBrowser(ctx context.Context, acct *mail.Account, p provider, cfg *oauth2.Config, opts LoginOptions, tell func(string)) (*oauth2.Token, error) {
	wait, cancel := context.WithTimeout(ctx, o.loginLimit)
	defer cancel()
	state, verifier := oauth2.GenerateVerifier(), oauth2.GenerateVerifier() // 256 random bits each
	r, err := receive(acct, p, state)
	if err != nil {
		return nil, err
	}
	defer r.close()
	cfg.RedirectURL = r.uri
	params := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("login_hint", acct.Email)}
	for k, v := range p.authorize {
		params = append(params, oauth2.SetAuthURLParam(k, v))
	}
	show(cfg.AuthCodeURL(state, params...), p, opts, tell)
	var a answer
	select {
	case a = <-r.answers:
	case a = <-pasted(opts.Paste, r):
	case <-wait.Done():
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, late(acct)
	}
	r.close() // one answer, and nothing listens any more
	if a.err != nil {
		return nil, a.err
	}
	t, err := cfg.Exchange(o.withClient(ctx), a.code, oauth2.VerifierOption(verifier))
	if err != nil {
		return nil, explain(ctx, acct, p, err, a.code, verifier, cfg.ClientSecret)
	}
	return t, nil
}

func show(url string, p provider, opts LoginOptions, tell func(string)) {
	if opts.Paste == nil && opts.Open != nil {
		if opts.Open(url) == nil {
			tell("Sign in to " + p.name + " in the browser. If it did not open, open this address on this machine:")
			tell(url)
			return
		}
	}
	if opts.Paste != nil {
		tell("Open this address in a browser on any machine and sign in to " + p.name + ":")
		tell(url)
		tell("At the end the browser cannot show a page: copy the address it is on, paste it here, and press Enter.")
		return
	}
	tell("Open this address in a browser on this machine and sign in to " + p.name + " (for another machine's browser: --paste):")
	tell(url)
}

func late(acct *mail.Account) *mail.Error {
	return unavailable("Try again: skrzynka account login "+acct.Name, "Nobody signed in within the time limit.")
}

// pasted reads one address from in, nil for none, and checks it like a request.
func pasted(in io.Reader, r *receiver) <-chan answer {
	if in == nil {
		return nil
	}
	out := make(chan answer, 1)
	go func() {
		lines := bufio.NewScanner(io.LimitReader(in, maxPasted))
		lines.Buffer(nil, maxPasted+1)
		for lines.Scan() {
			if line := strings.TrimSpace(lines.Text()); line != "" {
				out <- r.pasted(line)
				return
			}
		}
		out <- answer{err: mail.Errorf(mail.CodeInvalid, "Paste the whole address the browser is on, in one line.", "No address was pasted.")}
	}()
	return out
}

// byDevice runs the device authorization flow (RFC 8628).
func (o *OAuth2) byDevice(ctx context.Context, acct *mail.Account, p provider, cfg *oauth2.Config, tell func(string)) (*oauth2.Token, error) {
	client := o.withClient(ctx)
	d, err := cfg.DeviceAuth(client)
	if err != nil {
		return nil, explain(ctx, acct, p, err, cfg.ClientSecret)
	}
	if d.DeviceCode == "" || d.UserCode == "" || !strings.HasPrefix(d.VerificationURI, "https://") {
		return nil, passing("%s gave an answer that cannot be understood.", hostOf(p.endpoint.DeviceAuthURL))
	}
	if last := time.Now().Add(deviceLimit); d.Expiry.IsZero() || d.Expiry.After(last) {
		d.Expiry = last
	}
	d.Interval = min(d.Interval, 60)
	tell("Open " + safe.Line(d.VerificationURI).Clip(200).String() + " on any device and enter the code " + safe.Line(d.UserCode).Clip(40).String())
	tell("Enter it only if you have just started this yourself.")
	for {
		t, err := cfg.DeviceAccessToken(client, d)
		switch {
		case err == nil:
			return t, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, context.DeadlineExceeded) && !time.Now().Before(d.Expiry):
			return nil, late(acct)
		}
		// A service that is away for a moment has not refused anything; it is
		// asked less often (RFC 8628 section 3.5).
		e := mail.AsError(explain(ctx, acct, p, err, d.DeviceCode, cfg.ClientSecret))
		if !e.Retryable {
			return nil, e
		}
		d.Interval = min(max(d.Interval, 5)*2, 60)
	}
}
