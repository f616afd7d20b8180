package args_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/cmd/internal/args"
	"github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/test/require"
)

const tool = `{"type":"object","properties":{
	"s":{"type":"string"},"n":{"type":"number"},"i":{"type":"integer"},"b":{"type":"boolean"},"z":{"type":"null"},
	"opt":{"anyOf":[{"type":"integer"},{"type":"null"}]},
	"strnum":{"type":["string","number"]},
	"mode":{"type":"string","enum":["fast","slow"]},
	"level":{"enum":["high",3,true]},
	"tags":{"type":"array","items":{"type":"string"}},
	"nums":{"type":"array","items":{"type":"integer"}},
	"sizes":{"type":"array","items":{"enum":["x","y"]}},
	"one_or_many":{"oneOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]},
	"o":{"type":"object","properties":{"x":{"type":"number"},"deep":{"type":"object","properties":{"y":{"type":"string"}}}}},
	"edits":{"type":"array","items":{"$ref":"#/$defs/edit"}},
	"map":{"type":"object","additionalProperties":{"type":"integer"}},
	"bin":{"type":"string","contentEncoding":"base64"},
	"a.b":{"type":"number"},"l[0]":{"type":"boolean"},"eq=":{"type":"string"},"col:":{"type":"string"},
	"any":{},"tuple":{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}]}},
	"$defs":{"edit":{"type":"object","properties":{"oldText":{"type":"string"},"newText":{"type":"string"},"n":{"type":"integer"}},"required":["oldText"]}}}`

func source(t *testing.T, words ...string) args.Source {
	t.Helper()
	files := map[string]string{
		"text": "hello\n", "bin": "\x00\xff\x10", "num": "42\n", "json": "\ufeff{ \"x\" : 9007199254740993 }\n", "mode": "slow\n",
		"base": `{"s" : "from file", "n":1.0,"o":{"x":1e2,"k":[1 ,2]}}`, "list": "[]",
	}
	return args.Source{Words: words, ReadFile: func(name string) ([]byte, error) {
		if s, ok := files[name]; ok {
			return []byte(s), nil
		}
		return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
	}}
}

func stdin(s string) func() ([]byte, error) {
	return func() ([]byte, error) { return []byte(s), nil }
}

func toolSchema(t testing.TB, raw string) *schema.Schema {
	t.Helper()
	s, err := schema.Parse(json.RawMessage(raw))
	require.NoError(t, err)
	return s
}

func TestParse(t *testing.T) {
	tests := []struct {
		name  string
		words []string
		want  string
	}{
		{"nothing", nil, `{}`},
		{"string stays text", []string{"s=true"}, `{"s":"true"}`},
		{"string like JSON", []string{`s=[1,2]`}, `{"s":"[1,2]"}`},
		{"string like a number", []string{"s=007"}, `{"s":"007"}`},
		{"empty string", []string{"s="}, `{"s":""}`},
		{"equals in the value", []string{"s=a=b:=c"}, `{"s":"a=b:=c"}`},
		{"no HTML escapes", []string{"s=<&>\u2028é"}, `{"s":"<&>\u2028é"}`},
		{"number", []string{"n=-5.50"}, `{"n":-5.50}`},
		{"big integer", []string{"i=9007199254740993"}, `{"i":9007199254740993}`},
		{"whole number as integer", []string{"i=1e3"}, `{"i":1e3}`},
		{"boolean and null", []string{"b=false", "z=null"}, `{"b":false,"z":null}`},
		{"null for what need not be there", []string{"i:=null", "mode:=null"}, `{"i":null,"mode":null}`},
		{"nullable", []string{"opt=null"}, `{"opt":null}`},
		{"union with string", []string{"strnum=5"}, `{"strnum":"5"}`},
		{"union by JSON", []string{"strnum:=5"}, `{"strnum":5}`},
		{"enum", []string{"mode=fast"}, `{"mode":"fast"}`},
		{"enum of other types", []string{"level=3"}, `{"level":3}`},
		{"JSON keeps bytes", []string{`o:={"x": 1.0, "k":[ 9007199254740993 ]}`}, `{"o":{"x": 1.0, "k":[ 9007199254740993 ]}}`},
		{"order is kept", []string{"s=1", "b=true", "n=2"}, `{"s":"1","b":true,"n":2}`},
		{"array of one", []string{"tags=a"}, `{"tags":["a"]}`},
		{"array by repeating", []string{"tags=a", "s=x", "tags=b,c"}, `{"tags":["a","b,c"],"s":"x"}`},
		{"array of numbers", []string{"nums=1", "nums=2"}, `{"nums":[1,2]}`},
		{"append", []string{"tags[]=a", "tags[]=b"}, `{"tags":["a","b"]}`},
		{"repeat, then append", []string{"tags=a", "tags[]=b"}, `{"tags":["a","b"]}`},
		{"append to JSON", []string{`nums:=[1 ]`, "nums[]=2"}, `{"nums":[1,2]}`},
		{"empty array", []string{`tags:=[]`}, `{"tags":[]}`},
		{"JSON of an array", []string{`tags=["a", "b"]`}, `{"tags":["a", "b"]}`},
		{"JSON of an empty array", []string{`tags=[]`}, `{"tags":[]}`},
		{"JSON of an array of objects", []string{`edits=[{"oldText":"x"}]`}, `{"edits":[{"oldText":"x"}]}`},
		{"JSON of objects", []string{`edits={"oldText":"x"}`, `edits={"oldText":"y"}`, `o={"x":1}`}, `{"edits":[{"oldText":"x"},{"oldText":"y"}],"o":{"x":1}}`},
		{"JSON where a string is allowed", []string{`one_or_many=["a"]`, `s=["a"]`}, `{"one_or_many":"[\"a\"]","s":"[\"a\"]"}`},
		{"text that looks like JSON", []string{`tags[]=["a"]`, `tags[]=a,b`}, `{"tags":["[\"a\"]","a,b"]}`},
		{"string or array, one", []string{"one_or_many=a"}, `{"one_or_many":"a"}`},
		{"string or array, two", []string{"one_or_many=a", "one_or_many=b"}, `{"one_or_many":["a","b"]}`},
		{"nested", []string{"o.x=1", "o.deep.y=2"}, `{"o":{"x":1,"deep":{"y":"2"}}}`},
		{"list of objects", []string{"edits[0].oldText=1", "edits[0].n=2", "edits[1].oldText=x"}, `{"edits":[{"oldText":"1","n":2},{"oldText":"x"}]}`},
		{"append objects", []string{"edits[].oldText=1", "edits[].oldText=2"}, `{"edits":[{"oldText":"1"},{"oldText":"2"}]}`},
		{"into JSON", []string{`o:={"x":1.0}`, "o.deep.y=z"}, `{"o":{"x":1.0,"deep":{"y":"z"}}}`},
		{"map", []string{"map.one=1", "map.two=2"}, `{"map":{"one":1,"two":2}}`},
		{"name with a dot", []string{"a.b=1"}, `{"a.b":1}`},
		{"name with a bracket", []string{"l[0]=true"}, `{"l[0]":true}`},
		{"name with an equals sign", []string{"eq==x"}, `{"eq=":"x"}`},
		{"name with a colon", []string{"col:=5", "s=x"}, `{"col:":"5","s":"x"}`},
		{"tuple", []string{"tuple[]=1", "tuple[]=2"}, `{"tuple":["1",2]}`},
		{"anything is text", []string{"any=5"}, `{"any":"5"}`},
		{"file as text", []string{"s=@text"}, `{"s":"hello\n"}`},
		{"file as number", []string{"n=@num"}, `{"n":42}`},
		{"file as enum", []string{"mode=@mode"}, `{"mode":"slow"}`},
		{"file as JSON", []string{"o:=@json"}, `{"o":{ "x" : 9007199254740993 }}`},
		{"file as base64", []string{"bin=@bin"}, `{"bin":"AP8Q"}`},
		{"base64 by hand", []string{"bin=AP8Q"}, `{"bin":"AP8Q"}`},
		{"escaped @", []string{"s=@@text"}, `{"s":"@text"}`},
		{"@ inside", []string{"s=me@example.com"}, `{"s":"me@example.com"}`},
		{"whole object", []string{`{ "n": 1.0, "s":"\u00e9" }`}, `{ "n": 1.0, "s":"\u00e9" }`},
		{"whole object and pairs", []string{`{"n": 1.0 , "s":"x"}`, "s=y", "b=true"}, `{"n":1.0,"s":"y","b":true}`},
		{"negative", []string{"n=-5"}, `{"n":-5}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := args.Parse(toolSchema(t, tool), source(t, tt.words...))
			require.NoError(t, err)
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestCommas: on a terminal somebody is asked what a comma means.
func TestCommas(t *testing.T) {
	for _, several := range []bool{true, false} {
		src := source(t, "tags=a, b,c")
		src.Several = func(key string, values []string) (bool, error) {
			if key != "tags" || strings.Join(values, "|") != "a|b|c" {
				t.Errorf("asked about %s: %q", key, values)
			}
			return several, nil
		}
		got, err := args.Parse(toolSchema(t, tool), src)
		require.NoError(t, err)
		if want := map[bool]string{true: `{"tags":["a","b","c"]}`, false: `{"tags":["a, b,c"]}`}[several]; string(got) != want {
			t.Errorf("got %s", got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct {
		name  string
		words []string
		want  string
	}{
		{"not a number", []string{"n=abc"}, `at /n: want number, got "abc"`},
		{"hexadecimal", []string{"i=0x10"}, `at /i: want integer, got "0x10"`},
		{"fraction", []string{"i=1.5"}, `at /i: want integer, got "1.5"`},
		{"space", []string{"n= 1"}, `at /n: want number, got " 1"`},
		{"yes is no boolean", []string{"b=yes"}, `at /b: want boolean, got "yes"`},
		{"enum", []string{"mode=fats"}, `at /mode: "fats" is not one of "fast", "slow"; did you mean fast?`},
		{"enum inside", []string{"sizes=x", "sizes=q"}, `at /sizes/1: "q" is not one of "x", "y"`},
		{"all of them", []string{"n=a", "b=c", "nums=1", "nums=x"}, "at /n: want number, got \"a\"\nat /b: want boolean, got \"c\"\nat /nums/1: want integer, got \"x\""},
		{"array with a comma", []string{"tags=a.txt, b.txt"}, `argument tags: "a.txt, b.txt" is one value of an array, or several`},
		{"array of numbers with a comma", []string{"nums=1,2"}, `argument nums: "1,2" is not one value of an array`},
		{"array that is no JSON", []string{"tags=[a,b]"}, "argument tags: it begins as a JSON array and is not valid JSON: invalid character 'a' looking for beginning of value"},
		{"JSON of an array twice", []string{"tags=a", `tags:=["b"]`}, "argument tags is given twice"},
		{"JSON of a wrong array", []string{`nums=["a"]`}, "at /nums/0: want integer, got string"},
		{"unknown", []string{"mod=fast"}, "at /mod: unknown argument; did you mean mode?"},
		{"unknown in an object", []string{`{"mod":"fast"}`}, "at /mod: unknown argument; did you mean mode?"},
		{"unknown inside", []string{"edits[0].old_text=x"}, "at /edits/0/old_text: unknown argument; did you mean oldText?"},
		{"an unknown flag", []string{"--mod=fast"}, "--mod is neither an argument of the tool nor a flag of mcpctl"},
		{"a flag without a value", []string{"--mode"}, "--mode has no value"},
		{"a flag before a flag", []string{"--mode", "--s", "x"}, "--mode has no value"},
		{"missing inside", []string{"edits[0].n=1"}, "at /edits/0/oldText: required, but missing"},
		{"wrong inside JSON", []string{`edits:=[{"oldText":1}]`}, "at /edits/0/oldText: want string, got number"},
		{"twice", []string{"s=a", "s=b"}, "argument s is given twice"},
		{"twice as JSON", []string{"n:=1", "n=2"}, "argument n is given twice"},
		{"JSON after text", []string{"s=a", `s:="b"`}, "argument s is given twice"},
		{"JSON twice", []string{"o.x:=1", "o.x:=2"}, "argument o.x is given twice"},
		{"array after JSON", []string{`tags:=["a"]`, "tags=b"}, "argument tags is given twice"},
		{"object as text", []string{"o=x"}, "at /o: want object: write it as name:=json, or name a place inside"},
		{"path into a string", []string{"s.x=1"}, "argument s.x: /s is string, not an object"},
		{"index into an object", []string{"o[0]=1"}, "argument o[0]: /o is object, not an array"},
		{"path into a value", []string{"any=1", "any.x=1"}, "argument any.x: the value at /any is not an object"},
		{"gap", []string{"tags[1]=x"}, "argument tags[1]: the array has 0 elements, index 1 leaves a gap"},
		{"bad index", []string{"tags[x]=1"}, `argument tags[x]: want a number or nothing between [ and ], got "x"`},
		{"huge index", []string{"tags[99999999999]=1"}, `argument tags[99999999999]: want a number or nothing between [ and ], got "99999999999"`},
		{"open bracket", []string{"tags[0=1"}, "argument tags[0: a [ without its ]"},
		{"junk after bracket", []string{"tags[]x=1"}, "argument tags[]x: want a dot after ]"},
		{"empty name", []string{"o..x=1"}, "argument o..x: an empty name in the path"},
		{"no pair", []string{"hello"}, `argument "hello": want name=text or name:=json`},
		{"no name", []string{"=x"}, `argument "=x": want name=text or name:=json`},
		{"negative number alone", []string{"-5"}, `argument "-5": want name=text or name:=json`},
		{"object not first", []string{"s=x", `{"n":1}`}, `argument "{\"n\":1}": want name=text or name:=json`},
		{"not JSON", []string{"n:=abc"}, "argument n: not valid JSON: invalid character 'a' looking for beginning of value"},
		{"two values", []string{"n:=1 2"}, "argument n: not valid JSON: invalid character '2' after top-level value"},
		{"empty JSON", []string{"n:="}, "argument n: no JSON after :="},
		{"broken object", []string{`{"a":`}, "the arguments: not valid JSON: unexpected end of JSON input"},
		{"object with a name twice", []string{`{"n":1,"n":2}`}, "the arguments: n is given twice"},
		{"JSON that is not UTF-8", []string{"s:=\"\xff\""}, "argument s: not valid JSON: a byte that is not UTF-8"},
		{"object that is not UTF-8", []string{"{\"s\":\"\xff\"}"}, "the arguments: not valid JSON: a byte that is not UTF-8"},
		{"name that is not UTF-8", []string{"\xff=1"}, `argument "\xff=1": not UTF-8 text`},
		{"no such file", []string{"s=@none"}, "read none: file does not exist"},
		{"no file name", []string{"s=@"}, "argument s: no file name after @"},
		{"binary as text", []string{"s=@bin"}, "at /s: not UTF-8 text, and the schema does not say contentEncoding base64"},
		{"wrong type in JSON", []string{`n:="1"`}, "at /n: want number, got string"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := args.Parse(toolSchema(t, tool), source(t, tt.words...))
			if err == nil {
				t.Fatalf("got %s, want an error", got)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var kinded interface{ ExitKind() string }
			if !errors.As(err, &kinded) || kinded.ExitKind() != "usage" {
				t.Errorf("%T is not a usage error", err)
			}
		})
	}
}

func TestArgsFile(t *testing.T) {
	src := source(t, "s=mine", "o.x=2")
	src.File = "base"
	got, err := args.Parse(toolSchema(t, tool), src)
	require.NoError(t, err)
	if want := `{"s":"mine","n":1.0,"o":{"x":2,"k":[1 ,2]}}`; string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	src.Words = nil
	got, err = args.Parse(toolSchema(t, tool), src)
	if want := `{"s" : "from file", "n":1.0,"o":{"x":1e2,"k":[1 ,2]}}`; err != nil || string(got) != want {
		t.Errorf("untouched: got  %s, %v\nwant %s", got, err, want)
	}
	src.File = "list"
	if _, err := args.Parse(toolSchema(t, tool), src); err == nil || err.Error() != "--args-file list: want a JSON object, got []" {
		t.Errorf("got %v", err)
	}
	src.File, src.Words = "base", []string{`{}`}
	if _, err := args.Parse(toolSchema(t, tool), src); err == nil {
		t.Error("two whole objects were taken")
	}
}

func TestStdin(t *testing.T) {
	never := func() ([]byte, error) { t.Error("standard input was read"); return nil, nil }
	tests := []struct {
		name, schema string
		src          args.Source
		want, err    string
	}{
		{"piped", tool, args.Source{Piped: true, Stdin: stdin(` {"n": 1.0}` + "\n")}, `{"n": 1.0}`, ""},
		{"piped and empty", tool, args.Source{Piped: true, Stdin: stdin("\n")}, `{}`, ""},
		{"not piped", tool, args.Source{Stdin: never}, `{}`, ""},
		{"words", tool, args.Source{Piped: true, Stdin: never, Words: []string{"s=x"}}, `{"s":"x"}`, ""},
		{"no arguments", `{"type":"object","properties":{}}`, args.Source{Piped: true, Stdin: never}, `{}`, ""},
		{"dash", tool, args.Source{Stdin: stdin(`{"n":2}`), Words: []string{"-", "n=3"}}, `{"n":3}`, ""},
		{"dash and empty", tool, args.Source{Stdin: stdin(""), Words: []string{"-"}}, "", "standard input is empty, want a JSON object"},
		{"file dash", tool, args.Source{Stdin: stdin(`{"n":2}`), File: "-", Words: []string{"s=x"}}, `{"n":2,"s":"x"}`, ""},
		{"one value", tool, args.Source{Stdin: stdin("long\ntext"), Words: []string{"s=@-"}}, `{"s":"long\ntext"}`, ""},
		{"twice", tool, args.Source{Stdin: stdin("{}"), Words: []string{"-", "s=@-"}}, "", "standard input is asked for twice"},
		{"rubbish", tool, args.Source{Piped: true, Stdin: stdin("hello")}, "", "standard input: not valid JSON: invalid character 'h' looking for beginning of value"},
		{"broken", tool, args.Source{Piped: true, Stdin: func() ([]byte, error) { return nil, errors.New("read error") }}, "", "read error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := args.Parse(toolSchema(t, tt.schema), tt.src)
			msg := ""
			if err != nil {
				msg = err.Error()
			}
			if msg != tt.err || (err == nil && string(got) != tt.want) {
				t.Errorf("got %s, error %q; want %s, error %q", got, msg, tt.want, tt.err)
			}
		})
	}
}

func TestNoValidate(t *testing.T) {
	src := source(t, "n=abc", "mode=none", "extra.x[]=1", "i=5")
	src.NoValidate = true
	got, err := args.Parse(toolSchema(t, tool), src)
	if want := `{"n":"abc","mode":"none","extra":{"x":["1"]},"i":5}`; err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

func TestUnusableSchema(t *testing.T) {
	s := toolSchema(t, `{"type":"object","properties":{"a":{"type":"strnig"}}}`)
	var e *schema.Error
	if _, err := args.Parse(s, source(t, "a=1")); !errors.As(err, &e) {
		t.Errorf("got %v, want a schema error", err)
	}
	src := source(t, "a=1")
	src.NoValidate = true
	if got, err := args.Parse(s, src); err != nil || string(got) != `{"a":"1"}` {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestHints(t *testing.T) {
	for words, want := range map[string]string{
		"s=@bob": "for the text @bob write s=@@bob", "s:=hello": "for text write s=hello", "s=@": "for the text @ write s=@@",
	} {
		_, err := args.Parse(toolSchema(t, tool), source(t, words))
		var h interface{ Hint() string }
		if !errors.As(err, &h) || h.Hint() != want {
			t.Errorf("%s: got %v, want the hint %q", words, err, want)
		}
	}
}

func TestRealFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(name, []byte("x"), 0o600))
	got, err := args.Parse(toolSchema(t, tool), args.Source{Words: []string{"s=@" + name}})
	if err != nil || string(got) != `{"s":"x"}` {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := args.ReadAll(strings.NewReader(strings.Repeat("x", args.MaxInput+1))); err == nil {
		t.Error("too much was read")
	}
}

// Whatever the words, the result is a JSON object, and a string that went in
// as a=text comes out as that string.
func FuzzWords(f *testing.F) {
	for _, w := range []string{"s=x", "s=@@", "o.x=1", "edits[0].n:=1", "tags[]=a", `{"a":1}`, "a.b=1", "[]=", "o.[=", "n:=1e5", "map.=1", "--x=1", "any[].a[].b=\xff"} {
		f.Add(w, "s=y", true)
	}
	s := toolSchema(f, tool)
	none := func(string) ([]byte, error) { return nil, os.ErrNotExist }
	f.Fuzz(func(t *testing.T, a, b string, unchecked bool) {
		got, err := args.Parse(s, args.Source{Words: []string{a, b}, ReadFile: none, NoValidate: unchecked})
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal(got, &m); err != nil {
			t.Fatalf("%q %q gave %s: %v", a, b, got, err)
		}
		if text, ok := strings.CutPrefix(b, "s="); ok && !strings.HasPrefix(text, "@") && !strings.HasPrefix(a, "{") {
			var back string
			if err := json.Unmarshal(m["s"], &back); err != nil || back != text {
				t.Errorf("%q came out as %s", b, m["s"])
			}
		}
	})
}
