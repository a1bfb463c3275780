package loopback

import (
	"fmt"
	"strings"

	"github.com/emersion/go-smtp"

	"skrzynka/mail"
)

// An ending is what the submission server does once it has the content.
type ending int

// The endings, from the mildest to the one that wins when a message has
// recipients of several kinds.
const (
	endAccept ending = iota
	endSlow          // accept, and answer late
	endRefuse        // 554 after the terminator
	endDrop          // accept, and hang up instead of answering
	endVanish        // hang up in the content
)

// A Rule is what happens to mail for one local part, at any domain.
type Rule struct {
	Local    string
	Sentence string              // for people
	Status   mail.DeliveryStatus // what an attempt to it must end as

	rcpt   *smtp.SMTPError // the reply to RCPT, if it is not 250
	hangUp bool            // after that reply
	end    ending
	answer func(*Servers, Accepted, string) // what arrives in INBOX later
}

// Rules returns the table of magic recipients, in the order the help shows
// them. Mail to any other address is accepted.
func Rules() []Rule {
	return []Rule{
		{Local: "ok", Status: mail.StatusSent, Sentence: "is accepted at once"},
		{Local: "reject", Status: mail.StatusFailed, Sentence: "is refused: no such user (550 at RCPT)",
			rcpt: reply(550, 5, 1, 1, "There is no such user here")},
		{Local: "greylist", Status: mail.StatusFailed, Sentence: "is refused for now: try again later (451 at RCPT)",
			rcpt: reply(451, 4, 7, 1, "Greylisted, please try again in five minutes")},
		{Local: "busy", Status: mail.StatusFailed, Sentence: "the server is closing down (421 at RCPT, then it hangs up)",
			rcpt: reply(421, 4, 3, 2, "The server is shutting down, closing the connection"), hangUp: true},
		{Local: "refuse", Status: mail.StatusFailed, Sentence: "is refused after the whole mail was read (554)", end: endRefuse},
		{Local: "vanish", Status: mail.StatusFailed, Sentence: "the server hangs up in the middle of the mail", end: endVanish},
		{Local: "drop", Status: mail.StatusUncertain, Sentence: "the server takes the mail and hangs up without a word", end: endDrop},
		{Local: "slow", Status: mail.StatusSent, Sentence: "is accepted, but the answer takes 20 seconds", end: endSlow},
		{Local: "bounce", Status: mail.StatusSent, Sentence: "is accepted, and bounces a few seconds later", answer: (*Servers).bounce},
		{Local: "ooo", Status: mail.StatusSent, Sentence: "is accepted, and an automatic reply says when they are back", answer: (*Servers).autoReply},
		{Local: "human", Status: mail.StatusSent, Sentence: "is accepted, and a person answers a few seconds later", answer: (*Servers).humanReply},
	}
}

func reply(code, a, b, c int, text string) *smtp.SMTPError {
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{a, b, c}, Message: text}
}

// ruleFor finds the rule of a recipient by its local part, without any +tag
// and in any case; an address that is in no row is taken like ok@.
func ruleFor(addr string) Rule {
	local := addr
	if i := strings.LastIndexByte(addr, '@'); i >= 0 {
		local = addr[:i]
	}
	local, _, _ = strings.Cut(strings.ToLower(local), "+")
	rules := Rules()
	for _, r := range rules {
		if r.Local == local {
			return r
		}
	}
	return rules[0]
}

// Help is the table of magic recipients as text, one line each.
func Help() string {
	var b strings.Builder
	for _, r := range Rules() {
		fmt.Fprintf(&b, "%-22s %-10s %s\n", r.Local+"@demo.example", r.Status, r.Sentence)
	}
	return b.String()
}
