package jwt

import (
	"context"
	"crypto/x509"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcpctl/mcpctl/internal/access"
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
	bound     *Binding
	// issuer and set say whose keys have verified it.
	issuer *Issuer
	set    *KeySet
}

// accept returns the principal if the token may be used by who has a certificate.
func (v *verified) accept(cert *x509.Certificate) (*access.Principal, *access.Refusal) {
	if refusal := v.bound.Check(cert); refusal != nil {
		return nil, refusal
	}
	return v.principal, nil
}

// verify checks all of a token but what it is bound to. What costs least comes first:
// keys are asked for only for a token that would be accepted.
func (i *Issuer) verify(ctx context.Context, t token, now time.Time) (*verified, *access.Refusal) {
	if refusal := checkHeader(t.header); refusal != nil {
		return nil, refusal
	}
	p, bound, refusal := i.rules.principal(t.claims, now)
	if refusal != nil {
		return nil, refusal
	}
	set, found, refusal := i.find(ctx, t.header)
	if refusal != nil {
		return nil, refusal
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
	if refusal := i.rules.missing(p); refusal != nil {
		return nil, refusal
	}
	p.Proof = signer{i.keys, found[at].thumbprint}
	return &verified{principal: p, bound: bound, issuer: i, set: set}, nil
}

// signer is the key that has signed the token of a principal.
type signer struct {
	keys       Keys
	thumbprint string
}

// counts reports whether the issuer still has the key. Where its keys are not known
// no session ends.
func (s signer) counts() bool {
	set := s.keys.Set()
	return set == nil || set.Has(s.thumbprint)
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
