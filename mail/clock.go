package mail

import (
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// Clock is the source of time; tests give their own.
type Clock interface{ Now() time.Time }

// SystemClock reads the machine's clock, which includes its monotonic reading.
type SystemClock struct{}

// Now returns the current time.
func (SystemClock) Now() time.Time { return time.Now() }

// MovingClock is the machine's clock plus what it was moved forward by: a
// demonstration's time. The zero value is the machine's.
type MovingClock struct{ by atomic.Int64 }

// Now returns the moved time.
func (c *MovingClock) Now() time.Time { return time.Now().Add(time.Duration(c.by.Load())) }

// Forward moves the clock forward.
func (c *MovingClock) Forward(d time.Duration) { c.by.Add(int64(max(d, 0))) }

// NewID returns a fresh random UUID (RFC 9562, version 4).
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// NewMessageID returns a Message-ID (RFC 5322 section 3.6.4) with 160 random
// bits under the domain of the sender's address, brackets included. The
// machine's name is not in it. An unusable domain becomes "localhost".
func NewMessageID(senderAddress string) string {
	domain := "localhost"
	if i := strings.LastIndexByte(senderAddress, '@'); i >= 0 {
		if d, err := ASCIIDomain(senderAddress[i+1:]); err == nil {
			domain = d
		}
	}
	var b [20]byte
	_, _ = rand.Read(b[:])
	return "<" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:])) + "@" + domain + ">"
}
