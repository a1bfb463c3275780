package inbound

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// returnRow is a note, the day it was sent, and the first day back that it
// states; "" where it must give none.
type returnRow struct{ lang, text, sent, back string }

// Notes as people and programs write them. The day of sending is a Monday
// where nothing else is said: 2026-08-03.
var returnRows = []returnRow{
	{"en", "I am out of the office until 14 August 2026.", "", "2026-08-14"},
	{"en", "I am out of the office until August 14th.", "", "2026-08-14"},
	{"en", "I will be back on Monday, August 17.", "", "2026-08-17"},
	{"en", "I'm on vacation through August 14, back in the office on August 17.", "", "2026-08-17"},
	{"en", "Out of office. Returning on 2026-08-19.", "", "2026-08-19"},
	{"en", "I am on annual leave from 1st to 15th August and will respond when I return.", "", "2026-08-16"},
	{"en", "I will be out of the office starting 03/08/2026 and will not return until 21/08/2026.", "", "2026-08-21"},
	{"en", "I'm away August 3-14, 2026.", "", "2026-08-15"},
	{"en", "I am on holiday and will be back on Thursday.", "", "2026-08-06"},
	{"en", "Thanks for your mail. I'm out today, back tomorrow.", "", "2026-08-04"},
	{"en", "I am out of the office this week and back next week.", "2026-08-05", "2026-08-10"},
	{"en", "I'm on leave until 28.08.2026, please contact Bob.", "", "2026-08-28"},
	{"en", "On holiday until and including 14 August.", "", "2026-08-15"},
	{"en", "I am away until 2 January.", "2026-12-22", "2027-01-02"},
	{"en", "I'm out until 25/08/2026.", "", "2026-08-25"},
	{"en", "I will return to the office on the 11th of August, 2026.", "", "2026-08-11"},
	{"pl", "Jestem na urlopie do 14 sierpnia 2026.", "", "2026-08-14"},
	{"pl", "Jestem nieobecny do dnia 14.08.2026 włącznie.", "", "2026-08-15"},
	{"pl", "Przebywam na urlopie od 3 do 14.08. Wracam 17 sierpnia.", "", "2026-08-17"},
	{"pl", "Nieobecna w dniach 3–14 sierpnia.", "", "2026-08-15"},
	{"pl", "Urlop. Wracam do biura w poniedziałek 17 sierpnia.", "", "2026-08-17"},
	{"pl", "Jestem na urlopie, będę ponownie dostępny od 17 VIII 2026.", "", "2026-08-17"},
	{"pl", "Jestem poza biurem. Będę z powrotem dnia 20.08.2026 r.", "", "2026-08-20"},
	{"pl", "Jestem na urlopie do 14.08, w pilnych sprawach proszę o kontakt z biurem.", "", "2026-08-14"},
	{"pl", "Jestem na urlopie. Wracam jutro.", "", "2026-08-04"},
	{"pl", "Jestem na urlopie do 05/09/2026, pozdrawiam serdecznie.", "", "2026-09-05"},
	{"de", "Ich bin bis zum 14. August 2026 nicht im Büro.", "", "2026-08-14"},
	{"de", "Ich bin vom 03.08.2026 bis einschließlich 14.08.2026 im Urlaub.", "", "2026-08-15"},
	{"de", "Ab dem 17. August bin ich wieder erreichbar. Ich bin derzeit im Urlaub.", "", "2026-08-17"},
	{"de", "Ich bin abwesend und am Montag, den 17.08.2026 wieder im Büro.", "", "2026-08-17"},
	{"de", "Ich bin im Urlaub. Zurück am 17.8.2026.", "", "2026-08-17"},
	{"de", "Ich bin im Urlaub und am Donnerstag wieder da.", "", "2026-08-06"},
	{"de", "Ich befinde mich bis 14.08. im Urlaub und bin danach wieder für Sie da.", "", "2026-08-14"},
	{"fr", "Je suis absent du bureau jusqu'au 14 août 2026 inclus.", "", "2026-08-15"},
	{"fr", "Je suis en congés et serai de retour le lundi 17 août.", "", "2026-08-17"},
	{"fr", "Je suis absente du 3 au 14 août. Merci de votre message.", "", "2026-08-15"},
	{"fr", "Bonjour, je suis en congé jusqu'au 05/09/2026. Pour toute urgence, merci de contacter le bureau.", "", "2026-09-05"},
	{"fr", "Bureaux fermés. Retour le 1er septembre.", "", "2026-09-01"},
	{"es", "Estoy fuera de la oficina hasta el 14 de agosto de 2026.", "", "2026-08-14"},
	{"es", "Estoy de vacaciones. Vuelvo el lunes 17 de agosto.", "", "2026-08-17"},
	{"es", "Estaré ausente del 3 al 14 de agosto.", "", "2026-08-15"},
	{"it", "Sono fuori ufficio fino al 14 agosto 2026 compreso.", "", "2026-08-15"},
	{"it", "Sono in ferie e rientro il 17 agosto.", "", "2026-08-17"},
	{"it", "Sarò assente dal 3 al 14 agosto.", "", "2026-08-15"},
	{"nl", "Ik ben afwezig tot en met 14 augustus 2026.", "", "2026-08-15"},
	{"nl", "Ik ben met vakantie en vanaf 17 augustus weer bereikbaar.", "", "2026-08-17"},
	{"nl", "Ik ben op vakantie t/m 14 augustus.", "", "2026-08-15"},
	{"sv", "Jag har semester till och med 14 augusti.", "", "2026-08-15"},
	{"sv", "Jag är på semester och är tillbaka den 17 augusti 2026.", "", "2026-08-17"},
	{"da", "Jeg holder ferie til og med den 14. august.", "", "2026-08-15"},
	{"da", "Jeg er på ferie og er tilbage på kontoret den 17. august.", "", "2026-08-17"},
	{"nb", "Jeg har ferie til 14. august og er tilbake mandag 17. august.", "", "2026-08-17"},
	{"fi", "Olen lomalla 14.8.2026 asti.", "", "2026-08-15"},
	{"fi", "Olen lomalla ja palaan töihin 17. elokuuta.", "", "2026-08-17"},
	{"fi", "Olen poissa. Palaan 17. elokuuta 2026.", "", "2026-08-17"},
	{"cs", "Jsem na dovolené do 14. srpna 2026.", "", "2026-08-14"},
	{"cs", "Mám dovolenou, zpět v kanceláři budu dne. Vrátím se 17. 8. 2026.", "", "2026-08-17"},
	{"pt", "Estou de férias até 14 de agosto de 2026.", "", "2026-08-14"},
	{"pt", "Estou ausente e volto no dia 17 de agosto.", "", "2026-08-17"},

	{"none: no such month", "I am out of the office until Thursday nth Bartember.", "", ""},
	{"none: weekday contradicts", "I am out of the office until Tuesday, August 20.", "", ""},
	{"none: no such day", "I am out of the office until 31 February 2027.", "", ""},
	{"none: two orders", "I am out of the office until 05/09/2026.", "2026-05-01", ""},
	{"none: two orders, both near", "I am out of the office until 06/07/2026.", "2026-05-01", ""},
	{"en: the other order is past", "I am out of the office until 05/07/2026.", "2026-06-30", "2026-07-05"},
	{"en: another date gives the order", "I am away until 06/07/2026. You wrote on 30/04/2026.", "2026-05-01", "2026-07-06"},
	{"en: another date gives the order", "I am away until 06/07/2026. You wrote on 04/30/2026.", "2026-05-01", "2026-06-07"},
	{"en: the weekday gives the order", "I am away until Monday 06/07/2026.", "2026-05-01", "2026-07-06"},
	{"none: in the past", "I am out of the office until 14 July 2026.", "", ""},
	{"none: too far", "I am on parental leave until 14 March 2027.", "", ""},
	{"none: prose", "I am out of the office. The meeting of 14 August is cancelled.", "", ""},
	{"none: birthday", "I'm on vacation. My colleague Ann started on 10 August 2026 with us.", "", ""},
	{"none: time of day", "I am out of the office until 14:30.", "", ""},
	{"none: version", "I'm on vacation; version 2.8. is out.", "", ""},
	{"none: contradiction", "I'm away. I am back on 17 August. I am back on 24 August.", "", ""},
	{"none: same weekday", "I am on leave, back on Monday.", "", ""},
	{"none: not an absence", "Our offer is valid until 14 August 2026.", "", ""},
	{"none: quoted", "I am away.\n> I will be back on 17 August.", "", ""},
	{"none: no date", "I am out of the office with no access to mail.", "", ""},
	{"none: weekday goes on", "I am away and back on Thursday evening or later.", "", ""},
}

func TestReturnDates(t *testing.T) {
	for _, row := range returnRows {
		t.Run(row.lang+" "+row.text, func(t *testing.T) {
			sent := "2026-08-03"
			if row.sent != "" {
				sent = row.sent
			}
			d := dateOf(t, row.text, sent)
			got := ""
			if d != nil {
				got = d.BackOn().Format(time.DateOnly)
			}
			if got != row.back {
				t.Errorf("back on %q (%+v), want %q", got, d, row.back)
			}
			if d != nil && (d.Quote == "" || !strings.Contains(strings.Join(strings.Fields(row.text), " "), d.Quote)) {
				t.Errorf("quote %q is not in the text", d.Quote)
			}
		})
	}
}

func dateOf(t *testing.T, text, sent string) *ReturnDate {
	t.Helper()
	day, err := time.Parse(time.DateOnly, sent)
	if err != nil {
		t.Fatal(err)
	}
	day = day.Add(10 * time.Hour)
	raw := "From: a@example.net\nTo: b@example.org\nAuto-Submitted: auto-replied\nDate: " + day.Format(time.RFC1123Z) +
		"\nContent-Type: text/plain; charset=utf-8\n\n" + text + "\n"
	r := Classify(bare([]byte(raw)))
	return r.ReturnDate
}

// The zone of the message is kept, and its day is the day of sending.
func TestReturnDateZone(t *testing.T) {
	raw := "From: a@example.net\nAuto-Submitted: auto-replied\nDate: Mon, 3 Aug 2026 23:30:00 -0700\n\nI'm away, back tomorrow.\n"
	d := Classify(bare([]byte(raw))).ReturnDate
	if d == nil || d.Date.Format(time.RFC3339) != "2026-08-04T00:00:00-07:00" {
		t.Fatalf("%+v", d)
	}
}

// The labelled notes of the collection: what is found is right in at least 95
// of 100, and never more than 30 days off.
func TestCorpusReturnDates(t *testing.T) {
	found, right, labelled := 0, 0, 0
	check := func(name, want string, d *ReturnDate) {
		if want != "none" {
			labelled++
		}
		if d == nil {
			return
		}
		found++
		day, err := time.Parse(time.DateOnly, want)
		ok := err == nil && (d.Date.Format(time.DateOnly) == want || d.BackOn().Format(time.DateOnly) == want)
		if ok {
			right++
			return
		}
		t.Logf("%s: %s (%q, %s), want %s", name, d.Date.Format(time.DateOnly), d.Quote, d.Confidence, want)
		if err == nil && d.Date.Sub(day).Abs() > 30*24*time.Hour {
			t.Errorf("%s is more than 30 days off", name)
		}
	}
	for _, s := range corpus(t) {
		if s.kind != "auto_reply" {
			continue
		}
		want := "none"
		if i := strings.Index(s.facts, "return_date="); i >= 0 {
			want, _, _ = strings.Cut(s.facts[i+12:], ";")
		}
		r := Classify(answered(s.raw))
		check(s.path, want, r.ReturnDate)
	}
	for _, p := range phrases(t) {
		check(p.lang+" "+p.text, p.back, dateOf(t, "I am out of the office. "+p.text, p.sent))
	}
	t.Logf("return dates: %d found, %d right, %d labelled with a date", found, right, labelled)
	if found == 0 || float64(right) < 0.95*float64(found) {
		t.Errorf("precision %d/%d, want 0.95", right, found)
	}
}

// phrases reads the collection's list of date expressions that has no mail:
// cue and expression are put together as the note describes them.
func phrases(t *testing.T) []returnRow {
	file, err := os.Open(filepath.Join(corpusDir(t), "ooo_phrases.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	r := csv.NewReader(file)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []returnRow
	for _, row := range rows[1:] {
		if len(row) < 6 || len(row[3]) < 10 || strings.Contains(row[5], "hard negative") {
			continue
		}
		want := "none"
		for w := range strings.FieldsSeq(row[4]) {
			if len(w) == 10 && w[4] == '-' {
				want = w
				break
			}
		}
		out = append(out, returnRow{row[0], row[2] + ".", row[3][:10], want})
	}
	return out
}
