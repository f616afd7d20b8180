package access

import "time"

// Principal is who asks. It is immutable, and may be shared.
type Principal struct {
	// ID is the issuer's part, "|", and the name that the issuer gives:
	// "token|ci" for a static token. Principals are equal if their IDs are.
	ID string
	// Name is for people to read, and is never compared.
	Name string
	// Groups are as configured, sorted.
	Groups []string
	// Expires is when the credential ends, zero for never.
	Expires time.Time
}

// Key returns the ID, "" for nil: the one who is there where nobody is asked who they
// are.
func (p *Principal) Key() string {
	if p == nil {
		return ""
	}
	return p.ID
}
