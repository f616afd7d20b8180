package authn

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/secret"
)

// OpenIDConfig is an OpenID provider and a client that is registered there.
type OpenIDConfig struct {
	// Issuer is the provider's identifier, compared exactly.
	Issuer, ClientID string
	// ClientSecret is empty for a public client.
	ClientSecret secret.Text
	// Scopes are asked for beside openid.
	Scopes []string
}

// OpenID logs people in at an OpenID provider, for pages of serve: the authorization code
// flow with PKCE, a state and a nonce (OpenID Connect Core, 3.1). The provider and its
// endpoints are those of the settings and of its discovery document: no browser can have
// serve ask another. Its methods may be called concurrently.
type OpenID struct {
	config  OpenIDConfig
	known   discovery
	client  *http.Client
	waiting chan struct{} // a place for each exchange of a code that is under way
}

// maxExchanges bounds how many codes are exchanged at once. Anybody can come with one
// that is wrong; further ones are refused with [ErrUnavailable].
const maxExchanges = 16

// NewOpenID returns a party, and asks nobody.
func NewOpenID(c OpenIDConfig) *OpenID {
	client := newClient()
	return &OpenID{config: c, client: client, known: discovery{issuer: c.Issuer, client: client}, waiting: make(chan struct{}, maxExchanges)}
}

// Issuer returns the provider's identifier.
func (p *OpenID) Issuer() string { return p.config.Issuer }

// LoginAttempt is a login that has begun. All of it but State is secret: it belongs into a
// sealed cookie of the browser that has begun it.
type LoginAttempt struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
	// Redirect is where the browser comes back to.
	Redirect string `json:"r"`
}

var (
	// ErrUnavailable is that the provider cannot be asked now.
	ErrUnavailable = errors.New("the login provider cannot be reached now")
	// ErrState is an answer to no login of this browser.
	ErrState = errors.New("this answer belongs to no login of this browser")
	// ErrIssuer is an answer of another provider (RFC 9207).
	ErrIssuer = errors.New("the answer is not of the login provider")
	// ErrRefused is that the provider does not log the person in.
	ErrRefused = errors.New("the login provider has refused the login")
	// ErrToken is an ID token that proves nothing.
	ErrToken = errors.New("the login provider's answer is not valid")
)

// Start returns the provider's page to log in on, and what Finish needs. Its error
// matches [ErrUnavailable].
func (p *OpenID) Start(ctx context.Context, redirect string) (page string, a LoginAttempt, err error) {
	d, err := p.known.get(ctx)
	if err != nil {
		return "", a, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	a = LoginAttempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Redirect: redirect}
	return p.oauth(d, redirect).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), a, nil
}

// Finish returns the claims of who has logged in, as JSON, by the query that the browser
// has come back with. Its error matches one of those of this package; the rest of its
// text is for logs.
func (p *OpenID) Finish(ctx context.Context, a LoginAttempt, query url.Values) ([]byte, error) {
	if a.State == "" || len(query["state"]) != 1 || subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(a.State)) != 1 {
		return nil, ErrState
	}
	d, err := p.known.get(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	// RFC 9207, before anything else of the answer is used or shown.
	iss := query["iss"]
	if len(iss) > 1 || len(iss) == 1 && iss[0] != p.config.Issuer || len(iss) == 0 && d.saysIssuer {
		return nil, ErrIssuer
	}
	if code := query.Get("error"); code != "" {
		return nil, fmt.Errorf("%w: %q", ErrRefused, clip(code))
	}
	if len(query["code"]) != 1 || query.Get("code") == "" {
		return nil, ErrState
	}
	raw, err := p.exchange(ctx, d, a, query.Get("code"))
	if err != nil {
		return nil, err
	}
	return p.claims(ctx, d, raw, a.Nonce)
}

// exchange returns the tokens for a code.
func (p *OpenID) exchange(ctx context.Context, d *discovered, a LoginAttempt, code string) (*oauth2.Token, error) {
	select {
	case p.waiting <- struct{}{}:
		defer func() { <-p.waiting }()
	default:
		return nil, fmt.Errorf("%w: too many logins at once", ErrUnavailable)
	}
	token, err := p.oauth(d, a.Redirect).Exchange(oidc.ClientContext(ctx, p.client), code, oauth2.VerifierOption(a.Verifier))
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok { // its text has the provider's answer
		if refused.Response != nil && refused.Response.StatusCode >= http.StatusInternalServerError {
			return nil, fmt.Errorf("%w: %s", ErrUnavailable, refused.Response.Status)
		}
		return nil, fmt.Errorf("%w: %q", ErrRefused, clip(refused.ErrorCode))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrUnavailable, clip(err.Error()))
	}
	return token, nil
}

// algorithms are those that ID tokens may be signed with.
func algorithms() []string {
	return []string{oidc.ES256, oidc.ES384, oidc.EdDSA, oidc.PS256, oidc.RS256}
}

// claims returns what the ID token says, once it proves who has logged in (OpenID
// Connect Core, 3.1.3.7).
func (p *OpenID) claims(ctx context.Context, d *discovered, token *oauth2.Token, nonce string) ([]byte, error) {
	raw, ok := token.Extra("id_token").(string)
	if !ok || raw == "" {
		return nil, fmt.Errorf("%w: no ID token", ErrToken)
	}
	t, err := d.provider.Verifier(&oidc.Config{ClientID: p.config.ClientID, SupportedSigningAlgs: algorithms()}).Verify(oidc.ClientContext(ctx, p.client), raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrToken, clip(err.Error()))
	}
	var party struct {
		Authorized *string `json:"azp"`
	}
	var claims rawJSON
	switch err := errors.Join(t.Claims(&party), t.Claims(&claims)); {
	case err != nil:
		return nil, fmt.Errorf("%w: %s", ErrToken, clip(err.Error()))
	case t.Subject == "":
		return nil, fmt.Errorf("%w: no subject", ErrToken)
	case subtle.ConstantTimeCompare([]byte(t.Nonce), []byte(nonce)) != 1:
		return nil, fmt.Errorf("%w: the nonce is another", ErrToken)
	case party.Authorized == nil && len(t.Audience) > 1, party.Authorized != nil && *party.Authorized != p.config.ClientID:
		return nil, fmt.Errorf("%w: it was made for another client", ErrToken)
	}
	if t.AccessTokenHash != "" {
		if err := t.VerifyAccessToken(token.AccessToken); err != nil {
			return nil, fmt.Errorf("%w: %s", ErrToken, clip(err.Error()))
		}
	}
	return claims, nil
}

// rawJSON keeps the text that it is read from.
type rawJSON []byte

// UnmarshalJSON implements [json.Unmarshaler].
func (r *rawJSON) UnmarshalJSON(b []byte) error {
	*r = slices.Clone(b)
	return nil
}

// oauth returns how the provider is spoken to.
func (p *OpenID) oauth(d *discovered, redirect string) *oauth2.Config {
	scopes := []string{oidc.ScopeOpenID}
	for _, s := range p.config.Scopes {
		if !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	endpoint := d.provider.Endpoint()
	if endpoint.AuthStyle = d.style; p.config.ClientSecret.IsZero() {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{ClientID: p.config.ClientID, ClientSecret: p.config.ClientSecret.Reveal(), RedirectURL: redirect, Scopes: scopes, Endpoint: endpoint}
}

// clip bounds a text of a provider's, or of a browser's, and makes it safe to print.
func clip(text string) string {
	return plain.Line(strings.ToValidUTF8(plain.Clip(text, 200), ""))
}
