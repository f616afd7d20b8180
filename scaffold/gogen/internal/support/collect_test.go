package support_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/support"
)

// collector copies declarations out of packages.
type collector struct {
	*loader
	units map[types.Object]*unit
	// known are the keys of all units, for links in comments; those that are copied
	// become true.
	known map[string]bool
}

func newCollector(module, root string) *collector {
	return &collector{loader: newLoader(module, root), units: map[types.Object]*unit{}, known: map[string]bool{}}
}

// unit is a declaration of package level: a function, a variable, a group of
// constants, or a type with all its methods.
type unit struct {
	src     *source
	objects []types.Object
	nodes   []node
	pos     token.Pos
}

// node is a piece of source.
type node struct {
	file   int
	node   ast.Node
	doc    *ast.CommentGroup
	prefix string // what stands in front of a spec taken out of its declaration
}

func key(o types.Object) string { return path.Base(o.Pkg().Path()) + "." + o.Name() }

// collect returns the units that roots lead to, sorted by package, internal ones last and imported ones
// first, and place.
func (c *collector) collect(roots map[string][]string) ([]support.Unit, error) {
	for _, pkg := range slices.Sorted(maps.Keys(roots)) {
		if _, err := c.load(pkg); err != nil {
			return nil, err
		}
	}
	for _, s := range c.loaded {
		c.index(s)
	}
	var todo []*unit
	for _, pkg := range slices.Sorted(maps.Keys(roots)) {
		for _, name := range roots[pkg] {
			found := c.root(c.loaded[pkg], name)
			if len(found) == 0 {
				return nil, fmt.Errorf("%s has no %s", pkg, name)
			}
			todo = append(todo, found...)
		}
	}
	taken := map[*unit]support.Unit{}
	for len(todo) > 0 {
		u := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, ok := taken[u]; ok {
			continue
		}
		out, needs, err := c.take(u)
		if err != nil {
			return nil, err
		}
		taken[u] = out
		todo = append(todo, needs...)
	}
	order := slices.SortedFunc(maps.Keys(taken), func(a, b *unit) int {
		return cmp.Or(cmp.Compare(sortPath(a.src.path), sortPath(b.src.path)), cmp.Compare(a.pos, b.pos))
	})
	clear(c.known)
	for o, u := range c.units {
		_, ok := taken[u]
		c.known[key(o)] = ok
	}
	out := make([]support.Unit, 0, len(order))
	for _, u := range order { // once more: comments name what is there
		unit, _, err := c.take(u)
		if err != nil {
			return nil, err
		}
		out = append(out, unit)
	}
	return out, nil
}

// root returns the units of one root.
func (c *collector) root(s *source, name string) []*unit {
	var out []*unit
	for o, u := range c.units {
		file := path.Base(c.fset.Position(o.Pos()).Filename)
		inFile, _ := path.Match(name, file)
		switch {
		case u.src != s:
		case o.Name() == name, o.Exported() && (name == "*" || inFile):
			out = append(out, u)
		}
	}
	return out
}

// index finds the declarations of a package.
func (c *collector) index(s *source) {
	add := func(u *unit, ids ...*ast.Ident) {
		for _, id := range ids {
			if o := s.info.Defs[id]; o != nil && id.Name != "_" {
				u.objects = append(u.objects, o)
				c.units[o] = u
				c.known[key(o)] = true
			}
		}
	}
	for i, f := range s.files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					add(&unit{s, nil, []node{{i, d, d.Doc, ""}}, d.Pos()}, d.Name)
				}
			case *ast.GenDecl:
				c.indexGen(s, i, d, add)
			}
		}
	}
	for i, f := range s.files {
		for _, d := range f.Decls {
			if m, ok := d.(*ast.FuncDecl); ok && m.Recv != nil {
				u := c.units[receiver(s, m)]
				u.nodes = append(u.nodes, node{i, m, m.Doc, ""})
			}
		}
	}
}

func (c *collector) indexGen(s *source, file int, d *ast.GenDecl, add func(*unit, ...*ast.Ident)) {
	switch d.Tok {
	case token.IMPORT:
	case token.CONST: // one may go on where the last left off
		u := &unit{s, nil, []node{{file, d, d.Doc, ""}}, d.Pos()}
		for _, spec := range d.Specs {
			add(u, spec.(*ast.ValueSpec).Names...)
		}
	default:
		for _, spec := range d.Specs {
			var ids []*ast.Ident
			var doc *ast.CommentGroup
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				ids, doc = []*ast.Ident{spec.Name}, spec.Doc
			case *ast.ValueSpec:
				ids, doc = spec.Names, spec.Doc
			}
			n := node{file, spec, doc, d.Tok.String() + " "}
			if !d.Lparen.IsValid() {
				n = node{file, d, d.Doc, ""}
			}
			add(&unit{s, nil, []node{n}, spec.Pos()}, ids...)
		}
	}
}

// receiver returns the type that a method belongs to.
func receiver(s *source, m *ast.FuncDecl) types.Object {
	x := m.Recv.List[0].Type
	for {
		switch t := x.(type) {
		case *ast.StarExpr:
			x = t.X
		case *ast.IndexExpr:
			x = t.X
		case *ast.IndexListExpr:
			x = t.X
		case *ast.Ident:
			return s.info.Uses[t]
		default:
			panic(fmt.Sprintf("collect: receiver %T", x))
		}
	}
}

// take returns a unit's text under its new names, and what it needs.
func (c *collector) take(u *unit) (support.Unit, []*unit, error) {
	out := support.Unit{}
	for _, o := range u.objects {
		out.Keys = append(out.Keys, key(o))
	}
	e := &editor{c: c, u: u, imports: map[string]bool{}, needs: map[*unit]bool{}}
	var text strings.Builder
	for i, n := range u.nodes {
		if i > 0 {
			text.WriteString("\n")
		}
		text.WriteString(e.edit(n))
	}
	if e.err != nil {
		return out, nil, fmt.Errorf("%s: %w", out.Keys[0], e.err)
	}
	out.Text = text.String()
	out.Imports = slices.Sorted(maps.Keys(e.imports))
	var needs []*unit
	for n := range e.needs {
		needs = append(needs, n)
		out.Needs = append(out.Needs, key(n.objects[0]))
	}
	slices.Sort(out.Needs)
	return out, needs, nil
}

// sortPath sorts internal packages behind the public ones.
func sortPath(pkg string) string {
	if strings.Contains(pkg, "/internal/") {
		return "~" + pkg
	}
	return pkg
}
