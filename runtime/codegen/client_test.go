package codegen_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/codegen"
)

// sumParams is a generated type with a required argument, stepsParams one
// without, which is an option.
type sumParams struct {
	A     int64                      `json:"a"`
	Extra map[string]json.RawMessage `json:"-" mcp:"rest"`
}

func (p sumParams) MarshalJSON() ([]byte, error) { return codegen.Marshal(p) }
func (p sumParams) Validate() error {
	if p.A < 0 {
		return codegen.At(errors.New("got -1, want 0 or more"), "a")
	}
	return nil
}

type stepsParams struct {
	N     *int64                     `json:"n,omitzero"`
	Extra map[string]json.RawMessage `json:"-" mcp:"rest"`
}

func (p stepsParams) MarshalJSON() ([]byte, error)    { return codegen.Marshal(p) }
func (p stepsParams) ApplyTo(s *runtime.CallSettings) { s.Arguments = p }

type sumResult struct {
	Sum   int64                      `json:"sum"`
	Extra map[string]json.RawMessage `json:"-" mcp:"rest,lenient"`
	Raw   *runtime.ToolResult        `json:"-"`
}

func (r *sumResult) UnmarshalJSON(b []byte) error { return codegen.Unmarshal(b, r) }

// TestCallSends: what arrives at the caller.
func TestCallSends(t *testing.T) {
	f := &fake{result: &runtime.ToolResult{}}
	c := codegen.NewClient(f, nil, runtime.WithTimeout(time.Minute), runtime.WithMeta("a", json.RawMessage("1")), nil)
	tests := []struct {
		name   string
		params any
		opts   []runtime.CallOption
		want   string
	}{
		{"parameters", sumParams{A: 1}, nil, `{"a":1}`},
		{"none", nil, nil, `{}`},
		{"zero parameters", stepsParams{}, nil, `{}`},
		{"as an option", stepsParams{}, options(stepsParams{N: new(int64(3))}), `{"n":3}`},
		{"as an option by pointer", stepsParams{}, options(&stepsParams{N: new(int64(3))}), `{"n":3}`},
		{"nil options", stepsParams{}, options(nil, (*stepsParams)(nil)), `{}`},
		{"raw", json.RawMessage(` {"b": 1.0}`), nil, ` {"b": 1.0}`},
		{"no raw", json.RawMessage(nil), nil, `{}`},
		{"not valid, validation off", sumParams{A: -1}, options(runtime.WithValidation(false)), `{"a":-1}`},
	}
	for _, tt := range tests {
		r, err := c.Call(t.Context(), "t", tt.params, tt.opts)
		if err != nil || r != f.result || f.name != "t" || f.args != tt.want {
			t.Errorf("%s: got %v %v, sent %s %s, want %s", tt.name, r, err, f.name, f.args, tt.want)
		}
		if f.opts.Timeout != time.Minute || string(f.opts.Meta["a"]) != "1" {
			t.Errorf("%s: sent with %v", tt.name, f.opts)
		}
	}

	_, err := c.Call(t.Context(), "t", nil, options(runtime.WithTimeout(time.Second), runtime.WithMeta("b", json.RawMessage("2")), runtime.WithProgress(func(runtime.Progress) {})))
	if err != nil || f.opts.Timeout != time.Second || f.opts.Progress == nil || len(f.opts.Meta) != 2 {
		t.Errorf("a call's own options: sent with %v %v", f.opts, err)
	}
	if _, err := c.Call(t.Context(), "t", nil, nil); err != nil || f.opts.Timeout != time.Minute || f.opts.Progress != nil || len(f.opts.Meta) != 1 {
		t.Errorf("the call after it: sent with %v %v", f.opts, err)
	}
}

// TestCallRefuses: nothing is sent.
func TestCallRefuses(t *testing.T) {
	f := &fake{result: &runtime.ToolResult{}}
	c := codegen.NewClient(f, nil)
	tests := []struct {
		name   string
		client *codegen.Client
		params any
		opts   []runtime.CallOption
		want   string
	}{
		{"not valid", c, sumParams{A: -1}, nil, "tool t: arguments: at /a: got -1, want 0 or more"},
		{"not valid as an option", c, sumParams{}, options(argument{sumParams{A: -1}}), "tool t: arguments: at /a"},
		{"another tool's", c, sumParams{A: 1}, options(stepsParams{}), "tool t: the call was given codegen_test.stepsParams, which are arguments of something else: it takes codegen_test.sumParams"},
		{"no arguments", c, nil, options(stepsParams{}), "it takes none"},
		{"twice", c, stepsParams{}, options(stepsParams{}, stepsParams{}), "arguments twice"},
		{"twice, another tool's first", c, stepsParams{}, options(argument{sumParams{}}, stepsParams{}), "arguments twice"},
		{"no object", c, json.RawMessage(`[1]`), nil, "arguments: not a JSON object"},
		{"no JSON", c, json.RawMessage(`{"a"}`), nil, "arguments: not a JSON object"},
		{"arguments to New", codegen.NewClient(f, nil, stepsParams{}), stepsParams{}, nil, "tool t: codegen_test.stepsParams given to New"},
		{"arguments twice to New", codegen.NewClient(f, nil, stepsParams{}, stepsParams{}), stepsParams{}, nil, "twice"},
		{"no caller", codegen.NewClient(nil, nil), nil, nil, "without a caller"},
	}
	for _, tt := range tests {
		_, err := tt.client.Call(t.Context(), "t", tt.params, tt.opts)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
	if f.calls != 0 {
		t.Errorf("%d calls were made", f.calls)
	}
	_, err := c.Call(t.Context(), "t", sumParams{A: -1}, nil)
	var field *runtime.FieldError
	if !errors.As(err, &field) || field.Pointer != "/a" {
		t.Errorf("got %v, want a FieldError at /a", err)
	}
}

type argument struct{ v any }

func (a argument) ApplyTo(s *runtime.CallSettings) { s.Arguments = a.v }

func TestCallErrors(t *testing.T) {
	broken := errors.New("broken")
	f := &fake{err: broken}
	c := codegen.NewClient(f, nil)
	if _, err := c.Call(t.Context(), "t", nil, nil); err != broken { //nolint:errorlint // not wrapped
		t.Errorf("got %v, want the caller's error", err)
	}
	f.err = nil
	if _, err := c.Call(t.Context(), "t", nil, nil); err == nil || !strings.Contains(err.Error(), "neither a result nor an error") {
		t.Errorf("got %v", err)
	}
	f.result = &runtime.ToolResult{IsError: true, Structured: json.RawMessage(`{"sum":1}`)}
	var v sumResult
	_, err := c.CallInto(t.Context(), "t", nil, nil, &v)
	var failed *runtime.ToolError
	if !errors.As(err, &failed) || failed.Tool != "t" || failed.Result != f.result {
		t.Errorf("got %v, want a ToolError", err)
	}
}

// TestCallInto: where a result is found, and what is not one.
func TestCallInto(t *testing.T) {
	f := &fake{}
	c := codegen.NewClient(f, nil)
	tests := []struct {
		name, result string
		want         string // of the error; "" is a sum of 3
	}{
		{"structured", `{"structuredContent":{"sum":3},"content":[{"type":"text","text":"{\"sum\":4}"}]}`, ""},
		{"more members", `{"structuredContent":{"sum":3,"later":1},"content":[]}`, ""},
		{"an integer as JSON Schema has it", `{"structuredContent":{"sum":3.0}}`, ""},
		{"text", `{"content":[{"type":"text","text":"{\"sum\":3}"}]}`, ""},
		{"the first that fits", `{"content":[{"type":"image","text":"{\"sum\":9}"},{"type":"text","text":"sum"},{"type":"text","text":"{\"sum\":\"x\"}"},{"type":"text","text":" {\"sum\":3} "},{"type":"text","text":"{\"sum\":4}"}]}`, ""},
		{"structured, and wrong", `{"structuredContent":{"sum":"3"},"content":[{"type":"text","text":"{\"sum\":3}"}]}`, "at /sum"},
		{"missing member", `{"structuredContent":{}}`, "/sum"},
		{"null", `{"structuredContent":null}`, "null"},
		{"nothing", `{"content":[]}`, "neither structuredContent nor JSON as text"},
		{"other text", `{"content":[{"type":"text","text":"three"}]}`, "neither structuredContent nor JSON as text"},
		{"text that does not fit", `{"content":[{"type":"text","text":"{\"sum\":[]}"}]}`, "at /sum"},
	}
	for _, tt := range tests {
		var err error
		if f.result, err = runtime.ParseToolResult(json.RawMessage(tt.result)); err != nil {
			t.Fatal(err)
		}
		var v sumResult
		raw, err := c.CallInto(t.Context(), "add", nil, nil, &v)
		if tt.want == "" {
			if err != nil || v.Sum != 3 || raw != f.result {
				t.Errorf("%s: got %v %v %v", tt.name, v, raw, err)
			}
			continue
		}
		var mismatch *runtime.ResultError
		if !errors.As(err, &mismatch) || mismatch.Result != f.result || mismatch.Tool != "add" || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want a ResultError with %q", tt.name, err, tt.want)
		}
	}
}

// TestCallIntoOther: results that are not objects.
func TestCallIntoOther(t *testing.T) {
	f := &fake{result: &runtime.ToolResult{Structured: json.RawMessage(`["a","b"]`)}}
	var list []string
	if _, err := codegen.NewClient(f, nil).CallInto(t.Context(), "t", nil, nil, &list); err != nil || len(list) != 2 {
		t.Errorf("got %v %v", list, err)
	}
	f.result = &runtime.ToolResult{Content: []runtime.Content{{Type: "text", Text: "{}"}, {Type: "text", Text: "7.0"}}}
	var n int64
	if _, err := codegen.NewClient(f, nil).CallInto(t.Context(), "t", nil, nil, &n); err != nil || n != 7 {
		t.Errorf("got %v %v", n, err)
	}
}

// listResult is a generated type whose JSON is that of a part of it.
type listResult struct {
	Value []string
	Raw   *runtime.ToolResult
}

func (r listResult) MarshalJSON() ([]byte, error)  { return codegen.Marshal(r.Value) }
func (r *listResult) UnmarshalJSON(b []byte) error { return codegen.Unmarshal(b, &r.Value) }

func TestCallIntoWrapper(t *testing.T) {
	f := &fake{result: &runtime.ToolResult{Structured: json.RawMessage(`["a","b"]`)}}
	var r listResult
	if _, err := codegen.NewClient(f, nil).CallInto(t.Context(), "t", listResult{Value: []string{"c"}}, nil, &r); err != nil || len(r.Value) != 2 || f.args != `["c"]` {
		t.Errorf("got %v %v, sent %s", r, err, f.args)
	}
	f.result = &runtime.ToolResult{Content: []runtime.Content{{Type: "text", Text: `{"Value":["x"]}`}, {Type: "text", Text: `["a"]`}}}
	if _, err := codegen.NewClient(f, nil).CallInto(t.Context(), "t", nil, nil, &r); err != nil || len(r.Value) != 1 || r.Value[0] != "a" {
		t.Errorf("got %v %v", r, err)
	}
}

// whole implements all that a generated client may call, and counts lists.
type whole struct {
	fake
	tools []runtime.Tool
	got   string
}

func (w *whole) GetPrompt(_ context.Context, name string, args map[string]string, opts *runtime.CallOptions) (*runtime.PromptResult, error) {
	w.got = fmt.Sprintf("%s%v%v", name, args, opts.Timeout)
	return &runtime.PromptResult{}, nil
}

func (w *whole) ReadResource(_ context.Context, uri string, opts *runtime.CallOptions) (*runtime.ResourceResult, error) {
	w.got = fmt.Sprint(uri, opts.Timeout)
	return &runtime.ResourceResult{}, nil
}

func (w *whole) Complete(_ context.Context, ref runtime.CompletionRef, argument, value string, others map[string]string, _ *runtime.CallOptions) (*runtime.Completion, error) {
	w.got = fmt.Sprint(ref, argument, value, others)
	return &runtime.Completion{Values: []string{"x"}}, nil
}

func (w *whole) Tools(context.Context) iter.Seq2[runtime.Tool, error] {
	return func(yield func(runtime.Tool, error) bool) {
		for _, t := range w.tools {
			if !yield(t, nil) {
				return
			}
		}
	}
}

func (w *whole) Prompts(context.Context) iter.Seq2[runtime.Prompt, error] {
	return func(yield func(runtime.Prompt, error) bool) { yield(runtime.Prompt{Name: "p"}, nil) }
}

func (w *whole) Resources(context.Context) iter.Seq2[runtime.Resource, error] {
	return func(yield func(runtime.Resource, error) bool) { yield(runtime.Resource{Name: "r"}, nil) }
}

func (w *whole) ResourceTemplates(context.Context) iter.Seq2[runtime.ResourceTemplate, error] {
	return func(yield func(runtime.ResourceTemplate, error) bool) {
		yield(runtime.ResourceTemplate{Name: "t"}, nil)
	}
}

type promptParams struct {
	City  string   `json:"city"`
	State *string  `json:"state,omitzero"`
	_     struct{} `mcp:"closed"`
}

func (p promptParams) MarshalJSON() ([]byte, error)    { return codegen.Marshal(p) }
func (p promptParams) ApplyTo(s *runtime.CallSettings) { s.Arguments = p }

type uriParams struct {
	Path string            `json:"path"`
	Page *string           `json:"page,omitzero"`
	Tags []string          `json:"tags,omitzero"`
	More map[string]string `json:"more,omitzero"`
	_    struct{}          `mcp:"closed"`
}

func (p uriParams) MarshalJSON() ([]byte, error) { return codegen.Marshal(p) }

func TestPromptsAndResources(t *testing.T) {
	w := &whole{}
	c := codegen.NewClient(w, nil, runtime.WithTimeout(time.Second))
	ctx := t.Context()
	sent := func(want string, err error) {
		t.Helper()
		if err != nil || w.got != want {
			t.Errorf("sent %s %v, want %s", w.got, err, want)
		}
	}
	_, err := c.GetPrompt(ctx, "p", promptParams{City: "Łódź", State: new("x")}, nil)
	sent("pmap[city:Łódź state:x]1s", err)
	_, err = c.GetPrompt(ctx, "p", promptParams{}, options(promptParams{City: "c"}, runtime.WithTimeout(time.Minute)))
	sent("pmap[city:c]1m0s", err)
	_, err = c.GetPrompt(ctx, "p", nil, nil)
	sent("pmap[]1s", err)
	_, err = c.ReadResource(ctx, "x://y", nil)
	sent("x://y1s", err)
	const template = "x://h/{+path}{?page,tags*,more*}"
	_, err = c.ReadTemplate(ctx, template, uriParams{Path: "a/b c"}, nil)
	sent("x://h/a/b%20c1s", err)
	_, err = c.ReadTemplate(ctx, template, uriParams{Path: "a", Page: new(""), Tags: []string{"1", "é"}, More: map[string]string{"k": "&"}}, nil)
	sent("x://h/a?page=&tags=1&tags=%C3%A9&k=%261s", err)
	_, err = c.Complete(ctx, runtime.CompletionRef{Prompt: "p"}, "city", "Ł", map[string]string{"a": "b"}, nil)
	sent("{p }cityŁmap[a:b]", err)

	for name, err := range map[string]error{
		"another's arguments": errOf(c.GetPrompt(ctx, "p", promptParams{}, options(stepsParams{}))),
		"no strings":          errOf(c.GetPrompt(ctx, "p", stepsParams{N: new(int64(1))}, nil)),
		"resource":            errOf(c.ReadResource(ctx, "x://y", options(stepsParams{}))),
		"template":            errOf(c.ReadTemplate(ctx, template, uriParams{}, options(stepsParams{}))),
		"template, broken":    errOf(c.ReadTemplate(ctx, "{", uriParams{}, nil)),
		"template, no string": errOf(c.ReadTemplate(ctx, "{n}", stepsParams{N: new(int64(1))}, nil)),
		"completion":          errOf(c.Complete(ctx, runtime.CompletionRef{}, "a", "b", nil, options(stepsParams{}))),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestUnable: a caller that can only call tools.
func TestUnable(t *testing.T) {
	c := codegen.NewClient(&fake{}, nil)
	ctx := t.Context()
	var errs []error
	add := func(err error) { errs = append(errs, err) }
	add(errOf(c.GetPrompt(ctx, "p", nil, nil)))
	add(errOf(c.ReadResource(ctx, "x://y", nil)))
	add(errOf(c.ReadTemplate(ctx, "x://{a}", nil, nil)))
	add(errOf(c.Complete(ctx, runtime.CompletionRef{Prompt: "p"}, "a", "", nil, nil)))
	for _, err := range c.Tools(ctx) {
		add(err)
	}
	for _, err := range c.Prompts(ctx) {
		add(err)
	}
	for _, err := range c.Resources(ctx) {
		add(err)
	}
	for _, err := range c.ResourceTemplates(ctx) {
		add(err)
	}
	if len(errs) != 8 {
		t.Fatalf("got %d errors, want 8", len(errs))
	}
	for _, err := range errs {
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "the caller (*codegen_test.fake) has no method ") {
			t.Errorf("got %v", err)
		}
	}
}

func TestLists(t *testing.T) {
	c := codegen.NewClient(&whole{tools: []runtime.Tool{{Name: "a"}, {Name: "b"}}}, nil)
	var names []string
	for v, err := range c.Tools(t.Context()) {
		names = append(names, v.Name, fmt.Sprint(err))
	}
	for v := range c.Prompts(t.Context()) {
		names = append(names, v.Name)
	}
	for v := range c.Resources(t.Context()) {
		names = append(names, v.Name)
	}
	for v := range c.ResourceTemplates(t.Context()) {
		names = append(names, v.Name)
	}
	if want := []string{"a", "<nil>", "b", "<nil>", "p", "r", "t"}; !reflect.DeepEqual(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}
