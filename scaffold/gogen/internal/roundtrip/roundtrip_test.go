// Package roundtrip_test runs the golden output of package gogen. It stands
// apart so that golden files which do not compile can still be rewritten.
package roundtrip_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/names"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/presence"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/recursive"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/results"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/shapes"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/tools"
	"github.com/mcpctl/mcpctl/scaffold/gogen/testdata/unions"
)

// fake is a server in memory: it keeps what was sent and answers a result.
type fake struct {
	name   string
	args   string
	opts   *runtime.CallOptions
	result string
}

func (f *fake) CallTool(_ context.Context, name string, args json.RawMessage, opts *runtime.CallOptions) (*runtime.ToolResult, error) {
	f.name, f.args, f.opts = name, string(args), opts
	if f.result == "" {
		f.result = `{"content":[]}`
	}
	return runtime.ParseToolResult(json.RawMessage(f.result))
}

// TestEncode holds what reaches the wire: absent, null, zero and empty are
// four different things.
func TestEncode(t *testing.T) {
	f := &fake{}
	ctx := t.Context()
	ticket := tools.New(f)
	tests := []struct {
		name string
		call func() error
		want string
	}{
		{"optional absent", func() error {
			_, err := ticket.WriteTicket(ctx, tools.WriteTicketParams{Number: 1})
			return err
		}, `{"number":1}`},
		{"explicit null", func() error {
			_, err := ticket.WriteTicket(ctx, tools.WriteTicketParams{Number: 1, Kind: runtime.Null[string](), Milestone: runtime.Some(int64(0))})
			return err
		}, `{"number":1,"kind":null,"milestone":0}`},
		{"false, empty text and empty list are sent", func() error {
			_, err := ticket.WriteTicket(ctx, tools.WriteTicketParams{Draft: new(false), Title: new(""), Labels: []string{}, Kind: runtime.Some("")})
			return err
		}, `{"number":0,"draft":false,"kind":"","labels":[],"title":""}`},
		{"defaults are not sent", func() error {
			_, err := ticket.Compress(ctx, tools.CompressParams{})
			return err
		}, `{}`},
		{"required list unset is empty", func() error {
			_, err := presence.New(f).Lists(ctx, presence.ListsParams{})
			return err
		}, `{"nested":[]}`},
		{"lists in lists", func() error {
			_, err := presence.New(f).Lists(ctx, presence.ListsParams{
				Nested: [][]string{nil, {"a"}}, NullItems: []*string{nil, new("x")}, Ints: []int64{9007199254740993},
				ByName: map[string][]string{"b": nil, "a": {"<&>"}}, Points: []presence.ListsPointsItem{{X: 1, Y: -0.5}},
			})
			return err
		}, `{"nested":[[],["a"]],"byName":{"a":["<&>"],"b":[]},"ints":[9007199254740993],"nullItems":[null,"x"],"points":[{"x":1,"y":-0.5}]}`},
		{"extra members", func() error {
			_, err := presence.New(f).Open(ctx, presence.OpenParams{Name: "n", Extra: map[string]json.RawMessage{"z": []byte("1.0"), "a": []byte(" [ ] ")}})
			return err
		}, `{"name":"n","a": [ ] ,"z":1.0}`},
		{"typed extra members", func() error {
			_, err := presence.New(f).TypedRest(ctx, presence.TypedRestParams{Name: "n", Extra: map[string]int64{"k": 3}})
			return err
		}, `{"name":"n","k":3}`},
		{"no parameters", func() error { _, err := presence.New(f).Nothing(ctx); return err }, `{}`},
		{"constants are filled in", func() error {
			_, err := unions.New(f).Consts(ctx, unions.ConstsParams{})
			// The result of the fake fits no output schema.
			if _, ok := errors.AsType[*runtime.ResultError](err); !ok {
				return err
			}
			return nil
		}, `{"deep":{"a":[1,true]},"kind":"circle","version":2}`},
		{"names keep every character", func() error {
			_, err := names.New(f).X(ctx, names.XParams{X: new("empty"), Plus1: new(int64(1)), Dollar: new("d"), LineBreak: new("l")})
			return err
		}, `{"":"empty","$":"d","+1":1,"line\nbreak":"l"}`},
		{"raw arguments", func() error {
			_, err := unions.New(f).VariantRoot(ctx, json.RawMessage(`{"a":"x"}`))
			return err
		}, `{"a":"x"}`},
		{"raw arguments unset", func() error { _, err := unions.New(f).VariantRoot(ctx, nil); return err }, `{}`},
		{"recursion", func() error {
			_, err := recursive.New(f).Tree(ctx, recursive.TreeParams{Root: recursive.TreeNode{
				Value: "a", Children: []recursive.TreeNode{{Value: "b", Parent: runtime.Null[recursive.TreeNode]()}},
				Next: &recursive.TreeNode{Value: "c", Parent: runtime.Some(recursive.TreeNode{Value: "d"})},
			}})
			return err
		}, `{"root":{"value":"a","children":[{"value":"b","parent":null}],"next":{"value":"c","parent":{"value":"d"}}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.call(); err != nil {
				t.Fatal(err)
			}
			if f.args != tt.want {
				t.Errorf("got  %s\nwant %s", f.args, tt.want)
			}
		})
	}
}

func TestEncodeErrors(t *testing.T) {
	c := unions.New(&fake{})
	tests := []struct {
		name string
		err  func() error
		want string
	}{
		{
			"a union not set", func() error { _, err := c.Mixed(t.Context(), unions.MixedParams{}); return err },
			"tool mixed: arguments at /label: required and not set",
		},
		{"rubbish in a union", func() error {
			_, err := c.Mixed(t.Context(), unions.MixedParams{Label: []byte(`"a"`), Many: []json.RawMessage{[]byte("1"), []byte("{")}})
			return err
		}, "tool mixed: arguments at /many/1: not JSON: {"},
		{"set twice", func() error {
			_, err := presence.New(&fake{}).Open(t.Context(), presence.OpenParams{Extra: map[string]json.RawMessage{"name": []byte("1")}})
			return err
		}, "tool open: arguments at /name: set twice: as a field and among the other members"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.err(); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// TestRoundTrip decodes and encodes again; nothing may be lost or added.
func TestRoundTrip(t *testing.T) {
	all := `{"reqText":"","reqCount":1,"reqRatio":2.5,"reqFlag":false,"reqList":[],"reqMap":{},"reqPoint":{"x":1,"y":2},"reqLevel":"low","reqAny":null,` +
		`"nullText":null,"nullCount":null,"nullRatio":null,"nullFlag":null,"nullList":null,"nullMap":null,"nullPoint":null,"nullLevel":null,"nullAny":null}`
	some := strings.TrimSuffix(strings.NewReplacer(`"nullText":null`, `"nullText":"t"`, `"nullList":null`, `"nullList":[]`, `"nullPoint":null`,
		`"nullPoint":{"x":0,"y":0}`, `"reqLevel":"low"`, `"reqLevel":"unheard of"`).Replace(all), "}") +
		`,"optText":"","optCount":0,"optRatio":0,"optFlag":false,"optList":[],"optMap":{},"optPoint":{"x":0,"y":0},"optLevel":"high","optAny":[1.0],` +
		`"optNullText":null,"optNullCount":0,"optNullRatio":null,"optNullFlag":false,"optNullList":null,"optNullMap":{},"optNullPoint":null,"optNullLevel":"high","optNullAny":null}`
	tests := []struct {
		name string
		v    any
		json string
	}{
		{"required only", &presence.AllParams{}, all},
		{"everything", &presence.AllParams{}, some},
		{"unknown members", &presence.OpenParams{}, `{"name":"n","other":{"big":9007199254740993,"f":1.0}}`},
		{"case matters", &presence.OpenParams{}, `{"name":"n","NAME":1}`},
		{"collisions", &names.GetUserSnakeParams{}, `{"user-id":"1","user_id":"2","userId":"3","userID":"4"}`},
		{"other alphabets", &names.X日本Params{}, `{"日本":"1","名前":"2","été":"3","ß":"4"}`},
		{"reserved words", &names.NewParams{}, `{"extra":"1","raw":"2","validate":"3","marshalJSON":"4"}`},
		{"lists of lists of lists", &recursive.ListsParams{}, `{"deep":[[],[[]]],"table":{"a":null,"b":{}}}`},
		{"maps", &shapes.MapsParams{}, `{"free":{"a":1.0},"typed":{"x":1},"structs":{"p":{"x":1,"y":2}},"pattern":{"x-a":"b"},"nulls":{"a":null,"b":2}}`},
		{"beyond 64 bits", &shapes.NumbersParams{}, `{"big":18446744073709551615,"id":9007199254740991}`},
		{"nullable through a definition", &unions.NullsParams{}, `{"a":"x","h":null,"g":null,"j":{"z":"q"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := json.Unmarshal([]byte(tt.json), tt.v); err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(tt.v)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(members(t, []byte(tt.json)), members(t, got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			fresh := reflect.New(reflect.TypeOf(tt.v).Elem()).Interface()
			if err := json.Unmarshal(got, fresh); err != nil || !reflect.DeepEqual(fresh, tt.v) {
				t.Errorf("decoding what was encoded: %v\ngot  %+v\nwant %+v", err, fresh, tt.v)
			}
		})
	}
}

// members decodes with numbers as they are written.
func members(t *testing.T, raw []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDecodeErrors(t *testing.T) {
	tests := []struct {
		name string
		v    any
		json string
		want string
	}{
		{"missing", &presence.OpenParams{}, `{}`, "at /name: missing"},
		{"null", &presence.OpenParams{}, `{"name":null}`, "at /name: null is not allowed"},
		{"null for a list", &presence.ListsParams{}, `{"nested":null}`, "at /nested: null is not allowed"},
		{"null for what only a pointer keeps finite", &recursive.ImpossibleParams{}, `{"a":{"b":{"a":null}}}`, "at /a/b/a: null is not allowed"},
		{"null in a list", &presence.ListsParams{}, `{"nested":[["a",null]]}`, "at /nested/0/1: null is not allowed"},
		{"wrong type deep inside", &presence.ListsParams{}, `{"nested":[],"points":[{"x":1,"y":2},{"x":"1","y":2}]}`, `at /points/1/x: got "1", want a number`},
		{"fraction", &presence.ListsParams{}, `{"nested":[],"ints":[1.5]}`, "at /ints/0: got 1.5, want an integer"},
		{"escaped pointer", &presence.TypedRestParams{}, `{"name":"","a/b~":"x"}`, `at /a~1b~0: got "x", want an integer`},
		{"other constant", &unions.ConstsParams{}, `{"kind":"square","version":2,"deep":{"a":[1,true]}}`, `at /kind: got "square", want "circle"`},
		{"no object", &presence.OpenParams{}, `[]`, "got [], want an object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := json.Unmarshal([]byte(tt.json), tt.v); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestDecodeLenient(t *testing.T) {
	var p presence.ListsParams
	if err := json.Unmarshal([]byte(`{"nested":[],"ints":[1.0,1e3,-0,12.50e1,9007199254740993]}`), &p); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{1, 1000, 0, 125, 9007199254740993}, p.Ints); diff != "" {
		t.Error(diff)
	}
	var c unions.ConstsParams
	if err := json.Unmarshal([]byte(`{"kind":"circle","version":2.0,"deep":{"a":[1e0,true]},"maybe":null}`), &c); err != nil {
		t.Errorf("numbers of the same value, and null for an optional member: %v", err)
	}
	if c.Maybe != nil {
		t.Errorf("got %v, want absent", *c.Maybe)
	}
}

func TestResults(t *testing.T) {
	ctx := t.Context()
	structured := func(s string) *results.Client {
		return results.New(&fake{result: `{"content":[{"type":"text","text":"words"}],"structuredContent":` + s + `,"x":1}`})
	}
	r, err := structured(`{"n":1e2,"when":null,"items":[{"id":1,"more":true}],"raw":"text","unknown":[1]}`).Struct(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if r.N != 100 || r.When != nil || len(r.Items) != 1 || *r.RawMember != "text" || string(r.Extra["unknown"]) != "[1]" ||
		string(r.Items[0].Extra["more"]) != "true" || !strings.Contains(string(r.Raw.Raw), `"x":1`) {
		t.Errorf("got %+v", r)
	}
	if l, err := structured(`[1,2.0]`).List(ctx); err != nil || len(l.Value) != 2 || l.Value[1] != 2 || l.Raw == nil {
		t.Errorf("list: %+v, %v", l, err)
	}
	if m, err := structured(`null`).Maybe(ctx); err != nil || m.Value != nil {
		t.Errorf("maybe: %+v, %v", m, err)
	}
	if v, err := structured(`{"loose":[1],"bag":"none"}`).Typeless(ctx); err != nil || string(v.Loose) != "[1]" || string(v.Bag) != `"none"` {
		t.Errorf("rules without a type do not bind other values: %+v, %v", v, err)
	}
	if u, err := structured(`"x"`).Union(ctx); err != nil || string(u.Value) != `"x"` {
		t.Errorf("union: %+v, %v", u, err)
	}

	asText := results.New(&fake{result: `{"content":[{"type":"text","text":"see below: {"},{"type":"text","text":"{\"a\":\"b\"}"}]}`})
	if r, err := asText.Ref(ctx); err != nil || r.Value.A != "b" {
		t.Errorf("JSON as text: %+v, %v", r, err)
	}
	_, err = structured(`{"n":1,"when":"x","items":[{}]}`).Struct(ctx)
	bad, ok := errors.AsType[*runtime.ResultError](err)
	if !ok || bad.Result.Structured == nil || bad.Error() != "tool struct: the result does not match the output schema: at /items/0/id: missing" {
		t.Errorf("broken promise: %v", err)
	}
	_, err = results.New(&fake{result: `{"content":[{"type":"text","text":"only words"}]}`}).Struct(ctx)
	if _, ok := errors.AsType[*runtime.ResultError](err); !ok {
		t.Errorf("no structured content: %v", err)
	}
	_, err = results.New(&fake{result: `{"content":[{"type":"text","text":"disk full"}],"isError":true}`}).Struct(ctx)
	if e, ok := errors.AsType[*runtime.ToolError](err); !ok || e.Error() != "tool struct: disk full" {
		t.Errorf("tool error: %v", err)
	}
}

func TestOptions(t *testing.T) {
	f := &fake{}
	c := results.New(f, runtime.WithTimeout(1), runtime.WithMeta("a", []byte("1")))
	if _, err := c.Plain(t.Context(), runtime.WithTimeout(2), runtime.WithMeta("b", []byte("2"))); err != nil {
		t.Fatal(err)
	}
	if f.name != "plain" || f.opts.Timeout != 2 || len(f.opts.Meta) != 2 {
		t.Errorf("got %s %+v", f.name, f.opts)
	}
	if _, err := c.Plain(t.Context(), nil); err != nil || f.opts.Timeout != 1 || len(f.opts.Meta) != 1 {
		t.Errorf("a call's options stay its own: got %+v, %v", f.opts, err)
	}
}

func TestEnum(t *testing.T) {
	v := tools.CompressMode("").Values()
	if diff := cmp.Diff([]tools.CompressMode{"link", "embed", "both"}, v); diff != "" {
		t.Error(diff)
	}
	if !tools.CompressModeBoth.Valid() || tools.CompressMode("zip").Valid() {
		t.Error("Valid does not tell the values from others")
	}
}
