package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"strings"

	"github.com/BurntSushi/toml"

	"skrzynka/mail"
	"skrzynka/mail/safe"
)

// RemoveAccount cuts [accounts.NAME] and its sub-tables, and a default_account
// that names it, out of the file; every other byte stays. Before that the file
// is copied to the returned backup path. When the account is written in a way
// that cannot be cut safely (dotted keys, inline tables), nothing is changed and
// the error says which lines to delete. NOT_FOUND when there is no such account.
func RemoveAccount(path, name string) (backup string, err error) {
	old, info, err := read(path)
	if err != nil {
		return "", err
	}
	before := map[string]any{}
	if _, err := toml.Decode(string(old), &before); err != nil {
		return "", invalid(path, []Problem{syntax(err)})
	}
	accounts, _ := before["accounts"].(map[string]any)
	if _, ok := accounts[name]; !ok {
		return "", mail.Errorf(mail.CodeNotFound, "See skrzynka account list.", "There is no account %q in %s.", name, safe.Line(path))
	}
	text, lines := cut(string(old), name, before["default_account"] == name)
	if !onlyWithout(text, before, name) {
		return "", byHand(path, name, lines)
	}
	backup, err = saveBackup(path, old)
	if err != nil {
		return "", notWritten(path, err)
	}
	return backup, replace(path, old, []byte(text), info.Mode().Perm())
}

// onlyWithout reports whether text says what before says, less the account.
func onlyWithout(text string, before map[string]any, name string) bool {
	after := map[string]any{}
	if _, err := toml.Decode(text, &after); err != nil {
		return false
	}
	want := map[string]any{}
	for k, v := range before {
		if k == "default_account" && v == name {
			continue
		}
		want[k] = v
	}
	rest := map[string]any{}
	for k, v := range before["accounts"].(map[string]any) {
		if k != name {
			rest[k] = v
		}
	}
	delete(want, "accounts")
	if len(rest) > 0 {
		want["accounts"] = rest
	} else if t, ok := after["accounts"].(map[string]any); ok && len(t) == 0 {
		delete(after, "accounts") // an [accounts] header of its own may stay
	}
	return reflect.DeepEqual(after, want)
}

func byHand(path, name string, lines []string) error {
	hint := "Open the file and delete every line of the account."
	if len(lines) > 0 {
		hint = "Delete by hand the tables that begin in these lines, and whatever else names the account: " + strings.Join(lines, ", ") + "."
	}
	return &mail.Error{Code: mail.CodeUnsupported, Hint: hint,
		Text: fmt.Sprintf("The account %q cannot be cut out of %s safely; the file was not changed.", name, safe.Line(path))}
}

// saveBackup copies the file to a name beside it that is not taken.
func saveBackup(path string, text []byte) (string, error) {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s.backup-%d", path, n)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) && n < 10000 {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(text)
		if err == nil {
			err = f.Sync()
		}
		if e := f.Close(); err == nil {
			err = e
		}
		return name, err
	}
}

// cut returns text without the tables of the account, and the lines, by number
// and text, in which they begin. Comments right above a table and inside it go
// with it; what stands after its last value stays.
func cut(text, name string, dropDefault bool) (string, []string) {
	var out strings.Builder
	var where []string
	drop, root, line := false, true, 1
	pending := "" // comments and blank lines whose table is not yet known
	for _, st := range statements(text) {
		switch st.kind {
		case stBlank:
			if !drop && strings.TrimSpace(st.text) == "" {
				out.WriteString(pending)
				pending = ""
			}
			pending += st.text
		case stHeader:
			root = false
			path := headerPath(st.text)
			drop = len(path) >= 2 && path[0] == "accounts" && path[1] == name
			if drop {
				where = append(where, fmt.Sprintf("%d %s", line, safe.Line(strings.TrimSpace(st.text))))
			} else {
				out.WriteString(pending + st.text)
			}
			pending = ""
		case stValue:
			if !drop {
				out.WriteString(pending)
				if !(root && dropDefault && strings.HasPrefix(strings.TrimSpace(st.text), "default_account")) {
					out.WriteString(st.text)
				}
			}
			pending = ""
		}
		line += strings.Count(st.text, "\n")
	}
	out.WriteString(pending)
	return out.String(), where
}
