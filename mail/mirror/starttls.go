package mirror

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"skrzynka/mail"
	"skrzynka/mail/guard"
)

// Limits of the conversation before TLS. Nothing of it is used or shown but
// the one fact that the server agreed to start TLS.
const (
	clearBudget = 64 << 10
	clearLine   = 8 << 10
	clearLines  = 100
)

// agreeOnTLS asks for STARTTLS over the clear connection g (RFC 9051 section
// 6.2.1) and returns with g ready for the handshake. It never goes on without:
// a server that does not offer it, refuses it, calls the client logged in
// already (PREAUTH) or sends anything behind its agreement ends the attempt,
// since all of these can be the work of somebody in between.
func agreeOnTLS(g *guard.Conn, server string) *mail.Error {
	g.Budget(clearBudget)
	c := clear{w: g, r: bufio.NewReaderSize(g, clearLine), server: server, left: clearLines}
	greeting, err := c.line()
	if err != nil {
		return c.broken(err)
	}
	switch kind, _, _ := strings.Cut(strings.ToUpper(strings.TrimPrefix(greeting, "* ")), " "); {
	case !strings.HasPrefix(greeting, "* "):
		return lost(server, "connecting", fmt.Errorf("%w: no IMAP greeting", ErrDecode), "")
	case kind == "PREAUTH":
		return tlsError(server, "it claims that the login is done before encryption was agreed on", nil)
	case kind == "BYE":
		return lost(server, "greeting", guardLost, "")
	case kind != "OK":
		return lost(server, "connecting", fmt.Errorf("%w: no IMAP greeting", ErrDecode), "")
	}
	offered := false
	answer, err := c.command("S1", "CAPABILITY", func(line string) {
		f := strings.Fields(strings.ToUpper(line))
		if len(f) > 1 && f[0] == "*" && f[1] == "CAPABILITY" {
			for _, word := range f[2:] {
				offered = offered || word == "STARTTLS"
			}
		}
	})
	switch {
	case err != nil:
		return c.broken(err)
	case answer != "OK" || !offered:
		return tlsError(server, "it does not offer STARTTLS", nil)
	}
	answer, err = c.command("S2", "STARTTLS", func(string) {})
	switch {
	case err != nil:
		return c.broken(err)
	case answer != "OK":
		return tlsError(server, "it refused to start TLS", nil)
	case c.r.Buffered() > 0:
		return tlsError(server, "something was sent in the clear behind its agreement to start TLS, which points to an attack", nil)
	}
	return nil
}

// guardLost stands for a connection the server ended in words.
var guardLost = &guard.Error{Op: "read", Kind: guard.KindLost}

type clear struct {
	w      io.Writer
	r      *bufio.Reader
	server string
	left   int
}

var errClearLimit = errors.New("too much before TLS")

func (c *clear) line() (string, error) {
	c.left--
	b, err := c.r.ReadSlice('\n')
	switch {
	case c.left < 0 || errors.Is(err, bufio.ErrBufferFull):
		return "", errClearLimit
	case err != nil:
		return "", err
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}

// command sends one command, hands untagged lines to each and returns the
// tagged answer's type in upper case.
func (c *clear) command(tag, name string, each func(string)) (string, error) {
	if _, err := io.WriteString(c.w, tag+" "+name+"\r\n"); err != nil {
		return "", err
	}
	for {
		line, err := c.line()
		if err != nil {
			return "", err
		}
		if rest, ok := strings.CutPrefix(line, tag+" "); ok {
			kind, _, _ := strings.Cut(rest, " ")
			return strings.ToUpper(kind), nil
		}
		each(line)
	}
}

func (c *clear) broken(err error) *mail.Error {
	if errors.Is(err, errClearLimit) || guard.KindOf(err) == guard.KindOversized {
		return lost(c.server, "connecting", &guard.Error{Op: "read", Kind: guard.KindOversized, Err: err}, "")
	}
	return lost(c.server, "agreeing on TLS", err, "")
}
