package inbox

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"skrzynka/mail"
	"skrzynka/mail/mirror"
)

// Sizes of the line on which whole messages come in: read from the network,
// taken apart and compressed by workers, committed by one writer.
const (
	wholeBatch    = 500     // messages one command asks for
	wholeSessions = 2       // connections that read at once
	wholeMany     = 1500    // from so many messages on the second one pays
	wholeWorkers  = 2       // goroutines that take messages apart
	commitCount   = 500     // messages of one commit
	commitBytes   = 6 << 20 // bytes of one commit
	commitAfter   = 200 * time.Millisecond
	flightBytes   = 12 << 20 // read and not yet committed
)

// line carries the messages of one folder from the server to the store.
type line struct {
	*folderPass
	todo   chan []uint32
	read   chan mirror.Fetched
	ready  chan arrived
	flight *quota

	mu     sync.Mutex
	poison []uint32
	err    error // the first error of a reader
}

// arrived is a message that is ready to be stored.
type arrived struct {
	msg  mail.NewMessage
	cost int
}

// fetchWhole reads messages with their headers in one round, the newest first,
// and stores them batch by batch. What was read is kept, whatever ends it.
func (p *folderPass) fetchWhole(ctx context.Context, uids []uint32) error {
	if len(uids) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	batches := mirror.Batches(uids, wholeBatch)
	l := &line{folderPass: p, todo: make(chan []uint32, len(batches)), read: make(chan mirror.Fetched, 64),
		ready: make(chan arrived, 64), flight: newQuota(flightBytes)}
	for _, b := range batches {
		l.todo <- b
	}
	close(l.todo)

	var readers, workers sync.WaitGroup
	readers.Go(func() { l.readAll(ctx, p.pass) })
	if len(uids) >= wholeMany {
		for range wholeSessions - 1 {
			readers.Go(func() {
				// A server that refuses another connection still has the first one.
				extra := &pass{Syncer: p.Syncer}
				if s, err := extra.session(ctx); err == nil && s != nil {
					l.readAll(ctx, extra)
				}
				extra.close()
			})
		}
	}
	for range wholeWorkers {
		workers.Go(l.prepare)
	}
	go func() {
		readers.Wait()
		close(l.read)
		workers.Wait()
		close(l.ready)
	}()
	err := l.write(ctx, len(uids))
	if err != nil {
		cancel() // nobody stores any more: stop reading, and let the line run dry
		for a := range l.ready {
			l.flight.release(a.cost)
		}
		return err
	}
	if l.err != nil {
		return l.err
	}
	return p.quarantine(ctx, l.poison)
}

// readAll reads batches over one session until none is left or it fails.
func (l *line) readAll(ctx context.Context, on *pass) {
	for batch := range l.todo {
		poison, err := on.resilient(ctx, batch, func(ctx context.Context, s *mirror.Session, uids []uint32, fn func(mirror.Fetched) error) error {
			return s.FetchWhole(ctx, l.row.Name, l.box.UIDValidity, mirror.SetOf(uids), fn)
		}, l.readMinimal, func(f mirror.Fetched) error {
			if !l.flight.acquire(ctx, costOf(f)) {
				return ctx.Err()
			}
			l.read <- f
			return nil
		})
		l.mu.Lock()
		l.poison = append(l.poison, poison...)
		if err != nil && l.err == nil && !errors.Is(err, context.Canceled) {
			l.err = err
		}
		l.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// costOf is what a message counts of the quota: its bytes and its row.
func costOf(f mirror.Fetched) int { return len(f.Body) + len(f.Header) + 1024 }

// prepare takes messages apart.
func (l *line) prepare() {
	for f := range l.read {
		a := arrived{msg: newWhole(f), cost: costOf(f)}
		if b := a.msg.Body; b != nil {
			// What cannot be compressed here is stored as it is by the store.
			_ = l.store.PackBody(b)
		}
		l.ready <- a
	}
}

// write commits what is ready: a batch when it is large enough, and at the
// latest a moment after its first message came.
func (l *line) write(ctx context.Context, total int) error {
	var batch []mail.NewMessage
	size, done := 0, 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		fresh, err := l.store.PutHeaders(ctx, l.row.ID, l.box.UIDValidity, batch)
		if err != nil {
			return err
		}
		l.report.New += len(fresh)
		done += len(batch)
		l.flight.release(size)
		batch, size = nil, 0
		l.progress("bodies", l.row.Name, done, total)
		return nil
	}
	soon := time.NewTimer(commitAfter)
	defer soon.Stop()
	for {
		select {
		case a, more := <-l.ready:
			if !more {
				return flush()
			}
			if len(batch) == 0 {
				soon.Reset(commitAfter)
			}
			batch = append(batch, a.msg)
			size += a.cost
			if len(batch) < commitCount && size < commitBytes {
				continue
			}
		case <-soon.C:
		}
		if err := flush(); err != nil {
			return err
		}
	}
}

// headerOf cuts the header off a message, with the empty line that ends it.
func headerOf(raw []byte) []byte {
	end := len(raw)
	if i := bytes.Index(raw, []byte("\r\n\r\n")); i >= 0 {
		end = i + 4
	}
	if i := bytes.Index(raw[:end], []byte("\n\n")); i >= 0 {
		end = i + 2
	}
	return raw[:end:end]
}
