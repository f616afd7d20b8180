package authn

import (
	"context"
	"crypto/x509"
	"path"
	"slices"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
)

// MTLSOptions are settings of a [MTLS].
type MTLSOptions struct {
	// From are the kinds of names, in their order; none is all of [CertificateKinds].
	From []string
	// Groups are the groups of those whose names a pattern matches, by pattern. In
	// one, * stands for characters other than a slash.
	Groups map[string]string
	// Trust returns which certificates are accepted now.
	Trust func() *Trust
	// Now is the clock.
	Now func() time.Time
}

// MTLS makes principals of certificates. It is for credentials whose certificates
// [Trust.Check] accepts. It is safe for concurrent use.
type MTLS struct {
	o MTLSOptions

	seen cache[*x509.Certificate, *access.Principal]
}

// NewMTLS returns a provider.
func NewMTLS(o MTLSOptions) *MTLS {
	if len(o.From) == 0 {
		o.From = CertificateKinds()
	}
	return &MTLS{o: o}
}

// Kind is that of certificates.
func (*MTLS) Kind() string { return "mtls" }

// Principal implements [authn.Provider]: a credential is for the provider if it is a
// certificate alone. Beside a token, a certificate says which program has the token, and
// not who asks. It allocates nothing for one seen before.
func (p *MTLS) Principal(_ context.Context, c access.Credential) (*access.Principal, *access.Refusal) {
	if c.Certificate == nil || c.Bearer != "" {
		return nil, nil
	}
	if principal, ok := p.seen.find(c.Certificate); ok {
		return principal, nil
	}
	name, refusal := CertificateName(c.Certificate, p.o.From)
	if refusal != nil {
		return nil, refusal
	}
	principal := &access.Principal{ID: "cert|" + name, Name: name, Provider: p.Kind(), Groups: p.groups(name), Client: name, Expires: c.Certificate.NotAfter, Proof: c.Chains}
	p.seen.put(c.Certificate, principal)
	return principal, nil
}

// groups returns the groups of a name, sorted.
func (p *MTLS) groups(name string) (groups []string) {
	for pattern, group := range p.o.Groups {
		if ok, _ := path.Match(pattern, name); ok { // a bad pattern is refused with the settings
			groups = append(groups, group)
		}
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}

// Valid reports whether the certificate that a principal was made of is still accepted.
func (p *MTLS) Valid(principal *access.Principal) bool {
	chains, ok := principal.Proof.([][]*x509.Certificate)
	return ok && p.o.Trust().Check(chains, p.o.Now()) == nil
}
