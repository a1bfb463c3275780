package parse

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

// aliases are charset names in use in mail that the index of the WHATWG does
// not list, or that it gives up on.
var aliases = map[string]encoding.Encoding{
	"ansi": charmap.Windows1252, "ansi_x3.4-1968": charmap.Windows1252, "iso-8859-1-windows-3.1-latin-1": charmap.Windows1252,
	"latin-1": charmap.Windows1252, "latin1": charmap.Windows1252, "windows1252": charmap.Windows1252, "iso8859_1": charmap.Windows1252,
	"latin-2": charmap.ISO8859_2, "latin2": charmap.ISO8859_2, "windows1250": charmap.Windows1250,
	"cp437": charmap.CodePage437, "ibm437": charmap.CodePage437, "437": charmap.CodePage437,
	"cp850": charmap.CodePage850, "ibm850": charmap.CodePage850, "850": charmap.CodePage850,
	"cp852": charmap.CodePage852, "ibm852": charmap.CodePage852, "852": charmap.CodePage852,
	"cp855": charmap.CodePage855, "cp858": charmap.CodePage858, "cp865": charmap.CodePage865,
	"iso-8859-8-i": charmap.ISO8859_8, "iso-8859-8-e": charmap.ISO8859_8,
	"hz-gb-2312": simplifiedchinese.HZGB2312, "hz": simplifiedchinese.HZGB2312,
	"cp936": simplifiedchinese.GBK, "windows-936": simplifiedchinese.GBK,
	"utf-16": unicode.UTF16(unicode.BigEndian, unicode.UseBOM), "utf16": unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
	"ucs-2": unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
}

// indexNames maps further names to those of the index.
var indexNames = map[string]string{
	"cp949": "euc-kr", "ms949": "euc-kr", "uhc": "euc-kr", "ks_c_5601": "euc-kr", "ks_c_5601-1987": "euc-kr",
	"cp932": "shift_jis", "windows-932": "shift_jis", "cp950": "big5", "big-5": "big5", "big5-hkscs": "big5",
	"eucjp": "euc-jp", "ujis": "euc-jp", "iso-2022-jp-1": "iso-2022-jp", "iso-2022-jp-2": "iso-2022-jp", "iso-2022-jp-ms": "iso-2022-jp", "cp50220": "iso-2022-jp",
	"euckr": "euc-kr", "euc-cn": "gbk", "euccn": "gbk", "tis-620": "windows-874", "cp874": "windows-874",
	"koi8r": "koi8-r", "koi8u": "koi8-u", "mac": "macintosh", "x-mac-roman": "macintosh",
}

// refused are names of the index that are not decoded: what they would give is
// not text anyone sent.
var refused = map[string]bool{"replacement": true, "x-user-defined": true}

// utf8Names are the names under which bytes are taken as UTF-8 when they are.
var utf8Names = map[string]bool{"": true, "utf-8": true, "utf8": true, "utf_8": true, "unicode-1-1-utf-8": true, "us-ascii": true, "ascii": true,
	"utf-8mb4": true, "x-unknown": true, "unknown": true, "unknown-8bit": true, "default": true, "none": true, "binary": true, "8bit": true}

// Decode converts bytes in the named charset to valid UTF-8. Without a name,
// under UTF-8 and US-ASCII, and under a name that is unknown or refused (UTF-7
// and EBCDIC are), bytes that are valid UTF-8 are taken as they are, and
// others as Windows-1252, unless some of them are UTF-8 characters and the
// charset says so: then only the invalid ones become U+FFFD.
func Decode(b []byte, charset string) string {
	name := charset
	if !plainName(name) {
		name = charsetName(charset)
	}
	if utf8Names[name] {
		return decodeUTF8(b, name == "utf-8")
	}
	enc := lookup(name)
	if enc == nil {
		return decodeUTF8(b, false)
	}
	out, err := enc.NewDecoder().Bytes(b)
	if err != nil || !utf8.Valid(out) {
		return decodeUTF8(b, false)
	}
	text := string(out)
	// A declared charset that does not fit, on bytes that are UTF-8: mislabelled.
	if strings.ContainsRune(text, utf8.RuneError) && utf8.Valid(b) && countMultibyte(b, 2) {
		return string(b)
	}
	return text
}

// plainName reports whether name is already as charsetName makes it.
func plainName(name string) bool {
	for i := 0; i < len(name); i++ {
		if c := name[i]; !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return true
}

// charsetName takes quotes, controls, comments and case out of a charset name.
func charsetName(s string) string {
	s = strings.ToLower(strings.Trim(s, "'\"\x00 \t;"))
	if i := strings.IndexAny(s, "\x00 \t(;,\"'"); i >= 0 {
		s = s[:i]
	}
	if len(s) > 40 {
		s = s[:40]
	}
	return strings.TrimPrefix(s, "charset=")
}

// lookup returns the decoder of a charset, or nil for one that is not on the list.
func lookup(name string) encoding.Encoding {
	if e := aliases[name]; e != nil {
		return e
	}
	if n, ok := indexNames[name]; ok {
		name = n
	}
	e, err := htmlindex.Get(name)
	if err != nil {
		if rest, ok := strings.CutPrefix(name, "cp125"); ok {
			e, err = htmlindex.Get("windows-125" + rest)
		} else if rest, ok := strings.CutPrefix(name, "iso8859-"); ok {
			e, err = htmlindex.Get("iso-8859-" + rest)
		} else if rest, ok := strings.CutPrefix(name, "iso_8859-"); ok {
			e, err = htmlindex.Get("iso-8859-" + rest)
		}
		if err != nil {
			return nil
		}
	}
	if n, err := htmlindex.Name(e); err != nil || refused[n] {
		return nil
	}
	return e
}

func decodeUTF8(b []byte, declared bool) string {
	if len(b) >= 3 && b[0] == 0xef && b[1] == 0xbb && b[2] == 0xbf {
		b = b[3:]
	}
	if utf8.Valid(b) {
		return string(b)
	}
	if declared && countMultibyte(b, 1) {
		return strings.ToValidUTF8(string(b), "\ufffd")
	}
	out, err := charmap.Windows1252.NewDecoder().Bytes(b)
	if err != nil {
		return strings.ToValidUTF8(string(b), "\ufffd")
	}
	return string(out)
}

// countMultibyte reports whether b has at least n characters of two bytes or
// more in UTF-8.
func countMultibyte(b []byte, n int) bool {
	for i := 0; i < len(b); {
		if b[i] < 0x80 {
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		if r != utf8.RuneError && size > 1 {
			if n--; n <= 0 {
				return true
			}
		}
		i += size
	}
	return false
}
