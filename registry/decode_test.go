package registry_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestParseServer(t *testing.T) {
	doc := `{"name":"a.b/c","version":"1.0.0","title":"C","description":"d","websiteUrl":"https://c.example",
	 "repository":{"url":"https://git.example/c","source":"git","subfolder":"x"},
	 "packages":[{"registryType":"npm","registryBaseUrl":"https://r.example","identifier":"@a/c","version":"1.0.0","runtimeHint":"npx",
	   "transport":{"type":"streamable-http","url":"http://localhost:{--port}/mcp"},
	   "runtimeArguments":[{"type":"named","name":"-q"}],
	   "packageArguments":[{"type":"positional","valueHint":"dir","isRepeated":true,"isRequired":true,"format":"filepath","value":""},
	     {"type":"named","name":"--port","default":"3000","choices":["3000","3001"],"placeholder":"8080"}],
	   "environmentVariables":[{"name":"K","description":"key","isSecret":true,"value":"{b}{a}","variables":{"b":{"default":"1"},"a":{"isRequired":true}}}]}],
	 "remotes":[{"type":"sse","url":"https://{t}.example/sse","variables":{"t":{"default":"x"}},"headers":[{"name":"H","value":"v"}]}],
	 "unknown":{"kept":1}}`
	want := &registry.Server{
		Name: "a.b/c", Version: "1.0.0", Title: "C", Description: "d", WebsiteURL: "https://c.example",
		Repository: registry.Repository{URL: "https://git.example/c", Source: "git", Subfolder: "x"},
		Packages: []registry.Package{{
			RegistryType: "npm", RegistryBaseURL: "https://r.example", Identifier: "@a/c", Version: "1.0.0", RuntimeHint: "npx",
			Transport:        registry.Remote{Type: "streamable-http", URL: "http://localhost:{--port}/mcp"},
			RuntimeArguments: []registry.Argument{{Named: true, Name: "-q"}},
			PackageArguments: []registry.Argument{
				{ValueHint: "dir", Repeated: true, Input: registry.Input{Required: true, Format: "filepath", Value: new("")}},
				{Named: true, Name: "--port", Input: registry.Input{Default: new("3000"), Choices: []string{"3000", "3001"}, Placeholder: "8080"}},
			},
			EnvironmentVariables: []registry.KeyValueInput{{Name: "K", Input: registry.Input{
				Description: "key", Secret: true, Value: new("{b}{a}"),
				Variables: []registry.KeyValueInput{{Name: "b", Input: registry.Input{Default: new("1")}}, {Name: "a", Input: registry.Input{Required: true}}},
			}}},
		}},
		Remotes: []registry.Remote{{
			Type: "sse", URL: "https://{t}.example/sse",
			Variables: []registry.KeyValueInput{{Name: "t", Input: registry.Input{Default: new("x")}}},
			Headers:   []registry.KeyValueInput{{Name: "H", Input: registry.Input{Value: new("v")}}},
		}},
		Raw: json.RawMessage(doc),
	}
	got, err := registry.ParseServer(json.RawMessage(doc))
	require.NoError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSnakeCaseIsTheSame(t *testing.T) {
	camel := `{"name":"a.b/c","version":"1","websiteUrl":"w","packages":[{"registryType":"npm","registryBaseUrl":"u","identifier":"i","runtimeHint":"npx",
	  "runtimeArguments":[{"type":"positional","valueHint":"h","isRequired":true,"isRepeated":true}],"fileSha256":"f",
	  "environmentVariables":[{"name":"K","isSecret":true,"variables":{"is_required":{"isRequired":true}}}]}]}`
	snake := `{"name":"a.b/c","version":"1","website_url":"w","packages":[{"registry_type":"npm","registry_base_url":"u","identifier":"i","runtime_hint":"npx",
	  "runtime_arguments":[{"type":"positional","value_hint":"h","is_required":true,"is_repeated":true}],"file_sha256":"f",
	  "environment_variables":[{"name":"K","is_secret":true,"variables":{"is_required":{"is_required":true}}}]}]}`
	a, err := registry.ParseServer(json.RawMessage(camel))
	require.NoError(t, err)
	b, err := registry.ParseServer(json.RawMessage(snake))
	require.NoError(t, err)
	if diff := cmp.Diff(a, b, cmpopts.IgnoreFields(registry.Server{}, "Raw")); diff != "" {
		t.Error(diff)
	}
}

func TestWrongKindsCostOneMember(t *testing.T) {
	doc := `{"name":"a.b/c","version":2,"title":{},"remotes":{},"packages":[null,{"registryType":"npm","identifier":"i",
	  "runtimeArguments":["--bare",7,{"type":"named"},{"type":"odd","name":"-x"}],
	  "packageArguments":[{"type":"named","name":"-n","default":3000,"isRequired":"true","choices":[1,{}]}],
	  "environmentVariables":{"K":"v"},"transport":"stdio"}]}`
	got, err := registry.ParseServer(json.RawMessage(doc))
	require.NoError(t, err)
	want := &registry.Server{
		Name: "a.b/c", Version: "2",
		Packages: []registry.Package{{}, {
			RegistryType: "npm", Identifier: "i",
			RuntimeArguments: []registry.Argument{
				{Input: registry.Input{Value: new("--bare")}},
				{Input: registry.Input{Value: new("7")}},
				{Named: true, Name: "-x"},
			},
			PackageArguments: []registry.Argument{{Named: true, Name: "-n", Input: registry.Input{Default: new("3000"), Required: true, Choices: []string{"1"}}}},
		}},
		Faults: []string{
			"title: not a text; ignored",
			"packages[0]: not an object; ignored",
			"packages[1].runtimeArguments[0]: a bare text, read as a fixed positional argument",
			"packages[1].runtimeArguments[1]: a bare text, read as a fixed positional argument",
			"packages[1].runtimeArguments[2].name: missing; the argument is left out",
			`packages[1].runtimeArguments[3].type: "odd" is neither named nor positional`,
			"packages[1].packageArguments[0].choices[1]: not a text; ignored",
			"packages[1].environmentVariables: not a list; ignored",
			"packages[1].transport: not an object; ignored",
			"remotes: not a list; ignored",
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(registry.Server{}, "Raw")); diff != "" {
		t.Error(diff)
	}
}

func TestMeta(t *testing.T) {
	rec, err := registry.ParseRecord(json.RawMessage(`{"server":{"name":"a","_meta":{"io.modelcontextprotocol.registry/official":{"status":"deleted"}}},
	  "_meta":{"x":1,"io.modelcontextprotocol.registry/official":{"status":"deprecated","statusMessage":"m","isLatest":false,"publishedAt":"p"}}}`))
	require.NoError(t, err)
	want := registry.Meta{Status: registry.Deprecated, StatusMessage: "m", PublishedAt: "p", Marked: true}
	if diff := cmp.Diff(want, rec.Meta, cmpopts.IgnoreFields(registry.Meta{}, "Raw")); diff != "" {
		t.Error(diff)
	}
	rec, err = registry.ParseRecord(json.RawMessage(`{"server":{"name":"a"}}`))
	if err != nil || rec.Meta.Status != registry.Active || !rec.Meta.Latest {
		t.Errorf("without _meta: got %+v %v, want active and latest", rec, err)
	}
}

func FuzzParseRecord(f *testing.F) {
	f.Add([]byte(`{"server":{"name":"a.b/c","packages":[{"transport":{},"runtimeArguments":["x",{"type":"named","name":"-e","variables":{"a":{"choices":[1]}}}]}],"remotes":[{}]},"_meta":{}}`))
	f.Add([]byte(`{"name":1,"packages":null}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		rec, err := registry.ParseRecord(b)
		if err != nil {
			return
		}
		if rec.Server.Name == "" {
			t.Error("a record without a name passed")
		}
		if !json.Valid(rec.Server.Raw) {
			t.Errorf("raw document is not JSON: %q", rec.Server.Raw)
		}
	})
}
