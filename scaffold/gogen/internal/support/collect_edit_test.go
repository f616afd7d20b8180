package support_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/support"
)

// editor writes the source of one unit with everything under its new name.
type editor struct {
	c       *collector
	u       *unit
	imports map[string]bool
	needs   map[*unit]bool
	edits   []edit
	err     error
}

type edit struct {
	from, to token.Pos
	text     string
}

// edit returns the text of a node, with its comment.
func (e *editor) edit(n node) string {
	e.edits = nil
	ast.Inspect(n.node, e.visit)
	file := e.c.fset.File(n.node.Pos())
	from := n.node.Pos()
	var b strings.Builder
	if n.doc != nil {
		text := e.comments(string(e.u.src.texts[n.file][file.Offset(n.doc.Pos()):file.Offset(n.doc.End())]), true)
		b.WriteString(unindent(text) + "\n")
	}
	b.WriteString(n.prefix)
	slices.SortFunc(e.edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	src := e.u.src.texts[n.file]
	at := from
	for _, ed := range e.edits {
		if ed.from < at {
			continue // of the doc comment
		}
		b.WriteString(e.comments(string(src[file.Offset(at):file.Offset(ed.from)]), false))
		b.WriteString(ed.text)
		at = ed.to
	}
	b.WriteString(e.comments(string(src[file.Offset(at):file.Offset(n.node.End())]), false))
	b.WriteString("\n")
	return b.String()
}

// unindent moves the comment of a spec to the margin.
func unindent(text string) string {
	return regexp.MustCompile(`(?m)^[\t ]+//`).ReplaceAllString(text, "//")
}

func (e *editor) visit(n ast.Node) bool {
	info := e.u.src.info
	switch n := n.(type) {
	case *ast.CommentGroup:
		return false
	case *ast.SelectorExpr:
		id, ok := n.X.(*ast.Ident)
		if !ok {
			return true
		}
		imported, ok := info.Uses[id].(*types.PkgName)
		if !ok {
			return true
		}
		if p := imported.Imported(); !e.c.own(p.Path()) {
			e.std(id, p)
			return false
		}
		e.edits = append(e.edits, edit{n.Pos(), n.End(), e.name(info.Uses[n.Sel])})
		return false
	case *ast.Ident:
		o := info.Uses[n]
		if o == nil {
			o = info.Defs[n]
		}
		if name := e.rename(o); name != "" && name != n.Name {
			e.edits = append(e.edits, edit{n.Pos(), n.End(), name})
		}
	}
	return true
}

// std adds an import. It has the same name everywhere.
func (e *editor) std(id *ast.Ident, p *types.Package) {
	if first, _, _ := strings.Cut(p.Path(), "/"); strings.Contains(first, ".") {
		e.err = fmt.Errorf("it needs %s, which is not of the standard library", p.Path())
	}
	e.imports[p.Path()] = true
	if id.Name != p.Name() {
		e.edits = append(e.edits, edit{id.Pos(), id.End(), p.Name()})
	}
}

// rename returns the new name of an identifier's target, "" where it stays.
func (e *editor) rename(o types.Object) string {
	if o == nil || o.Pkg() == nil || !e.c.own(o.Pkg().Path()) {
		return ""
	}
	if v, ok := o.(*types.Var); ok && v.Embedded() { // a field called like its type
		t := types.Unalias(v.Origin().Type())
		if p, ok := t.(*types.Pointer); ok {
			t = types.Unalias(p.Elem())
		}
		if named, ok := t.(*types.Named); ok {
			return e.rename(named.Origin().Obj())
		}
		return ""
	}
	if o.Parent() != o.Pkg().Scope() {
		return ""
	}
	return e.name(o)
}

// name returns the new name of a declaration, and adds it to the needs.
func (e *editor) name(o types.Object) string {
	if u := e.c.units[o]; u == nil {
		e.err = fmt.Errorf("%s is nowhere declared", o)
	} else if u != e.u {
		e.needs[u] = true
	}
	return support.Local(o.Pkg().Path(), o.Name())
}

var (
	qualified = regexp.MustCompile(`\b([a-z]+)\.([A-Za-z]\w*)`)
	linked    = regexp.MustCompile(`\[(\*?)((?:[a-z]+\.)?[A-Za-z]\w*)((?:\.\w+)?)\]`)
	leading   = regexp.MustCompile(`^(// )([A-Za-z]\w*)`)
)

// comments replaces names in the comments of a text between identifiers.
func (e *editor) comments(text string, doc bool) string {
	if !strings.Contains(text, "//") {
		return text
	}
	pkg := path.Base(e.u.src.path)
	lines := strings.SplitAfter(text, "\n")
	for i, l := range lines {
		at := strings.Index(l, "//")
		if at < 0 {
			continue
		}
		c := linked.ReplaceAllStringFunc(l[at:], func(s string) string {
			m := linked.FindStringSubmatch(s)
			k := m[2]
			if !strings.Contains(k, ".") {
				k = pkg + "." + k
			}
			switch taken, known := e.c.known[k]; {
			case !known:
				return s
			case !taken: // there is nothing to link to
				_, name, _ := strings.Cut(k, ".")
				return "mcpctl's " + name + m[3]
			}
			base, name, _ := strings.Cut(k, ".")
			return "[" + m[1] + support.Local(base, name) + m[3] + "]"
		})
		c = qualified.ReplaceAllStringFunc(c, func(s string) string {
			base, name, _ := strings.Cut(s, ".")
			if e.c.known[s] {
				return support.Local(base, name)
			}
			return s
		})
		if doc && i == 0 {
			c = leading.ReplaceAllStringFunc(c, func(s string) string {
				name := strings.TrimPrefix(s, "// ")
				if e.c.known[pkg+"."+name] {
					return "// " + support.Local(pkg, name)
				}
				return s
			})
		}
		lines[i] = l[:at] + c
	}
	return strings.Join(lines, "")
}
