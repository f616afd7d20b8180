// Package gosdk lets generated clients call through a session of the official Go
// SDK (github.com/modelcontextprotocol/go-sdk). It is a module of its own, so that
// nobody else needs the SDK.
//
//	session, err := mcp.NewClient(implementation, nil).Connect(ctx, transport, nil)
//	…
//	client := everything.New(gosdk.New(session, gosdk.Options{}))
//
// The SDK decodes what a server sends into types of its own. Members that those
// lack, such as ones of later revisions, are lost, and Raw of a result is the SDK's
// encoding. A number in structured content that a float64 cannot hold keeps its
// digits only where a text block repeats the content, as servers should send it
// (2025-11-25, Tools, Structured Content). Where that matters, dial the server with
// package dial.
package gosdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpctl/mcpctl/runtime"
)

// Options are settings of a [Caller]. The zero value is useful.
type Options struct {
	// Timeout is the default of [runtime.CallOptions.Timeout]. Zero: 60 s;
	// negative: none.
	Timeout time.Duration
	// Ceiling bounds a call that progress keeps alive. Zero: 1 h.
	Ceiling time.Duration
	// Progress receives the client's progress messages. Without one, calls that
	// ask for progress fail.
	Progress *Progress
}

// Caller calls through a session. It implements [runtime.Caller] and the optional
// interfaces beside it. Its methods may be called concurrently.
type Caller struct {
	session *mcp.ClientSession
	o       Options
}

// The interfaces of package runtime.
var _ interface {
	runtime.Caller
	runtime.PromptGetter
	runtime.ResourceReader
	runtime.Completer
	runtime.ToolLister
	runtime.PromptLister
	runtime.ResourceLister
	runtime.ResourceTemplateLister
} = (*Caller)(nil)

// New returns a caller through a session, which remains the user's to close.
func New(session *mcp.ClientSession, o Options) *Caller {
	if o.Timeout == 0 {
		o.Timeout = 60 * time.Second
	}
	if o.Ceiling == 0 {
		o.Ceiling = time.Hour
	}
	return &Caller{session: session, o: o}
}

// CallTool implements [runtime.Caller].
func (c *Caller) CallTool(ctx context.Context, name string, args json.RawMessage, opts *runtime.CallOptions) (*runtime.ToolResult, error) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if !json.Valid(args) {
		return nil, fmt.Errorf("tools/call: %w: arguments: not JSON", runtime.ErrNotSent)
	}
	raw, err := send(ctx, c, "tools/call", opts, &mcp.CallToolParams{Name: name, Arguments: args}, c.session.CallTool)
	if err != nil {
		return nil, err
	}
	r, err := runtime.ParseToolResult(raw)
	if err == nil {
		keepDigits(r)
	}
	return r, err
}

// GetPrompt implements [runtime.PromptGetter].
func (c *Caller) GetPrompt(ctx context.Context, name string, args map[string]string, opts *runtime.CallOptions) (*runtime.PromptResult, error) {
	raw, err := send(ctx, c, "prompts/get", opts, &mcp.GetPromptParams{Name: name, Arguments: args}, c.session.GetPrompt)
	if err != nil {
		return nil, err
	}
	r := &runtime.PromptResult{Raw: raw}
	return r, json.Unmarshal(raw, r)
}

// ReadResource implements [runtime.ResourceReader].
func (c *Caller) ReadResource(ctx context.Context, uri string, opts *runtime.CallOptions) (*runtime.ResourceResult, error) {
	raw, err := send(ctx, c, "resources/read", opts, &mcp.ReadResourceParams{URI: uri}, c.session.ReadResource)
	if err != nil {
		return nil, err
	}
	r := &runtime.ResourceResult{Raw: raw}
	return r, json.Unmarshal(raw, r)
}

// Complete implements [runtime.Completer].
func (c *Caller) Complete(ctx context.Context, ref runtime.CompletionRef, argument, value string, others map[string]string, opts *runtime.CallOptions) (*runtime.Completion, error) {
	params := &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: ref.Prompt}, Argument: mcp.CompleteParamsArgument{Name: argument, Value: value}}
	if ref.Template != "" {
		params.Ref = &mcp.CompleteReference{Type: "ref/resource", URI: ref.Template}
	}
	if len(others) > 0 {
		params.Context = &mcp.CompleteContext{Arguments: others}
	}
	raw, err := send(ctx, c, "completion/complete", opts, params, c.session.Complete)
	if err != nil {
		return nil, err
	}
	var r struct {
		Completion runtime.Completion `json:"completion"`
	}
	return &r.Completion, json.Unmarshal(raw, &r)
}

// params are parameters of the SDK.
type params interface{ SetMeta(map[string]any) }

// send makes a request, bounded by its last sign of life, and returns the JSON
// of its result.
func send[P params, R any](ctx context.Context, c *Caller, method string, opts *runtime.CallOptions, p P, f func(context.Context, P) (R, error)) (json.RawMessage, error) {
	if opts == nil {
		opts = &runtime.CallOptions{}
	}
	if len(opts.Meta) > 0 {
		meta := map[string]any{}
		for k, v := range opts.Meta {
			if !json.Valid(v) {
				return nil, fmt.Errorf("%s: %w: _meta %q: not JSON", method, runtime.ErrNotSent, k)
			}
			meta[k] = v
		}
		p.SetMeta(meta)
	}
	limit := opts.Timeout
	if limit == 0 {
		limit = c.o.Timeout
	}
	clock := start(limit, c.o.Ceiling)
	ctx, stop := clock.bound(ctx)
	defer stop()
	if q, ok := any(p).(interface{ SetProgressToken(any) }); ok && opts.Progress != nil {
		if c.o.Progress == nil {
			return nil, fmt.Errorf("%s: %w: progress: %w: gosdk.Options has no Progress", method, runtime.ErrNotSent, errors.ErrUnsupported)
		}
		token, forget := c.o.Progress.expect(func(v runtime.Progress) {
			clock.alive()
			opts.Progress(v)
		})
		defer forget()
		q.SetProgressToken(token)
	}
	r, err := f(ctx, p)
	if err != nil {
		if expired := clock.expired(ctx); expired > 0 {
			return nil, &runtime.TimeoutError{Op: method, After: expired}
		}
		return nil, failure(method, err)
	}
	return json.Marshal(r)
}

// failure converts an error of the SDK to one of package runtime.
func failure(method string, err error) error {
	var answer *jsonrpc.Error
	switch {
	case errors.As(err, &answer):
		e := &runtime.Error{Code: answer.Code, Message: answer.Message, Data: answer.Data}
		if raw, err := json.Marshal(answer); err == nil {
			e.Raw = raw
		}
		return e
	case errors.Is(err, mcp.ErrConnectionClosed):
		return fmt.Errorf("%s: %w", method, runtime.ErrClosed)
	}
	return fmt.Errorf("%s: %w", method, err)
}

// keepDigits replaces structured content whose numbers the SDK may have rounded by
// the text block that repeats it.
func keepDigits(r *runtime.ToolResult) {
	var decoded any
	if r.Structured == nil || json.Unmarshal(r.Structured, &decoded) != nil || !rounded(decoded) {
		return
	}
	for _, block := range r.Content {
		var v any
		if block.Type == "text" && json.Unmarshal([]byte(block.Text), &v) == nil && reflect.DeepEqual(decoded, v) {
			r.Structured = json.RawMessage(block.Text)
			return
		}
	}
}

// rounded reports whether a value has a number too large for a float64 to be exact.
func rounded(v any) bool {
	const exact = 1 << 53
	switch v := v.(type) {
	case float64:
		return v >= exact || v <= -exact
	case []any:
		return slices.ContainsFunc(v, rounded)
	case map[string]any:
		for _, item := range v {
			if rounded(item) {
				return true
			}
		}
	}
	return false
}
