package config

import (
	"fmt"
	"sort"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"skrzynka/mail/safe"
)

// reader takes typed values out of one table of the file, notes every problem
// with its path, and in the end refuses the keys nobody asked for.
type reader struct {
	path     []string
	table    map[string]any
	known    map[string]bool // keys that were asked for
	problems *[]Problem
}

// has reports whether the file sets key.
func (r *reader) has(key string) bool {
	_, ok := r.table[key]
	return ok
}

func (r *reader) name(key string) string {
	if key == "" {
		return joinPath(r.path)
	}
	return joinPath(append(append([]string{}, r.path...), key))
}

func (r *reader) problem(key, what, fix string) {
	*r.problems = append(*r.problems, Problem{Path: r.name(key), Problem: what, Fix: fix})
}

// value asks for key and reports whether the file sets it.
func (r *reader) value(key string) (any, bool) {
	r.known[key] = true
	v, ok := r.table[key]
	return v, ok
}

func (r *reader) wrongType(key string, v any, fix string) {
	r.problem(key, "this is "+typeName(v), fix)
}

// sub opens a table inside this one. Where the key is something else, the
// reader that comes back is empty and notes nothing more.
func (r *reader) sub(key string) *reader {
	s := &reader{path: append(append([]string{}, r.path...), key), known: map[string]bool{}, problems: r.problems}
	v, ok := r.value(key)
	if !ok {
		s.table = map[string]any{}
		return s
	}
	t, ok := v.(map[string]any)
	if !ok {
		r.wrongType(key, v, "write a table: ["+r.name(key)+"]")
		s.problems = new([]Problem)
		t = map[string]any{}
	}
	s.table = t
	return s
}

// text reads one line of text; control characters are refused.
func (r *reader) text(key, def string) string {
	v, ok := r.value(key)
	if !ok {
		return def
	}
	s, ok := v.(string)
	if !ok {
		r.wrongType(key, v, "write text in double quotes")
		return def
	}
	if !r.oneLine(key, s) {
		return def
	}
	return s
}

func (r *reader) oneLine(key, s string) bool {
	if strings.ContainsFunc(s, unicode.IsControl) || !utf8.ValidString(s) {
		r.problem(key, "the text has a line break or another control character", "write one line of plain text")
		return false
	}
	return true
}

// texts reads a list of one-line texts.
func (r *reader) texts(key string, def []string) []string {
	v, ok := r.value(key)
	if !ok {
		return def
	}
	items, ok := v.([]any)
	if !ok {
		r.wrongType(key, v, `write a list: ["…", "…"]`)
		return def
	}
	out := make([]string, 0, len(items))
	for i, item := range items {
		s, ok := item.(string)
		if !ok {
			r.problem(key, fmt.Sprintf("item %d is %s", i+1, typeName(item)), "write every item as text in double quotes")
			continue
		}
		if r.oneLine(key, s) {
			out = append(out, s)
		}
	}
	return out
}

func (r *reader) flag(key string, def bool) bool {
	v, ok := r.value(key)
	if !ok {
		return def
	}
	b, ok := v.(bool)
	if !ok {
		r.wrongType(key, v, "write true or false")
		return def
	}
	return b
}

// integer reads a whole number from low to high; what names it in the fix.
func (r *reader) integer(key string, def, low, high int, what string) int {
	v, ok := r.value(key)
	if !ok {
		return def
	}
	fix := fmt.Sprintf("write %s from %d to %d", what, low, high)
	n, ok := v.(int64)
	if !ok {
		r.wrongType(key, v, fix)
		return def
	}
	if n < int64(low) || n > int64(high) {
		r.problem(key, fmt.Sprintf("%d is out of range", n), fix)
		return def
	}
	return int(n)
}

// duration reads a text such as "5m" from low to high.
func (r *reader) duration(key string, def, low, high time.Duration) time.Duration {
	v, ok := r.value(key)
	if !ok {
		return def
	}
	fix := fmt.Sprintf("write a duration from %s to %s in double quotes, such as %q", short(low), short(high), short(def))
	s, ok := v.(string)
	if !ok {
		r.wrongType(key, v, fix)
		return def
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		r.problem(key, quote(s)+" is not a duration", fix)
		return def
	}
	if d < low || d > high {
		r.problem(key, quote(s)+" is out of range", fix)
		return def
	}
	return d
}

// short writes a duration without its zero parts.
func short(d time.Duration) string {
	s := d.String()
	if d != 0 && d%time.Minute == 0 {
		s = strings.TrimSuffix(s, "0s")
	}
	if d != 0 && d%time.Hour == 0 {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// choice reads one of the given words.
func choice[T ~string](r *reader, key string, def T, all ...T) T {
	v, ok := r.value(key)
	if !ok {
		return def
	}
	words := make([]string, len(all))
	for i, w := range all {
		words[i] = string(w)
	}
	fix := "write " + list(quoted(words))
	s, ok := v.(string)
	if !ok {
		r.wrongType(key, v, fix)
		return def
	}
	for _, w := range all {
		if s == string(w) {
			return w
		}
	}
	if n := nearest(s, words); n != "" {
		fix = fmt.Sprintf("did you mean %q? %s", n, fix)
	}
	r.problem(key, quote(s)+" is not known here", fix)
	return def
}

func quoted(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = `"` + w + `"`
	}
	return out
}

// done refuses every key that was never asked for.
func (r *reader) done() {
	var unknown, known []string
	for k := range r.table {
		if !r.known[k] {
			unknown = append(unknown, k)
		}
	}
	if len(unknown) == 0 {
		return
	}
	for k := range r.known {
		known = append(known, k)
	}
	sort.Strings(unknown)
	sort.Strings(known)
	for _, k := range unknown {
		// The value is not shown: it may be a password in the wrong place.
		r.problem(k, "this key is not known", r.advice(k, known))
	}
}

func (r *reader) advice(key string, known []string) string {
	lower := strings.ToLower(safe.Line(key).String())
	if n := nearest(key, known); n != "" && !(strings.Contains(lower, "passw") && !strings.Contains(lower, "command")) {
		return "did you mean " + n + "?"
	}
	if strings.Contains(lower, "passw") || lower == "secret" || lower == "token" {
		return "remove it: passwords are kept in the keyring (skrzynka account login), or come from auth.password_command"
	}
	if place, ok := elsewhere[key]; ok {
		return "move it to " + place
	}
	if len(known) == 0 {
		return "remove it"
	}
	return "remove it, or use one of " + list(known)
}

// elsewhere says where a key belongs that was written in another table.
var elsewhere = map[string]string{
	"host": "[accounts.NAME.imap] or [accounts.NAME.smtp]", "port": "[accounts.NAME.imap] or [accounts.NAME.smtp]",
	"security": "[accounts.NAME.imap] or [accounts.NAME.smtp]", "username": "[accounts.NAME.imap]",
	"ca_file": "[accounts.NAME.imap] or [accounts.NAME.smtp]", "partial": "[accounts.NAME.smtp]",
	"method": "[accounts.NAME.auth]", "password_command": "[accounts.NAME.auth]",
	"email": "[accounts.NAME]", "aliases": "[accounts.NAME]", "kind": "[accounts.NAME.folders.FOLDER]",
	"allow": "[accounts.NAME.policy]", "deny": "[accounts.NAME.policy]", "confirm": "[accounts.NAME.policy]",
	"undo_window": "[outbox]", "resend_unsubmitted": "[outbox]", "retry_record_days": "[outbox]",
	"watch": "[sync]", "poll_interval": "[sync]", "theme": "[ui]", "ascii": "[ui]", "editor": "[ui]",
	"default_account": "the top of the file",
}

// typeName describes a value by its TOML type.
func typeName(v any) string {
	switch v.(type) {
	case string:
		return "text"
	case bool:
		return "true or false"
	case int64:
		return "a whole number"
	case float64:
		return "a number with a fraction"
	case time.Time:
		return "a date or time"
	case []any:
		return "a list"
	case []map[string]any:
		return "a list of tables"
	case map[string]any:
		return "a table"
	default:
		return "something else"
	}
}
