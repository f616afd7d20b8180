package config_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/schemas"
	"github.com/mcpctl/mcpctl/test/require"
)

func compile(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemas.Servers()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("servers.schema.json", doc))
	s, err := c.Compile("servers.schema.json")
	require.NoError(t, err)
	return s
}

// TestSchemaKeys: decoder, Entry and schema know the same keys.
func TestSchemaKeys(t *testing.T) {
	var s struct {
		ID      string `json:"$id"`
		Comment string `json:"$comment"`
		Dialect string `json:"$schema"`
		Defs    struct {
			Entry struct{ Properties map[string]json.RawMessage }
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(schemas.Servers(), &s))
	if s.ID == "" || s.Comment == "" || s.Dialect != "https://json-schema.org/draft/2020-12/schema" {
		t.Errorf("$id %q, $comment %q, $schema %q", s.ID, s.Comment, s.Dialect)
	}
	keys := config.Keys()
	slices.Sort(keys)
	if diff := cmp.Diff(keys, slices.Sorted(maps.Keys(s.Defs.Entry.Properties))); diff != "" {
		t.Errorf("decoder and schema (-decoder +schema):\n%s", diff)
	}
	var lower, fields []string
	for _, k := range keys {
		lower = append(lower, strings.ToLower(k))
	}
	entry := reflect.TypeFor[config.Entry]()
	for field := range entry.Fields() {
		switch name := field.Name; name {
		case "Name", "File", "Base", "Raw", "Fault", "ToolFilter": // not members of the object: the last is "tools", too
		default:
			fields = append(fields, strings.ToLower(name))
		}
	}
	slices.Sort(lower)
	slices.Sort(fields)
	if diff := cmp.Diff(lower, fields); diff != "" {
		t.Errorf("decoder and Entry (-decoder +Entry):\n%s", diff)
	}
}

// TestSchemaOfAuth: the schema has no member of auth that is not read, and an entry with a
// secret is warned about until it names who gets it.
func TestSchemaOfAuth(t *testing.T) {
	var s struct {
		Defs struct {
			Entry struct {
				Properties struct {
					Auth struct{ Properties map[string]json.RawMessage }
				}
			}
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(schemas.Servers(), &s))
	for name := range s.Defs.Entry.Properties.Auth.Properties {
		f := parse(t, `{"mcpServers":{"s":{"url":"http://x","auth":{"`+name+`":null}}}}`)
		if e, _ := f.Entry("s"); e.Err() != nil && strings.Contains(e.Err().Error(), "unknown key") {
			t.Errorf("%s: %v", name, e.Err())
		}
	}
	var params struct {
		PropertyNames struct{ Not struct{ Enum []string } }
	}
	require.NoError(t, json.Unmarshal(s.Defs.Entry.Properties.Auth.Properties["extraParams"], &params))
	if n := len(params.PropertyNames.Not.Enum); n != 25 {
		t.Errorf("the schema has %d parameters that mcpctl sets itself, want 25", n)
	}
	for _, name := range params.PropertyNames.Not.Enum {
		f := parse(t, `{"mcpServers":{"s":{"url":"http://x","auth":{"extraParams":{"`+name+`":"x"}}}}}`)
		if e, _ := f.Entry("s"); e.Err() == nil {
			t.Errorf("extraParams may have %s, and not by the schema", name)
		}
	}
	for auth, want := range map[string]int{
		`{"clientId":"c","clientSecret":"s"}`:                                       1,
		`{"grant":"jwt_bearer","tokenFile":"/run/t"}`:                               1,
		`{"tokenFile":"/run/t"}`:                                                    0,
		`{"clientId":"c"}`:                                                          0,
		`{"clientId":"c","clientSecret":"s","issuer":"https://i"}`:                  0,
		`{"grant":"password","username":"u","password":"p","tokenEndpoint":"${T}"}`: 0,
	} {
		f := parse(t, `{"mcpServers":{"s":{"url":"http://x","auth":`+auth+`}}}`)
		if got := f.Warnings(); len(got) != want || want > 0 && !strings.Contains(got[0].Message, "does not name it") {
			t.Errorf("%s: %v", auth, got)
		}
	}
}

// TestSchemaAgrees: the schema accepts and refuses the same as the decoder.
func TestSchemaAgrees(t *testing.T) {
	schema := compile(t)
	for _, entry := range []string{
		`{"command":"a"}`, `{"url":"http://x"}`, `{"url":"${U}"}`, `{"command":"a","url":"http://x"}`, `{}`, `[]`, `"a"`,
		`{"command":""}`, `{"command":1}`, `{"command":"a","args":["b"]}`, `{"command":"a","args":"b"}`, `{"command":"a","args":[1]}`,
		`{"command":"a","env":{"A":"b"}}`, `{"command":"a","env":{"A":1}}`, `{"command":"a","env":{"A=":"1"}}`, `{"command":"a","env":{"":"1"}}`,
		`{"url":"http://x","headers":{"A-b":"c"}}`, `{"url":"http://x","headers":{"A b":"c"}}`, `{"url":"http://x","headers":{"":"c"}}`,
		`{"command":"a","type":"stdio"}`, `{"command":"a","type":"http"}`, `{"url":"http://x","type":"sse"}`, `{"url":"http://x","type":"stdio"}`,
		`{"url":"http://x","type":"streamable-http"}`, `{"url":"http://x","type":"ws"}`, `{"command":"a","type":"cli"}`,
		`{"command":"a","cli":true,"cliOnly":["b"]}`, `{"command":"a","disabled":true}`, `{"command":"a","disabled":"yes"}`, `{"url":"http://x","cli":true}`, `{"url":"http://x","cli":false}`, `{"command":"a","cli":"true"}`,
		`{"command":"a","cli":true,"cliDeny":["b --c"],"cliDepth":3,"cliRoots":["/w"],"cliArgs":true,"cliHelp":"help"}`, `{"command":"a","cli":true,"cliDepth":0}`, `{"command":"a","cli":true,"cliDepth":10}`,
		`{"command":"a","tools":{"allow":["a*"],"deny":[]}}`, `{"url":"https://a","tools":{"deny":["a"]}}`, `{"command":"a","tools":{"alow":["a"]}}`, `{"command":"a","tools":{"deny":"a"}}`, `{"command":"a","tools":"a"}`, `{"command":"a","cli":true,"cliDepth":"2"}`, `{"command":"a","cli":true,"cliDepth":1.5}`, `{"command":"a","cli":true,"cliArgs":1}`, `{"command":"a","cli":true,"cliRoots":"/w"}`, `{"command":"a","cli":true,"cliHelp":["a"]}`,
		`{"command":"a","cli":true,"tools":[{"command":"b","name":"c","title":"t","description":"d","inputSchema":{},"annotations":{}}]}`, `{"command":"a","cli":true,"tools":{}}`,
		`{"command":"a","cli":true,"tools":["b"]}`, `{"command":"a","cli":true,"tools":[{"inputSchema":[]}]}`, `{"command":"a","cli":true,"tools":[{"name":1}]}`, `{"command":"a","cli":true,"tools":[{"annotations":true}]}`,
		`{"command":"a","missingEnv":"literal"}`, `{"command":"a","missingEnv":"x"}`,
		`{"command":"a","requestTimeout":"30s"}`, `{"command":"a","requestTimeout":"1h30m"}`, `{"command":"a","requestTimeout":"1.5s"}`,
		`{"command":"a","requestTimeout":".5s"}`, `{"command":"a","requestTimeout":"0"}`, `{"command":"a","requestTimeout":"never"}`,
		`{"command":"a","requestTimeout":"30"}`, `{"command":"a","requestTimeout":30}`, `{"command":"a","requestTimeout":"-1s"}`, `{"command":"a","requestTimeout":""}`,
		`{"command":"a","start":"cached"}`, `{"command":"a","start":"soon"}`, `{"command":"a","idleTimeout":"never","maxIdleTimeout":"10m"}`, `{"command":"a","minIdleTimeout":1}`,
		`{"command":"a","isolation":"principal"}`, `{"command":"a","maxPrincipals":1}`, `{"command":"a","maxPrincipals":0}`, `{"command":"a","maxPrincipals":10001}`, `{"command":"a","isolation":"none"}`, `{"command":"a","isolation":true}`,
		`{"command":"a","requestIdFormat":"string"}`, `{"command":"a","protocolVersion":"2025-06-18"}`, `{"command":"a","protocolVersion":"2025-11"}`, `{"command":"a","requestIdFormat":"uuid"}`, `{"command":"a","wrapUris":true}`, `{"command":"a","wrapUris":"yes"}`, `{"command":"a","strict":true}`,
		`{"url":"https://a","noServerStream":true}`, `{"url":"https://a","noServerStream":"no"}`, `{"command":"a","maxMessageBytes":65536}`, `{"command":"a","maxMessageBytes":1073741824}`,
		`{"command":"a","maxMessageBytes":65535}`, `{"command":"a","maxMessageBytes":1073741825}`, `{"command":"a","maxMessageBytes":"64k"}`, `{"command":"a","maxMessageBytes":1e5}`, `{"command":"a","strict":1}`,
		`{"command":"a","labels":["private"]}`, `{"command":"a","labels":["Private"]}`, `{"command":"a","labels":["a","a"]}`, `{"command":"a","labels":["a b"]}`, `{"command":"a","labels":"a"}`, `{"command":"a","labels":[]}`, `{"command":"a","trustAnnotations":true}`, `{"command":"a","trustAnnotations":"yes"}`,
		`{"url":"http://x","auth":{"grant":"password","username":"u","password":"p","tokenEndpoint":"https://i/t"}}`, `{"url":"http://x","auth":{"grant":"refresh_token","refreshToken":"r","issuer":"https://i"}}`,
		`{"url":"http://x","auth":{"clientId":"c","clientSecret":"s","tokenEndpoint":"https://i/t","authorizationEndpoint":"https://i/a","audience":"a","authStyle":"body","extraParams":{"tenant":"x"}}}`,
		`{"url":"http://x","auth":{"authStyle":"query"}}`, `{"url":"http://x","auth":{"extraParams":{"code":"x"}}}`, `{"url":"http://x","auth":{"extraParams":{"":"x"}}}`, `{"url":"http://x","auth":{"extraParams":{"a":1}}}`,
		`{"url":"http://x","auth":{"extraParams":["a"]}}`, `{"url":"http://x","auth":{"grant":"implicit"}}`, `{"url":"http://x","auth":{"token_endpoint":"https://i/t"}}`,
		`{"command":"a","pin":"hold"}`, `{"command":"a","pin":"off"}`, `{"command":"a","pin":"warn"}`, `{"command":"a","pin":"on"}`, `{"command":"a","pin":true}`,
		`{"command":"a","origin":{"registry":"r","name":"n","version":"v"}}`, `{"command":"a","origin":{"name":1}}`, `{"command":"a","origin":null}`,
		`{"command":"a","unknown":[1]}`,
	} {
		text := `{"mcpServers":{"s":` + entry + `}}`
		f := parse(t, text)
		e, _ := f.Entry("s")
		fault := e.Err()
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		require.NoError(t, err)
		invalid := schema.Validate(doc)
		if (fault == nil) != (invalid == nil) {
			t.Errorf("%s: the decoder says %v, the schema %v", entry, fault, invalid)
		}
	}
	for _, alias := range []string{"ok", "a.b-c_d", "a__b", "-a", "", "a b", strings.Repeat("a", 64), strings.Repeat("a", 65)} {
		name, err := json.Marshal(alias)
		require.NoError(t, err)
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"mcpServers":{` + string(name) + `:{"command":"a"}}}`))
		require.NoError(t, err)
		if invalid := schema.Validate(doc); (config.CheckAlias(alias) == nil) != (invalid == nil) {
			t.Errorf("alias %q: CheckAlias says %v, the schema %v", alias, config.CheckAlias(alias), invalid)
		}
	}
}
