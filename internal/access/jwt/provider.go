package jwt

import (
	"context"
	"crypto/x509"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/secret"
)

// rememberTime bounds how long a token is remembered.
const rememberTime = 5 * time.Minute

// Provider makes principals of tokens of issuers. It implements [authn.Provider]. It is
// safe for concurrent use.
type Provider struct {
	kind    string
	issuers map[string]*Issuer // by iss
	seen    *TokenCache[*remembered]
}

// remembered is a token that has been accepted.
type remembered struct {
	*verified
	until time.Time
}

// holds reports whether the token need not be verified again.
func (r *remembered) holds(now time.Time) bool {
	return now.Before(r.until) && !r.principal.Expired(now) && r.issuer.keys.Set() == r.set
}

// New returns a provider of principals of a kind.
func New(kind string, issuers ...*Issuer) *Provider {
	p := &Provider{kind: kind, issuers: map[string]*Issuer{}, seen: NewTokenCache[*remembered]()}
	for _, i := range issuers {
		p.issuers[i.rules.Issuer] = i
	}
	return p
}

// Kind implements [authn.Provider].
func (p *Provider) Kind() string { return p.kind }

// Principal implements [authn.Provider]: a credential is for the provider if it is a JWT
// that names one of the issuers.
func (p *Provider) Principal(ctx context.Context, c access.Credential) (*access.Principal, *access.Refusal) {
	if c.Bearer == "" {
		return nil, nil
	}
	now := time.Now()
	if r := p.remembered(c.Bearer, now); r != nil {
		return r.accept(c.Certificate)
	}
	if p.issuers[claimed(c.Bearer)] == nil {
		return nil, nil
	}
	return p.verify(ctx, c.Bearer, c.Certificate, now)
}

// Token returns whose a token is, or a refusal. cert is the certificate of who has sent
// it, nil for none. It allocates nothing for a token that is remembered.
func (p *Provider) Token(ctx context.Context, text string, cert *x509.Certificate) (*access.Principal, *access.Refusal) {
	now := time.Now()
	if r := p.remembered(text, now); r != nil {
		return r.accept(cert)
	}
	return p.verify(ctx, text, cert, now)
}

// remembered returns what is remembered of a token that need not be verified again, nil
// for nothing.
func (p *Provider) remembered(text string, now time.Time) *remembered {
	if r, ok := p.seen.Find(text); ok && r.holds(now) {
		return r
	}
	return nil
}

// verify returns whose a token is that is not remembered, or a refusal.
func (p *Provider) verify(ctx context.Context, text string, cert *x509.Certificate, now time.Time) (*access.Principal, *access.Refusal) {
	t, ok := parse(text)
	if !ok {
		return nil, access.ErrUnknownToken
	}
	i := p.issuers[t.issuer]
	if i == nil {
		return nil, errIssuer
	}
	v, refusal := i.verify(ctx, t, now)
	if refusal != nil {
		return nil, refusal
	}
	p.seen.Keep(text, &remembered{verified: v, until: now.Add(rememberTime)})
	return v.accept(cert)
}

// Valid implements [authn.Provider]: the token has not ended, and its issuer still has the
// key that has signed it.
func (p *Provider) Valid(principal *access.Principal) bool {
	proof, ok := principal.Proof.(signer)
	return ok && !principal.Expired(time.Now()) && proof.counts()
}

// Subject returns the token of a principal that ends last, of those that are remembered
// and have not ended; false for none. It is for exchange at an authorization server.
func (p *Provider) Subject(id string) (token secret.Text, expires time.Time, ok bool) {
	now := time.Now()
	p.seen.Each(func(text string, r *remembered) {
		if principal := r.principal; principal.ID == id && !principal.Expired(now) && (!ok || principal.Expires.After(expires)) {
			token, expires, ok = secret.New(text), principal.Expires, true
		}
	})
	return token, expires, ok
}
