package submit

import (
	"regexp"
	"slices"
	"strings"

	"skrzynka/mail"
)

// queueIDs find the id a server gives an accepted message in its final reply.
// The first that matches counts.
var queueIDs = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\bqueued(?: mail)? as:? ?<?([0-9A-Za-z][0-9A-Za-z._-]{3,120})`), // Postfix, Sendmail-likes
	regexp.MustCompile(`(?i)\bid=([0-9A-Za-z][0-9A-Za-z_-]{5,120})`),                        // Exim
	regexp.MustCompile(`(?i)\bInternalId=([0-9]{1,40})`),                                    // Exchange
	regexp.MustCompile(`(?i)\bOK:?\s+([0-9]{6,}\s+[0-9A-Za-z_.-]{4,120}) - gsmtp`),          // Gmail
	regexp.MustCompile(`(?i)^([0-9A-Za-z]{10,40}) Message accepted for delivery`),           // Sendmail
	regexp.MustCompile(`(?i)^OK:? ([0-9a-f]{8,}(?:-[0-9a-f]{2,}){2,}(?:-[0-9]{6,})?)\s*$`),  // Amazon SES
	regexp.MustCompile(`(?i)^<[^>]*> ([0-9A-Za-z+/]{8,60}) Saved`),                          // Dovecot
}

var messageID = regexp.MustCompile(`<([!-;=?-~]{1,400}@[!-;=?-~]{1,400})>`)

// providerIDs reads a 2xx reply to m for the queue id and for the Message-ID
// it names, brackets included: some providers replace ours.
func providerIDs(r mail.Reply, m Message) (id, msg string) {
	if r.Class() != 2 {
		return "", ""
	}
	text := strings.ReplaceAll(r.Text, "\n", " ")
	for _, re := range queueIDs {
		if found := re.FindStringSubmatch(text); found != nil {
			id = found[1]
			break
		}
	}
	for _, found := range messageID.FindAllString(text, -1) {
		addr := found[1 : len(found)-1]
		if !slices.Contains(m.To, addr) && addr != m.From { // an address is no identifier
			msg = found
			break
		}
	}
	return strings.TrimRight(id, "."), msg
}
