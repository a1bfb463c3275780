package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
)

func TestFollowUpHours(t *testing.T) {
	for name, c := range map[string]struct {
		table string
		want  mail.FollowUpPolicy
		fails string
	}{
		"nothing said":       {"", mail.FollowUpPolicy{}, ""},
		"office hours":       {"hours = \"08:00-17:30\"\nworking_days = true", mail.FollowUpPolicy{From: 8 * time.Hour, To: 17*time.Hour + 30*time.Minute, WorkingDays: true}, ""},
		"until midnight":     {"hours = \"9:00 - 24:00\"", mail.FollowUpPolicy{From: 9 * time.Hour, To: 24 * time.Hour}, ""},
		"backwards":          {"hours = \"17:00-08:00\"", mail.FollowUpPolicy{}, "follow_up.hours"},
		"no minutes":         {"hours = \"8-17\"", mail.FollowUpPolicy{}, "follow_up.hours"},
		"beyond the day":     {"hours = \"08:00-24:30\"", mail.FollowUpPolicy{}, "follow_up.hours"},
		"a key nobody knows": {"days = 3", mail.FollowUpPolicy{}, "follow_up.days"},
		"a wrong type":       {"working_days = \"yes\"", mail.FollowUpPolicy{}, "follow_up.working_days"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.toml")
			text := fmt.Sprintf("[accounts.a]\nemail = \"a@example.org\"\n[accounts.a.imap]\nhost = \"i.example.org\"\n[accounts.a.smtp]\nhost = \"s.example.org\"\n[accounts.a.follow_up]\n%s\n", c.table)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg, err := Load(path)
			switch {
			case c.fails == "" && err != nil:
				t.Fatal(err)
			case c.fails == "":
				if got := cfg.Accounts[0].FollowUp; got != c.want {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
			case err == nil || !strings.Contains(fmt.Sprint(Problems(err)), c.fails):
				t.Errorf("got %v, want a problem of %s", err, c.fails)
			}
		})
	}
}
