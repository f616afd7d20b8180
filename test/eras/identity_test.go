package eras_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/wire"
)

// suitePrincipal is the ID of all clients of the suite.
const suitePrincipal = "token|suite"

// suiteAuth lets in who has the token of the suite.
type suiteAuth struct{ tokens *access.Tokens }

// identityAuth returns the authenticator of a suite with identity on.
func identityAuth() proxy.Authenticator {
	sum := sha256.Sum256([]byte(wire.Token()))
	return suiteAuth{must(access.NewTokens([]access.Token{{ID: "identity", Name: "suite", SHA256: hex.EncodeToString(sum[:])}}))}
}

// Who implements [proxy.Authenticator].
func (d suiteAuth) Who(_ context.Context, c access.Credential) (*access.Principal, *access.Refusal) {
	if c.Bearer == "" {
		return nil, access.ErrNoCredential
	}
	return d.tokens.Principal(c.Bearer, time.Now())
}

// Challenge implements [proxy.Authenticator].
func (suiteAuth) Challenge(*access.Refusal) string { return `realm="mcpctl"` }
