package jwt

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcpctl/mcpctl/runtime/access"
)

// Issuer is who signs tokens, and what they must have. It is immutable.
type Issuer struct {
	rules Rules
	keys  Keys
}

// NewIssuer returns an issuer.
func NewIssuer(r Rules, keys Keys) *Issuer { return &Issuer{r, keys} }

// verified is a token that is accepted.
type verified struct {
	principal *access.Principal
	bound     *binding
	// issuer and set say whose keys have verified it.
	issuer *Issuer
	set    *KeySet
}

// verify checks all of a token but what it is bound to. What costs least comes first:
// keys are asked for only for a token that would be accepted.
func (i *Issuer) verify(ctx context.Context, t token, now time.Time) (*verified, *access.Refusal) {
	if no := checkHeader(t.header); no != nil {
		return nil, no
	}
	p, bound, no := i.rules.principal(t.claims, now)
	if no != nil {
		return nil, no
	}
	set, found, no := i.find(ctx, t.header)
	if no != nil {
		return nil, no
	}
	signed, err := jose.ParseSignedCompact(t.text, algorithms())
	if err != nil {
		return nil, errSignature
	}
	at := slices.IndexFunc(found, func(k key) bool {
		_, err := signed.Verify(k.public)
		return err == nil
	})
	if at < 0 {
		return nil, errSignature
	}
	if no := i.rules.missing(p); no != nil {
		return nil, no
	}
	p.Signer = found[at].thumbprint
	return &verified{principal: p, bound: bound, issuer: i, set: set}, nil
}

// checkHeader checks a header (RFC 8725, 3.1, 3.10 and 3.11).
func checkHeader(h header) *access.Refusal {
	kind := strings.TrimPrefix(strings.ToLower(h.Type), "application/")
	switch {
	case h.Critical != nil || h.Plain != nil:
		return errCritical
	case !slices.Contains(algorithms(), jose.SignatureAlgorithm(h.Algorithm)):
		return errAlgorithm
	case kind != "" && kind != "at+jwt" && kind != "jwt":
		return errType
	}
	return nil
}

// find returns the keys that a token may be signed with, and the set that they are of.
func (i *Issuer) find(ctx context.Context, h header) (*KeySet, []key, *access.Refusal) {
	set := i.keys.Set()
	if set != nil {
		if found := set.find(h); found != nil {
			return set, found, nil
		}
	}
	set, err := i.keys.Renew(ctx)
	if set != nil {
		if found := set.find(h); found != nil {
			return set, found, nil
		}
	}
	if set == nil || err != nil {
		return nil, nil, access.ErrUnavailable
	}
	return nil, nil, errUnknownKey
}
