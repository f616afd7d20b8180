package drift_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/drift"
	"github.com/mcpctl/mcpctl/test/require"
)

// tool is one definition; member is the schema of its one member m, in the
// arguments or in the result.
func tool(text string) drift.Surface {
	return drift.Surface{Tools: []runtime.Tool{{Name: "t", Raw: json.RawMessage(text)}}}
}

func input(schema string) drift.Surface {
	return tool(`{"name":"t","inputSchema":` + schema + `}`)
}

func output(schema string) drift.Surface {
	return tool(`{"name":"t","inputSchema":{"type":"object"},"outputSchema":` + schema + `}`)
}

// member wraps a member's schema; it is required, so that changes of null are
// reported too.
func member(schema string) string {
	return `{"type":"object","properties":{"m":` + schema + `},"required":["m"]}`
}

func lines(t *testing.T, old, now drift.Surface) []string {
	t.Helper()
	changes, err := drift.Compare(old, now)
	require.NoError(t, err)
	var out []string
	for _, c := range changes {
		mark := ""
		if c.Notable {
			mark = " !"
		}
		out = append(out, fmt.Sprintf("%s%s %s %s: %s", c.Class, mark, c.Rule, c.Pointer, c.Text))
	}
	return out
}

// TestSchemas has each rule, seen from what is sent and from what is received.
func TestSchemas(t *testing.T) {
	for _, c := range []struct{ old, now, input, output string }{
		// Types.
		{`{"type":"string"}`, `{"type":"integer"}`, "wire type-changed: was string, is integer", "wire type-changed: was string, is integer"},
		{`{"type":"integer"}`, `{"type":"number"}`, "type-widened: was integer, is number", "wire type-widened: was integer, is number"},
		{`{"type":"number"}`, `{"type":"integer"}`, "wire type-narrowed: was number, is integer", "type-narrowed: was number, is integer"},
		{`{"type":"string"}`, `{"type":["string","array"]}`, "type-widened: was string, is array or string", "wire type-widened: was string, is array or string"},
		{`{"type":"string"}`, `true`, "type-widened: was string, is any value", "wire type-widened: was string, is any value"},
		{`{}`, `{"type":"object"}`, "wire type-narrowed: was any value, is object", "type-narrowed: was any value, is object"},
		{`{"type":"integer"}`, `{"type":["integer"]}`, "", ""},
		{`{"type":"number"}`, `false`, "wire type-narrowed: was number, is nothing", "type-narrowed: was number, is nothing"},

		// Null, in all its spellings.
		{`{"type":"string"}`, `{"type":["string","null"]}`, "null-allowed: may be null now", "wire null-allowed: may be null now"},
		{`{"type":["string","null"]}`, `{"type":"string"}`, "wire null-refused: may no longer be null", "null-refused: may no longer be null"},
		{`{"type":["string","null"]}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`, "", ""},
		{`{"type":"string","nullable":true}`, `{"oneOf":[{"type":"null"},{"type":"string"}]}`, "", ""},
		{`{"enum":["a",null]}`, `{"enum":["a"]}`, "wire null-refused: may no longer be null", "null-refused: may no longer be null"},
		{`{"type":"null"}`, `{"type":"string"}`, "wire type-changed: was null, is string", "wire type-changed: was null, is string"},

		// Values.
		{`{"enum":["a"]}`, `{"enum":["b"]}`, `wire constant-changed: was "a", is "b"`, `wire constant-changed: was "a", is "b"`},
		{`{"enum":["a","b"]}`, `{"enum":["b","a","c"]}`, `value-added: value "c" added`, `value-added: value "c" added`},
		{`{"enum":["a","b","c"]}`, `{"enum":["a"]}`, `wire value-removed: values "b", "c" removed`, `value-removed: values "b", "c" removed`},
		{`{"const":"a"}`, `{"enum":["a","b"]}`, `value-added: value "b" added`, `wire type-widened: was "a" alone, may be "b" too`},
		{`{"type":"string"}`, `{"type":"string","enum":["a","b"]}`, `wire rule-tightened: only "a", "b" from now on`, `rule-tightened: only "a", "b" from now on`},
		{`{"enum":["a","b"]}`, `{"type":"string"}`, `value-added: any string from now on, not only "a", "b"`, `value-added: any string from now on, not only "a", "b"`},
		{`{"enum":["a","b"]}`, `{"enum":[1,2]}`, `wire type-changed: was one of "a", "b", is one of 1, 2`, `wire type-changed: was one of "a", "b", is one of 1, 2`},
		{`{"enum":["a","b"]}`, `{"type":"integer"}`, `wire type-changed: was one of "a", "b", is integer`, `wire type-changed: was one of "a", "b", is integer`},
		{`{"enum":["a","b"]}`, `{"type":["string","integer"]}`, `type-widened: was one of "a", "b", is any string or integer`, `wire type-widened: was one of "a", "b", is any string or integer`},
		{`{"const":1}`, `{"enum":[1.0]}`, "", ""},

		// Bounds.
		{`{"type":"number","minimum":1}`, `{"type":"number","minimum":2}`, "wire rule-tightened: minimum was 1, is 2", "rule-tightened: minimum was 1, is 2"},
		{`{"type":"number","maximum":1}`, `{"type":"number","maximum":2}`, "rule-loosened: maximum was 1, is 2", "rule-loosened: maximum was 1, is 2"},
		{`{"type":"number","maximum":10}`, `{"type":"number","maximum":1e1}`, "", ""},
		{`{"type":"string"}`, `{"type":"string","maxLength":5}`, "wire rule-tightened: maxLength 5 added", "rule-tightened: maxLength 5 added"},
		{`{"type":"integer","multipleOf":2}`, `{"type":"integer","multipleOf":4}`, "wire rule-tightened: multipleOf was 2, is 4", "rule-tightened: multipleOf was 2, is 4"},
		{`{"type":"integer","multipleOf":4}`, `{"type":"integer","multipleOf":2}`, "rule-loosened: multipleOf was 4, is 2", "rule-loosened: multipleOf was 4, is 2"},
		{`{"type":"integer","multipleOf":4}`, `{"type":"integer","multipleOf":6}`, "wire rule-replaced: multipleOf was 4, is 6", "rule-replaced: multipleOf was 4, is 6"},
		{`{"type":"array"}`, `{"type":"array","uniqueItems":true}`, "wire rule-tightened: items have to differ from now on", "rule-tightened: items have to differ from now on"},
		{`{"type":"string","pattern":"^a"}`, `{"type":"string","pattern":"^b"}`, `wire rule-replaced: pattern was "^a", is "^b"`, `rule-replaced: pattern was "^a", is "^b"`},
		{`{"type":"string","not":{"const":"x"}}`, `{"type":"string"}`, `rule-loosened: not {"const":"x"} removed`, `rule-loosened: not {"const":"x"} removed`},

		// What forbids nothing.
		{`{"type":"string","default":"a"}`, `{"type":"string","default":"b"}`, `default: default was "a", is "b"`, `default: default was "a", is "b"`},
		{`{"type":"string"}`, `{"type":"string","format":"date"}`, `annotation: format "date" added`, `annotation: format "date" added`},
		{`{"type":"string","title":"A","description":"b"}`, `{"type":"string","description":"c"}`, "prose: description, title changed", "prose: description, title changed"},
		{`{"type":"string","x-own":1}`, `{"type":"string","x-own":2}`, "annotation: x-own was 1, is 2", "annotation: x-own was 1, is 2"},
		{`{"type":"string","$comment":"a"}`, `{"$comment":"a","type":"string"}`, "", ""},

		// Arrays.
		{`{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":"number"}}`, "wire type-changed /items: was string, is number", "wire type-changed /items: was string, is number"},
		{`{"type":"array"}`, `{"type":"array","items":{"type":"number"}}`, "wire type-narrowed /items: was any value, is number", "type-narrowed /items: was any value, is number"},
		{`{"type":"array","items":[{"type":"string"}]}`, `{"type":"array","prefixItems":[{"type":"string"}]}`, "", ""},
		{
			`{"type":"array","prefixItems":[{"type":"string"}]}`, `{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}]}`,
			"wire type-narrowed /prefixItems/1: was any value, is number", "type-narrowed /prefixItems/1: was any value, is number",
		},

		// Unions.
		{
			`{"anyOf":[{"type":"string"},{"type":"number"}]}`, `{"anyOf":[{"type":"number"},{"type":"array"},{"type":"string"}]}`,
			"alternative-added: alternative added: array", "alternative-added: alternative added: array",
		},
		{
			`{"oneOf":[{"type":"string"},{"type":"number"},{"type":"null"}]}`, `{"oneOf":[{"type":"string"},{"type":"boolean"},{"type":"null"}]}`,
			"wire alternative-removed: alternative removed: number | alternative-added: alternative added: boolean",
			"alternative-added: alternative added: boolean | alternative-removed: alternative removed: number",
		},
		{
			`{"anyOf":[{"type":"string","maxLength":3},{"type":"number"}]}`, `{"anyOf":[{"type":"number"},{"type":"string","maxLength":2}]}`,
			"wire rule-tightened /string: maxLength was 3, is 2", "rule-tightened /string: maxLength was 3, is 2",
		},
		{
			`{"type":"string"}`, `{"anyOf":[{"type":"string"},{"type":"number"}]}`,
			"type-widened: was string, is one of 2 alternatives: string or number", "wire type-widened: was string, is one of 2 alternatives: string or number",
		},
		{
			`{"type":"object"}`, `{"oneOf":[{"type":"object","required":["a"]},{"type":"object","required":["b"]}]}`,
			"wire type-changed: was object, is one of 2 alternatives: object", "wire type-changed: was object, is one of 2 alternatives: object",
		},
		{
			`{"oneOf":[{"type":"object"},{"type":"string"}]}`, `{"type":"string","maxLength":3}`,
			"wire type-narrowed: was one of 2 alternatives: object or string, is string", "type-narrowed: was one of 2 alternatives: object or string, is string",
		},
		{
			`{"type":"object","properties":{"a":{},"b":{}}}`, `{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			`wire rule-tightened: anyOf [{"required":["a"]},{"required":["b"]}] added`, `rule-tightened: anyOf [{"required":["a"]},{"required":["b"]}] added`,
		},

		// Objects.
		{`{"type":"object"}`, `{"type":"object","properties":{"a":{}}}`, "optional-member-added /properties/a: optional member added", "optional-member-added /properties/a: optional member added"},
		{
			`{"type":"object"}`, `{"type":"object","properties":{"a":{}},"required":["a"]}`,
			"wire required-member-added /properties/a: required member added", "required-member-added /properties/a: required member added",
		},
		{`{"type":"object"}`, `{"type":"object","required":["a"]}`, "wire required-member-added /properties/a: required member added", "required-member-added /properties/a: required member added"},
		{
			`{"type":"object","required":["a"]}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`,
			"wire type-narrowed /properties/a: was any value, is string", "type-narrowed /properties/a: was any value, is string",
		},
		{`{"type":"object","properties":{"a":{}}}`, `{"type":"object"}`, "optional-member-removed /properties/a: optional member removed", "optional-member-removed /properties/a: optional member removed"},
		{
			`{"type":"object","properties":{"a":{}},"required":["a"]}`, `{"type":"object"}`,
			"required-member-removed /properties/a: required member removed", "wire required-member-removed /properties/a: required member removed",
		},
		{
			`{"type":"object","properties":{"a":{}},"additionalProperties":false}`, `{"type":"object","additionalProperties":false}`,
			"wire member-refused /properties/a: member removed, and the object takes no others", "optional-member-removed /properties/a: optional member removed",
		},
		{
			`{"type":"object","properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}},"required":["a"]}`,
			"wire now-required /properties/a: required from now on", "now-required /properties/a: required from now on",
		},
		{
			`{"type":"object","properties":{"a":{}},"required":["a"]}`, `{"type":"object","properties":{"a":{}}}`,
			"now-optional /properties/a: optional from now on", "wire now-optional /properties/a: optional from now on",
		},
		{
			`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":["string","null"]}}}`,
			"null-allowed /properties/a: may be null now", "null-allowed-optional /properties/a: may be null now",
		},
		{`{"type":"object"}`, `{"type":"object","additionalProperties":false}`, "wire members-closed: takes no members from now on but those it names", "members-closed: takes no members from now on but those it names"},
		{`{"type":"object","additionalProperties":false}`, `{"type":"object"}`, "members-opened: takes other members too from now on", "members-opened: takes other members too from now on"},
		{
			`{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"object","additionalProperties":{"type":"number"}}`,
			"wire type-changed /additionalProperties: was string, is number", "wire type-changed /additionalProperties: was string, is number",
		},
		{
			`{"type":"object","properties":{"a":{"type":"string"}},"allOf":[{"required":["a"]}]}`,
			`{"allOf":[{"type":"object","properties":{"a":{"type":"string"}}}],"required":["a"]}`, "", "",
		},
		{
			`{"type":"object","properties":{"a/b~":{"type":"object","properties":{"c":{"type":"string"}}}}}`,
			`{"type":"object","properties":{"a/b~":{"type":"object","properties":{"c":{"type":"object"}}}}}`,
			"wire type-changed /properties/a~1b~0/properties/c: was string, is object", "wire type-changed /properties/a~1b~0/properties/c: was string, is object",
		},
	} {
		for side, s := range map[string]struct {
			wrap func(string) drift.Surface
			root string
			want string
		}{"input": {input, "/inputSchema/properties/m", c.input}, "output": {output, "/outputSchema/properties/m", c.output}} {
			got := lines(t, s.wrap(member(c.old)), s.wrap(member(c.now)))
			for i, line := range got {
				line = strings.Replace(line, "compatible ", "", 1)
				line = strings.Replace(line, "wire-breaking ", "wire ", 1)
				line = strings.Replace(line, " "+s.root, " ", 1)
				got[i] = strings.Replace(line, " :", ":", 1)
			}
			if joined := strings.Join(got, " | "); joined != s.want {
				t.Errorf("%s, %s\n  from %s\n  to   %s\n  want %s", side, joined, c.old, c.now, s.want)
			}
		}
	}
}

// TestReferences: changes in a reference's target are reported in its own place,
// once, and circles end.
func TestReferences(t *testing.T) {
	schema := `{"type":"object","$defs":{"Tree":{"type":"object","properties":{"left":{"$ref":"#/$defs/Tree"},"right":{"$ref":"#/$defs/Tree"},"v":{"type":%q}}}},
		"properties":{"a":{"$ref":"#/$defs/Tree"},"b":{"anyOf":[{"$ref":"#/$defs/Tree"},{"type":"null"}]},"self":{"$ref":"#"}}}`
	got := lines(t, input(fmt.Sprintf(schema, "string")), input(fmt.Sprintf(schema, "number")))
	want := []string{"wire-breaking type-changed /inputSchema/$defs/Tree/properties/v: was string, is number"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// A definition instead of the same schema written out, and an empty circle.
	for _, pair := range [][2]string{
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"type":"object","$defs":{"S":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/S"}}}`},
		{`{"type":"object","properties":{"a":{"$ref":"#/$defs/S"}},"$defs":{"S":{"$anchor":"s","type":"string"}}}`, `{"type":"object","properties":{"a":{"$ref":"#s"}},"$defs":{"S":{"$anchor":"s","type":"string"}}}`},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"type":"object","$defs":{"S":{"$id":"s.json","type":"string"}},"properties":{"a":{"$ref":"s.json"}}}`},
		{`{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/B"},"B":{"$ref":"#/$defs/A"}}}`, `{"$defs":{"A":{"$ref":"#/$defs/B"},"B":{"$ref":"#/$defs/A"}},"$ref":"#/$defs/A"}`},
	} {
		if got := lines(t, input(pair[0]), input(pair[1])); len(got) > 0 {
			t.Errorf("%s to %s: %q", pair[0], pair[1], got)
		}
	}
}

// TestUnionsOfUnions compares schemas that would need 2^60 steps without a
// bound.
func TestUnionsOfUnions(t *testing.T) {
	var old, now strings.Builder
	const depth = 60
	for i := range depth {
		next := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i+1)
		fmt.Fprintf(&old, `"d%d":{"type":"object","properties":{"p":%s}},`, i, next)
		fmt.Fprintf(&now, `"d%d":{"anyOf":[{"type":"object","properties":{"p":%[2]s},"required":["p"]},{"type":"object","properties":{"p":%[2]s,"q":{}}}]},`, i, next)
	}
	schema := func(defs *strings.Builder, end string) drift.Surface {
		return input(fmt.Sprintf(`{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{%s"d%d":{"type":%q}}}`, defs, depth, end))
	}
	if got := lines(t, schema(&old, "integer"), schema(&now, "string")); len(got) == 0 {
		t.Error("no change found")
	}
}

func TestSurface(t *testing.T) {
	old := drift.Surface{
		Implementation: runtime.Implementation{Name: "demo", Version: "1"}, Protocol: "2025-06-18",
		Tools: []runtime.Tool{
			{Name: "gone", InputSchema: json.RawMessage(`{}`)},
			{Name: "safe", Raw: json.RawMessage(`{"name":"safe","description":"a","inputSchema":{},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`)},
			{Name: "out", Raw: json.RawMessage(`{"name":"out","inputSchema":{},"outputSchema":{"type":"object"}}`)},
			{Name: "in", Raw: json.RawMessage(`{"name":"in","inputSchema":{}}`)},
			{Name: "task", Raw: json.RawMessage(`{"name":"task","inputSchema":{},"icons":[]}`)},
		},
		Prompts:   []runtime.Prompt{{Name: "p", Arguments: []runtime.PromptArgument{{Name: "a"}, {Name: "b", Required: true}, {Name: "c"}}}, {Name: "q"}},
		Resources: []runtime.Resource{{URI: "demo://1", Name: "one"}, {URI: "demo://2", Name: "two"}},
		Templates: []runtime.ResourceTemplate{{URITemplate: "demo://{id}", Name: "t", MIMEType: "text/plain"}},
	}
	now := drift.Surface{
		Implementation: runtime.Implementation{Name: "demo", Version: "2"}, Protocol: "2025-11-25",
		Tools: []runtime.Tool{
			{Name: "new", InputSchema: json.RawMessage(`{}`)},
			{Name: "safe", Raw: json.RawMessage(`{"name":"safe","description":"b","inputSchema":{},"annotations":{"readOnlyHint":false}}`)},
			{Name: "out", Raw: json.RawMessage(`{"name":"out","inputSchema":{}}`)},
			{Name: "in", Raw: json.RawMessage(`{"name":"in","inputSchema":{},"outputSchema":{"type":"object"}}`)},
			{Name: "task", Raw: json.RawMessage(`{"name":"task","inputSchema":{},"icons":[1],"execution":{"taskSupport":"required"}}`)},
		},
		Prompts:   []runtime.Prompt{{Name: "p", Arguments: []runtime.PromptArgument{{Name: "a", Required: true}, {Name: "b", Description: "x"}, {Name: "d"}, {Name: "e", Required: true}}}},
		Resources: []runtime.Resource{{URI: "demo://2", Name: "2"}, {URI: "demo://3", Name: "three"}},
		Templates: []runtime.ResourceTemplate{{URITemplate: "demo://{id}", Name: "t", MIMEType: "text/html"}},
	}
	changes, err := drift.Compare(old, now)
	require.NoError(t, err)
	var got []string
	for _, c := range changes {
		got = append(got, string(c.Class)+" "+c.String())
	}
	want := []string{
		"wire-breaking tool gone: removed",
		"wire-breaking tool out /outputSchema: output schema removed",
		"wire-breaking tool task /execution/taskSupport: can only be called as a task from now on",
		"wire-breaking prompt p /arguments/a: required from now on",
		"wire-breaking prompt p /arguments/c: argument removed",
		"wire-breaking prompt p /arguments/e: required argument added",
		"wire-breaking prompt q: removed",
		"wire-breaking resource demo://1: removed",
		"compatible tool safe /annotations/destructiveHint: may destroy something from now on",
		"compatible tool safe /annotations/idempotentHint: no longer claims that a second call changes nothing more",
		"compatible tool safe /annotations/openWorldHint: may reach an open world from now on",
		"compatible tool safe /annotations/readOnlyHint: no longer claims to be read-only",
		"compatible server: protocol was 2025-06-18, is 2025-11-25",
		"compatible server: version was 1, is 2",
		"compatible tool in /outputSchema: output schema added",
		"compatible tool new: added",
		"compatible prompt p /arguments/b: optional from now on",
		"compatible prompt p /arguments/d: optional argument added",
		"compatible resource demo://3: added",
		"compatible resource template demo://{id} /mimeType: was \"text/plain\", is \"text/html\"",
		"compatible tool safe: description changed",
		"compatible prompt p /arguments/b: description changed",
		"compatible resource demo://2: name changed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := drift.Count(changes); n != (drift.Counts{Wire: 8, Compatible: 15, Prose: 3}) {
		t.Errorf("counts: %+v", n)
	}
	if same, err := drift.Compare(now, now); err != nil || len(same) > 0 {
		t.Errorf("compared with itself: %v, %v", same, err)
	}
	if _, err := drift.Compare(old, tool(`{`)); err == nil || !strings.Contains(err.Error(), `tool "t"`) {
		t.Errorf("broken JSON: %v", err)
	}
}

// TestRules: every rule has one row, and the page has the same rows.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range drift.Rules() {
		if seen[r.ID] || r.Why == "" {
			t.Errorf("rule %+v", r)
		}
		seen[r.ID] = true
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "generate.md"))
	require.NoError(t, err)
	if !strings.Contains(strings.ReplaceAll(string(page), "\r\n", "\n"), ruleTable()) {
		t.Errorf("docs/generate.md has another table; it should be\n%s", ruleTable())
	}
}

// ruleTable returns the rules in Markdown.
func ruleTable() string {
	var b strings.Builder
	b.WriteString("| rule | in arguments | in results | because |\n|---|---|---|---|\n")
	word := func(breaks bool) string {
		if breaks {
			return "wire-breaking"
		}
		return "–"
	}
	for _, r := range drift.Rules() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.ID, word(r.Input), word(r.Output), r.Why)
	}
	return b.String()
}
