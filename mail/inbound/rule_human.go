package inbound

import (
	"strings"

	"skrzynka/mail"
)

// matchHuman is the last rule: what no sign calls automatic was written by a
// person. It is a reply when it answers a Message-ID of ours.
func matchHuman(f *facts, r *Result) (mail.InboundClass, bool) {
	if len(f.h.From) != 1 {
		r.because("sender-unclear", strings.TrimSpace(f.h.Get("From")))
		return mail.ClassUnmapped, true
	}
	if f.answers {
		r.because("answers-ours", f.named[0])
		return mail.ClassHumanReply, true
	}
	r.because("nothing-automatic", "")
	return mail.ClassHumanMail, true
}
