// Package engine is everything a person or a script can ask for. Both front
// ends call it and nothing below it; it joins the store, the mirror of the
// servers and the outbox, and decides nothing that package delivery decides.
package engine

import (
	"context"
	"sync"
	"time"

	"skrzynka/auth"
	"skrzynka/mail"
	"skrzynka/mail/outbox"
	"skrzynka/mail/submit"
	"skrzynka/mail/view"
)

// Options are what an Engine is made of.
type Options struct {
	Store          Store
	Owner          string // this process, as the store's lock file knows it
	Accounts       []mail.Account
	DefaultAccount string
	Outbox         mail.OutboxPolicy
	PollInterval   time.Duration
	Credentials    auth.Source
	Clock          mail.Clock
	Zone           *time.Location  // in which follow-ups' days are counted; nil: the machine's
	Timeouts       submit.Timeouts // of SMTP; zero fields take their defaults
	// Doctor's checks of this machine, which only main can make.
	Machine func(ctx context.Context) []view.Check
}

// Engine serves one process. Its methods may be called from several
// goroutines at once; each takes a context and may wait for disk, and for the
// network only where its comment says so.
type Engine struct {
	Options
	outbox    *outbox.Outbox
	transport *transport

	mu      sync.Mutex
	subs    map[int]chan view.Change
	nextSub int
	undo    []undoEntry

	sends    context.Context // bounds deliveries; screens and loops that end do not stop them
	stop     context.CancelFunc
	sync     *syncer
	follow   *runner
	running  sync.WaitGroup
	inFlight map[string]bool // attempts being delivered by this process
	copies   []string        // sent attempts whose copy is to be made
	copying  bool            // the copies are being made
}

// New returns an Engine over an open store. Nothing runs until StartBackground.
func New(o Options) *Engine {
	if o.Clock == nil {
		o.Clock = mail.SystemClock{}
	}
	e := &Engine{Options: o, subs: map[int]chan view.Change{}, inFlight: map[string]bool{}}
	e.sends, e.stop = context.WithCancel(context.Background())
	e.transport = newTransport(e)
	e.outbox = outbox.New(outbox.Options{Store: o.Store, Account: e.account, Transport: e.transport, Dial: e.dialRemote,
		Owner: o.Owner, Clock: o.Clock, Policy: o.Outbox, Suppressed: o.Store.Suppressed})
	e.sync = newSyncer(e)
	e.follow = newRunner(e)
	o.Store.Notify(e.announce)
	return e
}

// account finds a configured account; "" is the default one.
func (e *Engine) account(name string) (*mail.Account, error) {
	if name == "" {
		name = e.DefaultAccount
	}
	for i := range e.Accounts {
		if e.Accounts[i].Name == name {
			return &e.Accounts[i], nil
		}
	}
	return nil, notFound("account", name)
}

// Subscribe returns a channel of changes and a function that ends it. Changes
// are nudges: when the channel is full, the ones that do not fit are dropped,
// since whoever reads the channel reads the store again anyway.
func (e *Engine) Subscribe(buffer int) (<-chan view.Change, func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	id := e.nextSub
	e.nextSub++
	ch := make(chan view.Change, max(buffer, 16))
	e.subs[id] = ch
	return ch, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if _, ok := e.subs[id]; ok {
			delete(e.subs, id)
			close(ch)
		}
	}
}

// announce is called by the store after a commit.
func (e *Engine) announce(topic, account, id string) {
	e.publish(view.Change{Topic: view.Topic(topic), Account: account, ID: id})
}

func (e *Engine) publish(c view.Change) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, ch := range e.subs {
		select {
		case ch <- c:
		default:
		}
	}
}

// InFlight is how many attempts this process is delivering right now.
func (e *Engine) InFlight() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.inFlight)
}

// StopSends stops the deliveries that have not handed their message over. One
// that has is waited for as long as the protocol asks.
func (e *Engine) StopSends() { e.stop() }

// Wait returns when the loops of StartBackground, whose context must have been
// cancelled, and all deliveries have ended.
func (e *Engine) Wait() {
	e.running.Wait()
	e.transport.close()
}

// ListAccounts lists the configured accounts.
func (e *Engine) ListAccounts(ctx context.Context) ([]view.Account, error) {
	var out []view.Account
	for i := range e.Accounts {
		v, err := e.presentAccount(ctx, &e.Accounts[i])
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (e *Engine) presentAccount(ctx context.Context, a *mail.Account) (view.Account, error) {
	messages, attempts, err := e.Store.AccountSize(ctx, a.Name)
	if err != nil {
		return view.Account{}, err
	}
	return view.Account{Name: a.Name, Display: a.DisplayName, Email: a.Email, Aliases: a.Aliases, IMAP: presentServer(a, a.IMAP),
		SMTP: presentServer(a, a.SMTP), Default: a.Name == e.DefaultAccount, Messages: messages, Attempts: attempts}, nil
}

func presentServer(a *mail.Account, s mail.Server) view.Server {
	user := s.Username
	if user == "" {
		user = a.Email
	}
	return view.Server{Host: s.Host, Port: s.Port, Security: s.Security, Username: user}
}
