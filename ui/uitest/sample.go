package uitest

import (
	"fmt"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/safe"
	"skrzynka/mail/view"
)

// Sample makes an engine with one account, its folders and a dozen messages
// that show every state of a row.
func Sample() *Engine {
	e := &Engine{Need: view.Counts{Failed: 1, Uncertain: 1, Review: 2, Drafts: 3}, Bodies: map[int64]view.Message{},
		Source: "Received: from mx.example.net\r\nSubject: Quarterly figures\r\nFrom: Mia Novak <mia@novak.example>\r\n\r\nHello \x1b]0;title\x07\r\n"}
	for i, f := range []struct {
		name   string
		kind   mail.FolderKind
		depth  int
		unread int
	}{
		{"INBOX", mail.FolderInbox, 0, 3}, {"Drafts", mail.FolderDrafts, 0, 0}, {"Sent", mail.FolderSent, 0, 0},
		{"Archive", mail.FolderArchive, 0, 0}, {"Junk", mail.FolderJunk, 0, 12}, {"Trash", mail.FolderTrash, 0, 0},
		{"Projects", mail.FolderNone, 0, 0}, {"Projects/Łódź", mail.FolderNone, 1, 2},
	} {
		label := f.name
		if f.depth > 0 {
			label = "Łódź"
		}
		e.Folder = append(e.Folder, view.Folder{ID: int64(i + 1), Account: "personal", Name: safe.Line(f.name), Label: safe.Line(label),
			Kind: f.kind, Depth: f.depth, Selectable: true, Unread: f.unread})
	}
	add := func(ago time.Duration, from, addr, subject, snippet string, edit func(*view.MessageRow)) {
		n := int64(len(e.Rows))
		r := view.MessageRow{ID: 100 - n, Account: "personal", FolderID: 1, Folder: safe.Line("INBOX"), From: safe.Line(from), FromAddr: safe.Line(addr),
			To: safe.Line("Ada Example"), Subject: safe.Line(subject), Snippet: safe.Line(snippet), Date: Now.Add(-ago), HasBody: true}
		if edit != nil {
			edit(&r)
		}
		r.Cursor = view.Cursor{Date: r.Date.UnixMilli(), ID: r.ID}
		e.Rows = append(e.Rows, r)
	}
	badge := func(b view.Badge) func(*view.MessageRow) {
		return func(r *view.MessageRow) { r.Badge, r.Answered = &b, true }
	}
	add(12*time.Minute, "Mia Novak", "mia@novak.example", "Quarterly figures", "Hi Ada, the numbers you asked for are attached.", func(r *view.MessageRow) {
		r.Unread, r.Attachments = true, 2
	})
	add(50*time.Minute, "Build", "ci@build.example", "main is green again", "All 412 checks passed.", func(r *view.MessageRow) { r.Unread = true })
	add(2*time.Hour, "Jonas Weber", "jonas@weber.example", "Re: Offer for the workshop", "Thanks, that works for us.", badge(view.Badge{Status: mail.StatusSent}))
	add(3*time.Hour, "Support", "help@shop.example", "Your order 4711", "We could not reach you by phone.", badge(view.Badge{Status: mail.StatusFailed}))
	add(26*time.Hour, "Zoë Łukasiewicz", "zoe@example.pl", "Zażółć gęślą jaźń — spotkanie we wtorek?", "Cześć, czy wtorek pasuje?", badge(view.Badge{Status: mail.StatusUncertain}))
	add(28*time.Hour, "田中 太郎", "tanaka@example.jp", "会議の議事録をお送りします", "お世話になっております。", func(r *view.MessageRow) { r.Flagged = true })
	add(50*time.Hour, "Family 👩‍👩‍👧‍👦", "family@example.org", "Dinner 🎉 on Friday", "Bring nothing but yourselves.", func(r *view.MessageRow) { r.Unread = true })
	add(4*24*time.Hour, "Lee Park", "lee@park.example", "A very long subject that goes on and on until nobody reads it any more", "Short text.", badge(view.Badge{Status: mail.StatusUncertain, Resolved: mail.ResolutionSent}))
	add(9*24*time.Hour, "Bank", "service@bank.example", "Your statement", "Your statement is ready.", badge(view.Badge{Status: mail.StatusSent, Bounced: true}))
	add(40*24*time.Hour, "", "noreply@example.net", "", "", nil)
	add(400*24*time.Hour, "Old Friend", "old@friend.example", "Long time no see", "It has been a year.", badge(view.Badge{Status: mail.StatusPending}))
	e.Bodies[100] = figures()
	return e
}

func figures() view.Message {
	var m view.Message
	m.ToAll = []view.Address{{Name: safe.Line("Ada Example"), Addr: safe.Line("ada@example.org")}}
	m.CcAll = []view.Address{{Addr: safe.Line("board@example.org")}}
	m.Files = []view.File{
		{Part: 2, Name: safe.Line("figures.pdf"), Type: safe.Line("application/pdf"), Size: 482113},
		{Part: 3, Name: safe.Line("macro.exe"), Type: safe.Line("application/octet-stream"), Size: 12044, Risky: true},
	}
	m.Links = []view.Link{{N: 1, Text: safe.Line("the dashboard"), URL: safe.Line("https://figures.example.org/q1?lang=en")}}
	m.Headers = []view.Header{{Name: safe.Line("From"), Value: safe.Line("Mia Novak <mia@novak.example>")}, {Name: safe.Line("Subject"), Value: safe.Line("Quarterly figures")}}
	line := func(depth int, s string) { m.Lines = append(m.Lines, view.Line{Depth: depth, Text: safe.Line(s)}) }
	line(0, "Hi Ada,")
	line(0, "")
	line(0, "the numbers you asked for are attached. The short version: sales are up by a fifth, costs are flat, and the dashboard[1] has the rest in colour.")
	line(0, "")
	line(1, "Could you send me the figures for the first quarter?")
	line(1, "The board meets on Friday.")
	line(2, "Who has them?")
	line(1, "Ada")
	line(0, "")
	line(0, "Best,")
	line(0, "Mia")
	m.Lines = append(m.Lines, view.Line{Signature: true, Text: safe.Line("-- ")}, view.Line{Signature: true, Text: safe.Line("Mia Novak, Controlling")})
	line(0, "[1] https://figures.example.org/q1?lang=en")
	return m
}

// Many makes an engine whose inbox has n messages.
func Many(n int) *Engine {
	e := Sample()
	e.Whole = true
	e.Rows = make([]view.MessageRow, n)
	for i := range e.Rows {
		id := int64(n - i)
		at := Now.Add(-time.Duration(i) * 7 * time.Minute)
		e.Rows[i] = view.MessageRow{ID: id, Account: "personal", FolderID: 1, Folder: safe.Line("INBOX"), From: safe.Line(fmt.Sprintf("Sender %d", id%97)),
			FromAddr: safe.Line("s@example.org"), Subject: safe.Line(fmt.Sprintf("Message number %d", id)), Snippet: safe.Line("A few words of the text."),
			Date: at, HasBody: true, Unread: i%5 == 0, Cursor: view.Cursor{Date: at.UnixMilli(), ID: id}}
	}
	return e
}
