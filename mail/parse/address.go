package parse

import (
	"strings"

	"skrzynka/mail"
)

// Addresses reads the value of an address field (RFC 5322 section 3.4) as
// people and programs write it: besides the grammar, names with commas, dots
// or 8-bit characters that are not quoted, missing brackets, local parts
// ending in a dot, comments as names, groups (their members are returned).
// Decoded names are never read as addresses. An entry without an @ is kept: a
// single word as the address, more words as a name.
func Addresses(v string) []mail.Address { return appendAddresses(nil, v) }

func appendAddresses(list []mail.Address, v string) []mail.Address {
	if a, ok := simpleAddress(v); ok {
		return append(list, a)
	}
	if len(v) > MaxAddressText {
		v = v[:MaxAddressText]
		if i := strings.LastIndexByte(v, ','); i > 0 {
			v = v[:i]
		}
	}
	p := addressReader{s: v, list: list, lastSemicolon: strings.LastIndexByte(v, ';')}
	p.read()
	return p.list
}

// simpleAddress reads the two commonest forms, "Name <a@b>" and "a@b",
// without copying.
func simpleAddress(v string) (mail.Address, bool) {
	if len(v) > 500 {
		return mail.Address{}, false
	}
	open := -1
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c == '<':
			if open >= 0 {
				return mail.Address{}, false
			}
			open = i
		case c == '"':
			// Only quotes around the whole name.
			if i != 0 && (open >= 0 || v[0] != '"' || !strings.HasPrefix(strings.TrimLeft(v[i+1:], " "), "<")) {
				return mail.Address{}, false
			}
		case c == ',' || c == ':':
			if open >= 0 || v[0] != '"' {
				return mail.Address{}, false
			}
		case c == ';' || c == '(' || c == ')' || c == '\\' || c == '\'' || c >= 0x7f || c < ' ' || c == '=' && i+1 < len(v) && v[i+1] == '?':
			return mail.Address{}, false
		case c == ' ' && open >= 0:
			return mail.Address{}, false
		case c == '>' && i != len(v)-1:
			return mail.Address{}, false
		}
	}
	if open < 0 {
		at := strings.IndexByte(v, '@')
		if at <= 0 || strings.IndexByte(v, ' ') >= 0 || v[0] == '"' || v[len(v)-1] == '>' {
			return mail.Address{}, false
		}
		return mail.Address{Addr: v}, true
	}
	addr := v[open+1:]
	if len(addr) < 4 || addr[len(addr)-1] != '>' || addr[0] == '@' || strings.IndexByte(addr, '@') < 0 {
		return mail.Address{}, false
	}
	name := strings.TrimSpace(v[:open])
	if len(name) > 1 && name[0] == '"' && name[len(name)-1] == '"' {
		name = strings.TrimSpace(name[1 : len(name)-1])
	}
	if strings.IndexByte(name, '"') >= 0 {
		return mail.Address{}, false
	}
	return mail.Address{Name: name, Addr: addr[:len(addr)-1]}, true
}

type addressReader struct {
	s    string
	i    int
	list []mail.Address

	phrase   strings.Builder // words before the brackets
	comment  string
	angle    string
	hasAngle bool
	named    int    // how much of phrase stood before the brackets
	carry    string // a name without an address, which a comma cut off

	lastSemicolon                int
	noQuote, noComment, noCloser bool // nothing of the kind is ended any more
}

func (p *addressReader) read() {
	for p.i < len(p.s) && len(p.list) < MaxAddresses {
		switch c := p.s[p.i]; {
		case c == '"' && p.quoted():
		case c == '(' && p.commentText():
		case c == '<' && p.bracket():
		case c == '=' && strings.HasPrefix(p.s[p.i:], "=?") && p.encoded():
		case c == ',':
			p.i++
			p.flush()
		case c == ';':
			p.i++
			p.flush()
			p.flushCarry()
		case c == ':' && !p.hasAngle && p.i < p.lastSemicolon && strings.IndexByte(p.phrase.String(), '@') < 0:
			p.i++
			p.reset() // what stood here names a group
			p.flushCarry()
		default:
			p.phrase.WriteByte(c)
			p.i++
		}
	}
	if len(p.list) < MaxAddresses {
		p.flush()
		p.flushCarry()
	}
}

// quoted reads a quoted string; as a local part it stays as it is.
func (p *addressReader) quoted() bool {
	if p.noQuote {
		return false
	}
	for j := p.i + 1; j < len(p.s); j++ {
		switch p.s[j] {
		case '\\':
			j++
		case '"':
			inner := p.s[p.i+1 : j]
			if j+1 < len(p.s) && p.s[j+1] == '@' && strings.TrimSpace(p.phrase.String()) == "" {
				p.phrase.WriteString(p.s[p.i : j+1])
			} else {
				p.phrase.WriteString(unescape(inner))
				if j+1 < len(p.s) && p.s[j+1] == '<' {
					p.phrase.WriteByte(' ')
				}
			}
			p.i = j + 1
			return true
		}
	}
	p.noQuote = true
	return false
}

func (p *addressReader) commentText() bool {
	if p.noComment {
		return false
	}
	depth := 0
	for j := p.i; j < len(p.s); j++ {
		switch p.s[j] {
		case '\\':
			j++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				if p.comment == "" {
					p.comment = unescape(p.s[p.i+1 : j])
				}
				p.i = j + 1
				return true
			}
		}
	}
	p.noComment = true
	return false
}

func (p *addressReader) bracket() bool {
	if p.hasAngle {
		if strings.IndexByte(p.angle, '@') >= 0 {
			before, after := p.phrase.String()[:p.named], p.phrase.String()[p.named:]
			p.phrase.Reset()
			p.phrase.WriteString(before)
			p.flush()
			p.phrase.WriteString(after) // the comma between two entries is missing
		} else {
			p.phrase.WriteString(" <" + p.angle + "> ")
		}
	}
	rest := p.s[p.i+1:]
	end := -1
	if !p.noCloser {
		if end = strings.IndexByte(rest, '>'); end < 0 {
			p.noCloser = true
		}
	}
	if end < 0 {
		if end = strings.IndexAny(rest, ",;"); end < 0 {
			end = len(rest)
		}
		p.i += 1 + end
	} else {
		p.i += 2 + end
	}
	p.angle, p.hasAngle, p.named = rest[:end], true, p.phrase.Len()
	return true
}

// encoded passes an encoded word into the phrase whole, since careless
// programs leave commas and brackets in it.
func (p *addressReader) encoded() bool {
	limit := min(len(p.s), p.i+2048)
	_, n := encodedWord(p.s[p.i:limit])
	if n == 0 || strings.ContainsAny(p.s[p.i:p.i+n], " \t") {
		return false
	}
	p.phrase.WriteString(p.s[p.i : p.i+n])
	p.i += n
	return true
}

func (p *addressReader) reset() {
	p.phrase.Reset()
	p.comment, p.angle, p.hasAngle, p.named = "", "", false, 0
}

// flush ends one entry.
func (p *addressReader) flush() {
	defer p.reset()
	name := strings.TrimSpace(p.phrase.String())
	if p.hasAngle {
		if name == "" {
			name = p.comment
		}
		if p.carry != "" {
			name = strings.TrimSuffix(p.carry+", "+name, ", ")
			p.carry = ""
		}
		p.add(name, cleanSpec(p.angle))
		return
	}
	if strings.IndexByte(name, '@') < 0 {
		p.flushCarryBut(name)
		return
	}
	p.flushCarry()
	if name[0] == '"' {
		p.add(p.comment, cleanSpec(name))
		return
	}
	if strings.Contains(name, " @") || strings.Contains(name, "@ ") {
		name = strings.ReplaceAll(strings.ReplaceAll(name, " @", "@"), "@ ", "@")
	}
	words := strings.Fields(name)
	for i := len(words) - 1; i >= 0; i-- {
		if w := words[i]; strings.IndexByte(w, '@') >= 0 && !strings.HasPrefix(w, "=?") {
			rest := strings.Join(append(words[:i:i], words[i+1:]...), " ")
			if rest == "" {
				rest = p.comment
			}
			p.add(rest, cleanSpec(strings.Trim(w, "[]")))
			return
		}
	}
	p.add(name, "")
}

// flushCarryBut keeps name, which has no address, for the entry after the
// comma, and settles the one kept before.
func (p *addressReader) flushCarryBut(name string) {
	if name == "" {
		return
	}
	if p.carry != "" {
		name = p.carry + ", " + name
	}
	if len(name) > 1000 {
		p.flushCarry()
		return
	}
	p.carry = name
}

func (p *addressReader) flushCarry() {
	if p.carry == "" {
		return
	}
	for word := range strings.SplitSeq(p.carry, ", ") {
		if len(p.list) >= MaxAddresses {
			break
		}
		if strings.ContainsAny(word, " \t") || strings.HasPrefix(word, "=?") {
			p.add(word, "")
		} else {
			p.add("", cleanSpec(word))
		}
	}
	p.carry = ""
}

func (p *addressReader) add(name, addr string) {
	name = strings.TrimSpace(DecodeText(name))
	if n := len(name); n > 1 && name[0] == '\'' && name[n-1] == '\'' {
		name = strings.TrimSpace(name[1 : n-1])
	}
	if name == "" && addr == "" {
		return
	}
	p.list = append(p.list, mail.Address{Name: name, Addr: addr})
}

// cleanSpec tidies an addr-spec: no white space outside quotes, no route
// (RFC 5322 section 4.4), no "mailto:".
func cleanSpec(s string) string {
	s = strings.TrimSpace(toUTF8(s))
	if len(s) > 7 && strings.EqualFold(s[:7], "mailto:") {
		s = s[7:]
	}
	if s != "" && s[0] == '@' {
		if i := strings.LastIndexByte(s, ':'); i >= 0 {
			s = s[i+1:]
		}
	}
	if strings.IndexByte(s, '"') < 0 && strings.ContainsAny(s, " \t") {
		s = strings.Join(strings.Fields(s), "")
	}
	return strings.Trim(s, "<>'")
}

func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b = append(b, s[i])
	}
	return string(b)
}
