package inbound

import (
	"strings"

	"skrzynka/mail"
	"skrzynka/mail/parse"
)

// matchMDN recognises a message disposition notification (RFC 8098).
func matchMDN(f *facts, r *Result) (mail.InboundClass, bool) {
	report := reportType(f)
	for i := range f.m.Parts {
		p := &f.m.Parts[i]
		if p.Within >= 0 || !isDisposition(p.Type) {
			continue
		}
		h := parse.Header(clipBytes(f.m.Content(i), parse.MaxHeader))
		disposition := strings.TrimSpace(h.Get("Disposition"))
		if report != "disposition-notification" && disposition == "" {
			continue
		}
		r.because("mdn", "Disposition: "+disposition)
		return mail.ClassMDN, true
	}
	if report == "disposition-notification" && f.m.ContentType == "multipart/report" {
		r.because("mdn", "report-type=disposition-notification")
		return mail.ClassMDN, true
	}
	return "", false
}

func isDisposition(mediaType string) bool {
	return mediaType == "message/disposition-notification" || mediaType == "message/global-disposition-notification"
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// reportType is the lower-case report-type of a top-level multipart/report
// (RFC 6522), "" otherwise.
func reportType(f *facts) string {
	if f.m.ContentType != "multipart/report" {
		return ""
	}
	return strings.ToLower(f.m.Params.Get("report-type"))
}
