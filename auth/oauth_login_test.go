package auth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"skrzynka/mail"
)

func TestProvidersAskForMailAndNothingElse(t *testing.T) {
	for name, want := range map[string]string{
		"google":    "https://mail.google.com/",
		"microsoft": "https://outlook.office.com/IMAP.AccessAsUser.All https://outlook.office.com/SMTP.Send offline_access",
	} {
		p := providers[name]
		if got := strings.Join(p.scopes, " "); got != want {
			t.Errorf("%s asks for %q, want %q", name, got, want)
		}
		for _, e := range []string{p.endpoint.AuthURL, p.endpoint.TokenURL, p.endpoint.DeviceAuthURL} {
			if e != "" && !strings.HasPrefix(e, "https://") {
				t.Errorf("%s: %s is not https", name, e)
			}
		}
		if (p.noDevice == "") != (p.endpoint.DeviceAuthURL != "") || p.note == "" {
			t.Errorf("%s: device code and its reason do not agree, or there is no note", name)
		}
	}
}

func TestSignInByBrowser(t *testing.T) {
	for name, want := range map[string]url.Values{
		"google":    {"scope": {"https://mail.google.com/"}, "access_type": {"offline"}, "prompt": {"consent"}},
		"microsoft": {"scope": {"https://outlook.office.com/IMAP.AccessAsUser.All https://outlook.office.com/SMTP.Send offline_access"}, "prompt": {"select_account"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := startService(t), agrees(t)
			ring := &fakeRing{m: map[string]string{}}
			o, acct := source(t, s, ring, t.TempDir()), oauthAccount(name)
			if err := o.Login(t.Context(), acct, LoginOptions{Open: p.open, Tell: p.tell}); err != nil {
				t.Fatal(err)
			}
			want.Set("response_type", "code")
			want.Set("client_id", "the-client")
			want.Set("login_hint", "ada@example.org")
			want.Set("code_challenge_method", "S256")
			for k := range want {
				if p.auth.Get(k) != want.Get(k) {
					t.Errorf("%s is %q, want %q", k, p.auth.Get(k), want.Get(k))
				}
			}
			form := s.forms[0]
			if form.Get("grant_type") != "authorization_code" || form.Get("code") != "code-"+canary || form.Get("client_id") != "the-client" ||
				form.Get("client_secret") != "client-"+canary || form.Get("redirect_uri") != p.auth.Get("redirect_uri") {
				t.Errorf("the code was exchanged with %v", form)
			}
			if v := form.Get("code_verifier"); len(v) < 43 || challenge(v) != p.auth.Get("code_challenge") {
				t.Errorf("the verifier %q does not fit the challenge %q", v, p.auth.Get("code_challenge"))
			}
			if len(p.auth.Get("state")) < 43 { // 256 bits in base64
				t.Errorf("the state %q is short", p.auth.Get("state"))
			}
			checkRedirect(t, name, p.auth.Get("redirect_uri"))
			if len(p.pages) != 1 || p.pages[0] != "200 "+pageDone {
				t.Errorf("the browser was shown %q", p.pages)
			}
			if p.fetch(get(t, p.auth.Get("redirect_uri"))); p.pages[1] != "no answer" {
				t.Errorf("something still listens and says %q", p.pages[1])
			}
			if got := stored(t, ring); got != s.refresh() {
				t.Errorf("the keyring has %q", got)
			}
			if sec, err := o.Secret(t.Context(), acct); err != nil || sec.Reveal() != "access-"+canary+"-1" || s.asked() != 1 {
				t.Errorf("token %q, %v, after %d requests", sec.Reveal(), err, s.asked())
			}
			quiet(t, name, p.told...)
			if !slices.ContainsFunc(p.told, func(l string) bool { return strings.HasPrefix(l, s.URL+"/authorize?") }) {
				t.Errorf("the address was not told: %q", p.told)
			}
		})
	}
}

// checkRedirect: on the loopback interface, with a random path where the
// service allows for one.
func checkRedirect(t *testing.T, name, uri string) {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "http" || u.Port() == "" {
		t.Fatalf("redirect URI %q, %v", uri, err)
	}
	switch name {
	case "google":
		if u.Hostname() != "127.0.0.1" || len(u.Path) < 44 {
			t.Errorf("redirect URI %q", uri)
		}
	case "microsoft":
		if u.Hostname() != "localhost" || u.Path != "" {
			t.Errorf("redirect URI %q: the path is compared with the registration", uri)
		}
	}
}

func TestSignInWithoutBrowserTellsTheAddress(t *testing.T) {
	for name, open := range map[string]func(string) error{"none": nil, "it fails": func(string) error { return errors.New("no") }} {
		s, p := startService(t), agrees(t)
		o := source(t, s, &fakeRing{m: map[string]string{}}, t.TempDir())
		tell := func(line string) {
			p.tell(line)
			if strings.HasPrefix(line, "https://") { // the person copies it
				_ = p.open(line)
			}
		}
		if err := o.Login(t.Context(), oauthAccount("google"), LoginOptions{Open: open, Tell: tell}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What comes to the redirect URI instead of the service's answer.
func TestAttacksOnTheRedirect(t *testing.T) {
	for name, tc := range map[string]struct {
		query func(state string) string
		says  string
	}{
		"wrong state":        {func(string) string { return "state=x&code=" + canary }, "does not belong"},
		"no state":           {func(string) string { return "code=" + canary }, "does not belong"},
		"state twice":        {func(s string) string { return "state=" + s + "&state=" + s + "&code=" + canary }, "does not belong"},
		"state of a prefix":  {func(s string) string { return "state=" + s[:20] + "&code=" + canary }, "does not belong"},
		"broken query":       {func(s string) string { return "state=" + s + "&code=" + canary + ";%zz" }, "does not belong"},
		"another issuer":     {func(s string) string { return "state=" + s + "&code=" + canary + "&iss=https://evil.example" }, "another service"},
		"empty issuer":       {func(s string) string { return "state=" + s + "&code=" + canary + "&iss=" }, "another service"},
		"no code":            {func(s string) string { return "state=" + s }, "without a code"},
		"code twice":         {func(s string) string { return "state=" + s + "&code=" + canary + "&code=b" }, "without a code"},
		"error":              {func(s string) string { return "state=" + s + "&error=access_denied" }, "access_denied"},
		"error with escapes": {func(s string) string { return "state=" + s + "&error=a&error_description=%1b%5d0%3bx%07no%0aline" }, "did not let you sign in"},
		"error repeats code": {func(s string) string {
			return "state=" + s + "&error=a&error_description=your+" + canary + "&code=" + canary
		}, "did not let you sign in."},
		"error that floods": {func(s string) string { return "state=" + s + "&error=" + strings.Repeat("x", 9000) }, "did not let you sign in"},
	} {
		t.Run(name, func(t *testing.T) {
			s := startService(t)
			ring := &fakeRing{m: map[string]string{}}
			p := &person{t: t, visit: func(redirect, state string) []*http.Request {
				return []*http.Request{get(t, redirect+"?"+tc.query(state))}
			}}
			err := source(t, s, ring, t.TempDir()).Login(t.Context(), oauthAccount("google"), LoginOptions{Open: p.open, Tell: p.tell})
			wantUnavailable(t, name, err, tc.says)
			if err != nil && (len(err.Error()) > 500 || strings.Contains(err.Error(), "\n")) {
				t.Errorf("the sentence is %q", err)
			}
			quiet(t, name, append(p.told, err.Error())...)
			if s.asked() != 0 || len(ring.m) != 0 {
				t.Errorf("%d requests for a token, %d entries stored", s.asked(), len(ring.m))
			}
			if len(p.pages) != 1 || p.pages[0] != "400 "+pageWrong {
				t.Errorf("the browser was shown %q", p.pages)
			}
		})
	}
}

func TestIssuerIsCheckedWhereItIsNamed(t *testing.T) {
	for iss, want := range map[string]bool{
		"https://accounts.google.com": true, "https://accounts.google.com/": false, "https://accounts.google.com.evil.example": false,
		"http://accounts.google.com": false,
	} {
		if got := providers["google"].issuedBy(iss); got != want {
			t.Errorf("google %s: %v", iss, got)
		}
	}
	for iss, want := range map[string]bool{
		"https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0": true, "https://login.microsoftonline.com//v2.0": false,
		"https://login.microsoftonline.com/a/b/v2.0": false, "https://evil.example/a/v2.0": false,
	} {
		if got := providers["microsoft"].issuedBy(iss); got != want {
			t.Errorf("microsoft %s: %v", iss, got)
		}
	}
}

// Only the redirect URI is answered to, and only once.
func TestOtherRequestsDoNotCount(t *testing.T) {
	s := startService(t)
	good := func(redirect, state string) string { return redirect + "?state=" + state + "&code=code-" + canary }
	p := &person{t: t, visit: func(redirect, state string) []*http.Request {
		u, _ := url.Parse(redirect)
		wrongHost, post := get(t, good(redirect, state)), get(t, good(redirect, state))
		wrongHost.Host = "rebound.example:" + u.Port()
		post.Method = http.MethodPost
		return []*http.Request{get(t, "http://"+u.Host+"/favicon.ico"), get(t, "http://"+u.Host+"/?state="+state+"&code=evil"),
			wrongHost, post, get(t, good(redirect, state)), get(t, good(redirect, state))}
	}}
	o := source(t, s, &fakeRing{m: map[string]string{}}, t.TempDir())
	if err := o.Login(t.Context(), oauthAccount("google"), LoginOptions{Open: p.open, Tell: p.tell}); err != nil {
		t.Fatal(err)
	}
	want := []string{"404 " + pageWrong, "404 " + pageWrong, "404 " + pageWrong, "404 " + pageWrong, "200 " + pageDone, "410 " + pageWrong}
	if !slices.Equal(p.pages, want) {
		t.Errorf("the pages were %q", p.pages)
	}
	if s.asked() != 1 || s.forms[0].Get("code") != "code-"+canary {
		t.Errorf("exchanged: %v", s.forms)
	}
}

// pasting is a person whose browser is elsewhere.
func pasting(t *testing.T, what func(redirect, state string) string) (LoginOptions, *person) {
	p := &person{t: t, visit: func(string, string) []*http.Request { return nil }}
	in := &lateInput{ready: make(chan string, 1)}
	return LoginOptions{Paste: in, Open: func(string) error { t.Error("a browser was opened here"); return nil }, Tell: func(line string) {
		p.tell(line)
		if strings.HasPrefix(line, "https://") {
			_ = p.open(line)
			in.ready <- what(p.auth.Get("redirect_uri"), p.auth.Get("state"))
			close(in.ready)
		}
	}}, p
}

// lateInput has nothing until the person has seen the address.
type lateInput struct {
	ready chan string
	r     *strings.Reader
}

func (l *lateInput) Read(b []byte) (int, error) {
	if l.r == nil {
		l.r = strings.NewReader(<-l.ready)
	}
	return l.r.Read(b)
}

func TestPastedAddress(t *testing.T) {
	for name, tc := range map[string]struct {
		provider string
		what     func(redirect, state string) string
		says     string // "": signed in
	}{
		"google": {"google", func(r, s string) string { return r + "?code=c&state=" + s + "\n" }, ""},
		"microsoft, with its slash, blank lines": {"microsoft", func(r, s string) string {
			return "\r\n\n  " + r + "/?code=c&state=" + s + "&session_state=1  \r\nmore\n"
		}, ""},
		"wrong state":       {"google", func(r, s string) string { return r + "?code=" + canary + "&state=x" }, "does not belong"},
		"wrong path":        {"google", func(r, s string) string { return r + "x?code=" + canary + "&state=" + s }, "not the address"},
		"https":             {"google", func(r, s string) string { return "https" + r[4:] + "?code=" + canary + "&state=" + s }, "not the address"},
		"another host":      {"google", func(r, s string) string { return "http://evil.example/?code=" + canary + "&state=" + s }, "not the address"},
		"the code alone":    {"google", func(r, s string) string { return canary }, "not the address"},
		"nothing":           {"google", func(r, s string) string { return "" }, "No address"},
		"blank":             {"google", func(r, s string) string { return " \n \n" }, "No address"},
		"longer than 8 KiB": {"google", func(r, s string) string { return r + "?code=" + strings.Repeat(canary, 4000) + "&state=" + s }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, ring := startService(t), &fakeRing{m: map[string]string{}}
			opts, p := pasting(t, tc.what)
			err := source(t, s, ring, t.TempDir()).Login(t.Context(), oauthAccount(tc.provider), opts)
			if name == "longer than 8 KiB" {
				tc.says = "does not belong" // it is cut, and its end with the state is lost
			}
			if tc.says == "" {
				if err != nil || len(ring.m) != 1 || s.forms[0].Get("code") != "c" {
					t.Errorf("%v, %d entries", err, len(ring.m))
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.says) || s.asked() != 0 {
				t.Fatalf("got %v, want %q; %d requests", err, tc.says, s.asked())
			}
			quiet(t, name, append(p.told, err.Error())...)
		})
	}
}

func TestSignInEnds(t *testing.T) {
	s := startService(t)
	nobody := &person{t: t, visit: func(string, string) []*http.Request { return nil }}
	o := source(t, s, &fakeRing{m: map[string]string{}}, t.TempDir())
	o.loginLimit = 1
	err := o.Login(t.Context(), oauthAccount("google"), LoginOptions{Open: nobody.open, Tell: nobody.tell})
	wantUnavailable(t, "nobody came", err, "time limit")
	if nobody.fetch(get(t, nobody.auth.Get("redirect_uri"))); nobody.pages[0] != "no answer" {
		t.Errorf("something still listens: %q", nobody.pages)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.loginLimit = loginLimit
	err = o.Login(ctx, oauthAccount("google"), LoginOptions{Open: func(string) error { cancel(); return nil }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if loginLimit.Minutes() != 5 {
		t.Errorf("the limit is %v", loginLimit)
	}
}

func TestSignInIsRefusedBeforeAPersonIsBothered(t *testing.T) {
	s := startService(t)
	opened := LoginOptions{Open: func(string) error { t.Error("the browser was opened"); return nil }}
	noRing := source(t, s, &fakeRing{err: errors.New("locked")}, t.TempDir())
	err := noRing.Login(t.Context(), oauthAccount("google"), opened)
	wantUnavailable(t, "no keyring", err, "Unlock it")
	if strings.Contains(err.Error(), "password_command") {
		t.Errorf("an advice that does not fit: %v", err)
	}
	o := source(t, s, &fakeRing{m: map[string]string{}}, t.TempDir())
	for name, change := range map[string]func(*mail.Account){
		"no provider": func(a *mail.Account) { a.OAuth2.Provider = "" }, "unknown": func(a *mail.Account) { a.OAuth2.Provider = "yahoo" },
		"no client": func(a *mail.Account) { a.OAuth2.ClientID = "" },
	} {
		acct := oauthAccount("google")
		change(acct)
		if err := o.Login(t.Context(), acct, opened); code(err) != string(mail.CodeConfigInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	opened.Device = true
	err = o.Login(t.Context(), oauthAccount("google"), opened)
	if code(err) != string(mail.CodeUnsupported) || !strings.Contains(err.Error(), "device sign-in cannot grant access to mail") {
		t.Errorf("Google's device code: %v", err)
	}
	if s.asked() != 0 {
		t.Errorf("%d requests", s.asked())
	}
}
