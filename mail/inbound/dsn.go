package inbound

import (
	"bytes"
	"strings"

	"skrzynka/mail/parse"
)

// deliveryStatus reads a message/delivery-status body (RFC 3464): blocks of
// fields parted by empty lines. Each block that names a recipient gives one;
// a block that names none belongs to the message.
func deliveryStatus(body []byte) []BounceRecipient {
	body = bytes.ReplaceAll(clipBytes(body, parse.MaxHeader), []byte("\r\n"), []byte("\n"))
	body = bytes.ReplaceAll(body, []byte("\r"), []byte("\n"))
	var out []BounceRecipient
	for block := range bytes.SplitSeq(body, []byte("\n\n")) {
		if len(out) >= maxReported {
			break
		}
		block = bytes.Trim(block, "\n")
		if len(block) == 0 {
			continue
		}
		h := parse.Header(block)
		r := BounceRecipient{
			Address:     reportAddress(h.Get("Final-Recipient")),
			OrigAddress: reportAddress(h.Get("Original-Recipient")),
			Action:      actionWord(h.Get("Action")),
			Status:      statusCode(h.Get("Status")),
			Diagnostic:  diagnosticText(h.Get("Diagnostic-Code")),
		}
		if a := reportAddress(h.Get("X-Actual-Recipient")); a != "" && !strings.Contains(r.Address, "@") {
			r.Address = a
		}
		if r.Address == "" && r.OrigAddress == "" {
			if r.Action != "" && r.Status != "" && len(out) > 0 && out[len(out)-1].Action == "" {
				merge(&out[len(out)-1], r) // an empty line within a recipient's block
			} else if r.Action == "" || r.Status == "" {
				continue
			} else {
				out = append(out, r)
			}
			continue
		}
		out = append(out, r)
	}
	for i := range out {
		finish(&out[i])
	}
	return out
}

func merge(dst *BounceRecipient, src BounceRecipient) {
	dst.Action, dst.Status = src.Action, src.Status
	if dst.Diagnostic == "" {
		dst.Diagnostic = src.Diagnostic
	}
}

// finish fills what a block leaves out from what it says.
func finish(r *BounceRecipient) {
	r.Code = replyCode(r.Diagnostic)
	if r.Action == "" {
		switch {
		case strings.HasPrefix(r.Status, "2."):
			r.Action = "delivered"
		default:
			r.Action = "failed"
		}
	}
}

func actionWord(v string) string {
	v = strings.ToLower(strings.TrimSpace(v))
	if i := strings.IndexAny(v, " ;(\t"); i >= 0 {
		v = v[:i]
	}
	switch v {
	case "delayed", "delivered", "relayed", "expanded":
		return v
	case "deliverable":
		return "delivered"
	case "":
		return ""
	}
	return "failed" // "failure", "fail", "error" and translations are written too
}

// statusCode reads the code of a Status field, whatever stands beside it.
func statusCode(v string) string {
	if c := enhancedCode(v); c != "" {
		return c
	}
	return ""
}

// diagnosticText removes the type before a diagnostic: "smtp; 550 …".
func diagnosticText(v string) string {
	v = strings.TrimSpace(v)
	if i := strings.IndexByte(v, ';'); i > 0 && i < 20 && strings.IndexByte(v[:i], ' ') < 0 {
		v = strings.TrimSpace(v[i+1:])
	}
	return clip(strings.Join(strings.Fields(parse.DecodeText(v)), " "), 2000)
}

// reportAddress reads the address of a field "rfc822; user@example.com". The
// xtext of an ORCPT (RFC 3461 section 4) is decoded.
func reportAddress(v string) string {
	v = clip(strings.TrimSpace(v), 1000)
	if i := strings.IndexByte(v, ';'); i >= 0 {
		v = strings.TrimSpace(v[i+1:])
	}
	if i := strings.IndexByte(v, '<'); i >= 0 {
		v = v[i+1:]
		if j := strings.IndexByte(v, '>'); j >= 0 {
			v = v[:j]
		}
	}
	if i := strings.IndexAny(v, " \t("); i >= 0 {
		v = v[:i]
	}
	v = strings.Trim(v, "\"'<>,;")
	if strings.Contains(strings.ToLower(v), "+40") && !strings.Contains(v, "@") {
		v = decodeXtext(v)
	}
	return v
}

func decodeXtext(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '+' && i+2 < len(s) {
			hi, lo := hexDigit(s[i+1]), hexDigit(s[i+2])
			if hi >= 0 && lo >= 0 {
				if c := byte(hi<<4 | lo); c > ' ' && c < 0x7f {
					b.WriteByte(c)
				}
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	}
	return -1
}
