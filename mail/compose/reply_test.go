package compose

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skrzynka/mail"
)

func account() *mail.Account {
	return &mail.Account{Name: "personal", DisplayName: "Ada Example", Email: "ada@example.org", Aliases: []string{"Ada@alias.example", "sales@example.org"}}
}

func at(list ...string) []mail.Address {
	var out []mail.Address
	for _, a := range list {
		out = append(out, mail.Address{Addr: a})
	}
	return out
}

func TestReplyRecipients(t *testing.T) {
	for name, tc := range map[string]struct {
		orig Original
		all  bool
		want string // from | to | cc
	}{
		"From":                {Original{From: at("bob@example.net"), To: at("ada@example.org")}, false, "ada@example.org|bob@example.net|"},
		"Reply-To":            {Original{From: at("bob@example.net"), ReplyTo: at("list@example.net", "x@example.net")}, false, "ada@example.org|list@example.net,x@example.net|"},
		"invalid Reply-To":    {Original{From: at("bob@example.net"), ReplyTo: at("nobody", "a b@c.d")}, false, "ada@example.org|bob@example.net|"},
		"to an alias":         {Original{From: at("bob@example.net"), To: at("x@y.org", "ADA@ALIAS.example")}, false, "Ada@alias.example|bob@example.net|"},
		"alias in Cc":         {Original{From: at("bob@example.net"), Cc: at("sales@example.org")}, false, "sales@example.org|bob@example.net|"},
		"address and alias":   {Original{From: at("bob@example.net"), To: at("ada@example.org", "sales@example.org")}, false, "ada@example.org|bob@example.net|"},
		"all":                 {Original{From: at("bob@example.net"), To: at("ada@example.org", "c@x.org"), Cc: at("d@x.org", "Sales@example.org", "C@X.org", "bob@example.net")}, true, "ada@example.org|bob@example.net,c@x.org|d@x.org"},
		"all, unusable in Cc": {Original{From: at("bob@example.net"), Cc: at("undisclosed", "ż@x.org", "d@x.org")}, true, "ada@example.org|bob@example.net|d@x.org"},
		"our own mail":        {Original{From: at("ada@example.org"), To: at("bob@example.net")}, false, "ada@example.org|bob@example.net|"},
		"to ourselves":        {Original{From: at("ada@example.org"), To: at("ada@example.org")}, false, "ada@example.org|ada@example.org|"},
		"nobody":              {Original{From: at("MAILER-DAEMON"), To: at("ada@example.org")}, true, "MESSAGE_REPLY_TARGET_INVALID"},
		"no From at all":      {Original{}, false, "MESSAGE_REPLY_TARGET_INVALID"},
		"injection":           {Original{From: at("a@b.org> NOTIFY=NEVER", "a@b.org\r\nDATA")}, false, "MESSAGE_REPLY_TARGET_INVALID"},
	} {
		d, err := Reply(account(), tc.orig, tc.all)
		got := d.From.Addr + "|" + joined(d.To) + "|" + joined(d.Cc)
		if err != nil {
			got = string(mail.AsError(err).Code)
		}
		if got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func joined(list []mail.Address) string {
	var out []string
	for _, a := range list {
		out = append(out, a.Addr)
	}
	return strings.Join(out, ",")
}

func TestSubjects(t *testing.T) {
	for _, s := range []string{"Re: x", "RE: x", "re:x", "rE : x", "Re[2]: x", "Re(3): x", "Re^2: x", "AW: x", "Sv: x", "Odp: x", "RV: x",
		"回复: x", "回复：x", "回覆: x", "Antw: x", "VS: x", "Vá: x", "R: x", "RIF: x", "YNT: x", "Ответ: x", "ΑΠ: x", "[list] Re: x", "  Re: x"} {
		if got := ReplySubject(s); got != strings.TrimSpace(s) {
			t.Errorf("%q became %q although it has a prefix", s, got)
		}
	}
	for in, want := range map[string]string{"x": "Re: x", "": "Re:", "Regarding: x": "Re: Regarding: x", "Re x": "Re: Re x", "Fwd: x": "Re: Fwd: x",
		"TR: x": "Re: TR: x", "Rental: x": "Re: Rental: x", "a\r\nBcc: b": "Re: a Bcc: b", "a\u2028b\x00c": "Re: a b c", "[list] x": "Re: [list] x", "[Re: x": "Re: [Re: x"} {
		if got := ReplySubject(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"x": "Fwd: x", "Fwd: x": "Fwd: x", "WG: x": "WG: x", "TR: x": "TR: x", "Re: x": "Fwd: Re: x", "转发：x": "转发：x"} {
		if got := ForwardSubject(in); got != want {
			t.Errorf("forward: %q became %q, want %q", in, got, want)
		}
	}
}

func TestReferences(t *testing.T) {
	many := func(n, size int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf("<%0*d@x>", size, i))
		}
		return out
	}
	for name, tc := range map[string]struct {
		orig Original
		want string
	}{
		"none":               {Original{MessageID: "<a@x>"}, "<a@x>"},
		"old ones first":     {Original{MessageID: "<a@x>", References: []string{"<0@x>", "<1@x>"}}, "<0@x> <1@x> <a@x>"},
		"In-Reply-To only":   {Original{MessageID: "<a@x>", InReplyTo: "<0@x>"}, "<0@x> <a@x>"},
		"repeats":            {Original{MessageID: "<a@x>", References: []string{"<0@x>", "<a@x>", "<0@x>"}}, "<0@x> <a@x>"},
		"no brackets":        {Original{MessageID: "a@x", References: []string{"0@x"}}, "<0@x> <a@x>"},
		"hostile ones":       {Original{MessageID: "<a@x>", References: []string{"<0\r\n@x>", "<0 1@x>", "<é@x>", "", "<" + strings.Repeat("x", 2000) + ">"}}, "<a@x>"},
		"no Message-ID":      {Original{References: []string{"<0@x>"}}, ""},
		"hostile Message-ID": {Original{MessageID: "<a@x>\r\nBcc: y", References: []string{"<0@x>"}}, ""},
		"many":               {Original{MessageID: "<a@x>", References: many(100000, 6)}, "<000000@x> " + strings.Join(many(100000, 6)[100000-19:], " ") + " <a@x>"},
	} {
		tc.orig.From = at("bob@example.net")
		d, err := Reply(account(), tc.orig, false)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := strings.Join(d.References, " "); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
		if (d.InReplyTo == "") != (tc.want == "") || !strings.HasSuffix(tc.want, d.InReplyTo) {
			t.Errorf("%s: In-Reply-To %s", name, d.InReplyTo)
		}
	}
	d, _ := Reply(account(), Original{From: at("b@x.org"), MessageID: "<a@x>", References: many(15, 100)}, false)
	d.Body = "x"
	built, err := Build(d, params())
	if err != nil {
		t.Fatal(err)
	}
	field := readBack(t, built.Bytes).header.Get("References")
	if len(field) > 998 || len(field) < 840 || !strings.HasPrefix(field, many(1, 100)[0]) || !strings.HasSuffix(field, " <a@x>") {
		t.Errorf("%d octets: %s", len(field), field)
	}
	long := "<" + strings.Repeat("x", 898) + ">"
	d, _ = Reply(account(), Original{From: at("b@x.org"), MessageID: long, References: []string{"<" + strings.Repeat("y", 898) + ">"}}, false)
	if len(d.References) != 1 || d.References[0] != long {
		t.Errorf("two of 900 octets: kept %d", len(d.References))
	}
}

func TestQuote(t *testing.T) {
	d, err := Reply(account(), Original{From: []mail.Address{{Name: "Bob\r\nX", Addr: "bob@example.net"}}, Date: date,
		Text: "Hello\r\n> you said\r\n>> I said\r\n\r\nbye \x1b[2J\r\n-- \r\nBob Inc.\r\n"}, false)
	if err != nil {
		t.Fatal(err)
	}
	const want = "\n\nOn 2 Jan 2026 at 15:04, Bob X <bob@example.net> wrote:\n> Hello\n>> you said\n>>> I said\n>\n> bye [2J\n"
	if d.Body != want {
		t.Errorf("got %q, want %q", d.Body, want)
	}
	if d, _ := Reply(account(), Original{From: at("b@x.org"), Text: "x"}, false); d.Body != "\n\nb@x.org wrote:\n> x\n" {
		t.Errorf("without a date: %q", d.Body)
	}
}

func TestForward(t *testing.T) {
	d := Forward(account(), Original{ID: 7, From: []mail.Address{{Name: "Bob", Addr: "bob@example.net"}}, To: at("sales@example.org"),
		Cc: at("c@x.org"), Subject: "Plans", Date: date, Text: "text\r\n"})
	const want = "\n\n---------- Forwarded message ----------\nFrom: Bob <bob@example.net>\nDate: Fri, 2 Jan 2026 15:04:05 +0100\n" +
		"Subject: Plans\nTo: sales@example.org\nCc: c@x.org\n\ntext\n\n"
	if d.Body != want {
		t.Errorf("got %q", d.Body)
	}
	if d.Kind != mail.KindOutbound || !d.Forward || d.MessageID != 7 || d.From.Addr != "sales@example.org" || d.Subject != "Fwd: Plans" || d.To != nil || d.InReplyTo != "" {
		t.Errorf("draft %+v", d)
	}
}

// Whatever an original holds, its answer either has nobody to go to or builds.
func TestReplyAlwaysBuilds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := func(label string) string {
			return string(rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, label))
		}
		addr := func(label string) []mail.Address {
			return []mail.Address{{Name: s(label), Addr: rapid.OneOf(rapid.Just("b@x.org"), rapid.String()).Draw(t, label+" address")}}
		}
		orig := Original{From: addr("from"), ReplyTo: addr("reply-to"), To: addr("to"), Cc: addr("cc"), Subject: s("subject"),
			MessageID: s("id"), References: []string{s("ref"), "<ok@x>"}, InReplyTo: s("irt"), Text: s("text")}
		d, err := Reply(account(), orig, true)
		if err == nil {
			d.Body = "Yes." + d.Body
			built, err := Build(d, params())
			if err != nil {
				t.Fatalf("%v for %+v", err, orig)
			}
			checkWire(t, built.Bytes, 998)
		}
		f := Forward(account(), orig)
		f.To = at("b@x.org")
		if _, err := Build(f, params()); err != nil {
			t.Fatalf("forward: %v", err)
		}
	})
}

func TestNormalizeBody(t *testing.T) {
	for in, want := range map[string]string{"": "", "a": "a", "a\n": "a", "a\r\nb\rc\n\n": "a\nb\nc", "a\n \t\n\u00a0\n": "a", "\n\n a ": "\n\n a ",
		"a \nb": "a \nb", "\n \n": "", "a\n\nb": "a\n\nb"} {
		if got := NormalizeBody(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestPayloadDigest(t *testing.T) {
	type in struct {
		kind          mail.AttemptKind
		account       string
		id            int64
		to, cc, bcc   []mail.Address
		subject, body string
		files         []mail.AttachmentRef
	}
	sum := func(i in) string {
		return string(PayloadDigest(i.kind, i.account, i.id, i.to, i.cc, i.bcc, i.subject, i.body, i.files))
	}
	file := []mail.AttachmentRef{{Name: "a", SHA256: "11"}}
	out := in{kind: mail.KindOutbound, account: "p", to: at("a@x.org", "b@x.org"), subject: "s", body: "b\n", files: file}
	rep := in{kind: mail.KindReply, account: "p", id: 7, to: at("a@x.org"), subject: "s", body: "b", files: file}
	for name, tc := range map[string]struct {
		base   in
		change func(*in)
		same   bool
	}{
		"line endings":               {out, func(i *in) { i.body = "b\r\n\r\n" }, true},
		"space in body":              {out, func(i *in) { i.body = "b " }, false},
		"other recipient":            {out, func(i *in) { i.to = at("a@x.org", "c@x.org") }, false},
		"same mailbox, other case":   {out, func(i *in) { i.to = at("A@X.org", "b@x.org") }, true},
		"recipient moved to Cc":      {out, func(i *in) { i.to, i.cc = at("a@x.org"), at("b@x.org") }, false},
		"recipient moved to Bcc":     {out, func(i *in) { i.to, i.bcc = at("a@x.org"), at("b@x.org") }, false},
		"subject":                    {out, func(i *in) { i.subject = "t" }, false},
		"subject and body shifted":   {out, func(i *in) { i.subject, i.body = "sb", "" }, false},
		"account":                    {out, func(i *in) { i.account = "q" }, false},
		"file":                       {out, func(i *in) { i.files = []mail.AttachmentRef{{SHA256: "12"}} }, false},
		"file's name":                {out, func(i *in) { i.files = []mail.AttachmentRef{{Name: "z", SHA256: "11"}} }, true},
		"no file":                    {out, func(i *in) { i.files = nil }, false},
		"kind":                       {out, func(i *in) { i.kind = mail.KindReply }, false},
		"reply: answered message":    {rep, func(i *in) { i.id = 8 }, false},
		"reply: recipients, subject": {rep, func(i *in) { i.to, i.subject = nil, "t" }, true},
		"reply: body":                {rep, func(i *in) { i.body = "c" }, false},
	} {
		changed := tc.base
		tc.change(&changed)
		if got := bytes.Equal([]byte(sum(tc.base)), []byte(sum(changed))); got != tc.same {
			t.Errorf("%s: same digest %v, want %v", name, got, tc.same)
		}
	}
}
