package mirror

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"skrzynka/mail/guard"
)

// tailSize is how much of what the server said last is kept, to find its
// reason for hanging up.
const tailSize = 600

// wire is the connection the IMAP library talks through. The library's own
// deadlines are dropped: one of them counts the time our caller takes, and
// between commands it waits for ever. Instead a read may take as long as the
// guard says, and the guard is told when a command begins and ends.
type wire struct {
	net.Conn // TLS over guard
	g        *guard.Conn
	limits   Timeouts
	pre      []byte // read before anything the server sends

	mu    sync.Mutex
	err   error // the first error of a read or write
	tail  []byte
	wrote int64 // bytes handed to Write, tried ones included
}

func newWire(c net.Conn, g *guard.Conn, limits Timeouts) *wire {
	return &wire{Conn: c, g: g, limits: limits}
}

// begin starts the clock of a command that may be answered with up to budget
// bytes between two results.
func (w *wire) begin(budget int64) {
	w.g.Budget(budget)
	w.g.SetTimeouts(w.limits.Progress, w.limits.Progress)
	w.item()
}

// item restarts the clocks: a result arrived.
func (w *wire) item() {
	now := time.Now()
	w.g.Until(now.Add(w.limits.Item))
	_ = w.g.SetReadDeadline(now.Add(w.limits.Progress)) // for a read already waiting
}

// pause stops the clocks: nothing is expected, or our own side is busy.
func (w *wire) pause() {
	w.g.SetTimeouts(0, w.limits.Progress)
	w.g.Until(time.Time{})
	_ = w.g.SetReadDeadline(time.Time{})
}

// resume starts the clocks again after pause.
func (w *wire) resume() {
	w.g.SetTimeouts(w.limits.Progress, w.limits.Progress)
	w.item()
}

// release lets the connection outlive ctx. It reports false when ctx has ended
// and taken the connection with it.
func (w *wire) release(ctx context.Context) bool {
	return w.g.Detach() && (ctx.Err() == nil || w.broken() == nil)
}

// note keeps the first error. What fails because our own side has closed the
// connection says nothing about why it did.
func (w *wire) note(err error) {
	if err == nil || errors.Is(err, net.ErrClosed) && guard.KindOf(err) != guard.KindCancelled {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
}

// broken returns what broke the connection, nil while it stands as far as is known.
func (w *wire) broken() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// bye returns the text of an untagged BYE among the last words, or "".
func (w *wire) bye() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := bytes.LastIndex(w.tail, []byte("* BYE "))
	if i < 0 || i > 0 && w.tail[i-1] != '\n' {
		return ""
	}
	line, _, _ := bytes.Cut(w.tail[i+len("* BYE "):], []byte("\r"))
	return string(line)
}

func (w *wire) written() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wrote
}

func (w *wire) Read(p []byte) (int, error) {
	if len(w.pre) > 0 {
		n := copy(p, w.pre)
		w.pre = w.pre[n:]
		return n, nil
	}
	n, err := w.Conn.Read(p)
	w.mu.Lock()
	if n >= tailSize {
		w.tail = append(w.tail[:0], p[n-tailSize:n]...)
	} else if n > 0 {
		if over := len(w.tail) + n - tailSize; over > 0 {
			w.tail = w.tail[:copy(w.tail, w.tail[over:])]
		}
		w.tail = append(w.tail, p[:n]...)
	}
	w.mu.Unlock()
	w.note(err)
	return n, err
}

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.wrote += int64(len(p))
	w.mu.Unlock()
	n, err := w.Conn.Write(p)
	w.note(err)
	return n, err
}

// Close cuts the socket; a TLS farewell could wait.
func (w *wire) Close() error { return w.g.Close() }

func (w *wire) SetDeadline(time.Time) error      { return nil }
func (w *wire) SetReadDeadline(time.Time) error  { return nil }
func (w *wire) SetWriteDeadline(time.Time) error { return nil }
