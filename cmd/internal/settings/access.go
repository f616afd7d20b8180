package settings

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Access says who may reach serve over HTTP, and how.
type Access struct {
	// Providers says which credentials are accepted.
	Providers Providers
	// TLS is how serve proves who it is.
	TLS TLS
	// URL is where clients reach serve, without a slash at its end; "" is its address.
	URL string
	// Hosts are HOST or HOST:PORT that clients reach serve by, besides its address.
	Hosts []string
	// Rules says that config.yaml has a section about who may do what: see ReadPolicies.
	Rules bool
	// Login is how people log in on the pages of serve.
	Login Login
}

// Providers are those of serve.auth, nil for one that is not there.
type Providers struct {
	// Token asks for a static token of mcpctl access token.
	Token *TokenProvider
	// MTLS accepts the certificates of clients.
	MTLS *MTLSProvider
	// JWT and Introspect accept access tokens of issuers.
	JWT        []*JWTProvider
	Introspect *IntrospectProvider
	// Proxy accepts what trusted proxies say.
	Proxy *ProxyProvider
}

// TLS are files in PEM, absolute; "" for none.
type TLS struct {
	// Cert and Key are a certificate chain and its key. Both are there or none.
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
	// ClientCA are the authorities of clients' certificates, CRL what these have
	// revoked.
	ClientCA string `yaml:"clientCA"`
	CRL      string `yaml:"crl"`
	// MinVersion is "1.3", or "1.2" for clients that have no other.
	MinVersion string `yaml:"minVersion"`
}

// Required reports whether a credential is required.
func (a Access) Required() bool { return !reflect.ValueOf(a.Providers).IsZero() }

// sections are settings that are not plain values. An unknown name below one is an
// error: what nobody reads must not seem to protect anything.
func sections() map[string]func(*file, *yaml.Node, *Access) error {
	return map[string]func(*file, *yaml.Node, *Access) error{
		HookName: func(f *file, n *yaml.Node, _ *Access) error {
			_, err := f.readHooks(n) // for what is wrong with them
			return err
		},
		accessName:    (*file).checkRules,
		"serve.auth":  (*file).serveAuth,
		"serve.hosts": (*file).serveHosts,
		"serve.login": (*file).serveLogin,
		searchName:    checkSearch,
		"serve.tls":   (*file).serveTLS,
		"serve.url":   (*file).serveURL,
	}
}

// strangers are names of other programs, and what to write instead.
func strangers() map[string]string {
	const (
		auth   = "as in serve: {auth: [token: {}]}"
		tokens = "mcpctl serve accepts the tokens of an issuer, and issues none: serve: {auth: [jwt: {issuer: https://idp.example.com}]}" //nolint:gosec // no credential
		rules  = "write rules, as in access: {rules: [{allow: alice@example.com, to: gh}]}; mcpctl policy import translates a file"
		top    = "access has no setting above it: remove the indent, or write access: {rules: …}"
	)
	return map[string]string{
		"hooks": "it belongs below serve, indented", "views": "it belongs below serve, indented", "profiles": "write views, below serve, indented", "serve.profiles": "write views: " + viewsExample,
		"provider": auth, "serve.provider": auth, "serve.descriptionTemplate": "write describe in a view, as in serve: {views: {all: {describe: \"[{server}] {description}\"}}}",
		"serverAuth": auth, "serve.serverAuth": auth, "oauthAs": tokens, "serve.oauthAs": tokens, "acl": rules, "serve.acl": rules, "serve.access": top,
	}
}

// node returns where a setting is in the file, nil for nowhere.
func (f *file) node(name string) *yaml.Node {
	if f == nil {
		return nil
	}
	return f.at[name]
}

// access reads the sections.
func (f *file) access() (a Access, err error) {
	all := sections()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if n := f.node(name); n != nil {
			if err := all[name](f, n, &a); err != nil {
				return a, err
			}
		}
	}
	return a, f.checkLogin(&a)
}

// providers are what reads each kind of provider.
func providers() map[string]func(*file, *yaml.Node, *Providers) error {
	return map[string]func(*file, *yaml.Node, *Providers) error{
		"introspect": (*file).introspectProvider,
		"jwt":        (*file).jwtProvider,
		"mtls":       (*file).mtlsProvider,
		"proxy":      (*file).proxyProvider,
		"token":      (*file).tokenProvider,
	}
}

// serveAuth reads a list of providers, each a mapping with one name.
func (f *file) serveAuth(n *yaml.Node, a *Access) error {
	const example = "as in auth: [token: {}]"
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		return f.problemAt(n, "serve.auth is no list of providers", example)
	}
	all, seen := providers(), map[string]bool{}
	for _, item := range n.Content {
		if item.Kind != yaml.MappingNode || len(item.Content) != 2 {
			return f.problemAt(item, "serve.auth has an item that is not one provider", example)
		}
		name, of := item.Content[0], item.Content[1]
		switch {
		case all[name.Value] == nil:
			return f.problemAt(name, fmt.Sprintf("unknown provider %q", name.Value), "providers are "+strings.Join(slices.Sorted(maps.Keys(all)), ", ")+", "+example)
		case seen[name.Value] && name.Value != "jwt": // there may be several issuers
			return f.problemAt(name, "serve.auth has "+name.Value+" twice", "remove one of the two")
		}
		seen[name.Value] = true
		if err := all[name.Value](f, of, &a.Providers); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) serveTLS(n *yaml.Node, a *Access) error {
	const example = "as in tls: {cert: cert.pem, key: key.pem}"
	if err := f.decode("serve.tls", n, &a.TLS, example); err != nil {
		return err
	}
	if a.TLS.Cert == "" || a.TLS.Key == "" {
		return f.problemAt(n, "serve.tls needs both cert and key", example)
	}
	if a.TLS.CRL != "" && a.TLS.ClientCA == "" {
		return f.problemAt(n, "serve.tls has crl without clientCA", "as in tls: {cert: cert.pem, key: key.pem, clientCA: ca.pem, crl: crl.pem}")
	}
	switch a.TLS.MinVersion {
	case "":
		a.TLS.MinVersion = "1.3"
	case "1.2", "1.3":
	default:
		return f.problemAt(n, "serve.tls.minVersion is neither 1.2 nor 1.3", example)
	}
	for _, path := range []*string{&a.TLS.Cert, &a.TLS.Key, &a.TLS.ClientCA, &a.TLS.CRL} {
		if *path != "" {
			*path = f.absolute(*path)
		}
	}
	return nil
}

func (f *file) serveHosts(n *yaml.Node, a *Access) error {
	const example = "as in hosts: [mcp.example.com]"
	if n.Kind != yaml.SequenceNode {
		return f.problemAt(n, "serve.hosts is no list of names", example)
	}
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode || item.Value == "" || strings.ContainsAny(item.Value, "/*@ ") {
			return f.problemAt(item, "serve.hosts has an item that is no HOST or HOST:PORT", example)
		}
		if !slices.Contains(a.Hosts, item.Value) {
			a.Hosts = append(a.Hosts, item.Value)
		}
	}
	return nil
}
