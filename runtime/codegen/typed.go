package codegen

import (
	"context"

	"github.com/mcpctl/mcpctl/runtime"
)

// CallTyped is [Client.CallInto] and stores the whole result in *raw, unless there
// is an error.
func (c *Client) CallTyped(ctx context.Context, tool string, params any, opts []runtime.CallOption, v any, raw **runtime.ToolResult) error {
	r, err := c.CallInto(ctx, tool, params, opts, v)
	*raw = r
	return err
}

// Typed returns v, or nil and the error.
func Typed[T any](v *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}
