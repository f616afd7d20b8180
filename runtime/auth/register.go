package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
)

// errNoClient is an issuer at which we cannot become known on our own.
var errNoClient = errors.New("it takes no registrations: give the id of a client that is registered there (--client-id, or clientId in the entry's auth)")

// errRegister is an issuer that does not register us.
var errRegister = errors.New("cannot register")

// clientFor returns how we are known to an issuer: pre-registered, by a Client ID
// Metadata Document, or registered now or before (2025-11-25, Client Registration).
func (f *flow) clientFor(ctx context.Context, iss *issuer, redirect string) (tokenstore.Client, error) {
	c := f.config
	switch {
	case c.ClientID != "":
		return tokenstore.Client{Issuer: iss.Issuer, ID: c.ClientID, Secret: c.ClientSecret.Reveal(), Method: f.method(iss), Redirect: redirect}, nil
	case c.ClientMetadataURL != "" && iss.Documents:
		return tokenstore.Client{Issuer: iss.Issuer, ID: c.ClientMetadataURL, Method: methodNone, Redirect: redirect}, nil
	}
	if stored, ok := f.store.Client(iss.Issuer); ok && stored.Redirect == redirect {
		return stored, nil
	}
	if iss.Registration == "" {
		return tokenstore.Client{}, noOAuth{fmt.Errorf("authorization server %s: %w", iss.Issuer, errNoClient)}
	}
	made, err := f.guard.register(ctx, iss, redirect)
	if err != nil {
		return tokenstore.Client{}, noOAuth{err}
	}
	if err := f.store.PutClient(ctx, made); err != nil {
		f.log.Info("the registration is not kept", "err", err) // nor is the token, which is said
	}
	return made, nil
}

// method chooses how to send the entry's secret.
func (f *flow) method(iss *issuer) string {
	secret := !f.config.ClientSecret.IsZero()
	switch {
	case secret && f.config.AuthStyle == authconfig.AuthStyleHeader:
		return methodBasic
	case secret && f.config.AuthStyle == authconfig.AuthStyleBody:
		return methodPost
	}
	return iss.methodFor(secret)
}

// methodFor chooses how to say who we are, of what the issuer takes.
func (iss *issuer) methodFor(secret bool) string {
	takes := iss.TokenAuth
	if len(takes) == 0 {
		takes = []string{methodBasic} // RFC 8414, 2
	}
	switch {
	case !secret:
		return methodNone
	case slices.Contains(takes, methodBasic) || !slices.Contains(takes, methodPost):
		return methodBasic
	}
	return methodPost
}

// register makes us known to an issuer (RFC 7591).
func (g *guard) register(ctx context.Context, iss *issuer, redirect string) (tokenstore.Client, error) {
	method := methodNone
	if len(iss.TokenAuth) > 0 && !slices.Contains(iss.TokenAuth, methodNone) {
		method = iss.methodFor(true)
	}
	grants := []string{"authorization_code", "refresh_token"}
	if slices.Contains(iss.Grants, grantTypeDevice) {
		grants = append(grants, grantTypeDevice)
	}
	kind := "native"
	if strings.HasPrefix(redirect, "https://") { // of serve, not of this machine
		kind = "web"
	}
	body, err := json.Marshal(map[string]any{
		"client_name": "mcpctl", "application_type": kind, "redirect_uris": []string{redirect},
		"grant_types": grants, "response_types": []string{"code"},
		"token_endpoint_auth_method": method,
	})
	if err != nil {
		return tokenstore.Client{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, iss.Registration, bytes.NewReader(body))
	if err != nil {
		return tokenstore.Client{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	status, _, raw, err := g.do(req)
	if err != nil {
		return tokenstore.Client{}, fmt.Errorf("%w with %s: %w", errRegister, iss.Issuer, err)
	}
	if status/100 != 2 {
		return tokenstore.Client{}, fmt.Errorf("%w with %s: %w", errRegister, iss.Issuer, refusalOf(status, raw))
	}
	var made struct {
		ID      string `json:"client_id"`
		Secret  string `json:"client_secret"`
		Method  string `json:"token_endpoint_auth_method"`
		Expires int64  `json:"client_secret_expires_at"`
	}
	if err := json.Unmarshal(raw, &made); err != nil || made.ID == "" {
		return tokenstore.Client{}, fmt.Errorf("%w with %s: the answer has no client_id", errRegister, iss.Issuer)
	}
	c := tokenstore.Client{Issuer: iss.Issuer, ID: made.ID, Secret: made.Secret, Method: made.Method, Redirect: redirect, Registered: time.Now().UTC().Truncate(time.Second)}
	if c.Method == "" {
		c.Method = method
	}
	if made.Expires > 0 {
		c.Expires = time.Unix(made.Expires, 0)
	}
	return c, nil
}

// knownTime is for how long a registration is taken to hold without being looked at.
const knownTime = time.Hour

// stillKnown returns an error where an issuer refuses the page of a login, which it does
// where it has forgotten the client: the browser would show that, and never come back
// (RFC 6749, 4.1.2.1). What cannot be asked for is taken for known.
func (g *guard) stillKnown(ctx context.Context, page string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return err
	}
	c := *g.client
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := c.Do(req)
	if err != nil {
		return nil //nolint:nilerr // the browser may reach it
	}
	_ = resp.Body.Close()
	if s := resp.StatusCode; s == http.StatusBadRequest || s == http.StatusUnauthorized {
		return &OAuthError{Code: "invalid_client", Description: "it refuses the page to log in on", Status: s}
	}
	return nil
}

// redirectPort returns the port of a redirect to this machine, "" for none.
func redirectPort(redirect string) string {
	u, err := url.Parse(redirect)
	if err != nil {
		return ""
	}
	return u.Port()
}
