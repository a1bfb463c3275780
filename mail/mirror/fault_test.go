package mirror

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"skrzynka/auth"
	"skrzynka/mail"
)

// hold keeps the connection open without a word until the client hangs up.
func (p *peer) hold() { _, _ = io.Copy(io.Discard, p.r) }

func TestDialFaults(t *testing.T) {
	quick := func(o *Options) {
		o.Timeouts = Timeouts{Dial: 100 * time.Millisecond, Progress: 100 * time.Millisecond, Item: 100 * time.Millisecond}
	}
	for _, tc := range []struct {
		name     string
		security mail.Security
		play     func(*peer)
		change   func(*Options)
		code     mail.Code
		retry    bool
		text     string // part of the sentence
	}{
		{"silent server, TLS handshake", mail.SecurityTLS, func(p *peer) { p.Conn = p.Conn.(*tls.Conn).NetConn(); _, _ = io.Copy(io.Discard, p.Conn) }, quick, mail.CodeIMAPUnavailable, true, "in time"},
		{"silent server, greeting", mail.SecurityTLS, (*peer).hold, quick, mail.CodeIMAPUnavailable, true, "in time"},
		{"BYE as greeting", mail.SecurityTLS, func(p *peer) { p.say("* BYE too many connections\x1b[31m") }, nil, mail.CodeIMAPUnavailable, true, "too many connections"},
		{"hang-up instead of a greeting", mail.SecurityTLS, func(*peer) {}, nil, mail.CodeIMAPUnavailable, true, "closed the connection"},
		{"no IMAP greeting", mail.SecurityTLS, func(p *peer) { p.say("220 smtp.example.org ESMTP"); p.hold() }, nil, mail.CodeIMAPUnavailable, true, "could not be understood"},
		{"PREAUTH under TLS", mail.SecurityTLS, func(p *peer) { p.say("* PREAUTH [CAPABILITY IMAP4rev1] hi"); p.hold() }, nil, mail.CodeIMAPAuth, false, "nobody logged in"},
		{"another name in the certificate", mail.SecurityTLS, (*peer).hold, func(o *Options) { o.Server.Host = "localhost" }, mail.CodeIMAPTLS, false, "another name"},
		{"unknown authority", mail.SecurityTLS, (*peer).hold, func(o *Options) { o.Roots = []byte{} }, mail.CodeIMAPTLS, false, "authority"},
		{"TLS port that speaks in the clear", mail.SecuritySTARTTLS, func(p *peer) { p.say("* OK hi"); p.hold() }, func(o *Options) { o.Server.Security = mail.SecurityTLS }, mail.CodeIMAPTLS, false, "handshake failed"},
		{"security not set", mail.SecurityTLS, (*peer).hold, func(o *Options) { o.Server.Security = "" }, mail.CodeConfigInvalid, false, "not set"},
		{"login refused", mail.SecurityTLS, func(p *peer) {
			p.say("* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR] hi")
			tag, _ := p.hear()
			p.say(tag + " NO [AUTHENTICATIONFAILED] no such user\x07")
			p.hold()
		}, nil, mail.CodeIMAPAuth, false, "no such user"},
		{"login refused, password echoed", mail.SecurityTLS, func(p *peer) {
			p.say("* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR] hi")
			tag, _ := p.hear()
			p.say(tag + " NO bad password " + testPassword)
			p.hold()
		}, nil, mail.CodeIMAPAuth, false, "did not accept the login."},
		{"login unavailable for now", mail.SecurityTLS, func(p *peer) {
			p.say("* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR] hi")
			tag, _ := p.hear()
			p.say(tag + " NO [UNAVAILABLE] database down")
			p.hold()
		}, nil, mail.CodeIMAPUnavailable, true, "database down"},
		{"no mechanism that fits a token", mail.SecurityTLS, func(p *peer) { p.welcome(func(string, string) bool { return false }) }, func(o *Options) {
			o.Creds = func(context.Context) (auth.Credentials, error) {
				return auth.Credentials{Username: "u", Secret: auth.NewSecret("t"), Token: true}, nil
			}
		}, mail.CodeIMAPAuth, false, "no way to log in"},
		{"LOGIN disabled and nothing else", mail.SecurityTLS, func(p *peer) { p.say("* OK [CAPABILITY IMAP4rev1 LOGINDISABLED] hi"); p.hold() }, nil, mail.CodeIMAPAuth, false, "no way to log in"},
		{"no credentials", mail.SecurityTLS, func(p *peer) { p.welcome(func(string, string) bool { return false }) }, func(o *Options) {
			o.Creds = func(context.Context) (auth.Credentials, error) { return auth.Credentials{}, errors.New("locked") }
		}, mail.CodeCredentials, true, "no credentials"},
		{"flood after the greeting", mail.SecurityTLS, func(p *peer) {
			p.say("* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR] hi")
			for err := error(nil); err == nil; {
				_, err = io.WriteString(p.Conn, strings.Repeat("* OK x\r\n", 1000))
			}
		}, nil, mail.CodeIMAPUnavailable, true, "far more"},
		{"endless line", mail.SecurityTLS, func(p *peer) {
			p.raw("* OK ")
			for err := error(nil); err == nil; {
				_, err = io.WriteString(p.Conn, strings.Repeat("x", 10_000))
			}
		}, nil, mail.CodeIMAPUnavailable, true, "far more"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv := startScript(t, tc.security, tc.play)
			if tc.change != nil {
				tc.change(&srv.opts)
			}
			s, err := Dial(t.Context(), srv.opts)
			e := mail.AsError(err)
			if s != nil || e == nil || e.Code != tc.code || e.Retryable != tc.retry || !strings.Contains(e.Text, tc.text) {
				t.Fatalf("got %v (%+v)", err, e)
			}
			if e.Hint == "" && e.Code != mail.CodeCredentials {
				t.Error("no hint")
			}
			if strings.Contains(err.Error(), testPassword) || strings.ContainsAny(err.Error(), "\x1b\x07") {
				t.Errorf("secret or control character in %q", err)
			}
		})
	}
	t.Run("connection refused", func(t *testing.T) {
		srv := startScript(t, mail.SecurityTLS, (*peer).hold)
		srv.opts.Server.Port = 1
		if _, err := Dial(t.Context(), srv.opts); !errors.Is(err, mail.ErrCode(mail.CodeIMAPUnavailable)) || !mail.AsError(err).Retryable {
			t.Errorf("got %v", err)
		}
	})
	t.Run("context ends", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		srv := startScript(t, mail.SecurityTLS, func(p *peer) { p.say("* OK hi"); p.hear(); cancel(); p.hold() })
		if _, err := Dial(ctx, srv.opts); !errors.Is(err, mail.ErrCode(mail.CodeIMAPUnavailable)) || !strings.Contains(err.Error(), "stopped") {
			t.Errorf("got %v", err)
		}
	})
}

// Whatever somebody in between does before TLS, no credential is even asked for.
func TestStartTLSFaults(t *testing.T) {
	greet := func(p *peer) (tag string) {
		p.say("* OK ready")
		tag, _ = p.hear()
		return tag
	}
	offer := func(p *peer) (tag string) {
		p.say("* CAPABILITY IMAP4rev1 STARTTLS", greet(p)+" OK done")
		tag, _ = p.hear()
		return tag
	}
	for _, tc := range []struct {
		name string
		play func(*peer)
		code mail.Code
		text string
	}{
		{"N01 not offered", func(p *peer) { p.say("* CAPABILITY IMAP4rev1 AUTH=PLAIN", greet(p)+" OK done"); p.hold() }, mail.CodeIMAPTLS, "does not offer"},
		{"N01 refused", func(p *peer) { p.say(offer(p) + " NO not today"); p.hold() }, mail.CodeIMAPTLS, "refused to start"},
		{"N01 BAD", func(p *peer) { p.say(offer(p) + " BAD what"); p.hold() }, mail.CodeIMAPTLS, "refused to start"},
		{"N02 injected behind OK", func(p *peer) { tag := offer(p); p.raw(tag + " OK begin\r\n* CAPABILITY IMAP4rev1\r\n"); p.hold() }, mail.CodeIMAPTLS, "attack"},
		{"N03 PREAUTH", func(p *peer) { p.say("* PREAUTH welcome"); p.hold() }, mail.CodeIMAPTLS, "before encryption"},
		{"N04 alert before TLS is not shown", func(p *peer) { p.say("* BYE [ALERT] call +1 900"); p.hold() }, mail.CodeIMAPUnavailable, "closed the connection while greeting."},
		{"N05 invalid greeting", func(p *peer) { p.say("OK hello"); p.hold() }, mail.CodeIMAPUnavailable, "could not be understood"},
		{"N08 endless untagged lines", func(p *peer) {
			p.say("* OK ready")
			for err := error(nil); err == nil; {
				_, err = io.WriteString(p.Conn, "* CAPABILITY STARTTLS\r\n")
			}
		}, mail.CodeIMAPUnavailable, "far more"},
		{"N07 endless line", func(p *peer) { p.raw("* OK " + strings.Repeat("x", 20_000)); p.hold() }, mail.CodeIMAPUnavailable, "far more"},
		{"hang-up instead of OK", func(p *peer) { offer(p) }, mail.CodeIMAPUnavailable, "closed the connection"},
		{"N10 no TLS behind OK", func(p *peer) { p.say(offer(p) + " OK begin"); _, _ = p.r.Peek(1); p.say("* OK no"); p.hold() }, mail.CodeIMAPTLS, "handshake failed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv := startScript(t, mail.SecuritySTARTTLS, tc.play)
			srv.opts.Creds = func(context.Context) (auth.Credentials, error) {
				t.Error("credentials were asked for")
				return auth.Credentials{}, errors.New("no")
			}
			_, err := Dial(t.Context(), srv.opts)
			e := mail.AsError(err)
			if e == nil || e.Code != tc.code || !strings.Contains(e.Text, tc.text) || strings.Contains(e.Text, "900") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestFetchFaults(t *testing.T) {
	one := func(uid int) string {
		return fmt.Sprintf("* %d FETCH (UID %d FLAGS () INTERNALDATE \"01-Jan-2026 00:00:00 +0000\" RFC822.SIZE 20 BODY[HEADER] {8}\r\nA: %03d\r\n)\r\n", uid, uid, uid)
	}
	for _, tc := range []struct {
		name   string
		answer func(p *peer, tag string)
		quick  bool
		want   error
		text   string
		got    []uint32
	}{
		{"good", func(p *peer, tag string) { p.raw(one(1) + one(2)); p.say(tag + " OK done") }, false, nil, "", []uint32{1, 2}},
		{"literal shorter than announced", func(p *peer, _ string) {
			p.raw(one(1) + "* 2 FETCH (UID 2 BODY[HEADER] {1000}\r\nshort")
			_ = p.Close()
		}, false, mail.ErrCode(mail.CodeIMAPUnavailable), "closed the connection", []uint32{1}},
		{"cut behind a whole literal", func(p *peer, _ string) {
			p.raw(one(1) + "* 2 FETCH (UID 2 BODY[HEADER] {4}\r\n\r\n\r\n")
			_ = p.Close()
		}, false, mail.ErrCode(mail.CodeIMAPUnavailable), "closed the connection", []uint32{1}},
		{"BYE in the middle", func(p *peer, _ string) {
			p.raw(one(1) + one(2))
			p.say("* BYE shutting\x1b]0;x\x07 down")
			_ = p.Close()
		}, false, mail.ErrCode(mail.CodeIMAPUnavailable), "down", []uint32{1}},
		{"black hole in the middle", func(p *peer, _ string) { p.raw(one(1) + one(2)); p.hold() }, true, mail.ErrCode(mail.CodeIMAPUnavailable), "in time", []uint32{1}},
		{"a byte now and then", func(p *peer, _ string) {
			p.raw("* 1 FETCH (UID 1 BODY[HEADER] {100000}\r\n")
			for err := error(nil); err == nil; {
				_, err = p.Write([]byte("x"))
				time.Sleep(5 * time.Millisecond)
			}
		}, true, mail.ErrCode(mail.CodeIMAPUnavailable), "in time", nil},
		{"literal over the limit", func(p *peer, _ string) { p.raw("* 1 FETCH (UID 1 BODY[HEADER] {99999999}\r\n"); p.hold() }, false, ErrDecode, "understood", nil},
		{"bad date", func(p *peer, _ string) { p.raw(one(1) + one(2) + "* 3 FETCH (UID 3 INTERNALDATE NIL)\r\n"); p.hold() }, false, ErrDecode, "understood", []uint32{1, 2}},
		{"unknown untagged answer", func(p *peer, _ string) { p.say("* VANISHED 1:5"); p.hold() }, false, ErrDecode, "understood", nil},
		{"deep parentheses", func(p *peer, _ string) { p.raw("* 1 FETCH (UID 1 X " + strings.Repeat("(", 5000)); p.hold() }, false, ErrDecode, "understood", nil},
		{"other UIDs and unasked bodies are dropped", func(p *peer, tag string) {
			p.raw(one(77) + one(1) + one(1) + "* 5 EXISTS\r\n* 9 EXPUNGE\r\n* 4294967295 EXISTS\r\n")
			p.say(tag + " OK done")
		}, false, nil, "", []uint32{1}},
		{"UID 0", func(p *peer, tag string) { p.raw(one(0)); p.say(tag + " OK done") }, false, nil, "", nil},
		{"refused", func(p *peer, tag string) { p.say(tag + " NO [LIMIT] \u202etoo many") }, false, mail.ErrCode(mail.CodeIMAPRejected), "too many", nil},
		{"NIL header", func(p *peer, tag string) { p.say("* 1 FETCH (UID 1 BODY[HEADER] NIL)", tag+" OK done") }, false, nil, "", []uint32{1}},
		{"quoted header", func(p *peer, tag string) { p.say("* 1 FETCH (UID 1 BODY[HEADER] \"A: b\")", tag+" OK done") }, false, nil, "", []uint32{1}},
		{"flood of other flags", func(p *peer, _ string) {
			for err := error(nil); err == nil; {
				_, err = io.WriteString(p.Conn, strings.Repeat("* 1 FETCH (FLAGS ("+strings.Repeat("x", 8000)+"))\r\n", 10))
			}
		}, false, mail.ErrCode(mail.CodeIMAPUnavailable), "far more", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv := startScript(t, mail.SecurityTLS, func(p *peer) {
				p.welcome(func(tag, command string) bool {
					if !strings.HasPrefix(command, "UID FETCH") {
						return false
					}
					tc.answer(p, tag)
					return true
				})
			})
			s := dial(t, srv.opts)
			if tc.quick {
				s.w.limits.Progress, s.w.limits.Item = 150*time.Millisecond, 400*time.Millisecond
			}
			var got []uint32
			err := s.FetchHeaders(t.Context(), "INBOX", 7, Set{{1, 3}}, func(f Fetched) error {
				got = append(got, f.UID)
				return nil
			})
			if !errors.Is(err, tc.want) || tc.want == nil && err != nil || err != nil && !strings.Contains(mail.AsError(err).Text, tc.text) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
			if err != nil && strings.ContainsAny(err.Error(), "\x1b\x07\u202e") {
				t.Errorf("uncleaned text in %q", err)
			}
			if !slices.Equal(got, tc.got) {
				t.Errorf("handed over %v, want %v", got, tc.got)
			}
			if alive := s.Err() == nil; alive != (err == nil || Refused(err)) {
				t.Errorf("session alive: %v after %v", alive, err)
			}
		})
	}
}

func TestContextEndsACall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	srv := startScript(t, mail.SecurityTLS, func(p *peer) {
		p.welcome(func(_, command string) bool {
			if command != "CREATE \"A\"" {
				return false
			}
			cancel()
			p.hold()
			return true
		})
	})
	s := dial(t, srv.opts)
	if err := s.Create(ctx, "A"); !errors.Is(err, context.Canceled) || !errors.Is(err, mail.ErrCode(mail.CodeIMAPUnavailable)) {
		t.Errorf("got %v", err)
	}
	if s.Err() == nil {
		t.Error("the session lives on although nobody knows where the server is")
	}
}

func TestCloseNeverWaits(t *testing.T) {
	running := make(chan struct{})
	srv := startScript(t, mail.SecurityTLS, func(p *peer) {
		p.welcome(func(_, command string) bool {
			if !strings.HasPrefix(command, "UID FETCH") {
				return false
			}
			p.raw("* 1 FETCH (UID 1 BODY[HEADER] {1000}\r\nhalf")
			close(running)
			p.hold()
			return true
		})
	})
	s := dial(t, srv.opts)
	ended := make(chan error, 1)
	go func() {
		ended <- s.FetchHeaders(t.Context(), "INBOX", 7, Set{{1, 0}}, func(Fetched) error { return nil })
	}()
	<-running
	s.Close()
	if err := <-ended; !errors.Is(err, ErrDead) {
		t.Errorf("the running call ended with %v", err)
	}
}

func TestRenumberedFolder(t *testing.T) {
	srv := startScript(t, mail.SecurityTLS, func(p *peer) {
		p.welcome(func(tag, command string) bool {
			if strings.HasPrefix(command, "UID") {
				t.Errorf("the server was asked to %s", command)
			}
			return false
		})
	})
	s := dial(t, srv.opts)
	ctx := t.Context()
	ignore := func(Fetched) error { return nil }
	for name, call := range map[string]func() error{
		"headers": func() error { return s.FetchHeaders(ctx, "A", 8, Set{{1, 0}}, ignore) },
		"bodies":  func() error { return s.FetchBodies(ctx, "A", 8, []uint32{1}, ignore) },
		"flags":   func() error { return s.FetchFlags(ctx, "A", 8, Set{{1, 0}}, 0, ignore) },
		"uids":    func() error { _, err := s.UIDs(ctx, "A", 8, Range{1, 0}); return err },
		"store":   func() error { return s.StoreFlags(ctx, "A", 8, []uint32{1}, FlagsAdd, []string{"\\Seen"}) },
		"move":    func() error { _, err := s.Move(ctx, "A", 8, []uint32{1}, "B"); return err },
		"delete":  func() error { _, err := s.Delete(ctx, "A", 8, []uint32{1}); return err },
	} {
		if err := call(); !errors.Is(err, ErrUIDValidityChanged) || !mail.AsError(err).Retryable {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s.Err() != nil {
		t.Errorf("session: %v", s.Err())
	}
}

func TestHostileLists(t *testing.T) {
	for _, tc := range []struct{ name, answer string }{
		{"every UID there could be", "* ESEARCH (TAG \"%[1]s\") UID ALL 1:4294967295"},
		{"open range", "* ESEARCH (TAG \"%[1]s\") UID ALL 5:*"},
		{"sequence numbers", "* ESEARCH (TAG \"%[1]s\") ALL 1:3"},
		{"UID 0", "* SEARCH 0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv := startScript(t, mail.SecurityTLS, func(p *peer) {
				p.welcome(func(tag, command string) bool {
					if !strings.HasPrefix(command, "UID SEARCH") {
						return false
					}
					if line := tc.answer; strings.Contains(line, "%") {
						p.say(fmt.Sprintf(line, tag))
					} else {
						p.say(line)
					}
					p.say(tag + " OK done")
					return true
				})
			})
			got, err := dial(t, srv.opts).UIDs(t.Context(), "INBOX", 7, Range{1, 0})
			if !errors.Is(err, ErrDecode) || got != nil {
				t.Errorf("got %d UIDs, %v", len(got), err)
			}
		})
	}
}
