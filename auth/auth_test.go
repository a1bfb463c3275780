package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"skrzynka/mail"
)

const hidden = "correct horse battery"

func TestSecretIsNeverPrinted(t *testing.T) {
	s := NewSecret(hidden)
	creds := Credentials{Username: "ada", Secret: s}
	j, err := json.Marshal(map[string]any{"s": s, "p": &s, "c": creds})
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", s, "creds", creds)
	for how, got := range map[string]string{
		"%v": fmt.Sprintf("%v", s), "%+v": fmt.Sprintf("%+v", creds), "%#v": fmt.Sprintf("%#v %#v", s, creds),
		"%s": fmt.Sprintf("%s", s), "%q": fmt.Sprintf("%q", s), "%x": fmt.Sprintf("%x", s), "%d": fmt.Sprintf("%d", s),
		"pointer": fmt.Sprintf("%v", &s), "error": fmt.Errorf("oh: %w: %v", errors.New("x"), s).Error(),
		"json": string(j), "slog": log.String(), "text": func() string { b, _ := s.MarshalText(); return string(b) }(),
	} {
		if strings.Contains(got, hidden) || strings.Contains(got, fmt.Sprintf("%x", hidden)) {
			t.Errorf("%s shows the secret: %s", how, got)
		}
		if !strings.Contains(got, masked) {
			t.Errorf("%s shows no asterisks: %s", how, got)
		}
	}
	if s.Reveal() != hidden {
		t.Error("Reveal does not give the value")
	}
}

// fakeRing is a keyring in memory that can hang or fail.
type fakeRing struct {
	m    map[string]string
	err  error
	hang chan struct{}
}

func (f *fakeRing) wait() {
	if f.hang != nil {
		<-f.hang
	}
}
func (f *fakeRing) Get(s, u string) (string, error) {
	f.wait()
	v, ok := f.m[s+"/"+u]
	if f.err == nil && !ok {
		return "", ErrNoEntry
	}
	return v, f.err
}
func (f *fakeRing) Set(s, u, v string) error {
	f.wait()
	if f.err == nil {
		f.m[s+"/"+u] = v
	}
	return f.err
}
func (f *fakeRing) Delete(s, u string) error {
	f.wait()
	if _, ok := f.m[s+"/"+u]; f.err == nil && !ok {
		return ErrNoEntry
	}
	delete(f.m, s+"/"+u)
	return f.err
}

func TestKeyringStoresReadsAndForgets(t *testing.T) {
	ctx, acct := t.Context(), &mail.Account{Name: "personal", Email: "ada@example.org", Auth: mail.AuthPassword}
	k := NewKeyring(&fakeRing{m: map[string]string{}})
	wantUnavailable(t, "missing", errOf(k.Secret(ctx, acct)), "account login")
	if err := k.Store(ctx, acct, NewSecret(hidden)); err != nil {
		t.Fatal(err)
	}
	if s, err := k.Secret(ctx, acct); err != nil || s.Reveal() != hidden {
		t.Errorf("read back %v, %v", s, err)
	}
	for range 2 { // forgetting twice is no error
		if err := k.Forget(ctx, acct); err != nil {
			t.Error(err)
		}
	}
	wantUnavailable(t, "forgotten", errOf(k.Secret(ctx, acct)), "account login")
	wantUnavailable(t, "empty", k.Store(ctx, acct, Secret{}), "password")
	wantUnavailable(t, "too long", k.Store(ctx, acct, NewSecret(strings.Repeat("x", ringMaxSecret+1))), "password_command")
}

func TestKeyringFailureIsExplainedInOurWords(t *testing.T) {
	acct := &mail.Account{Name: "personal"}
	k := NewKeyring(&fakeRing{err: errors.New("failed to unlock correct collection " + hidden)})
	for name, err := range map[string]error{
		"get": errOf(k.Secret(t.Context(), acct)), "set": k.Store(t.Context(), acct, NewSecret("x")), "delete": k.Forget(t.Context(), acct),
	} {
		wantUnavailable(t, name, err, "password_command")
		if strings.Contains(err.Error(), hidden) {
			t.Errorf("%s: another program's text is shown: %v", name, err)
		}
	}
}

func TestHangingKeyringIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeRing{m: map[string]string{}, hang: make(chan struct{})}
		k, acct := NewKeyring(f), &mail.Account{Name: "personal"}
		for name, tc := range map[string]struct {
			call func() error
			want time.Duration
		}{
			"get": {func() error { return errOf(k.Secret(t.Context(), acct)) }, 5 * time.Second},
			"set": {func() error { return k.Store(t.Context(), acct, NewSecret("x")) }, 15 * time.Second},
		} {
			start := time.Now()
			err := tc.call()
			wantUnavailable(t, name, err, "Unlock")
			if got := time.Since(start); got != tc.want {
				t.Errorf("%s gave up after %v, want %v", name, got, tc.want)
			}
			if !mail.AsError(err).Retryable {
				t.Errorf("%s: trying again can help and the error does not say so", name)
			}
		}
		close(f.hang)
		synctest.Wait()
		wantUnavailable(t, "after it came back", errOf(k.Secret(t.Context(), acct)), "account login")
	})
}

func TestNoSessionBusIsRefusedWithoutStartingOne(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "bus")
	env := func(v string) func(string) string {
		return func(k string) string {
			if k == "DBUS_SESSION_BUS_ADDRESS" {
				return v
			}
			return ""
		}
	}
	for name, tc := range map[string]struct {
		address string
		socket  func()
		want    bool
	}{
		"nothing":          {"", func() {}, false},
		"autolaunch":       {"autolaunch:", func() {}, false},
		"address":          {"unix:path=/x", func() {}, true},
		"a file, no bus":   {"", func() { _ = os.WriteFile(socket, nil, 0o600) }, false},
		"systemd's socket": {"", func() { _ = os.Remove(socket); listen(t, socket) }, true},
	} {
		_ = os.Remove(socket)
		tc.socket()
		if got := busPresent(env(tc.address), socket); got != tc.want {
			t.Errorf("%s: present %v, want %v", name, got, tc.want)
		}
	}
	old := runtimeDir
	runtimeDir = dir
	defer func() { runtimeDir = old }()
	ring := OSRing(env(""))
	wantUnavailable(t, "get", errOf(ring.Get("s", "u")), "password_command")
	wantUnavailable(t, "set", ring.Set("s", "u", "v"), "password_command")
	wantUnavailable(t, "delete", ring.Delete("s", "u"), "password_command")
	wantUnavailable(t, "through the source", errOf(NewSource(ring).Secret(t.Context(), &mail.Account{Auth: mail.AuthPassword})), "Secret Service")
}

func listen(t *testing.T, socket string) {
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
}

func TestCommand(t *testing.T) {
	sh := func(script string) []string { return []string{"/bin/sh", "-c", script} }
	for name, tc := range map[string]struct {
		argv   []string
		want   string
		hint   string
		has    string // in the sentence
		hasNot string
	}{
		"first line":             {argv: sh("printf 'pa ss\\nsecond\\n'"), want: "pa ss"},
		"CRLF":                   {argv: sh("printf 'pass\\r\\n'"), want: "pass"},
		"no line end":            {argv: sh("printf pass"), want: "pass"},
		"argv, no shell":         {argv: []string{"/bin/echo", "$HOME;`id`"}, want: "$HOME;`id`"},
		"no input to wait for":   {argv: sh("read x; echo done"), want: "done"},
		"fails":                  {argv: sh("echo 'no key\nmore' >&2; echo leaked; exit 3"), hint: "by hand", has: "no key", hasNot: "leaked"},
		"fails, repeats it":      {argv: sh("echo 'bad leaked' >&2; echo leaked; exit 3"), hint: "by hand", hasNot: "leaked"},
		"fails, escape codes":    {argv: sh("printf '\\033]52;c;x\\007why' >&2; exit 1"), hint: "by hand", has: "why", hasNot: "\x1b"},
		"empty":                  {argv: sh("echo; echo later"), hint: "by hand", has: "no password"},
		"not installed":          {argv: []string{"no-such-program-here"}, hint: "configuration", has: "not installed"},
		"none configured":        {argv: nil, hint: "configuration", has: "no password_command"},
		"floods its output":      {argv: sh("echo pass; head -c 300000 /dev/zero"), want: "pass"},
		"leaves a child running": {argv: sh("echo pass; sleep 30 &"), want: "pass"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Command{}.Secret(t.Context(), &mail.Account{Name: "personal", PasswordCommand: tc.argv})
			if tc.want != "" {
				if err != nil || s.Reveal() != tc.want {
					t.Fatalf("got %q, %v, want %q", s.Reveal(), err, tc.want)
				}
				return
			}
			wantUnavailable(t, name, err, tc.hint)
			if tc.has != "" && !strings.Contains(err.Error(), tc.has) {
				t.Errorf("%v does not say %q", err, tc.has)
			}
			if tc.hasNot != "" && strings.Contains(err.Error(), tc.hasNot) {
				t.Errorf("%q says %q", err, tc.hasNot)
			}
		})
	}
	err := errOf(Command{Limit: 30 * time.Millisecond}.Secret(t.Context(), &mail.Account{PasswordCommand: []string{"sleep", "30"}}))
	wantUnavailable(t, "too slow", err, "by hand")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := errOf(Command{}.Secret(ctx, &mail.Account{PasswordCommand: []string{"sleep", "30"}})); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

func TestSourceIsPickedByAccount(t *testing.T) {
	ring := &fakeRing{m: map[string]string{Service + "/a": "from ring"}}
	src := NewSource(ring)
	get := func(a mail.Account) string {
		s, err := src.Secret(t.Context(), &a)
		return s.Reveal() + "|" + code(err)
	}
	for name, tc := range map[string]struct {
		acct mail.Account
		want string
	}{
		"keyring":            {mail.Account{Name: "a", Auth: mail.AuthPassword}, "from ring|"},
		"command":            {mail.Account{Name: "a", Auth: mail.AuthPassword, PasswordCommand: []string{"/bin/echo", "from command"}}, "from command|"},
		"method not at hand": {mail.Account{Name: "a", Auth: mail.AuthOAuth2}, "|CREDENTIALS_UNAVAILABLE"},
	} {
		if got := get(tc.acct); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	src.ByMethod[mail.AuthOAuth2] = Static{"a": NewSecret("token")}
	acct := &mail.Account{Name: "a", Email: "ada@example.org", Auth: mail.AuthOAuth2}
	c, err := Resolve(t.Context(), src, acct, mail.Server{})
	if err != nil || !c.Token || c.Username != "ada@example.org" || c.Secret.Reveal() != "token" {
		t.Errorf("resolved %+v, %v", c, err)
	}
	c, _ = Resolve(t.Context(), src, acct, mail.Server{Username: "login"})
	if c.Username != "login" {
		t.Errorf("the server's user name is not used: %q", c.Username)
	}
	wantUnavailable(t, "static", errOf(Static{}.Secret(t.Context(), acct)), "")
}

func TestMechanism(t *testing.T) {
	password := Credentials{Username: "ada", Secret: NewSecret("pw")}
	token := Credentials{Username: "a=,da", Secret: NewSecret("tk"), Token: true}
	for name, tc := range map[string]struct {
		creds   Credentials
		offered []string
		want    string // name, initial response and answers to two challenges
	}{
		"plain first":         {password, []string{"LOGIN", "plain"}, `PLAIN "\x00ada\x00pw"`},
		"login":               {password, []string{"NTLM", "login"}, `LOGIN "" "ada" "pw"`},
		"bearer first":        {token, []string{"XOAUTH2", "OAUTHBEARER"}, `OAUTHBEARER "n,a=a=3D=2Cda,\x01auth=Bearer tk\x01\x01" "\x01"`},
		"xoauth2":             {token, []string{"XOAUTH2", "PLAIN"}, `XOAUTH2 "user=a=,da\x01auth=Bearer tk\x01\x01" ""`},
		"asked for by name":   {Credentials{Username: "ada", Secret: NewSecret("pw"), Mechanism: "login"}, []string{"PLAIN", "LOGIN"}, `LOGIN "" "ada" "pw"`},
		"no token as passwd":  {token, []string{"PLAIN", "LOGIN"}, "none"},
		"no password as tokn": {password, []string{"XOAUTH2", "OAUTHBEARER"}, "none"},
		"nothing offered":     {password, nil, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Mechanism(tc.creds, tc.offered)
			if tc.want == "none" {
				if !errors.Is(err, ErrNoMechanism) {
					t.Errorf("got %v, %v", c, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if p := fmt.Sprintf("%v %+v", c, c); c != nil && !strings.HasPrefix(tc.want, "PLAIN") && strings.Contains(p, tc.creds.Secret.Reveal()) {
				t.Errorf("printing the client shows the secret: %s", p)
			}
			mech, ir, _ := c.Start()
			got := mech + " " + strconv.Quote(string(ir))
			for range 3 {
				a, err := c.Next([]byte("?"))
				if err != nil {
					break
				}
				got += " " + strconv.Quote(string(a))
			}
			if got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func errOf[T any](_ T, err error) error { return err }

func code(err error) string {
	if err == nil {
		return ""
	}
	return string(mail.AsError(err).Code)
}

func wantUnavailable(t *testing.T, name string, err error, hint string) {
	t.Helper()
	if code(err) != string(mail.CodeCredentials) {
		t.Errorf("%s: got %v, want CREDENTIALS_UNAVAILABLE", name, err)
	} else if !strings.Contains(err.Error(), hint) {
		t.Errorf("%s: %v does not say %q", name, err, hint)
	}
}
