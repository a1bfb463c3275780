package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"skrzynka/mail"
)

// serverCert makes a self-signed certificate for the names, and its PEM.
func serverCert(t *testing.T, until time.Time, names ...string) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, DNSNames: names,
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: until, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func TestTLSVerifiesAlways(t *testing.T) {
	good, goodPEM := serverCert(t, time.Now().Add(time.Hour), "smtp.example.org")
	old, oldPEM := serverCert(t, time.Now().Add(-time.Hour), "smtp.example.org")
	for name, tc := range map[string]struct {
		host string
		cert tls.Certificate
		ca   []byte
		max  uint16
		ok   bool
	}{
		"private root":   {"smtp.example.org", good, goodPEM, 0, true},
		"unknown root":   {"smtp.example.org", good, nil, 0, false},
		"other name":     {"smtp.example.net", good, goodPEM, 0, false},
		"common name":    {"test", good, goodPEM, 0, false},
		"expired":        {"smtp.example.org", old, oldPEM, 0, false},
		"TLS 1.2":        {"smtp.example.org", good, goodPEM, tls.VersionTLS12, true},
		"TLS 1.1 is old": {"smtp.example.org", good, goodPEM, tls.VersionTLS11, false},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := TLSConfig(mail.Server{Host: tc.host}, tc.ca)
			if err != nil {
				t.Fatal(err)
			}
			l, err := net.Listen("tcp", "127.0.0.1:0") // a net.Pipe has no buffer and two alerts would wait for each other
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				b, err := l.Accept()
				if err != nil {
					return
				}
				_ = tls.Server(b, &tls.Config{Certificates: []tls.Certificate{tc.cert}, MinVersion: tls.VersionTLS10, MaxVersion: tc.max}).Handshake()
				b.Close()
			}()
			a, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			if err := tls.Client(a, cfg).Handshake(); (err == nil) != tc.ok {
				t.Errorf("handshake: %v, want success %v", err, tc.ok)
			}
		})
	}
}

func TestLoadRoots(t *testing.T) {
	_, good := serverCert(t, time.Now().Add(time.Hour), "x")
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for name, tc := range map[string]struct{ path, code string }{
		"none":      {"", ""},
		"good":      {write("good.pem", good), ""},
		"missing":   {filepath.Join(dir, "no.pem"), "CONFIG_INVALID"},
		"not PEM":   {write("junk.pem", []byte("junk")), "CONFIG_INVALID"},
		"too large": {write("big.pem", make([]byte, maxRoots+1)), "CONFIG_INVALID"},
		"a folder":  {dir, "CONFIG_INVALID"},
	} {
		b, err := LoadRoots(tc.path)
		if code(err) != tc.code || (err == nil && tc.path != "" && len(b) == 0) {
			t.Errorf("%s: %d bytes, %v, want code %q", name, len(b), err, tc.code)
		}
	}
	if _, err := TLSConfig(mail.Server{Host: "x"}, []byte("junk")); code(err) != "CONFIG_INVALID" {
		t.Errorf("junk root: %v", err)
	}
}
