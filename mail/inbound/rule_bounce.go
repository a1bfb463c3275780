package inbound

import (
	"strings"

	"skrzynka/mail"
)

// daemonNames are local parts mail systems write their reports from.
var daemonNames = []string{"mailer-daemon", "mailer_daemon", "mailerdaemon", "postmaster", "mail-daemon", "maildaemon", "mail.daemon", "mdaemon", "maildelivery", "mail-delivery", "maildeliverysystem", "mail.delivery", "bounce-notification", "ndr", "bounces", "bouncehandler", "mailsystem", "mail-system", "smtp-admin", "mmdf", "microsoftexchange", "mail_admin", "mailadmin", "smtpd", "system administrator"}

// daemonTitles are display names of mail systems, lower case.
var daemonTitles = []string{"mail delivery", "mail deliver system", "mailer-daemon", "mail administrator", "system administrator", "microsoft outlook", "postmaster", "delivery subsystem", "mail system", "mailsystem", "microsoft exchange", "mailserver", "mail server"}

// bounceSubjects begin the subjects of reports, folded. They are words, and
// never suffice.
var bounceSubjects = []string{
	"undeliver", "returned mail", "returned to sender", "mail delivery fail", "mail delivery err", "mail delivery prob", "mail delivery status", "mail delivery system", "message delivery fail", "delivery status notification", "delivery failure", "delivery failed", "delivery error", "delivery report", "delivery notification", "delivery problem", "failure notice", "failed delivery", "mail failed", "mail failure", "message delivery", "message not delivered", "mail system error", "mail error", "non deliv", "non-deliv", "nondeliverable", "notification: ", "ndn:", "warning: message", "warning: could not send", "mail could not", "message could not", "mail undeliverable", "undelivered mail", "bounced mail", "error sending", "user unknown", "permanent delivery", "unable to deliver", "could not send", "email delivery", "delivery has failed", "delayed mail", "delivery delayed", "delivery incomplete", "delivery temporarily", "message delayed", "warning: mail", "mail warning", "address not found", "mail returned", "rejected mail", "rejected:", "message status - undeliverable", "message rejected",
	"niedostarcz", "nie mozna dostarczyc", "nie dostarczono", "unzustellbar", "nicht zustellbar", "zustellung", "non remis", "echec de remise", "echec de la remise", "non recapitabile", "mancato recapito", "recapito non", "no se puede entregar", "no entregado", "nao e possivel", "falha na entrega", "onbestelbaar", "kan inte leverera", "olevererbart", "kan ikke leveres", "ei voida toimittaa", "nedorucitelne", "nelze dorucit", "не доставлено", "недоставленное", "не удалось", "無法傳遞", "配信不能", "メールエラー", "配信エラー", "未送达", "退信", "系统退信",
}

// bounceTemplates are sentences mail systems write, lower case, with the
// system's name as the reason. They are looked for before a copy of the
// returned message.
var bounceTemplates = []struct{ system, text string }{
	{"qmail", "this is the qmail-send program"}, {"qmail", "i'm afraid i wasn't able to deliver"}, {"qmail", "wasn't able to deliver your message"}, {"qmail", "this is a permanent error; i've given up"}, {"qmail", "sorry it didn't work out"}, {"qmail", "unable to deliver message to the following address"}, {"qmail", "unable to deliver your message to the following"},
	{"exim", "this message was created automatically by"}, {"exim", "a message that you sent could not be delivered"}, {"exim", "a message that you have sent could not be delivered"}, {"exim", "the following address(es) failed"}, {"exim", "has not been delivered to"}, {"exim", "could not be delivered to"}, {"exim", "message that you sent has not yet been delivered"},
	{"postfix", "i'm sorry to have to inform you that your message"}, {"postfix", "i'm sorry to have to inform you that the message"}, {"postfix", "this is the mail system at host"}, {"postfix", "this is the postfix program at host"}, {"postfix", "message could not be delivered for"},
	{"sendmail", "the following addresses had permanent"}, {"sendmail", "the following addresses had delivery"}, {"sendmail", "the following addresses had transient"}, {"sendmail", "the following addresses had unrecoverable"}, {"sendmail", "transcript of session follows"}, {"sendmail", "transcript of session is unavailable"}, {"sendmail", "unsent message follows"},
	{"exchange", "delivery has failed to these recipients"}, {"exchange", "the following recipient(s) could not be reached"}, {"exchange", "the following recipient(s) cannot be reached"}, {"exchange", "did not reach some or all of the intended recipients"}, {"exchange", "did not reach the following recipient"}, {"exchange", "generating server:"}, {"exchange", "diagnostic information for administrators"}, {"exchange", "your message wasn't delivered"}, {"exchange", "wasn't delivered to"}, {"exchange", "couldn't be delivered"}, {"exchange", "delivery to the following recipients failed"}, {"exchange", "the e-mail account does not exist at the organization"}, {"exchange", "dostarczenie wiadomości do następujących"}, {"exchange", "fehler bei der nachrichtenzustellung"}, {"exchange", "échec de la remise"},
	{"gmail", "delivery to the following recipient failed"}, {"gmail", "delivery to the following recipient has been delayed"}, {"gmail", "this is an automatically generated delivery status notification"}, {"gmail", "address not found"}, {"gmail", "there was a temporary problem delivering"}, {"gmail", "there was a problem delivering your message"}, {"gmail", "technical details of permanent failure"}, {"gmail", "technical details of temporary failure"}, {"gmail", "your message wasn't delivered to"},
	{"notes", "was not delivered to"}, {"notes", "failure reasons"}, {"notes", "not listed in domino directory"}, {"notes", "not listed in public name"},
	{"amazon", "an error occurred while trying to deliver the mail"}, {"amazon", "technical report:"},
	{"zoho", "this message was created automatically by mail delivery software"}, {"zoho", "invalid address -"},
	{"dragonfly", "there was an error delivering your mail to"}, {"dragonfly", "delivery of your mail to"},
	{"opensmtpd", "this is the mailer-daemon"}, {"opensmtpd", "an error has occurred while attempting to deliver"},
	{"carrier", "each of the following recipients was rejected"}, {"carrier", "the following recipients did not receive"}, {"carrier", "could not be delivered to:"}, {"carrier", "the user(s) account is disabled"}, {"carrier", "the user(s) account is temporarily"}, {"carrier", "your message was not delivered within"}, {"carrier", "the following recipient was rejected"}, {"carrier", "送信できませんでした"}, {"carrier", "送信に失敗しました"}, {"carrier", "送信はできませんでした"}, {"carrier", "配信できませんでした"}, {"carrier", "お届けできませんでした"}, {"carrier", "届けられませんでした"},
	{"courier", "unable to deliver your mail"}, {"courier", "this is a delivery status notification from"}, {"courier", "the original message was received"},
	{"messagingserver", "this report relates to a message you sent"}, {"messagingserver", "your message cannot be delivered to the following"}, {"messagingserver", "your message is being returned"},
	{"imail", "unable to deliver message to"}, {"imail", "undeliverable to"}, {"imail", "user mailbox exceeds"}, {"imail", "unknown user:"},
	{"other", "could not be delivered"}, {"other", "cannot be delivered"}, {"other", "can not be delivered"}, {"other", "was undeliverable"}, {"other", "is undeliverable"}, {"other", "undeliverable message"}, {"other", "delivery failed"}, {"other", "unable to deliver"}, {"other", "not able to deliver"}, {"other", "could not deliver"}, {"other", "cannot deliver"}, {"other", "failed recipient"}, {"other", "failed address"}, {"other", "undelivered message"}, {"other", "permanent fatal error"}, {"other", "returned mail"}, {"other", "not delivered"}, {"other", "delivery failure"}, {"other", "non-deliverable"}, {"other", "has been rejected"}, {"other", "was rejected"}, {"other", "could not be sent"}, {"other", "mail delivery fail"}, {"other", "being returned to you"}, {"other", "remote host said"}, {"other", "failed permanently"}, {"other", "cannot accept mail"}, {"other", "didn't work out"}, {"other", "has been delayed"}, {"other", "undelivered"}, {"other", "recipient address rejected"},
	{"fr", "n'a pas pu être"}, {"fr", "n'a pu être"}, {"de", "konnte nicht zugestellt"}, {"de", "konnte nicht an"}, {"de", "nicht zugestellt werden"}, {"pl", "nie została dostarczona"}, {"pl", "nie mogła zostać dostarczona"}, {"es", "no pudo ser entregado"}, {"es", "no se ha podido entregar"}, {"it", "non è stato possibile"}, {"it", "impossibile recapitare"}, {"pt", "não pôde ser entregue"}, {"ru", "не может быть доставлено"}, {"ru", "не было доставлено"}, {"ru", "не удалось доставить"}, {"zh", "退回"}, {"zh", "无法"},
}

// bounceSignals are what speaks for a report that has no standard shape.
type bounceSignals struct {
	structural []string // of the message's form: a daemon's name, the null sender, vendor fields, a returned message
	words      []string // what it says
	says       bool     // one of them speaks of failure or delay
}

func (f *facts) bounceSignals() bounceSignals {
	var s bounceSignals
	structural := func(says bool, evidence string) {
		s.structural = append(s.structural, evidence)
		s.says = s.says || says
	}
	if f.nullReturn || strings.EqualFold(strings.Trim(f.h.Get("Return-Path"), "<> "), "mailer-daemon") {
		structural(false, "Return-Path: "+strings.TrimSpace(f.h.Get("Return-Path")))
	}
	if d := f.daemon(); d != "" {
		structural(false, "From: "+d)
	}
	if strings.HasPrefix(strings.ReplaceAll(f.local, "-", ""), "noreply") && returnsMessage(f) {
		structural(false, "a message returned by "+f.sender)
	}
	for _, name := range []string{"X-Failed-Recipients", "X-MS-Exchange-Message-Is-Ndr", "X-Actual-Recipient"} {
		if v := f.h.Get(name); v != "" || name == "X-MS-Exchange-Message-Is-Ndr" && len(f.h.All(name)) > 0 {
			structural(true, name+": "+strings.TrimSpace(v))
		}
	}
	if f.m.ContentType == "multipart/report" {
		structural(true, "Content-Type: multipart/report")
	}
	for i := range f.m.Parts {
		p := &f.m.Parts[i]
		if p.Within < 0 && strings.HasSuffix(p.Type, "delivery-status") {
			structural(true, "a part of type "+p.Type)
			break
		}
	}
	if len(s.structural) == 0 {
		return s
	}
	f.readText()
	head := strings.ToLower(beforeCopy(f.text))
	if returnsMessage(f) || len(head) < len(f.lower) {
		structural(false, "a returned message")
	}
	for _, w := range bounceSubjects {
		if strings.HasPrefix(f.bare, w) || len(w) > 12 && strings.Contains(f.bare, w) {
			s.words = append(s.words, "Subject: "+f.h.Subject)
			s.says = true
			break
		}
	}
	for _, t := range bounceTemplates {
		if i := strings.Index(head, t.text); i >= 0 {
			s.words = append(s.words, t.system+": "+t.text)
			s.says = true
			break
		}
	}
	if c := replyCode(head); c != 0 {
		s.words = append(s.words, "an SMTP reply code")
		if firstOf(goneWords, head) != "" {
			s.says = true
		}
	}
	return s
}

// daemon returns the sender where it is a mail system.
func (f *facts) daemon() string {
	raw := strings.TrimSpace(f.h.Get("From"))
	local := f.local
	if strings.Contains(strings.ReplaceAll(raw, " ", ""), "<>") {
		return raw // a person has an address
	}
	if local == "" { // "MAILER-DAEMON" without a domain
		local = strings.ToLower(raw)
	}
	local = strings.Trim(local, "<> \"")
	for _, d := range daemonNames {
		if local == d || strings.HasPrefix(local, d+"@") || strings.HasPrefix(local, d+" ") || strings.HasPrefix(local, d+"_") || strings.HasPrefix(local, d+"-") || strings.HasPrefix(local, d+"+") || strings.HasPrefix(d, "mailer") && strings.HasPrefix(local, d) {
			return raw
		}
	}
	for _, t := range daemonTitles {
		if strings.HasPrefix(f.name, t) {
			return raw
		}
	}
	return ""
}

func returnsMessage(f *facts) bool {
	for i := range f.m.Parts {
		p := &f.m.Parts[i]
		if p.Within >= 0 {
			continue
		}
		switch p.Type {
		case "message/rfc822", "text/rfc822-headers", "text/rfc822", "message/rfc822-headers", "message/global":
			return true
		}
	}
	return false
}

// matchBounce recognises reports of no standard shape: at least two signals
// that do not depend on each other, one of them of the message's form, and one
// that speaks of failure. A subject alone never suffices.
func matchBounce(f *facts, r *Result) (mail.InboundClass, bool) {
	if f.h.AutoSubmitted == "no" {
		return "", false
	}
	s := f.bounceSignals()
	if len(s.structural) == 0 || len(s.structural)+len(s.words) < 2 || !s.says {
		return "", false
	}
	recipients := statusRecipients(f)
	if len(recipients) == 0 {
		recipients = textRecipients(f)
	}
	// An automatic answer may come from the null sender too: without a
	// recipient, a code or a sentence of a mail system it is no report.
	if autoReplyMark := f.subjectPrefix() != nil || f.h.AutoSubmitted == "auto-replied" && f.daemon() == ""; autoReplyMark && f.h.Get("X-Failed-Recipients") == "" && len(s.structural) < 3 {
		return "", false
	}
	if f.daemon() == "" && !f.nullReturn && len(recipients) == 0 {
		return "", false // nothing is reported
	}
	for _, e := range append(s.structural, s.words...) {
		r.because("bounce-signal", e)
	}
	delayed := f.saysDelayed()
	for i := range recipients {
		b := &recipients[i]
		if b.Action == "" {
			if b.Action = "failed"; delayed {
				b.Action = "delayed"
			}
		}
		b.judge(f.h.Subject)
	}
	r.Recipients = recipients
	class := bounceClass(r)
	if class == mail.ClassDSNSuccess && len(recipients) == 0 {
		class = mail.ClassBounceSoft
		r.because("recipient", "no recipient could be read from it")
	}
	return class, true
}

// delayWords tell a notice of delay from one of failure.
var delayWords = []string{"warning message only", "has been delayed", "not yet been delivered", "will be retried", "do not need to resend", "will continue to be retried", "delivery attempts will continue", "still trying", "being delayed", "will keep trying", "delivery incomplete", "has not been delivered yet", "will try again", "is delayed"}

func (f *facts) saysDelayed() bool {
	f.readText()
	head := strings.ToLower(beforeCopy(f.text))
	for _, w := range delayWords {
		if strings.Contains(head, w) || strings.Contains(f.bare, w) {
			return true
		}
	}
	return strings.HasPrefix(f.bare, "warning: could not send") || strings.Contains(f.bare, "(delay)") || strings.HasPrefix(f.bare, "delayed mail")
}
