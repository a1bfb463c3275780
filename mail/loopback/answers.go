package loopback

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"mime"
	"mime/quotedprintable"
	netmail "net/mail"
	"strings"
	"time"

	gomessage "github.com/emersion/go-message"
	"github.com/emersion/go-message/charset"

	"skrzynka/mail"
)

// An original is what an answer needs of the message it answers.
type original struct {
	head netmail.Header
	raw  []byte
	text string // of its first text/plain part
}

func readOriginal(raw []byte) original {
	o := original{raw: raw, head: netmail.Header{}}
	if m, err := netmail.ReadMessage(bytes.NewReader(raw)); err == nil {
		o.head = m.Header
	}
	entity, err := gomessage.Read(bytes.NewReader(raw))
	if entity == nil || err != nil && !gomessage.IsUnknownCharset(err) {
		return o
	}
	_ = entity.Walk(func(_ []int, part *gomessage.Entity, err error) error {
		kind, _, _ := part.Header.ContentType()
		if err == nil && o.text == "" && (kind == "text/plain" || kind == "") {
			if b, err := io.ReadAll(io.LimitReader(part.Body, 64<<10)); err == nil {
				o.text = string(b)
			}
		}
		return nil
	})
	return o
}

// subject is the answered subject, with prefix unless it begins with it.
func (o original) subject(prefix string) string {
	dec := mime.WordDecoder{CharsetReader: charset.Reader}
	s, err := dec.DecodeHeader(o.head.Get("Subject"))
	if err != nil {
		s = o.head.Get("Subject")
	}
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		s = prefix + s
	}
	return mime.QEncoding.Encode("utf-8", strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s))
}

// threading is the In-Reply-To and References of an answer (RFC 5322 section
// 3.6.4), each line ended; nothing for a message without an identifier.
func (o original) threading() string {
	id := o.head.Get("Message-ID")
	if id == "" {
		return ""
	}
	refs := append(strings.Fields(o.head.Get("References")), id)
	return "In-Reply-To: " + id + "\r\nReferences: " + strings.Join(refs, "\r\n ") + "\r\n"
}

// later waits for the delay, then delivers what build returns into INBOX,
// unless the servers were closed in the meantime.
func (s *Servers) later(delay time.Duration, build func() string) {
	s.wait(delay)
	select {
	case <-s.done:
	default:
		s.Deliver("INBOX", []byte(build()))
	}
}

func (s *Servers) dateLine() string { return "Date: " + s.opts.Now().Format(time.RFC1123Z) + "\r\n" }

// bounce delivers a delivery status notification (RFC 3464) for one recipient.
func (s *Servers) bounce(a Accepted, rcpt string) {
	s.later(s.opts.BounceAfter, func() string { return s.bounceText(a, rcpt) })
}

func (s *Servers) bounceText(a Accepted, rcpt string) string {
	head, _ := split(a.Raw)
	boundary := "=_report_" + a.QueueID
	var b strings.Builder
	fmt.Fprintf(&b, "Return-Path: <>\r\nFrom: Mail Delivery System <MAILER-DAEMON@demo.example>\r\nTo: <%s>\r\n", a.From)
	b.WriteString("Subject: Undelivered Mail Returned to Sender\r\n" + s.dateLine())
	b.WriteString("Message-ID: " + mail.NewMessageID("x@demo.example") + "\r\nAuto-Submitted: auto-replied\r\nMIME-Version: 1.0\r\n")
	fmt.Fprintf(&b, "Content-Type: multipart/report; report-type=delivery-status;\r\n boundary=\"%s\"\r\n\r\n", boundary)
	fmt.Fprintf(&b, "--%s\r\nContent-Type: text/plain; charset=us-ascii\r\nContent-Description: Notification\r\n\r\n", boundary)
	fmt.Fprintf(&b, "This is the mail system at demo.example.\r\n\r\nYour message could not be delivered to the following address:\r\n\r\n  <%s>\r\n\r\n", rcpt)
	b.WriteString("The server that is responsible for it answered:\r\n\r\n  550 5.1.1 The mailbox does not exist\r\n\r\nNo further attempt will be made.\r\n\r\n")
	fmt.Fprintf(&b, "--%s\r\nContent-Type: message/delivery-status\r\nContent-Description: Delivery report\r\n\r\n", boundary)
	fmt.Fprintf(&b, "Reporting-MTA: dns; demo.example\r\nArrival-Date: %s\r\n\r\n", a.At.Format(time.RFC1123Z))
	fmt.Fprintf(&b, "Final-Recipient: rfc822; %s\r\nOriginal-Recipient: rfc822; %s\r\nAction: failed\r\nStatus: 5.1.1\r\n", rcpt, rcpt)
	b.WriteString("Remote-MTA: dns; mx.demo.example\r\nDiagnostic-Code: smtp; 550 5.1.1 The mailbox does not exist\r\n\r\n")
	fmt.Fprintf(&b, "--%s\r\nContent-Type: text/rfc822-headers\r\nContent-Description: Headers of your message\r\n\r\n", boundary)
	b.Write(head)
	fmt.Fprintf(&b, "--%s--\r\n", boundary)
	return b.String()
}

// returnDay is the first working day that is at least five days away.
func returnDay(now time.Time) time.Time {
	day := now.AddDate(0, 0, 5)
	for day.Weekday() == time.Saturday || day.Weekday() == time.Sunday {
		day = day.AddDate(0, 0, 1)
	}
	return day
}

// autoReply delivers an out-of-office answer marked as RFC 3834 asks.
func (s *Servers) autoReply(a Accepted, rcpt string) {
	s.later(s.opts.AutoReplyAfter, func() string {
		o := readOriginal(a.Raw)
		text := "Hello,\n\nthank you for your message. I am out of the office and read no mail.\nI am back on " +
			returnDay(s.opts.Now()).Format("Monday, 2 January 2006") +
			".\n\nIn urgent cases please call Hanna at the front desk.\n\nOlga Oduya\n"
		return s.personal(a, o, "Olga Oduya", rcpt, o.subject("Automatic reply: "),
			"Auto-Submitted: auto-replied\r\nX-Auto-Response-Suppress: All\r\nPrecedence: bulk\r\n", text)
	})
}

var humanLines = []string{
	"Thank you, that is just what I needed. Let us do it that way.",
	"Good news! I talked to the others and everybody agrees.",
	"Thanks for the quick answer. One question: does Thursday work for you as well?",
	"I had to read it twice, but now I see what you mean. You are right.",
}

// humanReply delivers a person's answer that quotes what was sent.
func (s *Servers) humanReply(a Accepted, rcpt string) {
	s.later(s.opts.HumanAfter, func() string {
		o := readOriginal(a.Raw)
		h := fnv.New32a()
		_, _ = h.Write([]byte(a.MessageID))
		var t strings.Builder
		t.WriteString("Hi Ada,\n\n" + humanLines[h.Sum32()%uint32(len(humanLines))] + "\n\nHanna\n\n")
		fmt.Fprintf(&t, "On %s, %s wrote:\n", a.At.Format("Mon, 2 Jan 2006 at 15:04"), DemoName)
		for line := range strings.Lines(strings.TrimRight(strings.ReplaceAll(o.text, "\r\n", "\n"), "\n") + "\n") {
			mark := "> "
			if strings.HasPrefix(line, ">") {
				mark = ">"
			}
			t.WriteString(mark + line)
		}
		return s.personal(a, o, "Hanna Human", rcpt, o.subject("Re: "), "", t.String())
	})
}

// personal writes a plain-text answer from a recipient back to the sender.
func (s *Servers) personal(a Accepted, o original, name, rcpt, subject, extra, text string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Return-Path: <%s>\r\nFrom: %s <%s>\r\nTo: %s <%s>\r\nSubject: %s\r\n", rcpt, name, rcpt, DemoName, a.From, subject)
	b.WriteString(s.dateLine() + "Message-ID: " + mail.NewMessageID(rcpt) + "\r\n" + o.threading() + extra)
	b.WriteString("MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n")
	q := quotedprintable.NewWriter(&b)
	_, _ = q.Write([]byte(text)) // a Builder takes everything
	_ = q.Close()
	return b.String()
}
