package parse

import (
	"strings"
	"testing"
)

func TestRenderHTML(t *testing.T) {
	rows := []struct{ name, in, want string }{
		{"paragraphs", "<p>one</p><p>two</p>", "one\n\ntwo\n"},
		{"white space", "<div>a\n  b&nbsp;&nbsp;c</div>\n<div>d</div>", "a b c\nd\n"},
		{"line breaks", "a<br>b<br><br>c", "a\nb\n\nc\n"},
		{"heading", "<h1>Title</h1>text", "Title\n\ntext\n"},
		{"inline", "a <b>b</b><i>c</i> d", "a bc d\n"},
		{"list", "<ul><li>one</li><li>two<ul><li>deep</li></ul></li></ul>", "• one\n• two\n  • deep\n"},
		{"numbered list", "<ol start=3><li>a<li>b</ol>after", "3. a\n4. b\n\nafter\n"},
		{"paragraphs in items", "<ul><li><p>one</p></li><li><p>two</p></li></ul>", "• one\n• two\n"},
		{"quote", "before<blockquote>one<br>two<blockquote>deep</blockquote></blockquote>after", "before\n\n> one\n> two\n> \n> > deep\n\nafter\n"},
		{"pre", "<pre>a\n  b\n\nc</pre>", "a\n  b\n\nc\n"},
		{"data table", "<table border=1><tr><th>Item<th>Qty</tr><tr><td>Widget<td>2</tr></table>", "Item | Qty\nWidget | 2\n"},
		{"layout table", "<table><tr><td>a</td><td>b</td></tr><tr><td></td><td>c</td></tr></table>", "a  b\nc\n"},
		{"cells of paragraphs", "<table><tr><td><p>a</p></td><td><p>b</p></td></tr></table>", "a  b\n"},
		{"cell of lines", "<table><tr><td>a<br>b</td><td>c</td></tr></table>", "a\nb\nc\n"},
		{"image", `<img src=x alt="A cat"><img src=y width=1 height=1 alt="pixel"><img src=z>`, "[A cat]\n"},
		{"script and style", "<style>p{}</style><script>x()</script><title>t</title>text", "text\n"},
		{"display:none", `<div style="display: none !important"><p>secret<b>x</div>seen`, "seen\n"},
		{"hidden in other ways", `<span style="visibility:hidden">a</span><span style="font-size:0px">b</span><span style="mso-hide:all">c</span><span style="opacity:0">d</span><p hidden>e</p><div style="max-height:0;overflow:hidden">f</div>g`, "g\n"},
		{"not hidden", `<span style="font-size:0.9em">a</span><span style="display:block">b</span>`, "ab\n"},
		{"hidden paragraph is closed by the next", `<p style="display:none">a<p>b`, "b\n"},
		{"filler", "pre\u200b&zwnj;&#847;&shy;header&zwnj; &zwnj; &zwnj;", "preheader\n"},
		{"Persian joiner", "می&zwnj;خواهم", "می\u200cخواهم\n"},
		{"comment", "a<!-- b -->c", "ac\n"},
		{"comment not closed", "a<!-- b", "a\n"},
		{"entities", "&lt;a&gt; &amp; &euro;", "<a> & €\n"},
		{"stray end tags", "</div></p>a</b></table>b", "ab\n"},
		{"quotation", "<q>a</q>", "“a”\n"},
		{"rule", "a<hr>b", "a\n----------\nb\n"},
		{"plaintext", "<plaintext>a</b>", "a</b>\n"},
		{"text only", "just text", "just text\n"},
		{"empty", "", ""},
		{"link", `see <a href="https://example.org/x">this</a>.`, "see this[1].\n\n[1] https://example.org/x\n"},
		{"one address, one number", `<a href="http://a.example">x</a> <a href="http://a.example">y</a> <a href="http://b.example/">z</a>`, "x[1] y[1] z[2]\n\n[1] http://a.example\n[2] http://b.example/\n"},
		{"words that name another host", `<a href="https://evil.example/">https://bank.example/login</a>`, "https://bank.example/login[1: evil.example]\n\n[1] https://evil.example/\n"},
		{"bare domain as words", `<a href="https://evil.example/">www.bank.example</a>`, "www.bank.example[1: evil.example]\n\n[1] https://evil.example/\n"},
		{"user name in front of the host", `<a href="https://bank.example@evil.example/">bank.example</a>`, "bank.example[1: evil.example]\n\n[1] https://bank.example@evil.example/\n"},
		{"words that name the host", `<a href="https://www.bank.example/">bank.example</a>`, "bank.example[1]\n\n[1] https://www.bank.example/\n"},
		{"javascript", `<a href=" ` + "\tjava\nscript:" + `alert(1)">x</a>`, "x\n"},
		{"other schemes", `<a href="data:text/html,x">a</a><a href="file:///etc/passwd">b</a><a href="vbscript:x">c</a><a href="ms-msdt:x">d</a><a href="/rel">e</a>`, "abcde\n"},
		{"mailto", `<a href="mailto:a@b.example?subject=x">write</a>`, "write[1]\n\n[1] mailto:a@b.example?subject=x\n"},
		{"link around an image", `<a href="https://a.example/"><img alt="Logo"></a>`, "[Logo][1]\n\n[1] https://a.example/\n"},
		{"link around nothing", `<a href="https://a.example/"><img></a>x`, "x\n"},
	}
	for _, r := range rows {
		got, links := RenderHTML(r.in)
		if got != r.want {
			t.Errorf("%s: RenderHTML(%q)\n gives %q\n  want %q", r.name, r.in, got, r.want)
		}
		for i, l := range links {
			if l.N != i+1 {
				t.Errorf("%s: link %d has the number %d", r.name, i, l.N)
			}
		}
	}
}

func TestHTMLControlsStayForSafe(t *testing.T) {
	got, _ := RenderHTML("a&#27;[2J&#x9b;&#0;&#x202e;b")
	if !strings.HasPrefix(got, "a") || !strings.HasSuffix(got, "b\n") {
		t.Errorf("text around entities of controls is lost: %q", got)
	}
}

func TestHTMLCharsetOfTheDocument(t *testing.T) {
	m := Message([]byte("Content-Type: text/html\n\n<meta http-equiv=Content-Type content=\"text/html; charset=iso-8859-2\"><p>\xbf</p>"))
	if m.Text != "ż\n" {
		t.Errorf("text is %q", m.Text)
	}
}

func TestLinksInPlainText(t *testing.T) {
	m := Message([]byte("Subject: a\n\nSee https://example.org/a_(b). Or <http://b.example/x,y>, (https://c.example/), mailto:a@d.example; not javascript:x ftp://e.example http:f\nhttps://example.org/a_(b)\n"))
	var got []string
	for _, l := range m.Links {
		got = append(got, l.URL+" "+l.Host)
	}
	want := "https://example.org/a_(b) example.org|http://b.example/x,y b.example|https://c.example/ c.example|mailto:a@d.example d.example"
	if strings.Join(got, "|") != want {
		t.Errorf("links are %q, want %q", strings.Join(got, "|"), want)
	}
	if strings.Contains(m.Text, "[1]") {
		t.Errorf("plain text got footnotes: %q", m.Text)
	}
}

func TestHostsAreASCII(t *testing.T) {
	rows := []struct{ href, host string }{
		{"https://раураl.com/", "xn--l-7sba6dbr.com"},
		{"https://EXAMPLE.org:8080/x", "example.org"},
		{"https:\\\\evil.example\\x", "evil.example"},
		{"//example.org/x", "example.org"},
		{"https://[::1]/", "[::1]"},
		{"http://ex%61mple.org/", "example.org"},
	}
	for _, r := range rows {
		if _, host, ok := openable(r.href); !ok || host != r.host {
			t.Errorf("openable(%q): host %q, %v; want %q", r.href, host, ok, r.host)
		}
	}
}
