package inbox

import (
	"context"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"skrzynka/mail"
	"skrzynka/mail/query"
)

// IndexStore is what indexing needs of the database.
type IndexStore interface {
	// PutThreads finds the conversations of up to limit messages.
	PutThreads(ctx context.Context, limit int) (int, error)
	// IndexDue lists stored bodies that are not in the full-text index.
	IndexDue(ctx context.Context, after int64, limit, maxBytes int) ([]mail.IndexDue, error)
	PutIndex(ctx context.Context, list []mail.IndexText) error
}

// Sizes of what is indexed in one transaction. Somebody who waits for a key to
// be answered waits for one of them at most.
const (
	indexBatch   = 150
	bulkBatch    = 2000
	dueBatch     = 300     // read from the store at once
	indexBytes   = 3 << 20 // of messages read at once
	textBytes    = 6 << 20 // of text in one transaction
	threadsBatch = 500
	indexers     = 2 // goroutines that take messages apart
)

// Index puts into the full-text index, and into conversations, whatever of the
// stored mail is not there yet. It reads the store alone, can be stopped
// anywhere and goes on where it was. bulk takes larger transactions: for when
// nobody waits.
func Index(ctx context.Context, s IndexStore, bulk bool) error {
	batch := indexBatch
	if bulk {
		batch = bulkBatch
	}
	for {
		n, err := s.PutThreads(ctx, threadsBatch)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
	}
	for {
		n, err := indexRound(ctx, s, batch)
		if err != nil || n == 0 {
			return err
		}
	}
}

// indexRound indexes what is due now, taking the next messages apart while the
// last ones are stored, and returns how many it stored.
func indexRound(ctx context.Context, s IndexStore, batch int) (n int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ready := make(chan []mail.IndexText, 1)
	var failed error // of the reader; read once ready is closed
	go func() {
		defer close(ready)
		for after := int64(0); ; {
			due, err := s.IndexDue(ctx, after, min(batch, dueBatch), indexBytes)
			if err != nil || len(due) == 0 {
				failed = err
				return
			}
			after = due[len(due)-1].BodyID
			select {
			case ready <- texts(due):
			case <-ctx.Done():
				failed = ctx.Err()
				return
			}
		}
	}()
	var list []mail.IndexText
	size := 0
	put := func() error {
		if err := s.PutIndex(ctx, list); err != nil {
			return err
		}
		n += len(list)
		list, size = nil, 0
		return nil
	}
	for part := range ready {
		list = append(list, part...)
		for i := range part {
			size += len(part[i].Body)
		}
		if len(list) >= batch || size >= textBytes {
			if err := put(); err != nil {
				return n, err
			}
		}
	}
	if failed != nil {
		return n, failed
	}
	if len(list) == 0 {
		return n, nil
	}
	return n, put()
}

// texts takes bodies apart into what they are found by.
func texts(due []mail.IndexDue) []mail.IndexText {
	out := make([]mail.IndexText, len(due))
	var workers sync.WaitGroup
	for w := range indexers {
		workers.Go(func() {
			for i := w; i < len(due); i += indexers {
				out[i] = indexText(&due[i])
			}
		})
	}
	workers.Wait()
	return out
}

// indexText is what a body is found by: subject, everybody it is from and to,
// its text, and the names of its files.
func indexText(d *mail.IndexDue) mail.IndexText {
	m := read(d.Raw)
	if m == nil {
		return mail.IndexText{BodyID: d.BodyID}
	}
	var files strings.Builder
	for _, i := range m.Attachments {
		files.WriteString(m.Parts[i].Name)
		files.WriteByte('\n')
	}
	return mail.IndexText{BodyID: d.BodyID, Subject: query.Fold(m.Subject), Sender: people(m.From, m.Sender, m.ReplyTo),
		Recipients: people(m.To, m.Cc, m.Bcc), Body: query.Fold(m.Text), Files: query.Fold(files.String())}
}

func people(lists ...[]mail.Address) string {
	var b strings.Builder
	for _, list := range lists {
		for _, a := range list {
			b.WriteString(a.Name)
			b.WriteByte(' ')
			b.WriteString(a.Addr)
			b.WriteByte('\n')
		}
	}
	return query.Fold(b.String())
}

// Excerpt is a piece of text around the first of the words of a search (see
// query.Query.Words), as long as a list's snippet; "" when none is in it.
func Excerpt(text string, words []string) string {
	at := firstWord(text, words)
	if at < 0 {
		return ""
	}
	const before = 50
	start := at
	for n := 0; start > 0 && n < before; n++ {
		start--
		for start > 0 && text[start]&0xc0 == 0x80 {
			start--
		}
	}
	lead := "…"
	if start == 0 {
		lead = ""
	} else if i := strings.IndexAny(text[start:at], " \n\t"); i >= 0 {
		start += i + 1
	}
	return lead + strings.Join(strings.Fields(cut(text[start:], snippetLength)), " ")
}

func cut(s string, runes int) string {
	n := 0
	for i := range s {
		if n++; n > runes {
			return s[:i]
		}
	}
	return s
}

// firstWord finds where the first of the words stands in text, -1 if nowhere.
func firstWord(text string, words []string) int {
	text = text[:min(len(text), 512<<10)]
	for i := 0; i < len(text); {
		end, ascii := wordEnd(text, i)
		if end == i {
			_, n := utf8.DecodeRuneInString(text[i:])
			i += n
			continue
		}
		word := text[i:end]
		if !ascii {
			word = query.Fold(word)
		}
		for _, w := range words {
			w, open := strings.CutSuffix(w, "*")
			first, rest, _ := strings.Cut(w, " ")
			if len(word) >= len(first) && strings.EqualFold(word[:len(first)], first) && (len(word) == len(first) || open && rest == "") {
				return i
			}
			if !ascii && first != "" && first[0] >= utf8.RuneSelf {
				if at := strings.Index(text[i:end], first); at >= 0 {
					return i + at
				}
			}
		}
		i = end
	}
	return -1
}

// wordEnd returns where the word that begins at i ends, i when there is none,
// and whether all of it is ASCII.
func wordEnd(text string, i int) (end int, ascii bool) {
	ascii = true
	for end = i; end < len(text); {
		c := text[end]
		if c < utf8.RuneSelf {
			if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' {
				end++
				continue
			}
			return end, ascii
		}
		r, n := utf8.DecodeRuneInString(text[end:])
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r) && r != '\u00ad' {
			return end, ascii
		}
		ascii = false
		end += n
	}
	return end, ascii
}
