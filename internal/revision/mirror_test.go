package revision_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/revision"
)

func TestToolMirrorsRules(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object"}`: ``,
		`{"properties":{"a":{"type":"string","x-mcp-header":"Region"},"b":{"properties":{"c":{"type":"integer","x-mcp-header":"my_C"}}}}}`: `Mcp-Param-Region Mcp-Param-My_c`,
		`{"properties":{"a":{"type":["boolean","null"],"\u0078-mcp-header":"A"}}}`:                                                         `Mcp-Param-A`,
		`{"properties":{"x-mcp-header":{"type":"object","default":{"x-mcp-header":""}}}}`:                                                  ``,
		`{"properties":{"a":{"type":"string","x-mcp-header":""}}}`:                                                                         `! empty`,
		`{"properties":{"a":{"type":"string","x-mcp-header":7}}}`:                                                                          `! must be text`,
		`{"properties":{"a":{"type":"string","x-mcp-header":"My Region"}}}`:                                                                `! name of a header`,
		`{"properties":{"a":{"type":"string","x-mcp-header":"A:B"}}}`:                                                                      `! name of a header`,
		`{"properties":{"a":{"type":"string","x-mcp-header":"Région"}}}`:                                                                   `! name of a header`,
		`{"properties":{"a":{"type":"string","x-mcp-header":"a\tb"}}}`:                                                                     `! name of a header`,
		`{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`:                                                                        `! type`,
		`{"properties":{"a":{"type":"object","x-mcp-header":"A"}}}`:                                                                        `! type`,
		`{"properties":{"a":{"type":"array","x-mcp-header":"A"}}}`:                                                                         `! type`,
		`{"properties":{"a":{"type":["string","number"],"x-mcp-header":"A"}}}`:                                                             `! type`,
		`{"properties":{"a":{"type":"null","x-mcp-header":"A"}}}`:                                                                          `! type`,
		`{"properties":{"a":{"x-mcp-header":"A"}}}`:                                                                                        `! type`,
		`{"properties":{"a":{"type":"string","x-mcp-header":"Aa"},"b":{"type":"string","x-mcp-header":"aA"}}}`:                             `! the same`,
		`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"properties":{"c":{"type":"string","x-mcp-header":"A"}}}}}`:          `! the same`,
		`{"type":"string","x-mcp-header":"A"}`:                                                                                             `! properties only`,
		`{"properties":{"a":{"items":{"type":"string","x-mcp-header":"A"}}}}`:                                                              `! properties only`,
		`{"oneOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}`:                                                            `! properties only`,
		`{"if":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}`:                                                                 `! properties only`,
		`{"$defs":{"a":{"type":"string","x-mcp-header":"A"}},"properties":{"a":{"$ref":"#/$defs/a"}}}`:                                     `! properties only`,
	} {
		mirrors, err := revision.ToolMirrors(json.RawMessage(schema))
		var names []string
		for _, m := range mirrors {
			names = append(names, m.Header)
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = "! " + err.Error()
		}
		if strings.HasPrefix(want, "!") && !strings.Contains(got, want[2:]) || !strings.HasPrefix(want, "!") && got != want {
			t.Errorf("%s: got %s, want %s", schema, got, want)
		}
	}
}

func mirrors(t *testing.T) []revision.Mirror {
	t.Helper()
	m, err := revision.ToolMirrors(json.RawMessage(`{"properties":{
		"s":{"type":"string","x-mcp-header":"S"},"i":{"type":"integer","x-mcp-header":"I"},"b":{"type":"boolean","x-mcp-header":"B"},
		"o":{"type":"object","properties":{"s":{"type":"string","x-mcp-header":"O-S"}}}}}`))
	if err != nil || len(m) != 4 {
		t.Fatal(m, err)
	}
	return m
}

func TestMirrorValue(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"s":"us-west1","i":42,"b":false,"o":{"s":"in \u00e9"}}`: `Mcp-Param-B=false Mcp-Param-I=42 Mcp-Param-O-S=in é Mcp-Param-S=us-west1`,
		`{"s":"","i":42.0,"b":true}`:                              `Mcp-Param-B=true Mcp-Param-I=42 Mcp-Param-S=`,
		`{"i":-9007199254740991}`:                                 `Mcp-Param-I=-9007199254740991`,
		`{"i":1e3}`:                                               `Mcp-Param-I=1000`,
		`{"s":null,"o":null}`:                                     ``,
		`{"o":[1]}`:                                               ``,
		``:                                                        ``,
		`{"i":9007199254740993}`:                                  `!`,
		`{"i":1.5}`:                                               `!`,
		`{"s":{"a":1}}`:                                           `!`,
	} {
		var got []string
		for _, m := range mirrors(t) {
			text, ok, err := m.Value(json.RawMessage(arguments))
			switch {
			case err != nil:
				got = append(got, "!")
			case ok:
				got = append(got, m.Header+"="+text)
			}
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("%s: got %s, want %s", arguments, g, want)
		}
	}
}

func TestCheckMirrors(t *testing.T) {
	for _, c := range []struct {
		arguments, header string
		ok                bool
	}{
		{`{"s":"a"}`, "S: a", true},
		{`{"s":"a"}`, "S: =?base64?YQ==?=", true},
		{`{"s":"Hello, 世界"}`, "S: =?base64?SGVsbG8sIOS4lueVjA==?=", true},
		{`{"s":"a"}`, "S: =?base64?YQ=?=", false},
		{`{"s":"a"}`, "S: A", false},
		{`{"s":"a"}`, "", false},
		{`{"s":"a"}`, "S: a\nS: a", false},
		{`{"s":null}`, "S: a", false},
		{`{}`, "S: a", false},
		{`{}`, "", true},
		{`{}`, "Other: a", true},
		{`{"i":42}`, "I: 42.0", true},
		{`{"i":42.0}`, "I: 42", true},
		{`{"i":42}`, "I: 43", false},
		{`{"s":"42"}`, "S: 42.0", false},
		{`{"b":true}`, "B: true", true},
		{`{"b":true}`, "B: True", false},
		{`{"s":{}}`, "", false},
	} {
		h := http.Header{}
		for line := range strings.Lines(c.header) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			h.Add(revision.ParamPrefix+name, value)
		}
		if err := revision.CheckMirrors(mirrors(t), json.RawMessage(c.arguments), h); (err == nil) != c.ok {
			t.Errorf("%s with %q: got %v", c.arguments, c.header, err)
		}
	}
}
