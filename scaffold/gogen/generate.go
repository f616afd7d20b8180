package gogen

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/emit"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/names"
)

// Input is what a package is generated from.
type Input struct {
	// Server is the user's name of the server, for comments.
	Server string
	// Package is the Go package's name. Empty: [PackageName] of Server.
	Package string
	// Implementation is the server's own name, for the header. The zero value
	// leaves it out.
	Implementation runtime.Implementation
	// Protocol is the revision of the protocol in use, for the header. "" leaves it
	// out.
	Protocol string
	// Tools in any order. The lock file gets a tool's Raw if it is set, otherwise
	// its fields. The same holds for the others.
	Tools     []runtime.Tool
	Prompts   []runtime.Prompt
	Resources []runtime.Resource
	Templates []runtime.ResourceTemplate
	// Lock is what was generated before, which keeps its names. Nil is nothing.
	Lock *Lock
	// Decimals types every number as json.Number instead of float64, so that its
	// digits stay as written.
	Decimals bool
	// ImportPath is the package's import path. "" leaves out its test double, which
	// imports it.
	ImportPath string
	// Standalone generates a package that imports the standard library only: the
	// support code becomes part of it. It has no test double, and what needs a
	// validator of schemas is not checked; Warnings name such tools.
	Standalone bool
	// GoGenerate is the command of the package's go:generate line, without that
	// word; "" leaves the line out. It should not contain an absolute path.
	GoGenerate string
}

// Output is a generated package.
type Output struct {
	Package string
	// Files by name: client_gen.go, more of them for large servers, the test
	// double. The lock file is the last.
	Files []File
	// Warnings are about what could not be typed, in the order of the source.
	Warnings []Warning
	// Tools and Fields count what was generated; Untyped is how many of the
	// fields are raw JSON although their schema says more than "any value".
	Tools, Fields, Untyped int
}

// Lock returns the lock file among the files, parsed.
func (o *Output) Lock() (*Lock, error) { return ParseLock(o.Files[len(o.Files)-1].Data) }

// File is one generated file. Its name is relative to the package's folder,
// with slashes: the test double has a folder in it.
type File struct {
	Name string
	Data []byte
}

// Names of the generated files.
const (
	SourceFile = emit.SourceFile
	// SupportFile is the support code of a standalone package. No tool's file has
	// this name.
	SupportFile = "support.gen.go"
	// DoubleFile is the test double's, in a folder of its own.
	DoubleFile = emit.DoubleFile
)

// Header is the first line of each generated Go file.
const Header = emit.Header

// Warning is about something that is less typed than in its schema.
type Warning struct {
	Tool string
	// Pointer is the place inside the tool, such as
	// "/inputSchema/properties/labels"; "" for the tool as a whole.
	Pointer string
	Reason  string
}

// String returns the warning as one line.
func (w Warning) String() string {
	var parts []string
	if w.Tool != "" {
		parts = append(parts, "tool "+plain.Line(w.Tool))
	}
	if w.Pointer != "" {
		parts = append(parts, "at "+plain.Line(w.Pointer))
	}
	if len(parts) == 0 {
		return plain.Line(w.Reason)
	}
	return strings.Join(parts, " ") + ": " + plain.Line(w.Reason)
}

// Error is an input that no client can be generated from.
type Error struct {
	Tool   string // "" where it is not one tool's fault
	Reason string
}

// Error returns the reason, with the tool.
func (e *Error) Error() string {
	if e.Tool == "" {
		return "generate: " + e.Reason
	}
	return fmt.Sprintf("generate tool %q: %s", e.Tool, e.Reason)
}

// Generate returns the files of one package.
func Generate(in Input) (*Output, error) {
	in.Package = cmp.Or(in.Package, PackageName(in.Server))
	if err := CheckPackageName(in.Package); err != nil {
		return nil, err
	}
	lists, err := in.sortSources()
	if err != nil {
		return nil, err
	}
	p, err := lists.model(&in)
	if err != nil {
		return nil, err
	}
	lock := &Lock{List: List{
		Implementation: in.Implementation, Protocol: in.Protocol,
		Kind:  Kind{Standalone: in.Standalone, Decimals: in.Decimals},
		Tools: values(lists.tools), Prompts: values(lists.prompts), Resources: values(lists.resources), Templates: values(lists.templates),
	}}
	if in.Package != PackageName(in.Server) {
		lock.Kind.Package = in.Package
	}
	out := &Output{Package: in.Package, Tools: len(p.Tools)}
	var locked *Names
	if in.Lock != nil {
		locked = in.Lock.Names
	}
	nameOptions, emitOptions := names.Options{Locked: locked}, emit.Options{GoGenerate: in.GoGenerate}
	if in.Standalone {
		prepareStandalone(p, &nameOptions, &emitOptions)
	}
	resolved, err := names.Resolve(p, nameOptions)
	if err != nil {
		return nil, &LockError{Reason: err.Error(), hint: "write another name into " + LockFile + ", or take the entry out of its names"}
	}
	lock.Names = resolved.Names
	source, err := emit.Package(p, emitOptions)
	if err != nil {
		return nil, &Error{Reason: err.Error()}
	}
	for _, f := range source {
		out.Files = append(out.Files, File(f))
	}
	if in.Standalone {
		file, err := supportFile(in.Package, source)
		if err != nil {
			return nil, err
		}
		out.Files = append(out.Files, file)
	}
	if in.ImportPath != "" && !in.Standalone {
		double, err := emit.Double(p, in.ImportPath)
		if err != nil {
			return nil, &Error{Reason: err.Error()}
		}
		out.Files = append(out.Files, File{emit.DoubleName(in.Package) + "/" + double.Name, double.Data})
	}
	file, err := lock.marshal(lists.digests)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	out.Files = append(out.Files, File{LockFile, file})
	out.Warnings = append(out.Warnings, lists.warnings...)
	for _, w := range p.Warnings {
		out.Warnings = append(out.Warnings, Warning(w))
	}
	for _, c := range resolved.Collisions {
		// Names of types and constants are seen where they are used; a method or field
		// is looked for under the server's name.
		switch c.Kind {
		case names.KindTool, names.KindPrompt, names.KindField:
			out.Warnings = append(out.Warnings, Warning{Reason: c.What + " is called " + c.Name + ", not " + c.Wanted + ", because of " + c.Other})
		}
	}
	out.Fields, out.Untyped = count(p)
	return out, nil
}

// count returns the number of fields, and how many of them are raw JSON because
// they could not be typed.
func count(p *model.Package) (fields, untyped int) {
	add := func(t *model.Type) {
		for t.Elem != nil && (t.Kind == model.List || t.Kind == model.Map) {
			t = t.Elem
		}
		fields++
		if t.Kind == model.Raw && t.Why != "" {
			untyped++
		}
	}
	for _, d := range p.Decls {
		for _, f := range d.Fields {
			add(f.Type)
		}
		if d.Under != nil {
			add(d.Under)
		}
	}
	for _, t := range p.Tools {
		if t.Params == nil {
			fields++
			untyped++
		}
	}
	return fields, untyped
}

// PackageName returns a package name made of a server's: its ASCII letters and
// digits in lower case, with an x before a leading digit and "client" after a
// reserved word. It is "" where nothing is left.
func PackageName(server string) string {
	var b strings.Builder
	for _, r := range server {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	name := b.String()
	switch {
	case name == "":
		return ""
	case unicode.IsDigit(rune(name[0])):
		name = "x" + name
	case token.IsKeyword(name), name == "main", name == "init", name == "internal", name == "vendor":
		name += "client"
	}
	return name
}

// CheckPackageName returns why a name cannot be that of a package that others
// import.
func CheckPackageName(name string) error {
	switch {
	case name == "":
		return &Error{Reason: "the server's name has no letter for a package name"}
	case !token.IsIdentifier(name), name == "_":
		return &Error{Reason: fmt.Sprintf("%q is not a package name", name)}
	case name == "main", name == "init":
		return &Error{Reason: "a package " + name + " cannot be imported"}
	}
	return nil
}
