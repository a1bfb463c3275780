package guard

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// pair returns a guarded client and the server's end of one TCP connection.
func pair(t *testing.T, ctx context.Context) (*Conn, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := Dial(ctx, "127.0.0.1", l.Addr().(*net.TCPAddr).Port, 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); s.Close() })
	return c, s
}

func TestReadFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		limit  func(*Conn)
		server func(net.Conn)
		want   Kind
	}{
		"silent peer, per-read limit": {func(c *Conn) { c.SetTimeouts(20*time.Millisecond, 0) }, func(net.Conn) {}, KindTimeout},
		"silent peer, overall limit":  {func(c *Conn) { c.Until(time.Now().Add(20 * time.Millisecond)) }, func(net.Conn) {}, KindTimeout},
		"hang-up":                     {func(*Conn) {}, func(s net.Conn) { s.Close() }, KindLost},
		"reset":                       {func(*Conn) {}, func(s net.Conn) { _ = s.(*net.TCPConn).SetLinger(0); s.Close() }, KindLost},
		"more than the budget":        {func(c *Conn) { c.Budget(10) }, func(s net.Conn) { _, _ = s.Write(make([]byte, 11)) }, KindOversized},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := pair(t, context.Background())
			tc.limit(c)
			tc.server(s)
			_, err := io.Copy(io.Discard, struct{ io.Reader }{c})
			if err == nil { // io.Copy hides io.EOF
				err = io.EOF
			}
			if got := KindOf(err); got != tc.want {
				t.Errorf("kind %q (%v), want %q", got, err, tc.want)
			}
		})
	}
}

func TestDripIsBoundedByUntil(t *testing.T) {
	c, s := pair(t, context.Background())
	go func() {
		for {
			if _, err := s.Write([]byte("x")); err != nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	c.SetTimeouts(time.Second, 0)
	c.Until(time.Now().Add(50 * time.Millisecond))
	_, err := io.Copy(io.Discard, struct{ io.Reader }{c})
	if KindOf(err) != KindTimeout {
		t.Errorf("got %v, want a time-out although each read succeeds in time", err)
	}
}

func TestBudgetIsExactAndCanBeRenewed(t *testing.T) {
	c, s := pair(t, context.Background())
	_, _ = s.Write([]byte("0123456789"))
	c.Budget(4)
	b := make([]byte, 16)
	if n, err := io.ReadAtLeast(c, b, 4); n != 4 || err != nil {
		t.Fatalf("read %d bytes, %v, want exactly the budget", n, err)
	}
	if _, err := c.Read(b); KindOf(err) != KindOversized {
		t.Fatalf("got %v beyond the budget", err)
	}
	c.Budget(6)
	if n, err := io.ReadAtLeast(c, b, 6); n != 6 || err != nil {
		t.Errorf("after renewal read %d bytes, %v", n, err)
	}
}

func TestStalledWriteTimesOut(t *testing.T) {
	c, _ := pair(t, context.Background())
	c.SetTimeouts(0, 30*time.Millisecond)
	var err error
	for chunk := make([]byte, 1<<20); err == nil; {
		_, err = c.Write(chunk)
	}
	if KindOf(err) != KindTimeout {
		t.Errorf("got %v, want a time-out when the peer stops reading", err)
	}
}

func TestContextCutsAndDetachDoesNot(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c, _ := pair(t, ctx)
	done := make(chan error, 1)
	go func() { _, err := c.Read(make([]byte, 1)); done <- err }()
	cancel()
	if err := <-done; KindOf(err) != KindCancelled {
		t.Errorf("got %v, want cancelled", err)
	}
	if c.Detach() {
		t.Error("Detach succeeded after the context ended")
	}

	ctx, cancel = context.WithCancel(context.Background())
	c, s := pair(t, ctx)
	if !c.Detach() {
		t.Fatal("Detach failed while the context lives")
	}
	cancel()
	_, _ = s.Write([]byte("x"))
	if n, err := c.Read(make([]byte, 1)); n != 1 {
		t.Errorf("a detached connection was cut: %v", err)
	}
}

func TestDialFaults(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	if _, err := Dial(context.Background(), "127.0.0.1", port, time.Second); KindOf(err) != KindUnreachable {
		t.Errorf("refused: got %v", err)
	}
	if _, err := Dial(context.Background(), "no such host.invalid", 25, time.Second); KindOf(err) != KindUnreachable {
		t.Errorf("bad name: got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Dial(ctx, "127.0.0.1", port, time.Second); KindOf(err) != KindCancelled {
		t.Errorf("cancelled: got %v", err)
	}
}

// A TLS read may be tried again after a time-out of the guarded connection
// below it: polling for an early reply depends on that.
func TestTimeoutsAreTemporaryForTLS(t *testing.T) {
	var e net.Error = &Error{Op: "read", Kind: KindTimeout}
	//lint:ignore SA1019 crypto/tls still asks it
	if !e.Timeout() || !e.Temporary() {
		t.Error("a time-out must be temporary")
	}
	var _ net.Conn = tls.Client(&Conn{}, &tls.Config{MinVersion: tls.VersionTLS12})
	if KindOf(errors.New("x")) != KindNone || KindOf(nil) != KindNone {
		t.Error("other errors have no kind")
	}
}
