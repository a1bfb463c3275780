package auth

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"os"

	"skrzynka/mail"
)

// maxRoots bounds a ca_file.
const maxRoots = 4 << 20

// LoadRoots reads a file of PEM certificates, up to 4 MiB. An empty path gives
// no bytes and no error. Errors are *mail.Error with CONFIG_INVALID.
func LoadRoots(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	bad := func(why string, err error) error {
		return &mail.Error{Code: mail.CodeConfigInvalid, Text: "The ca_file " + path + " " + why + ".",
			Hint: "Name a PEM file with the certificate of the authority that signed the server's.", Err: err}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, bad("cannot be read", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxRoots+1))
	if err != nil {
		return nil, bad("cannot be read", err)
	}
	if len(b) > maxRoots {
		return nil, bad("is larger than 4 MiB", nil)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(b) {
		return nil, bad("holds no PEM certificate", nil)
	}
	return b, nil
}

// TLSConfig builds the client's TLS configuration for server: TLS 1.2 or
// later, the name verified against server.Host, the system's roots and those
// in ca (PEM, may be nil). There is no way to turn verification off.
func TLSConfig(server mail.Server, ca []byte) (*tls.Config, error) {
	cfg := &tls.Config{ServerName: server.Host, MinVersion: tls.VersionTLS12}
	if len(ca) == 0 {
		return cfg, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // a machine without a system pool still has ca
	}
	if !pool.AppendCertsFromPEM(ca) {
		return nil, &mail.Error{Code: mail.CodeConfigInvalid, Text: "The additional root of " + server.Host + " holds no PEM certificate.",
			Hint: "Correct ca_file in the configuration."}
	}
	cfg.RootCAs = pool
	return cfg, nil
}
