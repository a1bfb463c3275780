package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"skrzynka/mail"
)

func sample(name string) mail.Account {
	return mail.Account{
		Name: name, DisplayName: `Ada "Countess" \ Łovelace`, Email: "ada@example.org",
		IMAP: mail.Server{Host: "imap.example.org", Port: 993, Security: mail.SecurityTLS, Username: "ada@example.org"},
		SMTP: mail.Server{Host: "smtp.example.org", Port: 465, Security: mail.SecurityTLS, Username: "ada@example.org"},
		Auth: mail.AuthPassword,
	}
}

func load(t *testing.T, path string) *Config {
	t.Helper()
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestWriteNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "skrzynka", "config.toml")
	if err := WriteNew(path, sample("personal")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	a, err := load(t, path).Account("")
	if err != nil || a.DisplayName != sample("").DisplayName || a.SMTP != sample("").SMTP {
		t.Errorf("read back %+v, %v", a, err)
	}
	before := readText(t, path)
	if err := WriteNew(path, sample("other")); !errors.Is(err, mail.ErrCode(mail.CodeConflict)) {
		t.Errorf("a second file: %v", err)
	}
	if readText(t, path) != before {
		t.Error("the file was overwritten")
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("files left behind: %v", entries)
	}
}

// Every default the header shows is the default the program has.
func TestHeaderShowsTheDefaults(t *testing.T) {
	var text strings.Builder
	for line := range strings.Lines(header) {
		line = strings.TrimPrefix(line, "# ")
		if strings.Contains(line, " = ") && !strings.Contains(line, "default_account") && !strings.HasPrefix(line, "[keys]") || strings.HasPrefix(line, "[") {
			text.WriteString(line)
		}
	}
	got, problems := Loader{}.parse("x", []byte(text.String()))
	want, _ := Loader{}.parse("x", nil)
	if len(problems) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, problems, want)
	}
}

func TestAppendAccount(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := AppendAccount(path, sample("one")); err != nil {
		t.Fatal("a file that is not there yet:", err)
	}
	own := "# mine, with  odd   spacing\n[ui]\nascii   =   true # and a comment"
	if err := os.WriteFile(path, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		if err := AppendAccount(path, sample(name)); err != nil {
			t.Fatal(err)
		}
	}
	c := load(t, path)
	if !strings.HasPrefix(readText(t, path), own+"\n") || len(c.Accounts) != 2 || !c.UI.ASCII {
		t.Errorf("the file is now\n%s", readText(t, path))
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o644 {
		t.Errorf("the mode changed to %v", info.Mode())
	}
	before := readText(t, path)
	if err := AppendAccount(path, sample("two")); !errors.Is(err, mail.ErrCode(mail.CodeConflict)) {
		t.Errorf("a name that is taken: %v", err)
	}
	bad := sample("three")
	bad.Email = "nobody"
	if err := AppendAccount(path, bad); len(Problems(err)) != 1 {
		t.Errorf("an account that is not valid: %v", err)
	}
	if readText(t, path) != before {
		t.Error("a refused account changed the file")
	}
}

func TestAppendKeepsASymbolicLink(t *testing.T) {
	dir := t.TempDir()
	target, path := filepath.Join(dir, "dotfiles.toml"), filepath.Join(dir, "config.toml")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := AppendAccount(path, sample("one")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
	if len(load(t, target).Accounts) != 1 {
		t.Error("the target has no account")
	}
}

const rest = "imap.host='b.example'\nsmtp.host='b.example'\n"

func TestRemoveAccount(t *testing.T) {
	rows := []struct{ name, before, after string }{
		{"the only one", "[accounts.x]\nemail='a@b.example'\n" + rest, ""},
		{"with sub-tables, in the middle",
			"# top\n[ui]\nascii = true\n\n# about x\n[accounts.x]\nemail='a@b.example'\n# inside\n" + rest +
				"\n[accounts.x.auth]\npassword_command = [\n  'a', # [accounts.y]\n  \"\"\"b\"\"\",\n]\n\n# about y\n[accounts.y]\nemail='a@b.example'\n" + rest,
			"# top\n[ui]\nascii = true\n\n# about y\n[accounts.y]\nemail='a@b.example'\n" + rest},
		{"spread over the file",
			"[accounts.x]\nemail='a@b.example'\n" + rest + "[sync]\npoll_interval='1m'\n[ accounts . \"x\" . policy ]\nallow=['b.example']\n# the end\n",
			"[sync]\npoll_interval='1m'\n# the end\n"},
		{"the default one", "default_account = 'x' # mine\n[accounts.x]\nemail='a@b.example'\n" + rest + "[accounts.y]\nemail='a@b.example'\n" + rest,
			"[accounts.y]\nemail='a@b.example'\n" + rest},
		{"another default stays", "default_account = 'y'\n[accounts.x]\nemail='a@b.example'\n" + rest + "[accounts.y]\nemail='a@b.example'\n" + rest,
			"default_account = 'y'\n[accounts.y]\nemail='a@b.example'\n" + rest},
		{"names that begin alike", "[accounts.xy]\nemail='a@b.example'\n" + rest + "[accounts.x]\nemail='a@b.example'\n" + rest,
			"[accounts.xy]\nemail='a@b.example'\n" + rest},
		{"CRLF", strings.ReplaceAll("[accounts.x]\nemail='a@b.example'\n"+rest+"\n[ui]\nascii=true\n", "\n", "\r\n"), "\r\n[ui]\r\nascii=true\r\n"},
		{"header text inside a string", "[ui]\neditor = '[accounts.x]'\n[accounts.x]\nname = \"[ui]\"\nemail='a@b.example'\n" + rest, "[ui]\neditor = '[accounts.x]'\n"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.toml")
			if err := os.WriteFile(path, []byte(r.before), 0o600); err != nil {
				t.Fatal(err)
			}
			backup, err := RemoveAccount(path, "x")
			if err != nil {
				t.Fatal(err)
			}
			if got := readText(t, path); got != r.after {
				t.Errorf("left\n%s\nwant\n%s", got, r.after)
			}
			if readText(t, backup) != r.before {
				t.Error("the backup differs from what was there")
			}
			load(t, path)
		})
	}
}

func TestRemoveThatIsRefused(t *testing.T) {
	rows := []struct {
		name, text string
		code       mail.Code
		says       string
	}{
		{"no such account", "[ui]\n", mail.CodeNotFound, `"x"`},
		{"inline table", "[accounts]\nx = {email='a@b.example'}\n", mail.CodeUnsupported, "every line"},
		{"dotted keys beside a table", "accounts.x.name='n'\n[accounts.x.imap]\nhost='b.example'\n", mail.CodeUnsupported, "2 [accounts.x.imap]"},
		{"not TOML", "[accounts.x\n", mail.CodeConfigInvalid, "line 2"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.toml")
			if err := os.WriteFile(path, []byte(r.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := RemoveAccount(path, "x")
			if !errors.Is(err, mail.ErrCode(r.code)) || !strings.Contains(err.Error(), r.says) {
				t.Errorf("got %v", err)
			}
			if entries, _ := os.ReadDir(filepath.Dir(path)); readText(t, path) != r.text || len(entries) != 1 {
				t.Error("something was written")
			}
		})
	}
}

func TestGuess(t *testing.T) {
	rows := []struct{ email, imap, smtp string }{
		{"a@gmail.com", "imap.gmail.com:993 tls", "smtp.gmail.com:465 tls"},
		{"A@GMail.com", "imap.gmail.com:993 tls", "smtp.gmail.com:465 tls"},
		{"a@hotmail.com", "outlook.office365.com:993 tls", "smtp-mail.outlook.com:587 starttls"},
		{"a@icloud.com", "imap.mail.me.com:993 tls", "smtp.mail.me.com:587 starttls"},
		{"a@proton.me", "127.0.0.1:1143 starttls", "127.0.0.1:1025 starttls"},
		{"a@wp.pl", "imap.wp.pl:993 tls", "smtp.wp.pl:465 tls"},
		{"a@example.org", "", ""},
		{"gmail.com", "", ""},
		{"", "", ""},
	}
	str := func(s mail.Server) string {
		if s.Host == "" {
			return ""
		}
		return fmt.Sprintf("%s:%d %s", s.Host, s.Port, s.Security)
	}
	for _, r := range rows {
		imap, smtp, _, ok := Guess(r.email)
		if str(imap) != r.imap || str(smtp) != r.smtp || ok != (r.imap != "") {
			t.Errorf("%s: %v and %v, %v", r.email, imap, smtp, ok)
		}
	}
}

// A guessed account is a valid one, for every row of the table.
func TestGuessedServersAreValid(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range providers {
		for _, d := range p.domains {
			if seen[d] {
				t.Errorf("%s is there twice", d)
			}
			seen[d] = true
			a := sample("x")
			a.Email = "someone@" + d
			var ok bool
			if a.IMAP, a.SMTP, _, ok = Guess(a.Email); !ok {
				t.Errorf("%s is not guessed", d)
			}
			c, problems := Loader{}.parse("x", []byte(render(a)))
			if len(problems) > 0 || len(c.Warnings) > 0 || c.Accounts[0].IMAP != a.IMAP || c.Accounts[0].SMTP != a.SMTP {
				t.Errorf("%s: %v, %+v", d, problems, c)
			}
		}
	}
}
