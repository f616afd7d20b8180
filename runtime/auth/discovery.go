package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// resource is what a server says of itself (RFC 9728).
type resource struct {
	Resource string   `json:"resource"`
	Issuers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
	Bound    bool     `json:"dpop_bound_access_tokens_required"`
}

// issuer is the metadata of an authorization server (RFC 8414, OpenID Discovery).
type issuer struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Registration  string   `json:"registration_endpoint"`
	Revocation    string   `json:"revocation_endpoint"`
	Device        string   `json:"device_authorization_endpoint"`
	Scopes        []string `json:"scopes_supported"`
	Challenges    []string `json:"code_challenge_methods_supported"`
	TokenAuth     []string `json:"token_endpoint_auth_methods_supported"`
	Grants        []string `json:"grant_types_supported"`
	SaysIssuer    bool     `json:"authorization_response_iss_parameter_supported"`
	Documents     bool     `json:"client_id_metadata_document_supported"`
	Proofs        []string `json:"dpop_signing_alg_values_supported"`
}

// discovered is who authorizes access to a server.
type discovered struct {
	resource resource
	issuer
	// guard is the client for what it names.
	guard *guard
	// guessed: nobody has named it, and it has no metadata. anonymous: the entry has its
	// endpoints, and nothing says what it calls itself.
	guessed, anonymous bool
	// byEntry: the entry names it, so that it may get what is the entry's.
	byEntry bool
}

// discover finds out who authorizes access to a server, from its challenge or
// without it (protocol: 2025-11-25, Authorization Server Discovery).
func (g *guard) discover(ctx context.Context, server *url.URL, metadata string) (*discovered, error) {
	res, err := g.resourceOf(ctx, server, metadata)
	if err != nil {
		return nil, err
	}
	if res == nil { // 2025-03-26: the server's origin is the authorization server
		iss, guessed, err := g.legacyIssuer(ctx, server)
		if err != nil {
			return nil, err
		}
		return &discovered{resource: resource{Resource: Canonical(server)}, issuer: *iss, guard: g, guessed: guessed}, nil
	}
	var failure error
	for _, id := range res.Issuers {
		iss, err := g.issuerOf(ctx, id)
		if err == nil {
			return &discovered{resource: *res, issuer: *iss, guard: g}, nil
		}
		failure = both(failure, err)
	}
	if failure == nil {
		failure = noOAuth{errors.New("the server names no authorization server")}
	}
	return nil, failure
}

// both returns two errors in one line, and the second where the first is nil.
func both(a, b error) error {
	if a == nil {
		return b
	}
	return fmt.Errorf("%w; %w", a, b)
}

// Canonical returns a server's address as the resource that tokens are for (RFC 8707):
// lower-case scheme and host, no fragment, no slash at the end.
func Canonical(server *url.URL) string {
	u := *server
	u.Scheme, u.Host, u.Fragment, u.RawFragment, u.User = strings.ToLower(u.Scheme), strings.ToLower(u.Host), "", "", nil
	if u.Scheme == "https" {
		u.Host = strings.TrimSuffix(u.Host, ":443")
	} else {
		u.Host = strings.TrimSuffix(u.Host, ":80")
	}
	return strings.TrimSuffix(u.String(), "/")
}

// resourceOf reads the protected resource metadata, nil where there is none.
func (g *guard) resourceOf(ctx context.Context, server *url.URL, metadata string) (*resource, error) {
	places := []string{}
	if metadata != "" {
		places = append(places, metadata)
	} else {
		if path := strings.TrimSuffix(server.EscapedPath(), "/"); path != "" {
			places = append(places, wellKnown(server, "oauth-protected-resource", path))
		}
		places = append(places, wellKnown(server, "oauth-protected-resource", ""))
	}
	for i, place := range places {
		var res resource
		found, err := g.document(ctx, place, &res)
		switch {
		case err != nil && metadata != "":
			return nil, fmt.Errorf("protected resource metadata: %w", err)
		case err != nil || !found:
			if metadata != "" {
				return nil, noOAuth{fmt.Errorf("protected resource metadata: there is none at %s", clip(place))}
			}
			continue
		}
		root := metadata == "" && i == len(places)-1
		if err := matches(res.Resource, server, root || metadata != ""); err != nil {
			return nil, err
		}
		return &res, nil
	}
	return nil, nil
}

// matches checks whom metadata is about: the server itself, or its origin where the
// document is the origin's.
func matches(name string, server *url.URL, orOrigin bool) error {
	u, err := url.Parse(name)
	if err == nil && name != "" {
		plain := *server
		u.RawQuery, plain.RawQuery = "", "" // no metadata is about a query
		got, want := Canonical(u), Canonical(&plain)
		if got == want || orOrigin && strings.HasPrefix(want+"/", got+"/") {
			return nil
		}
	}
	return fmt.Errorf("the protected resource metadata is about %q, not about %s", clip(name), Canonical(server))
}

// wellKnown inserts a well-known name before a path (RFC 8615).
func wellKnown(base *url.URL, name, path string) string {
	return base.Scheme + "://" + base.Host + "/.well-known/" + name + path
}

// issuerOf reads the metadata of an authorization server.
func (g *guard) issuerOf(ctx context.Context, id string) (*issuer, error) {
	raw, err := g.metadataOf(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("authorization server: %w", err)
	}
	var iss issuer
	if err := json.Unmarshal(raw, &iss); err != nil {
		return nil, fmt.Errorf("authorization server: the metadata of %s: %w", clip(id), err)
	}
	return &iss, g.check(ctx, &iss)
}

// metadataOf returns the metadata of an authorization server, from where RFC 8414 and
// OpenID have it.
func (g *guard) metadataOf(ctx context.Context, id string) (json.RawMessage, error) {
	base, err := g.safe(id)
	if err != nil {
		return nil, err
	}
	path := strings.TrimSuffix(base.EscapedPath(), "/")
	places := []string{wellKnown(base, "oauth-authorization-server", path), wellKnown(base, "openid-configuration", path)}
	if path != "" {
		places = append(places, base.Scheme+"://"+base.Host+path+"/.well-known/openid-configuration")
	}
	var failure error
	for _, place := range places {
		var raw json.RawMessage
		found, err := g.document(ctx, place, &raw)
		if err != nil {
			failure = both(failure, err)
			continue
		}
		if !found {
			continue
		}
		var named struct {
			Issuer string `json:"issuer"`
		}
		_ = json.Unmarshal(raw, &named) // of anything else the name is ""
		if named.Issuer == id {
			return raw, nil
		}
		failure = both(failure, fmt.Errorf("%s says that it is %q", clip(id), clip(named.Issuer)))
	}
	if failure == nil {
		failure = noOAuth{fmt.Errorf("%s has no metadata", clip(id))}
	}
	return nil, failure
}

// check refuses an authorization server that cannot be used safely.
func (g *guard) check(ctx context.Context, iss *issuer) error {
	for what, at := range map[string]string{
		"authorization": iss.Authorization, "token": iss.Token, "registration": iss.Registration, "revocation": iss.Revocation, "device": iss.Device,
	} {
		if at == "" {
			continue
		}
		if _, err := g.safe(at); err != nil {
			return fmt.Errorf("authorization server %s: %s endpoint: %w", iss.Issuer, what, err)
		}
	}
	if page, err := url.Parse(iss.Authorization); err == nil && page.Host != "" {
		if err := g.mayBeShown(ctx, page); err != nil {
			return fmt.Errorf("authorization server %s: authorization endpoint: %w", iss.Issuer, err)
		}
	}
	if iss.Token == "" {
		return fmt.Errorf("authorization server %s has no token endpoint", iss.Issuer)
	}
	return nil
}

// takesCodes reports whether the authorization code grant can be used: with PKCE.
func (iss *issuer) takesCodes() error {
	switch {
	case iss.Authorization == "":
		return fmt.Errorf("authorization server %s has no authorization endpoint", iss.Issuer)
	case !slices.Contains(iss.Challenges, "S256"):
		return fmt.Errorf("authorization server %s does not say that it supports PKCE with S256", iss.Issuer)
	}
	return nil
}

// legacyIssuer returns the authorization server of a server of 2025-03-26: its origin,
// with metadata or, guessed, the paths that the specification names.
func (g *guard) legacyIssuer(ctx context.Context, server *url.URL) (iss *issuer, guessed bool, err error) {
	base := server.Scheme + "://" + server.Host
	if _, err := g.safe(base); err != nil {
		return nil, false, err
	}
	iss = &issuer{}
	found, err := g.document(ctx, base+"/.well-known/oauth-authorization-server", iss)
	if err == nil && found {
		if strings.TrimSuffix(iss.Issuer, "/") != base {
			return nil, false, fmt.Errorf("authorization server: %s says that it is %q", base, clip(iss.Issuer))
		}
		return iss, false, g.check(ctx, iss)
	}
	return &issuer{
		Issuer: base, Authorization: base + "/authorize", Token: base + "/token", Registration: base + "/register",
		Challenges: []string{"S256"},
	}, true, nil
}

// document reads a JSON document; false where there is none.
func (g *guard) document(ctx context.Context, place string, into any) (bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return false, err
	}
	status, _, body, err := g.do(req)
	switch {
	case err != nil:
		return false, err
	case status >= 500:
		return false, fmt.Errorf("%s: HTTP %d", clip(place), status)
	case status != http.StatusOK:
		return false, nil
	}
	if err := json.Unmarshal(body, into); err != nil {
		return false, fmt.Errorf("%s is not JSON: %w", clip(place), err)
	}
	return true, nil
}
