package parse

import (
	"bytes"
	"fmt"
	"strings"
)

// group is one multipart of the tree.
type group struct {
	typ    string
	parent int // index of the multipart around it, -1
	within int // index of the message/rfc822 part around it, -1
}

// budget is what one message may cost; nested messages share it.
type budget struct {
	m       *Msg
	groups  []group
	said    map[string]bool
	decoded int // bytes that nested encoded messages may still decode to
	guesses int // boundaries guessed; each costs a search of the whole
}

func (b *budget) problem(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if len(b.m.Problems) >= 50 || b.said[s] {
		return
	}
	if b.said == nil {
		b.said = map[string]bool{}
	}
	b.said[s] = true
	b.m.Problems = append(b.m.Problems, s)
}

// walker takes one run of bytes apart. Boundaries of all open multiparts are
// looked for at once, so that every byte is looked at a fixed number of times.
type walker struct {
	*budget
	src        []byte
	boundaries []string
}

// delimiter is one boundary line that was met.
type delimiter struct {
	start, next int // where its line starts, and where the next line does
	level       int // which open multipart it belongs to, -1 for the end of src
	closing     bool
}

// match tells which open multipart a line delimits, the innermost first.
func (w *walker) match(line []byte) (level int, closing bool) {
	if len(line) < 2 || line[0] != '-' || line[1] != '-' {
		return -1, false
	}
	line = bytes.TrimRight(line[2:], " \t\r")
	for i := len(w.boundaries) - 1; i >= 0; i-- {
		b := w.boundaries[i]
		if len(line) < len(b) || string(line[:len(b)]) != b {
			continue
		}
		switch rest := line[len(b):]; {
		case len(rest) == 0:
			return i, false
		case string(rest) == "--":
			return i, true
		}
	}
	return -1, false
}

func (w *walker) isDelimiter(line []byte) bool {
	level, _ := w.match(line)
	return level >= 0
}

// next finds the first boundary line at or after pos, which is a line's start.
func (w *walker) next(pos int) delimiter {
	for len(w.boundaries) > 0 && pos < len(w.src) {
		if w.src[pos] == '-' {
			line, next := lineAt(w.src, pos)
			if level, closing := w.match(line); level >= 0 {
				return delimiter{pos, next, level, closing}
			}
		}
		i := bytes.Index(w.src[pos:], []byte("\n--"))
		if i < 0 {
			break
		}
		pos += i + 1
	}
	return delimiter{len(w.src), len(w.src), -1, false}
}

// place says where in the tree a part is.
type place struct {
	path   string
	depth  int
	group  int
	within int
	digest bool // the default type is message/rfc822 (RFC 2046 section 5.1.5)
}

// entity takes apart the entity whose header starts at pos, and returns the
// boundary line that ended it.
func (w *walker) entity(pos int, at place) delimiter {
	b := splitHeader(w.src, pos, w.isDelimiter)
	if b.cut {
		w.problem("The header of part %s is too large; the rest of it was not read.", at.path)
	}
	return w.content(b, at)
}

// content takes apart what follows a header block.
func (w *walker) content(b block, at place) delimiter {
	fallback := "text/plain"
	if at.digest {
		fallback = "message/rfc822"
	}
	p := newPart(b.fields, fallback)
	p.Path, p.group, p.Within = at.path, at.group, at.within
	if at.group >= 0 {
		p.Container = w.groups[at.group].typ
	}
	if strings.HasPrefix(p.Type, "multipart/") {
		if d, ok := w.multipart(b.body, &p, at); ok {
			return d
		}
		p.Type = "text/plain"
	}
	if p.Type == "message/rfc822" || p.Type == "message/global" || p.Type == "message/news" {
		return w.message(b.body, p, at)
	}
	d := w.next(b.body)
	p.src = w.cut(b.body, d)
	w.add(p)
	return d
}

// cut returns the content from start to the delimiter; the line end before the
// delimiter belongs to it (RFC 2046 section 5.1.1).
func (w *walker) cut(start int, d delimiter) []byte {
	end := d.start
	if d.level >= 0 && end > start && w.src[end-1] == '\n' {
		end--
		if end > start && w.src[end-1] == '\r' {
			end--
		}
	}
	return w.src[min(start, end):end]
}

// add stores a part, within the budget, and returns its index or -1.
func (w *walker) add(p Part) int {
	if len(w.m.Parts) >= MaxParts {
		w.problem("The message has too many parts; the first %d are shown.", MaxParts)
		return -1
	}
	switch p.Encoding {
	case "base64":
		if p.Type != "message/rfc822" || p.Size == 0 {
			p.Size, p.Damaged = base64Size(p.src)
		}
	case "quoted-printable":
		p.Size = len(decodeQP(p.src))
	default:
		p.Size = len(p.src)
	}
	if p.Damaged {
		w.problem("The base64 of %s is damaged: what could be read of it is shown.", p.describe())
	}
	w.m.Parts = append(w.m.Parts, p)
	return len(w.m.Parts) - 1
}

// multipart takes apart a multipart's body. It reports false when there is no
// part in it, and then has changed nothing.
func (w *walker) multipart(body int, p *Part, at place) (delimiter, bool) {
	boundary := strings.TrimRight(p.Params.Get("boundary"), " \t")
	if boundary == "" {
		if boundary = w.guess(body); boundary == "" {
			w.problem("The parts of part %s cannot be told apart: no boundary is given.", at.path)
			return delimiter{}, false
		}
	}
	if at.depth >= MaxDepth {
		w.problem("Parts are nested too deeply; the deepest are not taken apart.")
		return delimiter{}, false
	}
	level := len(w.boundaries)
	w.boundaries = append(w.boundaries, boundary)
	defer func() { w.boundaries = w.boundaries[:level] }()
	d := w.next(body)
	if d.level != level {
		if g := w.guess(body); g != "" && g != boundary {
			w.boundaries[level] = g
			d = w.next(body)
		}
	}
	if d.level != level {
		w.problem("The boundary of part %s does not occur; its content is shown whole.", at.path)
		return delimiter{}, false
	}
	if d.closing { // no part at all; what stands before may be text
		empty := Part{Path: at.path, Type: "text/plain", Fields: p.Fields, Within: at.within, group: at.group, Container: p.Container}
		empty.src = w.cut(body, d)
		w.add(empty)
		w.boundaries = w.boundaries[:level]
		return w.next(d.next), true
	}
	w.groups = append(w.groups, group{p.Type, at.group, at.within})
	inner := place{depth: at.depth + 1, group: len(w.groups) - 1, within: at.within, digest: p.Type == "multipart/digest"}
	for n := 1; d.level == level && !d.closing; n++ {
		if len(w.m.Parts) >= MaxParts {
			w.problem("The message has too many parts; the first %d are shown.", MaxParts)
			w.boundaries = w.boundaries[:level]
			return w.next(d.next), true
		}
		inner.path = joinPath(at, n)
		d = w.entity(d.next, inner)
	}
	if d.level == level { // closed: an epilogue may follow
		w.boundaries = w.boundaries[:level]
		return w.next(d.next), true
	}
	if d.level < 0 {
		w.problem("The last boundary of part %s is missing; the message may be cut off.", at.path)
	}
	return d, true
}

// joinPath numbers the n-th part of a multipart. The parts of a multipart that
// is a whole message are numbered from the message on.
func joinPath(at place, n int) string {
	if at.depth == 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s.%d", at.path, n)
}

// guess returns what a body's first line makes of a boundary when none is given.
func (w *walker) guess(body int) string {
	const maxGuesses = 20
	if w.guesses++; w.guesses > maxGuesses {
		return ""
	}
	for lines := 0; body < len(w.src) && lines < 10; lines++ {
		line, next := lineAt(w.src, body)
		line = bytes.TrimRight(line, " \t")
		if len(line) > 4 && len(line) < 200 && line[0] == '-' && line[1] == '-' && !w.isDelimiter(line) &&
			bytes.Contains(w.src[next:], line) {
			return string(line[2:])
		}
		if len(line) > 0 {
			return ""
		}
		body = next
	}
	return ""
}

// message lists a nested message and takes it apart in place, or decoded when
// its sender encoded it against the rules (RFC 2046 section 5.2.1).
func (w *walker) message(body int, p Part, at place) delimiter {
	encoded := p.Encoding == "base64" || p.Encoding == "quoted-printable"
	if encoded || at.depth >= MaxDepth {
		d := w.next(body)
		p.src = w.cut(body, d)
		i := w.add(p)
		if at.depth >= MaxDepth {
			w.problem("Messages are nested too deeply; the deepest are not taken apart.")
			return d
		}
		if i >= 0 && len(p.src) <= w.decoded {
			w.decoded -= len(p.src)
			data, _ := decodeTransfer(p.src, p.Encoding)
			inner := walker{budget: w.budget, src: data}
			inner.entity(0, place{path: nested(at.path), depth: at.depth + 1, group: -1, within: i})
		}
		return d
	}
	i := w.add(p)
	if i < 0 {
		return w.next(body)
	}
	d := w.entity(w.skipEnvelope(body), place{path: nested(at.path), depth: at.depth + 1, group: -1, within: i})
	w.m.Parts[i].src = w.cut(body, d)
	w.m.Parts[i].Size = len(w.m.Parts[i].src)
	return d
}

// nested is the path of a message in a message part: IMAP numbers a single
// part of it ".1".
func nested(path string) string { return path + ".1" }

// skipEnvelope passes empty lines in front of a nested message.
func (w *walker) skipEnvelope(pos int) int {
	for pos < len(w.src) && (w.src[pos] == '\n' || w.src[pos] == '\r') {
		pos++
	}
	return pos
}
