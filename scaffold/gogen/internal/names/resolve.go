package names

import (
	"cmp"
	"slices"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// Options of Resolve.
type Options struct {
	// Locked is what an earlier run gave; nil is nothing.
	Locked *Names
	// Reserved are names of the package's scope that something else has, such as
	// support code that stands in the package itself. Client and New always are.
	Reserved []string
}

// Result of Resolve.
type Result struct {
	// Names are all names given, and those of things that are gone: what the
	// lock file holds.
	Names *Names
	// Collisions, sorted, tell which names could not be given as they should be.
	Collisions []Collision
}

// Collision says that something has another name than it should have.
type Collision struct {
	Kind   string // as in [Retired]
	What   string // such as "tool get_user"
	Wanted string // the name it should have
	Name   string // the one it has
	Other  string // who has, or wants, the name as well
}

// reservedMethods are what a client has besides the server's tools.
var reservedMethods = []string{"Tools", "Prompts", "Resources", "ResourceTemplates", "Batch"} //nolint:gochecknoglobals // a constant table

// reservedFields are names that a struct needs for itself, or may need when its
// schema grows: they are the same for all structs, so that growing renames
// nothing.
var reservedFields = []string{ //nolint:gochecknoglobals // a constant table
	"Extra", "Other", "Raw", "Rest", "MarshalJSON", "UnmarshalJSON", "Validate", "WithDefaults", "ApplyTo",
}

// reservedTypes are what every package declares.
var reservedTypes = []string{"Client", "New"} //nolint:gochecknoglobals // a constant table

// Resolve sets the GoName of all tools, prompts, resources and templates, and
// the Name of all declarations, fields, values and default constants. It has
// the same answer for every order of the model's parts. The error is one of the
// locked names: one that Go does not take, or that is reserved.
func Resolve(p *model.Package, o Options) (*Result, error) {
	r := &resolver{p: p, locked: index(o.Locked)}
	report := func(c Collision) { r.collisions = append(r.collisions, c) }

	methods, items := newScope(report, reservedMethods), r.methods()
	if err := methods.pin(items, r.locked); err != nil {
		return nil, err
	}
	methods.retire(r.locked, KindTool, KindPrompt, KindResource, KindTemplate)
	if err := methods.solve(items); err != nil {
		return nil, err
	}

	// Types come before constants, whose names begin with theirs; but what is
	// locked comes before all that is not.
	pkg := newScope(report, reservedTypes, o.Reserved)
	phases := [][]*item{r.types(), r.values(), r.defaults()}
	for _, items := range phases {
		if err := pkg.pin(items, r.locked); err != nil {
			return nil, err
		}
	}
	pkg.retire(r.locked, KindType, KindValue, KindDefault)
	if err := pkg.solve(phases[0]); err != nil {
		return nil, err
	}
	for _, d := range p.Decls {
		fields, items := newScope(report, reservedFields), r.fields(d)
		if err := fields.pin(items, r.locked); err != nil {
			return nil, err
		}
		fields.retireFields(r.locked, d.Key)
		if err := fields.solve(items); err != nil {
			return nil, err
		}
	}
	for _, items := range phases[1:] {
		if err := pkg.solve(items); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(r.collisions, func(a, b Collision) int {
		return cmp.Or(cmp.Compare(a.What, b.What), cmp.Compare(a.Wanted, b.Wanted))
	})
	return &Result{Names: lock(p, r.locked), Collisions: r.collisions}, nil
}
