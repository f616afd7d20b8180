// Package rootca has the certificate authorities that this process trusts beside those of the
// system, such as that of a company or of a gateway with a certificate of its own.
package rootca

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"sync/atomic"
)

var trusted atomic.Pointer[x509.CertPool] //nolint:gochecknoglobals // it is about the process, as the environment is

// Trust adds authorities, or single certificates, in PEM. They hold for the clients that are made
// after it, and for http.DefaultTransport. It is called before anything connects.
func Trust(pem []byte) error {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return errors.New("it has no certificate in PEM")
	}
	trusted.Store(pool)
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t.TLSClientConfig = Client()
	}
	return nil
}

// Pool returns the authorities, nil for those of the system alone.
func Pool() *x509.CertPool { return trusted.Load() }

// Client returns the configuration of a TLS client, nil for Go's own.
func Client() *tls.Config {
	if p := Pool(); p != nil {
		return &tls.Config{RootCAs: p, MinVersion: tls.VersionTLS12}
	}
	return nil
}
