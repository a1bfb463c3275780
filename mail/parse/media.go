package parse

import (
	"sort"
	"strings"
)

// Param is one parameter of Content-Type or Content-Disposition: its name in
// lower case, its value decoded.
type Param struct{ Name, Value string }

// Params are parameters in their order, each name once.
type Params []Param

// Get returns the value of the parameter called name, in lower case, or "".
func (p Params) Get(name string) string {
	for _, q := range p {
		if q.Name == name {
			return q.Value
		}
	}
	return ""
}

// maxParams bounds the pieces of one field's parameters.
const maxParams = 500

// MediaType reads a Content-Type value (RFC 2045 section 5): the media type in
// lower case, or "" when there is none, and the parameters, with the
// continuations and charsets of RFC 2231 and, against the rules but common,
// encoded words. Of parameters given twice the first counts.
func MediaType(v string) (string, Params) {
	head, rest, _ := strings.Cut(v, ";")
	if i := strings.IndexAny(head, "(,"); i >= 0 {
		head = head[:i]
	}
	typ := strings.ToLower(strings.TrimSpace(head))
	if strings.IndexByte(typ, '=') >= 0 { // the type itself is missing
		rest, typ = v, ""
		if words := strings.Fields(head); strings.IndexByte(words[0], '/') > 0 && strings.IndexByte(words[0], '=') < 0 {
			typ, rest = strings.ToLower(words[0]), strings.TrimSpace(v)[len(words[0]):] // the semicolon is missing
		}
	}
	if strings.ContainsAny(typ, " \t") {
		typ = strings.Join(strings.Fields(typ), "")
	}
	if typ == "text" {
		typ = "text/plain"
	} else if i := strings.IndexByte(typ, '/'); i <= 0 || i == len(typ)-1 {
		typ = ""
	}
	return toUTF8(typ), readParams(rest)
}

// piece is one part of a parameter that RFC 2231 split.
type piece struct {
	name    string
	n       int
	encoded bool
	value   string
}

func readParams(s string) Params {
	var params Params
	var pieces []piece
	for n := 0; s != "" && n < maxParams; n++ {
		s = strings.TrimLeft(s, "; \t")
		eq := strings.IndexAny(s, "=;")
		if eq < 0 {
			break
		}
		if s[eq] == ';' {
			s = s[eq+1:]
			continue
		}
		name := strings.ToLower(strings.TrimSpace(s[:eq]))
		if i := strings.LastIndexAny(name, " \t"); i >= 0 {
			name = name[i+1:] // a separator is missing; the last word counts
		}
		var value string
		value, s = paramValue(strings.TrimLeft(s[eq+1:], " \t"), name)
		if star := strings.IndexByte(name, '*'); star > 0 {
			pieces = append(pieces, newPiece(name, star, value))
			continue
		}
		if params.has(name) || name == "" {
			continue
		}
		if name == "name" || name == "filename" {
			value = DecodeText(value)
		}
		params = append(params, Param{toUTF8(name), toUTF8(value)})
	}
	return joinPieces(params, pieces)
}

func (p Params) has(name string) bool {
	for _, q := range p {
		if q.Name == name {
			return true
		}
	}
	return false
}

// paramValue reads one value and returns what follows it. An unquoted file
// name may hold spaces; other unquoted values end at one.
func paramValue(s, name string) (value, rest string) {
	if s != "" && s[0] == '"' {
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case '"':
				return unescapePath(s[1:i]), s[i+1:]
			}
		}
		s = s[1:] // never closed
	}
	if i := strings.IndexByte(s, ';'); i >= 0 {
		value, rest = s[:i], s[i+1:]
	} else {
		value = s
	}
	value = strings.TrimSpace(value)
	if !strings.HasPrefix(name, "filename") && !strings.HasPrefix(name, "name") {
		if i := strings.IndexAny(value, " \t("); i > 0 {
			value = value[:i]
		}
	}
	return strings.Trim(value, `"`), rest
}

// unescapePath removes the backslash of quoted pairs, but keeps those of a
// Windows path, which programs write without doubling.
func unescapePath(s string) string {
	if strings.Contains(s, `\\`) || strings.Contains(s, `\"`) {
		return unescape(s)
	}
	return s
}

func newPiece(name string, star int, value string) piece {
	p := piece{name: name[:star], value: value}
	suffix := name[star+1:]
	if suffix == "" {
		p.encoded = true
		return p
	}
	if strings.HasSuffix(suffix, "*") {
		p.encoded = true
		suffix = suffix[:len(suffix)-1]
	}
	n, rest := digits(suffix)
	if rest != "" {
		n = maxParams
	}
	p.n = n
	return p
}

// joinPieces adds the parameters of RFC 2231 to those without. They count
// before a plain one of the same name (RFC 6266 section 4.3).
func joinPieces(params Params, pieces []piece) Params {
	sort.SliceStable(pieces, func(i, j int) bool {
		if pieces[i].name != pieces[j].name {
			return pieces[i].name < pieces[j].name
		}
		return pieces[i].n < pieces[j].n
	})
	for i := 0; i < len(pieces); {
		name, charset := pieces[i].name, ""
		var value []byte
		last := -1
		for first := true; i < len(pieces) && pieces[i].name == name; i++ {
			p := pieces[i]
			if p.n == last {
				continue
			}
			last = p.n
			v := p.value
			if p.encoded {
				if first {
					if parts := strings.SplitN(v, "'", 3); len(parts) == 3 {
						charset, v = parts[0], parts[2]
					}
				}
				value = append(value, unpercent(v)...)
			} else {
				value = append(value, v...)
			}
			first = false
		}
		text := Decode(value, charset)
		if charset == "" && strings.Contains(text, "=?") {
			text = DecodeText(text)
		}
		set := false
		for k := range params {
			if params[k].Name == name {
				params[k].Value, set = text, true
			}
		}
		if !set {
			params = append(params, Param{toUTF8(name), text})
		}
	}
	return params
}

func unpercent(s string) []byte {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			b = append(b, unhex(s[i+1])<<4|unhex(s[i+2]))
			i += 2
		} else {
			b = append(b, s[i])
		}
	}
	return b
}
