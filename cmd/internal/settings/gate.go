package settings

import (
	"github.com/mcpctl/mcpctl/cmd/internal/yamlcut"
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
func WithoutAccess(text []byte) []byte { return yamlcut.Without(text, []string{accessName}) }

// WithoutViews is WithoutAccess for serve.views and serve.view.
func WithoutViews(text []byte) []byte {
	return yamlcut.Without(text, []string{"serve", "views"}, []string{"serve", "view"})
}
