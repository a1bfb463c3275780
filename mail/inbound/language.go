package inbound

import (
	"strings"
	"unicode"
)

// commonWords are short words that are frequent in one language and rare in
// the others, folded.
var commonWords = map[string][]string{
	"en": {"the", "and", "you", "your", "is", "of", "to", "this", "will", "have", "from", "with", "please", "not", "office", "until", "are", "my"},
	"pl": {"jest", "sie", "nie", "oraz", "w", "z", "prosze", "dziekuje", "bede", "pozdrawiam", "dnia", "wiadomosc", "przez", "jestem", "mnie", "dzien", "dobry", "moge", "czy", "biurze", "pilnych", "sprawach", "urlopie", "wracam", "do"},
	"de": {"und", "der", "die", "das", "ich", "nicht", "ist", "mit", "bin", "fur", "ihre", "sie", "bis", "zum", "auf", "bitte", "wieder", "vom", "werde", "ab"},
	"fr": {"le", "les", "et", "vous", "je", "est", "votre", "pour", "suis", "du", "au", "jusqu'au", "bonjour", "une", "dans", "merci", "serai", "mon", "de", "retour"},
	"es": {"el", "los", "y", "que", "su", "por", "para", "estoy", "hasta", "gracias", "estare", "del", "una", "fuera", "oficina", "mi", "regreso", "vuelvo", "hola"},
	"it": {"il", "che", "non", "sono", "per", "della", "grazie", "fino", "saro", "mio", "dal", "al", "gentile", "rientro", "ufficio", "buongiorno", "una", "messaggio"},
	"nl": {"het", "een", "en", "ik", "van", "niet", "ben", "tot", "uw", "met", "voor", "op", "bericht", "afwezig", "weer", "terug", "vanaf", "graag"},
	"sv": {"och", "jag", "ar", "inte", "med", "till", "som", "pa", "att", "ditt", "tillbaka", "har", "hej", "fran", "semester", "kommer"},
	"da": {"og", "jeg", "er", "ikke", "til", "med", "det", "pa", "din", "tilbage", "ferie", "fra", "igen", "hilsen", "kontoret", "af"},
	"nb": {"og", "jeg", "er", "ikke", "til", "med", "det", "pa", "din", "tilbake", "ferie", "fra", "hilsen", "kontoret", "av", "igjen", "hei"},
	"fi": {"ja", "olen", "en", "ole", "saakka", "asti", "viestisi", "lomalla", "palaan", "toissa", "kiitos", "poissa", "on", "terveisin", "takaisin"},
	"cs": {"jsem", "je", "se", "na", "dne", "nejsem", "prosim", "dekuji", "budu", "zpet", "pritomen", "dobry", "den", "od", "zprava", "dovolene", "do", "vasi"},
	"pt": {"o", "os", "e", "nao", "estou", "para", "com", "ate", "obrigado", "estarei", "seu", "uma", "escritorio", "ferias", "volto", "mensagem", "do", "dia"},
}

// functionWords maps a word to the languages it speaks for.
var functionWords = func() map[string][]string {
	out := map[string][]string{}
	for lang, words := range commonWords {
		for _, w := range words {
			out[w] = append(out[w], lang)
		}
	}
	return out
}()

// language guesses the language of a message: by the subject prefix, the
// script, else by common words in what the sender wrote. "" when unsure.
func (f *facts) language() string {
	if f.langRead {
		return f.lang
	}
	f.langRead = true
	f.readText()
	f.lang = guessLanguage(clip(f.authored, 1500))
	switch p := f.subjectPrefix(); {
	case p != nil && (f.lang == "" || f.lang == "nb" && p.lang == "da" || p.lang == "nb" && f.lang == "da"):
		f.lang = p.lang
	case f.lang == "":
		f.lang = guessLanguage(f.h.Subject)
	}
	return f.lang
}

func guessLanguage(text string) string {
	if lang := scriptLanguage(text); lang != "" {
		return lang
	}
	score := map[string]int{}
	words := 0
	for w := range strings.FieldsFuncSeq(fold(clip(text, 1500)), func(r rune) bool {
		return !unicode.IsLetter(r) && r != '\''
	}) {
		words++
		for _, lang := range functionWords[w] {
			score[lang]++
		}
	}
	best, second, lang := 0, 0, ""
	for l, n := range score {
		switch {
		case n > best || n == best && l < lang:
			second, best, lang = best, n, l
		case n > second:
			second = n
		}
	}
	if best < 2 || best == second && words < 8 {
		return ""
	}
	return lang
}

// scriptLanguage tells the languages their script tells.
func scriptLanguage(text string) string {
	var cyrillic, ukrainian, greek, han, kana, hangul, arabic, hebrew, letters int
	for i, r := range text {
		if i > 1500 {
			break
		}
		if r < 0x250 {
			if r >= 'a' && r <= 'z' {
				letters++
			}
			continue
		}
		switch {
		case unicode.Is(unicode.Cyrillic, r):
			cyrillic++
			if strings.ContainsRune("іїєґІЇЄҐ", r) {
				ukrainian++
			}
		case unicode.Is(unicode.Greek, r):
			greek++
		case unicode.Is(unicode.Hiragana, r) || unicode.Is(unicode.Katakana, r):
			kana++
		case unicode.Is(unicode.Han, r):
			han++
		case unicode.Is(unicode.Hangul, r):
			hangul++
		case unicode.Is(unicode.Arabic, r):
			arabic++
		case unicode.Is(unicode.Hebrew, r):
			hebrew++
		}
	}
	enough := func(n int) bool { return n >= 4 && n*2 > letters }
	switch {
	case kana >= 2:
		return "ja"
	case enough(hangul):
		return "ko"
	case han >= 2 && han*4 > letters:
		return "zh"
	case enough(cyrillic) && ukrainian > 0:
		return "uk"
	case enough(cyrillic):
		return "ru"
	case enough(greek):
		return "el"
	case enough(arabic):
		return "ar"
	case enough(hebrew):
		return "he"
	}
	return ""
}
