// Package compose turns a draft into the bytes of a message, once, and drafts
// answers and forwards. It is pure: the caller gives the time and the
// identifiers. No CR or LF of a value ever reaches a header.
package compose

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"skrzynka/mail"
)

// Params is what a message needs besides its draft.
type Params struct {
	MessageID string // with angle brackets
	Date      time.Time
	UserAgent string // "" for none
	Flowed    bool   // format=flowed (RFC 3676)
}

// Envelope is what MAIL FROM and RCPT TO carry, in ASCII.
type Envelope struct {
	From string
	To   []string // To, Cc, Bcc in order, repeats kept
}

// Built is a finished message: what DATA carries before dot-stuffing, and what
// the Sent copy is made of.
type Built struct {
	Bytes    []byte
	Envelope Envelope
}

// Build makes the message. The same draft and parameters give the same bytes:
// 7-bit, lines ended by CRLF and at most 998 octets long, no other CR or LF, no
// Bcc. Errors are *mail.Error: REPLY_BODY_INVALID for a body that is blank or
// not UTF-8, RECIPIENTS_REQUIRED, ENVELOPE_ADDRESS_INVALID,
// REPLY_MESSAGE_INVALID for a value that cannot stand in a header.
func Build(d mail.Draft, p Params) (Built, error) {
	if err := CheckBody(d.Body); err != nil {
		return Built{}, err
	}
	env, err := envelope(&d)
	if err != nil {
		return Built{}, err
	}
	if err := checkHeaders(&d, p); err != nil {
		return Built{}, err
	}
	var h header
	h.add("Date", p.Date.Format("Mon, 02 Jan 2006 15:04:05 -0700"))
	h.add("From", addressTokens([]mail.Address{d.From}, len("From:"))...)
	if len(d.To) > 0 {
		h.add("To", addressTokens(d.To, len("To:"))...)
	}
	if len(d.Cc) > 0 {
		h.add("Cc", addressTokens(d.Cc, len("Cc:"))...)
	}
	if len(d.To)+len(d.Cc) == 0 {
		h.add("To", "undisclosed-recipients:;")
	}
	h.add("Message-ID", p.MessageID)
	if d.InReplyTo != "" {
		h.add("In-Reply-To", d.InReplyTo)
	}
	if len(d.References) > 0 {
		h.add("References", d.References...)
	}
	h.add("Subject", unstructured(d.Subject, len("Subject:"))...)
	if p.UserAgent != "" {
		h.add("User-Agent", unstructured(p.UserAgent, len("User-Agent:"))...)
	}
	h.add("MIME-Version", "1.0")
	body, err := mimeBody(&h, &d, p)
	if err != nil {
		return Built{}, err
	}
	return Built{Bytes: append([]byte(h.String()), body...), Envelope: env}, nil
}

// CheckBody refuses a body that has nothing but white space, or is not UTF-8:
// guessing a charset would change what was written.
func CheckBody(body string) error {
	if strings.TrimSpace(body) == "" {
		return mail.Errorf(mail.CodeReplyBodyInvalid, "Write something first.", "The body is empty.")
	}
	if !utf8.ValidString(body) {
		return mail.Errorf(mail.CodeReplyBodyInvalid, "Save the text as UTF-8.", "The body is not valid UTF-8 text.")
	}
	return nil
}

// envelope checks every address and replaces it in d by its envelope form, so
// that header and envelope agree.
func envelope(d *mail.Draft) (Envelope, error) {
	if len(d.To)+len(d.Cc)+len(d.Bcc) == 0 {
		return Envelope{}, mail.Errorf(mail.CodeRecipientsRequired, "Add at least one.", "The message has no recipients.")
	}
	from, err := mail.EnvelopeAddress(d.From.Addr)
	if err != nil {
		return Envelope{}, err
	}
	d.From.Addr = from
	env := Envelope{From: from}
	for _, list := range []*[]mail.Address{&d.To, &d.Cc, &d.Bcc} {
		ascii := make([]mail.Address, 0, len(*list))
		for _, a := range *list {
			addr, err := mail.EnvelopeAddress(a.Addr)
			if err != nil {
				return Envelope{}, err
			}
			ascii = append(ascii, mail.Address{Name: a.Name, Addr: addr})
			env.To = append(env.To, addr)
		}
		*list = ascii
	}
	return env, nil
}

func checkHeaders(d *mail.Draft, p Params) error {
	if err := checkValue("subject", d.Subject); err != nil {
		return err
	}
	if err := checkValue("sender's name", d.From.Name); err != nil {
		return err
	}
	for _, list := range [][]mail.Address{d.To, d.Cc, d.Bcc} {
		for _, a := range list {
			if err := checkValue("name of "+a.Addr, a.Name); err != nil {
				return err
			}
		}
	}
	ids := append([]string{p.MessageID}, d.References...)
	if d.InReplyTo != "" {
		ids = append(ids, d.InReplyTo)
	}
	for _, id := range ids {
		if !validMsgID(id) {
			return mail.Errorf(mail.CodeReplyMessageInvalid, "Write a new message instead of answering this one.",
				"The message identifier %+q cannot be written in a header.", clip(id))
		}
	}
	return checkValue("user agent", p.UserAgent)
}

func clip(s string) string {
	if len(s) > 80 {
		return s[:80]
	}
	return s
}

// mimeBody adds the content's header fields to h and returns what follows the
// blank line, that line included.
func mimeBody(h *header, d *mail.Draft, p Params) ([]byte, error) {
	text := NormalizeBody(d.Body)
	tokens := []string{"text/plain;", "charset=utf-8"}
	if p.Flowed {
		text = flow(text)
		tokens = []string{"text/plain;", "charset=utf-8;", "format=flowed"}
	}
	encoding, content := encodeText(text)
	textPart := func(h *header) {
		h.add("Content-Type", tokens...)
		h.add("Content-Transfer-Encoding", encoding)
	}
	if len(d.Attachments) == 0 {
		textPart(h)
		return append([]byte("\r\n"), content...), nil
	}
	var th header
	textPart(&th)
	parts := [][]byte{append([]byte(th.String()+"\r\n"), content...)}
	for _, a := range d.Attachments {
		part, err := attachmentPart(a)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	b := boundary(p.MessageID, parts)
	h.add("Content-Type", "multipart/mixed;", `boundary="`+b+`"`)
	var out bytes.Buffer
	for _, part := range parts { // the CRLF before a boundary belongs to it, not to the part
		out.WriteString("\r\n--" + b + "\r\n")
		out.Write(part)
	}
	out.WriteString("\r\n--" + b + "--\r\n")
	return out.Bytes(), nil
}

// boundary is a hash of what it separates, and not found in it. The "=_" can
// occur in neither quoted-printable nor base64.
func boundary(id string, parts [][]byte) string {
	for n := 0; ; n++ {
		h := sha256.New()
		h.Write([]byte(strconv.Itoa(n) + id))
		for _, p := range parts {
			h.Write(p)
		}
		b := "=_" + hex.EncodeToString(h.Sum(nil)[:16])
		found := false
		for _, p := range parts {
			found = found || bytes.Contains(p, []byte(b))
		}
		if !found {
			return b
		}
	}
}
