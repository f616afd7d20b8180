package double_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/codegen/double"
	"github.com/mcpctl/mcpctl/runtime/fixture"
)

// sumParams and sumResult behave as generated types do.
type sumParams struct{ A int }

func (p *sumParams) UnmarshalJSON(b []byte) error {
	var v struct {
		A *int `json:"a"`
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return err
	}
	if v.A == nil {
		return &runtime.FieldError{Pointer: "/a", Reason: "missing"}
	}
	p.A = *v.A
	return nil
}

func (p sumParams) Validate() error {
	if p.A < 0 {
		return &runtime.FieldError{Pointer: "/a", Reason: "below 0"}
	}
	return nil
}

type sumResult struct {
	Total int                 `json:"total"`
	Raw   *runtime.ToolResult `json:"-"`
}

func (r sumResult) Validate() error { return sumParams{r.Total}.Validate() }

// recorder is a test that records failures and does not fail. Other methods are
// those of the enclosing test.
type recorder struct {
	testing.TB
	mu     sync.Mutex
	errors []string
	fatal  bool
}

func (*recorder) Helper() {}

func (r *recorder) Errorf(format string, a ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors = append(r.errors, fmt.Sprintf(format, a...))
}

func (r *recorder) Fatalf(format string, a ...any) {
	r.Errorf(format, a...)
	r.fatal = true
}

func TestTypedTool(t *testing.T) {
	t.Parallel()
	s := double.New(t, "shop")
	double.TypedTool(s, "sum", func(_ context.Context, p sumParams) (*sumResult, error) {
		return &sumResult{Total: p.A + 1}, nil
	})
	r, err := s.CallTool(t.Context(), "sum", json.RawMessage(`{"a":4}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"content":[{"type":"text","text":"{\"total\":5}"}],"structuredContent":{"total":5}}`
	if string(r.Raw) != want || string(r.Structured) != `{"total":5}` || r.IsError {
		t.Errorf("got %s, want %s", r.Raw, want)
	}
	for args, reason := range map[string]string{
		`{"a":-1}`:      "at /a: below 0",
		`{}`:            "at /a: missing",
		`{"a":1,"b":2}`: "unknown field",
	} {
		_, err := s.CallTool(t.Context(), "sum", json.RawMessage(args), nil)
		var refused *runtime.Error
		if !errors.As(err, &refused) || refused.Code != runtime.CodeInvalidParams || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: got %v, want code -32602 and %q", args, err, reason)
		}
	}
	if got := double.ParamsOf[sumParams](s.Calls(), double.MethodTool, "sum"); !cmp.Equal(got, []sumParams{{4}}) {
		t.Errorf("parameters: %v", got)
	}
	if n := len(s.Calls()); n != 4 {
		t.Errorf("got %d calls, want all 4", n)
	}
	if got := double.ParamsOf[sumParams](s.Calls(), double.MethodTool, "other"); got != nil {
		t.Errorf("of another tool: %v", got)
	}
}

func TestTool(t *testing.T) {
	t.Parallel()
	s := double.New(t, "shop")
	double.Tool(s, "raw", func(_ context.Context, p json.RawMessage) (*runtime.ToolResult, error) {
		switch string(p) {
		case `{"x": 1}`:
			return double.Text("one", "two"), nil
		case `{"x": 2}`:
			return &runtime.ToolResult{}, nil
		case `{"x": 3}`:
			return nil, double.Failure("no such thing")
		case `{"x": 4}`:
			return nil, fmt.Errorf("wrapped: %w", &runtime.ToolError{})
		case `{"x": 5}`:
			return &runtime.ToolResult{Raw: json.RawMessage(`{"content":[],"more":1}`)}, nil
		}
		return nil, runtime.ErrClosed
	})
	for args, want := range map[string]string{
		`{"x": 1}`: `{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}`,
		`{"x": 2}`: `{"content":[]}`,
		`{"x": 3}`: `{"content":[{"type":"text","text":"no such thing"}],"isError":true}`,
		`{"x": 4}`: `{"content":[],"isError":true}`,
		`{"x": 5}`: `{"content":[],"more":1}`,
	} {
		r, err := s.CallTool(t.Context(), "raw", json.RawMessage(args), nil)
		if err != nil || string(r.Raw) != want {
			t.Errorf("%s: got %v, %v; want %s", args, r, err, want)
		}
	}
	if _, err := s.CallTool(t.Context(), "raw", nil, nil); !errors.Is(err, runtime.ErrClosed) {
		t.Errorf("another error: got %v, want it as it is", err)
	}
}

func TestUnexpected(t *testing.T) {
	t.Parallel()
	tb := &recorder{TB: t}
	s := double.New(tb, "shop")
	_, toolErr := s.CallTool(t.Context(), "sum", json.RawMessage(`{"a":1}`), nil)
	_, promptErr := s.GetPrompt(t.Context(), "p", map[string]string{"x": "y"}, nil)
	_, resourceErr := s.ReadResource(t.Context(), "a://b", nil)
	if toolErr == nil || promptErr == nil || resourceErr == nil {
		t.Errorf("got %v, %v, %v; want errors", toolErr, promptErr, resourceErr)
	}
	want := []string{
		`double of shop: unexpected call: tool sum {"a":1} (its On method sets an answer)`,
		`double of shop: unexpected call: prompt p {"x":"y"} (its On method sets an answer)`,
		`double of shop: unexpected call: resource a://b (its On method sets an answer)`,
	}
	if diff := cmp.Diff(want, tb.errors); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
}

func TestWrongAnswers(t *testing.T) {
	t.Parallel()
	tb := &recorder{TB: t}
	s := double.New(tb, "shop")
	call := func() error {
		_, err := s.CallTool(t.Context(), "sum", json.RawMessage(`{"a":1}`), nil)
		return err
	}
	double.TypedTool(s, "sum", func(context.Context, sumParams) (*sumResult, error) { return nil, nil })
	nothing := call()
	double.TypedTool(s, "sum", func(context.Context, sumParams) (*sumResult, error) { return &sumResult{Total: -1}, nil })
	invalid := call()
	double.Tool(s, "sum", func(context.Context, sumParams) (*runtime.ToolResult, error) { return nil, nil })
	if untyped := call(); nothing == nil || invalid == nil || untyped == nil {
		t.Errorf("got %v, %v, %v; want errors", nothing, invalid, untyped)
	}
	want := []string{
		`double of shop: the answer to tool sum {"a":1}: neither a result nor an error`,
		`double of shop: the answer to tool sum {"a":1}: at /a: below 0`,
		`double of shop: the answer to tool sum {"a":1}: neither a result nor an error`,
	}
	if diff := cmp.Diff(want, tb.errors); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
}

func TestPromptsAndResources(t *testing.T) {
	t.Parallel()
	s := double.New(t, "shop")
	double.Prompt(s, "p", func(_ context.Context, p struct{ X string }) (*runtime.PromptResult, error) {
		return &runtime.PromptResult{Description: p.X}, nil
	})
	r, err := s.GetPrompt(t.Context(), "p", map[string]string{"x": "y"}, nil)
	if err != nil || string(r.Raw) != `{"description":"y","messages":[]}` {
		t.Errorf("prompt: got %+v, %v", r, err)
	}
	said := func(who string) func(context.Context, string) (*runtime.ResourceResult, error) {
		return func(_ context.Context, uri string) (*runtime.ResourceResult, error) {
			return &runtime.ResourceResult{Contents: []runtime.ResourceContents{{URI: uri, Text: who}}}, nil
		}
	}
	double.Template(s, "a://{+path}", said("replaced"))
	double.Template(s, "a://{+path}", said("path"))
	double.Template(s, "a://x/{id}.txt{?q}", said("later"))
	double.Template(s, "b://{id}", said("b"))
	double.Resource(s, "a://x/exact", func(ctx context.Context) (*runtime.ResourceResult, error) { return said("exact")(ctx, "a://x/exact") })
	for uri, want := range map[string]string{"a://x/exact": "exact", "a://x/1.txt": "path", "b://a(b": "b"} {
		r, err := s.ReadResource(t.Context(), uri, nil)
		if err != nil || len(r.Contents) != 1 || r.Contents[0].Text != want || r.Contents[0].URI != uri || r.Raw == nil {
			t.Errorf("%s: got %+v, %v; want %s", uri, r, err, want)
		}
	}
}

func TestReplay(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{"a.json": {Data: []byte(`{"method":"tools/call","params":{"name":"sum","arguments":{"a":1}},"result":{"content":[]}}`)}}
	tb := &recorder{TB: t}
	s := double.New(tb, "shop")
	s.Replay(fsys)
	if _, err := s.CallTool(t.Context(), "sum", json.RawMessage(`{"a":1}`), nil); err != nil {
		t.Error(err)
	}
	if _, err := s.CallTool(t.Context(), "sum", json.RawMessage(`{"a":2}`), nil); !errors.Is(err, fixture.ErrNotRecorded) {
		t.Errorf("got %v, want ErrNotRecorded", err)
	}
	// A function goes before.
	double.Tool(s, "sum", func(context.Context, sumParams) (*runtime.ToolResult, error) { return double.Text("x"), nil })
	if r, err := s.CallTool(t.Context(), "sum", json.RawMessage(`{"a":1}`), nil); err != nil || r.Text() != "x" {
		t.Errorf("with a function: got %v, %v", r, err)
	}
	want := []string{`double of shop: unexpected call: tool sum {"a":2} is in no fixture (its On method sets an answer)`}
	if diff := cmp.Diff(want, tb.errors); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	s.Replay(fstest.MapFS{"b.json": {Data: []byte(`{}`)}})
	if !tb.fatal || !strings.Contains(tb.errors[1], "b.json") {
		t.Errorf("fixtures that are none: %q", tb.errors)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	s := double.New(t, "shop")
	double.Tool(s, "slow", func(ctx context.Context, _ json.RawMessage) (*runtime.ToolResult, error) {
		double.Progress(ctx, runtime.Progress{Progress: 1, Message: "half"})
		<-ctx.Done()
		return nil, ctx.Err()
	})
	var got []runtime.Progress
	_, err := s.CallTool(t.Context(), "slow", nil, &runtime.CallOptions{Timeout: time.Millisecond, Progress: func(p runtime.Progress) { got = append(got, p) }})
	var timeout *runtime.TimeoutError
	if !errors.As(err, &timeout) || timeout.After != time.Millisecond {
		t.Errorf("got %v, want a TimeoutError", err)
	}
	if len(got) != 1 || got[0].Message != "half" {
		t.Errorf("progress: %v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.CallTool(ctx, "slow", nil, nil); !errors.Is(err, context.Canceled) || !errors.Is(err, runtime.ErrNotSent) {
		t.Errorf("with an ended context: got %v", err)
	}
	double.Progress(t.Context(), runtime.Progress{}) // outside of a call: nothing
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	s := double.New(t, "shop")
	double.Tool(s, "sum", func(context.Context, sumParams) (*runtime.ToolResult, error) { return double.Text(), nil })
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			_, err := s.CallTool(t.Context(), "sum", fmt.Appendf(nil, `{"a":%d}`, i), nil)
			if err != nil {
				t.Error(err)
			}
			s.Calls()
		})
	}
	wg.Wait()
	if got := double.ParamsOf[sumParams](s.Calls(), double.MethodTool, "sum"); len(got) != 8 {
		t.Errorf("got %v", got)
	}
}
