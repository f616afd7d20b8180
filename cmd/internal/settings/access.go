package settings

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/runtime/nearest"
)

// Access says who may reach serve over HTTP, and how.
type Access struct {
	// Tokens asks for a static token of mcpctl access token.
	Tokens bool
	// Cert and Key are files with a certificate chain and its key, in PEM; "" without
	// TLS. They are absolute.
	Cert, Key string
	// Hosts are HOST or HOST:PORT that clients reach serve by, besides its address.
	Hosts []string
}

// Required reports whether a credential is required.
func (a Access) Required() bool { return a.Tokens }

// sections are settings that are not plain values. An unknown name below one is an
// error: what nobody reads must not seem to protect anything.
func sections() map[string]func(*file, *yaml.Node, *Access) error {
	return map[string]func(*file, *yaml.Node, *Access) error{"serve.auth": (*file).serveAuth, "serve.tls": (*file).serveTLS, "serve.hosts": (*file).serveHosts}
}

// strangers are names of other programs, and what to write instead.
func strangers() map[string]string {
	const auth = "as in serve: {auth: [token: {}]}"
	return map[string]string{"serverAuth": auth, "oauthAs": auth, "serve.serverAuth": auth, "serve.oauthAs": auth}
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
	return a, nil
}

// serveAuth reads a list of providers, each a mapping with one name.
func (f *file) serveAuth(n *yaml.Node, a *Access) error {
	const example = "as in auth: [token: {}]"
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		return f.problemAt(n, "serve.auth is no list of providers", example)
	}
	for _, item := range n.Content {
		if item.Kind != yaml.MappingNode || len(item.Content) != 2 {
			return f.problemAt(item, "serve.auth has an item that is not one provider", example)
		}
		name, of := item.Content[0], item.Content[1]
		switch {
		case name.Value != "token":
			return f.problemAt(name, fmt.Sprintf("unknown provider %q", name.Value), "the provider that there is: token, "+example)
		case a.Tokens:
			return f.problemAt(name, "serve.auth has token twice", "remove one of the two")
		case of.Kind == yaml.MappingNode && len(of.Content) > 0:
			return f.problemAt(of.Content[0], fmt.Sprintf("unknown setting %q of token", of.Content[0].Value), "it has none: token: {}")
		case of.Kind != yaml.MappingNode && of.Tag != "!!null":
			return f.problemAt(of, "token has no plain value", example)
		}
		a.Tokens = true
	}
	return nil
}

func (f *file) serveTLS(n *yaml.Node, a *Access) error {
	const example = "as in tls: {cert: cert.pem, key: key.pem}"
	if n.Kind != yaml.MappingNode {
		return f.problemAt(n, "serve.tls has no cert and key", example)
	}
	into := map[string]*string{"cert": &a.Cert, "key": &a.Key}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		to := into[k.Value]
		switch {
		case to == nil:
			remedy := example
			if near := nearest.Names(k.Value, []string{"cert", "key"}, 1); len(near) > 0 {
				remedy = "did you mean " + near[0] + "?"
			}
			return f.problemAt(k, fmt.Sprintf("unknown setting %q of serve.tls", k.Value), remedy)
		case *to != "":
			return f.problemAt(k, "serve.tls has "+k.Value+" twice", "remove one of the two")
		case v.Kind != yaml.ScalarNode || v.Value == "":
			return f.problemAt(v, "serve.tls: "+k.Value+" is no path", example)
		}
		if *to = v.Value; !filepath.IsAbs(*to) {
			*to = filepath.Join(filepath.Dir(f.path), *to)
		}
	}
	if a.Cert == "" || a.Key == "" {
		return f.problemAt(n, "serve.tls needs both cert and key", example)
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
