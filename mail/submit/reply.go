package submit

import (
	"bufio"
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"skrzynka/mail"
	"skrzynka/mail/guard"
)

// Bounds of one reply.
const (
	maxReplyLine  = 2048
	maxReplyBytes = 64 << 10
	maxReplyLines = 100
)

// Faults of reading a reply that are not the connection's own.
var (
	errGarbage   = errors.New("not an SMTP reply")
	errOversized = errors.New("a reply over the limit")
)

// replyReader reads replies (RFC 5321 section 4.2) within bounds.
type replyReader struct{ b *bufio.Reader }

func newReplyReader(r io.Reader) *replyReader {
	return &replyReader{bufio.NewReaderSize(r, maxReplyLine)}
}

// reply reads one complete reply. strict refuses text that is not ASCII: for
// the reply that says whether the message is accepted, anything odd counts
// against it. A line may end in LF alone. On an error what was read of the
// reply is not returned.
func (r *replyReader) reply(strict bool) (mail.Reply, error) {
	var out mail.Reply
	var lines []string
	total := 0
	for {
		line, err := r.b.ReadSlice('\n')
		total += len(line)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return mail.Reply{}, errOversized
		case err != nil:
			return mail.Reply{}, err
		case total > maxReplyBytes || len(lines) >= maxReplyLines:
			return mail.Reply{}, errOversized
		}
		s := strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r")
		code, text, more, ok := parseReplyLine(s, strict)
		if !ok || out.Code != 0 && code != out.Code {
			return mail.Reply{}, errGarbage
		}
		out.Code = code
		lines = append(lines, text)
		if !more {
			break
		}
	}
	out.Enhanced = enhancedCode(out.Code, lines[len(lines)-1])
	if out.Enhanced != "" {
		for i, l := range lines {
			lines[i] = strings.TrimLeft(strings.TrimPrefix(l, out.Enhanced), " ")
		}
	}
	out.Text = strings.Join(lines, "\n")
	return out, nil
}

// parseReplyLine reads three digits, then a space, a hyphen or the end.
func parseReplyLine(s string, strict bool) (code int, text string, more, ok bool) {
	if len(s) < 3 || s[0] < '2' || s[0] > '5' {
		return 0, "", false, false
	}
	for i := range 3 {
		if s[i] < '0' || s[i] > '9' {
			return 0, "", false, false
		}
		code = code*10 + int(s[i]-'0')
	}
	if len(s) == 3 {
		return code, "", false, true
	}
	if s[3] != ' ' && s[3] != '-' {
		return 0, "", false, false
	}
	for i := 4; i < len(s); i++ {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f || strict && c >= 0x80 {
			return 0, "", false, false
		}
	}
	if !utf8.ValidString(s) {
		return 0, "", false, false
	}
	return code, s[4:], s[3] == '-', true
}

var enhanced = regexp.MustCompile(`^([245])\.\d{1,3}\.\d{1,3}( |$)`)

// enhancedCode finds the code of RFC 2034 at the start of the text. One whose
// class is not the reply's is kept: both are what the server said.
func enhancedCode(code int, text string) string {
	if code < 200 {
		return ""
	}
	return strings.TrimSuffix(enhanced.FindString(text), " ")
}

// faultOf types an error of reading or writing.
func faultOf(err error) (mail.Fault, string) {
	switch {
	case errors.Is(err, errGarbage):
		return mail.FaultGarbage, "what the server sent is not an SMTP reply"
	case errors.Is(err, errOversized):
		return mail.FaultOversized, "the server's reply is over the limit"
	}
	switch guard.KindOf(err) {
	case guard.KindTimeout:
		return mail.FaultTimeout, "the server did not answer in time"
	case guard.KindOversized:
		return mail.FaultOversized, "the server sent too much"
	case guard.KindCancelled:
		return mail.FaultCancelled, "stopped before the message was handed over"
	case guard.KindUnreachable:
		return mail.FaultUnreachable, "the server cannot be reached"
	}
	return mail.FaultLost, "the connection was lost"
}
