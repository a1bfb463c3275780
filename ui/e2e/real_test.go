package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"

	"skrzynka/mail"
	"skrzynka/mail/loopback"
	"skrzynka/store"
)

// realPort is one real server as .ci/servers describes it. Port is for
// Security, OtherPort for the other way.
type realPort struct {
	Host, Security, User, Password string
	Port                           int
	OtherPort                      int    `json:"other_port"`
	CAFile                         string `json:"ca_file"`
}

// port is where the server speaks TLS in the given way.
func (p realPort) port(security string) string {
	if p.Security == security {
		return strconv.Itoa(p.Port)
	}
	return strconv.Itoa(p.OtherPort)
}

func realServers(t testing.TB) (imap, smtp realPort) {
	t.Helper()
	for name, to := range map[string]*realPort{"SKRZYNKA_TEST_IMAP": &imap, "SKRZYNKA_TEST_SMTP": &smtp} {
		text := os.Getenv(name)
		if text == "" {
			missing(t, "there is no real Dovecot and Postfix: "+name+" is not set (.ci/servers start DIR makes them)")
		}
		if err := json.Unmarshal([]byte(text), to); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return imap, smtp
}

// resident is a user whom the real servers know: they take any name with the
// one password, and each name has a mailbox of its own.
func resident(name string) string { return name + "-" + mail.NewID()[:8] + "@example.org" }

// addReal configures an account on the real servers, its password in a file.
func (h *home) addReal(name, email, imapSecurity, smtpSecurity string, more ...string) {
	h.t.Helper()
	in, out := realServers(h.t)
	secret := h.file(name+".secret", in.Password)
	h.run(append([]string{"account", "add", name, "--email", email, "--name", strings.ToUpper(name[:1]) + name[1:],
		"--imap-host", in.Host, "--imap-port", in.port(imapSecurity), "--imap-security", imapSecurity,
		"--smtp-host", out.Host, "--smtp-port", out.port(smtpSecurity), "--smtp-security", smtpSecurity,
		"--ca-file", in.CAFile, "--password-command", "cat", "--password-command", secret, "--json"}, more...)...).exits(0)
}

// look connects to the real IMAP server without any of our own code.
func look(t testing.TB, user string) *imapclient.Client {
	t.Helper()
	in, _ := realServers(t)
	pem, err := os.ReadFile(in.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	c, err := imapclient.DialTLS(net.JoinHostPort(in.Host, in.port("tls")), &imapclient.Options{TLSConfig: &tls.Config{RootCAs: pool}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Login(user, in.Password).Wait(); err != nil {
		t.Fatal(err)
	}
	return c
}

// put places a message into a folder of the real server.
func put(t testing.TB, c *imapclient.Client, folder, message string) {
	t.Helper()
	raw := strings.ReplaceAll(message, "\n", "\r\n")
	cmd := c.Append(folder, int64(len(raw)), nil)
	_, err := cmd.Write([]byte(raw))
	if err == nil {
		err = cmd.Close()
	}
	if err == nil {
		_, err = cmd.Wait()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// copies fetches what a folder holds under a Message-ID, byte by byte.
func copies(t testing.TB, c *imapclient.Client, folder, messageID string) [][]byte {
	t.Helper()
	if _, err := c.Select(folder, &imap.SelectOptions{ReadOnly: true}).Wait(); err != nil {
		t.Fatal(err)
	}
	found, err := c.UIDSearch(&imap.SearchCriteria{Header: []imap.SearchCriteriaHeaderField{{Key: "Message-ID", Value: messageID}}}, nil).Wait()
	if err != nil {
		t.Fatal(err)
	}
	if len(found.AllUIDs()) == 0 {
		return nil
	}
	section := &imap.FetchItemBodySection{Peek: true}
	msgs, err := c.Fetch(imap.UIDSetNum(found.AllUIDs()...), &imap.FetchOptions{BodySection: []*imap.FetchItemBodySection{section}}).Collect()
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for _, m := range msgs {
		out = append(out, m.FindBodySection(section))
	}
	return out
}

// withoutTrace removes the header fields that servers put before a message on
// its way (RFC 5321, 4.4).
func withoutTrace(raw []byte) []byte {
	for {
		name, _, _ := bytes.Cut(raw, []byte(":"))
		switch strings.ToLower(string(name)) {
		case "return-path", "delivered-to", "received", "x-original-to":
		default:
			return raw
		}
		for first := true; first || len(raw) > 0 && (raw[0] == ' ' || raw[0] == '\t'); first = false {
			_, raw, _ = bytes.Cut(raw, []byte("\r\n"))
		}
	}
}

// submitted returns the bytes the program made for an attempt.
func (h *home) submitted(id string) []byte {
	h.t.Helper()
	st, err := store.Open(context.Background(), h.state, store.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	defer st.Close() //nolint:errcheck // only read
	b, err := st.AttemptBytes(context.Background(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	return b
}

// row returns the id of the newest stored message of an account's inbox whose
// subject contains words, after as many passes as it takes to arrive.
func (h *home) arrives(account, words string) string {
	h.t.Helper()
	var id string
	eventually(h.t, fmt.Sprintf("%q is in the inbox of %s", words, account), func() bool {
		h.run("sync", "--account", account, "--json").exits(0)
		rows := h.run("list", "--account", account, "--folder", "INBOX", "--json").exits(0)
		var list []struct {
			ID      int64  `json:"id"`
			Subject string `json:"subject"`
		}
		if err := json.Unmarshal(rows.out, &list); err != nil {
			h.t.Fatal(err)
		}
		for _, r := range list {
			if strings.Contains(r.Subject, words) {
				id = strconv.FormatInt(r.ID, 10)
				return true
			}
		}
		return false
	})
	return id
}

// Two people write to each other through a real Postfix and a real Dovecot, in
// both ways of TLS: a message, its answer, the copies of both, and the arrival
// of each. The bytes made once are the bytes submitted, delivered and kept.
func TestRealRoundTrip(t *testing.T) {
	for _, way := range []struct{ name, imap, smtp string }{{"starttls to Postfix", "tls", "starttls"}, {"implicit TLS to Postfix", "starttls", "tls"}} {
		t.Run(way.name, func(t *testing.T) {
			realServers(t)
			h := newHome(t)
			ada, bob := resident("ada"), resident("bob")
			h.addReal("ada", ada, way.imap, way.smtp)
			h.addReal("bob", bob, way.imap, way.smtp)
			h.run("account", "test", "ada", "--json").exits(0).is("ok", "true")

			body := h.file("question.txt", "Dzień dobry,\n\n.a line that begins with a dot\nFrom here on it is plain.\n"+strings.Repeat("long ", 400)+"\n")
			sent := h.run("send", "--account", "bob", "--to", ada, "--subject", "Zażółć gęślą jaźń 猫", "--body-file", body, "--json").exits(0).
				is("status", "sent").is("evidence.handed_over", "true").is("evidence.accepted_count", "1").is("sent_copy.status", "saved").is("sent_copy.folder", "Sent")
			if sent.text("provider_message_id") == "<nil>" {
				t.Errorf("Postfix names its queue id in the final reply, the attempt does not:\n%s", sent.out)
			}
			h.sameBytes(sent, bob, ada)

			question := h.arrives("ada", "gęślą jaźń")
			h.run("show", question, "--json").exits(0).is("subject", "Zażółć gęślą jaźń 猫")
			if raw := h.run("raw", question).exits(0); sha256.Sum256(withoutTrace(raw.out)) != sha256.Sum256(h.submitted(sent.text("id"))) {
				t.Errorf("raw is not what was submitted:\n%s", raw.out)
			}

			answer := h.file("answer.txt", "Hello Bob,\n\nyes.\n")
			reply := h.run("reply", question, "--body-file", answer, "--idempotency-key", "answer-"+way.smtp, "--json").exits(0).
				is("kind", "reply").is("status", "sent").is("account", "ada").is("to.0", bob).is("message_id", question).is("sent_copy.status", "saved")
			h.sameBytes(reply, ada, bob)
			shown := h.run("attempts", "show", reply.text("id"), "--json").exits(0).is("status", "sent").is("replayed", "false")
			if tls := shown.text("evidence.tls"); !strings.Contains(tls, "TLS") {
				t.Errorf("the evidence says %q of TLS", tls)
			}

			back := h.arrives("bob", "Re: Zażółć")
			if raw := string(h.run("raw", back).exits(0).out); !strings.Contains(raw, "In-Reply-To: "+sent.text("rfc_message_id")) {
				t.Errorf("the answer does not name what it answers:\n%s", raw)
			}
			// The same key and text once more: nothing leaves, nothing is appended.
			h.run("reply", question, "--body-file", answer, "--idempotency-key", "answer-"+way.smtp, "--json").exits(0).is("replayed", "true")
			if n := len(copies(t, look(t, ada), "Sent", reply.text("rfc_message_id"))); n != 1 {
				t.Errorf("%d copies in Sent after the same call twice, want 1", n)
			}
		})
	}
}

// sameBytes compares what was made, what Dovecot keeps in Sent, and what
// Postfix delivered, one copy each.
func (h *home) sameBytes(attempt result, from, to string) {
	h.t.Helper()
	id := attempt.text("rfc_message_id")
	made := sha256.Sum256(h.submitted(attempt.text("id")))
	kept := copies(h.t, look(h.t, from), "Sent", id)
	if len(kept) != 1 || sha256.Sum256(kept[0]) != made {
		h.t.Errorf("Sent holds %d copies of %s, and the first is equal to what was submitted: %v", len(kept), id, len(kept) > 0 && sha256.Sum256(kept[0]) == made)
	}
	reader := look(h.t, to)
	var arrived [][]byte
	eventually(h.t, "Postfix has delivered "+id, func() bool { arrived = copies(h.t, reader, "INBOX", id); return len(arrived) > 0 })
	if len(arrived) != 1 || sha256.Sum256(withoutTrace(arrived[0])) != made {
		h.t.Errorf("%d messages %s arrived; without trace fields the first is\n%q", len(arrived), id, withoutTrace(arrived[0]))
	}
}

// What a real Postfix refuses, in both ways of TLS.
func TestRealRefusals(t *testing.T) {
	for _, security := range []string{"starttls", "tls"} {
		t.Run(security, func(t *testing.T) {
			realServers(t)
			h := newHome(t)
			ada := resident("ada")
			h.addReal("ada", ada, "tls", security)
			body := h.file("body.txt", "Hello.\n")
			box := look(t, ada)
			for _, row := range []struct{ from, code, reply, retryable string }{
				{"reject@example.org", "SMTP_REJECTED", "550", "false"},
				{"greylist@example.org", "SMTP_REJECTED", "451", "true"},
			} {
				t.Run(row.from, func(t *testing.T) {
					h.t = t
					put(t, box, "INBOX", "From: "+row.from+"\nTo: "+ada+"\nSubject: question of "+row.from+"\nMessage-ID: <"+mail.NewID()+"@example.org>\nDate: Mon, 3 Mar 2025 10:00:00 +0000\n\nWhat do you think?\n")
					id := h.arrives("ada", "question of "+row.from)
					r := h.run("reply", id, "--body-file", body, "--json").exits(1).fails(row.code).
						is("status", "failed").is("error_code", row.code).is("retryable", row.retryable).is("evidence.last_step", "rcpt").
						is("evidence.reply_code", row.reply).is("evidence.rejected_count", "1").is("evidence.handed_over", "false").is("evidence.rejected.0.address", row.from)
					if n := len(copies(t, box, "Sent", r.text("rfc_message_id"))); n != 0 {
						t.Errorf("%d copies of a refused message in Sent", n)
					}
				})
			}
			h.t = t
			// One good recipient and a refused one: all or nothing is the default.
			bob := resident("bob")
			r := h.run("send", "--to", bob, "--to", "reject@example.org", "--subject", "both", "--body-file", body, "--json").exits(1).is("error_code", "SMTP_REJECTED")
			if n := len(copies(t, look(t, bob), "INBOX", r.text("rfc_message_id"))); n != 0 {
				t.Errorf("a message that was not to be sent arrived %d times", n)
			}
		})
	}
}

// A server whose root is not known, and a password that is wrong, are refused
// before anything of a message is told, on both ports of both servers.
func TestRealServersNotTrusted(t *testing.T) {
	in, out := realServers(t)
	other, err := loopback.Start(loopback.Options{Empty: true})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	strange := filepath.Join(t.TempDir(), "ca.pem")
	if err := other.WriteCA(strange); err != nil {
		t.Fatal(err)
	}
	for _, security := range []string{"starttls", "tls"} {
		for _, row := range []struct{ name, ca, password, smtpCode, imapCode string }{
			{"a root that is not known", strange, in.Password, "SMTP_TLS_FAILED", "IMAP_TLS_FAILED"},
			{"a wrong password", in.CAFile, "not-the-password", "SMTP_AUTH_FAILED", "IMAP_AUTH_FAILED"},
		} {
			t.Run(security+"/"+row.name, func(t *testing.T) {
				h := newHome(t)
				secret := h.file("secret", row.password)
				ada, bob := resident("ada"), resident("bob")
				h.run("account", "add", "ada", "--email", ada, "--imap-host", in.Host, "--imap-port", in.port(security), "--imap-security", security,
					"--smtp-host", out.Host, "--smtp-port", out.port(security), "--smtp-security", security, "--ca-file", row.ca,
					"--password-command", "cat", "--password-command", secret).exits(0)
				body := h.file("body.txt", "Hello.\n")
				r := h.run("send", "--to", bob, "--subject", "never", "--body-file", body, "--idempotency-key", "k", "--json").exits(1).fails(row.smtpCode).
					is("status", "failed").is("error_code", row.smtpCode).is("evidence.handed_over", "false")
				h.run("sync", "--json").exits(1).fails(row.imapCode)
				if n := len(copies(t, look(t, bob), "INBOX", r.text("rfc_message_id"))); n != 0 {
					t.Errorf("it arrived %d times", n)
				}
				// Proven before submission: the key of an outbound message is free again.
				h.run("send", "--to", bob, "--subject", "never", "--body-file", body, "--idempotency-key", "k", "--json").exits(1).is("replayed", "false")
				for _, b := range [][]byte{r.out, r.stderr} {
					if bytes.Contains(b, []byte(row.password)) {
						t.Errorf("the password is in the output:\n%s", b)
					}
				}
			})
		}
	}
}
