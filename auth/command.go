package auth

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/safe"
)

// commandLimit is how long a password_command may take; it may ask a person.
const commandLimit = 30 * time.Second

const (
	commandMaxOutput = 64 << 10
	commandMaxReason = 200 // bytes of its standard error that are shown
)

// Command is the source that runs the account's password_command: an argv, no
// shell, nothing on its standard input. The secret is the first line of its
// standard output. Of its standard error, the first line goes into the error.
type Command struct {
	Limit time.Duration // 0: 30 s
}

// Secret runs the command.
func (c Command) Secret(ctx context.Context, acct *mail.Account) (Secret, error) {
	limit := c.Limit
	if limit <= 0 {
		limit = commandLimit
	}
	if len(acct.PasswordCommand) == 0 {
		return Secret{}, unavailable("Set it in the configuration.", "Account %q has no password_command.", acct.Name)
	}
	run, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out, errOut capped
	cmd := exec.CommandContext(run, acct.PasswordCommand[0], acct.PasswordCommand[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.WaitDelay = time.Second // a grandchild may hold the pipes open
	err := cmd.Run()
	const hint = "Run the command by hand and see what it says; its first line of output must be the password."
	switch {
	case ctx.Err() != nil:
		return Secret{}, ctx.Err()
	case run.Err() != nil:
		e := unavailable(hint, "The password_command of account %q did not end within %v.", acct.Name, limit)
		e.Retryable = true
		return Secret{}, e
	case errors.Is(err, exec.ErrNotFound):
		return Secret{}, unavailable("Correct password_command in the configuration.",
			"The password_command of account %q names a program that is not installed.", acct.Name)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return Secret{}, unavailable(hint, "The password_command of account %q failed%s.", acct.Name, reason(errOut.Bytes(), out.Bytes()))
	}
	line, _, _ := strings.Cut(out.String(), "\n")
	line = strings.TrimSuffix(line, "\r")
	if line == "" {
		return Secret{}, unavailable(hint, "The password_command of account %q printed no password.", acct.Name)
	}
	return NewSecret(line), nil
}

// reason is the first line a command wrote to its standard error, cleaned; or
// nothing when that line holds what it wrote to its standard output.
func reason(stderr, stdout []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(stderr)), "\n")
	if len(line) > commandMaxReason {
		line = line[:commandMaxReason]
	}
	said := safe.Line(line).String()
	secret, _, _ := bytes.Cut(stdout, []byte("\n"))
	if secret = bytes.TrimSpace(secret); len(secret) > 0 && strings.Contains(line, string(secret)) {
		said = ""
	}
	if said == "" {
		return ""
	}
	return " and said: " + strings.TrimRight(said, ".")
}

// capped keeps the first bytes written to it and takes the rest silently, so
// that a talkative command is not killed by a broken pipe.
type capped struct{ bytes.Buffer }

func (c *capped) Write(p []byte) (int, error) {
	if room := commandMaxOutput - c.Len(); room > 0 {
		_, _ = c.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
