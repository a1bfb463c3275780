package safe

import (
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// SuspiciousDomain looks at the domain of an address, or at a bare host name.
// When a label of it could be taken for another name (scripts mixed in a way
// no language mixes them, or Cyrillic or Greek letters that all look Latin;
// after UTS 39), it returns the domain in its A-label form (RFC 5891), for
// showing beside or instead of the readable one, and true.
func SuspiciousDomain(addr string) (Text, bool) {
	domain := addr[strings.LastIndexAny(addr, "@\uff20")+1:]
	if i := strings.LastIndex(addr, "\uff20"); i >= 0 && i >= strings.LastIndexByte(addr, '@') {
		domain = addr[i+len("\uff20"):]
	}
	if len(domain) > 1024 {
		return Line(domain), true
	}
	shown := domain
	if strings.Contains(strings.ToLower(domain), "xn--") {
		if u, err := idna.Punycode.ToUnicode(strings.ToLower(domain)); err == nil {
			shown = u
		} else {
			return Name(domain), true
		}
	}
	if plain(shown, false) {
		return Text{}, false
	}
	suspicious := false
	for label := range strings.SplitSeq(shown, ".") {
		if suspiciousLabel(label) {
			suspicious = true
		}
	}
	if !suspicious {
		return Text{}, false
	}
	ascii, err := idna.Punycode.ToASCII(shown)
	if err != nil || !plain(ascii, false) {
		ascii = domain
	}
	return Name(ascii), true
}

// latinLike are the Cyrillic and Greek letters drawn as Latin ones are.
const latinLike = "асԁеһіјӏорԛѕԝхуѵгкпԍүзвнмт" + "οαυνρικτχγωη"

// companions lists what may stand beside what in one label; Latin may stand
// beside all of these.
var companions = [][]*unicode.RangeTable{
	{unicode.Han, unicode.Hiragana, unicode.Katakana},
	{unicode.Han, unicode.Hangul},
	{unicode.Han, unicode.Bopomofo},
}

func suspiciousLabel(label string) bool {
	var latin, other, lookalike, strange int
	var first *unicode.RangeTable
	mixed := false
	for _, r := range strings.ToLower(label) {
		switch {
		case r < 0x80 || unicode.Is(unicode.Latin, r) && r < 0xff00:
			if unicode.IsLetter(r) {
				latin++
			}
		case classify(r) != keep || r >= 0xff00 && r <= 0xffef:
			strange++
		case unicode.IsLetter(r):
			other++
			if strings.ContainsRune(latinLike, r) {
				lookalike++
			}
			s := script(r)
			if first == nil {
				first = s
			} else if s != first {
				mixed = true
			}
		}
	}
	if strange > 0 {
		return onlyMarksMissing(label)
	}
	if other == 0 {
		return false
	}
	if eastAsian(label) {
		return false
	}
	return mixed || latin > 0 || lookalike == other
}

// onlyMarksMissing reports whether a label with characters outside letters and
// digits has any that cannot be a combining mark of its own script.
func onlyMarksMissing(label string) bool {
	var s *unicode.RangeTable
	for _, r := range label {
		if r < 0x80 {
			continue
		}
		if unicode.Is(unicode.M, r) && s != nil && unicode.Is(s, r) {
			continue
		}
		if classify(r) != keep || r >= 0xff00 && r <= 0xffef {
			return true
		}
		t := script(r)
		if s != nil && t != s {
			return true
		}
		s = t
	}
	return false
}

// script returns the table of the script r belongs to, or nil.
func script(r rune) *unicode.RangeTable {
	for _, t := range commonScripts {
		if unicode.Is(t, r) {
			return t
		}
	}
	for _, t := range unicode.Scripts {
		if unicode.Is(t, r) {
			return t
		}
	}
	return nil
}

var commonScripts = []*unicode.RangeTable{unicode.Cyrillic, unicode.Greek, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Arabic, unicode.Hebrew}

// eastAsian reports whether every letter of label is Latin or of one of the
// combinations that East Asian languages write.
func eastAsian(label string) bool {
	for _, set := range companions {
		fits := true
		for _, r := range label {
			if unicode.IsLetter(r) && r != 'ー' && !unicode.Is(unicode.Latin, r) && !unicode.In(r, set...) {
				fits = false
				break
			}
		}
		if fits {
			return true
		}
	}
	return false
}
