package delivery

import (
	"errors"
	"strings"
	"testing"

	"skrzynka/mail"
)

func TestCheckKey(t *testing.T) {
	for _, k := range []string{"a", "8a1f", "order/17#x", "żółw", strings.Repeat("k", 512)} {
		if err := CheckKey(k); err != nil {
			t.Errorf("%q refused: %v", k, err)
		}
	}
	for _, k := range []string{"", " ", "a b", "a\n", "\tkey", "a\x00b", "a\u00a0b", "a\u0085", "a\x1b", strings.Repeat("k", 513)} {
		if err := CheckKey(k); !errors.Is(err, mail.ErrCode(mail.CodeKeyInvalid)) {
			t.Errorf("%q accepted: %v", k, err)
		}
	}
}

func to(addrs ...string) []mail.Address {
	var out []mail.Address
	for _, a := range addrs {
		out = append(out, mail.Address{Addr: a})
	}
	return out
}

func TestCheckPolicyRows(t *testing.T) {
	rows := []struct {
		name   string
		policy mail.SendPolicy
		to     []mail.Address
		facts  Facts
		code   mail.Code
		ask    bool
	}{
		{"no rules", mail.SendPolicy{Confirm: mail.ConfirmNever}, to("a@b.org"), Facts{}, "", false},
		{"exact address denied, in any case", mail.SendPolicy{Deny: []string{"boss@b.org"}}, to("Boss@B.org"), Facts{}, mail.CodePolicyRefused, false},
		{"domain denied", mail.SendPolicy{Deny: []string{"b.org"}}, to("x@b.org"), Facts{}, mail.CodePolicyRefused, false},
		{"a domain does not cover its subdomains", mail.SendPolicy{Deny: []string{"b.org"}}, to("x@sub.b.org"), Facts{}, "", false},
		{"subdomains denied", mail.SendPolicy{Deny: []string{"*.b.org"}}, to("x@sub.b.org"), Facts{}, mail.CodePolicyRefused, false},
		{"a star does not cover the domain itself", mail.SendPolicy{Deny: []string{"*.b.org"}}, to("x@b.org"), Facts{}, "", false},
		{"a star does not cover a longer name", mail.SendPolicy{Deny: []string{"*.b.org"}}, to("x@evilb.org"), Facts{}, "", false},
		{"an allow rule makes the default deny", mail.SendPolicy{Allow: []string{"b.org"}}, to("x@c.org"), Facts{}, mail.CodePolicyRefused, false},
		{"allowed", mail.SendPolicy{Allow: []string{"b.org"}}, to("x@b.org"), Facts{}, "", false},
		{"deny wins", mail.SendPolicy{Allow: []string{"b.org"}, Deny: []string{"x@b.org"}}, to("x@b.org"), Facts{}, mail.CodePolicyRefused, false},
		{"every recipient is checked", mail.SendPolicy{Allow: []string{"b.org"}}, to("x@b.org", "y@c.org"), Facts{}, mail.CodePolicyRefused, false},
		{"an international domain matches its A-label", mail.SendPolicy{Deny: []string{"xn--mnchen-3ya.de"}}, to("x@münchen.de"), Facts{}, mail.CodePolicyRefused, false},
		{"too many recipients", mail.SendPolicy{MaxRecipients: 1}, to("a@b.org", "c@b.org"), Facts{}, mail.CodePolicyRefused, false},
		{"at the rate limit", mail.SendPolicy{MaxPerMinute: 3}, to("a@b.org"), Facts{SentLastMinute: 3}, mail.CodeRateLimited, false},
		{"below the rate limit", mail.SendPolicy{MaxPerMinute: 3}, to("a@b.org"), Facts{SentLastMinute: 2}, "", false},
		{"confirm always", mail.SendPolicy{Confirm: mail.ConfirmAlways}, to("a@own.org"), Facts{}, "", true},
		{"confirm external, inside", mail.SendPolicy{Confirm: mail.ConfirmExternal}, to("a@own.org", "b@alias.net"), Facts{}, "", false},
		{"confirm external, outside", mail.SendPolicy{Confirm: mail.ConfirmExternal}, to("a@own.org", "b@else.net"), Facts{}, "", true},
		{"confirm first contact, known", mail.SendPolicy{Confirm: mail.ConfirmFirstContact}, to("A@b.org"), Facts{Known: map[string]bool{"a@b.org": true}}, "", false},
		{"confirm first contact, new", mail.SendPolicy{Confirm: mail.ConfirmFirstContact}, to("a@b.org"), Facts{}, "", true},
		{"a suppressed address is asked about", mail.SendPolicy{}, to("a@b.org"), Facts{Suppressed: map[string]string{"a@b.org": "it bounced"}}, "", true},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			acct := &mail.Account{Name: "own", Email: "me@own.org", Aliases: []string{"me@alias.net"}, Policy: r.policy}
			q, err := CheckPolicy(acct, r.to, r.facts)
			if r.code == "" && err != nil || r.code != "" && !errors.Is(err, mail.ErrCode(r.code)) {
				t.Fatalf("got %v, want %q", err, r.code)
			}
			if q.Ask != r.ask {
				t.Errorf("asks %t, want %t (%s)", q.Ask, r.ask, q.Text)
			}
		})
	}
}
