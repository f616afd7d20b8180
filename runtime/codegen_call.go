package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// ResultError says that a tool's result is not what its output schema
// promises. The result itself is kept.
type ResultError struct {
	Tool   string
	Result *ToolResult
	Err    error
}

// Error names the tool and what is wrong with its result.
func (e *ResultError) Error() string {
	return "tool " + e.Tool + ": the result does not match the output schema: " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *ResultError) Unwrap() error { return e.Err }

// ExitKind says that the server broke the protocol.
func (e *ResultError) ExitKind() string { return "protocol" }

// Invoke is a call as generated clients make it: args is encoded (nil or
// a null: an empty object), the options are applied in order, and a result with isError
// set becomes a [*ToolError].
func Invoke(ctx context.Context, c Caller, tool string, args json.Marshaler, opts ...CallOption) (*ToolResult, error) {
	raw := json.RawMessage("{}")
	if args != nil {
		b, err := args.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("tool %s: arguments %w", tool, err)
		}
		if !isNull(b) {
			raw = b
		}
	}
	var s CallSettings
	for _, opt := range opts {
		if opt != nil {
			opt.ApplyTo(&s)
		}
	}
	r, err := c.CallTool(ctx, tool, raw, &s.CallOptions)
	if err != nil {
		return nil, err
	}
	if r.IsError {
		return nil, &ToolError{Tool: tool, Result: r}
	}
	return r, nil
}

// DecodeResult decodes a tool's structured result into v, a non-nil pointer.
// Where structuredContent is missing, the first text block that holds fitting
// JSON stands in: servers of revision 2025-03-26 and before know nothing else,
// later ones should send both (2025-11-25, Tools, Structured Content). The
// error is a [*ResultError].
func DecodeResult(tool string, r *ToolResult, v any) error {
	target := reflect.ValueOf(v).Elem()
	if r.Structured != nil {
		if err := decodeValue(r.Structured, target); err != nil {
			return &ResultError{Tool: tool, Result: r, Err: err}
		}
		return nil
	}
	err := errors.New("neither structuredContent nor JSON as text")
	for _, c := range r.Content {
		if c.Type != "text" || !json.Valid([]byte(c.Text)) {
			continue
		}
		fresh := reflect.New(target.Type()).Elem()
		fresh.Set(target)
		if err = decodeValue(json.RawMessage(c.Text), fresh); err == nil {
			target.Set(fresh)
			return nil
		}
	}
	return &ResultError{Tool: tool, Result: r, Err: err}
}
