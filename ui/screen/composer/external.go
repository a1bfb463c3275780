package composer

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/ui/kit"
	"skrzynka/ui/kit/editor"
)

// edited is what came back from the external editor.
type edited struct {
	m    *Model
	text string
	read error // why the text could not be read back
	exit error // how the editor ended
	dir  string
}

// external stores the draft, writes its text into a file that only its owner
// may read, and runs the editor on it.
func (m *Model) external() tea.Cmd {
	argv, err := splitArgs(m.env.Editor)
	if err != nil || len(argv) == 0 {
		return kit.Fail(&mail.Error{Code: mail.CodeInvalid, Text: "The editor's command line cannot be read.", Hint: "Correct $EDITOR, or editor in the [ui] table."})
	}
	dir, path, err := private(m.body.Value())
	if err != nil {
		return kit.Fail(mail.Errorf(mail.CodeInvalid, "Free some space, or write here.", "The text could not be written to a file: %w.", err))
	}
	m.editing = true
	run := m.exec(exec.Command(argv[0], append(argv[1:], path)...), func(exit error) tea.Msg {
		text, read := os.ReadFile(path)
		r := edited{m: m, text: string(text), read: read, exit: exit, dir: dir}
		if read == nil {
			_ = os.RemoveAll(dir)
		}
		return r
	})
	return tea.Sequence(m.save(), run)
}

// private writes text into a file of its own folder (0700, the file 0600).
func private(text string) (dir, path string, err error) {
	if dir, err = os.MkdirTemp("", "skrzynka-"); err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, "message.txt")
	if err = os.WriteFile(path, []byte(text), 0o600); err != nil {
		_ = os.RemoveAll(dir)
		return "", "", err
	}
	return dir, path, nil
}

// takeBack puts the editor's text in place of the old one, as one change. It
// does so even when the editor says that it failed: what was written counts.
func (m *Model) takeBack(r edited) tea.Cmd {
	m.editing = false
	if r.read != nil {
		return kit.Fail(mail.Errorf(mail.CodeInvalid, "The draft is as it was; the file, if it is still there, is in "+kit.Clean(r.dir)+".",
			"The editor's text could not be read back: %w.", r.read))
	}
	text := editor.Clean(r.text)
	if !strings.HasSuffix(m.body.Value(), "\n") {
		text = strings.TrimSuffix(text, "\n") // editors end the last line
	}
	m.at = fieldBody
	changed := m.body.Replace(text)
	var cmds []tea.Cmd
	if changed {
		m.touched()
		cmds = append(cmds, m.save())
	}
	if r.exit != nil {
		what := "The draft is as it was."
		if changed {
			what = "What was written was taken over."
		}
		var notRun *exec.Error
		if errors.As(r.exit, &notRun) {
			what = "Correct $EDITOR, or editor in the [ui] table."
		}
		cmds = append(cmds, kit.Send(kit.Notice{Level: kit.Warn, Text: fmt.Sprintf("The editor ended with an error: %v.", r.exit), Hint: what}))
	}
	return tea.Batch(cmds...)
}

// splitArgs splits a command line at spaces; quotes and backslashes keep them.
// Nothing is expanded and no shell runs.
func splitArgs(s string) ([]string, error) {
	var args []string
	var cur strings.Builder
	var quote rune
	in, escaped := false, false
	for _, r := range s {
		switch {
		case escaped:
			cur.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, in = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			cur.WriteRune(r)
		case r == '"' || r == '\'':
			quote, in = r, true
		case r == ' ' || r == '\t':
			if in {
				args = append(args, cur.String())
				cur.Reset()
				in = false
			}
		default:
			cur.WriteRune(r)
			in = true
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("a quote is not closed")
	}
	if in {
		args = append(args, cur.String())
	}
	return args, nil
}
