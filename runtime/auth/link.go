package auth

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// Linking is an account that a person links with a server, until their browser is back
// from the authorization server.
type Linking struct {
	// Page is where the browser goes, State what it comes back with.
	Page, State string
	f           *flow
	b           *begun
}

// Account is what a person is told before they link an account: who issues the tokens,
// and the scopes that are asked for, nil where the issuer decides.
type Account struct {
	Issuer string
	Scopes []string
}

// Linker links accounts with a server. Its methods may be called concurrently.
type Linker struct{ a *Authorizer }

// NewLinker returns what links accounts with the server of an authorizer, whose
// credentials they are from then on.
func NewLinker(a *Authorizer) *Linker { return &Linker{a} }

// Host returns the host of the server.
func (l *Linker) Host() string { return l.a.o.Server.Host }

// Resource returns what the server's tokens are kept under.
func (l *Linker) Resource() string { return Canonical(l.a.o.Server) }

// Account returns what is linked with the server. challenge is the header with which it
// has refused the principal, "" to ask for one.
func (l *Linker) Account(ctx context.Context, challenge string) (Account, error) {
	_, d, scopes, err := l.whoAuthorizes(ctx, challenge)
	if err != nil {
		return Account{}, err
	}
	return Account{d.Issuer, scopes}, nil
}

// Start begins to link an account. The browser comes back to redirectURI.
func (l *Linker) Start(ctx context.Context, challenge, redirectURI string) (*Linking, error) {
	f, d, scopes, err := l.whoAuthorizes(ctx, challenge)
	if err != nil {
		return nil, err
	}
	if err := d.takesCodes(); err != nil {
		return nil, err
	}
	if err := f.bind(d); err != nil {
		return nil, err
	}
	for again := true; ; again = false {
		before, _ := f.store.Client(d.Issuer)
		b, err := f.begin(ctx, d, scopes, redirectURI)
		if err != nil {
			return nil, err
		}
		err = f.checkKnown(ctx, b, before)
		if err == nil {
			return &Linking{Page: b.page, State: b.state, f: f, b: b}, nil
		}
		if err := f.store.DropClient(ctx, d.Issuer); err != nil || !again {
			return nil, errAgain
		}
	}
}

// Finish takes the query that the browser has come back with, and keeps the tokens.
// It may be called once.
func (l *Linker) Finish(ctx context.Context, of *Linking, query url.Values) error {
	got, err := readRedirect(query, of.State)
	if err != nil {
		return err
	}
	t, err := of.f.finish(ctx, of.b, got)
	if hasCode(err, "invalid_client", "unauthorized_client") && of.f.config.ClientID == "" {
		if dropped := of.f.store.DropClient(ctx, of.b.d.Issuer); dropped != nil {
			l.a.o.Logger.Info("a registration that has ended is not removed", "err", dropped)
		}
	}
	if err != nil {
		return err
	}
	t.Key = of.f.key
	l.a.init.Do(l.a.load)
	l.a.keep(ctx, t)
	return nil
}

// whoAuthorizes finds out who authorizes access to the server, and what to ask for.
func (l *Linker) whoAuthorizes(ctx context.Context, challenge string) (*flow, *discovered, []string, error) {
	a := l.a
	if a.insecure() {
		return nil, nil, nil, errInsecure
	}
	if challenge == "" {
		challenge = a.guard(ctx).challengeOf(ctx, a.o.Server)
	}
	params := bearerOf([]string{challenge})
	d, asked, err := a.discover(ctx, params)
	if err != nil {
		return nil, nil, nil, err
	}
	if wantsMore(params) {
		a.init.Do(a.load)
		asked = union(a.token().Scopes, asked)
	}
	return &flow{server: a.o.Server, config: a.o.Config, store: a.o.Clients, guard: d.guard, log: a.o.Logger, principal: a.o.Principal}, d, asked, nil
}

// challengeOf returns the challenge with which a server refuses a request without
// credentials, "" for none.
func (g *guard) challengeOf(ctx context.Context, server *url.URL) string {
	req, err := newPing(ctx, server)
	if err != nil {
		return ""
	}
	status, header, _, err := g.do(req)
	if err != nil || status != http.StatusUnauthorized {
		return ""
	}
	return strings.Join(header.Values("Www-Authenticate"), ", ")
}
