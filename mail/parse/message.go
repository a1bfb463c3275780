package parse

import "strings"

// Msg is a message taken apart.
type Msg struct {
	Headers
	Parts       []Part // in their order in the message, nested messages' parts included
	Text        string // the text to read, UTF-8 with LF: text/plain where there is any, else HTML rendered
	HTMLOnly    bool   // Text was rendered from HTML
	HiddenText  bool   // the HTML hides text, which was left out
	Links       []Link // in the order of Text; N is the number of the footnote in it
	Attachments []int  // indexes into Parts of what can be saved or opened by itself

	// Problems says in plain sentences what of the message is damaged or was
	// left out. It may quote names from the message.
	Problems []string
}

// Message takes a whole message apart. It never fails: what is broken is read
// as far as it goes. raw must not be changed while the result is in use.
func Message(raw []byte) *Msg {
	raw = normal(raw)
	b := splitHeader(raw, 0, nil)
	m := &Msg{Headers: newHeaders(b)}
	w := walker{budget: &budget{m: m, decoded: 2*len(raw) + 4096}, src: raw}
	if b.cut {
		w.problem("The header is too large; the rest of it was not read.")
	}
	w.content(b, place{path: "1", group: -1, within: -1})
	if m.ContentType == "multipart/encrypted" || m.ContentType == "application/pkcs7-mime" && m.Params.Get("smime-type") != "signed-data" {
		w.problem("The message is encrypted; its text cannot be shown here.")
	}
	m.choose(w.groups, w.budget)
	return m
}

// choose decides which parts are the text and which are attachments.
func (m *Msg) choose(groups []group, b *budget) {
	used := make([]bool, len(m.Parts))
	shown := m.body(groups, used)
	for i := range m.Parts {
		p := &m.Parts[i]
		p.Inline = p.Disposition == "inline" || used[i] || p.ContentID != "" && p.Container == "multipart/related" && p.Disposition == ""
		if p.Within < 0 && !used[i] {
			m.Attachments = append(m.Attachments, i)
		}
	}
	m.render(shown, b)
}

// body returns the indexes of the parts that make up the text, and marks in
// used those and their alternatives.
func (m *Msg) body(groups []group, used []bool) []int {
	var shown []int
	best := map[int]int{} // per outermost alternative: index in shown of its choice
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Within >= 0 || !p.isText() || p.Disposition == "attachment" {
			continue
		}
		alternative, related := enclosing(groups, p.group)
		if alternative < 0 {
			if p.Name != "" && len(shown) > 0 || related && len(shown) > 0 {
				continue
			}
			used[i] = true
			shown = append(shown, i)
			continue
		}
		used[i] = true
		k, seen := best[alternative]
		if !seen {
			best[alternative] = len(shown)
			shown = append(shown, i)
			continue
		}
		chosen := &m.Parts[shown[k]]
		if chosen.Type == p.Type && chosen.group == p.group {
			continue
		}
		if chosen.Type == "text/html" && p.Type == "text/plain" && !m.blank(p) ||
			chosen.Type == "text/plain" && p.Type == "text/html" && m.blank(chosen) {
			shown[k] = i
		}
	}
	for i := 0; i < len(m.Parts) && len(shown) == 0; i++ { // another kind of text, when there is no better
		p := &m.Parts[i]
		if strings.HasPrefix(p.Type, "text/") && p.Within < 0 && p.Disposition != "attachment" && p.Name == "" {
			used[i] = true
			shown = append(shown, i)
		}
	}
	return shown
}

// enclosing returns the outermost multipart/alternative around a part, or -1,
// and whether it is directly in a multipart/related.
func enclosing(groups []group, g int) (alternative int, related bool) {
	alternative = -1
	if g >= 0 {
		related = groups[g].typ == "multipart/related"
	}
	for ; g >= 0; g = groups[g].parent {
		if groups[g].typ == "multipart/alternative" {
			alternative = g
		}
	}
	return alternative, related
}

// blank reports whether a text part shows nothing.
func (m *Msg) blank(p *Part) bool {
	s, _ := m.decoded(p, 4096)
	return strings.TrimSpace(s) == ""
}

// render fills Text and Links from the chosen parts.
func (m *Msg) render(shown []int, b *budget) {
	var out strings.Builder
	html, plain := 0, 0
	links := newLinks()
	for _, i := range shown {
		p := &m.Parts[i]
		var text string
		var cut bool
		if p.Type == "text/html" {
			html++
			src, long := m.decoded(p, MaxHTML)
			r := renderHTML(src, links)
			text, cut = r.text, long || r.cut
			m.HiddenText = m.HiddenText || r.hidden
		} else {
			text, cut = m.decoded(p, MaxText)
			if strings.EqualFold(p.Params.Get("format"), "flowed") {
				text = Unflow(text, strings.EqualFold(p.Params.Get("delsp"), "yes"))
			}
			if strings.TrimSpace(text) != "" {
				plain++
			}
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		if out.Len() > 0 {
			out.WriteString("\n\n")
		}
		if room := MaxText - 1 - out.Len(); len(text) > room {
			text, cut = clip(text, max(room, 0)), true
		}
		out.WriteString(strings.TrimRight(text, "\n"))
		out.WriteByte('\n')
		if p.Type == "text/plain" {
			links.scan(text)
		}
		if cut {
			b.problem("The text is very long; only its beginning is shown.")
		}
		if out.Len() >= MaxText {
			break
		}
	}
	m.Text = clip(out.String(), MaxText)
	m.HTMLOnly = html > 0 && plain == 0
	if html > 0 {
		m.Text = clip(m.Text+links.footnotes(), MaxText)
	}
	m.Links = links.list
}
