package schema_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/test/require"
)

func parse(t *testing.T, raw string) *schema.Schema {
	t.Helper()
	s, err := schema.Parse(json.RawMessage(raw))
	require.NoError(t, err)
	return s
}

func TestValidate(t *testing.T) {
	const edits = `{"type":"object","properties":{"path":{"type":"string"},"dryRun":{"type":"boolean"},
		"edits":{"type":"array","items":{"type":"object","properties":{"oldText":{"type":"string"},"newText":{"type":"string"}},
		"required":["oldText","newText"],"additionalProperties":false}}},"required":["path","edits"],"additionalProperties":false}`
	tests := []struct {
		name, schema, value, want string
	}{
		{"fits", edits, `{"path":"a","edits":[{"oldText":"x","newText":"y"}]}`, ""},
		{"nested", edits, `{"path":"a","edits":[{"oldText":7,"newText":"y"}]}`, "at /edits/0/oldText: want string, got number"},
		{
			"all at once, in order", edits, `{"edits":[{"newText":1}],"dryrun":true}`,
			"at /dryrun: unknown name; did you mean dryRun?\nat /edits/0/newText: want string, got number\n" +
				"at /edits/0/oldText: required, but missing\nat /path: required, but missing",
		},
		{
			"unknown nested", edits, `{"path":"a","edits":[{"oldText":"x","newText":"y","old_text":"z"}]}`,
			"at /edits/0/old_text: unknown name; did you mean oldText?",
		},
		{
			"index order", `{"type":"array","items":{"type":"string"}}`, `["a","b",1,"","","","","","","",2]`,
			"at /2: want string, got number\nat /10: want string, got number",
		},
		{
			"enum", `{"properties":{"size":{"enum":["small","large"]}}}`, `{"size":"smal"}`,
			`at /size: "smal" is not one of "small", "large"; did you mean small?`,
		},
		{
			"nullable", `{"properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}`, `{"a":"x"}`,
			"at /a: want integer or null, got string",
		},
		{
			"one arm meant", `{"properties":{"a":{"anyOf":[{"type":"object","required":["b"]},{"type":"null"}]}}}`, `{"a":{}}`,
			"at /a/b: required, but missing",
		},
		{"discriminator", `{"oneOf":[{"properties":{"t":{"const":"x"},"n":{"type":"number"}},"required":["t"]},
			{"properties":{"t":{"const":"y"}},"required":["t"]}]}`, `{"t":"x","n":"1"}`, "at /n: want number, got string"},
		{
			"several arms", `{"anyOf":[{"type":"string","minLength":3},{"type":"string","pattern":"^z"}]}`, `"a"`,
			"fits none of the allowed forms: 1 character, want at least 3; or does not match the pattern ^z",
		},
		{"two arms fit", `{"oneOf":[{"type":"string"},{"minLength":0}]}`, `"a"`, "fits more than one of the forms that exclude one another"},
		{
			"big integer", `{"type":"integer","maximum":9007199254740992}`, `9007199254740993`,
			"9007199254740993 is above the maximum 9007199254740992",
		},
		{"whole numbers", `{"type":"array","items":{"type":"integer"}}`, `[1,1.0,1e3,12345678901234567890]`, ""},
		{"fraction", `{"type":"integer"}`, `1.5`, "want integer, got number"},
		{"exact multiple", `{"multipleOf":0.1}`, `0.3`, ""},
		{
			"draft-07", `{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":false}`, `["a",1]`,
			"last 1 additionalItem(s) not allowed",
		},
		{
			"tuple without dialect", `{"type":"array","items":[{"type":"string"}],"additionalItems":{"type":"number"}}`, `[1,"x"]`,
			"at /0: want string, got number\nat /1: want number, got string",
		},
		{"exclusive as boolean", `{"minimum":3,"exclusiveMinimum":true}`, `3`, "3 is not above 3"},
		{"nullable", `{"type":"object","properties":{"a":{"type":"string","nullable":true}}}`, `{"a":null}`, ""},
		{"nullable, another type", `{"type":"object","properties":{"a":{"type":["string"],"nullable":true}}}`, `{"a":1}`, "at /a: want null or string, got number"},
		{"nullable reference", `{"properties":{"a":{"$ref":"#/$defs/s","nullable":true}},"$defs":{"s":{"type":"string"}}}`, `{"a":null}`, ""},
		{"nullable enum", `{"properties":{"a":{"type":"string","enum":["x"],"nullable":true}}}`, `{"a":null}`, ""},
		{"nullable root", `{"nullable":true,"properties":{"a":{"$ref":"#/$defs/s"}},"required":["a"],"$defs":{"s":{"type":"string"}}}`, `{"a":1}`, "at /a: want string, got number"},
		{"not nullable", `{"type":"object","properties":{"a":{"type":"string","nullable":false}}}`, `{"a":null}`, "at /a: want string, got null"},
		{"names", `{"properties":{"m":{"propertyNames":{"pattern":"^[a-z]$"}}}}`, `{"m":{"A/":1,"b":2}}`, "at /m/A~1: the name: does not match the pattern ^[a-z]$"},
		{
			"names beside other members",
			`{"properties":{"y":{"properties":{"m":{"propertyNames":{"pattern":"^[a-z]$"}}}},"z":{"properties":{"v":{"type":"string"}}}}}`,
			`{"y":{"m":{"A":1}},"z":{"v":1}}`, "at /y/m/A: the name: does not match the pattern ^[a-z]$\nat /z/v: want string, got number",
		},
		{"names that a lookahead tells", `{"patternProperties":{"^(?!x)":{"type":"boolean"}},"additionalProperties":false}`, `{"b":true}`, ""},
		{"names of no pattern", `{"patternProperties":{"(":{"type":"boolean"},"^a":{"maximum":3}},"additionalProperties":false}`, `{"xa":1,"b":true,"a":2}`, ""},
		{"and those of other patterns", `{"patternProperties":{"(":true,"^a":{"maximum":3}},"additionalProperties":false}`, `{"a":4}`, "at /a: 4 is above the maximum 3"},
		{"null keywords", `{"type":"object","properties":{"a":{"type":"string","enum":null}},"required":null}`, `{"a":"x"}`, ""},
		{"required in a property", `{"properties":{"a":{"type":"string","required":true}}}`, `{}`, ""},
		{"look-ahead", `{"type":"string","pattern":"^(?!x)"}`, `"x"`, `does not match the pattern ^(?!x)`},
		{"look-ahead that matches", `{"type":"string","pattern":"^(?!x)"}`, `"y"`, ""},
		{"a control character", `{"type":"string","pattern":"^\\cA$"}`, `"a"`, `does not match the pattern ^\cA$`},
		{"a pattern that takes for ever", `{"type":"string","pattern":"^(?!x)(a+)+$"}`, `"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"`, ""},
		{"no pattern", `{"type":"string","pattern":"("}`, `"x"`, ""},
		{"unicode pattern", `{"type":"string","pattern":"^[\\u4e00-\\u9fff]+$"}`, `"a"`, `does not match the pattern ^[\u4e00-\u9fff]+$`},
		{"format is a note", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"string","format":"email"}`, `"x"`, ""},
		{
			"recursive", `{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}}}`,
			`{"next":{"next":{"next":1}}}`, "at /next/next/next: want object, got number",
		},
		{"slashes", `{"properties":{"a/b~c":{"type":"string"}}}`, `{"a/b~c":1}`, "at /a~1b~0c: want string, got number"},
		{"not json", `{}`, `{"a":`, "not valid JSON: unexpected end of input"},
		{"two values", `{}`, `1 2`, "not valid JSON: more than one JSON value"},
		{"bomb", `{"type":"integer"}`, `1e999999999`, "not valid JSON: the number 1e999999999 is out of bounds"},
		{"no schema", ``, `{"a":1}`, ""},
		{"false", `{"properties":{"a":false}}`, `{"a":1}`, "at /a: not allowed here"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := parse(t, tt.schema).Validate(json.RawMessage(tt.value))
			got := ""
			if err != nil {
				got = err.Error()
				var v *schema.ValidationError
				if !errors.As(err, &v) || v.ExitKind() != "usage" {
					t.Errorf("got %T, want a ValidationError of kind usage", err)
				}
			}
			if tt.name == "not json" {
				if !strings.HasPrefix(got, "not valid JSON: ") {
					t.Errorf("got %q", got)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestUnusableSchemas(t *testing.T) {
	deep := strings.Repeat(`{"not":`, 300) + `{}` + strings.Repeat(`}`, 300)
	tests := []struct{ name, raw, want string }{
		{"remote", `{"$ref":"https://example.com/s.json"}`, "nothing is fetched"},
		{"file", `{"$ref":"file:///etc/passwd"}`, "nothing is fetched"},
		{"unknown dialect", `{"$schema":"https://example.com/dialect"}`, "nothing is fetched"},
		{"dangling", `{"$ref":"#/$defs/none"}`, "not found"},
		{"bad keyword", `{"type":"strnig"}`, "type"},
		{"array", `[]`, "neither an object nor a boolean"},
		{"deep", deep, "nested deeper"},
		{"bomb", `{"maximum":1e999999999}`, "out of bounds"},
		{"cut off", `{"type":`, "EOF"},
		{"endless", `{"$ref":"#"}`, "refer to one another without end"},
		{"endless, inside", `{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, "refer to one another without end"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := schema.Parse(json.RawMessage(tt.raw))
			if err == nil {
				err = s.Validate(json.RawMessage(`{}`))
			}
			var e *schema.Error
			if !errors.As(err, &e) || e.ExitKind() != "protocol" {
				t.Fatalf("got %v, want a schema error", err)
			}
			if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "mcpctl:") {
				t.Errorf("got %q, want one line with %q", err, tt.want)
			}
		})
	}
}

// TestMetaschemas wants what is sound to be sound by the schema of schemas too,
// and a tool to be able to ask for a schema.
func TestMetaschemas(t *testing.T) {
	tests := []struct {
		schema, value string
		fits          bool
	}{
		{`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, `{"type":"object","properties":{"a":{"minLength":2}}}`, true},
		{`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, `{"properties":{"a":{"minLength":-2}}}`, false},
		{`{"$ref":"https://json-schema.org/draft/2019-09/schema"}`, `{"properties":{"a":{"type":"strnig"}}}`, false},
		{`{"$ref":"https://json-schema.org/draft/2019-09/schema"}`, `{"properties":{"a":{"type":"string"}}}`, true},
		{`{"$ref":"http://json-schema.org/draft-07/schema#"}`, `{"if":7}`, false},
		{`{"$ref":"http://json-schema.org/draft-07/schema#"}`, `{"if":{}}`, true},
		{`{"$ref":"http://json-schema.org/draft-06/schema#"}`, `{"const":7,"items":[]}`, false},
		{`{"$ref":"http://json-schema.org/draft-04/schema#"}`, `{"not":true}`, false},
		{`{"$ref":"http://json-schema.org/draft-04/schema#/definitions/positiveInteger"}`, `7`, true},
	}
	for _, tt := range tests {
		err := parse(t, tt.schema).Validate(json.RawMessage(tt.value))
		var invalid *schema.ValidationError
		if (err == nil) != tt.fits || err != nil && !errors.As(err, &invalid) {
			t.Errorf("%s with %s: got %v, want it to fit: %v", tt.schema, tt.value, err, tt.fits)
		}
		_, meta, _ := strings.Cut(tt.schema, `:"`)
		if strings.Contains(meta, "definitions") {
			continue
		}
		declared := `{"$schema":"` + strings.TrimSuffix(meta, `"}`) + `",` + tt.value[1:]
		if err := parse(t, declared).Sound(); (err == nil) != tt.fits {
			t.Errorf("%s: got %v, want it to be sound: %v", declared, err, tt.fits)
		}
	}
}

// A schema of a few lines can ask for an astronomic amount of work.
func TestValidateIsBounded(t *testing.T) {
	var defs []string
	for i := range 40 {
		n := string(rune('a'+i/26)) + string(rune('a'+i%26))
		m := string(rune('a'+(i+1)/26)) + string(rune('a'+(i+1)%26))
		defs = append(defs, `"`+n+`":{"allOf":[{"$ref":"#/$defs/`+m+`"},{"$ref":"#/$defs/`+m+`"}]}`)
	}
	defs = append(defs, `"bo":{}`)
	s := parse(t, `{"$ref":"#/$defs/aa","$defs":{`+strings.Join(defs, ",")+`}}`)
	err := s.Validate(json.RawMessage(`{}`))
	var e *schema.Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "steps") {
		t.Fatalf("got %v, want the budget to end it", err)
	}
	if s.Root().Kinds() != schema.Any {
		t.Error("the walk over the same schema is not bounded")
	}
}

func TestValidateConcurrently(t *testing.T) {
	s := parse(t, `{"type":"object","properties":{"a":{"type":"string"}}}`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := s.Validate(json.RawMessage(`{"a":1}`)); err == nil {
				t.Error("a wrong value passed")
			}
		})
	}
	wg.Wait()
}

func FuzzValidate(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"a":{"a":1}}`)
	f.Add(`{"anyOf":[{"type":"null"},{"enum":["x",1]}],"items":[true]}`, `"y"`)
	f.Add(`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}`, `1`)
	f.Add(`{"required":["a"],"patternProperties":{"^x":false},"additionalProperties":false}`, `{"xa":1,"b":[1e5]}`)
	f.Fuzz(func(t *testing.T, raw, value string) {
		s, err := schema.Parse(json.RawMessage(raw))
		if err != nil {
			return
		}
		root := s.Root()
		_ = root.Type()
		for _, p := range root.Properties() {
			if _, ok := root.Property(p.Name); !ok && p.Name != "" && !strings.Contains(raw, "required") {
				t.Errorf("%s is listed, but not known", p.Name)
			}
			_, _, _ = p.Node.Kinds(), p.Node.Enum(), p.Node.Item(0).ContentEncoding()
		}
		_ = s.Validate(json.RawMessage(value))
	})
}
