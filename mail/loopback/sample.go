package loopback

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emersion/go-imap/v2"
	"golang.org/x/text/encoding/htmlindex"

	"skrzynka/testdata/mailbox"
)

// sampleFolders are the folders of the mailbox: where the files of each are,
// its name and its SPECIAL-USE attribute. A folder without files is a level of
// the hierarchy that cannot be opened.
var sampleFolders = []struct {
	dir, name string
	use       imap.MailboxAttr
}{
	{"inbox", "INBOX", ""},
	{"archive", "Archive", imap.MailboxAttrArchive},
	{"drafts", "Drafts", imap.MailboxAttrDrafts},
	{"junk", "Junk", imap.MailboxAttrJunk},
	{"", "Projects", ""},
	{"lighthouse", "Projects/Lighthouse", ""},
	{"sent", "Sent", imap.MailboxAttrSent},
	{"trash", "Trash", imap.MailboxAttrTrash},
	{"urlaub", "Urlaub & Pläne", ""},
}

// A SampleMessage is one message of the sample mailbox, ready to be served.
type SampleMessage struct {
	File   string // in testdata/mailbox
	Folder string
	Flags  []string
	Date   time.Time // of arrival
	Raw    []byte    // CRLF
}

// SampleMailbox returns the sample messages as they look at the time now,
// folder by folder, oldest first. The files' own format is described in
// skrzynka/testdata/mailbox.
func SampleMailbox(now time.Time) ([]SampleMessage, error) {
	var all []SampleMessage
	for _, f := range sampleFolders {
		if f.dir == "" {
			continue
		}
		names, err := fs.Glob(mailbox.Files, f.dir+"/*.eml")
		if err != nil {
			return nil, err
		}
		var here []SampleMessage
		for _, name := range names {
			file, err := mailbox.Files.ReadFile(name)
			if err != nil {
				return nil, err
			}
			m, err := expand(file, now)
			if err != nil {
				return nil, fmt.Errorf("sample message %s: %w", name, err)
			}
			m.File, m.Folder = path.Clean(name), f.name
			here = append(here, m)
		}
		slices.SortStableFunc(here, func(a, b SampleMessage) int { return a.Date.Compare(b.Date) })
		all = append(all, here...)
	}
	return all, nil
}

// newSampleStore makes the folders and fills them.
func newSampleStore(o Options) (*store, error) {
	st := newStore(o.UIDValidity)
	for _, f := range sampleFolders {
		st.create(f.name, f.use).noSelect = f.dir == ""
	}
	if o.Empty {
		return st, nil
	}
	all, err := SampleMailbox(o.Now())
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		flags := make([]imap.Flag, 0, len(m.Flags))
		for _, f := range m.Flags {
			flags = append(flags, imap.Flag(f))
		}
		st.folders[m.Folder].add(m.Raw, flags, m.Date)
	}
	return st, nil
}

// expand turns a file into a message: it takes the lines before the header
// that begin with #, fills in the placeholders, converts the text to the
// charset asked for, and makes the line ends CRLF.
func expand(file []byte, now time.Time) (SampleMessage, error) {
	var m SampleMessage
	charset := ""
	file = bytes.ReplaceAll(file, []byte("\r\n"), []byte("\n"))
	for bytes.HasPrefix(file, []byte("#")) {
		line, rest, _ := bytes.Cut(file, []byte("\n"))
		key, value, _ := strings.Cut(strings.TrimSpace(string(line[1:])), " ")
		switch key {
		case "flags":
			for _, f := range strings.Fields(value) {
				m.Flags = append(m.Flags, `\`+f)
			}
		case "arrived":
			d, err := parseAge(value)
			if err != nil {
				return m, err
			}
			m.Date = now.Add(d)
		case "charset":
			charset = value
		default:
			return m, fmt.Errorf("unknown directive %q", key)
		}
		file = rest
	}
	if charset != "" {
		enc, err := htmlindex.Get(charset)
		if err != nil {
			return m, fmt.Errorf("charset %q: %w", charset, err)
		}
		if file, err = enc.NewEncoder().Bytes(file); err != nil {
			return m, fmt.Errorf("in charset %q: %w", charset, err)
		}
	}
	raw, first, err := fill(file, now)
	if err != nil {
		return m, err
	}
	if m.Date.IsZero() {
		m.Date = first
	}
	if m.Date.IsZero() {
		return m, fmt.Errorf("no date and no arrival")
	}
	m.Raw = crlf(raw)
	return m, nil
}

var placeholder = regexp.MustCompile(`\{\{([^{}]*)\}\}`)

// fill replaces the placeholders; first is the first time among them.
func fill(b []byte, now time.Time) (out []byte, first time.Time, err error) {
	out = placeholder.ReplaceAllFunc(b, func(found []byte) []byte {
		what, layout, _ := strings.Cut(string(found[2:len(found)-2]), "|")
		if hex, ok := strings.CutPrefix(what, "x"); ok {
			n, hexErr := strconv.ParseUint(hex, 16, 8)
			err = cmp.Or(err, hexErr)
			return []byte{byte(n)}
		}
		if lines, ok := strings.CutPrefix(what, "log "); ok {
			n, numErr := strconv.Atoi(lines)
			err = cmp.Or(err, numErr)
			return logLines(n, now)
		}
		age, ageErr := parseAge(what)
		err = cmp.Or(err, ageErr)
		t := now.Add(age)
		if first.IsZero() {
			first = t
		}
		return []byte(t.Format(cmp.Or(layout, time.RFC1123Z)))
	})
	return out, first, err
}

// parseAge reads a duration with a sign and, before what time.ParseDuration
// takes, days: -3d4h, +12h, -5m.
func parseAge(s string) (time.Duration, error) {
	if s == "" || s[0] != '-' && s[0] != '+' {
		return 0, fmt.Errorf("placeholder %q: want a sign and a duration", s)
	}
	days, rest, found := strings.Cut(s[1:], "d")
	if !found {
		return time.ParseDuration(s)
	}
	n, err := strconv.Atoi(days)
	if err != nil {
		return 0, fmt.Errorf("placeholder %q: %w", s, err)
	}
	d := time.Duration(n) * 24 * time.Hour
	if rest != "" {
		part, err := time.ParseDuration(rest)
		if err != nil {
			return 0, fmt.Errorf("placeholder %q: %w", s, err)
		}
		d += part
	}
	if s[0] == '-' {
		d = -d
	}
	return d, nil
}

// logLines writes n lines of a lamp controller's log, for a message that is
// too long to be kept as a file.
func logLines(n int, now time.Time) []byte {
	events := []string{"lamp on, 412 W", "rotation 9.8 s, nominal", "lens heater idle", "barometer 1013 hPa, falling slowly",
		"visibility 11 km", "fog signal off", "battery 27.4 V, charging", "link to harbour office ok, 38 ms"}
	var b bytes.Buffer
	t := now.Add(-time.Duration(n) * 20 * time.Second)
	for i := range n {
		t = t.Add(20 * time.Second)
		fmt.Fprintf(&b, "%s  unit-%d  seq=%06d  %s\n", t.Format("2006-01-02 15:04:05"), i%3+1, i, events[(i*7+i/13)%len(events)])
	}
	return b.Bytes()
}
