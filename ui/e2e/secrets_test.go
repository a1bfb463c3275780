package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/loopback"
)

// watchProcesses looks at the command line and the environment of every
// process of this machine, again and again, and returns a function that stops
// it and tells who had the word there.
func watchProcesses(t *testing.T, word string) func() []string {
	t.Helper()
	if runtime.GOOS != "linux" {
		return func() []string { return nil }
	}
	stop := make(chan struct{})
	found := map[string]bool{}
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			entries, _ := os.ReadDir("/proc")
			for _, e := range entries {
				if _, err := strconv.Atoi(e.Name()); err != nil {
					continue
				}
				for _, what := range []string{"cmdline", "environ"} {
					b, err := os.ReadFile(filepath.Join("/proc", e.Name(), what))
					if err == nil && bytes.Contains(b, []byte(word)) {
						name, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "comm"))
						found[what+" of "+strings.TrimSpace(string(name))] = true
					}
				}
			}
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	})
	return func() []string {
		close(stop)
		running.Wait()
		var out []string
		for f := range found {
			out = append(out, f)
		}
		return out
	}
}

// holding lists the files below a folder that contain the word.
func holding(t *testing.T, dir, word string) []string {
	t.Helper()
	var out []string
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		files++
		if bytes.Contains(b, []byte(word)) {
			out = append(out, path)
		}
		return err
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files below %s: %v", files, dir, err)
	}
	return out
}

// canarySession does everything that uses an account's password, on the command
// line and in the interface, and returns all that was printed.
func canarySession(h *home, servers *loopback.Servers) []byte {
	h.t.Helper()
	var printed bytes.Buffer
	run := func(args ...string) result {
		h.t.Helper()
		r := h.run(args...)
		printed.Write(r.out)
		printed.Write(r.stderr)
		return r
	}
	run("account", "test", "--json").exits(0).is("ok", "true")
	run("account", "show", "--json").exits(0)
	run("sync", "--json").exits(0).is("accounts.0.ok", "true")
	run("doctor", "--json").exits(0)
	body := h.file("body.txt", "Hello.\n")
	for address, code := range map[string]int{"ok@demo.example": 0, "reject@demo.example": 1, "drop@demo.example": 3} {
		id := run("send", "--to", address, "--subject", "canary", "--body-file", body, "--json").exits(code).text("id")
		run("attempts", "show", id).exits(0)
		run("audit", "--subject", "attempt:"+id).exits(0)
		if code == 3 {
			run("attempts", "probe", id).exits(0)
		}
	}
	x := h.open(100, 30)
	x.shows("Inbox", "1/")
	x.types("S")
	x.types("gc")
	x.shows("Accounts")
	x.press("g", "i").list()
	x.press("q")
	x.ends()
	printed.Write(x.written())
	// What a refused login says.
	servers.SetFaults(func(f *loopback.Faults) { f.RefuseLogin = true })
	run("sync", "--json").exits(1).fails("IMAP_AUTH_FAILED")
	run("send", "--to", "ok@demo.example", "--subject", "canary", "--body-file", body, "--json").exits(1).fails("SMTP_AUTH_FAILED")
	servers.SetFaults(func(f *loopback.Faults) { f.RefuseLogin = false })
	return printed.Bytes()
}

// A password is nowhere but where it was put: not in the arguments or the
// environment of a process, nor in a file, nor in anything printed.
func TestSecretsStayWhereTheyWerePut(t *testing.T) {
	h := newHome(t)
	servers, err := loopback.Start(loopback.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(servers.Close)
	canary := "canary-" + mail.NewID()
	servers.Password = canary
	secret := filepath.Join(t.TempDir(), "secret") // not among the program's own files
	if err := os.WriteFile(secret, []byte(canary+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stop := watchProcesses(t, canary)
	h.addLoopback(servers, "--password-command", "cat", "--password-command", secret)
	printed := canarySession(h, servers)
	for _, who := range stop() {
		t.Errorf("the password is in the %s", who)
	}
	if bytes.Contains(printed, []byte(canary)) {
		t.Error("the password was printed")
	}
	for _, path := range holding(t, h.dir, canary) {
		t.Errorf("the password is in %s", path)
	}
}

// addLoopback configures the account "ada" on embedded servers by command.
func (h *home) addLoopback(servers *loopback.Servers, more ...string) result {
	h.t.Helper()
	ca := filepath.Join(h.dir, "ca.pem")
	if err := servers.WriteCA(ca); err != nil {
		h.t.Fatal(err)
	}
	a := servers.Account()
	return h.feed(servers.Password+"\n", append([]string{"account", "add", "ada", "--email", a.Email, "--ca-file", ca, "--username", a.IMAP.Username,
		"--imap-host", a.IMAP.Host, "--imap-port", fmt.Sprint(a.IMAP.Port), "--imap-security", "tls",
		"--smtp-host", a.SMTP.Host, "--smtp-port", fmt.Sprint(a.SMTP.Port), "--smtp-security", "starttls", "--json"}, more...)...).exits(0)
}

// The same through a real Secret Service: the password goes in by standard
// input, and the program finds it there again until the account is removed.
func TestRealKeyring(t *testing.T) {
	if os.Getenv("SKRZYNKA_TEST_KEYRING") == "" {
		missing(t, "there is no keyring of this session to write to: SKRZYNKA_TEST_KEYRING is not set (.ci/run makes one)")
	}
	h := newHome(t)
	h.env = append(h.env, "DBUS_SESSION_BUS_ADDRESS="+os.Getenv("DBUS_SESSION_BUS_ADDRESS"))
	servers, err := loopback.Start(loopback.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(servers.Close)
	canary := "canary-" + mail.NewID()
	servers.Password = canary
	stop := watchProcesses(t, canary)
	h.addLoopback(servers, "--password-stdin").is("password_stored", "true")
	printed := canarySession(h, servers)
	// Another password, by login: the old one is replaced.
	h.feed("wrong\n", "account", "login", "ada", "--password-stdin", "--json").exits(0)
	h.run("sync", "--json").exits(1).fails("IMAP_AUTH_FAILED")
	h.feed(canary+"\n", "account", "login", "ada", "--password-stdin", "--json").exits(0)
	h.run("sync", "--json").exits(0)

	for _, who := range stop() {
		t.Errorf("the password is in the %s", who)
	}
	if bytes.Contains(printed, []byte(canary)) {
		t.Error("the password was printed")
	}
	for _, path := range holding(t, h.dir, canary) {
		t.Errorf("the password is in %s", path)
	}

	// Removing the account takes it out: an account of that name has none.
	h.run("account", "remove", "ada", "--yes", "--json").exits(0).is("password_forgotten", "true")
	h.addLoopback(servers)
	h.run("sync", "--json").exits(1).fails("CREDENTIALS_UNAVAILABLE")
}

// Without any keyring the program says so, and what to do.
func TestNoKeyring(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the keyring of this system is always there")
	}
	h := newHome(t)
	servers, err := loopback.Start(loopback.Options{Empty: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(servers.Close)
	if _, err := os.Stat(filepath.Join("/run/user", strconv.Itoa(os.Getuid()), "bus")); err == nil {
		t.Skip("this user has a session bus, which the program finds by itself")
	}
	h.addLoopback(servers)
	for _, r := range []result{h.run("sync", "--json").exits(1), h.feed("x\n", "account", "login", "ada", "--password-stdin", "--json").exits(1)} {
		r.fails("CREDENTIALS_UNAVAILABLE")
		if hint := fmt.Sprint(dig(t, r.stderr, "error.hint")); !strings.Contains(hint, "password_command") {
			t.Errorf("the hint is %q", hint)
		}
	}
}
