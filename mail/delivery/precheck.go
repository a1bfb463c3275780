package delivery

import (
	"fmt"
	"strings"
	"unicode"

	"skrzynka/mail"
)

// CheckKey refuses an idempotency key that is empty or holds white space or
// control characters.
func CheckKey(key string) error {
	bad := key == "" || len(key) > 512
	for _, r := range key {
		bad = bad || unicode.IsSpace(r) || unicode.IsControl(r) || r == unicode.ReplacementChar
	}
	if bad {
		return &mail.Error{Code: mail.CodeKeyInvalid, Text: "The idempotency key must contain non-whitespace characters only.",
			Hint: "Give 1 to 512 characters without spaces or control characters, or leave it out; nothing was stored."}
	}
	return nil
}

// Facts are what the policy is held against; the store counts them.
type Facts struct {
	SentLastMinute int             // attempts of the account opened in the rolling minute, all processes
	Known          map[string]bool // by mail.AddressKey: we wrote to it or it wrote to us
	Suppressed     map[string]string
}

// Question is what a person is asked before a send, Ask false for nothing.
type Question struct {
	Ask  bool
	Rule string // the configuration's own words: "policy.confirm = external"
	Text string
}

// CheckPolicy holds a send against the account's policy before a key is
// reserved. It returns a refusal (POLICY_REFUSED, RATE_LIMITED), or a question
// that a person or --yes has to answer.
func CheckPolicy(acct *mail.Account, recipients []mail.Address, f Facts) (Question, error) {
	p := acct.Policy
	for _, r := range recipients {
		if rule, ok := matchAny(p.Deny, r); ok {
			return Question{}, refuse(acct, fmt.Sprintf("policy.deny has %q, which covers %s", rule, r.Addr))
		}
		if len(p.Allow) > 0 {
			if _, ok := matchAny(p.Allow, r); !ok {
				return Question{}, refuse(acct, fmt.Sprintf("policy.allow has no rule that covers %s", r.Addr))
			}
		}
	}
	if p.MaxRecipients > 0 && len(recipients) > p.MaxRecipients {
		return Question{}, refuse(acct, fmt.Sprintf("policy.max_recipients is %d and the message has %d", p.MaxRecipients, len(recipients)))
	}
	if p.MaxPerMinute > 0 && f.SentLastMinute >= p.MaxPerMinute {
		return Question{}, &mail.Error{Code: mail.CodeRateLimited, Retryable: true,
			Text: fmt.Sprintf("Account %s has reached policy.max_per_minute = %d.", acct.Name, p.MaxPerMinute),
			Hint: "Try again in a minute; nothing was stored."}
	}
	return question(acct, recipients, f), nil
}

func question(acct *mail.Account, recipients []mail.Address, f Facts) Question {
	for _, r := range recipients {
		if why := f.Suppressed[r.Key()]; why != "" {
			return Question{Ask: true, Rule: "suppressed address", Text: fmt.Sprintf("%s is suppressed: %s. Write to it all the same?", r.Addr, why)}
		}
	}
	rule := "policy.confirm = " + string(acct.Policy.Confirm)
	switch acct.Policy.Confirm {
	case mail.ConfirmAlways:
		return Question{Ask: true, Rule: rule, Text: "Send to " + names(recipients) + "?"}
	case mail.ConfirmExternal:
		if out := filter(recipients, func(r mail.Address) bool { return !internal(acct, r) }); len(out) > 0 {
			return Question{Ask: true, Rule: rule, Text: names(out) + " is outside your own domains. Send?"}
		}
	case mail.ConfirmFirstContact:
		if out := filter(recipients, func(r mail.Address) bool { return !f.Known[r.Key()] }); len(out) > 0 {
			return Question{Ask: true, Rule: rule, Text: "This is the first mail to " + names(out) + ". Send?"}
		}
	}
	return Question{}
}

func refuse(acct *mail.Account, why string) error {
	return &mail.Error{Code: mail.CodePolicyRefused, Text: fmt.Sprintf("The send policy of account %s refuses this: %s.", acct.Name, why),
		Hint: "Change the recipients or the policy; nothing was stored."}
}

func internal(acct *mail.Account, a mail.Address) bool {
	own := append([]string{acct.Email}, acct.Aliases...)
	for _, o := range own {
		if (mail.Address{Addr: o}).Domain() == a.Domain() {
			return true
		}
	}
	return false
}

// matchAny finds the first rule that covers the address: an exact address, a
// domain, or *.domain for its subdomains.
func matchAny(rules []string, a mail.Address) (string, bool) {
	for _, rule := range rules {
		r := strings.ToLower(strings.TrimSpace(rule))
		switch {
		case strings.HasPrefix(r, "*."):
			if strings.HasSuffix(a.Domain(), "."+(mail.Address{Addr: "x@" + r[2:]}).Domain()) {
				return rule, true
			}
		case strings.Contains(r, "@"):
			if mail.AddressKey(r) == a.Key() {
				return rule, true
			}
		default:
			if (mail.Address{Addr: "x@" + r}).Domain() == a.Domain() {
				return rule, true
			}
		}
	}
	return "", false
}

func filter(in []mail.Address, keep func(mail.Address) bool) []mail.Address {
	var out []mail.Address
	for _, a := range in {
		if keep(a) {
			out = append(out, a)
		}
	}
	return out
}

func names(list []mail.Address) string {
	var out []string
	for i, a := range list {
		if i == 3 && len(list) > 4 {
			out = append(out, fmt.Sprintf("%d more", len(list)-3))
			break
		}
		out = append(out, a.Addr)
	}
	return strings.Join(out, ", ")
}
