// Package door says who sends a request, by its credential. A [Door] has providers, each
// for one kind of credential. The form of a credential alone chooses its provider, and
// what that refuses no other is asked about.
package door

import (
	"context"

	"github.com/mcpctl/mcpctl/runtime/access"
)

// Provider makes principals of one kind of credential. Its methods may be called
// concurrently.
type Provider interface {
	// Kind is the provider's name in serve.auth, and [access.Principal.Provider] of
	// those it makes.
	Kind() string
	// Accepts reports whether a credential has the form that the provider is for. It
	// says nothing about whether it is right.
	Accepts(c access.Credential) bool
	// Principal returns whose a credential is, or why it is not accepted. It may wait
	// for others until ctx ends; for a credential seen before it does not.
	Principal(ctx context.Context, c access.Credential) (*access.Principal, *access.Refusal)
	// Valid reports whether one whom it has made is still let in.
	Valid(p *access.Principal) bool
}

// Door asks for a credential. It is immutable, and implements [proxy.Door].
type Door struct{ providers []Provider }

// New returns a door. The first provider that accepts a credential decides.
func New(providers ...Provider) *Door { return &Door{providers} }

// Who implements [proxy.Door].
func (d *Door) Who(ctx context.Context, c access.Credential) (*access.Principal, *access.Refusal) {
	for _, p := range d.providers {
		if p.Accepts(c) {
			return p.Principal(ctx, c)
		}
	}
	if c.Bearer != "" {
		return nil, access.ErrUnknownToken
	}
	return nil, access.ErrNoCredential
}

// Challenge implements [proxy.Door].
func (*Door) Challenge(*access.Refusal) string { return `realm="mcpctl"` }

// Valid reports whether a principal is still let in.
func (d *Door) Valid(p *access.Principal) bool {
	for _, one := range d.providers {
		if one.Kind() == p.Provider {
			return one.Valid(p)
		}
	}
	return false
}
