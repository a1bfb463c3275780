package cli

import (
	"bytes"
	"context"
	"io"
	netmail "net/mail"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"skrzynka/mail"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

// sendFlags are the flags every command that sends has.
type sendFlags struct {
	bodyFile, key string
	attach        []string
	yes           bool
}

func (s *sendFlags) register(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&s.bodyFile, "body-file", "", "the plain text, UTF-8; - reads standard input (`FILE`)")
	f.StringVar(&s.key, "idempotency-key", "", "repeating a call with the same `KEY` sends nothing twice (default: a fresh one)")
	f.StringArrayVar(&s.attach, "attach", nil, "attach this `FILE`; may be repeated")
	f.BoolVar(&s.yes, "yes", false, "confirm what the account's policy asks about")
	_ = c.MarkFlagRequired("body-file")
}

// load reads the body and the attachments.
func (s *sendFlags) load(a *app) (string, []mail.Attachment, error) {
	body, err := a.readBody(s.bodyFile)
	if err != nil {
		return "", nil, err
	}
	var files []mail.Attachment
	for _, path := range s.attach {
		f, err := a.LoadFile(path)
		if err != nil {
			return "", nil, err
		}
		files = append(files, f)
	}
	return body, files, nil
}

// checkKey refuses a key that was given but is empty: a script whose variable
// is unset must not silently send under a fresh one.
func (s *sendFlags) checkKey(c *cobra.Command) error {
	if c.Flags().Changed("idempotency-key") && s.key == "" {
		return &mail.Error{Code: mail.CodeKeyInvalid, Text: "The idempotency key is empty.", Hint: "Give a key, or leave the flag out; nothing was stored or sent."}
	}
	return nil
}

func (a *app) replyCommand() *cobra.Command {
	var s sendFlags
	var all bool
	c := &cobra.Command{Use: "reply ID --body-file FILE", Short: "Answer one stored message and print the attempt", Args: cobra.ExactArgs(1),
		Long: "Sends the answer and returns when its outcome is known. Exit code 1: failed; 3:\nuncertain, it may have been accepted. The attempt is printed either way."}
	s.register(c)
	c.Flags().BoolVar(&all, "all", false, "answer everyone")
	c.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		id, err := messageID(args[0], mail.CodeReplyTargetInvalid)
		if err != nil {
			return err
		}
		if err := s.checkKey(cmd); err != nil {
			return err
		}
		body, files, err := s.load(a)
		if err != nil {
			return err
		}
		return a.withEngine(func(ctx context.Context, e Engine, _ []string) error {
			at, err := e.Reply(ctx, view.ReplyRequest{MessageID: id, Body: body, All: all, Key: s.key, Files: files, Confirmed: s.yes})
			return a.outcome(at, err)
		})(cmd, args)
	})
	return c
}

func (a *app) sendCommand() *cobra.Command {
	var s sendFlags
	var to, cc, bcc []string
	var subject, from string
	c := &cobra.Command{Use: "send --to ADDRESS --subject TEXT --body-file FILE", Short: "Originate a message and print the attempt", Args: cobra.NoArgs,
		Long: "Sends the message and returns when its outcome is known. Exit code 1: failed; 3:\nuncertain, it may have been accepted. The attempt is printed either way."}
	s.register(c)
	f := c.Flags()
	f.StringArrayVar(&to, "to", nil, "`ADDRESS` or list of them; may be repeated")
	f.StringArrayVar(&cc, "cc", nil, "`ADDRESS` of a copy's recipient")
	f.StringArrayVar(&bcc, "bcc", nil, "`ADDRESS` of a hidden recipient")
	f.StringVar(&subject, "subject", "", "the subject (`TEXT`)")
	f.StringVar(&from, "from", "", "one of the account's aliases (`ADDRESS`)")
	_ = c.MarkFlagRequired("subject")
	c.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		if err := s.checkKey(cmd); err != nil {
			return err
		}
		body, files, err := s.load(a)
		if err != nil {
			return err
		}
		r := view.SendRequest{Account: a.opts.Account, From: from, To: parseAddresses(to), Cc: parseAddresses(cc), Bcc: parseAddresses(bcc),
			Subject: subject, Body: body, Key: s.key, Files: files, Confirmed: s.yes}
		return a.withEngine(func(ctx context.Context, e Engine, _ []string) error {
			at, err := e.Send(ctx, r)
			return a.outcome(at, err)
		})(cmd, args)
	})
	return c
}

// parseAddresses reads address lists. What is no address is passed on as it
// is: the engine refuses it with its own code, before anything is stored.
func parseAddresses(lists []string) []mail.Address {
	var out []mail.Address
	for _, list := range lists {
		parsed, err := netmail.ParseAddressList(list)
		if err == nil {
			for _, p := range parsed {
				out = append(out, mail.Address{Name: p.Name, Addr: p.Address})
			}
			continue
		}
		for part := range strings.SplitSeq(list, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, mail.Address{Addr: part})
			}
		}
	}
	return out
}

// readBody reads the text of a message: UTF-8, a byte order mark at its start
// left out.
func (a *app) readBody(path string) (string, error) {
	var b []byte
	var err error
	if path == "-" {
		b, err = io.ReadAll(a.Stdin)
	} else {
		b, err = os.ReadFile(path)
	}
	if err != nil {
		return "", mail.Errorf(mail.CodeInvalid, "Name a file that can be read, or - for standard input; nothing was sent.",
			"The body cannot be read from %s.", safe.Line(path))
	}
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(b) {
		return "", &mail.Error{Code: mail.CodeReplyBodyInvalid, Text: "The body is not UTF-8 text.",
			Hint: "Convert it first, or attach the file instead; nothing was sent."}
	}
	return string(b), nil
}

// outcome prints an attempt and says by the exit code how it ended. An error
// beside an attempt (a sent copy that failed) comes after it.
func (a *app) outcome(at view.Attempt, err error) error {
	if at.ID != "" {
		if e := a.print(at, func(p *page) { attemptText(p, &at) }); err == nil {
			err = e
		}
	}
	if err != nil {
		return err
	}
	switch at.Status {
	case mail.StatusFailed:
		return &failure{err: attemptError(&at), code: ExitFailed}
	case mail.StatusUncertain:
		return &failure{err: attemptError(&at), code: ExitUncertain}
	case mail.StatusPending, mail.StatusSending:
		// Found under its key, it is another call's to finish; a new one that
		// is not out must not look as if it were.
		if !at.Replayed {
			e := attemptError(&at)
			e.Code, e.Retryable = mail.CodeConflict, true
			return &failure{err: e, code: ExitFailed}
		}
	}
	return nil
}

// attemptError is the error object of an attempt that is not sent.
func attemptError(at *view.Attempt) *mail.Error {
	e := &mail.Error{Code: mail.Code(value(at.ErrorCode)), Text: at.Says.String(), Hint: at.Advice.String(),
		Retryable: at.Retryable, Details: map[string]any{"attempt_id": at.ID, "status": at.Status}}
	if e.Text == "" {
		e.Text = value(at.ErrorMessage)
	}
	if e.Text == "" {
		e.Text = "The message is " + at.Status.String() + "."
	}
	return e
}
