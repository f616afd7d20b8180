package authn

import (
	"net/http"

	"github.com/mcpctl/mcpctl/internal/access"
)

// CredentialOf returns what a request has that says who asks, but for its token: the
// endpoint reads that. A certificate counts only if TLS has verified it.
func CredentialOf(r *http.Request) access.Credential {
	c := access.Credential{Peer: r.RemoteAddr, Header: r.Header}
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		c.Certificate, c.Chains = r.TLS.PeerCertificates[0], r.TLS.VerifiedChains
	}
	return c
}
