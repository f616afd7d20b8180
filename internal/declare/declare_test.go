package declare_test

import (
	"encoding/json"
	"flag"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/declare"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/test/require"
)

var update = flag.Bool("update", false, "write the files of testdata")

func tool(name, definition string) declare.Tool {
	return declare.Tool{Name: name, Definition: json.RawMessage(definition)}
}

// small has each form of type once.
func small() *declare.Source {
	return &declare.Source{Of: "the view small", Unknown: []string{"later"}, Tools: []declare.Tool{
		tool("files__list", `{"title":"List files","description":"Lists a folder.\n\nOnly names.","inputSchema":{"type":"object","properties":{}}}`),
		tool("issues__create", `{"description":"Opens an issue.","inputSchema":{"type":"object","required":["title","state"],"properties":{
			"title":{"type":"string","description":"What is wrong."},"state":{"enum":["open","closed"]},
			"labels":{"type":"array","items":{"type":"string"}},"priority":{"type":["integer","null"]},"weight":{"type":"number"},
			"due":{"anyOf":[{"type":"string"},{"type":"object","required":["days"],"properties":{"days":{"type":"integer"}}}]},
			"extra":{"type":"object","additionalProperties":{"type":"boolean"}},"class":{"const":7},"any":{}}},
			"outputSchema":{"type":"object","required":["number"],"properties":{"number":{"type":"integer"},"open":{"type":"boolean"}},"additionalProperties":true}}`),
		tool("import", `{"inputSchema":{"type":"object","required":["root"],"properties":{"root":{"$ref":"#/$defs/node"},"from-file":{"type":"string"}},
			"$defs":{"node":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"nodes":{"type":"array","items":{"$ref":"#/$defs/node"}}}}}},
			"outputSchema":{"$ref":"#/$defs/json","$defs":{"json":{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#/$defs/json"}}]}}}}`),
		tool("1.wide.region", `{"inputSchema":{"type":"object","properties":{"at":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}}}`),
		tool("broken", `{"description":7,"inputSchema":{"type":"object","properties":7},"outputSchema":[]}`),
	}}
}

// TestWrite: a small set, as it is in testdata.
func TestWrite(t *testing.T) {
	for _, l := range declare.Languages() {
		got := string(small().Write(l))
		path := filepath.Join("testdata", "small."+string(l)+".txt")
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
			continue
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
			t.Errorf("%s (-want +got), go test -update to accept:\n%s", path, diff)
		}
	}
}

// TestDigest: the digest is that of names, texts and schemas, in any order.
func TestDigest(t *testing.T) {
	a, b := small(), small()
	b.Tools[0], b.Tools[1] = b.Tools[1], b.Tools[0]
	b.Of = "another view"
	if a.Digest() != b.Digest() {
		t.Error("the order of tools counts")
	}
	for _, change := range [][2]string{{"Opens an issue.", "Opens an issue"}, {`"number"}`, `"integer"}`}, {`"name":"x"`, `"name":"y"`}} {
		c := small()
		c.Tools[1].Definition = json.RawMessage(strings.ReplaceAll(string(c.Tools[1].Definition), change[0], change[1]))
		if same := a.Digest() == c.Digest(); same != (change[0] == `"name":"x"`) {
			t.Errorf("%s: same is %t", change, same)
		}
	}
}

// hostile are texts that end comments, docstrings and strings, or look like something else.
func hostile() []string {
	return []string{
		`*/ process.exit(7); /*`, "*/\n*/x", `*`, `/`, `""" + exit(7) + """`, `"""`, `""""`, `"`, `\`, `\"`, `\\`, `'''`, "`", "${process.exit(7)}", `\u002a/ x`, `\N{BULLET}`, `\x`,
		"line\nexit(7)\r\nexit(8)\rexit(9)\u2028exit(10)\u2029exit(11)\u0085exit(12)\vexit(13)\fexit(14)", "a\x00b", "\u202eevil\u202c\u2066x\u2069", "\ufeff", "\U000e0041\u3164\ufe0f",
		"// @ts-ignore", "@ts-nocheck", "# type: ignore", "type: ignore", "//go:build ignore", "+build ignore", " \t+build ignore", "//line x:1", "\ngo:embed x", "%s%d", "{{.}}", "𝒳é中", "]]>", "</script>", "#!x", "-*- coding: utf-7 -*-", "=?base64?x?=",
	}
}

// attacked returns tools with a text in every place that servers choose.
func attacked() *declare.Source {
	s := &declare.Source{Of: "the view x", Unknown: []string{"*/ \"\"\"\nexit(7)"}}
	for i, text := range hostile() {
		q := func(s string) string { raw, _ := json.Marshal(s); return string(raw) }
		schema := `{"type":"object","title":` + q(text) + `,"description":` + q(text) + `,"required":[` + q(text) + `],"properties":{` + q(text) + `:{"description":` + q(text) + `,"enum":[` + q(text) + `,"a"]},"type":{"description":` + q(text) +
			`},"n":{"type":"object","description":` + q(text) + `,"properties":{` + q("n"+text) + `:{"type":"string","description":` + q(text) + `}}}}}`
		s.Tools = append(s.Tools, tool(text, `{"title":`+q("t"+text)+`,"description":`+q(text+"\n"+text)+`,"inputSchema":`+schema+`,"outputSchema":`+schema+`}`))
		if i%2 == 0 {
			s.Tools = append(s.Tools, tool(text+text, `{"description":`+q(text)+`,"inputSchema":{"type":"object"},"outputSchema":{"enum":[`+q(text)+`]}}`))
		}
	}
	return s
}

// names are names that some language keeps for itself, or that the module uses.
func names() *declare.Source {
	s := &declare.Source{Of: "the view x"}
	for name := range strings.FieldsSeq("import class def function list str dict isinstance call fetch process JSON Error await async eval arguments None True type match ToolResult toolResult ToolResultParams _call _json _os __init__ __name__ constructor prototype __proto__ 1 _ - a.b a-b a_b a__b A.B AB ABParams ABResult go string error any nil len panic context http init main call_2 structured Promise Object object undefined NaN 日本") {
		s.Tools = append(s.Tools, tool(name, `{"inputSchema":{"type":"object","properties":{"`+name+`":{"type":"string"},"type":{"type":"integer"}}},"outputSchema":{"type":"object","properties":{"`+name+`":{"type":"number"}}}}`))
	}
	return s
}

// TestHostile: what servers choose stays text, and brings nothing hidden in. Compilers of Go and
// Python read it here; that of TypeScript does in test/peers.
func TestHostile(t *testing.T) {
	for name, s := range map[string]*declare.Source{"hostile": attacked(), "names": names(), "small": small()} {
		for _, l := range declare.Languages() {
			code := string(s.Write(l))
			if got := plain.Text(code); got != code {
				t.Errorf("%s.%s has hidden characters", name, l)
			}
			for line := range strings.Lines(code) {
				if strings.HasPrefix(line, "//go:") || strings.HasPrefix(line, "//line") || strings.HasPrefix(line, "// +build") {
					t.Errorf("%s.%s has the line %q", name, l, line)
				}
			}
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "x.go", s.Write(declare.Go), parser.AllErrors); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPython: Python reads each module, and runs what is not in a function.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil || exec.CommandContext(t.Context(), python, "-c", "from typing import NotRequired").Run() != nil {
		t.Skip("there is no Python 3.11 or newer")
	}
	dir := t.TempDir()
	for name, s := range map[string]*declare.Source{"hostile": attacked(), "names": names(), "small": small(), "corpus": corpus(t)} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".py"), s.Write(declare.Python), 0o600))
		run := exec.CommandContext(t.Context(), python, "-W", "error", "-c", "import "+name)
		run.Dir = dir
		if out, err := run.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

// TestPythonUnions: in a union, lists and dicts keep their own arguments, and literals their
// values, whatever stands beside them.
func TestPythonUnions(t *testing.T) {
	for schema, want := range map[string]string{
		`{"anyOf":[{"type":"integer"},{"type":"array","items":{"type":"integer"}},{"const":"all"}]}`:                   `int | list[int] | Literal["all"]`,
		`{"anyOf":[{"type":"array","items":{"type":"string"}},{"enum":["a","b"]}]}`:                                    `list[str] | Literal["a", "b"]`,
		`{"anyOf":[{"type":"object","additionalProperties":{"type":"integer"}},{"const":"z"}]}`:                        `dict[str, int] | Literal["z"]`,
		`{"anyOf":[{"const":"a"},{"const":"b"},{"type":"null"},{"const":7}]}`:                                          `Literal["a", "b"] | None | Literal[7]`,
		`{"enum":["a] | Literal[b","] | Literal["]}`:                                                                   `Literal["a] | Literal[b", "] | Literal["]`,
		`{"anyOf":[{"type":"array","items":{"enum":["x","y"]}},{"enum":[true,1]},{"type":"array","items":{}}]}`:        `list[Literal["x", "y"]] | Literal[True, 1] | list[Any]`,
		`{"type":"array","items":{"anyOf":[{"type":"array","items":{"type":"boolean"}},{"const":"a"}]}}`:               `list[list[bool] | Literal["a"]]`,
		`{"anyOf":[{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]},{"const":1},{"const":2}]}`: `str | list[str] | Literal[1, 2]`,
	} {
		s := &declare.Source{Of: "x", Tools: []declare.Tool{tool("t", `{"inputSchema":{"type":"object","required":["v"],"properties":{"v":`+schema+`}}}`)}}
		if code := string(s.Write(declare.Python)); !strings.Contains(code, "v: "+want+"\n") {
			_, got, _ := strings.Cut(code, "    v: ")
			got, _, _ = strings.Cut(got, "\n")
			t.Errorf("%s\n got %s\nwant %s", schema, got, want)
		}
	}
}

// TestGo: go vet accepts each package.
func TestGo(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/x\n\ngo 1.26\n"), 0o600))
	for name, s := range map[string]*declare.Source{"hostile": attacked(), "names": names(), "small": small(), "corpus": corpus(t)} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, "tools.go"), s.Write(declare.Go), 0o600))
	}
	vet := exec.CommandContext(t.Context(), "go", "vet", "./...")
	vet.Dir = dir
	vet.Env = append(vet.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := vet.CombinedOutput(); err != nil || len(out) > 0 { // such as of files that are left out
		t.Errorf("%v: %s", err, out)
	}
}
