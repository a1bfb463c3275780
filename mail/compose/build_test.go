package compose

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skrzynka/mail"
)

var date = time.Date(2026, 1, 2, 15, 4, 5, 0, time.FixedZone("", 3600))

func params() Params {
	return Params{MessageID: "<id1@example.org>", Date: date, UserAgent: "Skrzynka/1.0"}
}

func draft() mail.Draft {
	return mail.Draft{From: mail.Address{Name: "Ada Example", Addr: "ada@example.org"},
		To: []mail.Address{{Addr: "bob@example.net"}}, Subject: "Hello", Body: "Hi Bob,\n\nall well.\n"}
}

// parsed is a message read back by the standard library, not by our code.
type parsed struct {
	header netmail.Header
	text   string // LF endings
	files  map[string][]byte
	types  []string
}

func readBack(t interface{ Fatalf(string, ...any) }, b []byte) parsed {
	m, err := netmail.ReadMessage(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("cannot be read back: %v\n%s", err, b)
	}
	p := parsed{header: m.Header, files: map[string][]byte{}}
	decode := func(encoding string, r io.Reader) []byte {
		switch encoding {
		case "quoted-printable":
			r = quotedprintable.NewReader(r)
		case "base64":
			r = base64.NewDecoder(base64.StdEncoding, r)
		case "7bit":
		default:
			t.Fatalf("encoding %q", encoding)
		}
		out, err := io.ReadAll(r)
		if err != nil {
			t.Fatalf("%s body: %v\n%s", encoding, err, b)
		}
		return out
	}
	typ, ps, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatalf("content type: %v", err)
	}
	text := func(b []byte) string { return strings.ReplaceAll(string(b), "\r\n", "\n") }
	if typ != "multipart/mixed" {
		p.types = append(p.types, typ)
		p.text = text(decode(m.Header.Get("Content-Transfer-Encoding"), m.Body))
		return p
	}
	mr := multipart.NewReader(m.Body, ps["boundary"])
	for i := 0; ; i++ {
		part, err := mr.NextRawPart()
		if err == io.EOF {
			return p
		}
		if err != nil {
			t.Fatalf("part %d: %v\n%s", i, err, b)
		}
		body := decode(part.Header.Get("Content-Transfer-Encoding"), part)
		typ, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
		p.types = append(p.types, typ)
		if i == 0 {
			p.text = text(body)
			continue
		}
		_, dp, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		if err != nil {
			t.Fatalf("disposition %q: %v", part.Header.Get("Content-Disposition"), err)
		}
		p.files[dp["filename"]] = body
	}
}

func subjectOf(t interface{ Fatalf(string, ...any) }, h netmail.Header) string {
	s, err := new(mime.WordDecoder).DecodeHeader(h.Get("Subject"))
	if err != nil {
		t.Fatalf("subject %q: %v", h.Get("Subject"), err)
	}
	return s
}

func checkWire(t interface{ Fatalf(string, ...any) }, b []byte, limit int) {
	if !SevenBit(b) {
		t.Fatalf("not 7-bit CRLF lines:\n%q", b)
	}
	for line := range bytes.Lines(b) {
		if len(line) > limit+2 {
			t.Fatalf("a line of %d octets: %q", len(line)-2, line)
		}
	}
}

func TestBuildWritesAMessage(t *testing.T) {
	d := draft()
	d.Cc = []mail.Address{{Name: "Łukasz Żółć", Addr: "lz@münchen.example"}, {Name: `O'Hara, "Pat"`, Addr: "pat@example.com"}}
	d.Bcc = []mail.Address{{Name: "Hidden", Addr: "secret@example.com"}}
	d.InReplyTo, d.References = "<a@b>", []string{"<0@b>", "<a@b>"}
	d.Subject = "Zażółć gęślą jaźń"
	built, err := Build(d, params())
	if err != nil {
		t.Fatal(err)
	}
	const want = "Date: Fri, 02 Jan 2026 15:04:05 +0100\r\n" +
		"From: Ada Example <ada@example.org>\r\n" +
		"To: bob@example.net\r\n" +
		"Cc: =?utf-8?b?xYF1a2FzeiDFu8OzxYLEhw==?= <lz@xn--mnchen-3ya.example>,\r\n" +
		" \"O'Hara, \\\"Pat\\\"\" <pat@example.com>\r\n" +
		"Message-ID: <id1@example.org>\r\n" +
		"In-Reply-To: <a@b>\r\n" +
		"References: <0@b> <a@b>\r\n" +
		"Subject: =?utf-8?b?WmHFvMOzxYLEhyBnxJnFm2zEhSBqYcW6xYQ=?=\r\n" +
		"User-Agent: Skrzynka/1.0\r\n" +
		"MIME-Version: 1.0\r\n" +
		"Content-Type: text/plain; charset=utf-8\r\n" +
		"Content-Transfer-Encoding: 7bit\r\n" +
		"\r\n" +
		"Hi Bob,\r\n\r\nall well.\r\n"
	if string(built.Bytes) != want {
		t.Errorf("got\n%s\nwant\n%s", built.Bytes, want)
	}
	if got := strings.Join(append([]string{built.Envelope.From}, built.Envelope.To...), " "); got !=
		"ada@example.org bob@example.net lz@xn--mnchen-3ya.example pat@example.com secret@example.com" {
		t.Errorf("envelope %s", got)
	}
}

func TestBlindRecipientsAreNotInTheBytes(t *testing.T) {
	d := draft()
	d.To, d.Bcc = nil, []mail.Address{{Name: "Hidden One", Addr: "secret@example.com"}}
	built, err := Build(d, params())
	if err != nil {
		t.Fatal(err)
	}
	if s := string(built.Bytes); strings.Contains(s, "secret") || strings.Contains(s, "Hidden") || strings.Contains(s, "Bcc") ||
		!strings.Contains(s, "To: undisclosed-recipients:;\r\n") {
		t.Errorf("got\n%s", s)
	}
	if len(built.Envelope.To) != 1 || built.Envelope.To[0] != "secret@example.com" {
		t.Errorf("envelope %v", built.Envelope)
	}
}

func TestBuildRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*mail.Draft, *Params)
		want   mail.Code
	}{
		"empty body":                 {func(d *mail.Draft, _ *Params) { d.Body = "" }, mail.CodeReplyBodyInvalid},
		"blank body":                 {func(d *mail.Draft, _ *Params) { d.Body = " \r\n\t\n\u00a0\u2003\n" }, mail.CodeReplyBodyInvalid},
		"body not UTF-8":             {func(d *mail.Draft, _ *Params) { d.Body = "caf\xe9" }, mail.CodeReplyBodyInvalid},
		"no recipients":              {func(d *mail.Draft, _ *Params) { d.To = nil }, mail.CodeRecipientsRequired},
		"non-ASCII local part":       {func(d *mail.Draft, _ *Params) { d.To[0].Addr = "żółw@example.org" }, mail.CodeEnvelopeInvalid},
		"parameter after address":    {func(d *mail.Draft, _ *Params) { d.To[0].Addr = "a@b.org> NOTIFY=NEVER" }, mail.CodeEnvelopeInvalid},
		"CRLF in address":            {func(d *mail.Draft, _ *Params) { d.Bcc = []mail.Address{{Addr: "a@b.org\r\nDATA"}} }, mail.CodeEnvelopeInvalid},
		"address literal":            {func(d *mail.Draft, _ *Params) { d.Cc = []mail.Address{{Addr: "a@[127.0.0.1]"}} }, mail.CodeEnvelopeInvalid},
		"sender's address":           {func(d *mail.Draft, _ *Params) { d.From.Addr = "ada" }, mail.CodeEnvelopeInvalid},
		"LF in subject":              {func(d *mail.Draft, _ *Params) { d.Subject = "a\nBcc: x@y" }, mail.CodeReplyMessageInvalid},
		"CR in subject":              {func(d *mail.Draft, _ *Params) { d.Subject = "a\rb" }, mail.CodeReplyMessageInvalid},
		"NUL in subject":             {func(d *mail.Draft, _ *Params) { d.Subject = "a\x00b" }, mail.CodeReplyMessageInvalid},
		"U+2028 in subject":          {func(d *mail.Draft, _ *Params) { d.Subject = "a\u2028b" }, mail.CodeReplyMessageInvalid},
		"U+2029 in name":             {func(d *mail.Draft, _ *Params) { d.To[0].Name = "a\u2029b" }, mail.CodeReplyMessageInvalid},
		"CRLF in sender's name":      {func(d *mail.Draft, _ *Params) { d.From.Name = "a\r\n\r\nb" }, mail.CodeReplyMessageInvalid},
		"CRLF in a blind name":       {func(d *mail.Draft, _ *Params) { d.Bcc = []mail.Address{{Name: "a\nb", Addr: "a@b.org"}} }, mail.CodeReplyMessageInvalid},
		"subject not UTF-8":          {func(d *mail.Draft, _ *Params) { d.Subject = "\xff" }, mail.CodeReplyMessageInvalid},
		"LF in In-Reply-To":          {func(d *mail.Draft, _ *Params) { d.InReplyTo = "<a\n@b>" }, mail.CodeReplyMessageInvalid},
		"space in References":        {func(d *mail.Draft, _ *Params) { d.References = []string{"<a b@c>"} }, mail.CodeReplyMessageInvalid},
		"no Message-ID":              {func(_ *mail.Draft, p *Params) { p.MessageID = "" }, mail.CodeReplyMessageInvalid},
		"CRLF in User-Agent":         {func(_ *mail.Draft, p *Params) { p.UserAgent = "x\r\ny: z" }, mail.CodeReplyMessageInvalid},
		"LF in an attachment's name": {func(d *mail.Draft, _ *Params) { d.Attachments = []mail.Attachment{Attach("a\nb", "", nil)} }, mail.CodeReplyMessageInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			d, p := draft(), params()
			tc.change(&d, &p)
			built, err := Build(d, p)
			if e := mail.AsError(err); e == nil || e.Code != tc.want || e.Hint == "" {
				t.Errorf("got %v, want %s with a hint", err, tc.want)
			}
			if built.Bytes != nil {
				t.Error("bytes were made all the same")
			}
		})
	}
}

func TestBuildDoesNotChangeTheDraft(t *testing.T) {
	d := draft()
	d.To[0].Addr = "bob@MÜNCHEN.example"
	if _, err := Build(d, params()); err != nil {
		t.Fatal(err)
	}
	if d.To[0].Addr != "bob@MÜNCHEN.example" {
		t.Errorf("the caller's list became %v", d.To)
	}
}

func TestTransferEncodings(t *testing.T) {
	for name, tc := range map[string]struct{ body, encoding, wire string }{
		"ASCII":               {"hello\n\nworld", "7bit", "hello\r\n\r\nworld\r\n"},
		"a dot line":          {".\n..\nx", "7bit", ".\r\n..\r\nx\r\n"},
		"some accents":        {"naïve text of mostly ASCII", "quoted-printable", "na=C3=AFve text of mostly ASCII\r\n"},
		"mostly not ASCII":    {"Привет", "base64", "0J/RgNC40LLQtdGCDQo=\r\n"},
		"mbox trap":           {"x\nFrom here on", "quoted-printable", "x\r\n=46rom here on\r\n"},
		"control characters":  {"a\x00\x1b[2J", "quoted-printable", "a=00=1B[2J\r\n"},
		"trailing white":      {"a \nb\t\nc =", "quoted-printable", "a=20\r\nb=09\r\nc =3D\r\n"},
		"bare CR and CRLF":    {"a\rb\r\nc", "7bit", "a\r\nb\r\nc\r\n"},
		"blank lines at ends": {"\na\n\n \n\n", "7bit", "\r\na\r\n"},
		"long line":           {strings.Repeat("x", 100), "quoted-printable", strings.Repeat("x", 75) + "=\r\n" + strings.Repeat("x", 25) + "\r\n"},
	} {
		d := draft()
		d.Body = tc.body
		built, err := Build(d, params())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, wire, _ := strings.Cut(string(built.Bytes), "\r\n\r\n"); wire != tc.wire ||
			!strings.Contains(string(built.Bytes), "Content-Transfer-Encoding: "+tc.encoding+"\r\n") {
			t.Errorf("%s: got\n%s", name, built.Bytes)
		}
		if got := readBack(t, built.Bytes).text; got != NormalizeBody(tc.body)+"\n" {
			t.Errorf("%s: read back %q", name, got)
		}
	}
}

func TestAttachments(t *testing.T) {
	inner := "Subject: x\r\n\r\nbody\r\n"
	d := draft()
	d.Attachments = []mail.Attachment{
		Attach("plan.pdf", "application/pdf", []byte("%PDF-1.7\x00\xff")),
		Attach("zażółć gęślą jaźń — a rather long name that needs several pieces to be written.txt", "", []byte("x")),
		Attach("../../.ssh/authorized_keys", "text/plain; charset=utf-8", []byte("k")),
		Attach(`a"b\c;d.bin`, "nonsense", []byte{}),
		Attach("seven.eml", "message/rfc822", []byte(inner)),
		Attach("eight.eml", "message/rfc822", []byte(inner+"\xff\n")),
		Attach("nested", "multipart/mixed; boundary=x", []byte("--x--")),
	}
	built, err := Build(d, params())
	if err != nil {
		t.Fatal(err)
	}
	checkWire(t, built.Bytes, 78)
	p := readBack(t, built.Bytes)
	want := map[string]string{"plan.pdf": "%PDF-1.7\x00\xff", d.Attachments[1].Name: "x", "authorized_keys": "k",
		"c;d.bin": "", "seven.eml": inner, "eight.eml": inner + "\xff\n", "nested": "--x--"}
	for name, content := range want {
		if got, ok := p.files[name]; !ok || string(got) != content {
			t.Errorf("%s: got %q, present %v\n%s", name, got, ok, built.Bytes)
		}
	}
	if got := strings.Join(p.types, " "); got != "text/plain application/pdf text/plain text/plain application/octet-stream message/rfc822 application/octet-stream application/octet-stream" {
		t.Errorf("types: %s", got)
	}
	if p.text != "Hi Bob,\n\nall well.\n" {
		t.Errorf("text %q", p.text)
	}
	if a := d.Attachments[1]; a.Type != "text/plain; charset=utf-8" || a.Size != 1 || len(a.SHA256) != 64 {
		t.Errorf("frozen as %+v", a.AttachmentRef)
	}
}

func TestAMessageQuotingItsOwnBoundaryIsNotSplit(t *testing.T) {
	d := draft()
	d.Attachments = []mail.Attachment{Attach("x.eml", "message/rfc822", []byte("Subject: x\r\n\r\ny\r\n"))}
	first, err := Build(d, params())
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(first.Bytes), `boundary="`)
	b, _, _ := strings.Cut(after, `"`)
	content := "Subject: x\r\n\r\n--" + b + "\r\n"
	d.Attachments[0] = Attach("x.eml", "message/rfc822", []byte(content))
	second, err := Build(d, params())
	if err != nil {
		t.Fatal(err)
	}
	if got := string(readBack(t, second.Bytes).files["x.eml"]); got != content {
		t.Errorf("got %q", got)
	}
}

// Whatever is written comes back the same through another parser, the bytes
// are fit for any server, and they are the same each time.
func TestBuildRoundTripProperty(t *testing.T) {
	value := rapid.StringMatching(`[\x01-\x09\x0b\x0c\x0e-\x{2027}\x{202a}-\x{d7ff}\x{e000}-\x{1f9ff}]{0,90}`)
	rapid.Check(t, func(t *rapid.T) {
		d := draft()
		d.Subject = rapid.OneOf(value, rapid.StringMatching(`[ a-z=?_-]{0,200}`)).Draw(t, "subject")
		d.To[0].Name = rapid.OneOf(value, rapid.StringMatching(`[ a-z"\\,<>@.=?()]{0,90}`)).Draw(t, "name")
		d.Body = rapid.OneOf(rapid.String(), rapid.StringMatching(`([a-zA-ZĄ. >\r\n\t=-]|From |-- \n){0,400}`)).Draw(t, "body") + "x"
		p := params()
		d.Bcc = []mail.Address{{Name: "Hidden", Addr: "secret@example.com"}}
		var file []byte
		if rapid.Bool().Draw(t, "attach") {
			file = rapid.SliceOf(rapid.Byte()).Draw(t, "file")
			d.Attachments = []mail.Attachment{Attach("f", "application/x", file)}
		}
		built, err := Build(d, p)
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		checkWire(t, built.Bytes, 78)
		if bytes.Contains(built.Bytes, []byte("secret@")) {
			t.Fatalf("Bcc is in the bytes")
		}
		got := readBack(t, built.Bytes)
		if s := subjectOf(t, got.header); s != d.Subject {
			t.Fatalf("subject %q became %q\n%s", d.Subject, s, built.Bytes)
		}
		if got.text != NormalizeBody(d.Body)+"\n" {
			t.Fatalf("body %q became %q\n%s", d.Body, got.text, built.Bytes)
		}
		if file != nil && !bytes.Equal(got.files["f"], file) {
			t.Fatalf("file %q became %q", file, got.files["f"])
		}
		to, err := netmail.ParseAddressList(got.header.Get("To"))
		if err != nil || len(to) != 1 || to[0].Address != "bob@example.net" || to[0].Name != strings.TrimSpace(d.To[0].Name) {
			t.Fatalf("to %q became %v, %v\n%s", d.To[0].Name, to, err, built.Bytes)
		}
		if again, _ := Build(d, p); !bytes.Equal(again.Bytes, built.Bytes) {
			t.Fatal("the same draft gave other bytes")
		}
	})
}

func TestLongAddressListIsFolded(t *testing.T) {
	d := draft()
	d.To = nil
	for range 200 {
		d.To = append(d.To, mail.Address{Name: "Zoë " + strings.Repeat("y", 40), Addr: strings.Repeat("a", 60) + "@example.org"})
	}
	built, err := Build(d, params())
	if err != nil {
		t.Fatal(err)
	}
	checkWire(t, built.Bytes, 78)
	list, err := readBack(t, built.Bytes).header.AddressList("To")
	if err != nil || len(list) != 200 || list[199].Name != d.To[199].Name {
		t.Errorf("read back %d addresses, %v", len(list), err)
	}
}

// unflow reads format=flowed back (RFC 3676 section 4.2).
func unflow(s string) string {
	var out []string
	cont := ""
	for _, line := range strings.Split(strings.TrimSuffix(s, "\n"), "\n") {
		marks := line[:len(line)-len(strings.TrimLeft(line, ">"))]
		text := strings.TrimPrefix(line[len(marks):], " ")
		if cont != "" {
			out[len(out)-1] += text
		} else if marks != "" && text != "" {
			out = append(out, marks+" "+text)
		} else {
			out = append(out, marks+text)
		}
		cont = ""
		if strings.HasSuffix(text, " ") && text != "-- " {
			cont = "more"
		}
	}
	return strings.Join(out, "\n")
}

func TestFlowed(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("word ", 40))
	for name, tc := range map[string]struct{ in, out string }{
		"short":            {"a\nb", "a\nb"},
		"space at end":     {"a  \nb", "a\nb"},
		"signature":        {"a\n-- \nAda", "a\n-- \nAda"},
		"space stuffing":   {" a\nFrom x", "  a\n From x"},
		"quote":            {">a\n> b\n>> c\n>", "> a\n> b\n>> c\n>"},
		"one long word":    {strings.Repeat("x", 200), strings.Repeat("x", 200)},
		"only spaces":      {"a\n   \nb", "a\n\nb"},
		"cut leaves quote": {strings.Repeat("y", 70) + " >z", strings.Repeat("y", 70) + " \n >z"},
	} {
		if got := strings.TrimSuffix(flow(tc.in), "\n"); got != tc.out {
			t.Errorf("%s: got %q, want %q", name, got, tc.out)
		}
	}
	for name, in := range map[string]string{"long paragraph": long, "long quote": "> " + long, "long deep quote": ">>> " + long + "\nend"} {
		wire := flow(in)
		for line := range strings.Lines(wire) {
			if len(line) > 78 {
				t.Errorf("%s: a line of %d", name, len(line))
			}
		}
		if got := unflow(wire); got != in {
			t.Errorf("%s: read back %q", name, got)
		}
	}
	d, p := draft(), params()
	d.Body, p.Flowed = long, true
	built, err := Build(d, p)
	if err != nil || !strings.Contains(string(built.Bytes), "Content-Type: text/plain; charset=utf-8; format=flowed\r\n") {
		t.Errorf("%v\n%s", err, built.Bytes)
	}
}

func TestFlowedProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := NormalizeBody(strings.Join(rapid.SliceOf(rapid.StringMatching(`[a-z]{1,30} |[a-z>-]{1,90}|\n| {1,3}|From `)).Draw(t, "in"), ""))
		var want []string
		for _, line := range strings.Split(in, "\n") {
			if line != "-- " {
				line = strings.TrimRight(line, " ")
			}
			if m := strings.TrimLeft(line, ">"); m != line { // quotes are written in one style
				marks, text := line[:len(line)-len(m)], strings.TrimPrefix(m, " ")
				if text == "--" {
					text = "-- "
				}
				if line = marks; text != "" {
					line += " " + text
				}
			}
			want = append(want, line)
		}
		if got := unflow(flow(in)); got != strings.Join(want, "\n") {
			t.Fatalf("%q became %q, want %q via %q", in, got, strings.Join(want, "\n"), flow(in))
		}
	})
}
