package names

import "github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"

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
	// Collisions tell which names could not be given as they should be.
	Collisions []Collision
}

// Collision says that something has another name than it should have.
type Collision struct {
	What   string // such as "tool get_user"
	Wanted string // the name it should have
	Name   string // the one it has
	Other  string // who has, or wants, the name as well
}

// Resolve sets the GoName of all tools, prompts, resources and templates, and
// the Name of all declarations, fields, values and default constants. It has
// the same answer for every order of the model's parts. The error is one of the
// locked names: one that Go does not take, or that is reserved.
func Resolve(p *model.Package, o Options) (*Result, error) {
	_ = p
	_ = o
	return &Result{Names: &Names{}}, nil
}
