package trial

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// Types are the Go types of a tool's arguments and result in a generated
// package; "" is none.
type Types struct {
	Params, Result string
}

// TypesOf reads them from the methods of the client, by the names of the tools.
func TypesOf(files ...*ast.File) map[string]Types {
	all := map[string]Types{}
	for _, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Body == nil || exported(f.Recv.List[0].Type) != "Client" {
				continue
			}
			tool, params, called := call(f.Body)
			if !called {
				continue
			}
			t := Types{Params: params}
			for _, p := range f.Type.Params.List {
				if name := exported(p.Type); name != "" {
					t.Params = name
				}
			}
			if f.Type.Results != nil {
				t.Result = exported(f.Type.Results.List[0].Type)
			}
			all[tool] = t
		}
	}
	return all
}

// exported is the name of an exported type of the package itself or a pointer
// to one.
func exported(e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if id, ok := e.(*ast.Ident); ok && id.IsExported() {
		return id.Name
	}
	return ""
}

// call finds, in the body of a method, the name of the tool that it calls and
// the type of the arguments that are sent where the method takes none.
func call(body *ast.BlockStmt) (tool, params string, called bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok || called {
			return true
		}
		f, ok := c.Fun.(*ast.SelectorExpr)
		if !ok || !strings.HasPrefix(f.Sel.Name, "Call") || len(c.Args) < 3 {
			return true
		}
		if lit, ok := c.Args[1].(*ast.BasicLit); ok && lit.Kind == token.STRING {
			tool, _ = strconv.Unquote(lit.Value)
			called = true
		}
		if lit, ok := c.Args[2].(*ast.CompositeLit); ok {
			params = exported(lit.Type)
		}
		return true
	})
	return tool, params, called
}
