package loopback

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A port is one listening address that can be closed and opened again, with
// every connection it has accepted.
type port struct {
	s       *Servers
	counted *counter

	mu   sync.Mutex
	addr string // set by the first listen and kept
	ln   net.Listener
	open map[*wire]struct{}
}

// A counter counts connections: all there have been, and those open.
type counter struct{ total, open atomic.Int64 }

// listen opens the port, on a free one the first time and on the same after.
func (p *port) listen() (net.Listener, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	addr := p.addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	p.addr, p.ln, p.open = ln.Addr().String(), ln, map[*wire]struct{}{}
	return &portListener{Listener: ln, p: p}, nil
}

// close stops listening and cuts every connection.
func (p *port) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ln != nil {
		_ = p.ln.Close()
		p.ln = nil
	}
	for w := range p.open {
		_ = w.Conn.Close()
	}
}

type portListener struct {
	net.Listener
	p *port
}

// Accept wraps the connection and counts it.
func (l *portListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: c, p: l.p}
	l.p.mu.Lock()
	closed := l.p.ln != l.Listener
	if !closed {
		l.p.open[w] = struct{}{}
	}
	l.p.mu.Unlock()
	if closed {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	l.p.counted.total.Add(1)
	l.p.counted.open.Add(1)
	return w, nil
}

// wire is the plain side of one accepted connection. It adds the latency that
// the options ask for and can be hung up after the next reply.
type wire struct {
	net.Conn
	p      *port
	once   sync.Once
	hangUp atomic.Bool // the next write is the last
	ended  atomic.Bool
}

// Write waits for the latency, writes, and ends the connection if it is to be
// hung up: the peer gets the whole reply, then the end of the stream.
func (w *wire) Write(b []byte) (int, error) {
	if w.ended.Load() {
		return 0, net.ErrClosed
	}
	if d := w.p.s.faults().Latency; d > 0 {
		w.p.s.wait(d)
	}
	n, err := w.Conn.Write(b)
	if err == nil && w.hangUp.Load() && w.ended.CompareAndSwap(false, true) {
		if t, ok := w.Conn.(*net.TCPConn); ok {
			_ = t.CloseWrite() // a plain Close could reset the reply away
		}
	}
	return n, err
}

// Read reports the end once the connection has been hung up.
func (w *wire) Read(b []byte) (int, error) {
	if w.ended.Load() {
		return 0, io.EOF
	}
	return w.Conn.Read(b)
}

// Close closes the connection once, and uncounts it.
func (w *wire) Close() error {
	err := net.ErrClosed
	w.once.Do(func() {
		w.p.mu.Lock()
		delete(w.p.open, w)
		w.p.mu.Unlock()
		w.p.counted.open.Add(-1)
		err = w.Conn.Close()
	})
	return err
}

// reset cuts the connection without the courtesies of TCP or TLS.
func (w *wire) reset() {
	if t, ok := w.Conn.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = w.Close()
}

// wireOf finds the plain side under a TLS connection.
func wireOf(c net.Conn) *wire {
	for {
		switch v := c.(type) {
		case *wire:
			return v
		case interface{ NetConn() net.Conn }:
			c = v.NetConn()
		default:
			return nil
		}
	}
}

// wait sleeps for d, or until the servers are closed.
func (s *Servers) wait(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.done:
	}
}
