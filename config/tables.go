package config

import (
	"encoding/pem"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"skrzynka/mail"
)

func readOutbox(r *reader) mail.OutboxPolicy {
	defer r.done()
	return mail.OutboxPolicy{
		ResendUnsubmitted: choice(r, "resend_unsubmitted", "auto", "auto", "ask"),
		UndoWindow:        r.duration("undo_window", 10*time.Second, 0, maxUndo),
		RetryRecordDays:   r.integer("retry_record_days", 30, minRecordDays, maxRecordDays, "a number of days"),
	}
}

func readSync(r *reader) Sync {
	defer r.done()
	s := Sync{
		Watch:        r.texts("watch", []string{string(mail.FolderInbox)}),
		PollInterval: r.duration("poll_interval", 5*time.Minute, minPoll, maxPoll),
	}
	for _, w := range s.Watch {
		if strings.TrimSpace(w) == "" {
			r.problem("watch", "one item is empty", `write folder kinds or names, such as ["inbox"]`)
		}
	}
	return s
}

// themes are the built-in themes' names.
var themes = []string{"auto", "dark", "light"}

func readUI(r *reader, dir string) UI {
	defer r.done()
	u := UI{Theme: r.text("theme", "auto"), ASCII: r.flag("ascii", false), Editor: r.text("editor", "")}
	for _, t := range themes {
		if u.Theme == t {
			return u
		}
	}
	file := filePath(u.Theme, dir)
	if info, err := os.Stat(file); u.Theme == "" || err != nil || !info.Mode().IsRegular() {
		fix := "write " + list(quoted(themes)) + ", or the path of a theme file"
		if n := nearest(u.Theme, themes); n != "" {
			fix = `did you mean "` + n + `"? ` + fix
		}
		r.problem("theme", quote(u.Theme)+" is neither a theme nor a file", fix)
		u.Theme = "auto"
		return u
	}
	u.Theme = file
	return u
}

func readKeys(r *reader, validate func(map[string]string) []Problem) map[string]string {
	keys := map[string]string{}
	for _, action := range sortedKeys(r.table) {
		before := len(*r.problems)
		k := r.text(action, "")
		if len(*r.problems) == before {
			keys[action] = k
		}
	}
	if validate != nil {
		for _, p := range validate(keys) {
			r.problem(p.Path, p.Problem, p.Fix)
		}
	}
	return keys
}

// filePath makes a path of the file absolute: "~/" is the home folder, and a
// relative path counts from the configuration's folder.
func filePath(s, dir string) string {
	if s == "" {
		return ""
	}
	if rest, ok := strings.CutPrefix(s, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(s) {
		return filepath.Clean(s)
	}
	return filepath.Join(dir, s)
}

// checkCA warns of a root that cannot be used. It is no error: stored mail can
// be read without it, and connecting will refuse.
func checkCA(path, file string) *Problem {
	if file == "" {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return &Problem{path, "the file cannot be read: " + reason(err), "write the path of a certificate in PEM form"}
	}
	if block, _ := pem.Decode(data); block == nil || block.Type != "CERTIFICATE" {
		return &Problem{path, "the file holds no certificate in PEM form", "write the path of a file that begins with -----BEGIN CERTIFICATE-----"}
	}
	return nil
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
