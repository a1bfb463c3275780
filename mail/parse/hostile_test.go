package parse

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"
)

// limitFor is how long hostile input of n bytes may take: the goal is one
// second for each MiB, and slow machines get some room.
func limitFor(n int) time.Duration { return time.Second + 2*time.Second*time.Duration(n>>20) }

func nestedMultiparts(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
	}
	b.WriteString("\nthe end\n")
	return b.String()
}

func TestHostileInputIsLinear(t *testing.T) {
	long := func(s string, n int) string { return strings.Repeat(s, n/len(s)) }
	base64Lines := long(strings.Repeat("QUJD", 19)+"\r\n", 8<<20)
	rows := []struct{ name, in, problem string }{
		{"M01 5000 nested multiparts", nestedMultiparts(5000), "nested too deeply"},
		{"M01 50,000 nested multiparts of one boundary", long("Content-Type: multipart/mixed; boundary=b\n\n--b\n", 2<<20), "nested too deeply"},
		{"M02 200,000 parts", "Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\n\nx\n", 200_000), "too many parts"},
		{"M03 10,000 nested messages", strings.Repeat("Content-Type: message/rfc822\n\n", 10_000), "nested too deeply"},
		{"M03 messages and multiparts in turn", strings.Repeat("Content-Type: message/rfc822\n\nContent-Type: multipart/mixed; boundary=b\n\n--b\n", 5000), "nested too deeply"},
		{"M04 lines that almost are boundaries", "Content-Type: multipart/mixed; boundary=" + long("a", 1000) + "\n\n" + long("--"+long("a", 999)+"\n", 2<<20), "does not occur"},
		{"M05 subject of 1 MB", "Subject: " + long("x", 1<<20) + "\n\nbody\n", "header is too large"},
		{"M05 100,000 fields", long("X-A: b\n", 700_000) + "\nbody\n", "header is too large"},
		{"M05 folded in small pieces", "Subject: a" + long("\n b", 900_000) + "\n\nbody\n", "header is too large"},
		{"M05 100,000 lines that are no field", "Subject: a\n" + long("garbage\nX: y\n", 1<<20) + "\n\nbody\n", ""},
		{"M06 900 KB of encoded words begun", "Subject: " + long("=?utf-8?q?", 900_000) + "\n\n", ""},
		{"M06 90,000 encoded words", "Subject: " + long("=?x?q?a?=", 810_000) + "\n\n", ""},
		{"M06 encoded words in many fields", long("From: "+long("=?utf-8?q?", 16_000)+"\n", 250_000) + "\n", ""},
		{"M07 comments", "From: " + long("(", 200_000) + "\n\n", ""},
		{"M07 brackets", "From: " + long("<", 200_000) + "\n\n", ""},
		{"M07 quotes", "From: " + long("\"", 200_001) + "\n\n", ""},
		{"M07 groups", "From: x:" + long(";", 200_000) + "\n\n", ""},
		{"M07 group names", "From: " + long("x:", 200_000) + ";\n\n", ""},
		{"M07 words without an address", "To: " + long("a b,", 200_000) + "\n\n", ""},
		{"M07 phrase without an end", "From: " + long("a ", 200_000) + "\n\n", ""},
		{"M07 many brackets with an at sign", "To: " + long("a <b@c> ", 200_000) + "\n\n", ""},
		{"M08 base64", "Content-Type: a/b\nContent-Transfer-Encoding: base64\n\n" + base64Lines, ""},
		{"M08 base64 of foreign characters", "Content-Transfer-Encoding: base64\n\n" + long("QUJD!QUJD\n", 4<<20), "damaged"},
		{"M09 quoted-printable", "Content-Transfer-Encoding: quoted-printable\n\n" + long("=", 2<<20), "very long"},
		{"M09 soft line breaks", "Content-Transfer-Encoding: quoted-printable\n\n" + long("=\n", 2<<20), ""},
		{"M12 parameters", "Content-Type: a/b; " + long("x*1=a;", 200_000) + "\n\n", ""},
		{"long line", "\n" + long("x", 2<<20), "very long"},
		{"links", "\n" + long("http://a.b/", 1<<20), ""},
		{"links with brackets", "\n" + long("http://((((((((())))))))))) ", 1<<20), ""},
		{"colons", "\n" + long("https:", 1<<20), ""},
		{"quotes", "Content-Type: text/plain; format=flowed\n\n" + long(long(">", 1000)+" a\n", 1<<20), ""},
	}
	html := []struct{ name, in string }{
		{"100,000 nested div", long("<div>", 500_000) + "x"},
		{"nested div and stray ends", long("<div>", 900_000) + long("</p></b></i>", 900_000)},
		{"nested bold and stray ends", long("<b>", 900_000) + long("</i>", 900_000) + long("</b>", 900_000)},
		{"nested i and div, stray ends", long("<i><div>", 900_000) + long("</i>", 900_000)},
		{"nested quotes", long("<blockquote>x", 1<<20)},
		{"nested lists", long("<ul><li>x", 1<<20)},
		{"nested tables", long("<table><tr><td>x", 1<<20)},
		{"tables and stray div ends", "<div>" + long("<table><tr><td>", 900_000) + long("</div>", 900_000)},
		{"unknown elements", long("<x>", 600_000) + long("</y>", 600_000)},
		{"attribute of 1 MiB", "<a href=\"" + long("x", 1<<20) + "\">x</a>"},
		{"attributes", "<p " + long("a=b ", 1<<20) + ">x"},
		{"styles", long("<p style=\""+long("a:b;", 4000)+"\">x", 1<<20)},
		{"links", long("<a href=http://a.b/>x", 1<<20)},
		{"links around much", long("<a href=http://a.b/>", 500_000) + "x" + long("</a>", 500_000)},
		{"comment not closed", long("<!--", 1<<20)},
		{"angle brackets", long("<", 1<<20)},
		{"entities", long("&amp", 1<<20)},
		{"br", long("<br>", 1<<20)},
		{"hidden", long("<div hidden>x", 1<<20)},
		{"CDATA", "<![CDATA[" + long("x", 1<<20)},
		{"svg", long("<svg><math>", 1<<20)},
	}
	for _, h := range html {
		rows = append(rows, struct{ name, in, problem string }{"HTML " + h.name, "Content-Type: text/html\n\n" + h.in, ""})
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			raw := []byte(r.in)
			start := time.Now()
			m := Message(raw)
			if took := time.Since(start); took > limitFor(len(raw)) {
				t.Errorf("%d bytes take %v", len(raw), took)
			}
			checkMessage(t, r.name, raw, m)
			if problems := strings.Join(m.Problems, " "); !strings.Contains(problems, r.problem) {
				t.Errorf("problems are %q, want one with %q", problems, r.problem)
			}
			Snippet(m.Text, 200)
			Lines(m.Text)
		})
	}
}

func TestDepthIsBounded(t *testing.T) {
	m := Message([]byte(nestedMultiparts(60)))
	if len(m.Parts) != 1 || strings.Count(m.Parts[0].Path, ".") >= MaxDepth {
		t.Errorf("%d parts, the first at %s", len(m.Parts), m.Parts[0].Path)
	}
	if !strings.Contains(m.Text, "the end") {
		t.Errorf("the text of the deepest part is not shown: %.100q", m.Text)
	}
}

// TestMutations cuts, doubles and changes bytes of well-formed messages.
func TestMutations(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for n := range 3000 {
		raw := sampleMessage()
		for range 1 + rnd.Intn(8) {
			i := rnd.Intn(len(raw))
			switch rnd.Intn(4) {
			case 0:
				raw[i] = byte(rnd.Intn(256))
			case 1:
				raw = raw[:i+1]
			case 2:
				raw = append(raw[:i:i], raw[min(len(raw), i+rnd.Intn(40)):]...)
			default:
				raw = append(raw[:i:i], append([]byte("\r\n--=_b1"), raw[i:]...)...)
			}
			if len(raw) == 0 {
				raw = []byte{0}
			}
		}
		checkMessage(t, fmt.Sprintf("mutation %d", n), raw, Message(raw))
	}
}
