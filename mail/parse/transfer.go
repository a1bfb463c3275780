package parse

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// encodingName returns the name of a Content-Transfer-Encoding in lower case,
// without the comments and hyphens some programs add.
func encodingName(v string) string {
	v = strings.ToLower(strings.Trim(v, " \t\"'"))
	if i := strings.IndexAny(v, " \t(;,"); i >= 0 {
		v = v[:i]
	}
	switch v {
	case "base64", "base-64":
		return "base64"
	case "quoted-printable", "quoted_printable", "quotedprintable", "qp":
		return "quoted-printable"
	}
	return v
}

// decodeTransfer undoes a transfer encoding (RFC 2045 section 6) and reports
// whether the data was damaged. Data that is not encoded, or in a way that is
// not decoded (uuencode), is returned as it is, without a copy.
func decodeTransfer(b []byte, enc string) ([]byte, bool) {
	switch enc {
	case "base64":
		return decodeBase64(b)
	case "quoted-printable":
		return decodeQP(b), false
	}
	return b, false
}

const (
	bad    = 0xff
	skip   = 0xfe
	padded = 0xfd
)

var base64Table = func() (t [256]byte) {
	for i := range t {
		t[i] = bad
	}
	for i, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		t[c] = byte(i)
	}
	for _, c := range " \t\r\n\v\f" {
		t[c] = skip
	}
	t['='] = padded
	return t
}()

// decodeBase64 decodes base64 as far as it goes: white space anywhere, missing
// padding, padded blocks one after another, single foreign characters. Text
// that follows the data, such as a list's footer, ends it. It reports whether
// anything but base64 was met.
func decodeBase64(b []byte) ([]byte, bool) {
	dst := make([]byte, base64.StdEncoding.DecodedLen(len(b)))
	if n, err := base64.StdEncoding.Decode(dst, b); err == nil {
		return dst[:n], false
	}
	dst = dst[:0]
	n, damaged := lenient64(b, func(p []byte) { dst = append(dst, p...) })
	return dst[:n], damaged
}

// base64Size returns what decodeBase64 would: how many bytes, and whether the
// data is damaged, without storing them.
func base64Size(b []byte) (int, bool) {
	chars, pads := 0, 0
	for _, c := range b {
		switch v := base64Table[c]; {
		case v < 64 && pads == 0:
			chars++
		case v == padded:
			pads++
		case v != skip:
			return lenient64(b, func([]byte) {})
		}
	}
	if pads > 2 || (chars+pads)%4 != 0 {
		return lenient64(b, func([]byte) {})
	}
	return chars/4*3 + max(chars%4-1, 0), false
}

func lenient64(b []byte, emit func([]byte)) (size int, damaged bool) {
	var acc [4]byte
	n := 0
	ended := false // a padded block ended just before
	flush := func() {
		var out [3]byte
		if n < 2 {
			n = 0
			return
		}
		for i := n; i < 4; i++ {
			acc[i] = 0
		}
		out[0] = acc[0]<<2 | acc[1]>>4
		out[1] = acc[1]<<4 | acc[2]>>2
		out[2] = acc[2]<<6 | acc[3]
		emit(out[:n-1])
		size += n - 1
		n = 0
	}
	for pos := 0; pos < len(b); {
		line, next := lineAt(b, pos)
		pos = next
		if foreignLine(line, ended) {
			damaged = true
			break
		}
		for _, c := range line {
			switch v := base64Table[c]; v {
			case skip:
			case bad:
				damaged = true
			case padded:
				flush()
				ended = true
			default:
				acc[n] = v
				ended = false
				if n++; n == 4 {
					flush()
				}
			}
		}
	}
	flush()
	return size, damaged
}

// foreignLine reports whether a line among base64 data is other text: many
// characters of it are not base64, or it follows the end of the data and is
// not a block of its own.
func foreignLine(line []byte, ended bool) bool {
	foreign, other, spaces := 0, 0, 0
	for _, c := range line {
		switch base64Table[c] {
		case bad:
			foreign++
		case skip:
			spaces++
		default:
			other++
		}
	}
	if ended && other+foreign > 0 && (foreign > 0 || spaces > 0 && other%4 != 0) {
		return true
	}
	return foreign >= 2 && foreign*4 >= foreign+other
}

// decodeQP decodes quoted-printable: lower-case digits, white space before a
// line end, an equals sign that starts nothing, all as people send it.
func decodeQP(b []byte) []byte {
	if bytes.IndexByte(b, '=') < 0 {
		return b
	}
	dst := make([]byte, 0, len(b))
	for pos := 0; pos < len(b); {
		end := bytes.IndexByte(b[pos:], '\n')
		line, eol := b[pos:], ""
		if end >= 0 {
			line, eol = b[pos:pos+end], "\n"
			pos += end + 1
			if n := len(line); n > 0 && line[n-1] == '\r' {
				line, eol = line[:n-1], "\r\n"
			}
		} else {
			pos = len(b)
		}
		if eol != "" || len(line) > 0 && line[len(line)-1] != ' ' {
			line = bytes.TrimRight(line, " \t")
		}
		if n := len(line); n > 0 && line[n-1] == '=' {
			line, eol = line[:n-1], "" // a soft line break
		}
		for {
			i := bytes.IndexByte(line, '=')
			if i < 0 {
				break
			}
			dst = append(dst, line[:i]...)
			if i+2 < len(line) && isHex(line[i+1]) && isHex(line[i+2]) {
				dst = append(dst, unhex(line[i+1])<<4|unhex(line[i+2]))
				line = line[i+3:]
			} else {
				dst = append(dst, '=')
				line = line[i+1:]
			}
		}
		dst = append(dst, line...)
		dst = append(dst, eol...)
	}
	return dst
}
