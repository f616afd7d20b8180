package client

import "github.com/mcpctl/mcpctl/internal/access"

// Audience is who sees what the servers offer, and through which view. It is a value: equal
// audiences see the same.
type Audience struct {
	Who *access.Principal // nil where nobody is asked who they are
	// View is the name of the view, "" for everything.
	View string
	// Private says that who asks has decided about the view, or could have, and not the
	// address alone: what is listed must not be cached for others.
	Private bool
}

// Key stands for the principal and the view: what is sealed for one audience is of no use to
// another.
func (a Audience) Key() string {
	if a.View == "" {
		return a.Who.Key()
	}
	return a.Who.Key() + "\x00" + a.View
}
