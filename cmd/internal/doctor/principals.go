package doctor

import (
	"errors"

	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// principals reports whose credentials an entry has, and false where only mcpctl serve
// can connect to it, since it knows who calls.
func (d *Doctor) principals(r *Report, entry config.Entry) bool {
	if !entry.PerPrincipal() {
		if d.Shared && (entry.Auth != nil || len(entry.Headers) > 0) {
			r.Pass("principals", "one credential for all who call through serve")
		}
		return true
	}
	c := authconfig.Config{}
	if entry.Auth != nil {
		c, _ = authconfig.Parse(entry.Auth) // it was read before
	}
	says := "each principal of serve has their own: " + ownWay(entry, &c)
	if d.Shared {
		r.Pass("principals", says)
	} else {
		r.Warn("principals", says+"; without serve.auth nobody is asked who they are", "mcpctl config edit, and in config.yaml serve: {auth: [token: {}]}")
	}
	_, err := entry.Expand(d.Dial(entry).Lookup)
	if _, named := errors.AsType[*config.PrincipalError](err); named || c.HandsIn() {
		r.Pass("config", "the server is not connected here: only serve knows who calls")
		return false
	}
	return true
}

// ownWay says where the credentials of a principal come from.
func ownWay(entry config.Entry, c *authconfig.Config) string {
	switch {
	case c.Links():
		return "an account that they link at serve's /connect/" + entry.Name
	case c.HandsIn():
		return "what their token of " + c.SubjectIssuer() + " is exchanged for"
	case c.Each.On:
		return "an assertion about them, signed by mcpctl"
	case entry.Command != "":
		return "env of the entry says who calls"
	}
	return "headers of the entry say who calls"
}
