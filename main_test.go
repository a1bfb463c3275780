package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"skrzynka/config"
	"skrzynka/mail/loopback"
)

// The one direction of imports. Each room lists the rooms of this module it may
// import; a trailing /... stands for the room and what lies below it. What is not
// listed is forbidden, and the reason is the comment.
var mayImport = map[string][]string{
	// The vocabulary knows nobody.
	"mail": {},
	// The one cleaning point has to be usable from everywhere.
	"mail/safe": {},
	// Views are data: words of the vocabulary, cleaned.
	"mail/view": {"mail", "mail/safe"},
	// Pure rooms: no clock, file, socket or SQL below them.
	"mail/delivery": {"mail"},
	"mail/compose":  {"mail"},
	"mail/parse":    {"mail"},
	"mail/inbound":  {"mail", "mail/parse"},
	"mail/follow":   {"mail"},
	"mail/query":    {"mail"},
	// Guarded connections are shared by the two rooms that dial mail servers.
	"mail/guard":  {"mail"},
	"mail/submit": {"auth", "mail", "mail/guard", "mail/safe"},
	"mail/mirror": {"auth", "mail", "mail/guard", "mail/safe"},
	// A scripted SMTP peer for tests of submit and outbox.
	"mail/submit/smtptest": {"mail"},
	// Engine rooms declare the store methods they need; none imports store.
	"mail/outbox": {"mail", "mail/compose", "mail/delivery", "mail/safe", "mail/submit", "mail/view"},
	"mail/inbox":  {"mail", "mail/inbound", "mail/mirror", "mail/parse", "mail/query", "mail/safe", "mail/view"},
	"mail/engine": {"auth", "mail/..."},
	// The demo's servers.
	"mail/loopback":    {"mail", "testdata/..."},
	"testdata/mailbox": {},
	// The only room with SQL.
	"store": {"mail", "mail/query", "mail/safe", "mail/view"},
	// Secrets and SASL.
	"auth": {"mail", "mail/safe"},
	// The only room that reads the environment.
	"config": {"mail", "mail/safe"},
	// Front ends: never SQL, never a socket, never an engine package but through
	// their own interfaces.
	"ui":        {"mail", "mail/safe", "mail/view", "ui/..."},
	"ui/kit":    {"mail", "mail/safe", "mail/view", "ui/kit/..."},
	"ui/screen": {"mail", "mail/safe", "mail/view", "ui/kit/...", "ui/screen/..."},
	// Tests of the built binary from outside; it imports nothing but in its tests.
	"ui/e2e": {},
	// The demo puts servers and a configuration together; only main calls it.
	"ui/demo": {"config", "mail", "mail/loopback"},
	"ui/cli":  {"config", "auth", "mail", "mail/engine", "mail/safe", "mail/view"},
}

// Outside packages that only some rooms may import.
var onlyIn = map[string][]string{
	"database/sql":       {"store"},
	"modernc.org/sqlite": {"store"},
	"net/smtp":           {},
	// OAuth2 is spoken over HTTP by the room that keeps the tokens, and by nobody
	// else; an attachment's type is told by its first bytes.
	"net/http":            {"auth", "mail/compose"},
	"golang.org/x/oauth2": {"auth"},
	"github.com/emersion/go-imap/v2/imapclient":    {"mail/mirror"},
	"github.com/emersion/go-imap/v2/imapserver":    {"mail/loopback"},
	"github.com/emersion/go-smtp":                  {"mail/loopback"},
	"github.com/zalando/go-keyring":                {"auth"},
	"charm.land/bubbletea/v2":                      {"ui/..."},
	"charm.land/lipgloss/v2":                       {"ui/..."},
	"charm.land/bubbles/v2/textarea":               {"ui/..."},
	"github.com/spf13/cobra":                       {"ui/cli"},
	"github.com/BurntSushi/toml":                   {"config"},
	"github.com/emersion/go-imap/v2/imapmemserver": {},
}

// Pure rooms may not import what reads a clock, a file or a socket by itself.
var pureRooms = []string{"mail/delivery", "mail/compose", "mail/parse", "mail/inbound", "mail/view", "mail/safe", "mail/follow", "mail/query"}
var impure = []string{"os", "net", "database/sql", "os/exec", "log", "log/slog"}

type listed struct {
	ImportPath string
	Imports    []string
}

func listPackages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...", "./testdata/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for dec.More() {
		var p listed
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func TestImportsGoOneWay(t *testing.T) {
	for _, p := range listPackages(t) {
		room := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, "skrzynka"), "/")
		if room == "" {
			continue // main is the only place that knows them all
		}
		allowed, ok := roomRule(room)
		if !ok {
			t.Errorf("%s: a room without a rule: say in mayImport what it may import, and why", room)
			continue
		}
		for _, imp := range p.Imports {
			if rest, ok := strings.CutPrefix(imp, "skrzynka/"); ok && !matches(allowed, rest) {
				t.Errorf("%s imports %s, against the direction of imports", room, rest)
			}
			if rooms, ok := onlyIn[imp]; ok && !matches(rooms, room) {
				t.Errorf("%s imports %s, which only %v may", room, imp, rooms)
			}
			if matches(pureRooms, room) && matches(impure, imp) {
				t.Errorf("%s is pure and imports %s", room, imp)
			}
		}
	}
}

// roomRule finds the rule of a room, or of the nearest room above it.
func roomRule(room string) ([]string, bool) {
	for r := room; ; {
		if allowed, ok := mayImport[r]; ok {
			return allowed, true
		}
		i := strings.LastIndexByte(r, '/')
		if i < 0 {
			return nil, false
		}
		r = r[:i]
	}
}

func matches(rules []string, room string) bool {
	for _, r := range rules {
		if r == room {
			return true
		}
		if below, ok := strings.CutSuffix(r, "/..."); ok && (room == below || strings.HasPrefix(room, below+"/")) {
			return true
		}
	}
	return false
}

// TestMain lets the test binary be the program itself in the scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"skrzynka": main})
}

// TestScripts runs the command line as a script would, against embedded
// servers of each script's own: testdata/script.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			servers, err := loopback.Start(loopback.Options{SlowReply: time.Millisecond, BounceAfter: time.Millisecond,
				AutoReplyAfter: time.Millisecond, HumanAfter: time.Millisecond})
			if err != nil {
				return err
			}
			env.Defer(servers.Close)
			env.Values["servers"] = servers
			ca := filepath.Join(env.WorkDir, "ca.pem")
			if err := servers.WriteCA(ca); err != nil {
				return err
			}
			acct := servers.Account()
			acct.PasswordCommand = []string{"printf", "%s", servers.Password}
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("IMAP", servers.IMAPAddr)
			env.Setenv("SMTP", servers.SMTPAddr)
			return config.WriteNew(filepath.Join(env.WorkDir, "config", "skrzynka", "config.toml"), acct)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"message": scriptMessage, "json": scriptJSON, "accepted": scriptAccepted, "stop": scriptStop,
			"start": scriptStart, "received": scriptReceived, "same": scriptSame,
		},
	})
}

// message SENDER VAR sets VAR to the id of the stored message from SENDER@.
func scriptMessage(ts *testscript.TestScript, _ bool, args []string) {
	var rows []struct {
		ID   int64  `json:"id"`
		From string `json:"from_address"`
	}
	ts.Check(ts.Exec("skrzynka", "list", "--folder", "INBOX", "--limit", "500", "--json"))
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &rows))
	for _, r := range rows {
		if strings.HasPrefix(r.From, args[0]+"@") {
			ts.Setenv(args[1], strconv.FormatInt(r.ID, 10))
			return
		}
	}
	ts.Fatalf("no message from %s@ among %d", args[0], len(rows))
}

// json FILE PATH VALUE compares one value of a JSON file, PATH being keys and
// indexes separated by dots; "json FILE PATH > VAR" keeps it in a variable.
func scriptJSON(ts *testscript.TestScript, neg bool, args []string) {
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &v))
	for key := range strings.SplitSeq(args[1], ".") {
		switch at := v.(type) {
		case map[string]any:
			got, ok := at[key]
			if !ok {
				ts.Fatalf("there is no %q in %v", key, args[1])
			}
			v = got
		case []any:
			if key == "len" {
				v = float64(len(at))
				continue
			}
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(at) {
				ts.Fatalf("there is no element %q of %d in %v", key, len(at), args[1])
			}
			v = at[i]
		default:
			ts.Fatalf("%v is not a container at %q", v, key)
		}
	}
	got := fmt.Sprint(v)
	if args[2] == ">" {
		ts.Setenv(args[3], got)
		return
	}
	if (got == args[2]) == neg {
		ts.Fatalf("%s is %q, compared with %q", args[1], got, args[2])
	}
}

// accepted N MESSAGE-ID checks how often the server took a message.
func scriptAccepted(ts *testscript.TestScript, _ bool, args []string) {
	servers := ts.Value("servers").(*loopback.Servers)
	if got := len(servers.AcceptedByID(args[1])); strconv.Itoa(got) != args[0] {
		ts.Fatalf("the server took %s %d times, not %s", args[1], got, args[0])
	}
}

// stop smtp|imap takes a server away.
func scriptStop(ts *testscript.TestScript, _ bool, args []string) {
	servers := ts.Value("servers").(*loopback.Servers)
	if args[0] == "smtp" {
		servers.StopSMTP()
	} else {
		servers.StopIMAP()
	}
}

// TestReadmeShowsTheFrames holds the pictures in README.md to the golden frames
// they were taken from.
func TestReadmeShowsTheFrames(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(readme), "<!-- frame: ")
	if len(parts) < 3 {
		t.Fatal("README.md shows no frames")
	}
	for _, part := range parts[1:] {
		name, rest, _ := strings.Cut(part, " -->\n```\n")
		picture, _, ok := strings.Cut(rest, "```")
		if !ok {
			t.Errorf("the picture %s has no end", name)
			continue
		}
		frame, err := os.ReadFile(filepath.Join("testdata", "frames", name+".txt"))
		if err != nil {
			t.Error(err)
			continue
		}
		if want := pictureOf(string(frame)); picture != want {
			t.Errorf("README.md shows another %s than the golden frame; it should be\n%s", name, want)
		}
	}
}

// pictureOf takes the frame's edge marks and trailing blanks off.
func pictureOf(frame string) string {
	var b strings.Builder
	for line := range strings.Lines(frame) {
		b.WriteString(strings.TrimRight(strings.TrimSuffix(strings.TrimRight(line, "\n"), "|"), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// A problem of [keys] names the table once, and is one sentence.
func TestAConflictOfKeysIsOneSentence(t *testing.T) {
	p := validateKeys(map[string]string{"list.mark": "e"})
	if len(p) != 1 || p[0].Path != "" || strings.HasSuffix(p[0].Problem, ".") || !strings.Contains(p[0].Problem, `"e"`) {
		t.Errorf("problems %+v", p)
	}
}

// start imap opens the IMAP ports again.
func scriptStart(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Value("servers").(*loopback.Servers).StartIMAP())
}

// received MESSAGE-ID PATTERN looks into the bytes that the server took.
func scriptReceived(ts *testscript.TestScript, neg bool, args []string) {
	found := false
	for _, a := range ts.Value("servers").(*loopback.Servers).AcceptedByID(args[0]) {
		found = found || regexp.MustCompile("(?i)"+args[1]).Match(a.Raw)
	}
	if found == neg {
		ts.Fatalf("%q in what was received: %v", args[1], found)
	}
}

// same FILE FOLDER SUBJECT compares a file with the message on the server, byte
// by byte.
func scriptSame(ts *testscript.TestScript, _ bool, args []string) {
	for _, m := range ts.Value("servers").(*loopback.Servers).Folder(args[1]) {
		if strings.Contains(string(m.Raw), "Subject: "+args[2]) {
			if got := ts.ReadFile(args[0]); got != string(m.Raw) {
				ts.Fatalf("not the same bytes:\n%q\n%q", got, m.Raw)
			}
			return
		}
	}
	ts.Fatalf("there is no %q in %s", args[2], args[1])
}
