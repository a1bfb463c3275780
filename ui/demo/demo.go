// Package demo puts the demo together: a provider inside the program, a
// configuration that names it, and a state folder of its own. It touches
// neither the user's configuration nor the keyring.
package demo

import (
	"os"
	"path/filepath"

	"skrzynka/config"
	"skrzynka/mail"
	"skrzynka/mail/loopback"
)

// Demo is a running demo.
type Demo struct {
	Servers *loopback.Servers
	Config  *config.Config
	Dir     string // the state folder, with the configuration in it
	Clock   *mail.MovingClock

	temporary bool
}

// Start starts the servers and writes the configuration into dir, which is kept
// afterwards; an empty dir is a temporary folder, which is not. passwordCommand
// is what another process runs to get the demo's password.
func Start(dir string, passwordCommand []string) (*Demo, error) {
	d := &Demo{Dir: dir, temporary: dir == "", Clock: &mail.MovingClock{}}
	var err error
	if d.temporary {
		d.Dir, err = os.MkdirTemp("", "skrzynka-demo-")
	} else {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return nil, mail.Errorf(mail.CodeStore, "Name another folder with --state.", "The demo has no folder for its state: %w.", err)
	}
	if d.Servers, err = loopback.Start(loopback.Options{Now: d.Clock.Now}); err != nil {
		d.Close()
		return nil, err
	}
	if err := d.configure(passwordCommand); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *Demo) configure(passwordCommand []string) error {
	if err := d.Servers.WriteCA(filepath.Join(d.Dir, "ca.pem")); err != nil {
		return err
	}
	acct := d.Servers.Account()
	acct.PasswordCommand = passwordCommand
	path := filepath.Join(d.Dir, "config.toml")
	// An earlier demo's names ports that are gone.
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := config.WriteNew(path, acct); err != nil {
		return err
	}
	var err error
	d.Config, err = config.Load(path)
	return err
}

// Close stops the servers and removes what was temporary.
func (d *Demo) Close() {
	if d.Servers != nil {
		d.Servers.Close()
	}
	if d.temporary {
		_ = os.RemoveAll(d.Dir)
	}
}
