package inbound

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/parse"
)

const fixtures = "../../testdata/inbound"

// fixture is a message with what is expected of it on top: a line
// "X-Expect: class=… [lang=…] [back=…] [hard=…] [named=1] [reason=…]", and for
// a subject prefix a line "X-Expect-Prefix: …".
type fixture struct {
	name, prefix string
	want         map[string]string
	raw          []byte
}

func readFixtures(t *testing.T) []fixture {
	paths, err := filepath.Glob(filepath.Join(fixtures, "*.eml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures in %s: %v", fixtures, err)
	}
	var out []fixture
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		f := fixture{name: strings.TrimSuffix(filepath.Base(p), ".eml"), want: map[string]string{}}
		for bytes.HasPrefix(raw, []byte("X-Expect")) {
			line, rest, _ := bytes.Cut(raw, []byte("\n"))
			raw = rest
			key, value, _ := strings.Cut(string(line), ": ")
			if key == "X-Expect-Prefix" {
				f.prefix = value
				continue
			}
			for w := range strings.FieldsSeq(value) {
				k, v, _ := strings.Cut(w, "=")
				f.want[k] = v
			}
		}
		if f.want["class"] == "" {
			t.Fatalf("%s expects nothing", p)
		}
		f.raw = raw
		out = append(out, f)
	}
	return out
}

// classifyFixture knows one message of ours, to ann@far.example, half an hour
// to an hour before the fixtures' date.
func classifyFixture(raw []byte) Result {
	m := parse.Message(raw)
	a := Attempt{ID: "A", MessageIDs: []string{ourID}, Recipients: []string{"ann@far.example"}, Subject: "Plans", Status: mail.StatusSent, SentAt: sentAt}
	in := Input{Msg: m, OwnAddresses: []string{"me@own.example"}, Arrived: sentAt.Add(30 * time.Minute), Correlated: []Attempt{a}}
	if len(m.From) == 1 && hasRecipient(a, m.From[0].Addr) {
		in.Recent = []Attempt{a}
	}
	return Classify(in)
}

func TestFixtures(t *testing.T) {
	for _, f := range readFixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			r := classifyFixture(f.raw)
			if string(r.Class) != f.want["class"] {
				t.Fatalf("%s, want %s: %v %+v", r.Class, f.want["class"], r.Reasons, r.Recipients)
			}
			if len(r.Reasons) == 0 || r.RuleSet != RuleSet {
				t.Errorf("no reason is kept, or no rule set: %+v", r)
			}
			if want := f.want["lang"]; want != "" && r.Language != want {
				t.Errorf("language %q, want %q", r.Language, want)
			}
			if want := f.want["back"]; want != "" && (r.ReturnDate == nil || r.ReturnDate.BackOn().Format(time.DateOnly) != want) {
				t.Errorf("return date %+v, want %s", r.ReturnDate, want)
			}
			if want := f.want["reason"]; want != "" && !hasRule(r, want) {
				t.Errorf("reasons %v, want %s", r.Reasons, want)
			}
			if f.want["named"] != "" && !contains(r.NamedIDs, ourID) {
				t.Errorf("our Message-ID is not found: %v", r.NamedIDs)
			}
			hard := ""
			for _, b := range r.Recipients {
				if b.Hard {
					hard = b.Address
				}
				if b.Why == "" || b.Action == "" {
					t.Errorf("a recipient without a reason: %+v", b)
				}
			}
			if hard != f.want["hard"] {
				t.Errorf("hard for %q, want %q: %+v", hard, f.want["hard"], r.Recipients)
			}
		})
	}
}

func hasRule(r Result, rule string) bool {
	for _, reason := range r.Reasons {
		if reason.Rule == rule {
			return true
		}
	}
	return false
}

// Each subject prefix has a fixture; it is read with its language, and alone
// it is no evidence.
func TestSubjectPrefixes(t *testing.T) {
	byPrefix := map[string]fixture{}
	for _, f := range readFixtures(t) {
		if f.prefix != "" {
			byPrefix[strings.SplitN(f.name, "-", 3)[1]+" "+f.prefix] = f
		}
	}
	for _, p := range subjectPrefixes {
		t.Run(p.lang+" "+p.text, func(t *testing.T) {
			f, ok := byPrefix[p.lang+" "+p.text]
			if !ok {
				t.Fatal("no fixture")
			}
			facts := newFacts(bare(f.raw))
			if got := facts.subjectPrefix(); got == nil || got.folded != p.folded {
				t.Errorf("the prefix is read as %+v", got)
			}
			if r := Classify(bare(f.raw)); r.Class != mail.ClassHumanMail {
				t.Errorf("alone it makes %s: %v", r.Class, r.Reasons)
			}
			if r := classifyFixture(f.raw); !hasRule(r, "auto-subject") {
				t.Errorf("the subject is no reason: %v", r.Reasons)
			} else if !sharesPrefix(r.Language, p.folded) {
				t.Errorf("language %q, want %q", r.Language, p.lang)
			}
		})
	}
}

// sharesPrefix reports whether a language has a prefix that folds to the same:
// Danish and Norwegian, Czech and Slovak do.
func sharesPrefix(lang, folded string) bool {
	for _, p := range subjectPrefixes {
		if p.lang == lang && p.folded == folded {
			return true
		}
	}
	return false
}

// Prefixes are anchored: within a subject they are words like others.
func TestPrefixesAreAnchored(t *testing.T) {
	for _, subject := range []string{"Sprzedam auto: Golf", "The automatic reply: how it works", "Auto insurance", "Autoreplying robots", "Urlopowy konkurs", "Abwesenheiten", "Absences", "Office: out of order", "Ooops"} {
		raw := []byte("From: a@far.example\nSubject: " + subject + "\n\nx\n")
		if p := newFacts(bare(raw)).subjectPrefix(); p != nil {
			t.Errorf("%q is read as %q", subject, p.text)
		}
	}
	for subject, want := range map[string]string{
		"Odp: Automatyczna odpowiedź: Plany":      "Automatyczna odpowiedź",
		"RE[2]: automatic reply: Plans":           "Automatic reply",
		"[Automatyczna odpowiedź] Plany":          "Automatyczna odpowiedź",
		"AW: Abwesenheitsnotiz: Pläne":            "Abwesenheitsnotiz",
		"自動応答：予定":                                 "自動応答",
		"Re: Fwd: Out of Office AutoReply: Plans": "Out of office",
	} {
		raw := []byte("From: a@far.example\nContent-Type: text/plain; charset=utf-8\nSubject: " + subject + "\n\nx\n")
		if p := newFacts(bare(raw)).subjectPrefix(); p == nil || p.text != want {
			t.Errorf("%q is read as %+v, want %q", subject, p, want)
		}
	}
}
