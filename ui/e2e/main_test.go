package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// binary is the program, built once.
var binary string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "skrzynka-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	binary = filepath.Join(dir, "skrzynka")
	cmd := exec.Command("go", "build", "-o", binary, "skrzynka")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// missing ends a test whose real part is not there: it skips, or fails where
// the real parts are required.
func missing(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("SKRZYNKA_TEST_REQUIRE") != "" {
		t.Fatal("required, but " + reason)
	}
	t.Skip(reason)
}

// patience bounds every wait for a condition. It is long because nothing waits
// for it unless the condition never comes true.
const patience = 60 * time.Second

// home is one user of the program: folders and an environment of their own.
type home struct {
	t     testing.TB
	dir   string
	state string
	env   []string
}

func newHome(t testing.TB) *home {
	t.Helper()
	dir, err := os.MkdirTemp("", "sk") // short: a path of it is shown in 80 columns
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	h := &home{t: t, dir: dir, state: filepath.Join(dir, "state", "skrzynka")}
	h.env = []string{"HOME=" + dir, "XDG_CONFIG_HOME=" + filepath.Join(dir, "config"), "XDG_STATE_HOME=" + filepath.Join(dir, "state"),
		"TMPDIR=" + dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "TZ=UTC"}
	return h
}

// file writes a file of the user's and returns its path.
func (h *home) file(name, content string) string {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// result is how a command ended.
type result struct {
	t      testing.TB
	args   []string
	out    []byte
	stderr []byte
	code   int
}

func (h *home) command(args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Env, cmd.Dir = h.env, h.dir
	return cmd
}

// run runs the program to its end.
func (h *home) run(args ...string) result { return h.feed("", args...) }

// feed runs the program with something on its standard input.
func (h *home) feed(stdin string, args ...string) result {
	h.t.Helper()
	cmd := h.command(args...)
	var out, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
	return result{h.t, args, out.Bytes(), stderr.Bytes(), cmd.ProcessState.ExitCode()}
}

// exits checks the exit code and says all about it when it is another.
func (r result) exits(code int) result {
	r.t.Helper()
	if r.code != code {
		r.t.Fatalf("skrzynka %s: exit code %d, want %d\n%s%s", strings.Join(r.args, " "), r.code, code, r.out, r.stderr)
	}
	return r
}

// at returns one value of the JSON on standard output; keys, indexes and "len"
// are separated by dots.
func (r result) at(path string) any { r.t.Helper(); return dig(r.t, r.out, path) }

func (r result) text(path string) string { r.t.Helper(); return fmt.Sprint(r.at(path)) }

// is compares one value of the JSON on standard output.
func (r result) is(path, want string) result {
	r.t.Helper()
	if got := r.text(path); got != want {
		r.t.Fatalf("skrzynka %s: %s is %q, want %q\n%s", strings.Join(r.args, " "), path, got, want, r.out)
	}
	return r
}

// fails checks the code of the error object on standard error.
func (r result) fails(code string) result {
	r.t.Helper()
	if got := fmt.Sprint(dig(r.t, r.stderr, "error.code")); got != code {
		r.t.Fatalf("skrzynka %s: the error is %s, want %s\n%s", strings.Join(r.args, " "), got, code, r.stderr)
	}
	return r
}

func dig(t testing.TB, text []byte, path string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("not one JSON value: %v\n%s", err, text)
	}
	for key := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			got, ok := at[key]
			if !ok {
				t.Fatalf("there is no %q of %q in %s", key, path, text)
			}
			v = got
		case []any:
			if key == "len" {
				v = len(at)
				continue
			}
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(at) {
				t.Fatalf("there is no element %q of %q in %s", key, path, text)
			}
			v = at[i]
		default:
			t.Fatalf("%v has no %q in %s", v, key, text)
		}
	}
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return v
}

// eventually waits until a condition that another process brings about is true.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	end := time.After(patience)
	for !done() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("after %v still not: %s", patience, what)
		}
	}
}
