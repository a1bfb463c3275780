//go:build unix

package store

import (
	"io/fs"
	"os"
	"syscall"
)

func ownedByUs(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// loose reports whether any of the permission bits in mask is set.
func loose(fi fs.FileInfo, mask fs.FileMode) bool { return fi.Mode().Perm()&mask != 0 }
