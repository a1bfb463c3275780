// Package config reads what a person configured: one TOML file, the
// environment and the XDG folders. It is the only package that reads the
// environment. What it returns is valid and complete: every default is filled
// in, and nothing in the file was ignored.
package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/BurntSushi/toml"

	"skrzynka/mail"
	"skrzynka/mail/safe"
)

// maxFile bounds what is read as a configuration, in bytes.
const maxFile = 1 << 20

// The bounds of the configurable numbers and durations.
const (
	minPoll, maxPoll             = 15 * time.Second, 24 * time.Hour
	maxUndo                      = 5 * time.Minute
	minRecordDays, maxRecordDays = 1, 3650
	maxLimit                     = 10000
)

// Config is a valid configuration.
type Config struct {
	Path     string         // the file it was read from
	Default  string         // the account used when none is named, "" without accounts
	Accounts []mail.Account // in the order of the file
	Outbox   mail.OutboxPolicy
	Sync     Sync
	UI       UI
	Keys     map[string]string // action to key, as written
	Warnings []Problem         // what is allowed but deserves a look
}

// Sync is the table [sync].
type Sync struct {
	Watch        []string // folder kinds or names followed by IDLE
	PollInterval time.Duration
}

// UI is the table [ui].
type UI struct {
	Theme  string // "auto", "dark", "light", or the absolute path of a file
	ASCII  bool
	Editor string // "" for the environment's
}

// Account returns the account of that name, or the default one for "".
func (c *Config) Account(name string) (mail.Account, error) {
	if len(c.Accounts) == 0 {
		return mail.Account{}, &mail.Error{Code: mail.CodeConfigMissing, Text: "No account is configured.",
			Hint: "Add one: skrzynka account add --email you@example.org."}
	}
	if name == "" {
		name = c.Default
	}
	names := make([]string, 0, len(c.Accounts))
	for _, a := range c.Accounts {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	return mail.Account{}, mail.Errorf(mail.CodeNotFound, "Use one of "+list(names)+".", "There is no account %q.", name)
}

// Loader reads a configuration with the checks that other packages bring.
type Loader struct {
	// ValidateKeys judges the table [keys]: unknown actions, unusable keys,
	// conflicts. Its problems' paths are relative to the table. Nil accepts all.
	ValidateKeys func(map[string]string) []Problem
}

// Load reads path without a check of [keys]. See [Loader.Load].
func Load(path string) (*Config, error) { return Loader{}.Load(path) }

// Load reads and checks the file at path. A missing file gives CONFIG_MISSING.
// Anything wrong in it gives one CONFIG_INVALID whose Details["problems"] is a
// []Problem with every problem found, not just the first.
func (l Loader) Load(path string) (*Config, error) {
	data, info, err := read(path)
	if err != nil {
		return nil, err
	}
	c, problems := l.parse(path, data)
	if c == nil {
		return nil, invalid(path, problems)
	}
	refused, warned := trust(info, c.runsCommands())
	problems = append(problems, refused...)
	c.Warnings = append(c.Warnings, warned...)
	if len(problems) > 0 {
		return nil, invalid(path, problems)
	}
	return c, nil
}

// read returns the file's bytes and its attributes.
func read(path string) ([]byte, fs.FileInfo, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, &mail.Error{Code: mail.CodeConfigMissing, Err: err,
			Text: "There is no configuration at " + safe.Line(path).String() + ".",
			Hint: "Create one: skrzynka account add --email you@example.org."}
	}
	if err != nil {
		return nil, nil, unreadable(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, unreadable(path, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, nil, unreadable(path, err)
	}
	if len(data) > maxFile {
		return nil, nil, invalid(path, []Problem{{Path: "file", Problem: "it is larger than 1 MiB", Fix: "name a configuration file"}})
	}
	return data, info, nil
}

func unreadable(path string, err error) error {
	return &mail.Error{Code: mail.CodeConfigInvalid, Err: err,
		Text: fmt.Sprintf("The configuration %s cannot be read: %s.", safe.Line(path), reason(err)),
		Hint: "Check the path and the file's permissions."}
}

// reason is what the system said, without the path it repeats.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return safe.Line(err.Error()).String()
}

// parse turns the file's text into a configuration. It returns nil when the
// text is not TOML; otherwise the configuration is as good as the problems let
// it be. Relative paths count from the folder of path.
func (l Loader) parse(path string, data []byte) (*Config, []Problem) {
	raw := map[string]any{}
	md, err := toml.Decode(string(data), &raw)
	if err != nil {
		return nil, []Problem{syntax(err)}
	}
	var problems []Problem
	// The tree is walked by hand: decoding into structs stops at the first
	// wrong type and takes keys in any case, and every problem is wanted.
	root := &reader{table: raw, known: map[string]bool{}, problems: &problems}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		dir = filepath.Dir(path)
	}
	c := &Config{Path: path}
	c.Default = root.text("default_account", "")
	c.Sync = readSync(root.sub("sync"))
	c.Outbox = readOutbox(root.sub("outbox"))
	c.UI = readUI(root.sub("ui"), dir)
	c.Keys = readKeys(root.sub("keys"), l.ValidateKeys)

	accounts := root.sub("accounts")
	for _, name := range tableOrder(md, accounts.table) {
		a, warnings := readAccount(name, accounts.sub(name), dir)
		a.Watch = c.Sync.Watch
		c.Accounts = append(c.Accounts, a)
		c.Warnings = append(c.Warnings, warnings...)
	}
	accounts.done()
	c.checkDefault(root)
	root.done()
	return c, problems
}

// tableOrder lists the accounts' names as the file has them.
func tableOrder(md toml.MetaData, accounts map[string]any) []string {
	var names []string
	seen := map[string]bool{}
	for _, k := range md.Keys() {
		if len(k) >= 2 && k[0] == "accounts" && !seen[k[1]] {
			if _, ok := accounts[k[1]]; ok {
				seen[k[1]] = true
				names = append(names, k[1])
			}
		}
	}
	return names
}

func (c *Config) checkDefault(root *reader) {
	if !root.has("default_account") {
		if len(c.Accounts) > 0 {
			c.Default = c.Accounts[0].Name
		}
		return
	}
	names := make([]string, 0, len(c.Accounts))
	for _, a := range c.Accounts {
		if a.Name == c.Default {
			return
		}
		names = append(names, a.Name)
	}
	if _, isText := root.table["default_account"].(string); !isText {
		return // its type was refused already
	}
	fix := "remove the line, or add the account"
	if len(names) > 0 {
		fix = "write one of " + list(names) + ", or remove the line"
	}
	root.problem("default_account", quote(c.Default)+" is not an account of this file", fix)
}

// runsCommands reports whether something in the file is run as a program.
func (c *Config) runsCommands() bool {
	if c.UI.Editor != "" {
		return true
	}
	for _, a := range c.Accounts {
		if len(a.PasswordCommand) > 0 {
			return true
		}
	}
	return false
}
