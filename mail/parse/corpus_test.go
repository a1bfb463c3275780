package parse

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// corpusDir returns the folder of collected mails beside the repository, which
// is not part of it, or skips the test.
func corpusDir(t *testing.T) string {
	dir := os.Getenv("SKRZYNKA_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	if _, err := os.Stat(filepath.Join(dir, "index.tsv")); err != nil {
		t.Skip("no corpus of mails beside the repository; set SKRZYNKA_CORPUS to have one read")
	}
	return dir
}

type corpusRow struct{ path, facts, basis, format string }

func corpusRows(t *testing.T, dir string) []corpusRow {
	f, err := os.Open(filepath.Join(dir, "index.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, -1
	records, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []corpusRow
	for _, rec := range records[1:] {
		if len(rec) > 5 {
			rows = append(rows, corpusRow{rec[0], rec[2], rec[4], rec[5]})
		}
	}
	return rows
}

// fact returns the value of one expected fact, "name=value; …".
func fact(facts, name string) (string, bool) {
	for _, part := range strings.Split("; "+facts, "; ") {
		if v, ok := strings.CutPrefix(strings.TrimSpace(part), name+"="); ok {
			return v, true
		}
	}
	return "", false
}

type score struct {
	right, all int
	wrong      []string
}

func (s *score) count(ok bool, format string, args ...any) {
	s.all++
	if ok {
		s.right++
	} else {
		s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
	}
}

func TestCorpus(t *testing.T) {
	dir := corpusDir(t)
	scores := map[string]*score{"subject": {}, "from": {}, "attachments": {}, "message_id": {}, "text": {}}
	var slowest time.Duration
	var read int
	for _, row := range corpusRows(t, dir) {
		raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(row.path)))
		if err != nil {
			continue
		}
		read++
		start := time.Now()
		m := Message(raw)
		took := time.Since(start)
		slowest = max(slowest, took)
		if took > time.Second {
			t.Errorf("%s takes %v", row.path, took)
		}
		checkMessage(t, row.path, raw, m)
		if row.basis == "heuristic" || row.format != "eml" {
			continue
		}
		if want, ok := fact(row.facts, "subject"); ok {
			got := strings.Join(strings.Fields(m.Subject), " ")
			scores["subject"].count(got == strings.Join(strings.Fields(want), " "), "%s: subject %q, want %q", row.path, got, want)
		}
		if want, ok := fact(row.facts, "from"); ok {
			got := ""
			if len(m.From) > 0 {
				got = m.From[0].Addr
			}
			if i := strings.LastIndexByte(want, '<'); i >= 0 {
				want = strings.Trim(want[i:], "<>")
			}
			scores["from"].count(got == want, "%s: from %q, want %q", row.path, got, want)
		}
		if want, ok := fact(row.facts, "message_id"); ok {
			scores["message_id"].count(strings.Trim(m.MessageID, "<>") == strings.Trim(want, "<>"), "%s: id %q, want %q", row.path, m.MessageID, want)
		}
		if want, ok := fact(row.facts, "attachments"); ok {
			scores["attachments"].count(strconv.Itoa(len(m.Attachments)) == want, "%s: %d attachments, want %s", row.path, len(m.Attachments), want)
		}
		if local, ok := fact(row.facts, "expected_local"); ok && strings.HasSuffix(local, ".json") {
			compareText(scores["text"], filepath.Join(dir, filepath.FromSlash(local)), row.path, m)
		}
	}
	t.Logf("%d mails read, the slowest in %v", read, slowest)
	least := map[string]int{"subject": 95, "from": 100, "attachments": 89, "message_id": 100, "text": 88}
	for name, s := range scores {
		t.Logf("%-12s %d of %d", name, s.right, s.all)
		for _, w := range s.wrong {
			t.Log("   ", w)
		}
		if s.all > 0 && s.right*100 < least[name]*s.all {
			t.Errorf("%s: %d of %d facts are right, want %d %%", name, s.right, s.all, least[name])
		}
	}
}

// compareText compares the decoded text parts with those another parser's test
// data lists.
func compareText(s *score, file, name string, m *Msg) {
	b, err := os.ReadFile(file)
	if err != nil {
		return
	}
	var want struct {
		Parts []struct{ Body map[string]any }
	}
	if json.Unmarshal(b, &want) != nil {
		return
	}
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	got := map[string]bool{}
	for i := range m.Parts {
		if strings.HasPrefix(m.Parts[i].Type, "text/") {
			got[squeeze(m.PartText(i))] = true
		}
	}
	for _, p := range want.Parts {
		for kind, body := range p.Body {
			if text, ok := body.(string); ok && (kind == "Text" || kind == "Html") {
				s.count(got[squeeze(text)], "%s: no part with the text %.300q", name, squeeze(text))
			}
		}
	}
}

// checkMessage asserts what is true of every message.
func checkMessage(t *testing.T, name string, raw []byte, m *Msg) {
	t.Helper()
	for what, s := range map[string]string{"text": m.Text, "subject": m.Subject, "problems": strings.Join(m.Problems, "\n"), "type": m.ContentType, "id": m.MessageID} {
		if !utf8.ValidString(s) {
			t.Errorf("%s: the %s is not valid UTF-8: %.200q", name, what, s)
		}
	}
	for _, a := range m.From {
		if !utf8.ValidString(a.Name) || !utf8.ValidString(a.Addr) {
			t.Errorf("%s: an address is not valid UTF-8: %q", name, a)
		}
	}
	if len(m.Text) > MaxText || len(m.Parts) > MaxParts || len(m.Fields) > MaxFields || len(m.Links) > MaxLinks+1 {
		t.Errorf("%s: a limit is not kept", name)
	}
	if len(m.Parts) == 0 {
		t.Errorf("%s: a message without parts", name)
	}
	total := 0
	for i := range m.Parts {
		p := &m.Parts[i]
		c := m.Content(i)
		if len(c) != p.Size {
			t.Errorf("%s: part %s has %d bytes, its size says %d", name, p.Path, len(c), p.Size)
		}
		if !utf8.ValidString(p.Name) || !utf8.ValidString(p.Type) || !utf8.ValidString(p.ContentID) {
			t.Errorf("%s: part %s has a name or type that is not valid UTF-8", name, p.Path)
		}
		if p.Within < 0 {
			total += p.Size
		}
		if p.Within >= i {
			t.Errorf("%s: part %s is within a later one", name, p.Path)
		}
	}
	if total > len(raw) {
		t.Errorf("%s: the parts have %d bytes, the message %d", name, total, len(raw))
	}
	for _, l := range m.Links {
		if !strings.HasPrefix(l.URL, "http://") && !strings.HasPrefix(l.URL, "https://") && !strings.HasPrefix(l.URL, "mailto:") {
			t.Errorf("%s: the link %q can not be opened", name, l.URL)
		}
	}
}
