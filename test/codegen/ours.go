package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/scaffold/gogen"
)

// generate makes one package of tools and puts it into the program.
func generate(p *program, pkg string, tools []runtime.Tool) (*generated, error) {
	out, err := gogen.Generate(gogen.Input{Server: pkg, Package: pkg, Tools: tools})
	if err != nil {
		return nil, fmt.Errorf("generate %s: %w", pkg, err)
	}
	g := &generated{pkg: pkg, out: out, types: map[string]toolTypes{}}
	for _, f := range out.Files {
		if !strings.HasSuffix(f.Name, ".go") {
			continue
		}
		p.add(path.Join(pkg, f.Name), f.Data)
		if strings.Contains(f.Name, "/") {
			continue // the test double
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Name, f.Data, parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("generate %s: %w", pkg, err)
		}
		g.files = append(g.files, file)
	}
	for _, file := range g.files {
		g.read(file)
	}
	return g, nil
}

// generated is one package.
type generated struct {
	pkg   string
	out   *gogen.Output
	files []*ast.File
	types map[string]toolTypes // by the name of the tool
	// embedded is how many types check a schema that they carry as text.
	embedded int
}

// toolTypes are the Go types of a tool's arguments and result, "" where there
// is none.
type toolTypes struct {
	params, result string
}

// read finds the methods of the client, and by the name of a tool that a
// method mentions, whose they are.
func (g *generated) read(file *ast.File) {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv == nil || f.Body == nil {
			continue
		}
		if f.Name.Name == "Validate" && strings.Contains(mentioned(f.Body), " CheckSchema ") {
			g.embedded++
		}
		if typeName(f.Recv.List[0].Type) != "Client" {
			continue
		}
		tool, params := calls(f.Body)
		if tool == "" {
			continue
		}
		t := toolTypes{params: params}
		for _, p := range f.Type.Params.List {
			if name := typeName(p.Type); name != "" {
				t.params = name
			}
		}
		if f.Type.Results != nil {
			t.result = typeName(f.Type.Results.List[0].Type)
		}
		g.types[tool] = t
	}
}

// typeName is the name of a type of the package itself or a pointer to one.
func typeName(e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if id, ok := e.(*ast.Ident); ok && id.IsExported() {
		return id.Name
	}
	return ""
}

// calls finds the name of the tool and, of a method without parameters, the
// type of the arguments that are sent.
func calls(body *ast.BlockStmt) (tool, params string) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING && tool == "" {
				tool, _ = strconv.Unquote(n.Value)
			}
		case *ast.CompositeLit:
			if name := typeName(n.Type); name != "" && params == "" {
				params = name
			}
		}
		return true
	})
	return tool, params
}

// mentioned are the names in a body, between spaces.
func mentioned(body *ast.BlockStmt) string {
	var b strings.Builder
	b.WriteByte(' ')
	ast.Inspect(body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			b.WriteString(id.Name + " ")
		}
		return true
	})
	return b.String()
}

// tool is a tool as a server would list it.
func tool(name string, input, output json.RawMessage) runtime.Tool {
	if input == nil {
		input = json.RawMessage(`{"type":"object"}`)
	}
	return runtime.Tool{Name: name, InputSchema: input, OutputSchema: output}
}
