package parse

import (
	"strings"
	"time"

	"skrzynka/mail"
)

// Headers are the fields of a header block (RFC 5322), those a mail client
// works with decoded. A field that occurs twice counts once, the first time;
// address fields count all.
type Headers struct {
	Fields []Field // every field in its order

	From, Sender, ReplyTo, To, Cc, Bcc []mail.Address

	Subject string // encoded words (RFC 2047) decoded

	Date   time.Time // in the zone the message states
	DateOK bool      // whether Date could be read

	MessageID  string   // with its angle brackets, or ""
	InReplyTo  []string // with angle brackets
	References []string // with angle brackets, oldest first

	ListID        string // the identifier between the brackets of List-Id (RFC 2919)
	AutoSubmitted string // the keyword of Auto-Submitted (RFC 3834) in lower case

	ContentType string // media type in lower case; "text/plain" when absent
	Params      Params // parameters of Content-Type

	Cut bool // the block exceeded MaxHeader or MaxFields and was read up to there
}

// Header reads the header block at the start of raw and nothing after it.
func Header(raw []byte) Headers {
	return newHeaders(splitHeader(normal(raw), 0, nil))
}

// Get returns the raw value of the first field called name, in any case, or "".
func (h *Headers) Get(name string) string { return get(h.Fields, name) }

// Text returns the value of the first field called name, decoded as
// unstructured text (RFC 2047), or "".
func (h *Headers) Text(name string) string { return DecodeText(h.Get(name)) }

// All returns the raw values of all fields called name, in their order.
func (h *Headers) All(name string) []string {
	var values []string
	for _, f := range h.Fields {
		if len(f.Name) == len(name) && strings.EqualFold(f.Name, name) {
			values = append(values, f.Value)
		}
	}
	return values
}

func get(fields []Field, name string) string {
	for _, f := range fields {
		if len(f.Name) == len(name) && strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// fold compares field names without case; most differ in length or at once.
func fold(a, b string) bool {
	return len(a) == len(b) && a[0]|0x20 == b[0]|0x20 && strings.EqualFold(a, b)
}

func newHeaders(b block) Headers {
	h := Headers{Fields: b.fields, Cut: b.cut}
	var subject, date, messageID, listID, auto, contentType bool
	first := func(seen *bool) bool {
		was := *seen
		*seen = true
		return !was
	}
	for _, f := range b.fields {
		switch f.Name[0] | 0x20 {
		case 'f', 's', 't', 'c', 'd', 'm', 'i', 'r', 'l', 'a', 'b':
		default:
			continue
		}
		switch n := f.Name; {
		case fold(n, "From"):
			h.From = appendAddresses(h.From, f.Value)
		case fold(n, "Sender"):
			h.Sender = appendAddresses(h.Sender, f.Value)
		case fold(n, "Reply-To"):
			h.ReplyTo = appendAddresses(h.ReplyTo, f.Value)
		case fold(n, "To"):
			h.To = appendAddresses(h.To, f.Value)
		case fold(n, "Cc"):
			h.Cc = appendAddresses(h.Cc, f.Value)
		case fold(n, "Bcc"):
			h.Bcc = appendAddresses(h.Bcc, f.Value)
		case fold(n, "Subject"):
			if first(&subject) {
				h.Subject = DecodeText(f.Value)
			}
		case fold(n, "Date"):
			if first(&date) {
				h.Date, h.DateOK = Date(f.Value)
			}
		case fold(n, "Message-ID"):
			if first(&messageID) {
				if ids := MessageIDs(f.Value); len(ids) > 0 {
					h.MessageID = ids[0]
				}
			}
		case fold(n, "In-Reply-To"):
			if h.InReplyTo == nil {
				h.InReplyTo = MessageIDs(f.Value)
			}
		case fold(n, "References"):
			if h.References == nil {
				h.References = MessageIDs(f.Value)
			}
		case fold(n, "List-Id"):
			if first(&listID) {
				h.ListID = listIdentifier(f.Value)
			}
		case fold(n, "Auto-Submitted"):
			if first(&auto) {
				h.AutoSubmitted = keyword(f.Value)
			}
		case fold(n, "Content-Type"):
			if first(&contentType) {
				h.ContentType, h.Params = MediaType(f.Value)
			}
		}
	}
	if h.ContentType == "" {
		h.ContentType = "text/plain"
	}
	return h
}

// keyword returns the first word of a structured value in lower case.
func keyword(v string) string {
	end := strings.IndexFunc(v, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-')
	})
	if end >= 0 {
		v = v[:end]
	}
	return strings.ToLower(v)
}

func listIdentifier(v string) string {
	if i := strings.LastIndexByte(v, '<'); i >= 0 {
		v = v[i+1:]
		if j := strings.IndexByte(v, '>'); j >= 0 {
			v = v[:j]
		}
	}
	return DecodeText(strings.TrimSpace(v))
}

// Limits on message identifiers: the first keepFirst and the last keepLast of
// a field are kept, none longer than a line may be.
const (
	keepFirst   = 20
	keepLast    = 480
	maxIDLength = 998
)

// MessageIDs returns the message identifiers of a Message-ID, In-Reply-To or
// References value, each with its angle brackets. White space inside one is
// removed; without any brackets, words with an @ count.
func MessageIDs(v string) []string {
	var ids []string
	add := func(id string) {
		if id == "" || len(id) > maxIDLength {
			return
		}
		ids = append(ids, id)
		if len(ids) > keepFirst+2*keepLast {
			ids = append(ids[:keepFirst], ids[len(ids)-keepLast:]...)
		}
	}
	if strings.IndexByte(v, '<') < 0 {
		for _, w := range strings.Fields(v) {
			if w = strings.Trim(w, "<>,;"); strings.Contains(w, "@") || !strings.ContainsAny(v, " \t") && w != "" {
				add("<" + validID(w) + ">")
			}
		}
	}
	for rest := v; ; {
		i := strings.IndexByte(rest, '<')
		if i < 0 {
			break
		}
		rest = rest[i:]
		j := strings.IndexAny(rest[1:], "<>") + 1
		if j == 0 {
			add(validID(rest) + ">")
			break
		}
		if rest[j] == '<' {
			rest = rest[j:]
			continue
		}
		if j > 1 {
			add(validID(rest[:j+1]))
		}
		rest = rest[j+1:]
	}
	if len(ids) > keepFirst+keepLast {
		ids = append(ids[:keepFirst], ids[len(ids)-keepLast:]...)
	}
	return ids
}

// validID removes white space and controls from an identifier and makes it
// valid UTF-8; a clean one is returned as it is.
func validID(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c >= 0x7f {
			return strings.Map(func(r rune) rune {
				if r <= ' ' || r == 0x7f {
					return -1
				}
				return r
			}, s)
		}
	}
	return s
}
