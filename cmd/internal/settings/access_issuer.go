package settings

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/internal/origin"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Issuer is whose tokens are accepted, and what they must have.
type Issuer struct {
	// Issuer is the claim iss. Name stands before its groups; the host of the issuer
	// without one.
	Issuer string `yaml:"issuer"`
	Name   string `yaml:"name"`
	// Audiences are accepted beside serve.url.
	Audiences []string `yaml:"audiences"`
	Scopes    []string `yaml:"scopes"`
	// Claims with the subject, the client and the groups; "" is as package jwt says.
	SubjectClaim string `yaml:"subjectClaim"`
	ClientClaim  string `yaml:"clientClaim"`
	GroupsClaim  string `yaml:"groupsClaim"`
	// GroupPrefix is what groups begin with that count.
	GroupPrefix  string   `yaml:"groupPrefix"`
	EmailDomains []string `yaml:"emailDomains"`
	Tags         []string `yaml:"tags"`
}

// JWTProvider accepts the tokens of an issuer that are JWTs.
type JWTProvider struct {
	Issuer
	// JWKS is the URL of the issuer's keys, "" for where its metadata says.
	JWKS string `yaml:"jwks"`
}

// IntrospectProvider accepts other tokens, of which an issuer says whose they are.
type IntrospectProvider struct {
	Issuer
	// Endpoint is the URL that is asked.
	Endpoint string `yaml:"endpoint"`
	ClientID string `yaml:"clientId"`
	// ClientSecret is ${VARIABLE}.
	ClientSecret string `yaml:"clientSecret"`
}

const jwtExample = "as in jwt: {issuer: https://idp.example.com}"

func (f *file) jwtProvider(n *yaml.Node, p *Providers) error {
	x := &JWTProvider{}
	if err := f.decode("jwt", n, x, jwtExample); err != nil {
		return err
	}
	p.JWT = append(p.JWT, x)
	if x.JWKS != "" && addressFault(x.JWKS) != "" {
		return f.problemAt(n, "jwt.jwks is "+addressFault(x.JWKS), "as in jwks: https://idp.example.com/keys")
	}
	return f.issuer("jwt", n, &x.Issuer, p, jwtExample)
}

var variableName = lazy.Regexp(`^\$\{[A-Za-z_][A-Za-z0-9_]*\}$`)

func (f *file) introspectProvider(n *yaml.Node, p *Providers) error {
	const example = `as in introspect: {issuer: https://idp.example.com, endpoint: https://idp.example.com/introspect, clientId: mcpctl, clientSecret: "${IDP_SECRET}"}`
	x := &IntrospectProvider{}
	if err := f.decode("introspect", n, x, example); err != nil {
		return err
	}
	p.Introspect = x
	switch {
	case x.Endpoint == "", x.ClientID == "", x.ClientSecret == "":
		return f.problemAt(n, "introspect needs endpoint, clientId and clientSecret", example)
	case addressFault(x.Endpoint) != "":
		return f.problemAt(n, "introspect.endpoint is "+addressFault(x.Endpoint), example)
	case !variableName().MatchString(x.ClientSecret):
		return f.problemAt(n, "introspect.clientSecret is plain text", `name a variable that has it, as in clientSecret: "${IDP_SECRET}"`)
	}
	return f.issuer("introspect", n, &x.Issuer, p, example)
}

var (
	issuerName = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	scopeText  = lazy.Regexp(`^[!#-\[\]-~]+$`) // RFC 6749, 3.3
	domainName = lazy.Regexp(`^[a-z0-9-]+(\.[a-z0-9-]+)+$`)
)

// issuer checks what providers of tokens have in common.
func (f *file) issuer(kind string, n *yaml.Node, x *Issuer, p *Providers, example string) error {
	wrong := func(remedy, format string, a ...any) error {
		return f.problemAt(n, kind+fmt.Sprintf(format, a...), remedy)
	}
	if x.Issuer == "" {
		return wrong(example, " does not say whose tokens it accepts: there is no issuer")
	}
	if why := addressFault(x.Issuer); why != "" {
		return wrong(example, ".issuer is %s", why)
	}
	if x.Name == "" {
		u, _ := url.Parse(x.Issuer) // it has a host: see addressFault
		x.Name = u.Hostname()
	} else if !issuerName().MatchString(x.Name) {
		return wrong("want letters, digits, and . _ -, as in name: idp", ".name is %q", x.Name)
	}
	for _, other := range p.issuers() {
		switch {
		case other == x:
		case other.Issuer == x.Issuer:
			return wrong("remove one of the two", ".issuer is %s twice", x.Issuer)
		case other.Name == x.Name:
			return wrong("give one of them another name, as in name: other", ".name is %s for two issuers", x.Name)
		}
	}
	if i := slices.IndexFunc(x.Scopes, func(s string) bool { return !scopeText().MatchString(s) || s == "offline_access" }); i >= 0 {
		return wrong("as in scopes: [mcp]", ".scopes has %q, which no access token has", x.Scopes[i])
	}
	for i, domain := range x.EmailDomains {
		if x.EmailDomains[i] = strings.ToLower(domain); !domainName().MatchString(x.EmailDomains[i]) {
			return wrong("as in emailDomains: [example.com]", ".emailDomains has %q, which is not a domain", domain)
		}
	}
	if slices.Contains(x.Audiences, "") || slices.Contains(x.Tags, "") {
		return wrong("remove it", " has an empty text in a list")
	}
	if x.GroupPrefix != "" && x.GroupsClaim == "" {
		return wrong("as in groupsClaim: groups", " has groupPrefix, and no groups: there is no groupsClaim")
	}
	if x.SubjectClaim == "email" && len(x.EmailDomains) == 0 {
		return wrong("as in emailDomains: [example.com]: the domains whose addresses the issuer has verified", " takes the subject from email, which the issuer may not have verified")
	}
	return nil
}

// issuers returns all issuers that are there.
func (p *Providers) issuers() (all []*Issuer) {
	for _, x := range p.JWT {
		all = append(all, &x.Issuer)
	}
	if p.Introspect != nil {
		all = append(all, &p.Introspect.Issuer)
	}
	return all
}

// Issuers returns whose tokens are accepted.
func (p *Providers) Issuers() (all []Issuer) {
	for _, x := range p.issuers() {
		all = append(all, *x)
	}
	return all
}

// addressFault returns a URL and why nothing is read from it that must be right, "" for
// nothing wrong.
func addressFault(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || strings.ContainsAny(text, "|\"\\ "):
		return quote(config.DisplayURL(text)) + ", which is not a URL without user and fragment"
	case u.Scheme == "https" || u.Scheme == "http" && origin.IsLoopback(strings.ToLower(u.Hostname())):
		return ""
	}
	return quote(config.DisplayURL(text)) + ", which is neither https nor on this machine"
}

func (f *file) serveURL(n *yaml.Node, a *Access) error {
	const example = "as in url: https://mcp.example.com/mcp"
	if n.Kind != yaml.ScalarNode || n.Value == "" {
		return f.problemAt(n, "serve.url is not a URL", example)
	}
	if why := addressFault(n.Value); why != "" {
		return f.problemAt(n, "serve.url is "+why, example)
	}
	u, err := url.Parse(n.Value)
	if err != nil || u.RawQuery != "" {
		return f.problemAt(n, "serve.url has a query", example)
	}
	a.URL = auth.Canonical(u)
	a.Hosts = append(a.Hosts, u.Host)
	return nil
}
