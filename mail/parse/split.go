package parse

import (
	"bytes"
	"strings"
)

// Field is one header field as it was received: its value unfolded, each fold
// one space, and trimmed, but not decoded and possibly not valid UTF-8.
type Field struct {
	Name  string
	Value string
}

// span says where a field's name and value are in the unfolded block.
type span struct{ name, colon, value, end int }

// block is a header block taken apart.
type block struct {
	fields []Field
	body   int  // offset of the first byte after the block
	cut    bool // the block was larger than the limits; the rest was not read
}

// splitHeader reads the header block of src from pos. It ends at an empty
// line, at a line stop reports true for, or at a line that is no field and
// after which no field comes before the next empty line. Other lines that are
// no fields, such as an mbox separator, are passed over.
func splitHeader(src []byte, pos int, stop func(line []byte) bool) block {
	var (
		buf      strings.Builder
		store    [48]span
		spans    = store[:0]
		cut      bool
		known    = -1 // how far lines have been looked at for a later field
		skipping = false
	)
	buf.Grow(min(len(src)-pos, 2048))
	for pos < len(src) {
		line, next := lineAt(src, pos)
		if len(line) == 0 {
			pos = next
			break
		}
		if stop != nil && line[0] == '-' && stop(line) {
			break
		}
		if line[0] == ' ' || line[0] == '\t' {
			if len(spans) > 0 && !skipping && !cut {
				if piece := trimSpace(line); len(piece) > 0 {
					if buf.Len()+len(piece) > MaxHeader {
						cut = true
					} else {
						buf.WriteByte(' ')
						buf.Write(piece)
						spans[len(spans)-1].end = buf.Len()
					}
				}
			}
			pos = next
			continue
		}
		colon := fieldName(line)
		if colon < 0 {
			if pos > known {
				if known = lastField(src, pos, stop); known < pos {
					break
				}
			}
			skipping, pos = true, next
			continue
		}
		skipping, pos = false, next
		value := trimSpace(line[colon+1:])
		name := trimSpace(line[:colon])
		if cut || len(spans) >= MaxFields || buf.Len()+len(name)+len(value) > MaxHeader {
			cut = true
			continue
		}
		s := span{name: buf.Len()}
		buf.Write(name)
		s.colon, s.value = buf.Len(), buf.Len()
		buf.Write(value)
		s.end = buf.Len()
		spans = append(spans, s)
	}
	all := buf.String()
	b := block{body: pos, cut: cut}
	if len(spans) > 0 {
		b.fields = make([]Field, len(spans))
		for i, s := range spans {
			value := all[s.value:s.end]
			if value != "" && value[0] == ' ' {
				value = value[1:]
			}
			b.fields[i] = Field{Name: all[s.name:s.colon], Value: value}
		}
	}
	return b
}

// lastField returns the offset of the last field line before the next empty
// line or the next line that stop reports, or -1.
func lastField(src []byte, pos int, stop func([]byte) bool) int {
	last := -1
	for limit := pos + MaxHeader; pos < len(src) && pos < limit; {
		line, next := lineAt(src, pos)
		if len(line) == 0 || stop != nil && line[0] == '-' && stop(line) {
			break
		}
		if fieldName(line) > 0 {
			last = pos
		}
		pos = next
	}
	return last
}

// lineAt returns the line of src that starts at pos without its line end, and
// where the next one starts.
func lineAt(src []byte, pos int) (line []byte, next int) {
	i := bytes.IndexByte(src[pos:], '\n')
	if i < 0 {
		line, next = src[pos:], len(src)
	} else {
		line, next = src[pos:pos+i], pos+i+1
	}
	for len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	return line, next
}

// fieldName returns where the colon of a field line is, or -1 when the line
// does not start with a field name (RFC 5322 section 2.2).
func fieldName(line []byte) int {
	for i, c := range line {
		switch {
		case c == ':':
			if i == 0 {
				return -1
			}
			return i
		case c == ' ' || c == '\t':
			rest := bytes.TrimLeft(line[i:], " \t")
			if i > 0 && len(rest) > 0 && rest[0] == ':' {
				return len(line) - len(rest)
			}
			return -1
		case c < 33 || c > 126 || i > 200:
			return -1
		}
	}
	return -1
}

func trimSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t' || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	return b
}

// normal returns raw with LF as line end when it has only CR, as very old
// programs wrote, and without empty lines and mbox separator in front.
func normal(raw []byte) []byte {
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') >= 0 {
		raw = bytes.ReplaceAll(raw, []byte{'\r'}, []byte{'\n'})
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	for len(raw) > 0 && (raw[0] == '\n' || raw[0] == '\r') {
		raw = raw[1:]
	}
	if bytes.HasPrefix(raw, []byte("From ")) || bytes.HasPrefix(raw, []byte(">From ")) {
		_, next := lineAt(raw, 0)
		raw = raw[next:]
	}
	return raw
}
