//go:build unix

package guard

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// Silent reports, without waiting, that the peer has sent nothing that was not
// read and has not closed or reset the connection. known is false where the
// system cannot tell.
func (c *Conn) Silent() (silent, known bool) {
	sc, ok := c.Conn.(syscall.Conn)
	if !ok {
		return false, false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false, false
	}
	err = raw.Control(func(fd uintptr) {
		var b [1]byte
		_, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		silent = errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EWOULDBLOCK)
	})
	return silent, err == nil
}
