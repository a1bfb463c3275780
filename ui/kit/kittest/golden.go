package kittest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden frames anew")

// Golden compares a frame with testdata/frames/<name>.txt at the repository's
// root. With -update it writes the file instead.
func Golden(t testing.TB, name, frame string) {
	t.Helper()
	path := filepath.Join(root(t), "testdata", "frames", name+".txt")
	// Trailing spaces do not survive every editor: a bar marks each line's end.
	got := strings.ReplaceAll(frame, "\n", "|\n") + "|\n"
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("no golden frame: run the test with -update (%v)", err)
	}
	if string(want) != got {
		t.Errorf("frame %s differs; run with -update after looking at it\n--- want\n%s\n--- got\n%s", name, want, got)
	}
}

func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, serr := os.Stat(filepath.Join(dir, "go.mod")); serr == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	t.Fatal("the repository's root was not found")
	return ""
}
