package parse

import (
	"testing"
	"unicode/utf8"
)

func FuzzHeader(f *testing.F) {
	f.Add(sampleHeader())
	for _, s := range []string{"From: a@b (c) <d@e>, \"x\" : ;\nDate: 1 Jan 1 1:1 +1\n\n", "Subject: =?utf-8?q?=?=\n", "Content-Type: a/b; x*0*=a'b'%C5; x*1=y\n", " \n:\n", "From: =?a?b?c?=<", "References: <a<b>c>\nMessage-ID: x y\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		h := Header(raw)
		for _, a := range append(append(h.From, h.To...), h.Cc...) {
			if !utf8.ValidString(a.Name) || !utf8.ValidString(a.Addr) {
				t.Fatalf("an address is not valid UTF-8: %q", a)
			}
		}
		for _, s := range append([]string{h.Subject, h.MessageID, h.ListID, h.ContentType}, h.References...) {
			if !utf8.ValidString(s) {
				t.Fatalf("a field is not valid UTF-8: %q", s)
			}
		}
		for _, p := range h.Params {
			if !utf8.ValidString(p.Name) || !utf8.ValidString(p.Value) {
				t.Fatalf("a parameter is not valid UTF-8: %q", p)
			}
		}
	})
}

func FuzzMessage(f *testing.F) {
	f.Add(sampleMessage())
	for _, s := range []string{
		"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b--\n--b--\n",
		"Content-Transfer-Encoding: base64\n\nQUJD=QUJ\n", "Content-Transfer-Encoding: quoted-printable\n\n=C5=\n=BC",
		"Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\nU3ViamVjdDogaW4KCmlubmVyCg==\n",
		"Content-Type: text/plain; format=flowed; delsp=yes; charset=iso-2022-jp\n\n> a \n> b\n", "\r\r", "Content-Type: multipart/x\n\n--aaa\n--aaa--\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := Message(raw)
		checkMessage(t, "fuzz", raw, m)
		for i := range m.Parts {
			if !utf8.ValidString(m.PartText(i)) {
				t.Fatalf("the text of part %d is not valid UTF-8", i)
			}
		}
		if s := Snippet(m.Text, 40); utf8.RuneCountInString(s) > 40 || !utf8.ValidString(s) {
			t.Fatalf("the snippet is %q", s)
		}
		if body, sig := SplitSignature(m.Text); body+sig != m.Text {
			t.Fatalf("the signature %q and %q are not the text", body, sig)
		}
		if !utf8.ValidString(Unflow(m.Text, true)) {
			t.Fatal("the unflowed text is not valid UTF-8")
		}
		for _, l := range Lines(m.Text) {
			if l.Depth < 0 {
				t.Fatal("a negative depth")
			}
		}
	})
}

func FuzzHTML(f *testing.F) {
	for _, s := range []string{"<p>a<b>b</p>", "<table><tr><td><p>a</table>", "<ul><li><blockquote>x", `<a href="http://a.example">a.example</a>`, "<pre>\n a</pre>", "<div style='display:none'>x</div>y", "<td>a<td><ul><li>b<table><td>c", "</a></table><svg><p>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, links := RenderHTML(s)
		if !utf8.ValidString(text) || len(text) > MaxText {
			t.Fatalf("the text is not valid: %.100q", text)
		}
		for _, l := range links {
			if _, host, ok := openable(l.URL); !ok || host != l.Host {
				t.Fatalf("the link %q, of host %q, has host %q when read again (%v)", l.URL, l.Host, host, ok)
			}
		}
	})
}

func FuzzFilename(f *testing.F) {
	for _, s := range []string{"../x", "CON.txt", ".-. x", "a\u202eb", "\x1b", "ż\u0301.", "COM¹", "_CON", "con .x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkFilename(t, s, Filename(s)) })
}
