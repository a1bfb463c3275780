package config

import (
	"bufio"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestPaths(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the rows have Unix paths")
	}
	rows := []struct {
		name                             string
		vars                             map[string]string
		config, state, runtime, download string
	}{
		{"nothing set", nil, "/h/.config/skrzynka/config.toml", "/h/.local/state/skrzynka", "/h/.local/state/skrzynka", "/h/Downloads"},
		{"all set", map[string]string{"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s/", "XDG_RUNTIME_DIR": "/run/user/1", "XDG_DOWNLOAD_DIR": "/d"},
			"/c/skrzynka/config.toml", "/s/skrzynka", "/run/user/1/skrzynka", "/d"},
		{"relative paths are ignored", map[string]string{"XDG_CONFIG_HOME": "c", "XDG_STATE_HOME": "./s", "XDG_RUNTIME_DIR": "r"},
			"/h/.config/skrzynka/config.toml", "/h/.local/state/skrzynka", "/h/.local/state/skrzynka", "/h/Downloads"},
	}
	for _, r := range rows {
		p := envFrom(r.vars, "/h", "linux").Paths()
		if p.ConfigFile != r.config || p.StateDir != r.state || p.RuntimeDir != r.runtime || p.DownloadDir != r.download {
			t.Errorf("%s: %+v", r.name, p)
		}
	}
}

func TestUTF8(t *testing.T) {
	rows := []struct {
		name, goos string
		vars       map[string]string
		want       bool
	}{
		{"LANG", "linux", map[string]string{"LANG": "pl_PL.UTF-8"}, true},
		{"spelled utf8", "linux", map[string]string{"LC_CTYPE": "C.utf8"}, true},
		{"LC_ALL wins", "linux", map[string]string{"LC_ALL": "C", "LANG": "pl_PL.UTF-8"}, false},
		{"empty LC_ALL does not", "linux", map[string]string{"LC_ALL": "", "LANG": "pl_PL.UTF-8"}, true},
		{"Latin", "linux", map[string]string{"LANG": "pl_PL.ISO-8859-2"}, false},
		{"nothing", "linux", nil, false},
		{"nothing on a Mac", "darwin", nil, true},
		{"Windows", "windows", nil, true},
	}
	for _, r := range rows {
		if got := envFrom(r.vars, "/h", r.goos).UTF8; got != r.want {
			t.Errorf("%s: %v", r.name, got)
		}
	}
}

func TestEditorCommand(t *testing.T) {
	e := envFrom(map[string]string{"VISUAL": "v", "EDITOR": "e"}, "/h", "linux")
	if e.EditorCommand("mine") != "mine" || e.EditorCommand("") != "v" {
		t.Error("the configured editor comes first, then VISUAL")
	}
	if got := envFrom(map[string]string{"EDITOR": "e"}, "/h", "linux").EditorCommand(""); got != "e" {
		t.Errorf("EDITOR: %q", got)
	}
	if !envFrom(map[string]string{"NO_COLOR": "1"}, "", "linux").NoColor || envFrom(map[string]string{"NO_COLOR": ""}, "", "linux").NoColor {
		t.Error("NO_COLOR counts when it is not empty")
	}
}

func TestDownloadLine(t *testing.T) {
	rows := []struct{ name, text, want string }{
		{"desktop's own", "# x\nXDG_DESKTOP_DIR=\"$HOME/Pulpit\"\nXDG_DOWNLOAD_DIR=\"$HOME/Pobrane\"\n", "/h/Pobrane"},
		{"absolute", "XDG_DOWNLOAD_DIR=\"/data/in\"", "/data/in"},
		{"relative is ignored", "XDG_DOWNLOAD_DIR=\"in\"", ""},
		{"absent", "", ""},
	}
	for _, r := range rows {
		got := downloadLine(bufio.NewScanner(strings.NewReader(r.text)), "/h")
		if filepath.ToSlash(got) != r.want {
			t.Errorf("%s: %q", r.name, got)
		}
	}
}
