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

// Client returns the settings of a client that trusts the authority. It sends the
// certificate that it has, if any, whatever the server asks for.
func (a *Authority) Client(mine ...tls.Certificate) *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(a.Cert)
	c := &tls.Config{RootCAs: pool, Certificates: mine, MinVersion: tls.VersionTLS12}
	if len(mine) > 0 {
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &mine[0], nil }
	}
	return c
}
