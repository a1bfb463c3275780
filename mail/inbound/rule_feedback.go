package inbound

import (
	"strings"

	"skrzynka/mail"
	"skrzynka/mail/parse"
)

// matchFeedback recognises an abuse report (ARF, RFC 5965) and the complaint
// Microsoft's JMRP sends, which is the message itself with a mark on it.
func matchFeedback(f *facts, r *Result) (mail.InboundClass, bool) {
	report := reportType(f)
	for i := range f.m.Parts {
		p := &f.m.Parts[i]
		if p.Within >= 0 || p.Type != "message/feedback-report" {
			continue
		}
		h := parse.Header(clipBytes(f.m.Content(i), parse.MaxHeader))
		kind := strings.ToLower(strings.TrimSpace(h.Get("Feedback-Type")))
		r.because("arf", "Feedback-Type: "+kind)
		for _, v := range h.All("Original-Rcpt-To") {
			if a := reportAddress(v); a != "" && len(r.Recipients) < maxReported {
				r.Recipients = append(r.Recipients, BounceRecipient{Address: a, Action: "complaint", Why: "the recipient's provider reports a complaint"})
			}
		}
		return mail.ClassComplaint, true
	}
	if report == "feedback-report" {
		r.because("arf", "report-type=feedback-report")
		return mail.ClassComplaint, true
	}
	if strings.HasPrefix(f.bare, "complaint about message") {
		for _, h := range returned(f.m) {
			if v := h.Get("X-HmXmrOriginalRecipient"); v != "" {
				r.because("jmrp", "X-HmXmrOriginalRecipient: "+v)
				r.Recipients = append(r.Recipients, BounceRecipient{Address: reportAddress(v), Action: "complaint", Why: "the recipient's provider reports a complaint"})
				return mail.ClassComplaint, true
			}
		}
	}
	return "", false
}
