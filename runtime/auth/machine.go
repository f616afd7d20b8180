package auth

import (
	"cmp"
	"context"
	"crypto"
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
)

//nolint:gosec // names of the protocol
const (
	grantTypeJWTBearer     = "urn:ietf:params:oauth:grant-type:jwt-bearer"     // RFC 7523
	grantTypeTokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange" // RFC 8693
	tokenTypeIDJAG         = "urn:ietf:params:oauth:token-type:id-jag"
	tokenTypeID            = "urn:ietf:params:oauth:token-type:id_token"
	assertionType          = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
)

// asking adds who we are, and asks for a token that is for the server.
func (f *flow) asking(ctx context.Context, d *discovered, scopes []string, form url.Values) (tokenstore.Token, error) {
	res := cmp.Or(f.config.Resource, d.resource.Resource)
	setGiven(form, "resource", res)
	setGiven(form, "audience", f.config.Audience)
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	client := f.ownClient(&d.issuer)
	sign, err := f.signer(&d.issuer)
	if err != nil {
		return tokenstore.Token{}, err
	}
	if sign != nil {
		client.Method, client.Secret = methodJWT, ""
	}
	a, err := f.guard.request(ctx, grant{endpoint: d.Token, form: form, client: client, sign: sign, key: f.key, extra: f.config.ExtraParams})
	if err != nil {
		return tokenstore.Token{}, err
	}
	t := a.token(scopes)
	if form.Get("grant_type") == grantTypeTokenExchange {
		if err := a.isAccess(); err != nil {
			return tokenstore.Token{}, err
		}
	}
	t.Principal = f.principal
	// The grant is used again in the place of a refresh token.
	t.Refresh, t.Server, t.Issuer, t.Resource = "", Canonical(f.server), d.Issuer, res
	return t, nil
}

// ownClient is the client that the entry has.
func (f *flow) ownClient(iss *issuer) tokenstore.Client {
	return tokenstore.Client{Issuer: iss.Issuer, ID: f.config.ClientID, Secret: f.config.ClientSecret.Reveal(), Method: f.method(iss)}
}

func (f *flow) clientCredentials(ctx context.Context, d *discovered, scopes []string) (tokenstore.Token, error) {
	return f.asking(ctx, d, scopes, url.Values{"grant_type": {"client_credentials"}})
}

// password hands in the name and the password of a user (RFC 6749, 4.3).
func (f *flow) password(ctx context.Context, d *discovered, scopes []string) (tokenstore.Token, error) {
	return f.asking(ctx, d, scopes, url.Values{"grant_type": {"password"}, "username": {f.config.Username}, "password": {f.config.Password.Reveal()}})
}

// refreshToken hands in the refresh token that the entry has (RFC 6749, 6). What comes with
// the answer is refreshed from then on.
func (f *flow) refreshToken(ctx context.Context, d *discovered) (tokenstore.Token, error) {
	res, client := cmp.Or(f.config.Resource, d.resource.Resource), f.ownClient(&d.issuer)
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {f.config.RefreshToken.Reveal()}}
	setGiven(form, "resource", res)
	if len(f.config.Scopes) > 0 { // else those that it was given for
		form.Set("scope", strings.Join(f.config.Scopes, " "))
	}
	a, err := f.guard.request(ctx, grant{endpoint: d.Token, form: form, client: client, key: f.key, extra: f.config.ExtraParams})
	if err != nil {
		return tokenstore.Token{}, err
	}
	t := f.granted(a, d, client, res, f.config.Scopes)
	t.Refresh = cmp.Or(t.Refresh, f.config.RefreshToken.Reveal())
	return t, nil
}

// jwtBearer hands in a JWT that a platform has given to this workload (RFC 7523).
func (f *flow) jwtBearer(ctx context.Context, d *discovered, scopes []string) (tokenstore.Token, error) {
	assertion := f.config.Assertion.Reveal()
	if f.config.Each.On {
		var err error
		if assertion, err = f.assertion(f.config.Each.Subject, d.Issuer); err != nil {
			return tokenstore.Token{}, err
		}
	}
	if f.config.TokenFile != "" { // it rotates
		raw, err := atomicfile.Read(f.config.TokenFile, maxAnswer)
		if err != nil {
			return tokenstore.Token{}, fmt.Errorf("auth: tokenFile: %w", err)
		}
		assertion = strings.TrimSpace(string(raw))
	}
	return f.asking(ctx, d, scopes, url.Values{"grant_type": {grantTypeJWTBearer}, "assertion": {assertion}})
}

// enterprise exchanges the identity token of a person's employer for one that the
// server's issuer takes (Enterprise-Managed Authorization, SEP-990).
func (f *flow) enterprise(ctx context.Context, d *discovered, scopes []string) (tokenstore.Token, error) {
	idp := f.config.IDP
	endpoint := idp.TokenEndpoint
	if endpoint == "" {
		iss, err := f.guard.issuerOf(ctx, idp.Issuer)
		if err != nil {
			return tokenstore.Token{}, fmt.Errorf("auth: idp: %w", err)
		}
		endpoint = iss.Token
	}
	subject, kind := idp.IDToken, tokenTypeID
	if f.config.Each.On {
		subject, kind = f.subject, tokenTypeAccess
	}
	form := url.Values{
		"grant_type": {grantTypeTokenExchange}, "requested_token_type": {tokenTypeIDJAG}, "audience": {d.Issuer},
		"resource": {cmp.Or(f.config.Resource, d.resource.Resource)}, "subject_token": {subject.Reveal()}, "subject_token_type": {kind},
	}
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	client := tokenstore.Client{ID: idp.ClientID, Secret: idp.ClientSecret.Reveal(), Method: methodNone}
	if client.Secret != "" {
		client.Method = methodPost
	}
	a, err := f.guard.request(ctx, grant{endpoint: endpoint, form: form, client: client})
	if err != nil {
		return tokenstore.Token{}, fmt.Errorf("auth: idp: %w", err)
	}
	return f.asking(ctx, d, scopes, url.Values{"grant_type": {grantTypeJWTBearer}, "assertion": {a.Access}})
}

// signer returns what proves who we are with the configured key, nil for none
// (RFC 7523, 2.2).
func (f *flow) signer(iss *issuer) (func(url.Values) error, error) {
	if f.config.ClientKey.Text.IsZero() {
		return nil, nil
	}
	key, alg, err := f.clientKey()
	if err != nil {
		return nil, err
	}
	return func(form url.Values) error {
		jwt, err := f.sign(key, alg, f.config.ClientID, iss.Issuer)
		if err != nil {
			return err
		}
		form.Set("client_assertion_type", assertionType)
		form.Set("client_assertion", jwt)
		form.Set("client_id", f.config.ClientID)
		return nil
	}, nil
}

// assertion returns what says that we act for a subject (RFC 7523, 3).
func (f *flow) assertion(subject, audience string) (string, error) {
	key, alg, err := f.clientKey()
	if err != nil {
		return "", err
	}
	return f.sign(key, alg, subject, audience)
}

// clientKey returns the configured key and the name of its signature.
func (f *flow) clientKey() (crypto.Signer, string, error) {
	key, err := readKey(f.config.ClientKey.Text.Reveal())
	if err != nil {
		return nil, "", err
	}
	alg, err := signingAlgorithm(key, f.config.ClientKey.Alg)
	return key, alg, err
}

func (f *flow) sign(key crypto.Signer, alg, subject, audience string) (string, error) {
	now := time.Now()
	return signedJWT(key, map[string]any{"alg": alg, "typ": "JWT"}, map[string]any{
		"iss": f.config.ClientID, "sub": subject, "aud": audience, "jti": rand.Text(),
		"iat": now.Unix(), "exp": now.Add(time.Minute).Unix(),
	})
}
