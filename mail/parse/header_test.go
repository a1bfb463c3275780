package parse

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
)

func TestDecodeText(t *testing.T) {
	rows := []struct{ name, in, want string }{
		{"plain", "Hello", "Hello"},
		{"Q", "=?UTF-8?Q?Za=C5=BC=C3=B3=C5=82=C4=87_g=C4=99=C5=9Bl=C4=85?=", "Zażółć gęślą"},
		{"B", "=?utf-8?B?WmHFvMOzxYLEhw==?=", "Zażółć"},
		{"B without padding", "=?utf-8?B?WmHFvMOzxYLEhw?=", "Zażółć"},
		{"between words white space goes", "=?utf-8?q?a?= \t =?utf-8?q?b?=", "ab"},
		{"between a word and text it stays", "x =?utf-8?q?a?= y", "x a y"},
		{"character split between words", "=?utf-8?B?xQ==?= =?utf-8?B?vA==?=", "ż"},
		{"two charsets", "=?iso-8859-2?q?=BF?= =?utf-8?q?=C5=BC?=", "żż"},
		{"language", "=?utf-8*pl?q?a?=", "a"},
		{"touching text", "Re:=?utf-8?q?a?=b", "Re:ab"},
		{"spaces in Q", "=?utf-8?q?two words?=", "two words"},
		{"no end", "=?UTF-8?Q?abc=C5=BC", "abcż"},
		{"broken end", "=?UTF-8?Q?AutoRespons?= :Nyaan?=", "AutoRespons :Nyaan?="},
		{"first character escaped", "=?utf-8?q?=41b?=", "Ab"},
		{"not a word", "a =? b ?= c", "a =? b ?= c"},
		{"unknown charset", "=?x-nothing?q?a=C5=BC?=", "aż"},
		{"UTF-7 is not decoded", "=?utf-7?q?Fr+APY-sche?=", "Fr+APY-sche"},
		{"8-bit UTF-8", "Zażółć", "Zażółć"},
		{"8-bit Latin-1", "Fr\xf6sche", "Frösche"},
		{"raw ISO-2022-JP", "\x1b$B$3$s\x1b(B", "こん"},
		{"clipboard escape decodes and is left to package safe", "=?utf-8?B?G101MjtjO2NtMGc=?=", "\x1b]52;c;cm0g"},
	}
	for _, r := range rows {
		if got := DecodeText(r.in); got != r.want {
			t.Errorf("%s: DecodeText(%q) = %q, want %q", r.name, r.in, got, r.want)
		}
	}
	long := strings.Repeat("=?utf-8?q?a?= ", 2000)
	if got := DecodeText(long); got != long[:MaxFieldDecode] {
		t.Error("a field longer than 16 KiB is decoded")
	}
}

func TestAddresses(t *testing.T) {
	type A = mail.Address
	rows := []struct {
		name, in string
		want     []A
	}{
		{"bare", "a@b.example", []A{{Addr: "a@b.example"}}},
		{"name", "Jan Kowalski <jan@example.org>", []A{{Name: "Jan Kowalski", Addr: "jan@example.org"}}},
		{"quoted name", `"Kowalski, Jan" <jan@example.org>`, []A{{Name: "Kowalski, Jan", Addr: "jan@example.org"}}},
		{"escaped quote", `"Jan \"K\" K" <jan@example.org>`, []A{{Name: `Jan "K" K`, Addr: "jan@example.org"}}},
		{"list", "a@x.example, B <b@x.example>,c@x.example", []A{{Addr: "a@x.example"}, {Name: "B", Addr: "b@x.example"}, {Addr: "c@x.example"}}},
		{"comma not quoted", "Foo, Bar <a@b.example>", []A{{Name: "Foo, Bar", Addr: "a@b.example"}}},
		{"8-bit name", "J\xf6rg <a@b.example>", []A{{Name: "Jörg", Addr: "a@b.example"}}},
		{"dot before the at sign", "a.@b.example", []A{{Addr: "a.@b.example"}}},
		{"group", "Team: a@x.example, B <b@x.example>;", []A{{Addr: "a@x.example"}, {Name: "B", Addr: "b@x.example"}}},
		{"empty group", "undisclosed-recipients:;", nil},
		{"many empty groups", "x:;;;;;;;;;;", nil},
		{"comment as name", "a@b.example (Jan K)", []A{{Name: "Jan K", Addr: "a@b.example"}}},
		{"nested comment", "a@b.example (Jan (the) K)", []A{{Name: "Jan (the) K", Addr: "a@b.example"}}},
		{"route", "<@x.example,@y.example:a@b.example>", []A{{Addr: "a@b.example"}}},
		{"no closing bracket", "Jan <a@b.example", []A{{Name: "Jan", Addr: "a@b.example"}}},
		{"name without brackets", "Jan K a@b.example", []A{{Name: "Jan K", Addr: "a@b.example"}}},
		{"quoted local part", `"a b"@c.example`, []A{{Addr: `"a b"@c.example`}}},
		{"name that is an address", `"a@bank.example" <c@evil.example>`, []A{{Name: "a@bank.example", Addr: "c@evil.example"}}},
		{"encoded at sign is not an address", "=?utf-8?q?bank=40x.example?= <e@f.example>", []A{{Name: "bank@x.example", Addr: "e@f.example"}}},
		{"comma within an encoded word", "=?utf-8?q?Kowalski,_Jan?= <a@b.example>", []A{{Name: "Kowalski, Jan", Addr: "a@b.example"}}},
		{"encoded whole", "=?utf-8?q?Jan_=3Ca=40b=2Eexample=3E?=", []A{{Name: "Jan <a@b.example>"}}},
		{"single quotes", "'a@b.example' <a@b.example>", []A{{Name: "a@b.example", Addr: "a@b.example"}}},
		{"mailto", "<mailto:a@b.example>", []A{{Addr: "a@b.example"}}},
		{"local user", "root", []A{{Addr: "root"}}},
		{"words without an address", "Mail Delivery Subsystem", []A{{Name: "Mail Delivery Subsystem"}}},
		{"no at sign in brackets", "Mail Delivery <MAILER-DAEMON>", []A{{Name: "Mail Delivery", Addr: "MAILER-DAEMON"}}},
		{"null path", "<>", nil},
		{"two addresses, no comma", "A <a@x.example> B <b@x.example>", []A{{Name: "A", Addr: "a@x.example"}, {Name: "B", Addr: "b@x.example"}}},
		{"spaces around the at sign", "joe @ x.example", []A{{Addr: "joe@x.example"}}},
		{"unbalanced quote", `"Jan <a@b.example>`, []A{{Name: `"Jan`, Addr: "a@b.example"}}},
		{"only a quoted name", `"Jan"   `, []A{{Addr: "Jan"}}},
		{"empty", "", nil},
		{"commas only", ",,, ,", nil},
	}
	for _, r := range rows {
		if got := Addresses(r.in); !reflect.DeepEqual(got, r.want) {
			t.Errorf("%s: Addresses(%q) = %q, want %q", r.name, r.in, got, r.want)
		}
	}
}

func TestDate(t *testing.T) {
	rows := []struct{ name, in, want string }{
		{"RFC 5322", "Mon, 2 Mar 2026 10:12:13 +0100", "2026-03-02T10:12:13+01:00"},
		{"no weekday, no seconds", "2 Mar 2026 10:12 -0500", "2026-03-02T10:12:00-05:00"},
		{"comment", "Mon, 2 Mar 2026 10:12:13 +0100 (CET)", "2026-03-02T10:12:13+01:00"},
		{"zone name", "Mon, 2 Mar 2026 10:12:13 EST", "2026-03-02T10:12:13-05:00"},
		{"GMT", "Mon, 2 Mar 2026 10:12:13 GMT", "2026-03-02T10:12:13Z"},
		{"two-digit years", "2 Mar 26 10:12:13 +0000", "2026-03-02T10:12:13Z"},
		{"last century", "2 Mar 96 10:12:13 +0000", "1996-03-02T10:12:13Z"},
		{"asctime", "Mon Mar  2 10:12:13 2026", "2026-03-02T10:12:13Z"},
		{"hyphens", "02-Mar-2026 10:12:13 +0100", "2026-03-02T10:12:13+01:00"},
		{"ISO 8601", "2026-03-02T10:12:13+01:00", "2026-03-02T10:12:13+01:00"},
		{"zone with a colon", "Mon, 2 Mar 2026 10:12:13 +01:00", "2026-03-02T10:12:13+01:00"},
		{"quarter hour", "Mon, 2 Mar 2026 10:12:13 +0545", "2026-03-02T10:12:13+05:45"},
		{"impossible zone", "Mon, 2 Mar 2026 10:12:13 +9999", "2026-03-02T10:12:13Z"},
		{"afternoon", "Mar 2, 2026 1:02:03 PM", "2026-03-02T13:02:03Z"},
		{"year too large", "Mon, 2 Mar 9999999 10:12:13 +0100", ""},
		{"no such day", "31 Feb 2026 10:12:13 +0000", ""},
		{"words", "yesterday", ""},
		{"empty", "", ""},
	}
	for _, r := range rows {
		got, ok := Date(r.in)
		if ok != (r.want != "") || ok && got.Format(time.RFC3339) != r.want {
			t.Errorf("%s: Date(%q) = %v, %v; want %q", r.name, r.in, got, ok, r.want)
		}
	}
}

func TestMessageIDs(t *testing.T) {
	rows := []struct {
		name, in string
		want     []string
	}{
		{"one", "<a@b>", []string{"<a@b>"}},
		{"folded", "<a@b>\t<c@d> <e@f>", []string{"<a@b>", "<c@d>", "<e@f>"}},
		{"touching", "<a@b><c@d>", []string{"<a@b>", "<c@d>"}},
		{"no brackets", "a@b", []string{"<a@b>"}},
		{"words around", "Your message of today <a@b>", []string{"<a@b>"}},
		{"white space inside", "<a @b>", []string{"<a@b>"}},
		{"not closed", "<a@b", []string{"<a@b>"}},
		{"bracket twice", "<<a@b>>", []string{"<a@b>"}},
		{"empty", "<>", nil},
	}
	for _, r := range rows {
		if got := MessageIDs(r.in); !reflect.DeepEqual(got, r.want) {
			t.Errorf("%s: MessageIDs(%q) = %q, want %q", r.name, r.in, got, r.want)
		}
	}
	if got := MessageIDs("<first@x> " + strings.Repeat("<a@b> ", 100_000) + "<last@x>"); len(got) > 500 || got[0] != "<first@x>" || got[len(got)-1] != "<last@x>" {
		t.Errorf("of 100,000 references %d are kept, from %q to %q", len(got), got[0], got[len(got)-1])
	}
}

func TestHeaderBlock(t *testing.T) {
	rows := []struct {
		name, in string
		subject  string
		text     string
	}{
		{"CRLF", "Subject: a\r\n\r\nbody\r\n", "a", "body\n"},
		{"LF", "Subject: a\n\nbody\n", "a", "body\n"},
		{"CR only", "Subject: a\r\rbody\r", "a", "body\n"},
		{"folded", "Subject: a\r\n b\r\n\tc\r\n\r\n", "a b c", ""},
		{"value on the next line", "Subject:\r\n a\r\n\r\n", "a", ""},
		{"mbox separator", "From jan Mon Mar  2 2026\nSubject: a\n\nbody\n", "a", "body\n"},
		{"mbox separator later", "Subject: a\n>From jan\nTo: b\n\nbody\n", "a", "body\n"},
		{"garbage between fields", "X: y\nno field at all\nSubject: a\n\nbody\n", "a", "body\n"},
		{"no empty line before the body", "Subject: a\nHello there\n\nyou\n", "a", "Hello there\n\nyou\n"},
		{"space before the colon", "Subject : a\n\nbody\n", "a", "body\n"},
		{"first subject counts", "Subject: a\nSubject: b\n\nbody\n", "a", "body\n"},
		{"continuation first", " x\nSubject: a\n\nbody\n", "a", "body\n"},
		{"body only", "Hello there\n", "", "Hello there\n"},
		{"byte order mark", "\xef\xbb\xbfSubject: a\n\nbody\n", "a", "body\n"},
		{"empty", "", "", ""},
	}
	for _, r := range rows {
		m := Message([]byte(r.in))
		if m.Subject != r.subject || m.Text != r.text && strings.TrimSpace(m.Text+r.text) != "" {
			t.Errorf("%s: subject %q, text %q; want %q, %q", r.name, m.Subject, m.Text, r.subject, r.text)
		}
	}
}

func TestHeaders(t *testing.T) {
	h := Header(sampleHeader())
	if h.Subject != "Zażółć gęślą jaźń" || len(h.To) != 2 || h.To[1].Name != "Nowak, Ewa" || h.From[0].Name != "Anna Wiśniewska" {
		t.Errorf("headers are %q, %q, %q", h.Subject, h.From, h.To)
	}
	if h.MessageID != "<20260302101213.1234@mx.example.net>" || len(h.References) != 2 || h.InReplyTo[0] != "<a1@example.org>" {
		t.Errorf("identifiers are %q, %q, %q", h.MessageID, h.References, h.InReplyTo)
	}
	if h.ContentType != "multipart/alternative" || h.Params.Get("boundary") != "=_b1" || h.ListID != "team.example.org" {
		t.Errorf("type %q %q, list %q", h.ContentType, h.Params, h.ListID)
	}
	if len(h.All("received")) != 4 || h.Get("X-MAILER") != "Example 1.0" || h.Get("X-Nothing") != "" {
		t.Errorf("fields: %d received, mailer %q", len(h.All("received")), h.Get("X-MAILER"))
	}
	h = Header([]byte("Auto-Submitted: Auto-Replied (vacation)\nFrom: a@x.example\nFrom: b@x.example\n\n"))
	if h.AutoSubmitted != "auto-replied" || len(h.From) != 2 {
		t.Errorf("Auto-Submitted %q, From %q", h.AutoSubmitted, h.From)
	}
}

func TestMediaType(t *testing.T) {
	rows := []struct{ name, in, typ, key, value string }{
		{"usual", `text/plain; charset=utf-8`, "text/plain", "charset", "utf-8"},
		{"quoted", `Text/HTML; charset="UTF-8"`, "text/html", "charset", "UTF-8"},
		{"comment", `text/plain; charset=us-ascii (Plain text)`, "text/plain", "charset", "us-ascii"},
		{"equals signs not quoted", `multipart/mixed; boundary=----=_Part_1`, "multipart/mixed", "boundary", "----=_Part_1"},
		{"two boundaries", `multipart/mixed; boundary="a"; boundary="b"`, "multipart/mixed", "boundary", "a"},
		{"name with spaces", `application/pdf; name=my file.pdf`, "application/pdf", "name", "my file.pdf"},
		{"RFC 2231", `application/pdf; name*=utf-8'pl'za%C5%BC.pdf`, "application/pdf", "name", "zaż.pdf"},
		{"RFC 2231 pieces out of order", `a/b; name*1="b.pdf"; name*0*=utf-8''%C5%BC`, "a/b", "name", "żb.pdf"},
		{"RFC 2231 before plain", `a/b; name=x; name*=utf-8''%C5%BC`, "a/b", "name", "ż"},
		{"RFC 2047 in a name", `a/b; name="=?utf-8?q?=C5=BC.pdf?="`, "a/b", "name", "ż.pdf"},
		{"Windows path", `a/b; name="C:\temp\x.pdf"`, "a/b", "name", `C:\temp\x.pdf`},
		{"no semicolon", `multipart/mixed boundary="b"`, "multipart/mixed", "boundary", "b"},
		{"type missing", `charset=utf-8`, "", "charset", "utf-8"},
		{"not a type", `text`, "text/plain", "charset", ""},
		{"quote not closed", `a/b; name="x.pdf`, "a/b", "name", "x.pdf"},
		{"empty", ``, "", "charset", ""},
	}
	for _, r := range rows {
		typ, params := MediaType(r.in)
		if typ != r.typ || params.Get(r.key) != r.value {
			t.Errorf("%s: MediaType(%q) = %q, %q; want %q, %s=%q", r.name, r.in, typ, params, r.typ, r.key, r.value)
		}
	}
}

func TestDecode(t *testing.T) {
	rows := []struct{ name, in, charset, want string }{
		{"UTF-8", "ż", "utf-8", "ż"},
		{"missing, UTF-8", "ż", "", "ż"},
		{"missing, Windows-1252", "\x80 \xf6", "", "€ ö"},
		{"ISO-8859-2", "\xbf", "iso-8859-2", "ż"},
		{"Windows-1250", "\xbf\x9c", "cp1250", "żś"},
		{"CP852", "\xbe", "cp852", "ż"},
		{"KOI8-R", "\xf0", "KOI8-R", "П"},
		{"GB2312", "\xc4\xe3", "gb2312", "你"},
		{"Big5", "\xa7A", "big5", "你"},
		{"EUC-KR alias", "\xb0\xa1", "ks_c_5601-1987", "가"},
		{"Shift JIS", "\x82\xa0", "shift_jis", "あ"},
		{"ISO-2022-JP", "\x1b$B$\"\x1b(B", "iso-2022-jp", "あ"},
		{"quotes in the name", "ż", "'utf-8'", "ż"},
		{"NUL in the name", "ż", "utf-8\x00", "ż"},
		{"UTF-16 with a mark", "\xff\xfeA\x00", "utf-16", "A"},
		{"UTF-7 is refused", "Fr+APY-sche", "utf-7", "Fr+APY-sche"},
		{"EBCDIC is refused", "\xc1", "cp037", "Á"},
		{"declared UTF-8 with one bad byte", "ż\xff", "utf-8", "ż\ufffd"},
		{"declared UTF-8, is Latin-1", "Fr\xf6sche", "utf-8", "Frösche"},
		{"declared Big5, is UTF-8", "你好，世界，再见", "big5", "你好，世界，再见"},
		{"byte order mark", "\xef\xbb\xbfa", "utf-8", "a"},
		{"x-user-defined is refused", "\xf6", "x-user-defined", "ö"},
	}
	for _, r := range rows {
		if got := Decode([]byte(r.in), r.charset); got != r.want {
			t.Errorf("%s: Decode(%q, %q) = %q, want %q", r.name, r.in, r.charset, got, r.want)
		}
	}
}
