package kit

import (
	"skrzynka/mail"
	"skrzynka/mail/view"
)

// Cell is a piece of plain text with its style; a row is built of cells so that
// a selected row can lay its background under all of them.
type Cell struct {
	Text  string
	Style Style
}

// Width is the number of cells the text takes.
func (c Cell) Width() int { return Width(c.Text) }

// Status is a delivery status as it is always shown: a glyph and a word.
func (t *Theme) Status(s mail.DeliveryStatus) Cell {
	g := t.Glyph
	switch s {
	case mail.StatusPending:
		return Cell{g.Pending + " pending", t.Info}
	case mail.StatusSending:
		return Cell{g.Sending + " sending", t.Info}
	case mail.StatusSent:
		return Cell{g.Sent + " sent", t.Good}
	case mail.StatusFailed:
		return Cell{g.Failed + " failed", t.Bad}
	case mail.StatusUncertain:
		return Cell{g.Uncertain + " uncertain", t.Warn}
	}
	return Cell{Clean(string(s)), t.Dim}
}

// Badge is what a list shows of an answer: the status, and after it a mark for
// what was learned or decided later. It never replaces the status.
func (t *Theme) Badge(b view.Badge) Cell {
	c := t.Status(b.Status)
	switch {
	case b.Bounced:
		c.Text += " " + t.Glyph.Dot + " bounced"
		c.Style = t.Bad
	case b.Proven || b.Resolved == mail.ResolutionSent:
		c.Text += " " + t.Glyph.Sent
		c.Style = t.Dim
	case b.Resolved == mail.ResolutionNotSent:
		c.Text += " " + t.Glyph.Failed
		c.Style = t.Dim
	case b.Resolved == mail.ResolutionResent:
		c.Text += " " + t.Glyph.Sync
		c.Style = t.Dim
	}
	return c
}

// BadgeLong is Badge in full words, for a message or an attempt's own page.
func (t *Theme) BadgeLong(b view.Badge) Cell {
	c := t.Status(b.Status)
	switch {
	case b.Bounced:
		c.Text += ", then bounced"
		c.Style = t.Bad
	case b.Proven:
		c.Text += ", later proven accepted"
	case b.Resolved == mail.ResolutionSent:
		c.Text += ", confirmed sent by you"
	case b.Resolved == mail.ResolutionNotSent:
		c.Text += ", confirmed not sent by you"
	case b.Resolved == mail.ResolutionResent:
		c.Text += ", sent again by you"
	}
	return c
}

// Row paints cells one after another over base and fills up to w cells.
func Row(base Style, w int, cells ...Cell) string {
	out, used := "", 0
	for _, c := range cells {
		if used >= w {
			break
		}
		text, n := clip(c.Text, w-used)
		used += n
		out += c.Style.On(base).Paint(text)
	}
	return out + base.Paint(Spaces(w-used))
}
