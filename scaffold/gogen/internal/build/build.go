package build

import (
	goruntime "runtime"

	"golang.org/x/sync/errgroup"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// Input is what a model is made from.
type Input struct {
	Package, Server, Implementation, Protocol string
	// Tools, like the other lists, sorted by name and with Raw set.
	Tools     []runtime.Tool
	Prompts   []runtime.Prompt
	Resources []runtime.Resource
	Templates []runtime.ResourceTemplate
	// Decimals makes every number a json.Number.
	Decimals bool
}

// Build returns the model, without names and digests. It never fails: what
// cannot be typed is raw JSON, with a warning.
func Build(in Input) *model.Package {
	p := &model.Package{Name: in.Package, Server: in.Server, Implementation: in.Implementation, Protocol: in.Protocol}
	for _, part := range buildTools(in) {
		p.Tools = append(p.Tools, part.Tools...)
		p.Decls = append(p.Decls, part.Decls...)
		p.Warnings = append(p.Warnings, part.Warnings...)
	}
	buildPrompts(p, in.Prompts)
	buildResources(p, in.Resources)
	buildTemplates(p, in.Templates)
	dropRawNull(p)
	breakCycles(p.Decls)
	return p
}

// buildTools builds each tool into a package of its own, as they are
// independent.
func buildTools(in Input) []*model.Package {
	parts := make([]*model.Package, len(in.Tools))
	var g errgroup.Group
	g.SetLimit(goruntime.GOMAXPROCS(0))
	for i := range in.Tools {
		g.Go(func() error {
			t := &in.Tools[i]
			p := &model.Package{}
			m := &model.Tool{Name: t.Name, Doc: toolDoc(t)}
			if a := t.Annotations; a != nil {
				m.ReadOnly = a.ReadOnlyHint != nil && *a.ReadOnlyHint
				m.Destructive = !m.ReadOnly && a.DestructiveHint != nil && *a.DestructiveHint
			}
			buildParams(p, m, t.InputSchema, in.Decimals)
			buildResult(p, m, t.OutputSchema, in.Decimals)
			p.Tools = []*model.Tool{m}
			parts[i] = p
			return nil
		})
	}
	_ = g.Wait() // no part fails
	return parts
}

// builder makes the types of one schema.
type builder struct {
	report
	doc      *document
	side     model.Side
	decimals bool
	made     map[*schema]*entry
	keys     map[string]bool
	depth    int
}

// report collects what cannot be typed.
type report struct {
	pkg               *model.Package
	tool              string
	member            string          // "/inputSchema" or "/outputSchema"
	reasons           map[string]bool // keywords that only a validator checks
	uncheckedPatterns []string        // warnings of patterns that not even a validator checks
}

// force leaves a keyword to the validator.
func (r *report) force(keyword string) { r.reasons[keyword] = true }

func (r *report) warn(pointer, reason string) {
	r.pkg.Warnings = append(r.pkg.Warnings, model.Warning{Tool: r.tool, Pointer: pointer, Reason: reason})
}

// raw returns the type of a place that could not be typed.
func (r *report) raw(why string, at place) *model.Type {
	r.warn(at.key, why+": left as json.RawMessage")
	return &model.Type{Kind: model.Raw, Why: why}
}

// unchecked returns the type of a place that only a validator checks.
func (r *report) unchecked(why, keyword string, at place) *model.Type {
	r.force(keyword)
	return r.raw(why, at)
}

// entry is the type of one schema, which may be referred to before it is
// complete.
type entry struct {
	t          *model.Type
	done       bool
	referenced bool
}

// place is where a type is: its key, and the wanted name.
type place struct{ key, want string }

// dropRawNull removes null as a case of its own from raw values, which hold it
// like any other. All types have to be known.
func dropRawNull(p *model.Package) {
	raw := func(t *model.Type) bool { return t != nil && t.Kind == model.Raw }
	seen := map[*model.Type]bool{}
	settle := func(t *model.Type) {
		for ; t != nil && !seen[t]; t = t.Elem {
			seen[t] = true
			t.ElemNull = t.ElemNull && !raw(t.Elem)
		}
	}
	for _, d := range p.Decls {
		for _, f := range d.Fields {
			if settle(f.Type); !raw(f.Type) {
				continue
			}
			switch f.Presence {
			case model.OrNull:
				f.Presence = model.Always
			case model.OrAbsentOrNull:
				f.Presence = model.OrAbsent
			case model.Always, model.OrAbsent, model.Constant:
			}
		}
		settle(d.Rest)
		settle(d.Under)
		d.RestNull = d.RestNull && !raw(d.Rest)
		d.UnderNull = d.UnderNull && !raw(d.Under)
	}
}
