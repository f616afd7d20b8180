package authconfig

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpctl/mcpctl/internal/secret"
)

// Values of "as": whose credentials a server gets.
const (
	AsGateway   = "gateway"   // one for all, and the default
	AsPrincipal = "principal" // each principal's own
)

// Each is how principals have credentials of their own. The zero value is one
// credential for all.
type Each struct {
	On bool
	// SubjectFrom is the issuer of the tokens that are handed in; "" is the one that
	// exchanges them. See [Config.SubjectIssuer].
	SubjectFrom string
	// Subject is whom the assertions that we sign are about.
	Subject string
	// ActorToken says that we act for the principal, zero for none.
	ActorToken secret.Text
}

// eachForm is the part of the object as written.
type eachForm struct {
	As            string `json:"as"`
	SubjectIssuer string `json:"subjectIssuer"`
	Subject       string `json:"subject"`
	ActorToken    string `json:"actorToken"`
}

// check returns what of the form contradicts "as" or the grant, nil for nothing.
func (f *eachForm) check(c *Config) error {
	if f.As != "" && f.As != AsGateway && f.As != AsPrincipal {
		return errors.New("as is none of gateway, principal")
	}
	if !c.Each.On && c.Grant == GrantTokenExchange {
		return errors.New(`grant token_exchange needs "as": "principal"`)
	}
	if c.Each.On && slices.Contains([]string{GrantClientCredentials, GrantPassword, GrantRefreshToken}, c.Grant) {
		return fmt.Errorf(`grant %s is one credential for all: remove "as": "principal", or choose another grant`, c.Grant)
	}
	exchanges := c.Grant == GrantTokenExchange
	hasIn := exchanges || c.Grant == GrantEnterprise // the token of a principal
	for _, m := range []struct {
		name     string
		set, may bool
	}{
		{"actorToken", f.ActorToken != "", exchanges},
		{"subjectIssuer", f.SubjectIssuer != "", c.Each.On && hasIn},
		{"subject", f.Subject != "", c.Each.On && c.Grant == GrantJWTBearer},
		{"assertion", !c.Assertion.IsZero(), !c.Each.On},
		{"tokenFile", c.TokenFile != "", !c.Each.On},
		{"command", len(c.Command) > 0, !c.Each.On},
		{"idp.idToken", !c.IDP.IDToken.IsZero(), !c.Each.On},
	} {
		switch {
		case !m.set || m.may:
		case c.Each.On:
			return fmt.Errorf(`%s has no use with "as": "principal" and grant %s`, m.name, cmp.Or(c.Grant, GrantCode))
		default:
			return fmt.Errorf(`%s needs "as": "principal", and a grant that uses it`, m.name)
		}
	}
	return nil
}

// SubjectIssuer returns the issuer of the tokens that may be handed in for others: no
// other issuer's token is.
func (c *Config) SubjectIssuer() string {
	if c.Grant == GrantEnterprise {
		return cmp.Or(c.Each.SubjectFrom, c.IDP.Issuer)
	}
	return cmp.Or(c.Each.SubjectFrom, c.Issuer)
}

// Links reports whether each principal links an account of their own, in a browser.
func (c *Config) Links() bool { return c.Each.On && (c.Grant == "" || c.Grant == GrantCode) }

// HandsIn reports whether the token of each principal is exchanged for another.
func (c *Config) HandsIn() bool {
	return c.Each.On && (c.Grant == GrantTokenExchange || c.Grant == GrantEnterprise)
}
