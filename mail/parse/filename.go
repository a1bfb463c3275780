package parse

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxFilename is how long a file name may be, in bytes.
const maxFilename = 120

// Filename makes a name from a message safe as the name of a file in a folder
// of ours: the last element of its path, of letters, digits, dot, underscore,
// space and hyphen only, at most 120 bytes with its extension kept, not
// starting with a dot or hyphen, not ending in a dot or space, and none of the
// names Windows reserves. An empty one becomes "attachment". Whether a file of
// that name exists is for the caller to see to.
func Filename(name string) string {
	if len(name) > 4096 {
		name = name[len(name)-4096:]
	}
	name = strings.ToValidUTF8(name, "_")
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		if rest := strings.Trim(name[i+1:], ". "); rest != "" {
			name = name[i+1:]
		} else {
			name = strings.TrimRight(name, `/\. `)
			name = name[strings.LastIndexAny(name, `/\`)+1:]
		}
	}
	var b strings.Builder
	last := rune(0)
	for _, r := range norm.NFC.String(name) {
		switch {
		case unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune("._-", r):
		case unicode.Is(unicode.Zs, r) || r == '\t':
			r = ' '
		case unicode.In(r, unicode.Cf, unicode.M):
			continue
		default:
			r = '_'
		}
		if last == r && (r == '_' || r == ' ') {
			continue
		}
		b.WriteRune(r)
		last = r
	}
	name = trimName(b.String())
	if len(name) > maxFilename {
		name = shortenName(name)
	}
	if reserved(name) {
		name = "_" + name
	}
	if strings.Trim(name, "_. -") == "" {
		return "attachment"
	}
	return name
}

func trimName(s string) string {
	return strings.TrimRight(strings.TrimLeft(s, ".- "), ". ")
}

// shortenName cuts the stem of a name and keeps a short extension. It leaves
// one byte for the mark that reserved names get.
func shortenName(name string) string {
	ext := ""
	if i := strings.LastIndexByte(name, '.'); i > 0 && len(name)-i <= 16 {
		name, ext = name[:i], name[i:]
	}
	return trimName(trimName(clip(name, maxFilename-1-len(ext))) + ext)
}

// reserved reports whether Windows takes a name for a device.
func reserved(name string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch stem = strings.TrimSpace(stem); stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	for _, device := range []string{"COM", "LPT"} {
		if rest, ok := strings.CutPrefix(stem, device); ok && strings.ContainsRune("0123456789¹²³", []rune(rest + " ")[0]) {
			return len([]rune(rest)) == 1
		}
	}
	return false
}
