package cli

import (
	"context"
	"fmt"

	"github.com/mcpctl/mcpctl/internal/authn"
)

// login checks the provider at which people log in on the pages of serve.
func (c *checks) login(ctx context.Context) {
	l := c.a.Login
	if l.Issuer == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	if _, _, err := authn.NewOpenID(authn.OpenIDConfig{Issuer: l.Issuer, ClientID: l.ClientID}).Start(ctx, ""); err != nil {
		c.Fail("login", "connect", fmt.Sprintf("nobody can log in on the pages at %s: %v", l.Issuer, err),
			"mcpctl config sources  # shows where serve.login is; issuer has to be the one in its discovery document, to the byte")
		return
	}
	c.Pass("login", "people log in at "+l.Issuer)
}
