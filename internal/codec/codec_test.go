package codec_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/codec"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/codegen"
	"github.com/mcpctl/mcpctl/test/require"
)

// same lets cmp look into every type of the tests.
var same = cmp.Exporter(func(reflect.Type) bool { return true })

// TestRoundTrip: what is read is written again, as it was or as told.
func TestRoundTrip(t *testing.T) {
	tests := []struct {
		name string
		of   any // a pointer to the type
		in   string
		want string // "" is in
	}{
		{"required alone", &all{}, `{"text":"","null":null,"nulls":null,"kind":{"a":1}}`, ``},
		{"all members", &all{}, `{"text":"x","count":0,"tags":[],"null":"","nulls":[],"opt":null,"free":null,"a,\"b\"\n<":false,"kind":{"a":1},"more":[ 1.00 ]}`, ``},
		{"opt with a value", &all{}, `{"text":"x","null":null,"nulls":[1,2],"opt":0,"free":{"x": 1},"kind":{"a":1}}`, ``},
		{"any order, spaces, another spelling", &all{}, " {\n\"k\\u0069nd\" : {\"a\": 1.0}, \"nulls\":null , \"nul\\u006c\":null,\"text\":\"\\u0061\\/\" } ", `{"text":"a/","null":null,"nulls":null,"kind":{"a":1}}`},
		{"other letters are another member", &all{}, `{"text":"","null":null,"nulls":null,"kind":{"a":1},"TEXT":1,"Hidden":2}`, `{"text":"","null":null,"nulls":null,"kind":{"a":1},"Hidden":2,"TEXT":1}`},
		{"rest is sorted", &all{}, `{"b":2,"text":"","null":null,"a":1,"nulls":null,"kind":{"a":1}}`, `{"text":"","null":null,"nulls":null,"kind":{"a":1},"a":1,"b":2}`},
		{"html", &all{}, `{"text":"<&>\u2028","null":null,"nulls":null,"kind":{"a":1}}`, "{\"text\":\"<&>\u2028\",\"null\":null,\"nulls\":null,\"kind\":{\"a\":1}}"},
		{"no UTF-8", &all{}, "{\"text\":\"a\xff\xfeb\\ud800\",\"null\":null,\"nulls\":null,\"kind\":{\"a\":1}}", "{\"text\":\"a\uFFFD\uFFFDb\uFFFD\",\"null\":null,\"nulls\":null,\"kind\":{\"a\":1}}"},
		{"surrogates", &all{}, `{"text":"\ud83d\ude00\ud83dx\ude00\ud83d\u0041","null":null,"nulls":null,"kind":{"a":1}}`, "{\"text\":\"😀\uFFFDx\uFFFD\uFFFDA\",\"null\":null,\"nulls\":null,\"kind\":{\"a\":1}}"},
		{"control characters", &all{}, `{"text":"\u0000\b\f\n\r\t\"\\\u001f\u007f","null":null,"nulls":null,"kind":{"a":1}}`, "{\"text\":\"\\u0000\\b\\f\\n\\r\\t\\\"\\\\\\u001f\u007f\",\"null\":null,\"nulls\":null,\"kind\":{\"a\":1}}"},

		{"closed", &closed{}, `{"a":1}`, ``},
		{"lenient: null counts as absent", &lenient{}, `{"a":null,"b":null,"c":null,"d":null,"e":null}`, `{"b":null,"c":null}`},
		{"elements and members that may be null", &lenient{}, `{"c":1,"d":["",null],"x":null,"y":2}`, ``},

		{"tree", &tree{}, `{"name":"a","children":[{"name":"b","children":[]}],"by":{"x":{"name":"c"},"y":{"name":"d"}},"next":{"name":"e"},"opt":{"name":"f","opt":null}}`, ``},

		{"loose object", &loose{}, `{"a":1,"b":2}`, ``},
		{"loose string", &loose{}, `"x"`, ``},
		{"loose array", &loose{}, `[1, 2]`, ``},
		{"loose null", &loose{}, `null`, ``},
		{"null is a value of a loose struct", &holdsLoose{}, `{"l":null,"p":null,"n":null}`, ``},
		{"loose inside", &holdsLoose{}, `{"l":{"a":1},"p":[],"n":1}`, ``},

		{"tuple", &point{}, `[1.5,null]`, ``},
		{"tuple, all items", &point{}, `[0,"a","",null,1,{"x":[]}]`, ``},
		{"tuple, some items", &point{}, `[0,"a","b",7]`, ``},
		{"closed tuple", &pair{}, `[1]`, ``},
		{"tuple with a constant", &tagged{}, `["v1",2]`, ``},
		{"closed tuple, full", &pair{}, `[1,2]`, ``},

		{"scalars", &scalars{}, `{"b":true,"i":-1,"u":255,"s":-128,"f":1.5,"n":1.00,"l":[],"m":{},"r":0,"d":"soon","y":"aGk=","a":{"x":[1,null]}}`, ``},
		{
			"integers however written", &scalars{}, `{"b":false,"i":1e3,"u":2.0,"s":100e-1,"f":1e3,"n":1e400,"l":["a"],"m":{"b":1.0,"a":2},"r":1.0,"d":"","y":null,"a":null}`,
			`{"b":false,"i":1000,"u":2,"s":10,"f":1000,"n":1e400,"l":["a"],"m":{"a":2,"b":1},"r":1.0,"d":"","y":null,"a":null}`,
		},

		{"union by kind", &holdsUnions{}, `{"l":"a","ls":["a",{"name":"b"},["c",[]]],"o":{"name":"x"}}`, ``},
		{"union of an unknown kind", &holdsUnions{}, `{"l":1.50,"ls":[true],"o":null}`, ``},
		{"union by member", &holdsUnions{}, `{"l":"","s":{"kind":"circle","r":1},"by":{"a":{"kind":"square","side":2},"b":{"side":1,"kind":"square","x":[]}}}`, `{"l":"","s":{"kind":"circle","r":1},"by":{"a":{"kind":"square","side":2},"b":{"kind":"square","side":1,"x":[]}}}`},
		{"union by keys", &holdsUnions{}, `{"l":"","s":{"width":1,"x":2}}`, ``},
		{"union: unknown members", &holdsUnions{}, `{"l":"","s":{"kind":"star" }}`, ``},
		{"union: no object", &holdsUnions{}, `{"l":"","s":"circle"}`, ``},
		{"literals", &holdsUnions{}, `{"l":"","m":{"b":1e1,"a":[ "\u0061" , -0 ]}}`, `{"l":"","m":{"a":["a",0],"b":10}}`},

		{"foreign", &outer{}, `{"u":"Ua","p":{"a":1,"unknown":2},"o":"Ub","n":{"a":1e0},"m":{"x":"Uc"}}`, `{"u":"Ua","p":{"a":1},"o":"Ub","n":{"a":1},"m":{"x":"Uc"}}`},

		{"foreign, html", &outer{}, `{"u":"U<&>","p":{"a":1},"n":{"a":1}}`, ``},
		{"foreign number", &[]level{}, `["xxx",""]`, ``},
		{"list", &[]*int64{}, `[1,null,3]`, ``},
		{"list of lists", &[][]string{}, `[[],["a"]]`, ``},
		{"map of maps", &map[string]map[string]bool{}, `{"a":{},"b":{"c":true}}`, ``},
		{"opt", &runtime.Opt[[]int64]{}, `null`, ``},
		{"opt of a list", &runtime.Opt[[]int64]{}, `[]`, ``},
		{"raw", &json.RawMessage{}, ` [ 1 ] `, `[ 1 ]`},
		{"literal", &mode{}, ` 1.0 `, `1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			if want == "" {
				want = tt.in
			}
			v := reflect.New(reflect.TypeOf(tt.of).Elem())
			require.NoError(t, codec.Decode([]byte(tt.in), v.Interface()))
			for range 2 { // by pointer, and by value
				got, err := codec.Encode(v.Interface())
				if err != nil || string(got) != want {
					t.Fatalf("got  %s, %v\nwant %s", got, err, want)
				}
			}
			got, err := codec.Encode(v.Elem().Interface())
			if err != nil || string(got) != want {
				t.Fatalf("by value: got  %s, %v\nwant %s", got, err, want)
			}
			// Into a value that holds something already, nothing of it is left.
			require.NoError(t, codec.Decode([]byte(tt.in), v.Interface()))
			fresh := reflect.New(v.Type().Elem())
			require.NoError(t, codec.Decode(got, fresh.Interface()))
			again, err := codec.Encode(fresh.Interface())
			if err != nil || string(again) != want {
				t.Errorf("again: got  %s, %v\nwant %s", again, err, want)
			}
			if diff := cmp.Diff(v.Elem().Interface(), fresh.Elem().Interface(), same); diff != "" && tt.name != "all members" && !strings.Contains(diff, "RawMessage") {
				t.Error(diff)
			}
		})
	}
}

// TestDecodeFailures: each failure, and where it is.
func TestDecodeFailures(t *testing.T) {
	tests := []struct {
		of   any
		in   string
		want string
	}{
		{&closed{}, `{}`, `at /a: required and missing`},
		{&closed{}, `{"a":null}`, `at /a: null is not allowed`},
		{&closed{}, `{"a":1,"b~/c":2}`, `at /b~0~1c: there is no such member`},
		{&closed{}, `{"a":1,"A":1}`, `at /A: there is no such member`},
		{&closed{}, `{"a":1,"\u0061":2}`, `at /a: there is more than one member of this name`},
		{&closed{}, `null`, `null is not allowed`},
		{&closed{}, `[]`, `got an array, want an object`},
		{&closed{}, `{"a":"secret"}`, `at /a: got a string, want an integer`},
		{&closed{}, `{"a":1.5}`, `at /a: got 1.5, want an integer`},
		{&closed{}, `{"a":1e-1}`, `at /a: got 1e-1, want an integer`},
		{&closed{}, `{"a":9223372036854775808}`, `at /a: got 9223372036854775808, want an integer of 64 bits`},
		{&closed{}, `{"a":1e999999999999999999999}`, `at /a: got 1e999999999999999999999, want an integer of 64 bits`},
		{&closed{}, `{"a":1e-999999999999999999999}`, `at /a: got 1e-999999999999999999999, want an integer`},
		{&closed{}, `{"a":true}`, `at /a: got a boolean, want an integer`},
		{&all{}, `{"text":"","null":null,"nulls":null}`, `at /kind: required and missing`},
		{&all{}, `{"text":"","null":null,"nulls":null,"kind":{"a":2}}`, `at /kind: want {"a":1}`},
		{&all{}, `{"text":"","null":null,"nulls":null,"kind":null}`, `at /kind: want {"a":1}`},
		{&all{}, `{"text":"","nulls":null,"kind":{"a":1}}`, `at /null: required and missing`},
		{&all{}, `{"text":"","null":null,"nulls":null,"kind":{"a":1},"count":null}`, `at /count: null is not allowed`},
		{&all{}, `{"text":"","null":null,"nulls":null,"kind":{"a":1},"tags":null}`, `at /tags: null is not allowed`},
		{&all{}, `{"text":"","null":null,"nulls":[1,null]}`, `at /nulls/1: null is not allowed`},
		{&all{}, `{"text":"","null":null,"nulls":null,"kind":{"a":1},"x":1,"x":2}`, `at /x: there is more than one member of this name`},
		{&all{}, `{"text":"","null":null,"nulls":null,"kind":{"a":1},"opt":"x"}`, `at /opt: got a string, want an integer`},
		{&all{}, `{"tags":["a",1]}`, `at /tags/1: got 1, want a string`},
		{&all{}, `{"a,\"b\"\n<":1}`, `at /a,"b"` + "\n" + `<: got 1, want true or false`},
		{&lenient{}, `{"x":1}`, `at /c: required and missing`},
		{&lenient{}, `{"c":1,"x":true}`, `at /x: got a boolean, want an integer`},
		{&lenient{}, `{"c":1,"x":1,"x":null}`, `at /x: there is more than one member of this name`},
		{&tree{}, `{"name":"","children":[{"name":""},{"name":"","by":{"k":{"name":1}}}]}`, `at /children/1/by/k/name: got 1, want a string`},
		{&tree{}, `{"name":"","by":{"k":{"name":""},"k":{"name":""}}}`, `at /by/k: there is more than one member of this name`},
		{&tree{}, `{"name":"","opt":{"name":"","opt":{}}}`, `at /opt/opt/name: required and missing`},
		{&chain{}, `{"next":null}`, `at /next: null is not allowed`},
		{&chain{}, `{"next":{}}`, `at /next/next: required and missing`},
		{&point{}, `[1]`, `at /1: required and missing`},
		{&point{}, `[null,null]`, `at /0: null is not allowed`},
		{&point{}, `[0,null,null]`, `at /2: null is not allowed`},
		{&point{}, `{}`, `got an object, want an array`},
		{&pair{}, `[1,2,3]`, `at /2: there are to be no more items`},
		{&tagged{}, `["v2",2]`, `at /0: want "v1"`},
		{&tagged{}, `[]`, `at /0: required and missing`},
		{&pair{}, `[]`, `at /0: required and missing`},
		{&scalars{}, `{"f":1e309}`, `at /f: got 1e309, want a number that float64 can hold`},
		{&scalars{}, `{"f":1e-400}`, `at /f: got 1e-400, want a number that float64 can tell from zero`},
		{&scalars{}, `{"f":9007199254740993}`, `at /f: got 9007199254740993, want an integer that float64 does not round`},
		{&scalars{}, `{"f":"1"}`, `at /f: got a string, want a number`},
		{&scalars{}, `{"n":"1"}`, `at /n: got a string, want a number`},
		{&scalars{}, `{"u":256}`, `at /u: got 256, want an integer that fits uint8`},
		{&scalars{}, `{"u":-1}`, `at /u: got -1, want an integer that fits uint8`},
		{&scalars{}, `{"s":128}`, `at /s: got 128, want an integer that fits int8`},
		{&scalars{}, `{"m":{"x":null}}`, `at /m/x: null is not allowed`},
		{&scalars{}, `{"m":[]}`, `at /m: got an array, want an object`},
		{&scalars{}, `{"l":{}}`, `at /l: got an object, want an array`},
		{&holdsUnions{}, `{"l":"","m":null}`, `at /m: null is not allowed`},
		{&holdsUnions{}, `{"l":null}`, `at /l: null is not allowed`},
		{&holdsUnions{}, `{"l":{"name":1}}`, `at /l/name: got 1, want a string`},
		{&holdsUnions{}, `{"l":{}}`, `at /l/name: required and missing`},
		{&holdsUnions{}, `{"l":"","s":{"kind":"circle"}}`, `at /s/r: required and missing`},
		{&holdsUnions{}, `{"l":"","s":{"kind":1e0,"side":"x"}}`, `at /s/kind: got 1e0, want a string`},
		{&outer{}, `{"u":"x"}`, `at /u: no U`},
		{&outer{}, `{"u":"U","p":{},"n":{"a":"x"}}`, `at /n/a: got a string, want an integer`},
		{&outer{}, `{"u":"U","p":{},"n":{"b":"x"}}`, `at /n/b: there is no such member`},
		{&closed{}, ``, `not JSON: the text breaks off`},
		{&closed{}, `{"a":1`, `not JSON: the text breaks off`},
		{&closed{}, `{"a":1}}`, `not JSON: unexpected '}' at byte 8`},
		{&closed{}, `{"a":01}`, `not JSON: unexpected '1' at byte 7`},
		{&closed{}, `{a:1}`, `not JSON: unexpected 'a' at byte 2`},
		{&closed{}, `{"a" 1}`, `not JSON: unexpected '1' at byte 6`},
		{&closed{}, `{"a":1,}`, `not JSON: unexpected '}' at byte 8`},
		{&closed{}, `{"a":nul}`, `at /a: null is not allowed`},
		{&all{}, `{"x":[1,]}`, `at /x: not JSON: unexpected ']' at byte 9`},
		{&all{}, `{"x":{"a"}}`, `at /x: not JSON: unexpected '}' at byte 10`},
		{&all{}, `{"x":"` + "\n" + `"}`, `at /x: not JSON: unexpected '\n' at byte 7`},
		{&all{}, `{"x":"\x"}`, `at /x: not JSON: unexpected 'x' at byte 8`},
		{&all{}, `{"x":"\u12g4"}`, `at /x: not JSON: unexpected 'g' at byte 11`},
		{&[]string{}, `["a"] ["b"]`, `not JSON: unexpected '[' at byte 7`},
		{codegen.OneOf[labelArm]{}, `1`, `decoding needs a pointer to read into`},
		{&codegen.OneOf[labelArm]{}, `1`, `codegen.OneOf[github.com/mcpctl/mcpctl/internal/codec_test.labelArm] has no arms to read`},
	}
	for _, tt := range tests {
		of := tt.of
		if v := reflect.ValueOf(of); v.Kind() == reflect.Pointer {
			of = reflect.New(v.Type().Elem()).Interface()
		}
		err := codec.Decode([]byte(tt.in), of)
		// A struct fails at the first of its members that is wrong, before those
		// that are missing.
		if err == nil || err.Error() != tt.want {
			t.Errorf("%T %s:\ngot  %v\nwant %s", of, tt.in, err, tt.want)
		}
	}
}

// TestEncodeFailures: what has no JSON form, and where it is.
func TestEncodeFailures(t *testing.T) {
	raw := func(s string) map[string]json.RawMessage {
		return map[string]json.RawMessage{s: json.RawMessage("1")}
	}
	circle := &tree{Name: "a"}
	circle.Next = circle
	tests := []struct {
		name string
		of   any
		want string
	}{
		{"raw", scalars{}, `at /r: required and not set`},
		{"bad raw", all{Free: json.RawMessage(`{"a"`)}, `at /free: not JSON: the text breaks off`},
		{"empty raw", all{Free: json.RawMessage{}}, `at /free: required and not set`},
		{"bad rest", all{Extra: map[string]json.RawMessage{"x": []byte("1 2")}}, `at /x: not JSON: unexpected '2' at byte 3`},
		{"empty rest", all{Extra: map[string]json.RawMessage{"x": nil}}, `at /x: required and not set`},
		{"a field twice", all{Extra: raw("text")}, `at /text: set twice: as a field and among the other members`},
		{"a constant twice", all{Extra: raw("kind")}, `at /kind: set twice: as a field and among the other members`},
		{"indirect", chain{Next: &chain{}}, `at /next/next: required and not set`},
		{"union", holdsUnions{}, `at /l: required and not set`},
		{"union in a list", []label{newLabel(labelName("")), {}}, `at /1: required and not set`},
		{"union in a union", newLabel(labelList{{}}), `at /0: required and not set`},
		{"unknown arm", label{codegen.NewOneOf(labelArm(labelUnknown("x")))}, `not JSON: unexpected 'x' at byte 1`},
		{"literal", []mode{{}}, `at /0: required and not set`},
		{"infinite", []float64{1, inf()}, `at /1: JSON has no +Inf`},
		{"number", map[string]json.Number{"a": "0x1"}, `at /a: not a JSON number`},
		{"tuple with a gap", point{V3: runtime.Some(int64(1))}, `at /3: set, and the item before it is not`},
		{"tuple with a gap before the rest", point{Rest: []json.RawMessage{[]byte("1")}}, `at /4: set, and an item before it is not`},
		{"other and a field", loose{Other: []byte("1"), A: new(int64(1))}, `at /a: set beside a value that has no members`},
		{"other is an object", loose{Other: []byte(" {}")}, `the value has a field for each of its parts; it is not written as a whole`},
		{"foreign", outer{U: upper{"bad"}}, `at /u: json: error calling MarshalText for type codec_test.upper: cannot be written`},
		{"circle", circle, ``},
		{"channel", []chan int{nil}, `at /0: json: unsupported type: chan int`},
		{
			"two fields", struct {
				A int64    `json:"a"`
				B int64    `name:"a"`
				_ struct{} `mcp:"closed"`
			}{}, `struct { A int64 "json:\"a\""; B int64 "name:\"a\""; _ struct {} "mcp:\"closed\"" }: two fields are the member a`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := codec.Encode(tt.of)
			if err == nil {
				t.Fatalf("got %s", b)
			}
			if tt.want == "" {
				if !strings.Contains(err.Error(), "does it contain itself?") {
					t.Errorf("got %.200s", err)
				}
				return
			}
			if err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func inf() float64 { zero := 0.0; return 1 / zero }

// TestRoots: what Encode may be handed.
func TestRoots(t *testing.T) {
	var none *closed
	var any1 any = []int64{}
	for _, tt := range []struct {
		of   any
		want string
	}{{nil, "null"}, {none, "null"}, {closed{A: 1}, `{"a":1}`}, {&any1, "[]"}, {new(any), "null"}, {[]string(nil), "[]"}, {map[string]bool(nil), "{}"}} {
		if b, err := codec.Encode(tt.of); err != nil || string(b) != tt.want {
			t.Errorf("%#v: got %s, %v, want %s", tt.of, b, err, tt.want)
		}
	}
	for _, of := range []any{nil, none, closed{}} {
		if err := codec.Decode([]byte(`{"a":1}`), of); err == nil {
			t.Errorf("%#v: got no error", of)
		}
	}
	// Methods that call the codec are not called again, with a tag mcp or not.
	for _, of := range []any{&inner{A: 1}, &all{Null: new("")}} {
		b, err := json.Marshal(of)
		require.NoError(t, err)
		again := reflect.New(reflect.TypeOf(of).Elem()).Interface()
		if err := json.Unmarshal(b, again); err != nil {
			t.Errorf("%s: %v", b, err)
		}
	}
}

// TestBytes: []byte is base64, a type made of json.RawMessage is raw.
func TestBytes(t *testing.T) {
	type raw json.RawMessage
	var v struct {
		A []byte   `json:"a"`
		B raw      `json:"b"`
		_ struct{} `mcp:"closed"`
	}
	const text = `{"a":"aGk=","b":"aGk="}`
	if err := codec.Decode([]byte(text), &v); err != nil || string(v.A) != "hi" || string(v.B) != `"aGk="` {
		t.Errorf("got %s, %s, %v", v.A, v.B, err)
	}
	if b, err := codec.Encode(&v); err != nil || string(b) != text {
		t.Errorf("got %s, %v", b, err)
	}
}

func TestCanonicalJSON(t *testing.T) {
	for in, want := range map[string]string{
		` { "b" : [ 1.0 , -0 ] , "a" : "\u0061\/" } `:                  `{"a":"a/","b":[1,0]}`,
		`{"a":1,"b":2,"a":3}`:                                          `{"a":3,"b":2}`,
		`{"a":1,"a":2,"a":{"c":1,"b":[{"z":1,"y":2}]}}`:                `{"a":{"b":[{"y":2,"z":1}],"c":1}}`,
		`[1e2,0.00120,12e-1,1e-7,1e21,123456789012345678901234567890]`: `[100,0.0012,1.2,1e-7,1e21,1.2345678901234567890123456789e29]`,
		`[true,null,""]`: `[true,null,""]`,
	} {
		if got, err := codec.CanonicalJSON([]byte(in)); err != nil || string(got) != want {
			t.Errorf("%s:\ngot  %s, %v\nwant %s", in, got, err, want)
		}
	}
	for _, in := range []string{"", "{", "1 2", "{a:1}"} {
		if got, err := codec.CanonicalJSON([]byte(in)); err == nil {
			t.Errorf("%s: got %s", in, got)
		}
	}
}
