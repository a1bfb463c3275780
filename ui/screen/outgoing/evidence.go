package outgoing

import (
	"fmt"
	"strings"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
)

// page collects the lines of an attempt's evidence.
type page struct {
	env   *kit.Env
	t     *kit.Theme
	w     int
	lines []string
}

func (p *page) add(style kit.Style, indent int, text string) {
	for _, l := range kit.Wrap(text, max(1, p.w-indent-1)) {
		p.lines = append(p.lines, kit.Spaces(indent)+style.Paint(l))
	}
}

func (p *page) head(title string) {
	p.lines = append(p.lines, "", " "+p.t.Strong.Paint(kit.Clip(title, max(1, p.w-2))))
}

// pair is a name and what belongs to it.
func (p *page) pair(name, value string) {
	if value == "" {
		return
	}
	label := min(14, max(4, p.w/3))
	for i, l := range kit.Wrap(value, max(1, p.w-label-4)) {
		if i > 0 {
			name = ""
		}
		p.lines = append(p.lines, "  "+p.t.Dim.Paint(kit.Fit(name, label))+" "+l)
	}
}

// Evidence draws everything that is known of an attempt. chain is its lineage,
// oldest first; it may be empty.
func Evidence(env *kit.Env, a view.Attempt, chain []view.Attempt, w int) []string {
	p := &page{env: env, t: env.Theme, w: max(4, w)}
	badge := p.t.BadgeLong(a.Badge)
	p.add(badge.Style, 1, badge.Text)
	p.add(p.t.Strong, 1, Subject(a))
	p.recipientLines(a)
	p.lines = append(p.lines, "")
	p.add(p.t.Text, 1, a.Says.String())
	if a.Evidence.NotHandedOver {
		p.add(p.t.Good, 1, p.t.Glyph.Sent+" It died before the message was handed over: resending is safe.")
	}
	if r := Retry(a, env.Now()); r != "" {
		p.add(p.t.Info, 1, p.t.Glyph.Sync+" The outbox "+r+"; c cancels.")
	}
	if !a.Advice.Empty() {
		p.add(p.t.Accent, 1, a.Advice.String())
	}
	if len(chain) > 1 {
		p.chain(a, chain)
	}
	p.steps(a)
	p.server(a)
	p.refused(a)
	p.later(a)
	p.copy(a)
	p.identity(a)
	p.text(a)
	return p.lines
}

func (p *page) recipientLines(a view.Attempt) {
	for _, r := range []struct {
		name string
		list []string
	}{{"to", a.To}, {"cc", a.Cc}, {"bcc", a.Bcc}} {
		if len(r.list) > 0 {
			p.add(p.t.Dim, 1, r.name+" "+kit.Clean(strings.Join(r.list, ", ")))
		}
	}
}

func (p *page) chain(a view.Attempt, chain []view.Attempt) {
	p.head("Chain")
	for i, c := range chain {
		mark, note := "  ", ""
		switch {
		case c.ID == a.ID:
			mark, note = p.t.Glyph.Pointer+" ", "this one"
		case i+1 < len(chain) && chain[i+1].ID == a.ID:
			note = "[ opens it"
		case i > 0 && chain[i-1].ID == a.ID:
			note = "] opens it"
		}
		badge := p.t.Badge(c.Badge)
		p.lines = append(p.lines, kit.Row(kit.Style{}, p.w, kit.Cell{Text: " " + mark, Style: p.t.Accent}, kit.Cell{Text: kit.Fit(badge.Text, 14), Style: badge.Style},
			kit.Cell{Text: " " + p.clock(c.CreatedAt) + "  "}, kit.Cell{Text: note, Style: p.t.Faint}))
	}
}

func (p *page) clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(p.env.Zone).Format("2 Jan 15:04:05")
}

// stepWords are the steps of a submission as a person reads them.
var stepWords = map[mail.Step]string{
	mail.StepClaim: "claimed", mail.StepCredentials: "credentials", mail.StepDial: "connect", mail.StepTLS: "TLS",
	mail.StepGreeting: "greeting", mail.StepEHLO: "EHLO", mail.StepSTARTTLS: "STARTTLS", mail.StepAuth: "sign in",
	mail.StepMail: "sender", mail.StepRcpt: "recipients", mail.StepData: "DATA", mail.StepBody: "transfer",
	mail.StepHandover: "handed over", mail.StepReply: "answer", mail.StepQuit: "goodbye",
}

func stepWord(s mail.Step) string {
	if w := stepWords[s]; w != "" {
		return w
	}
	return kit.Clean(string(s))
}

func (p *page) steps(a view.Attempt) {
	steps := a.Evidence.Steps
	if len(steps) == 0 {
		return
	}
	p.head("What happened")
	for i, s := range steps {
		took := ""
		switch {
		case i+1 < len(steps):
			took = duration(steps[i+1].At.Sub(s.At))
		case a.SentAt != nil:
			took = duration(a.SentAt.Sub(s.At))
		}
		last := i == len(steps)-1 && a.Status != mail.StatusSent
		mark, style := p.t.Glyph.Sent, p.t.Good
		if last {
			mark, style = firstGlyph(p.t.Status(a.Status).Text), p.t.Status(a.Status).Style
		}
		p.lines = append(p.lines, kit.Row(kit.Style{}, p.w, kit.Cell{Text: "  " + s.At.In(p.env.Zone).Format("15:04:05.000") + " ", Style: p.t.Dim},
			kit.Cell{Text: mark + " ", Style: style}, kit.Cell{Text: kit.Fit(stepWord(s.Step), 12)}, kit.Cell{Text: kit.FitRight(took, 8) + "  ", Style: p.t.Faint},
			kit.Cell{Text: s.Note.String(), Style: p.t.Dim}))
	}
}

func firstGlyph(s string) string {
	g, _, _ := strings.Cut(s, " ")
	return g
}

func duration(d time.Duration) string {
	switch {
	case d < 0:
		return ""
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h", int(d.Hours()))
}

func (p *page) server(a view.Attempt) {
	e := a.Evidence
	if e.Server.Empty() && e.ReplyCode == nil && a.ErrorMessage == nil {
		return
	}
	p.head("Server")
	p.pair("server", e.Server.String())
	p.pair("connection", e.TLS.String())
	if e.ReplyCode != nil {
		words := fmt.Sprint(*e.ReplyCode)
		if e.EnhancedCode != nil {
			words += " " + kit.Clean(*e.EnhancedCode)
		}
		if e.ReplyText != nil {
			words += " " + e.ReplyText.String()
		}
		p.pair("its words", words)
	}
	handed := "no"
	if e.HandedOver {
		handed = "yes"
	}
	p.pair("handed over", handed)
	if a.ErrorCode != nil {
		p.pair("error", string(*a.ErrorCode))
	}
	if a.ErrorMessage != nil && !strings.Contains(a.Says.String(), kit.Clean(*a.ErrorMessage)) {
		p.pair("", kit.Clean(*a.ErrorMessage))
	}
}

func (p *page) refused(a view.Attempt) {
	e := a.Evidence
	if e.AcceptedCount == 0 && e.RejectedCount == 0 && e.NotSubmittedCount == 0 {
		return
	}
	p.head("Recipients")
	p.pair("accepted", fmt.Sprint(e.AcceptedCount))
	p.pair("refused", fmt.Sprint(e.RejectedCount))
	p.pair("not submitted", fmt.Sprint(e.NotSubmittedCount))
	for _, r := range e.Rejected {
		p.add(p.t.Bad, 2, fmt.Sprintf("%s %s: %d %s", p.t.Glyph.Failed, r.Address, r.Code, r.Text))
	}
}

func (p *page) later(a view.Attempt) {
	if len(a.Evidence.Findings) > 0 {
		p.head("Found later")
		for _, f := range a.Evidence.Findings {
			p.add(p.t.Text, 2, p.t.Glyph.Dot+" "+f.String())
		}
	}
	if a.Resolution != nil {
		p.head("Decided by a person")
		words := map[mail.Resolution]string{mail.ResolutionSent: "it was sent", mail.ResolutionNotSent: "it was not sent", mail.ResolutionResent: "it was sent again"}
		p.add(p.t.Text, 2, words[*a.Resolution])
	}
}

// CopyHint says what can be done about a sent copy, "" when nothing can.
func CopyHint(a view.Attempt) string {
	if a.Status != mail.StatusSent {
		return ""
	}
	switch a.SentCopy.Status {
	case mail.CopyUnknown:
		return "C looks whether it is there"
	case mail.CopyFailed, mail.CopySkipped:
		return "C tries it again"
	}
	return ""
}

func (p *page) copy(a view.Attempt) {
	c := a.SentCopy
	if a.Status != mail.StatusSent || c.Status == "" {
		return
	}
	p.head("Sent copy")
	words := map[mail.CopyStatus]string{mail.CopyPending: "being saved", mail.CopySaved: "saved", mail.CopyFailed: "not saved",
		mail.CopySkipped: "none was made", mail.CopyUnknown: "may be there: the answer was lost"}
	p.pair("state", words[c.Status])
	if c.Folder != nil {
		where := c.Folder.String()
		if c.UID != nil {
			where += fmt.Sprintf(", UID %d", *c.UID)
		}
		p.pair("folder", where)
	}
	if c.ErrorMessage != nil {
		p.pair("reason", c.ErrorMessage.String())
	}
	p.pair("", CopyHint(a))
}

func (p *page) identity(a view.Attempt) {
	p.head("Identity")
	p.pair("account", kit.Clean(a.Account))
	p.pair("made", p.clock(a.CreatedAt))
	if a.SentAt != nil {
		p.pair("accepted", p.clock(*a.SentAt))
	}
	p.pair("Message-ID", kit.Clean(a.RFCMessageID))
	for _, id := range a.OtherMessageIDs {
		p.pair("", kit.Clean(id))
	}
	if a.ProviderMessageID != nil {
		p.pair("server's id", kit.Clean(*a.ProviderMessageID))
	}
	p.pair("key", kit.Clean(a.IdempotencyKey))
	p.pair("attempt", kit.Clean(a.ID))
}

func (p *page) text(a view.Attempt) {
	p.head("Text")
	for _, f := range a.Attachments {
		p.add(p.t.Dim, 2, p.t.Glyph.Attach+" "+kit.Clean(f.Name)+" "+kit.Size(f.Size))
	}
	for _, l := range kit.CleanBlock(a.Body) {
		style := kit.Style{}
		if strings.HasPrefix(l, ">") {
			style = p.t.Quote(1)
		}
		p.add(style, 3, l)
	}
}
