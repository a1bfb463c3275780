package parse

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// writer lays out text: it collapses white space, keeps the line ends it owes
// until there is something to write, and starts each line with its quote
// marks and indentation.
type writer struct {
	out   []byte
	full  bool // MaxText was reached; nothing more is written
	owed  int  // line ends owed before the next character
	space bool // a space is owed
	bol   bool // nothing is on the current line
	fresh bool // in a table cell with nothing in it yet: block margins do not count
	lines int  // lines begun
	quote int
	last  int // the quote depth of the last line
	lists int
	pre   int
	sep   string // a separator owed between table cells
	lead  string // the bullet owed to the next line
}

func newWriter() *writer { return &writer{bol: true} }

// breakLine asks for at least n line ends.
func (w *writer) breakLine(n int) {
	if n == 0 || w.fresh {
		return
	}
	w.space = false
	if w.bol && w.owed == 0 && len(w.out) == 0 {
		return
	}
	w.owed = max(w.owed, n)
}

// newline is a line end the document asks for itself.
func (w *writer) newline() {
	w.space, w.fresh = false, false
	if len(w.out) > 0 {
		w.owed = min(w.owed+1, 3)
	}
}

// separate asks for a separator between two cells of one line.
func (w *writer) separate(s string) {
	w.owed, w.space = 0, false
	w.sep = s
}

// bullet puts s in front of the next text, on a line of its own.
func (w *writer) bullet(s string) {
	w.lead, w.fresh, w.sep = s, true, ""
	if len(w.out) > 0 {
		w.owed = max(w.owed, 1)
	}
}

// mark returns a place to which since refers.
func (w *writer) mark() int { return len(w.out) }

// since returns the words written since a mark, in one line.
func (w *writer) since(at int) string {
	if at >= len(w.out) {
		return ""
	}
	b := w.out[at:min(len(w.out), at+2048)]
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(b), "")), " ")
}

// text writes running text, or text as it is within pre.
func (w *writer) text(s string) {
	for i := 0; i < len(s) && !w.full; {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c > ' ':
				j := i
				for j < len(s) && s[j] > ' ' && s[j] < utf8.RuneSelf {
					j++
				}
				w.begin()
				w.put(s[i-1 : j])
				i = j
			case w.pre > 0 && c == '\n':
				w.newline()
			case w.pre > 0:
				if c == '\t' || c == ' ' {
					w.begin()
					w.out = append(w.out, c)
				}
			case c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f':
				w.space = true
			default:
				w.begin()
				w.out = append(w.out, c) // a control from an entity; package safe removes it
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case filler(r) || r == 0x200c && !w.joins():
		case unicode.IsSpace(r) && w.pre == 0:
			w.space = true
		default:
			w.begin()
			w.put(s[i : i+n])
		}
		i += n
	}
}

// filler reports whether r takes no room: newsletters fill their hidden first
// line with such characters.
func filler(r rune) bool {
	return r == 0x200b || r == 0xfeff || r == 0x034f || r == 0x2060 || r == 0xad || r == 0x180e
}

// joins reports whether a ZWNJ after what was written can mean anything.
func (w *writer) joins() bool {
	r, _ := utf8.DecodeLastRune(w.out)
	return r >= 0x600 && unicode.IsLetter(r)
}

// glue writes s directly behind the last word, before a space that is owed.
func (w *writer) glue(s string) {
	w.put(s)
}

// begin writes what is owed before a character.
func (w *writer) begin() {
	w.fresh = false
	switch {
	case w.owed > 0 || w.bol && w.lead != "":
		if len(w.out) > 0 {
			w.out = bytes.TrimRight(w.out, " ")
			for i := max(w.owed, 1); i > 0; i-- {
				w.out = append(w.out, '\n')
				w.lines++
				if i > 1 {
					w.quotes(min(w.quote, w.last))
				}
			}
		}
		w.bol = true
	case w.sep != "" && !w.bol:
		w.out = append(w.out, w.sep...)
	case w.space && !w.bol:
		w.out = append(w.out, ' ')
	}
	w.owed, w.space, w.sep = 0, false, ""
	if w.bol {
		w.bol = false
		w.quotes(w.quote)
		w.last = w.quote
		for range min(w.lists, 10) {
			w.out = append(w.out, "  "...)
		}
		if w.lead != "" {
			if w.lists > 0 {
				w.out = w.out[:len(w.out)-2]
			}
			w.out = append(w.out, w.lead...)
			w.lead = ""
		}
	}
}

func (w *writer) quotes(depth int) {
	for range min(depth, maxQuote) {
		w.out = append(w.out, "> "...)
	}
}

func (w *writer) put(s string) {
	w.out = append(w.out, s...)
	if len(w.out) > MaxText {
		w.full = true
	}
}

func (w *writer) finish() string {
	return clip(strings.ToValidUTF8(string(w.out), "\ufffd"), MaxText)
}
