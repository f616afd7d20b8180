package codegen

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/mcpctl/mcpctl/internal/codec"
	"github.com/mcpctl/mcpctl/runtime"
)

// Client makes the calls of the clients in generated packages. Its methods may be
// called concurrently if its caller's may.
type Client struct {
	caller  runtime.Caller
	surface *Surface
	base    runtime.CallSettings // of calls without options, which share it; immutable
	err     error                // of every call, for invalid options
	drift   drift
}

// NewClient returns a client that calls through c. The surface belongs to the
// generated package and is not changed; nil is an empty one. The options apply to
// every call, before the call's own.
func NewClient(c runtime.Caller, surface *Surface, opts ...runtime.CallOption) *Client {
	if surface == nil {
		surface = &Surface{}
	}
	client := &Client{caller: c, surface: surface}
	client.err = apply(&client.base, opts)
	switch {
	case c == nil:
		client.err = errors.New("the client was made without a caller")
	case client.err == nil && client.base.Arguments != nil:
		client.err = fmt.Errorf("%T given to New: arguments belong to a call", client.base.Arguments)
	}
	return client
}

// Call calls a tool. Params are checked, if they can be and unless the options say
// otherwise, and encoded; nil is an empty object. Arguments among the options
// replace them, if they are of the same type. A result with isError set is a
// [*runtime.ToolError].
func (c *Client) Call(ctx context.Context, tool string, params any, opts []runtime.CallOption) (*runtime.ToolResult, error) {
	s, params, err := c.mergeOptions(params, opts)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", tool, err)
	}
	args, err := encode(s, params)
	if err != nil {
		return nil, fmt.Errorf("tool %s: arguments: %w", tool, err)
	}
	if s.Drift != runtime.DriftIgnore {
		if err := c.checkDrift(ctx, tool, s); err != nil {
			return nil, err
		}
	}
	r, err := c.caller.CallTool(ctx, tool, args, &s.CallOptions)
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return nil, fmt.Errorf("tool %s: %T returned neither a result nor an error", tool, c.caller)
	case r.IsError:
		return nil, &runtime.ToolError{Tool: tool, Result: r}
	}
	return r, nil
}

// CallInto calls a tool and decodes its structured result into v, a non-nil
// pointer to a zero value. Without structuredContent, the first text block with
// fitting JSON is used: servers of revision 2025-03-26 and before send nothing else,
// later ones should send both (2025-11-25, Tools, Structured Content). A result
// that does not fit is a [*runtime.ResultError].
func (c *Client) CallInto(ctx context.Context, tool string, params any, opts []runtime.CallOption, v any) (*runtime.ToolResult, error) {
	r, err := c.Call(ctx, tool, params, opts)
	if err != nil {
		return nil, err
	}
	if r.Structured != nil {
		err = decode(r.Structured, v)
	} else {
		err = decodeText(r.Content, v)
	}
	if err != nil {
		return nil, &runtime.ResultError{Tool: tool, Result: r, Err: err}
	}
	return r, nil
}

// mergeOptions combines the options of the client and of a call, and returns the
// parameters, which may be among them.
func (c *Client) mergeOptions(params any, opts []runtime.CallOption) (*runtime.CallSettings, any, error) {
	if c.err != nil {
		return nil, nil, c.err
	}
	if len(opts) == 0 {
		return &c.base, params, nil
	}
	s := new(runtime.CallSettings)
	*s = c.base
	if err := apply(s, opts); err != nil {
		return nil, nil, err
	}
	switch {
	case s.Arguments == nil:
		return s, params, nil
	case reflect.TypeOf(s.Arguments) != reflect.TypeOf(params):
		return nil, nil, fmt.Errorf("the call was given %T, which are arguments of something else: it takes %s", s.Arguments, nameOf(params))
	}
	return s, s.Arguments, nil
}

func nameOf(params any) string {
	if params == nil {
		return "none"
	}
	return fmt.Sprintf("%T", params)
}

// apply applies options in order, except nil ones.
func apply(s *runtime.CallSettings, opts []runtime.CallOption) error {
	for _, o := range opts {
		if v := reflect.ValueOf(o); o == nil || v.Kind() == reflect.Pointer && v.IsNil() {
			continue
		}
		before := s.Arguments
		s.Arguments = nil
		o.ApplyTo(s)
		switch {
		case s.Arguments == nil:
			s.Arguments = before
		case before != nil:
			return fmt.Errorf("the call was given arguments twice: %T and %T", before, s.Arguments)
		}
	}
	return nil
}

// encode checks parameters and returns their JSON.
func encode(s *runtime.CallSettings, params any) (json.RawMessage, error) {
	if params == nil {
		return json.RawMessage("{}"), nil
	}
	if v, ok := params.(interface{ Validate() error }); ok && !s.NoValidation {
		if err := v.Validate(); err != nil {
			return nil, err
		}
	}
	if raw, ok := params.(json.RawMessage); ok {
		return object(raw)
	}
	b, err := codec.Encode(params)
	return b, fieldError(err)
}

// decode uses v's own method, except for types of [Unmarshal].
func decode(b []byte, v any) error { return fieldError(codec.Decode(b, v)) }

// object returns the arguments of a tool without a type for them.
func object(raw json.RawMessage) (json.RawMessage, error) {
	trimmed := bytes.TrimLeft(raw, " \t\r\n")
	switch {
	case len(trimmed) == 0:
		return json.RawMessage("{}"), nil
	case trimmed[0] != '{' || !json.Valid(raw):
		return nil, &runtime.FieldError{Reason: "not a JSON object"}
	}
	return raw, nil
}

// decodeText decodes the first text block that fits.
func decodeText(blocks []runtime.Content, v any) error {
	err := errors.New("neither structuredContent nor JSON as text")
	target := reflect.ValueOf(v).Elem()
	for i := range blocks {
		text := []byte(blocks[i].Text)
		if blocks[i].Type != "text" || !json.Valid(text) {
			continue
		}
		fresh := reflect.New(target.Type()) // a failure may leave a partial value
		if err = decode(text, fresh.Interface()); err == nil {
			target.Set(fresh.Elem())
			return nil
		}
	}
	return err
}
