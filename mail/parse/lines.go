package parse

import (
	"strings"
	"unicode"
)

// Line is one line of a text: how deep it is quoted, and the rest.
type Line struct {
	Depth int
	Text  string
}

// Lines takes a text apart at its line ends and each line at its quote marks:
// "> > a" and ">> a" are both "a" at depth 2.
func Lines(text string) []Line {
	if text == "" {
		return nil
	}
	text = strings.TrimSuffix(text, "\n")
	lines := make([]Line, 0, strings.Count(text, "\n")+1)
	for s := range strings.SplitSeq(text, "\n") {
		lines = append(lines, quoteDepth(s))
	}
	return lines
}

func quoteDepth(s string) Line {
	if strings.HasPrefix(s, ">From ") { // an mbox's escape, not a quote
		return Line{0, s[1:]}
	}
	depth, i := 0, 0
	for i < len(s) {
		if s[i] == '>' {
			depth++
			i++
		} else if s[i] == ' ' && depth > 0 && i+1 < len(s) && s[i+1] == '>' {
			i++
		} else {
			break
		}
	}
	if depth > 0 && i < len(s) && s[i] == ' ' {
		i++
	}
	return Line{depth, s[i:]}
}

// SplitSignature parts a text before its trailing signature: the last line
// "-- " (or "--" as some programs leave it) that is not quoted and has at most
// maxSignature lines after it. Without one, sig is empty.
func SplitSignature(text string) (body, sig string) {
	const maxSignature = 30
	end := len(text)
	for n := 0; n <= maxSignature && end > 0; n++ {
		start := strings.LastIndexByte(text[:end-1], '\n') + 1
		if line := strings.TrimSuffix(text[start:end], "\n"); line == "-- " || line == "--" {
			return text[:start], text[start:]
		}
		end = start
	}
	return text, ""
}

// Snippet returns the first words of a text that say something, at most n
// characters, for a row of a list: without quotes, the line that introduces a
// quote, the signature, rules, and footnote numbers. What is longer ends in "…".
func Snippet(text string, n int) string {
	if n <= 0 {
		return ""
	}
	const enough = 8192
	text = clip(text, enough)
	if body, _ := SplitSignature(text); strings.TrimSpace(body) != "" {
		text = body
	}
	lines := Lines(text)
	var out []rune
	for i, l := range lines {
		if l.Depth > 0 || introducesQuote(lines, i) || isRule(l.Text) || listsLink(l.Text) {
			continue
		}
		for _, w := range strings.Fields(l.Text) {
			if j := strings.LastIndexByte(w, '['); j >= 0 && isFootnote(w[j:]) {
				w = w[:j]
			}
			if w == "" {
				continue
			}
			if len(out) > 0 {
				out = append(out, ' ')
			}
			out = append(out, []rune(w)...)
			if len(out) > n {
				return shorten(out, n)
			}
		}
	}
	return string(out)
}

// shorten cuts at a space near the end, when there is one, and adds "…".
func shorten(out []rune, n int) string {
	cut := n - 1
	for i := cut; i > cut-20 && i > 0; i-- {
		if out[i] == ' ' {
			cut = i
			break
		}
	}
	return strings.TrimRight(string(out[:cut]), " ,;:") + "…"
}

// introducesQuote reports whether line i ends in a colon and quoted text
// follows it, as in "On Monday, J. Smith wrote:"; its first half too, when the
// line was wrapped.
func introducesQuote(lines []Line, i int) bool {
	for j := i; j < len(lines) && j < i+2; j++ {
		t := strings.TrimSpace(lines[j].Text)
		if lines[j].Depth > 0 || t == "" {
			return false
		}
		if !strings.HasSuffix(t, ":") {
			continue
		}
		for k := j + 1; k < len(lines) && k < j+3; k++ {
			if lines[k].Depth > 0 {
				return j == i || strings.IndexFunc(lines[i].Text, unicode.IsDigit) >= 0
			}
			if strings.TrimSpace(lines[k].Text) != "" {
				break
			}
		}
	}
	return false
}

// isRule reports whether a line has neither letter nor digit.
func isRule(s string) bool {
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.So, r) {
			return false
		}
	}
	return true
}

// listsLink reports whether a line is one of the links listed under a text
// that was HTML.
func listsLink(s string) bool {
	mark, url, ok := strings.Cut(s, " ")
	return ok && isFootnote(mark) && strings.Contains(url, ":") && !strings.Contains(url, " ")
}

func isFootnote(w string) bool {
	if len(w) < 3 || len(w) > 5 || w[0] != '[' || w[len(w)-1] != ']' {
		return false
	}
	_, rest := digits(w[1 : len(w)-1])
	return rest == ""
}
