package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// networkRemedy returns what fixes a failure of net/http, "" where nothing is known.
func networkRemedy(err error) string {
	var (
		dns       *net.DNSError
		authority x509.UnknownAuthorityError
		hostname  x509.HostnameError
		cert      *tls.CertificateVerificationError
		record    tls.RecordHeaderError
		timeout   net.Error
	)
	switch {
	case errors.As(err, &dns):
		return "check the host name in the URL, and that this machine is online"
	case errors.Is(err, syscall.ECONNREFUSED), strings.Contains(err.Error(), "refused"):
		return "start the server, or check host and port in the URL"
	case errors.As(err, &authority):
		return "the certificate is not signed by an authority this machine trusts; SSL_CERT_FILE, or --ca of mcpctl, can name one more"
	case errors.As(err, &hostname), errors.As(err, &cert):
		return "the server's certificate is not valid for this address; check the host name in the URL"
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return "the server does not speak TLS on this port; try http:// in the URL"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "check host and port in the URL, and whether a firewall or proxy is in the way"
	}
	return ""
}
