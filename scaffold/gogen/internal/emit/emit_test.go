package emit_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/emit"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
	"github.com/mcpctl/mcpctl/test/require"
)

func emitted(t *testing.T, p *model.Package, o emit.Options) []emit.File {
	t.Helper()
	files, err := emit.Package(p, o)
	require.NoError(t, err)
	return files
}

func TestEverything(t *testing.T) {
	files := emitted(t, sample(), emit.Options{GoGenerate: "mcpctl generate everything"})
	check(t, files)
	if testing.Verbose() {
		t.Logf("%s", files[0].Data)
	}
	if !bytes.HasPrefix(files[0].Data, []byte(emit.Header+"\n")) {
		t.Errorf("the first line is not the header")
	}
	if !bytes.Contains(files[0].Data, []byte("\n//go:generate mcpctl generate everything\n")) {
		t.Errorf("no go:generate line")
	}
	for range 3 {
		if again := emitted(t, sample(), emit.Options{GoGenerate: "mcpctl generate everything"}); !bytes.Equal(again[0].Data, files[0].Data) {
			t.Fatal("two runs differ")
		}
	}
}

// A tool may have no name, which is not the same as belonging to no tool.
func TestNamelessTool(t *testing.T) {
	p, nameless := sample(), many("")
	p.Tools = append(p.Tools, nameless.Tools...)
	p.Decls = append(p.Decls, nameless.Decls...)
	check(t, emitted(t, p, emit.Options{}))
}

// Everything exported is documented, and links lead somewhere.
func TestDocumented(t *testing.T) {
	data := emitted(t, sample(), emit.Options{})[0].Data
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", data, parser.ParseComments)
	require.NoError(t, err)
	pkg := check(t, []emit.File{{Name: "x.go", Data: data}})
	want := func(name string, docs ...*ast.CommentGroup) {
		if !ast.IsExported(name[strings.LastIndexByte(name, '.')+1:]) {
			return
		}
		for _, d := range docs {
			if strings.TrimSpace(d.Text()) != "" {
				return
			}
		}
		t.Errorf("%s has no documentation", name)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			want(f.Name.Name, f.Doc)
			continue
		}
		g := d.(*ast.GenDecl)
		for _, s := range g.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				want(s.Name.Name, g.Doc, s.Doc)
				if st, ok := s.Type.(*ast.StructType); ok {
					for _, f := range st.Fields.List {
						for _, id := range f.Names {
							want(s.Name.Name+"."+id.Name, f.Doc)
						}
					}
				}
			case *ast.ValueSpec:
				want(s.Names[0].Name, g.Doc, s.Doc)
			}
		}
	}
	imported := map[string]*types.Package{}
	for _, p := range pkg.Imports() {
		imported[p.Name()] = p
	}
	for _, m := range regexp.MustCompile(`\[\*?(?:([a-z]+)\.)?([A-Z]\w*)(?:\.(\w+))?\]`).FindAllSubmatch(data, -1) {
		scope := pkg
		if len(m[1]) > 0 {
			scope = imported[string(m[1])]
		}
		if scope == nil || scope.Scope().Lookup(string(m[2])) == nil {
			t.Errorf("the link %s leads nowhere", m[0])
		} else if obj, _, _ := types.LookupFieldOrMethod(scope.Scope().Lookup(string(m[2])).Type(), true, scope, string(m[3])); len(m[3]) > 0 && obj == nil {
			t.Errorf("the link %s leads nowhere", m[0])
		}
	}
}

// Every member's tag has its exact name.
func TestMemberNames(t *testing.T) {
	names := []string{
		"plain", "with space", "-", "", "a,b", "a,omitzero", "quote\"", "back`tick", "back\\slash", "new\nline", "tab\t", "nul\x00", "日本", "é", "\u2028", "\ufeff", "\U0001f44d",
		"json:\"x\"", "mcp", "_", ".", "$ref", "@type", "a:b", "#", "%s", "{}", "'", "//", "/*", "*/", "\xff",
	}
	d := &model.Decl{Form: model.Struct, Name: "TParams", Top: true, Tool: "t", Doc: []string{"is it."}, Checks: model.Checks{Rules: &model.Rules{MinProperties: new(int64(1))}}}
	for i, name := range names {
		d.Fields = append(d.Fields, &model.Field{JSON: name, Name: fmt.Sprintf("F%d", i), Presence: model.OrAbsent, Type: &model.Type{Kind: model.String, Rules: &model.Rules{MinLength: new(int64(1))}}})
	}
	p := &model.Package{Name: "sample", Server: "s", Decls: []*model.Decl{d}, Tools: []*model.Tool{{Name: "t", GoName: "T", Doc: []string{"calls."}, Params: d}}}
	files := emitted(t, p, emit.Options{})
	s := check(t, files).Scope().Lookup("TParams").Type().Underlying().(*types.Struct)
	for i, name := range names {
		tag := reflect.StructTag(s.Tag(i))
		json, option, _ := strings.Cut(tag.Get("json"), ",")
		if other, ok := tag.Lookup("name"); ok {
			if json != "-" && json != "" {
				t.Errorf("%q: json %q besides a name", name, json)
			}
			json = other
		} else if json == "-" {
			t.Errorf("%q: no name", name)
		}
		if json != name || option != "omitzero" {
			t.Errorf("the tag of %q says %q, %q", name, json, option)
		}
		if !bytes.Contains(files[0].Data, []byte("), "+strconv.Quote(name)+")")) && name != "\ufeff" && name != "\u2028" && name != "\U0001f44d" && name != "\x00" {
			t.Errorf("%q: no check names it", name)
		}
	}
}

// many returns a package of tools with these names.
func many(tools ...string) *model.Package {
	p := &model.Package{Name: "many", Server: "s"}
	for i, name := range tools {
		goName := fmt.Sprintf("Tool%d", i)
		d := &model.Decl{Form: model.Struct, Name: goName + "Params", Top: true, Key: "tools/" + name, Tool: name, Doc: []string{"is it."}, Fields: []*model.Field{
			{JSON: "a", Name: "A", Type: &model.Type{Kind: model.String, Rules: &model.Rules{Patterns: []string{"^a"}}}},
		}}
		p.Decls = append(p.Decls, d)
		p.Tools = append(p.Tools, &model.Tool{Name: name, GoName: goName, Doc: []string{"calls."}, Params: d})
	}
	return p
}

func TestFiles(t *testing.T) {
	var tools []string
	for i := range emit.OneFile - 15 {
		tools = append(tools, fmt.Sprintf("tool_%02d", i))
	}
	tools = append(tools, "client", "foo_test", "foo_linux", "foo_windows_amd64", "con", "NUL", "aux", "Get", "get", "a b", "a-b", "a/b", "../../etc", "日本", ".hidden")
	if files := emitted(t, many(tools...), emit.Options{}); len(files) != 1 || files[0].Name != emit.SourceFile {
		t.Errorf("%d tools make %d files", len(tools), len(files))
	}
	tools = append(tools, "日本語", "_under", strings.Repeat("long", 100), "a.go", "x_gen", "", "😀")
	files := emitted(t, many(tools...), emit.Options{})
	if len(files) != len(tools)+1 {
		t.Errorf("%d tools make %d files, want one each and %s", len(tools), len(files), emit.SourceFile)
	}
	check(t, files)
	safe := regexp.MustCompile(`^[a-z0-9][a-z0-9_]{0,110}_gen\.go$`)
	seen := map[string]bool{}
	for _, f := range files {
		if !safe.MatchString(f.Name) {
			t.Errorf("the file name %q is not safe", f.Name)
		}
		if folded := strings.ToLower(f.Name); seen[folded] {
			t.Errorf("two files are called %s", f.Name)
		} else {
			seen[folded] = true
		}
		if !bytes.HasPrefix(f.Data, []byte(emit.Header+"\n")) {
			t.Errorf("%s: the first line is not the header", f.Name)
		}
		if !constraintFree(f) {
			t.Errorf("%s has a build constraint", f.Name)
		}
	}
	if !slices.IsSortedFunc(files, func(a, b emit.File) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the files are not sorted")
	}
	// Another tool renames only the files that it collides with.
	more := emitted(t, many(append(tools, "one_more")...), emit.Options{})
	for _, f := range files {
		if !slices.ContainsFunc(more, func(g emit.File) bool { return g.Name == f.Name }) {
			t.Errorf("%s is gone with a tool more", f.Name)
		}
	}
}

func constraintFree(f emit.File) bool {
	for line := range strings.Lines(string(f.Data)) {
		if constraint.IsGoBuild(line) || constraint.IsPlusBuild(line) {
			return false
		}
	}
	return true
}

// A package with its own support code imports only the standard library, and
// refers to nothing by a package's name.
func TestLocal(t *testing.T) {
	used := map[string]bool{}
	local := func(path, name string) string {
		used[path[strings.LastIndexByte(path, '/')+1:]+"."+name] = true
		return "local" + name
	}
	data := emitted(t, sample(), emit.Options{Local: local})[0].Data
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", data, 0)
	require.NoError(t, err)
	for _, i := range file.Imports {
		if strings.Contains(i.Path.Value, ".") {
			t.Errorf("imports %s", i.Path.Value)
		}
	}
	if m := regexp.MustCompile(`.*\b(runtime|codegen|schema)\.[A-Z].*`).Find(data); m != nil {
		t.Errorf("refers to another package: %s", m)
	}
	for _, name := range []string{"runtime.Caller", "runtime.Opt", "runtime.DateTime", "codegen.Client", "codegen.Marshal", "codegen.First", "schema.Lazy"} {
		if !used[name] {
			t.Errorf("%s was not asked for", name)
		}
	}
}

// A schema validator is linked only where a schema needs it.
func TestImports(t *testing.T) {
	p := sample()
	if data := emitted(t, p, emit.Options{})[0].Data; !bytes.Contains(data, []byte(`runtime/schema"`)) {
		t.Error("a schema is checked without the validator")
	}
	for _, d := range p.Decls {
		d.Schema = ""
	}
	if data := emitted(t, p, emit.Options{})[0].Data; bytes.Contains(data, []byte(`runtime/schema"`)) {
		t.Error("the validator is linked for nothing")
	}
}
