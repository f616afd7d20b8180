package authn

import (
	"time"

	"github.com/mcpctl/mcpctl/internal/secret"
)

// subjects is what a [Provider] also is that knows the tokens of its principals.
type subjects interface {
	// Subject returns the token of a principal that ends last, by the ID; false for none.
	Subject(id string) (token secret.Text, expires time.Time, ok bool)
}

// Subject returns the token that a principal has come with, by the ID: of several the one
// that ends last, the zero Text for none. It is for the authorization server that the
// settings name to exchange it, and for nobody else.
func (d *Authenticator) Subject(id string) secret.Text {
	var latest secret.Text
	var ends time.Time
	for _, p := range d.providers {
		s, ok := p.(subjects)
		if !ok {
			continue
		}
		if text, expires, ok := s.Subject(id); ok && (latest.IsZero() || expires.After(ends)) {
			latest, ends = text, expires
		}
	}
	return latest
}
