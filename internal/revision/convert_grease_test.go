package revision_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

// greased puts an unknown member into every object of a text, each another one,
// and gives the names.
func greased(text string) (string, []string) {
	var names []string
	out := regexp.MustCompile(`\{("|\})`).ReplaceAllStringFunc(text, func(s string) string {
		name := fmt.Sprintf("x-grease-%d", len(names))
		names = append(names, name)
		rest := s[1:]
		if rest == `"` {
			rest = `,"`
		}
		return fmt.Sprintf(`{%q:[1.50,{"\u0061":9007199254740993}]`, name) + rest
	})
	return out, names
}

// washedOff returns the names that are not in a text with all that belongs to them.
func washedOff(text string, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return strings.Contains(text, fmt.Sprintf(`%q:[1.50,{"\u0061":9007199254740993}]`, name)) ||
			strings.Contains(text, fmt.Sprintf(`\"%s\":[1.50,{\"\\u0061\":9007199254740993}]`, name))
	})
}

// TestGrease: what no revision knows goes through every conversion.
func TestGrease(t *testing.T) {
	payloads := map[string][]string{
		"tools/call": {
			`{"content":[{"type":"text","text":"a"},{"type":"resource_link","uri":"a:b","name":"n","annotations":{"priority":1}},{"type":"audio","data":"AA==","mimeType":"m"},{"type":"resource","resource":{"uri":"a:b","text":"t"}}],"structuredContent":{"a":{}},"_meta":{"v/x":{}}}`,
			`{"content":[],"structuredContent":[{}],"isError":true}`,
		},
		"prompts/get":              {`{"messages":[{"role":"user","content":{"type":"audio","data":""}},{"role":"user","content":{"type":"resource_link","uri":"a:b"}}],"_meta":{}}`},
		"resources/read":           {`{"contents":[{"uri":"a:b","text":"","_meta":{"ui":{"csp":{}}}}]}`},
		"completion/complete":      {`{"completion":{"values":[]}}`},
		"tools/list":               {`{"tools":[{"name":"a"}]}`},
		"resources/templates/list": {`{"resourceTemplates":[{"uriTemplate":"a:{b}"}],"nextCursor":""}`},
	}
	for method, all := range payloads {
		for _, payload := range all {
			in, names := greased(payload)
			for _, from := range revision.Versions() {
				for _, to := range revision.Versions() {
					if method == "tools/call" && strings.Contains(payload, "[{}]") && (to < v202506 || !revision.IsModern(from)) {
						continue // an array is content of the stateless era alone
					}
					c := revision.Conversion{From: from, To: to, Method: method, Server: json.RawMessage(`{"name":"m"}`)}
					got, err := c.Result(json.RawMessage(in))
					if err != nil || !json.Valid(got) || len(washedOff(string(got), names)) > 0 {
						t.Errorf("%s from %s to %s: lost %v, %v: %s", method, from, to, washedOff(string(got), names), err, got)
					}
				}
			}
		}
	}
	tool, names := greased(`{"name":"a","inputSchema":{"type":"object","properties":{"p":{}}},"outputSchema":{"type":"array","items":{"$ref":"#/$defs/d"},"$defs":{"d":{}}},"annotations":{},"_meta":{"ui":{}}}`)
	for _, to := range revision.Versions() {
		c := revision.Conversion{From: v2026, To: to, Method: "tools/list"}
		if got := string(c.Item([]byte(tool))); len(washedOff(got, names)) > 0 || !json.Valid([]byte(got)) {
			t.Errorf("tool for %s: lost %v: %s", to, washedOff(got, names), got)
		}
	}
	for method, params := range map[string]string{
		"elicitation/create":     `{"message":"m","mode":"form","requestedSchema":{"type":"object","properties":{"c":{"type":"string","oneOf":[{"const":"a","title":"A"}]},"d":{"type":"boolean"}}},"_meta":{}}`,
		"sampling/createMessage": `{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","data":""}]}],"modelPreferences":{"hints":[{}]},"metadata":{}}`,
		"roots/list":             `{"_meta":{"v/x":{}}}`,
	} {
		in, names := greased(params)
		for _, from := range revision.Versions() {
			for _, to := range revision.Versions() {
				if method == "elicitation/create" && to < v202506 {
					continue
				}
				names := names
				if method == "elicitation/create" && to == v202506 {
					// Titled choices are objects here and text there.
					names = slices.DeleteFunc(slices.Clone(names), func(n string) bool {
						return strings.Contains(in, `"`+n+`":[1.50,{"\u0061":9007199254740993}],"const"`)
					})
				}
				q := revision.Question{From: from, To: to, Method: method, Capabilities: json.RawMessage(everything), Name: "n"}
				got, err := q.Params(json.RawMessage(in))
				if err != nil || !json.Valid(got) || len(washedOff(string(got), names)) > 0 {
					t.Errorf("%s from %s to %s: lost %v, %v: %s", method, from, to, washedOff(string(got), names), err, got)
				}
			}
		}
	}
	object, names := greased(`{"code":-32002,"message":"m","data":{"uri":"a:b"}}`)
	for _, to := range revision.Versions() {
		c := revision.Conversion{From: v202511, To: to, Method: "resources/read"}
		if got := string(c.Error(runtime.ParseError(json.RawMessage(object))).Raw); len(washedOff(got, names)) > 0 {
			t.Errorf("error for %s: lost %v: %s", to, washedOff(got, names), got)
		}
	}
}
