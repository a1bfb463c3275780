package inbound

import (
	"strings"

	"skrzynka/mail"
)

// matchCalendar reads the method of an iTIP object (RFC 5546): a REPLY is a
// person's act; a REQUEST, CANCEL or PUBLISH answers nothing, whatever it
// refers to.
func matchCalendar(f *facts, r *Result) (mail.InboundClass, bool) {
	for i := range f.m.Parts {
		p := &f.m.Parts[i]
		if p.Type != "text/calendar" || p.Within >= 0 {
			continue
		}
		method := strings.ToUpper(p.Params.Get("method"))
		if method == "" {
			method = calendarMethod(clip(f.m.PartText(i), maxScan))
		}
		if len(f.h.From) != 1 || method == "" {
			return "", false
		}
		r.because("calendar", "METHOD:"+method)
		if (method == "REPLY" || method == "COUNTER") && f.answers {
			return mail.ClassHumanReply, true
		}
		return mail.ClassHumanMail, true
	}
	return "", false
}

func calendarMethod(text string) string {
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(strings.ToUpper(strings.TrimSpace(line)), "METHOD:"); ok {
			return v
		}
	}
	return ""
}
