// Package pki makes certificates for tests: authorities, what they issue, and lists of
// what they have revoked.
package pki

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
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
)

// Authority issues certificates.
type Authority struct {
	Cert *x509.Certificate
	key  *ecdsa.PrivateKey
	last int64
}

// Leaf is what a certificate is to say. The zero value is one for a client, without a
// name, which is valid for an hour.
type Leaf struct {
	Common     string
	URI        []string
	DNS, Email []string
	IP         []net.IP
	Server     bool
	Begins     time.Time
	Ends       time.Time
}

// New returns an authority that signs itself.
func New(tb testing.TB, name string) *Authority {
	tb.Helper()
	key := newKey(tb)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	return &Authority{Cert: sign(tb, template, template, key, key), key: key, last: 1}
}

// Under returns an authority that a has issued a certificate for.
func (a *Authority) Under(tb testing.TB, name string) *Authority {
	tb.Helper()
	a.last++
	key := newKey(tb)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.last), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	return &Authority{Cert: sign(tb, template, a.Cert, key, a.key), key: key, last: 1}
}

// Issue returns a certificate with its key, and the authority's own as its chain.
func (a *Authority) Issue(tb testing.TB, l Leaf) tls.Certificate {
	tb.Helper()
	a.last++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.last), Subject: pkix.Name{CommonName: l.Common}, DNSNames: l.DNS, EmailAddresses: l.Email, IPAddresses: l.IP,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		NotBefore: l.Begins, NotAfter: l.Ends,
	}
	if l.Server {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}
	if l.Begins.IsZero() {
		template.NotBefore = time.Now().Add(-time.Hour)
	}
	if l.Ends.IsZero() {
		template.NotAfter = time.Now().Add(time.Hour)
	}
	for _, text := range l.URI {
		u, err := url.Parse(text)
		require.NoError(tb, err)
		template.URIs = append(template.URIs, u)
	}
	key := newKey(tb)
	c := sign(tb, template, a.Cert, key, a.key)
	return tls.Certificate{Certificate: [][]byte{c.Raw, a.Cert.Raw}, PrivateKey: key, Leaf: c}
}

// PEM returns the certificate of the authority.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Cert.Raw})
}

// Revoke returns a list, in PEM, of certificates that the authority has revoked, which
// is valid until a time.
func (a *Authority) Revoke(tb testing.TB, until time.Time, all ...tls.Certificate) []byte {
	tb.Helper()
	a.last++
	l := &x509.RevocationList{Number: big.NewInt(a.last), ThisUpdate: time.Now().Add(-time.Hour), NextUpdate: until}
	for _, c := range all {
		l.RevokedCertificateEntries = append(l.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: c.Leaf.SerialNumber, RevocationTime: time.Now().Add(-time.Minute)})
	}
	der, err := x509.CreateRevocationList(rand.Reader, l, a.Cert, a.key)
	require.NoError(tb, err)
	return pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der})
}

// PEM returns a certificate with its chain.
func PEM(c tls.Certificate) (chain []byte) {
	for _, der := range c.Certificate {
		chain = append(chain, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return chain
}

// Write writes a certificate with its chain, and its key, in PEM.
func Write(tb testing.TB, c tls.Certificate, cert, key string) {
	tb.Helper()
	raw, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	require.NoError(tb, err)
	require.NoError(tb, os.WriteFile(cert, PEM(c), 0o600))
	require.NoError(tb, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), 0o600))
}

func newKey(tb testing.TB) *ecdsa.PrivateKey {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(tb, err)
	return key
}

func sign(tb testing.TB, template, parent *x509.Certificate, key, by *ecdsa.PrivateKey) *x509.Certificate {
	tb.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	require.NoError(tb, err)
	c, err := x509.ParseCertificate(der)
	require.NoError(tb, err)
	return c
}
