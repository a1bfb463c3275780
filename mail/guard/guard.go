// Package guard wraps the connections to mail servers so that no read or write
// can wait for ever, no reply can grow without bound, and a connection ends
// when its context does. The SMTP and IMAP clients both dial through it.
//
// TLS goes on top: tls.Client(conn, config), where conn is a *Conn. The limits
// then count the bytes on the wire.
package guard

import (
	"context"
	"net"
	"strconv"
	"sync"
	"time"
)

// DefaultDialTimeout bounds name lookup and connecting together.
const DefaultDialTimeout = 30 * time.Second

// keepAlive is how long a silent peer is left alone before TCP probes it.
const keepAlive = 60 * time.Second

// defaultTimeout holds until SetTimeouts says otherwise.
const defaultTimeout = 5 * time.Minute

// Conn is a net.Conn whose every Read and Write has a deadline. Its own
// SetDeadline methods have no lasting effect: use SetTimeouts and Until.
// Methods may be called from several goroutines.
type Conn struct {
	net.Conn

	mu      sync.Mutex
	read    time.Duration // per Read, 0: none
	write   time.Duration // per Write, 0: none
	until   time.Time     // no operation lasts longer, zero: none
	limited bool
	budget  int64 // bytes that may still be read while limited
	ctx     context.Context
	unbind  func() bool
}

// Wrap guards an open connection and closes it when ctx ends.
func Wrap(ctx context.Context, c net.Conn) *Conn {
	g := &Conn{Conn: c, read: defaultTimeout, write: defaultTimeout}
	g.Bind(ctx)
	return g
}

// Dial connects to host:port over TCP, racing IPv6 and IPv4 (RFC 8305), with
// TCP keep-alive, and guards the connection with ctx. timeout bounds the whole
// of it; 0 means DefaultDialTimeout. The error is an *Error.
func Dial(ctx context.Context, host string, port int, timeout time.Duration) (*Conn, error) {
	if timeout <= 0 {
		timeout = DefaultDialTimeout
	}
	d := net.Dialer{
		Timeout:         timeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepAlive, Interval: keepAlive, Count: 3},
	}
	c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return nil, dialError(ctx, err)
	}
	return Wrap(ctx, c), nil
}

// SetTimeouts sets how long one Read and one Write may take; 0 means no limit
// of its own. It holds from the next operation on.
func (c *Conn) SetTimeouts(read, write time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read, c.write = read, write
}

// Until sets a moment after which every operation times out, whatever the
// per-operation limits say: it is what bounds a peer that sends a byte now and
// then. The zero time removes it.
func (c *Conn) Until(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = t
}

// Budget allows n more bytes to be read; after them Read fails with
// KindOversized until Budget is called again. n <= 0 removes the limit.
func (c *Conn) Budget(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limited, c.budget = n > 0, n
}

// Bind closes the connection when ctx ends, instead of whatever context it was
// bound to before.
func (c *Conn) Bind(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unbind != nil {
		c.unbind()
	}
	c.ctx = ctx
	c.unbind = context.AfterFunc(ctx, func() { _ = c.Conn.Close() })
}

// Detach lets the connection outlive its context. It reports false when the
// context has already ended, and the connection with it.
func (c *Conn) Detach() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	ok := true
	if c.unbind != nil {
		ok = c.unbind()
		c.unbind = nil
	}
	if ok {
		c.ctx = nil
	}
	return ok
}

// Close cuts the connection. Unlike the Close of a TLS connection on top, it
// writes nothing and does not wait.
func (c *Conn) Close() error {
	c.mu.Lock()
	if c.unbind != nil {
		c.unbind()
		c.unbind = nil
	}
	c.mu.Unlock()
	return c.Conn.Close()
}

// Read reads within the limits. Its error is io.EOF or an *Error.
func (c *Conn) Read(p []byte) (int, error) {
	c.mu.Lock()
	_ = c.SetReadDeadline(deadline(c.read, c.until))
	if c.limited && int64(len(p)) > c.budget {
		p = p[:c.budget]
	}
	spent := c.limited && len(p) == 0
	c.mu.Unlock()
	if spent {
		return 0, &Error{Op: "read", Kind: KindOversized}
	}
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	c.budget -= int64(n)
	ctx := c.ctx
	c.mu.Unlock()
	return n, wrap(ctx, "read", err)
}

// Write writes within the limits. Its error is an *Error. Success means that
// the system took the bytes, not that the peer did.
func (c *Conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	_ = c.SetWriteDeadline(deadline(c.write, c.until))
	ctx := c.ctx
	c.mu.Unlock()
	n, err := c.Conn.Write(p)
	return n, wrap(ctx, "write", err)
}

// deadline is the earlier of limit from now and until; zero means none.
func deadline(limit time.Duration, until time.Time) time.Time {
	if limit <= 0 {
		return until
	}
	d := time.Now().Add(limit)
	if !until.IsZero() && until.Before(d) {
		return until
	}
	return d
}
