package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"skrzynka/mail"
	"skrzynka/mail/safe"
)

// Problem is one thing in a configuration that is refused, or warned of.
type Problem struct {
	Path    string `json:"path"`    // the field: accounts.personal.smtp.port
	Problem string `json:"problem"` // what is wrong with it
	Fix     string `json:"fix"`     // what to write instead
}

// String writes the problem in one line.
func (p Problem) String() string { return p.Path + ": " + p.Problem + "; " + p.Fix }

// invalid makes the one error for all problems of a file.
func invalid(path string, problems []Problem) error {
	text := fmt.Sprintf("The configuration %s is not valid: %s.", safe.Line(path), problems[0])
	if n := len(problems) - 1; n == 1 {
		text += " There is one more problem."
	} else if n > 1 {
		text += fmt.Sprintf(" There are %d more problems.", n)
	}
	return &mail.Error{Code: mail.CodeConfigInvalid, Text: text, Hint: "Correct the file and run the command again.",
		Details: map[string]any{"problems": problems}}
}

// Problems returns the problems a CONFIG_INVALID error carries.
func Problems(err error) []Problem {
	var e *mail.Error
	if !errors.As(err, &e) {
		return nil
	}
	p, _ := e.Details["problems"].([]Problem)
	return p
}

// syntax describes text that is not TOML.
func syntax(err error) Problem {
	var pe toml.ParseError
	if errors.As(err, &pe) {
		return Problem{Path: fmt.Sprintf("line %d", pe.Position.Line), Problem: unquoted(safe.Line(pe.Message).String()),
			Fix: "correct the line: the file is TOML, text stands in double quotes"}
	}
	return Problem{Path: "file", Problem: safe.Line(err.Error()).String(), Fix: "write valid TOML"}
}

// unquoted leaves out what a message quotes of the file: it may be a password
// in the wrong place.
func unquoted(message string) string {
	first, last := strings.IndexByte(message, '"'), strings.LastIndexByte(message, '"')
	if first < last {
		message = message[:first] + "something else" + message[last+1:]
	}
	return strings.TrimSuffix(message, ".")
}

// joinPath writes the parts of a field's path, quoting those that need it.
func joinPath(parts []string) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = keyText(p)
	}
	return strings.Join(out, ".")
}

// keyText is a key as TOML writes it: bare where it can be.
func keyText(k string) string {
	if k != "" && strings.Trim(k, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == "" {
		return k
	}
	return tomlString(k)
}

// quote shows a value of the file, shortened and safe for a terminal.
func quote(s string) string {
	t := safe.Line(s).Clip(60).String()
	return strconv.Quote(t)
}

// list writes alternatives: "a, b or c".
func list(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// nearest returns the candidate that s is most likely a slip of, or "".
func nearest(s string, candidates []string) string {
	best, bestDistance := "", len(s)/3+2
	if len(s) > 64 {
		return ""
	}
	for _, c := range candidates {
		if d := distance(strings.ToLower(s), strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance counts the insertions, deletions, substitutions and swaps of
// neighbours between a and b (optimal string alignment).
func distance(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
