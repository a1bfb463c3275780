package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"skrzynka/mail"
)

// deviceService answers without a socket, so that time can be a test's own. It
// notes when it was asked for the token.
type deviceService struct {
	device string   // the answer of the device endpoint
	tokens []string // the token endpoint's, "status body"; the last one stays
	at     []time.Duration
	start  time.Time
	forms  []url.Values
}

func (d *deviceService) RoundTrip(r *http.Request) (*http.Response, error) {
	b, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(b))
	answer := "200 " + d.device
	if r.URL.Path == "/token" {
		d.at = append(d.at, time.Since(d.start))
		d.forms = append(d.forms, form)
		answer = d.tokens[min(len(d.at), len(d.tokens))-1]
	}
	status, body, _ := strings.Cut(answer, " ")
	if status == "lost" {
		return nil, io.ErrUnexpectedEOF
	}
	res := &http.Response{Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}
	_, _ = fmt.Sscan(status, &res.StatusCode)
	return res, nil
}

func TestSignInByDeviceCode(t *testing.T) {
	const (
		device  = `{"device_code":"device-` + canary + `","user_code":"ABCD-\u001b[31mEFGH","verification_uri":"https://login.example/\u009bdevice","expires_in":900,"interval":5}`
		pending = `400 {"error":"authorization_pending"}`
		slow    = `400 {"error":"slow_down"}`
	)
	good := "200 " + response(nil)
	for name, tc := range map[string]struct {
		device string
		tokens []string
		says   string // "": signed in
		at     string // seconds at which the service was asked
	}{
		"agreed at last":       {device, []string{pending, pending, good}, "", "5 10 15"},
		"asked to slow down":   {device, []string{slow, pending, good}, "", "5 15 25"},
		"away for a moment":    {device, []string{pending, "503 x", "lost", good}, "", "5 10 20 40"},
		"declined":             {device, []string{pending, `400 {"error":"authorization_declined"}`}, "refused", "5 10"},
		"denied":               {device, []string{`400 {"error":"access_denied","error_description":"no ` + "device-" + canary + `"}`}, "refused.", "5"},
		"expired, it says":     {device, []string{`400 {"error":"expired_token"}`}, "time limit", "5"},
		"nobody comes":         {strings.Replace(device, "900", "12", 1), []string{pending}, "time limit", "5 10"},
		"no interval":          {strings.Replace(device, `,"interval":5`, "", 1), []string{good}, "", "5"},
		"interval of a year":   {strings.Replace(device, `"interval":5`, `"interval":31536000`, 1), []string{good}, "", "60"},
		"a token of another":   {device, []string{"200 " + response(map[string]string{"token_type": `"mac"`})}, "another kind", "5"},
		"scope missing":        {device, []string{"200 " + response(map[string]string{"scope": `"a"`})}, "missing", "5"},
		"an address of http":   {strings.Replace(device, "https:", "http:", 1), nil, "cannot be understood", ""},
		"no code":              {`{}`, nil, "cannot be understood", ""},
		"a page":               {`<html>`, nil, "cannot be understood", ""},
		"the device code away": {strings.Repeat("x", 65<<10), nil, "more than", ""},
	} {
		t.Run(name, func(t *testing.T) {
			locks := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				d := &deviceService{device: tc.device, tokens: tc.tokens, start: time.Now()}
				ring := &fakeRing{m: map[string]string{}}
				o := NewOAuth2(NewKeyring(ring), locks)
				o.providers, o.transport = at("https://login.example"), d
				var told []string
				err := o.Login(t.Context(), oauthAccount("microsoft"), LoginOptions{Device: true, Tell: func(l string) { told = append(told, l) }})
				var asked []string
				for _, s := range d.at {
					asked = append(asked, fmt.Sprint(int(s.Seconds())))
				}
				if got := strings.Join(asked, " "); got != tc.at {
					t.Errorf("asked at %q, want %q", got, tc.at)
				}
				quiet(t, name, told...)
				if tc.says != "" {
					wantUnavailable(t, name, err, tc.says)
					quiet(t, name, fmt.Sprint(err))
					if len(ring.m) != 0 {
						t.Error("something was stored")
					}
					return
				}
				if err != nil || stored(t, ring) != "refresh-"+canary+"-new" {
					t.Fatalf("%v, stored %v", err, ring.m)
				}
				if f := d.forms[0]; f.Get("grant_type") != "urn:ietf:params:oauth:grant-type:device_code" || f.Get("device_code") != "device-"+canary {
					t.Errorf("asked with %v", f)
				}
				if all := strings.Join(told, "\n"); !strings.Contains(all, "https://login.example/") || !strings.Contains(all, "ABCD-") {
					t.Errorf("told %q", told)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		d := &deviceService{device: device, tokens: []string{pending}, start: time.Now()}
		o := NewOAuth2(NewKeyring(&fakeRing{m: map[string]string{}}), "")
		o.providers, o.transport = at("https://login.example"), d
		ctx, cancel := context.WithTimeoutCause(t.Context(), 7*time.Second, errors.New("a person"))
		defer cancel()
		if err := o.Login(ctx, oauthAccount("microsoft"), LoginOptions{Device: true}); !errors.Is(err, context.DeadlineExceeded) || time.Since(d.start) != 7*time.Second {
			t.Errorf("interrupted: %v after %v", err, time.Since(d.start))
		}
	})
}

// A service that takes the request and never answers is given up, and what is
// stored stays.
func TestSilentServiceIsGivenUp(t *testing.T) {
	locks := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ring := &fakeRing{m: map[string]string{}}
		if err := writeLong(ring, "personal", "old-"+canary); err != nil {
			t.Fatal(err)
		}
		o := NewOAuth2(NewKeyring(ring), locks)
		o.providers, o.transport = at("https://login.example"), silent{}
		start := time.Now()
		_, err := o.Secret(t.Context(), oauthAccount("google"))
		wantUnavailable(t, "silent", err, "could not be reached")
		if e := mail.AsError(err); !e.Retryable || time.Since(start) != oauthRequestLimit || stored(t, ring) != "old-"+canary {
			t.Errorf("%v after %v, stored %q", err, time.Since(start), stored(t, ring))
		}
		quiet(t, "silent", err.Error())
	})
}

type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}
