package parse

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// outline writes a message's parts in one line: path, type and what they are.
func outline(m *Msg) string {
	var b strings.Builder
	for i, p := range m.Parts {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %s", p.Path, p.Type)
		if p.Name != "" {
			fmt.Fprintf(&b, " %q", p.Name)
		}
	}
	return b.String()
}

func crlf(s string) []byte { return []byte(strings.ReplaceAll(s, "\n", "\r\n")) }

func TestTree(t *testing.T) {
	rows := []struct {
		name, in          string
		outline, text     string
		attachments       []int
		problem, htmlOnly bool
	}{
		{name: "plain", in: "Subject: a\n\nHi\n", outline: "1 text/plain", text: "Hi\n"},
		{name: "alternative",
			in:      "Content-Type: multipart/alternative; boundary=b\n\n--b\n\nplain\n--b\nContent-Type: text/html\n\n<p>html</p>\n--b--\n",
			outline: "1 text/plain, 2 text/html", text: "plain\n"},
		{name: "alternative, the other way round",
			in:      "Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>html</p>\n--b\n\nplain\n--b--\n",
			outline: "1 text/html, 2 text/plain", text: "plain\n"},
		{name: "alternative with an empty text",
			in:      "Content-Type: multipart/alternative; boundary=b\n\n--b\n\n \n--b\nContent-Type: text/html\n\n<p>html</p>\n--b--\n",
			outline: "1 text/plain, 2 text/html", text: "html\n", htmlOnly: true},
		{name: "mixed with an attachment",
			in:      "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nHi\n--b\nContent-Type: application/pdf; name=x.pdf\nContent-Transfer-Encoding: base64\n\nSGVsbG8=\n--b--\n",
			outline: `1 text/plain, 2 application/pdf "x.pdf"`, text: "Hi\n", attachments: []int{1}},
		{name: "text that is an attachment",
			in:      "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nHi\n--b\nContent-Disposition: attachment; filename=log.txt\n\nlog\n--b\nContent-Type: text/plain; name=more.txt\n\nmore\n--b--\n",
			outline: `1 text/plain, 2 text/plain "log.txt", 3 text/plain "more.txt"`, text: "Hi\n", attachments: []int{1, 2}},
		{name: "two inline texts, as mailing lists add a footer",
			in:      "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nHi\n--b\n\nfooter\n--b--\n",
			outline: "1 text/plain, 2 text/plain", text: "Hi\n\n\nfooter\n"},
		{name: "related within alternative",
			in:      "Content-Type: multipart/alternative; boundary=a\n\n--a\n\nplain\n--a\nContent-Type: multipart/related; boundary=r\n\n--r\nContent-Type: text/html\n\n<img src=cid:x>\n--r\nContent-Type: image/png\nContent-ID: <x>\n\nPNG\n--r--\n--a--\n",
			outline: "1 text/plain, 2.1 text/html, 2.2 image/png", text: "plain\n", attachments: []int{2}},
		{name: "last boundary missing",
			in:      "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nHi\n",
			outline: "1 text/plain", text: "Hi\n", problem: true},
		{name: "outer boundary ends the inner multipart",
			in:      "Content-Type: multipart/mixed; boundary=o\n\n--o\nContent-Type: multipart/mixed; boundary=i\n\n--i\n\none\n--o\n\ntwo\n--o--\n",
			outline: "1.1 text/plain, 2 text/plain", text: "one\n\n\ntwo\n"},
		{name: "one boundary the beginning of the other",
			in:      "Content-Type: multipart/mixed; boundary=b-1\n\n--b-1\nContent-Type: multipart/mixed; boundary=b-10\n\n--b-10\n\none\n--b-10--\n--b-1\n\ntwo\n--b-1--\n",
			outline: "1.1 text/plain, 2 text/plain", text: "one\n\n\ntwo\n"},
		{name: "boundary not given",
			in:      "Content-Type: multipart/mixed\n\n--xyz123\n\nHi\n--xyz123--\n",
			outline: "1 text/plain", text: "Hi\n"},
		{name: "boundary that does not occur",
			in:      "Content-Type: multipart/mixed; boundary=b\n\nHi\n",
			outline: "1 text/plain", text: "Hi\n", problem: true},
		{name: "boundary of hyphens",
			in:      "Content-Type: multipart/mixed; boundary=\"--\"\n\n----\n\nHi\n------\n",
			outline: "1 text/plain", text: "Hi\n"},
		{name: "part without an empty line",
			in:      "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n--b\n\nHi\n--b--\n",
			outline: "1 text/plain, 2 text/plain", text: "Hi\n"},
		{name: "empty multipart",
			in:      "Content-Type: multipart/mixed; boundary=b\n\npreamble\n--b--\n",
			outline: "1 text/plain", text: "preamble\n"},
		{name: "message within",
			in:      "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nHi\n--b\nContent-Type: message/rfc822\n\nSubject: in\nContent-Type: multipart/mixed; boundary=c\n\n--c\n\ninner\n--c--\n--b--\n",
			outline: "1 text/plain, 2 message/rfc822, 2.1.1 text/plain", text: "Hi\n", attachments: []int{1}},
		{name: "message within, encoded against the rules",
			in:      "Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\nU3ViamVjdDogaW4KCmlubmVyCg==\n",
			outline: "1 message/rfc822, 1.1 text/plain", attachments: []int{0}},
		{name: "transfer encoding on a multipart is not applied",
			in:      "Content-Type: multipart/mixed; boundary=b\nContent-Transfer-Encoding: base64\n\n--b\n\nHi\n--b--\n",
			outline: "1 text/plain", text: "Hi\n"},
		{name: "two types, the first counts",
			in:      "Content-Type: text/html\nContent-Type: text/plain\n\n<b>x</b>\n",
			outline: "1 text/html", text: "x\n", htmlOnly: true},
		{name: "delivery report",
			in:      "Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\n\nFailed.\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\nAction: failed\n--b\nContent-Type: text/rfc822-headers\n\nSubject: a\n--b--\n",
			outline: "1 text/plain, 2 message/delivery-status, 3 text/rfc822-headers", text: "Failed.\n", attachments: []int{1, 2}},
		{name: "damaged base64",
			in:      "Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\nSGVsbG8g!!d29ybGQ\n_______________\nthe list's footer\n",
			outline: "1 text/plain", text: "Hello world\n", problem: true},
		{name: "unknown transfer encoding",
			in:      "Content-Transfer-Encoding: x-uuencode\n\nbegin 644 x\n",
			outline: "1 text/plain", text: "begin 644 x\n"},
		{name: "flowed",
			in:      "Content-Type: text/plain; format=flowed\n\none \ntwo\n> q \n> r\n",
			outline: "1 text/plain", text: "one two\n> q r\n"},
		{name: "signed",
			in:      "Content-Type: multipart/signed; boundary=b\n\n--b\n\nHi\n--b\nContent-Type: application/pgp-signature; name=signature.asc\n\nx\n--b--\n",
			outline: `1 text/plain, 2 application/pgp-signature "signature.asc"`, text: "Hi\n", attachments: []int{1}},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			for kind, raw := range map[string][]byte{"LF": []byte(r.in), "CRLF": crlf(r.in)} {
				m := Message(raw)
				if got := outline(m); got != r.outline {
					t.Errorf("%s: parts are %s, want %s", kind, got, r.outline)
				}
				if m.Text != r.text {
					t.Errorf("%s: text is %q, want %q", kind, m.Text, r.text)
				}
				if !reflect.DeepEqual(m.Attachments, r.attachments) {
					t.Errorf("%s: attachments are %v, want %v", kind, m.Attachments, r.attachments)
				}
				if (len(m.Problems) > 0) != r.problem {
					t.Errorf("%s: problems are %q", kind, m.Problems)
				}
				if m.HTMLOnly != r.htmlOnly {
					t.Errorf("%s: HTMLOnly is %v", kind, m.HTMLOnly)
				}
				checkMessage(t, r.name, raw, m)
			}
		})
	}
}

func TestContentIsExact(t *testing.T) {
	m := Message(crlf("Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: application/octet-stream\n\nraw \x00\xff\n\n--b\nContent-Type: a/b\nContent-Transfer-Encoding: quoted-printable\n\n=00=FF=\n x=3D\n--b\nContent-Type: a/b\nContent-Transfer-Encoding: base64\n\nAP8=\n--b--\n"))
	for i, want := range []string{"raw \x00\xff\r\n", "\x00\xff x=", "\x00\xff"} {
		if got := string(m.Content(i)); got != want {
			t.Errorf("part %d is %q, want %q", i, got, want)
		}
	}
	if m.Content(-1) != nil || m.Content(3) != nil {
		t.Error("content of parts that are not there")
	}
}

func TestBase64(t *testing.T) {
	rows := []struct {
		name, in, want string
		damaged        bool
	}{
		{"whole", "SGVsbG8=", "Hello", false},
		{"lines", "SGVs\r\nbG8=\r\n", "Hello", false},
		{"white space for each character", "S G V s\tb G 8 =", "Hello", false},
		{"no padding", "SGVsbG8", "Hello", false},
		{"padded blocks one after another", "SGVsbG8=SGVsbG8=", "HelloHello", false},
		{"padded blocks on lines", "SGVsbG8=\nSGVsbG8=\n", "HelloHello", false},
		{"foreign character", "SGVs!bG8=", "Hello", true},
		{"footer after padding", "SGVsbG8=\nSent from a list, see below\n", "Hello", true},
		{"footer after a rule", "SGVs\n____\nhello\n", "Hel", true},
		{"one character too many", "SGVsb", "Hel", false},
		{"empty", "", "", false},
	}
	for _, r := range rows {
		got, damaged := decodeBase64([]byte(r.in))
		if string(got) != r.want || damaged != r.damaged {
			t.Errorf("%s: decodeBase64(%q) = %q, %v; want %q, %v", r.name, r.in, got, damaged, r.want, r.damaged)
		}
		if n, d := base64Size([]byte(r.in)); n != len(got) || d != damaged {
			t.Errorf("%s: base64Size(%q) = %d, %v; want %d, %v", r.name, r.in, n, d, len(got), damaged)
		}
	}
}

func TestQuotedPrintable(t *testing.T) {
	rows := []struct{ name, in, want string }{
		{"escape", "a=3Db", "a=b"},
		{"lower case", "=c5=bc", "ż"},
		{"soft line break", "a=\r\nb", "ab"},
		{"soft line break with spaces", "a= \t\r\nb", "ab"},
		{"at the end", "a=", "a"},
		{"starts nothing", "=ZZ=4", "=ZZ=4"},
		{"space before a line end", "a=20 \r\nb", "a \r\nb"},
		{"line ends stay", "a=3D\nb\r\n", "a=\nb\r\n"},
		{"long soft line", strings.Repeat("a=\n", 1000), strings.Repeat("a", 1000)},
	}
	for _, r := range rows {
		if got := string(decodeQP([]byte(r.in))); got != r.want {
			t.Errorf("%s: decodeQP(%.80q) = %.80q, want %.80q", r.name, r.in, got, r.want)
		}
	}
}

func TestUnflow(t *testing.T) {
	rows := []struct {
		name, in string
		delSp    bool
		want     string
	}{
		{"paragraph", "one \ntwo \nthree\n", false, "one two three\n"},
		{"hard line ends", "one\ntwo\n", false, "one\ntwo\n"},
		{"quote depth ends a paragraph", "> one \ntwo\n", false, "> one \ntwo\n"},
		{"quotes", ">> a \n>> b\n> c\n", false, "> > a b\n> c\n"},
		{"space stuffing", " >not a quote\n  indented\n", false, ">not a quote\n indented\n"},
		{"signature", "one \n-- \nJan\n", false, "one \n-- \nJan\n"},
		{"DelSp", "日本 \n語\n", true, "日本語\n"},
		{"ends open", "one ", false, "one \n"},
	}
	for _, r := range rows {
		if got := Unflow(r.in, r.delSp); got != r.want {
			t.Errorf("%s: Unflow(%q) = %q, want %q", r.name, r.in, got, r.want)
		}
	}
}

func TestLines(t *testing.T) {
	got := Lines("a\n> b\n>> c\n> > d\n>e\n>From here\n-- \n")
	want := []Line{{0, "a"}, {1, "b"}, {2, "c"}, {2, "d"}, {1, "e"}, {0, "From here"}, {0, "-- "}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Lines = %v, want %v", got, want)
	}
	body, sig := SplitSignature("Hi\n-- \nJan\n")
	if body != "Hi\n" || sig != "-- \nJan\n" {
		t.Errorf("SplitSignature = %q, %q", body, sig)
	}
	if body, sig = SplitSignature("Hi\n-- \n" + strings.Repeat("x\n", 50)); sig != "" || body == "" {
		t.Errorf("a long text is taken for a signature: %q", sig)
	}
	if _, sig = SplitSignature(""); sig != "" {
		t.Errorf("an empty text has the signature %q", sig)
	}
}

func TestSnippet(t *testing.T) {
	rows := []struct {
		name, in string
		n        int
		want     string
	}{
		{"short", "Hi  there\nyou\n", 50, "Hi there you"},
		{"cut at a word", "one two three four", 12, "one two…"},
		{"without quotes", "> old\n\nNew words\n", 50, "New words"},
		{"without what introduces a quote", "On Monday, Jan wrote:\n> old\n\nNew words\n", 50, "New words"},
		{"introduced over two lines", "On 2 March 2026 at 10:12, Jan Kowalski\n<jan@example.org> wrote:\n\n> old\n\nYes.\n", 50, "Yes."},
		{"without the signature", "Hi\n-- \nJan Kowalski\n", 50, "Hi"},
		{"without rules and footnotes", "-----\n=====\nRead this [1] now[2]\n\n[1] https://a.example\n", 50, "Read this now"},
		{"nothing", "", 50, ""},
		{"no room", "abc", 0, ""},
	}
	for _, r := range rows {
		if got := Snippet(r.in, r.n); got != r.want {
			t.Errorf("%s: Snippet = %q, want %q", r.name, got, r.want)
		}
	}
}

func TestFilename(t *testing.T) {
	rows := []struct{ in, want string }{
		{"report.pdf", "report.pdf"},
		{"Zażółć gęślą.pdf", "Zażółć gęślą.pdf"},
		{"../../.ssh/authorized_keys", "authorized_keys"},
		{"/etc/cron.d/x", "x"},
		{`..\\..\\x`, "x"},
		{`C:\x`, "x"},
		{`\\server\share\x`, "x"},
		{"CON", "_CON"}, {"aux.txt", "_aux.txt"}, {"com1.tar.gz", "_com1.tar.gz"}, {"COM²", "_COM²"}, {"common.txt", "common.txt"},
		{"x:ads", "x_ads"},
		{".bashrc", "bashrc"},
		{"-rf", "rf"},
		{"~", "attachment"},
		{"$(id)", "_id_"},
		{"`id`", "_id_"},
		{"a;b", "a_b"},
		{"a\nb", "a_b"},
		{strings.Repeat("ż", 300) + ".pdf", strings.Repeat("ż", 57) + ".pdf"},
		{"", "attachment"}, {".", "attachment"}, {"..", "attachment"}, {"/", "attachment"},
		{"x. ", "x"}, {"x.pdf...", "x.pdf"},
		{"a\x00b.txt", "a_b.txt"},
		{"invoice\u202efdp.exe", "invoicefdp.exe"},
		{"\x1b]0;pwn\x07.txt", "_0_pwn_.txt"},
		{"dir/", "dir"},
		{"z\u0307.txt", "ż.txt"},
		{"\xff.txt", "_.txt"},
	}
	for _, r := range rows {
		got := Filename(r.in)
		if got != r.want {
			t.Errorf("Filename(%.60q) = %q, want %q", r.in, got, r.want)
		}
		checkFilename(t, r.in, got)
	}
}

func checkFilename(t *testing.T, in, got string) {
	t.Helper()
	if got == "" || len(got) > 120 || !utf8.ValidString(got) || strings.ContainsAny(got, "/\\:\x00\n") ||
		strings.HasPrefix(got, ".") || strings.HasPrefix(got, "-") || strings.HasSuffix(got, ".") || strings.HasSuffix(got, " ") {
		t.Fatalf("Filename(%q) = %q, which is no safe name", in, got)
	}
	if again := Filename(got); again != got {
		t.Fatalf("Filename(%q) = %q, and of that %q", in, got, again)
	}
}
