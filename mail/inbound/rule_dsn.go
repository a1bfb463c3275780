package inbound

import (
	"skrzynka/mail"
)

// matchDSN recognises a delivery status notification (RFC 3464) at the top
// level of a message. A report that somebody forwards is an attachment and
// says nothing here.
func matchDSN(f *facts, r *Result) (mail.InboundClass, bool) {
	if t := reportType(f); f.m.ContentType != "multipart/report" || t != "" && t != "delivery-status" {
		return "", false
	}
	recipients := statusRecipients(f)
	if len(recipients) == 0 {
		return "", false
	}
	r.because("dsn", "multipart/report with message/delivery-status")
	f.readText()
	around := ""
	if len(recipients) == 1 { // the text of several may speak of another
		around = f.h.Subject + "\n" + clip(beforeCopy(f.text), 2000)
	}
	for i := range recipients {
		if recipients[i].Diagnostic == "" {
			recipients[i].Diagnostic = aboutAddress(f.text, recipients[i].Address)
			finish(&recipients[i])
		}
		recipients[i].judge(around)
	}
	r.Recipients = recipients
	return bounceClass(r), true
}

// statusRecipients reads every delivery-status part at the top level.
func statusRecipients(f *facts) []BounceRecipient {
	var out []BounceRecipient
	for i := range f.m.Parts {
		p := &f.m.Parts[i]
		if p.Within >= 0 {
			continue
		}
		switch p.Type {
		case "message/delivery-status", "message/global-delivery-status", "text/delivery-status", "message/xdelivery-status":
			out = append(out, deliveryStatus(f.m.Content(i))...)
		}
		if len(out) >= maxReported {
			return out[:maxReported]
		}
	}
	return out
}

// bounceClass is the class of a report as a whole: hard when one recipient is,
// soft when one was not reached, else a report of success.
func bounceClass(r *Result) mail.InboundClass {
	class := mail.ClassDSNSuccess
	for _, b := range r.Recipients {
		switch {
		case b.Hard:
			class = mail.ClassBounceHard
		case b.Action != "delivered" && b.Action != "relayed" && b.Action != "expanded" && class != mail.ClassBounceHard:
			class = mail.ClassBounceSoft
		}
		r.because("recipient", b.Address+" "+b.Action+" "+b.Status+" "+b.Why)
	}
	return class
}
