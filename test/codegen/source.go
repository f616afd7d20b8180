package main

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"reflect"
	"strconv"
	"strings"
)

// source is what reading a generated Go file tells.
type source struct {
	// Unformatted is set where gofmt would change the file.
	Unformatted bool
	// Package is set where the file documents its package: one of them has to.
	Package bool
	// Undocumented are the exported symbols without a comment: types, functions,
	// methods, constants and variables (a comment on their group counts),
	// fields, and methods of interfaces.
	Undocumented []string
	// Exported is how many there are.
	Exported int
	// Fields are the struct fields that stand for members of JSON, Untyped those
	// among them that hold any JSON, as a whole or as elements, also by the
	// name of a type of the same file.
	Fields  int
	Untyped []string
}

func readSource(name string, data []byte) (source, error) {
	var s source
	file, err := parser.ParseFile(token.NewFileSet(), name, data, parser.ParseComments)
	if err != nil {
		return s, err
	}
	formatted, err := format.Source(data)
	if err != nil {
		return s, err
	}
	s.Unformatted = !bytes.Equal(formatted, data)
	s.Package = file.Doc != nil
	free := freeTypes(file)
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				if t := receiver(d.Recv.List[0].Type); ast.IsExported(t) {
					s.symbol(t+"."+d.Name.Name, d.Name, d.Doc)
				}
				continue
			}
			s.symbol(d.Name.Name, d.Name, d.Doc)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				s.spec(d, spec, free)
			}
		}
	}
	return s, nil
}

func (s *source) symbol(name string, id *ast.Ident, docs ...*ast.CommentGroup) {
	if !id.IsExported() {
		return
	}
	s.Exported++
	for _, doc := range docs {
		if doc != nil && strings.TrimSpace(doc.Text()) != "" {
			return
		}
	}
	s.Undocumented = append(s.Undocumented, name)
}

func (s *source) spec(d *ast.GenDecl, spec ast.Spec, free map[string]bool) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, id := range spec.Names {
			s.symbol(id.Name, id, d.Doc, spec.Doc, spec.Comment)
		}
	case *ast.TypeSpec:
		s.symbol(spec.Name.Name, spec.Name, d.Doc, spec.Doc, spec.Comment)
		switch t := spec.Type.(type) {
		case *ast.StructType:
			for _, f := range t.Fields.List {
				s.field(spec.Name, f, free)
			}
		case *ast.InterfaceType:
			for _, f := range t.Methods.List {
				for _, id := range f.Names {
					s.symbol(spec.Name.Name+"."+id.Name, id, f.Doc, f.Comment)
				}
			}
		}
	}
}

func (s *source) field(owner *ast.Ident, f *ast.Field, free map[string]bool) {
	member := isMember(f)
	for _, id := range f.Names {
		if owner.IsExported() {
			s.symbol(owner.Name+"."+id.Name, id, f.Doc, f.Comment)
		}
		if member && id.Name != "_" {
			s.Fields++
			if holdsAny(f.Type, free) {
				s.Untyped = append(s.Untyped, owner.Name+"."+id.Name)
			}
		}
	}
}

// isMember reports whether a field stands for a member of an object or a place
// of an array that the schema speaks of.
func isMember(f *ast.Field) bool {
	if f.Tag == nil {
		return false
	}
	text, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return false
	}
	tag := reflect.StructTag(text)
	name, _, _ := strings.Cut(tag.Get("json"), ",")
	how, _, _ := strings.Cut(tag.Get("mcp"), ",")
	return name != "" && name != "-" || tag.Get("name") != "" || how == "item"
}

// freeTypes are the types of a file that are any JSON by another name.
func freeTypes(file *ast.File) map[string]bool {
	free := map[string]bool{}
	for grown := true; grown; {
		grown = false
		ast.Inspect(file, func(n ast.Node) bool {
			t, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if _, ok := t.Type.(*ast.StructType); !ok && !free[t.Name.Name] && holdsAny(t.Type, free) {
				free[t.Name.Name], grown = true, true
			}
			return false
		})
	}
	return free
}

// holdsAny reports whether a type is any JSON, or made of any JSON. Interfaces
// with methods are not: their values are of types that have them.
func holdsAny(e ast.Expr, free map[string]bool) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			found = found || n.Sel.Name == "RawMessage"
			return false
		case *ast.InterfaceType:
			found = found || n.Methods.NumFields() == 0
		case *ast.StructType:
			return false
		case *ast.Ident:
			found = found || n.Name == "any" || free[n.Name]
		}
		return true
	})
	return found
}

func receiver(e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if i, ok := e.(*ast.IndexExpr); ok {
		e = i.X
	}
	id, _ := e.(*ast.Ident)
	if id == nil {
		return ""
	}
	return id.Name
}
