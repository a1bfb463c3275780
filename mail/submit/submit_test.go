package submit

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"skrzynka/auth"
	"skrzynka/mail"
	"skrzynka/mail/submit/smtptest"
)

const password = "correct horse"

// recorder remembers, and calls back.
type recorder struct {
	mu       sync.Mutex
	steps    []mail.Step
	reached  func(mail.Step)
	handover func() error
	marked   []mail.Evidence
}

func (r *recorder) Reached(m mail.StepMark) {
	r.mu.Lock()
	r.steps = append(r.steps, m.Step)
	r.mu.Unlock()
	if r.reached != nil {
		r.reached(m.Step)
	}
}

func (r *recorder) Handover(_ context.Context, ev mail.Evidence) error {
	r.mu.Lock()
	r.marked = append(r.marked, ev)
	r.mu.Unlock()
	if r.handover != nil {
		return r.handover()
	}
	return nil
}

const body = "Subject: x\r\n\r\n.dot\r\n..\r\nend\r\n"

// fast makes what must time out do so soon.
func fast() Timeouts {
	const d = 200 * time.Millisecond
	return Timeouts{Dial: d, TLS: d, Command: d, Data: d, BodyWrite: d, BodyRate: 1 << 40, Reply: d, Quit: d, Premature: d}
}

// patient is for cases in which nothing may time out on a busy machine.
func patient() Timeouts {
	const d = 20 * time.Second
	return Timeouts{Dial: d, TLS: d, Command: d, Data: d, BodyWrite: d, Reply: d, Quit: d, Premature: d, Poll: 20 * time.Millisecond}
}

func request(p *smtptest.Peer) Request {
	return Request{Server: p.Server(), CA: p.CA, Timeouts: patient(), From: "ada@example.org", To: []string{"bob@example.net"}, Bytes: []byte(body),
		Creds: func(context.Context) (auth.Credentials, error) {
			return auth.Credentials{Username: "ada", Secret: auth.NewSecret(password)}, nil
		}}
}

var modes = []mail.Security{mail.SecurityTLS, mail.SecuritySTARTTLS}

func TestGoodTransaction(t *testing.T) {
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			p := smtptest.Start(t, smtptest.Script{Security: mode, Size: 1000})
			req, rec := request(p), &recorder{}
			req.To = []string{"bob@example.net", "eve@example.com"}
			ev := Send(t.Context(), req, rec)
			want := []mail.Step{"credentials", "dial", "tls", "greeting", "ehlo", "auth", "mail", "rcpt", "data", "body", "handover", "reply"}
			if mode == mail.SecuritySTARTTLS {
				want = []mail.Step{"credentials", "dial", "greeting", "ehlo", "starttls", "ehlo", "auth", "mail", "rcpt", "data", "body", "handover", "reply"}
			}
			if ev.LastStep != mail.StepReply || ev.Fault != mail.FaultNone || !ev.HandedOver || !ev.MarkDurable || ev.Reply.Code != 250 ||
				ev.Reply.Enhanced != "2.0.0" || ev.ProviderID != "4F2A9C01" || ev.TLS != "TLS 1.3" || ev.Accepted() != 2 || ev.Recipients != 2 || ev.Server != address(p.Server()) {
				t.Errorf("evidence %+v", ev)
			}
			var steps []mail.Step
			for i, m := range ev.Steps {
				steps = append(steps, m.Step)
				if m.At.IsZero() || i > 0 && m.At.Before(ev.Steps[i-1].At) {
					t.Errorf("step %s at %v", m.Step, m.At)
				}
			}
			if !slices.Equal(steps, want) || !slices.Equal(rec.steps, want) {
				t.Errorf("steps %v, told %v, want %v", steps, rec.steps, want)
			}
			if len(rec.marked) != 1 || rec.marked[0].HandedOver || rec.marked[0].LastStep != mail.StepHandover || rec.marked[0].Accepted() != 2 {
				t.Errorf("the mark was committed with %+v", rec.marked)
			}
			p.Wait()
			got := p.Received()
			if len(got) != 1 || !got[0].Terminated || string(got[0].Data) != "Subject: x\r\n\r\n..dot\r\n...\r\nend\r\n" ||
				got[0].From != "ada@example.org" || !slices.Equal(got[0].To, req.To) {
				t.Errorf("received %+v", got)
			}
			cmds := strings.Join(p.Commands(), "\n")
			if !strings.Contains(cmds, "EHLO [127.0.0.1]\n") || !strings.Contains(cmds, "MAIL FROM:<ada@example.org> SIZE=29\n") || !strings.HasSuffix(cmds, "QUIT") {
				t.Errorf("commands:\n%s", cmds)
			}
			for _, m := range ev.Steps {
				if strings.Contains(m.Note, password) {
					t.Errorf("the password is in the notes of %s", m.Step)
				}
			}
		})
	}
}

// TestEveryStepAndFault is the table of outcomes: at each step, everything a
// server or the network between may do.
func TestEveryStepAndFault(t *testing.T) {
	type fault struct {
		name string
		do   smtptest.Action
		want mail.Fault
		code int
	}
	faults := []fault{
		{"4xx", smtptest.Reply("450-4.3.2 not\n450 4.3.2 now"), mail.FaultRefused, 450},
		{"5xx", smtptest.Reply("550 5.7.1 no"), mail.FaultRefused, 550},
		{"421", smtptest.Reply("421 4.3.2 closing").Then(smtptest.HangUp()), mail.FaultRefused, 421},
		{"1xx", smtptest.Reply("150 hm"), mail.FaultGarbage, 0},
		{"code out of range", smtptest.Reply("666 hm"), mail.FaultGarbage, 0},
		{"codes differ", smtptest.Reply("250-a\n550 b"), mail.FaultGarbage, 0},
		{"binary text", smtptest.Raw("250 \xff\xfe\r\n"), mail.FaultGarbage, 0},
		{"garbage", smtptest.Garbage(), mail.FaultGarbage, 0},
		{"empty line", smtptest.Raw("\r\n"), mail.FaultGarbage, 0},
		{"reset", smtptest.Reset(), mail.FaultLost, 0},
		{"hang-up", smtptest.HangUp(), mail.FaultLost, 0},
		{"half a line, hang-up", smtptest.Raw("250 o").Then(smtptest.HangUp()), mail.FaultLost, 0},
		{"half a reply, hang-up", smtptest.Raw("250-o\r\n").Then(smtptest.HangUp()), mail.FaultLost, 0},
		{"stall", smtptest.Stall(), mail.FaultTimeout, 0},
		{"half a reply, stall", smtptest.Raw("250-o\r\n").Then(smtptest.Stall()), mail.FaultTimeout, 0},
		{"drip", smtptest.Drip(), mail.FaultTimeout, 0},
		{"long line", smtptest.LongLine(), mail.FaultOversized, 0},
		{"flood", smtptest.Flood(), mail.FaultOversized, 0},
		{"many short lines", smtptest.Raw(strings.Repeat("250-x\r\n", 101) + "250 x\r\n"), mail.FaultOversized, 0},
	}
	for _, step := range []mail.Step{mail.StepGreeting, mail.StepEHLO, mail.StepSTARTTLS, mail.StepAuth, mail.StepMail, mail.StepRcpt, mail.StepData, mail.StepReply} {
		for _, mode := range modes {
			if step == mail.StepSTARTTLS && mode == mail.SecurityTLS {
				continue
			}
			list := append([]fault(nil), faults...)
			if step == mail.StepData {
				list = append(list, fault{"2xx instead of 354", smtptest.Reply("250 ok"), mail.FaultGarbage, 250}, fault{"other 3xx", smtptest.Reply("350 ok"), mail.FaultGarbage, 350})
			} else if step != mail.StepAuth {
				list = append(list, fault{"3xx", smtptest.Reply("354 go"), mail.FaultGarbage, 354})
			}
			if step == mail.StepReply {
				list = append(list, fault{"text not ASCII", smtptest.Reply("250 przyjęto"), mail.FaultGarbage, 0})
			}
			for _, f := range list {
				if f.want == mail.FaultTimeout && mode == mail.SecurityTLS && step != mail.StepReply {
					continue // waits are all alike over TLS, and take time
				}
				t.Run(string(step)+"/"+string(mode)+"/"+f.name, func(t *testing.T) {
					t.Parallel()
					hold := make(chan struct{})
					p := smtptest.Start(t, smtptest.Script{Security: mode, At: map[mail.Step]smtptest.Action{step: f.do}, Hold: hold})
					req := request(p)
					if f.want == mail.FaultTimeout {
						req.Timeouts = fast()
						req.Timeouts.Dial, req.Timeouts.TLS = 20*time.Second, 20*time.Second
						if step != mail.StepReply && step != mail.StepData {
							req.Timeouts.Data = 20 * time.Second
						}
					}
					rec := &recorder{reached: func(s mail.Step) {
						if s == mail.StepGreeting && mode == mail.SecuritySTARTTLS || s == mail.StepTLS {
							close(hold)
						}
					}}
					ev := Send(t.Context(), req, rec)
					handed := step == mail.StepReply
					if ev.LastStep != step || ev.Fault != f.want || ev.Reply.Code != f.code || ev.HandedOver != handed || ev.MarkDurable != handed {
						t.Errorf("step %s fault %q reply %d handed over %v mark %v, want fault %q reply %d handed over %v\n%+v",
							ev.LastStep, ev.Fault, ev.Reply.Code, ev.HandedOver, ev.MarkDurable, f.want, f.code, handed, ev)
					}
					if ev.AllRefused != (step == mail.StepRcpt && f.want == mail.FaultRefused && f.code != 421) {
						t.Errorf("all refused: %v", ev.AllRefused)
					}
					if f.want != mail.FaultRefused && ev.Detail == "" {
						t.Error("no words about the fault")
					}
					p.Close()
					p.Wait()
					terminated := false
					for _, m := range p.Received() {
						terminated = terminated || m.Terminated
					}
					if terminated != handed {
						t.Errorf("the terminator came: %v, handed over: %v", terminated, handed)
					}
				})
			}
		}
	}
}

func TestHandshakeFaults(t *testing.T) {
	for _, mode := range modes {
		step := mail.StepTLS
		if mode == mail.SecuritySTARTTLS {
			step = mail.StepSTARTTLS
		}
		for name, tc := range map[string]struct {
			script  smtptest.Script
			change  func(*Request)
			want    mail.Fault
			details string
		}{
			"reset":            {smtptest.Script{At: map[mail.Step]smtptest.Action{mail.StepTLS: smtptest.Reset()}}, nil, mail.FaultLost, "lost"},
			"hang-up":          {smtptest.Script{At: map[mail.Step]smtptest.Action{mail.StepTLS: smtptest.HangUp()}}, nil, mail.FaultLost, "lost"},
			"stall":            {smtptest.Script{At: map[mail.Step]smtptest.Action{mail.StepTLS: smtptest.Stall()}}, func(r *Request) { r.Timeouts.TLS = 100 * time.Millisecond }, mail.FaultTimeout, "in time"},
			"plain text":       {smtptest.Script{At: map[mail.Step]smtptest.Action{mail.StepTLS: smtptest.Reply("220 hello there, this is plain")}}, nil, mail.FaultTLS, "does not speak TLS"},
			"expired":          {smtptest.Script{Cert: smtptest.CertExpired}, nil, mail.FaultTLS, "expired"},
			"other name":       {smtptest.Script{Cert: smtptest.CertOtherName}, nil, mail.FaultTLS, "another name"},
			"not trusted":      {smtptest.Script{}, func(r *Request) { r.CA = nil }, mail.FaultTLS, "authority"},
			"ca_file missing":  {smtptest.Script{}, func(r *Request) { r.CA, r.Server.CAFile = nil, "no-such-file.pem" }, mail.FaultTLS, "no-such-file.pem"},
			"ca_file no PEM":   {smtptest.Script{}, func(r *Request) { r.CA = []byte("x") }, mail.FaultTLS, "PEM"},
			"answer in excess": {smtptest.Script{AfterSTARTTLS: "250 evil\r\n"}, nil, mail.FaultTLS, "plain text followed"},
			"STARTTLS missing": {smtptest.Script{Plain: true}, nil, mail.FaultTLS, "does not offer"},
		} {
			if mode == mail.SecurityTLS && (tc.script.Plain || tc.script.AfterSTARTTLS != "") {
				continue
			}
			t.Run(string(mode)+"/"+name, func(t *testing.T) {
				t.Parallel()
				tc.script.Security = mode
				p := smtptest.Start(t, tc.script)
				req := request(p)
				if tc.change != nil {
					tc.change(&req)
				}
				ev := Send(t.Context(), req, &recorder{})
				if ev.LastStep != step || ev.Fault != tc.want || !strings.Contains(ev.Detail, tc.details) || ev.TLS != "" || ev.HandedOver || ev.Recipients != 1 {
					t.Errorf("evidence %+v, want fault %q saying %q", ev, tc.want, tc.details)
				}
				for _, c := range p.Commands() {
					if strings.HasPrefix(c, "AUTH") {
						t.Errorf("credentials were sent: %q", c)
					}
				}
			})
		}
	}
}

func TestBeforeTheConnection(t *testing.T) {
	p := smtptest.Start(t, smtptest.Script{})
	gone := request(p)
	gone.Server.Port = func() int { q := smtptest.Start(t, smtptest.Script{}); q.Close(); return q.Port }()
	for name, tc := range map[string]struct {
		change func(*Request)
		step   mail.Step
		want   mail.Fault
		detail string
	}{
		"no credentials": {func(r *Request) {
			r.Creds = func(context.Context) (auth.Credentials, error) {
				return auth.Credentials{}, mail.Errorf(mail.CodeCredentials, "Unlock it.", "The keyring is locked.")
			}
		}, mail.StepCredentials, mail.FaultLocal, "The keyring is locked. Unlock it."},
		"no token while offline": {func(r *Request) {
			r.Creds = func(context.Context) (auth.Credentials, error) {
				return auth.Credentials{}, &mail.Error{Code: mail.CodeCredentials, Text: "The service is away.", Retryable: true}
			}
		}, mail.StepCredentials, mail.FaultTimeout, "The service is away."},
		"foreign error": {func(r *Request) {
			r.Creds = func(context.Context) (auth.Credentials, error) { return auth.Credentials{}, errors.New(password) }
		}, mail.StepCredentials, mail.FaultLocal, "the credentials could not be read"},
		"refused":            {func(r *Request) { r.Server.Port = gone.Server.Port }, mail.StepDial, mail.FaultUnreachable, "cannot be reached"},
		"no such host":       {func(r *Request) { r.Server.Host = "host.invalid" }, mail.StepDial, mail.FaultUnreachable, "cannot be reached"},
		"no recipients":      {func(r *Request) { r.To = nil }, mail.StepRcpt, mail.FaultLocal, "no recipients"},
		"injected recipient": {func(r *Request) { r.To = []string{"a@b.org> NOTIFY=NEVER"} }, mail.StepRcpt, mail.FaultLocal, "not an envelope address"},
		"injected CRLF":      {func(r *Request) { r.To = []string{"a@b.org>\r\nDATA"} }, mail.StepRcpt, mail.FaultLocal, "not an envelope address"},
		"unconverted domain": {func(r *Request) { r.To = []string{"a@münchen.example"} }, mail.StepRcpt, mail.FaultLocal, "not an envelope address"},
		"injected sender":    {func(r *Request) { r.From = "a@b.org>\r\nRCPT TO:<c@d.org" }, mail.StepMail, mail.FaultLocal, "not an envelope address"},
		"empty message":      {func(r *Request) { r.Bytes = nil }, mail.StepBody, mail.FaultLocal, "empty"},
		"bare LF":            {func(r *Request) { r.Bytes = []byte("a\n.\nMAIL FROM:<x@y>\r\n") }, mail.StepBody, mail.FaultLocal, "bare"},
		"bare CR":            {func(r *Request) { r.Bytes = []byte("a\r.\rb\r\n") }, mail.StepBody, mail.FaultLocal, "bare"},
		"LF CR":              {func(r *Request) { r.Bytes = []byte("a\n\r\n") }, mail.StepBody, mail.FaultLocal, "bare"},
		"trailing CR":        {func(r *Request) { r.Bytes = []byte("a\r\n\r") }, mail.StepBody, mail.FaultLocal, "CRLF"},
		"no line end":        {func(r *Request) { r.Bytes = []byte("a\r\n.") }, mail.StepBody, mail.FaultLocal, "CRLF"},
		"8-bit":              {func(r *Request) { r.Bytes = []byte("ż\r\n") }, mail.StepBody, mail.FaultLocal, "7-bit"},
		"NUL":                {func(r *Request) { r.Bytes = []byte("a\x00\r\n") }, mail.StepBody, mail.FaultLocal, "7-bit"},
		"line of 999 octets": {func(r *Request) { r.Bytes = []byte(strings.Repeat("x", 999) + "\r\n") }, mail.StepBody, mail.FaultLocal, "998"},
	} {
		req := request(p)
		tc.change(&req)
		ev := Send(t.Context(), req, &recorder{})
		if ev.LastStep != tc.step || ev.Fault != tc.want || !strings.Contains(ev.Detail, tc.detail) || ev.HandedOver || ev.Recipients != len(req.To) {
			t.Errorf("%s: %+v", name, ev)
		}
	}
	if n := p.Connections(); n != 0 {
		t.Errorf("%d connections were made although nothing could be sent", n)
	}
}

func TestRecipients(t *testing.T) {
	no5, no4 := smtptest.Reply("550 5.1.1 unknown"), smtptest.Reply("450 4.2.1 later")
	for name, tc := range map[string]struct {
		to      []string
		rcpt    map[string]smtptest.Action
		final   string
		partial bool
		want    string // step fault reply accepted rejected not-submitted
		data    bool
	}{
		"one of two refused":               {[]string{"a@x.org", "b@x.org"}, map[string]smtptest.Action{"b@x.org": no5}, "", false, "rcpt partial 550 1 1 2", false},
		"the same, partial":                {[]string{"a@x.org", "b@x.org"}, map[string]smtptest.Action{"b@x.org": no5}, "", true, "reply  250 1 1 1", true},
		"both refused, partial":            {[]string{"a@x.org", "b@x.org"}, map[string]smtptest.Action{"a@x.org": no4, "b@x.org": no5}, "", true, "rcpt refused 550 0 2 2", false},
		"both refused":                     {[]string{"a@x.org", "b@x.org"}, map[string]smtptest.Action{"a@x.org": no4, "b@x.org": no4}, "", false, "rcpt refused 450 0 2 2", false},
		"repeated, both refused":           {[]string{"a@x.org", "A@X.ORG"}, map[string]smtptest.Action{"a@x.org": no5, "A@x.org": no5}, "", false, "rcpt refused 550 0 1 2", false},
		"421 after one refused":            {[]string{"a@x.org", "b@x.org", "c@x.org"}, map[string]smtptest.Action{"a@x.org": no5, "b@x.org": smtptest.Reply("421 4.3.2 bye")}, "", true, "rcpt refused 421 0 1 3", false},
		"421 after one accepted":           {[]string{"a@x.org", "b@x.org"}, map[string]smtptest.Action{"b@x.org": smtptest.Reply("421 4.3.2 bye")}, "", true, "rcpt refused 421 1 0 2", false},
		"refused after the handover":       {[]string{"a@x.org", "b@x.org"}, nil, "554 5.7.1 spam", false, "reply refused 554 2 0 2", true},
		"repeated, accepted":               {[]string{"a@x.org", "a@x.org"}, nil, "", false, "reply  250 2 0 0", true},
		"repeated, refused after":          {[]string{"a@x.org", "a@x.org"}, nil, "554 5.7.1 spam", false, "reply ambiguous 554 2 0 0", true},
		"colliding by case, refused after": {[]string{"Bob@x.org", "bob@x.org"}, nil, "451 4.3.0 later", false, "reply ambiguous 451 2 0 0", true},
		"colliding, one refused, partial":  {[]string{"Bob@x.org", "bob@x.org"}, map[string]smtptest.Action{"bob@x.org": no5}, "", true, "reply ambiguous 250 1 1 1", true},
		"colliding, 421 after":             {[]string{"Bob@x.org", "bob@x.org"}, nil, "421 4.3.2 bye", false, "reply refused 421 2 0 0", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := smtptest.Script{Rcpt: tc.rcpt}
			if tc.final != "" {
				script.At = map[mail.Step]smtptest.Action{mail.StepReply: smtptest.Reply(tc.final)}
			}
			p := smtptest.Start(t, script)
			req := request(p)
			req.Partial = tc.partial
			req.To = nil
			for _, to := range tc.to {
				a, err := mail.EnvelopeAddress(to)
				if err != nil {
					t.Fatal(err)
				}
				req.To = append(req.To, a)
			}
			ev := Send(t.Context(), req, &recorder{})
			got := strings.Join([]string{string(ev.LastStep), string(ev.Fault), itoa(ev.Reply.Code), itoa(ev.Accepted()), itoa(len(ev.Rejected())), itoa(ev.NotSubmitted())}, " ")
			if got != tc.want || ev.HandedOver != tc.data || ev.Partial != tc.partial {
				t.Errorf("got %q, want %q\n%+v", got, tc.want, ev)
			}
			p.Wait()
			cmds := strings.Join(p.Commands(), "\n")
			if strings.Contains(cmds, "DATA") != tc.data {
				t.Errorf("DATA: %v\n%s", !tc.data, cmds)
			}
			if rset := strings.Contains(cmds, "RSET"); rset == (tc.data || ev.Reply.Code == 421) {
				t.Errorf("RSET: %v\n%s", rset, cmds)
			}
		})
	}
}

func itoa(n int) string { return string(appendInt(nil, n)) }

func appendInt(b []byte, n int) []byte {
	if n >= 10 {
		b = appendInt(b, n/10)
	}
	return append(b, byte('0'+n%10))
}

func TestSizeIsCheckedBeforeMail(t *testing.T) {
	p := smtptest.Start(t, smtptest.Script{Size: 10})
	ev := Send(t.Context(), request(p), &recorder{})
	if ev.LastStep != mail.StepMail || ev.Fault != mail.FaultSize || !strings.Contains(ev.Detail, "29") || !strings.Contains(ev.Detail, "10") {
		t.Errorf("evidence %+v", ev)
	}
	p.Wait()
	if cmds := strings.Join(p.Commands(), "\n"); strings.Contains(cmds, "MAIL") {
		t.Errorf("MAIL was sent all the same:\n%s", cmds)
	}
}

func TestAuthentication(t *testing.T) {
	token := func(context.Context) (auth.Credentials, error) {
		return auth.Credentials{Username: "ada", Secret: auth.NewSecret("tok"), Token: true}, nil
	}
	for name, tc := range map[string]struct {
		script smtptest.Script
		creds  func(context.Context) (auth.Credentials, error)
		want   string // fault reply
		cmd    string
	}{
		"PLAIN":               {smtptest.Script{}, nil, " 0", "AUTH PLAIN AGFkYQBjb3JyZWN0IGhvcnNl"},
		"LOGIN":               {smtptest.Script{Auth: []string{"LOGIN"}}, nil, " 0", "AUTH LOGIN"},
		"XOAUTH2":             {smtptest.Script{Auth: []string{"PLAIN", "XOAUTH2"}}, token, " 0", "AUTH XOAUTH2 dXNlcj1hZGEBYXV0aD1CZWFyZXIgdG9rAQE="},
		"XOAUTH2 refused":     {smtptest.Script{Auth: []string{"XOAUTH2"}, At: map[mail.Step]smtptest.Action{mail.StepAuth: smtptest.Challenge("eyJzdGF0dXMiOiI0MDAifQ==", 1)}}, token, "refused 535", "AUTH XOAUTH2"},
		"nothing offered":     {smtptest.Script{Auth: []string{}}, nil, "local 0", ""},
		"nothing that fits":   {smtptest.Script{Auth: []string{"XOAUTH2"}}, nil, "local 0", ""},
		"questions for ever":  {smtptest.Script{Auth: []string{"LOGIN"}, At: map[mail.Step]smtptest.Action{mail.StepAuth: smtptest.Challenge("Pz8=", 1000)}}, nil, "local 0", "AUTH LOGIN"},
		"challenge no base64": {smtptest.Script{Auth: []string{"XOAUTH2"}, At: map[mail.Step]smtptest.Action{mail.StepAuth: smtptest.Challenge("***", 1)}}, token, "refused 535", "AUTH XOAUTH2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := smtptest.Start(t, tc.script)
			req := request(p)
			if tc.creds != nil {
				req.Creds = tc.creds
			}
			ev := Send(t.Context(), req, &recorder{})
			step := mail.StepAuth
			code := ev.Reply.Code
			if ev.LastStep == mail.StepReply {
				step, code = mail.StepReply, 0
			}
			if got := string(ev.Fault) + " " + itoa(code); got != tc.want || ev.LastStep != step {
				t.Errorf("got %q at %s, want %q", got, ev.LastStep, tc.want)
			}
			if cmds := strings.Join(p.Commands(), "\n"); tc.cmd != "" && !strings.Contains(cmds, tc.cmd) {
				t.Errorf("commands:\n%s", cmds)
			} else if tc.cmd == "" && strings.Contains(cmds, "AUTH") {
				t.Errorf("AUTH was tried:\n%s", cmds)
			}
		})
	}
}

func TestStuffing(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\n": "a\r\n", ".\r\n": "..\r\n", "..\r\n": "...\r\n", "a.\r\n.b\r\n": "a.\r\n..b\r\n", "\r\n.\r\n.\r\n": "\r\n..\r\n..\r\n", "\r\n": "\r\n",
	} {
		if got := string(stuff([]byte(in))); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if !bytes.Equal(stuff(nil), nil) {
		t.Error("nothing became something")
	}
}
