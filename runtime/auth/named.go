package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/authconfig"
)

// discover finds out who authorizes access to the server, and which scopes to ask for.
// params are those of its challenge. What the entry names counts before what the server
// says, and only that gets what is the entry's.
func (a *Authorizer) discover(ctx context.Context, params map[string]string) (*discovered, []string, error) {
	c, g := &a.o.Config, a.guard(ctx)
	d, err := a.authorizationServer(ctx, g, params["resource_metadata"])
	_, none := errors.AsType[noOAuth](err)
	switch {
	case c.Named() != "" || !c.NeedsNamed():
	case none:
		return nil, nil, &UnnamedError{}
	case err == nil && d.guessed:
		return nil, nil, &UnnamedError{}
	case err == nil:
		return nil, nil, newUnnamed(d.Issuer)
	}
	if err != nil {
		return nil, nil, err
	}
	return d, scopesFor(c, params["scope"], d), nil
}

// authorizationServer returns the one that the entry names, else the one that the server
// does. metadata is where the server's are, "" for the known places.
func (a *Authorizer) authorizationServer(ctx context.Context, g *guard, metadata string) (*discovered, error) {
	c := &a.o.Config
	if c.Named() == "" {
		return g.discover(ctx, a.o.Server, metadata)
	}
	res, err := g.resourceOf(ctx, a.o.Server, metadata)
	if _, none := errors.AsType[noOAuth](err); err != nil && !none {
		return nil, err
	}
	if res == nil {
		res = &resource{Resource: Canonical(a.o.Server)}
		if c.TokenEndpoint != "" { // not every one that is older than RFC 8707 lets it be
			res.Resource = ""
		}
	}
	if c.Issuer != "" && len(res.Issuers) > 0 && !slices.Contains(res.Issuers, c.Issuer) {
		return nil, fmt.Errorf("the server names %s, and the entry's issuer is %s", clip(strings.Join(res.Issuers, ", ")), c.Issuer)
	}
	d, err := namedIssuer(ctx, c, g.clear)
	if err != nil {
		return nil, err
	}
	d.resource = *res
	return d, nil
}

// namedIssuer returns the authorization server that the entry names, and the client for
// it. What the entry names may be as far inside the network as the entry says; what that
// names may not be further inside. clear is a host that http is allowed to.
func namedIssuer(ctx context.Context, c *authconfig.Config, clear string) (*discovered, error) {
	guardOf := func(at string) (*guard, error) {
		u, err := (&guard{clear: clear}).safe(at)
		if err != nil {
			return nil, fmt.Errorf("auth: %w", err)
		}
		g := newGuard(ctx, u)
		g.clear = clear
		return g, nil
	}
	d := &discovered{byEntry: true}
	if c.TokenEndpoint != "" && (c.AuthorizationEndpoint != "" || !needsPerson(c)) {
		d.issuer = issuer{Issuer: c.Named(), Challenges: []string{"S256"}}
		d.anonymous = c.Issuer == ""
	} else {
		g, err := guardOf(c.Issuer)
		if err != nil {
			return nil, err
		}
		iss, err := g.issuerOf(ctx, c.Issuer)
		if err != nil {
			return nil, err
		}
		d.issuer, d.guard = *iss, g
	}
	if c.AuthorizationEndpoint != "" {
		if _, err := guardOf(c.AuthorizationEndpoint); err != nil {
			return nil, err
		}
		d.Authorization = c.AuthorizationEndpoint
	}
	if c.TokenEndpoint != "" {
		var err error
		if d.guard, err = guardOf(c.TokenEndpoint); err != nil {
			return nil, err
		}
		d.Token = c.TokenEndpoint
	}
	return d, nil
}

// UnnamedError is that the entry has a secret for an authorization server, and does not
// say which: whoever the server names might be anybody.
type UnnamedError struct {
	// Issuer is the one that the server names, "" for none.
	Issuer string
}

// newUnnamed returns the error for a server that names an issuer. One that is not plain in
// a command, which a reader may run as it is, counts as none.
func newUnnamed(issuer string) *UnnamedError {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(":/._~%-", r)
	}
	if len(issuer) > 200 || strings.ContainsFunc(issuer, odd) {
		return &UnnamedError{}
	}
	return &UnnamedError{Issuer: issuer}
}

// Error says what is not sent.
func (*UnnamedError) Error() string {
	return "the secret in the entry's auth goes only to an authorization server that the entry names, and it names none"
}

// member returns the member of auth that is missing, its value as far as it is known, and
// whose it is.
func (e *UnnamedError) member() (name, value, whose string) {
	if e.Issuer == "" {
		return "tokenEndpoint", "https://…", "where the one that knows the client issues tokens"
	}
	return "issuer", e.Issuer, "if this is who knows the client"
}

// hint returns what to write where, for a server by its name or its address.
func (e *UnnamedError) hint(server string) string {
	name, value, whose := e.member()
	line := fmt.Sprintf("%q: %q", name, value)
	if strings.Contains(server, "://") {
		return "add " + line + " to --auth, " + whose
	}
	command, _ := e.Fix(server)
	return "write " + line + " into its auth in servers.json, " + whose + ": " + command
}

// Fix returns the command that names the authorization server of a server in servers.json,
// and what to know before it is run.
func (e *UnnamedError) Fix(server string) (command, remark string) {
	name, value, whose := e.member()
	return "mcpctl config set " + server + ".auth." + name + " " + value, whose
}
