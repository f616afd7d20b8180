package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/jwt"
	"github.com/mcpctl/mcpctl/internal/authn"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/runtime/auth"
)

const sentInClear = "tokens are sent without TLS: set serve.tls in config.yaml, or put a proxy with TLS in front"

// issuers are those whose tokens a serve accepts. The zero value is none.
type issuers struct {
	providers []authn.Provider
	// resource is what serve is called in tokens: its URL.
	resource string
	names    []string // of the issuers
	scopes   []string
	runs     []func(context.Context)
	failures []func() error
}

// problems returns whose tokens cannot be checked as they are now, and why.
func (i *issuers) problems() (all []string) {
	for at, failure := range i.failures {
		if err := failure(); err != nil {
			all = append(all, i.names[at]+": "+err.Error())
		}
	}
	return all
}

// openIssuers returns the issuers of the settings. endpoint is the URL that serve listens
// at.
func (g *gateway) openIssuers(endpoint string) (*issuers, error) {
	a := g.h.Settings.Serve.Access
	all := a.Providers.Issuers()
	i := &issuers{}
	if len(all) == 0 {
		return i, nil
	}
	var err error
	if i.resource, err = g.resource(endpoint); err != nil {
		return nil, err
	}
	for _, one := range all {
		i.names = append(i.names, one.Issuer)
		i.scopes = append(i.scopes, one.Scopes...)
	}
	slices.Sort(i.scopes)
	i.scopes = slices.Compact(i.scopes)
	if err := i.openJWT(g, a.Providers.JWT); err != nil {
		return nil, err
	}
	if x := a.Providers.Introspect; x != nil {
		return i, i.openIntrospect(g, x)
	}
	return i, nil
}

// resource returns what serve is called in tokens: the URL of the settings, or the one
// that it listens at if clients on this machine alone reach that.
func (g *gateway) resource(endpoint string) (string, error) {
	if set := g.h.Settings.Serve.Access.URL; set != "" {
		return set, nil
	}
	host, _, err := net.SplitHostPort(g.o.HTTP)
	if err != nil || !IsLoopback(host) { // without an address it is a socket
		return "", &ui.Error{
			Kind: "config", Err: errors.New("serve.url is missing: the tokens of an issuer are for a URL, and serve does not know the one that clients use"),
			Remedy: "add url: https://NAME/mcp below serve in config.yaml, with the name that clients use",
		}
	}
	return endpoint, nil
}

func (i *issuers) openJWT(g *gateway, all []*settings.JWTProvider) error {
	var accepted []*jwt.Issuer
	for _, x := range all {
		publisher, err := auth.NewMetadataClient(cmp.Or(x.JWKS, x.Issuer.Issuer)) // the keys may be further inside
		if err != nil {
			return issuerError("jwt", err)
		}
		keys := jwt.NewKeySource(x.Issuer.Issuer, jwt.FetchKeys(publisher, x.JWKS), g.h.Log)
		i.runs, i.failures = append(i.runs, keys.Run), append(i.failures, keys.Failure)
		accepted = append(accepted, jwt.NewIssuer(rulesOf("jwt", x.Issuer, i.resource), keys))
	}
	if accepted != nil {
		i.providers = append(i.providers, jwt.New("jwt", accepted...))
	}
	return nil
}

func (i *issuers) openIntrospect(g *gateway, x *settings.IntrospectProvider) error {
	publisher, err := auth.NewMetadataClient(x.Endpoint)
	if err != nil {
		return issuerError("introspect", err)
	}
	password, err := clientSecret("serve.auth: introspect.clientSecret", x.ClientSecret, g.h.Getenv)
	if err != nil {
		return err
	}
	ask := func(ctx context.Context, token string) (int, []byte, error) {
		form := url.Values{"token": {token}, "token_type_hint": {"access_token"}}
		return publisher.Ask(ctx, x.Endpoint, x.ClientID, password, form)
	}
	p := authn.NewIntrospection(rulesOf("introspect", x.Issuer, i.resource), ask, g.h.Log)
	i.runs, i.failures, i.providers = append(i.runs, p.Run), append(i.failures, p.Failure), append(i.providers, p)
	return nil
}

func issuerError(kind string, err error) error {
	return &ui.Error{Kind: "config", Err: fmt.Errorf("serve.auth: %s: %w", kind, err), Remedy: "issuer, jwks and endpoint are https URLs, or http on this machine"}
}

// rulesOf returns what the tokens of an issuer must have to let somebody into a resource.
func rulesOf(kind string, i settings.Issuer, resource string) jwt.Rules {
	return jwt.Rules{
		Kind: kind, Issuer: i.Issuer, Audiences: append([]string{resource}, i.Audiences...), Scopes: i.Scopes,
		Subject: i.SubjectClaim, Client: i.ClientClaim, Groups: i.GroupsClaim, Name: i.Name, GroupPrefix: i.GroupPrefix,
		EmailDomains: i.EmailDomains, Tags: i.Tags,
	}
}

// metadataPath is where metadata of protected resources is (RFC 9728, 3).
const metadataPath = "/.well-known/oauth-protected-resource"

// metadataURL returns where the metadata of a resource is: its path follows the
// well-known one.
func metadataURL(resource string) string {
	u, err := url.Parse(resource)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host + metadataPath + u.EscapedPath()
}

// clientSecret returns the secret that a setting names as ${VARIABLE}.
func clientSecret(setting, value string, getenv func(string) string) (secret.Text, error) {
	name := strings.TrimSuffix(strings.TrimPrefix(value, "${"), "}")
	text := secret.New(getenv(name))
	if text.IsZero() {
		return text, &ui.Error{Kind: "config", Err: fmt.Errorf("%s: the variable %s is not set", setting, name), Remedy: "export " + name + "=…"}
	}
	if why := access.WeakSecret(text.Reveal()); why != "" {
		return text, &ui.Error{Kind: "config", Err: fmt.Errorf("%s: the value of %s can be guessed: %s", setting, name, why), Remedy: "have the issuer make a new secret, such as: openssl rand -hex 32"}
	}
	return text, nil
}
