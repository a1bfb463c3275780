package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"skrzynka/mail"
	"skrzynka/mail/safe"
)

// encode returns v as one line of JSON that a terminal can be shown: what a
// terminal or a person's eye could take for something else (C1 controls, DEL,
// bidirectional and invisible characters) is escaped, so that the value stays
// exact.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return escape(b.Bytes()), nil
}

// escape writes every character that must not reach a terminal as \uXXXX. In
// JSON text those stand only inside strings.
func escape(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == '\n' || !hidden(r):
			out = append(out, text[:n]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[n:]
	}
	return out
}

// hidden reports whether r is a control, or draws nothing and may change what
// is around it.
func hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return r < 0x20 || r == 0x7f
	}
	switch r {
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2028, 0x2029, 0x3164, 0xffa0:
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector) || r >= 0xe0000 && r <= 0xe0fff
}

// print writes v as JSON, or the text that the function makes.
func (a *app) print(v any, text func(*page)) error {
	if a.json {
		b, err := encode(v)
		if err != nil {
			return err
		}
		_, err = a.Stdout.Write(b)
		return err
	}
	var p page
	text(&p)
	_, err := a.Stdout.Write([]byte(p.String()))
	return err
}

// printError tells what went wrong on standard error.
func (a *app) printError(e *mail.Error) {
	if a.json {
		a.printErrorJSON(e)
		return
	}
	var p page
	p.line("skrzynka: " + e.Error())
	for _, d := range problems(e) {
		p.line("  " + d.Path + ": " + d.Problem + "; " + d.Fix)
	}
	_, _ = a.Stderr.Write([]byte(p.String()))
}

func (a *app) printErrorJSON(e *mail.Error) {
	type body struct {
		Code      mail.Code      `json:"code"`
		Message   string         `json:"message"`
		Hint      string         `json:"hint,omitempty"`
		Retryable bool           `json:"retryable"`
		Details   map[string]any `json:"details"`
	}
	v := map[string]body{"error": {e.Code, e.Text, e.Hint, e.Retryable, e.Details}}
	if e.Details == nil {
		v["error"] = body{e.Code, e.Text, e.Hint, e.Retryable, map[string]any{}}
	}
	b, err := encode(v)
	if err != nil { // details that are no JSON; the rest always is
		v["error"] = body{e.Code, e.Text, e.Hint, e.Retryable, map[string]any{}}
		b, _ = encode(v)
	}
	_, _ = a.Stderr.Write(b)
}

// problem is one entry of Details["problems"].
type problem struct{ Path, Problem, Fix string }

// problems lists what an error says field by field, when there is more than
// its sentence already names.
func problems(e *mail.Error) []problem {
	b, err := json.Marshal(e.Details["problems"])
	if err != nil {
		return nil
	}
	var out []problem
	if json.Unmarshal(b, &out) != nil || len(out) < 2 {
		return nil
	}
	return out
}

// page collects lines of text. Everything that goes in is cleaned.
type page struct{ strings.Builder }

func (p *page) line(s string) { p.text(safe.Line(s)) }

func (p *page) text(t safe.Text) {
	p.WriteString(strings.TrimRight(t.String(), " "))
	p.WriteByte('\n')
}

// field writes "label  value" when there is a value.
func (p *page) field(label, value string) {
	if t := safe.Line(value); !t.Empty() {
		p.text(safe.Line(fmt.Sprintf("  %-12s %s", label, t)))
	}
}

// table writes rows with aligned columns; the last one is as long as it is.
func (p *page) table(limits []int, rows [][]safe.Text) {
	widths := make([]int, len(limits))
	for _, row := range rows {
		for i, c := range row[:len(row)-1] {
			widths[i] = max(widths[i], min(c.Width(), limits[i]))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, c := range row {
			if i < len(row)-1 {
				b.WriteString(c.Fit(widths[i]).String())
				b.WriteString("  ")
			} else {
				b.WriteString(c.String())
			}
		}
		p.text(safe.Line(b.String()))
	}
}

func quoted(s string) string { return strconv.Quote(safe.Line(s).Clip(60).String()) }

func cell(s string) safe.Text { return safe.Line(s) }

func value[T ~string](p *T) string {
	if p == nil {
		return ""
	}
	return string(*p)
}
