package gateway

import (
	"cmp"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/internal/access/jwt"
	"github.com/mcpctl/mcpctl/internal/authn"
	"github.com/mcpctl/mcpctl/runtime/auth"
)

// openForwarded returns the provider of what proxies say. What fetches the keys of one
// that signs it is added to the issuers.
func (d *authenticator) openForwarded(g *gateway, x *settings.ProxyProvider) error {
	o := authn.ForwardedOptions{From: x.Networks, Names: x.Names, Unix: x.Unix, User: x.User, Groups: x.Groups}
	if a := x.JWT; a != nil {
		publisher, err := auth.NewMetadataClient(cmp.Or(a.JWKS, a.Issuer))
		if err != nil {
			return issuerError("proxy.jwt", err)
		}
		keys := jwt.NewKeySource(a.Issuer, jwt.FetchKeys(publisher, a.JWKS), g.h.Log)
		d.issuers.runs = append(d.issuers.runs, keys.Run)
		rules := jwt.Rules{Kind: "proxy", Issuer: a.Issuer, Audiences: []string{a.Audience}, Groups: a.GroupsClaim, Name: a.Name}
		o.Assertion, o.Tokens = a.Header, jwt.New("proxy", jwt.NewIssuer(rules, keys))
	}
	d.forwarded = authn.NewForwarded(o)
	return nil
}
