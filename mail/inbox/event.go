package inbox

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/inbound"
	"skrzynka/mail/parse"
)

// EventStore is what recording inbound events needs of the database.
type EventStore interface {
	// InboundDue lists whole messages whose event is not recorded, oldest first.
	InboundDue(ctx context.Context, account string, limit int) ([]mail.StoredMessage, error)
	// RecordHistory takes the mail that was there before the account was known
	// here: it is observed and nothing else.
	RecordHistory(ctx context.Context, account string, watched []int64, limit int) (int, error)
	// RecordInbound is one transaction: event, class, mapping, effects, audit.
	RecordInbound(ctx context.Context, in mail.Arrival, decide func(mail.Around) mail.Decision) (mail.Recorded, error)
	// RecordInbounds is the same for several messages, in one transaction.
	RecordInbounds(ctx context.Context, list []mail.Arrival, decide func(i int, a mail.Around) mail.Decision) error
	RawMessage(ctx context.Context, id int64) ([]byte, error)
	Folders(ctx context.Context, account string) ([]mail.Folder, error)
	// SetFresh says that a pass that began then has read every watched folder.
	SetFresh(ctx context.Context, account string, started time.Time) error
}

// Sizes of what is recorded at once.
const (
	historyBatch = 1000
	eventBatch   = 50
	eventBytes   = 8 << 20
)

// Recorder turns stored messages of one account into inbound events.
type Recorder struct {
	Account *mail.Account
	Store   EventStore
	// ResumeAt says when a plan goes on whose contact is back on a day; nil: on
	// that day.
	ResumeAt func(back time.Time) time.Time
}

// Drain records every event that is due. A process that is killed anywhere goes
// on where it was; two at once get the same events, and one of them makes each.
func (r *Recorder) Drain(ctx context.Context) error {
	ctx = mail.WithActor(ctx, mail.ActorSync)
	folders, err := r.Store.Folders(ctx, r.Account.Name)
	if err != nil {
		return err
	}
	watched := []int64{}
	for _, f := range folders {
		if Watched(r.Account, f) {
			watched = append(watched, f.ID)
		}
	}
	for {
		n, err := r.Store.RecordHistory(ctx, r.Account.Name, watched, historyBatch)
		if err != nil {
			return err
		}
		if n < historyBatch {
			break
		}
	}
	for {
		list, err := r.Store.InboundDue(ctx, r.Account.Name, eventBatch)
		if err != nil || len(list) == 0 {
			return err
		}
		if err := r.batch(ctx, list, watched); err != nil {
			return err
		}
	}
}

// batch records the events of several messages in one transaction.
func (r *Recorder) batch(ctx context.Context, list []mail.StoredMessage, watched []int64) error {
	arrivals := make([]mail.Arrival, 0, len(list))
	decide := make([]func(mail.Around) mail.Decision, 0, len(list))
	size := 0
	for i := range list {
		in, f, n, err := r.prepare(ctx, &list[i], slices.Contains(watched, list[i].FolderID))
		if err != nil {
			return err
		}
		arrivals, decide = append(arrivals, in), append(decide, f)
		if size += n; size > eventBytes {
			break // the others come with the next batch
		}
	}
	err := r.Store.RecordInbounds(ctx, arrivals, func(i int, a mail.Around) mail.Decision { return decide[i](a) })
	if err == nil || !ofTheMessage(ctx, err) {
		return err
	}
	// One of them cannot be recorded as it should: it must not block the others.
	for i := range arrivals {
		_, err := r.Store.RecordInbound(ctx, arrivals[i], decide[i])
		if ofTheMessage(ctx, err) {
			_, err = r.Store.RecordInbound(ctx, arrivals[i], unrecordable(mail.AsError(err).Text))
		}
		if err != nil && !errors.Is(err, mail.ErrCode(mail.CodeNotFound)) {
			return err
		}
	}
	return nil
}

// ofTheMessage reports whether an error comes from what is recorded, rather
// than from the disk or the end of the program.
func ofTheMessage(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && !mail.AsError(err).Retryable && !errors.Is(err, mail.ErrCode(mail.CodeNotFound))
}

// unrecordable is the decision about a message whose own could not be stored: a
// person looks at it, and nothing else follows.
func unrecordable(why string) func(mail.Around) mail.Decision {
	return func(a mail.Around) mail.Decision {
		res := inbound.Result{Class: mail.ClassUnparsed, RuleSet: inbound.RuleSet, Reasons: []inbound.Reason{{Rule: "unrecordable", Evidence: why}}}
		return mail.Decision{Class: res.Class, RuleSet: res.RuleSet, Detail: detail(res),
			Effects: []mail.Effect{{Kind: mail.EffectReview, Why: "what follows from it could not be recorded"}}}
	}
}

// Record records one message's event. watched says that its folder makes
// events; of other folders only mail counts that names a message of ours, or
// comes from somebody a plan writes to: an answer is an answer wherever it was
// filed.
func (r *Recorder) Record(ctx context.Context, m *mail.StoredMessage, watched bool) (mail.Recorded, error) {
	in, decide, _, err := r.prepare(ctx, m, watched)
	if err != nil {
		return mail.Recorded{}, err
	}
	return r.Store.RecordInbound(ctx, in, decide)
}

// prepare reads a message and makes its decision as a function of what the
// store knows in the transaction; size is that of the message.
func (r *Recorder) prepare(ctx context.Context, m *mail.StoredMessage, watched bool) (in mail.Arrival, decide func(mail.Around) mail.Decision, size int, err error) {
	in = mail.Arrival{MessageID: m.ID, OwnID: m.Summary.RFCMessageID}
	var msg *parse.Msg
	header := parse.Header(m.Header)
	raw, err := r.Store.RawMessage(ctx, m.ID)
	switch {
	case err == nil:
		msg, header = read(raw), parse.Header(raw)
	case errors.Is(err, mail.ErrCode(mail.CodeNotFound)) || errors.Is(err, mail.ErrCode(mail.CodeStore)):
		raw = m.Header // it could not be fetched, or is damaged: an event all the same
	default:
		return in, nil, 0, err
	}
	in.Evidence = Evidence(raw)
	if msg != nil {
		in.Names = inbound.Mentions(msg).MessageIDs
		in.OwnID = msg.MessageID
	} else {
		in.Names = append(slices.Clone(header.InReplyTo), header.References...)
	}
	if len(header.From) == 1 {
		in.Sender = header.From[0].Addr
	}
	return in, func(a mail.Around) mail.Decision {
		if !watched && len(a.Named) == 0 && (!a.Followed || m.Kind == mail.FolderJunk) {
			return mail.Decision{Skip: true}
		}
		return r.decide(msg, &header, a)
	}, len(raw), nil
}

// History says what a message is that was there before the account: without
// anything around it, and without effects.
func (r *Recorder) History(ctx context.Context, id int64, received time.Time) (mail.Decision, error) {
	raw, err := r.Store.RawMessage(ctx, id)
	if err != nil {
		return mail.Decision{}, err
	}
	header := parse.Header(raw)
	d := r.decide(read(raw), &header, mail.Around{Received: received})
	d.Effects = nil
	return d, nil
}

// read takes a message apart; one that cannot be, whatever the reason, is nil.
func read(raw []byte) (m *parse.Msg) {
	defer func() {
		if recover() != nil {
			m = nil
		}
	}()
	return parse.Message(raw)
}

func (r *Recorder) decide(msg *parse.Msg, header *parse.Headers, a mail.Around) (d mail.Decision) {
	in := inbound.Input{Msg: msg, Header: header, Folder: a.Folder, OwnAddresses: append([]string{r.Account.Email}, r.Account.Aliases...),
		Arrived: a.Received, Ours: func(id string) bool { return a.Ours[id] }, Correlated: attempts(a.Named), Recent: attempts(a.Recent)}
	res := classify(in)
	named := make([]inbound.Attempt, 0, len(a.Named))
	for _, n := range in.Correlated {
		if slices.ContainsFunc(n.MessageIDs, func(id string) bool { return slices.Contains(res.NamedIDs, id) }) {
			named = append(named, n)
		}
	}
	effects := inbound.Effects(res, inbound.Correlation{Named: named, Recent: in.Recent, Followed: a.Followed, Arrived: a.Received})
	return mail.Decision{Class: res.Class, RuleSet: res.RuleSet, Detail: detail(res), NamedIDs: res.NamedIDs, Effects: r.effects(effects)}
}

// classify is inbound.Classify, with a message that stops it taken as one that
// cannot be read.
func classify(in inbound.Input) (r inbound.Result) {
	defer func() {
		if recover() != nil {
			r = inbound.Result{Class: mail.ClassUnparsed, RuleSet: inbound.RuleSet, Reasons: []inbound.Reason{{Rule: "unparsed", Evidence: "the rules could not read it"}}}
			if in.Header != nil && len(in.Header.From) == 1 {
				r.Sender = in.Header.From[0].Addr
			}
		}
	}()
	return inbound.Classify(in)
}

func attempts(list []mail.EventAttempt) []inbound.Attempt {
	out := make([]inbound.Attempt, 0, len(list))
	for _, a := range list {
		out = append(out, inbound.Attempt{ID: a.ID, MessageIDs: a.MessageIDs, Recipients: a.Recipients, Subject: a.Subject, Status: a.Status, SentAt: a.SentAt})
	}
	return out
}

func (r *Recorder) effects(list []inbound.Effect) []mail.Effect {
	out := make([]mail.Effect, 0, len(list))
	for _, e := range list {
		m := mail.Effect{Kind: mail.EffectKind(e.Kind), Attempt: e.Attempt, Address: e.Address, Until: e.Until, Note: string(e.Note), Why: e.Why}
		if m.Kind == mail.EffectPause && r.ResumeAt != nil {
			m.Until = r.ResumeAt(e.Until)
		}
		out = append(out, m)
	}
	return out
}

func detail(r inbound.Result) json.RawMessage {
	b, err := json.Marshal(r)
	if err != nil {
		return nil // only values of our own types come here; none of them can fail
	}
	return b
}

// Watched reports whether new mail of a folder makes events.
func Watched(acct *mail.Account, f mail.Folder) bool {
	watch := acct.Watch
	if len(watch) == 0 {
		watch = []string{string(mail.FolderInbox)}
	}
	for _, w := range watch {
		if f.Name == w || f.Kind != mail.FolderNone && strings.EqualFold(w, string(f.Kind)) || strings.EqualFold(w, "inbox") && strings.EqualFold(f.Name, "inbox") {
			return f.Kind != mail.FolderSent && f.Kind != mail.FolderDrafts
		}
	}
	return false
}

// Evidence is a digest of what a message says: its identity, its sender, its
// subject and its text, without the traces of its way. Two deliveries of one
// message have the same.
func Evidence(raw []byte) []byte {
	h := parse.Header(raw)
	sum := sha256.New()
	for _, name := range []string{"Message-ID", "From", "Date", "Subject", "In-Reply-To", "References"} {
		_, _ = sum.Write([]byte(name + ":" + strings.Join(strings.Fields(strings.Join(h.All(name), "\n")), " ") + "\n"))
	}
	_, _ = sum.Write(afterHeader(raw))
	return sum.Sum(nil)
}

// afterHeader is what follows the header.
func afterHeader(raw []byte) []byte {
	s := string(raw)
	crlf, lf := strings.Index(s, "\r\n\r\n"), strings.Index(s, "\n\n")
	switch {
	case crlf >= 0 && (lf < 0 || crlf < lf):
		return raw[crlf+4:]
	case lf >= 0:
		return raw[lf+2:]
	}
	return nil
}
