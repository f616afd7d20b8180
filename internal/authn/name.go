package authn

import (
	"crypto/x509"
	"strings"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/internal/access"
)

// Kinds of names in a certificate (RFC 5280, 4.2.1.6).
const (
	URI   = "uri"
	DNS   = "dns"
	Email = "email"
)

// CertificateKinds returns all kinds of names, in the order in which they are looked for.
func CertificateKinds() []string { return []string{URI, DNS, Email} }

// maxCertificateName bounds a name, in bytes.
const maxCertificateName = 1024

// Refusals of [CertificateName].
var (
	// ErrNoName is that a certificate has none of the names that are asked for.
	ErrNoName = &access.Refusal{Status: 401, Code: "invalid_token", Description: "the certificate has no name that is accepted", Reason: "certificate name"}
	// ErrSeveral is that it has several of one kind.
	ErrSeveral = &access.Refusal{Status: 401, Code: "invalid_token", Description: "the certificate has several names", Reason: "certificate names"}
)

// CertificateName returns the name of who has a certificate: the only subject alternative name of
// the first of the kinds that it has any of. The common name never counts. Several names
// of that kind are refused, because they do not say which of them asks.
func CertificateName(c *x509.Certificate, kinds []string) (string, *access.Refusal) {
	for _, kind := range kinds {
		switch names := namesOf(c, kind); {
		case len(names) > 1:
			return "", ErrSeveral
		case len(names) == 1 && !valid(kind, names[0]):
			return "", ErrNoName
		case len(names) == 1 && kind == DNS:
			return strings.ToLower(names[0]), nil
		case len(names) == 1:
			return names[0], nil
		}
	}
	return "", ErrNoName
}

func namesOf(c *x509.Certificate, kind string) []string {
	switch kind {
	case URI:
		names := make([]string, len(c.URIs))
		for i, u := range c.URIs {
			names[i] = u.String()
		}
		return names
	case DNS:
		return c.DNSNames
	default:
		return c.EmailAddresses
	}
}

// valid reports whether a name has the form of its kind. A name of one kind never has
// that of another.
func valid(kind, name string) bool {
	if name == "" || len(name) > maxCertificateName || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return false
	}
	switch kind {
	case URI:
		scheme, rest, ok := strings.Cut(name, ":")
		return ok && scheme != "" && rest != "" && !strings.ContainsAny(scheme, "/@.")
	case DNS:
		return !strings.ContainsAny(name, ":/@*|")
	default:
		local, domain, ok := strings.Cut(name, "@")
		return ok && local != "" && domain != "" && !strings.ContainsAny(name, ":/|\"*") && !strings.Contains(domain, "@")
	}
}
