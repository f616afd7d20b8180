package pki

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"path/filepath"
	"testing"
)

// Localhost writes cert.pem and key.pem of a server of this machine into a folder.
func (a *Authority) Localhost(tb testing.TB, dir string) {
	tb.Helper()
	c := a.Issue(tb, Leaf{Server: true, DNS: []string{"localhost"}, IP: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}})
	Write(tb, c, filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
}

// Client returns the settings of a client that trusts the authority, and has certificates.
func (a *Authority) Client(all ...tls.Certificate) *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(a.Cert)
	return &tls.Config{RootCAs: pool, Certificates: all, MinVersion: tls.VersionTLS12}
}
