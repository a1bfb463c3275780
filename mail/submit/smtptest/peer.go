// Package smtptest is a scripted SMTP server for tests: it can do the wrong
// thing at any step, and it remembers what it was given. It is a peer for
// clients that must survive such a server, not an implementation of one.
package smtptest

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"skrzynka/mail"
)

// Script says how a Peer behaves. The zero value is a good server on STARTTLS.
type Script struct {
	Security mail.Security // default STARTTLS
	// At is what happens instead of the usual reply to a step: greeting, ehlo,
	// starttls, auth, mail, rcpt, data, reply (to the whole message) and quit.
	// At tls it happens instead of the handshake, once the client has begun it; at body as soon as BodyBytes
	// of the message have arrived.
	At        map[mail.Step]Action
	BodyBytes int
	Rcpt      map[string]Action // by address as written in RCPT; goes before At
	Size      int64             // announced SIZE, 0: none
	Auth      []string          // announced mechanisms, nil: PLAIN and LOGIN; empty: none
	Plain     bool              // do not announce STARTTLS
	// AfterSTARTTLS is sent in plain text in the same packet as the 220.
	AfterSTARTTLS string
	Cert          Cert
	// Hold, when not nil, must be closed before anything is done on a
	// connection: a reset at once could be seen as a failure to connect.
	Hold <-chan struct{}
}

// Received is a message, or what arrived of one.
type Received struct {
	From       string
	To         []string
	Data       []byte // as received up to the terminator, still dot-stuffed
	Terminated bool   // the terminator came
}

// Peer is a running server.
type Peer struct {
	Host string
	Port int
	CA   []byte // the root its certificate verifies against, PEM

	script   Script
	listener net.Listener
	cert     tls.Certificate
	stop     chan struct{}
	handlers sync.WaitGroup

	mu       sync.Mutex
	conns    map[net.Conn]bool
	last     *session
	accepted int
	received []*Received
	commands []string
}

// Start listens on loopback until the test ends.
func Start(t testing.TB, script Script) *Peer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cert, ca := certificate(t, script.Cert)
	p := &Peer{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, CA: ca, script: script, listener: l, cert: cert,
		stop: make(chan struct{}), conns: map[net.Conn]bool{}}
	if p.script.Security == "" {
		p.script.Security = mail.SecuritySTARTTLS
	}
	if p.script.Auth == nil {
		p.script.Auth = []string{"PLAIN", "LOGIN"}
	}
	go p.serve()
	t.Cleanup(p.Close)
	return p
}

// Server is the configuration a client needs to reach the peer.
func (p *Peer) Server() mail.Server {
	return mail.Server{Host: p.Host, Port: p.Port, Security: p.script.Security}
}

// Close stops listening and cuts every connection.
func (p *Peer) Close() {
	p.mu.Lock()
	select {
	case <-p.stop:
	default:
		close(p.stop)
	}
	_ = p.listener.Close()
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.handlers.Wait()
}

// Wait returns when every connection so far has ended.
func (p *Peer) Wait() { p.handlers.Wait() }

// Connections counts the connections accepted so far.
func (p *Peer) Connections() int { p.mu.Lock(); defer p.mu.Unlock(); return p.accepted }

// Received lists the messages begun so far. Call Wait first when the last of
// them was cut off.
func (p *Peer) Received() []Received {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]Received, len(p.received))
	for i, r := range p.received {
		out[i] = *r
	}
	return out
}

// Commands lists the command lines received so far, AUTH's answers left out.
func (p *Peer) Commands() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.commands...)
}

// Interrupt does a on the newest connection at once, whatever it waits for.
func (p *Peer) Interrupt(a Action) {
	p.mu.Lock()
	s := p.last
	p.mu.Unlock()
	if s != nil {
		s.act(a)
	}
}

func (p *Peer) serve() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		select {
		case <-p.stop:
			_ = c.Close()
			p.mu.Unlock()
			return
		default:
		}
		s := &session{p: p, tcp: c.(*net.TCPConn), c: c}
		p.conns[c], p.last = true, s
		p.accepted++
		p.handlers.Add(1)
		p.mu.Unlock()
		go func() {
			defer p.handlers.Done()
			s.run()
			_ = c.Close()
			p.mu.Lock()
			delete(p.conns, c)
			p.mu.Unlock()
		}()
	}
}

// session is one connection.
type session struct {
	p    *Peer
	tcp  *net.TCPConn
	c    net.Conn
	r    *bufio.Reader
	tls  bool
	from string
	to   []string
}

func (s *session) run() {
	if s.p.script.Hold != nil {
		select {
		case <-s.p.script.Hold:
		case <-s.p.stop:
			return
		}
	}
	s.r = bufio.NewReader(s.c)
	if s.p.script.Security == mail.SecurityTLS && !s.secure() {
		return
	}
	if !s.step(mail.StepGreeting, "220 peer.example ESMTP") {
		return
	}
	for {
		line, err := s.r.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		s.p.mu.Lock()
		s.p.commands = append(s.p.commands, line)
		s.p.mu.Unlock()
		verb, rest, _ := strings.Cut(line, " ")
		if !s.command(strings.ToUpper(verb), rest) {
			return
		}
	}
}

// command answers one command; false ends the connection.
func (s *session) command(verb, rest string) bool {
	switch verb {
	case "EHLO":
		return s.step(mail.StepEHLO, s.extensions())
	case "STARTTLS":
		if a, ok := s.p.script.At[mail.StepSTARTTLS]; ok {
			return s.act(a)
		}
		return s.say("220 go ahead", s.p.script.AfterSTARTTLS) && s.secure()
	case "AUTH":
		return s.auth(rest)
	case "MAIL":
		s.from, s.to = angle(rest), nil
		return s.step(mail.StepMail, "250 2.1.0 ok")
	case "RCPT":
		to := angle(rest)
		if a, ok := s.p.script.Rcpt[to]; ok {
			return s.act(a)
		}
		s.to = append(s.to, to)
		return s.step(mail.StepRcpt, "250 2.1.5 ok")
	case "DATA":
		if a, ok := s.p.script.At[mail.StepData]; ok && !strings.HasPrefix(a.text, "354") {
			return s.act(a)
		} else if ok && !s.act(a) {
			return false
		} else if !ok && !s.say("354 go ahead", "") {
			return false
		}
		return s.message()
	case "RSET":
		return s.say("250 2.0.0 ok", "")
	case "QUIT":
		s.step(mail.StepQuit, "221 2.0.0 bye")
		return false
	}
	return s.say("502 5.5.2 what", "")
}

func (s *session) extensions() string {
	ext := []string{"peer.example", "ENHANCEDSTATUSCODES"}
	if !s.tls && !s.p.script.Plain {
		ext = append(ext, "STARTTLS")
	}
	if s.p.script.Size > 0 {
		ext = append(ext, fmt.Sprintf("SIZE %d", s.p.script.Size))
	}
	if s.tls && len(s.p.script.Auth) > 0 {
		ext = append(ext, "AUTH "+strings.Join(s.p.script.Auth, " "))
	}
	for i := range ext[:len(ext)-1] {
		ext[i] = "250-" + ext[i]
	}
	ext[len(ext)-1] = "250 " + ext[len(ext)-1]
	return strings.Join(ext, "\n")
}

func (s *session) secure() bool {
	if a, ok := s.p.script.At[mail.StepTLS]; ok {
		if _, err := s.r.Peek(1); err != nil { // the client has begun
			return false
		}
		return s.act(a)
	}
	c := tls.Server(s.tcp, &tls.Config{Certificates: []tls.Certificate{s.p.cert}, MinVersion: tls.VersionTLS12})
	if c.Handshake() != nil {
		return false
	}
	s.c, s.r, s.tls = c, bufio.NewReader(c), true
	return true
}

func (s *session) auth(rest string) bool {
	mech, first, _ := strings.Cut(rest, " ")
	if strings.EqualFold(mech, "LOGIN") && first == "" {
		for _, q := range []string{"Username:", "Password:"} {
			if !s.say("334 "+base64.StdEncoding.EncodeToString([]byte(q)), "") {
				return false
			}
			if _, err := s.r.ReadString('\n'); err != nil {
				return false
			}
		}
	}
	a, ok := s.p.script.At[mail.StepAuth]
	for ; ok && a.kind == kindChallenge; a.times-- {
		if a.times == 0 {
			return s.say("535 5.7.8 no", "")
		}
		if !s.say("334 "+a.text, "") {
			return false
		}
		if _, err := s.r.ReadString('\n'); err != nil {
			return false
		}
	}
	return s.step(mail.StepAuth, "235 2.7.0 welcome")
}

// message takes the data and answers it.
func (s *session) message() bool {
	rec := &Received{From: s.from, To: append([]string(nil), s.to...)}
	s.p.mu.Lock()
	s.p.received = append(s.p.received, rec)
	s.p.mu.Unlock()
	early, interrupt := s.p.script.At[mail.StepBody]
	buf := make([]byte, 4096)
	for {
		if interrupt && len(rec.Data) >= s.p.script.BodyBytes {
			interrupt = false
			if !s.act(early) {
				return false
			}
		}
		n, err := s.r.Read(buf)
		s.p.mu.Lock()
		rec.Data = append(rec.Data, buf[:n]...)
		if bytes.Equal(rec.Data, []byte(".\r\n")) || bytes.HasSuffix(rec.Data, []byte("\r\n.\r\n")) {
			rec.Data, rec.Terminated = rec.Data[:len(rec.Data)-3], true
		}
		done := rec.Terminated
		s.p.mu.Unlock()
		if done {
			return s.step(mail.StepReply, "250 2.0.0 ok: queued as 4F2A9C01")
		}
		if err != nil {
			return false
		}
	}
}

func (s *session) step(step mail.Step, usual string) bool {
	if a, ok := s.p.script.At[step]; ok {
		return s.act(a)
	}
	return s.say(usual, "")
}

// say sends lines separated by LF, then raw.
func (s *session) say(lines, raw string) bool {
	_, err := s.c.Write([]byte(strings.ReplaceAll(lines, "\n", "\r\n") + "\r\n" + raw))
	return err == nil
}

func angle(s string) string {
	_, s, _ = strings.Cut(s, "<")
	s, _, _ = strings.Cut(s, ">")
	return s
}
