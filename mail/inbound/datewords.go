package inbound

import "strings"

// months maps the names of months, folded, to 1…12, in the languages a note is
// read in. Names of three letters or more are listed as they are inflected.
var months = wordTable([12]string{
	"january jan stycznia styczen januar janner janvier enero gennaio gen januari tammikuuta tammikuun tammikuu ledna leden janeiro января",
	"february feb lutego luty februar fevrier fev fevr febrero febbraio februari helmikuuta helmikuun helmikuu unora unor fevereiro февраля",
	"march mar marca marzec marz maerz mars marzo maart marts maaliskuuta maaliskuun maaliskuu brezna brezen marco марта",
	"april apr kwietnia kwiecien avril avr abril abr aprile huhtikuuta huhtikuun huhtikuu dubna duben апреля",
	"may maja mai mayo maggio mei maj toukokuuta toukokuun toukokuu kvetna kveten maio мая",
	"june jun czerwca czerwiec juni juin junio giugno kesakuuta kesakuun kesakuu cervna cerven junho июня",
	"july jul lipca lipiec juli juillet juil julio luglio heinakuuta heinakuun heinakuu cervence cervenec julho июля",
	"august aug sierpnia sierpien aout agosto ago augustus augusti elokuuta elokuun elokuu srpna srpen августа",
	"september sep sept wrzesnia wrzesien septembre septiembre settembre syyskuuta syyskuun syyskuu zari setembro сентября",
	"october oct pazdziernika pazdziernik oktober okt octobre octubre ottobre lokakuuta lokakuun lokakuu rijna rijen outubro out октября",
	"november nov listopada listopad novembre noviembre marraskuuta marraskuun marraskuu listopadu novembro ноября",
	"december dec grudnia grudzien dezember dez decembre diciembre dicembre desember joulukuuta joulukuun joulukuu prosince prosinec dezembro декабря",
})

// weekdays maps the names of days, folded, to 1 (Sunday) … 7 (Saturday).
var weekdays = wordTable([12]string{
	"sunday sun niedziela niedziele niedzieli sonntag dimanche domingo domenica zondag sondag sunnuntai sunnuntaina nedele nedeli воскресенье",
	"monday mon poniedzialek poniedzialku poniedzialkiem montag lundi lunes lunedi maandag mandag maanantai maanantaina pondeli понедельник",
	"tuesday tue tues wtorek wtorku dienstag mardi martes martedi dinsdag tisdag tirsdag tiistai tiistaina utery вторник",
	"wednesday wed sroda srode srody mittwoch mercredi miercoles mercoledi woensdag onsdag keskiviikko keskiviikkona streda stredu среда среду",
	"thursday thu thurs thur czwartek czwartku donnerstag jeudi jueves giovedi donderdag torsdag torstai torstaina ctvrtek четверг",
	"friday fri piatek piatku freitag vendredi viernes venerdi vrijdag fredag perjantai perjantaina patek пятница пятницу",
	"saturday sat sobota sobote soboty samstag sonnabend samedi sabado sabato zaterdag lordag lauantai lauantaina sobotu суббота субботу",
})

func wordTable(rows [12]string) map[string]int {
	out := map[string]int{}
	for i, row := range rows {
		for w := range strings.FieldsSeq(row) {
			out[fold(w)] = i + 1
		}
	}
	return out
}

// romanMonths are how dates are written in Polish: "12 VIII".
var romanMonths = map[string]int{"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "x": 10, "xi": 11, "xii": 12}

// cueKind is what a phrase says of the date that follows it.
type cueKind int

const (
	cueReturn    cueKind = iota + 1 // the sender is back on it
	cueUntil                        // the absence lasts until it
	cueUntilIncl                    // it is the last day away
	cueFrom                         // something begins on it
)

// cue is a phrase, as folded tokens.
type cue struct {
	words []string
	kind  cueKind
}

// cues lists phrases by their first word. Phrases of return may stand before
// words that name the place, see fillers.
var cues = func() map[string][]cue {
	out := map[string][]cue{}
	add := func(kind cueKind, phrases string) {
		for p := range strings.SplitSeq(phrases, "|") {
			words := strings.Fields(fold(p))
			out[words[0]] = append(out[words[0]], cue{words, kind})
		}
	}
	add(cueReturn, "back|return|returning|returns|available again|available from|reopen|reopening|re-open|open again|in the office again|resume")
	add(cueReturn, "wracam|wrócę|wracamy|powrót|z powrotem|ponownie dostępny|ponownie dostępna|ponownie|będę dostępny|będę dostępna|dostępny od|dostępna od|będę w biurze|będę w pracy|będę osiągalny|będę osiągalna")
	add(cueReturn, "zurück|wieder|wiederzurück|zurückkehren")
	add(cueReturn, "de retour|retour|reviens|reviendrai|reprendrai|reprise|réouverture|disponible à partir|disponible à compter")
	add(cueReturn, "regreso|regresaré|vuelvo|volveré|de vuelta|de regreso|reincorporo|reincorporaré|reincorporación|disponible a partir")
	add(cueReturn, "rientro|rientrerò|torno|tornerò|di ritorno|ritorno|di nuovo|nuovamente")
	add(cueReturn, "terug|weer|opnieuw")
	add(cueReturn, "tillbaka|åter|tilbage|tilbake|retur|igen|igjen")
	add(cueReturn, "palaan|takaisin|töissä jälleen|jälleen")
	add(cueReturn, "vrátím|zpět|zpátky|opět|návrat")
	add(cueReturn, "volto|voltarei|regresso|regressarei|retorno|retornarei|de volta")
	add(cueReturn, "вернусь|буду|возвращаюсь")

	add(cueUntil, "until|till|'til|til")
	add(cueUntil, "do|aż do|bis|bis zum|jusqu'au|jusqu'à|jusqu'a|hasta|hasta el|fino al|fino a|sino al|fino|tot|till|fram till|til|indtil|frem til|do|až do|até|ate|до")
	add(cueUntilIncl, "through|thru|until and including|up to and including|to and including|until the end of")
	add(cueUntilIncl, "bis einschließlich|bis einschl|bis inklusive|bis inkl|bis und mit|tot en met|t / m|till och med|t . o . m|til og med|jusqu'au et y compris|по")

	add(cueFrom, "from|between|starting|beginning|as of|on|w dniach|w terminie|w okresie|od|od dnia|w dniu|vom|von|ab|ab dem|am|zwischen|du|depuis|à partir du|à compter du|entre|le|del|desde|el|dal|da|dai|a partire dal|il|van|vanaf|sinds|op|från|fra|den|mellan|mellem|mellom|od|ode|de|a partir|a partir de|em|no|dia|dne|с")
	return out
}()

// fillers may stand between a phrase and its date.
var fillers = wordSet("the of day date in to at my our annual leave holiday holidays vacation trip office work business desk on from again as until till before not later than for you " +
	"dnia dniu w we z ze do od biura biurze pracy pracę urlopu urlop po jestem będę dopiero od dostępny dostępna osiągalny osiągalna " +
	"am im ab dem den der zum vom bin ich sind wir büro dienst erreichbar da für sie zur zu verfügung anwesend vor ort persönlich haus aus urlaub bis ins " +
	"le la au bureau du à partir compter prévu prévue dès de congés vacances serai je " +
	"el los día al trabajo oficina mi del desde previsto me " +
	"il in ufficio sede previsto dal giorno sarò a partire disponibile lavoro ferie dalle " +
	"op kantoor vanaf aanwezig bereikbaar ik ben van vakantie het werk " +
	"på pa kontoret jobb jobbet arbete arbetet den i fra från igen på plats tjänst semestern ferie arbejde jobben på dagen " +
	"töissä töihin toimistolla tavoitettavissa taas " +
	"dne ode v kanceláři práci práce se dovolené k dispozici od " +
	"o no na em ao escritório dia trabalho férias estarei " +
	"с в офисе")

func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[fold(w)] = true
	}
	return out
}

// backAfter are words that make the date before them one of return: "ab dem
// 17. Juli wieder".
var backAfter = wordSet("wieder zurück back again weer terug tillbaka åter tilbage tilbake igen igjen takaisin retour powrotem znowu ponownie zpět opět vuelta nuovo nuovamente")

// untilAfter are words that make the date before them the end of an absence.
var untilAfter = wordSet("asti saakka")

// inclusiveAfter are words that make the date before them the last day away.
var inclusiveAfter = wordSet("inclusive incl włącznie einschließlich einschl inklusive inkl inclus compris inclusive incluido compreso incluso včetně mukaan")

// rangeWords part the two dates of a span.
var rangeWords = wordSet("- to through thru until till bis do au al tot til à a ate até hasta and und et e y i t asti až al fino")

// tomorrowWords are folded.
var tomorrowWords = wordSet("tomorrow jutro morgen demain mañana domani amanhã imorgon imorgen huomenna zítra")
