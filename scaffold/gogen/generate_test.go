package gogen_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/scaffold/gogen"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/jsonschema"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestOrder shuffles tools and the members of every object: the output must
// not change.
func TestOrder(t *testing.T) {
	paths, err := filepath.Glob("testdata/*/tools.json")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for i, path := range paths {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			t.Parallel()
			data := readFile(t, path)
			want := generate(t, "order", data)
			got := generate(t, "order", shuffle(t, data, rand.New(rand.NewPCG(uint64(i), 1))))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// shuffle writes JSON with members, and the tools, in random order.
func shuffle(t *testing.T, data []byte, r *rand.Rand) []byte {
	t.Helper()
	var write func(b *bytes.Buffer, v any, key string)
	write = func(b *bytes.Buffer, v any, key string) {
		switch v := v.(type) {
		case map[string]any:
			keys := slices.Sorted(maps.Keys(v))
			r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
			b.WriteByte('{')
			for i, k := range keys {
				if i > 0 {
					b.WriteByte(',')
				}
				name, _ := json.Marshal(k)
				b.Write(name)
				b.WriteByte(':')
				write(b, v[k], k)
			}
			b.WriteByte('}')
		case []any:
			if key == "tools" {
				r.Shuffle(len(v), func(i, j int) { v[i], v[j] = v[j], v[i] })
			}
			b.WriteByte('[')
			for i, e := range v {
				if i > 0 {
					b.WriteByte(',')
				}
				write(b, e, "")
			}
			b.WriteByte(']')
		default:
			raw, _ := json.Marshal(v)
			b.Write(raw)
		}
	}
	var b bytes.Buffer
	v, err := jsonschema.Decode(data)
	require.NoError(t, err)
	write(&b, v, "")
	return b.Bytes()
}

func TestErrors(t *testing.T) {
	object := json.RawMessage(`{"type":"object"}`)
	tests := []struct {
		name string
		in   gogen.Input
		want string
	}{
		{"two tools of one name", gogen.Input{Server: "s", Tools: []runtime.Tool{
			{Name: "echo", InputSchema: object}, {Name: "echo", InputSchema: object, Description: "other"},
		}}, `generate tool "echo": the server lists two different tools of this name`},
		{"no package name", gogen.Input{Server: "日本"}, "generate: the server's name has no letter for a package name"},
		{"keyword", gogen.Input{Server: "s", Package: "func"}, `generate: "func" is not a package name`},
		{"not a name", gogen.Input{Server: "s", Package: "a-b"}, `generate: "a-b" is not a package name`},
		{"main", gogen.Input{Server: "s", Package: "main"}, "generate: a package main cannot be imported"},
		{"broken tool", gogen.Input{Server: "s", Tools: []runtime.Tool{{Name: "x", Raw: json.RawMessage(`{`)}}}, `generate tool "x": not JSON: the text breaks off`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := gogen.Generate(tt.in)
			if err == nil || err.Error() != tt.want || out != nil {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if _, ok := errors.AsType[*gogen.Error](err); !ok {
				t.Errorf("got a %T, want a *gogen.Error", err)
			}
		})
	}
}

// TestNestedRepeats: a property with the name of its parent has the word twice,
// not a digest.
func TestNestedRepeats(t *testing.T) {
	schema := `{"type":"object","properties":{"resource":{"type":"object","properties":{"resource":{"type":"object","properties":{"uri":{"type":"string"}}}}}}}`
	out, err := gogen.Generate(gogen.Input{Server: "s", Tools: []runtime.Tool{{Name: "read", InputSchema: json.RawMessage(schema)}}})
	require.NoError(t, err)
	for _, want := range []string{"\ntype ReadResource struct", "\ntype ReadResourceResource struct"} {
		if !strings.Contains(string(out.Files[0].Data), want) {
			t.Errorf("no %q in\n%s", want, out.Files[0].Data)
		}
	}
	arms := `{"type":"object","properties":{"item":{"oneOf":[
		{"type":"object","properties":{"type":{"const":"resource"},"resource":{"type":"object","properties":{"uri":{"type":"string"}}}},"required":["type"]},
		{"type":"object","properties":{"type":{"const":"image"}},"required":["type"]}]}}}`
	out, err = gogen.Generate(gogen.Input{Server: "s", Tools: []runtime.Tool{{Name: "read", InputSchema: json.RawMessage(arms)}}})
	require.NoError(t, err)
	for _, want := range []string{"\ntype ReadItemResource struct", "\ntype ReadItemResourceResource struct"} {
		if !strings.Contains(string(out.Files[0].Data), want) {
			t.Errorf("no %q in\n%s", want, out.Files[0].Data)
		}
	}
}

// TestListedTwice: an entry that is listed twice in different ways causes a
// warning and is generated once; the same in any order.
func TestListedTwice(t *testing.T) {
	in := gogen.Input{Server: "twice", Resources: []runtime.Resource{
		{URI: "demo://a", Name: "one"}, {URI: "demo://a", Name: "another"}, {URI: "demo://a", Name: "one"}, {URI: "demo://b", Name: "b"},
	}}
	first, err := gogen.Generate(in)
	require.NoError(t, err)
	slices.Reverse(in.Resources)
	second, err := gogen.Generate(in)
	require.NoError(t, err)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the order decides (-first +second):\n%s", diff)
	}
	want := []gogen.Warning{{Reason: "the server lists the resource demo://a in different ways; one is taken"}}
	if diff := cmp.Diff(want, first.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestParseTools(t *testing.T) {
	for name, data := range map[string]string{
		"result": `{"tools":[{"name":"a","inputSchema":{}}],"nextCursor":""}`,
		"array":  "\ufeff [{\"name\":\"a\",\"inputSchema\":{}}]",
	} {
		list, err := gogen.ParseTools([]byte(data))
		if err != nil || len(list.Tools) != 1 || list.Tools[0].Name != "a" || list.More != (name == "result") {
			t.Errorf("%s: got %+v, %v", name, list, err)
		}
	}
	for _, data := range []string{``, `{}`, `{"tools":null}`, `{"tools":{}}`, `[1]`, `"x"`, `{"tools":[]`, `{"mcpServers":{}}`} {
		if list, err := gogen.ParseTools([]byte(data)); err == nil {
			t.Errorf("%s: got %+v, want an error", data, list)
		}
	}
}

func TestPackageName(t *testing.T) {
	for server, want := range map[string]string{
		"everything": "everything", "My-Server.v2": "myserverv2", "7zip": "x7zip", "go": "goclient", "type": "typeclient",
		"main": "mainclient", "日本": "", "---": "",
	} {
		if got := gogen.PackageName(server); got != want {
			t.Errorf("%s: got %q, want %q", server, got, want)
		}
	}
}

func TestCheckPackageName(t *testing.T) {
	for _, name := range []string{"", "_", "a b", "../x", "func", "main", "init"} {
		if gogen.CheckPackageName(name) == nil {
			t.Errorf("%q passes", name)
		}
	}
	for _, name := range []string{"everything", "string", "json", "x_test"} {
		if err := gogen.CheckPackageName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestTwins: schemas with two equal anchors or ids have one output, whichever of
// them is meant.
func TestTwins(t *testing.T) {
	const schema = `{"type":"object","properties":{
		"a":{"$anchor":"x","type":"string"},"b":{"$anchor":"x","type":"integer"},"c":{"$ref":"#x"},
		"d":{"$id":"http://e/x","type":"string"},"e":{"$id":"http://e/x","type":"integer"},"f":{"$ref":"http://e/x"}}}`
	var first []byte
	for range 20 {
		source := file(t, generate(t, "s", []byte(`[{"name":"t","inputSchema":`+schema+`}]`)), gogen.SourceFile)
		if first == nil {
			first = source
		}
		if !bytes.Equal(first, source) {
			t.Fatal(cmp.Diff(string(first), string(source)))
		}
	}
}

// TestStable adds tools and members that collide with no name, and nothing else
// changes.
func TestStable(t *testing.T) {
	before := declarations(t, generate(t, "s", []byte(`[{"name":"get_user","inputSchema":{"type":"object","properties":{"user-id":{},"userId":{}}}}]`)))
	after := declarations(t, generate(t, "s", []byte(`[{"name":"get_user","inputSchema":{"type":"object","properties":{"user-id":{},"userId":{},
		"User_Id":{},"a":{"type":"object","properties":{"b":{}}}}}},{"name":"a","inputSchema":{}},{"name":"get_users","inputSchema":{"type":"object"}}]`)))
	for _, name := range before {
		if !slices.Contains(after, name) {
			t.Errorf("%s is gone: got %v", name, after)
		}
	}
}

// declarations returns types, methods and fields.
func declarations(t *testing.T, out *gogen.Output) []string {
	t.Helper()
	var list []string
	fields := 0
	for _, f := range checkFiles(t, out) {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				list = append(list, n.Name.Name+"()")
			case *ast.TypeSpec:
				list = append(list, n.Name.Name)
				if s, ok := n.Type.(*ast.StructType); ok {
					for _, f := range s.Fields.List {
						for _, name := range f.Names {
							list, fields = append(list, n.Name.Name+"."+name.Name), fields+1
						}
					}
				}
			}
			return true
		})
	}
	if fields == 0 {
		t.Fatal("no fields found")
	}
	return list
}

// TestBombs: schemas that multiply are bounded in time and space.
func TestBombs(t *testing.T) {
	allOf := map[string]any{"z": map[string]any{"type": "object", "properties": map[string]any{"p": true}}}
	prev := "z"
	for i := range 40 {
		name := "d" + string(rune('A'+i))
		ref := map[string]any{"$ref": "#/$defs/" + prev}
		allOf[name] = map[string]any{"allOf": []any{ref, map[string]any{"minProperties": i}, ref}}
		prev = name
	}
	deep := strings.Repeat(`{"type":"array","items":`, 3000) + `true` + strings.Repeat("}", 3000)
	nested := strings.Repeat(`{"type":"object","properties":{"a":`, 500) + `{}` + strings.Repeat("}}", 500)
	bomb, err := json.Marshal(map[string]any{"type": "object", "$defs": allOf, "properties": map[string]any{"x": map[string]any{"$ref": "#/$defs/" + prev}}})
	require.NoError(t, err)
	start := time.Now()
	for i, schema := range []string{string(bomb), `{"type":"object","properties":{"x":` + deep + `}}`, nested} {
		out, err := gogen.Generate(gogen.Input{Server: "s", Tools: []runtime.Tool{{Name: "t", InputSchema: json.RawMessage(schema)}}})
		require.NoError(t, err)
		if i > 0 && len(out.Warnings) == 0 {
			t.Error("a schema beyond the bounds gives no warning")
		}
		checkFiles(t, out)
	}
	if d := time.Since(start); d > 10*20*time.Second {
		t.Errorf("took %s", d)
	}
}

// TestWideUnion: unions of more types than a constraint accepts compile.
func TestWideUnion(t *testing.T) {
	for _, n := range []int{100, 101} {
		var arms []string
		for i := range n {
			arms = append(arms, fmt.Sprintf(`{"type":"object","properties":{"t":{"const":"k%d"},"x":{}},"required":["t"]}`, i))
		}
		schema := `{"type":"object","properties":{"u":{"oneOf":[` + strings.Join(arms, ",") + `]}}}`
		out, err := gogen.Generate(gogen.Input{Server: "s", Tools: []runtime.Tool{{Name: "t", InputSchema: json.RawMessage(schema)}}})
		require.NoError(t, err)
		checkFiles(t, out)
	}
}
