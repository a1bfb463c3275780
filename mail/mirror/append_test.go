package mirror

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
)

// The rows of the table of APPEND outcomes: what the server does at each step,
// and what may honestly be said afterwards.
func TestAppendOutcomes(t *testing.T) {
	const size = 300_000
	go_ := func(p *peer) { p.say("+ go ahead") }
	read := func(p *peer, n int64) { _, _ = io.CopyN(io.Discard, p.r, n) }
	quit := func(p *peer) bool { _ = p.Close(); return true }
	stay := func(p *peer) bool { p.hold(); return true }

	for _, tc := range []struct {
		name    string
		status  func(p *peer, tag string) bool // nil: answered well
		append  func(p *peer, tag string) bool
		begun   error
		quick   bool
		large   bool          // more than the system's buffers take
		outcome AppendOutcome // "" for success
		code    string
		marked  bool
	}{
		{name: "snapshot: NO", status: func(p *peer, tag string) bool { p.say(tag + " NO [NONEXISTENT] no folder"); return true },
			outcome: AppendRefused, code: "NONEXISTENT"},
		{name: "snapshot: EOF", status: func(p *peer, _ string) bool { return quit(p) }, outcome: AppendNotBegun},
		{name: "snapshot: garbage", status: func(p *peer, _ string) bool { p.say("zzz"); return stay(p) }, outcome: AppendNotBegun},
		{name: "mark cannot be made durable", begun: errors.New("disk full"), outcome: AppendNotBegun, marked: true},
		{name: "waiting for +: NO TRYCREATE", append: func(p *peer, tag string) bool { p.say(tag + " NO [TRYCREATE] none"); return stay(p) },
			outcome: AppendRefused, code: "TRYCREATE", marked: true},
		{name: "waiting for +: NO OVERQUOTA", append: func(p *peer, tag string) bool { p.say(tag + " NO [OVERQUOTA] full"); return stay(p) },
			outcome: AppendRefused, code: "OVERQUOTA", marked: true},
		{name: "waiting for +: BAD", append: func(p *peer, tag string) bool { p.say(tag + " BAD what"); return stay(p) }, outcome: AppendRefused, marked: true},
		{name: "waiting for +: EOF", append: func(p *peer, _ string) bool { return quit(p) }, outcome: AppendNotBegun, marked: true},
		{name: "waiting for +: time-out", append: func(p *peer, _ string) bool { return stay(p) }, quick: true, outcome: AppendNotBegun, marked: true},
		{name: "waiting for +: garbage", append: func(p *peer, _ string) bool { p.say("??? ("); return stay(p) }, outcome: AppendNotBegun, marked: true},
		{name: "literal: time-out in the middle", append: func(p *peer, _ string) bool {
			go_(p)
			read(p, 1000)
			<-p.t.Context().Done() // reads no further
			return true
		}, quick: true, large: true, outcome: AppendNotBegun, marked: true},
		{name: "literal: early NO", append: func(p *peer, tag string) bool {
			go_(p)
			read(p, 1000)
			p.say(tag + " NO [OVERQUOTA] full")
			return stay(p)
		}, outcome: AppendRefused, code: "OVERQUOTA", marked: true},
		{name: "literal: OK before the final CRLF", append: func(p *peer, tag string) bool {
			go_(p)
			read(p, size)
			p.say(tag + " OK [APPENDUID 7 10] early")
			return stay(p)
		}, outcome: "", marked: true},
		{name: "last byte out: EOF", append: func(p *peer, _ string) bool { go_(p); read(p, size+2); return quit(p) }, outcome: AppendLost, marked: true},
		{name: "last byte out: time-out", append: func(p *peer, _ string) bool { go_(p); read(p, size+2); return stay(p) }, quick: true, outcome: AppendLost, marked: true},
		{name: "last byte out: garbage", append: func(p *peer, _ string) bool { go_(p); read(p, size+2); p.say("? ? ?"); return stay(p) }, outcome: AppendLost, marked: true},
		{name: "last byte out: BYE", append: func(p *peer, _ string) bool { go_(p); read(p, size+2); p.say("* BYE later"); return quit(p) }, outcome: AppendLost, marked: true},
		{name: "last byte out: oversize", append: func(p *peer, _ string) bool {
			go_(p)
			read(p, size+2)
			for err := error(nil); err == nil; {
				_, err = io.WriteString(p.Conn, strings.Repeat("* OK x\r\n", 1000))
			}
			return true
		}, outcome: AppendLost, marked: true},
		{name: "tagged NO", append: func(p *peer, tag string) bool {
			go_(p)
			read(p, size+2)
			p.say(tag + " NO [TOOBIG] no")
			return true
		}, outcome: AppendRefused, code: "TOOBIG", marked: true},
		{name: "tagged OK with APPENDUID", append: func(p *peer, tag string) bool {
			go_(p)
			read(p, size+2)
			p.say(tag + " OK [APPENDUID 7 10] stored")
			return true
		}, marked: true},
		{name: "tagged OK without", append: func(p *peer, tag string) bool { go_(p); read(p, size+2); p.say(tag + " OK stored"); return true }, marked: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv := startScript(t, mail.SecurityTLS, func(p *peer) {
				p.welcome(func(tag, command string) bool {
					switch {
					case strings.HasPrefix(command, "STATUS") && tc.status != nil:
						return tc.status(p, tag)
					case strings.HasPrefix(command, "APPEND"):
						p.note(command)
						return tc.append(p, tag)
					}
					return false
				})
			})
			s := dial(t, srv.opts)
			if tc.quick {
				s.w.limits.Progress = 150 * time.Millisecond
			}
			marked := false
			msg := []byte(strings.Repeat("0123456789abcdef\r\n", size/18+1)[:size])
			if tc.large {
				msg = make([]byte, 24<<20)
			}
			got, err := s.Append(t.Context(), "Sent", msg, []string{"\\Seen"}, time.Time{}, func(before Mailbox) error {
				marked = true
				if before.UIDNext != 10 || before.UIDValidity != 7 {
					t.Errorf("snapshot %+v", before)
				}
				if len(srv.heard()) > 0 {
					t.Error("APPEND was sent before the mark was durable")
				}
				return tc.begun
			})
			var e *AppendError
			errors.As(err, &e)
			switch {
			case tc.outcome == "" && (err != nil || got.Before.UIDNext != 10):
				t.Errorf("got %+v, %v", got, err)
			case tc.outcome != "" && (e == nil || e.Outcome != tc.outcome || e.Code != tc.code):
				t.Errorf("got %+v (%v), want %s %s", e, err, tc.outcome, tc.code)
			}
			if marked != tc.marked {
				t.Errorf("mark asked for: %v", marked)
			}
			if strings.HasSuffix(tc.name, "with APPENDUID") && (got.UID != 10 || got.UIDValidity != 7) {
				t.Errorf("UID %d of %d", got.UID, got.UIDValidity)
			}
			for _, line := range srv.heard() {
				if !strings.HasSuffix(line, fmt.Sprintf("{%d}", len(msg))) {
					t.Errorf("the literal does not wait: %q", line)
				}
			}
			if tc.begun != nil && !errors.Is(err, tc.begun) {
				t.Errorf("the caller's own error is hidden: %v", err)
			}
			if tc.begun != nil && len(srv.heard()) > 0 {
				t.Error("APPEND was sent although the mark failed")
			}
		})
	}
}

// A short message could go out with the command itself under LITERAL+; then a
// lost connection could never prove that nothing was stored.
func TestAppendWaitsForGoAhead(t *testing.T) {
	for _, size := range []int{1, 4096, 4097} {
		srv := startScript(t, mail.SecurityTLS, func(p *peer) {
			p.welcome(func(tag, command string) bool {
				if !strings.HasPrefix(command, "APPEND") {
					return false
				}
				if !strings.HasSuffix(command, "}") || strings.HasSuffix(command, "+}") {
					t.Errorf("size %d: %q", size, command)
				}
				p.say("+ go")
				_, _ = io.CopyN(io.Discard, p.r, int64(size)+2)
				p.say(tag + " OK done")
				return true
			})
		})
		s := dial(t, srv.opts)
		if _, err := s.Append(t.Context(), "Sent", make([]byte, size), nil, time.Time{}, func(Mailbox) error { return nil }); err != nil {
			t.Errorf("size %d: %v", size, err)
		}
	}
}

func TestAppendRefusedByUs(t *testing.T) {
	srv := startScript(t, mail.SecurityTLS, func(p *peer) { p.welcome(func(string, string) bool { return false }) })
	s := dial(t, srv.opts)
	s.caps.AppendLimit = 100
	for _, tc := range []struct {
		name, folder string
		size         int
		flags        []string
	}{
		{"over APPENDLIMIT", "Sent", 101, nil}, {"nothing", "Sent", 0, nil}, {"no folder", "", 5, nil}, {"bad flag", "Sent", 5, []string{"a\r\nb"}},
	} {
		_, err := s.Append(t.Context(), tc.folder, make([]byte, tc.size), tc.flags, time.Time{}, func(Mailbox) error { t.Error("marked"); return nil })
		var e *AppendError
		if !errors.As(err, &e) || e.Outcome != AppendNotBegun || s.Err() != nil {
			t.Errorf("%s: %v, session %v", tc.name, err, s.Err())
		}
	}
	if i := slices.IndexFunc(srv.commands(), func(c string) bool { return strings.HasPrefix(c, "APPEND") }); i >= 0 {
		t.Error("APPEND was sent")
	}
}
