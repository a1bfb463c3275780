package config

import (
	"bufio"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Env is everything the program takes from its environment.
type Env struct {
	Home        string
	ConfigHome  string // XDG_CONFIG_HOME, "" for its default
	StateHome   string // XDG_STATE_HOME
	RuntimeDir  string // XDG_RUNTIME_DIR
	DownloadDir string // XDG_DOWNLOAD_DIR, from the environment or user-dirs.dirs

	Visual, Editor  string // VISUAL, EDITOR
	Browser         string // BROWSER
	Term, ColorTerm string // TERM, COLORTERM
	NoColor         bool   // NO_COLOR is set and not empty
	UTF8            bool   // the locale's character set is UTF-8
	Locale          string // LC_ALL, LC_CTYPE or LANG, the first that is set
	DBus            string // DBUS_SESSION_BUS_ADDRESS
	Display         bool   // DISPLAY or WAYLAND_DISPLAY is set, or the system has a desktop always
	SSH             bool   // the session came in over SSH
	Tmux            bool   // inside tmux or screen
}

// Paths are the program's folders and files.
type Paths struct {
	ConfigFile  string
	StateDir    string // database, locks, logs
	DownloadDir string // where attachments are saved
	RuntimeDir  string // sockets and other things that need not survive; StateDir where there is none
}

// Environment reads the process' environment.
func Environment() Env {
	vars := map[string]string{}
	for _, kv := range os.Environ() {
		if k, v, ok := strings.Cut(kv, "="); ok {
			vars[k] = v
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	e := envFrom(vars, home, runtime.GOOS)
	if e.DownloadDir == "" {
		e.DownloadDir = userDirs(e)
	}
	return e
}

// envFrom picks what matters out of vars. A relative path in an XDG variable
// is ignored, as the base directory specification asks.
func envFrom(vars map[string]string, home, goos string) Env {
	abs := func(name string) string {
		if p := vars[name]; filepath.IsAbs(p) {
			return filepath.Clean(p)
		}
		return ""
	}
	e := Env{
		Home:       home,
		ConfigHome: abs("XDG_CONFIG_HOME"), StateHome: abs("XDG_STATE_HOME"),
		RuntimeDir: abs("XDG_RUNTIME_DIR"), DownloadDir: abs("XDG_DOWNLOAD_DIR"),
		Visual: vars["VISUAL"], Editor: vars["EDITOR"], Browser: vars["BROWSER"],
		Term: vars["TERM"], ColorTerm: vars["COLORTERM"], NoColor: vars["NO_COLOR"] != "",
		DBus:    vars["DBUS_SESSION_BUS_ADDRESS"],
		Display: vars["DISPLAY"] != "" || vars["WAYLAND_DISPLAY"] != "" || goos == "darwin" || goos == "windows",
		SSH:     vars["SSH_CONNECTION"] != "" || vars["SSH_TTY"] != "",
		Tmux:    vars["TMUX"] != "" || vars["STY"] != "",
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if vars[name] != "" {
			e.Locale = vars[name]
			break
		}
	}
	set := strings.ToLower(e.Locale)
	e.UTF8 = strings.Contains(set, "utf-8") || strings.Contains(set, "utf8") || goos == "windows" ||
		goos == "darwin" && e.Locale == ""
	if goos == "windows" {
		if e.ConfigHome == "" {
			e.ConfigHome = abs("APPDATA")
		}
		if e.StateHome == "" {
			e.StateHome = abs("LOCALAPPDATA")
		}
	}
	return e
}

// Paths says where the program's files are; defaults follow the XDG base
// directory specification.
func (e Env) Paths() Paths {
	p := Paths{
		ConfigFile:  filepath.Join(or(e.ConfigHome, filepath.Join(e.Home, ".config")), "skrzynka", "config.toml"),
		StateDir:    filepath.Join(or(e.StateHome, filepath.Join(e.Home, ".local", "state")), "skrzynka"),
		DownloadDir: or(e.DownloadDir, filepath.Join(e.Home, "Downloads")),
	}
	p.RuntimeDir = p.StateDir
	if e.RuntimeDir != "" {
		p.RuntimeDir = filepath.Join(e.RuntimeDir, "skrzynka")
	}
	return p
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// EditorCommand returns the external editor: the configured one, else $VISUAL,
// else $EDITOR, else "".
func (e Env) EditorCommand(configured string) string {
	return or(configured, or(e.Visual, e.Editor))
}

// userDirs reads the download folder a desktop has written to user-dirs.dirs.
func userDirs(e Env) string {
	f, err := os.Open(filepath.Join(or(e.ConfigHome, filepath.Join(e.Home, ".config")), "user-dirs.dirs"))
	if err != nil {
		return ""
	}
	defer f.Close()
	return downloadLine(bufio.NewScanner(f), e.Home)
}

func downloadLine(lines *bufio.Scanner, home string) string {
	for lines.Scan() {
		v, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), "XDG_DOWNLOAD_DIR=")
		if !ok {
			continue
		}
		v = strings.Trim(v, `"`)
		if rest, ok := strings.CutPrefix(v, "$HOME"); ok {
			v = home + rest
		}
		if filepath.IsAbs(v) {
			return filepath.Clean(v)
		}
	}
	return ""
}

// Lookup answers for the few variables that other packages are handed a way to
// ask for; it is "" for every other name.
func (e Env) Lookup(name string) string {
	if name == "DBUS_SESSION_BUS_ADDRESS" {
		return e.DBus
	}
	return ""
}
