package parse

import (
	"fmt"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// rendered is what HTML became.
type rendered struct {
	text   string
	cut    bool // the output reached MaxText
	hidden bool // text that the document hides was left out
}

// RenderHTML renders an HTML document as text: paragraphs, lists, quotes with
// "> ", table cells apart, alternative texts of images in brackets, and http,
// https and mailto links as numbers in brackets, listed at the end. Where the
// words of a link name another host than it leads to, the host is shown with
// the number. Scripts, styles and what the document hides are left out.
// Nothing is fetched.
func RenderHTML(src string) (string, []Link) {
	l := newLinks()
	r := renderHTML(clip(src, MaxHTML), l)
	text := r.text
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return clip(text+l.footnotes(), MaxText), l.list
}

// element is one open element.
type element struct {
	tag  atom.Atom
	name string // when tag is 0
	hide bool   // it hides what is in it

	link    string // of an a: where it leads
	linkAt  int    // of an a: where its words start in the output
	ordered int    // of an ol: the last number; of an ul: -1
}

type renderer struct {
	*writer
	links  *links
	open   []element
	count  map[atom.Atom]int // open elements by tag
	hiding int               // open elements that hide
	hidden bool
	rows   []row // open tables
}

// row is the state of the current row of an open table.
type row struct {
	cells int  // cells of this row so far
	at    int  // where in the output the row began
	lines int  // the line the last cell began on
	data  bool // a table of data, its cells told apart by a bar
}

// maxOpen bounds the open elements kept; deeper ones count as text.
const maxOpen = 100_000

func renderHTML(src string, l *links) rendered {
	r := renderer{writer: newWriter(), links: l, count: map[atom.Atom]int{}}
	z := html.NewTokenizer(strings.NewReader(src))
	for !r.full {
		switch z.Next() {
		case html.ErrorToken:
			return r.done()
		case html.TextToken:
			if r.hiding > 0 {
				if !r.hidden && strings.TrimSpace(string(z.Text())) != "" {
					r.hidden = true
				}
				continue
			}
			r.text(string(z.Text()))
		case html.StartTagToken, html.SelfClosingTagToken:
			r.start(z)
		case html.EndTagToken:
			name, _ := z.TagName()
			r.end(atom.Lookup(name), string(name))
		}
	}
	return r.done()
}

func (r *renderer) done() rendered {
	for len(r.open) > 0 && !r.full {
		r.pop()
	}
	return rendered{r.finish(), r.full, r.hidden}
}

// attributes are those of a start tag that are looked at.
type attributes struct {
	href, alt, style, width, height, border, start string
	hidden                                         bool
}

func readAttributes(z *html.Tokenizer) (a attributes) {
	for n := 0; n < 200; n++ {
		key, value, more := z.TagAttr()
		var dst *string
		switch string(key) {
		case "href":
			dst = &a.href
		case "alt":
			dst = &a.alt
		case "style":
			dst = &a.style
		case "width":
			dst = &a.width
		case "height":
			dst = &a.height
		case "border":
			dst = &a.border
		case "start":
			dst = &a.start
		case "hidden":
			a.hidden = true
		}
		if dst != nil && *dst == "" && len(value) <= maxURL {
			*dst = string(value)
		}
		if !more {
			break
		}
	}
	return a
}

func (r *renderer) start(z *html.Tokenizer) {
	name, hasAttr := z.TagName()
	tag := atom.Lookup(name)
	e := element{tag: tag}
	if tag == 0 {
		e.name = string(name)
	}
	var a attributes
	if hasAttr {
		a = readAttributes(z)
	}
	if void(tag) {
		if r.hiding == 0 && !hides(a) {
			r.void(tag, a)
		}
		return
	}
	r.implied(tag)
	e.hide = a.hidden || hides(a) || unseen(tag)
	if len(r.open) >= maxOpen {
		return
	}
	if e.hide {
		r.hiding++
	} else if r.hiding == 0 {
		r.begin(&e, a)
	}
	r.open = append(r.open, e)
	r.count[tag]++
}

// begin writes what an element puts in front of its content.
func (r *renderer) begin(e *element, a attributes) {
	switch e.tag {
	case atom.A:
		e.link, e.linkAt = a.href, r.mark()
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		e.ordered = -1
		if e.tag == atom.Ol {
			n, _ := digits(a.start)
			e.ordered = max(n-1, 0)
		}
		r.fresh = false
		if r.lists == 0 {
			r.breakLine(2)
		} else {
			r.breakLine(1)
		}
		r.lists++
	case atom.Li:
		r.item()
	case atom.Blockquote:
		r.fresh = false
		r.breakLine(2)
		r.quote++
	case atom.Pre, atom.Listing, atom.Xmp, atom.Textarea, atom.Plaintext:
		r.fresh = false
		r.breakLine(2)
		r.pre++
	case atom.Table:
		r.breakLine(1)
		r.rows = append(r.rows, row{data: a.border != "" && a.border != "0"})
	case atom.Tr:
		r.breakLine(1)
		if n := len(r.rows); n > 0 {
			r.rows[n-1].cells, r.rows[n-1].at = 0, r.mark()
		}
	case atom.Td, atom.Th:
		r.cell(e.tag == atom.Th)
	case atom.Q:
		r.text("“")
	default:
		r.breakLine(margin(e.tag))
	}
}

// item starts a list item with its bullet or number.
func (r *renderer) item() {
	r.breakLine(1)
	for i := len(r.open) - 1; i >= 0 && i > len(r.open)-20; i-- {
		e := &r.open[i]
		switch e.tag {
		case atom.Ol:
			e.ordered++
			r.bullet(fmt.Sprintf("%d. ", e.ordered))
			return
		case atom.Ul, atom.Menu, atom.Dir:
			r.bullet("• ")
			return
		}
	}
	r.bullet("• ")
}

// cell starts a table cell: on the same line as the one before, when that one
// took a single line.
func (r *renderer) cell(head bool) {
	n := len(r.rows)
	if n == 0 {
		r.breakLine(1)
		return
	}
	t := &r.rows[n-1]
	t.data = t.data || head
	if t.cells > 0 && t.at != r.mark() {
		if t.lines != r.lines {
			r.breakLine(1)
		} else if t.data {
			r.separate(" | ")
		} else {
			r.separate("  ")
		}
	}
	t.cells++
	t.lines = r.lines + r.owed
	r.fresh = true
}

// implied closes the elements that a start tag closes by itself.
func (r *renderer) implied(tag atom.Atom) {
	switch tag {
	case atom.P, atom.Li, atom.Tr, atom.Td, atom.Th, atom.Dt, atom.Dd, atom.Option:
	default:
		return
	}
	for i := len(r.open) - 1; i >= 0 && i >= len(r.open)-8; i-- {
		t := r.open[i].tag
		if t == tag || (tag == atom.Td || tag == atom.Th) && (t == atom.Td || t == atom.Th) ||
			(tag == atom.Dt || tag == atom.Dd) && (t == atom.Dt || t == atom.Dd) {
			r.popTo(i)
			return
		}
		if tag == atom.Tr && (t == atom.Td || t == atom.Th) {
			continue
		}
		if !inline(t) && t != atom.P {
			return
		}
	}
}

// end closes the nearest open element of its kind. An inline element is
// looked for only as far as the block it is in, a block not beyond a table's
// cell, so that a stray end tag closes little.
func (r *renderer) end(tag atom.Atom, name string) {
	if r.count[tag] == 0 {
		if tag == atom.P || tag == atom.Br {
			if r.hiding == 0 {
				r.breakLine(1)
			}
		}
		return
	}
	table := tag == atom.Table || tag == atom.Tr || tag == atom.Td || tag == atom.Th || tag == atom.Tbody
	steps := 64
	if !inline(tag) {
		steps = maxOpen
	}
	for i := len(r.open) - 1; i >= 0 && steps > 0; i-- {
		e := &r.open[i]
		if e.tag == tag && (tag != 0 || e.name == name) {
			r.popTo(i)
			return
		}
		if inline(tag) && !inline(e.tag) {
			return
		}
		if !table && (e.tag == atom.Td || e.tag == atom.Th || e.tag == atom.Table) {
			return
		}
		if tag == 0 && !inline(e.tag) {
			return
		}
		steps--
	}
}

// popTo closes the open elements from the top down to the one at i.
func (r *renderer) popTo(i int) {
	for len(r.open) > i {
		r.pop()
	}
}

func (r *renderer) pop() {
	e := r.open[len(r.open)-1]
	r.open = r.open[:len(r.open)-1]
	r.count[e.tag]--
	if e.hide {
		r.hiding--
		return
	}
	if r.hiding > 0 {
		return
	}
	switch e.tag {
	case atom.A:
		r.footnote(e)
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		r.lists = max(r.lists-1, 0)
		if r.lists == 0 {
			r.breakLine(2)
		} else {
			r.breakLine(1)
		}
	case atom.Blockquote:
		r.breakLine(2)
		r.quote = max(r.quote-1, 0)
	case atom.Pre, atom.Listing, atom.Xmp, atom.Textarea, atom.Plaintext:
		r.breakLine(2)
		r.pre = max(r.pre-1, 0)
	case atom.Table:
		if n := len(r.rows); n > 0 {
			r.rows = r.rows[:n-1]
		}
		r.breakLine(1)
	case atom.Td, atom.Th:
		r.fresh = false
	case atom.Li:
		r.breakLine(1)
		r.owed = min(r.owed, 1)
	case atom.Tr:
		r.breakLine(1)
		if n := len(r.rows); n > 0 && (r.rows[n-1].data || r.rows[n-1].cells > 1) {
			r.owed = min(r.owed, 1)
		}
	case atom.Q:
		r.text("”")
	default:
		r.breakLine(margin(e.tag))
	}
}

// footnote writes the number of a link behind its words.
func (r *renderer) footnote(e element) {
	words := r.since(e.linkAt)
	if e.link == "" || words == "" {
		return
	}
	n := r.links.add(e.link, clip(words, 300))
	if n == 0 {
		return
	}
	r.links.html = max(r.links.html, n)
	if host := r.links.list[n-1].Host; misleading(words, host) {
		r.glue(fmt.Sprintf("[%d: %s]", n, clip(host, 255)))
	} else {
		r.glue(fmt.Sprintf("[%d]", n))
	}
}

func (r *renderer) void(tag atom.Atom, a attributes) {
	switch tag {
	case atom.Br:
		r.newline()
	case atom.Hr:
		r.breakLine(1)
		r.text("----------")
		r.breakLine(1)
	case atom.Img:
		alt := strings.TrimSpace(a.alt)
		if alt != "" && !tiny(a.width) && !tiny(a.height) {
			r.text("[" + clip(alt, 1000) + "]")
		}
	}
}

// tiny reports whether a width or height is that of a tracking pixel.
func tiny(v string) bool { return v == "0" || v == "1" || v == "0px" || v == "1px" }
