package auth

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
)

// runtimeDir is where systemd puts a user's sockets; tests look elsewhere.
var runtimeDir = "/run/user"

// ringReady refuses on systems whose keyring is reached over D-Bus when there
// is no session bus. Asking all the same would start a stray bus and keyring
// daemon that nobody unlocks.
func ringReady(getenv func(string) string) error {
	switch runtime.GOOS {
	case "darwin", "windows":
		return nil
	}
	if busPresent(getenv, filepath.Join(runtimeDir, strconv.Itoa(os.Getuid()), "bus")) {
		return nil
	}
	return unavailable("Log in to a desktop session with a Secret Service (GNOME Keyring, KWallet, KeePassXC) and unlock it, or set password_command for the account.",
		"This session has no keyring: there is no D-Bus session bus.")
}

func busPresent(getenv func(string) string, socket string) bool {
	if a := getenv("DBUS_SESSION_BUS_ADDRESS"); a != "" && a != "autolaunch:" {
		return true
	}
	fi, err := os.Stat(socket)
	return err == nil && fi.Mode()&os.ModeSocket != 0
}
