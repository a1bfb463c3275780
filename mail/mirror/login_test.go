package mirror

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"skrzynka/auth"
	"skrzynka/mail"
)

// loginPeer greets with caps and takes a login in any of the ways, checking
// what was sent. after is added to the tagged OK.
func loginPeer(t *testing.T, caps string, want []string, after string) func(*peer) {
	return func(p *peer) {
		p.say("* OK [CAPABILITY " + caps + "] hi")
		tag, command := p.hear()
		for i, w := range want {
			if command != w {
				t.Errorf("step %d: the client sent %q, want %q", i, command, w)
			}
			if i == len(want)-1 {
				break
			}
			p.say("+ ")
			if strings.HasPrefix(command, "LOGIN") || strings.HasPrefix(w, "{") {
				continue
			}
			line, _ := p.r.ReadString('\n')
			command = strings.TrimRight(line, "\r\n")
		}
		p.say(tag + " OK " + after + "in")
		p.serve(func(string, string) bool { return false })
	}
}

func TestLogins(t *testing.T) {
	plain := base64.StdEncoding.EncodeToString([]byte("\x00" + testUser + "\x00" + testPassword))
	x := base64.StdEncoding.EncodeToString([]byte("user=u\x01auth=Bearer tok\x01\x01"))
	token := func(context.Context) (auth.Credentials, error) {
		return auth.Credentials{Username: "u", Secret: auth.NewSecret("tok"), Token: true}, nil
	}
	for _, tc := range []struct {
		name, caps string
		creds      func(context.Context) (auth.Credentials, error)
		want       []string
	}{
		{"PLAIN in one step", "IMAP4rev1 SASL-IR AUTH=PLAIN AUTH=LOGIN", nil, []string{"AUTHENTICATE PLAIN " + plain}},
		{"PLAIN in two steps", "IMAP4rev1 AUTH=PLAIN", nil, []string{"AUTHENTICATE PLAIN", plain}},
		{"XOAUTH2", "IMAP4rev1 SASL-IR AUTH=PLAIN AUTH=XOAUTH2", token, []string{"AUTHENTICATE XOAUTH2 " + x}},
		{"LOGIN where no mechanism is named", "IMAP4rev1", nil, []string{`LOGIN "` + testUser + `" "` + testPassword + `"`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv := startScript(t, mail.SecurityTLS, loginPeer(t, tc.caps, tc.want, ""))
			if tc.creds != nil {
				srv.opts.Creds = tc.creds
			}
			s := dial(t, srv.opts)
			// The tagged OK told no capabilities, so they were asked for.
			if !slices.Contains(srv.commands(), "CAPABILITY") || !s.Caps().UIDPlus {
				t.Errorf("capabilities after login: %v, commands %v", s.Caps().All, srv.commands())
			}
		})
	}
}

// Capabilities count as told last: with the login, not before it.
func TestCapabilitiesAfterLogin(t *testing.T) {
	srv := startScript(t, mail.SecurityTLS, func(p *peer) {
		p.say("* OK [CAPABILITY IMAP4rev1 SASL-IR AUTH=PLAIN IDLE MOVE] hi")
		tag, _ := p.hear()
		p.say(tag + " OK [CAPABILITY IMAP4rev1 IMAP4rev2 APPENDLIMIT=1000 QRESYNC] in")
		p.serve(func(string, string) bool { return false })
	})
	c := dial(t, srv.opts).Caps()
	if !c.Idle || !c.Move || !c.UIDPlus || !c.CondStore || c.AppendLimit != 1000 || c.LoginOff || slices.Contains(c.All, "SASL-IR") {
		t.Errorf("caps %+v", c)
	}
}

func TestIdleFaults(t *testing.T) {
	start := func(t *testing.T, idle func(p *peer, tag string)) (*Session, *script) {
		srv := startScript(t, mail.SecurityTLS, func(p *peer) {
			p.say("* OK [CAPABILITY IMAP4rev1 SASL-IR AUTH=PLAIN] hi")
			tag, _ := p.hear()
			p.say(tag + " OK [CAPABILITY IMAP4rev1 IDLE] in")
			p.serve(func(tag, command string) bool {
				if command != "IDLE" {
					return false
				}
				idle(p, tag)
				return true
			})
		})
		return dial(t, srv.opts), srv
	}
	none := func(Push) {}

	t.Run("renewed until the context ends", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var turns atomic.Int32
		s, _ := start(t, func(p *peer, tag string) {
			turns.Add(1)
			p.say("+ idling", "* 5 EXISTS", "* 2 EXPUNGE", "* 1 FETCH (FLAGS (\\Seen))")
			if done, _ := p.hear(); done != "DONE" {
				t.Errorf("the client sent %q", done)
			}
			p.say(tag + " OK done")
		})
		s.limits.IdleTurn = 30 * time.Millisecond
		kinds := map[PushKind]bool{}
		if err := s.Idle(ctx, "INBOX", func(p Push) {
			if kinds[p.Kind] = true; turns.Load() == 4 {
				cancel()
			}
		}); err != nil || s.Err() != nil {
			t.Errorf("idle ended with %v, session %v", err, s.Err())
		}
		if turns.Load() != 4 || !kinds[PushExists] || !kinds[PushExpunge] || !kinds[PushFlags] {
			t.Errorf("%d turns, pushes %v", turns.Load(), kinds)
		}
	})
	t.Run("refused", func(t *testing.T) {
		s, _ := start(t, func(p *peer, tag string) { p.say(tag + " NO not here") })
		if err := s.Idle(t.Context(), "INBOX", none); !Refused(err) || s.Err() != nil {
			t.Errorf("got %v, session %v", err, s.Err())
		}
	})
	t.Run("BYE while idling", func(t *testing.T) {
		s, _ := start(t, func(p *peer, _ string) { p.say("+ idling", "* BYE server is restarting"); _ = p.Close() })
		if err := s.Idle(t.Context(), "INBOX", none); !errors.Is(err, mail.ErrCode(mail.CodeIMAPUnavailable)) || !strings.Contains(err.Error(), "restarting") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("garbage while idling", func(t *testing.T) {
		s, _ := start(t, func(p *peer, _ string) { p.say("+ idling", "* VANISHED 1"); p.hold() })
		if err := s.Idle(t.Context(), "INBOX", none); !errors.Is(err, ErrDecode) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("DONE is not answered", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s, _ := start(t, func(p *peer, _ string) { p.say("+ idling"); cancel(); p.hold() })
		s.limits.Progress, s.w.limits.Progress = 100*time.Millisecond, 100*time.Millisecond
		err := s.Idle(ctx, "INBOX", none)
		if s.Err() == nil {
			t.Errorf("the session lives on after %v", err)
		}
	})
	t.Run("the machine slept", func(t *testing.T) {
		s, _ := start(t, func(p *peer, _ string) { p.say("+ idling"); p.hold() })
		s.tick = time.Millisecond
		s.watch = func() stopwatch {
			return func() (time.Duration, time.Duration) { return time.Hour, time.Second }
		}
		err := s.Idle(t.Context(), "INBOX", none)
		if !errors.Is(err, ErrResumed) || !mail.AsError(err).Retryable || s.Err() == nil {
			t.Errorf("got %v", err)
		}
	})
	t.Run("another call waits its turn", func(t *testing.T) {
		idling := make(chan struct{})
		s, _ := start(t, func(p *peer, tag string) {
			p.say("+ idling")
			close(idling)
			p.hear()
			p.say(tag + " OK done")
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Idle(ctx, "INBOX", none) }()
		<-idling
		short, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer stop()
		if err := s.Noop(short); !errors.Is(err, context.DeadlineExceeded) || s.Err() != nil {
			t.Errorf("a call that gave up waiting: %v, session %v", err, s.Err())
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := s.Noop(t.Context()); err != nil {
			t.Errorf("after idle: %v", err)
		}
	})
}

func TestPushesBetweenCommands(t *testing.T) {
	srv := startScript(t, mail.SecurityTLS, func(p *peer) {
		p.welcome(func(tag, command string) bool {
			if command == "NOOP" {
				p.say("* 4 EXISTS", tag+" OK done")
				return true
			}
			return false
		})
	})
	var got []Push
	srv.opts.OnPush = func(p Push) { got = append(got, p) }
	s := dial(t, srv.opts)
	if _, err := s.Select(t.Context(), "INBOX", true); err != nil {
		t.Fatal(err)
	}
	if err := s.Noop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(got, Push{"INBOX", PushExists, 4}) {
		t.Errorf("pushes %v", got)
	}
}

func TestLargeBodies(t *testing.T) {
	const big = 3 << 20
	for _, tc := range []struct {
		name      string
		size      int64                     // announced
		piece     func(offset int64) string // answered for BODY[]<offset>
		whole     bool                      // the answer leaves the offset out
		want      int
		truncated bool
		err       error
	}{
		{name: "announced too large", size: big, piece: func(o int64) string { return strings.Repeat("x", max(0, min(chunk, 1_500_000-int(o)))) }, want: 1_500_000},
		{name: "announced too small", size: chunk + 1, piece: func(o int64) string { return strings.Repeat("x", max(0, min(chunk, 2_500_000-int(o)))) }, want: 2_500_000},
		{name: "whole message instead of a piece", size: big, whole: true, piece: func(int64) string { return strings.Repeat("x", big) }, want: big},
		{name: "without an end", size: 1 << 40, piece: func(int64) string { return strings.Repeat("x", chunk) }, want: maxBody, truncated: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv := startScript(t, mail.SecurityTLS, func(p *peer) {
				p.welcome(func(tag, command string) bool {
					if !strings.HasPrefix(command, "UID FETCH") {
						return false
					}
					_, at, pieces := strings.Cut(command, "BODY.PEEK[]<")
					if !pieces {
						p.say("* 1 FETCH (UID 5 RFC822.SIZE "+itoa(tc.size)+")", tag+" OK done")
						return true
					}
					offset := atoi(at)
					text, mark := tc.piece(offset), "<"+itoa(offset)+">"
					if tc.whole {
						mark = ""
					}
					p.raw("* 1 FETCH (UID 5 RFC822.SIZE " + itoa(tc.size) + " BODY[]" + mark + " {" + itoa(int64(len(text))) + "}\r\n" + text + ")\r\n")
					p.say(tag + " OK done")
					return true
				})
			})
			got := fetched{}
			err := dial(t, srv.opts).FetchBodies(t.Context(), "INBOX", 7, []uint32{5}, got.add)
			if !errors.Is(err, tc.err) || len(got[5].Body) != tc.want || got[5].Truncated != tc.truncated {
				t.Errorf("%d bytes, truncated %v, %v", len(got[5].Body), got[5].Truncated, err)
			}
		})
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func atoi(s string) int64 {
	digits, _, _ := strings.Cut(s, ".")
	n, _ := strconv.ParseInt(digits, 10, 64)
	return n
}
