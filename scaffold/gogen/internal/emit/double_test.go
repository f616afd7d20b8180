package emit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/emit"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
	"github.com/mcpctl/mcpctl/test/require"
)

// with imports packages that were just checked, and others from source.
type with struct {
	path string
	pkg  *types.Package
}

func (w with) Import(path string) (*types.Package, error) {
	if path == w.path {
		return w.pkg, nil
	}
	return sources.Import(path)
}

// checkDouble type-checks the double of a package.
func checkDouble(t *testing.T, p *model.Package) (*types.Package, []byte) {
	t.Helper()
	files, err := emit.Package(p, emit.Options{})
	require.NoError(t, err)
	client := check(t, files)
	file, err := emit.Double(p, "example.com/sample")
	require.NoError(t, err)
	fset := token.NewFileSet()
	a, err := parser.ParseFile(fset, file.Name, file.Data, parser.ParseComments)
	if err != nil {
		t.Fatalf("%v\n%s", err, file.Data)
	}
	conf := types.Config{Importer: with{"example.com/sample", client}}
	pkg, err := conf.Check("example.com/sample/"+emit.DoubleName(p.Name), fset, []*ast.File{a}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, file.Data)
	}
	return pkg, file.Data
}

func TestDouble(t *testing.T) {
	pkg, data := checkDouble(t, sample())
	if testing.Verbose() {
		t.Logf("%s", data)
	}
	fake := types.NewMethodSet(types.NewPointer(pkg.Scope().Lookup("Fake").Type()))
	for name, want := range map[string]string{
		"OnEcho":            "func(h func(context.Context, example.com/sample.EchoParams) (*example.com/sample.EchoResult, error))",
		"OnRaw":             "func(h func(context.Context, encoding/json.RawMessage) (*github.com/mcpctl/mcpctl/runtime.ToolResult, error))",
		"OnSimplePrompt":    "func(h func(context.Context) (*github.com/mcpctl/mcpctl/runtime.PromptResult, error))",
		"OnReadA":           "func(h func(context.Context) (*github.com/mcpctl/mcpctl/runtime.ResourceResult, error))",
		"OnReadDynamicText": "func(h func(context.Context, string) (*github.com/mcpctl/mcpctl/runtime.ResourceResult, error))",
		"Client":            "func(opts ...github.com/mcpctl/mcpctl/runtime.CallOption) *example.com/sample.Client",
	} {
		m := fake.Lookup(pkg, name)
		if m == nil {
			t.Errorf("there is no method %s", name)
			continue
		}
		if got := types.TypeString(m.Type(), nil); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
	}
	calls := types.NewMethodSet(pkg.Scope().Lookup("Calls").Type())
	if m := calls.Lookup(pkg, "Echo"); m == nil || types.TypeString(m.Type(), nil) != "func() []example.com/sample.EchoParams" {
		t.Errorf("Calls.Echo: %v", m)
	}
}

// A package may have the name of anything in the double's code.
func TestDoubleNames(t *testing.T) {
	for _, name := range []string{"f", "h", "t", "c", "error", "string", "context", "testing", "runtime", "double", "fs", "json", "opts", "nil"} {
		p := sample()
		p.Name = name
		if name == "string" || name == "error" || name == "nil" {
			p.Prompts = nil
		}
		checkDouble(t, p)
	}
}
