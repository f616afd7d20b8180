package auth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
)

const (
	tokenTypeAccess = "urn:ietf:params:oauth:token-type:access_token" //nolint:gosec // a name of RFC 8693, 3
	// exchangedTime is how long an exchanged token is used whose end is not said.
	exchangedTime = 5 * time.Minute
)

// exchanges reports whether the token comes from an exchange, before the server has
// asked for any.
func exchanges(c *authconfig.Config) bool {
	return c.Each.On && c.Grant == authconfig.GrantTokenExchange
}

// exchange returns a token for that of the principal, unless somebody has got one in
// place of the one that was used.
func exchange(ctx context.Context, a *Authorizer, used string) (tokenstore.Token, error) {
	renewed := func() bool {
		now := a.token()
		return now.Access != used && !soon(now)
	}
	if renewed() {
		return a.token(), nil
	}
	handed, err := a.o.subject()
	if err != nil {
		return tokenstore.Token{}, exchangeError{err}
	}
	err = a.once(ctx, "exchange "+handed.Reveal(), renewed, func(ctx context.Context) error {
		key := a.o.exchangeKey()
		t, ok := a.o.Exchanged.Get(key, func(t tokenstore.Token) bool { return !soon(t) && t.Access != used })
		if !ok {
			var err error
			if t, err = exchangeNow(ctx, &a.o, handed); err != nil {
				return exchangeError{err}
			}
			a.o.Exchanged.Put(key, t)
		}
		a.use(t)
		return nil
	})
	if err != nil {
		return tokenstore.Token{}, err
	}
	return a.token(), nil
}

// exchangeError is that no token could be had in exchange.
type exchangeError struct{ error }

// Unwrap returns why.
func (e exchangeError) Unwrap() error { return e.error }

// ExitKind makes it an error of authorisation.
func (exchangeError) ExitKind() string { return "auth" }

// exchangeKey names what a token is exchanged for.
func (o *Options) exchangeKey() string {
	c := &o.Config
	return fmt.Sprintf("%q", append([]string{
		o.Principal, o.Name, Canonical(o.Server), c.Issuer, c.TokenEndpoint, c.ClientID, c.Resource, c.Audience, c.SubjectIssuer(),
	}, c.Scopes...))
}

// exchangeNow hands in the token of the principal for one that is for the server (RFC
// 8693). The endpoint is the entry's, or what its issuer says: the server has no say in
// who gets the token.
func exchangeNow(ctx context.Context, o *Options, handed secret.Text) (tokenstore.Token, error) {
	c := &o.Config
	d, err := namedIssuer(ctx, c, "")
	if err != nil {
		return tokenstore.Token{}, err
	}
	d.resource.Resource = Canonical(o.Server)
	f := &flow{server: o.Server, config: *c, guard: d.guard, log: o.Logger, principal: o.Principal}
	if err := f.bind(&discovered{}); err != nil {
		return tokenstore.Token{}, err
	}
	form := url.Values{
		"grant_type": {grantTypeTokenExchange}, "requested_token_type": {tokenTypeAccess},
		"subject_token": {handed.Reveal()}, "subject_token_type": {tokenTypeAccess},
	}
	if !c.Each.ActorToken.IsZero() {
		form.Set("actor_token", c.Each.ActorToken.Reveal())
		form.Set("actor_token_type", tokenTypeAccess)
	}
	t, err := f.asking(ctx, d, c.Scopes, form)
	if err != nil {
		return tokenstore.Token{}, fmt.Errorf("the token of %s cannot be exchanged: %w", o.Principal, err)
	}
	if t.Expires.IsZero() {
		t.Expires = t.Obtained.Add(exchangedTime)
	}
	t.Key = f.key
	return t, nil
}

// errNoSubject is a principal without a token that could be handed in.
var errNoSubject = errors.New("nobody is asked who they are: only mcpctl serve with serve.auth has a token to exchange")

// subject returns the token that the principal has come with.
func (o *Options) subject() (secret.Text, error) {
	if o.Subject == nil {
		return secret.Text{}, errNoSubject
	}
	want := o.Config.SubjectIssuer()
	if got, _, _ := strings.Cut(o.Principal, "|"); got != want {
		return secret.Text{}, fmt.Errorf("it takes tokens of %s, and %s has come with a credential of %s", want, o.Principal, got)
	}
	text := o.Subject()
	if text.IsZero() {
		return secret.Text{}, fmt.Errorf("%s has come without a token of %s", o.Principal, want)
	}
	return text, nil
}
