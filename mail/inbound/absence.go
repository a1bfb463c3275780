package inbound

import "strings"

// absenceStems are beginnings of words and phrases that speak of an absence,
// folded, in one list: a note may be written in two languages.
var absenceStems = []string{
	"out of office", "out of the office", "away from", "i am away", "i'm away", "am currently away", "be away", "on vacation", "on holiday", "on leave", "annual leave", "maternity leave", "parental leave", "on a business trip", "travelling", "traveling", "not in the office", "i will be out", "i am out", "i'm out", "i'll be out", "office is closed", "office will be closed", "we are closed", "ooo", "vacation", "back in the office", "return to the office", "returning to the office", "not available", "unavailable", "currently away", "am away", "away until",
	"nieobecn", "urlop", "poza biurem", "jestem na", "nie ma mnie", "delegacj", "wracam", "bede nieosiagaln", "niedostepn", "zwolnieni",
	"abwesen", "nicht im buro", "nicht im haus", "urlaub", "nicht erreichbar", "ausser haus", "dienstreise", "elternzeit", "nicht am platz", "feiertag",
	"absent", "absence", "conge", "en vacances", "hors du bureau", "bureaux fermes", "fermeture", "ferme du", "sera ferme", "indisponible", "deplacement",
	"fuera de la oficina", "de vacaciones", "ausente", "ausencia", "no estare", "estare fuera",
	"fuori sede", "fuori ufficio", "in ferie", "assente", "assenza", "non sono in ufficio", "chiusura", "ferie",
	"afwezig", "met vakantie", "op vakantie", "niet aanwezig", "niet op kantoor", "verlof", "buiten kantoor",
	"franvar", "semester", "inte pa kontoret", "inte pa plats", "foraldraledig", "tjanstledig", "ledig",
	"fravaer", "ferie", "ikke til stede", "ikke pa kontoret", "bortreist", "bortrejst", "permisjon", "orlov",
	"poissa", "lomalla", "loma", "en ole toissa", "tavoitettavissa",
	"mimo kancelar", "dovolen", "nepritom", "nejsem v kancelari", "na sluzebni ceste",
	"fora do escritorio", "de ferias", "ausencia", "ferias", "estarei fora",
	"в отпуске", "отсутств", "відпустц", "休暇", "不在", "休假", "外出",
}

// saysAbsent reports whether the subject or what the sender wrote speaks of an
// absence.
func (f *facts) saysAbsent() bool {
	return speaksOfAbsence(f.subject) || f.bodySaysAbsent()
}

// bodySaysAbsent is saysAbsent for the text alone.
func (f *facts) bodySaysAbsent() bool {
	f.readText()
	return speaksOfAbsence(fold(clip(f.authored, 1500)))
}

func speaksOfAbsence(folded string) bool {
	for _, stem := range absenceStems {
		i := strings.Index(folded, stem)
		if i < 0 || i > 0 && isAlnum(folded[i-1]) {
			continue
		}
		if len(stem) > 3 || i+len(stem) == len(folded) || !isAlnum(folded[i+len(stem)]) {
			return true
		}
	}
	return false
}
