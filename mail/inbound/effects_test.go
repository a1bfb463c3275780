package inbound

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/parse"
)

const ourID = "<a7k2m9q4x1c8v5b3n6z0p2r4t6w8y1e3@own.example>"

var sentAt = time.Date(2026, 8, 3, 9, 0, 0, 0, time.UTC)

// oneAttempt is a message of ours to ann@far.example and bob@far.example.
func oneAttempt() Attempt {
	return Attempt{ID: "A", MessageIDs: []string{ourID}, Recipients: []string{"ann@far.example", "bob@far.example"}, Subject: "Plans", Status: mail.StatusSent, SentAt: sentAt}
}

// dsn writes a report about one recipient that returns the given Message-ID.
func dsn(recipient, status, diagnostic, id string) string {
	return "Return-Path: <>\nFrom: MAILER-DAEMON@mx.example\nTo: me@own.example\nSubject: Undelivered Mail Returned to Sender\n" +
		"Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\n\nThis is the mail system.\n\n--b\nContent-Type: message/delivery-status\n\n" +
		"Reporting-MTA: dns; mx.example\n\nFinal-Recipient: rfc822; " + recipient + "\nAction: failed\nStatus: " + status + "\nDiagnostic-Code: smtp; " + diagnostic +
		"\n\n--b\nContent-Type: text/rfc822-headers\n\nFrom: me@own.example\nMessage-ID: " + id + "\n\n--b--\n"
}

// whole classifies raw as the product does: the attempts it names are looked
// up first. after is the time since our message.
func whole(raw string, after time.Duration, followed bool) (Result, []Effect) {
	m := parse.Message([]byte(raw))
	in := Input{Msg: m, OwnAddresses: []string{"me@own.example"}, Arrived: sentAt.Add(after)}
	a := oneAttempt()
	for _, id := range Mentions(m).MessageIDs {
		if id == ourID {
			in.Correlated = []Attempt{a}
		}
	}
	if len(m.From) == 1 && hasRecipient(a, m.From[0].Addr) {
		in.Recent = []Attempt{a}
	}
	r := Classify(in)
	c := Correlation{Recent: in.Recent, Followed: followed, Arrived: in.Arrived}
	if len(r.NamedIDs) > 0 {
		c.Named = in.Correlated
	}
	return r, Effects(r, c)
}

func kinds(list []Effect) string {
	var out []string
	for _, e := range list {
		s := string(e.Kind)
		if e.Note != "" {
			s += ":" + string(e.Note)
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestEffectsOfEachClass(t *testing.T) {
	const day = 24 * time.Hour
	reply := "From: ann@far.example\nSubject: Re: Plans\nIn-Reply-To: " + ourID + "\n"
	for _, row := range []struct {
		name, raw string
		after     time.Duration
		followed  bool
		class     mail.InboundClass
		want      string
	}{
		{"a person answers", reply + "\nYes.\n", day, true, mail.ClassHumanReply, "contact_replied stop_plan"},
		{"a colleague answers", "From: carl@far.example\nIn-Reply-To: " + ourID + "\n\nYes.\n", day, true, mail.ClassHumanReply, "stop_plan review"},
		{"a followed person writes", "From: ann@far.example\nSubject: Hello\n\nHi.\n", day, true, mail.ClassHumanMail, "hold_plan review"},
		{"anybody writes", "From: zed@else.example\nSubject: Hello\n\nHi.\n", day, false, mail.ClassHumanMail, ""},
		{"away with a date", reply + "Auto-Submitted: auto-replied\n\nI am out of the office until 14 August 2026.\n", time.Minute, true, mail.ClassAutoReply, "pause_plan"},
		{"away without a date", reply + "Auto-Submitted: auto-replied\n\nI am out of the office.\n", time.Minute, true, mail.ClassAutoReply, "hold_plan review"},
		{"away, tied to nothing", "From: ann@far.example\nAuto-Submitted: auto-replied\n\nI am out of the office until 14 August 2026.\n", time.Minute, true, mail.ClassAutoReply, "hold_plan review"},
		{"a stranger is away", "From: zed@else.example\nAuto-Submitted: auto-replied\n\nI am out of the office.\n", time.Minute, false, mail.ClassAutoReply, ""},
		{"a ticket", reply + "Auto-Submitted: auto-generated\n\nWe have received your request.\n", time.Minute, true, mail.ClassAutoAck, ""},
		{"hard", dsn("ann@far.example", "5.1.1", "550 5.1.1 User unknown", ourID), time.Minute, true, mail.ClassBounceHard, "suppress_address stop_plan note_attempt:bounced"},
		{"hard, in capitals", dsn("ANN@FAR.example", "5.1.1", "550 5.1.1 User unknown", ourID), time.Minute, true, mail.ClassBounceHard, "suppress_address stop_plan note_attempt:bounced"},
		{"full", dsn("ann@far.example", "5.2.2", "552 5.2.2 Mailbox full", ourID), time.Minute, true, mail.ClassBounceSoft, "note_attempt:refused"},
		{"delayed", strings.Replace(dsn("ann@far.example", "4.4.1", "connect to far.example: timed out", ourID), "Action: failed", "Action: delayed", 1), time.Hour, true, mail.ClassBounceSoft, "note_attempt:delayed"},
		{"delivered", strings.Replace(dsn("ann@far.example", "2.0.0", "250 2.0.0 ok", ourID), "Action: failed", "Action: delivered", 1), time.Hour, true, mail.ClassDSNSuccess, "note_attempt:delivered"},
		{"read", "From: ann@far.example\nContent-Type: multipart/report; report-type=disposition-notification; boundary=b\n\n--b\n\nRead.\n--b\nContent-Type: message/disposition-notification\n\nOriginal-Message-ID: " + ourID + "\nDisposition: manual-action/MDN-sent-manually; displayed\n\n--b--\n", day, true, mail.ClassMDN, "note_attempt:read"},
		{"a newsletter", "From: n@news.example\nList-Id: <news.example>\n\nNews.\n", day, false, mail.ClassListOrBulk, ""},
		{"our own copy", "From: me@own.example\nMessage-ID: " + ourID + "\n\nPlans.\n", day, true, mail.ClassOwn, ""},
		{"no sender", "To: me@own.example\nSubject: Hm\n\nHi.\n", day, false, mail.ClassUnmapped, "review"},
		{"a complaint", "From: fbl@isp.example\nContent-Type: multipart/report; report-type=feedback-report; boundary=b\n\n--b\n\nAn abuse report.\n--b\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\nOriginal-Rcpt-To: ann@far.example\n\n--b\nContent-Type: message/rfc822\n\nFrom: me@own.example\nMessage-ID: " + ourID + "\n\nx\n--b--\n", day, true, mail.ClassComplaint, "suppress_address stop_plan"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r, list := whole(row.raw, row.after, row.followed)
			if r.Class != row.class || kinds(list) != row.want {
				t.Errorf("%s with %q, want %s with %q (%v)", r.Class, kinds(list), row.class, row.want, r.Reasons)
			}
		})
	}
}

// What can be forged changes no contact: it never suppresses, marks as replied,
// pauses or stops.
func TestForgedMailChangesNoContact(t *testing.T) {
	from := "From: ann@far.example\n"
	for name, raw := range map[string]string{
		"a DSN that names no message of ours":           dsn("ann@far.example", "5.1.1", "550 5.1.1 User unknown", "<guess@own.example>"),
		"a DSN without a returned part":                 strings.Split(dsn("ann@far.example", "5.1.1", "550 5.1.1 User unknown", ourID), "--b\nContent-Type: text/rfc822-headers")[0] + "--b--\n",
		"a DSN for an address we never wrote to":        dsn("boss@far.example", "5.1.1", "550 5.1.1 User unknown", ourID),
		"a DSN with a code about policy":                dsn("ann@far.example", "5.7.1", "550 5.7.1 refused by policy", ourID),
		"a DSN with a hard code and words of policy":    dsn("ann@far.example", "5.1.1", "550 5.1.1 rejected by policy", ourID),
		"a DSN with a hard code and words of rate":      dsn("ann@far.example", "5.1.1", "550 5.1.1 ann has sent to too many recipients today", ourID),
		"a DSN with a hard code and words of quota":     dsn("ann@far.example", "5.1.1", "550 5.1.1 user is over quota", ourID),
		"a DSN that expired":                            dsn("ann@far.example", "4.4.7", "550 4.4.7 QUEUE.Expired; message expired", ourID),
		"a plain bounce that names no message of ours":  "Return-Path: <>\nFrom: MAILER-DAEMON@mx.example\nSubject: failure notice\n\nHi. This is the qmail-send program at mx.example.\n\n<ann@far.example>:\n550 5.1.1 no such user\n",
		"an automatic answer without a Message-ID":      from + "Subject: Automatic reply: Plans\nAuto-Submitted: auto-replied\n\nI am out of the office until 14 August 2026.\n",
		"an automatic answer with a guessed Message-ID": from + "Auto-Submitted: auto-replied\nIn-Reply-To: <guess@own.example>\n\nI am out of the office until 14 August 2026.\n",
		"a reply with a guessed Message-ID":             from + "Subject: Re: Plans\nIn-Reply-To: <guess@own.example>\n\nStop writing.\n",
		"Auto-Submitted: no":                            from + "Auto-Submitted: no\n\nI am out of the office until 14 August 2026.\n",
		"X-Auto-Response-Suppress alone":                from + "X-Auto-Response-Suppress: All\n\nHello.\n",
		"Sprzedam auto":                                 from + "Subject: Sprzedam auto: Golf\n\nDzień dobry.\n",
		"a list's Precedence":                           from + "Precedence: list\nList-Id: <l.far.example>\n\nHello.\n",
		"a complaint that names no message of ours":     "From: fbl@isp.example\nContent-Type: multipart/report; report-type=feedback-report; boundary=b\n\n--b\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\nOriginal-Rcpt-To: ann@far.example\n\n--b--\n",
		"a read receipt of somebody else":               "From: zed@else.example\nContent-Type: multipart/report; report-type=disposition-notification; boundary=b\n\n--b\nContent-Type: message/disposition-notification\n\nOriginal-Message-ID: " + ourID + "\nDisposition: manual-action/MDN-sent-manually; displayed\n\n--b--\n",
		"From is ours, and a report inside":             strings.Replace(dsn("ann@far.example", "5.1.1", "550 5.1.1 User unknown", ourID), "MAILER-DAEMON@mx.example", "me@own.example", 1),
		"a forwarded report":                            from + "Subject: Fwd: bounce\nContent-Type: multipart/mixed; boundary=o\n\n--o\n\nSee below.\n--o\nContent-Type: message/rfc822\n\n" + dsn("ann@far.example", "5.1.1", "550 User unknown", ourID) + "--o--\n",
		"a report in the text of a person's mail":       from + "Subject: what is this?\n\nI got this:\nFinal-Recipient: rfc822; bob@far.example\nAction: failed\nStatus: 5.1.1\nMessage-ID: " + ourID + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			r, list := whole(raw, time.Minute, true)
			for _, e := range list {
				switch e.Kind {
				case SuppressAddress, ContactReplied, PausePlan, StopPlan:
					t.Errorf("%s leads to %s: %v", r.Class, kinds(list), r.Reasons)
				}
			}
		})
	}
}

// "no", a suppress header, a car and a list's Precedence make no automatic
// answer, even where they answer our message at once.
func TestNoAutomaticAnswer(t *testing.T) {
	for _, header := range []string{
		"Auto-Submitted: no", "Auto-Submitted: No (a person)", "X-Auto-Response-Suppress: All", "X-Auto-Response-Suppress: OOF, AutoReply",
		"Subject: Sprzedam auto: Golf", "Subject: Re: Auto: Golf", "Subject: Re: Urlop w sierpniu", "Subject: Absent without reason?", "X-Autoreply: no", "Precedence: list\nList-Id: <l.example>",
	} {
		raw := "From: ann@far.example\nIn-Reply-To: " + ourID + "\n" + header + "\n\nThanks, let us talk.\n"
		if r, _ := whole(raw, time.Hour, true); r.Class != mail.ClassHumanReply {
			t.Errorf("%q is %s: %v", header, r.Class, r.Reasons)
		}
	}
}

// A subject of ours that begins like an automatic answer does not make the
// reply to it one.
func TestOurOwnSubject(t *testing.T) {
	a := oneAttempt()
	a.Subject = "Automatic reply: how to set it up"
	m := parse.Message([]byte("From: ann@far.example\nSubject: Re: Automatic reply: how to set it up\nIn-Reply-To: " + ourID + "\n\nThanks!\n"))
	r := Classify(Input{Msg: m, Arrived: sentAt.Add(time.Minute), Correlated: []Attempt{a}, Recent: []Attempt{a}})
	if r.Class != mail.ClassHumanReply {
		t.Errorf("%s: %v", r.Class, r.Reasons)
	}
}

// A bounce is believed for seven days, of an attempt that was sent.
func TestSuppressionNeedsAFreshSentAttempt(t *testing.T) {
	raw := dsn("ann@far.example", "5.1.1", "550 5.1.1 User unknown", ourID)
	r, _ := whole(raw, time.Minute, true)
	for _, row := range []struct {
		after  time.Duration
		status mail.DeliveryStatus
		want   bool
	}{
		{time.Minute, mail.StatusSent, true},
		{time.Minute, mail.StatusUncertain, true},
		{time.Minute, mail.StatusFailed, false},
		{time.Minute, mail.StatusPending, false},
		{7 * 24 * time.Hour, mail.StatusSent, true},
		{7*24*time.Hour + time.Second, mail.StatusSent, false},
		{-2 * time.Hour, mail.StatusSent, false},
	} {
		a := oneAttempt()
		a.Status = row.status
		list := Effects(r, Correlation{Named: []Attempt{a}, Arrived: sentAt.Add(row.after)})
		if got := strings.Contains(kinds(list), "suppress"); got != row.want {
			t.Errorf("after %s, %s: %q", row.after, row.status, kinds(list))
		}
	}
}

// Each recipient of a report is judged by itself, and only ours count.
func TestEachRecipientOfAReport(t *testing.T) {
	raw := dsn("ann@far.example", "5.1.1", "550 5.1.1 User unknown", ourID)
	block := func(final, orig, action, status, diagnostic string) string {
		return "\nFinal-Recipient: rfc822; " + final + "\nOriginal-Recipient: rfc822; " + orig + "\nAction: " + action + "\nStatus: " + status + "\nDiagnostic-Code: smtp; " + diagnostic + "\n"
	}
	raw = strings.Replace(raw, "\n\n--b\nContent-Type: text/rfc822", "\n"+block("bob@inner.example", "bob@far.example", "failed", "5.1.10", "550 5.1.10 not found")+
		block("eve@evil.example", "eve@evil.example", "failed", "5.1.1", "550 5.1.1 User unknown")+
		block("ann@far.example", "ann@far.example", "delayed", "4.4.1", "timed out")+"\n\n--b\nContent-Type: text/rfc822", 1)
	r, list := whole(raw, time.Minute, true)
	if len(r.Recipients) != 4 {
		t.Fatalf("%d recipients: %+v", len(r.Recipients), r.Recipients)
	}
	suppressed := map[string]bool{}
	for _, e := range list {
		if e.Kind == SuppressAddress {
			suppressed[e.Address] = true
		}
	}
	if want := map[string]bool{"ann@far.example": true, "bob@far.example": true}; fmt.Sprint(suppressed) != fmt.Sprint(want) {
		t.Errorf("suppressed %v, want %v", suppressed, want)
	}
	if !strings.Contains(kinds(list), "review") {
		t.Error("a foreign address in a report is not reviewed")
	}
}
