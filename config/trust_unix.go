//go:build unix

package config

import (
	"io/fs"
	"os"
	"syscall"
)

// trust judges the file's owner and mode. Whoever can write the file chooses
// the servers a password goes to and the programs that are run.
func trust(info fs.FileInfo, commands bool) (refused, warned []Problem) {
	if !info.Mode().IsRegular() {
		return nil, nil // a pipe of the caller's own
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, nil
	}
	return judgeTrust(info.Mode().Perm(), int(st.Uid), os.Geteuid(), commands)
}

func judgeTrust(mode fs.FileMode, owner, user int, commands bool) (refused, warned []Problem) {
	if owner != user && owner != 0 {
		p := Problem{Path: "file", Problem: "it belongs to another user", Fix: "use a file of your own, or change its owner"}
		// Root in a container reads files of the host's user; even so, their
		// programs are not run as root.
		if user == 0 && !commands {
			warned = append(warned, p)
		} else {
			refused = append(refused, p)
		}
	}
	switch {
	case mode&0o002 != 0:
		refused = append(refused, Problem{Path: "file", Problem: "everyone on this machine can change it", Fix: "run chmod go-w on it"})
	case mode&0o020 != 0:
		warned = append(warned, Problem{Path: "file", Problem: "its group can change it", Fix: "run chmod go-w on it"})
	}
	return refused, warned
}
