package inbound

import (
	"strings"
)

// hardCodes are the enhanced status codes (RFC 3463) that say the address
// itself is wrong for good. Every other code is soft: the address may be right.
var hardCodes = map[string]string{
	"5.1.1":  "the mailbox does not exist",
	"5.1.2":  "the domain does not exist",
	"5.1.3":  "the address is not valid",
	"5.1.6":  "the mailbox has moved and left no address",
	"5.1.10": "the recipient does not exist, or its domain takes no mail",
	"5.2.1":  "the mailbox was closed for good",
	"5.4.4":  "the domain cannot be reached by mail",
}

// vagueCodes say that delivery failed and not why; words and the SMTP code may
// then tell.
var vagueCodes = map[string]bool{"": true, "5.0.0": true, "5.1.0": true, "5.2.0": true, "5.3.0": true, "5.5.0": true, "5.4.0": true}

// softWords in a diagnostic show that the refusal is about the message, the
// sender, a limit or the moment, whatever its code claims.
var softWords = []string{
	// limits and quota
	"quota", "mailbox full", "mailbox is full", "inbox is full", "is full", "storage", "disk space", "exceeded", "exceeds", "over limit", "too large", "too big", "message size", "size limit", "maximum size",
	"too many", "rate limit", "ratelimit", "too quickly", "at a rate", "throttl", "limit reached", "concurrent",
	// policy, reputation, authentication
	"policy", "policies", "spam", "unsolicited", "blacklist", "black list", "blocklist", "block list", "blocked", "blocking", "banned", "reputation", "rbl", "dnsbl", "spf", "dkim", "dmarc", "virus", "malware", "message content", "content filter", "content reject", "content not", "bad content",
	"not authorized", "not authorised", "unauthorized", "not permitted", "not allowed", "authentication", "relaying", "relay access", "relay denied", "not relay", "to relay", "relay not", "access denied", "restricted", "recipient preferences", "recipient's preferences", "filtered", "whitelist", "confirmation", "not accept mail from", "prohibited", "security",
	"sender address", "sender domain", "sender rejected", "bad sender", "sender verify",
	// the moment
	"temporar", "try again", "try later", "greylist", "graylist", "deferred", "timed out", "timeout", "time out", "expired", "retry", "loop", "too many hops",
	"suspended", "inactive", "not active", "on hold", "malformed", "unexpected name server",
}

// goneWords in a diagnostic say that an address does not exist.
var goneWords = []string{
	"user unknown", "unknown user", "unknown recipient", "recipient unknown", "unknown address", "address unknown", "unknown mailbox", "unknown local", "unknown account", "unknown or illegal", "mailbox unknown", "unknown virtual",
	"no such user", "no such recipient", "no such mailbox", "no such account", "no such address", "no such local", "no such person", "no such domain", "no such host", "no such alias", "no such email", "no such mail", "no such addr", "no known",
	"does not exist", "doesn't exist", "doesnt exist", "not exist", "do not exist", "not found", "couldn't be found", "could not be found", "wasn't found", "cannot be found", "can't be found", "can't find", "cannot find", "not known",
	"invalid recipient", "invalid mailbox", "invalid address", "invalid user", "not a valid", "is not valid", "no longer valid", "isn't valid", "no longer available", "no longer in use", "no longer exist", "no longer with", "no longer on server",
	"no mailbox here", "no mailbox by that", "no user by that", "not have an account", "doesn't have a", "does not have a", "doesn't have an", "has no mailbox", "no account by that", "no account",
	"undeliverable address", "unrouteable address", "unroutable address", "unrouteable mail domain", "not listed", "not a known user", "not our customer", "isn't a valid", "bad destination", "bad address", "bad recipient",
	"host unknown", "unknown host", "unknown domain", "domain unknown", "non-existent", "nonexistent", "nonexist", "non existent", "account has been disabled", "account is disabled", "account disabled", "mailbox disabled", "account has been deleted", "account closed", "user not found",
	"unbekannt", "inconnu", "desconocido", "sconosciuto", "nie istnieje", "nieznany", "nie znaleziono", "non existe", "no existe", "n'existe pas", "ej hittad", "не найден", "не существует", "неизвестен",
	"存在しません", "見つかりません", "ユーザ", "不存在",
}

// shapeWords are what some systems write in place of a code: of a domain, which
// the reporting system looked up itself, or of a directory it keeps.
var shapeWords = []string{"not listed in domino directory", "not listed in public name", "recipient name is not recognized", "host unknown", "unknown host", "no such domain", "host not found", "domain name not found", "domain does not exist", "no mx record", "unrouteable mail domain"}

// closedWords say that a disabled mailbox does not come back.
var closedWords = []string{"no longer exist", "does not exist", "doesn't exist", "has been closed", "account closed", "has been deleted", "deleted", "no longer in use", "no longer valid"}

// blockLists are services that list senders. A diagnostic that refers to one,
// even in a link alone, is about the sender.
var blockLists = []string{"spamhaus", "spamcop", "sorbs.net", "dnsbl", "barracudacentral", "/rbl", "blacklist", "blocklist", "abuseat.org", "mailspike", "uceprotect"}

// spokenWords returns a diagnostic folded for words: without URLs, addresses
// and host names, whose parts may look like words.
func spokenWords(s string) string {
	s = strings.ToLower(clip(s, 3000))
	var b strings.Builder
	b.Grow(len(s))
	for w := range strings.FieldsSeq(s) {
		bare := strings.Trim(w, ".,;:()[]<>'\"!")
		if strings.Contains(bare, "://") || strings.Contains(bare, "@") {
			continue
		}
		if i := strings.IndexByte(bare, '.'); i > 0 && !strings.ContainsAny(bare, " '") && looksLikeHost(bare) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	return b.String()
}

// looksLikeHost reports whether a word has letters on both sides of a dot.
func looksLikeHost(w string) bool {
	for i := 1; i+1 < len(w); i++ {
		if w[i] == '.' && isAlnum(w[i-1]) && isAlnum(w[i+1]) {
			return true
		}
	}
	return false
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func firstOf(words []string, text string) string {
	for _, w := range words {
		if i := strings.Index(text, w); i >= 0 {
			// short words must stand alone: "rbl" is within "marble"
			if len(w) <= 4 && (i > 0 && isAlnum(text[i-1]) || i+len(w) < len(text) && isAlnum(text[i+len(w)])) {
				continue
			}
			return w
		}
	}
	return ""
}

// judge sets Hard, ByCode and Why of a recipient from its action, codes and
// diagnostic. around is further text about it, which can only make it soft.
func (b *BounceRecipient) judge(around string) {
	words := spokenWords(b.Diagnostic)
	inText := enhancedCode(b.Diagnostic)
	code := b.Status
	if vagueCodes[code] && inText != "" {
		code = inText
	}
	switch {
	case b.Action == "delivered" || b.Action == "relayed" || b.Action == "expanded":
		b.Why = "the report says " + b.Action
		return
	case b.Action == "delayed":
		b.Why = "delayed: the server keeps trying"
		return
	case strings.HasPrefix(code, "4.") || b.Code/100 == 4 || strings.HasPrefix(inText, "4."):
		b.Why = "a temporary failure"
		return
	}
	w := firstOf(softWords, words)
	if w == "" {
		w = firstOf(blockLists, strings.ToLower(clip(b.Diagnostic, 3000)))
	}
	if w != "" {
		b.Why = "the reason given is not the address: \"" + w + "\""
		return
	}
	if w := firstOf(quotaWords, spokenWords(around)); w != "" {
		b.Why = "the reason given is not the address: \"" + w + "\""
		return
	}
	gone := firstOf(goneWords, words)
	if code == "5.2.1" && firstOf(closedWords, words) == "" { // RFC 3463: it may be enabled again; carriers use it for mail they filter
		b.Why = "5.2.1: the mailbox is disabled, perhaps for a time"
		return
	}
	if why, ok := hardCodes[code]; ok {
		if inText != "" && inText != code && !vagueCodes[inText] && hardCodes[inText] == "" {
			b.Why = "its codes contradict each other: " + code + " and " + inText
			return
		}
		b.Hard, b.ByCode, b.Why = true, true, code+": "+why
		return
	}
	if b.Code == 556 { // RFC 7504: the domain takes no mail
		b.Hard, b.ByCode, b.Why = true, true, "556: the domain takes no mail"
		return
	}
	if !vagueCodes[code] {
		b.Why = code + " does not say that the address is wrong"
		return
	}
	// Without a telling code, the refusal must be of the recipient (RCPT) and in
	// words: several carriers say "unknown user" of mail they filtered.
	if gone != "" && (b.Code == 550 || b.Code == 551 || b.Code == 553) && strings.Contains(words, "rcpt") {
		b.Hard, b.ByCode = true, true
		b.Why = "the server refused the recipient: \"" + gone + "\""
		return
	}
	if w := firstOf(shapeWords, words); w != "" {
		b.Hard, b.ByCode = true, b.Code/100 == 5
		b.Why = "the reporting system knows no such address: \"" + w + "\""
		return
	}
	b.Why = "no code or words that say the address is wrong"
}

// quotaWords are looked for in the text around a diagnostic as well.
var quotaWords = []string{"over quota", "over its quota", "quota exceeded", "mailbox full", "mailbox is full", "exceeded its quota", "exceeded storage"}

// enhancedCode finds the first enhanced status code in a text. Parts of IP
// addresses and versions are not codes.
func enhancedCode(s string) string {
	for i := 0; i+4 < len(s); i++ {
		if c := s[i]; c != '5' && c != '4' && c != '2' || s[i+1] != '.' {
			continue
		}
		if i > 0 && (isAlnum(s[i-1]) || s[i-1] == '.' || s[i-1] == '[') {
			continue
		}
		j := i + 2
		k := j
		for k < len(s) && k-j < 3 && s[k] >= '0' && s[k] <= '9' {
			k++
		}
		if k == j || k >= len(s) || s[k] != '.' {
			continue
		}
		j = k + 1
		k = j
		for k < len(s) && k-j < 3 && s[k] >= '0' && s[k] <= '9' {
			k++
		}
		if k == j || k < len(s) && (isAlnum(s[k]) || s[k] == '.' && k+1 < len(s) && isAlnum(s[k+1])) {
			continue
		}
		return s[i:k]
	}
	return ""
}

// replyCode finds the first SMTP reply code of a failure in a text.
func replyCode(s string) int {
	for i := 0; i+2 < len(s); i++ {
		if s[i] != '4' && s[i] != '5' || s[i+1] < '0' || s[i+1] > '7' || s[i+2] < '0' || s[i+2] > '9' {
			continue
		}
		if i > 0 && (isAlnum(s[i-1]) || strings.IndexByte(".-/[$@_+:", s[i-1]) >= 0 && !(s[i-1] == ':' && i > 1 && !isAlnum(s[i-2]))) {
			continue
		}
		if i+3 < len(s) && strings.IndexByte(" -\n\t#", s[i+3]) < 0 {
			continue
		}
		return int(s[i]-'0')*100 + int(s[i+1]-'0')*10 + int(s[i+2]-'0')
	}
	return 0
}
