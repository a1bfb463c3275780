package mirror

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/emersion/go-imap/v2"

	"skrzynka/mail"
)

// poisoned serves a folder of n messages, of which bad ones are described in a
// way the library cannot parse; those in hopeless break even a plain header.
func poisoned(t *testing.T, n int, bad, hopeless []uint32) *script {
	return startScript(t, mail.SecurityTLS, func(p *peer) {
		p.welcome(func(tag, command string) bool {
			fields := strings.Fields(command)
			if !strings.HasPrefix(command, "UID FETCH") {
				return false
			}
			minimal := !strings.Contains(command, "FLAGS")
			for uid := uint32(1); uid <= uint32(n); uid++ {
				if !parseSet(t, fields[2]).Has(uid) {
					continue
				}
				switch {
				case slices.Contains(hopeless, uid), slices.Contains(bad, uid) && !minimal:
					p.say(fmt.Sprintf("* %d FETCH (UID %d FLAGS (bad]flag) BODY[HEADER] {2}", uid, uid), "", ")")
				case minimal:
					p.say(fmt.Sprintf("* %d FETCH (UID %d BODY[HEADER]<0> {2}", uid, uid), "", ")")
				default:
					p.say(fmt.Sprintf("* %d FETCH (UID %d FLAGS () BODY[HEADER] {2}", uid, uid), "", ")")
				}
			}
			p.say(tag + " OK done")
			return true
		})
	})
}

func parseSet(t *testing.T, s string) Set {
	var out Set
	for part := range strings.SplitSeq(s, ",") {
		var r Range
		if n, _ := fmt.Sscanf(part, "%d:%d", &r.From, &r.To); n == 1 {
			r.To = r.From
		}
		if r.From == 0 {
			t.Errorf("set %q", s)
		}
		out = append(out, r)
	}
	return out
}

func TestFetchResilient(t *testing.T) {
	var all []uint32
	for u := range uint32(40) {
		all = append(all, u+1)
	}
	headers := func(ctx context.Context, s *Session, uids []uint32, fn func(Fetched) error) error {
		return s.FetchHeaders(ctx, "INBOX", 7, SetOf(uids), fn)
	}
	minimal := func(ctx context.Context, s *Session, uids []uint32, fn func(Fetched) error) error {
		return s.FetchMinimal(ctx, "INBOX", 7, uids[0], fn)
	}
	for _, tc := range []struct {
		name          string
		bad, hopeless []uint32
		last          FetchFunc
		poison        []uint32
		missing       int
	}{
		{"nothing wrong", nil, nil, minimal, nil, 0},
		{"one, saved by its plain header", []uint32{17}, nil, minimal, nil, 0},
		{"one hopeless", nil, []uint32{40}, minimal, []uint32{40}, 1},
		{"several, first and last", []uint32{1}, []uint32{2, 23, 40}, minimal, []uint32{2, 23, 40}, 3},
		{"no last resort", []uint32{5}, nil, nil, []uint32{5}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv := poisoned(t, 40, tc.bad, tc.hopeless)
			redials := 0
			again := func(ctx context.Context) (*Session, error) { redials++; return Dial(ctx, srv.opts) }
			got := map[uint32]int{}
			poison, s, err := FetchResilient(t.Context(), again, dial(t, srv.opts), all, headers, tc.last, func(f Fetched) error {
				got[f.UID]++
				return nil
			})
			if err != nil || s == nil {
				t.Fatalf("%v, session %v", err, s)
			}
			defer s.Close()
			slices.Sort(poison)
			if !slices.Equal(poison, tc.poison) || len(got) != 40-tc.missing {
				t.Errorf("poison %v, %d messages after %d dials", poison, len(got), redials)
			}
			for uid, n := range got {
				if n != 1 {
					t.Errorf("UID %d came %d times", uid, n)
				}
			}
			if redials > 7*(len(tc.bad)+len(tc.hopeless)) {
				t.Errorf("%d dials", redials)
			}
		})
	}
	t.Run("dial fails", func(t *testing.T) {
		srv := poisoned(t, 40, nil, []uint32{3})
		down := errors.New("down")
		_, s, err := FetchResilient(t.Context(), func(context.Context) (*Session, error) { return nil, down }, dial(t, srv.opts), all, headers, minimal, func(Fetched) error { return nil })
		if err != down || s != nil {
			t.Errorf("got %v, %v", err, s)
		}
	})
}

func TestSets(t *testing.T) {
	for _, tc := range []struct {
		name string
		uids []uint32
		want string
	}{
		{"runs are joined", []uint32{5, 1, 2, 3, 9, 2}, "1:3,5,9"},
		{"zero is left out", []uint32{0, 4}, "4"},
		{"highest", []uint32{4294967295, 4294967294}, "4294967294:4294967295"},
		{"none", nil, ""},
	} {
		var text []string
		for _, c := range SetOf(tc.uids).commands() {
			text = append(text, c.String())
		}
		if got := strings.Join(text, " "); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
	var sparse []uint32
	for u := uint32(1); u < 60_000; u += 2 {
		sparse = append(sparse, u)
	}
	var back []uint32
	for _, c := range SetOf(sparse).commands() {
		if n := len(c.String()); n > maxSetText {
			t.Errorf("a command of %d bytes", n)
		}
		uids, err := expand(c, maxExpand)
		if err != nil {
			t.Fatal(err)
		}
		back = append(back, uids...)
	}
	if !slices.Equal(back, sparse) {
		t.Error("the pieces are not the set")
	}
	if _, err := expand(imap.UIDSet{{Start: 1, Stop: 11}}, 10); !errors.Is(err, ErrDecode) {
		t.Errorf("more than asked for: %v", err)
	}
}

func TestBadFolderName(t *testing.T) {
	srv := startScript(t, mail.SecurityTLS, func(p *peer) {
		p.welcome(func(tag, command string) bool {
			if !strings.HasPrefix(command, "LIST") {
				return false
			}
			rows := map[string]string{
				`"INBOX"`:  `* LIST () "/" INBOX`,
				`"%"`:      "* LIST () \"/\" INBOX\r\n* LIST (\\Sent) \"/\" Sent\r\n* LIST (\\Noselect) \"/\" Old",
				`"Old/%"`:  `* LIST () "/" "Old/R&D"`, // not modified UTF-7
				`"Sent/%"`: `* LIST () "/" "Sent/2025"`,
				`"*"`:      "* LIST () \"/\" INBOX\r\n* LIST () \"/\" \"Old/R&D\"",
			}
			f := strings.Fields(command)
			if row := rows[f[2]]; row != "" {
				p.say(row)
			}
			p.say(tag + " OK done")
			return true
		})
	})
	again := func(ctx context.Context) (*Session, error) { return Dial(ctx, srv.opts) }
	got, broken, s, err := FoldersResilient(t.Context(), again, dial(t, srv.opts))
	if err != nil || s == nil || s.Err() != nil {
		t.Fatalf("%v, session %v", err, s)
	}
	defer s.Close()
	var names []string
	for _, f := range got {
		names = append(names, fmt.Sprint(f.Name, f.Kind, f.Selectable))
	}
	if want := []string{"INBOXinboxtrue", "Sentsenttrue", "Oldfalse", "Sent/2025true"}; !slices.Equal(names, want) || !slices.Equal(broken, []string{"Old"}) {
		t.Errorf("folders %q, broken %q", names, broken)
	}
}

func TestSpecialUse(t *testing.T) {
	for attr, want := range map[string]mail.FolderKind{
		"\\Sent": mail.FolderSent, "\\SENT": mail.FolderSent, "\\Drafts": mail.FolderDrafts, "\\Trash": mail.FolderTrash, "\\Junk": mail.FolderJunk,
		"\\Archive": mail.FolderArchive, "\\All": mail.FolderAll, "\\Flagged": mail.FolderNone, "\\HasNoChildren": mail.FolderNone,
	} {
		if got := specialUse(imap.MailboxAttr(attr)); got != want {
			t.Errorf("%s: %q, want %q", attr, got, want)
		}
	}
}
