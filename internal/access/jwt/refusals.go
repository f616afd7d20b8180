package jwt

import (
	"github.com/mcpctl/mcpctl/internal/access"
)

// refuse returns a refusal of a token. Most have one description: which check has
// failed is for the log of serve.
func refuse(reason, description string) *access.Refusal {
	return &access.Refusal{Status: 401, Code: "invalid_token", Description: description, Reason: reason}
}

const notAccepted = "the token is not accepted"

var (
	errType       = refuse("typ", "the token is not an access token")
	errIDToken    = refuse("id token", "an ID token is not accepted: send the access token")
	errAlgorithm  = refuse("alg", notAccepted)
	errCritical   = refuse("crit", notAccepted)
	errUnknownKey = refuse("key", notAccepted)
	errSignature  = refuse("signature", notAccepted)
	errIssuer     = refuse("iss", notAccepted)
	errAudience   = refuse("aud", "the token is for another resource")
	errTimes      = refuse("times", notAccepted)
	errNotYet     = refuse("not yet", "the token is not valid yet")
	errSubject    = refuse("sub", notAccepted)
	errScope      = refuse("scope", notAccepted)
	errGroups     = refuse("groups", notAccepted)
	errOverage    = refuse("groups overage", "the token leaves its groups out because they are too many: serve.auth reads them from the claim of groupsClaim")
	errBinding    = refuse("cnf", "the token is bound to another key")
)
