package smtptest

import (
	"io"
	"strings"
	"time"
)

type kind int

const (
	kindReply kind = iota
	kindRaw
	kindReset
	kindHangUp
	kindStall
	kindDeaf
	kindFlood
	kindDrip
	kindChallenge
	kindDo
)

// Action is something a Peer does at a step.
type Action struct {
	kind  kind
	text  string
	times int
	do    func()
	then  *Action
}

// Reply answers with lines separated by LF and carries on.
func Reply(lines string) Action { return Action{kind: kindReply, text: lines} }

// Raw sends bytes as they are and carries on.
func Raw(bytes string) Action { return Action{kind: kindRaw, text: bytes} }

// Reset ends the connection with a TCP reset.
func Reset() Action { return Action{kind: kindReset} }

// HangUp ends the connection without a word, TLS's included.
func HangUp() Action { return Action{kind: kindHangUp} }

// Stall says nothing more, but reads.
func Stall() Action { return Action{kind: kindStall} }

// Deaf says nothing more and reads nothing more.
func Deaf() Action { return Action{kind: kindDeaf} }

// Garbage sends a line that is no reply, and carries on.
func Garbage() Action { return Raw("\x00\xffHTTP/1.1 400 Bad Request\r\n") }

// LongLine sends a line of a reply that is longer than any may be.
func LongLine() Action { return Raw("250 " + strings.Repeat("x", 4000) + "\r\n") }

// Flood sends lines of one reply without an end.
func Flood() Action { return Action{kind: kindFlood} }

// Drip sends a reply one octet at a time, never to its end.
func Drip() Action { return Action{kind: kindDrip} }

// Challenge answers AUTH with text after 334 as many times, then refuses.
func Challenge(text string, times int) Action {
	return Action{kind: kindChallenge, text: text, times: times}
}

// Do calls f, which may take as long as it likes, and carries on.
func Do(f func()) Action { return Action{kind: kindDo, do: f} }

// Then does next after a.
func (a Action) Then(next Action) Action {
	a.then = &next
	return a
}

// act does a. False ends the connection.
func (s *session) act(a Action) bool {
	ok := s.one(a)
	if ok && a.then != nil {
		return s.act(*a.then)
	}
	return ok
}

func (s *session) one(a Action) bool {
	switch a.kind {
	case kindReply:
		return s.say(a.text, "")
	case kindRaw:
		_, err := io.WriteString(s.c, a.text)
		return err == nil
	case kindDo:
		a.do()
		return true
	case kindReset:
		_ = s.tcp.SetLinger(0)
		_ = s.tcp.Close()
	case kindHangUp:
		_ = s.tcp.Close()
	case kindStall:
		_, _ = io.Copy(io.Discard, s.r)
	case kindDeaf:
		<-s.p.stop
	case kindFlood:
		for s.say("250-"+strings.Repeat("x", 1000), "") {
			select {
			case <-s.p.stop:
				return false
			default:
			}
		}
	case kindDrip:
		for range 10000 {
			if _, err := io.WriteString(s.c, "2"); err != nil {
				return false
			}
			select {
			case <-s.p.stop:
				return false
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
	return false
}
