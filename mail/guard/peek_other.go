//go:build !unix

package guard

// Silent cannot tell on this system; the caller reads with a short limit.
func (c *Conn) Silent() (silent, known bool) { return false, false }
