package reader

import (
	"fmt"
	"strings"

	"skrzynka/mail/safe"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
)

// body is a message laid out for one width.
type body struct {
	id      int64
	w       int
	headers bool
	fold    bool
	minute  int64 // ages are shown to the minute
	lines   []string
	head    int  // lines before the text
	quotes  bool // there is something to fold
}

// gutter stands before every line of a message's text: what a sender writes
// never begins where our own words begin.
const gutter = 3

// measure is the widest line of text that is comfortable to read.
const measure = 100

// layout draws the heading and the text.
func layout(env *kit.Env, msg *view.Message, w int, headers, fold bool) (lines []string, head int, quotes bool) {
	t := env.Theme
	if headers {
		lines = allHeaders(t, msg, w)
	} else {
		lines = heading(env, msg, w)
	}
	for _, p := range msg.Problems {
		for _, l := range kit.Wrap("! "+p.String(), max(1, w-2)) {
			lines = append(lines, " "+t.Warn.Paint(l))
		}
	}
	for _, a := range msg.Answers[:min(len(msg.Answers), 3)] {
		lines = append(lines, answer(env, a, w))
	}
	lines = append(lines, t.Faint.Paint(strings.Repeat(t.Glyph.Horizontal, max(0, w))))
	head = len(lines)
	if !msg.HasBody && len(msg.Lines) == 0 && msg.Text.Empty() {
		return append(lines, kit.NoteLines(t, w, "The text is not here yet; it is being fetched.", "It appears by itself.")...), head, false
	}
	text, quotes := textLines(t, bodyLines(msg), min(w, measure+gutter), fold)
	if len(text) == 0 {
		return append(lines, kit.NoteLines(t, w, "This message has no text.")...), head, false
	}
	return append(append(lines, ""), append(text, "")...), head, quotes
}

const labels = 8

// field draws one header of the heading, wrapped under itself.
func field(t *kit.Theme, name string, w int, value string, style kit.Style, most int) []string {
	var out []string
	for i, l := range kit.Wrap(value, max(8, w-labels-2)) {
		if i == most {
			out[i-1] = kit.Fit(out[i-1], max(0, w-2)) + "…"
			break
		}
		label := kit.Spaces(labels + 1)
		if i == 0 {
			label = " " + t.Faint.Paint(kit.Fit(name, labels))
		}
		out = append(out, label+style.Paint(l))
	}
	return out
}

func heading(env *kit.Env, msg *view.Message, w int) []string {
	t := env.Theme
	subject := msg.Subject.String()
	if subject == "" {
		subject = "(no subject)"
	}
	var lines []string
	flag := ""
	if msg.Flagged {
		flag = " " + t.Warn.Paint(t.Glyph.Flag)
	}
	for i, l := range kit.Wrap(subject, max(8, w-4)) {
		if i == 3 {
			lines[2] += "…"
			break
		}
		lines = append(lines, " "+t.Strong.Paint(l))
	}
	lines[0] += flag
	lines = append(lines, field(t, "From", w, people(msg.FromAll), kit.Style{}, 3)...)
	if len(msg.Sender) > 0 && people(msg.Sender) != people(msg.FromAll) {
		lines = append(lines, field(t, "Sender", w, people(msg.Sender), t.Warn, 2)...)
	}
	if len(msg.ReplyTo) > 0 && people(msg.ReplyTo) != people(msg.FromAll) {
		lines = append(lines, field(t, "Reply to", w, people(msg.ReplyTo), t.Warn, 2)...)
	}
	for _, a := range msg.FromAll {
		if !a.Mark.Empty() {
			lines = append(lines, field(t, "", w, "! "+a.Mark.String(), t.Bad, 2)...)
		}
	}
	if len(msg.ToAll) > 0 {
		lines = append(lines, field(t, "To", w, people(msg.ToAll), t.Dim, 2)...)
	}
	if len(msg.CcAll) > 0 {
		lines = append(lines, field(t, "Cc", w, people(msg.CcAll), t.Dim, 2)...)
	}
	lines = append(lines, field(t, "Date", w, kit.LongDate(msg.Date, env.Now()), t.Dim, 1)...)
	if files := fileNames(t, msg); files != "" {
		lines = append(lines, field(t, "Files", w, files, t.Info, 2)...)
	}
	return lines
}

func allHeaders(t *kit.Theme, msg *view.Message, w int) []string {
	var lines []string
	for _, h := range msg.Headers {
		name := h.Name.String() + ": "
		for i, l := range kit.Wrap(name+h.Value.String(), max(8, w-4)) {
			if i == 0 {
				rest := strings.TrimPrefix(l, name)
				if rest != l {
					lines = append(lines, " "+t.Key.Paint(name)+rest)
					continue
				}
			}
			lines = append(lines, "   "+l)
		}
	}
	return lines
}

// people writes addresses with the address always in full.
func people(list []view.Address) string {
	parts := make([]string, len(list))
	for i, a := range list {
		switch {
		case a.Name.Empty() || a.Name == a.Addr:
			parts[i] = a.Addr.String()
		default:
			parts[i] = a.Name.String() + " <" + a.Addr.String() + ">"
		}
	}
	return strings.Join(parts, ", ")
}

func fileNames(t *kit.Theme, msg *view.Message) string {
	var parts []string
	for _, f := range msg.Files {
		if f.Inline && len(parts) > 3 {
			continue
		}
		name := f.Name.String()
		if f.Risky {
			name += " (risky)"
		}
		parts = append(parts, name+" "+kit.Size(f.Size))
	}
	if len(parts) == 0 {
		return ""
	}
	return t.Glyph.Attach + " " + strings.Join(parts, ", ")
}

// answer is one line about an attempt that answers this message.
func answer(env *kit.Env, a view.Attempt, w int) string {
	t := env.Theme
	badge := t.BadgeLong(a.Badge)
	if a.Badge.Status == "" {
		badge = t.Status(a.Status)
	}
	at := a.CreatedAt
	if a.SentAt != nil {
		at = *a.SentAt
	}
	says := ""
	if !a.Says.Empty() {
		says = "  " + a.Says.String()
	}
	return kit.Row(kit.Style{}, w, kit.Cell{Text: " "}, kit.Cell{Text: kit.Fit("Answer", labels), Style: t.Faint}, badge,
		kit.Cell{Text: "  " + kit.Ago(at, env.Now()), Style: t.Dim}, kit.Cell{Text: says, Style: t.Dim})
}

func bodyLines(msg *view.Message) []view.Line {
	if len(msg.Lines) > 0 {
		return msg.Lines
	}
	var out []view.Line
	for _, l := range msg.Text.Lines() {
		out = append(out, view.Line{Text: l})
	}
	return out
}

// textLines wraps the text behind the gutter. Quotes carry a bar for each level,
// and long ones fold to a line.
func textLines(t *kit.Theme, body []view.Line, w int, fold bool) (lines []string, quotes bool) {
	pad := kit.Spaces(gutter)
	blank := 0
	for i := 0; i < len(body); i++ {
		l := body[i]
		if n := quoteRun(body[i:]); n > 2 {
			quotes = true
			if fold {
				lines = append(lines, pad+t.Faint.Paint(fmt.Sprintf("%s %d quoted lines", t.Glyph.Fold, n)))
				i += n - 1
				blank = 0
				continue
			}
		}
		if l.Depth == 0 && strings.TrimSpace(l.Text.String()) == "" {
			if blank++; blank < 3 {
				lines = append(lines, "")
			}
			continue
		}
		blank = 0
		lines = append(lines, textLine(t, l, pad, w)...)
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines, quotes
}

// quoteRun counts the quoted lines a text begins with.
func quoteRun(body []view.Line) int {
	n := 0
	for n < len(body) && body[n].Depth > 0 {
		n++
	}
	return n
}

func textLine(t *kit.Theme, l view.Line, pad string, w int) []string {
	bars, style := "", kit.Style{}
	switch {
	case l.Depth > 0:
		for d := 1; d <= min(l.Depth, 4); d++ {
			bars += t.Quote(d).Paint(t.Glyph.Gutter) + " "
		}
		style = t.Quote(l.Depth)
	case l.Signature:
		style = t.Faint
	}
	room := max(8, w-gutter-2*min(l.Depth, 4)-1)
	var out []string
	for _, part := range kit.Wrap(l.Text.String(), room) {
		out = append(out, pad+bars+style.Paint(part))
	}
	return out
}

func isImage(f view.File) bool { return strings.HasPrefix(strings.ToLower(f.Type.String()), "image/") }

// host is the part of a link that says where it leads.
func host(u safe.Text) string {
	s := u.String()
	if i := strings.Index(s, "://"); i >= 0 {
		s = s[i+3:]
	}
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		s = s[:i]
	}
	if i := strings.LastIndexByte(s, '@'); i >= 0 && !strings.HasPrefix(u.String(), "mailto:") {
		s = s[i+1:]
	}
	return strings.TrimPrefix(s, "mailto:")
}
