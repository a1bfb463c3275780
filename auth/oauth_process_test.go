package auth

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fileRing is a keyring that several processes of a test share.
type fileRing string

func (f fileRing) load() map[string]string {
	m := map[string]string{}
	if b, err := os.ReadFile(string(f)); err == nil {
		_ = json.Unmarshal(b, &m)
	}
	return m
}

func (f fileRing) save(m map[string]string) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	next := fmt.Sprintf("%s.%d", f, os.Getpid())
	return errors.Join(os.WriteFile(next, b, 0o600), os.Rename(next, string(f)))
}

func (f fileRing) Get(s, u string) (string, error) {
	v, ok := f.load()[s+"/"+u]
	if !ok {
		return "", ErrNoEntry
	}
	return v, nil
}

func (f fileRing) Set(s, u, v string) error {
	m := f.load()
	m[s+"/"+u] = v
	return f.save(m)
}

func (f fileRing) Delete(s, u string) error {
	m := f.load()
	if _, ok := m[s+"/"+u]; !ok {
		return ErrNoEntry
	}
	delete(m, s+"/"+u)
	return f.save(m)
}

const childEnv = "SKRZYNKA_OAUTH_CHILD" // the folder of a test, in a child process

// Several processes renew one account's token at once, at a service that takes
// each refresh token once. Nobody uses one that another has already exchanged.
func TestProcessesRenewOneAfterTheOther(t *testing.T) {
	dir := os.Getenv(childEnv)
	if dir != "" {
		renewInChild(t, dir)
		return
	}
	dir = t.TempDir()
	s := startService(t)
	if err := writeLong(fileRing(filepath.Join(dir, "ring")), "personal", s.refresh()); err != nil {
		t.Fatal(err)
	}
	root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "root"), root, 0o600), os.WriteFile(filepath.Join(dir, "url"), []byte(s.URL), 0o600)); err != nil {
		t.Fatal(err)
	}
	const processes = 3
	var children [processes]*exec.Cmd
	var out [processes]bytes.Buffer
	for i := range children {
		c := exec.Command(os.Args[0], "-test.run=^TestProcessesRenewOneAfterTheOther$", "-test.count=1")
		c.Env = append(os.Environ(), childEnv+"="+dir)
		c.Stdout, c.Stderr = &out[i], &out[i]
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		children[i] = c
	}
	for i, c := range children {
		if err := c.Wait(); err != nil {
			t.Errorf("process %d: %v\n%s", i, err, out[i].String())
		}
	}
	if got := stored(t, fileRing(filepath.Join(dir, "ring"))); got != s.refresh() || s.asked() != processes*childRenewals {
		t.Errorf("stored %q, want %q; %d renewals", got, s.refresh(), s.asked())
	}
}

const childRenewals = 4

func renewInChild(t *testing.T, dir string) {
	root, err := os.ReadFile(filepath.Join(dir, "root"))
	if err != nil {
		t.Fatal(err)
	}
	base, err := os.ReadFile(filepath.Join(dir, "url"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(root)
	acct := oauthAccount("google")
	for range childRenewals {
		o := NewOAuth2(NewKeyring(fileRing(filepath.Join(dir, "ring"))), filepath.Join(dir, "run"))
		o.transport, o.providers = oauthTransport(pool), at(string(base))
		sec, err := o.Secret(t.Context(), acct)
		if err != nil || !strings.HasPrefix(sec.Reveal(), "access-") {
			t.Errorf("token %v", err)
		}
	}
}

// A process that died while it held the lock does not keep others out.
func TestLockOfADeadProcess(t *testing.T) {
	s := startService(t)
	dir := t.TempDir()
	o, acct := source(t, s, signedIn(t, s), dir), oauthAccount("google")
	unlock, err := o.lock(t.Context(), acct)
	if err != nil {
		t.Fatal(err)
	}
	unlock() // what the system does for a dead process; the file stays
	left, _ := filepath.Glob(filepath.Join(dir, "oauth2-*.lock"))
	if len(left) != 1 {
		t.Fatalf("the lock files are %q", left)
	}
	if info, err := os.Stat(left[0]); err != nil || info.Mode().Perm() != 0o600 || info.Size() != 0 {
		t.Errorf("the lock file: %v, %v", info, err)
	}
	if _, err := o.Secret(t.Context(), acct); err != nil {
		t.Error(err)
	}
}
