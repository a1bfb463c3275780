package config

import (
	"strings"

	"github.com/BurntSushi/toml"
)

type statementKind int

const (
	stBlank  statementKind = iota // an empty line or a comment
	stHeader                      // [table] or [[table]]
	stValue                       // key = value, over as many lines as it takes
)

// statement is one whole piece of a TOML file with its line end.
type statement struct {
	kind statementKind
	text string
}

// statements splits text that is known to be valid TOML. The pieces joined are
// the text again.
func statements(text string) []statement {
	var out []statement
	for len(text) > 0 {
		first := strings.TrimLeft(text, " \t")
		kind, end := stValue, 0
		switch {
		case first == "" || first[0] == '\n' || first[0] == '\r' || first[0] == '#':
			kind, end = stBlank, lineEnd(text)
		case first[0] == '[':
			kind, end = stHeader, lineEnd(text)
		default:
			end = valueEnd(text)
		}
		out = append(out, statement{kind, text[:end]})
		text = text[end:]
	}
	return out
}

// lineEnd returns the length of the first line with its LF.
func lineEnd(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i + 1
	}
	return len(s)
}

// valueEnd returns the length of "key = value" up to its line end, passing
// over strings of all four kinds, comments, lists and inline tables.
func valueEnd(s string) int {
	depth := 0
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '"' || c == '\'':
			i = stringEnd(s, i)
			continue
		case c == '#':
			i += lineEnd(s[i:])
			if i > 0 && s[i-1] == '\n' {
				i-- // the line end is judged below
			}
			continue
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == '\n' && depth <= 0:
			return i + 1
		}
		i++
	}
	return len(s)
}

// stringEnd returns where the string that begins at i ends.
func stringEnd(s string, i int) int {
	q := s[i]
	long := strings.Repeat(string(q), 3)
	if strings.HasPrefix(s[i:], long) {
		for j := i + 3; j < len(s); j++ {
			if s[j] == '\\' && q == '"' {
				j++
			} else if strings.HasPrefix(s[j:], long) {
				j += 3
				for j < len(s) && s[j] == q { // up to two quotes may stand before the end
					j++
				}
				return j
			}
		}
		return len(s)
	}
	for j := i + 1; j < len(s); j++ {
		switch {
		case s[j] == '\\' && q == '"':
			j++
		case s[j] == q:
			return j + 1
		case s[j] == '\n':
			return j
		}
	}
	return len(s)
}

// headerPath returns the names in a [table] line, nil when it is not one.
func headerPath(line string) []string {
	md, err := toml.Decode(line, &map[string]any{})
	if err != nil {
		return nil
	}
	var path []string
	for _, k := range md.Keys() {
		if len(k) > len(path) {
			path = k
		}
	}
	return path
}
