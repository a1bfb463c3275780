package e2e

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// What the program may say to a terminal. Everything else is something that
// came from outside and was not cleaned, or a habit that was not thought about.
var (
	allowedCSI = regexp.MustCompile(`^(` + strings.Join([]string{
		`[0-9;:]*m`,                  // colours
		`[0-9;]*[ABCDEFGHJKLMPSTX@]`, // cursor, erase, insert, delete
		`[0-9;]*[abdefr` + "`" + `]`, // cursor, repeat, margins
		`\?[0-9;]+[hl]`,              // private modes
		`[0-9;]*[gIZ]|\?5W`,          // tabulators
		`\?[0-9;]+\$p`,               // is this mode known?
		`[<>=?][0-9;]*u`,             // keyboard protocol
		`>[0-9;]*m`,                  // modifyOtherKeys
		`[0-9]* q`,                   // shape of the cursor
		`>?[0-9]*[cq]`,               // what are you?
		`\??[0-9]*n`,                 // where is the cursor?
		`!p`,                         // soft reset
	}, "|") + `)$`)
	// The title in our own words and numbers; asking for and resetting colours.
	allowedOSC = regexp.MustCompile(`^([02];(Skrzynka(: \d+ (failed|uncertain))?)?|1[012];\?|11[012];?)$`)
	allowedESC = "78=>MDEHc"
)

// invisible are characters that draw nothing and change what is around them.
func invisible(r rune) bool {
	switch {
	case r >= 0x80 && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c, r == 0x2028, r == 0x2029, r == 0xfeff:
		return true
	}
	return r < 0x20 && !strings.ContainsRune("\r\n\t\b", r) || r == 0x7f || unicode.Is(unicode.Cf, r) && r != 0x200d && r != 0xad && r > 0xffff
}

// misuse reads a stream for a terminal and lists what must not be in it. A
// marker is a word that only content has: in a sequence it proves an escape.
func misuse(stream []byte, marker string) (bad []string) {
	say := func(format string, args ...any) {
		if len(bad) < 20 {
			bad = append(bad, fmt.Sprintf(format, args...))
		}
	}
	sequence := func(kind string, body []byte, allowed *regexp.Regexp) {
		if allowed == nil || !allowed.Match(body) {
			say("%s %q is not allowed", kind, body)
		}
		if marker != "" && bytes.Contains(body, []byte(marker)) {
			say("content is inside %s %q", kind, body)
		}
	}
	for len(stream) > 0 {
		if stream[0] != 0x1b {
			r, n := utf8.DecodeRune(stream)
			switch {
			case r == utf8.RuneError && n == 1:
				say("byte %#x is no UTF-8", stream[0])
			case invisible(r):
				say("character %U before %q", r, stream[n:min(len(stream), n+20)])
			}
			stream = stream[n:]
			continue
		}
		if len(stream) == 1 {
			say("a lone ESC at the end")
			return bad
		}
		kind, rest := stream[1], stream[2:]
		switch kind {
		case '[':
			end := bytes.IndexFunc(rest, func(r rune) bool { return r >= 0x40 && r <= 0x7e })
			if end < 0 {
				say("CSI without an end")
				return bad
			}
			sequence("CSI", rest[:end+1], allowedCSI)
			stream = rest[end+1:]
		case ']', 'P', '_', '^', 'X':
			end, n := len(rest), 0
			for i := range rest {
				if rest[i] == 0x07 && kind == ']' {
					end, n = i, 1
					break
				}
				if rest[i] == 0x1b {
					end, n = i, 1
					if i+1 < len(rest) && rest[i+1] == '\\' {
						n = 2
					}
					break
				}
			}
			allowed := allowedOSC
			if kind != ']' {
				allowed = nil
			}
			sequence("ESC "+string(rune(kind)), rest[:end], allowed)
			stream = rest[min(len(rest), end+n):]
		case '(', ')', '*', '+': // character sets: ASCII only
			if len(rest) == 0 || rest[0] != 'B' {
				say("another character set")
			}
			stream = rest[min(len(rest), 1):]
		default:
			if !strings.ContainsRune(allowedESC, rune(kind)) {
				say("ESC %q is not allowed", kind)
			}
			stream = rest
		}
	}
	return bad
}

// The reader above finds what it has to find.
func TestStreamReader(t *testing.T) {
	for _, row := range []struct {
		name, stream string
		bad          bool
	}{
		{"text", "Zażółć 猫 🍞\r\n\t", false},
		{"colour", "\x1b[38;2;1;2;3mx\x1b[0m", false},
		{"cursor", "\x1b[?25l\x1b[2;3H\x1b[K\x1b[?2026h", false},
		{"our title", "\x1b]2;Skrzynka: 3 failed\x07", false},
		{"another title", "\x1b]2;MARK\x07", true},
		{"clipboard", "\x1b]52;c;TUFSSw==\x07", true},
		{"a link", "\x1b]8;;https://MARK/\x1b\\x\x1b]8;;\x1b\\", true},
		{"DCS", "\x1bP+q544e\x1b\\", true},
		{"APC", "\x1b_MARK\x1b\\", true},
		{"PM", "\x1b^x\x1b\\", true},
		{"SOS", "\x1bXx\x1b\\", true},
		{"C1 in UTF-8", "\u009b2J", true},
		{"C1 as a byte", "\x9b2J", true},
		{"override", "a\u202eb", true},
		{"isolate", "a\u2066b", true},
		{"NUL", "a\x00b", true},
		{"bell", "a\x07b", true},
		{"DEL", "a\x7fb", true},
		{"a window operation", "\x1b[8;10;10t", true},
		{"line drawing", "\x1b(0", true},
		{"content in a question", "\x1b[?9;MARKh", true},
		{"an unfinished sequence", "\x1b[31", true},
		{"a lone escape", "x\x1b", true},
	} {
		if got := misuse([]byte(row.stream), "MARK"); (len(got) > 0) != row.bad {
			t.Errorf("%s: %q", row.name, got)
		}
	}
}
