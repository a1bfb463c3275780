package outbox_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"skrzynka/auth"
	"skrzynka/mail"
	"skrzynka/mail/submit"
	"skrzynka/mail/submit/smtptest"
	"skrzynka/mail/view"
)

// delay is a TCP proxy that holds every chunk for half a round trip each way.
func delay(t testing.TB, port int, rtt time.Duration) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	type chunk struct {
		at time.Time
		b  []byte
	}
	pipe := func(to, from net.Conn) {
		queue := make(chan chunk, 1024)
		go func() {
			defer close(queue)
			for {
				b := make([]byte, 64<<10)
				n, err := from.Read(b)
				if n > 0 {
					queue <- chunk{time.Now().Add(rtt / 2), b[:n]}
				}
				if err != nil {
					return
				}
			}
		}()
		for c := range queue {
			time.Sleep(time.Until(c.at))
			if _, err := to.Write(c.b); err != nil {
				break
			}
		}
		_ = to.Close()
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				d, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
				if err != nil {
					_ = c.Close()
					return
				}
				go pipe(c, d)
				pipe(d, c)
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// bare runs one submission with nothing around it: the standard library's TLS,
// the commands and their replies.
func bare(t testing.TB, port int, roots *x509.CertPool, msg []byte) {
	c, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port), &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"})
	must(t, err)
	defer c.Close()
	r := bufio.NewReader(c)
	reply := func() {
		for {
			line, err := r.ReadString('\n')
			must(t, err)
			if len(line) > 3 && line[3] == ' ' {
				return
			}
		}
	}
	say := func(s string) {
		_, err := io.WriteString(c, s)
		must(t, err)
		reply()
	}
	reply()
	say("EHLO [127.0.0.1]\r\n")
	say("AUTH PLAIN AGFkYQBjb3JyZWN0IGhvcnNl\r\n")
	say("MAIL FROM:<ada@example.org>\r\n")
	say("RCPT TO:<bob@example.net>\r\n")
	say("DATA\r\n")
	say(string(msg) + ".\r\n")
}

// five is a message of about 5 KB.
func five() mail.Draft {
	d := text()
	d.Body = strings.Repeat("Nine words of text that stand in for a letter.\n", 105)
	return d
}

// costWorld is a world whose peer answers at once, rtt away.
func costWorld(b *testing.B, rtt time.Duration) (*world, int, *x509.CertPool) {
	p := smtptest.Start(b, smtptest.Script{Security: mail.SecurityTLS})
	port := p.Port
	if rtt > 0 {
		port = delay(b, p.Port, rtt)
	}
	a := account(b, "me", p)
	a.SMTP.Port = port
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(p.CA)
	return start(b, setup{accounts: []mail.Account{a}}), port, roots
}

func (w *world) sendFive() {
	d := five()
	a, err := w.Send(context.Background(), view.SendRequest{To: d.To, Subject: d.Subject, Body: d.Body})
	must(w, err)
	if a.Status != mail.StatusSent {
		w.Fatalf("%s", a.Says)
	}
}

// BenchmarkSend is the cost of honesty: a send of 5 KB over TLS with every
// commit, the bare transaction, and a durable commit on the same disk. Each
// send of "all" dials anew, as the first of a program does.
func BenchmarkSend(b *testing.B) {
	for _, rtt := range []time.Duration{0, 30 * time.Millisecond} {
		w, port, roots := costWorld(b, rtt)
		w.sendFive()
		msg := must1(w.st.AttemptBytes(context.Background(), w.rows()[0].ID))(b)
		b.Run(fmt.Sprintf("rtt=%v/all", rtt), func(b *testing.B) {
			// In turns, so that all of them meet the same disk and machine.
			var plain, commit, whole time.Duration
			d := must1(w.SaveDraft(context.Background(), five()))(b)
			for b.Loop() {
				at := time.Now()
				bare(b, port, roots, msg)
				plain, at = plain+time.Since(at), time.Now()
				must1(w.st.SaveDraft(context.Background(), d))(b)
				commit, at = commit+time.Since(at), time.Now()
				w.sendFive()
				whole += time.Since(at)
				w.Wait() // says QUIT: the next one dials
			}
			n := float64(b.N) * 1e6
			b.ReportMetric(float64(plain)/n, "bare-ms")
			b.ReportMetric(float64(commit)/n, "commit-ms")
			b.ReportMetric(float64(whole)/n, "send-ms")
			b.ReportMetric(float64(whole)/float64(plain), "of-bare")
			b.ReportMetric(float64(whole)/float64(plain+4*commit), "of-goal")
		})
		b.Run(fmt.Sprintf("rtt=%v/submit", rtt), func(b *testing.B) {
			acct := w.Accounts[0]
			for b.Loop() {
				ev := submit.Send(context.Background(), submit.Request{Server: acct.SMTP, From: "ada@example.org", To: []string{"bob@example.net"}, Bytes: msg,
					Creds: func(context.Context) (auth.Credentials, error) {
						return auth.Credentials{Username: "ada", Secret: auth.NewSecret(password)}, nil
					}}, silent{})
				if !ev.HandedOver || ev.Fault != "" {
					b.Fatalf("%+v", ev)
				}
			}
		})
		b.Run(fmt.Sprintf("rtt=%v/kept", rtt), func(b *testing.B) {
			for b.Loop() {
				w.sendFive()
			}
		})
	}
}

type silent struct{}

func (silent) Reached(mail.StepMark) {}

func (silent) Handover(context.Context, mail.Evidence) error { return nil }

// BenchmarkBurst is a hundred messages that wait: on the connections that are
// kept, and on a fresh one each.
func BenchmarkBurst(b *testing.B) {
	const n = 100
	for _, rtt := range []time.Duration{0, 30 * time.Millisecond} {
		b.Run(fmt.Sprintf("rtt=%v/kept", rtt), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				w, _, _ := costWorld(b, rtt)
				drafts := make([]int64, n)
				for i := range drafts {
					drafts[i] = must1(w.SaveDraft(context.Background(), five()))(b).ID
				}
				b.StartTimer()
				for _, id := range drafts {
					must1(w.SendDraft(context.Background(), id, true))(b)
				}
				for w.InFlight() > 0 {
					time.Sleep(time.Millisecond)
				}
				b.StopTimer()
				for _, r := range w.rows() {
					if r.Status != mail.StatusSent || len(r.Evidence.Steps) < 6 || r.HandoverAt.IsZero() {
						b.Fatalf("%s: %+v", r.Status, r.Evidence)
					}
				}
				w.close()
				b.StartTimer()
			}
		})
		b.Run(fmt.Sprintf("rtt=%v/fresh", rtt), func(b *testing.B) {
			w, _, _ := costWorld(b, rtt)
			for b.Loop() {
				for range n {
					b.StopTimer()
					w.Wait()
					b.StartTimer()
					w.sendFive()
				}
			}
		})
	}
}
