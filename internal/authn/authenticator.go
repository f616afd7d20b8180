package authn

import (
	"context"
	"strings"

	"github.com/mcpctl/mcpctl/internal/access"
)

// Provider makes principals of one kind of credential. Its methods may be called
// concurrently.
type Provider interface {
	// Kind is the provider's name in serve.auth, and [access.Principal.Provider] of
	// those it makes.
	Kind() string
	// Principal returns whose a credential is, or why it is not accepted; nil and nil
	// for a credential of a form that the provider is not for, right or wrong. It may
	// wait for others until ctx ends; for a credential seen before it does not.
	Principal(ctx context.Context, c access.Credential) (*access.Principal, *access.Refusal)
	// Valid reports whether one whom it has made is still let in.
	Valid(p *access.Principal) bool
}

// Authenticator asks for a credential. It is immutable, and implements [proxy.Authenticator].
type Authenticator struct {
	providers []Provider
	metadata  string // a URL, "" for none
	scopes    []string
}

// NewAuthenticator returns an authenticator. The first provider that is for a credential's form decides.
func NewAuthenticator(providers ...Provider) *Authenticator {
	return &Authenticator{providers: providers}
}

// Advertise returns an authenticator that leads clients to metadata, a URL: it says who issues
// tokens (RFC 9728). Scopes are those that a client has to ask for.
func (d *Authenticator) Advertise(metadata string, scopes []string) *Authenticator {
	return &Authenticator{d.providers, metadata, scopes}
}

// Who implements [proxy.Authenticator].
func (d *Authenticator) Who(ctx context.Context, c access.Credential) (*access.Principal, *access.Refusal) {
	for _, p := range d.providers {
		if principal, refusal := p.Principal(ctx, c); principal != nil || refusal != nil {
			return principal, refusal
		}
	}
	if c.Bearer != "" {
		return nil, access.ErrUnknownToken
	}
	return nil, access.ErrNoCredential
}

// Challenge implements [proxy.Authenticator]. Where no issuer is known that a client could get a
// token from, none is named, so that no client tries to.
func (d *Authenticator) Challenge(refusal *access.Refusal) string {
	if d.metadata == "" {
		return `realm="mcpctl"`
	}
	challenge := `resource_metadata="` + d.metadata + `"`
	scopes := d.scopes
	if refusal.Scopes != nil {
		scopes = refusal.Scopes
	}
	if len(scopes) > 0 {
		challenge += `, scope="` + strings.Join(scopes, " ") + `"`
	}
	return challenge
}

// Valid reports whether a principal is still let in.
func (d *Authenticator) Valid(p *access.Principal) bool {
	for _, one := range d.providers {
		if one.Kind() == p.Provider {
			return one.Valid(p)
		}
	}
	return false
}
