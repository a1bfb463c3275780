package compose

import (
	"encoding/base64"
	"strings"
)

// NormalizeBody is the form of a body that counts when two sends are compared:
// every line ending is LF, blank lines at the end are dropped, and so is the
// last line's ending. A line of white space only is blank. Nothing else changes.
func NormalizeBody(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.ReplaceAll(s, "\r", "\n")
	for {
		i := strings.LastIndexByte(s, '\n')
		if i < 0 || strings.TrimSpace(s[i+1:]) != "" {
			return s
		}
		s = s[:i]
	}
}

// encodeText picks the transfer encoding of a text with LF line endings and
// applies it. The result is 7-bit, its lines end in CRLF.
func encodeText(s string) (encoding string, out []byte) {
	if !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	if plainText(s) {
		return "7bit", []byte(strings.ReplaceAll(s, "\n", "\r\n"))
	}
	high := 0
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			high++
		}
	}
	if high*2 > len(s) {
		return "base64", wrapBase64([]byte(strings.ReplaceAll(s, "\n", "\r\n")))
	}
	return "quoted-printable", quotedPrintable(s)
}

// plainText reports whether s survives transport as it is: printable ASCII and
// tabs, short lines, and no line that mailbox files would mangle.
func plainText(s string) bool {
	for line := range strings.Lines(s) {
		line = strings.TrimSuffix(line, "\n")
		if len(line) > softLine+2 || strings.HasPrefix(line, "From ") || strings.HasSuffix(line, "\t") {
			return false
		}
		for i := 0; i < len(line); i++ {
			if c := line[i]; c != '\t' && (c < ' ' || c >= 0x7f) {
				return false
			}
		}
	}
	return true
}

// quotedPrintable encodes LF-ended text (RFC 2045 section 6.7), lines of at
// most 76 octets, white space at line ends and "From " at their start encoded.
func quotedPrintable(s string) []byte {
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	for line := range strings.Lines(s) {
		line = strings.TrimSuffix(line, "\n")
		col := 0
		for i := 0; i < len(line); i++ {
			c := line[i]
			tok := line[i : i+1]
			last := i == len(line)-1
			if c != '\t' && c < ' ' || c >= 0x7f || c == '=' || last && (c == ' ' || c == '\t') ||
				c == 'F' && col == 0 && strings.HasPrefix(line[i:], "From ") {
				tok = string([]byte{'=', hex[c>>4], hex[c&15]})
			}
			if col+len(tok) > 75 {
				out.WriteString("=\r\n")
				col = 0
			}
			out.WriteString(tok)
			col += len(tok)
		}
		out.WriteString("\r\n")
	}
	return []byte(out.String())
}

// wrapBase64 encodes b in lines of 76 octets.
func wrapBase64(b []byte) []byte {
	e := base64.StdEncoding.EncodeToString(b)
	out := make([]byte, 0, len(e)+len(e)/38+2)
	for len(e) > 0 {
		n := min(76, len(e))
		out = append(append(out, e[:n]...), '\r', '\n')
		e = e[n:]
	}
	return out
}

// flow writes text as format=flowed (RFC 3676, DelSp=no): long lines are cut at
// spaces into soft lines that end in a space, and white space at the ends of
// the author's own lines is dropped so that they stay apart. A line that begins
// with ">" is a quote and is cut with its own marks repeated.
func flow(s string) string {
	var out strings.Builder
	for line := range strings.Lines(s) {
		line = strings.TrimSuffix(line, "\n")
		if line == "-- " {
			out.WriteString("-- \n")
			continue
		}
		line = strings.TrimRight(line, " ")
		marks := line[:len(line)-len(strings.TrimLeft(line, ">"))]
		text := line[len(marks):]
		if marks != "" {
			text = strings.TrimPrefix(text, " ")
			if line == marks+" --" || text == "--" {
				text = "-- "
			}
		}
		writeFlowed(&out, marks, text)
	}
	return out.String()
}

// flowWidth leaves room for marks and for quoting once more.
const flowWidth = 72

func writeFlowed(out *strings.Builder, marks, text string) {
	stuff := func(t string) string {
		if marks != "" {
			if t == "" {
				return marks
			}
			return marks + " " + t
		}
		if strings.HasPrefix(t, " ") || strings.HasPrefix(t, "From ") || strings.HasPrefix(t, ">") {
			return " " + t
		}
		return t
	}
	for {
		width := max(flowWidth-len(marks), 20)
		cut := -1
		if len(text) > width {
			if cut = strings.LastIndexByte(text[:width], ' '); cut <= 0 || strings.TrimSpace(text[:cut]) == "" {
				cut = strings.IndexByte(text[width:], ' ')
				if cut >= 0 {
					cut += width
				}
			}
		}
		if cut < 0 || cut >= len(text)-1 {
			out.WriteString(stuff(text) + "\n")
			return
		}
		out.WriteString(stuff(text[:cut+1]) + "\n")
		text = text[cut+1:]
	}
}
