package e2e

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// terminal is the program on a pseudo terminal, and what a person would see.
type terminal struct {
	t     testing.TB
	cmd   *exec.Cmd
	pty   *os.File
	ended chan struct{} // closed when the program has ended and its output is read
	code  int

	mu      sync.Mutex
	screen  *vt.Emulator
	raw     bytes.Buffer // every byte the program wrote
	whole   int          // how much of raw ends in a complete frame
	shown   string       // the screen after that frame
	changed chan struct{}
	seen    map[string]bool // of watched words, those that were on the screen at any time
}

// open starts the program on a terminal of that size.
func (h *home) open(cols, rows int, args ...string) *terminal {
	h.t.Helper()
	cmd := h.command(args...)
	cmd.Env = append(cmd.Env, "COLORTERM=truecolor")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)})
	if err != nil {
		h.t.Fatal(err)
	}
	x := &terminal{t: h.t, cmd: cmd, pty: f, ended: make(chan struct{}), screen: vt.NewEmulator(cols, rows),
		changed: make(chan struct{}), seen: map[string]bool{}}
	go x.read()
	go x.answer()
	h.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-x.ended
		_ = f.Close()
		_ = x.screen.Close()
	})
	return x
}

// read paints what the program writes until it ends.
func (x *terminal) read() {
	buf := make([]byte, 32<<10)
	for {
		n, err := x.pty.Read(buf)
		if n > 0 {
			x.mu.Lock()
			x.raw.Write(buf[:n])
			_, _ = x.screen.Write(buf[:n])
			if all := x.raw.Bytes(); bytes.LastIndex(all, frameBegins) <= bytes.LastIndex(all, frameEnds) {
				x.frame()
			}
			x.mu.Unlock()
		}
		if err != nil {
			break
		}
	}
	x.mu.Lock()
	x.frame()
	x.mu.Unlock()
	err := x.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		x.code = exit.ExitCode()
	}
	close(x.ended)
}

// A frame is written between these, once the terminal has said that it knows
// them (mode 2026): what is between two frames is never looked at.
var frameBegins, frameEnds = []byte("\x1b[?2026h"), []byte("\x1b[?2026l")

// frame publishes what is on the screen now.
func (x *terminal) frame() {
	x.whole, x.shown = x.raw.Len(), x.screen.String()
	for word := range x.seen {
		x.seen[word] = x.seen[word] || strings.Contains(x.shown, word)
	}
	close(x.changed)
	x.changed = make(chan struct{})
}

// answer gives the program what a terminal replies to its questions.
func (x *terminal) answer() {
	buf := make([]byte, 256)
	for {
		n, err := x.screen.Read(buf)
		if err != nil {
			return
		}
		reply := bytes.Replace(buf[:n], []byte("\x1b[?2026;0$y"), []byte("\x1b[?2026;2$y"), 1)
		if _, err := x.pty.Write(reply); err != nil {
			return
		}
	}
}

// text is what the screen shows, a line each.
func (x *terminal) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.shown
}

// written is every byte up to the last complete frame.
func (x *terminal) written() []byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	return bytes.Clone(x.raw.Bytes()[:x.whole])
}

// watch remembers whether words are on the screen from now on.
func (x *terminal) watch(words ...string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, w := range words {
		x.seen[w] = false
	}
}

func (x *terminal) saw(word string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.seen[word]
}

// until waits for a condition of the screen, looking whenever it changes.
func (x *terminal) until(what string, ok func(screen string) bool) string {
	x.t.Helper()
	end := time.After(patience)
	for {
		x.mu.Lock()
		text, next := x.shown, x.changed
		x.mu.Unlock()
		if ok(text) {
			return text
		}
		select {
		case <-next:
		case <-x.ended:
			if text = x.text(); ok(text) {
				return text
			}
			x.t.Fatalf("the program ended (exit code %d) before the screen showed %s:\n%s", x.code, what, text)
		case <-end:
			x.t.Fatalf("the screen does not show %s:\n%s", what, text)
		}
	}
}

// shows waits until all the words are on the screen.
func (x *terminal) shows(words ...string) string {
	x.t.Helper()
	return x.until(strings.Join(words, " and "), func(s string) bool {
		for _, w := range words {
			if !strings.Contains(s, w) {
				return false
			}
		}
		return true
	})
}

// hides waits until the words are not on the screen.
func (x *terminal) hides(words string) {
	x.t.Helper()
	x.until("no "+words, func(s string) bool { return !strings.Contains(s, words) })
}

// hasRow reports whether one line holds all the words.
func hasRow(screen string, words ...string) bool {
	for line := range strings.Lines(screen) {
		all := true
		for _, w := range words {
			all = all && strings.Contains(line, w)
		}
		if all {
			return true
		}
	}
	return false
}

var keyBytes = map[string]string{"enter": "\r", "esc": "\x1b", "tab": "\t", "space": " ", "up": "\x1b[A", "down": "\x1b[B",
	"pgdown": "\x1b[6~", "pgup": "\x1b[5~", "home": "\x1b[H", "end": "\x1b[F", "backspace": "\x7f"}

// press sends keys, each by its name.
func (x *terminal) press(keys ...string) *terminal {
	x.t.Helper()
	for _, k := range keys {
		b, ok := keyBytes[k]
		if !ok {
			b = k
			if c, ctrl := strings.CutPrefix(k, "ctrl+"); ctrl {
				b = string(rune(c[0] & 0x1f))
			}
		}
		x.types(b)
	}
	return x
}

// types sends text as it is.
func (x *terminal) types(text string) {
	x.t.Helper()
	if _, err := x.pty.WriteString(text); err != nil {
		x.t.Fatalf("cannot type %q: %v\n%s", text, err, x.text())
	}
}

// resize gives the window another size.
func (x *terminal) resize(cols, rows int) {
	x.t.Helper()
	x.mu.Lock()
	x.screen.Resize(cols, rows)
	x.mu.Unlock()
	if err := pty.Setsize(x.pty, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)}); err != nil {
		x.t.Fatal(err)
	}
}

// ends waits for the program's end and returns its exit code.
func (x *terminal) ends() int {
	x.t.Helper()
	select {
	case <-x.ended:
	case <-time.After(patience):
		x.t.Fatalf("the program did not end:\n%s", x.text())
	}
	return x.code
}

// kill ends the program as a power cut would.
func (x *terminal) kill() {
	x.t.Helper()
	if err := x.cmd.Process.Kill(); err != nil {
		x.t.Fatal(err)
	}
	x.ends()
}
