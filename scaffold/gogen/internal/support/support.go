// Package support is the code that generated packages call, in a form that can
// become part of one of them: declarations of packages runtime,
// runtime/codegen and below, under names that do not collide in one package.
//
// support.txt is made from those packages by a test of this one, which fails
// where they have changed since.
package support

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:generate go test -run TestFresh -count 1 -update .

// Module is the module of the declarations, and File where they are stored.
const (
	Module = "github.com/mcpctl/mcpctl"
	File   = "support.txt"
)

//go:embed support.txt
var text []byte

// Unit is a declaration of package level and what belongs to it.
type Unit struct {
	// Keys are what it declares: the last element of the package's path, a dot
	// and the name there.
	Keys []string
	// Needs are keys of other units, one each; Imports are packages of the
	// standard library.
	Needs, Imports []string
	// Text is Go source, as long as formatting does not matter.
	Text string
}

// Local returns the name that a declaration of a package has here: exported
// names of package runtime, which are for users of the generated code, stay as
// they are, as do the types that others embed; all others cannot collide with
// the user's.
func Local(pkg, name string) string {
	base := path.Base(pkg)
	switch {
	case base == "runtime" && token.IsExported(name), base == "codegen" && (name == "OneOf" || name == "Literal"):
		return name
	}
	r, n := utf8.DecodeRuneInString(name)
	return base + string(unicode.ToUpper(r)) + name[n:]
}

// units returns the content of the file.
func units() []Unit {
	var out []Unit
	for line := range bytes.Lines(text) {
		if head, ok := bytes.CutPrefix(line, []byte("-- ")); ok {
			parts := strings.Split(strings.TrimSuffix(string(head), " --\n"), "|")
			if len(parts) != 3 {
				panic("support: the head of a unit: " + string(head))
			}
			out = append(out, Unit{Keys: strings.Fields(parts[0]), Needs: strings.Fields(parts[1]), Imports: strings.Fields(parts[2])})
			continue
		}
		out[len(out)-1].Text += string(line)
	}
	return out
}

// users returns what users of a generated package refer to, even if the package
// does not.
func users() []string {
	return []string{
		"runtime.Caller", "runtime.CallOption", "runtime.CallOptions", "runtime.ParseToolResult", "runtime.JSON", "runtime.Some", "runtime.Null",
		"runtime.Error", "runtime.FieldError", "runtime.ToolError", "runtime.ResultError", "runtime.DriftError",
		"runtime.WithProgress", "runtime.WithTimeout", "runtime.WithMeta", "runtime.WithValidation", "runtime.WithDrift",
		"runtime.DriftIgnore",
	}
}

// Source returns the support code of a package: what its files, which are Go
// source, refer to by the names of [Local], what its users refer to, and what
// those need. Header is the first line. A name that the files declare themselves
// is an error.
func Source(pkg, header string, files [][]byte) ([]byte, error) {
	all := units()
	byKey, byName := map[string]int{}, map[string]int{}
	for i, u := range all {
		for _, k := range u.Keys {
			base, name, _ := strings.Cut(k, ".")
			byKey[k], byName[Local(base, name)] = i, i
		}
	}
	taken := make([]bool, len(all))
	var take func(i int)
	take = func(i int) {
		if taken[i] {
			return
		}
		taken[i] = true
		for _, k := range all[i].Needs {
			take(byKey[k])
		}
	}
	for _, k := range users() {
		i, ok := byKey[k]
		if !ok {
			return nil, fmt.Errorf("support code: there is no %s", k)
		}
		take(i)
	}
	declared := map[string]bool{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), "", file, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("support code: %w", err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if i, ok := byName[id.Name]; ok {
					take(i)
				}
			}
			return true
		})
		for _, name := range topLevel(f) {
			declared[name] = true
		}
	}
	imports := map[string]bool{}
	var b bytes.Buffer
	for i, u := range all {
		if !taken[i] {
			continue
		}
		for _, k := range u.Keys {
			base, name, _ := strings.Cut(k, ".")
			if name = Local(base, name); declared[name] {
				return nil, &TakenError{name}
			}
		}
		for _, path := range u.Imports {
			imports[path] = true
		}
		b.WriteString("\n" + u.Text)
	}
	var head bytes.Buffer
	fmt.Fprintf(&head, "%s\n\npackage %s\n\nimport (\n", header, pkg)
	for _, path := range slices.Sorted(maps.Keys(imports)) {
		fmt.Fprintf(&head, "\t%q\n", path)
	}
	head.WriteString(")\n")
	out, err := format.Source(append(head.Bytes(), b.Bytes()...))
	if err != nil {
		return nil, fmt.Errorf("support code: %w", err)
	}
	return out, nil
}

// TakenError is a name that generated code and support code both declare.
type TakenError struct{ Name string }

// Error returns the message with the name.
func (e *TakenError) Error() string {
	return "the support code of a package that stands alone needs the name " + e.Name
}

// topLevel returns the names that a file declares in its package.
func topLevel(f *ast.File) []string {
	var out []string
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				out = append(out, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					out = append(out, spec.Name.Name)
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						out = append(out, id.Name)
					}
				}
			}
		}
	}
	return out
}

// Exported returns the exported names of all support code, which generated code
// must not use.
func Exported() []string {
	var out []string
	for _, u := range units() {
		for _, k := range u.Keys {
			base, name, _ := strings.Cut(k, ".")
			if name = Local(base, name); token.IsExported(name) {
				out = append(out, name)
			}
		}
	}
	return out
}
