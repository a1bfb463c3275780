package inbound

import "strings"

// subjectPrefix is how a vacation program begins the subject of an automatic
// answer.
type subjectPrefix struct {
	lang string
	text string // as it is written; compared folded

	// plain prefixes are ordinary words a person may begin a subject with.
	// They need more beside them than the others.
	plain bool

	folded string
}

// subjectPrefixes are compared at the start of the subject only, and never
// count alone: "Auto" is a car in many languages.
var subjectPrefixes = func() []subjectPrefix {
	rows := []subjectPrefix{
		{lang: "en", text: "Automatic reply"},
		{lang: "en", text: "Automatic response"},
		{lang: "en", text: "Automated reply"},
		{lang: "en", text: "Automated response"},
		{lang: "en", text: "Auto reply"},
		{lang: "en", text: "Autoreply"},
		{lang: "en", text: "Auto-Reply"},
		{lang: "en", text: "Auto response"},
		{lang: "en", text: "Autoresponse"},
		{lang: "en", text: "Auto-response"},
		{lang: "en", text: "Auto:", plain: true},
		{lang: "en", text: "Out of office"},
		{lang: "en", text: "Out of the office"},
		{lang: "en", text: "OOO", plain: true},
		{lang: "en", text: "OOF:", plain: true},
		{lang: "en", text: "Away from", plain: true},
		{lang: "en", text: "On vacation", plain: true},
		{lang: "en", text: "On holiday", plain: true},
		{lang: "en", text: "On leave", plain: true},
		{lang: "en", text: "Vacation reply"},
		{lang: "pl", text: "Automatyczna odpowiedź"},
		{lang: "pl", text: "Odpowiedź automatyczna"},
		{lang: "pl", text: "Autoodpowiedź"},
		{lang: "pl", text: "Autoresponder"},
		{lang: "pl", text: "Poza biurem", plain: true},
		{lang: "pl", text: "Nieobecność", plain: true},
		{lang: "pl", text: "Urlop", plain: true},
		{lang: "pl", text: "Jestem na urlopie", plain: true},
		{lang: "de", text: "Automatische Antwort"},
		{lang: "de", text: "Abwesenheitsnotiz"},
		{lang: "de", text: "Abwesenheitsassistent"},
		{lang: "de", text: "Abwesenheit", plain: true},
		{lang: "de", text: "Abwesend", plain: true},
		{lang: "de", text: "Nicht im Büro", plain: true},
		{lang: "de", text: "Urlaub", plain: true},
		{lang: "fr", text: "Réponse automatique"},
		{lang: "fr", text: "Absence du bureau", plain: true},
		{lang: "fr", text: "Absent du bureau", plain: true},
		{lang: "fr", text: "Absence", plain: true},
		{lang: "fr", text: "Absent", plain: true},
		{lang: "fr", text: "Absente", plain: true},
		{lang: "es", text: "Respuesta automática"},
		{lang: "es", text: "Fuera de la oficina", plain: true},
		{lang: "pt", text: "Resposta automática"},
		{lang: "pt", text: "Fora do escritório", plain: true},
		{lang: "pt", text: "Ausência", plain: true},
		{lang: "it", text: "Risposta automatica"},
		{lang: "it", text: "Fuori sede", plain: true},
		{lang: "it", text: "Fuori ufficio", plain: true},
		{lang: "it", text: "Assenza", plain: true},
		{lang: "nl", text: "Automatisch antwoord"},
		{lang: "nl", text: "Afwezigheid", plain: true},
		{lang: "nl", text: "Afwezig", plain: true},
		{lang: "sv", text: "Autosvar"},
		{lang: "sv", text: "Automatiskt svar"},
		{lang: "sv", text: "Frånvarande", plain: true},
		{lang: "sv", text: "Frånvaro", plain: true},
		{lang: "da", text: "Automatisk svar"},
		{lang: "da", text: "Ikke til stede", plain: true},
		{lang: "da", text: "Fravær", plain: true},
		{lang: "nb", text: "Automatisk svar"},
		{lang: "nb", text: "Fraværsmelding"},
		{lang: "fi", text: "Automaattinen vastaus"},
		{lang: "fi", text: "Poissa", plain: true},
		{lang: "cs", text: "Automatická odpověď"},
		{lang: "cs", text: "Mimo kancelář", plain: true},
		{lang: "sk", text: "Automatická odpoveď"},
		{lang: "hu", text: "Automatikus válasz"},
		{lang: "ro", text: "Răspuns automat"},
		{lang: "ru", text: "Автоматический ответ"},
		{lang: "ru", text: "Автоответ"},
		{lang: "uk", text: "Автоматична відповідь"},
		{lang: "bg", text: "Автоматичен отговор"},
		{lang: "tr", text: "Otomatik yanıt"},
		{lang: "el", text: "Αυτόματη απάντηση"},
		{lang: "ja", text: "自動応答"},
		{lang: "ja", text: "自動返信"},
		{lang: "zh", text: "自动答复"},
		{lang: "zh", text: "自动回复"},
		{lang: "zh", text: "自動回覆"},
		{lang: "ko", text: "자동 회신"},
		{lang: "ar", text: "رد تلقائي"},
		{lang: "he", text: "תשובה אוטומטית"},
	}
	for i := range rows {
		rows[i].folded = fold(rows[i].text)
	}
	return rows
}()

// subjectPrefix returns the longest prefix the subject begins with, or nil. A
// plain word after a reply prefix belongs to the subject that is answered, and
// a subject we wrote ourselves says nothing of its answer.
func (f *facts) subjectPrefix() *subjectPrefix {
	if f.prefixRead {
		return f.prefix
	}
	f.prefixRead = true
	if f.ourSubject() {
		return nil
	}
	s := strings.TrimLeft(f.bare, "[(\"'* ")
	for i := range subjectPrefixes {
		p := &subjectPrefixes[i]
		if p.plain && f.stripped || f.prefix != nil && len(p.folded) <= len(f.prefix.folded) {
			continue
		}
		if rest, ok := strings.CutPrefix(s, p.folded); ok && endsWord(p.folded, rest) {
			f.prefix = p
		}
	}
	return f.prefix
}

// endsWord reports whether a match followed by rest ends where a word ends.
// Scripts that write no spaces end a word anywhere.
func endsWord(match, rest string) bool {
	if rest == "" || match[len(match)-1] == ':' {
		return true
	}
	c := rest[0]
	if c >= 0x80 {
		return match[0] >= 0xe3 || strings.HasPrefix(rest, "：")
	}
	return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
}
