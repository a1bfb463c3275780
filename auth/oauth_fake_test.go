package auth

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"skrzynka/mail"
)

// canary is in every secret of these tests: no error and no line that is told
// may have it.
const canary = "cAnArY"

func quiet(t *testing.T, name string, told ...string) {
	t.Helper()
	for _, s := range told {
		if strings.Contains(s, canary) || strings.Contains(s, "\x1b") {
			t.Errorf("%s: a secret or a control character is shown: %q", name, s)
		}
	}
}

// service is a sign-in service over TLS. Unless a test sets reply, it grants
// everything, and replaces a refresh token each time it is used: using an old
// one is refused.
type service struct {
	*httptest.Server
	mu    sync.Mutex
	forms []url.Values // the requests to the token endpoint
	reply func(form url.Values) (status int, body string)
	// refresh is the refresh token that is good now, made the n-th.
	n    int
	keep bool // refresh tokens are not replaced
}

func startService(t *testing.T) *service {
	s := &service{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.forms = append(s.forms, r.PostForm)
		status, body := s.grant(r.PostForm)
		if status >= 300 && status < 400 {
			w.Header().Set("Location", body)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
	s.Server = httptest.NewUnstartedServer(mux)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *service) grant(form url.Values) (int, string) {
	if s.reply != nil {
		if status, body := s.reply(form); status != 0 {
			return status, body
		}
	}
	if form.Get("grant_type") == "refresh_token" && form.Get("refresh_token") != s.refresh() {
		return 400, `{"error":"invalid_grant","error_description":"used before"}`
	}
	if !s.keep {
		s.n++
	}
	return 200, fmt.Sprintf(`{"access_token":%q,"token_type":"Bearer","expires_in":3600,"refresh_token":%q,"scope":%q}`,
		fmt.Sprintf("access-%s-%d", canary, len(s.forms)), s.refresh(), scopesOf("microsoft"))
}

func (s *service) refresh() string { return fmt.Sprintf("refresh-%s-%d", canary, s.n) }

// scopesOf is what a full answer of every provider together would say.
func scopesOf(string) string {
	return "https://mail.google.com/ https://outlook.office.com/IMAP.AccessAsUser.All https://outlook.office.com/SMTP.Send"
}

func (s *service) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.forms)
}

func (s *service) set(reply func(url.Values) (int, string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reply = reply
}

func always(status int, body string) func(url.Values) (int, string) {
	return func(url.Values) (int, string) { return status, body }
}

// tunable is a clock that a test sets.
type tunable struct {
	mu  sync.Mutex
	now time.Time
}

func (c *tunable) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *tunable) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// source is an OAuth2 source whose providers are all at s.
func source(t *testing.T, s *service, ring Ring, locks string) *OAuth2 {
	t.Helper()
	o := NewOAuth2(NewKeyring(ring), locks)
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	o.transport = oauthTransport(pool)
	o.providers = at(s.URL)
	o.clock = &tunable{now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	return o
}

// at is the table of providers with other endpoints.
func at(base string) map[string]provider {
	out := map[string]provider{}
	for name, p := range providers {
		p.endpoint.AuthURL, p.endpoint.TokenURL = base+"/authorize", base+"/token"
		if p.endpoint.DeviceAuthURL != "" {
			p.endpoint.DeviceAuthURL = base + "/device"
		}
		out[name] = p
	}
	return out
}

func oauthAccount(provider string) *mail.Account {
	return &mail.Account{Name: "personal", Email: "ada@example.org", Auth: mail.AuthOAuth2,
		OAuth2: mail.OAuth2{Provider: provider, ClientID: "the-client", ClientSecret: "client-" + canary}}
}

// signedIn is a ring in which somebody is signed in with the service's first
// refresh token.
func signedIn(t *testing.T, s *service) *fakeRing {
	t.Helper()
	r := &fakeRing{m: map[string]string{}}
	if err := writeLong(r, "personal", s.refresh()); err != nil {
		t.Fatal(err)
	}
	return r
}

func stored(t *testing.T, r Ring) string {
	t.Helper()
	v, err := readLong(r, "personal")
	if err != nil {
		t.Fatalf("the keyring: %v", err)
	}
	return v
}

// person plays the browser and the one in front of it: it looks at the
// authorization address, and goes where the service would send them.
type person struct {
	t    *testing.T
	auth url.Values
	told []string
	// visit is what is fetched, given the redirect URI and the state.
	visit func(redirect, state string) []*http.Request
	pages []string // status and body of each answer, or the error
}

func (p *person) open(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		p.t.Error(err)
		return err
	}
	p.auth = u.Query()
	requests := p.visit(p.auth.Get("redirect_uri"), p.auth.Get("state"))
	for _, r := range requests {
		p.fetch(r)
	}
	return nil
}

func (p *person) fetch(r *http.Request) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		p.pages = append(p.pages, "no answer")
		return
	}
	defer res.Body.Close()
	b := make([]byte, 4096)
	n, _ := res.Body.Read(b)
	p.pages = append(p.pages, fmt.Sprintf("%d %s", res.StatusCode, b[:n]))
	if res.Header.Get("Cache-Control") != "no-store" || res.Header.Get("Referrer-Policy") != "no-referrer" {
		p.t.Errorf("the page's headers are %v", res.Header)
	}
}

func (p *person) tell(line string) { p.told = append(p.told, line) }

func get(t *testing.T, address string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// agrees visits the redirect URI like the service does after a person agreed.
func agrees(t *testing.T) *person {
	return &person{t: t, visit: func(redirect, state string) []*http.Request {
		return []*http.Request{get(t, redirect+"?"+url.Values{"state": {state}, "code": {"code-" + canary}}.Encode())}
	}}
}

func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func idToken(claims map[string]string) string {
	b, _ := json.Marshal(claims)
	return "e30." + base64.RawURLEncoding.EncodeToString(b) + ".c2ln"
}
