package settings

import (
	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/access/guards"
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

// Usable is Gate for a program that runs by the policies. It also returns what they name
// that does not exist, where names is not nil. A policy that denies or asks and nearly has a
// name that exists is an error.
func (p *Policies) Usable(names func() Names) (gate.Config, []Unmatched, error) {
	decides, err := p.Gate()
	if err != nil || decides.Set == nil || names == nil {
		return decides, nil, err
	}
	all, err := p.Unmatched(decides.Set, names())
	if err == nil {
		err = misnamed(all)
	}
	return decides, all, err
}

// WithoutAccess returns the text of a config.yaml in which the section access is empty, so
// that two can be compared without it. One that cannot be read stays as it is.
func WithoutAccess(text []byte) []byte { return WithoutYAML(text, []string{accessName}) }

// WithoutViews is WithoutAccess for serve.views and serve.view.
func WithoutViews(text []byte) []byte {
	return WithoutYAML(text, []string{"serve", "views"}, []string{"serve", "view"})
}
