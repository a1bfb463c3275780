package composer

import (
	"strings"

	"skrzynka/mail"
)

// ParseAddresses reads recipients as people write and paste them: separated by
// commas, semicolons or line ends, each "Name <a@b>", "a@b", "a@b (Name)" or
// "mailto:a@b". What is no address is returned too, as it was written, so that a
// draft loses nothing; wrong is one sentence about the first of these, "" when
// all are good.
func ParseAddresses(s string) (list []mail.Address, wrong string) {
	for _, part := range splitAddresses(s) {
		a := parseAddress(part)
		list = append(list, a)
		if wrong != "" {
			continue
		}
		if !strings.Contains(a.Addr, "@") {
			wrong = quoteShort(part) + " is no address: write name@example.org."
		} else if _, err := mail.EnvelopeAddress(a.Addr); err != nil {
			wrong = mail.AsError(err).Text
		}
	}
	return list, wrong
}

func quoteShort(s string) string {
	if r := []rune(s); len(r) > 30 {
		s = string(r[:29]) + "…"
	}
	return `"` + s + `"`
}

// splitAddresses cuts at separators that stand outside quotes, brackets and
// comments.
func splitAddresses(s string) []string {
	var parts []string
	var quoted, angle bool
	depth, start := 0, 0
	flush := func(end int) {
		if p := strings.TrimSpace(s[start:end]); p != "" {
			parts = append(parts, p)
		}
		start = end + 1
		quoted, angle, depth = false, false, 0
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted:
			if c == '\\' {
				i++
			} else if c == '"' {
				quoted = false
			}
		case c == '"' && strings.IndexByte(s[i+1:], '"') >= 0:
			quoted = true
		case c == '(' && strings.IndexByte(s[i+1:], ')') >= 0:
			depth++
		case c == ')':
			depth = max(0, depth-1)
		case c == '<' && strings.IndexByte(s[i+1:], '>') >= 0:
			angle = true
		case c == '>':
			angle = false
		case c == '\n', (c == ',' || c == ';') && !angle && depth == 0:
			flush(i)
		}
	}
	if start < len(s) {
		flush(len(s))
	}
	return parts
}

func parseAddress(s string) mail.Address {
	if i := strings.LastIndexByte(s, '<'); i >= 0 {
		if j := strings.IndexByte(s[i:], '>'); j > 0 {
			return mail.Address{Name: unquote(s[:i]), Addr: bare(s[i+1 : i+j])}
		}
	}
	if i := strings.IndexByte(s, '('); i > 0 && strings.HasSuffix(s, ")") && strings.Contains(s[:i], "@") {
		return mail.Address{Name: strings.TrimSpace(s[i+1 : len(s)-1]), Addr: bare(s[:i])}
	}
	// "Ada Example ada@example.org", as address books copy it
	if words := strings.Fields(s); len(words) > 1 && !strings.ContainsAny(s, "<>") {
		if last := words[len(words)-1]; strings.Contains(last, "@") && !strings.Contains(strings.Join(words[:len(words)-1], ""), "@") {
			return mail.Address{Name: unquote(strings.Join(words[:len(words)-1], " ")), Addr: bare(last)}
		}
	}
	return mail.Address{Addr: bare(s)}
}

func bare(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 7 && strings.EqualFold(s[:7], "mailto:") {
		s, _, _ = strings.Cut(s[7:], "?")
	}
	return s
}

func unquote(s string) string {
	s = strings.TrimSpace(s)
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	var b strings.Builder
	for i := 1; i < len(s)-1; i++ {
		if s[i] == '\\' && i+1 < len(s)-1 {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// formatAddresses writes addresses so that ParseAddresses reads them back.
func formatAddresses(list []mail.Address) string {
	parts := make([]string, len(list))
	for i, a := range list {
		name := a.Name
		if strings.ContainsAny(name, `,;<>()"@\:`) {
			name = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
		}
		parts[i] = a.Addr
		if name != "" {
			parts[i] = name + " <" + a.Addr + ">"
		}
	}
	return strings.Join(parts, ", ")
}
