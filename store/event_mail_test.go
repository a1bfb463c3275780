package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/inbox"
	"skrzynka/mail/parse"
)

// The mail that arrives in these tests. ours is a Message-ID of ours, to whom
// it was sent.

func crlf(lines ...string) []byte { return []byte(strings.Join(lines, "\r\n") + "\r\n") }

func human(n int, from, ours string) []byte {
	return crlf("From: Hanna <"+from+">", "To: me@example.org", "Subject: Re: Hello", "Date: Sun, 01 Mar 2026 13:00:00 +0000",
		fmt.Sprintf("Message-ID: <human%d@there.example>", n), "In-Reply-To: "+ours, "References: "+ours, "", "Thank you, that is fine.")
}

func away(n int, from, ours string) []byte {
	return crlf("From: Olga <"+from+">", "To: me@example.org", "Subject: Automatic reply: Hello", "Date: Sun, 01 Mar 2026 13:00:00 +0000",
		fmt.Sprintf("Message-ID: <away%d@there.example>", n), "In-Reply-To: "+ours, "Auto-Submitted: auto-replied", "",
		"I am out of the office and back on 12 March 2026.")
}

func bounce(n int, to, ours, code string) []byte {
	return crlf("Return-Path: <>", "From: MAILER-DAEMON@mx.example", "To: me@example.org", "Subject: Undelivered Mail Returned to Sender",
		"Date: Sun, 01 Mar 2026 13:00:00 +0000", fmt.Sprintf("Message-ID: <bounce%d@mx.example>", n), "Auto-Submitted: auto-replied", "MIME-Version: 1.0",
		`Content-Type: multipart/report; report-type=delivery-status; boundary="b"`, "",
		"--b", "Content-Type: text/plain", "", "Your message could not be delivered.", "",
		"--b", "Content-Type: message/delivery-status", "", "Reporting-MTA: dns; mx.example", "", "Final-Recipient: rfc822; "+to, "Action: failed", "Status: "+code,
		"Diagnostic-Code: smtp; 550 "+code+" The mailbox does not exist", "",
		"--b", "Content-Type: text/rfc822-headers", "", "From: me@example.org", "To: "+to, "Subject: Hello", "Message-ID: "+ours, "", "--b--")
}

func stranger(n int, from string) []byte {
	return crlf("From: Somebody <"+from+">", "To: me@example.org", "Subject: Something else", "Date: Sun, 01 Mar 2026 13:00:00 +0000",
		fmt.Sprintf("Message-ID: <else%d@there.example>", n), "", "By the way, are you coming on Friday?")
}

// letterOf is what FETCH says of a message.
func letterOf(raw []byte, uid uint32, at time.Time) mail.NewMessage {
	h := parse.Header(raw)
	s := mail.Summary{RFCMessageID: h.MessageID, Subject: h.Subject, Date: at, References: h.References}
	if len(h.From) > 0 {
		s.From = h.From[0]
	}
	if len(h.InReplyTo) > 0 {
		s.InReplyTo = h.InReplyTo[0]
	}
	head, _, _ := strings.Cut(string(raw), "\r\n\r\n")
	return mail.NewMessage{UID: uid, InternalDate: at, Size: int64(len(raw)), Header: []byte(head + "\r\n\r\n"), Summary: s}
}

// put stores a whole message in a folder, as a pass does.
func putMail(t testing.TB, s *Store, f mail.Folder, uid uint32, raw []byte) int64 {
	t.Helper()
	m := letterOf(raw, uid, s.clock.Now())
	id := must1(s.PutHeaders(context.Background(), f.ID, f.UIDValidity, []mail.NewMessage{m}))(t)[0]
	must(t, s.PutBodies(context.Background(), []mail.NewBody{{ID: id, Raw: raw, Summary: m.Summary}}))
	return id
}

func recorderOf(s *Store) *inbox.Recorder {
	return &inbox.Recorder{Account: &mail.Account{Name: "me", Email: "me@example.org"}, Store: s}
}

func drain(t testing.TB, s *Store) {
	t.Helper()
	must(t, recorderOf(s).Drain(context.Background()))
}

// state dumps everything that says what arrived and what followed.
func state(t testing.TB, s *Store) string {
	t.Helper()
	var b strings.Builder
	for _, q := range []string{
		`SELECT id, folder, uid_validity, uid, message_id, rfc_message_id, from_key, hex(evidence), class, outcome, at FROM event ORDER BY id`,
		`SELECT event_id, folder, uid_validity, uid FROM event_place ORDER BY 1,2,3,4`,
		`SELECT event_id, attempt_id FROM event_attempt ORDER BY 1,2`,
		`SELECT id, event_id, class, actor, rule_set, note, detail, at FROM classification ORDER BY id`,
		`SELECT id, event_id, kind, target, hex(evidence), done FROM effect ORDER BY id`,
		`SELECT id, address, state, before, paused_until, why, event_id, version FROM contact ORDER BY id`,
		`SELECT id, attempt_id, state, before, why, event_id, resume_at, version FROM plan ORDER BY id`,
		`SELECT id, plan_id, state, due_at, note, owner, attempt_id, tries FROM step ORDER BY plan_id, position`,
		`SELECT event_id, state, why, note FROM review ORDER BY event_id`,
		`SELECT message_id FROM inbound_due ORDER BY 1`,
		`SELECT id, status, bounced, accepted_late, findings, error_code, held FROM attempt ORDER BY id`,
		`SELECT id, at, actor, action, subject, why, from_state, to_state FROM audit ORDER BY id`,
		`SELECT audit_id, subject FROM audit_related ORDER BY 1,2`,
	} {
		rows, err := s.r.Query("/* test */ " + q)
		must(t, err)
		cols, err := rows.Columns()
		must(t, err)
		fmt.Fprintln(&b, "--", cols)
		for rows.Next() {
			v := make([]any, len(cols))
			for i := range v {
				v[i] = new(any)
			}
			must(t, rows.Scan(v...))
			for i := range v {
				fmt.Fprintf(&b, "%v|", *v[i].(*any))
			}
			fmt.Fprintln(&b)
		}
		must(t, rows.Err())
		must(t, rows.Close())
	}
	return b.String()
}
