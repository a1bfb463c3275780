package inbox

import (
	"context"
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
)

// poisoned is a store that refuses what one message asks for.
type poisoned struct {
	EventStore
	list     []mail.StoredMessage
	bad      int64
	recorded map[int64]mail.InboundClass
}

func (p *poisoned) Folders(context.Context, string) ([]mail.Folder, error) {
	return []mail.Folder{{ID: 1, Name: "INBOX", Kind: mail.FolderInbox, Selectable: true}}, nil
}

func (p *poisoned) RecordHistory(context.Context, string, []int64, int) (int, error) { return 0, nil }

func (p *poisoned) InboundDue(context.Context, string, int) (out []mail.StoredMessage, err error) {
	for _, m := range p.list {
		if p.recorded[m.ID] == "" {
			out = append(out, m)
		}
	}
	return out, nil
}

func (p *poisoned) RawMessage(_ context.Context, id int64) ([]byte, error) {
	return []byte("From: a@b.example\r\nMessage-ID: <x@y>\r\n\r\nhello\r\n"), nil
}

func (p *poisoned) RecordInbound(_ context.Context, in mail.Arrival, decide func(mail.Around) mail.Decision) (mail.Recorded, error) {
	d := decide(mail.Around{})
	if in.MessageID == p.bad && d.Class != mail.ClassUnparsed {
		return mail.Recorded{}, &mail.Error{Code: mail.CodeConflict, Text: "The database refused a change."}
	}
	p.recorded[in.MessageID] = d.Class
	return mail.Recorded{Class: d.Class}, nil
}

func (p *poisoned) RecordInbounds(ctx context.Context, list []mail.Arrival, decide func(int, mail.Around) mail.Decision) error {
	for i := range list {
		if list[i].MessageID == p.bad {
			return &mail.Error{Code: mail.CodeConflict, Text: "The database refused a change."}
		}
	}
	for i := range list {
		p.recorded[list[i].MessageID] = decide(i, mail.Around{}).Class
	}
	return nil
}

// A message whose event cannot be recorded goes to a person and blocks nobody.
func TestOneMessageNeverBlocksTheOthers(t *testing.T) {
	p := &poisoned{bad: 2, recorded: map[int64]mail.InboundClass{}}
	for id := int64(1); id <= 3; id++ {
		p.list = append(p.list, mail.StoredMessage{ID: id, FolderID: 1, Kind: mail.FolderInbox})
	}
	r := &Recorder{Account: &mail.Account{Name: "me", Email: "me@example.org"}, Store: p}
	if err := r.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := map[int64]mail.InboundClass{1: mail.ClassHumanMail, 2: mail.ClassUnparsed, 3: mail.ClassHumanMail}
	for id, class := range want {
		if p.recorded[id] != class {
			t.Errorf("message %d is %q, want %s", id, p.recorded[id], class)
		}
	}
}

func TestWatched(t *testing.T) {
	for name, c := range map[string]struct {
		watch  []string
		folder mail.Folder
		want   bool
	}{
		"nothing said: the inbox": {nil, mail.Folder{Name: "INBOX", Kind: mail.FolderInbox}, true},
		"nothing said: no other":  {nil, mail.Folder{Name: "Lists"}, false},
		"by kind, in any case":    {[]string{"Junk"}, mail.Folder{Name: "Spam", Kind: mail.FolderJunk}, true},
		"by name":                 {[]string{"Clients"}, mail.Folder{Name: "Clients"}, true},
		"our own mail never":      {[]string{"sent"}, mail.Folder{Name: "Sent", Kind: mail.FolderSent}, false},
		"an inbox without a kind": {[]string{"inbox"}, mail.Folder{Name: "Inbox"}, true},
		"no kind is no match":     {[]string{""}, mail.Folder{Name: "Lists"}, false},
	} {
		if got := Watched(&mail.Account{Watch: c.watch}, c.folder); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestEvidence(t *testing.T) {
	base := "From: a@b.example\r\nDate: Sun, 01 Mar 2026 13:00:00 +0000\r\nMessage-ID: <x@y>\r\nSubject: s\r\n\r\nhello\r\n"
	same := map[string]string{
		"another way":        "Received: from a by b\r\nDelivered-To: me\r\n" + base,
		"a mark of a filter": "X-Spam: no\r\n" + base,
		"folded otherwise":   strings.Replace(base, "Subject: s", "Subject:\r\n s", 1),
	}
	other := map[string]string{
		"another text":    strings.Replace(base, "hello", "help", 1),
		"another sender":  strings.Replace(base, "a@b", "c@b", 1),
		"another subject": strings.Replace(base, "Subject: s", "Subject: t", 1),
		"another thread":  "In-Reply-To: <z@y>\r\n" + base,
		"no text":         "From: a@b.example",
	}
	want := string(Evidence([]byte(base)))
	for name, raw := range same {
		if string(Evidence([]byte(raw))) != want {
			t.Errorf("%s makes it another message", name)
		}
	}
	for name, raw := range other {
		if string(Evidence([]byte(raw))) == want {
			t.Errorf("%s makes no difference", name)
		}
	}
}

// What a person says about an event, without the doubts of the rules.
func TestCorrect(t *testing.T) {
	sent := mail.EventAttempt{ID: "a1", Recipients: []string{"h@there.example"}, Status: mail.StatusSent, SentAt: time.Unix(1, 0)}
	two := mail.EventAttempt{ID: "a2", Recipients: []string{"h@there.example", "i@there.example"}}
	r := &Recorder{Account: &mail.Account{Name: "me"}}
	for name, c := range map[string]struct {
		c     Correction
		named []mail.EventAttempt
		want  string
	}{
		"an answer to an attempt":              {Correction{Class: mail.ClassHumanReply}, []mail.EventAttempt{sent}, "contact_replied h@there.example; stop_plan a1"},
		"an answer nothing ties":               {Correction{Class: mail.ClassHumanReply}, nil, "contact_replied x@there.example; stop_plan x@there.example"},
		"an answer, tied to a contact":         {Correction{Class: mail.ClassHumanReply, Contact: "k@there.example"}, nil, "contact_replied k@there.example; stop_plan k@there.example"},
		"of one of two, from another address":  {Correction{Class: mail.ClassHumanReply}, []mail.EventAttempt{two}, "stop_plan a2"},
		"an absence without a date":            {Correction{Class: mail.ClassAutoReply}, []mail.EventAttempt{sent}, "hold_plan a1 x@there.example"},
		"a bounce":                             {Correction{Class: mail.ClassBounceHard}, []mail.EventAttempt{sent}, "suppress_address h@there.example; note_attempt a1 h@there.example bounced; stop_plan a1"},
		"a bounce of one of two, but of which": {Correction{Class: mail.ClassBounceHard}, []mail.EventAttempt{two}, "stop_plan a2"},
		"a bounce of a contact":                {Correction{Class: mail.ClassBounceHard, Contact: "i@there.example"}, []mail.EventAttempt{two}, "suppress_address i@there.example; note_attempt a2 i@there.example bounced; stop_plan a2"},
		"an acknowledgement":                   {Correction{Class: mail.ClassAutoAck}, []mail.EventAttempt{sent}, ""},
		"a newsletter":                         {Correction{Class: mail.ClassListOrBulk}, nil, ""},
		"other mail":                           {Correction{Class: mail.ClassHumanMail}, nil, ""},
		"a receipt":                            {Correction{Class: mail.ClassMDN}, []mail.EventAttempt{sent}, "note_attempt a1 x@there.example read"},
	} {
		t.Run(name, func(t *testing.T) {
			d := r.Correct(c.c, mail.Around{Named: c.named}, nil, "x@there.example")
			var got []string
			for _, e := range d.Effects {
				got = append(got, strings.Join(strings.Fields(string(e.Kind)+" "+e.Attempt+" "+e.Address+" "+e.Note), " "))
			}
			if s := strings.Join(got, "; "); s != c.want || d.Class != c.c.Class || d.RuleSet != 0 {
				t.Errorf("%s, rule set %d: %s\nwant %s", d.Class, d.RuleSet, s, c.want)
			}
		})
	}
}
