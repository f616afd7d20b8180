package settings

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/internal/authn"
)

// MTLSProvider says whose a client's certificate is.
type MTLSProvider struct {
	// From are the kinds of names that count, in their order: see [authn.CertificateKinds]. None
	// is all.
	From []string `yaml:"from"`
	// Groups are groups by the pattern of a name.
	Groups map[string]string `yaml:"groups"`
}

func (f *file) mtlsProvider(n *yaml.Node, p *Providers) error {
	const example = `as in mtls: {from: [uri], groups: {"spiffe://corp/agents/*": agents}}`
	p.MTLS = &MTLSProvider{}
	if err := f.decode("mtls", n, p.MTLS, example); err != nil {
		return err
	}
	if tls := f.node("serve.tls"); tls == nil || member(tls, "clientCA") == nil {
		return f.problemAt(n, "mtls needs the authorities of clients", "as in tls: {cert: cert.pem, key: key.pem, clientCA: ca.pem}")
	}
	for i, kind := range p.MTLS.From {
		if !slices.Contains(authn.CertificateKinds(), kind) || slices.Contains(p.MTLS.From[:i], kind) {
			return f.problemAt(member(n, "from"), fmt.Sprintf("mtls.from has %q: names are %s, each once", kind, strings.Join(authn.CertificateKinds(), ", ")), example)
		}
	}
	for _, pattern := range slices.Sorted(maps.Keys(p.MTLS.Groups)) {
		if _, err := path.Match(pattern, ""); err != nil || strings.ContainsAny(pattern, `?[\`) {
			return f.problemAt(member(n, "groups"), fmt.Sprintf("mtls.groups has the pattern %q: only * has a meaning in one", pattern), example)
		}
		if p.MTLS.Groups[pattern] == "" {
			return f.problemAt(member(n, "groups"), fmt.Sprintf("mtls.groups has no group for %q", pattern), example)
		}
	}
	return nil
}

// member returns the value of a mapping's member, nil where there is none.
func member(n *yaml.Node, name string) *yaml.Node {
	n = resolved(n)
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return resolved(n.Content[i+1])
		}
	}
	return nil
}

// resolved returns what an alias means, and any other node itself.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
