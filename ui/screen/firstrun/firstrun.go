// Package firstrun is what one sees before there is an account: a look at the
// demo, or a form that tests what was typed before it is stored.
package firstrun

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
)

// Setup is what the page needs of the program: it knows providers, dials
// servers, and writes the configuration and the keyring.
type Setup interface {
	// Guess knows the servers of common providers by the address; note is a
	// sentence about the provider, such as that it wants an app password.
	Guess(email string) (imap, smtp mail.Server, note string, ok bool)
	// Test tries both servers and reports every step, passed or not.
	Test(ctx context.Context, account mail.Account, password string) []view.Check
	// Save writes the account to the configuration and the password to the keyring.
	Save(ctx context.Context, account mail.Account, password string) error
	// Demo starts the demo in place of this page.
	Demo() tea.Cmd
}

// Saved tells the program that an account was added.
type Saved struct{ Account mail.Account }

// Model is the page.
type Model struct {
	env   *kit.Env
	setup Setup

	add     bool // the form is shown
	only    bool // opened to add a further account: there is no choice to go back to
	at      int
	form    kit.Form
	note    string
	guessed string // the address the servers were filled in for

	running bool
	checks  []view.Check
	passed  bool
	tested  string // the values that were tested
	saving  bool
	// saveAfter saves as soon as the test under way has passed.
	saveAfter bool
	failed    *mail.Error
	focus     bool
	cursor    *tea.Cursor
	scroll    kit.Scroll
}

// New makes the page; add begins with the form. Setup may be nil only where
// nothing but the keys is asked for.
func New(env *kit.Env, setup Setup, add bool) *Model {
	m := &Model{env: env, setup: setup, add: add, only: add}
	text := func(id, label, hint string, check func(string) string) *kit.Field {
		return &kit.Field{ID: id, Label: label, Hint: hint, Check: check}
	}
	security := func(id string, first, second mail.Security) *kit.Field {
		return &kit.Field{ID: id, Label: "security", Hint: "left and right choose", Choices: []string{string(first), string(second)}}
	}
	password := text("password", "Password", "kept in the keyring of this machine, never in a file", needed("the password"))
	password.Input.Secret = true
	m.form.Fields = []*kit.Field{
		text("name", "Your name", "as others see it", nil),
		text("email", "Address", "servers of well-known providers are filled in", checkEmail),
		password,
		text("imap", "IMAP host", "where mail is read", needed("the host")),
		text("imapPort", "port", "", checkPort),
		security("imapSecurity", mail.SecurityTLS, mail.SecuritySTARTTLS),
		text("smtp", "SMTP host", "where mail is sent", needed("the host")),
		text("smtpPort", "port", "", checkPort),
		security("smtpSecurity", mail.SecuritySTARTTLS, mail.SecurityTLS),
		text("user", "User name", "empty: the address", nil),
		text("account", "Account name", "a short name of your choice; empty: personal", checkName),
	}
	m.form.Field("imapPort").Set("993")
	m.form.Field("smtpPort").Set("587")
	return m
}

func needed(what string) func(string) string {
	return func(v string) string {
		if strings.TrimSpace(v) == "" {
			return what + " is needed"
		}
		return ""
	}
}

func checkEmail(v string) string {
	if _, err := mail.EnvelopeAddress(strings.TrimSpace(v)); err != nil {
		return "write an address such as ada@example.org"
	}
	return ""
}

func checkPort(v string) string {
	if n, err := strconv.Atoi(strings.TrimSpace(v)); err != nil || n < 1 || n > 65535 {
		return "a port is a number from 1 to 65535"
	}
	return ""
}

func checkName(v string) string {
	for _, r := range v {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_') {
			return "letters, digits, - and _ only"
		}
	}
	return ""
}

// account is what the form holds.
func (m *Model) account() (mail.Account, string) {
	v := func(id string) string { return strings.TrimSpace(m.form.Value(id)) }
	port := func(id string) int {
		n, _ := strconv.Atoi(v(id)) // checked when the form was submitted
		return n
	}
	user := v("user")
	if user == "" {
		user = v("email")
	}
	name := v("account")
	if name == "" {
		name = "personal"
	}
	return mail.Account{Name: name, DisplayName: v("name"), Email: v("email"), Auth: mail.AuthPassword,
		IMAP: mail.Server{Host: v("imap"), Port: port("imapPort"), Security: mail.Security(v("imapSecurity")), Username: user},
		SMTP: mail.Server{Host: v("smtp"), Port: port("smtpPort"), Security: mail.Security(v("smtpSecurity")), Username: user},
	}, m.form.Value("password")
}

// fingerprint tells whether the form was changed since it was tested.
func (m *Model) fingerprint() string {
	a, password := m.account()
	return fmt.Sprintf("%+v\x00%s", a, password)
}

// Init implements kit.Screen.
func (m *Model) Init() tea.Cmd { return nil }

// Title implements kit.Screen.
func (m *Model) Title() string {
	if m.add {
		return "Add an account"
	}
	return "Welcome"
}

// Focus implements kit.Screen.
func (m *Model) Focus(on bool) { m.focus = on }

// Typing implements kit.Typist.
func (m *Model) Typing() bool { return m.add && !m.running && !m.saving }

// Cursor implements kit.Pointer.
func (m *Model) Cursor() *tea.Cursor {
	if !m.Typing() {
		return nil
	}
	return m.cursor
}

type (
	tested struct {
		m      *Model
		checks []view.Check
		of     string
	}
	saved struct {
		m       *Model
		account mail.Account
		err     error
	}
)

// Update implements kit.Screen.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tested:
		if msg.m == m {
			return m.take(msg)
		}
	case saved:
		if msg.m == m {
			return m.afterSave(msg)
		}
	case tea.MouseWheelMsg:
		m.scroll.Move(kit.WheelStep(msg))
	case tea.KeyPressMsg, tea.PasteMsg:
		if !m.Typing() {
			return nil
		}
		was := m.form.At()
		submitted, _ := m.form.Update(msg)
		if was == m.index("email") && m.form.At() != was {
			m.guess()
		}
		m.scroll.Reset()
		if submitted {
			return m.test()
		}
	}
	return nil
}

func (m *Model) index(id string) int {
	for i, f := range m.form.Fields {
		if f.ID == id {
			return i
		}
	}
	return -1
}

// guess fills in the servers of a known provider, once for an address: what a
// person changed afterwards stays.
func (m *Model) guess() {
	email := strings.TrimSpace(m.form.Value("email"))
	if email == m.guessed || checkEmail(email) != "" {
		return
	}
	m.guessed = email
	imap, smtp, note, ok := m.setup.Guess(email)
	m.note = note
	if !ok {
		if m.note == "" {
			m.note = "The provider is not known here: ask it for its IMAP and SMTP servers."
		}
		return
	}
	for prefix, s := range map[string]mail.Server{"imap": imap, "smtp": smtp} {
		m.form.Field(prefix).Set(s.Host)
		m.form.Field(prefix + "Port").Set(strconv.Itoa(s.Port))
		m.form.Field(prefix + "Security").Set(string(s.Security))
	}
	if imap.Username != "" {
		m.form.Field("user").Set(imap.Username)
	}
}

func (m *Model) test() tea.Cmd {
	if !m.form.Check() {
		return nil
	}
	m.running, m.checks, m.passed, m.failed, m.saveAfter = true, nil, false, nil, false
	setup, of := m.setup, m.fingerprint()
	account, password := m.account()
	return func() tea.Msg { return tested{m, setup.Test(context.Background(), account, password), of} }
}

// take shows the result, and saves when that was asked for and all is well.
func (m *Model) take(r tested) tea.Cmd {
	m.running, m.checks, m.tested = false, r.checks, r.of
	m.passed = len(r.checks) > 0
	for _, c := range r.checks {
		m.passed = m.passed && c.OK
	}
	if m.saveAfter && m.passed {
		return m.store()
	}
	return nil
}

// save stores what was tested. What failed its test is stored only when the
// person says so: a server may be down today.
func (m *Model) save() tea.Cmd {
	if !m.form.Check() {
		return nil
	}
	if m.tested != m.fingerprint() {
		cmd := m.test()
		m.saveAfter = true
		return cmd
	}
	if m.passed {
		return m.store()
	}
	return kit.Show(&kit.Confirm{Env: m.env, Title: "Save it all the same?", Text: []string{"The test did not pass. Nothing can be read or sent until what it names is corrected."},
		Choices: []kit.Choice{
			{Key: "n", Label: "Go on correcting"},
			{Key: "y", Label: "Save it as it is", Danger: true, Run: m.store},
		}})
}

func (m *Model) store() tea.Cmd {
	m.saving, m.failed = true, nil
	setup := m.setup
	account, password := m.account()
	return func() tea.Msg { return saved{m, account, setup.Save(context.Background(), account, password)} }
}

func (m *Model) afterSave(r saved) tea.Cmd {
	m.saving = false
	if m.failed = mail.AsError(r.err); m.failed != nil {
		return nil
	}
	// The password is no longer needed here.
	m.form.Field("password").Set("")
	m.tested = ""
	return tea.Batch(kit.Say(kit.Good, "Account "+kit.Clean(r.account.Name)+" added."), kit.Send(Saved{r.account}))
}

// Actions implements kit.Screen.
func (m *Model) Actions() []kit.Action {
	choosing := kit.When(func() bool { return !m.add }, "the form is open")
	filling := func() (bool, string) {
		switch {
		case !m.add:
			return false, "no form is open"
		case m.running:
			return false, "the connection is being tested"
		case m.saving:
			return false, "it is being saved"
		}
		return true, ""
	}
	act := func(id, title, short string, rank int, enabled func() (bool, string), run func() tea.Cmd, keys ...string) kit.Action {
		return kit.Action{ID: "firstrun." + id, Keys: keys, Title: title, Short: short, Group: "Account", Rank: rank, Enabled: enabled, Run: run}
	}
	if m.add {
		list := []kit.Action{
			act("test", "Test the connection", "test", 1, filling, m.test, "ctrl+t"),
			act("save", "Test if needed, and save", "save", 2, filling, m.save, "ctrl+s"),
			act("back", "Back; nothing is saved", "back", 3, nil, m.back, "esc"),
		}
		return list
	}
	pick := func(i int) func() tea.Cmd { return func() tea.Cmd { m.at = i; return m.choose() } }
	return []kit.Action{
		act("choose", "Choose", "choose", 1, choosing, m.choose, "enter"),
		act("demo", "Look at the demo", "demo", 2, choosing, pick(0), "d"),
		act("add", "Add an account", "add", 3, choosing, pick(1), "a"),
		{ID: "firstrun.down", Keys: []string{"j", "down", "tab"}, Title: "Next choice", Group: "Move", Hidden: true, Run: func() tea.Cmd { m.at = 1; return nil }},
		{ID: "firstrun.up", Keys: []string{"k", "up", "shift+tab"}, Title: "Choice before", Group: "Move", Hidden: true, Run: func() tea.Cmd { m.at = 0; return nil }},
	}
}

func (m *Model) choose() tea.Cmd {
	if m.at == 0 {
		return m.setup.Demo()
	}
	m.add = true
	return nil
}

func (m *Model) back() tea.Cmd {
	if m.only {
		return kit.Back(m)
	}
	m.add = false
	return nil
}
