package jwt

import (
	"github.com/go-json-experiment/json"

	"github.com/mcpctl/mcpctl/internal/access"
)

// Person returns who has logged in at the issuer, by the claims of an ID token that has
// been verified. Their ID is that of the principals of their access tokens, and their
// name as well if both have it. Nothing else of a principal is set: an ID token gives no
// rights.
func (r *Rules) Person(claims []byte) (*access.Principal, *access.Refusal) {
	var c object
	if json.Unmarshal(claims, &c) != nil {
		return nil, errSubject
	}
	if iss, ok := c.text("iss"); !ok || iss != r.Issuer {
		return nil, errIssuer
	}
	p := &access.Principal{Provider: r.Kind}
	if refusal := r.identify(c, p); refusal != nil {
		return nil, refusal
	}
	return p, nil
}
