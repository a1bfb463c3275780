package inbound

import (
	"bytes"
	"testing"
	"time"
	"unicode/utf8"

	"skrzynka/mail"
	"skrzynka/mail/parse"
)

// FuzzClassify looks for input that panics, gives no class or reason, or
// changes a contact although it names no message of ours.
func FuzzClassify(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := parse.Message(raw)
		in := Input{Msg: m, OwnAddresses: []string{"me@own.example"}, Arrived: sentAt.Add(time.Minute)}
		in.Correlated = []Attempt{{ID: "A", MessageIDs: []string{ourID}, Recipients: []string{"ann@far.example"}, SentAt: sentAt}}
		in.Recent = in.Correlated
		r := Classify(in)
		if _, err := mail.ParseInboundClass(r.Class.String()); err != nil || len(r.Reasons) == 0 {
			t.Fatalf("%q with reasons %v", r.Class, r.Reasons)
		}
		if d := r.ReturnDate; d != nil && (d.Date.Before(in.Arrived.AddDate(0, 0, -4)) || d.Date.After(in.Arrived.AddDate(0, 0, 97)) || d.Quote == "") {
			t.Fatalf("return date %+v", d)
		}
		for _, id := range r.NamedIDs {
			if id != ourID {
				t.Fatalf("%q is not ours", id)
			}
		}
		c := Correlation{Recent: in.Recent, Followed: true, Arrived: in.Arrived}
		for _, e := range Effects(r, c) {
			if e.Kind != HoldPlan && e.Kind != Review {
				t.Fatalf("%s without a message of ours", e.Kind)
			}
		}
	})
}

// FuzzReturnDate looks for text that panics or gives a date outside the window.
func FuzzReturnDate(f *testing.F) {
	for _, row := range returnRows {
		f.Add(row.text, row.lang)
	}
	f.Fuzz(func(t *testing.T, text, lang string) {
		if !utf8.ValidString(text) {
			return
		}
		d := returnDateIn(text, sentAt, lang, true)
		if d != nil && (d.Date.Before(sentAt.Truncate(24*time.Hour)) || d.Date.Sub(sentAt) > returnWindow) {
			t.Fatalf("%+v", d)
		}
	})
}

func seeds(tb testing.TB) [][]byte {
	paths := [][]byte{[]byte(""), []byte("\n\n"), []byte("From: <>\nSubject: Undeliverable\n\n550 5.1.1")}
	for _, s := range []string{dsn("ann@far.example", "5.1.1", "550 User unknown", ourID)} {
		paths = append(paths, []byte(s), bytes.ReplaceAll([]byte(s), []byte("\n"), []byte("\r\n")))
	}
	for _, row := range returnRows {
		paths = append(paths, []byte("From: a@far.example\nAuto-Submitted: auto-replied\nDate: Mon, 3 Aug 2026 10:00:00 +0200\n\n"+row.text))
	}
	return paths
}

// BenchmarkCorpus classifies the collection's messages; the goal is a mean of
// at most a millisecond, parsing included.
func BenchmarkCorpus(b *testing.B) {
	samples := corpus(b)
	b.ResetTimer()
	for i := range b.N {
		Classify(bare(samples[i%len(samples)].raw))
	}
}

// BenchmarkClassify leaves parsing out, on the largest shapes there are.
func BenchmarkClassify(b *testing.B) {
	long := bytes.Repeat([]byte("I will be back until the office 14 of August 2026 550 5.1.1 <ann@far.example>: quota\n"), 20000)
	for name, head := range map[string]string{
		"bounce": "Return-Path: <>\nFrom: MAILER-DAEMON@mx.example\nSubject: failure notice\n\n",
		"auto":   "From: ann@far.example\nAuto-Submitted: auto-replied\nDate: Mon, 3 Aug 2026 10:00:00 +0200\n\nI am out of the office.\n",
		"human":  "From: ann@far.example\nSubject: Re: Plans\n\n",
	} {
		in := bare(append([]byte(head), long...))
		b.Run(name, func(b *testing.B) {
			for range b.N {
				Classify(in)
			}
		})
	}
}

// Time stays bounded whatever the length: what is read of a text has a limit.
func TestHugeMailIsBounded(t *testing.T) {
	for name, raw := range map[string][]byte{
		"addresses":  append([]byte("Return-Path: <>\nFrom: MAILER-DAEMON@x.example\nSubject: failure notice\n\n"), bytes.Repeat([]byte("<a@b.example>: 550 5.1.1 no\n"), 50000)...),
		"references": append(append([]byte("From: a@b.example\nReferences: "), bytes.Repeat([]byte("<x@y> "), 50000)...), []byte("\n\nx\n")...),
		"blocks": append([]byte("Return-Path: <>\nFrom: MAILER-DAEMON@x.example\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\nContent-Type: message/delivery-status\n\n"),
			bytes.Repeat([]byte("Final-Recipient: rfc822; a@b.example\nAction: failed\nStatus: 5.1.1\n\n"), 20000)...),
	} {
		t.Run(name, func(t *testing.T) {
			m := parse.Message(raw)
			r := Classify(Input{Msg: m, Arrived: sentAt})
			if len(r.Recipients) > maxReported || len(Mentions(m).MessageIDs) > maxMentions {
				t.Errorf("%d recipients, %d Message-IDs", len(r.Recipients), len(Mentions(m).MessageIDs))
			}
		})
	}
}
