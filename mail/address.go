package mail

import (
	"fmt"
	"strings"

	"golang.org/x/net/idna"
)

// Address is one mailbox of RFC 5322: a display name, which may be any
// Unicode, and an addr-spec. Both are untrusted when they come from a message.
type Address struct {
	Name string `json:"name,omitempty"`
	Addr string `json:"address"`
}

// String writes the address for a person; it is not a header encoding.
func (a Address) String() string {
	if a.Name == "" {
		return a.Addr
	}
	return a.Name + " <" + a.Addr + ">"
}

// Key is the form under which two addresses count as the same mailbox: the
// domain in lower-case ASCII, the local part in lower case too, since no
// provider in use treats case as a difference and a repeat must be noticed.
func (a Address) Key() string { return AddressKey(a.Addr) }

// AddressKey is Address.Key for a bare addr-spec.
func AddressKey(addr string) string {
	i := strings.LastIndexByte(addr, '@')
	if i < 0 {
		return strings.ToLower(addr)
	}
	domain := strings.ToLower(addr[i+1:])
	if d, err := ASCIIDomain(domain); err == nil {
		domain = d
	}
	return strings.ToLower(addr[:i]) + "@" + domain
}

// Domain returns what follows the last @, in lower-case ASCII where it can be
// converted, or "".
func (a Address) Domain() string {
	key := a.Key()
	return key[strings.LastIndexByte(key, '@')+1:]
}

// ASCIIDomain converts an internationalized domain to its A-label form
// (RFC 5891), in lower case. Names of letters, digits, hyphen, underscore and
// dots pass as they are.
func ASCIIDomain(domain string) (string, error) {
	d := strings.ToLower(strings.TrimSuffix(domain, "."))
	for _, r := range d {
		if r > 127 {
			a, err := idna.Lookup.ToASCII(d)
			if err != nil {
				return "", fmt.Errorf("the domain %q cannot be written in ASCII", domain)
			}
			d = a
			break
		}
	}
	if d == "" || len(d) > 253 {
		return "", fmt.Errorf("the domain %q is empty or too long", domain)
	}
	for _, label := range strings.Split(d, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return "", fmt.Errorf("the domain %q is not valid", domain)
		}
		for _, r := range label {
			if !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_') {
				return "", fmt.Errorf("the domain %q is not valid", domain)
			}
		}
	}
	return d, nil
}

// EnvelopeAddress returns addr as it is put into MAIL FROM and RCPT TO: a
// dot-string local part in ASCII (RFC 5321 section 4.1.2) and an A-label
// domain. A non-ASCII local part, a quoted one, an address literal, a space,
// bracket or control character is refused with ENVELOPE_ADDRESS_INVALID: the
// client does not ask for SMTPUTF8 (RFC 6531).
func EnvelopeAddress(addr string) (string, error) {
	bad := func(why string) error {
		return &Error{Code: CodeEnvelopeInvalid, Text: fmt.Sprintf("%+q cannot be used as an envelope address: %s.", addr, why),
			Hint: "Correct the address; nothing was stored or sent."}
	}
	i := strings.LastIndexByte(addr, '@')
	if i <= 0 || i == len(addr)-1 {
		return "", bad("it needs a local part, an @ and a domain")
	}
	local, domain := addr[:i], addr[i+1:]
	if len(local) > 64 {
		return "", bad("its local part is longer than 64 octets")
	}
	const atext = "!#$%&'*+-/=?^_`{|}~."
	for _, r := range local {
		if r > 127 {
			return "", bad("its local part is not ASCII")
		}
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(atext, r)) {
			return "", bad("its local part has a character that is not allowed")
		}
	}
	if local[0] == '.' || local[len(local)-1] == '.' || strings.Contains(local, "..") {
		return "", bad("its local part has a dot out of place")
	}
	d, err := ASCIIDomain(domain)
	if err != nil {
		return "", bad("its domain is not valid")
	}
	return local + "@" + d, nil
}
