package inbound

import (
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokWord tokenKind = iota
	tokNumber
	tokPunct
	tokBreak // an empty line: nothing reaches across it
)

// token is one word, number or sign of a text, with its place in it.
type token struct {
	s          string // folded
	kind       tokenKind
	start, end int
}

// tokens takes the beginning of a text apart, at most maxTokens of it.
func tokens(text string) []token {
	const maxTokens = 3000
	var out []token
	newlines := 0
	for i := 0; i < len(text) && len(out) < maxTokens; {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\n':
			if newlines++; newlines == 2 {
				out = append(out, token{"\n", tokBreak, i, i + size})
			}
			i += size
			continue
		case unicode.IsSpace(r):
			i += size
			continue
		}
		newlines = 0
		start := i
		kind := tokPunct
		switch {
		case r >= '0' && r <= '9':
			kind = tokNumber
			for i < len(text) && text[i] >= '0' && text[i] <= '9' {
				i++
			}
		case unicode.IsLetter(r):
			kind = tokWord
			for i < len(text) {
				r, size := utf8.DecodeRuneInString(text[i:])
				if !unicode.IsLetter(r) && !unicode.Is(unicode.Mn, r) && !(r == '\'' || r == '’') {
					break
				}
				i += size
			}
		default:
			i += size
		}
		s := text[start:i]
		if kind != tokNumber {
			s = fold(s)
		}
		out = append(out, token{s, kind, start, i})
	}
	return out
}
