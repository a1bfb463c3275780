package inbound

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/parse"
)

// corpusDir finds the collection of real messages that is not part of the
// repository, or skips the test.
func corpusDir(t testing.TB) string {
	dir := os.Getenv("SKRZYNKA_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	if _, err := os.Stat(filepath.Join(dir, "index.tsv")); err != nil {
		t.Skip("no corpus of real messages: set SKRZYNKA_CORPUS to its folder")
	}
	return dir
}

type sample struct {
	path, kind, facts, basis string
	raw                      []byte
}

func corpus(t testing.TB) []sample {
	dir := corpusDir(t)
	file, err := os.Open(filepath.Join(dir, "index.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	r := csv.NewReader(file)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []sample
	for _, row := range rows[1:] {
		if len(row) < 6 || row[1] == "parse" {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(dir, row[0]))
		if err != nil {
			t.Fatal(err)
		}
		switch row[5] {
		case "body": // the text alone: given the header a person's answer has
			raw = append([]byte("From: Ada <ada@example.net>\nTo: me@example.org\nSubject: Re: Plans\nIn-Reply-To: <1@example.org>\nDate: Mon, 1 Jun 2026 10:00:00 +0200\nContent-Type: text/plain; charset=utf-8\n\n"), raw...)
		case "mbox": // the first message of several
			if i := bytes.Index(raw[min(5, len(raw)):], []byte("\nFrom ")); i > 0 {
				raw = raw[:i+6]
			}
		}
		out = append(out, sample{row[0], row[1], row[2], row[4], raw})
	}
	return out
}

// answered makes the input a message would have had if it answered or reported
// on a message of ours sent an hour before.
func answered(raw []byte) Input {
	m := parse.Message(raw)
	in := Input{Msg: m, OwnAddresses: []string{"nobody@own.example"}, Arrived: time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)}
	if m.DateOK {
		in.Arrived = m.Date
	}
	a := Attempt{ID: "1", Status: mail.StatusSent, SentAt: in.Arrived.Add(-time.Hour)}
	for _, id := range Mentions(m).MessageIDs {
		if id != m.MessageID {
			a.MessageIDs = append(a.MessageIDs, id)
		}
	}
	for _, f := range m.From {
		a.Recipients = append(a.Recipients, f.Addr)
	}
	in.Correlated, in.Recent = []Attempt{a}, []Attempt{a}
	return in
}

func bare(raw []byte) Input {
	m := parse.Message(raw)
	in := Input{Msg: m, OwnAddresses: []string{"nobody@own.example"}}
	if m.DateOK {
		in.Arrived = m.Date
	}
	return in
}

// tally counts what the corpus was taken for.
type tally struct {
	matrix                               map[string]map[mail.InboundClass]int
	hardAny, hardAnyRight                int
	hard, hardRight, bounce, bounceFound int
	human, humanAuto, auto, autoHuman    int
}

func count(t *testing.T, samples []sample, input func([]byte) Input) *tally {
	c := &tally{matrix: map[string]map[mail.InboundClass]int{}}
	for _, s := range samples {
		if s.basis != "source" && s.basis != "manual" || strings.Contains(s.facts, "messages=") { // a file's label, not a message's
			continue
		}
		r := Classify(input(s.raw))
		if c.matrix[s.kind] == nil {
			c.matrix[s.kind] = map[mail.InboundClass]int{}
		}
		c.matrix[s.kind][r.Class]++
		wrong := ""
		if r.Class == mail.ClassBounceHard {
			right := s.kind == "bounce-hard" || strings.Contains(s.facts, "hard=y") // one of several reports
			if !right {
				wrong = "not hard"
			}
			if c.hardAny++; right {
				c.hardAnyRight++
			}
			if !saysHardness(s) && strings.HasPrefix(s.kind, "bounce-") {
				wrong = "" // its kind was inferred from what the message says
			} else if c.hard++; right {
				c.hardRight++
			}
		}
		switch {
		case strings.HasPrefix(s.kind, "bounce-"):
			c.bounce++
			if r.Class.Bounce() {
				c.bounceFound++
			} else {
				wrong = "bounce missed"
			}
		case s.kind == "human":
			c.human++
			if !r.Class.Human() && r.Class != mail.ClassUnmapped {
				c.humanAuto++
				wrong = "human taken for automatic"
			}
		}
		if s.kind != "human" && s.kind != "list" {
			c.auto++
			if r.Class.Human() {
				c.autoHuman++
				wrong = "automatic taken for human"
			}
		}
		if wrong != "" && testing.Verbose() {
			t.Logf("%s: %s is %s: %v %+v [%s]", wrong, s.path, r.Class, r.Reasons, r.Recipients, s.facts)
		}
	}
	return c
}

// saysHardness reports whether a sample's source itself says hard or soft.
func saysHardness(s sample) bool {
	for _, fact := range []string{"hard=", "class=", "std_reason=", "status="} {
		if strings.HasPrefix(s.facts, fact) || strings.Contains(s.facts, "; "+fact) || fact != "status=" && strings.Contains(s.facts, fact) {
			return true
		}
	}
	return false
}

func (c *tally) String() string {
	var b strings.Builder
	var kinds []string
	for k := range c.matrix {
		kinds = append(kinds, k)
	}
	sort.Strings(kinds)
	fmt.Fprintf(&b, "\n%-13s", "labelled")
	for _, class := range mail.AllInboundClasses() {
		fmt.Fprintf(&b, "%12s", class)
	}
	for _, k := range kinds {
		fmt.Fprintf(&b, "\n%-13s", k)
		for _, class := range mail.AllInboundClasses() {
			fmt.Fprintf(&b, "%12d", c.matrix[k][class])
		}
	}
	fmt.Fprintf(&b, "\nhard precision %d/%d (with inferred labels %d/%d), bounce recall %d/%d, human taken for automatic %d/%d, automatic taken for human %d/%d\n",
		c.hardRight, c.hard, c.hardAnyRight, c.hardAny, c.bounceFound, c.bounce, c.humanAuto, c.human, c.autoHuman, c.auto)
	return b.String()
}

// The collection's labels that a source or a person vouches for are met within
// the product's goals, whether or not the message can be tied to one of ours.
func TestCorpusConfusion(t *testing.T) {
	samples := corpus(t)
	for _, mode := range []struct {
		name  string
		input func([]byte) Input
	}{{"answers a message of ours", answered}, {"nothing known around it", bare}} {
		t.Run(mode.name, func(t *testing.T) {
			c := count(t, samples, mode.input)
			t.Log(c)
			share := func(n, of int) float64 { return float64(n) / float64(max(of, 1)) }
			if p := share(c.hardRight, c.hard); p < 0.99 {
				t.Errorf("hard bounce precision is %.4f, want 0.99", p)
			}
			if p := share(c.bounceFound, c.bounce); p < 0.95 {
				t.Errorf("bounce recall is %.4f, want 0.95", p)
			}
			if p := share(c.humanAuto, c.human); p > 0.005 {
				t.Errorf("human taken for automatic: %.4f, want at most 0.005", p)
			}
			if p := share(c.autoHuman, c.auto); p > 0.03 {
				t.Errorf("automatic taken for human: %.4f, want at most 0.03", p)
			}
		})
	}
}
