package views_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/test/require"
)

var update = flag.Bool("update", false, "write what is said of mistakes into testdata")

// one returns a view.
func one(t testing.TB, c views.Config) *views.View {
	t.Helper()
	s, err := views.New(map[string]views.Config{"v": c}, "")
	require.NoError(t, err)
	return s.View("v")
}

// changed returns a view that changes the tool gh__t.
func changed(t testing.TB, o views.Override) *views.View {
	t.Helper()
	return one(t, views.Config{Override: map[string]views.Override{"gh__t": o}})
}

// arguments are those of an override, from JSON.
func arguments(t testing.TB, text string) (all map[string]views.Argument) {
	t.Helper()
	var in map[string]struct {
		Value, Default json.RawMessage
		Hide           bool
		Description    string
	}
	require.NoError(t, json.Unmarshal([]byte(text), &in))
	all = map[string]views.Argument{}
	for name, a := range in {
		all[name] = views.Argument(a)
	}
	return all
}

// TestChoose: who gets which view, and whether who asks has decided.
func TestChoose(t *testing.T) {
	plain := map[string]views.Config{"a": {}, "b": {}}
	asking := map[string]views.Config{
		"a":     {Order: 3, Clients: []string{"claude*", "!claude-web"}, Groups: []string{"ops"}},
		"b":     {Order: 2, Groups: []string{"eng", "qa"}},
		"c":     {Order: 4, Clients: []string{"*"}},
		"d":     {Order: 5, Groups: []string{"all"}, Clients: []string{"cursor"}},
		"other": {Order: 1},
	}
	for _, tc := range []struct {
		all      map[string]views.Config
		fallback string
		address  string
		groups   string
		client   string
		want     string
	}{
		{want: "{View: Private:false} true"},
		{address: "a", want: "{View:a Private:false} false"},
		{all: plain, want: "{View: Private:false} true"},
		{all: plain, fallback: "b", groups: "eng", client: "x", want: "{View:b Private:false} true"},
		{all: plain, fallback: "b", address: "a", want: "{View:a Private:false} true"},
		{all: plain, fallback: "b", address: "z", want: "{View:z Private:false} false"},
		{all: plain, fallback: "b", address: "A", want: "{View:A Private:false} false"},
		{all: asking, address: "other", groups: "eng", client: "claude-code", want: "{View:other Private:false} true"},
		{all: asking, address: "z", groups: "eng", want: "{View:z Private:false} false"},
		{all: asking, groups: "eng", client: "claude-code", want: "{View:b Private:true} true"},
		{all: asking, groups: "ops all eng", want: "{View:b Private:true} true"},
		{all: asking, groups: "all ops", want: "{View:a Private:true} true"},
		{all: asking, groups: "other", client: "claude-code", want: "{View:a Private:true} true"},
		{all: asking, client: "claude-web", want: "{View:c Private:true} true"},
		{all: asking, client: "cursor", want: "{View:c Private:true} true"},
		{all: asking, client: "", want: "{View:c Private:true} true"},
		{all: map[string]views.Config{"a": {Groups: []string{"eng"}}, "b": {}}, fallback: "b", client: "x", want: "{View:b Private:true} true"},
		{all: map[string]views.Config{"a": {Groups: []string{"eng"}}, "b": {}}, want: "{View: Private:true} true"},
		{all: map[string]views.Config{"b": {Clients: []string{"x"}}, "a": {Clients: []string{"*"}}}, client: "x", want: "{View:a Private:true} true"},
	} {
		s, err := views.New(tc.all, tc.fallback)
		require.NoError(t, err)
		in := func(group string) bool { return slices.Contains(strings.Fields(tc.groups), group) }
		if tc.groups == "" {
			in = nil
		}
		choice, known := s.Choose(tc.address, in, tc.client)
		if got := fmt.Sprintf("%+v %v", choice, known); got != tc.want {
			t.Errorf("%+v: got %s", tc, got)
		}
		if v := s.View(choice.View); (v != nil) != (known && choice.View != "") {
			t.Errorf("%+v: the view is %v", tc, v)
		}
	}
}

// TestShows: what is selected, and what could be.
func TestShows(t *testing.T) {
	for _, tc := range []struct {
		patterns    []string
		shown, not  string
		may, mayNot string // beginnings
	}{
		{patterns: nil, shown: "a b", may: "a__ z"},
		{patterns: []string{}, not: "a b", mayNot: "a__ z"},
		{patterns: []string{"gh__*"}, shown: "gh__a gh__", not: "fs__a gh_a GH__a", may: "gh__ gh g", mayNot: "fs__ h"},
		{patterns: []string{"!*__delete_*", "gh__*", "!gh__x"}, shown: "gh__a gh__xy", not: "gh__delete_a gh__x fs__a", may: "gh__ gh__x", mayNot: "fs__"},
		{patterns: []string{"gh__*", "fs__read", "!gh__*"}, shown: "fs__read", not: "gh__a fs__write", may: "fs__", mayNot: "gh__ gh__a"},
		{patterns: []string{"!gh__*"}, shown: "fs__a", not: "gh__a", may: "fs__ g", mayNot: "gh__"},
		{patterns: []string{"*_read"}, shown: "gh__a_read", not: "gh__a", may: "gh__ fs__"},
		{patterns: []string{"!*"}, not: "a gh__a", mayNot: "gh__ fs__"},
	} {
		for k, c := range map[views.Kind]views.Config{views.Tool: {Tools: tc.patterns}, views.Prompt: {Prompts: tc.patterns}, views.Resource: {Resources: tc.patterns}} {
			v := one(t, c)
			for name := range strings.FieldsSeq(tc.shown) {
				if !v.Shows(k, name, false) || !v.MayShow(k, name) {
					t.Errorf("%q does not show %v %s", tc.patterns, k, name)
				}
			}
			for name := range strings.FieldsSeq(tc.not) {
				if v.Shows(k, name, true) {
					t.Errorf("%q shows %v %s", tc.patterns, k, name)
				}
				if other := (k + 1) % 3; !v.Shows(other, name, false) {
					t.Errorf("%q of %v leaves %s out of %v", tc.patterns, k, name, other)
				}
			}
			for begin := range strings.FieldsSeq(tc.may) {
				if !v.MayShow(k, begin) {
					t.Errorf("%q: nothing may begin with %s", tc.patterns, begin)
				}
			}
			for begin := range strings.FieldsSeq(tc.mayNot) {
				if v.MayShow(k, begin) {
					t.Errorf("%q: something may begin with %s", tc.patterns, begin)
				}
			}
		}
	}
	reading := one(t, views.Config{Only: views.ReadOnly, Tools: []string{"gh__*"}})
	if reading.Shows(views.Tool, "gh__a", false) || !reading.Shows(views.Tool, "gh__a", true) || reading.Shows(views.Tool, "fs__a", true) || !reading.Shows(views.Prompt, "p", false) {
		t.Error("only: read does not hold")
	}
}

// TestNil: a view that is not there shows nothing and breaks nothing.
func TestNil(t *testing.T) {
	s, err := views.New(nil, "")
	require.NoError(t, err)
	v := s.View("")
	if s != nil || v != nil || s.Names() != nil || s.Fallback() != "" || v.Shows(views.Tool, "a", true) || v.MayShow(views.Prompt, "") || v.Pins() != nil || v.Missing(nil) != nil {
		t.Error("something is shown")
	}
	tool := v.Tool("a")
	if tool != nil || tool.Name("a") != "a" || tool.Rewrites() || v.Exposed("a") != "a" || v.Form() != views.ListAll || v.Budget()+v.Expose() != 0 || v.Instructions() != "" || tool.Result() != nil || tool.Looks() || v.Pages() {
		t.Error("something is changed")
	}
	if got, err := tool.Rewrite([]byte(`{"a":1,"a":2}`)); err != nil || string(got) != `{"a":1,"a":2}` {
		t.Errorf("got %s, %v", got, err)
	}
	if got, err := v.Present("s", "a", []byte(`{"name":"a"}`)); err != nil || string(got) != `{"name":"a"}` {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestNames: names that overrides give, in both directions, and what else a view says.
func TestNames(t *testing.T) {
	of, general := &views.Result{Fields: []string{"id"}}, &views.Result{MaxTokens: 9}
	s, err := views.New(map[string]views.Config{"v": {
		Override: map[string]views.Override{"gh__a": {Name: "b", Result: of}, "gh__c": {Title: "C"}, "b": {Name: "gh__a"}},
		Pin:      []string{"gh__c", "gh__a"}, List: views.ListAuto, Budget: 7, Expose: 3, Instructions: "I.", Results: general,
	}}, "v")
	require.NoError(t, err)
	v := s.View("v")
	for exposed, name := range map[string]string{"gh__a": "b", "b": "gh__a", "gh__c": "gh__c", "gh__d": "gh__d"} {
		if got := v.Tool(exposed).Name(exposed); got != name || v.Exposed(name) != exposed {
			t.Errorf("%s: got %s, and %s of %s", exposed, got, v.Exposed(name), name)
		}
	}
	if got := changed(t, views.Override{Name: "x"}).Exposed("gh__t"); got != "" {
		t.Errorf("the name that was replaced is still that of %s", got)
	}
	if got, want := fmt.Sprintln(v.Name(), v.Pins(), v.Form(), v.Budget(), v.Expose(), v.Instructions(), s.Names(), s.Fallback()), "v [gh__c gh__a] auto 7 3 I. [v] v\n"; got != want {
		t.Errorf("got %s", got)
	}
	for exposed, most := range map[string]int{"gh__a": 0, "gh__c": 9, "x": 9} {
		if r := v.Tool(exposed).Result(); !v.Pages() || !v.Tool(exposed).Looks() || r.MaxTokens != most || (r.Fields != nil) != (most == 0) {
			t.Errorf("%s: got %+v", exposed, r)
		}
	}
}

// TestRewrite: what is added to arguments, and what is refused.
func TestRewrite(t *testing.T) {
	v := changed(t, views.Override{Name: "x", Arguments: arguments(t, `{
		"owner": {"value": {"a" : [1,
			2]}}, "labels": {"default": ["triage"]}, "n": {"default": 9007199254740993}, "type": {"hide": true}, "body": {"description": "B"}}`)})
	tool := v.Tool("gh__t")
	if !tool.Rewrites() || changed(t, views.Override{Arguments: arguments(t, `{"a":{"description":"A"}}`)}).Tool("gh__t").Rewrites() {
		t.Error("Rewrites is wrong")
	}
	for in, want := range map[string]string{
		``:     `{"labels":["triage"],"n":9007199254740993,"owner":{"a" : [1, 			2]}}`,
		`null`: `{"labels":["triage"],"n":9007199254740993,"owner":{"a" : [1, 			2]}}`,
		`{ }`:  `{ "labels":["triage"],"n":9007199254740993,"owner":{"a" : [1, 			2]}}`,
		`{"n":9007199254740995 , "x":{"owner":1,"owner":2}}`: `{"n":9007199254740995 , "x":{"owner":1,"owner":2},"labels":["triage"],"owner":{"a" : [1, 			2]}}`,
		`{"\u006e":null,"labels":[],"body":"}"}`:             `{"\u006e":null,"labels":[],"body":"}","owner":{"a" : [1, 			2]}}`,
		`{"owner":1}`:                                        `argument "owner" is set already: leave it out`,
		`{"own\u0065r":1}`:                                   `argument "owner" is set already: leave it out`,
		`{"OWNER":1}`:                                        `argument "OWNER" is set already: leave it out`,
		`{"type":null}`:                                      `argument "type" cannot be sent: leave it out`,
		`{"Labels":[]}`:                                      `argument "Labels" is not known: its name is "labels"`,
		`{"labels":[],"body":"a","labels":[1]}`:              `argument "labels" is there twice: send it once`,
		`{"q":1,"\u0071":2}`:                                 `argument "q" is there twice: send it once`,
		`[]`:                                                 `arguments are not a JSON object`,
		`"a"`:                                                `arguments are not a JSON object`,
		`{"a":1`:                                             `arguments are not a JSON object`,
	} {
		got, err := tool.Rewrite([]byte(in))
		if err != nil {
			got = []byte(err.Error())
		}
		if string(got) != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	only := changed(t, views.Override{Arguments: arguments(t, `{"type":{"hide":true}}`)}).Tool("gh__t")
	for _, in := range []string{``, `null`, `{ }`, `{"a": 1}`} {
		if got, err := only.Rewrite([]byte(in)); err != nil || string(got) != in {
			t.Errorf("%s: got %s, %v", in, got, err)
		}
	}
}

const definition = ` {"name":"t","title":"T","description":"Does.","inputSchema":{"type":"object", "properties":{"owner":{"type":"string"},"labels" : {"type":"array","items":{"$ref":"#/$defs/l"}}, "body":{"type":"string","description":"old"},"any":true},"required":["owner" , "body","labels"],"$defs":{"l":{}}},"annotations":{"title":"T","readOnlyHint":true},"_meta":{"x":9007199254740993}}`

// TestPresent: what is changed of a definition; the rest stays as it is.
func TestPresent(t *testing.T) {
	for _, tc := range []struct {
		name, describe string
		o              views.Override
		was, is        []string // in pairs
	}{
		{name: "nothing"},
		{name: "a name", o: views.Override{Name: "file_bug"}},
		{name: "title", o: views.Override{Title: "A \"bug\""}, was: []string{`"title":"T"`}, is: []string{`"title":"A \"bug\""`}},
		{name: "description", o: views.Override{Description: "Files <b>.\n"}, was: []string{`"Does."`}, is: []string{`"Files <b>.\n"`}},
		{name: "template", describe: "[{server}] {description} ({name}, {} {Other thing})", o: views.Override{Name: "n"}, was: []string{`"Does."`}, is: []string{`"[gh] Does. (n, {} {Other thing})"`}},
		{name: "template of another", describe: "[{server}] {description}", o: views.Override{Description: "{server}"}, was: []string{`"Does."`}, is: []string{`"[gh] {server}"`}},
		{
			name: "fixed", o: views.Override{Arguments: arguments(t, `{"owner":{"value":1}}`)},
			was: []string{`"owner":{"type":"string"},`, `"owner" , `}, is: []string{``, ``},
		},
		{
			name: "hidden", o: views.Override{Arguments: arguments(t, `{"labels":{"hide":true}}`)},
			was: []string{`,"labels" : {"type":"array","items":{"$ref":"#/$defs/l"}}`, `,"labels"]`, `,"$defs":{"l":{}}`}, is: []string{``, `]`, ``},
		},
		{
			name: "default", o: views.Override{Arguments: arguments(t, `{"body":{"default":"d","description":"new"}}`)},
			was: []string{`"body":{"type":"string","description":"old"}`, ` , "body"`}, is: []string{`"body":{"default":"d","type":"string","description":"new"}`, ``},
		},
		{
			name: "all", o: views.Override{Arguments: arguments(t, `{"owner":{"hide":true},"labels":{"value":[]},"body":{"value":""},"any":{"description":"Any."}}`)},
			was: []string{`"owner":{"type":"string"},"labels" : {"type":"array","items":{"$ref":"#/$defs/l"}}, "body":{"type":"string","description":"old"},"any":true`, `,"required":["owner" , "body","labels"],"$defs":{"l":{}}`},
			is:  []string{`"any":{"description":"Any."}`, ``},
		},
		{name: "described, not there", o: views.Override{Arguments: arguments(t, `{"absent":{"description":"A"}}`)}},
	} {
		v := one(t, views.Config{Describe: tc.describe, Override: map[string]views.Override{"gh__t": tc.o}})
		want := definition
		for i := range tc.was {
			if !strings.Contains(want, tc.was[i]) {
				t.Fatalf("%s: the test is wrong", tc.name)
			}
			want = strings.ReplaceAll(want, tc.was[i], tc.is[i])
		}
		got, err := v.Present("gh", "gh__t", []byte(definition))
		require.NoError(t, err)
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
		if !json.Valid(got) {
			t.Errorf("%s: no JSON: %s", tc.name, got)
		}
	}
	// What is not there comes first.
	bare, err := changed(t, views.Override{Title: "T", Description: "D"}).Present("gh", "gh__t", []byte(`{"name":"t"}`))
	if want := `{"title":"T","description":"D","name":"t"}`; err != nil || string(bare) != want {
		t.Errorf("got %s, %v", bare, err)
	}
	described, err := one(t, views.Config{Describe: "[{server}] {description}"}).Present("gh", "gh__other", []byte(`{"name":"t"}`))
	if want := `{"description":"[gh]","name":"t"}`; err != nil || string(described) != want {
		t.Errorf("got %s, %v", described, err)
	}
}

// TestPresentRefuses: testdata/present.txt has which schemas are not edited, and why.
func TestPresentRefuses(t *testing.T) {
	v := changed(t, views.Override{Arguments: arguments(t, `{"owner":{"value":1}}`)})
	schemas := []string{
		`{}`, `{"properties":{}}`, `{"properties":[]}`, `[]`, `true`,
		`{"properties":{"owner":{},"Owner":{}}}`, `{"properties":{"owner":{},"owner":{}}}`, `{"properties":{"owner":{}},"properties":{"owner":{}}}`,
		`{"properties":{"owner":{}},"required":["a"],"required":["owner"]}`, `{"properties":{"owner":{}},"required":"owner"}`,
		`{"properties":{"owner":{},"a":{"$ref":"#/properties/owner"}}}`, `{"properties":{"owner":{},"a":{"$ref":"#/properties/owner/items"}}}`, `{"properties":{"owner":{},"a":{"$ref":"#/properties/own%65r"}}}`, `{"properties":{"owner":{},"a":{"$ref":"#/properties"}}}`, `{"properties":{"owner":{},"a":{"items":{"\u0024ref":"#"}}}}`, `{"properties":{"owner":{},"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"$ref":"https://example.com/x"}}}`,
	}
	for _, name := range []string{"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies", "minProperties", "maxProperties", "propertyNames", "enum", "const"} {
		schemas = append(schemas, `{"properties":{"owner":{}},"`+name+`":1}`)
	}
	var said strings.Builder
	refused := func(text string) {
		got, err := v.Present("gh", "gh__t", []byte(text))
		if err == nil {
			t.Errorf("%s is accepted: %s", text, got)
			return
		}
		fmt.Fprintf(&said, "%s\n  %v\n", text, err)
	}
	for _, schema := range schemas {
		refused(`{"inputSchema":` + schema + `}`)
	}
	refused(`{"inputSchema":{"properties":{"owner":{}},"$defs":{"a":1,"a":2}}}`)
	refused(`{"inputSchema":{"properties":{"owner":{}},"$defs":[]}}`)
	refused(`{"name":"t"}`)
	refused(`{"inputSchema":{"properties":{"owner":{}}},"inputSchema":{}}`)
	golden(t, "testdata/present.txt", said.String())

	// Examples may have what is hidden.
	const examples = `{"inputSchema":{"examples":[{"owner":"a"}],"properties":{"owner":{},"b":{}},"default":{"owner":"a"}}}`
	if got, err := v.Present("gh", "gh__t", []byte(examples)); err != nil || string(got) != `{"inputSchema":{"properties":{"b":{}}}}` {
		t.Errorf("got %s, %v", got, err)
	}
	defaulted := changed(t, views.Override{Arguments: arguments(t, `{"b":{"default":1}}`)})
	if got, err := defaulted.Present("gh", "gh__t", []byte(examples)); err != nil || string(got) != strings.Replace(examples, `"b":{`, `"b":{"default":1`, 1) {
		t.Errorf("got %s, %v", got, err)
	}

	// So may a definition that nothing else uses.
	for schema, want := range map[string]string{
		`{"properties":{"owner":{"$ref":"#/$defs/O"},"b":{}},"$defs":{"O":{"enum":["canary"]}}}`:                                                                                                                              `{"properties":{"b":{}}}`,
		`{"$defs":{"O":{"items":{"$ref":"#/$defs/P/properties/x"}}, "P":{"$ref":"#/$defs/O"},"Q":{}},"properties":{"b":{"$ref":"#/$defs/Q"},"owner":{"$ref":"#/$defs/O"}}}`:                                                   `{"$defs":{"Q":{}},"properties":{"b":{"$ref":"#/$defs/Q"}}}`,
		`{"properties":{"owner":{"anyOf":[{"$ref":"#/definitions/a~1b%5Bc~0%5D"},{"$ref":"#/definitions/s"}]},"b":{"$ref":"#/definitions/r"}},"definitions":{"a/b[c~]":{},"r":{"$ref":"#/definitions/s"},"s":{},"never":{}}}`: `{"properties":{"b":{"$ref":"#/definitions/r"}},"definitions":{"r":{"$ref":"#/definitions/s"},"s":{},"never":{}}}`,
		`{"properties":{"owner":{"$ref":"#/$defs/none"},"b":{}},"$defs":{}}`:                                                                                                                                                  `{"properties":{"b":{}},"$defs":{}}`,
	} {
		if got, err := v.Present("gh", "gh__t", []byte(`{"inputSchema":`+schema+`}`)); err != nil || string(got) != `{"inputSchema":`+want+`}` {
			t.Errorf("%s: got %s, %v", schema, got, err)
		}
	}

	// The same schemas may be described.
	v = changed(t, views.Override{Arguments: arguments(t, `{"owner":{"description":"O"}}`)})
	got, err := v.Present("gh", "gh__t", []byte(`{"inputSchema":{"properties":{"owner":{}},"allOf":[]}}`))
	if want := `{"inputSchema":{"properties":{"owner":{"description":"O"}},"allOf":[]}}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	for _, harmless := range []string{
		`{"properties":{"owner":{},"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"anyOf":[{"const":"#"}]}},"additionalProperties":false}`,
		`{"properties":{"owner":{},"$ref":{"type":"string"}}}`,
		`{"properties":{"owner":{},"a":{"items":{}},"b":{"$ref":"#/properties/a/items"}}}`,
	} {
		v = changed(t, views.Override{Arguments: arguments(t, `{"owner":{"hide":true}}`)})
		if _, err := v.Present("gh", "gh__t", []byte(`{"inputSchema":`+harmless+`}`)); err != nil {
			t.Errorf("%s: %v", harmless, err)
		}
	}
}

// golden compares with a file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o700))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
		t.Errorf("%s is not current (-update): %s", path, diff)
	}
}

// TestProblems: testdata/problems.txt has what is said of each mistake.
func TestProblems(t *testing.T) {
	override := func(tool, text string) views.Config {
		return views.Config{Override: map[string]views.Override{tool: {Arguments: arguments(t, text)}}}
	}
	long := strings.Repeat("x", 65)
	var said strings.Builder
	for _, tc := range []struct {
		all      map[string]views.Config
		fallback string
	}{
		{fallback: "gone"},
		{all: map[string]views.Config{"a": {}, "b": {}}, fallback: "c"},
		{all: map[string]views.Config{"a": {Groups: []string{"eng"}}, "b": {Groups: []string{"qa", "eng"}}}},
		{all: map[string]views.Config{"": {}}},
		{all: map[string]views.Config{"a/b": {}}},
		{all: map[string]views.Config{"..": {}}},
		{all: map[string]views.Config{long: {}}},
		{all: map[string]views.Config{"v": {Tools: []string{""}}}},
		{all: map[string]views.Config{"v": {Tools: []string{"a", "!"}}}},
		{all: map[string]views.Config{"v": {Prompts: []string{"!!a"}}}},
		{all: map[string]views.Config{"v": {Resources: []string{"a b"}}}},
		{all: map[string]views.Config{"v": {Clients: []string{""}}}},
		{all: map[string]views.Config{"v": {Clients: []string{"Visual Studio Code", "!"}}}},
		{all: map[string]views.Config{"v": {Groups: []string{""}}}},
		{all: map[string]views.Config{"v": {Only: "readonly"}}},
		{all: map[string]views.Config{"v": {List: "some"}}},
		{all: map[string]views.Config{"v": {Budget: -1}}},
		{all: map[string]views.Config{"v": {Expose: 51}}},
		{all: map[string]views.Config{"v": {Pin: []string{"gh__*"}}}},
		{all: map[string]views.Config{"v": {Pin: []string{"a", "a"}}}},
		{all: map[string]views.Config{"v": {Pin: []string{"a"}, Tools: []string{"b"}}}},
		{all: map[string]views.Config{"v": {Describe: "[{sever}] {description}"}}},
		{all: map[string]views.Config{"v": {Results: &views.Result{}}}},
		{all: map[string]views.Config{"v": {Results: &views.Result{MaxTokens: -1}}}},
		{all: map[string]views.Config{"v": {Override: map[string]views.Override{"t": {Result: &views.Result{Fields: []string{""}}}}}}},
		{all: map[string]views.Config{"v": {Override: map[string]views.Override{"gh__*": {Title: "x"}}}}},
		{all: map[string]views.Config{"v": {Override: map[string]views.Override{"": {Title: "x"}}}}},
		{all: map[string]views.Config{"v": {Override: map[string]views.Override{"t": {Name: "a.b"}}}}},
		{all: map[string]views.Config{"v": {Override: map[string]views.Override{"t": {Name: long}}}}},
		{all: map[string]views.Config{"v": {Override: map[string]views.Override{"t": {Name: "x"}, "u": {Name: "X"}}}}},
		{all: map[string]views.Config{"v": {Override: map[string]views.Override{"t": {Name: "u"}, "u": {Title: "x"}}}}},
		{all: map[string]views.Config{"v": override("t", `{"":{"value":1}}`)}},
		{all: map[string]views.Config{"v": override("t", `{"a":{}}`)}},
		{all: map[string]views.Config{"v": override("t", `{"a":{"value":1,"default":2}}`)}},
		{all: map[string]views.Config{"v": override("t", `{"a":{"value":1,"hide":true}}`)}},
		{all: map[string]views.Config{"v": override("t", `{"a":{"hide":true,"description":"x"}}`)}},
		{all: map[string]views.Config{"v": override("t", `{"a":{"hide":true},"A":{"value":1}}`)}},
		{all: map[string]views.Config{"v": {Override: map[string]views.Override{"t": {Arguments: map[string]views.Argument{"a": {Value: json.RawMessage(`{`)}}}}}}},
	} {
		_, err := views.New(tc.all, tc.fallback)
		var p *views.Problem
		if !errors.As(err, &p) {
			t.Errorf("%+v is accepted: %v", tc, err)
			continue
		}
		fmt.Fprintf(&said, "%v\n  %s\n", p, p.Hint())
	}
	golden(t, "testdata/problems.txt", said.String())
}

// TestMissing: what a view says of tools that are not there.
func TestMissing(t *testing.T) {
	s, err := views.New(map[string]views.Config{"v": {
		Pin: []string{"gh__t", "gh__gone", "fs__later"},
		Override: map[string]views.Override{
			"gh__t":     {Name: "t", Arguments: arguments(t, `{"owner":{"value":1},"absent":{"hide":true},"other":{"description":"x"}}`)},
			"gh__gone":  {Title: "x"},
			"fs__later": {Title: "x"},
			"call_tool": {Name: "run"},
			"gh__two":   {Name: "gh__t"},
			"gh__same":  {Name: "gh__same"},
			"gh__odd":   {Arguments: arguments(t, `{"owner":{"value":1}}`)},
			"gh__none":  {Arguments: arguments(t, `{"owner":{"value":1}}`)},
		},
	}}, "")
	require.NoError(t, err)
	var got []string
	for _, p := range s.View("v").Missing(func(exposed string) ([]byte, bool) {
		switch exposed {
		case "gh__t":
			return []byte(definition), true
		case "gh__odd":
			return []byte(`{"inputSchema":{"properties":{"owner":{}},"allOf":[]}}`), true
		case "gh__none", "gh__two", "gh__same":
			return []byte(`{"inputSchema":{}}`), true
		}
		return nil, !strings.HasPrefix(exposed, "fs__")
	}) {
		got = append(got, p.Error()+" ("+p.Hint()+")")
	}
	golden(t, "testdata/missing.txt", strings.Join(got, "\n")+"\n")
}
