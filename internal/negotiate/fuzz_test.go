package negotiate

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
)

// members decodes an object; false for anything else, and for one that has a
// member twice, where readers differ.
func members(raw []byte) (map[string]json.RawMessage, bool) {
	entries, err := rawjson.Entries(raw)
	if err != nil {
		return nil, false
	}
	m := map[string]json.RawMessage{}
	for _, e := range entries {
		if m[e.Name] != nil {
			return nil, false
		}
		m[e.Name] = e.Value.Of(raw)
	}
	return m, true
}

// same reports whether two objects have the same members but for some, byte for
// byte.
func same(a, b map[string]json.RawMessage, but ...string) bool {
	for _, name := range but {
		delete(a, name)
		delete(b, name)
	}
	return reflect.DeepEqual(a, b)
}

// FuzzMeta: a request has our claims, once each, and keeps everything else; for
// a server of the handshake era it has none.
func FuzzMeta(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"_meta":null}`, `{"_meta":{}}`, `{"name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"x","progressToken":1.0}}`,
		`{"_meta":{"io.modelcontextprotocol\/logLevel":"debug","a":1,"a":2}, "z" : [1 , 2]}`, `{"\u005fmeta":{"io.modelcontextprotocol/x":{}}}`, `[]`, `{"_meta":7}`,
	} {
		f.Add([]byte(seed))
	}
	own := []rawjson.Member{{Name: revision.MetaVersion, Value: []byte(`"2026-07-28"`)}, {Name: revision.MetaClient, Value: []byte(`{}`)}, {Name: revision.MetaCapabilities, Value: []byte(`{"roots":{}}`)}}
	f.Fuzz(func(t *testing.T, params []byte) {
		before, ok := members(params)
		if !ok || rawjson.Valid(params) != nil {
			return
		}
		out, err := revision.AddMeta(params, own, []byte(`"info"`))
		if err != nil {
			return // _meta is no object
		}
		if err := rawjson.Valid(out); err != nil {
			t.Fatalf("%s: %s is no JSON: %v", params, out, err)
		}
		after, ok := members(out)
		if !ok {
			t.Fatalf("%s: %s has a member twice", params, out)
		}
		meta, err := rawjson.Entries(after["_meta"])
		if err != nil {
			t.Fatalf("%s: %s: %v", params, out, err)
		}
		count := map[string]int{}
		for _, e := range meta {
			count[e.Name]++
			for _, m := range own {
				if e.Name == m.Name && !bytes.Equal(e.Value.Of(after["_meta"]), m.Value) {
					t.Errorf("%s: %s says %s", params, e.Name, e.Value.Of(after["_meta"]))
				}
			}
		}
		for _, m := range own {
			if count[m.Name] != 1 {
				t.Errorf("%s: %d times %s in %s", params, count[m.Name], m.Name, out)
			}
		}
		if !same(before, after, "_meta") {
			t.Errorf("%s became %s", params, out)
		}
		bare, ok := members(revision.RemoveMeta(out))
		if !ok {
			t.Fatalf("%s became %s", out, revision.RemoveMeta(out))
		}
		left, err := rawjson.Entries(bare["_meta"])
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range left {
			if strings.HasPrefix(e.Name, revision.MetaPrefix) {
				t.Errorf("%s: %s is left for a server of the handshake era", params, e.Name)
			}
		}
	})
}

// FuzzAgain: the params of a further round are those of the first with the
// answers and state of that round.
func FuzzAgain(f *testing.F) {
	for _, seed := range []string{`{}`, `{"name":"x","arguments":{"n":9007199254740993}}`, `{"inputResponses":{},"requestState":"old" , "requestState":"older", "a" : 1.0}`, `7`} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, params []byte, state bool) {
		if rawjson.Valid(params) != nil {
			return
		}
		answers, given := json.RawMessage(`{"k":{ "a":1.0}}`), json.RawMessage(nil)
		if state {
			given = json.RawMessage(`"st\u00e4te"`)
		}
		out, err := nextParams(params, answers, given)
		if err != nil {
			return // no object
		}
		after, ok := members(out)
		before, unique := members(params)
		if !unique {
			return
		}
		if !ok || string(after[revision.MemberInputResponses]) != string(answers) || string(after[revision.MemberRequestState]) != string(given) {
			t.Fatalf("%s became %s", params, out)
		}
		if !same(before, after, revision.MemberInputResponses, revision.MemberRequestState) {
			t.Errorf("%s became %s", params, out)
		}
	})
}

// FuzzTools: a list that has passed through has no tool that breaks the rules,
// and is JSON still.
func FuzzTools(f *testing.F) {
	for _, seed := range []string{
		`{"tools":[]}`, `{"tools":[{"name":"a","inputSchema":{"properties":{"x":{"type":"string","x-mcp-header":"X"}}}}],"nextCursor":""}`,
		`{"tools" : [ {"name":"a","inputSchema":{"properties":{"x":{"type":"number","\u0078-mcp-header":"X"}}}} , {"name":"b","inputSchema":{"items":{"x-mcp-header":"Y","type":"string"},"maximum":1e999,"pattern":"\\d"}} ]}`,
		`{"tools":[7,{"name":"a"},{"inputSchema":{"oneOf":[{"x-mcp-header":1},[{"x-mcp-header":2}]]}}]}`, `{"tools":7}`, `[]`,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	logger := slog.New(slog.DiscardHandler)
	f.Fuzz(func(t *testing.T, result []byte, mirrors bool) {
		if rawjson.Valid(result) != nil {
			return
		}
		var box toolHeaders
		out := box.learn(nil, result, mirrors, logger)
		if err := rawjson.Valid(out); err != nil {
			t.Fatalf("%s became %s: %v", result, out, err)
		}
		list, err := rawjson.Field(out, "tools")
		if err != nil || !list.Present() {
			return
		}
		spans, err := rawjson.Elements(list.Of(out))
		if err != nil {
			return
		}
		for _, at := range spans {
			tool := at.Of(list.Of(out))
			if _, schema, ok := toolSchema(tool); ok {
				if _, err := revision.ToolMirrors(schema.Of(tool)); err != nil {
					t.Errorf("%s is left in %s: %v", tool, result, err)
				}
			}
		}
	})
}
