package idp

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

	"github.com/mcpctl/mcpctl/test/require"
)

// Authority is one that signs certificates.
type Authority struct {
	Certificate
	// Server is the certificate of 127.0.0.1 and localhost.
	Server Certificate
}

// Certificate is a certificate with its key.
type Certificate struct {
	DER []byte
	Key *ecdsa.PrivateKey
}

// NewAuthority returns an authority with keys of its own.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{}
	a.Certificate = a.sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	})
	a.Server = a.Sign(t, &x509.Certificate{
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	return a
}

// Sign returns a certificate that the authority has signed. It is good for a day, unless
// the template says otherwise.
func (a *Authority) Sign(t testing.TB, template *x509.Certificate) Certificate {
	t.Helper()
	return a.sign(t, template)
}

func (a *Authority) sign(t testing.TB, template *x509.Certificate) Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(t, err)
	if template.NotAfter.IsZero() {
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	}
	parent, signer := template, key
	if a.Key != nil {
		signer = a.Key
		parent, err = x509.ParseCertificate(a.DER)
		require.NoError(t, err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	require.NoError(t, err)
	return Certificate{der, key}
}

// PEM returns the certificate as text.
func (c Certificate) PEM() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.DER}))
}

// TLS returns the certificate for crypto/tls.
func (c Certificate) TLS() tls.Certificate {
	return tls.Certificate{Certificate: [][]byte{c.DER}, PrivateKey: c.Key}
}

// Write writes cert.pem and key.pem into a folder.
func (c Certificate) Write(t testing.TB, dir string) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(c.Key)
	require.NoError(t, err)
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cert.pem"), []byte(c.PEM()), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "key.pem"), key, 0o600))
}

// Client returns the settings of a client that trusts the authority and has
// certificates.
func (a *Authority) Client(certificates ...Certificate) *tls.Config {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(a.PEM()))
	c := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	for _, one := range certificates {
		c.Certificates = append(c.Certificates, one.TLS())
	}
	return c
}
