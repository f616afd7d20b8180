package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/doctor"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/internal/access/jwt"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/auth"
)

// examineTime bounds how long an issuer is waited for.
const examineTime = 10 * time.Second

// issuers checks the issuers whose tokens are accepted.
func (c *checks) issuers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	all := c.a.Providers.JWT
	found := make([]doctor.Check, len(all))
	var asking sync.WaitGroup
	for i, x := range all {
		asking.Go(func() { found[i] = examineKeys(ctx, x) })
	}
	asking.Wait()
	for _, one := range found {
		c.OK = c.OK && one.OK
	}
	c.Checks = append(c.Checks, found...)
	for _, one := range c.a.Providers.Issuers() {
		if len(one.Audiences) > 0 {
			c.Warn("audience",
				fmt.Sprintf("%s: tokens for %s are accepted, too: every other service that gets such tokens can use them here as its users", one.Name, strings.Join(one.Audiences, ", ")),
				"mcpctl config sources  # shows where serve.auth is; remove audiences if the issuer can put serve.url into aud")
		}
	}
}

// examineKeys fetches the keys of an issuer, as serve does when it starts.
func examineKeys(ctx context.Context, x *settings.JWTProvider) doctor.Check {
	var set *jwt.KeySet
	publisher, err := auth.NewMetadataClient(cmp.Or(x.JWKS, x.Issuer.Issuer))
	if err == nil {
		var doc jwt.KeyDocument
		if doc, err = jwt.FetchKeys(publisher, x.JWKS)(ctx); err == nil {
			set, _, err = jwt.ParseKeys(doc.Body)
		}
	}
	c := doctor.Check{ID: "issuer", OK: err == nil && set.Len() > 0}
	switch {
	case err != nil:
		c.Message, c.Kind = fmt.Sprintf("%s: the keys cannot be fetched, and its tokens get 503: %v", x.Name, err), "connect"
		c.Fix = "mcpctl config sources  # shows where serve.auth is; issuer has to be the URL in the claim iss"
	case set.Len() == 0:
		c.Message, c.Kind = x.Name+": the issuer has no key that can be used, and its tokens are refused", "config"
		c.Fix = "mcpctl config sources  # shows where serve.auth is; the keys of the issuer must be for ES256, ES384, EdDSA, PS256 or RS256"
	default:
		c.Message = fmt.Sprintf("%s: %s", x.Name, plain.Count(set.Len(), "key"))
	}
	return c
}
