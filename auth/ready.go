package auth

import (
	"context"
	"errors"
)

// Ready reports whether the keyring can be asked: nil when it answers, even if
// it has nothing for us, else a CREDENTIALS_UNAVAILABLE error that says what to
// do.
func (k *Keyring) Ready(ctx context.Context) error {
	err := k.call(ctx, k.getLimit, func() error {
		_, err := k.ring.Get(Service, "doctor")
		return err
	})
	if err == nil || errors.Is(err, ErrNoEntry) {
		return nil
	}
	return ringError(err)
}
