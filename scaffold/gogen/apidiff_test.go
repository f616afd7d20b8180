package gogen_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"golang.org/x/exp/apidiff"

	"github.com/mcpctl/mcpctl/scaffold/gogen"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/build"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/emit"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/names"
	"github.com/mcpctl/mcpctl/test/require"
)

// evolving is what the cases change: a tool with required arguments, one with
// optional ones in a closed object, one without any, and a result.
const evolving = `{"tools":[
	{"name":"write","inputSchema":{"type":"object","properties":{
		"path":{"type":"string"},"mode":{"enum":["a","b"]},"count":{"type":"integer","minimum":1,"maximum":9,"default":3},
		"label":{"anyOf":[{"type":"string"},{"type":"object","properties":{"name":{"type":"string"}}}]},
		"note":{"type":["string","null"]},"kind":{"const":"file"},"tags":{"type":"array","items":{"type":"string"}},
		"at":{"type":"object","properties":{"line":{"type":"integer"}},"additionalProperties":false}
	},"required":["path"]},
	"outputSchema":{"type":"object","properties":{"size":{"type":"integer"},"state":{"enum":["new","old"]},"items":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}}},"required":["size"]}},
	{"name":"list","inputSchema":{"type":"object","properties":{"all":{"type":"boolean"}},"additionalProperties":false}},
	{"name":"ping","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}
],
"prompts":[{"name":"ask","arguments":[{"name":"topic","required":true},{"name":"tone"}]},{"name":"hello"}],
"resources":[{"uri":"demo://a.md","name":"a.md"}],
"resourceTemplates":[{"uriTemplate":"demo://text/{id}","name":"text"}]}`

// TestGoCompatibility changes a server, one thing at a time, regenerates with
// the lock file, and compares the effects in Changes with apidiff, which knows
// all of Go's rules.
func TestGoCompatibility(t *testing.T) {
	for _, c := range []struct {
		name     string
		old, now string // text of evolving and what takes its place
		class    gogen.Class
	}{
		// What the design has to allow.
		{"optional member", `"path":{"type":"string"}`, `"path":{"type":"string"},"new":{"type":"string"}`, gogen.Compatible},
		{"optional list in a closed object", `"all":{"type":"boolean"}`, `"all":{"type":"boolean"},"some":{"type":"array"}`, gogen.Compatible},
		{"first optional member", `{"name":"ping","inputSchema":{"type":"object"}`, `{"name":"ping","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}`, gogen.Compatible},
		{"optional member of a nested object", `"line":{"type":"integer"}`, `"line":{"type":"integer"},"columns":{"type":"array"}`, gogen.Compatible},
		{"optional object with members", `"path":{"type":"string"}`, `"path":{"type":"string"},"to":{"type":"object","properties":{"x":{"enum":["q"]}}}`, gogen.Compatible},
		{"a member that collides", `"path":{"type":"string"}`, `"path":{"type":"string"},"Path":{"type":"string"},"write_mode":{"enum":["a"]}`, gogen.Compatible},
		{"tool", `{"name":"list"`, `{"name":"more","inputSchema":{"type":"object","properties":{"all":{"enum":["x"]}}}},{"name":"list"`, gogen.Compatible},
		{"a tool that collides", `{"name":"list"`, `{"name":"List","inputSchema":{}},{"name":"list"`, gogen.Compatible},
		{"value of an enum", `"enum":["a","b"]`, `"enum":["a","c","b","A"]`, gogen.Compatible},
		{"value of an enum in a result", `"enum":["new","old"]`, `"enum":["new","older","old"]`, gogen.Compatible},
		{"member of a result", `"size":{"type":"integer"}`, `"size":{"type":"integer"},"more":{"type":"array"}`, gogen.Compatible},
		{"required member of a result's item", `"id":{"type":"string"}},"required":["id"]`, `"id":{"type":"string"},"n":{"type":"number"}},"required":["id","n"]`, gogen.Compatible},
		{"prompt", `{"name":"hello"}`, `{"name":"hello"},{"name":"bye","arguments":[{"name":"x"}]}`, gogen.Compatible},
		{"optional argument of a prompt", `{"name":"tone"}`, `{"name":"tone"},{"name":"length"}`, gogen.Compatible},
		{"first optional argument of a prompt", `{"name":"hello"}`, `{"name":"hello","arguments":[{"name":"x"}]}`, gogen.Compatible},
		{"resource", `"resources":[`, `"resources":[{"uri":"demo://b.md","name":"a.md"},`, gogen.Compatible},
		{"template", `"resourceTemplates":[`, `"resourceTemplates":[{"uriTemplate":"demo://x/{id}","name":"text"},`, gogen.Compatible},
		{"alternative", `"anyOf":[{"type":"string"},`, `"anyOf":[{"type":"integer"},{"type":"string"},`, gogen.Compatible},
		{"order", `{"name":"topic","required":true},{"name":"tone"}`, `{"name":"tone"},{"name":"topic","required":true}`, ""},
		{"prose", `{"name":"list"`, `{"name":"list","description":"Lists."`, gogen.Compatible},
		{"loosened bound", `"maximum":9`, `"maximum":99`, gogen.Compatible},
		{"default", `"default":3`, `"default":4`, gogen.Compatible},
		{"no longer read-only", `"readOnlyHint":true`, `"readOnlyHint":false`, gogen.Compatible},

		// What breaks programs, but not code.
		{"tightened bound", `"maximum":9`, `"maximum":8`, gogen.WireBreaking},
		{"removed value", `"enum":["new","old"]`, `"enum":["new"]`, gogen.SourceBreaking},

		// What breaks code.
		{"output schema for a tool without", `{"name":"ping","inputSchema":{"type":"object"}`, `{"name":"ping","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}`, gogen.SourceBreaking},
		{"wider type", `"line":{"type":"integer"}`, `"line":{"type":"number"}`, gogen.SourceBreaking},
		{"optional member may be null", `"path":{"type":"string"},"mode":{"enum":["a","b"]}`, `"path":{"type":"string"},"mode":{"enum":["a","b",null]}`, gogen.SourceBreaking},
		{"optional member of a result may be null", `"state":{"enum":["new","old"]}`, `"state":{"enum":["new","old",null]}`, gogen.SourceBreaking},
		{"argument is optional now", `"required":["path"]`, `"required":[]`, gogen.SourceBreaking},
		{"optional member removed", `"note":{"type":["string","null"]},`, ``, gogen.SourceBreaking},
		{"alternative for one type", `"items":{"type":"string"}`, `"items":{"anyOf":[{"type":"string"},{"type":"number"}]}`, gogen.SourceBreaking},
		{"any value for an enum", `"enum":["a","b"]`, `"type":"string"`, gogen.SourceBreaking},
		{"format", `"path":{"type":"string"}`, `"path":{"type":"string","format":"date-time"}`, gogen.SourceBreaking},

		// What breaks both.
		{"tool gone", `{"name":"list","inputSchema":{"type":"object","properties":{"all":{"type":"boolean"}},"additionalProperties":false}},`, ``, gogen.WireBreaking},
		{"prompt gone", `,{"name":"hello"}`, ``, gogen.WireBreaking},
		{"resource gone", `{"uri":"demo://a.md","name":"a.md"}`, ``, gogen.WireBreaking},
		{"another URI template", `demo://text/{id}`, `demo://text/{name}`, gogen.WireBreaking},
		{"required argument of a tool without", `"properties":{"all":{"type":"boolean"}}`, `"properties":{"all":{"type":"boolean"},"x":{"type":"string"}},"required":["x"]`, gogen.WireBreaking},
		{"required from now on", `"required":["path"]`, `"required":["path","mode"]`, gogen.WireBreaking},
		{"another type", `"path":{"type":"string"}`, `"path":{"type":"integer"}`, gogen.WireBreaking},
		{"member of a result is optional now", `"required":["size"]`, `"required":[]`, gogen.WireBreaking},
		{"wider type of a result", `"size":{"type":"integer"}`, `"size":{"type":"number"}`, gogen.WireBreaking},
		{"output schema gone", `"outputSchema"`, `"x-outputSchema"`, gogen.WireBreaking},
		{"value gone", `"enum":["a","b"]`, `"enum":["a"]`, gogen.WireBreaking},
		{"alternative gone", `"anyOf":[{"type":"string"},`, `"anyOf":[{"type":"boolean"},`, gogen.WireBreaking},
		{"open object closed", `{"name":"ping","inputSchema":{"type":"object"}`, `{"name":"ping","inputSchema":{"type":"object","additionalProperties":false}`, gogen.WireBreaking},
		{"argument of a prompt required", `{"name":"tone"}`, `{"name":"tone","required":true}`, gogen.WireBreaking},
	} {
		t.Run(c.name, func(t *testing.T) {
			if strings.Count(evolving, c.old) != 1 {
				t.Fatalf("%d places to change", strings.Count(evolving, c.old))
			}
			before, oldPackage := generated(t, evolving, nil)
			after, newPackage := generated(t, strings.Replace(evolving, c.old, c.now, 1), before)
			changes, err := gogen.Changes(before, after, false)
			require.NoError(t, err)
			var source bool
			for _, change := range changes {
				source = source || change.Source
				if len(change.Go) > 0 != change.Source {
					t.Errorf("%+v does not say what breaks", change)
				}
			}
			var broken []string
			for _, d := range apidiff.Changes(oldPackage, newPackage).Changes {
				// A changed default is another value of a constant. apidiff thinks of array
				// lengths; code that uses a default as intended compiles.
				if !d.Compatible && !strings.Contains(d.Message, "value changed") {
					broken = append(broken, d.Message)
				}
			}
			if source != (len(broken) > 0) {
				t.Errorf("apidiff: %q", broken)
			}
			if class := worst(changes); class != c.class {
				t.Errorf("class %q, want %q", class, c.class)
			}
			if t.Failed() {
				for _, change := range changes {
					t.Logf("%s %s %q", change.Class, change.String(), change.Go)
				}
			}
		})
	}
}

func worst(changes []gogen.Change) gogen.Class {
	if len(changes) == 0 {
		return ""
	}
	return changes[0].Class
}

// generated generates a package with an earlier one's lock, and returns what Go
// sees of it.
func generated(t *testing.T, data string, before *gogen.Lock) (*gogen.Lock, *types.Package) {
	t.Helper()
	list, err := gogen.ParseTools([]byte(data))
	require.NoError(t, err)
	m := build.Build(build.Input{Package: "p", Tools: list.Tools, Prompts: list.Prompts, Resources: list.Resources, Templates: list.Templates})
	var o names.Options
	if before != nil {
		o.Locked = before.Names
	}
	r, err := names.Resolve(m, o)
	require.NoError(t, err)
	list.Names = r.Names
	files, err := emit.Package(m, emit.Options{})
	require.NoError(t, err)
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, f := range files {
		a, err := parser.ParseFile(fset, f.Name, f.Data, parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("%v\n%s", err, f.Data)
		}
		parsed = append(parsed, a)
	}
	from, err := exports()
	require.NoError(t, err)
	p, err := (&types.Config{Importer: from}).Check("example.com/p", fset, parsed, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, files[0].Data)
	}
	return &gogen.Lock{List: *list}, p
}
