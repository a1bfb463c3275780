// Package auth turns an account's configuration into what a mail server wants
// to see: credentials from a source, a SASL client for them, and a TLS
// configuration that always verifies. A Secret cannot be printed by accident.
package auth

import (
	"fmt"
	"io"
	"log/slog"
)

const masked = "***"

// Secret is a password or a token. Every usual way of printing, logging or
// encoding it gives three asterisks; Reveal gives the value.
type Secret struct{ v string }

// NewSecret keeps v.
func NewSecret(v string) Secret { return Secret{v} }

// Reveal returns the value, for the one place that sends or stores it.
func (s Secret) Reveal() string { return s.v }

// Empty reports whether there is no value.
func (s Secret) Empty() bool { return s.v == "" }

// String returns asterisks.
func (s Secret) String() string { return masked }

// GoString returns asterisks.
func (s Secret) GoString() string { return masked }

// Format writes asterisks for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, masked) }

// MarshalJSON writes asterisks.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + masked + `"`), nil }

// MarshalText writes asterisks, for TOML, XML and map keys.
func (s Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }

// LogValue logs asterisks.
func (s Secret) LogValue() slog.Value { return slog.StringValue(masked) }
