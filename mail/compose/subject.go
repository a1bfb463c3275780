package compose

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// replyPrefixes are the words that mark an answer, in lower case.
var replyPrefixes = wordSet(`re aw antw antwort sv svar vs vastaus rv odp odg odpowiedź res resp rif r ynt vá
	ats atb bls ref απ σχετ ответ отв відп השב תשובה رد 回复 回覆 答复 答覆 返信 回信 답장 회신`)

// forwardPrefixes are the words that mark a forwarded message.
var forwardPrefixes = wordSet(`fwd fw wg tr trs vl vb vid doorst enc i ilt pd továbbítás προώθ
	пересл הועבר 转发 轉寄 轉發 転送 전달`)

func wordSet(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// ReplySubject puts "Re: " before a subject that has no such prefix yet, in
// any case or of the languages known here. A list's tag in brackets may stand
// before the prefix.
func ReplySubject(subject string) string {
	s := oneLine(subject)
	if hasPrefix(s, replyPrefixes) {
		return s
	}
	return strings.TrimSpace("Re: " + s)
}

// ForwardSubject puts "Fwd: " before a subject that has no such prefix yet.
func ForwardSubject(subject string) string {
	s := oneLine(subject)
	if hasPrefix(s, forwardPrefixes) && !hasPrefix(s, replyPrefixes) {
		return s
	}
	return strings.TrimSpace("Fwd: " + s)
}

// hasPrefix looks for word, an optional counter as in "Re[2]" or "Re(2)" or
// "Re^2", and a colon, which may be full-width.
func hasPrefix(s string, words map[string]bool) bool {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "[") {
		if i := strings.IndexByte(s, ']'); i > 0 {
			s = strings.TrimSpace(s[i+1:])
		}
	}
	i := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	if i <= 0 || !words[strings.ToLower(s[:i])] {
		return false
	}
	s = strings.TrimLeft(s[i:], " ")
	if s != "" && strings.ContainsRune("[(^", rune(s[0])) {
		s = strings.TrimLeft(s[1:], "0123456789")
		s = strings.TrimLeft(s, "]) ")
	}
	r, _ := utf8.DecodeRuneInString(s)
	return r == ':' || r == '：'
}

// oneLine makes a value from outside fit for a header: control characters and
// line separators become spaces, runs of spaces become one.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
