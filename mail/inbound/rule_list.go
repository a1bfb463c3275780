package inbound

import (
	"strings"

	"skrzynka/mail"
)

// listFields are the marks of a list or of mail sent in bulk (RFC 2369,
// RFC 2919, RFC 8058).
var listFields = []string{"List-Id", "List-Post", "List-Unsubscribe", "List-Help", "List-Subscribe", "Feedback-ID", "X-Mailing-List", "Mailing-List"}

// matchList recognises lists and bulk mail. A person's answer through a list
// carries the same fields, so a Message-ID of ours outweighs them. Precedence
// alone is also written by vacation programs: it counts only where nothing
// says that the mail is an automatic answer.
func matchList(f *facts, r *Result) (mail.InboundClass, bool) {
	if f.answers {
		return "", false
	}
	found := false
	for _, name := range listFields {
		if v := f.h.Get(name); v != "" {
			r.because("list-field", name+": "+strings.TrimSpace(v))
			found = true
			break
		}
	}
	if found {
		return mail.ClassListOrBulk, true
	}
	switch p := f.get("Precedence"); p {
	case "list", "bulk", "junk":
		if _, automatic := autoMark(f); automatic || f.subjectPrefix() != nil || saysReceived(f) {
			return "", false
		}
		r.because("precedence", "Precedence: "+p)
		return mail.ClassListOrBulk, true
	}
	return "", false
}
