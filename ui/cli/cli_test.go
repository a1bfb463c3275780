package cli

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"skrzynka/mail"
	"skrzynka/mail/view"
)

const attemptJSON = `{"id":"11111111-2222-4333-8444-555555555555","kind":"reply","account":"personal","message_id":"7","idempotency_key":"k1","status":"sent",` +
	`"to":["bob@example.org"],"subject":"Re: tea","body":"Yes.\n","rfc_message_id":"<a@example.org>","provider_message_id":null,` +
	`"error_code":null,"error_message":null,"retryable":false,"replayed":false,"retry_of":null,"resolution":null,` +
	`"evidence":{"last_step":"reply","handed_over":true,"not_handed_over":false,"reply_code":250,"enhanced_code":null,"reply_text":null,` +
	`"accepted_count":1,"rejected_count":0,"not_submitted_count":0,"rejected":[]},` +
	`"sent_copy":{"status":"pending","folder":null,"uid_validity":null,"uid":null,"error_code":null,"error_message":null},` +
	`"created_at":"2026-11-30T22:30:00Z","updated_at":"2026-11-30T22:30:00Z","sent_at":"2026-11-30T22:30:00Z","says":"Accepted by smtp.example.org."}`

// The shapes a script reads.
func TestJSON(t *testing.T) {
	sent := setup{engine: fake{attempt: attempt(mail.StatusSent)}, stdin: "Yes.\n"}
	rows := []struct {
		name string
		s    setup
		args string
		want string
	}{
		{"reply", sent, "reply 7 --body-file -", attemptJSON},
		{"attempts show", sent, "attempts show x", attemptJSON},
		{"attempts list", sent, "attempts list", "[" + attemptJSON + "]"},
		{"attempts list, none", setup{}, "attempts list", "[]"},
		{"list", setup{}, "list", `[{"id":7,"account":"personal","folder_id":1,"folder":"INBOX","uid":70,"from":"Bob","from_address":"bob@example.org",` +
			`"to":"ada@example.org","subject":"Tea 🍵 at five?","date":"2026-11-30T22:30:00Z","size":812,"unread":true,"flagged":false,"answered":false,` +
			`"attachments":0,"has_body":true,"badge":{"status":"uncertain"}}]`},
		{"raw", setup{}, "raw 7", `{"base64":"U3ViamVjdDogeA0KDQobXTA7cHduB5sNCg==","id":7,"size":25}`},
		{"sync", setup{engine: fake{report: view.SyncReport{Accounts: []view.AccountSync{{Account: "personal", OK: true}}}}}, "sync",
			`{"accounts":[{"account":"personal","ok":true,"folders":[],"error":null}]}`},
		{"sync, no accounts", setup{}, "sync", `{"accounts":[]}`},
		{"account show", setup{}, "account show work", `{"name":"work","email":"ada@work.example","imap":{"host":"","port":0,"security":"","username":""},` +
			`"smtp":{"host":"","port":0,"security":"","username":""},"default":false,"messages":0,"attempts":0}`},
		{"audit", setup{}, "audit", `[{"id":1,"at":"2026-11-30T22:30:00Z","actor":"worker","action":"attempt.settled","subject":"attempt:1","why":"250 ok","from":"sending","to":"sent"}]`},
		{"doctor", setup{engine: fake{checks: []view.Check{{Name: "keyring", Fix: "Start one."}}}}, "doctor",
			`{"ok":false,"checks":[{"name":"keyring","ok":false,"found":"","fix":"Start one."}]}`},
		{"demo serve", setup{}, "demo serve", `{"config":"/tmp/d/config.toml","state":"/tmp/d/state","imap":"127.0.0.1:1","smtp":"127.0.0.1:2","ca_file":"/tmp/d/ca.pem"}`},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got := exec(t, r.s, append(strings.Fields(r.args), "--json")...)
			if got.code != 0 || got.err != "" || got.out != r.want+"\n" {
				t.Errorf("exit %d, %s\ngot  %swant %s", got.code, got.err, got.out, r.want)
			}
		})
	}
}

func TestExitCodes(t *testing.T) {
	refused := &mail.Error{Code: mail.CodePolicyRefused, Text: "No.", Details: map[string]any{"rule": "deny"}}
	rows := []struct {
		name string
		s    setup
		args string
		code int
		err  mail.Code // on standard error
		out  string    // part of standard output, "" for nothing
	}{
		{"sent", setup{engine: fake{attempt: attempt(mail.StatusSent)}}, "send --to b@c.example --subject s --body-file -", 0, "", `"status":"sent"`},
		{"failed", setup{engine: fake{attempt: attempt(mail.StatusFailed)}}, "send --to b@c.example --subject s --body-file -", 1, mail.CodeSMTPRejected, `"status":"failed"`},
		{"uncertain", setup{engine: fake{attempt: attempt(mail.StatusUncertain)}}, "reply 7 --body-file -", 3, mail.CodeSMTPUncertain, `"status":"uncertain"`},
		{"uncertain resend", setup{engine: fake{attempt: attempt(mail.StatusUncertain)}}, "attempts resend x", 3, mail.CodeSMTPUncertain, `"status":"uncertain"`},
		{"found while another call sends it", setup{engine: fake{attempt: replayed(mail.StatusSending)}}, "reply 7 --body-file -", 0, "", `"status":"sending"`},
		{"found as failed", setup{engine: fake{attempt: replayed(mail.StatusFailed)}}, "reply 7 --body-file -", 1, mail.CodeSMTPRejected, `"status":"failed"`},
		{"held back", setup{engine: fake{attempt: attempt(mail.StatusPending)}}, "reply 7 --body-file -", 1, mail.CodeConflict, `"status":"pending"`},
		{"an uncertain one is only shown", setup{engine: fake{attempt: attempt(mail.StatusUncertain)}}, "attempts show x", 0, "", `"status":"uncertain"`},
		{"sent, its copy failed", setup{engine: fake{attempt: attempt(mail.StatusSent), err: &mail.Error{Code: mail.CodeSentCopyFailed, Text: "The mail was submitted."}}},
			"reply 7 --body-file -", 1, mail.CodeSentCopyFailed, `"status":"sent"`},
		{"refused before anything is stored", setup{engine: fake{err: refused}}, "reply 7 --body-file -", 1, mail.CodePolicyRefused, ""},
		{"an error of no kind", setup{engine: fake{err: errors.New("boom")}}, "audit", 1, mail.CodeInternal, ""},
		{"no configuration", setup{openErr: &mail.Error{Code: mail.CodeConfigMissing, Text: "None."}}, "list", 1, mail.CodeConfigMissing, ""},
		{"an empty key", setup{}, "reply 7 --body-file - --idempotency-key=", 1, mail.CodeKeyInvalid, ""},
		{"an empty key of a resend", setup{}, "attempts resend x --idempotency-key=", 1, mail.CodeKeyInvalid, ""},
		{"a message that is no number", setup{}, "reply x7 --body-file -", 1, mail.CodeReplyTargetInvalid, ""},
		{"shown message that is no number", setup{}, "show 0", 1, mail.CodeNotFound, ""},
		{"body that is not there", setup{}, "reply 7 --body-file /nowhere/x", 1, mail.CodeInvalid, ""},
		{"body that is not UTF-8", setup{stdin: "\xff"}, "reply 7 --body-file -", 1, mail.CodeReplyBodyInvalid, ""},
		{"attachment that is not there", setup{}, "reply 7 --body-file - --attach none", 1, mail.CodeInvalid, ""},
		{"account that is not configured", setup{}, "list --account nobody", 1, mail.CodeNotFound, ""},
		{"folder that is not there", setup{}, "list --folder Nope", 1, mail.CodeNotFound, ""},
		{"folder of several accounts", setup{}, "list --folder Lists", 1, mail.CodeInvalid, ""},
		{"sync that failed", setup{engine: fake{report: view.SyncReport{Accounts: []view.AccountSync{{Account: "a", Error: &mail.Error{Code: mail.CodeIMAPAuth, Text: "No."}}}}}},
			"sync", 1, mail.CodeIMAPAuth, `"ok":false`},
		{"account test that failed", setup{engine: fake{checks: []view.Check{{Name: "imap", OK: true}, {Name: "smtp", Error: &mail.Error{Code: mail.CodeSMTPAuth, Text: "No."}}}}},
			"account test", 1, mail.CodeSMTPAuth, `"ok":false`},
		{"account test", setup{engine: fake{checks: []view.Check{{Name: "imap", OK: true}}}}, "account test", 0, "", `"ok":true`},
		{"remove without --yes", setup{}, "account remove personal", 1, mail.CodeConfirmationRequired, ""},

		{"unknown command", setup{}, "lst", 2, codeUsage, ""},
		{"unknown command of a group", setup{}, "attempts lst", 2, codeUsage, ""},
		{"group alone", setup{}, "account", 2, codeUsage, ""},
		{"unknown flag", setup{}, "list --nope", 2, codeUsage, ""},
		{"flag without its value", setup{}, "list --folder", 2, codeUsage, ""},
		{"value of a wrong type", setup{}, "list --limit x", 2, codeUsage, ""},
		{"limit out of range", setup{}, "list --limit 0", 2, codeUsage, ""},
		{"too many arguments", setup{}, "show 1 2", 2, codeUsage, ""},
		{"missing argument", setup{}, "show", 2, codeUsage, ""},
		{"missing required flag", setup{}, "reply 7", 2, codeUsage, ""},
		{"missing subject", setup{}, "send --to b@c.example --body-file -", 2, codeUsage, ""},
		{"unknown status", setup{}, "attempts list --status lost", 2, codeUsage, ""},
		{"unknown resolution", setup{}, "attempts resolve x --as maybe", 2, codeUsage, ""},
		{"two passwords", setup{}, "account add --email a@known.example --password-stdin --password-command x", 2, codeUsage, ""},
		{"unknown servers", setup{}, "account add --email a@b.example", 2, codeUsage, ""},
		{"JSON of the interface", setup{}, "", 2, codeUsage, ""},
		{"JSON of the demo", setup{}, "demo", 2, codeUsage, ""},
		{"unknown shell", setup{}, "completion cmd", 2, codeUsage, ""},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got := exec(t, r.s, append([]string{"--json"}, strings.Fields(r.args)...)...)
			if got.code != r.code {
				t.Errorf("exit code %d, want %d; %s", got.code, r.code, got.err)
			}
			if r.err == "" && got.err != "" {
				t.Errorf("standard error: %s", got.err)
			} else if r.err != "" {
				if code, _ := got.errorOf(t); code != string(r.err) {
					t.Errorf("error %s, want %s", code, r.err)
				}
			}
			if r.out == "" && got.out != "" || !strings.Contains(got.out, r.out) {
				t.Errorf("standard output: %s", got.out)
			}
			if got.out != "" && !json.Valid([]byte(got.out)) {
				t.Errorf("standard output is no JSON: %s", got.out)
			}
			if got.options.Config != "" && r.s.openErr == nil && !got.engine.closed {
				t.Error("the engine was not closed")
			}
		})
	}
}

// What the flags become on the way to the engine.
func TestRequests(t *testing.T) {
	body := filepath.Join(t.TempDir(), "body.txt")
	if err := os.WriteFile(body, []byte("\xef\xbb\xbfZażółć\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sent := fake{attempt: attempt(mail.StatusSent)}
	rows := []struct {
		name string
		args []string
		want any
	}{
		{"reply", []string{"reply", "7", "--body-file", body, "--all", "--idempotency-key", "k", "--attach", "a,b.txt", "--yes"},
			view.ReplyRequest{MessageID: 7, Body: "Zażółć\r\n", All: true, Key: "k", Files: []mail.Attachment{{AttachmentRef: mail.AttachmentRef{Name: "a,b.txt"}}}, Confirmed: true}},
		{"reply from standard input", []string{"reply", "7", "--body-file", "-"}, view.ReplyRequest{MessageID: 7, Body: "from stdin"}},
		{"send", []string{"send", "--account", "work", "--to", `"Doe, Bob" <bob@example.org>, eve@example.org`, "--to", "x@example.org", "--cc", "c@example.org",
			"--bcc", "=?utf-8?q?=C5=81?= <h@example.org>", "--subject", "", "--body-file", "-"},
			view.SendRequest{Account: "work", Body: "from stdin", Bcc: []mail.Address{{Name: "Ł", Addr: "h@example.org"}}, Cc: []mail.Address{{Addr: "c@example.org"}},
				To: []mail.Address{{Name: "Doe, Bob", Addr: "bob@example.org"}, {Addr: "eve@example.org"}, {Addr: "x@example.org"}}}},
		{"what is no address goes through as it is", []string{"send", "--to", "a..b@example.org, ,nobody", "--subject", "s", "--body-file", "-"},
			view.SendRequest{Subject: "s", Body: "from stdin", To: []mail.Address{{Addr: "a..b@example.org"}, {Addr: "nobody"}}}},
		{"no recipients", []string{"send", "--subject", "s", "--body-file", "-"}, view.SendRequest{Subject: "s", Body: "from stdin"}},
		{"resend", []string{"attempts", "resend", "x", "--new-message", "--idempotency-key", "k2"}, view.ResendOptions{Key: "k2", NewMessage: true, Wait: true}},
		{"resolve", []string{"attempts", "resolve", "x", "--as", "not-sent"}, []string{"x", "confirmed_not_sent"}},
		{"attempts list", []string{"attempts", "list", "--status", "failed", "--open", "--message", "7", "--limit", "3", "--account", "work"},
			view.AttemptFilter{Account: "work", Status: mail.StatusFailed, Open: true, Message: 7, Limit: 3}},
		{"list by kind", []string{"list", "--folder", "Sent", "--limit", "5"}, view.ListQuery{Scope: view.Scope{Kind: mail.FolderSent}, Limit: 5}},
		{"list by name", []string{"list", "--folder", "wysłane", "--query", "is:unread"}, view.ListQuery{Scope: view.Scope{FolderID: 2, Query: "is:unread"}, Limit: 50}},
		{"list by name and account", []string{"list", "--folder", "Lists", "--account", "work"}, view.ListQuery{Scope: view.Scope{FolderID: 4, Account: "work"}, Limit: 50}},
		{"sync", []string{"sync", "--folder", "INBOX", "--account", "work"}, []string{"work", "INBOX"}},
		{"account test, the default", []string{"account", "test"}, "personal"},
		{"account test, named", []string{"account", "test", "work"}, "work"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got := exec(t, setup{engine: sent, stdin: "from stdin"}, r.args...)
			if got.code != 0 || len(got.engine.asked) == 0 || !reflect.DeepEqual(got.engine.asked[len(got.engine.asked)-1], r.want) {
				t.Errorf("exit %d, %s\nasked %+v\nwant  %+v", got.code, got.err, got.engine.asked, r.want)
			}
		})
	}
}

func TestGlobalFlags(t *testing.T) {
	got := exec(t, setup{}, "--config", "/x.toml", "audit", "--state", "/y", "--account", "work")
	if want := (Options{Config: "/x.toml", State: "/y", Account: "work"}); got.options != want {
		t.Errorf("got %+v, want %+v", got.options, want)
	}
	if got = exec(t, setup{}); got.interactive != "tui" || got.options.Config != "/c/config.toml" || got.code != 0 {
		t.Errorf("without a command: %+v", got)
	}
	if got = exec(t, setup{demoErr: &mail.Error{Code: mail.CodeInternal, Text: "No terminal."}}, "demo"); got.interactive != "demo" || got.code != 1 {
		t.Errorf("demo: %+v", got)
	}
	if got = exec(t, setup{}, "demo", "serve"); got.out != `{"config":"/tmp/d/config.toml","state":"/tmp/d/state","imap":"127.0.0.1:1","smtp":"127.0.0.1:2","ca_file":"/tmp/d/ca.pem"}`+"\n" {
		t.Errorf("demo serve prints %q", got.out)
	}
}

func TestAccountAdd(t *testing.T) {
	password := "hunter2 " // a space at the end is part of it
	got := exec(t, setup{stdin: password + "\r\n"}, "account", "add", "--email", "Ada.L@known.example", "--name", "Ada", "--password-stdin", "--json")
	if got.code != 0 || !slices.Equal(got.accounts.calls, []string{"add ada-l", "store ada-l " + password}) {
		t.Fatalf("exit %d, %s, calls %q", got.code, got.err, got.accounts.calls)
	}
	a := got.accounts.added
	if a.DisplayName != "Ada" || a.IMAP.Host != "imap.known.example" || a.SMTP.Port != 465 || a.Auth != mail.AuthPassword {
		t.Errorf("added %+v", a)
	}
	if strings.Contains(got.out+got.err, "hunter2") || !strings.Contains(got.out, `"note":"Use an app password."`) {
		t.Errorf("output %s %s", got.out, got.err)
	}
	got = exec(t, setup{}, "account", "add", "mine", "--email", "a@known.example", "--imap-host", "own.example", "--imap-security", "starttls",
		"--password-command", "pass", "--password-command", "show mail", "--ca-file", "ca.pem")
	a = got.accounts.added
	if a.Name != "mine" || a.IMAP != (mail.Server{Host: "own.example", Security: mail.SecuritySTARTTLS, CAFile: "ca.pem"}) ||
		a.SMTP.Host != "smtp.known.example" || !slices.Equal(a.PasswordCommand, []string{"pass", "show mail"}) {
		t.Errorf("exit %d %s, added %+v", got.code, got.err, a)
	}
	got = exec(t, setup{stdin: "pw", accounts: accounts{addErr: &mail.Error{Code: mail.CodeConflict, Text: "Taken."}}},
		"account", "add", "--email", "a@known.example", "--password-stdin")
	if got.code != 1 || !slices.Equal(got.accounts.calls, []string{"add a"}) {
		t.Errorf("a name that is taken: exit %d, calls %q", got.code, got.accounts.calls)
	}
	got = exec(t, setup{stdin: "pw", accounts: accounts{storeErr: &mail.Error{Code: mail.CodeCredentials, Text: "No keyring."}}},
		"account", "add", "--email", "a@known.example", "--password-stdin")
	if got.code != 1 || !strings.Contains(got.err, "The account was added") {
		t.Errorf("no keyring: exit %d, %s", got.code, got.err)
	}
	for _, in := range []string{"", "\n", "two\nlines\n"} {
		if got = exec(t, setup{stdin: in}, "account", "add", "--email", "a@known.example", "--password-stdin"); got.code != 1 || len(got.accounts.calls) != 0 {
			t.Errorf("password %q: exit %d, calls %q", in, got.code, got.accounts.calls)
		}
	}
}

func TestAccountLogin(t *testing.T) {
	if got := exec(t, setup{stdin: "pw\n"}, "account", "login", "--password-stdin"); got.code != 0 || !slices.Equal(got.accounts.calls, []string{"store personal pw"}) {
		t.Errorf("exit %d, %s, calls %q", got.code, got.err, got.accounts.calls)
	}
	if got := exec(t, setup{stdin: "pw\n"}, "account", "login", "work", "--password-stdin"); got.code != 1 || len(got.accounts.calls) != 0 {
		t.Errorf("an OAuth2 account: exit %d, calls %q", got.code, got.accounts.calls)
	}
	if got := exec(t, setup{stdin: "pw\n"}, "account", "login", "--password-stdin", "--json"); got.out != `{"account":"personal","method":"password","ok":true}`+"\n" {
		t.Errorf("output %s", got.out)
	}
}

func TestAccountSignIn(t *testing.T) {
	for name, tc := range map[string]struct {
		args  []string
		exit  int
		calls []string
	}{
		"browser":                    {[]string{"work"}, 0, []string{"sign in work /s device=false"}},
		"device":                     {[]string{"work", "--device"}, 0, []string{"sign in work /s device=true"}},
		"paste":                      {[]string{"work", "--paste", "--state", "/t"}, 0, []string{"sign in work /t device=false paste=http://x\n"}},
		"two ways":                   {[]string{"work", "--paste", "--device"}, 2, nil},
		"device for a password":      {[]string{"personal", "--device"}, 1, nil},
		"no flag for a password":     {[]string{"personal"}, 2, nil},
		"password for OAuth2":        {[]string{"work", "--password-stdin"}, 1, nil},
		"a password cannot be typed": {[]string{"personal", "hunter2"}, 2, nil},
	} {
		got := exec(t, setup{stdin: "http://x\n"}, append([]string{"account", "login"}, tc.args...)...)
		if got.code != tc.exit || !slices.Equal(got.accounts.calls, tc.calls) {
			t.Errorf("%s: exit %d, calls %q, %s", name, got.code, got.accounts.calls, got.err)
		}
		if strings.Contains(got.err, "\x1b") || tc.exit == 0 && (!strings.Contains(got.err, "https://login.example/") || strings.Contains(got.out, "https:")) {
			t.Errorf("%s: standard output %q, standard error %q", name, got.out, got.err)
		}
	}
	got := exec(t, setup{}, "account", "login", "work", "--json")
	if got.out != `{"account":"work","method":"oauth2","ok":true}`+"\n" || !strings.HasPrefix(got.err, `{"notice":"Open https://login.example/`) {
		t.Errorf("output %s, standard error %s", got.out, got.err)
	}
	got = exec(t, setup{accounts: accounts{signErr: &mail.Error{Code: mail.CodeCredentials, Text: "No."}}}, "account", "login", "work")
	if got.code != 1 || got.out != "" || !strings.Contains(got.err, "No.") {
		t.Errorf("a refused sign-in: exit %d, %s %s", got.code, got.out, got.err)
	}
}

func TestAccountRemove(t *testing.T) {
	got := exec(t, setup{}, "account", "remove", "personal", "--yes", "--json")
	if got.code != 0 || !slices.Equal(got.accounts.calls, []string{"cut personal", "forget personal"}) ||
		!reflect.DeepEqual(got.engine.asked, []any{"engine removes personal"}) {
		t.Errorf("exit %d, %s, calls %q, %v", got.code, got.err, got.accounts.calls, got.engine.asked)
	}
	want := `{"account":"personal","attempts":2,"config_backup":"/c/config.toml.backup-1","messages":3,"password_forgotten":true,"removed":true}` + "\n"
	if got.out != want {
		t.Errorf("got %s", got.out)
	}
	got = exec(t, setup{}, "account", "remove", "personal")
	if got.code != 1 || len(got.accounts.calls)+len(got.engine.asked) != 0 || !strings.Contains(got.err, "3 stored messages and 2 attempts") {
		t.Errorf("without --yes: exit %d, %s, calls %q", got.code, got.err, got.accounts.calls)
	}
}
