package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// CallOptions are settings of one call.
type CallOptions struct {
	// Progress is called for each progress message, in order, from the
	// connection's reader: it must not wait. Nil asks for none.
	Progress func(Progress)
	// Meta is added to the request's _meta object; nil adds nothing. Values
	// are JSON.
	Meta map[string]json.RawMessage
	// Timeout is how long the call may go without an answer or a progress
	// message. Zero: the client's own; negative: none.
	Timeout time.Duration
}

// ClientOptions are settings of a client. The zero value is useful.
type ClientOptions struct {
	// Timeout is the default of [CallOptions.Timeout]. Zero: 60 s; negative:
	// none.
	Timeout time.Duration
	// Ceiling bounds a call that progress keeps alive. Zero: 1 h.
	Ceiling time.Duration
	// Info is what the server said of itself when connecting.
	Info ServerInfo
	// Handler gets what the server sends inside calls that ask for progress,
	// other than progress. It is usually the transport's own handler; nil is
	// [NopHandler].
	Handler Handler
}

const (
	defaultTimeout = 60 * time.Second
	defaultCeiling = time.Hour
)

// Client talks to one server. It knows nothing of transports and protocol
// eras. All methods may be called concurrently.
type Client struct {
	t     Transport
	o     ClientOptions
	token atomic.Uint64

	mu     sync.Mutex // guards clocks
	clocks map[*deadline.IdleTimeout]struct{}
}

// NewClient returns a client of a connected transport, which it then owns.
func NewClient(t Transport, o ClientOptions) *Client {
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Ceiling == 0 {
		o.Ceiling = defaultCeiling
	}
	if o.Handler == nil {
		o.Handler = NopHandler{}
	}
	return &Client{t: t, o: o, clocks: map[*deadline.IdleTimeout]struct{}{}}
}

// Suspend suspends the timeouts of running calls, except their ceiling, until
// resume is called: a person has been asked something. Calls that begin meanwhile
// are not affected.
func (c *Client) Suspend() (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]func(), 0, len(c.clocks))
	for k := range c.clocks {
		all = append(all, k.Suspend())
	}
	return func() {
		for _, resume := range all {
			resume()
		}
	}
}

// start bounds a call by its last sign of life.
func (c *Client) start(ctx context.Context, limit time.Duration) (context.Context, *deadline.IdleTimeout, func()) {
	ctx, clock := deadline.Start(ctx, limit, c.o.Ceiling)
	c.mu.Lock()
	c.clocks[clock] = struct{}{}
	c.mu.Unlock()
	return ctx, clock, func() {
		c.mu.Lock()
		delete(c.clocks, clock)
		c.mu.Unlock()
		clock.Stop()
	}
}

// Info returns what is known about the server.
func (c *Client) Info() ServerInfo { return c.o.Info }

// Transport returns the connection itself, for callers that move raw messages.
func (c *Client) Transport() Transport { return c.t }

// Close ends the connection.
func (c *Client) Close() error { return c.t.Close() }

// Call sends any request and returns the raw result. Params is a raw object or
// nil; text that is not JSON is an error, and nothing is sent. When ctx ends
// first the request is cancelled, and the error wraps ctx's.
func (c *Client) Call(ctx context.Context, method string, params json.RawMessage, opts *CallOptions) (json.RawMessage, error) {
	if params != nil {
		if err := checkJSON(method, "params", params); err != nil {
			return nil, err
		}
	}
	return c.call(ctx, method, params, opts)
}

// checkJSON refuses text that would break the message around it: a server cannot
// answer a message that it cannot read.
func checkJSON(method, what string, raw json.RawMessage) error {
	if err := rawjson.Valid(raw); err != nil {
		return fmt.Errorf("%s: %w: %s: not JSON: %w", method, ErrNotSent, what, err)
	}
	return nil
}

func (c *Client) call(ctx context.Context, method string, params json.RawMessage, opts *CallOptions) (json.RawMessage, error) {
	if opts == nil {
		opts = &CallOptions{}
	}
	for k, v := range opts.Meta {
		if err := checkJSON(method, "_meta "+strconv.Quote(k), v); err != nil {
			return nil, err
		}
	}
	req := &Request{Method: method, Params: params, Version: c.o.Info.Version}
	meta := opts.Meta
	limit := opts.Timeout
	if limit == 0 {
		limit = c.o.Timeout
	}
	ctx, clock, stop := c.start(ctx, limit)
	defer stop()
	if opts.Progress != nil {
		req.Token = json.RawMessage(`"mcpctl-` + strconv.FormatUint(c.token.Add(1), 10) + `"`)
		meta = withToken(meta, req.Token)
		req.Events = &progressEvents{Handler: c.o.Handler, fn: opts.Progress, clock: clock}
	}
	if len(meta) > 0 {
		p, err := addMeta(params, meta)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %w", method, ErrNotSent, err)
		}
		req.Params = p
	}
	res, err := c.t.Call(ctx, req)
	var rpc *Error
	if errors.As(err, &rpc) && rpc.Code == codeURLElicitation && c.elicit(ctx, rpc) {
		res, err = c.t.Call(ctx, req)
	}
	if err != nil && clock.Expired() {
		return nil, &TimeoutError{Op: method, After: clock.Bound()}
	}
	if err != nil && ctx.Err() != nil && err.Error() == ctx.Err().Error() {
		err = fmt.Errorf("%s: %w", method, err) // a transport returns the bare error of the context
	}
	return res, deadline.WithCause(ctx, err)
}

// CallTool implements [Caller].
func (c *Client) CallTool(ctx context.Context, name string, args json.RawMessage, opts *CallOptions) (*ToolResult, error) {
	if len(args) == 0 {
		args = json.RawMessage(`{}`)
	}
	if err := checkJSON("tools/call", "arguments", args); err != nil {
		return nil, err
	}
	params, err := json.Marshal(struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"arguments"`
	}{name, nil})
	if err != nil {
		return nil, err
	}
	// json.Marshal would compact the arguments; their bytes are the caller's.
	params = append(params[:len(params)-len("null}")], args...)
	params = append(params, '}')
	raw, err := c.call(ctx, "tools/call", params, opts)
	if err != nil {
		return nil, err
	}
	return ParseToolResult(raw)
}

// ReadResource reads the resource at a URI.
func (c *Client) ReadResource(ctx context.Context, uri string, opts *CallOptions) (*ResourceResult, error) {
	r := &ResourceResult{}
	err := c.get(ctx, "resources/read", map[string]string{"uri": uri}, opts, r, &r.Raw)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// GetPrompt fills in a prompt. Values of its arguments are text; nil sends
// none.
func (c *Client) GetPrompt(ctx context.Context, name string, args map[string]string, opts *CallOptions) (*PromptResult, error) {
	params := struct {
		Name string            `json:"name"`
		Args map[string]string `json:"arguments,omitempty"`
	}{name, args}
	r := &PromptResult{}
	err := c.get(ctx, "prompts/get", params, opts, r, &r.Raw)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Complete requests values of an argument that begin with value. Others are the
// arguments that are known already; nil is none.
func (c *Client) Complete(ctx context.Context, ref CompletionRef, argument, value string, others map[string]string, opts *CallOptions) (*Completion, error) {
	type reference struct {
		Type string `json:"type"`
		Name string `json:"name,omitempty"`
		URI  string `json:"uri,omitempty"`
	}
	type known struct {
		Arguments map[string]string `json:"arguments"`
	}
	params := struct {
		Ref      reference `json:"ref"`
		Argument struct {
			Name  string `json:"name"`
			Value string `json:"value"`
		} `json:"argument"`
		Context *known `json:"context,omitempty"`
	}{Ref: reference{Type: "ref/prompt", Name: ref.Prompt}}
	if ref.Template != "" {
		params.Ref = reference{Type: "ref/resource", URI: ref.Template}
	}
	params.Argument.Name, params.Argument.Value = argument, value
	if len(others) > 0 {
		params.Context = &known{others}
	}
	var r struct {
		Completion *Completion `json:"completion"`
	}
	var raw json.RawMessage
	if err := c.get(ctx, "completion/complete", params, opts, &r, &raw); err != nil {
		return nil, err
	}
	if r.Completion == nil {
		return nil, &ProtocolError{Reason: "completion/complete: the result has no completion"}
	}
	return r.Completion, nil
}

// get makes a call, decodes its result into v and stores the bytes in raw.
func (c *Client) get(ctx context.Context, method string, params any, opts *CallOptions, v any, raw *json.RawMessage) error {
	b, err := json.Marshal(params)
	if err != nil {
		return err
	}
	if *raw, err = c.call(ctx, method, b, opts); err != nil {
		return err
	}
	if err := json.Unmarshal(*raw, v); err != nil {
		return &ProtocolError{Reason: method + ": the result is not one: " + err.Error()}
	}
	return nil
}

// Ping checks that the server answers.
func (c *Client) Ping(ctx context.Context) error {
	_, err := c.Call(ctx, "ping", nil, nil)
	return err
}

// addMeta adds members to params._meta; every other byte of params stays.
func addMeta(params json.RawMessage, meta map[string]json.RawMessage) (json.RawMessage, error) {
	members := make([]rawjson.Member, 0, len(meta))
	for _, k := range slices.Sorted(maps.Keys(meta)) {
		members = append(members, rawjson.Member{Name: k, Value: meta[k]})
	}
	out, err := rawjson.SetNested(params, "_meta", members)
	if err != nil {
		return nil, fmt.Errorf("params: %w", err)
	}
	return out, nil
}

func withToken(meta map[string]json.RawMessage, token json.RawMessage) map[string]json.RawMessage {
	out := map[string]json.RawMessage{"progressToken": token}
	for k, v := range meta {
		if k != "progressToken" {
			out[k] = v
		}
	}
	return out
}

// progressEvents passes a call's progress to its caller and re-arms its clock.
type progressEvents struct {
	Handler
	fn    func(Progress)
	clock *deadline.IdleTimeout
}

func (e *progressEvents) Notification(ctx context.Context, call *Request, method string, params json.RawMessage) {
	if method != "notifications/progress" {
		e.Handler.Notification(ctx, call, method, params)
		return
	}
	var p Progress
	if json.Unmarshal(params, &p) == nil {
		e.clock.Alive()
		e.fn(p)
	}
}
