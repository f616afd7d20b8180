package runtime_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
)

// weather is a type of the caller's own.
type weather struct {
	Place string  `json:"place"`
	Temp  float64 `json:"temp"`
}

// reading is a type as generated ones are.
type reading struct {
	N int64    `json:"n"`
	_ struct{} `mcp:"closed"`
}

func TestJSON(t *testing.T) {
	text := func(blocks ...string) *runtime.ToolResult {
		r := &runtime.ToolResult{Content: []runtime.Content{{Type: "image"}, {Type: "resource_link", Text: `{"n":9}`}}}
		for _, s := range blocks {
			r.Content = append(r.Content, runtime.Content{Type: "text", Text: s})
		}
		return r
	}
	structured := func(s string, blocks ...string) *runtime.ToolResult {
		r := text(blocks...)
		r.Structured = json.RawMessage(s)
		return r
	}
	show := func(v any, err error) string { return fmt.Sprintf("%+v %v", v, err) }
	for _, tt := range []struct{ name, got, want string }{
		{"text", show(runtime.JSON[weather](text(`It is warm:`, `{"place":"Oslo","temp":1.5,"wind":3}`))), `{Place:Oslo Temp:1.5} <nil>`},
		{"structured first", show(runtime.JSON[weather](structured(`{"place":"Oslo"}`, `{"place":"Rome"}`))), `{Place:Oslo Temp:0} <nil>`},
		{"structured alone", show(runtime.JSON[reading](structured(`{"n":"x"}`, `{"n":1}`))), `{N:0 _:{}} result as runtime_test.reading: at /n: got a string, want an integer`},
		{"the first that fits", show(runtime.JSON[reading](text(`{"m":1}`, `{"n":1.0}`, `{"n":2}`))), `{N:1 _:{}} <nil>`},
		{"generated types inside", show(runtime.JSON[map[string][]reading](text(`{"a":[{"n":1e1}]}`))), `map[a:[{N:10 _:{}}]] <nil>`},
		{"a list", show(runtime.JSON[[]weather](text(`[{"place":"a"}]`))), `[{Place:a Temp:0}] <nil>`},
		{"anything", show(runtime.JSON[any](text(`[1,null]`))), `[1 <nil>] <nil>`},
		{"raw", show(runtime.JSON[json.RawMessage](structured(`[ 1 ]`))), `[91 32 49 32 93] <nil>`},
		{"none", show(runtime.JSON[int](text(`not JSON`))), `0 result as int: neither structuredContent nor JSON as text`},
		{"no result", show(runtime.JSON[int](nil)), `0 result as int: neither structuredContent nor JSON as text`},
		{"wrong", show(runtime.JSON[int64](text(`1.5`))), `0 result as int64: got 1.5, want an integer`},
	} {
		if tt.got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, tt.got, tt.want)
		}
	}
	_, err := runtime.JSON[reading](structured(`{}`))
	if field, ok := errors.AsType[*runtime.FieldError](err); !ok || field.Pointer != "/n" {
		t.Errorf("got %v", err)
	}
}
