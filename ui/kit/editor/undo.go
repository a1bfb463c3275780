package editor

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// edit is one change, as it is taken back: at from, ins stands where del stood.
type edit struct {
	from          pos
	del, ins      string
	before, after pos // of the cursor
	typed         bool
}

const (
	keepEdits = 2000
	keepBytes = 64 << 20
)

type history struct {
	done, undone []edit
	bytes        int
}

// record keeps a change. Letters typed one after another are one change, and so
// is a run of deletions; a new word begins a new one.
func (h *history) record(e edit) {
	h.undone = nil
	if n := len(h.done); n > 0 && e.typed && h.done[n-1].typed && join(&h.done[n-1], e) {
		h.bytes += len(e.ins) + len(e.del)
		return
	}
	h.done = append(h.done, e)
	h.bytes += len(e.ins) + len(e.del)
	for len(h.done) > 1 && (len(h.done) > keepEdits || h.bytes > keepBytes) {
		h.bytes -= len(h.done[0].ins) + len(h.done[0].del)
		h.done = h.done[1:]
	}
}

// join adds e to the change before it where the two are one.
func join(last *edit, e edit) bool {
	if strings.Contains(e.ins+e.del+last.ins+last.del, "\n") || e.before != last.after {
		return false
	}
	switch {
	// The cursor may stand further on than the insertion ends, when a mark that
	// stood there joined it: then the next letter is a change of its own.
	case e.del == "" && last.del == "" && e.from == after(last.from, last.ins):
		prev, _ := utf8.DecodeLastRuneInString(last.ins)
		next, _ := utf8.DecodeRuneInString(e.ins)
		if unicode.IsSpace(prev) && !unicode.IsSpace(next) {
			return false
		}
		last.ins += e.ins
	case e.ins == "" && last.ins == "" && e.after == e.from && last.after == last.from && e.from.at+len(e.del) == last.from.at:
		last.del = e.del + last.del
		last.from = e.from
	default:
		return false
	}
	last.after = e.after
	return true
}

// Undo takes the last change back; false when there is none.
func (e *Editor) Undo() bool {
	n := len(e.hist.done)
	if n == 0 {
		return false
	}
	c := e.hist.done[n-1]
	e.hist.done = e.hist.done[:n-1]
	e.hist.undone = append(e.hist.undone, c)
	e.buf.replace(c.from, after(c.from, c.ins), c.del)
	e.moved(c.before)
	return true
}

// Redo does the last change again that Undo took back; false when there is none.
func (e *Editor) Redo() bool {
	n := len(e.hist.undone)
	if n == 0 {
		return false
	}
	c := e.hist.undone[n-1]
	e.hist.undone = e.hist.undone[:n-1]
	e.hist.done = append(e.hist.done, c)
	e.buf.replace(c.from, after(c.from, c.del), c.ins)
	e.moved(c.after)
	return true
}

// after is where text ends that begins at p.
func after(p pos, text string) pos {
	n := strings.Count(text, "\n")
	if n == 0 {
		return pos{p.line, p.at + len(text)}
	}
	return pos{p.line + n, len(text) - strings.LastIndexByte(text, '\n') - 1}
}
