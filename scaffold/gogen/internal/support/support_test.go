package support_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/build"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/emit"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/names"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/support"
	"github.com/mcpctl/mcpctl/test/require"
)

const everything = `{"type":"object","required":["kind","when"],"properties":{
	"kind":{"enum":["a","b"]},"mixed":{"enum":["a",1,null]},"level":{"type":"integer","enum":[1,2]},
	"when":{"type":"string","format":"date-time"},"count":{"type":["integer","null"],"minimum":1,"default":3},
	"label":{"oneOf":[{"type":"string","minLength":1},{"type":"object","properties":{"name":{"type":"string"}}}]},
	"point":{"type":"array","prefixItems":[{"type":"number"},{"type":"string"}],"items":false},
	"tags":{"type":"array","items":{"type":"string","pattern":"^a+$"},"uniqueItems":true},
	"tree":{"$ref":"#/$defs/tree"},"half":{"type":"number","multipleOf":0.5},
	"map":{"type":"object","additionalProperties":{"type":"boolean"},"minProperties":1}},
	"$defs":{"tree":{"type":"object","properties":{"left":{"$ref":"#/$defs/tree"}}}}}`

// generated returns a standalone package, without its support code.
func generated(t *testing.T, tools ...runtime.Tool) [][]byte {
	t.Helper()
	for i := range tools {
		raw, err := json.Marshal(tools[i])
		require.NoError(t, err)
		tools[i].Raw = raw
	}
	p := build.Build(build.Input{
		Package: "alone", Server: "alone", Tools: tools,
		Prompts:   []runtime.Prompt{{Name: "p", Arguments: []runtime.PromptArgument{{Name: "x", Required: true}}, Raw: json.RawMessage(`{"name":"p","arguments":[{"name":"x","required":true}]}`)}},
		Resources: []runtime.Resource{{URI: "a://b", Name: "b", Raw: json.RawMessage(`{"uri":"a://b","name":"b"}`)}},
		Templates: []runtime.ResourceTemplate{{URITemplate: "a://{id}", Name: "t", Raw: json.RawMessage(`{"uriTemplate":"a://{id}","name":"t"}`)}},
	})
	for _, d := range p.Decls {
		d.Schema = ""
	}
	if _, err := names.Resolve(p, names.Options{Reserved: support.Exported()}); err != nil {
		t.Fatal(err)
	}
	files, err := emit.Package(p, emit.Options{Local: support.Local})
	require.NoError(t, err)
	var out [][]byte
	for _, f := range files {
		out = append(out, f.Data)
	}
	return out
}

func parse(t *testing.T, files ...[]byte) (*token.FileSet, []*ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	var out []*ast.File
	for _, data := range files {
		f, err := parser.ParseFile(fset, "a.go", data, parser.ParseComments)
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		out = append(out, f)
	}
	return fset, out
}

// Generated code and its support code are one package, which imports only the
// standard library.
func TestSource(t *testing.T) {
	t.Parallel()
	files := generated(t,
		runtime.Tool{Name: "all", InputSchema: json.RawMessage(everything), OutputSchema: json.RawMessage(everything)},
		runtime.Tool{Name: "list", InputSchema: json.RawMessage(`{"type":"object"}`), OutputSchema: json.RawMessage(`{"type":"array","items":{"type":"string"}}`)},
		// Types with the names of the support code's.
		runtime.Tool{Name: "tool", InputSchema: json.RawMessage(`{"type":"object","properties":{"result":{"type":"object","properties":{"a":{"type":"string"}}},"error":{"enum":["x"]}}}`)},
	)
	src, err := support.Source("alone", emit.Header, files)
	require.NoError(t, err)
	if !strings.HasPrefix(string(src), emit.Header+"\n\npackage alone\n") {
		t.Errorf("it begins with %.100s", src)
	}
	fset, parsed := parse(t, append(files, src)...)
	for _, f := range parsed {
		for _, imp := range f.Imports {
			if first, _, _ := strings.Cut(imp.Path.Value, "/"); strings.Contains(first, ".") {
				t.Errorf("it imports %s", imp.Path.Value)
			}
		}
	}
	conf := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	pkg, err := conf.Check("example.com/alone", fset, parsed, nil)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, name := range []string{"Caller", "Opt", "Some", "ToolResult", "ParseToolResult", "FieldError", "WithTimeout", "DriftFail", "DateTime", "OneOf", "Literal"} {
		if pkg.Scope().Lookup(name) == nil {
			t.Errorf("it has no %s", name)
		}
	}
	for _, name := range pkg.Scope().Names() {
		if o := pkg.Scope().Lookup(name); token.IsExported(name) && !documented(parsed, name) {
			t.Errorf("%s has no comment (%s)", name, o)
		}
	}
}

// documented reports whether a declaration has a comment, or its group.
func documented(files []*ast.File, name string) bool {
	found := false
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				found = found || d.Recv == nil && d.Name.Name == name && d.Doc != nil
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						found = found || s.Name.Name == name && (s.Doc != nil || d.Doc != nil)
					case *ast.ValueSpec:
						for _, id := range s.Names {
							found = found || id.Name == name && (s.Doc != nil || d.Doc != nil || s.Comment != nil)
						}
					}
				}
			}
		}
	}
	return found
}

// A package has the support code that it needs, not more.
func TestSourceIsPruned(t *testing.T) {
	t.Parallel()
	src, err := support.Source("alone", emit.Header, generated(t, runtime.Tool{Name: "a", InputSchema: json.RawMessage(`{"type":"object"}`)}))
	require.NoError(t, err)
	for _, unwanted := range []string{"func codegenMultipleOf", "type DateTime", "func codegenNewPattern"} {
		if strings.Contains(string(src), unwanted) {
			t.Errorf("%s is not needed", unwanted)
		}
	}
}

func TestSourceTaken(t *testing.T) {
	t.Parallel()
	_, err := support.Source("alone", emit.Header, [][]byte{[]byte("package alone\n\ntype ToolResult struct{}\n")})
	var taken *support.TakenError
	if !errors.As(err, &taken) || taken.Name != "ToolResult" {
		t.Errorf("got %v, want a TakenError of ToolResult", err)
	}
}

func TestLocal(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, name := range support.Exported() {
		if other, ok := seen[name]; ok {
			t.Errorf("%s twice: %s", name, other)
		}
		seen[name] = name
	}
	for _, tt := range []struct{ pkg, name, want string }{
		{"github.com/mcpctl/mcpctl/runtime", "Opt", "Opt"},
		{"runtime", "isDigit", "runtimeIsDigit"},
		{"github.com/mcpctl/mcpctl/runtime/codegen", "Client", "codegenClient"},
		{"github.com/mcpctl/mcpctl/runtime/codegen", "OneOf", "OneOf"},
	} {
		if got := support.Local(tt.pkg, tt.name); got != tt.want {
			t.Errorf("%s.%s: got %s, want %s", tt.pkg, tt.name, got, tt.want)
		}
	}
}
