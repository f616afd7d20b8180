package views_test

import (
	"bytes"
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/test/require"
)

// decoded returns an object, numbers as they are written; nil for other text.
func decoded(text []byte) (object map[string]any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&object) != nil {
		return nil
	}
	return object
}

// FuzzRewrite: arguments are what the client has sent and the additions, which are one piece
// before the last bracket; what must not be sent is refused.
func FuzzRewrite(f *testing.F) {
	for _, text := range []string{``, `null`, `{}`, ` { } `, `{"a":9007199254740993,"b":{"fixed":1}}`, `{"fixed":1}`, `{"FIXED":1}`, `{"defa\u0075lt":null}`, `{"a":1,"a":2}`, `{"hidden":{}}`, `[1]`, `{"\ud800":1,"\ud801":2}`, `{"k":"}"}`, "{\"fi\u017fed\":1}"} {
		f.Add([]byte(text), "fixed", []byte(`"v"`))
	}
	f.Add([]byte(`{"x":1}`), "é\"\n", []byte(` [1, {"n":9007199254740993}]`))
	f.Fuzz(func(t *testing.T, text []byte, name string, value []byte) {
		if !utf8.Valid(text) || name == "" || strings.EqualFold(name, "default") || strings.EqualFold(name, "hidden") || rawjson.Valid(value) != nil || rawjson.Valid(rawjson.Quote(nil, name)) != nil || strings.ContainsRune(name, '\uFFFD') || strings.ToValidUTF8(name, "") != name {
			t.Skip()
		}
		v := changed(t, views.Override{Arguments: map[string]views.Argument{
			name: {Value: value}, "default": {Default: json.RawMessage(`9007199254740993`)}, "hidden": {Hide: true},
		}})
		got, err := v.Tool("gh__t").Rewrite(text)
		sent := text
		if len(sent) == 0 || string(sent) == "null" {
			sent = []byte("{}")
		}
		entries, notObject := rawjson.Entries(sent)
		var names []string
		refused := notObject != nil
		has := false
		for _, e := range entries {
			refused = refused || slices.Contains(names, e.Name) || strings.EqualFold(e.Name, name) || strings.EqualFold(e.Name, "hidden") ||
				strings.EqualFold(e.Name, "default") && e.Name != "default"
			has = has || e.Name == "default"
			names = append(names, e.Name)
		}
		if refused != (err != nil) {
			t.Fatalf("%q: got %q, %v", text, got, err)
		}
		if refused {
			return
		}
		end := bytes.LastIndexByte(sent, '}')
		if !bytes.HasPrefix(got, sent[:end]) || !bytes.HasSuffix(got, sent[end:]) {
			t.Fatalf("%q: other bytes are not the same: %q", text, got)
		}
		if rawjson.Valid(got) != nil || bytes.ContainsAny(got[end:len(got)-len(sent[end:])], "\r\n") {
			t.Fatalf("%q: got %q", text, got)
		}
		after, err := rawjson.Entries(got)
		require.NoError(t, err)
		want := append(slices.Clone(names), name)
		if !has {
			want = append(want, "default")
		}
		var now []string
		for i, e := range after {
			now = append(now, e.Name)
			if i < len(entries) && !bytes.Equal(e.Value.Of(got), entries[i].Value.Of(sent)) {
				t.Fatalf("%q: %s is %s", text, e.Name, e.Value.Of(got))
			}
			if i >= len(entries) && e.Name == name && !reflect.DeepEqual(rawjson.Normal(e.Value.Of(got)), rawjson.Normal(bytes.TrimSpace(rawjson.OneLine(bytes.Clone(value))))) {
				t.Fatalf("%s is %s, want %s", name, e.Value.Of(got), value)
			}
		}
		slices.Sort(now[len(entries):])
		slices.Sort(want[len(entries):])
		if !slices.Equal(now, want) {
			t.Fatalf("%q: members are %q, want %q", text, now, want)
		}
	})
}

// FuzzPresent: a definition is what it was with the changes and no others; a fixed and a
// hidden argument are neither among the properties nor required.
func FuzzPresent(f *testing.F) {
	f.Add([]byte(definition))
	f.Add([]byte(`{"inputSchema":{"properties":{"owner":{},"labels":true,"body":{"default":1}},"required":[]},"annotations":{"title":""}}`))
	f.Add([]byte(`{"inputSchema":{"required":["body"],"properties":{"body":true, "labels":{"description":"x"}, "owner":{"x":[9007199254740993]}}}}`))
	f.Add([]byte(`{"inputSchema":{"properties":{"owner":{},"labels":{},"body":{}},"allOf":[]}}`))
	f.Add([]byte(`{"inputSchema":{"properties":{"owner":{},"labels":{},"body":{"$ref":"#/properties/labels"}}}}`))
	f.Add([]byte(`{"inputSchema":{"default":{"owner":1},"properties":{"owner":{},"labels":{},"body":{}},"required":["body"],"examples":[{"body":2}]}}`))
	f.Add([]byte(`{"inputSchema":{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{},"c~":{}},"definitions":{"d":{}},"properties":{"owner":{"$ref":"#/$defs/a"},"labels":{"$ref":"#/$defs/b"},"body":{"items":[{"$ref":"#/$defs/c~0"},{"$ref":"#/definitions/d"}]}}}}`))
	o := views.Override{Title: "New", Description: "Does \"it\".", Arguments: map[string]views.Argument{
		"owner": {Value: json.RawMessage(`"acme"`)}, "labels": {Default: json.RawMessage(`[9007199254740993]`), Description: "L"}, "body": {Hide: true},
	}}
	v := changed(f, o)
	f.Fuzz(func(t *testing.T, text []byte) {
		var m rawjson.Message
		if rawjson.Scan(text, &m) != nil { // a list has been read before
			t.Skip()
		}
		if spaced := slices.Concat([]byte("[ "), text, []byte("]")); bytes.Equal(rawjson.Normal(spaced), spaced) {
			t.Skip() // somewhere a name stands twice
		}
		got, err := v.Present("gh", "gh__t", text)
		if err != nil {
			return
		}
		if rawjson.Valid(got) != nil {
			t.Fatalf("%q: got %q", text, got)
		}
		want, now := decoded(text), decoded(got)
		if want == nil || now == nil {
			t.Fatalf("%q: got %q", text, got)
		}
		want["title"], want["description"] = o.Title, o.Description
		if a, ok := want["annotations"].(map[string]any); ok && a["title"] != nil {
			a["title"] = o.Title
		}
		schema := want["inputSchema"].(map[string]any)
		properties := schema["properties"].(map[string]any)
		withoutUnused(schema, properties)
		delete(schema, "examples")
		delete(schema, "default")
		delete(properties, "owner")
		delete(properties, "body")
		labels, _ := properties["labels"].(map[string]any)
		if labels == nil {
			labels = map[string]any{}
		}
		labels["default"], labels["description"] = []any{json.Number("9007199254740993")}, "L"
		properties["labels"] = labels
		if required, ok := schema["required"].([]any); ok {
			required = slices.DeleteFunc(required, func(name any) bool { return name == "owner" || name == "body" || name == "labels" })
			if schema["required"] = required; len(required) == 0 {
				delete(schema, "required")
			}
		}
		if !reflect.DeepEqual(now, want) {
			t.Fatalf("%q: got %q", text, got)
		}
	})
}

// withoutUnused takes out of a schema the definitions that only owner and body use.
func withoutUnused(schema, properties map[string]any) {
	var follow func(value any, into map[string]bool)
	follow = func(value any, into map[string]bool) {
		switch value := value.(type) {
		case []any:
			for _, v := range value {
				follow(v, into)
			}
		case map[string]any:
			for name, v := range value {
				ref, is := v.(string)
				if is && (name == "$ref" || name == "$dynamicRef" || name == "$recursiveRef") && !into[ref] {
					into[ref] = true
					for _, shelf := range []string{"$defs", "definitions"} {
						rest, ok := strings.CutPrefix(ref, "#/"+shelf+"/")
						if defs, _ := schema[shelf].(map[string]any); ok {
							name, _, _ := strings.Cut(rest, "/")
							if unescaped, err := url.PathUnescape(name); err == nil {
								name = unescaped
							}
							name = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
							into["#/"+shelf+"\x00"+name] = true
							follow(defs[name], into)
						}
					}
				}
				follow(v, into)
			}
		}
	}
	seen, hidden := map[string]bool{}, map[string]bool{}
	for name, v := range properties {
		if name == "owner" || name == "body" {
			follow(v, hidden)
		} else {
			follow(v, seen)
		}
	}
	for name, v := range schema {
		if !slices.Contains([]string{"properties", "$defs", "definitions", "examples", "default"}, name) {
			follow(v, seen)
		}
	}
	for _, shelf := range []string{"$defs", "definitions"} {
		defs, ok := schema[shelf].(map[string]any)
		if !ok || len(defs) == 0 {
			continue
		}
		for name := range defs {
			if at := "#/" + shelf + "\x00" + name; hidden[at] && !seen[at] {
				delete(defs, name)
			}
		}
		if len(defs) == 0 {
			delete(schema, shelf)
		}
	}
}
