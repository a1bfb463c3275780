package inbound

import (
	"strings"

	"skrzynka/mail"
)

// receivedWords are how an acknowledgement says that a message arrived,
// folded. They never count alone: people write them too.
var receivedWords = []string{
	"we have received your", "we've received your", "have received your", "has been received", "received your message", "received your email", "your request has been", "ticket has been created", "a ticket has been",
	"thank you for your e-mail", "thank you for your email", "thank you for you e-mail", "thank you for contacting", "thanks for contacting", "case has been created", "will get back to you", "your ticket", "reply as soon as possible", "acknowledge receipt",
	"otrzymalismy twoj", "otrzymalismy panst", "twoje zgloszenie", "potwierdzamy otrzymanie", "zgloszenie zostalo", "dziekujemy za wiadomosc", "dziekujemy za kontakt",
	"wir haben ihre", "ihre anfrage ist", "ihre nachricht ist", "eingangsbestatigung", "vielen dank fur ihre",
	"nous avons bien recu", "accuse de reception", "votre demande a ete",
	"hemos recibido su", "hemos recibido tu", "acuse de recibo",
	"abbiamo ricevuto", "conferma di ricezione", "wij hebben uw", "we hebben je", "ontvangstbevestiging",
	"vi har mottagit", "vi har modtaget", "vi har mottatt", "olemme vastaanottaneet", "recebemos a sua", "recebemos sua",
	"obdrzeli jsme", "potvrzujeme prijeti", "potvrzeni o prijeti", "ваше обращение", "мы получили ваш", "已收到您的", "受け付けました", "受付いたしました",
}

// ticketMarks are how ticket systems number what they answer, in a folded
// subject.
var ticketMarks = []string{"[ticket", "ticket#", "[#", "ticket id", "[case", "case #", "[request", "case number", "ticket number", "zgloszenie nr", "zgloszenie #", "numer zgloszenia", "ticketnummer", "numero de ticket", "[sup-", "[help"}

// saysReceived reports whether the subject or the first lines acknowledge.
func saysReceived(f *facts) bool {
	f.readText()
	head := fold(clip(f.authored, 900))
	for _, w := range receivedWords {
		if strings.Contains(f.subject, w) || strings.Contains(head, w) {
			return true
		}
	}
	return false
}

func (f *facts) ticketMark() string {
	for _, m := range ticketMarks {
		if strings.Contains(f.subject, m) {
			return m
		}
	}
	return ""
}

// matchAck recognises acknowledgements and other mail a program generated. The
// mail must say itself that it is generated, or come from the null sender or a
// bulk Precedence while it acknowledges.
func matchAck(f *facts, r *Result) (mail.InboundClass, bool) {
	switch f.h.AutoSubmitted {
	case "no":
		return "", false
	case "auto-generated":
		r.because("auto-mark", "Auto-Submitted: auto-generated")
		if m := f.ticketMark(); m != "" {
			r.because("ticket", m)
		}
		return mail.ClassAutoAck, true
	}
	precedence := f.get("Precedence")
	if !f.nullReturn && precedence != "bulk" && precedence != "junk" {
		return "", false
	}
	if !saysReceived(f) && f.ticketMark() == "" {
		return "", false
	}
	if f.nullReturn {
		r.because("null-return", "Return-Path: <>")
	} else {
		r.because("precedence", "Precedence: "+precedence)
	}
	r.because("ack-words", f.h.Subject)
	return mail.ClassAutoAck, true
}

// challenges are the systems that ask a sender to prove being a person.
var challenges = []struct{ field, value string }{
	{"X-Boxbe-Challenge", ""}, {"X-AskMe", ""}, {"X-TMDA-Fingerprint", ""}, {"X-Spamarrest-Challenge", ""},
	{"X-Mailer", "spamarrest"}, {"X-Mailer", "boxbe"}, {"Precedence", "challenge"},
}

// matchChallenge recognises a challenge-response request; nobody read our mail.
func matchChallenge(f *facts, r *Result) (mail.InboundClass, bool) {
	for _, c := range challenges {
		v := strings.ToLower(f.h.Get(c.field))
		if v != "" && strings.Contains(v, c.value) {
			r.because("challenge", c.field+": "+v)
			return mail.ClassAutoAck, true
		}
	}
	return "", false
}
