package jwt

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/runtime/access"
	"github.com/mcpctl/mcpctl/runtime/secret"
)

// Provider makes principals of tokens of issuers. It implements [door.Provider]. It is
// safe for concurrent use.
type Provider struct {
	kind    string
	issuers map[string]*Issuer // by iss
	memory  memory
}

// New returns a provider of principals of a kind.
func New(kind string, issuers ...*Issuer) *Provider {
	p := &Provider{kind: kind, issuers: map[string]*Issuer{}, memory: newMemory()}
	for _, i := range issuers {
		p.issuers[i.rules.Issuer] = i
	}
	return p
}

// Kind implements [door.Provider].
func (p *Provider) Kind() string { return p.kind }

// Accepts implements [door.Provider]: a credential is for the provider if it is a JWT
// that names one of the issuers.
func (p *Provider) Accepts(c access.Credential) bool {
	if c.Bearer == "" {
		return false
	}
	if p.memory.find(c.Bearer) != nil {
		return true
	}
	t, ok := parse(c.Bearer)
	return ok && p.issuers[t.issuer] != nil
}

// Principal implements [door.Provider].
func (p *Provider) Principal(ctx context.Context, c access.Credential) (*access.Principal, *access.Refusal) {
	return p.Token(ctx, c.Bearer, c.Certificate)
}

// Token returns whose a token is, or a refusal. cert is the certificate of who has sent
// it, nil for none. It allocates nothing for a token that is remembered.
func (p *Provider) Token(ctx context.Context, text string, cert *x509.Certificate) (*access.Principal, *access.Refusal) {
	now := time.Now()
	if r := p.memory.find(text); r != nil && r.holds(now) {
		return r.by(cert)
	}
	t, ok := parse(text)
	if !ok {
		return nil, access.ErrUnknownToken
	}
	i := p.issuers[t.issuer]
	if i == nil {
		return nil, errIssuer
	}
	v, no := i.verify(ctx, t, now)
	if no != nil {
		return nil, no
	}
	return p.memory.keep(text, v, now).by(cert)
}

// Valid implements [door.Provider]: the token has not ended, and its issuer still has the
// key that has signed it.
func (p *Provider) Valid(who *access.Principal) bool {
	if who.Expired(time.Now()) {
		return false
	}
	for _, i := range p.issuers {
		if set := i.keys.Set(); set == nil || set.Has(who.Signer) {
			return true // where the keys are not known nobody is put out for that
		}
	}
	return false
}

// remembered is a token that has been accepted.
type remembered struct {
	*verified
	text  string
	until time.Time
	// cert is the last certificate that the token was bound to, nil for none yet.
	cert atomic.Pointer[x509.Certificate]
}

// holds reports whether the token need not be verified again.
func (r *remembered) holds(now time.Time) bool {
	return now.Before(r.until) && !r.principal.Expired(now) && r.issuer.keys.Set() == r.set
}

// by returns the principal if the token may be used by who has a certificate.
func (r *remembered) by(cert *x509.Certificate) (*access.Principal, *access.Refusal) {
	if r.bound == nil || cert != nil && r.cert.Load() == cert {
		return r.principal, nil
	}
	if cert == nil || sha256.Sum256(cert.Raw) != *r.bound {
		return nil, errBinding
	}
	r.cert.Store(cert)
	return r.principal, nil
}

// Subject returns the token of a principal that ends last, of those that are remembered
// and have not ended; false for none. It is for exchange at an authorization server.
func (p *Provider) Subject(id string) (token secret.Text, expires time.Time, ok bool) {
	if r := p.memory.latest(id, time.Now()); r != nil {
		return secret.New(r.text), r.principal.Expires, true
	}
	return token, expires, false
}
