package names

import (
	"cmp"
	"slices"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// Options of Resolve.
type Options struct {
	// Locked are the names of an earlier run; nil is none.
	Locked *Names
	// Reserved are names of the package's scope that are in use, such as those of
	// support code in the package itself. Client and New always are.
	Reserved []string
}

// Result of Resolve.
type Result struct {
	// Names are all names in use and those of removed things: the content of the
	// lock file.
	Names *Names
	// Collisions are the names that could not be as wanted, sorted.
	Collisions []Collision
}

// Collision is a thing that has another name than wanted.
type Collision struct {
	Kind   string // as in [Retired]
	What   string // such as "tool get_user"
	Wanted string // the wanted name
	Name   string // the one it has
	Other  string // what has, or wants, the same name
}

// reservedMethods are the client's methods besides the server's tools.
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
// the Name of all declarations, fields, values and default constants. The result
// does not depend on the order of the model's parts. The error is a locked name
// that is no Go identifier or is reserved.
func Resolve(p *model.Package, o Options) (*Result, error) {
	r := &resolver{p: p, locked: o.Locked.index()}
	report := func(c Collision) { r.collisions = append(r.collisions, c) }

	methods, items := newScope(report, reservedMethods), r.methods()
	if err := methods.pin(items, r.locked); err != nil {
		return nil, err
	}
	methods.retire(r.locked, KindTool, KindPrompt, KindResource, KindTemplate)
	if err := methods.solve(items); err != nil {
		return nil, err
	}

	// Types come before constants, whose names begin with theirs; but locked names
	// come first.
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
