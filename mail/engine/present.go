package engine

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/delivery"
	"skrzynka/mail/outbox"
	"skrzynka/mail/parse"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

// present makes the view of an attempt. It is the border: every word of a
// server or a message is cleaned here.
func (e *Engine) present(a mail.Attempt, replayed bool) view.Attempt {
	s, unsettled := e.outbox.Unsettled(a.ID)
	unsettled = unsettled && (a.Status == mail.StatusSending || a.Status == mail.StatusUncertain)
	if unsettled {
		// The outcome is known but not on disk: the screen must not claim it.
		a.Status, a.ErrorCode, a.Evidence = mail.StatusUncertain, a.Kind.UncertainCode(), s.Evidence
		a.ErrorText = "The outcome could not be written to the database yet; it is kept in the emergency log."
	}
	v := view.Attempt{ID: a.ID, Kind: a.Kind, Account: a.Account, IdempotencyKey: a.IdempotencyKey, Status: a.Status,
		To: addrs(a.To), Cc: addrs(a.Cc), Bcc: addrs(a.Bcc), Subject: a.Subject, Body: a.Body, Attachments: a.Attachments,
		RFCMessageID: a.RFCMessageID, OtherMessageIDs: a.OtherIDs, ProviderMessageID: strOrNil(safe.Line(a.ProviderID).String()),
		ErrorMessage: strOrNil(safe.Line(a.ErrorText).String()), Retryable: a.Retryable, Replayed: replayed,
		AutoTries: a.AutoTries, RetryOf: strOrNil(a.RetryOf), RetriedBy: strOrNil(a.RetriedBy), Held: a.Held, Evidence: presentEvidence(&a),
		SentCopy: presentCopy(a.Copy), CreatedAt: a.CreatedAt.UTC(), UpdatedAt: a.UpdatedAt.UTC(),
		Says: safe.Line(delivery.Says(&a)), Advice: safe.Line(delivery.Advice(&a)), Badge: badge(&a)}
	if unsettled { // the evidence is about something else than the doubt
		v.Says, v.Advice = safe.Line(a.ErrorText), safe.Line("Free some disk space and leave the program running: it writes the outcome as soon as it can. Do not resend before that.")
	}
	if a.MessageID != 0 {
		v.MessageID = strOrNil(strconv.FormatInt(a.MessageID, 10))
	}
	if a.ErrorCode != "" {
		v.ErrorCode = &a.ErrorCode
	}
	if a.Resolution != mail.ResolutionNone {
		v.Resolution = &a.Resolution
	}
	if !a.SentAt.IsZero() {
		t := a.SentAt.UTC()
		v.SentAt = &t
	}
	if !a.NextTryAt.IsZero() {
		t := a.NextTryAt.UTC()
		v.NextTryAt, v.AutoTriesMax = &t, outbox.MaxAutoTries
	}
	return v
}

func badge(a *mail.Attempt) view.Badge {
	return view.Badge{Status: a.Status, Resolved: a.Resolution, Proven: a.Evidence.AcceptedLate, Bounced: a.Bounced}
}

func presentEvidence(a *mail.Attempt) view.Evidence {
	ev := a.Evidence
	// Of an attempt on its way only the mark is known. Of a settled one the
	// evidence says it: the mark may be there and the terminator not be begun.
	handed := ev.HandedOver || a.Status == mail.StatusSending && !a.HandoverAt.IsZero()
	v := view.Evidence{LastStep: ev.LastStep, Fault: ev.Fault, HandedOver: handed,
		NotHandedOver: a.Status == mail.StatusUncertain && ev.Fault == mail.FaultGone && !handed,
		Server:        safe.Line(ev.Server), TLS: safe.Line(ev.TLS), AcceptedCount: ev.Accepted(),
		NotSubmittedCount: ev.NotSubmitted(), Rejected: []view.Rejected{}, AcceptedLate: ev.AcceptedLate}
	if ev.Reply.Code != 0 {
		v.ReplyCode = &ev.Reply.Code
		v.EnhancedCode = strOrNil(safe.Line(ev.Reply.Enhanced).String())
		text := safe.Line(ev.Reply.Text)
		v.ReplyText = &text
	}
	for _, r := range ev.Rejected() {
		v.Rejected = append(v.Rejected, view.Rejected{Address: safe.Line(r.Address), Code: r.Reply.Code, Text: safe.Line(r.Reply.Text)})
	}
	v.RejectedCount = len(v.Rejected)
	for _, s := range ev.Steps {
		v.Steps = append(v.Steps, view.StepMark{Step: s.Step, At: s.At.UTC(), Note: safe.Line(s.Note)})
	}
	for _, f := range a.Findings {
		v.Findings = append(v.Findings, safe.Line(f))
	}
	return v
}

func presentCopy(c mail.SentCopy) view.SentCopy {
	v := view.SentCopy{Status: c.Status}
	if c.Folder != "" {
		f := safe.Line(c.Folder)
		v.Folder = &f
	}
	if c.UIDValidity != 0 {
		v.UIDValidity = &c.UIDValidity
	}
	if c.UID != 0 {
		v.UID = &c.UID
	}
	if c.ErrorCode != "" {
		v.ErrorCode = &c.ErrorCode
	}
	if c.ErrorText != "" {
		t := safe.Line(c.ErrorText)
		v.ErrorMessage = &t
	}
	return v
}

func addrs(list []mail.Address) []string {
	out := make([]string, len(list))
	for i, a := range list {
		out[i] = a.Addr
	}
	return out
}

func strOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// presentMessage opens a message: parsed within limits, cleaned part by part.
func presentMessage(row view.MessageRow, raw []byte) view.Message {
	m := parse.Message(raw)
	v := view.Message{MessageRow: row, MessageID: safe.Line(m.MessageID), Sender: people(m.Sender), FromAll: people(m.From),
		ReplyTo: people(m.ReplyTo), ToAll: people(m.To), CcAll: people(m.Cc), Text: safe.Block(m.Text), HTMLOnly: m.HTMLOnly}
	for _, f := range m.Fields {
		v.Headers = append(v.Headers, view.Header{Name: safe.Line(f.Name), Value: safe.Line(parse.DecodeText(f.Value))})
	}
	v.Lines = presentLines(m.Text)
	for _, l := range m.Links {
		v.Links = append(v.Links, view.Link{N: l.N, Text: safe.Line(l.Text), URL: safe.Line(l.URL)})
	}
	for _, i := range m.Attachments {
		p := m.Parts[i]
		name := safe.Name(p.Name)
		if name.Empty() {
			name = safe.Name(parse.Filename(p.Name))
		}
		v.Files = append(v.Files, view.File{Part: i, Name: name, Type: safe.Line(p.Type), Size: int64(p.Size), Inline: p.Inline, Risky: risky(p.Name, p.Type)})
	}
	for _, p := range m.Problems {
		v.Problems = append(v.Problems, safe.Line(p))
	}
	if m.HiddenText {
		v.Problems = append(v.Problems, safe.Line("The HTML hides some of its text; it is not shown. The raw source has it."))
	}
	return v
}

func presentLines(text string) []view.Line {
	body, _ := parse.SplitSignature(text)
	n := len(parse.Lines(body))
	lines := parse.Lines(text)
	out := make([]view.Line, 0, len(lines))
	for i, l := range lines {
		// Cleaning finds more kinds of line end than a mail has (CR, NEL, LS, PS).
		shown := safe.Block(l.Text).Lines()
		if len(shown) == 0 {
			shown = []safe.Text{{}}
		}
		for _, t := range shown {
			out = append(out, view.Line{Depth: l.Depth, Signature: i >= n, Text: t})
		}
	}
	return out
}

func people(list []mail.Address) []view.Address {
	out := make([]view.Address, len(list))
	for i, a := range list {
		out[i] = view.Address{Name: safe.Name(a.Name), Addr: safe.Name(a.Addr)}
		if p, bad := safe.SuspiciousDomain(a.Addr); bad {
			out[i].Mark = safe.Line("the domain looks like another one: " + p.String())
		}
	}
	return out
}

// draftPeople is how many recipients a row names: it has one line for them.
const draftPeople = 10

func presentDraft(d mail.Draft) view.Draft {
	var names []string
	for _, a := range d.To[:min(len(d.To), draftPeople)] {
		names = append(names, a.Addr)
	}
	to := strings.Join(names, ", ")
	if more := len(d.To) - draftPeople; more > 0 {
		to += fmt.Sprintf(" and %d more", more)
	}
	return view.Draft{ID: d.ID, Account: d.Account, Kind: d.Kind, To: safe.Line(to), Subject: safe.Line(d.Subject),
		Snippet: safe.Line(parse.Snippet(d.Body, 200)), SendAt: utc(d.SendAt), UpdatedAt: d.UpdatedAt.UTC()}
}

func presentAudit(a mail.AuditEntry) view.AuditRow {
	return view.AuditRow{ID: a.ID, At: a.At.UTC(), Actor: a.Actor, Account: a.Account, Action: a.Action,
		Subject: safe.Line(a.Subject), About: safe.Line(a.About), Why: safe.Line(a.Why), From: safe.Line(a.From), To: safe.Line(a.To)}
}

func utc(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC()
}

func notFound(what string, id any) *mail.Error {
	return &mail.Error{Code: mail.CodeNotFound, Text: fmt.Sprintf("There is no %s %v.", what, id), Hint: "List them to see what there is."}
}

// risky reports whether a file is of a kind that runs, or runs scripts, when it
// is opened.
func risky(name, mediaType string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".desktop", ".exe", ".scr", ".com", ".bat", ".cmd", ".pif", ".lnk", ".url", ".msi", ".html", ".htm", ".xhtml", ".svg", ".hta",
		".jar", ".js", ".jse", ".vbs", ".vbe", ".wsf", ".ps1", ".sh", ".py", ".app", ".dmg", ".pkg", ".iso", ".img", ".vhd",
		".docm", ".dotm", ".xlsm", ".xltm", ".xlam", ".pptm", ".reg", ".appimage", ".deb", ".rpm", ".apk", ".chm", ".scf", ".one":
		return true
	}
	return mediaType == "text/html" || mediaType == "image/svg+xml" || strings.HasPrefix(mediaType, "application/x-ms")
}
