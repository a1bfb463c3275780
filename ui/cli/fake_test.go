package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC // the text shows local times
	os.Exit(m.Run())
}

var at = time.Date(2026, 11, 30, 22, 30, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

// attempt is one of each status.
func attempt(s mail.DeliveryStatus) view.Attempt {
	v := view.Attempt{ID: "11111111-2222-4333-8444-555555555555", Kind: mail.KindReply, Account: "personal", MessageID: ptr("7"),
		IdempotencyKey: "k1", Status: s, To: []string{"bob@example.org"}, Subject: "Re: tea", Body: "Yes.\n", RFCMessageID: "<a@example.org>",
		Evidence: view.Evidence{LastStep: mail.StepReply, HandedOver: true, AcceptedCount: 1, Rejected: []view.Rejected{}},
		SentCopy: view.SentCopy{Status: mail.CopyPending}, CreatedAt: at, UpdatedAt: at}
	switch s {
	case mail.StatusSent:
		v.SentAt, v.Evidence.ReplyCode = &v.UpdatedAt, ptr(250)
		v.Says = safe.Line("Accepted by smtp.example.org.")
	case mail.StatusFailed:
		v.ErrorCode, v.ErrorMessage = ptr(mail.CodeSMTPRejected), ptr("550 no")
		v.Says, v.Advice = safe.Line("Not sent: smtp.example.org refused the message."), safe.Line("Correct it and send again.")
	case mail.StatusUncertain:
		v.ErrorCode, v.ErrorMessage = ptr(mail.CodeSMTPUncertain), ptr("connection lost")
		v.Says = safe.Line("It may have been accepted.")
	}
	return v
}

func replayed(s mail.DeliveryStatus) view.Attempt {
	v := attempt(s)
	v.Replayed = true
	return v
}

// fake is an engine with two accounts, one message and one attempt. It notes
// what it was asked for.
type fake struct {
	attempt view.Attempt
	err     error
	asked   []any
	closed  bool
	report  view.SyncReport
	checks  []view.Check
}

func (f *fake) ask(v any) { f.asked = append(f.asked, v) }

func (f *fake) ListAccounts(context.Context) ([]view.Account, error) {
	return []view.Account{
		{Name: "personal", Email: "ada@example.org", Default: true, Messages: 3, Attempts: 2,
			IMAP: view.Server{Host: "imap.example.org", Port: 993, Security: mail.SecurityTLS, Username: "ada@example.org"},
			SMTP: view.Server{Host: "smtp.example.org", Port: 587, Security: mail.SecuritySTARTTLS, Username: "ada@example.org"}},
		{Name: "work", Email: "ada@work.example"},
	}, f.err
}

func (f *fake) TestAccount(_ context.Context, name string) ([]view.Check, error) {
	f.ask(name)
	return f.checks, f.err
}

func (f *fake) RemoveAccount(_ context.Context, name string) error {
	f.ask("engine removes " + name)
	return f.err
}

func (f *fake) Sync(_ context.Context, account, folder string) (view.SyncReport, error) {
	f.ask([]string{account, folder})
	return f.report, f.err
}

func (f *fake) Folders(_ context.Context, account string) ([]view.Folder, error) {
	all := []view.Folder{{ID: 1, Account: "personal", Name: safe.Line("INBOX"), Kind: mail.FolderInbox},
		{ID: 2, Account: "personal", Name: safe.Line("Wysłane"), Kind: mail.FolderSent},
		{ID: 3, Account: "personal", Name: safe.Line("Lists"), Kind: mail.FolderNone},
		{ID: 4, Account: "work", Name: safe.Line("Lists"), Kind: mail.FolderNone}}
	var out []view.Folder
	for _, x := range all {
		if account == "" || x.Account == account {
			out = append(out, x)
		}
	}
	return out, f.err
}

func row() view.MessageRow {
	return view.MessageRow{ID: 7, Account: "personal", FolderID: 1, Folder: safe.Line("INBOX"), UID: 70, From: safe.Line("Bob"),
		FromAddr: safe.Line("bob@example.org"), To: safe.Line("ada@example.org"), Subject: safe.Line("Tea 🍵\x1b[2J at five?"), Date: at, Size: 812,
		Unread: true, HasBody: true, Badge: &view.Badge{Status: mail.StatusUncertain}}
}

func (f *fake) Messages(_ context.Context, q view.ListQuery) (view.Page, error) {
	f.ask(q)
	return view.Page{Rows: []view.MessageRow{row()}, Total: 12}, f.err
}

func (f *fake) Message(_ context.Context, id int64) (view.Message, error) {
	f.ask(id)
	return view.Message{MessageRow: row(), MessageID: safe.Line("<t@example.org>"), FromAll: []view.Address{{Name: safe.Line("Bob"), Addr: safe.Line("bob@example.org")}},
		ToAll: []view.Address{{Addr: safe.Line("ada@example.org")}}, Headers: []view.Header{}, Text: safe.Block("Tea?\n\nBob\n"),
		Files: []view.File{{Part: 2, Name: safe.Line("menu.pdf"), Type: safe.Line("application/pdf"), Size: 9}}}, f.err
}

func (f *fake) Raw(_ context.Context, id int64) ([]byte, error) {
	f.ask(id)
	return []byte("Subject: x\r\n\r\n\x1b]0;pwn\x07\x9b\r\n"), f.err
}

func (f *fake) Reply(_ context.Context, r view.ReplyRequest) (view.Attempt, error) {
	f.ask(r)
	return f.attempt, f.err
}

func (f *fake) Send(_ context.Context, r view.SendRequest) (view.Attempt, error) {
	f.ask(r)
	return f.attempt, f.err
}

func (f *fake) Attempts(_ context.Context, q view.AttemptFilter) ([]view.Attempt, error) {
	f.ask(q)
	if f.attempt.ID == "" {
		return nil, f.err
	}
	return []view.Attempt{f.attempt}, f.err
}

func (f *fake) Attempt(_ context.Context, id string) (view.Attempt, error) {
	f.ask(id)
	return f.attempt, f.err
}

func (f *fake) Chain(context.Context, string) ([]view.Attempt, error) {
	return []view.Attempt{f.attempt, f.attempt}, f.err
}

func (f *fake) Probe(_ context.Context, id string) (view.Probe, error) {
	f.ask(id)
	return view.Probe{Attempt: f.attempt, Sentence: safe.Line("Nothing was found, which proves nothing."),
		Looked: []view.Looked{{Place: safe.Line("Sent"), Strength: "none"}, {Place: safe.Line("All Mail"), Strength: "none",
			Error: &mail.Error{Code: mail.CodeIMAPUnavailable, Text: "The server is away."}}}}, f.err
}

func (f *fake) Resolve(_ context.Context, id string, r mail.Resolution) (view.Attempt, error) {
	f.ask([]string{id, string(r)})
	v := f.attempt
	v.Resolution = &r
	return v, f.err
}

func (f *fake) Resend(_ context.Context, id string, o view.ResendOptions) (view.Attempt, error) {
	f.ask(o)
	return f.attempt, f.err
}

func (f *fake) CopyAttempt(_ context.Context, id string) (view.Attempt, error) {
	f.ask(id)
	return f.attempt, f.err
}

func (f *fake) Audit(_ context.Context, subject string, limit int) ([]view.AuditRow, error) {
	f.ask(subject)
	return []view.AuditRow{{ID: 1, At: at, Actor: mail.ActorWorker, Action: "attempt.settled", Subject: safe.Line("attempt:1"),
		Why: safe.Line("250 ok"), From: safe.Line("sending"), To: safe.Line("sent")}}, f.err
}

// accounts notes what is asked of the configuration and the keyring.
type accounts struct {
	calls              []string
	added              mail.Account
	addErr, storeErr   error
	forgetErr, findErr error
	signErr            error
}

func (a *accounts) Guess(email string) (imap, smtp mail.Server, note string, ok bool) {
	if !strings.HasSuffix(email, "@known.example") {
		return
	}
	return mail.Server{Host: "imap.known.example", Port: 993, Security: mail.SecurityTLS},
		mail.Server{Host: "smtp.known.example", Port: 465, Security: mail.SecurityTLS}, "Use an app password.", true
}

func (a *accounts) Add(_ string, acct mail.Account) (mail.Account, error) {
	a.calls = append(a.calls, "add "+acct.Name)
	a.added = acct
	return acct, a.addErr
}

func (a *accounts) Find(_, name string) (mail.Account, error) {
	if name == "" {
		name = "personal"
	}
	acct := mail.Account{Name: name, Auth: mail.AuthPassword}
	if name == "work" {
		acct.Auth = mail.AuthOAuth2
	}
	return acct, a.findErr
}

func (a *accounts) Remove(_, name string) (string, error) {
	a.calls = append(a.calls, "cut "+name)
	return "/c/config.toml.backup-1", nil
}

func (a *accounts) StorePassword(_ context.Context, acct mail.Account, password string) error {
	a.calls = append(a.calls, "store "+acct.Name+" "+password)
	return a.storeErr
}

func (a *accounts) SignIn(_ context.Context, acct mail.Account, s SignIn) error {
	call := fmt.Sprintf("sign in %s %s device=%v", acct.Name, s.State, s.Device)
	if s.Paste != nil {
		b, _ := io.ReadAll(s.Paste)
		call += " paste=" + string(b)
	}
	a.calls = append(a.calls, call)
	s.Tell("Open https://login.example/\x1b[2J?a=b")
	return a.signErr
}

func (a *accounts) Forget(_ context.Context, acct mail.Account) error {
	a.calls = append(a.calls, "forget "+acct.Name)
	return a.forgetErr
}

// run is one command line's result.
type run struct {
	code        int
	out, err    string
	engine      *fake
	accounts    *accounts
	interactive string
	options     Options
}

type setup struct {
	engine   fake
	accounts accounts
	openErr  error
	stdin    string
	terminal bool
	demoErr  error
}

// exec runs a command line against the fakes.
func exec(t *testing.T, s setup, args ...string) *run {
	t.Helper()
	r := &run{engine: &s.engine, accounts: &s.accounts}
	var out, errs bytes.Buffer
	r.code = Main(t.Context(), Deps{
		Args: args, Stdin: strings.NewReader(s.stdin), Stdout: &out, Stderr: &errs, StdoutTerminal: s.terminal, Version: "1.2.3",
		Defaults: Options{Config: "/c/config.toml", State: "/s"}, Accounts: r.accounts,
		Open: func(_ context.Context, o Options) (Engine, func() error, error) {
			r.options = o
			if s.openErr != nil {
				return nil, nil, s.openErr
			}
			return r.engine, func() error { r.engine.closed = true; return nil }, nil
		},
		LoadFile: func(path string) (mail.Attachment, error) {
			if path == "none" {
				return mail.Attachment{}, &mail.Error{Code: mail.CodeInvalid, Text: "No such file."}
			}
			return mail.Attachment{AttachmentRef: mail.AttachmentRef{Name: path}}, nil
		},
		Doctor: func(context.Context, Options) ([]view.Check, error) { return s.engine.checks, nil },
		RunTUI: func(_ context.Context, o Options) error { r.interactive, r.options = "tui", o; return nil },
		RunDemo: func(context.Context, Options) error {
			r.interactive = "demo"
			return s.demoErr
		},
		ServeDemo: func(_ context.Context, _ Options, ready func(Demo) error) error {
			return ready(Demo{Config: "/tmp/d/config.toml", State: "/tmp/d/state", IMAP: "127.0.0.1:1", SMTP: "127.0.0.1:2", CAFile: "/tmp/d/ca.pem"})
		},
	})
	r.out, r.err = out.String(), errs.String()
	return r
}

// errorOf reads the error object of standard error.
func (r *run) errorOf(t *testing.T) (code string, details map[string]any) {
	t.Helper()
	var v struct {
		Error struct {
			Code, Message string
			Retryable     *bool
			Details       map[string]any
		}
	}
	dec := json.NewDecoder(strings.NewReader(r.err))
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("standard error is no JSON: %v\n%s", err, r.err)
	}
	if dec.More() || v.Error.Message == "" || v.Error.Retryable == nil || v.Error.Details == nil {
		t.Errorf("the error object is incomplete: %s", r.err)
	}
	return v.Error.Code, v.Error.Details
}
