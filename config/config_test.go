package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
)

// The files of testdata/config say on top which problems they have.
func TestFiles(t *testing.T) {
	files, err := filepath.Glob("../testdata/config/*.toml")
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for line := range strings.Lines(string(data)) {
				if w, ok := strings.CutPrefix(line, "# expect: "); ok {
					want = append(want, strings.TrimSpace(w))
				}
			}
			c, problems := Loader{}.parse(file, data)
			var got []string
			for _, p := range problems {
				got = append(got, p.String())
			}
			if reflect.DeepEqual(want, []string{"nothing"}) {
				want = nil
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("problems:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if c == nil && len(problems) == 0 {
				t.Error("neither a configuration nor a problem")
			}
			if strings.Contains(strings.Join(got, "\n"), "hunter2") {
				t.Error("a problem shows a password")
			}
		})
	}
}

func TestFullFile(t *testing.T) {
	file := "../testdata/config/full.toml"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c, problems := Loader{}.parse(file, data)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	watch := []string{"inbox", "sent", "Lists/go"}
	want := &Config{
		Path: file, Default: "work",
		Accounts: []mail.Account{{
			Name: "personal", DisplayName: "Ada Example", Email: "ada@example.org",
			Aliases: []string{"ada@alias.example", "countess@example.org"},
			IMAP:    mail.Server{Host: "imap.example.org", Port: 143, Security: mail.SecuritySTARTTLS, Username: "ada"},
			SMTP:    mail.Server{Host: "smtp.example.org", Port: 465, Security: mail.SecurityTLS, Username: "ada-out"}, SMTPPartial: true,
			Auth: mail.AuthPassword, PasswordCommand: []string{"pass", "show", "mail/ada"},
			FolderKinds:        map[string]mail.FolderKind{"Sent": mail.FolderSent, "Stare/Wysłane rzeczy": mail.FolderArchive},
			FolderDescriptions: map[string]string{"Sent": "Sent mail."},
			SentCopy:           mail.SentCopyPolicy{Enabled: false, OnFailure: mail.OnFailureFail, Folder: "Sent", ProviderKeep: "yes"},
			Policy: mail.SendPolicy{Allow: []string{"example.org", "*.example.net", "bob@example.com"}, Deny: []string{"spam.example"},
				MaxRecipients: 5, MaxPerMinute: 2, Confirm: mail.ConfirmFirstContact},
			Watch: watch,
		}, {
			Name: "work", Email: "ada@work.example",
			IMAP: mail.Server{Host: "mail.work.example", Port: 993, Security: mail.SecurityTLS, Username: "ada@work.example"},
			SMTP: mail.Server{Host: "mail.work.example", Port: 587, Security: mail.SecuritySTARTTLS, Username: "ada@work.example"},
			Auth: mail.AuthOAuth2, OAuth2: mail.OAuth2{Provider: "google", ClientID: "123.apps.example", ClientSecret: "not-a-secret"},
			FolderKinds: map[string]mail.FolderKind{}, FolderDescriptions: map[string]string{},
			SentCopy: mail.SentCopyPolicy{Enabled: true, OnFailure: mail.OnFailureWarn, ProviderKeep: "auto"},
			Policy:   mail.SendPolicy{MaxRecipients: 100, MaxPerMinute: 30, Confirm: mail.ConfirmNever},
			Watch:    watch,
		}},
		Outbox: mail.OutboxPolicy{ResendUnsubmitted: "ask", UndoWindow: 0, RetryRecordDays: 3650},
		Sync:   Sync{Watch: watch, PollInterval: 15 * time.Second},
		UI:     UI{Theme: "dark", ASCII: true, Editor: "vim -f"},
		Keys:   map[string]string{"reply": "ctrl+r"},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got\n%+v\nwant\n%+v", c, want)
	}
}

func TestDefaults(t *testing.T) {
	c, problems := Loader{}.parse("/etc/x/config.toml", nil)
	want := &Config{Path: "/etc/x/config.toml",
		Outbox: mail.OutboxPolicy{ResendUnsubmitted: "auto", UndoWindow: 10 * time.Second, RetryRecordDays: 30},
		Sync:   Sync{Watch: []string{"inbox"}, PollInterval: 5 * time.Minute},
		UI:     UI{Theme: "auto"}, Keys: map[string]string{}}
	if len(problems) > 0 || !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v, %v\nwant %+v", c, problems, want)
	}
	if _, err := c.Account(""); !errors.Is(err, mail.ErrCode(mail.CodeConfigMissing)) {
		t.Errorf("an account of an empty configuration: %v", err)
	}
}

// The ports and the security follow from one another.
func TestServerDefaults(t *testing.T) {
	rows := []struct {
		name, imap, smtp       string
		imapPort, smtpPort     int
		imapSecure, smtpSecure mail.Security
		warnings               int
	}{
		{"nothing", "", "", 993, 587, "tls", "starttls", 0},
		{"ports that imply", "port = 143", "port = 465", 143, 465, "starttls", "tls", 0},
		{"security that implies", `security = "starttls"`, `security = "tls"`, 143, 465, "starttls", "tls", 0},
		{"own ports", "port = 10993", "port = 10587", 10993, 10587, "tls", "starttls", 0},
		{"unlikely pairs", "port = 993\nsecurity = \"starttls\"", "port = 587\nsecurity = \"tls\"", 993, 587, "starttls", "tls", 2},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			text := "[accounts.a]\nemail='a@b.example'\n[accounts.a.imap]\nhost='b.example'\n" + r.imap +
				"\n[accounts.a.smtp]\nhost='b.example'\n" + r.smtp
			c, problems := Loader{}.parse("x", []byte(text))
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			i, s := c.Accounts[0].IMAP, c.Accounts[0].SMTP
			if i.Port != r.imapPort || s.Port != r.smtpPort || i.Security != r.imapSecure || s.Security != r.smtpSecure {
				t.Errorf("got %v and %v", i, s)
			}
			if len(c.Warnings) != r.warnings {
				t.Errorf("warnings: %v", c.Warnings)
			}
		})
	}
}

func TestAccountsInFileOrder(t *testing.T) {
	var text strings.Builder
	for _, n := range []string{"zeta", "alpha", "mid"} {
		fmt.Fprintf(&text, "[accounts.%s]\nemail='a@b.example'\nimap.host='b.example'\nsmtp.host='b.example'\n", n)
	}
	c, problems := Loader{}.parse("x", []byte(text.String()))
	if len(problems) > 0 || c.Default != "zeta" || c.Accounts[1].Name != "alpha" || c.Accounts[2].Name != "mid" {
		t.Errorf("%+v, %v", c, problems)
	}
	if a, err := c.Account("mid"); err != nil || a.Name != "mid" {
		t.Errorf("Account = %v, %v", a.Name, err)
	}
	if _, err := c.Account("nope"); !errors.Is(err, mail.ErrCode(mail.CodeNotFound)) {
		t.Errorf("Account of an unknown name: %v", err)
	}
}

func TestKeysAreJudgedByTheHook(t *testing.T) {
	l := Loader{ValidateKeys: func(keys map[string]string) []Problem {
		if keys["archive"] == keys["reply"] {
			return []Problem{{"reply", `"e" is the key of archive too`, "choose another key"}}
		}
		return nil
	}}
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte("[keys]\narchive='e'\nreply='e'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := l.Load(path)
	if p := Problems(err); len(p) != 1 || p[0].Path != "keys.reply" {
		t.Errorf("problems %v of %v", p, err)
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := Load(filepath.Join(dir, "none.toml"))
	if !errors.Is(err, mail.ErrCode(mail.CodeConfigMissing)) || mail.AsError(err).Hint == "" {
		t.Errorf("a missing file: %v", err)
	}
	if _, err = Load(dir); !errors.Is(err, mail.ErrCode(mail.CodeConfigInvalid)) {
		t.Errorf("a folder: %v", err)
	}
	path := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(path, []byte("a=1\nb=2\nc=3"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Load(path)
	if !errors.Is(err, mail.ErrCode(mail.CodeConfigInvalid)) || len(Problems(err)) != 3 ||
		!strings.Contains(err.Error(), "There are 2 more problems.") {
		t.Errorf("three unknown keys: %v", err)
	}
	if err := os.WriteFile(path, []byte("# "+strings.Repeat("x", maxFile)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = Load(path); len(Problems(err)) != 1 {
		t.Errorf("a huge file: %v", err)
	}
}

func TestPathsOfTheFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.toml")
	text := "[ui]\ntheme='my.theme'\n[accounts.a]\nemail='a@b.example'\nimap={host='b.example', ca_file='ca.pem'}\nsmtp={host='b.example'}\n"
	for name, content := range map[string]string{"config.toml": text, "my.theme": "x", "ca.pem": "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if c.UI.Theme != filepath.Join(dir, "my.theme") || c.Accounts[0].IMAP.CAFile != filepath.Join(dir, "ca.pem") || len(c.Warnings) != 0 {
		t.Errorf("theme %q, ca_file %q, warnings %v", c.UI.Theme, c.Accounts[0].IMAP.CAFile, c.Warnings)
	}
	warned := func(name string) {
		t.Helper()
		if c, err := Load(path); err != nil || len(c.Warnings) != 1 || c.Warnings[0].Path != "accounts.a.imap.ca_file" {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "ca.pem"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	warned("no certificate")
	if err := os.Remove(filepath.Join(dir, "ca.pem")); err != nil {
		t.Fatal(err)
	}
	warned("missing")
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("../testdata/config/*.toml")
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil {
			f.Add(string(data))
		}
	}
	f.Add("a = '''x''''\n[b]\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, problems := Loader{}.parse("/nowhere/config.toml", []byte(text))
		if c == nil && len(problems) == 0 {
			t.Fatal("neither a configuration nor a problem")
		}
		for _, p := range problems {
			if p.Path == "" || p.Problem == "" || p.Fix == "" {
				t.Fatalf("a problem without a part: %q", p)
			}
		}
		if c == nil {
			return
		}
		joined := ""
		for _, st := range statements(text) {
			joined += st.text
		}
		if joined != text {
			t.Fatalf("the statements joined are %q", joined)
		}
		if len(problems) > 0 {
			return
		}
		for _, a := range c.Accounts {
			a.Watch = nil
			again, problems := Loader{}.parse("/nowhere/config.toml", []byte(render(a)))
			if len(problems) > 0 {
				t.Fatalf("a rendered account is refused: %v\n%s", problems, render(a))
			}
			again.Accounts[0].Watch = nil
			if !reflect.DeepEqual(again.Accounts[0], a) {
				t.Fatalf("rendered and read again:\n%+v\nwas\n%+v", again.Accounts[0], a)
			}
		}
	})
}
