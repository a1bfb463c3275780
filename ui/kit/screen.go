package kit

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
)

// Screen is one page, or one pane of a page. It is a pointer type: Update
// changes it and returns only a command. All methods run on the program's loop,
// so none may block; what takes time is a command (see [Load] and [Call]).
//
// The constructor does nothing but keep its arguments: keys are validated by
// asking a Screen made with a nil engine for its Actions. Init starts the first
// load. Update gets every message that is not consumed by the app: keys and
// paste when the screen has the focus and no action took them, mouse messages
// in its own coordinates, [view.Change] nudges, [ThemeChanged], and the results
// of its own commands. View returns exactly h lines of w cells (see [Frame]).
type Screen interface {
	Init() tea.Cmd
	Update(msg tea.Msg) tea.Cmd
	View(w, h int) string
	Actions() []Action
	Title() string
	Focus(on bool)
}

// Typist is a Screen that may be taking text: while Typing is true, keys that
// write or edit go to Update, and only the others are looked up as actions.
type Typist interface{ Typing() bool }

// Pointer is a Screen that shows the terminal's cursor: Cursor is asked after
// View and gives a position in the screen's own coordinates, or nil.
type Pointer interface{ Cursor() *tea.Cursor }

// Leaver is a Screen with something to keep: Leave runs when its page is
// closed or the program ends, and what it returns is waited for. A Notice of
// level Bad from it stops the program from ending.
type Leaver interface{ Leave() tea.Cmd }

// Stater is a Screen that has a few words for the right of the header, such as
// a position in a list.
type Stater interface{ State() string }

// Env is what every screen gets beside its own engine interface. It is shared:
// the theme it points to changes in place.
type Env struct {
	Clock       mail.Clock
	Zone        *time.Location
	Theme       *Theme
	Keys        Keymap
	Editor      string // a command line; "" for none
	DownloadDir string
	// Open shows a link in the person's browser; nil where there is none. It is
	// called from a command, never from the loop.
	Open func(url string) error
	// After delivers msg once d has passed. Tests give their own.
	After func(d time.Duration, msg tea.Msg) tea.Cmd
}

// Now is the clock's time in the person's zone.
func (e *Env) Now() time.Time { return e.Clock.Now().In(e.Zone) }

// After is the Env.After of a running program.
func After(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}

// ThemeChanged tells screens to drop what they painted ahead.
type ThemeChanged struct{}

// Resized tells screens that the size of the screen changed; View gives the size.
type Resized struct{}

// Kind names a kind of page.
type Kind string

// The kinds of page.
const (
	KindMail      Kind = "mail"      // folders, list and reader; ID is a folder's id, "" for the unified inbox
	KindSearch    Kind = "search"    // ID is the query
	KindMessage   Kind = "message"   // ID is a message's id
	KindRaw       Kind = "raw"       // ID is a message's id
	KindCompose   Kind = "compose"   // ID is a draft's id
	KindDrafts    Kind = "drafts"    //
	KindAttempts  Kind = "attempts"  // ID is "" or a delivery status
	KindAttempt   Kind = "attempt"   // ID is an attempt's id
	KindRetry     Kind = "retry"     //
	KindUncertain Kind = "uncertain" // ID is "" or the attempt to start with
	KindFollowUps Kind = "followups" //
	KindFollowUp  Kind = "followup"  // ID is "attempt:<id>", "draft:<id>" or "plan:<id>:<step>"
	KindThreads   Kind = "threads"   // ID is "mine" or "theirs"
	KindReview    Kind = "review"    //
	KindAudit     Kind = "audit"     // ID is "" or a subject: "attempt:<id>", "message:<id>"
	KindAccounts  Kind = "accounts"  //
	KindFirstRun  Kind = "firstrun"  //
)

// Page names one page: a value, never a live pointer.
type Page struct {
	Kind Kind
	ID   string
}

// MessagePage names the page of a kind that takes a stored row's number.
func MessagePage(kind Kind, id int64) Page { return Page{kind, strconv.FormatInt(id, 10)} }

// Number is the ID as a stored row's number, 0 when it is none.
func (p Page) Number() int64 {
	n, err := strconv.ParseInt(p.ID, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Navigate asks the app to change pages; see [Open], [Replace] and [Back].
type Navigate struct {
	Page    Page
	Replace bool // in place of the current page
	Back    bool // close the current page
	Closing Screen
	// Order grows with every Open and Replace: commands run side by side, and of
	// two keys pressed quickly the second one's page must win.
	Order uint64
}

// Open puts a page on top of the current one.
func Open(p Page) tea.Cmd { return Send(Navigate{Page: p, Order: generations.Add(1)}) }

// Replace puts a page in place of the current one.
func Replace(p Page) tea.Cmd {
	return Send(Navigate{Page: p, Replace: true, Order: generations.Add(1)})
}

// Back closes the page of screen s and shows the one below. It does nothing if
// s is no longer the top page, so that a late answer closes nothing else.
func Back(s Screen) tea.Cmd { return Send(Navigate{Back: true, Closing: s}) }

// Send is the command whose result is msg.
func Send(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }

var generations atomic.Uint64

// Load is one value being read from the engine. Every start makes a new
// generation; the result of an older one, or of another Load, is not taken, so
// screens can be handed all results and each finds its own.
type Load[T any] struct {
	Value   T
	Err     *mail.Error
	Loaded  bool // Value holds the result of a load that succeeded
	Running bool
	gen     uint64
	stop    context.CancelFunc
}

// loaded is the result of a Load.
type loaded[T any] struct {
	gen   uint64
	value T
	err   error
}

// Start runs f off the loop. A load under way is cancelled and its result
// dropped; Value stays until the new result is taken.
func (l *Load[T]) Start(f func(ctx context.Context) (T, error)) tea.Cmd {
	l.Cancel()
	ctx, stop := context.WithCancel(context.Background())
	l.gen, l.stop, l.Running = generations.Add(1), stop, true
	gen := l.gen
	return func() tea.Msg {
		v, err := f(ctx)
		return loaded[T]{gen, v, err}
	}
}

// Take reports whether msg is the result of the newest Start, and keeps it.
func (l *Load[T]) Take(msg tea.Msg) bool {
	m, ok := msg.(loaded[T])
	if !ok || m.gen != l.gen || l.gen == 0 {
		return false
	}
	l.Cancel()
	if l.Err = mail.AsError(m.err); l.Err == nil {
		l.Value, l.Loaded = m.value, true
	}
	return true
}

// Cancel drops the load under way.
func (l *Load[T]) Cancel() {
	if l.stop != nil {
		l.stop()
	}
	l.stop, l.gen, l.Running = nil, 0, false
}

// Call runs one engine call off the loop. Its error is shown as a notice; else
// the message it returns, which may be nil, is delivered.
func Call(f func(ctx context.Context) (tea.Msg, error)) tea.Cmd {
	return func() tea.Msg {
		msg, err := f(context.Background())
		if err != nil {
			return ErrorNotice(err)
		}
		return msg
	}
}

// Shift moves a mouse message into the coordinates of a part of the screen.
func Shift(msg tea.MouseMsg, dx, dy int) tea.Msg {
	switch m := msg.(type) {
	case tea.MouseClickMsg:
		m.X, m.Y = m.X+dx, m.Y+dy
		return m
	case tea.MouseWheelMsg:
		m.X, m.Y = m.X+dx, m.Y+dy
		return m
	case tea.MouseMotionMsg:
		m.X, m.Y = m.X+dx, m.Y+dy
		return m
	case tea.MouseReleaseMsg:
		m.X, m.Y = m.X+dx, m.Y+dy
		return m
	}
	return msg
}
