package safe

import "unicode"

const (
	zwnj = 0x200c
	zwj  = 0x200d
)

type kind int

const (
	keep     kind = iota // shown as it is
	drop                 // cannot be seen, or changes the order of what can
	space                // one of the spaces
	tab                  //
	lineEnd              //
	replace              // U+FFFD
	picture              // a C0 control or DEL, shown as its control picture
	mark                 // takes no cell of its own
	selector             // variation selectors of text and emoji style
	joiner               // ZWJ, ZWNJ
)

// fillers are characters that take no cell or an empty one and are not in the
// general category Cf.
var fillers = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // combining grapheme joiner
	{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers
	{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, // Khmer inherent vowels
	{Lo: 0x180b, Hi: 0x180f, Stride: 1}, // Mongolian selectors
	{Lo: 0x3164, Hi: 0x3164, Stride: 1},
	{Lo: 0xfe00, Hi: 0xfe0d, Stride: 1}, // variation selectors 1 to 14
	{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
}, R32: []unicode.Range32{
	{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}, // tags, variation selectors 17 to 256
}}

// visibleFormat are the Cf characters that draw a sign of their own.
var visibleFormat = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x0600, Hi: 0x0605, Stride: 1},
	{Lo: 0x06dd, Hi: 0x06dd, Stride: 1},
	{Lo: 0x070f, Hi: 0x070f, Stride: 1},
	{Lo: 0x0890, Hi: 0x0891, Stride: 1},
	{Lo: 0x08e2, Hi: 0x08e2, Stride: 1},
}, R32: []unicode.Range32{
	{Lo: 0x110bd, Hi: 0x110bd, Stride: 1},
	{Lo: 0x110cd, Hi: 0x110cd, Stride: 1},
}}

func classify(r rune) kind {
	switch {
	case r < 0x20:
		return classifyC0(r)
	case r < 0x7f:
		return keep
	case r == 0x7f:
		return picture
	case r == 0x85:
		return lineEnd
	case r < 0xa0:
		return replace
	case r == 0xa0:
		return space
	case r == 0xad:
		return drop
	case r < 0x300:
		return keep
	case r >= 0x2000 && r <= 0x206f:
		return classifyPunctuation(r)
	case r >= 0x1161 && r <= 0x11ff, r >= 0xd7b0 && r <= 0xd7fb:
		return mark // vowels and finals that join the Hangul syllable before them
	case r == 0xfe0e || r == 0xfe0f:
		return selector
	case r&0xfffe == 0xfffe, r >= 0xfdd0 && r <= 0xfdef:
		return replace // noncharacters
	case unicode.Is(fillers, r):
		return drop
	case unicode.Is(unicode.M, r), r >= 0x1f3fb && r <= 0x1f3ff:
		return mark
	case unicode.Is(unicode.Cf, r) && !unicode.Is(visibleFormat, r):
		return drop
	}
	return keep
}

func classifyC0(r rune) kind {
	switch r {
	case 0:
		return replace
	case '\n', '\r':
		return lineEnd
	case '\t':
		return tab
	case '\v', '\f':
		return space
	}
	return picture
}

// classifyPunctuation sorts the block U+2000 to U+206F, where the spaces, the
// joiners, the line separators and the bidirectional controls live.
func classifyPunctuation(r rune) kind {
	switch {
	case r <= 0x200a, r == 0x202f, r == 0x205f:
		return space
	case r == zwj, r == zwnj:
		return joiner
	case r == 0x2028, r == 0x2029:
		return lineEnd
	case r == 0x200b, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060:
		return drop
	}
	return keep
}

// pictographic reports whether r is a symbol of the kind emoji sequences join.
func pictographic(r rune) bool {
	return r >= 0x2190 && r <= 0x2bff || r >= 0x1f000 && r <= 0x1faff || r >= 0x2600 && r <= 0x27bf
}

var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Mandaic,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
	unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
}

// joiningScript reports whether r is of a script in which joiners change what is seen.
func joiningScript(r rune) bool {
	return r >= 0x600 && unicode.In(r, joining...)
}
