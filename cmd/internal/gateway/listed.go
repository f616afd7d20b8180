package gateway

import (
	"context"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
)

// listed accepts the static tokens that the settings list. It implements [authn.Provider].
type listed struct{ tokens *access.Tokens }

// Kind is that of static tokens.
func (listed) Kind() string { return "token" }

// Principal returns whose token a credential is, or a refusal; nil and nil for one that
// has not the form of a static token.
func (l listed) Principal(_ context.Context, c access.Credential) (*access.Principal, *access.Refusal) {
	if !access.IsToken(c.Bearer) {
		return nil, nil
	}
	return l.tokens.Principal(c.Bearer, time.Now())
}

// Valid reports whether a principal has a token that has not expired.
func (l listed) Valid(p *access.Principal) bool { return l.tokens.Has(p, time.Now()) }
