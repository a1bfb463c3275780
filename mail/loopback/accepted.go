package loopback

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/mail"
	"slices"
	"sync"
	"time"
)

// Accepted is one message for which the submission server took responsibility.
// It is recorded before the client is told, and also where it is never told.
type Accepted struct {
	QueueID   string
	MessageID string // the header, brackets included; "" without one
	SHA256    string // hexadecimal, of Raw
	Raw       []byte // the content as received, after dot-unstuffing
	From      string
	Rcpts     []string
	At        time.Time
}

type acceptLog struct {
	mu   sync.Mutex
	all  []Accepted
	wake chan struct{}
}

func (l *acceptLog) add(a Accepted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, a)
	if l.wake != nil {
		close(l.wake)
		l.wake = nil
	}
}

// Accepted returns what was accepted so far, oldest first.
func (s *Servers) Accepted() []Accepted {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return slices.Clone(s.log.all)
}

// AcceptedByID returns the accepted messages with this Message-ID, brackets
// included. More than one means that it was sent more than once.
func (s *Servers) AcceptedByID(messageID string) []Accepted {
	all := s.Accepted()
	return slices.DeleteFunc(all, func(a Accepted) bool { return a.MessageID != messageID })
}

// AcceptedChanged returns a channel that is closed when the next message is
// accepted. Take it before reading Accepted.
func (s *Servers) AcceptedChanged() <-chan struct{} {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	if s.log.wake == nil {
		s.log.wake = make(chan struct{})
	}
	return s.log.wake
}

// accept makes the record of one message.
func accept(queueID, from string, rcpts []string, raw []byte, at time.Time) Accepted {
	sum := sha256.Sum256(raw)
	a := Accepted{QueueID: queueID, SHA256: hex.EncodeToString(sum[:]), Raw: raw, From: from, Rcpts: slices.Clone(rcpts), At: at}
	if m, err := mail.ReadMessage(bytes.NewReader(raw)); err == nil {
		a.MessageID = m.Header.Get("Message-ID")
	}
	return a
}
