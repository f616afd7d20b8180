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
func WithoutAccess(text []byte) []byte {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) > 0 && doc.Content[0].Kind != yaml.MappingNode {
		return text
	}
	if len(doc.Content) == 0 {
		return nil
	}
	root := doc.Content[0]
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == accessName {
			root.Content = slices.Delete(root.Content, i, i+2)
			break
		}
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
