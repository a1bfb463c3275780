package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"skrzynka/mail"
)

// A token response, with what a test changes of it.
func response(change map[string]string) string {
	fields := map[string]string{"access_token": `"access-` + canary + `"`, "token_type": `"Bearer"`, "expires_in": "3600",
		"refresh_token": `"refresh-` + canary + `-new"`, "scope": fmt.Sprintf("%q", scopesOf(""))}
	var b []string
	for k, v := range change {
		fields[k] = v
	}
	for k, v := range fields {
		if v != "" {
			b = append(b, fmt.Sprintf("%q:%s", k, v))
		}
	}
	return "{" + strings.Join(b, ",") + "}"
}

// Every answer of the token endpoint, when signing in and when renewing. What
// is refused leaves the stored sign-in as it was.
func TestTokenResponses(t *testing.T) {
	elsewhere := startService(t)
	type row struct {
		status    int
		body      string
		says      string // "": accepted
		retryable bool
	}
	rows := map[string]row{
		"as it should be":       {200, response(nil), "", false},
		"scope left out":        {200, response(map[string]string{"scope": ""}), "", false},
		"scope empty":           {200, response(map[string]string{"scope": `""`}), "", false},
		"scope in other case":   {200, response(map[string]string{"scope": `"imap.accessasuser.all SMTP.SEND"`}), "", false},
		"scope missing":         {200, response(map[string]string{"scope": `"https://outlook.office.com/IMAP.AccessAsUser.All"`}), "missing: https://outlook.office.com/SMTP.Send", false},
		"scope no text":         {200, response(map[string]string{"scope": `["a"]`}), "missing", false},
		"token type mac":        {200, response(map[string]string{"token_type": `"mac"`}), "another kind", false},
		"token type missing":    {200, response(map[string]string{"token_type": ""}), "another kind", false},
		"type in lower case":    {200, response(map[string]string{"token_type": `"bearer"`}), "", false},
		"access token missing":  {200, response(map[string]string{"access_token": ""}), "cannot be understood", true},
		"token with a field":    {200, response(map[string]string{"access_token": `"a\u0001auth=Bearer b"`}), "no token that can be used", false},
		"token with a line end": {200, response(map[string]string{"access_token": `"a\r\nQUIT"`}), "no token that can be used", false},
		"token of 9 KiB":        {200, response(map[string]string{"access_token": `"` + strings.Repeat("x", 9<<10) + `"`}), "no token that can be used", false},
		"refresh with a space":  {200, response(map[string]string{"refresh_token": `"a b"`}), "no token that can be used", false},
		"oversize body":         {200, response(map[string]string{"x": `"` + strings.Repeat("x", 64<<10) + `"`}), "more than a sign-in service has to say", true},
		"a web page":            {200, "<html>" + canary, "cannot be understood", true},
		"redirect elsewhere":    {307, elsewhere.URL + "/token", "redirect", false},
		"moved elsewhere":       {302, elsewhere.URL + "/token", "redirect", false},
		"escapes":               {400, `{"error":"x","error_description":"\u001b]52;c;eA==\u0007no\nway\u009b2J"}`, "refused", false},
		"repeats what was sent": {400, `{"error":"x","error_description":"` + "client-" + canary + ` is wrong"}`, "refused. ", false},
		"error of another type": {400, `{"error":{"a":1}}`, "refused", false},
		"invalid_grant":         {400, `{"error":"invalid_grant","error_description":"revoked."}`, "no longer valid: revoked. Sign in again: skrzynka account login personal", false},
		"invalid_client":        {401, `{"error":"invalid_client"}`, "client_id", false},
		"interaction_required":  {400, `{"error":"interaction_required"}`, "Sign in again", false},
		"invalid_scope":         {400, `{"error":"invalid_scope"}`, "read and send mail", false},
		"error with status 200": {200, `{"error":"invalid_grant"}`, "Sign in again", false},
		"500":                   {500, `{"error":"invalid_grant","error_description":"` + canary + `"}`, "not able to answer now (500)", true},
		"503, a page":           {503, "<html>" + canary, "(503)", true},
		"429":                   {429, `{}`, "(429)", true},
		"busy":                  {400, `{"error":"temporarily_unavailable"}`, "not able", true},
	}
	for name, tc := range rows {
		t.Run(name, func(t *testing.T) {
			s := startService(t)
			s.set(always(tc.status, tc.body))
			ring := signedIn(t, s)
			before, acct := stored(t, ring), oauthAccount("microsoft")
			p := agrees(t)
			_, renewed := source(t, s, ring, t.TempDir()).Secret(t.Context(), acct)
			if tc.says != "" && stored(t, ring) != before {
				t.Errorf("renewing changed the stored sign-in to %q", stored(t, ring))
			}
			login := source(t, s, ring, t.TempDir()).Login(t.Context(), acct, LoginOptions{Open: p.open, Tell: p.tell})
			for how, err := range map[string]error{"renewing": renewed, "signing in": login} {
				if tc.says == "" {
					if err != nil || stored(t, ring) != "refresh-"+canary+"-new" {
						t.Errorf("%s: %v, stored %q", how, err, stored(t, ring))
					}
					continue
				}
				wantUnavailable(t, how, err, tc.says)
				if e := mail.AsError(err); e != nil && e.Retryable != tc.retryable {
					t.Errorf("%s: retryable is %v", how, e.Retryable)
				}
				if stored(t, ring) != before {
					t.Errorf("%s changed the stored sign-in", how)
				}
				for e := err; e != nil; e = errors.Unwrap(e) { // not in a cause either, which a log may show
					quiet(t, how, fmt.Sprintf("%v %+v %#v", e, e, e))
				}
			}
			quiet(t, name, p.told...)
		})
	}
	if elsewhere.asked() != 0 {
		t.Error("a redirect was followed: another host has seen the request")
	}
}

func TestNoRefreshTokenMeansNotSignedIn(t *testing.T) {
	s, p, ring := startService(t), agrees(t), &fakeRing{m: map[string]string{}}
	s.set(always(200, response(map[string]string{"refresh_token": ""})))
	err := source(t, s, ring, t.TempDir()).Login(t.Context(), oauthAccount("google"), LoginOptions{Open: p.open})
	wantUnavailable(t, "no refresh token", err, "renewed")
	if len(ring.m) != 0 {
		t.Error("something was stored")
	}
}

func TestSignInAsSomebodyElse(t *testing.T) {
	for name, tc := range map[string]struct {
		id   string
		says string
	}{
		"the address":         {idToken(map[string]string{"email": "ADA@example.org"}), ""},
		"an alias":            {idToken(map[string]string{"email": "a@alias.example"}), ""},
		"the user name":       {idToken(map[string]string{"preferred_username": "ada.work"}), ""},
		"no claim":            {idToken(map[string]string{"sub": "1"}), ""},
		"not to be read":      {"x.y.z", ""},
		"somebody else":       {idToken(map[string]string{"email": "eve@example.org"}), "signed in eve@example.org"},
		"else, with escapes":  {idToken(map[string]string{"preferred_username": "\x1b[2Jeve\n"}), "signed in"},
		"else, by both names": {idToken(map[string]string{"email": "eve@example.org", "preferred_username": "eve"}), "eve@example.org"},
	} {
		s, p, ring := startService(t), agrees(t), &fakeRing{m: map[string]string{}}
		s.set(always(200, response(map[string]string{"id_token": fmt.Sprintf("%q", tc.id)})))
		acct := oauthAccount("microsoft")
		acct.Aliases, acct.IMAP.Username = []string{"a@alias.example"}, "ada.work"
		err := source(t, s, ring, t.TempDir()).Login(t.Context(), acct, LoginOptions{Open: p.open})
		if tc.says == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		wantUnavailable(t, name, err, tc.says)
		quiet(t, name, err.Error())
		if len(ring.m) != 0 {
			t.Errorf("%s: it was stored", name)
		}
	}
}

func TestServiceThatCannotBeReached(t *testing.T) {
	s := startService(t)
	ring, acct := signedIn(t, s), oauthAccount("google")
	o := source(t, s, ring, t.TempDir())
	o.transport = oauthTransport(nil)
	err := errOf(o.Secret(t.Context(), acct))
	wantUnavailable(t, "unknown root", err, "not trusted")
	o = source(t, s, ring, t.TempDir())
	o.providers = at("http" + strings.TrimPrefix(s.URL, "https"))
	wantUnavailable(t, "plain text", errOf(o.Secret(t.Context(), acct)), "")
	gone := httptest.NewTLSServer(nil)
	gone.Close()
	o.providers = at(gone.URL)
	err = errOf(o.Secret(t.Context(), acct))
	wantUnavailable(t, "connection refused", err, "could not be reached")
	if !mail.AsError(err).Retryable || s.asked() != 0 || stored(t, ring) != s.refresh() {
		t.Errorf("%v, %d requests, stored %q", err, s.asked(), stored(t, ring))
	}
}

func TestTokenIsKeptUntilShortlyBeforeItsEnd(t *testing.T) {
	s := startService(t)
	o, acct := source(t, s, signedIn(t, s), t.TempDir()), oauthAccount("google")
	clock := o.clock.(*tunable)
	for _, tc := range []struct {
		name string
		wait time.Duration
		want int
	}{
		{"first", 0, 1}, {"at once", 0, 1}, {"59 minutes", 59*time.Minute - 1, 1}, {"a minute before its end", 1, 2}, {"again", 0, 2}, {"a day", 24 * time.Hour, 3},
	} {
		clock.add(tc.wait)
		sec, err := o.Secret(t.Context(), acct)
		if err != nil || s.asked() != tc.want || sec.Reveal() != fmt.Sprintf("access-%s-%d", canary, tc.want) {
			t.Errorf("%s: %q, %v, %d requests", tc.name, sec.Reveal(), err, s.asked())
		}
	}
	for name, tc := range map[string]struct {
		expires string
		fresh   time.Duration
	}{"not said": {"", 9 * time.Minute}, "zero": {"0", 9 * time.Minute}, "below zero": {"-5", 9 * time.Minute}, "a year": {"31536000", 24*time.Hour - time.Minute}} {
		s.set(always(200, response(map[string]string{"expires_in": tc.expires, "refresh_token": ""})))
		o := source(t, s, signedIn(t, s), t.TempDir())
		before := s.asked()
		for _, wait := range []time.Duration{0, tc.fresh - 1, 1} {
			o.clock.(*tunable).add(wait)
			if _, err := o.Secret(t.Context(), acct); err != nil {
				t.Fatal(err)
			}
		}
		if s.asked() != before+2 {
			t.Errorf("%s: %d requests, want one at first and one at the end", name, s.asked()-before)
		}
	}
}

// The refused token is not given out again; another one is.
func TestRefusedTokenIsRenewed(t *testing.T) {
	s := startService(t)
	o, acct := source(t, s, signedIn(t, s), t.TempDir()), oauthAccount("google")
	src := &Sources{ByMethod: map[mail.AuthMethod]Source{mail.AuthOAuth2: o}}
	first, err := Resolve(t.Context(), src, acct, mail.Server{})
	if err != nil {
		t.Fatal(err)
	}
	first.Refused()
	second, err := Resolve(t.Context(), src, acct, mail.Server{})
	if err != nil || second.Secret == first.Secret || s.asked() != 2 {
		t.Errorf("after the refusal: the same token %v, %v, %d requests", second.Secret == first.Secret, err, s.asked())
	}
	first.Refused() // an old one: what is in use stays
	if third, _ := Resolve(t.Context(), src, acct, mail.Server{}); third.Secret != second.Secret || s.asked() != 2 {
		t.Errorf("an old refusal made %d requests", s.asked())
	}
	Credentials{}.Refused() // a password: nothing happens
	src.Invalidate(&mail.Account{Auth: mail.AuthPassword}, Secret{})
	quiet(t, "credentials", fmt.Sprintf("%v %+v", first, first))
}

// A token that replaces the refresh token is given out only when the new
// refresh token is stored.
func TestRotatedTokenIsKeptBeforeUse(t *testing.T) {
	s := startService(t)
	ring, acct := &failingRing{fakeRing: signedIn(t, s)}, oauthAccount("google")
	o := source(t, s, ring, t.TempDir())
	ring.fail(true)
	for range 3 {
		sec, err := o.Secret(t.Context(), acct)
		if code(err) != string(mail.CodeCredentials) || !mail.AsError(err).Retryable || !sec.Empty() {
			t.Errorf("a token was given out although its successor is not stored: %q, %v", sec.Reveal(), err)
		}
		quiet(t, "keyring", fmt.Sprint(err))
	}
	if s.asked() != 1 {
		t.Errorf("%d renewals: the old refresh token was used again", s.asked())
	}
	ring.fail(false)
	sec, err := o.Secret(t.Context(), acct)
	if err != nil || sec.Reveal() != "access-"+canary+"-1" || s.asked() != 1 || stored(t, ring) != s.refresh() {
		t.Errorf("token %q, %v, %d requests, stored %q", sec.Reveal(), err, s.asked(), stored(t, ring))
	}
	// A sign-in by another process in between makes what is held worthless.
	o.clock.(*tunable).add(2 * time.Hour)
	ring.fail(true)
	_, _ = o.Secret(t.Context(), acct)
	ring.fail(false)
	s.mu.Lock()
	s.n++
	s.mu.Unlock()
	if err := writeLong(ring, "personal", s.refresh()); err != nil {
		t.Fatal(err)
	}
	if sec, err := o.Secret(t.Context(), acct); err != nil || sec.Reveal() != "access-"+canary+"-3" || stored(t, ring) != s.refresh() {
		t.Errorf("after another sign-in: %q, %v, stored %q", sec.Reveal(), err, stored(t, ring))
	}
}

type failingRing struct {
	*fakeRing
	mu  sync.Mutex
	bad bool
}

func (f *failingRing) fail(bad bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bad = bad
}

func (f *failingRing) Set(service, user, v string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bad {
		return errors.New("locked: " + v)
	}
	return f.fakeRing.Set(service, user, v)
}

// Whoever waits may go away; what the service has exchanged is stored all the
// same.
func TestInterruptedRenewalIsEnded(t *testing.T) {
	s := startService(t)
	ring, acct := signedIn(t, s), oauthAccount("google")
	o := source(t, s, ring, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	s.set(func(url.Values) (int, string) { cancel(); return 0, "" })
	if _, err := o.Secret(ctx, acct); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	s.set(nil)
	sec, err := o.Secret(t.Context(), acct) // waits its turn
	if err != nil || sec.Reveal() != "access-"+canary+"-1" || s.asked() != 1 || stored(t, ring) != s.refresh() {
		t.Errorf("token %q, %v, %d requests, stored %q", sec.Reveal(), err, s.asked(), stored(t, ring))
	}
}

func TestOneRenewalForManyCallers(t *testing.T) {
	s := startService(t)
	o, acct := source(t, s, signedIn(t, s), t.TempDir()), oauthAccount("google")
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			if sec, err := o.Secret(t.Context(), acct); err != nil || sec.Reveal() != "access-"+canary+"-1" {
				t.Errorf("token %q, %v", sec.Reveal(), err)
			}
		})
	}
	wg.Wait()
	if s.asked() != 1 {
		t.Errorf("%d renewals", s.asked())
	}
}

func TestNobodySignedIn(t *testing.T) {
	s := startService(t)
	ring, acct := &fakeRing{m: map[string]string{}}, oauthAccount("google")
	o := source(t, s, ring, t.TempDir())
	wantUnavailable(t, "never", errOf(o.Secret(t.Context(), acct)), "skrzynka account login personal")
	p := agrees(t)
	if err := o.Login(t.Context(), acct, LoginOptions{Open: p.open}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := o.Forget(t.Context(), acct); err != nil {
			t.Error(err)
		}
	}
	wantUnavailable(t, "forgotten", errOf(o.Secret(t.Context(), acct)), "skrzynka account login personal")
	if len(ring.m) != 0 {
		t.Errorf("%d entries are left", len(ring.m))
	}
	// The password of an account of the same name is another entry.
	ring.m[Service+"/personal"] = "password"
	wantUnavailable(t, "a password", errOf(o.Secret(t.Context(), acct)), "account login")
	wantUnavailable(t, "no folder for locks", errOf(source(t, s, ring, "/dev/null/x").Secret(t.Context(), acct)), "file locks")
}
