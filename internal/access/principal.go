package access

import "time"

// Principal is who asks. It is immutable, and may be shared.
type Principal struct {
	// ID is the issuer's part, "|", and the name that the issuer gives:
	// "token|ci" for a static token, "https://idp.example|8f3a" for one of an issuer.
	// Principals are equal if their IDs are.
	ID string
	// Name is for people to read, and is never compared.
	Name string
	// Email is an address that the settings let the issuer vouch for, and that it has
	// verified, in lower case; "" for none.
	Email string
	// Provider is the kind of the provider that has made the principal: see package
	// authenticator.
	Provider string
	// Groups are as configured, sorted.
	Groups []string
	// Scopes are those that the credential has, sorted.
	Scopes []string
	// Client is the program that the principal uses, "" for unknown.
	Client string
	// Tags are the claims that the settings name, each with its values. Nil for none.
	Tags map[string][]string
	// Expires is when the credential ends, zero for never.
	Expires time.Time
	// Proof is what the provider has made it of, where that can end before Expires. Only
	// the provider's Valid reads it.
	Proof any
}

// Key returns the ID, "" for nil: the one who is there where nobody is asked who they
// are.
func (p *Principal) Key() string {
	if p == nil {
		return ""
	}
	return p.ID
}

// Expired reports whether the credential has ended.
func (p *Principal) Expired(now time.Time) bool { return !p.Expires.IsZero() && !now.Before(p.Expires) }
