package settings

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/runtime/access/gate"
	"github.com/mcpctl/mcpctl/runtime/access/guards"
)

// Gate returns what a gate decides by; one without policies allows all. Its error is that
// of Compile.
func (p *Policies) Gate() (gate.Config, error) {
	set, err := p.Compile()
	if err != nil || set == nil {
		return gate.Config{}, err
	}
	looks, err := guards.New(p.Section.Guards)
	return gate.Config{Set: set, Guards: looks, Forget: p.Section.Forget, Quiet: p.Section.TellNothing}, err
}

// WithoutAccess returns the text of a config.yaml in which the section access is empty, so
// that two can be compared without it. One that cannot be read stays as it is.
func WithoutAccess(text []byte) []byte { return without(text, []string{accessName}) }

// WithoutViews is WithoutAccess for serve.views and serve.view.
func WithoutViews(text []byte) []byte {
	return without(text, []string{"serve", "views"}, []string{"serve", "view"})
}

// WithoutHooks is WithoutAccess for serve.hooks.
func WithoutHooks(text []byte) []byte { return without(text, []string{"serve", "hooks"}) }

// without returns the text of a file of settings without some of them, each a path.
func without(text []byte, paths ...[]string) []byte {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) > 0 && doc.Content[0].Kind != yaml.MappingNode {
		return text
	}
	if len(doc.Content) == 0 {
		return nil
	}
	root := doc.Content[0]
	for _, path := range paths {
		remove(root, path)
	}
	if len(root.Content) == 0 {
		return nil
	}
	out, err := yaml.Marshal(&doc)
	if err != nil {
		return text
	}
	return out
}

// remove takes a value out of a mapping, and what is empty without it.
func remove(n *yaml.Node, path []string) {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != path[0] {
			continue
		}
		of := n.Content[i+1]
		if len(path) > 1 {
			remove(of, path[1:])
		}
		if len(path) == 1 || of.Kind == yaml.MappingNode && len(of.Content) == 0 {
			n.Content = slices.Delete(n.Content, i, i+2)
		}
		return
	}
}
