package parse

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"skrzynka/mail"
)

// Link is one http, https or mailto link of a message. Other schemes are never
// listed.
type Link struct {
	N    int    // number of its footnote, from 1
	URL  string // as it would be opened
	Host string // host of the URL, or domain of the mailto address, in A-labels
	Text string // the words it stands under, "" when it was found in plain text
}

// maxURL bounds one link; maxShownURL what the footnote shows of it.
const (
	maxURL      = 8 << 10
	maxShownURL = 2000
)

type links struct {
	list  []Link
	byURL map[string]int
	html  int // how many of the list came from HTML and have footnotes
}

func newLinks() *links { return &links{byURL: map[string]int{}} }

// add lists an address and returns its number, or 0 when it cannot be opened
// or there are too many.
func (l *links) add(href, text string) int {
	u, host, ok := openable(href)
	if !ok {
		return 0
	}
	if n := l.byURL[u]; n > 0 {
		return n
	}
	if len(l.list) >= MaxLinks {
		return 0
	}
	l.list = append(l.list, Link{N: len(l.list) + 1, URL: u, Host: host, Text: text})
	l.byURL[u] = len(l.list)
	return len(l.list)
}

// openable returns href as a URL that may be opened, and its host. White space
// and controls are taken out first, as browsers do, so that they cannot hide a
// scheme.
func openable(href string) (u, host string, ok bool) {
	if len(href) > maxURL {
		return "", "", false
	}
	href = strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == utf8.RuneError {
			return -1
		}
		return r
	}, href)
	href = strings.TrimSpace(href)
	if strings.HasPrefix(href, "//") {
		href = "https:" + href
	}
	i := strings.IndexByte(href, ':')
	if i < 0 {
		return "", "", false
	}
	switch scheme := strings.ToLower(href[:i]); scheme {
	case "http", "https":
		rest := strings.ReplaceAll(href[i+1:], `\`, "/")
		rest = strings.TrimLeft(rest, "/")
		host = hostOf(rest)
		if host == "" {
			return "", "", false
		}
		return scheme + "://" + escapeSpaces(rest), host, true
	case "mailto":
		rest := escapeSpaces(href[i+1:])
		addr, _, _ := strings.Cut(rest, "?")
		if a, err := url.PathUnescape(addr); err == nil {
			addr = a
		}
		if strings.IndexByte(addr, '@') < 0 {
			return "", "", false
		}
		first, _, _ := strings.Cut(addr, ",")
		return "mailto:" + rest, mail.Address{Addr: strings.TrimSpace(first)}.Domain(), true
	}
	return "", "", false
}

func escapeSpaces(s string) string {
	if strings.IndexFunc(s, unicode.IsSpace) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.IsSpace(r) {
			b.WriteString(url.PathEscape(string(r)))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hostOf returns the host at the start of what follows "//" in a URL: without
// user name and port, in lower-case A-labels.
func hostOf(rest string) string {
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if strings.HasPrefix(rest, "[") {
		if i := strings.IndexByte(rest, ']'); i > 0 {
			return strings.ToLower(rest[:i+1])
		}
		return ""
	}
	if i := strings.IndexByte(rest, ':'); i >= 0 {
		rest = rest[:i]
	}
	if u, err := url.PathUnescape(rest); err == nil && u != "" {
		rest = u
	}
	if a, err := mail.ASCIIDomain(rest); err == nil {
		return a
	}
	if strings.IndexFunc(rest, func(r rune) bool { return r <= ' ' }) >= 0 {
		return ""
	}
	return strings.ToLower(rest)
}

// misleading reports whether the words of a link look like an address of a web
// site or a mailbox at another host than where the link leads.
func misleading(text, host string) bool {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > 2000 || strings.ContainsAny(text, " \n") {
		return false
	}
	claim := text
	if i := strings.Index(claim, "://"); i >= 0 {
		claim = claim[i+3:]
	}
	claim = hostOf(strings.TrimLeft(strings.TrimPrefix(claim, "mailto:"), "/<([\"'"))
	claim = strings.TrimRight(claim, ".,;:!)>]\"'")
	i := strings.LastIndexByte(claim, '.')
	if i <= 0 || len(claim)-i < 3 || strings.IndexFunc(claim, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.')
	}) >= 0 {
		return false
	}
	for _, r := range claim[i+1:] {
		if !unicode.IsLetter(r) && !strings.HasPrefix(claim[i+1:], "xn--") {
			return false
		}
	}
	return strings.TrimPrefix(claim, "www.") != strings.TrimPrefix(host, "www.")
}

// footnotes lists the links that have a number in the text.
func (l *links) footnotes() string {
	if l.html == 0 {
		return ""
	}
	var b strings.Builder
	for i, k := range l.list[:l.html] {
		if i == 0 {
			b.WriteByte('\n')
		}
		shown := k.URL
		if len(shown) > maxShownURL {
			shown = clip(shown, maxShownURL) + "…"
		}
		fmt.Fprintf(&b, "[%d] %s\n", k.N, shown)
	}
	return b.String()
}

// scan lists the links written out in plain text.
func (l *links) scan(text string) {
	for pos := 0; len(l.list) < MaxLinks; {
		i := strings.Index(text[pos:], ":")
		if i < 0 {
			return
		}
		colon := pos + i
		pos = colon + 1
		start := colon
		for start > 0 && colon-start < 7 && isASCIILetter(text[start-1]) {
			start--
		}
		switch strings.ToLower(text[start:colon]) {
		case "http", "https":
			if !strings.HasPrefix(text[pos:], "//") {
				continue
			}
		case "mailto":
		default:
			continue
		}
		end := urlEnd(text, pos, start > 0 && text[start-1] == '<')
		l.add(text[start:end], "")
		pos = end
	}
}

func isASCIILetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// urlEnd returns where a URL in running text ends: at white space or a mark
// that URLs do not hold, without the punctuation of the sentence around it.
// Between angle brackets it may be broken over lines (RFC 3986 appendix C);
// only its first line is taken.
func urlEnd(text string, pos int, bracketed bool) int {
	end := pos
	for end < len(text) && end-pos < maxURL {
		r, n := utf8.DecodeRuneInString(text[end:])
		if r <= ' ' || r == '<' || r == '>' || r == '"' || r == 0x7f || unicode.IsSpace(r) || r == '”' || r == '“' || r == '»' || r == '。' || r == '、' {
			break
		}
		end += n
	}
	if bracketed {
		return end
	}
	for end > pos {
		c := text[end-1]
		if strings.IndexByte(".,;:!?'*]}", c) >= 0 || c == ')' && strings.Count(text[pos:end], "(") < strings.Count(text[pos:end], ")") {
			end--
			continue
		}
		break
	}
	return end
}
