package inbox

import (
	"context"
	"sync"
)

// quota bounds the bytes that are under way. What is larger than all of it
// goes alone.
type quota struct {
	mu    sync.Mutex
	limit int
	used  int
	freed chan struct{} // closed and made anew when something was released
}

func newQuota(limit int) *quota { return &quota{limit: limit, freed: make(chan struct{})} }

// acquire waits until n fits. It reports false when ctx ends first.
func (q *quota) acquire(ctx context.Context, n int) bool {
	for {
		q.mu.Lock()
		if q.used == 0 || q.used+n <= q.limit {
			q.used += n
			q.mu.Unlock()
			return true
		}
		freed := q.freed
		q.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return false
		}
	}
}

func (q *quota) release(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.used -= n
	close(q.freed)
	q.freed = make(chan struct{})
}
