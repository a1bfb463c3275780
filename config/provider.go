package config

import (
	"strings"

	"skrzynka/mail"
)

// provider is what is known of a mail service before anything is asked.
type provider struct {
	domains    []string
	imap, smtp string // hosts
	imapTLS    bool   // TLS on 993, else STARTTLS on 143
	smtpTLS    bool   // TLS on 465, else STARTTLS on 587
	note       string
}

// What a person has to know before a password works.
const (
	noteAppPassword = "Use an app password: the service does not take the account's own password over IMAP."
	noteSwitchOn    = "Switch IMAP on in the service's web settings first."
	noteGoogle      = "Use an app password (needs two-step verification), or auth.method = \"oauth2\" with a client id of your own."
	noteMicrosoft   = "Microsoft takes no password here: use auth.method = \"oauth2\" with a registered client id."
)

// providers is our own table of hosts.
var providers = []provider{
	{[]string{"gmail.com", "googlemail.com"}, "imap.gmail.com", "smtp.gmail.com", true, true, noteGoogle},
	{[]string{"outlook.com", "hotmail.com", "live.com", "msn.com", "hotmail.co.uk", "outlook.de", "outlook.fr"},
		"outlook.office365.com", "smtp-mail.outlook.com", true, false, noteMicrosoft},
	{[]string{"icloud.com", "me.com", "mac.com"}, "imap.mail.me.com", "smtp.mail.me.com", true, false, noteAppPassword},
	{[]string{"yahoo.com", "yahoo.co.uk", "yahoo.de", "yahoo.fr", "yahoo.it", "yahoo.es", "ymail.com", "rocketmail.com"},
		"imap.mail.yahoo.com", "smtp.mail.yahoo.com", true, true, noteAppPassword},
	{[]string{"aol.com"}, "imap.aol.com", "smtp.aol.com", true, true, noteAppPassword},
	{[]string{"fastmail.com", "fastmail.fm", "sent.com", "messagingengine.com"}, "imap.fastmail.com", "smtp.fastmail.com", true, true, noteAppPassword},
	{[]string{"gmx.net", "gmx.de", "gmx.at", "gmx.ch"}, "imap.gmx.net", "mail.gmx.net", true, true, noteSwitchOn},
	{[]string{"gmx.com", "gmx.us", "gmx.co.uk"}, "imap.gmx.com", "mail.gmx.com", true, true, noteSwitchOn},
	{[]string{"web.de"}, "imap.web.de", "smtp.web.de", true, false, noteSwitchOn},
	{[]string{"t-online.de"}, "secureimap.t-online.de", "securesmtp.t-online.de", true, true, "Use the password for e-mail programs, set in the customer centre."},
	{[]string{"freenet.de"}, "mx.freenet.de", "mx.freenet.de", true, false, noteSwitchOn},
	{[]string{"mailbox.org"}, "imap.mailbox.org", "smtp.mailbox.org", true, true, ""},
	{[]string{"posteo.de", "posteo.net"}, "posteo.de", "posteo.de", true, true, ""},
	{[]string{"wp.pl"}, "imap.wp.pl", "smtp.wp.pl", true, true, noteSwitchOn},
	{[]string{"o2.pl", "tlen.pl", "go2.pl"}, "poczta.o2.pl", "poczta.o2.pl", true, true, noteSwitchOn},
	{[]string{"onet.pl", "onet.eu", "op.pl", "vp.pl", "poczta.onet.pl"}, "imap.poczta.onet.pl", "smtp.poczta.onet.pl", true, true, noteSwitchOn},
	{[]string{"interia.pl", "interia.eu", "poczta.fm"}, "poczta.interia.pl", "poczta.interia.pl", true, true, noteSwitchOn},
	{[]string{"gazeta.pl"}, "imap.gazeta.pl", "smtp.gazeta.pl", true, true, noteSwitchOn},
	{[]string{"seznam.cz", "email.cz", "post.cz"}, "imap.seznam.cz", "smtp.seznam.cz", true, true, ""},
	{[]string{"orange.fr", "wanadoo.fr"}, "imap.orange.fr", "smtp.orange.fr", true, true, ""},
	{[]string{"free.fr"}, "imap.free.fr", "smtp.free.fr", true, true, ""},
	{[]string{"laposte.net"}, "imap.laposte.net", "smtp.laposte.net", true, true, ""},
	{[]string{"libero.it"}, "imapmail.libero.it", "smtp.libero.it", true, true, ""},
	{[]string{"zoho.com", "zohomail.com"}, "imap.zoho.com", "smtp.zoho.com", true, true, noteAppPassword},
	{[]string{"zoho.eu"}, "imap.zoho.eu", "smtp.zoho.eu", true, true, noteAppPassword},
	{[]string{"yandex.ru", "yandex.com", "ya.ru"}, "imap.yandex.com", "smtp.yandex.com", true, true, noteAppPassword},
	{[]string{"mail.ru", "bk.ru", "inbox.ru", "list.ru"}, "imap.mail.ru", "smtp.mail.ru", true, true, noteAppPassword},
	{[]string{"163.com"}, "imap.163.com", "smtp.163.com", true, true, "Use the authorization code from the web settings as the password."},
	{[]string{"126.com"}, "imap.126.com", "smtp.126.com", true, true, "Use the authorization code from the web settings as the password."},
	{[]string{"qq.com"}, "imap.qq.com", "smtp.qq.com", true, true, "Use the authorization code from the web settings as the password."},
}

// Guess returns the servers of a well-known mail service by the domain of an
// address, and a sentence on what its password needs, "" when nothing special.
// It asks nobody; ok is false for a domain it does not know.
func Guess(email string) (imap, smtp mail.Server, note string, ok bool) {
	if strings.IndexByte(email, '@') <= 0 {
		return mail.Server{}, mail.Server{}, "", false
	}
	domain := mail.Address{Addr: email}.Domain()
	if domain == "proton.me" || domain == "protonmail.com" || domain == "pm.me" {
		imap = mail.Server{Host: "127.0.0.1", Port: 1143, Security: mail.SecuritySTARTTLS, Username: email}
		smtp = mail.Server{Host: "127.0.0.1", Port: 1025, Security: mail.SecuritySTARTTLS, Username: email}
		return imap, smtp, "Start Proton Mail Bridge, use the password it shows, and name its exported certificate in ca_file.", true
	}
	for _, p := range providers {
		for _, d := range p.domains {
			if d != domain {
				continue
			}
			imap = mail.Server{Host: p.imap, Port: portIMAP, Security: mail.SecuritySTARTTLS, Username: email}
			if p.imapTLS {
				imap.Port, imap.Security = portIMAPS, mail.SecurityTLS
			}
			smtp = mail.Server{Host: p.smtp, Port: portSubmission, Security: mail.SecuritySTARTTLS, Username: email}
			if p.smtpTLS {
				smtp.Port, smtp.Security = portSubmissions, mail.SecurityTLS
			}
			return imap, smtp, p.note, true
		}
	}
	return mail.Server{}, mail.Server{}, "", false
}
